"""How often responses back each category: a count that is binomial, whatever the estimate is.

The responses that back a category are those that it sends more often than any other does, or for two-level channels
those that support it. Given the shares their number is binomial, with a rate of p·share + q·(1 − share). For two
answers and for two-level channels q is one number; else it lies between the smallest and the largest of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from deniable.channel import Channel
from deniable.estimates.covariances import Vector
from deniable.estimates.linear import blind, floats
from deniable.estimates.members import MOST_TERMS, sent_terms, support_tails

LEAST_EXPECTED = 4
"""Expected responses of the rarest sort from which intervals that rest on two moments or on the likelihood keep their
coverage: of 95 % they then hold 92 % or more (`benchmarks/coverage.py`)."""

ROUNDING = 1e-12
"""Differences between probabilities that come of rounding."""

MOST_WRITTEN = 1 << 16
"""Cells of a channel that is written out to see which responses back which category: a moment's work."""


@dataclass(frozen=True, eq=False)
class Backing:
    """How often responses back each category, given that it is the answer and given another.

    Attributes:
        p: how often they back the answer, one for all categories or for each.
        least: how often they back a category that is not the answer, at least.
        most: the same, at most.
        gather: the number of responses that back each category, from the cells of a tally.
    """

    p: Vector | float
    least: Vector | float
    most: Vector | float
    gather: Callable[[Vector], Vector]

    def few(self, respondents: int) -> bool:
        """Tell whether fewer responses of some sort are expected than two moments or the likelihood need."""
        rates = np.array([self.p, self.least, self.most])
        return (
            respondents * float(np.minimum(rates, 1 - rates).min()) < LEAST_EXPECTED
        )

    def telling(self, respondents: int) -> bool:
        """Tell whether the count tells enough: other answers hardly differ in how often they back a category."""
        return (
            respondents * float(np.max(np.subtract(self.most, self.least)))
            < LEAST_EXPECTED
        )

    @property
    def is_binomial(self) -> bool:
        """Whether the count of each category follows its own share alone: other answers all back it equally often."""
        return bool(np.max(np.subtract(self.most, self.least)) < ROUNDING)

    def shares(self, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        """Return the smallest and the largest share with a rate between two."""
        ends = [
            (rate - other) / (self.p - other)
            for rate in (low, high)
            for other in (self.least, self.most)
        ]
        return np.minimum.reduce(ends), np.maximum.reduce(ends)

    def among(
        self, hits: Vector, respondents: int, population: int, confidence: float
    ) -> tuple[Vector, Vector]:
        """Return the smallest and the largest share of so many people that so many responses to each category allow.

        Why: where that takes too many terms, independent respondents stand in for them. The number of responses is a
        sum of independent ones with different rates, as the roots of its generating function are real; and a binomial
        one of the same mean has larger tails [Hoe56].
        """
        ends = np.broadcast(self.p, self.least, self.most)
        if (
            max(sent_terms(respondents, p, q) for p, *others in ends for q in others)
            > MOST_TERMS
        ):
            low, high = self.shares(*clopper_pearson(hits, respondents, confidence))
            return np.maximum(low, 0.0), np.minimum(high, 1.0)
        seen = np.column_stack(
            np.broadcast_arrays(hits, self.p, self.least, self.most)
        )
        found, where = np.unique(seen, axis=0, return_inverse=True)
        allowed = [
            support_tails(int(row[0]), respondents, *row[1:]).shares(
                population, confidence
            )
            for row in found.tolist()
        ]
        low, high = np.array(allowed)[where].T
        return low, high


def support_rates(channel: Channel) -> Backing | None:
    """Return the rates at which responses support each category; None where a category has no responses of its own."""
    two_level = channel.two_level
    if two_level is not None:
        hit, stray = float(two_level.p_true), float(two_level.p_false)
        if hit == stray:
            raise blind()
        return Backing(hit, stray, stray, two_level.support.gather)
    if channel.answers * channel.responses > MOST_WRITTEN:
        return None
    matrix = floats(channel)
    others = ~np.eye(channel.answers, dtype=bool)
    backs = np.array(
        [
            matrix[:, j] > matrix[:, others[j]].max(axis=1)
            for j in range(channel.answers)
        ],
        np.float64,
    )
    if not backs.any(axis=1).all():
        return None
    rates = backs @ matrix
    least, most = (
        np.array([pick(rates[j, others[j]]) for j in range(channel.answers)])
        for pick in (np.min, np.max)
    )
    return Backing(np.diagonal(rates), least, most, lambda counts: backs @ counts)


def clopper_pearson(
    hits: Vector, n: Vector | int, confidence: float
) -> tuple[Vector, Vector]:
    """Return all rates under which neither so many hits nor so few are rarer than half of what is left.

    At an effective sample size hits are no whole numbers.

    Example:
        >>> low, high = clopper_pearson(np.array([0.0, 1.0]), 10, 0.95)
        >>> low.round(4).tolist(), high.round(4).tolist()
        ([0.0, 0.0025], [0.3085, 0.445])
    """
    tail = (1 - confidence) / 2
    low = np.where(
        hits > 0, betaincinv(np.where(hits > 0, hits, 1), n - hits + 1, tail), 0.0
    )
    high = np.where(
        hits < n,
        betaincinv(hits + 1, np.where(hits < n, n - hits, 1), 1 - tail),
        1.0,
    )
    return low, high
