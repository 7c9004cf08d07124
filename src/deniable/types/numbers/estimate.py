"""Responses about rounded numbers → mean, spread and quantiles, with intervals that allow for the rounding."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from deniable import documents
from deniable.designs import NumberDesign, Range, Scale
from deniable.errors import Incompatible, InvalidRequest, require
from deniable.estimates import Estimate
from deniable.estimates import estimate as estimate_shares
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.diagnostics import FEW
from deniable.estimates.intervals import Interval, bonferroni_level, quantile
from deniable.estimates.likelihood import smoothed
from deniable.estimates.linear import floats
from deniable.estimates.results import (
    AROUND,
    Bounds,
    Caution,
    Description,
    IntervalMethod,
    IntervalRequest,
    Result,
    bounds_around,
    construct_result,
    number_ranges,
    quantile_name,
    value_range,
)
from deniable.estimates.sampling import (
    Asked,
    RowValues,
    SampledEstimate,
    Sampling,
    category_values,
    estimate_values,
    linear_values,
)
from deniable.estimates.sampling import estimate as sampling_estimate
from deniable.estimates.shares import CountEvidence, TallyEvidence, fitted
from deniable.estimates.simplex import projection, rising
from deniable.estimates.stages import StageEvidence
from deniable.estimates.statistics import Model, Statistic
from deniable.files.row_names import check_same_people
from deniable.order.ladders import Ladder
from deniable.tallies import Tally
from deniable.tallies import tally as count_categories
from deniable.tallies.responses import Responses
from deniable.types.numbers.shape import SmoothShape, level_borders

__all__ = [
    "QUANTILES",
    "Mean",
    "NumberEstimate",
    "Spread",
    "Statistic",
    "estimate",
    "estimate_sampled",
    "mean",
    "spread",
]

Shares: TypeAlias = Estimate[Any] | SampledEstimate
"""Estimated shares of the levels."""

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""The quantiles that are estimated where no others are asked for."""


@dataclass(frozen=True, eq=False)
class Mean(Model):
    """An estimated mean.

    Attributes:
        shares: the estimated shares of the levels, at one stage or of people at different stages.
        rounding: the variance that rounding adds in a finite population, at most: it is drawn anew for everybody.
    """

    type: ClassVar = "mean"

    shares: Shares
    rounding: float = 0.0

    @cached_property
    def scale(self) -> Scale:
        """The range of the numbers, and the levels that they were rounded to."""
        return _scale(self.shares)

    @property
    def range(self) -> Range:
        """Where the numbers lie."""
        return self.scale.range

    @cached_property
    def levels(self) -> Vector:
        """The levels, as floats."""
        return vector([float(level) for level in self.scale.values])

    @property
    def value(self) -> float:
        """The mean; unbiased, so that it may leave the range."""
        return float(self.levels @ self.shares.value)

    @property
    def respondents(self) -> int:
        """How many people it was made from."""
        return self.shares.respondents

    @property
    def device_variance(self) -> float:
        """The part of the variance that is the device's. It shrinks as stages are released."""
        return max(self.variance - self.rounding_variance, 0.0)

    @property
    def rounding_variance(self) -> float:
        """The part that comes from people and from rounding: the variance of the levels, over n. No ε shrinks it.

        It holds for a sample of people. Where all people are asked it is an upper bound: see `census_variance`.
        """
        shares = projection(vector(self.shares.value))
        of_levels = self.levels**2 @ shares - (self.levels @ shares) ** 2
        return float(of_levels) / self.respondents

    @property
    def variance(self) -> float:
        """The variance of the estimate, both parts."""
        return self.shares.variance(self.levels) + self.rounding

    @property
    def error(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance)

    def census_variance(self, second: Mean) -> float:
        """Return the variance if these people are all there are, given the mean of the squares of the same values.

        Then only rounding and the device are random. How much rounding adds depends on how many values lie between
        levels; for values that were rounded to the two ends the second moment tells, else it is at most a quarter of
        the squared step.

        Raises:
            Incompatible: the second range is not that of the squares of the first.
        """
        _check_squares(self, second)
        low, high = float(self.range.low), float(self.range.high)
        inside = _max_rounding(self.scale)
        if self.scale.levels == 2:
            inside = max((low + high) * self.value - low * high - second.value, 0.0)
        return min(self.device_variance + inside / self.respondents, self.variance)

    @property
    def params(self) -> dict[str, float]:
        return {"mean": self.value}

    def covariance_matrix(self) -> Matrix:
        return vector([[self.variance]])

    @property
    def df(self) -> float:
        return self.shares.df

    @property
    def default_interval(self) -> str:
        return self.shares._default_interval if self.scale.levels == 2 else "wide"

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "wide", which keeps its coverage where few people are at an end of the range, and the usual ones."""
        return {"wide": self._wide_bounds}

    def _wide_bounds(self, level: float) -> Bounds:
        low, high = self.shares.sum_interval(self.levels, level, self.rounding)
        return vector([min(low, self.value)]), vector([max(high, self.value)])

    def bounds(self, request: IntervalRequest) -> Bounds | None:
        """Return of two levels the interval of the share of the upper one, on the scale of the numbers."""
        if self.scale.levels == 2:
            return self._on_scale(self.shares._requested_bounds(request))
        bounds = self.open_bounds(request) if request.always else None
        if bounds is None:
            return None
        ends = np.clip(bounds, float(self.range.low), float(self.range.high))
        return np.minimum(ends[0], self.value), np.maximum(ends[1], self.value)

    def open_bounds(self, request: IntervalRequest) -> Bounds | None:
        """Return exact always-valid bounds from counts of all levels; None where only approximate ones are known."""
        self.shares._check_always()
        if self.scale.levels == 2:
            return self._on_scale(self.shares._contrast_ends(request))
        if request.method is not None or not isinstance(self.shares, Estimate):
            return None
        request = request._replace(level=bonferroni_level(1, request.level))
        evidence: CountEvidence = self.shares.evidence
        return evidence.always_sums(self.levels[None, :], request)

    def _on_scale(self, bounds: Bounds) -> Bounds:
        """Return of two levels the interval of the share of the upper one, on the scale of the numbers."""
        low, width = float(self.range.low), float(self.range.width)
        lows, highs = bounds
        return low + width * lows[1:], low + width * highs[1:]

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What looks wrong about the responses; that single levels are not known is of no importance to a mean."""
        cautions = self.shares.warnings
        return tuple(caution for caution in cautions if caution.code != FEW)

    def describe(self) -> Description:
        scale, ends = (
            self.scale,
            f"{float(self.range.low):g} to {float(self.range.high):g}",
        )
        note = (
            f"Values lie from {ends} and are rounded to {scale.levels} levels, {float(scale.step):g} apart. Of the "
            f"error the device adds {math.sqrt(self.device_variance):.4g}; people and rounding add "
            f"{math.sqrt(self.rounding_variance):.4g}, at every ε."
        )
        of_shares = self.shares._describe(IntervalRequest())
        title = f"mean, {of_shares.title}"
        return dataclasses.replace(
            of_shares,
            title=title,
            quantity="mean",
            notes=(note,),
            interval="",
            ranges=number_ranges(value_range(self.scale)),
        )

    @property
    def design_hash(self) -> str:
        return self.shares._design_hash

    def to_source(self) -> dict[str, Any]:
        return {"shares": self.shares._source()}

    @classmethod
    def from_source(
        cls, source: Mapping[str, Any], design: NumberDesign | Ladder
    ) -> Self:
        return cls.from_shares(_read_shares(source, design))

    @classmethod
    def from_shares(cls, shares: Shares) -> Self:
        """Return the mean of the levels; in a finite population with what rounding adds to its variance."""
        scale, population = _scale(shares), None
        if shares.type == TallyEvidence.type:
            population = getattr(shares, "population", None)
        return cls(shares, _max_rounding(scale) / population if population else 0.0)


@dataclass(frozen=True, eq=False)
class NumberEstimate(Result):
    """Mean, standard deviation and quantiles of numbers in a range.

    Intervals allow for the rounding: what is said of a quantile, and of the spread, holds wherever between two levels
    the numbers lie.

    Attributes:
        shares: the estimated shares of the levels.
        quantiles: those that are told, from 0 to 1.
        rounding: the variance that rounding adds to the mean in a finite population, at most.
    """

    type: ClassVar = "numbers"

    shares: Estimate | SampledEstimate
    quantiles: tuple[float, ...] = QUANTILES
    rounding: float = 0.0

    def __post_init__(self) -> None:
        quantiles = tuple(sorted(set(map(float, self.quantiles))))
        object.__setattr__(self, "quantiles", quantiles)
        if not all(0 < share < 1 for share in quantiles):
            raise InvalidRequest(
                "a quantile lies outside (0, 1); expected numbers such as 0.5 for the median."
            )

    @cached_property
    def _mean(self) -> Mean:
        return Mean(self.shares, self.rounding)

    @property
    def mean(self) -> Statistic[Mean]:
        """The mean by itself; its model has the parts of its variance."""
        return Statistic(self._mean)

    @property
    def scale(self) -> Scale:
        """The range of the numbers, and the levels that they were rounded to."""
        return self._mean.scale

    @property
    def respondents(self) -> int:
        """How many people it was made from."""
        return self.shares.respondents

    @property
    def df(self) -> float:
        return self.shares.df

    @property
    def warnings(self) -> tuple[Caution, ...]:
        low, high = map(float, (self.scale.range.low, self.scale.range.high))
        intervals = self.conf_int()
        empty = [
            name for name, ends in intervals.items() if tuple(ends) == (low, high)
        ]
        text = (
            f"{self.respondents:,} responses of this design are too few to tell anything about {', '.join(empty)}: "
            'every value of the range would fit them. A design with goal="distribution" tells more about them.'
        )
        return (*self._mean.warnings, *((Caution(FEW, text),) if empty else ()))

    @property
    def _levels(self) -> Vector:
        return self._mean.levels

    @property
    def _step(self) -> float:
        return float(self.scale.step)

    @cached_property
    def variance(self) -> float:
        """The variance of the numbers: that of the levels without what rounding adds to it.

        Rounding adds the mean of (x − lower)(upper − x), which is a sixth of the squared step where numbers lie evenly
        between levels. It may be negative, as an unbiased estimate may.
        """
        squares, mean = float(self._levels**2 @ self.shares.value), self._mean
        return squares - mean.value**2 + mean.variance - self._step**2 / 6

    @cached_property
    def _variance_error(self) -> float:
        return math.sqrt(self.shares.variance(self._variance_gradient))

    @property
    def _variance_gradient(self) -> Vector:
        """The derivative of the variance of the levels by each share."""
        return vector(self._levels**2 - 2 * self._mean.value * self._levels)

    @property
    def params(self) -> dict[str, float]:
        deviation = math.sqrt(max(self.variance, 0.0))
        quantiles = {
            quantile_name(share): self._quantile(share)[0]
            for share in self.quantiles
        }
        return {"mean": self._mean.value, "sd": deviation, **quantiles}

    def cov_params(self) -> Matrix:
        """Return the covariance matrix, to first order; a quantile's is that between the levels around it."""
        slopes = self.slopes
        covariance = slopes @ self.shares.cov_params() @ slopes.T
        if np.diagonal(covariance).min() < 0 and isinstance(self.shares, Estimate):
            covariance = slopes @ self.shares.evidence.possible().matrix() @ slopes.T
        covariance[0, 0] += self.rounding
        return vector(covariance)

    @property
    def slopes(self) -> Matrix:
        """The derivative of each number by each share of a level."""
        # Where the variance is small next to its error, the root of the error stands for the deviation.
        deviation = math.sqrt(max(self.variance, self._variance_error, 1e-300))
        of_deviation = self._variance_gradient / (2 * deviation)
        of_quantiles = [self._quantile(share)[1] for share in self.quantiles]
        return vector([self._levels, of_deviation, *of_quantiles])

    @cached_property
    def _cumulated(self) -> Vector:
        """Return the shares of people at or below each level, brought into order, with 0 in front."""
        return rising(
            np.concatenate([[0.0], np.cumsum(self.shares.value)[:-1], [1.0]])
        )

    def _quantile(self, share: float) -> tuple[float, Vector]:
        """Return a quantile, between the levels on a straight line, and its derivative by each share."""
        levels, below = self._levels, self._cumulated
        borders = level_borders(levels)
        after = max(int(np.searchsorted(below, share, side="left")), 1)
        gap = below[after] - below[after - 1]
        fraction = (share - below[after - 1]) / gap
        length = borders[after] - borders[after - 1]
        index = np.arange(len(levels))
        weights = (1 - fraction) * (index < after - 1) + fraction * (index < after)
        value = float(borders[after - 1] + fraction * length)
        return value, vector(-length / gap * weights)

    def smooth(self) -> SmoothShape:
        """Estimate a smooth picture of the distribution; spikes are flattened, and no interval of it holds.

        Raises:
            InvalidRequest: the shares are those of a weighted sample or of several stages.

        Example:
            >>> from deniable.designs import number_design
            >>> design = number_design(0, 10, epsilon=2, goal="shape", levels=5)
            >>> shape = estimate(Tally(design, [60, 190, 250, 180, 90])).smooth()
            >>> round(shape.mean, 1), round(shape.quantile(0.5), 1)
            (5.1, 5.1)
        """
        if not isinstance(self.shares, Estimate):
            raise InvalidRequest(
                "the shares are those of a weighted sample; expected those of one tally."
            )
        tally = self.shares.tally
        shares = smoothed(floats(tally.design.channel), vector(tally.counts))
        return SmoothShape(self.scale, shares)

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "bracket", the mean's own interval and all values that some numbers have, and the usual ones.

        A bracket of the deviation and of quantiles holds all values of numbers whose rounded levels fit the responses.
        """
        return {"bracket": self._bracket_bounds, **super()._interval_methods()}

    def _always_bounds(self, request: IntervalRequest) -> Bounds:
        """Return always-valid bounds within the range; of the mean its own."""
        self.shares._check_always()
        bounds = self._widen(partial(self._bounds, request.method), request)
        ranges = number_ranges(value_range(self.scale))
        limits = [ranges.get(name, ranges[""]) for name in self.params]
        low, high = np.clip(bounds, *vector(limits).T)
        low[:1], high[:1] = self.mean._requested_bounds(request)
        return low, high

    def _contrast_ends(self, request: IntervalRequest) -> Bounds:
        low, high = (ends.copy() for ends in super()._contrast_ends(request))
        low[:1], high[:1] = self.mean._contrast_ends(request)
        return low, high

    def _bracket_bounds(self, level: float) -> Bounds:
        intervals = [
            self.mean.interval("mean", level=level),
            self._sd_interval(level),
        ]
        intervals += [self._bracket(share, level) for share in self.quantiles]
        lows, highs = vector(intervals).T
        return lows, highs

    def _sd_interval(self, level: float) -> Interval:
        """Return all deviations that the variance of the levels allows: rounding adds from 0 to step²/4 to it.

        Why: the variance is E(X − c)² − (μ − c)² for any c, and of the estimated mean c the first is a weighted sum of
        shares. The largest distance that the interval of the mean allows is taken off its lower end; its upper end is
        raised by the variance of the estimated mean, by which E(X − c)² is estimated too low.
        """
        low, high = float(self.scale.range.low), float(self.scale.range.high)
        center = min(max(self._mean.value, low), high)
        ends = np.clip(self.mean.interval("mean", level=level), low, high)
        squares = vector((self._levels - center) ** 2)
        least, most = self.shares.sum_interval(squares, level)
        least -= float(np.abs(ends - center).max()) ** 2 + self._step**2 / 4
        bounds = (least, most + self._mean.variance)
        low, high = (
            min(math.sqrt(max(end, 0.0)), (high - low) / 2) for end in bounds
        )
        deviation = self.params["sd"]
        return Interval(min(low, deviation), max(high, deviation))

    def _bracket(self, share: float, level: float) -> Interval:
        """Return levels between which a quantile lies.

        Why: of those rounded to the level l or below, everybody at or below l is one, and nobody at or above the next
        level is. So where their share is surely below q, the quantile lies above l; where it is surely above, below the
        next level. Levels are gone through from the ends inwards up to the first that is not sure, so that only one of
        them can lead astray on each side: those next to the quantile.
        """
        last = len(self._levels) - 1
        cumulated = np.cumsum(self.shares.value)[:-1]
        steps = np.tri(last, last + 1)  # who lies at or below each level
        errors = np.sqrt([self.shares.variance(vector(step)) for step in steps])
        margins = quantile(level, self.df) * errors
        below, above = cumulated + margins < share, cumulated - margins > share
        # How many levels from below it is surely above.
        low = int(np.argmin(np.append(below, False)))
        high = last - int(np.argmin(np.append(above[::-1], False)))
        value = self._quantile(share)[0]
        lower = self._levels[max(low - 1, 0)]
        upper = self._levels[min(high + 1, last)]
        return Interval(min(float(lower), value), max(float(upper), value))

    def _describe(self, request: IntervalRequest) -> Description:
        of_shares = self.shares._describe(IntervalRequest(request.level))
        title = f"numbers, {of_shares.title}"
        notes = (*self._mean.describe().notes, *of_shares.notes[1:])
        return dataclasses.replace(
            of_shares,
            title=title,
            quantity="value",
            notes=notes,
            interval="",
            ranges=number_ranges(value_range(self.scale)),
        )

    @property
    def _design_hash(self) -> str:
        return self.shares._design_hash

    def _source(self) -> dict[str, Any]:
        return {
            "shares": self.shares._source(),
            "quantiles": list(self.quantiles),
            "rounding": self.rounding,
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: NumberDesign) -> Self:
        quantiles = tuple(documents.field(source, "quantiles", list))
        rounding = float(documents.field(source, "rounding", float, int))
        return cls(_read_shares(source, design), quantiles, rounding)


def _read_shares(source: Mapping[str, Any], design: NumberDesign | Ladder) -> Any:
    """Construct the shares of the levels."""
    shares = documents.field(source, "shares", dict)
    kind = TallyEvidence.type if "tally" in shares else SampledEstimate.type
    if hasattr(design, "designs"):
        kind = StageEvidence.type
    return construct_result(kind, shares, design)


def estimate(
    tally: Tally,
    *,
    quantiles: Sequence[float] = QUANTILES,
    method: str = "inversion",
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
) -> NumberEstimate:
    """Estimate mean, standard deviation and quantiles of the numbers.

    Args:
        tally: the counts.
        quantiles: those that are asked for, such as 0.5 for the median.
        method: how the shares of the levels are estimated, as for categories.
        population: how many people there are altogether, if they are not very many.
        guess: shares of the levels at which an inverse is chosen.
        inverse: another left inverse of the channel.

    Raises:
        NotEstimable: there are no responses.
        InvalidRequest: an option that does not fit.

    Example:
        >>> from deniable.designs import number_design
        >>> found = estimate(Tally(number_design(0, 10, epsilon=2), [150, 200, 250, 200, 120, 80]))
        >>> round(found.mean.value, 2), found.interval("median")
        (3.86, Interval(low=0.0, high=7.5))
    """
    shares = estimate_shares(
        tally, method=method, population=population, guess=guess, inverse=inverse
    )
    return NumberEstimate(
        shares, tuple(quantiles), Mean.from_shares(shares).rounding
    )


def estimate_sampled(
    responses: Responses[NumberDesign],
    sampling: Sampling,
    *,
    quantiles: Sequence[float] = QUANTILES,
    domain: Any = None,
    by: Any = None,
    denominator: Any = None,
    inverse: Any = None,
) -> SampledEstimate:
    """Estimate mean, standard deviation and quantiles of the people that a sample stands for.

    Implements: the same functions of the shares of levels as without a sample, linearized: with slopes J at the shares
    R, what a response r adds is J·(r − R). With a denominator it is the ratio of the totals alone.

    Args:
        responses: what was sent, a row for each person of the sample.
        sampling: how these people were drawn.
        quantiles: those that are asked for, such as 0.5 for the median.
        domain: True for the rows of a part of the people.
        by: a group for each row; each group is told on its own.
        denominator: a number for each row: what is told is the ratio of both totals.
        inverse: another left inverse of the channel.

    Raises:
        NotEstimable: a stratum with one cluster, or nobody with a weight in a group.
        InvalidRequest: columns that do not fit.
    """
    if denominator is not None:
        return sampling_estimate(
            responses,
            sampling,
            domain=domain,
            by=by,
            denominator=denominator,
            inverse=inverse,
        )
    design = responses.design
    check_same_people(
        responses=responses, sampling=sampling, domain=domain, groups=by
    )
    rows, asked = category_values(responses, inverse), Asked.of(design)

    def count(chosen: Any, population: int | None) -> Estimate:
        tally = count_categories(design, responses[chosen])
        return fitted(tally, population=population, inverse=inverse)

    levels = estimate_values(
        [rows], sampling, asked, domain=domain, by=by, count=count
    )
    groups: list[NumberEstimate] = []

    def linearize(mask: Any) -> list[RowValues]:
        present = mask & rows.present
        total = sampling.weights[present].sum()
        factors = (sampling.weights**2 * sampling.finite)[present] / total**2
        rounding = float(factors.sum() * _max_rounding(design.scale))
        shares = levels.of_group(len(groups))
        group = NumberEstimate(shares, tuple(quantiles), rounding)
        groups.append(group)
        slopes = group.slopes
        constants = group._values() - slopes @ shares.value
        return [linear_values(rows, tuple(group.params), constants, slopes, design)]

    estimates = estimate_values(linearize, sampling, asked, domain=domain, by=by)
    # Linearized values have this mean but for rounding, by which a deviation of 0 would be negative.
    value = np.concatenate([group._values() for group in groups])
    return dataclasses.replace(
        estimates, quantity="value", value=value, evidence=tuple(groups)
    )


def mean(shares: Shares) -> Statistic[Mean]:
    """Carry an estimate of the levels over to the values; one stage's, or that of `combine`.

    Implements: [Pan24], §5.2, eq. (70), corrected, and for any number of levels: the sum of levels times shares.

    Raises:
        Incompatible: the estimate is not about levels of a range.

    Example:
        >>> from deniable.designs import number_design
        >>> found = mean(estimate_shares(Tally(number_design(0, 10, epsilon=1, levels=2), [400, 600])))
        >>> round(found.value, 3), round(found.error, 3)
        (7.164, 0.335)
    """
    return Statistic(Mean.from_shares(shares))


def _max_rounding(scale: Scale) -> float:
    """Return the variance that rounding adds to one number at most: in the middle between two levels."""
    return float(scale.step) ** 2 / 4


@dataclass(frozen=True, eq=False)
class Spread(Model):
    """The variance of the values themselves, estimated from their first two moments.

    Attributes:
        first: the mean of the values.
        second: the mean of their squares.
        same_people: whether both were asked of the same people.
    """

    type: ClassVar = "variance"

    first: Mean
    second: Mean
    same_people: bool = False

    def __post_init__(self) -> None:
        _check_squares(self.first, self.second)

    @property
    def value(self) -> float:
        """E[X²] − E[X]², corrected for what the error of the mean adds."""
        return self.second.value - self.first.value**2 + self.first.variance

    @property
    def error(self) -> float:
        """Its standard error; an upper bound where both moments come from the same people."""
        of_first = 2 * abs(self.first.value) * self.first.error
        if self.same_people:
            return self.second.error + of_first
        return math.hypot(self.second.error, of_first)

    @property
    def params(self) -> dict[str, float]:
        return {"variance": self.value}

    def covariance_matrix(self) -> Matrix:
        return vector([[self.error**2]])

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "together", and the usual ones, cut at 0.

        Together are all variances of values in the range whose two means lie in intervals that hold together with this
        level, so that it keeps the level wherever those of the means do.
        """
        around = {name: partial(self._bounds_around, name) for name in AROUND}
        return {"together": self._joint_bounds, **around}

    def _bounds_around(self, method: str, level: float) -> Bounds:
        value, error = vector([self.value]), vector([self.error])
        low, high = bounds_around(value, error, method, level)
        return np.maximum(low, 0.0), np.maximum(high, 0.0)

    def _joint_bounds(self, level: float) -> Bounds:
        each = bonferroni_level(2, level) if self.same_people else math.sqrt(level)
        (low, high), (square_low, square_high) = (
            np.clip(
                Statistic(mean).interval("mean", level=each),
                float(mean.range.low),
                float(mean.range.high),
            )
            for mean in (self.first, self.second)
        )
        bottom, top = float(self.first.range.low), float(self.first.range.high)
        nearest = min(max(0.0, low), high)  # to 0, of the means
        middle = min(max((bottom + top) / 2, low), high)
        # With all values at the ends of the range.
        at_ends = (top - middle) * (middle - bottom)
        largest = min(square_high - nearest**2, at_ends)
        smallest = square_low - max(low**2, high**2)
        bounds = vector([[min(smallest, largest)], [largest]])
        return np.maximum(bounds[0], 0.0), np.maximum(bounds[1], 0.0)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return (*self.first.warnings, *self.second.warnings)

    def describe(self) -> Description:
        note = "The error is the largest there can be: both means are of the same people."
        of_mean = self.first.describe()
        return dataclasses.replace(
            of_mean,
            title=f"variance of the values, from two means: {of_mean.title}",
            quantity="variance",
            notes=(note,) if self.same_people else (),
        )

    @property
    def design_hash(self) -> str:
        return self.first.design_hash

    def to_source(self) -> dict[str, Any]:
        return {
            "first": self.first.to_source(),
            "second": self.second.to_source(),
            "same_people": self.same_people,
        }

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: Any) -> Self:
        squared = getattr(design, "squared", None) or _square_stages(design)
        first = Mean.from_source(documents.field(source, "first", dict), design)
        second = Mean.from_source(documents.field(source, "second", dict), squared)
        return cls(first, second, source.get("same_people") is True)


def spread(
    first: Statistic[Mean], second: Statistic[Mean], *, same_people: bool = False
) -> Statistic[Spread]:
    """Estimate the variance of the values from the mean of x and the mean of x².

    Args:
        first: the mean of x.
        second: the mean of x².
        same_people: whether both were asked of the same people. Then their errors may go together in a way that counts
            of responses do not tell, and the error told is the largest there can be.

    Raises:
        Incompatible: the second range is not that of the squares of the first.

    Example:
        >>> from deniable.designs import number_design
        >>> one = number_design(0, 10, epsilon=3, levels=2)
        >>> found = spread(estimate(Tally(one, [400, 600])).mean, estimate(Tally(one.squared, [550, 450])).mean)
        >>> round(found.value, 2), round(found.error, 2)
        (7.24, 2.72)
    """
    return Statistic(Spread(first.model, second.model, same_people))


def _check_squares(first: Mean, second: Mean) -> None:
    if second.range != first.range.squared:
        raise Incompatible(
            f"the second moment has the range {second.range.low} to {second.range.high}; expected that of the squares, "
            f"{first.range.squared.low} to {first.range.squared.high}."
        )


def _scale(shares: Shares) -> Scale:
    """Return the levels that an estimate is about; of a ladder, those of its stages."""
    require(
        isinstance(shares, Result) and hasattr(shares, "design"),
        shares,
        "what the mean is of",
        "an estimate, as estimate() returns",
    )
    design = getattr(shares.design, "designs", (shares.design,))[0]
    scale = getattr(design, "scale", None)
    if isinstance(scale, Scale):
        return scale
    raise Incompatible(
        "this estimate is not about the levels of a range; expected one of a design for numbers.",
        "Build the design with number_design(low, high, epsilon).",
    )


def _square_stages(ladder: Ladder) -> Ladder:
    designs: Any = ladder.designs
    return Ladder(tuple(design.squared for design in designs), ladder.steps)
