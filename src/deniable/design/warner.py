"""Warner's design for two answers."""

from __future__ import annotations

from deniable import exact
from deniable.design.design import Design
from deniable.design.k_ary import diagonal
from deniable.design.labels import Labels, read
from deniable.design.registry import register
from deniable.errors import InvalidDesign


@register({"epsilon": 1}, {"p": "7/10"}, {"p": "1/4", "categories": ["never", "ever"]})
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

    Raises:
        InvalidDesign: not two categories, or p = 1/2.
        InvalidRequest: neither or both of ε and p.

    Example:
        >>> warner(p="3/4").parity
        Fraction(3, 1)
    """
    known = read(categories)
    if len(known) != 2:
        raise InvalidDesign(f"there are {len(known)} categories; expected 2.", "For more use k_ary().")
    return Design("warner", known, known, diagonal(2, epsilon, p))
