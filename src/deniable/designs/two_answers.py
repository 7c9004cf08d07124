"""Designs for two answers: Warner's, the general one, and those that survey practice has named.

What differs between many of them is who randomizes (the respondent, a device, the application), what the respondent
must trust, and what the wording suggests; the channel is often the same. Equal channels share one implementation:

- Warner's (others say yes with 1 − p, members with p): warner, mirrored, disguised, mangat_singh, number_sequence and
  crosswise;
- the unrelated question's ((1 − p)b and p + (1 − p)b): simmons, mangat_unrelated;
- one-sided (u and 1): mangat, devore, triangular, hard_garbling, mangat_singh_singh;
- any other (u and v): binary, correlated_question, singh_joarder; and with more responses kuk, christofides.

A one-sided design has no finite ε: a response "no" proves that the person is no member, and a response "yes" multiplies
the odds of membership by 1/u. Such a design says so wherever it is told.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable import chance, exact
from deniable.channel import Channel, Dense, Diagonal
from deniable.designs.design import Design
from deniable.designs.labels import NO_YES, Labels, read_two
from deniable.designs.many_answers import diagonal
from deniable.designs.registry import Purpose, register
from deniable.errors import InvalidDesign, quoted, require_one
from deniable.exact import Rational


@register(
    {"epsilon": 1},
    {"p": "7/10"},
    {"p": "1/4", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def warner(
    epsilon: Rational | None = None,
    *,
    p: Rational | None = None,
    categories: Labels = NO_YES,
) -> Design:
    """Send the answer with probability p, else the other one.

    Give either ε, for the largest p it allows, or p itself.

    Implements: the design of [War65]; at a given ε it dominates every two-answer design ([Cha19], Proposition 6.1).

    Guarantee: from ε, p = e^ε / (e^ε + 1) in 64-bit integer weights, rounded towards privacy.

    Args:
        epsilon: the most that may be revealed.
        p: instead of ε, the probability that the answer is sent unchanged.
        categories: what the two answers are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p = 1/2.
        InvalidRequest: neither or both of ε and p.

    Example:
        >>> warner(p="3/4").parity
        Fraction(3, 1)
    """
    return _build_two("warner", categories, diagonal(2, epsilon, p)).within(epsilon)


def _build_two(
    family: str, categories: Labels, channel: Channel, symbols: Sequence[str] = ()
) -> Design:
    """Build a design for two answers, whose symbols are its categories unless they are named.

    Raises:
        InvalidDesign: not two categories.
    """
    category_labels = read_two(categories)
    return Design(family, category_labels, symbols or category_labels, channel)


@register(
    {"p00": "9/10", "p11": "7/10"},
    {"p00": "3/5", "p11": "4/5"},
    {"p00": "1/10", "p11": "3/10"},
    purpose=Purpose.EXPLICIT,
)
def binary(p00: Rational, p11: Rational, *, categories: Labels = NO_YES) -> Design:
    """Build the two-answer design that keeps the first answer with probability p00 and the second with p11.

    Implements: the generalised randomized response of [HLM17], eq. (2), whose rows are our columns.

    Guarantee: parity max{p00, 1 − p11} / min{…} or max{p11, 1 − p00} / min{…}, whichever is larger.

    Args:
        p00: how often the first answer is sent unchanged.
        p11: how often the second answer is sent unchanged.
        categories: what the two answers are called, in this order.

    Raises:
        InvalidDesign: p00 + p11 = 1, where responses say nothing about answers.
        InvalidNumber: not probabilities.

    Example:
        >>> binary(0.9, 0.7).parity
        Fraction(7, 1)
    """
    first, second = exact.probabilities(p00=p00, p11=p11)
    if first + second == 1:
        raise InvalidDesign(
            f"p00 = {p00} and p11 = {p11} sum to 1, so that responses do not depend on answers; expected another sum.",
            "For an even protection of both answers use warner(epsilon=1).",
        )
    channel = Dense.from_rows([[first, 1 - second], [1 - first, second]])
    return Design("binary", categories, categories, channel)  # type: ignore[arg-type]  # Design reads labels


def from_rates(p_other: Fraction, members: Fraction) -> Dense:
    """Return the channel in which others and members say yes with these probabilities.

    Raises:
        InvalidDesign: equal ones, which tell nothing; or 0 and 1, which give every answer away.
    """
    if p_other == members:
        raise InvalidDesign(
            f"everybody says yes with probability {p_other}, so that responses do not depend on answers; expected that "
            "members and others do so with different probabilities."
        )
    if {p_other, members} == {0, 1}:
        raise InvalidDesign(
            "every response gives the answer away; expected probabilities between 0 and 1.",
            "Or ask the question directly.",
        )
    return Dense.from_rows([[1 - p_other, 1 - members], [p_other, members]])


UNRELATED_CAVEAT = (
    "The ε of the unrelated question holds only against those who do not know its answer: a yes from somebody whose "
    "unrelated answer is known to be no proves the sensitive one. Let a random device answer the unrelated question."
)
"""What the ε of every design with an unrelated question rests on."""


@register(
    {"epsilon": 1},
    {"epsilon": 1, "b": "17/20"},
    {"p": "7/10", "b": "3/10"},
    purpose=Purpose.DEVICE,
    caveat=UNRELATED_CAVEAT,
)
def simmons(
    epsilon: Rational | None = None,
    *,
    p: Rational | None = None,
    b: Rational = "1/2",
    categories: Labels = NO_YES,
) -> Design:
    """Answer the sensitive question with probability p, else an unrelated one to which a share b says yes.

    Give either p, or ε for the largest p that it allows: p = s(e^ε − 1) / (1 + s(e^ε − 1)) with s = min(b, 1 − b).

    Implements: the unrelated question with known b of [GAS69]; [SYZ23], Algorithm 2 and Theorem 5.2.

    Guarantee: parity (p + (1 − p)s) / ((1 − p)s). It holds only if the adversary does not know the answer to the
    unrelated question, and birthdays are known: implement b with a random device. `Design.caveat` repeats this.

    Why: from ε and for b ≤ 1/2, non-members say yes with weight ⌈2^64·b/D⌉ and members with weight ⌊2^64·b·r/D⌋, where
    D = 1 + b(r − 1) and r ≤ e^ε: the ratio of the yes weights is at most r, and that of the no weights at most
    (1 − b + b(r − 1)) / (1 − b) ≤ r. For b > 1/2 yes and no change places.

    Args:
        epsilon: the ε that must hold.
        p: the probability of the sensitive question.
        b: the probability of yes to the unrelated question; 1/2 has the smallest variance at a given ε.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidRequest: neither or both of ε and p.
        InvalidDesign: p is 0 or 1, or with ε a b of 0 or 1.

    Example:
        >>> simmons(p="7/10", b="3/10").parity
        Fraction(79, 9)
    """
    require_one("For example epsilon=1, or p=0.7.", epsilon=epsilon, p=p)
    channel = _simmons_channel(epsilon, p, exact.probability(b, name="b"))
    design = Design("simmons", categories, categories, channel)  # type: ignore[arg-type]  # Design reads labels
    return design.within(epsilon)


def _simmons_channel(
    epsilon: Rational | None, p: Rational | None, share: Fraction
) -> Dense:
    if epsilon is not None:
        return _from_ratio(exact.gamma_below(epsilon), share)
    assert p is not None
    return unrelated_channel(exact.probability(p, name="p"), share)


def unrelated_channel(p: Fraction, b: Fraction) -> Dense:
    """Return the channel of the unrelated question.

    Raises:
        InvalidDesign: p is 0 or 1.
    """
    if p in (0, 1):
        raise InvalidDesign(
            f"p = {p}; expected a probability between 0 and 1.",
            "At 0 nobody answers the sensitive question, at 1 everybody does.",
        )
    return from_rates((1 - p) * b, p + (1 - p) * b)


def _from_ratio(ratio: Fraction, b: Fraction) -> Dense:
    rare = min(b, 1 - b)
    if rare == 0:
        raise InvalidDesign(
            f"b = {b}, so that every answer to the unrelated question is the same; expected a b between 0 and 1.",
            "A coin has b = 1/2, which is also the best b at a given ε.",
        )
    scale = chance.TOTAL * rare / (1 + rare * (ratio - 1))
    low, high, total = math.ceil(scale), math.floor(scale * ratio), chance.TOTAL
    if low >= high:
        raise InvalidDesign(
            "this ε is too fine for weights that sum to 2^64; expected a larger ε, or a b nearer to 1/2."
        )
    if b <= Fraction(1, 2):
        return Dense(((total - low, total - high), (low, high)), total)
    return Dense(((high, low), (total - high, total - low)), total)


SAME_OR_NOT = ("different", "same")
"""The symbols of designs that compare the sensitive answer with a harmless one."""

_CAVEAT_CROSSWISE = (
    "The ε of the crosswise model holds only against those who do not know the answer to the harmless question; "
    "whoever knows it reads the sensitive answer off the response. Let a random device answer the harmless question."
)


@register(
    {"p": "1/4"},
    {"p": "2/3", "categories": ["never", "ever"]},
    purpose=Purpose.HARMLESS,
    caveat=_CAVEAT_CROSSWISE,
)
def crosswise(p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Ask whether the answers to the sensitive and to a harmless question are the same or different.

    Implements: the crosswise model of [YTT08]. A yes to the sensitive question is sent as "same" with probability p, a
    no with probability 1 − p: Warner's design with other words.

    Guarantee: parity max(p, 1 − p) / min(p, 1 − p), against those who do not know the answer to the harmless question.

    Args:
        p: the probability of yes to the harmless question.
        categories: what no and yes to the sensitive question are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0, 1/2 or 1.

    Example:
        >>> crosswise("1/4").probability("same", given="yes")
        Fraction(1, 4)
    """
    return _build_two("crosswise", categories, diagonal(2, None, p), SAME_OR_NOT)


_MAX_DRAWS = (
    100  # of one respondent: nobody draws so many cards, and numbers stay short
)


def _one_sided(p_other: Fraction) -> Dense:
    """Return the channel in which members always say yes, and others with some probability."""
    return from_rates(p_other, Fraction(1))


def _warner(p: Rational) -> Diagonal:
    return diagonal(2, None, p)


@register(
    {"p": "4/5"},
    {"p": "1/3", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def mirrored(p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Say whether a statement holds: with probability p "I am a member", else its mirror "I am not a member".

    Implements: the mirrored question as [BIZ15] call the design of [War65]. It has the channel of `warner(p=p)`.

    Guarantee: parity max(p, 1 − p) / min(p, 1 − p).

    Why: a member says that the statement holds exactly if it is the first, anybody else exactly if it is the second.

    Args:
        p: the probability of the first statement.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0, 1/2 or 1.

    Example:
        >>> mirrored("4/5").parity
        Fraction(4, 1)
    """
    return _build_two("mirrored", categories, _warner(p))


@register(
    {"p": "4/5"},
    {"p": "3/10", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def disguised(p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Name the colour of a card: members draw from a deck with a share p of red cards, the others from one with 1 − p.

    Nobody says yes or no, so that the answer is disguised. It has the channel of `warner(p=p)`, and of
    `kuk(p, 1 − p)`.

    Implements: the disguised response of [Kuk90] with two decks that mirror each other, as [BIZ15] describe it.

    Guarantee: parity max(p, 1 − p) / min(p, 1 − p).

    Why: red comes from members with probability p and from others with 1 − p.

    Args:
        p: the share of red cards in the members' deck.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0, 1/2 or 1.

    Example:
        >>> disguised("4/5").probability("red", given="yes")
        Fraction(4, 5)
    """
    return _build_two("disguised", categories, _warner(p), ("black", "red"))


@register(
    {"t": "2/5", "p": "7/10"},
    {"t": 0, "p": "3/4"},
    {"t": "1/2", "p": "1/3", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def mangat_singh(t: Rational, p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Tell the truth with probability t, else use Warner's device with p.

    Implements: the two-stage procedure of [MS90]. It has the channel of `warner(p=t + (1 − t)p)`.

    Guarantee: with q = t + (1 − t)p the parity max(q, 1 − q) / min(q, 1 − q).

    Why: the answer is sent unchanged if the first device asks for the truth, or the second one keeps it.

    Args:
        t: the probability that the first device asks for the truth.
        p: the probability that the second device keeps the answer.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or t + (1 − t)p is 0, 1/2 or 1.

    Example:
        >>> mangat_singh("2/5", "7/10").parity
        Fraction(41, 9)
    """
    truth, keep = exact.probabilities(t=t, p=p)
    return _build_two(
        "mangat_singh", categories, _warner(truth + (1 - truth) * keep)
    )


_LISTED = (
    "The ε of the number sequences holds only against those who do not see which sequence the respondent picked; "
    "whoever sees it reads the sensitive answer off the response."
)


@register(
    {"p": "1/4"},
    {"p": "7/10", "categories": ["never", "ever"]},
    purpose=Purpose.HARMLESS,
    caveat=_LISTED,
)
def number_sequence(p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Say whether the sensitive answer is the same as that to a harmless statement about a picked number sequence.

    The respondent picks one of several sequences that are shown, and a share p of them makes the statement true. It has
    the channel of `crosswise(p)`; its p is the share of a finite list, and so exactly known.

    Implements: the crosswise model of [YTT08] with a list in place of an outside fact.

    Guarantee: parity max(p, 1 − p) / min(p, 1 − p), against those who do not see which sequence was picked.

    Why: all sequences are picked equally often, so that the statement holds with probability p whatever the answer.

    Args:
        p: the share of the sequences for which the statement is true, such as "3/12".
        categories: what no and yes to the sensitive question are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0, 1/2 or 1.

    Example:
        >>> number_sequence("3/12").probability("same", given="no")
        Fraction(3, 4)
    """
    return _build_two("number_sequence", categories, _warner(p), SAME_OR_NOT)


@register(
    {"t": "2/5", "p": "7/10", "b": "3/10"},
    {"t": 0, "p": "1/2", "b": "3/4", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
    caveat=UNRELATED_CAVEAT,
)
def mangat_unrelated(
    t: Rational,
    p: Rational,
    b: Rational,
    *,
    categories: Labels = NO_YES,
) -> Design:
    """Tell the truth with probability t, else answer the sensitive question with p or an unrelated one.

    Implements: the two-stage procedure of [Man92] with the unrelated question of [GAS69]. It has the channel of
    `simmons(p=t + (1 − t)p, b=b)`.

    Guarantee: with q = t + (1 − t)p and s = min(b, 1 − b) the parity (q + (1 − q)s) / ((1 − q)s), infinite where s = 0.
    It holds only if the adversary does not know the answer to the unrelated question.

    Why: the sensitive question is answered if the first device asks for the truth, or the second one for it.

    Args:
        t: the probability that the first device asks for the truth.
        p: the probability that the second device asks the sensitive question.
        b: the probability of yes to the unrelated question.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or t + (1 − t)p is 0 or 1.

    Example:
        >>> mangat_unrelated("2/5", "7/10", "3/10").probability("yes", given="no")
        Fraction(27, 500)
    """
    truth, p_asked, share = exact.probabilities(t=t, p=p, b=b)
    channel = unrelated_channel(truth + (1 - truth) * p_asked, share)
    return _build_two("mangat_unrelated", categories, channel)


@register(
    {"p": "7/10", "b_yes": "1/2", "b_no": "1/5"},
    {"p": "1/2", "b_yes": "1/3", "b_no": "2/3"},
    purpose=Purpose.DEVICE,
    caveat=UNRELATED_CAVEAT,
)
def correlated_question(
    p: Rational,
    b_yes: Rational,
    b_no: Rational,
    *,
    categories: Labels = NO_YES,
) -> Design:
    """Answer the sensitive question with probability p, else an innocuous one that members answer otherwise.

    Where both shares are the same, b, it has the channel of `simmons(p=p, b=b)`.

    Implements: the unrelated question of [GAS69] with an innocuous trait that goes along with the sensitive one, an
    idea of [SRPG08].

    Guarantee: members say yes with v = p + (1 − p)·b_yes, others with u = (1 − p)·b_no; the parity is the larger one of
    v/u and (1 − u)/(1 − v), or of their inverses. It holds only against those who do not know the answer to the
    innocuous question.

    Why: with probability 1 − p a member says yes as often as members do to the innocuous question.

    Args:
        p: the probability of the sensitive question.
        b_yes: the share of members who say yes to the innocuous question.
        b_no: the share of the others who do.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or shares at which members and others say yes equally often, or everybody is
            given away.

    Example:
        >>> correlated_question("7/10", "1/2", "1/5").bayes_factors("yes", "yes")[0]
        Fraction(85, 6)
    """
    p_asked, yes, no = exact.probabilities(p=p, b_yes=b_yes, b_no=b_no)
    return _build_two(
        "correlated_question",
        categories,
        from_rates((1 - p_asked) * no, p_asked + (1 - p_asked) * yes),
    )


@register(
    {"p": "2/3"},
    {"p": "1/10", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def mangat(p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Let members say yes; the others use Warner's device with p.

    Implements: [Man94]. It has the channel of `devore(p)`, `triangular(1 − p)` and `hard_garbling(1 − p)`.

    Guarantee: none for the others: ε is infinite, because a no proves that somebody is no member. A yes multiplies the
    odds of membership by exactly 1/(1 − p).

    Why: others say yes with probability 1 − p, members always.

    Args:
        p: the probability that the device of the others says "I am a member", to which they say no.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0 or 1.

    Example:
        >>> design = mangat("2/3")
        >>> [design.bayes_factors(said, "yes")[0] for said in ("no", "yes")]
        [Fraction(0, 1), Fraction(3, 1)]
    """
    return _build_two(
        "mangat", categories, _one_sided(1 - exact.probability(p, name="p"))
    )


@register(
    {"p": "7/10"},
    {"p": "1/4", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def devore(p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Answer the sensitive question with probability p, else one to which everybody says yes.

    Implements: [Dev77]: the unrelated question of [GAS69] at b = 1. It has the channel of `mangat(p)`.

    Guarantee: none for the others: ε is infinite, because a no proves that somebody is no member. A yes multiplies the
    odds of membership by exactly 1/(1 − p).

    Why: others say yes only to the second question, with probability 1 − p; members to both.

    Args:
        p: the probability of the sensitive question.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0 or 1.

    Example:
        >>> devore("7/10").bayes_factors("yes", "yes")[0]
        Fraction(10, 3)
    """
    return _build_two(
        "devore", categories, _one_sided(1 - exact.probability(p, name="p"))
    )


_TRIANGULAR = (
    "What a yes of the triangular model hides holds only against those who do not know the answer to the harmless "
    "question: from somebody who is known to say no to it, the response gives the sensitive answer away."
)


@register(
    {"p": "1/4"},
    {"p": "1/2", "categories": ["never", "ever"]},
    purpose=Purpose.HARMLESS,
    caveat=_TRIANGULAR,
)
def triangular(p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Ask whether neither or at least one of a sensitive and a harmless question is to be answered with yes.

    Implements: the triangular model of [YTT08]. It has the channel of `mangat(1 − p)`.

    Guarantee: none for the others: ε is infinite, because "neither" proves that somebody is no member. "At least one"
    multiplies the odds of membership by exactly 1/p, for those who do not know the answer to the harmless question.

    Why: members always send "at least one", the others with probability p.

    Args:
        p: the probability of yes to the harmless question.
        categories: what no and yes to the sensitive question are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0 or 1.

    Example:
        >>> triangular("1/4").bayes_factors("at least one", "yes")[0]
        Fraction(4, 1)
    """
    channel = _one_sided(exact.probability(p, name="p"))
    return _build_two("triangular", categories, channel, ("neither", "at least one"))


_APPLICATION = (
    "In hard garbling the application turns the answers over, so the true answer reaches it: this hides nothing from "
    "whoever runs the application."
)


@register(
    {"p": "3/10"},
    {"p": "1/5", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
    caveat=_APPLICATION,
)
def hard_garbling(p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Let the application turn a no into a yes with probability p.

    Nobody can disobey, because respondents are told to be honest and the application randomizes. It has the channel of
    `mangat(1 − p)`.

    Implements: hard garbling as in [CZ19].

    Guarantee: none for the others: ε is infinite, because a no proves that somebody is no member. A yes multiplies the
    odds of membership by exactly 1/p. Whoever runs the application sees the true answer.

    Why: members always end as yes, the others with probability p.

    Args:
        p: the probability that a no is turned into a yes.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0 or 1.

    Example:
        >>> hard_garbling("3/10").probability("yes", given="no")
        Fraction(3, 10)
    """
    return _build_two(
        "hard_garbling", categories, _one_sided(exact.probability(p, name="p"))
    )


@register(
    {"p": "3/5", "b": "1/2"},
    {"p": "1/2", "b": "1/4", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
    caveat=UNRELATED_CAVEAT,
)
def mangat_singh_singh(
    p: Rational, b: Rational, *, categories: Labels = NO_YES
) -> Design:
    """Let members say yes; the others say no with probability p, else they answer an innocuous question.

    Implements: [MSS92]. It has the channel of `mangat(1 − (1 − p)b)`.

    Guarantee: none for the others: ε is infinite, because a no proves that somebody is no member. A yes multiplies the
    odds of membership by exactly 1/((1 − p)b), for those who do not know the answer to the innocuous question.

    Why: others say yes if the device asks the innocuous question and they say yes to it.

    Args:
        p: the probability that the device of the others has them say no.
        b: the probability of yes to the innocuous question.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or others never say yes, or always.

    Example:
        >>> mangat_singh_singh("3/5", "1/2").bayes_factors("yes", "yes")[0]
        Fraction(5, 1)
    """
    p_no, share = exact.probabilities(p=p, b=b)
    return _build_two(
        "mangat_singh_singh", categories, _one_sided((1 - p_no) * share)
    )


@register(
    {"p": "3/5"},
    {"p": "1/4", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def singh_joarder(p: Rational, *, categories: Labels = NO_YES) -> Design:
    """Use Warner's device with p; a member who would have to say no draws once more.

    Implements: [SJ97], with the channel that its estimator inverts. The manual of RRTCS describes another second draw,
    after being told to admit, which contradicts that estimator.

    Guarantee: members say yes with v = 1 − (1 − p)², others with u = 1 − p; the parity is the larger one of v/u and
    (1 − u)/(1 − v), or of their inverses.

    Why: a member says no only if both draws say "I am not a member".

    Args:
        p: the probability that a draw says "I am a member".
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, or p is 0 or 1.

    Example:
        >>> singh_joarder("3/5").probability("yes", given="yes")
        Fraction(21, 25)
    """
    p_drawn = exact.probability(p, name="p")
    return _build_two(
        "singh_joarder", categories, from_rates(1 - p_drawn, 1 - (1 - p_drawn) ** 2)
    )


@register(
    {"p1": "4/5", "p2": "3/10"},
    {"p1": "4/5", "p2": "3/10", "draws": 3},
    {"p1": "1/5", "p2": 1, "draws": 2, "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def kuk(
    p1: Rational,
    p2: Rational,
    *,
    draws: int = 1,
    categories: Labels = NO_YES,
) -> Design:
    """Count red cards: members draw from a deck with a share p1 of red ones, the others from one with p2.

    Every card is put back before the next is drawn. With one draw and p2 = 1 − p1 it has the channel of
    `disguised(p1)`.

    Implements: [Kuk90], with repeated draws.

    Guarantee: the parity of one draw to the power of `draws`: every further card reveals as much again.

    Why: i of n red cards have probability C(n, i)·q^i·(1 − q)^(n − i), with q = p1 or p2; the ratio of the two is
    largest where all cards have one colour, and is there that of one draw to the power n.

    Args:
        p1: the share of red cards in the members' deck.
        p2: the share of red cards in the deck of the others.
        draws: how many cards everybody draws.
        categories: what no and yes are called, in this order.

    Raises:
        InvalidDesign: not two categories, decks with equal shares, decks of one colour each, or more than 100 draws.

    Example:
        >>> kuk("4/5", "1/5", draws=2).parity
        Fraction(16, 1)
    """
    if not exact.is_whole(draws, 1, _MAX_DRAWS):
        raise InvalidDesign(
            f"draws is {quoted(draws)}; expected a whole number from 1 to {_MAX_DRAWS}."
        )
    channel = _binomial_channel(draws, exact.probabilities(p2=p2, p1=p1))
    symbols = tuple(map(str, range(draws + 1)))
    return _build_two("kuk", categories, channel, symbols)


def _binomial_channel(draws: int, reds: Sequence[Fraction]) -> Dense:
    """Return the channel that sends the number of red cards among so many, for each share of red ones."""
    from_rates(*reds)  # refuses decks that tell nothing, or everything
    return Dense.from_rows(
        [
            [math.comb(draws, i) * q**i * (1 - q) ** (draws - i) for q in reds]
            for i in range(draws + 1)
        ]
    )
