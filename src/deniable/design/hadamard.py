"""Hadamard response: short responses for very many categories."""

from __future__ import annotations

from deniable import chance, exact
from deniable.channel.hadamard import Hadamard
from deniable.design import labels
from deniable.design.design import Design
from deniable.design.labels import Labels, Numbered
from deniable.design.registry import register
from deniable.errors import InvalidDesign


@register(
    {"categories": 3, "epsilon": 1},
    {"categories": ["red", "green", "blue", "white", "black"], "epsilon": 2},
    {"categories": 7, "epsilon": "1/2"},
)
def hadamard(categories: Labels, epsilon: exact.Rational) -> Design:
    """Send a row of a Hadamard matrix, more often one that is +1 in the answer's column.

    A response is a number below the smallest power of two above k, 20 bits for a million categories, and takes the
    same time to draw for any k. All shares are estimated together by one fast transform. For small ε it is nearly as
    good as any design can be; at ε = 1 its variances are a quarter above the best, and for larger ε `local_hashing`
    tells far more.

    Implements: Hadamard response in its high-privacy form [ASZ19], without the row that is +1 everywhere: it says
    nothing, and leaving it out is the repair of Lemma 5.4 of [Cha19].

    Guarantee: integer weights whose ratio is at most e^ε and whose sum is at most 2^64, short of it by less than k.

    Why: with h = K/2, small = ⌈2^64 / (r(h − 1) + h)⌉ and large = ⌊(2^64 − h·small) / (h − 1)⌋ ≤ r·small for r ≤ e^ε.

    Raises:
        InvalidDesign: fewer than two categories, or an ε that 64-bit weights cannot honour for so many.

    Example:
        >>> design = hadamard(1_000_000, epsilon=1)
        >>> len(design.symbols), design.epsilon
        (1048575, 0.9999999999998717)
    """
    known = labels.read(categories)
    ratio = exact.exp_below(exact.positive_epsilon(epsilon))
    half = 1 << len(known).bit_length() >> 1
    small = -int(-chance.TOTAL / (ratio * (half - 1) + half) // 1)
    large = (chance.TOTAL - half * small) // (half - 1)
    if large <= small:
        raise InvalidDesign(
            f"with {len(known):,} categories this ε is too fine for weights that sum to 2^64; "
            "expected fewer or a larger ε."
        )
    return Design("hadamard", known, Numbered(2 * half - 1), Hadamard(len(known), large, small))
