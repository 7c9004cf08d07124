"""Step 4: responses about the levels of a tree of buckets → quantiles, with intervals by descent.

F is the distribution function at the edges of the buckets. All levels together tell it by least squares: with A_l the
matrix from buckets to the nodes of level l, v_l the variance of a node and y the estimated nodes, the shares x of the
buckets minimize Σ_l |y_l − A_l x|²/v_l under Σ x = 1. So F = Σ_l (mean of the scores of the responses on level l) +
even shares, a sum of means that people with weights have too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Channel
from deniable.errors import (
    InvalidRequest,
    NotEstimable,
    UnreadableFile,
    quoted,
)
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
from deniable.estimates.sampling import Sampling
from deniable.estimates.sampling.columns import Mask, check_rows
from deniable.estimates.sampling.people import People
from deniable.estimates.simplex import rising
from deniable.estimates.statistics import Model, Statistic
from deniable.files.row_names import check_same_people
from deniable.rendering import formats
from deniable.tallies.responses import Responses
from deniable.types.buckets.count import BucketTally
from deniable.types.buckets.design import FAN_OUT, BucketDesign

__all__ = ["BucketQuantiles", "estimate", "estimate_sampled", "tree_weights"]

Codes: TypeAlias = NDArray[np.intp]
"""Numbers of edges, responses or levels."""

QUANTILES = (0.5, 0.95, 0.99)
"""The quantiles that are estimated where no others are asked for."""

_ERRORS_LEFT = 0.8
"""The part of 1 − level that each test of a descent may err: of 95 % intervals 4 %, which covers at least 93 % of
spikes and 95 % of smooth distributions (T4.2 of the telemetry sheet, where 1 covered 92 %)."""

_MIN_BEYOND = 3
"""People beyond a quantile, expected on each level, from which intervals keep 93 %: with 1 p99 was covered in 82 %."""

_USUAL = 0.95  # the level of the interval that a quantile lies in

_MOST_VALUES = 1 << 22  # scores of rows that are held at once
_MOST_EDGES = 64  # whose covariance is computed at once, for its diagonal alone


class EdgeCurve(NamedTuple):
    """The distribution function of a group of people.

    Attributes:
        group: its name; empty where there are no groups.
        degrees: degrees of freedom of the errors.
        distribution: the estimated share of people below each edge; unbiased, so that it may fall.
        errors: the standard error at each edge, which holds for every distribution of the numbers.
    """

    group: str
    degrees: int
    distribution: Vector
    errors: Vector

    def descend(self, share: float, level: float) -> tuple[int, int]:
        """Return the edges between which a quantile lies.

        Why: an edge that is surely below the quantile excludes all edges left of it, so that few tests are made, and
        the noise of empty tails is not searched.
        """
        margin = quantile(1 - _ERRORS_LEFT * (1 - level), self.degrees) * self.errors
        below = self.distribution + margin < share
        above = self.distribution - margin > share
        return _last_sure(below), len(above) - 1 - _last_sure(above[::-1])

    def position(self, share: float) -> float:
        """Return a quantile, counted in buckets, inside of its 95 % interval."""
        smooth = rising(self.distribution)
        inverse = np.interp(share, smooth, np.arange(len(smooth)))
        return float(np.clip(inverse, *self.descend(share, _USUAL)))


@dataclass(frozen=True, eq=False)
class BucketQuantiles(Model):
    """Quantiles of numbers in buckets.

    Attributes:
        design: what the responses were drawn with.
        curves: the distribution of each group.
        quantiles: those that are estimated, from 0 to 1.
        influence: the covariance of the distributions at the edges next to their quantiles, group by group.
        respondents: how many responses there are.
        missing: how many people sent nothing.
        sample: how people with weights were drawn, in words.
        method: how the distribution was estimated.
    """

    type: ClassVar = "bucket-quantiles"

    design: BucketDesign
    curves: tuple[EdgeCurve, ...]
    quantiles: tuple[float, ...]
    influence: Matrix
    respondents: int
    missing: int
    sample: str = ""
    method: str = "linear"

    @cached_property
    def _cells(self) -> dict[str, tuple[EdgeCurve, float]]:
        """Return the distribution and the share of each quantile by its name."""
        return {
            " · ".join(filter(None, (curve.group, quantile_name(share)))): (
                curve,
                share,
            )
            for curve in self.curves
            for share in self.quantiles
        }

    @cached_property
    def params(self) -> dict[str, float]:
        return {
            name: self.design.buckets.value(curve.position(share))
            for name, (curve, share) in self._cells.items()
        }

    @property
    def df(self) -> float:
        return min(curve.degrees for curve in self.curves)

    def covariance_matrix(self) -> Matrix:
        """Return the covariance, to first order: the slope of F is that over the 95 % interval."""
        slopes = []
        for curve, share in self._cells.values():
            ends = list(curve.descend(share, _USUAL))
            low, high = map(self.design.buckets.value, ends)
            slopes.append((high - low) / np.diff(curve.distribution[ends]).item())
        return vector(np.outer(slopes, slopes) * self.influence)

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "descent", which holds for spikes too, and the usual ones."""
        return {"descent": self._descent_bounds, "normal": self._normal_bounds}

    def _normal_bounds(self, level: float) -> Bounds:
        """Return value ± t·error, with the degrees of freedom of each group."""
        values = vector(list(self.params.values()))
        errors = np.sqrt(np.diagonal(self.covariance_matrix()))
        z = [quantile(level, curve.degrees) for curve, _ in self._cells.values()]
        return values - z * errors, values + z * errors

    def _descent_bounds(self, level: float) -> Bounds:
        ends = [curve.descend(share, level) for curve, share in self._cells.values()]
        lows, highs = np.array(self.design.buckets.edges)[np.array(ends)].T
        values = vector(list(self.params.values()))
        return np.minimum(lows, values), np.maximum(highs, values)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """Quantiles whose interval reaches the end of the range behind them, and those with too few people there."""
        last, levels = self.design.buckets.count, len(self.design.factors)
        open_ended, rare = [], []
        for name, (curve, share) in self._cells.items():
            start, stop = curve.descend(share, _USUAL)
            if stop == last if share >= 0.5 else start == 0:
                open_ended.append(name)
            if curve.degrees * min(share, 1 - share) < _MIN_BEYOND * levels:
                rare.append(name)
        texts = {
            "not resolved: the interval of {} reaches the end of the range. More respondents or a larger ε tell "
            "more.": open_ended,
            "too few people answered on each level for {}; the interval may cover less often than it says.": rare,
        }
        return tuple(
            Caution(FEW, text.format(", ".join(names)))
            for text, names in texts.items()
            if names
        )

    def describe(self) -> Description:
        tree, epsilon = self.design.buckets, self.design.epsilon
        people = (
            f"{self.sample}, {self.method}"
            if self.sample
            else f"{self.respondents:,} respondents, by least squares"
        )
        return Description(
            title=f"quantiles, {tree.count:,} buckets ({tree.spacing}), ε = {formats.epsilon(epsilon)}, {people}",
            quantity="value",
            method=self.method,
            respondents=self.respondents,
            epsilon=epsilon,
            missing=self.missing,
            notes=(
                f"Values lie from {tree.low:g} to {tree.high:g}. Each respondent answered on one of "
                f"{len(tree.levels)} levels, drawn at random.",
            ),
            ranges=number_ranges((tree.low, tree.high)),
        )

    @property
    def design_hash(self) -> str:
        return self.design.hash

    def to_source(self) -> dict[str, Any]:
        curves = [
            [*curve[:2], curve.distribution.tolist(), curve.errors.tolist()]
            for curve in self.curves
        ]
        return {
            "curves": curves,
            "quantiles": list(self.quantiles),
            "influence": self.influence.tolist(),
            **{name: getattr(self, name) for name in _FIELDS},
        }

    @classmethod
    def from_source(
        cls, source: Mapping[str, Any], design: BucketDesign
    ) -> BucketQuantiles:
        try:
            curves = tuple(
                EdgeCurve(group, degrees, vector(distribution), vector(errors))
                for group, degrees, distribution, errors in source["curves"]
            )
            quantiles, influence = tuple(source["quantiles"]), source["influence"]
            fields = {name: source[name] for name in _FIELDS}
        except (KeyError, TypeError, ValueError):
            raise UnreadableFile(
                "the quantiles are not complete; expected the distribution of each group."
            ) from None
        return cls(design, curves, quantiles, vector(influence), **fields)


_FIELDS = ("respondents", "missing", "sample", "method")


class EdgeScores(NamedTuple):
    """What each response counts for at each edge between two buckets.

    Attributes:
        values: a row for each such edge and a column for each response.
        levels: the level of each response.
    """

    values: Matrix
    levels: Codes

    @property
    def level_rows(self) -> Mask:
        """Which responses are about each level."""
        return np.asarray(np.arange(self.levels[-1] + 1)[:, None] == self.levels)


@dataclass(frozen=True, eq=False)
class LevelRows:
    """Rows that each hold a response about one level.

    Attributes:
        people: who stands for whom; a row for each person, or for all of a group who sent the same.
        responses: the number of the response of each row.
        groups: the rows of each group that hold a response.
        scores: what each response counts for.
    """

    people: People
    responses: Codes
    groups: Sequence[Mask]
    scores: EdgeScores

    def aggregated(self) -> LevelRows:
        """Return the same people, if they were drawn one by one, with a row for all of a group who sent the same."""
        if not self.people.one_by_one:
            return self
        size, n_groups = len(self.scores.levels), len(self.groups)
        rows = np.any(self.groups, axis=0)
        group = np.argmax(self.groups, axis=0)[rows]
        places = group * size + self.responses[rows]
        weights, squares, counts = (
            vector(
                np.bincount(places, weights=amounts[rows], minlength=n_groups * size)
            )
            for amounts in (
                self.people.weights,
                self.people.squares,
                self.people.counts,
            )
        )
        numbers = np.arange(n_groups * size)
        masks = [
            np.asarray((numbers // size == at) & (counts > 0))
            for at in range(n_groups)
        ]
        people = People(weights, squares, counts)
        return LevelRows(people, numbers % size, masks, self.scores)

    def curve(self, at: int, name: str) -> EdgeCurve:
        """Return the distribution of a group.

        Raises:
            NotEstimable: fewer than two people of it responded on some level, or all of them have the weight 0.
        """
        self._check(at, name)
        size = len(self.scores.values)
        step = max(min(_MOST_VALUES // len(self.responses), _MOST_EDGES), 1)
        parts = [
            np.sqrt(np.diagonal(self.covariance({at: edges})))
            for start in range(0, size, step)
            for edges in [np.arange(start, min(start + step, size))]
        ]
        even = np.arange(1, size + 1) / (size + 1)
        below = even + self.scores.values @ self._shares(at, self.people.weights)
        return EdgeCurve(
            name,
            self.people.degrees(self.groups[at]),
            vector([0.0, *below, 1.0]),
            vector([0.0, *np.concatenate(parts), 0.0]),
        )

    def covariance(self, edges: Mapping[int, Codes]) -> Matrix:
        """Return the covariance of the distributions of groups, each at some of the edges between two buckets.

        Why: the people of each level are a sample with a mean of its own. So in a census nothing is taken off.
        """
        influence = np.hstack([self._influence(*pair) for pair in edges.items()])
        if self.people.one_by_one:
            levels = self.scores.levels[self.responses]
            sizes = list(map(len, edges.values()))
            n = np.repeat([self._sizes(at) for at in edges], sizes, axis=0)
            parts = [
                self.people.independent_covariance(
                    vector(influence * (levels == level)[:, None]), vector(column)
                )
                for level, column in enumerate(n.T)
            ]
            return vector(sum(parts))

        def numbers(weights: Matrix) -> Matrix:
            parts = [
                self.scores.values[places] @ self._shares(at, column)
                for column in weights.T
                for at, places in edges.items()
            ]
            return vector(np.reshape(np.concatenate(parts), (weights.shape[1], -1)))

        return self.people.covariance(vector(influence), numbers)

    def _influence(self, at: int, edges: Codes) -> Matrix:
        """Return the influence function of a distribution at some edges: (a − ā)/W, of the level of each row."""
        rows, values = self.groups[at], self.scores.values[edges].T
        shares = self._shares(at, self.people.weights)
        centers = (self.scores.level_rows * shares) @ values
        weights = self.scores.level_rows @ self._totals(at, self.people.weights)
        responses = self.responses[rows]
        levels = self.scores.levels[responses]
        influence = np.zeros((len(rows), len(edges)))
        away = values[responses] - centers[levels]
        influence[rows] = away / weights[levels][:, None]
        return influence

    def _shares(self, at: int, weights: Vector) -> Vector:
        """Return the share of each response among those of a group about its level."""
        totals = self._totals(at, weights)
        return vector(totals / (self.scores.level_rows @ totals)[self.scores.levels])

    def _totals(self, at: int, amounts: Vector) -> Vector:
        """Return the sum of an amount of the rows of a group by response."""
        rows, size = self.groups[at], len(self.scores.levels)
        return vector(
            np.bincount(self.responses[rows], weights=amounts[rows], minlength=size)
        )

    def _sizes(self, at: int) -> Vector:
        """Return the number of people of a group on each level."""
        return vector(self.scores.level_rows @ self._totals(at, self.people.counts))

    def _check(self, at: int, name: str) -> None:
        of = f" of the group {quoted(name)}" if name else ""
        if self._sizes(at).min() < 2:
            raise NotEstimable(
                f"fewer than 2 people{of} responded on some level; expected at least 2 on each."
            )
        weights = self.scores.level_rows @ self._totals(at, self.people.weights)
        if not weights.all():
            raise NotEstimable(
                f"all people{of} on some level have the weight 0; expected people who stand for some."
            )


def estimate(
    tally: BucketTally, *, quantiles: Sequence[float] = QUANTILES
) -> Statistic[BucketQuantiles]:
    """Estimate quantiles of numbers in buckets, with intervals that hold for smooth distributions and for spikes.

    Args:
        tally: the counts.
        quantiles: those that are asked for, such as 0.5 for the median.

    Raises:
        InvalidRequest: a quantile outside (0, 1).
        NotEstimable: fewer than two people responded on some level.

    Example:
        >>> from deniable.types.buckets.design import bucket_design
        >>> design = bucket_design(0, 80, epsilon=8, count=16)
        >>> counted = BucketTally(design, [500, 500, 0, 0] + [200] * 5 + [0] * 11)
        >>> found = estimate(counted, quantiles=[0.5])
        >>> round(found.value, 1), found.interval("median")
        (17.8, Interval(low=15.0, high=20.0))
    """
    counts = vector(tally.counts)
    people = People(counts, counts, counts)
    sent = people, np.arange(len(counts)), counts > 0
    groups = people.groups(None, None)
    return _fit(tally.design, sent, groups, quantiles, tally.missing)


def estimate_sampled(
    responses: Responses[BucketDesign],
    sampling: Sampling,
    *,
    quantiles: Sequence[float] = QUANTILES,
    domain: Any = None,
    by: Any = None,
) -> Statistic[BucketQuantiles]:
    """Estimate quantiles of the people that a sample stands for.

    Implements: the mean of each level with weights, and its influence function. Levels are samples of people, so that
    of a finite population nothing is taken off.

    Args:
        responses: what was sent, a row for each person of the sample.
        sampling: how these people were drawn.
        quantiles: those that are asked for, such as 0.5 for the median.
        domain: True for the rows of a part of the people.
        by: a group for each row; each group is told on its own.

    Raises:
        NotEstimable: a stratum with one cluster, or a group of which fewer than two people responded on some level.
        InvalidRequest: columns that do not fit.
    """
    check_same_people(
        responses=responses, sampling=sampling, domain=domain, groups=by
    )
    people, gaps = People.of(sampling).with_replacement(), responses.gaps
    check_rows(gaps, "responses", len(people))
    codes = np.zeros(len(people), np.intp)
    codes[~gaps] = responses.present()["response"]
    inside = people.groups(domain, by)
    return _fit(responses.design, (people, codes, ~gaps), inside, quantiles)


def _fit(
    design: BucketDesign,
    sent: tuple[People, Codes, Mask],
    groups: tuple[Mask, tuple[str, ...], tuple[Mask, ...]],
    quantiles: Sequence[float],
    missing: int = 0,
) -> Statistic[BucketQuantiles]:
    """Estimate from people, the response of each row and which rows hold one; and from `People.groups`."""
    people, responses, present = sent
    shares = tuple(sorted(set(map(float, quantiles))))
    if not shares or not all(0 < share < 1 for share in shares):
        raise InvalidRequest(
            "a quantile lies outside (0, 1); expected numbers such as 0.5 for the median."
        )
    _, names, masks = groups
    scores = design_scores(design)
    responded = [np.asarray(mask & present) for mask in masks]
    rows = LevelRows(people, responses, responded, scores).aggregated()
    curves = tuple(rows.curve(at, name) for at, name in enumerate(names))
    edges = {
        at: np.array([_inner_edge(curve, share) for share in shares])
        for at, curve in enumerate(curves)
    }
    taken, n = (sum(map(people.number, chosen)) for chosen in (masks, responded))
    texts = {}
    if people.sampling is not None:
        variance, sample = people.describe(taken)
        texts = {"sample": sample, "method": f"Hájek, {variance}"}
    model = BucketQuantiles(
        design,
        curves,
        shares,
        rows.covariance(edges),
        n,
        missing + taken - n,
        **texts,
    )
    return Statistic(model)


def _inner_edge(curve: EdgeCurve, share: float) -> int:
    """Return the edge between two buckets that is next to a quantile."""
    n_edges = len(curve.distribution) - 2
    return int(np.clip(round(curve.position(share)), 1, n_edges)) - 1


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


def tree_weights(variances: Sequence[float], fan_out: int = FAN_OUT) -> Matrix:
    """Return the weights of the nodes in F at the edges between buckets, less those of even shares.

    Implements: H = Σ A_l′A_l/v_l, G = H⁻¹A′/v, F = T(G − c·1′G)y + T·c with c = H⁻¹1/(1′H⁻¹1) and T the sums from the
    left (T4.1 of the telemetry sheet). By symmetry c is even.

    Args:
        variances: v of each level, of which one counts as much as another's: people are split evenly.
        fan_out: the number of children of a node.
    """
    size = fan_out ** len(variances)
    levels = [
        np.kron(np.eye(fan_out**level), np.ones(size // fan_out**level))
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


def design_scores(design: BucketDesign) -> EdgeScores:
    """Return what each response counts for at each edge between two buckets."""
    return edge_scores(tuple(part.channel for _, part in design.factors))


@lru_cache(maxsize=8)
def edge_scores(channels: tuple[Channel, ...]) -> EdgeScores:
    """Return what each response counts for at each edge: the weights of the nodes times their left inverse."""
    linears = [left_inverse(channel) for channel in channels]
    pairs = list(zip(channels, linears, strict=True))
    variances = [node_variance(linear, channel.answers) for channel, linear in pairs]
    splits = np.cumsum([channel.answers for channel in channels])[:-1]
    weights = np.split(tree_weights(variances), splits, axis=1)
    inverses = [
        np.array([linear.shares(each) for each in np.eye(channel.responses)]).T
        for channel, linear in pairs
    ]
    values = [
        weight @ inverse for weight, inverse in zip(weights, inverses, strict=True)
    ]
    sizes = [channel.responses for channel in channels]
    return EdgeScores(
        vector(np.hstack(values)), np.repeat(np.arange(len(sizes)), sizes)
    )


def node_variance(linear: Linear, nodes: int) -> float:
    """Return the variance of the share of a node that nobody is in, from one response."""
    _, others = linear.spread(np.full(nodes, 1 / nodes))
    return float(others[0])
