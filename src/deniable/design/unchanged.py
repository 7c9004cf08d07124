"""How often an answer is sent unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from deniable import exact
from deniable.channel import Channel, Diagonal
from deniable.design.admissible import channel_of
from deniable.design.design import Design
from deniable.errors import InvalidDesign, InvalidNumber


def largest_trace(k: int, gamma: exact.Rational) -> Fraction:
    """Return the largest sum of the chances of an unchanged answer, over all k × k designs of parity at most γ.

    Implements: Theorem 6.1 of [Cha19]: kγ / (γ + k − 1). The γ-diagonal design, `k_ary`, and no other attains it.

    Why: p_ii ≤ γ·p_ij for each j; add up over j and then over i.

    Raises:
        InvalidDesign: fewer than two categories.
        InvalidNumber: γ below 1.

    Example:
        >>> largest_trace(5, 4)
        Fraction(5, 2)
    """
    value = exact.rational(gamma, name="gamma")
    if k < 2:
        raise InvalidDesign(f"there are {k} categories; expected at least 2.")
    if value < 1:
        raise InvalidNumber(f"γ = e^ε is {exact.shown(value)}; expected at least 1.")
    return k * value / (value + k - 1)


def unchanged(design: Design | Channel, shares: Sequence[exact.Rational] | None = None) -> Fraction:
    """Return the chance that an answer is sent as it is, for shares of the answers; by default all are equal.

    Raises:
        InvalidDesign: responses are not the categories themselves.
        InvalidNumber: shares that are no distribution over the answers.

    Example:
        >>> from deniable.design import binary, k_ary
        >>> unchanged(k_ary(5, p="1/2")), unchanged(binary("9/10", "7/10"), ["1/4", "3/4"])
        (Fraction(1, 2), Fraction(3, 4))
    """
    channel = channel_of(design)
    alike = not isinstance(design, Design) or _same(design)
    if channel.answers != channel.responses or not alike:
        raise InvalidDesign(
            f"this design sends {channel.responses:,} symbols for {channel.answers:,} categories, not the categories "
            "themselves; expected a design whose symbols are its categories.",
            "An answer is sent unchanged only where it is itself a symbol.",
        )
    if shares is None and isinstance(channel, Diagonal):
        return channel.probability(0, given=0)
    size = channel.answers
    weights = [exact.probability(each, name="a share") for each in shares] if shares else [Fraction(1, size)] * size
    if len(weights) != size or sum(weights) != 1:
        raise InvalidNumber(f"the shares do not fit; expected {size} numbers that sum to exactly 1.")
    return sum((weight * channel.probability(j, given=j) for j, weight in enumerate(weights)), Fraction(0))


def _same(design: Design) -> bool:
    return design.symbols == design.categories or (
        len(design.symbols) == len(design.categories) and tuple(design.symbols) == tuple(design.categories)
    )
