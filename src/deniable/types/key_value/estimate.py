"""Step 4: counts → degrees, weights and mean values of items, with their variances and intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.errors import InvalidRequest, NotEstimable, quoted, read_names
from deniable.estimates.backing import LEAST_EXPECTED, clopper_pearson
from deniable.estimates.confidence_sequences import widen
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import (
    Interval,
    bonferroni_level,
    score_interval,
    wilson,
)
from deniable.estimates.results import (
    Bounds,
    Caution,
    Columns,
    Description,
    IntervalMethod,
    IntervalRequest,
    Result,
    Row,
    RowType,
    Summary,
    bounds_around,
    read_type,
    value_range,
)
from deniable.estimates.shares import sampled_fraction
from deniable.estimates.triples import Scored, Triples
from deniable.rendering import formats
from deniable.rendering.statements import SHARE
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.degrees import (
    DegreeDistribution,
    JointDegrees,
    degree_distribution,
    joint_degrees,
)
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.items import (
    KeptShare,
    Ranked,
    Shrunk,
    Sizes,
    check_number,
    kept_share,
    padding_cautions,
    shrunk,
    top,
)
from deniable.types.key_value.linear import (
    CONDITIONAL,
    NOISE,
    ItemLinear,
    read_scaling,
)
from deniable.types.key_value.schemes import NONE
from deniable.types.key_value.variances import scores

if TYPE_CHECKING:
    from deniable.types.edges.count import EdgeTally
    from deniable.types.edges.design import EdgeDesign
    from deniable.types.edges.estimate import EdgeNumbers

__all__ = ["ItemEstimate", "Quantity", "estimate"]

ItemNumbers: TypeAlias = "KeyValueNumbers | EdgeNumbers"
"""The frequency, the weight per respondent and the mean weight of each item, with variances and intervals."""


_SUMS = {"degree": "frequency", "weight": "weight"}  # of what each respondent has
_OVER = ("items", "all")


@dataclass(frozen=True)
class Quantity:
    """A number with its standard error.

    Attributes:
        value: the estimate.
        error: its standard error.
        tested: its interval for a level, of all numbers that are not rejected; a number that is known has none.
    """

    value: float
    error: float
    tested: Callable[[float], Interval] | None = field(
        default=None, repr=False, compare=False
    )

    def interval(
        self, *, level: float = 0.95, method: str | None = None
    ) -> Interval:
        """Return all numbers that are not rejected (the default), or value ± a multiple of the error.

        Raises:
            InvalidRequest: a method besides "normal" and "chebyshev", or a level outside (0, 1).
        """
        confidence = bonferroni_level(1, level)
        if method is None and self.tested is not None:
            return self.tested(confidence)
        value, error = np.array([[self.value], [self.error]])
        return _interval(bounds_around(value, error, method or "normal", confidence))

    def requested(self, request: IntervalRequest, n: int) -> Interval:
        """Return the interval of the level that is asked; an always-valid one of n responses."""

        def bounds(level: float) -> Bounds:
            low, high = vector(self.interval(level=level))
            return vector([low]), vector([high])

        if not request.always:
            return self.interval(level=request.level)
        return _interval(
            widen(bounds, vector([self.value]), n, request.level, request.tuning)
        )

    def times(self, factor: float) -> Quantity:
        """Return the quantity in another unit."""
        tested = self.tested
        scaled = replace(self, value=self.value * factor, error=self.error * factor)
        if tested is None:
            return scaled
        return replace(
            scaled,
            tested=lambda level: Interval(*(end * factor for end in tested(level))),
        )


def _interval(bounds: Bounds) -> Interval:
    (low,), (high,) = bounds
    return Interval(float(low), float(high))


def degree_factor(people: int, items: int, over: str) -> float:
    """Return the factor that turns a sum over edges into an average degree over vertices.

    Implements: the average degree of [MW21], eq. (6), as an average: over the items, Σ k/m, or over all vertices, where
    every edge has two ends, 2·Σ k/(n + m). What is printed there is a density.

    Raises:
        InvalidRequest: over anything else.

    Example:
        >>> 4 * degree_factor(2, 2, "all")
        2.0
    """
    if over not in _OVER:
        raise InvalidRequest(
            f"the average is over {quoted(over)}; expected 'items' or 'all' vertices."
        )
    return 1 / items if over == "items" else 2 / (people + items)


@dataclass(frozen=True, slots=True)
class GraphSummary(Summary[Row]):
    """A table of the items with the most edges.

    Attributes:
        graph: numbers of the whole graph.
    """

    graph: dict[str, Row] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ItemEstimate(Result[Row]):
    """The numbers of each item, and of the bipartite graph of respondents and items as a whole.

    All values are unbiased (the mean is a ratio of two that are, and consistent), so they may leave their range.
    Weights and means are on the scale of the design.

    Attributes:
        numbers: what the counts tell.
        quantity: what `params` and all that belongs to them tell of each item: "frequency", "degree", "weight" or
            "mean"; another one by `about`.
    """

    QUANTITIES: ClassVar[tuple[str, ...]] = ("frequency", "degree", "weight", "mean")

    numbers: ItemNumbers = field(repr=False)
    quantity: str = "frequency"

    @property
    def type(self) -> str:  # type: ignore[override]  # which the numbers have
        """The type's name in JSON."""
        return self.numbers.type

    @property
    def tally(self) -> KeyValueTally | EdgeTally:
        """The counts it was made from."""
        return self.numbers.tally

    @property
    def design(self) -> KeyValueDesign | EdgeDesign:
        """The design the responses were drawn with."""
        return self.tally.design

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return int(self.tally.respondents)

    @property
    def df(self) -> float:
        """The degrees of freedom of the variances: of a simple random sample."""
        return max(self.respondents - 1, 1)

    @property
    def frequency(self) -> Vector:
        """The share of respondents who have each item.

        Raises:
            NotEstimable: the design does not tell edges from none.
        """
        return self.numbers.frequency

    @property
    def degree(self) -> Vector:
        """How many respondents have each item."""
        return self.frequency * self.respondents

    @property
    def weight(self) -> Vector:
        """The sum of the weights of each item.

        Raises:
            NotEstimable: the design does not tell weights.
        """
        return self.numbers.weight * self.respondents

    @property
    def mean(self) -> Vector:
        """The mean weight of those who have an item: a ratio, to be read together with `within_noise`."""
        return self.numbers.mean

    @property
    def within_noise(self) -> NDArray[np.bool_]:
        """Whether so little is known about the edges of each item that nothing is known about their mean weight."""
        return self.numbers.within_noise

    def value(self, what: str | None = None) -> Vector:
        """Return the quantity that the estimate is about, or another one, of each item.

        Raises:
            InvalidRequest: something that is not estimated.
            NotEstimable: the design does not tell it.
        """
        name = what or self.quantity
        if name not in self.QUANTITIES:
            raise InvalidRequest(
                f"{quoted(name)} is not estimated; expected one of {', '.join(self.QUANTITIES)}."
            )
        return np.asarray(getattr(self, name), np.float64)

    def tells(self, what: str) -> bool:
        """Tell whether the design tells a quantity."""
        try:
            self.value(what)
        except NotEstimable:
            return False
        return True

    def _scale(self, what: str) -> int:
        """Return what a number per respondent is multiplied by."""
        return self.respondents if what in _SUMS else 1

    def variance(self, what: str | None = None) -> Vector:
        """Return the variance of the quantity that the estimate is about, or of another one, of each item.

        Raises:
            InvalidRequest: something that is not estimated.
            NotEstimable: the design does not tell it.
        """
        name = what or self.quantity
        self.value(name)  # refuses what is not told
        return self.numbers.variance(_SUMS.get(name, name)) * self._scale(name) ** 2

    def errors(self, what: str | None = None) -> Vector:
        """Return the standard error of the quantity that the estimate is about, or of another one, of each item."""
        return np.sqrt(np.maximum(self.variance(what), 0.0))

    def about(self, quantity: str) -> ItemEstimate:
        """Return the same estimate with another quantity of each item as its numbers.

        Raises:
            InvalidRequest: something that is not estimated.
            NotEstimable: the design does not tell it.
        """
        self.value(quantity)
        return replace(self, quantity=quantity)

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.design.items, self.value().tolist(), strict=True))

    @property
    def bse(self) -> dict[str, float]:
        return dict(zip(self.design.items, self.errors().tolist(), strict=True))

    def cov_params(self) -> Matrix:
        """Return the covariance of the numbers of all items, for independent respondents.

        In a census the covariance is smaller in every direction. That of means is by the delta method.

        Raises:
            NotEstimable: the design does not tell edges from none, or not the weights.
        """
        self.value()  # refuses what the design does not tell
        if self.quantity == "mean":
            return self.numbers.covariance_of_means()
        size = len(self.design.items)
        half = slice(size, None) if self.quantity == "weight" else slice(size)
        joint = self.numbers.joint(range(size))
        return joint[half, half] * self._scale(self.quantity) ** 2

    def joint_covariance(self, items: Sequence[str]) -> Matrix:
        """Return the covariance of the degrees and then the weights of some items, for independent respondents.

        Raises:
            InvalidAnswer: an item that the design does not know.
            InvalidRequest: text in place of a list of items.
            NotEstimable: the design does not tell edges from none, or not the weights.
        """
        _ = self.frequency, self.weight  # refuses what is not told
        numbers = [
            self.design.item_number(item) for item in read_names(items, "items")
        ]
        return self.numbers.joint(numbers) * self.respondents**2

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return the interval methods of the quantity.

        For frequencies and degrees they are "score", "exact" and "normal"; for weights and means "wide", "score" and
        "normal" ("delta" for a ratio). "wide" is all values that the score or the likelihood does not
        reject, which is the whole scale for the mean of an item that perhaps nobody has.
        """
        name, scale = self.quantity, self._scale(self.quantity)
        around = super()._interval_methods()
        methods = self.numbers.intervals(_SUMS.get(name, name))
        own = {method: _scale_bounds(methods[method], scale) for method in methods}
        by_error = self.numbers.mean_by_error if name == "mean" else "normal"
        return {
            **own,
            by_error: around["normal"],
            "chebyshev": around["chebyshev"],
        }

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.numbers.warnings

    def edges(self) -> Quantity:
        """Return the number of all edges."""
        return self.numbers.edges().times(self.respondents)

    def average_degree(self, over: str = "items") -> Quantity:
        """Return the average degree: of the items, or over "all" vertices, respondents too.

        Example:
            >>> from deniable.types.key_value.design import lpp_ddagger
            >>> from deniable.types.key_value.count import tally
            >>> counted = tally(lpp_ddagger(["tea", "coffee"], 1), ["+ tea", "0 coffee", "- tea", "+ coffee"])
            >>> found = estimate(counted)
            >>> round(found.average_degree().value / found.density().value)
            4
        """
        return self.edges().times(self._degree_factor(over))

    def density(self) -> Quantity:
        """Return the share of all possible edges that are there."""
        return self.edges().times(1 / (self.respondents * len(self.design.items)))

    def average_weight(self, over: str = "edges") -> Quantity:
        """Return the average weight of an edge; or the average sum of weights of an item, or of "all" vertices.

        Of an edge it is a ratio, and says nothing where the number of edges is within noise of 0.
        """
        if over == "edges":
            return self.numbers.edge_weight()
        total = self.numbers.total_weight().times(self.respondents)
        return total.times(self._degree_factor(over))

    def _degree_factor(self, over: str) -> float:
        return degree_factor(self.respondents, len(self.design.items), over)

    def top(
        self, count: int = 10, by: str | None = None, *, level: float = 0.95
    ) -> tuple[Ranked, ...]:
        """Return the items with the largest values, with intervals that hold for all items at once.

        Args:
            count: how many.
            by: one of the quantities; the one that the estimate is about, if it is not given.
            level: how often all intervals together hold.

        Raises:
            InvalidRequest: fewer than one item, or something that is not estimated.
        """
        return top(self, count, by or self.quantity, level)

    def degree_distribution(self, points: int = 60) -> DegreeDistribution:
        """Return how the degrees of the items are distributed, the noise of their estimates taken out."""
        return degree_distribution(self, points)

    def joint_degrees(self, sizes: Sizes, *, points: int = 60) -> JointDegrees:
        """Return the degree distributions of people and of items; a padded design is corrected with the sizes.

        Args:
            sizes: the share of people with each number of items; or the estimate of a question of its own, with these
                numbers as its categories. Its ε adds to that of the items.
            points: how many degrees of items to tell apart.

        Raises:
            InvalidRequest: the shares do not fit, or some number is larger than the number of items.
            NotEstimable: the design does not tell degrees, or everybody has one edge.
        """
        one_each = self._key_values.design.scheme.one_each
        estimate = self if one_each else self.corrected(sizes)
        return joint_degrees(estimate, sizes, points)

    def shrunk(self) -> Shrunk:
        """Return frequencies and means drawn towards those of all items, for the least error on the whole; biased.

        Raises:
            NotEstimable: the design does not tell edges from none, or not the weights; or which is known.
        """
        return shrunk(self._key_values)

    def corrected(self, sizes: Sizes) -> ItemEstimate:
        """Return the estimate with what padding cut off put back, given the shares of people by number of items.

        Args:
            sizes: the share of people with each number of items; or the estimate of a question with these numbers as
                its categories, whose errors then widen the intervals.

        Raises:
            InvalidRequest: the design does not pad, or the shares do not fit.
        """
        numbers = self._key_values
        kept = kept_share(numbers.tally.design, sizes)
        return replace(self, numbers=replace(numbers, kept=kept))

    def average_degree_bounds(
        self, *, most: int | None = None, level: float = 0.95
    ) -> Interval:
        """Return bounds of the average degree of an item that include what padding may have cut off.

        Why: min(s, ℓ) of s items are counted, and s ≤ max(most, ℓ)·min(s, ℓ)/ℓ. Both ends are attained: by people with
        at most ℓ items, and by people with either none or `most`.

        Args:
            most: the largest number of items that anybody has; all items there are, if it is not given.
            level: of the interval.

        Raises:
            InvalidRequest: fewer than one, or a level outside (0, 1).

        Example:
            >>> from deniable.types.key_value.design import pckv_ue
            >>> from deniable.types.key_value.count import tally
            >>> found = estimate(tally(pckv_ue(["tea", "coffee"], 9, padding=1), ["+0", "0-", "0-"] * 99))
            >>> low, high = found.average_degree_bounds()
            >>> 140 < low < 149 and high == 297
            True
        """
        if most is not None:
            check_number("most", most)
        return self._key_values.degree_bounds(most, bonferroni_level(1, level))

    @property
    def _key_values(self) -> KeyValueNumbers:
        if not isinstance(self.numbers, KeyValueNumbers):
            raise NotEstimable(
                "everybody has one edge, and which is known; expected responses about several items."
            )
        return self.numbers

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
        always: bool = False,
        planned: int | None = None,
        count: int = 20,
    ) -> GraphSummary:
        """Return a table of the items with the most edges, with the numbers of the whole graph and warnings.

        Raises:
            InvalidRequest: fewer than one item.
        """
        check_number("count", count)
        request = IntervalRequest(level, method, simultaneous, always, planned)
        full = self._summarize(request)
        largest = self.value("frequency" if self.tells("frequency") else "weight")
        order = np.argsort(-np.nan_to_num(largest), kind="stable")[:count]
        rows = tuple(full.rows[number] for number in order)
        return replace(full, rows=rows, left_out=len(full.rows) - len(rows))

    def _whole(self, request: IntervalRequest) -> GraphSummary:
        return self._summarize(request)

    def _summarize(self, request: IntervalRequest) -> GraphSummary:
        full = super()._summarize(request)
        parts = {part.name: getattr(full, part.name) for part in fields(full)}
        n = self.respondents
        graph = {
            name: Row(name, total.value, total.error, *total.requested(request, n))
            for name, total in self.numbers.graph(self).items()
        }
        return GraphSummary(**parts, graph=graph)

    def _describe(self, request: IntervalRequest) -> Description:  # noqa: ARG002 - the same for all
        title, method, notes = self.numbers.describe()
        scale, (least, most) = self._scale(self.quantity), SHARE
        if self.quantity in ("mean", "weight"):
            least, most = value_range(self.design)
        if self.quantity == "weight":  # 0 where somebody does not have the item
            least, most = min(least, 0.0), max(most, 0.0)
        totals = (
            f"{name}: {total.value:.4g} ± {total.error:.2g}"
            for name, total in self.numbers.graph(self).items()
        )
        return Description(
            title,
            self.quantity,
            method,
            self.respondents,
            self.design.epsilon,
            self.tally.missing,
            (*totals, *notes),
            ranges={"": (scale * least, scale * most)},
        )

    @property
    def _row_type(self) -> RowType:
        return self.numbers.row_type

    def _row_columns(self, request: IntervalRequest) -> Mapping[str, Sequence[Any]]:
        return self.numbers.columns(self, request.level)

    @property
    def _design_hash(self) -> str:
        return str(self.design.hash)

    def _source(self) -> dict[str, Any]:
        return {
            "tally": json.loads(self.tally.to_json()),
            **self.numbers.to_source(),
            "quantity": self.quantity,
        }


def _scale_bounds(bounds: IntervalMethod, scale: float) -> IntervalMethod:
    def scaled(level: float) -> Bounds:
        low, high = bounds(level)
        return low * scale, high * scale

    return scaled


def tested_intervals(
    bounds: Callable[..., Bounds], *, finite: bool
) -> dict[str, IntervalMethod]:
    """Return the intervals "wide" and "score", the default first: in a finite population the second.

    Args:
        bounds: a function of the level and of `likelihood`, whether the test of the likelihood may reject, too.
        finite: whether the population is finite.
    """
    methods: dict[str, IntervalMethod] = {
        "wide": partial(bounds, likelihood=True),
        "score": partial(bounds, likelihood=False),
    }
    return dict(reversed(methods.items())) if finite else methods


@dataclass(frozen=True)
class EdgeRates:
    """How often a symbol that says "has it" is sent about an item: by those who have it, and by those who do not.

    Why: where "+" and "−" say the same about having an item, their number is binomial among those who were asked.
    """

    none: float
    slope: float
    trials: Vector
    hits: Vector

    @classmethod
    def of(cls, numbers: KeyValueNumbers) -> EdgeRates | None:
        """Return the rates; None where one count does not tell the frequency, or the population is finite."""
        scheme = numbers.tally.design.scheme
        score = scores(scheme.symbol).degree
        if score is None or len(set(score[1:])) > 1 or numbers.linear.f != 1:
            return None
        factor = 1 if scheme.one_each else scheme.multiplier
        none, slope = factor * score[NONE], factor * (score[1] - score[NONE])
        counts = numbers.tally.counts.astype(np.float64)
        trials = counts.sum(axis=1)
        return cls(float(none), float(slope), trials, trials - counts[:, NONE])

    @property
    def few(self) -> bool:
        """Whether so few symbols of some sort are expected about an item that only their number can be relied on."""
        least, most = -self.none / self.slope, (1 - self.none) / self.slope
        rarest = min(least, 1 - least, most, 1 - most)
        return bool(self.trials.min() * rarest < LEAST_EXPECTED)

    def together(self) -> EdgeRates:
        """Return the rates of all items together, of the mean frequency.

        Why: what is sent about them is a sum of independent ones with different rates, or of such of which no two come
        together; a binomial one of the same mean has larger tails [Hoe56].
        """
        return replace(
            self,
            trials=self.trials.sum(keepdims=True),
            hits=self.hits.sum(keepdims=True),
        )

    def bounds(self, level: float) -> Bounds:
        """Return the Clopper–Pearson intervals of the rates, as frequencies."""
        low, high = clopper_pearson(self.hits, self.trials, level)
        return self.none + self.slope * low, self.none + self.slope * high


@dataclass(frozen=True, slots=True)
class ItemRow(Row):
    """One item; None where the design does not tell, or where nothing is known.

    Attributes:
        frequency: the share of respondents who have it.
        frequency_low: the lower end of the interval of that share.
        frequency_high: its upper end.
        mean: the mean weight of those who have it.
        mean_low: the lower end of its interval.
        mean_high: its upper end.
        degree: how many respondents have it.
        weight: the sum of weights.
        weight_error: its standard error.
    """

    COLUMNS: ClassVar[Columns] = (
        ("frequency",),
        ("frequency_low", "frequency_high"),
        ("mean",),
        ("mean_low", "mean_high"),
        ("degree",),
        ("weight",),
    )

    frequency: float | None
    frequency_low: float | None
    frequency_high: float | None
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    degree: float | None
    weight: float | None
    weight_error: float | None


@dataclass(frozen=True, slots=True)
class WeightRow(ItemRow):
    """One item of a design that tells sums of weights alone."""

    COLUMNS: ClassVar[Columns] = (("weight",), ("weight_error",))


@dataclass(frozen=True, eq=False)
class KeyValueNumbers:
    """The numbers of items of which people have several, by the inverse of the channel of one item.

    Attributes:
        tally: the counts.
        linear: the estimates per respondent, on the scale from −1 to 1.
        population: how many people there are, "census" if all of them responded, None if respondents are independent.
        kept: the share of edges that padding counted, for a correction; None without one.
    """

    type: ClassVar[str] = "key-value"
    mean_by_error: ClassVar[str] = "delta"
    """The name of the interval of a mean that is value ± a multiple of the error."""

    tally: KeyValueTally
    linear: ItemLinear
    population: int | str | None = None
    kept: KeptShare | None = None

    @property
    def design(self) -> KeyValueDesign:
        """The design the responses were drawn with."""
        return self.tally.design

    @property
    def kept_value(self) -> float:
        """The share of edges that padding counted; 1 without a correction."""
        return 1.0 if self.kept is None else self.kept.value

    @property
    def _kept_noise(self) -> float:
        """The relative variance of that share."""
        return 0.0 if self.kept is None else self.kept.relative_variance

    def _put_back(self, bounds: Bounds, values: Vector, level: float) -> Bounds:
        """Return the bounds of values after the correction, from those before."""
        return (
            bounds if self.kept is None else self.kept.widen(bounds, values, level)
        )

    def degree_bounds(self, most: int | None, level: float) -> Interval:
        """Return bounds of the average degree of an item, if nobody has more than `most` items."""
        scheme, n = self.design.scheme, self.tally.respondents
        degree = self.edges().times(degree_factor(n, scheme.items, "items") * n)
        low, high = degree.interval(level=level)
        if self.kept is None and not scheme.one_each:
            size = min(most or scheme.items, scheme.items)
            high *= max(size / scheme.multiplier, 1.0)
        return Interval(*(min(max(end, 0.0), float(n)) for end in (low, high)))

    @property
    def frequency(self) -> Vector:
        """The share of respondents who have each item.

        Raises:
            NotEstimable: the design does not tell edges from none.
        """
        if self.linear.frequency is None:
            raise NotEstimable(
                f"{self.design.name} does not tell who has an item; expected a design such as lpp_club() or pckv_ue()."
            )
        return self.linear.frequency / self.kept_value

    @property
    def weight(self) -> Vector:
        """The sum of the weights of each item over the number of respondents."""
        middle, half = self.design.scale
        return (middle * self.frequency if middle else 0.0) + half * self.centred

    @property
    def centred(self) -> Vector:
        """The weight per respondent on the scale from −1 to 1."""
        if self.linear.weight is None:
            raise NotEstimable(
                f"{self.design.name} was built for frequencies alone and does not tell weights.",
                "Build it with an importance for the weight or the mean.",
            )
        return self.linear.weight / self.kept_value

    @property
    def mean(self) -> Vector:
        """The mean weight of those who have an item: a ratio, to be read together with `within_noise`."""
        middle, half = self.design.scale
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(
                middle + half * self.centred / self.frequency, np.float64
            )

    @property
    def within_noise(self) -> NDArray[np.bool_]:
        """Whether the degree of each item is within noise of 0, so that nothing is known about its mean."""
        errors = np.sqrt(self.variances[0])
        return np.asarray(~(self.frequency > NOISE * errors), np.bool_)

    @property
    def variances(self) -> tuple[Vector, Vector, Vector]:
        """The variances of frequency and centred weight, and their covariance, for each item."""
        scale, noise = self.kept_value**2, self._kept_noise
        var_f, var_w, cov = (part / scale for part in self.linear.variances)
        f, w = (part / self.kept_value for part in self.linear.values)
        return var_f + noise * f**2, var_w + noise * w**2, cov + noise * f * w

    def variance(self, what: str) -> Vector:
        """Return the variance of the frequency, weight or mean of each item; the mean's by the delta method."""
        (var_f, var_w, cov), (middle, half) = self.variances, self.design.scale
        if what == "frequency":
            return var_f
        if what == "weight":
            total = middle**2 * var_f + 2 * middle * half * cov + half**2 * var_w
            return np.maximum(total, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.centred / self.frequency
            centred = var_w - 2 * ratio * cov + ratio**2 * var_f
            return np.asarray(half**2 * centred / self.frequency**2, np.float64)

    def joint(self, items: Sequence[int]) -> Matrix:
        """Return the covariance of the frequencies and then the weights of some items."""
        (middle, half), eye = self.design.scale, np.eye(len(items))
        turn = np.block([[eye, 0 * eye], [middle * eye, half * eye]])
        values = np.concatenate([part[list(items)] for part in self.linear.values])
        matrix = self.linear.matrix(list(items)) / self.kept_value**2
        matrix = matrix + self._kept_noise / self.kept_value**2 * np.outer(
            values, values
        )
        return np.asarray(turn @ matrix @ turn.T, np.float64)

    def covariance_of_means(self) -> Matrix:
        """Return the covariance of the mean weights, by the delta method."""
        f = self.frequency
        with np.errstate(divide="ignore", invalid="ignore"):
            turn = np.hstack([np.diag(-self.mean / f), np.diag(1 / f)])
            return np.asarray(turn @ self.joint(range(len(f))) @ turn.T, np.float64)

    def intervals(self, what: str) -> dict[str, IntervalMethod]:
        """Return the interval methods of a frequency, weight or mean, the default first.

        That is "exact" where some symbols are hardly ever sent about an item, else "score"; for weights and means
        "wide", and "score" in a finite population.
        """
        if what != "frequency":
            bounds = partial(self._test, what)
            return tested_intervals(bounds, finite=self.linear.f != 1)
        rates = EdgeRates.of(self)
        methods: dict[str, IntervalMethod] = {
            "score": self._score,
            "exact": partial(self._exact, rates),
        }
        if rates is not None and rates.few:
            methods = dict(reversed(methods.items()))

        def corrected(method: IntervalMethod, level: float) -> Bounds:
            return self._put_back(method(level), self.linear.values[0], level)

        return {name: partial(corrected, methods[name]) for name in methods}

    def _score(self, level: float) -> Bounds:
        """Return all frequencies whose own variance explains the distance from the estimate."""
        linear = self.linear
        assert linear.frequency is not None
        f, w = linear.plausible
        others, plus, minus = linear.second[0]
        tilt = np.divide(w, f, out=np.zeros_like(f), where=f > 0)
        own = plus * (1 + tilt) / 2 + minus * (1 - tilt) / 2
        sampled: Any = linear.f
        if linear.scaling == CONDITIONAL:
            sampled = 1 - (linear.asked / self.tally.respondents) * (1 - linear.f)
        asked: Any = linear.asked
        return wilson(linear.frequency, own, others, asked, sampled, level)

    @staticmethod
    def _exact(rates: EdgeRates | None, level: float) -> Bounds:
        if rates is None:
            raise InvalidRequest(
                "the exact interval needs independent respondents and one count that tells who has an item.",
                "Use the score interval.",
            )
        return rates.bounds(level)

    def _test(self, what: str, level: float, *, likelihood: bool) -> Bounds:
        """Return the bounds of the weight per respondent, or of the mean of those who have an item."""
        triples, has, weight = self.triples()
        if what == "weight":
            bounds = triples.mean(weight, level, likelihood=likelihood)
            return self._put_back(bounds, self.weight * self.kept_value, level)
        assert has is not None  # `value` has refused what is not told
        return triples.ratio(weight, has, level, likelihood=likelihood)

    def triples(self) -> tuple[Triples, Scored | None, Scored]:
        """Return what was sent about each item as tallies of none, + and −, whether one has it, and with which weight.

        With one item each, they are of those who were asked about it, whichever the scaling is; with padding, of
        everybody, and an edge whose place was not drawn sends what none sends.
        """
        scheme, linear = self.design.scheme, self.linear
        counts = self.tally.counts.astype(np.float64)
        symbol_scores, sent = scores(scheme.symbol), scheme.symbol.floats()
        slots = 1 if scheme.one_each else scheme.multiplier
        sent = sent / slots + (1 - 1 / slots) * sent[:, [NONE]]
        middle, half = self.design.scale
        degree, sign = symbol_scores.degree, symbol_scores.weight
        has, weight = None, np.zeros(len(sent))
        if sign is not None:
            weight = half * _floats(sign, slots)
        if degree is not None:
            has = Scored(np.array([0.0, 1.0, 1.0]), _floats(degree, slots))
            weight = weight + middle * has.responses
        values = np.array([0.0, float(self.design.high), float(self.design.low)])
        known = (1 - linear.f) * counts.sum(axis=1) / self.tally.respondents
        among = None if linear.f == 1 else _least_variance
        return Triples(sent, counts, known, among), has, Scored(values, weight)

    def edges(self) -> Quantity:
        """Return the number of edges of a respondent."""
        _ = self.frequency  # refuses where edges are not told
        f, _w, var_f, *_ = self.linear.totals()
        return self._corrected_total(f, var_f, self._test_edges)

    def _corrected_total(
        self, total: float, variance: float, test: Callable[[float], Interval]
    ) -> Quantity:
        """Return a sum over all items with what padding cut off put back."""

        def tested(level: float) -> Interval:
            low, high = vector(test(level))
            bounds = vector([low]), vector([high])
            return _interval(self._put_back(bounds, vector([total]), level))

        error = (max(variance, 0.0) + self._kept_noise * total**2) ** 0.5
        scale = self.kept_value
        return Quantity(total / scale, error / scale, tested)

    def _test_edges(self, level: float) -> Interval:
        """Return the ends of the number of edges of a respondent: exact where some symbols are hardly ever sent."""
        total, rates = self.linear.values[0].sum(keepdims=True), EdgeRates.of(self)
        if rates is None or not rates.together().few:
            return _interval(
                score_interval(total, self.linear.total_curve()[:, None], level)
            )
        low, high = rates.together().bounds(level)
        size = len(self.design.items)
        return _interval(
            (np.minimum(size * low, total), np.maximum(size * high, total))
        )

    def edge_weight(self) -> Quantity:
        """Return the average weight of an edge."""
        _ = self.centred, self.frequency  # refuses what is not told
        f, w, var_f, var_w, cov = self.linear.totals()
        middle, half = self.design.scale
        if not f:
            return Quantity(math.nan, math.inf, self._test_edge_weight)
        ratio = w / f
        variance = max((var_w - 2 * ratio * cov + ratio**2 * var_f) / f**2, 0.0)
        return Quantity(
            middle + half * ratio, half * variance**0.5, self._test_edge_weight
        )

    def _test_edge_weight(self, level: float) -> Interval:
        triples, has, weight = self.triples()
        assert has is not None  # `frequency` has refused what is not told
        return _interval(triples.together().ratio(weight, has, level))

    def total_weight(self) -> Quantity:
        """Return the sum of the weights of a respondent."""
        _ = self.centred  # refuses where weights are not told
        f, w, var_f, var_w, cov = self.linear.totals()
        middle, half = self.design.scale
        variance = middle**2 * var_f + 2 * middle * half * cov + half**2 * var_w
        total = middle * f + half * w
        return self._corrected_total(total, variance, self._test_total_weight)

    def _test_total_weight(self, level: float) -> Interval:
        """Return the ends of the weights of all items of a respondent."""
        triples, _, weight = self.triples()
        low, high = _interval(triples.together().mean(weight, level))
        return Interval(low * len(self.design.items), high * len(self.design.items))

    @property
    def _tells_means(self) -> bool:
        return self.linear.frequency is not None and self.linear.weight is not None

    def _edges_within_noise(self) -> bool:
        """Tell whether the number of all edges is within noise of 0: nothing is known about their average weight."""
        total, _w, variance, *_ = self.linear.totals()
        return not total > NOISE * variance**0.5

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What calls for care: items and edges within noise, items that nobody was asked about, padding."""
        cautions = []
        if self._tells_means and self.within_noise.any():
            count, items = int(self.within_noise.sum()), len(self.design.items)
            text = (
                f"the degree of {count:,} of {items:,} items is within noise of 0: nothing is known about the mean "
                "value of those who have them."
            )
            cautions.append(Caution("within-noise", text))
        if self._tells_means and self._edges_within_noise():
            text = "the number of all edges is within noise of 0: nothing is known about their average weight."
            cautions.append(Caution("edges-within-noise", text))
        unseen = int((self.tally.asked == 0).sum())
        if unseen:
            text = f"nobody was asked about {unseen:,} items: their estimates are those of the design alone."
            cautions.append(Caution("not-asked", text))
        return (*cautions, *padding_cautions(self))

    def describe(self) -> tuple[str, str, tuple[str, ...]]:
        """Return the title, the method and the notes of a summary."""
        design, tally, scaling = self.design, self.tally, self.linear.scaling
        epsilon = formats.epsilon(design.epsilon)
        title = (
            f"{design.name}, ε = {epsilon}, {tally.respondents:,} respondents, "
            f"{len(design.items):,} items, {scaling} scaling"
        )
        notes = [
            f"ε = {epsilon} protects all items and weights of a respondent together; two "
            f"devices one after the other would be charged {formats.epsilon(design.sequential)}, "
            f"{formats.number(design.saving, 3)} more."
        ]
        if self.kept is not None:
            notes.append(
                f"corrected for padding: {formats.percent(self.kept.value)} of all edges are counted. Of a single item "
                "this assumes that having it does not depend on how many others somebody has."
            )
        if tally.missing:
            notes.append(
                f"{tally.missing:,} sent no response and take no part in the estimate."
            )
        return title, scaling, tuple(notes)

    def graph(self, estimate: ItemEstimate) -> dict[str, Quantity]:
        """Return numbers of the whole graph by name, as far as they are told."""
        if self.linear.frequency is None:
            if self.linear.weight is None:
                return {}
            return {
                "average sum of weights of an item": estimate.average_weight("items")
            }
        totals = {
            "average degree of an item": estimate.average_degree("items"),
            "average degree of all vertices": estimate.average_degree("all"),
            "density": estimate.density(),
        }
        if self._tells_means and not self._edges_within_noise():
            totals["average weight of an edge"] = estimate.average_weight("edges")
        return totals

    @property
    def row_type(self) -> RowType:
        """The rows of a summary."""
        return WeightRow if self.linear.frequency is None else ItemRow

    def columns(
        self, estimate: ItemEstimate, level: float
    ) -> dict[str, Sequence[float | None]]:
        """Return the further columns of a summary by field of the row."""
        unknown = [None] * len(self.design.items)
        columns: dict[str, Sequence[float | None]] = {
            part.name: unknown for part in fields(ItemRow)[len(fields(Row)) :]
        }
        if estimate.tells("degree"):
            columns["degree"] = estimate.degree.tolist()
        if estimate.tells("weight"):
            columns["weight"] = estimate.weight.tolist()
            columns["weight_error"] = estimate.errors("weight").tolist()
        for what in filter(estimate.tells, ("frequency", "mean")):
            low, high = estimate.about(what)._bounds(
                None, bonferroni_level(1, level)
            )
            hidden = what == "mean" and self.within_noise
            for name, values in (
                ("", estimate.value(what)),
                ("_low", low),
                ("_high", high),
            ):
                shown = np.where(hidden, None, values)  # type: ignore[call-overload]  # an array of objects
                columns[what + name] = shown.tolist()
        return columns

    def to_source(self) -> dict[str, Any]:
        """Return what the numbers are made from, for JSON."""
        return {
            "scaling": self.linear.scaling,
            "population": self.population,
            "kept": None if self.kept is None else asdict(self.kept),
        }


@read_type(KeyValueNumbers.type, ItemEstimate)
def _read(source: Mapping[str, Any], design: KeyValueDesign) -> ItemEstimate:
    tally = KeyValueTally.from_json(
        json.dumps(documents.field(source, "tally", dict)), design
    )
    result = estimate(
        tally,
        scaling=documents.field(source, "scaling", str),
        population=source.get("population"),
    )
    numbers = replace(result._key_values, kept=_read_kept(source))
    return ItemEstimate(numbers).about(documents.field(source, "quantity", str))


def _read_kept(source: Mapping[str, Any]) -> KeptShare | None:
    if source.get("kept") is None:
        return None
    body = documents.field(source, "kept", dict)
    names = [part.name for part in fields(KeptShare)]
    return KeptShare(
        *(float(documents.field(body, name, float, int)) for name in names)
    )


def _floats(score: tuple[Fraction, ...], factor: int) -> Vector:
    return factor * np.array(score, np.float64)


def _least_variance(values: Matrix, shares: Matrix) -> Vector:
    """Return how much people differ at least: all who have an item may have the same weight."""
    have = shares[:, 1:].sum(axis=1)
    sums = (shares * values)[:, 1:].sum(axis=1)
    mean = np.divide(sums, have, out=np.zeros_like(have), where=have > 0)
    return np.asarray(have * mean**2 + (1 - have) * values[:, 0] ** 2, np.float64)


def estimate(
    tally: KeyValueTally,
    *,
    scaling: str | None = None,
    population: int | str | None = None,
) -> ItemEstimate:
    """Estimate how many people have each item, with how much weight, and the mean value of those who have it.

    Implements: the estimates of F15, from the inverse of the channel of one item. For designs that look at one item of
    each respondent there are two: "fixed" multiplies what was sent about an item by the number of items; "conditional"
    divides it by how many were asked about it. The one with the smaller variance is the default.

    Args:
        tally: the counts.
        scaling: "fixed" or "conditional"; by default the better one.
        population: how many people there are altogether, "census" if all of them responded; by default respondents are
            independent of each other and few among many.

    Raises:
        InvalidRequest: a scaling or a population that does not fit; or "conditional" where nobody was asked about some
            item.
        NotEstimable: there are no responses.

    Example:
        >>> from deniable.types.key_value.design import lpp_ddagger
        >>> from deniable.types.key_value.count import tally
        >>> counted = tally(lpp_ddagger(["tea", "coffee"], 1), ["+ tea", "0 coffee", "- tea", "0 tea"])
        >>> estimate(counted, scaling="fixed").degree.round(2).tolist()
        [6.33, -2.33]
    """
    if tally.respondents == 0:
        raise NotEstimable("there are no responses; expected at least one.")
    fraction = _fraction(tally.respondents, population)
    linear = ItemLinear(tally, read_scaling(tally, scaling), fraction)
    quantity = "weight" if linear.frequency is None else "frequency"
    return ItemEstimate(KeyValueNumbers(tally, linear, population), quantity)


def _fraction(n: int, population: int | str | None) -> float:
    if population == "census":
        return 0.0
    if isinstance(population, str):
        raise InvalidRequest(
            f'the population is {quoted(population)}; expected a whole number, "census" or None.'
        )
    return sampled_fraction(n, population)
