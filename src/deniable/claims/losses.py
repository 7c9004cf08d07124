"""Privacy-loss distributions: for a pair of answers, the responses grouped by likelihood ratio.

Each group has its probability under the first answer and under the second. Pairs of answers with the same groups count
once. What is left is small even where the channel is far too large to write out, and it composes: responses that are
sent together have the products of their groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import permutations
from typing import TypeAlias

from deniable import exact
from deniable.channel import Channel

Losses: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
"""For one pair of answers the groups of responses: the probability of each under the first, and under the second."""

LossSet: TypeAlias = frozenset[Losses]
"""The groups of all pairs of answers; equal ones once."""

MOST_TERMS = 50_000
"""Products of groups that are worked out for responses that leave together: a second."""

MOST_COMPARED = 100_000
"""Pairs of answers times responses that are gone through in a table: a second."""

MOST_PARTS = 16
"""Responses that leave together, whose groups are multiplied: the products have as many times the digits."""


def privacy_losses(channel: Channel) -> LossSet | None:
    """Return the groups of every pair of answers; None where there are too many to go through."""
    if channel.separations:
        return frozenset({_symmetric_groups(channel.separations)})
    if channel.product is not None:
        return combine_losses(
            [privacy_losses(factor) for factor in channel.product.factors]
        )
    if count_comparisons(channel) > MOST_COMPARED:
        return None
    table = channel.dense()
    columns = [
        [Fraction(weight, table.total) for weight in column]
        for column in zip(*table.weights, strict=True)
    ]
    return frozenset(
        _merge_ratios(zip(*pair, strict=True)) for pair in permutations(columns, 2)
    )


def count_comparisons(channel: Channel) -> int:
    """Return how many comparisons a table of this size takes."""
    return channel.answers * (channel.answers - 1) * channel.responses


def bit_losses(hit: Fraction, stray: Fraction, first: int, second: int) -> Losses:
    """Return the groups of independent bits.

    Args:
        hit: the probability that a true bit is sent as 1.
        stray: that of a bit that is not true.
        first: bits that are true for the first answer alone.
        second: bits that are true for the second answer alone.
    """
    return _merge_ratios(
        (
            _binomial(first, a, hit) * _binomial(second, b, stray),
            _binomial(first, a, stray) * _binomial(second, b, hit),
        )
        for a in range(first + 1)
        for b in range(second + 1)
    )


def _binomial(bits: int, ones: int, share: Fraction) -> Fraction:
    """Return the binomial probability of so many ones."""
    return math.comb(bits, ones) * share**ones * (1 - share) ** (bits - ones)


def combine_losses(parts: Sequence[LossSet | None]) -> LossSet | None:
    """Return the groups of responses that leave together, drawn independently; None where there are too many."""
    combined: LossSet = frozenset({((Fraction(1), Fraction(1)),)})
    for losses in parts:
        if (
            losses is None
            or len(parts) > MOST_PARTS
            or sum(map(len, combined)) * sum(map(len, losses)) > MOST_TERMS
        ):
            return None
        combined = frozenset(
            _merge_ratios((p * r, q * s) for p, q in first for r, s in second)
            for first in combined
            for second in losses
        )
    return combined


def compute_delta(losses: Iterable[Losses], gamma: Fraction) -> Fraction:
    """Return the smallest δ at γ: the largest Σ (p − γ·q)₊ over all pairs of answers."""
    return max(
        sum((max(Fraction(0), p - gamma * q) for p, q in groups), Fraction(0))
        for groups in losses
    )


def _symmetric_groups(pairs: Sequence[tuple[Fraction, Fraction]]) -> Losses:
    """Return the groups of a pair of answers that are exchangeable: each group both ways, and the uninformative one."""
    uninformative = 1 - sum((p + q for p, q in pairs), Fraction(0))
    return _merge_ratios(
        [*pairs, *((q, p) for p, q in pairs), (uninformative, uninformative)]
    )


def _merge_ratios(entries: Iterable[tuple[Fraction, Fraction]]) -> Losses:
    """Add up the probabilities of entries with one likelihood ratio."""
    groups: dict[exact.Ratio, tuple[Fraction, Fraction]] = {}
    for p, q in entries:
        if p or q:
            ratio = exact.ratio(p, q)
            first, second = groups.get(ratio, (Fraction(0), Fraction(0)))
            groups[ratio] = first + p, second + q
    return tuple(groups[ratio] for ratio in sorted(groups))
