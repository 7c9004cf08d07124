"""One likelihood for people who follow the device and people who do something else: it is linear in three weights.

Honest members, honest others and people with a law of their own make a triangle of weights, on which the
log-likelihood of counts is concave. Its maximum is found without a start; intervals are profiles over the triangle, so
that they never leave it and exist at its border too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy
from scipy.stats import chi2

from deniable.errors import NotEstimable
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, crossings
from deniable.estimates.likelihood import log_likelihood, maximize_from
from deniable.estimates.testing import HypothesisTest, against_chi_square

Weights: TypeAlias = tuple[float, float, float]

EVERYBODY: Weights = (1.0, 1.0, 1.0)
_IMPOSSIBLE = -1e300  # a log-likelihood below all others that stays a number
_SLOPE = 1e-9  # by how much a slope may exceed 1 at a maximum
_MAX_STEPS = 100
_NEAR = 1e-14  # between two steps, where it makes no difference to the likelihood


class WeightShare(NamedTuple):
    """A number of interest: some of the weights, out of some of them.

    Attributes:
        of: the weights in it.
        out_of: the weights that it is a share of.
    """

    of: Weights
    out_of: Weights = EVERYBODY

    def at(self, weights: Vector) -> float:
        """Return its value; not a number where there is nobody that it is a share of."""
        if np.dot(self.out_of, weights) <= 0:
            return math.nan
        return min(max(self.extrapolate(weights), 0.0), 1.0)

    def extrapolate(self, weights: Vector) -> float:
        """Return its value at weights that may lie outside of the triangle."""
        total = float(np.dot(self.out_of, weights))
        return float(np.dot(self.of, weights)) / total if total else math.nan

    def slopes(self, weights: Vector) -> Vector:
        """Return its derivatives, for the delta method."""
        total = float(np.dot(self.out_of, weights))
        if total <= 0:
            return np.full(3, np.nan)
        return self.normal(self.extrapolate(weights)) / total

    def normal(self, value: float) -> Vector:
        """Return the direction that is orthogonal to all weights with a value."""
        return vector(self.of) - value * vector(self.out_of)


def fit_test(counts: Vector, expected: Vector, df: int) -> HypothesisTest:
    """Compare counts with those that a model expects: G², twice the sum of observed · log(observed/expected)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(
            counts > 0, counts / np.where(expected > 0, expected, np.nan), 1.0
        )
    statistic = max(
        2 * float(xlogy(counts, np.nan_to_num(ratio, nan=np.inf)).sum()), 0.0
    )
    return against_chi_square(
        "Test that the model fits", "likelihood", statistic, df
    )


@dataclass(frozen=True, eq=False)
class Triangle:
    """Counts whose probabilities are mixtures of three laws.

    Implements: the boundary-respecting maximum of a concave likelihood on a triangle, and profiles over it.

    Why: where weights reproduce the shares that were seen they are the maximum; otherwise the maximum lies on an edge,
    where it is the root of a decreasing derivative, or, with more cells than weights, within, where Newton's steps find
    it. That no slope exceeds 1 proves it: the likelihood is concave.

    Attributes:
        laws: the probability of each cell under each of the three, a column for each; groups one after another.
        counts: how often each cell was seen.
        cells: how many cells each group has.
    """

    laws: Matrix
    counts: Vector
    cells: tuple[int, ...]

    def __post_init__(self) -> None:
        if np.linalg.matrix_rank(self.laws, tol=1e-9) < 3:
            raise NotEstimable(
                "the groups do not tell people who follow the device from those who do not; expected devices with "
                "which the three kinds of people respond differently.",
                "Use two devices with different probabilities, such as a forced yes in 1 of 6 and in 4 of 6.",
            )

    @cached_property
    def sizes(self) -> Vector:
        """How many responses each group sent, beside each of its cells."""
        first = np.cumsum((0, *self.cells[:-1]))
        return np.repeat(np.add.reduceat(self.counts, first), self.cells)

    def height(self, weights: Vector) -> float:
        """Return the log-likelihood, without the constant that counts ways."""
        return max(log_likelihood(self.counts, self.laws @ weights), _IMPOSSIBLE)

    def likely(self, moment: Vector | None = None) -> Vector:
        """Return the most likely weights.

        Args:
            moment: weights that may reproduce the shares that were seen; they are taken where they are the maximum.
        """
        if moment is not None and moment.min() >= 0 and self._is_highest(moment):
            return moment
        edges = [self._best_between(*edge) for edge in combinations(np.eye(3), 2)]
        best = max(edges, key=self.height)
        if self._is_highest(best):
            return best
        within, _ = maximize_from(self.laws, self.counts, start=np.full(3, 1 / 3))
        return within

    def fit(self, weights: Vector) -> HypothesisTest:
        """Test the model: G² of what was seen against what these weights expect."""
        df = sum(size - 1 for size in self.cells) - 2
        return fit_test(self.counts, self.sizes * (self.laws @ weights), df)

    def interval(
        self, part: WeightShare, likely: Vector, drop: float, corner_drop: float
    ) -> Interval:
        """Return all values whose profile log-likelihood is within a drop of the maximum.

        Why: weights with one value lie on a line through the triangle, also of a share of a part of the people. Where
        that line is a corner, as where nobody is a member and nobody cheats, two weights are held and not one, and the
        likelihood ratio is larger: the corner has a drop of its own, and with it all values up to the estimate hold.

        Args:
            part: what the interval is of.
            likely: the most likely weights.
            drop: how much less likely a value may be.
            corner_drop: how much less likely a corner may be; see `corner_quantile`.
        """
        top, value = self.height(likely), part.at(likely)
        if not np.isfinite(value):  # of nobody: everything fits
            return Interval(0.0, 1.0)

        def above(share: float) -> float:
            return self._best_on_line(part.normal(share)) - (top - drop)

        def is_corner(share: float) -> bool:
            line = _line(part.normal(share))
            return len(line) == 1 and self.height(line[0]) >= top - corner_drop

        low, high = crossings(above, value)
        return Interval(
            0.0 if is_corner(0.0) else low, 1.0 if is_corner(1.0) else high
        )

    def _is_highest(self, weights: Vector) -> bool:
        expected, seen = self.laws @ weights, self.counts > 0
        if (expected[seen] <= 0).any():
            return False
        slopes = (
            (self.counts[seen] / expected[seen])
            @ self.laws[seen]
            / self.counts.sum()
        )
        return bool(slopes.max() <= 1 + _SLOPE)

    def _best_on_line(self, direction: Vector) -> float:
        """Return the largest log-likelihood of weights at a right angle to a direction."""
        ends = _line(direction)
        if len(ends) == 1:
            return self.height(ends[0])
        if len(ends) > 2:  # the whole triangle
            return self.height(self.likely())
        return self.height(self._best_between(*ends))

    def _best_between(self, one: Vector, two: Vector) -> Vector:
        seen = self.counts > 0
        at = _highest(
            self.counts[seen], self.laws[seen] @ one, self.laws[seen] @ two
        )
        return (1 - at) * one + at * two


def corner_quantile(level: float) -> float:
    """Return the quantile of the likelihood ratio of a corner of a triangle, at most.

    Implements: from a corner a normal vector has its nearest point in a cone [SL87]; the squared length of that is 0,
    χ² with one degree of freedom, half of the time, or with two, as often as the angle of the cone is of the full one:
    at most half of the time.

    Example:
        >>> round(corner_quantile(0.95), 4)
        5.1384
    """
    tail = 1 - level
    return float(
        brentq(
            lambda ratio: (chi2.sf(ratio, 1) + chi2.sf(ratio, 2)) / 2 - tail,
            0.0,
            chi2.isf(tail, 2),
            xtol=1e-12,
        )
    )


def _line(direction: Vector) -> Sequence[Vector]:
    """Return the ends of the line of weights at a right angle to a direction: on edges, or at corners."""
    direction = np.where(np.abs(direction) < 1e-15, 0.0, direction)
    ends = list(np.eye(3)[direction == 0])
    for (a, start), (b, stop) in combinations(
        zip(direction, np.eye(3), strict=True), 2
    ):
        if a * b < 0:
            ends.append((a * stop - b * start) / (a - b))
    return ends


def _highest(counts: Vector, one: Vector, two: Vector) -> float:
    """Return t in [0, 1] at which Σ counts · log((1 − t)·one + t·two) is largest, by Newton's steps in a bracket."""
    moves = one != two
    counts, one, gap = counts[moves], one[moves], (two - one)[moves]

    def slope(at: float) -> tuple[float, float]:
        ratio = gap / (one + at * gap)
        return float(counts @ ratio), -float(counts @ ratio**2)

    # at the ends a probability may be 0: an infinite slope, of one sign alone
    with np.errstate(divide="ignore"):
        if not len(counts) or slope(0.0)[0] <= 0:
            return 0.0
        if slope(1.0)[0] >= 0:
            return 1.0
    low, high, at = 0.0, 1.0, 0.5
    for _ in range(_MAX_STEPS):
        first, second = slope(at)
        low, high = (at, high) if first > 0 else (low, at)
        moved = at - first / second
        if not low < moved < high:
            moved = (low + high) / 2
        if abs(moved - at) <= _NEAR:
            break
        at = moved
    return at
