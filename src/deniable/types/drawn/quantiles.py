"""Responses about the levels of a tree of buckets → quantiles, with intervals by descent.

F is the distribution function at the edges of the buckets. All levels together tell it by least squares: with A_l the
matrix from buckets to the nodes of level l, v_l the variance of a node and y the estimated nodes, the shares x of the
buckets minimize Σ_l |y_l − A_l x|²/v_l under Σ x = 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from deniable import documents
from deniable.channel import Channel
from deniable.errors import Incompatible, InvalidRequest, NotEstimable, require
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.diagnostics import FEW
from deniable.estimates.intervals import quantile
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Linear
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalMethod,
    number_ranges,
    quantile_name,
)
from deniable.estimates.statistics import Model, Statistic
from deniable.rendering import formats
from deniable.types.drawn.buckets import FAN_OUT, Buckets
from deniable.types.drawn.count import DrawnTally
from deniable.types.drawn.design import DrawnDesign

__all__ = ["BucketQuantiles", "bucket_quantiles", "tree_weights"]

QUANTILES = (0.5, 0.95, 0.99)
"""The quantiles that are estimated where no others are asked for."""

_ERRORS_LEFT = 0.8
"""The part of 1 − level that each test of a descent may err: of 95 % intervals 4 %, which covers at least 93 % of
spikes and 95 % of smooth distributions (T4.2 of the telemetry sheet, where 1 covered 92 %)."""


@dataclass(frozen=True, eq=False)
class BucketQuantiles(Model):
    """Quantiles of numbers in buckets.

    Attributes:
        tally: the counts, of all levels.
        buckets: the range and its buckets.
        quantiles: those that are estimated, from 0 to 1.
    """

    type: ClassVar = "bucket-quantiles"

    tally: DrawnTally
    buckets: Buckets
    quantiles: tuple[float, ...] = QUANTILES

    def __post_init__(self) -> None:
        quantiles = tuple(sorted(set(map(float, self.quantiles))))
        object.__setattr__(self, "quantiles", quantiles)
        if not quantiles or not all(0 < share < 1 for share in quantiles):
            raise InvalidRequest(
                "a quantile lies outside (0, 1); expected numbers such as 0.5 for the median."
            )
        if self.tally.design.attributes != self.buckets.levels:
            raise Incompatible(
                f"the responses are about {len(self.tally.design.attributes)} attributes; expected the levels of "
                f"{self.buckets.count} buckets.",
                "Pass the buckets that the design was made from: buckets.design(epsilon).",
            )
        if min(counts.sum() for counts in self._counts) < 2:
            raise NotEstimable(
                "fewer than 2 people responded on some level; expected at least 2 on each."
            )

    @property
    def _counts(self) -> list[Vector]:
        """Return the counts of each level."""
        names = self.buckets.levels
        return [vector(self.tally.of(name).counts) for name in names]

    @cached_property
    def _scores(self) -> Sequence[Matrix]:
        """Return what a response of each level counts for at each edge between buckets."""
        return edge_scores(
            tuple(part.channel for _, part in self.tally.design.factors)
        )

    @cached_property
    def distribution(self) -> Vector:
        """The estimated share of people below each edge; unbiased, so that it may fall."""
        means = [
            scores @ counts / counts.sum()
            for scores, counts in zip(self._scores, self._counts, strict=True)
        ]
        inner = sum(means) + np.arange(1, self.buckets.count) / self.buckets.count
        return vector([0.0, *inner, 1.0])

    @cached_property
    def errors(self) -> Vector:
        """The standard error at each edge, which holds for every distribution of the numbers."""
        inner = np.arange(1, self.buckets.count)
        return vector([0.0, *np.sqrt(np.diagonal(self._covariance(inner))), 0.0])

    def _covariance(self, edges: Any) -> Matrix:
        """Return the covariance at some of the edges between buckets: that of the scores of each level, over n."""
        covariance = np.zeros((len(edges), len(edges)))
        for scores, counts in zip(self._scores, self._counts, strict=True):
            chosen, n = scores[np.asarray(edges) - 1], counts.sum()
            away = chosen - (chosen @ counts / n)[:, None]
            covariance += (away * counts) @ away.T / (n * (n - 1))
        return vector(covariance)

    @property
    def params(self) -> dict[str, float]:
        values = [self.buckets.value(position) for position in self._positions]
        return dict(zip(map(quantile_name, self.quantiles), values, strict=True))

    @cached_property
    def _positions(self) -> list[float]:
        """Return the quantiles, counted in buckets, inside of their 95 % intervals.

        Why: the mean of the running maximum and of the running minimum from the right never falls.
        """
        rising = np.maximum.accumulate(self.distribution)
        falling = np.minimum.accumulate(self.distribution[::-1])[::-1]
        smooth = np.clip((rising + falling) / 2, 0.0, 1.0)
        inverse = np.interp(self.quantiles, smooth, np.arange(len(smooth)))
        ends = [self._descend(share, 0.95) for share in self.quantiles]
        lows, highs = np.array(ends).T
        return [float(place) for place in np.clip(inverse, lows, highs)]

    def _descend(self, share: float, level: float) -> tuple[int, int]:
        """Return the edges between which a quantile lies.

        Why: an edge that is surely below the quantile excludes all edges left of it, so that few tests are made, and
        the noise of empty tails is not searched.
        """
        margin = quantile(1 - _ERRORS_LEFT * (1 - level)) * self.errors
        below = self.distribution + margin < share
        above = self.distribution - margin > share
        return _last_sure(below), self.buckets.count - _last_sure(above[::-1])

    def covariance_matrix(self) -> Matrix:
        """Return the covariance, to first order: the slope of F is that over the 95 % interval."""
        ends = [self._descend(share, 0.95) for share in self.quantiles]
        edges = [
            int(np.clip(round(place), 1, self.buckets.count - 1))
            for place in self._positions
        ]
        slopes = [
            (self.buckets.value(stop) - self.buckets.value(start))
            / (self.distribution[stop] - self.distribution[start])
            for start, stop in ends
        ]
        return vector(np.outer(slopes, slopes) * self._covariance(edges))

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "descent", which holds for spikes too, and the usual ones."""
        return {"descent": self._descent_bounds}

    def _descent_bounds(self, level: float) -> Bounds:
        ends = np.array([self._descend(share, level) for share in self.quantiles])
        lows, highs = np.array(self.buckets.edges)[ends].T
        values = vector(list(self.params.values()))
        return np.minimum(lows, values), np.maximum(highs, values)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """Quantiles whose interval reaches an end of the range."""
        ends = {
            quantile_name(share): self._descend(share, 0.95)
            for share in self.quantiles
        }
        open_ended = [
            name
            for name, (start, stop) in ends.items()
            if start == 0 or stop == self.buckets.count
        ]
        if not open_ended:
            return ()
        text = (
            f"not resolved: the interval of {', '.join(open_ended)} reaches an end of the range. More respondents or a "
            "larger ε tell more."
        )
        return (Caution(FEW, text),)

    def describe(self) -> Description:
        tree, n = self.buckets, self.tally.respondents
        return Description(
            title=f"quantiles, {tree.count:,} buckets ({tree.spacing}), ε = "
            f"{formats.epsilon(self.tally.design.epsilon)}, {n:,} respondents, by least squares",
            quantity="value",
            method="linear",
            respondents=n,
            epsilon=self.tally.design.epsilon,
            missing=self.tally.missing,
            notes=(
                f"Values lie from {tree.low:g} to {tree.high:g}. Each respondent answered on one of "
                f"{len(tree.levels)} levels, drawn at random.",
            ),
            ranges=number_ranges((tree.low, tree.high)),
        )

    @property
    def design_hash(self) -> str:
        return self.tally.design.hash

    def to_source(self) -> dict[str, Any]:
        return {
            "tally": json.loads(self.tally.to_json()),
            "buckets": self.buckets.to_body(),
            "quantiles": list(self.quantiles),
        }

    @classmethod
    def from_source(
        cls, source: Mapping[str, Any], design: DrawnDesign
    ) -> BucketQuantiles:
        text = json.dumps(documents.field(source, "tally", dict))
        tree = Buckets.from_body(documents.field(source, "buckets", dict))
        quantiles = tuple(documents.field(source, "quantiles", list))
        return cls(DrawnTally.from_json(text, design), tree, quantiles)


def bucket_quantiles(
    tally: DrawnTally,
    buckets: Buckets,
    *,
    quantiles: Sequence[float] = QUANTILES,
) -> Statistic[BucketQuantiles]:
    """Estimate quantiles of numbers in buckets, with intervals that hold for smooth distributions and for spikes.

    Args:
        tally: the counts of the responses to `buckets.design(epsilon)`.
        buckets: the range and its buckets.
        quantiles: those that are asked for, such as 0.5 for the median.

    Raises:
        Incompatible: the responses are not about the levels of these buckets.
        InvalidRequest: a quantile outside (0, 1).
        NotEstimable: fewer than two people responded on some level.

    Example:
        >>> from deniable.types.drawn.buckets import buckets
        >>> tree = buckets(0, 80, 16)
        >>> counted = DrawnTally(tree.design(8), [500, 500, 0, 0] + [200] * 5 + [0] * 11)
        >>> found = bucket_quantiles(counted, tree, quantiles=[0.5])
        >>> round(found.value, 1), found.interval("median")
        (17.8, Interval(low=15.0, high=20.0))
    """
    require(
        isinstance(buckets, Buckets), buckets, "buckets", "what buckets() returns"
    )
    return Statistic(BucketQuantiles(tally, buckets, tuple(quantiles)))


def _last_sure(sure: Any) -> int:
    """Return the edge that a descent from the first one reaches: in ever smaller steps, while edges are sure."""
    edge, width = 0, (len(sure) - 1) // FAN_OUT
    while width:
        start = edge
        for step in range(1, FAN_OUT):
            if not sure[start + step * width]:
                break
            edge = start + step * width
        width //= FAN_OUT
    return edge


def tree_weights(variances: Sequence[float]) -> Matrix:
    """Return the weights of the nodes in F at the edges between buckets, less those of even shares.

    Implements: H = Σ A_l′A_l/v_l, G = H⁻¹A′/v, F = T(G − c·1′G)y + T·c with c = H⁻¹1/(1′H⁻¹1) and T the sums from the
    left (T4.1 of the telemetry sheet). By symmetry c is even.

    Args:
        variances: v of each level, of which one counts as much as another's: people are split evenly.
    """
    size = FAN_OUT ** len(variances)
    levels = [
        np.kron(np.eye(FAN_OUT**level), np.ones(size // FAN_OUT**level))
        for level in range(1, len(variances) + 1)
    ]
    nodes = np.vstack(levels)
    precisions = np.repeat(
        1 / np.asarray(variances), [len(level) for level in levels]
    )
    weighted = nodes.T * precisions
    gains = np.linalg.solve(weighted @ nodes, weighted)
    gains -= gains.mean(axis=0)
    return vector(np.cumsum(gains, axis=0)[:-1])


@lru_cache(maxsize=8)
def edge_scores(channels: tuple[Channel, ...]) -> tuple[Matrix, ...]:
    """Return what each response counts for at each edge: the weights of the nodes times their left inverse."""
    linears = [left_inverse(channel) for channel in channels]
    pairs = list(zip(channels, linears, strict=True))
    variances = [node_variance(linear, channel.answers) for channel, linear in pairs]
    splits = np.cumsum([channel.answers for channel in channels])[:-1]
    weights = np.split(tree_weights(variances), splits, axis=1)
    columns = [
        np.array([linear.shares(each) for each in np.eye(channel.responses)]).T
        for channel, linear in pairs
    ]
    return tuple(
        vector(weight @ inverse)
        for weight, inverse in zip(weights, columns, strict=True)
    )


def node_variance(linear: Linear, nodes: int) -> float:
    """Return the variance of the share of a node that nobody is in, from one response."""
    _, others = linear.spread(np.full(nodes, 1 / nodes))
    return float(others[0])
