"""Designs for two answers: Warner's, the general one, Simmons' unrelated question, and the crosswise model."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable import chance, exact
from deniable.channel import Dense
from deniable.designs.design import Design
from deniable.designs.labels import Labels, read
from deniable.designs.many_answers import diagonal
from deniable.designs.registry import Purpose, register
from deniable.errors import InvalidDesign, InvalidRequest


@register(
    {"epsilon": 1},
    {"p": "7/10"},
    {"p": "1/4", "categories": ["never", "ever"]},
    purpose=Purpose.DEVICE,
)
def warner(
    epsilon: exact.Rational | None = None,
    *,
    p: exact.Rational | None = None,
    categories: Labels = ("no", "yes"),
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
    category_labels = read(categories)
    if len(category_labels) != 2:
        raise InvalidDesign(
            f"there are {len(category_labels)} categories; expected 2.",
            "For more use k_ary().",
        )
    return Design(
        "warner", category_labels, category_labels, diagonal(2, epsilon, p)
    ).within(epsilon)


@register(
    {"p00": "9/10", "p11": "7/10"},
    {"p00": "3/5", "p11": "4/5"},
    {"p00": "1/10", "p11": "3/10"},
    purpose=Purpose.EXPLICIT,
)
def binary(
    p00: exact.Rational, p11: exact.Rational, *, categories: Labels = ("no", "yes")
) -> Design:
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
    zero, keep_second = (
        exact.probability(p00, name="p00"),
        exact.probability(p11, name="p11"),
    )
    if zero + keep_second == 1:
        raise InvalidDesign(
            f"p00 = {p00} and p11 = {p11} sum to 1, so that responses do not depend on answers; expected another sum.",
            "For an even protection of both answers use warner(epsilon=1).",
        )
    channel = Dense.from_rows([[zero, 1 - keep_second], [1 - zero, keep_second]])
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
    epsilon: exact.Rational | None = None,
    *,
    p: exact.Rational | None = None,
    b: exact.Rational = "1/2",
    categories: Labels = ("no", "yes"),
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
    if (epsilon is None) == (p is None):
        raise InvalidRequest(
            "expected either epsilon or p, and exactly one of them.",
            "For example epsilon=1, or p=0.7.",
        )
    share = exact.probability(b, name="b")
    if epsilon is not None:
        channel = _from_ratio(exact.exp_below(exact.positive_epsilon(epsilon)), share)
    else:
        assert p is not None
        channel = unrelated_channel(exact.probability(p, name="p"), share)
    design = Design("simmons", categories, categories, channel)  # type: ignore[arg-type]  # Design reads labels
    return design.within(epsilon)


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
def crosswise(p: exact.Rational, *, categories: Labels = ("no", "yes")) -> Design:
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
    category_labels = read(categories)
    if len(category_labels) != 2:
        raise InvalidDesign(
            f"there are {len(category_labels)} categories; expected 2.",
            "For more use k_ary().",
        )
    return Design(
        "crosswise", category_labels, ("different", "same"), diagonal(2, None, p)
    )
