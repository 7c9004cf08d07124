"""Designs for three answers of which the first is unlike the other two: RR3†, RR3‡ and RR3♣.

A typical first answer is "no": then come "yes, a little" and "yes, a lot". Evenly protected answers are asked with
`k_ary(3, …)`, which is EWRR3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from deniable import exact
from deniable.channel import Dense
from deniable.designs import labels
from deniable.designs.design import Design
from deniable.designs.labels import Labels
from deniable.designs.registry import Purpose, register
from deniable.designs.rounding import realize
from deniable.designs.three_answers_best import Club, club, find, optimum
from deniable.errors import InvalidDesign, InvalidRequest, quoted, require
from deniable.exact import Rational

Weighting: TypeAlias = Mapping[str, Rational] | Sequence[Rational]
"""A number for each category, in their order or by name; a category that is not named gets 0."""


@register(
    {"p1": "7/10", "p2": "11/20"},
    {"p1": "1/10", "p2": "1/5"},
    {"epsilon": 1},
    {
        "epsilon": "1/2",
        "importance": [1, 0, 0],
        "categories": ["no", "a little", "a lot"],
    },
    purpose=Purpose.SEVERAL,
)
def rr3_dagger(
    p1: Rational | None = None,
    p2: Rational | None = None,
    *,
    epsilon: Rational | None = None,
    importance: Weighting | None = None,
    guess: Weighting | None = None,
    categories: Labels = 3,
) -> Design:
    """Keep the first answer with probability p1 and each of the others with p2; what is not kept goes evenly elsewhere.

    Give p1 and p2, or an ε for the member with the smallest variance: of all shares together, or as `importance` weighs
    them, at the shares that are guessed.

    Implements: RR3† of [MW21], Section 3.3; its optimum is Theorem 4, corrected. For the total it is `k_ary(3, ε)`.

    Guarantee: from p1 and p2 exactly these; from ε integer weights that sum to 2^64, with a parity of at most e^ε.

    Args:
        p1: how often the first answer is kept.
        p2: how often each other answer is kept.
        epsilon: the most that may be revealed.
        importance: how much the variance of each share matters; by default all the same.
        guess: shares at which variances are compared; by default 1/3 each.
        categories: three labels.

    Raises:
        InvalidDesign: 2p1 + p2 = 1 or p2 = 1/3, where some answers cannot be told apart; not three categories.
        InvalidRequest: neither or both of ε and the probabilities.

    Example:
        >>> rr3_dagger("7/10", "11/20").parity
        Fraction(11, 3)
    """
    return _build("rr3_dagger", (p1, p2), epsilon, importance, guess, categories)


@register(
    {"p1": "3/4", "p2": "4/5"},
    {"p1": "1/5", "p2": "1/4"},
    {"epsilon": 1, "guess": [0.8, 0.1, 0.1]},
    purpose=Purpose.SEVERAL,
)
def rr3_ddagger(
    p1: Rational | None = None,
    p2: Rational | None = None,
    *,
    epsilon: Rational | None = None,
    importance: Weighting | None = None,
    guess: Weighting | None = None,
    categories: Labels = 3,
) -> Design:
    """Tell first or not rightly with probability p1; where it is not the first, tell which with p2, else the other one.

    Give p1 and p2, or an ε for the member with the smallest variance: of all shares together, or as `importance` weighs
    them, at the shares that are guessed.

    Implements: RR3‡ of [MW21], Section 3.3, Corollary 4 with its condition corrected.

    Guarantee: from p1 and p2 exactly these; from ε integer weights that sum to 2^64, with a parity of at most e^ε.

    Args:
        p1: how often the first answer is told from the others rightly.
        p2: how often the others are told apart rightly.
        epsilon: the most that may be revealed.
        importance: how much the variance of each share matters; by default all the same.
        guess: shares at which variances are compared; by default 1/3 each.
        categories: three labels.

    Raises:
        InvalidDesign: p1 = 1/2, p1 = 0 or p2 = 1/2, where some answers cannot be told apart; not three categories.
        InvalidRequest: neither or both of ε and the probabilities.

    Example:
        >>> rr3_ddagger("3/4", "4/5").parity
        Fraction(24, 5)
    """
    return _build("rr3_ddagger", (p1, p2), epsilon, importance, guess, categories)


@register(
    {"p1": "4/5", "p2": "13/20", "q": "7/10"},
    {"p1": 1, "p2": "1/2", "q": 1},
    {"epsilon": 2, "importance": [8, 1, 1], "guess": {"no": 0.8, "a little": 0.15, "a lot": 0.05},
     "categories": ["no", "a little", "a lot"]}, purpose=Purpose.SEVERAL)  # fmt: skip
def rr3_club(
    p1: Rational | None = None,
    p2: Rational | None = None,
    q: Rational | None = None,
    *,
    epsilon: Rational | None = None,
    importance: Weighting | None = None,
    guess: Weighting | None = None,
    categories: Labels = 3,
) -> Design:
    """Keep the first answer with p1; the others say "not the first" with p2, and then which of them they are with q.

    Give p1, p2 and q, or an ε for the member with the smallest variance: of all shares together, or as `importance`
    weighs them, at the shares that are guessed. RR3† and RR3‡ are special cases, so the optimum is never worse here.

    Implements: RR3♣ of [MW21], Section 3.3, Corollary 5.

    Guarantee: from p1, p2 and q exactly these; from ε integer weights that sum to 2^64, with a parity of at most e^ε.

    Args:
        p1: how often the first answer is kept.
        p2: how often the others say that they are not the first.
        q: how often they then say rightly which they are.
        epsilon: the most that may be revealed.
        importance: how much the variance of each share matters; by default all the same.
        guess: shares at which variances are compared; by default 1/3 each.
        categories: three labels.

    Raises:
        InvalidDesign: p1 + p2 = 1, p2 = 0 or q = 1/2, where some answers cannot be told apart; not three categories.
        InvalidRequest: neither or both of ε and the probabilities.

    Example:
        >>> rr3_club("4/5", "13/20", "7/10").parity
        Fraction(91, 20)
    """
    return _build("rr3_club", (p1, p2, q), epsilon, importance, guess, categories)


def _build(
    family: str,
    parameters: tuple[Rational | None, ...],
    epsilon: Rational | None,
    importance: Weighting | None,
    guess: Weighting | None,
    categories: Labels,
) -> Design:
    category_labels = labels.read(categories)
    if len(category_labels) != 3:
        raise InvalidDesign(
            f"there are {len(category_labels)} categories; expected 3.",
            "For other numbers use k_ary().",
        )
    names = find(family).parameters
    values = tuple(value for value in parameters if value is not None)
    if len(values) != (0 if epsilon is not None else len(names)):
        raise InvalidRequest(
            f"expected either epsilon or all of {', '.join(names)}.",
            f"For example {family}(epsilon=1).",
        )
    if epsilon is None:
        if importance is not None or guess is not None:
            raise InvalidRequest(
                "importance and guess go with epsilon; with probabilities there is nothing to choose."
            )
        member = club(family, *values)
        _refuse_blind(family, member)
        channel = Dense.from_rows(
            [list(row) for row in zip(*member.columns, strict=True)]
        )
    else:
        channel = _best(
            family,
            epsilon,
            _read_three(category_labels, importance, "1"),
            _read_three(category_labels, guess, "1/3"),
        )
    return Design(family, category_labels, category_labels, channel).within(epsilon)


def _best(
    family: str,
    epsilon: Rational,
    importance: Sequence[Rational],
    guess: Sequence[Rational],
) -> Dense:
    gamma = exact.gamma_below(epsilon)
    best = optimum(family, gamma, importance=importance, guess=guess)
    if not best.estimable:
        raise InvalidDesign(
            "with this importance the best design does not tell the second and the third answer apart; "
            "expected some importance for each of them.",
            "If only the first share matters, merge the others and ask with warner(epsilon), which is better still.",
        )
    return realize(best.club.columns, gamma)


def _read_three(
    category_labels: Sequence[str], weighting: Weighting | None, default: str
) -> Sequence[Rational]:
    if weighting is None:
        return (default,) * 3
    if not isinstance(weighting, Mapping):
        require(
            isinstance(weighting, Sequence),
            weighting,
            "a weighting",
            "a number for each category",
        )
        return weighting
    unknown = [name for name in weighting if name not in category_labels]
    if unknown:
        raise InvalidRequest(
            f"{quoted(unknown[0])} is not a category; expected {labels.format_labels(category_labels)}."
        )
    return [weighting.get(name, 0) for name in category_labels]


def _refuse_blind(family: str, member: Club) -> None:
    """Refuse parameters under which some shares cannot be estimated, and say which."""
    never = {
        "rr3_dagger": ("2·p1 + p2 is not 1", "p2 is not 1/3"),
        "rr3_ddagger": ("p1 is not 1/2", "p1 is not 0 and p2 is not 1/2"),
        "rr3_club": ("p1 + p2 is not 1", "p2 is not 0 and q is not 1/2"),
    }[family]
    if member.first_gap == 0:
        raise InvalidDesign(
            "the first response comes equally often from every answer, so the first share cannot be estimated; "
            f"expected that {never[0]}."
        )
    if member.other_gap == 0:
        raise InvalidDesign(
            "the second and the third answer send the same responses, so their shares cannot be told apart; "
            f"expected that {never[1]}.",
            "If only the first share matters, merge the others and use warner().",
        )
