"""Responses about rounded numbers → mean, spread and quantiles, with intervals that allow for the rounding."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np

from deniable import documents, exact
from deniable.designs import Design, NumberDesign, Range, Scale
from deniable.errors import Incompatible, InvalidRequest, NotEstimable, require
from deniable.estimates import Estimate
from deniable.estimates import estimate as estimate_shares
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.diagnostics import FEW
from deniable.estimates.intervals import Interval, one_of, quantile
from deniable.estimates.results import Caution, Result, Row, Summary, around
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
from deniable.estimates.shares import TallyEvidence, fitted
from deniable.estimates.simplex import projection
from deniable.estimates.stages import StageEvidence
from deniable.files.row_names import check_same_people
from deniable.order.ladders import Ladder
from deniable.tallies import Tally
from deniable.tallies import tally as count_categories
from deniable.tallies.responses import Responses

__all__ = [
    "QUANTILES",
    "Mean",
    "Moments",
    "NumberEstimate",
    "Spread",
    "estimate",
    "estimate_sampled",
    "from_share",
    "mean",
    "moments",
    "spread",
]

Shares: TypeAlias = Estimate[Any] | SampledEstimate
"""Estimated shares of the levels."""

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""The quantiles that are estimated where no others are asked for."""


class _OneNumber(Result):
    """A result that is a single number; its type is the number's name."""

    @property
    @abstractmethod
    def _numbers(self) -> tuple[float, float]:
        """The value and its error."""

    @property
    def params(self) -> dict[str, float]:
        return {self.type: self._numbers[0]}

    @property
    def bse(self) -> dict[str, float]:
        return {self.type: self._numbers[1]}

    def cov_params(self) -> Matrix:
        return vector([[self._numbers[1] ** 2]])

    def _row(self, ends: Interval) -> Row:
        return Row(self.type, *self._numbers, *ends)


@dataclass(frozen=True, eq=False)
class Mean(_OneNumber):
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

    @property
    def _numbers(self) -> tuple[float, float]:
        return self.value, self.error

    @cached_property
    def _levels(self) -> Vector:
        return vector([float(level) for level in self.scale.values])

    @property
    def value(self) -> float:
        """The mean; unbiased, so that it may leave the range."""
        return float(self._levels @ self.shares.value)

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
        return (
            float(self._levels**2 @ shares - (self._levels @ shares) ** 2)
            / self.respondents
        )

    @property
    def variance(self) -> float:
        """The variance of the estimate, both parts."""
        return self.shares.variance(self._levels) + self.rounding

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
        low, high, step = (
            float(self.range.low),
            float(self.range.high),
            float(self.scale.step),
        )
        inside = step**2 / 4
        if self.scale.levels == 2:
            inside = max((low + high) * self.value - low * high - second.value, 0.0)
        return min(self.device_variance + inside / self.respondents, self.variance)

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Interval]:
        """Return an interval for the mean.

        Args:
            level: how often it holds the true mean.
            method: "normal" (the default) or "chebyshev"; of two levels that of the share of the upper one, by any
                method of its `conf_int`.
            simultaneous: nothing else is told.

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """
        if self.scale.levels > 2:
            return around(
                self.params,
                self.bse,
                level=level,
                method=method,
                degrees=self.shares.df,
            )
        ends = list(
            self.shares.conf_int(
                level=level, method=method, simultaneous=simultaneous
            ).values()
        )[1]
        low, width = float(self.range.low), float(self.range.width)
        return {self.type: Interval(*(low + width * end for end in ends))}

    def _inside(self, *, level: float) -> Interval:
        """Return the interval, cut to the range."""
        low, high = float(self.range.low), float(self.range.high)
        return Interval(
            *(min(max(end, low), high) for end in self.interval("mean", level=level))
        )

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What looks wrong about the responses; that single levels are not known is of no importance to a mean."""
        return tuple(each for each in self.shares.warnings if each.code != FEW)

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[Row]:
        """Return the mean with its interval, and what the device and rounding add to its variance."""
        row = self._row(self.conf_int(level=level, method=method)[self.type])
        notes = (
            f"{_where(self.scale)} Of the error the device adds {math.sqrt(self.device_variance):.4g}; people and "
            f"rounding add {math.sqrt(self.rounding_variance):.4g}, at every ε.",
        )
        about: Summary[Row] = self.shares.summary(
            level=level, simultaneous=simultaneous
        )
        return replace(
            about,
            title=f"mean, {about.title}",
            quantity="mean",
            rows=(row,),
            notes=notes,
            warnings=self.warnings,
            interval=method or (about.interval if self.scale.levels == 2 else "normal"),
        )

    @property
    def _design_hash(self) -> str:
        return self.shares._design_hash

    def _source(self) -> dict[str, Any]:
        return {"shares": self.shares._source()}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: NumberDesign | Ladder) -> Mean:
        return mean(_remade_shares(source, design))


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
        object.__setattr__(
            self, "quantiles", tuple(sorted({float(each) for each in self.quantiles}))
        )
        if not all(0 < each < 1 for each in self.quantiles):
            raise InvalidRequest(
                "a quantile lies outside (0, 1); expected numbers such as 0.5 for the median."
            )

    @cached_property
    def mean(self) -> Mean:
        """The mean by itself, with the parts of its variance."""
        return Mean(self.shares, self.rounding)

    @property
    def scale(self) -> Scale:
        """The range of the numbers, and the levels that they were rounded to."""
        return self.mean.scale

    @property
    def respondents(self) -> int:
        """How many people it was made from."""
        return self.shares.respondents

    @property
    def warnings(self) -> tuple[Caution, ...]:
        whole = tuple(map(float, (self.scale.range.low, self.scale.range.high)))
        empty = [name for name, ends in self.conf_int().items() if tuple(ends) == whole]
        return (
            *self.mean.warnings,
            *((_tells_nothing(self.respondents, empty),) if empty else ()),
        )

    @cached_property
    def _levels(self) -> Vector:
        return vector([float(level) for level in self.scale.values])

    @property
    def _step(self) -> float:
        return float(self.scale.step)

    @cached_property
    def variance(self) -> float:
        """The variance of the numbers: that of the levels without what rounding adds to it.

        Rounding adds the mean of (x − lower)(upper − x), which is a sixth of the squared step where numbers lie evenly
        between levels. It may be negative, as an unbiased estimate may.
        """
        spread = (
            float(self._levels**2 @ self.shares.value)
            - self.mean.value**2
            + self.mean.variance
        )
        return spread - self._step**2 / 6

    @cached_property
    def _variance_error(self) -> float:
        return math.sqrt(self.shares.variance(self._spread_weights))

    @property
    def _spread_weights(self) -> Vector:
        """How much the variance of the levels changes with each share."""
        return vector(self._levels**2 - 2 * self.mean.value * self._levels)

    @property
    def params(self) -> dict[str, float]:
        values = [
            self.mean.value,
            math.sqrt(max(self.variance, 0.0)),
            *(self._quantile(q)[0] for q in self.quantiles),
        ]
        return dict(zip(self._names, values, strict=True))

    @property
    def bse(self) -> dict[str, float]:
        return dict(
            zip(
                self._names,
                np.sqrt(np.maximum(np.diagonal(self.cov_params()), 0.0)).tolist(),
                strict=True,
            )
        )

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
        return vector(
            [
                self._levels,
                self._sd_weights,
                *(self._quantile(q)[1] for q in self.quantiles),
            ]
        )

    @property
    def _names(self) -> list[str]:
        return ["mean", "sd", *map(quantile_name, self.quantiles)]

    @property
    def _sd_weights(self) -> Vector:
        # Where the variance is small next to its error, the root of the error stands for the deviation.
        return vector(
            self._spread_weights
            / (2 * math.sqrt(max(self.variance, self._variance_error, 1e-300)))
        )

    @cached_property
    def _cumulated(self) -> Vector:
        """Return the shares of people at or below each level, brought into order, with 0 in front."""
        return np.concatenate([[0.0], np.cumsum(projection(vector(self.shares.value)))])

    def _quantile(self, share: float) -> tuple[float, Vector]:
        """Return a quantile, between the levels on a straight line, and how it changes with each share.

        Why: whoever is rounded to the level l or below lies, on average, below the middle between l and the next one.
        """
        middles = np.concatenate(
            [
                self._levels[:1],
                (self._levels[1:] + self._levels[:-1]) / 2,
                self._levels[-1:],
            ]
        )
        below = self._cumulated
        after = max(int(np.searchsorted(below, share, side="left")), 1)
        gap = below[after] - below[after - 1]
        part = (share - below[after - 1]) / gap
        length = middles[after] - middles[after - 1]
        at = np.arange(len(self._levels))
        weights = (1 - part) * (at < after - 1) + part * (at < after)
        return float(middles[after - 1] + part * length), vector(
            -length / gap * weights
        )

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Interval]:
        """Return an interval for each number by name.

        Args:
            level: how often such an interval holds the truth.
            method: "bracket" (the default): the mean's own interval, and of spread and quantiles all values that some
                numbers have whose rounded levels fit the responses; "normal" or "chebyshev" around the value.
            simultaneous: let all intervals together hold with this level (Bonferroni).

        Raises:
            InvalidRequest: a level outside (0, 1), or another method.
        """
        events = len(self._names) if simultaneous else 1
        if method not in (None, "bracket"):
            return around(
                self.params,
                self.bse,
                level=level,
                method=method,
                events=events,
                degrees=self.shares.df,
            )
        each = one_of(events, level)
        ends = [self.mean.interval("mean", level=each), self._sd_interval(each)]
        ends += [self._bracket(share, each) for share in self.quantiles]
        return dict(zip(self._names, ends, strict=True))

    def _sd_interval(self, confidence: float) -> Interval:
        """Return all deviations that the variance of the levels allows: rounding adds from 0 to step²/4 to it."""
        of_levels = self.variance + self._step**2 / 6
        margin = quantile(confidence, self.shares.df) * self._variance_error
        most = float(self.scale.range.width) / 2  # half of all at each end
        ends = (of_levels - margin - self._step**2 / 4, of_levels + margin)
        low, high = (min(math.sqrt(max(end, 0.0)), most) for end in ends)
        own = self.params["sd"]
        return Interval(min(low, own), max(high, own))

    def _bracket(self, share: float, confidence: float) -> Interval:
        """Return levels between which a quantile lies.

        Why: of those rounded to the level l or below, everybody at or below l is one, and nobody at or above the next
        level is. So where their share is surely below q, the quantile lies above l; where it is surely above, below the
        next level. Levels are gone through from the ends inwards up to the first that is not sure, so that only one of
        them can lead astray on each side: those next to the quantile.
        """
        last = len(self._levels) - 1
        cumulated = np.cumsum(self.shares.value)[:-1]
        margins = quantile(confidence, self.shares.df) * np.array(
            [_error(self.shares, np.arange(last + 1) <= at) for at in range(last)]
        )
        below, above = cumulated + margins < share, cumulated - margins > share
        low = int(
            np.argmin(np.append(below, False))
        )  # how many levels from below it is surely above
        high = last - int(np.argmin(np.append(above[::-1], False)))
        own = self._quantile(share)[0]
        lower = self._levels[max(low - 1, 0)]
        upper = self._levels[min(high + 1, last)]
        return Interval(min(float(lower), own), max(float(upper), own))

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[Row]:
        """Return a table of mean, deviation and quantiles."""
        about, own = self.shares.summary(level=level), self.mean.summary(level=level)
        ends = self.conf_int(level=level, method=method, simultaneous=simultaneous)
        errors = self.bse
        rows = tuple(
            Row(name, value, errors[name], *ends[name])
            for name, value in self.params.items()
        )
        return replace(
            own,
            title=f"numbers, {about.title}",
            quantity="value",
            rows=rows,
            notes=(*own.notes, *about.notes[1:]),
            warnings=self.warnings,
            interval=method or "bracket",
            simultaneous=simultaneous,
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
    def _remade(cls, source: Mapping[str, Any], design: NumberDesign) -> NumberEstimate:
        shares = cast("Estimate | SampledEstimate", _remade_shares(source, design))
        quantiles = tuple(documents.field(source, "quantiles", list))
        return cls(
            shares, quantiles, float(documents.field(source, "rounding", float, int))
        )


def _remade_shares(source: Mapping[str, Any], design: NumberDesign | Ladder) -> Shares:
    """Make the shares of the levels again."""
    held = documents.field(source, "shares", dict)
    if isinstance(design, Ladder):
        return StageEvidence.read(held, design)
    return (
        TallyEvidence.read(held, design)
        if "tally" in held
        else SampledEstimate._remade(held, design)
    )


def quantile_name(share: float) -> str:
    """Return what a quantile is called.

    Example:
        >>> quantile_name(0.5), quantile_name(0.1)
        ('median', 'quantile 0.1')
    """
    return "median" if share == 0.5 else f"quantile {share:g}"


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
    return NumberEstimate(shares, tuple(quantiles), mean(shares).rounding)


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
    check_same_people(responses=responses, sampling=sampling, domain=domain, groups=by)
    rows, asked = category_values(responses, inverse), Asked.of(design)

    def count(part: Any, population: int | None) -> Estimate:
        return fitted(
            count_categories(design, responses[part]),
            population=population,
            inverse=inverse,
        )

    levels = estimate_values([rows], sampling, asked, domain=domain, by=by, count=count)
    numbers: list[NumberEstimate] = []

    def linearize(parts: Sequence[Any]) -> list[RowValues]:
        factors = vector(sampling.weights**2 * sampling.finite)
        for at, part in enumerate(parts):
            here = part & rows.present
            left = float(factors[here].sum() / sampling.weights[here].sum() ** 2)
            numbers.append(
                NumberEstimate(
                    levels.of_group(at),
                    tuple(quantiles),
                    left * _most_rounding(design.scale),
                )
            )
        groups = [
            (
                part,
                vector(list(each.params.values())) - each.slopes @ each.shares.value,
                each.slopes,
            )
            for part, each in zip(parts, numbers, strict=True)
        ]
        return [linear_values(rows, tuple(numbers[0].params), groups, design)]

    found = estimate_values(linearize, sampling, asked, domain=domain, by=by)
    # Linearized values have this mean but for rounding, by which a deviation of 0 would be negative.
    value = vector([number for each in numbers for number in each.params.values()])
    return replace(found, value=value, evidence=tuple(numbers))


def mean(shares: Shares) -> Mean:
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
    scale, population = (
        _scale(shares),
        getattr(shares, "population", None)
        if shares.type == TallyEvidence.type
        else None,
    )
    return Mean(shares, _most_rounding(scale) / population if population else 0.0)


def _most_rounding(scale: Scale) -> float:
    """Return the variance that rounding adds to one number at most: in the middle between two levels."""
    return float(scale.step) ** 2 / 4


@dataclass(frozen=True)
class Moments:
    """What the estimated mean of known people does, exactly: all of them are asked, and only the devices are random.

    Attributes:
        mean: its expectation.
        rounding: the part of its variance that rounding adds.
        device: the part of its variance that the device adds.
    """

    mean: Fraction
    rounding: Fraction
    device: Fraction

    @property
    def variance(self) -> Fraction:
        """The whole variance."""
        return self.rounding + self.device


def moments(range_: Range, values: Iterable[exact.Rational], design: Design) -> Moments:
    """Return expectation and variance of the estimated mean of these values.

    Implements: F14, for every two-answer design.

    Raises:
        InvalidRequest: no values, or one outside the range.
        NotEstimable: the design does not tell the ends apart.

    Example:
        >>> from deniable.designs import warner
        >>> moments(Range.of(0, 1), [0, "1/2", 1], warner(p="3/4"))
        Moments(mean=Fraction(1, 2), rounding=Fraction(1, 36), device=Fraction(1, 4))
    """
    shares = [range_.share(exact.rational(value)) for value in values]
    if not shares or not 0 <= min(shares) <= max(shares) <= 1:
        raise InvalidRequest(
            "there are no values, or some lie outside the range; expected values inside."
        )
    n = len(shares)
    zero, gap = _ends(design)
    at = [share * gap + zero for share in shares]
    # The device's part: the variance of a response, given the end.
    ends = (zero * (1 - zero), (zero + gap) * (1 - zero - gap))
    device = sum(
        (ends[0] * (1 - share) + ends[1] * share for share in shares), Fraction(0)
    ) / (n * n * gap * gap)
    expected = (sum(at, Fraction(0)) / n - zero) / gap
    rounding = sum((share * (1 - share) for share in shares), Fraction(0)) / (n * n)
    scale = range_.width**2
    return Moments(
        range_.low + range_.width * expected, scale * rounding, scale * device
    )


def from_share(range_: Range, design: Design, share: exact.Rational) -> Fraction:
    """Return the estimated mean if this share of the responses is "high", exactly.

    Raises:
        NotEstimable: the design does not tell the ends apart.

    Example:
        >>> from deniable.designs import warner
        >>> from_share(Range.of(0, 10), warner(p="3/4"), "1/2")
        Fraction(5, 1)
    """
    zero, gap = _ends(design)
    return (
        range_.low
        + range_.width * (exact.probability(share, name="share") - zero) / gap
    )


@dataclass(frozen=True, eq=False)
class Spread(_OneNumber):
    """The variance of the values themselves, estimated from their first two moments.

    Attributes:
        value: E[X²] − E[X]², corrected for what the error of the mean adds.
        error: its standard error; an upper bound where both moments come from the same people.
        first: the mean of the values.
        second: the mean of their squares.
        same_people: whether both were asked of the same people.
    """

    type: ClassVar = "variance"

    value: float
    error: float
    first: Mean = field(repr=False)
    second: Mean = field(repr=False)
    same_people: bool = False

    @property
    def _numbers(self) -> tuple[float, float]:
        return self.value, self.error

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,  # noqa: ARG002 - one number
    ) -> dict[str, Interval]:
        """Return an interval for the variance.

        Args:
            level: how often it holds the truth.
            method: "together" (the default): all variances of values in the range whose two means lie in intervals that
                hold together with this level, so that it keeps the level wherever those of the means do; "normal" or
                "chebyshev", cut at 0.
            simultaneous: nothing else is told.

        Raises:
            InvalidRequest: a level outside (0, 1), or another method.
        """
        if method in (None, "together"):
            return {self.type: self._together(level)}
        low, high = around(self.params, self.bse, level=level, method=method)[self.type]
        return {self.type: Interval(max(low, 0.0), max(high, 0.0))}

    def _together(self, level: float) -> Interval:
        each = one_of(2, level) if self.same_people else math.sqrt(one_of(1, level))
        (low, high), (least, most) = (
            mean._inside(level=each) for mean in (self.first, self.second)
        )
        bottom, top = float(self.first.range.low), float(self.first.range.high)
        nearest = min(max(0.0, low), high)  # to 0, of the means
        middle = min(max((bottom + top) / 2, low), high)
        largest = min(
            most - nearest**2, (top - middle) * (middle - bottom)
        )  # with all values at the ends of the range
        smallest = least - max(low**2, high**2)
        return Interval(max(min(smallest, largest), 0.0), max(largest, 0.0))

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return (*self.first.warnings, *self.second.warnings)

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[Row]:
        """Return the variance with its interval."""
        about = self.first.summary(level=level)
        row = self._row(self.conf_int(level=level, method=method)[self.type])
        notes = (
            (
                "The error is the largest there can be: both means are of the same people.",
            )
            if self.same_people
            else ()
        )
        return replace(
            about,
            title=f"variance of the values, from two means: {about.title}",
            quantity="variance",
            rows=(row,),
            notes=notes,
            warnings=self.warnings,
            interval=method or "together",
            simultaneous=simultaneous,
        )

    @property
    def _design_hash(self) -> str:
        return self.first._design_hash

    def _source(self) -> dict[str, Any]:
        return {
            "first": self.first._source(),
            "second": self.second._source(),
            "same_people": self.same_people,
        }

    @classmethod
    def _remade(
        cls, source: Mapping[str, Any], design: NumberDesign | Ladder
    ) -> Spread:
        squared = (
            _squared_stages(design) if isinstance(design, Ladder) else design.squared
        )
        first = Mean._remade(documents.field(source, "first", dict), design)
        second = Mean._remade(documents.field(source, "second", dict), squared)
        return spread(first, second, same_people=source.get("same_people") is True)


def spread(first: Mean, second: Mean, *, same_people: bool = False) -> Spread:
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
    _check_squares(first, second)
    value = second.value - first.value**2 + first.variance
    slope = 2 * abs(first.value)
    together = (
        second.error + slope * first.error
        if same_people
        else math.hypot(second.error, slope * first.error)
    )
    return Spread(value, together, first, second, same_people)


def _check_squares(first: Mean, second: Mean) -> None:
    if second.range != first.range.squared:
        raise Incompatible(
            f"the second moment has the range {second.range.low} to {second.range.high}; expected that of the squares, "
            f"{first.range.squared.low} to {first.range.squared.high}."
        )


def _scale(shares: Shares) -> Scale:
    """Return the levels that an estimate is about."""
    require(
        isinstance(shares, Estimate | SampledEstimate),
        shares,
        "what the mean is of",
        "an estimate, as estimate() returns",
    )
    design = shares.design
    if isinstance(design, Ladder):
        design = design.designs[0]
    if isinstance(design, NumberDesign):
        return design.scale
    raise Incompatible(
        "this estimate is not about the levels of a range; expected one of a design for numbers.",
        "Build the design with number_design(low, high, epsilon).",
    )


def _tells_nothing(respondents: int, names: Sequence[str]) -> Caution:
    text = (
        f"{respondents:,} responses of this design are too few to tell anything about {', '.join(names)}: every value "
        'of the range would fit them. A design with goal="distribution" tells more about them.'
    )
    return Caution(FEW, text)


def _squared_stages(ladder: Ladder) -> Ladder:
    return Ladder(
        tuple(
            each.squared for each in ladder.designs if isinstance(each, NumberDesign)
        ),
        ladder.steps,
    )


def _error(shares: Shares, chosen: Any) -> float:
    return math.sqrt(shares.variance(vector(chosen)))


def _where(scale: Scale) -> str:
    ends = f"{float(scale.range.low):g} to {float(scale.range.high):g}"
    return f"Values lie from {ends} and are rounded to {scale.levels} levels, {float(scale.step):g} apart."


def _ends(design: Design) -> tuple[Fraction, Fraction]:
    """Return how often "high" is sent by the low end, and how much more often by the high end."""
    channel = design.channel
    if channel.answers != 2 or channel.responses != 2:
        raise InvalidRequest(
            "the design has more than two answers or responses; expected one about two ends."
        )
    zero = channel.probability(1, given=0)
    gap = channel.probability(1, given=1) - zero
    if not gap:
        raise NotEstimable(
            "the design sends the same for both ends; expected one that tells them apart."
        )
    return zero, gap
