"""What remains of a deck when all others have drawn, and how much that tells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from deniable.errors import InvalidRequest

_MOST = 2_000_000  # terms of the exact sum


def excess(counts: Sequence[int], remaining: int, gamma: Fraction) -> Fraction:
    """Return Σ_k E[(a_k − γ·a_{L+1−k})₊] / remaining, with a the numbers of a random hand of `remaining` cards.

    This is δ at γ = e^ε against somebody who knows all other cards.

    Why: the n − 1 cards of the others and the M − n + 1 that remain are one random division of the deck, which does not
    depend on the target's answer. Given it, the target sends k with probability a_k / remaining or
    a_{L+1−k} / remaining, and the best set of responses takes each k where the first exceeds γ times the second.

    Raises:
        InvalidRequest: more than two million terms.
    """
    if remaining == 1:  # the last card is known
        middle = counts[len(counts) // 2] if len(counts) % 2 else 0
        return Fraction(sum(counts) - middle, sum(counts))
    pairs = [(a, b) for k, (a, b) in enumerate(zip(counts, reversed(counts), strict=True)) if 2 * k + 1 != len(counts)]
    terms = sum((min(a, remaining) + 1) * (min(b, remaining) + 1) for a, b in pairs)
    if terms > _MOST:
        raise InvalidRequest(
            f"δ is a sum of {terms:,} terms for this deck; expected at most {_MOST:,}.",
            "Use the ε against the collector, which is exact for every deck, or smaller groups.",
        )
    ways = math.comb(sum(counts), remaining)
    return sum((_pair(a, b, sum(counts), remaining, gamma) for a, b in pairs), Fraction(0)) / ways / remaining


def _pair(own: int, other: int, total: int, remaining: int, gamma: Fraction) -> Fraction:
    """Return Σ over hands of (a − γ·b)₊, weighted with the number of hands that hold a of `own` and b of `other`."""
    up, down = gamma.numerator, gamma.denominator
    chosen = [math.comb(other, b) for b in range(min(other, remaining) + 1)]
    rest = total - own - other
    left = [math.comb(rest, c) for c in range(remaining + 1)] if rest else [1] + [0] * remaining
    result = 0
    for a in range(1, min(own, remaining) + 1):
        inner = 0
        for b, ways in enumerate(chosen[: remaining - a + 1]):
            gain = down * a - up * b
            if gain <= 0:
                break
            inner += gain * ways * left[remaining - a - b]
        result += math.comb(own, a) * inner
    return Fraction(result, down)
