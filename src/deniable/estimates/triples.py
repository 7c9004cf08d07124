"""Intervals for numbers made of three shares: means of a value over people, and ratios of two such means.

Items with weights are such triples (none, +, −), and so are edges with one of three weights. All tallies of one channel
are done at once: there is one for each item.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Ends, bisect_boundary, quantile

_STEPS = 40  # at most, until the most likely point of a line
_STILL = 1e-9
_FEW = 8  # responses below which Student's law takes the place of the normal one
_TOGETHER = 1 << 14  # tallies that are looked at together
_NONE_LEFT = 1e-12
_TINY = np.finfo(np.float64).tiny

AmongPeople: TypeAlias = Callable[[Matrix, Matrix], Vector]
"""From the values of the answers and their shares, the variance of the values among people, as far as it is known."""


@dataclass(frozen=True, eq=False)
class Scored:
    """A value for each answer, whose mean over people is estimated by the mean of a score for each response.

    Attributes:
        values: of each of the three answers.
        responses: the score of each response; its mean over the responses to an answer is the answer's value.
    """

    values: Vector
    responses: Vector


@dataclass(frozen=True, eq=False)
class Triples:
    """Tallies of one channel with three answers.

    Attributes:
        matrix: the probability of each response, a row each, given each answer.
        counts: how often each response came, a row for each tally.
        known: the part of the variance among people that does not count, because so many of all people were asked.
        spread: that variance; 0 if it is not given.
    """

    matrix: Matrix
    counts: Matrix
    known: Vector | float = 0.0
    spread: AmongPeople | None = None

    def mean(
        self, value: Scored, confidence: float, *, likelihood: bool = True
    ) -> Ends:
        """Return the ends of the mean of a value, as those of its ratio to 1."""
        return self.ratio(
            value,
            Scored(np.ones(3), np.ones(len(self.matrix))),
            confidence,
            likelihood=likelihood,
        )

    def ratio(
        self,
        above: Scored,
        below: Scored,
        confidence: float,
        *,
        likelihood: bool = True,
    ) -> Ends:
        """Return the smallest and the largest ratio of two means that is not rejected, of those there can be.

        Implements: the test of a ratio ρ asks whether above − ρ·below is 0 on average [Fie54]. It rejects where the
        estimate is farther than z standard errors from 0; the error is that under the most likely shares that have this
        ratio (score). With `likelihood` it rejects only if these shares are also much less likely than the best ones.

        Why both: of a response that is sent hardly ever, one that came too many makes the score too sure, and none
        makes the likelihood too sure. Where nothing tells `below` from 0 no ratio is rejected.

        Guarantee: none. Of 95 % it holds 92 % or more wherever it was counted (`benchmarks/coverage_records.py`).
        """
        asked = np.column_stack(
            [self.counts, np.broadcast_to(self.known, len(self.counts))]
        )
        rows, back = np.unique(asked, axis=0, return_inverse=True)
        found = [
            _Test(
                replace(self, counts=piece[:, :-1], known=piece[:, -1]),
                above,
                below,
                confidence,
                likelihood,
            ).ends()
            for piece in np.array_split(rows, len(rows) // _TOGETHER + 1)
        ]
        low, high = (
            vector(np.concatenate(ends)[back.reshape(-1)])
            for ends in zip(*found, strict=True)
        )
        return low, high

    def together(self) -> Triples:
        """Return all tallies as one, as if of independent responses with the mean shares.

        Why: tallies whose shares differ, or of which no two responses come together, vary less than that.
        """
        return Triples(self.matrix, self.counts.sum(axis=0, keepdims=True))

    @cached_property
    def sizes(self) -> Vector:
        """How many responses there are in each tally, 1 where there are none."""
        return vector(np.maximum(self.counts.sum(axis=1), 1.0))

    @cached_property
    def best(self) -> Matrix:
        """The most likely shares of each tally.

        Why: the likelihood is concave. Shares that explain the counts wholly are the best; where there are none, the
        best ones lie on an edge of the triangle.
        """
        whole = self.counts / self.sizes[:, None] @ np.linalg.pinv(self.matrix).T
        whole /= np.where(
            np.abs(whole.sum(axis=1)) > _NONE_LEFT, whole.sum(axis=1), 1.0
        )[:, None]
        corners = [np.broadcast_to(each, whole.shape) for each in np.eye(3)]
        found = [
            self.likeliest(corners[one], corners[two])
            for one, two in ((0, 1), (0, 2), (1, 2))
        ]
        found.append(
            np.where((whole >= 0).all(axis=1, keepdims=True), whole, found[0])
        )
        pick = np.argmax([self.height(each) for each in found], axis=0)
        return vector(np.stack(found)[pick, np.arange(len(whole))])

    def height(self, shares: Matrix) -> Vector:
        """Return the logarithm of the likelihood of shares for each tally."""
        return vector(
            (self.counts * np.log(np.maximum(shares @ self.matrix.T, _TINY))).sum(
                axis=1
            )
        )

    def likeliest(self, one: Matrix, two: Matrix) -> Matrix:
        """Return the most likely shares on the line from one to two, for each tally: Newton's steps in a bracket."""
        start, way = one @ self.matrix.T, (two - one) @ self.matrix.T
        place = np.where(_slopes(self.counts, start, way, 1.0)[0] > 0, 1.0, 0.5)
        place = np.where(_slopes(self.counts, start, way, 0.0)[0] <= 0, 0.0, place)
        left = np.flatnonzero(place == 0.5)  # of the others an end is the best
        low, high = np.zeros(len(place)), np.ones(len(place))
        for _ in range(_STEPS):
            at = place[left]
            slope, bend = _slopes(
                self.counts[left], start[left], way[left], at[:, None]
            )
            low[left], high[left] = (
                np.where(slope > 0, at, low[left]),
                np.where(slope > 0, high[left], at),
            )
            step = at - slope / np.minimum(bend, -_TINY)
            inside = (step > low[left]) & (step < high[left])
            place[left] = np.where(inside, step, (low[left] + high[left]) / 2)
            left = left[np.abs(place[left] - at) > _STILL]
            if not left.size:
                break
        return vector((1 - place[:, None]) * one + place[:, None] * two)


def _slopes(
    counts: Matrix, start: Matrix, way: Matrix, place: Matrix | float
) -> tuple[Vector, Vector]:
    """Return the first and the second derivative of the logarithm of the likelihood along a line."""
    part = way / np.maximum(start + place * way, _TINY)
    return (counts * part).sum(axis=1), -(counts * part**2).sum(axis=1)


@dataclass(frozen=True, eq=False)
class _Test:
    """The test of a ratio, for each tally another one at a time."""

    triples: Triples
    above: Scored
    below: Scored
    confidence: float
    likelihood: bool

    @cached_property
    def z2(self) -> Vector:
        """The square of z for each tally; so large with a single response that nothing is rejected."""
        sizes = self.triples.sizes
        student = stdtrit(np.clip(sizes - 1, 1, _FEW), (1 + self.confidence) / 2)
        z = np.where(sizes < _FEW, student, quantile(self.confidence))
        return vector(np.where(sizes > 1, z, 1e15) ** 2)

    def ends(self) -> Ends:
        """Return the smallest and the largest ratio that is not rejected, on both sides of the most likely one."""
        some = self.below.values > 0
        ratios = self.above.values[some] / self.below.values[some]
        shares = self.triples.best
        above, below = shares @ self.above.values, shares @ self.below.values
        likely = np.divide(
            above,
            below,
            out=np.full(len(shares), ratios.min()),
            where=below > _NONE_LEFT,
        )
        likely = np.clip(likely, ratios.min(), ratios.max())
        return bisect_boundary(self._holds, likely, ratios.min()), bisect_boundary(
            self._holds, likely, ratios.max()
        )

    def _holds(self, ratio: Vector) -> NDArray[np.bool_]:
        """Tell for each tally whether a ratio of its own is not rejected."""
        triples = self.triples
        values = self.above.values - ratio[:, None] * self.below.values
        scores = self.above.responses - ratio[:, None] * self.below.responses
        shares = triples.likeliest(*_line(values))
        distance = (triples.counts * scores).sum(axis=1) / triples.sizes
        variance = (shares * (scores**2 @ triples.matrix)).sum(axis=1)
        if triples.spread is not None:
            variance = np.maximum(
                variance - triples.known * triples.spread(values, shares), 0.0
            )
        holds = triples.sizes * distance**2 <= self.z2 * variance + _NONE_LEFT
        if self.likelihood:
            holds |= (
                triples.height(triples.best) - triples.height(shares) <= self.z2 / 2
            )
        return np.asarray(holds, np.bool_)


def _line(values: Matrix) -> tuple[Matrix, Matrix]:
    """Return the two ends of all shares under which these values of the answers have the mean 0.

    With answers in the order of their values, one end mixes the first and the last; the other one mixes the middle one
    with that of them whose value has the other sign.
    """
    order = np.argsort(values, axis=1, kind="stable")
    first, middle, last = np.take_along_axis(values, order, axis=1).T
    ends = np.zeros((2, *values.shape))
    rows, up = np.arange(len(values)), middle >= 0
    part = _mixing_share(first, last)
    ends[0, rows, order[:, 0]], ends[0, rows, order[:, 2]] = 1 - part, part
    part = _mixing_share(np.where(up, first, middle), np.where(up, middle, last))
    ends[1, rows, order[rows, np.where(up, 0, 1)]] = 1 - part
    ends[1, rows, order[rows, np.where(up, 1, 2)]] = part
    return ends[0], ends[1]


def _mixing_share(below: Vector, over: Vector) -> Vector:
    """Return the share of the second value at which the mixture with the first has the mean 0; 1 if both are 0."""
    return np.clip(
        np.divide(-below, over - below, out=np.ones_like(below), where=over > below),
        0.0,
        1.0,
    )
