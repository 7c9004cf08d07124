"""What tells two answers apart: groups of responses, with their probability under the one and under the other.

Responses of one ratio say the same about the two answers, so they are one group; pairs of answers with the same groups
are one pair. What is left is small even where the channel is far too large to write out, and it multiplies: responses
that leave together have the products of their groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations
from typing import TypeAlias

from deniable import exact
from deniable.channel import Bits, Channel, Product, Sets
from deniable.channel.two_level import TwoWeights

Losses: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
"""For one pair of answers the groups of responses: the probability of each under the first, and under the second."""

MOST_TERMS = 200_000
"""Products of groups that are worked out for responses that leave together: seconds."""

MOST_COMPARED = 1_000_000
"""Pairs of answers times responses that are gone through in a table: seconds."""


def losses(channel: Channel) -> frozenset[Losses] | None:
    """Return the groups of every pair of answers; None where there are too many to go through."""
    if isinstance(channel, Bits):
        hit, stray = Fraction(channel.hit, channel.total), Fraction(channel.stray, channel.total)
        return frozenset({bit_losses(hit, stray, 1, 1)})
    if isinstance(channel, Sets):
        return frozenset({_halves(_apart(channel, ones) for ones in channel.sizes)})
    if isinstance(channel, TwoWeights):
        large, small = (Fraction(channel.apart * weight, channel.total) for weight in channel.weights)
        return frozenset({_halves([(large, small)])})
    if isinstance(channel, Product):
        return side_by_side([losses(factor) for factor in channel.factors])
    if compared(channel) > MOST_COMPARED:
        return None
    table = channel.dense()
    columns = [[Fraction(weight, table.total) for weight in column] for column in zip(*table.weights, strict=True)]
    return frozenset(_merged(zip(*pair, strict=True)) for pair in permutations(columns, 2))


def compared(channel: Channel) -> int:
    """Return how many comparisons a table of this size takes."""
    return channel.answers * (channel.answers - 1) * channel.responses


def bit_losses(hit: Fraction, stray: Fraction, own: int, others: int) -> Losses:
    """Return the groups of independent bits: so many are truly 1 for the first answer alone, and for the second."""
    return _merged(
        (_ones(own, a, hit) * _ones(others, b, stray), _ones(own, a, stray) * _ones(others, b, hit))
        for a in range(own + 1)
        for b in range(others + 1)
    )


def _ones(bits: int, ones: int, share: Fraction) -> Fraction:
    return math.comb(bits, ones) * share**ones * (1 - share) ** (bits - ones)


def side_by_side(parts: Sequence[frozenset[Losses] | None]) -> frozenset[Losses] | None:
    """Return the groups of responses that leave together, drawn independently; None where there are too many."""
    found: frozenset[Losses] = frozenset({((Fraction(1), Fraction(1)),)})
    for part in parts:
        if part is None or sum(map(len, found)) * sum(map(len, part)) > MOST_TERMS:
            return None
        found = frozenset(_merged((p * r, q * s) for p, q in one for r, s in two) for one in found for two in part)
    return found


def delta_of(found: Iterable[Losses], gamma: Fraction) -> Fraction:
    """Return the smallest δ at γ: the largest Σ (p − γ·q)₊ over all pairs of answers."""
    return max(sum((max(Fraction(0), p - gamma * q) for p, q in each), Fraction(0)) for each in found)


def _apart(channel: Sets, ones: int) -> tuple[Fraction, Fraction]:
    """Return how often a set of one size holds the first answer and not the second, given the first and the second."""
    own, others = channel.inclusion(ones), channel.size - 1
    weight = channel.weight(ones) / others
    return weight * own * (channel.size - ones), weight * (1 - own) * ones


def _halves(pairs: Iterable[tuple[Fraction, Fraction]]) -> Losses:
    """Return the groups of answers that are all alike: each pair both ways, and the rest, which tells nothing."""
    told = list(pairs)
    rest = 1 - sum((p + q for p, q in told), Fraction(0))
    return _merged([*told, *((q, p) for p, q in told), (rest, rest)])


def _merged(entries: Iterable[tuple[Fraction, Fraction]]) -> Losses:
    groups: dict[exact.Ratio, tuple[Fraction, Fraction]] = {}
    for p, q in entries:
        if p or q:
            ratio = exact.ratio(p, q)
            one, two = groups.get(ratio, (Fraction(0), Fraction(0)))
            groups[ratio] = one + p, two + q
    return tuple(groups[ratio] for ratio in sorted(groups))
