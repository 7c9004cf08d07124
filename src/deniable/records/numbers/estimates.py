"""Responses about rounded ends → the mean, and the variance of the values themselves."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from deniable import documents, exact
from deniable.designs import Design
from deniable.errors import Incompatible, InvalidRequest, NotEstimable
from deniable.estimates import Estimate
from deniable.estimates import estimate as estimate_shares
from deniable.estimates.covariances import Matrix, vector
from deniable.estimates.intervals import Interval
from deniable.estimates.results import Caution, Result, Row, Summary, around
from deniable.estimates.stages import Combined
from deniable.order.ladders import Ladder
from deniable.records.numbers.designs import ENDS, NumberDesign, Range
from deniable.records.numbers.tallies import NumberTally

__all__ = ["Mean", "Moments", "Spread", "estimate", "from_share", "mean", "moments", "spread"]


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

    @classmethod
    def from_json(cls, text: str | bytes, design: Any) -> Self:
        return super().from_json(text, design.ends if isinstance(design, NumberDesign) else design)

    def _row(self, ends: Interval) -> Row:
        return Row(self.type, *self._numbers, *ends)


@dataclass(frozen=True, eq=False)
class Mean(_OneNumber):
    """An estimated mean.

    Attributes:
        range: of the values.
        shares: the estimated shares of the two ends, at one stage or of people at different stages.
    """

    type: ClassVar = "mean"

    range: Range
    shares: Estimate | Combined

    @property
    def _numbers(self) -> tuple[float, float]:
        return self.value, self.error

    @property
    def value(self) -> float:
        """The mean; unbiased, so that it may leave the range."""
        return self._carried(float(self.shares.value[1]))

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
        """The part that comes from people and from rounding: (high − low)²·π(1 − π)/n. No ε makes it smaller.

        It holds for a sample of people. Where all people are asked it is an upper bound: see `census_variance`.
        """
        share = min(max(float(self.shares.value[1]), 0.0), 1.0)
        return float(self.range.width) ** 2 * share * (1 - share) / self.respondents

    @property
    def variance(self) -> float:
        """The variance of the estimate, both parts."""
        return float(self.range.width * self.range.width) * float(self.shares.errors[1]) ** 2

    @property
    def error(self) -> float:
        """The standard error."""
        return math.sqrt(self.variance)

    def census_variance(self, second: Mean) -> float:
        """Return the variance if these people are all there are, given the mean of the squares of the same values.

        Then only rounding and the device are random. How much rounding adds depends on how many values lie inside the
        range, which the second moment tells: the mean of π(1 − π) over the people.

        Raises:
            Incompatible: the second range is not that of the squares of the first.
        """
        _check_squares(self, second)
        low, width = float(self.range.low), float(self.range.width)
        share = (self.value - low) / width
        squares = (second.value - 2 * low * self.value + low**2) / width**2
        rounding = width**2 * max(share - squares, 0.0) / self.respondents
        return min(self.device_variance + rounding, self.variance)

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        """Return an interval for the mean: that of the share of "high", by any method of its `conf_int`.

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """
        ends = self.shares.conf_int(level=level, method=method, simultaneous=simultaneous)[ENDS[1]]
        return {self.type: Interval(*map(self._carried, ends))}

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.shares.warnings

    def summary(self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False) -> Summary[Row]:
        """Return the mean with its interval, and what the device and rounding add to its variance."""
        about: Summary[Row] = self.shares.summary(level=level, method=method, simultaneous=simultaneous)
        rounding = math.sqrt(self.rounding_variance)
        notes = (
            f"Values lie from {float(self.range.low):g} to {float(self.range.high):g}. Of the error the device adds "
            f"{math.sqrt(self.device_variance):.4g}; people and rounding add {rounding:.4g}, at every ε.",
        )
        row = self._row(self.conf_int(level=level, method=method)[self.type])
        return replace(
            about, title=f"mean, {about.title}", quantity="mean", rows=(row,), notes=notes, warnings=self.warnings
        )

    @property
    def _design_hash(self) -> str:
        return self.shares._design_hash

    def _source(self) -> dict[str, Any]:
        return {"low": str(self.range.low), "high": str(self.range.high), "shares": self.shares._source()}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Design | Ladder) -> Mean:
        range_ = Range.of(documents.field(source, "low", str), documents.field(source, "high", str))
        held = documents.field(source, "shares", dict)
        if isinstance(design, Design):
            return mean(Estimate._remade(held, design), range_)
        return mean(Combined._remade(held, design), range_)

    def _carried(self, share: float) -> float:
        return float(self.range.low) + float(self.range.width) * share


def estimate(
    tally: NumberTally,
    *,
    method: str = "inversion",
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
) -> Mean:
    """Estimate the mean of the numbers.

    Args:
        tally: the counts.
        method: how the shares of the two ends are estimated, as for categories.
        population: how many people there are altogether, if they are not very many.
        guess: shares of the two ends at which an inverse is chosen.
        inverse: another left inverse of the channel.

    Raises:
        NotEstimable: there are no responses.
        InvalidRequest: an option that does not fit.

    Example:
        >>> from deniable.records.numbers.designs import number_design
        >>> found = estimate(NumberTally(number_design(0, 10, epsilon=1), [400, 600]))
        >>> round(found.value, 3), round(found.error, 3)
        (7.164, 0.335)
    """
    shares = estimate_shares(tally.ends, method=method, population=population, guess=guess, inverse=inverse)
    return mean(shares, tally.design.range)


def mean(shares: Estimate | Combined, range_: Range) -> Mean:
    """Carry an estimate of the two ends over to the values; one stage's, or that of `combine`.

    Implements: [Pan24], §5.2, eq. (70), corrected: low + (high − low)·π, for any design about the ends.

    Raises:
        Incompatible: the estimate is not about the ends "low" and "high".

    Example:
        >>> from deniable.estimates import estimate
        >>> from deniable.records.numbers.designs import end_design
        >>> from deniable.tallies import Tally
        >>> found = mean(estimate(Tally(end_design(1), [400, 600])), Range.of(0, 10))
        >>> round(found.value, 3), round(found.error, 3)
        (7.164, 0.335)
    """
    known = shares.design.categories if isinstance(shares, Estimate) else shares.categories
    if tuple(known) != ENDS:
        raise Incompatible(
            "this estimate is not about the ends of a range; expected the categories 'low' and 'high'.",
            "Use end_design(epsilon), or give another design these categories.",
        )
    return Mean(range_, shares)


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
        >>> moments(Range.of(0, 1), [0, "1/2", 1], warner(p="3/4", categories=ENDS))
        Moments(mean=Fraction(1, 2), rounding=Fraction(1, 36), device=Fraction(1, 4))
    """
    shares = [range_.share(exact.rational(value)) for value in values]
    if not shares or not 0 <= min(shares) <= max(shares) <= 1:
        raise InvalidRequest("there are no values, or some lie outside the range; expected values inside.")
    n = len(shares)
    zero, gap = _ends(design)
    at = [share * gap + zero for share in shares]
    # The device's part: the variance of a response, given the end.
    ends = (zero * (1 - zero), (zero + gap) * (1 - zero - gap))
    device = sum((ends[0] * (1 - share) + ends[1] * share for share in shares), Fraction(0)) / (n * n * gap * gap)
    expected = (sum(at, Fraction(0)) / n - zero) / gap
    rounding = sum((share * (1 - share) for share in shares), Fraction(0)) / (n * n)
    scale = range_.width**2
    return Moments(range_.low + range_.width * expected, scale * rounding, scale * device)


def from_share(range_: Range, design: Design, share: exact.Rational) -> Fraction:
    """Return the estimated mean if this share of the responses is "high", exactly.

    Raises:
        NotEstimable: the design does not tell the ends apart.

    Example:
        >>> from deniable.designs import warner
        >>> from_share(Range.of(0, 10), warner(p="3/4", categories=ENDS), "1/2")
        Fraction(5, 1)
    """
    zero, gap = _ends(design)
    return range_.low + range_.width * (exact.probability(share, name="share") - zero) / gap


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
        """Return the normal or the Chebyshev interval, cut at 0."""
        low, high = around(self.params, self.bse, level=level, method=method)[self.type]
        return {self.type: Interval(max(low, 0.0), max(high, 0.0))}

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return (*self.first.warnings, *self.second.warnings)

    def summary(self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False) -> Summary[Row]:
        """Return the variance with its interval."""
        about = self.first.summary(level=level)
        row = self._row(self.conf_int(level=level, method=method)[self.type])
        notes = (
            ("The error is the largest there can be: both means are of the same people.",) if self.same_people else ()
        )
        return replace(
            about,
            title=f"variance of the values, from two means: {about.title}",
            quantity="variance",
            rows=(row,),
            notes=notes,
            warnings=self.warnings,
            interval=method or "normal",
            simultaneous=simultaneous,
        )

    @property
    def _design_hash(self) -> str:
        return self.first._design_hash

    def _source(self) -> dict[str, Any]:
        return {"first": self.first._source(), "second": self.second._source(), "same_people": self.same_people}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Design | Ladder) -> Spread:
        first, second = (Mean._remade(documents.field(source, name, dict), design) for name in ("first", "second"))
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
        >>> from deniable.records.numbers.designs import number_design
        >>> one, two = number_design(0, 10, epsilon=3), number_design(0, 100, epsilon=3)
        >>> found = spread(estimate(NumberTally(one, [400, 600])), estimate(NumberTally(two, [550, 450])))
        >>> round(found.value, 2), round(found.error, 2)
        (7.24, 2.72)
    """
    _check_squares(first, second)
    value = second.value - first.value**2 + first.variance
    slope = 2 * abs(first.value)
    together = second.error + slope * first.error if same_people else math.hypot(second.error, slope * first.error)
    return Spread(value, together, first, second, same_people)


def _check_squares(first: Mean, second: Mean) -> None:
    if second.range != first.range.squared:
        raise Incompatible(
            f"the second moment has the range {second.range.low} to {second.range.high}; expected that of the squares, "
            f"{first.range.squared.low} to {first.range.squared.high}."
        )


def _ends(design: Design) -> tuple[Fraction, Fraction]:
    """Return how often "high" is sent by the low end, and how much more often by the high end."""
    channel = design.channel
    if channel.answers != 2 or channel.responses != 2:
        raise InvalidRequest("the design has more than two answers or responses; expected one about two ends.")
    zero = channel.probability(1, given=0)
    gap = channel.probability(1, given=1) - zero
    if not gap:
        raise NotEstimable("the design sends the same for both ends; expected one that tells them apart.")
    return zero, gap
