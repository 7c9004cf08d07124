"""k-ary randomized response: the γ-diagonal design, and its mirror on the other side of 1/k."""

from __future__ import annotations

from fractions import Fraction

from deniable import chance, exact
from deniable.channel import Diagonal
from deniable.design import labels
from deniable.design.design import Design
from deniable.design.labels import Labels
from deniable.design.registry import register
from deniable.errors import InvalidDesign, InvalidRequest


@register(
    {"categories": ["red", "green", "blue"], "epsilon": 1},
    {"categories": 5, "epsilon": "1/2"},
    {"categories": 4, "epsilon": 2, "low": True},
    {"categories": 3, "p": "0.7"},
    {"categories": 3, "p": "1/10"},
)
def k_ary(
    categories: Labels,
    epsilon: exact.Rational | None = None,
    *,
    p: exact.Rational | None = None,
    low: bool = False,
) -> Design:
    """Keep the answer with the largest probability ε allows, else send another category, each evenly.

    Give either ε or the probability p that the answer is sent unchanged; p below 1/k sends the other categories more
    often than the answer. `low=True` asks for that side at a given ε.

    Implements: k-ary randomized response [KBR16]; the γ-diagonal matrix of [Cha19], Theorem 6.1; EWRR_n of [MW21].

    Guarantee: from ε, integer weights that sum to 2^64 (before they are brought to lowest terms) and whose ratio is at
    most e^ε; from p, exactly p.

    Why: with r ≤ e^ε and other = ⌈2^64 / (r + k − 1)⌉, same = 2^64 − (k − 1)·other ≤ r·other. On the low side
    other = ⌊2^64·r / ((k − 1)·r + 1)⌋ leaves same ≥ 2^64 / ((k − 1)·r + 1) ≥ other / r.

    Raises:
        InvalidDesign: fewer than two categories, p = 1/k, or an ε that 64-bit weights cannot honour.
        InvalidRequest: neither or both of ε and p.

    Example:
        >>> k_ary(["yes", "no"], epsilon=1).epsilon
        1.0
        >>> k_ary(1_000_000, epsilon=1).parity < Fraction("2.7182818284590453")
        True
    """
    known = labels.read(categories)
    return Design("k_ary", known, known, diagonal(len(known), epsilon, p, low=low))


def diagonal(size: int, epsilon: exact.Rational | None, p: exact.Rational | None, *, low: bool = False) -> Diagonal:
    """Build the channel from ε or from p.

    Raises:
        InvalidRequest: neither or both are given.
    """
    if (epsilon is None) == (p is None):
        raise InvalidRequest(
            "expected either epsilon or p, and exactly one of them.", "For example epsilon=1, or p=0.75."
        )
    if epsilon is not None:
        return _from_ratio(size, exact.exp_below(exact.positive_epsilon(epsilon)), low=low)
    if low:
        raise InvalidRequest("low goes with epsilon; a p below 1/k is on that side by itself.")
    assert p is not None
    return _from_probability(size, exact.probability(p, name="p"))


def _from_ratio(size: int, ratio: Fraction, *, low: bool) -> Diagonal:
    others = size - 1
    if low:
        other = int(chance.TOTAL * ratio / (others * ratio + 1))
    else:
        other = -int(-chance.TOTAL / (ratio + others) // 1)
    same = chance.TOTAL - others * other
    if same <= 0 or (same <= other) != low or same == other:
        raise InvalidDesign(
            f"with {size:,} categories this ε is too fine for weights that sum to 2^64; expected fewer or a larger ε."
        )
    return Diagonal(size, same, other)


def _from_probability(size: int, p: Fraction) -> Diagonal:
    if p == Fraction(1, size):
        raise InvalidDesign(
            f"p = 1/{size} sends every category equally often whatever the answer; expected another p.",
            f"Above 1/{size} the answer is sent more often than each other category, below less often.",
        )
    if p == 1 or (p == 0 and size == 2):
        raise InvalidDesign(
            f"p = {p} gives every answer away; expected a p between 0 and 1.", "Or ask the question directly."
        )
    other = (1 - p) / (size - 1)
    return Diagonal(size, p.numerator * other.denominator, other.numerator * p.denominator)
