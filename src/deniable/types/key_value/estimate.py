"""Step 4: counts → degrees, weights and mean values of items, with all that is needed to say how sure we are."""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.backing import LEAST_EXPECTED, clopper_pearson
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.intervals import (
    Ends,
    Interval,
    one_of,
    quantile,
    scored,
    wilson,
)
from deniable.estimates.results import Caution, Columns, Result, Row, Summary, around
from deniable.estimates.shares import sampled_fraction
from deniable.estimates.triples import Scored, Triples
from deniable.rendering import formats
from deniable.types.key_value.count import ItemTally, KeyValueTally
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.items import CROWDED, crowding
from deniable.types.key_value.linear import CONDITIONAL, NOISE, ItemLinear, read_scaling
from deniable.types.key_value.schemes import NONE
from deniable.types.key_value.variances import check_told, scores

if TYPE_CHECKING:
    from deniable.types.key_value.items import DegreeDistribution, Ranked, Shrunk

__all__ = ["KeyValueEstimate", "Quantity", "estimate"]


OVER = ("items", "all")
Counted = TypeVar("Counted", bound=ItemTally[Any])


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

    def interval(self, *, level: float = 0.95, method: str | None = None) -> Interval:
        """Return all numbers that are not rejected (the default), or value ± a multiple of the error.

        Raises:
            InvalidRequest: a method besides "normal" and "chebyshev", or a level outside (0, 1).
        """
        if method is None and self.tested is not None:
            return self.tested(one_of(1, level))
        return around({"": self.value}, {"": self.error}, level=level, method=method)[
            ""
        ]

    def times(self, factor: float) -> Quantity:
        """Return the quantity in another unit."""
        tested = self.tested
        if tested is None:
            return Quantity(self.value * factor, self.error * factor)
        return Quantity(
            self.value * factor,
            self.error * factor,
            lambda confidence: Interval(*(end * factor for end in tested(confidence))),
        )


def per_vertex(people: int, items: int, over: str) -> float:
    """Return what a sum over edges is multiplied by for an average over vertices.

    Implements: the average degree of [MW21], eq. (6), as an average: over the items, Σ k/m, or over all vertices, where
    every edge has two ends, 2·Σ k/(n + m). What is printed there is a density.

    Raises:
        InvalidRequest: over anything else.

    Example:
        >>> 4 * per_vertex(2, 2, "all")
        2.0
    """
    if over not in OVER:
        raise InvalidRequest(
            f"the average is over {quoted(over)}; expected 'items' or 'all' vertices."
        )
    return 1 / items if over == "items" else 2 / (people + items)


METHODS = {
    "degree": ("score", "normal", "exact", "chebyshev"),
    "frequency": ("score", "normal", "exact", "chebyshev"),
    "weight": ("wide", "score", "normal", "chebyshev"),
    "mean": ("wide", "score", "delta", "chebyshev"),
}


def edges_within_noise(estimate: KeyValueEstimate) -> bool:
    """Tell whether the number of all edges is within noise of 0: then nothing is known about their average weight."""
    total, _w, variance, *_ = estimate.linear.totals()
    return not total > NOISE * variance**0.5


def _score(estimate: KeyValueEstimate, confidence: float) -> Ends:
    """Return all frequencies whose own variance explains the distance from the estimate."""
    linear = estimate.linear
    assert linear.frequency is not None
    f, w = linear.plausible
    others, plus, minus = linear.second[0]
    tilt = np.divide(w, f, out=np.zeros_like(f), where=f > 0)
    own = plus * (1 + tilt) / 2 + minus * (1 - tilt) / 2
    n = estimate.respondents
    share: Any = (
        1 - (linear.asked / n) * (1 - linear.f)
        if linear.scaling == CONDITIONAL
        else linear.f
    )
    asked: Any = linear.asked
    return wilson(linear.frequency, own, others, asked, share, confidence)


@dataclass(frozen=True)
class EdgeRates:
    """How often a symbol that says "has it" is sent about an item: by those who have it, and by those who do not.

    Why: where "+" and "−" say the same about having an item, their number is binomial among those who were asked.
    """

    none: float
    slope: float
    trials: Vector
    hits: Vector
    most: float

    @classmethod
    def of(cls, estimate: KeyValueEstimate) -> EdgeRates | None:
        """Return the rates; None where one count does not tell the frequency, or the population is finite."""
        scheme, tally = estimate.design.scheme, estimate.tally
        score = scores(scheme.symbol).degree
        if score is None or len(set(score[1:])) > 1 or estimate.linear.f != 1:
            return None
        factor = 1 if scheme.one_each else scheme.multiplier
        none, slope = (
            float(factor * score[NONE]),
            float(factor * (score[1] - score[NONE])),
        )
        counts = tally.counts.astype(np.float64)
        return cls(
            none,
            slope,
            counts.sum(axis=1),
            counts.sum(axis=1) - counts[:, NONE],
            (1 - none) / slope,
        )

    @property
    def few(self) -> bool:
        """Whether so few symbols of some sort are expected about an item that only their number can be relied on."""
        least = -self.none / self.slope
        rarest = min(least, 1 - least, self.most, 1 - self.most)
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

    def ends(self, confidence: float) -> Ends:
        """Return the Clopper–Pearson intervals of the rates, as frequencies."""
        low, high = clopper_pearson(self.hits, self.trials, confidence)
        return self.none + self.slope * low, self.none + self.slope * high


def _triples(estimate: KeyValueEstimate) -> tuple[Triples, Scored | None, Scored]:
    """Return what was sent about each item as tallies of none, + and −, whether one has it, and with which weight.

    With one item each, they are of those who were asked about it, whichever the scaling is; with padding, of everybody,
    and an edge whose place was not drawn sends what none sends.
    """
    design, linear, counts = (
        estimate.design,
        estimate.linear,
        estimate.tally.counts.astype(np.float64),
    )
    told, sent, places = (
        scores(design.scheme.symbol),
        design.scheme.symbol.floats(),
        design.scheme.multiplier,
    )
    if design.scheme.one_each:
        places = 1
    sent = sent / places + (1 - 1 / places) * sent[:, [NONE]]
    middle, half = estimate._scale
    has = (
        None
        if told.degree is None
        else Scored(np.array([0.0, 1.0, 1.0]), _floats(told.degree, places))
    )
    values = np.array([0.0, float(design.high), float(design.low)])
    weight = half * (
        np.zeros(len(sent)) if told.weight is None else _floats(told.weight, places)
    )
    weight += middle * has.responses if has is not None else 0.0
    known = (1 - linear.f) * counts.sum(axis=1) / estimate.respondents
    return (
        Triples(sent, counts, known, None if linear.f == 1 else _alike),
        has,
        Scored(values, weight),
    )


def _only(ends: Ends) -> Interval:
    (low,), (high,) = ends
    return Interval(float(low), float(high))


def _floats(score: tuple[Fraction, ...], factor: int) -> Vector:
    return factor * np.array([float(each) for each in score])


def _alike(values: Matrix, shares: Matrix) -> Vector:
    """Return how much people differ at least: all who have an item may have the same weight."""
    have = shares[:, 1:].sum(axis=1)
    mean = np.divide(
        (shares * values)[:, 1:].sum(axis=1),
        have,
        out=np.zeros_like(have),
        where=have > 0,
    )
    return np.asarray(have * mean**2 + (1 - have) * values[:, 0] ** 2, np.float64)


class ItemEstimate(Result, Generic[Counted]):
    """Numbers about each item, and about the bipartite graph of respondents and items as a whole.

    Attributes:
        tally: the counts it was made from.
        quantity: what `params` and all that belongs to them tell of each item; another one by `about`.
    """

    QUANTITIES: ClassVar[tuple[str, ...]]
    tally: Counted
    quantity: str

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return self.tally.respondents

    @property
    def df(self) -> float:
        """The degrees of freedom of the variances: of people who were drawn one by one."""
        return max(self.respondents - 1, 1)

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

    @property
    @abstractmethod
    def within_noise(self) -> NDArray[np.bool_]:
        """Whether so little is known about the edges of each item that nothing is known about their mean weight."""

    @abstractmethod
    def variance(self, what: str | None = None) -> Vector:
        """Return the variance of the quantity that the estimate is about, or of another one, of each item.

        Raises:
            InvalidRequest: something that is not estimated.
            NotEstimable: the design does not tell it.
        """

    def errors(self, what: str | None = None) -> Vector:
        """Return the standard error of the quantity that the estimate is about, or of another one, of each item."""
        return np.sqrt(np.maximum(self.variance(what), 0.0))

    @abstractmethod
    def ends(self, what: str, confidence: float, method: str | None = None) -> Ends:
        """Return the two ends of the interval of each item.

        Raises:
            InvalidRequest: something that is not estimated, or a method that does not exist or does not fit.
        """

    def about(self, quantity: str) -> Self:
        """Return the same estimate with another quantity of each item as its numbers.

        Raises:
            InvalidRequest: something that is not estimated.
            NotEstimable: the design does not tell it.
        """
        self.value(quantity)
        return replace(self, quantity=quantity)  # type: ignore[type-var]  # each is a dataclass

    @property
    def params(self) -> dict[str, float]:
        return self._by_item(self.value(self.quantity))

    @property
    def bse(self) -> dict[str, float]:
        return self._by_item(self.errors(self.quantity))

    def _by_item(self, values: Vector) -> dict[str, float]:
        return dict(zip(self.tally.design.items, values.tolist(), strict=True))

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Interval]:
        items = self.tally.design.items
        low, high = self.ends(
            self.quantity, one_of(len(items) if simultaneous else 1, level), method
        )
        return dict(zip(items, map(Interval, low.tolist(), high.tolist()), strict=True))

    def _own_numbers(
        self, level: float, method: str | None, *, simultaneous: bool
    ) -> list[tuple[str, float, float, float, float]]:
        """Return for each item its name, the number in question, its error and the two ends of its interval."""
        intervals = self.conf_int(level=level, method=method, simultaneous=simultaneous)
        rows = zip(
            intervals.items(), self.params.values(), self.bse.values(), strict=True
        )
        return [
            (name, value, error, low, high)
            for (name, (low, high)), value, error in rows
        ]

    @abstractmethod
    def edges(self) -> Quantity:
        """Return the number of all edges."""

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
        return self.edges().times(self._per_vertex(over))

    def density(self) -> Quantity:
        """Return the share of all possible edges that are there."""
        return self.edges().times(1 / (self.respondents * len(self.tally.design.items)))

    @abstractmethod
    def average_weight(self, over: str = "edges") -> Quantity:
        """Return the average weight of an edge; or the average sum of weights of an item, or of "all" vertices."""

    def _per_vertex(self, over: str) -> float:
        return per_vertex(self.respondents, len(self.tally.design.items), over)

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
        from deniable.types.key_value.items import top

        return top(self, count, by or self.quantity, level)

    @property
    def _design_hash(self) -> str:
        return str(self.tally.design.hash)


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
        weight: the sum of weights.
        weight_error: its standard error.
    """

    COLUMNS: ClassVar[Columns] = (
        ("frequency",),
        ("frequency_low", "frequency_high"),
        ("mean",),
        ("mean_low", "mean_high"),
    )

    frequency: float | None
    frequency_low: float | None
    frequency_high: float | None
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    weight: float | None
    weight_error: float | None


@dataclass(frozen=True, slots=True)
class WeightRow(ItemRow):
    """One item of a design that tells sums of weights alone."""

    COLUMNS: ClassVar[Columns] = (("weight",), ("weight_error",))


@dataclass(frozen=True, slots=True)
class KeyValueSummary(Summary[ItemRow]):
    """A table of the most frequent items.

    Attributes:
        graph: numbers of the whole graph.
    """

    graph: dict[str, Row] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class KeyValueEstimate(ItemEstimate[KeyValueTally]):
    """What is known about each item: how many have it, with how much weight, and the mean value of those who have it.

    All values are unbiased (the mean is a ratio of two that are, and consistent), so they may leave their range.
    Weights and means are on the scale of the design, from `low` to `high`.

    Attributes:
        tally: the counts it was made from.
        linear: the estimates per respondent, on the scale from −1 to 1.
        population: how many people there are, "census" if all of them responded, None if respondents are independent.
        kept: the share of edges that padding let through; 1 unless a correction was made.
        quantity: what `params` and all that belongs to them tell of each item; another one by `about`.
        warnings: what calls for care.
    """

    type: ClassVar = "key-value"
    QUANTITIES: ClassVar[tuple[str, ...]] = ("degree", "frequency", "weight", "mean")

    tally: KeyValueTally
    linear: ItemLinear = field(repr=False)
    population: int | str | None = None
    kept: float = 1.0
    quantity: str = "frequency"
    warnings: tuple[Caution, ...] = ()

    @property
    def design(self) -> KeyValueDesign:
        """The design the responses were drawn with."""
        return self.tally.design

    @property
    def scaling(self) -> str:
        """Whether counts are divided by how many were asked ("conditional"), or multiplied by what is expected."""
        return self.linear.scaling

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
        return self.linear.frequency / self.kept

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
        return self._weight * self.respondents

    @property
    def _weight(self) -> Vector:
        middle, half = self._scale
        return (middle * self.frequency if middle else 0.0) + half * self._centred

    @property
    def _centred(self) -> Vector:
        if self.linear.weight is None:
            raise NotEstimable(
                f"{self.design.name} was built for frequencies alone and does not tell weights.",
                "Build it with an importance for the weight or the mean.",
            )
        return self.linear.weight / self.kept

    @property
    def mean(self) -> Vector:
        """The mean weight of those who have an item: a ratio, to be read together with `within_noise`."""
        middle, half = self._scale
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(
                middle + half * self._centred / self.frequency, np.float64
            )

    @property
    def within_noise(self) -> NDArray[np.bool_]:
        """Whether the degree of each item is within noise of 0, so that nothing is known about its mean."""
        variance = self.linear.variances[0] / self.kept**2
        return np.asarray(~(self.frequency > NOISE * np.sqrt(variance)), np.bool_)

    @property
    def _scale(self) -> tuple[float, float]:
        return float(self.design.low + self.design.high) / 2, float(
            self.design.high - self.design.low
        ) / 2

    def variance(self, what: str | None = None) -> Vector:
        """Return the variance of the degree, frequency, weight or mean of each item; the mean's by the delta method."""
        what = what or self.quantity
        self.value(what)  # refuses what is not told
        var_f, var_w, cov = (each / self.kept**2 for each in self.linear.variances)
        if what in ("degree", "frequency"):
            return var_f * (self.respondents**2 if what == "degree" else 1)
        middle, half = self._scale
        if what == "weight":
            total = middle**2 * var_f + 2 * middle * half * cov + half**2 * var_w
            return np.maximum(total, 0.0) * self.respondents**2
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self._centred / self.frequency
            return np.asarray(
                half**2
                * (var_w - 2 * ratio * cov + ratio**2 * var_f)
                / self.frequency**2,
                np.float64,
            )

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Interval]:
        """Return an interval for each item by name.

        Args:
            level: how often such an interval holds the truth.
            method: for degree and frequency "score" (the default), "exact" (the default where some symbols are hardly
                ever sent about an item) or "normal"; for the weight "wide", "score" or "normal", for the mean "wide",
                "score" or "delta". "wide" is the default: all values that the score or the likelihood does not reject,
                which is the whole scale for the mean of an item that perhaps nobody has. In a finite population it is
                "score".
            simultaneous: let all intervals together hold with this level (Bonferroni).

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """
        return super().conf_int(level=level, method=method, simultaneous=simultaneous)

    def ends(self, what: str, confidence: float, method: str | None = None) -> Ends:
        value = self.value(what)
        if method is not None and method not in METHODS[what]:
            raise InvalidRequest(
                f"the method is {quoted(method)}; expected {' or '.join(METHODS[what])} for the {what}."
            )
        if method == "chebyshev":
            width = (1 - confidence) ** -0.5 * self.errors(what)
            return value - width, value + width
        if what in ("degree", "frequency") and method != "normal":
            factor = (self.respondents if what == "degree" else 1) / self.kept
            low, high = self._counted(confidence, method or self.default_interval(what))
            return low * factor, high * factor
        if method in ("normal", "delta"):
            width = quantile(confidence, self.df) * self.errors(what)
            return value - width, value + width
        low, high = self._tested(
            what,
            confidence,
            likelihood=(method or self.default_interval(what)) == "wide",
        )
        factor = 1 if what == "mean" else self.respondents / self.kept
        return low * factor, high * factor

    def _tested(self, what: str, confidence: float, *, likelihood: bool) -> Ends:
        """Return the ends of the weight per respondent, or of the mean of those who have an item."""
        triples, has, weight = _triples(self)
        if what == "weight":
            return triples.mean(weight, confidence, likelihood=likelihood)
        assert has is not None  # `value` has refused what is not told
        return triples.ratio(weight, has, confidence, likelihood=likelihood)

    def default_interval(self, what: str | None = None) -> str:
        """Return the interval method that is used when none is named."""
        name = what or self.quantity
        if name in ("degree", "frequency"):
            rates = EdgeRates.of(self)
            return "exact" if rates is not None and rates.few else "score"
        return "wide" if self.linear.f == 1 else "score"

    def _counted(self, confidence: float, method: str) -> Ends:
        if method == "score":
            return _score(self, confidence)
        rates = EdgeRates.of(self)
        if rates is None:
            raise InvalidRequest(
                "the exact interval needs independent respondents and one count that tells who has an item.",
                "Use the score interval.",
            )
        return rates.ends(confidence)

    def cov_params(self) -> Matrix:
        """Return the covariance of the numbers of all items, for independent respondents.

        In a census the covariance is smaller in every direction. That of means is by the delta method.

        Raises:
            NotEstimable: the design does not tell edges from none, or not the weights.
        """
        self.value(self.quantity)  # refuses what the design does not tell
        size, both = (
            len(self.design.items),
            self._covariance(list(range(len(self.design.items)))),
        )
        if self.quantity in ("degree", "frequency"):
            return both[:size, :size] / (
                self.respondents**2 if self.quantity == "frequency" else 1
            )
        if self.quantity == "weight":
            return both[size:, size:]
        with np.errstate(divide="ignore", invalid="ignore"):
            turn = np.hstack(
                [np.diag(-self.mean / self.degree), np.diag(1 / self.degree)]
            )
            return np.asarray(turn @ both @ turn.T, np.float64)

    def joint_covariance(self, items: Sequence[str]) -> Matrix:
        """Return the covariance of the degrees and then the weights of some items, for independent respondents.

        Raises:
            InvalidAnswer: an item that the design does not know.
            NotEstimable: the design does not tell edges from none, or not the weights.
        """
        check_told(self.design)
        return self._covariance([self.design.item_number(item) for item in items])

    def _covariance(self, numbers: list[int]) -> Matrix:
        matrix = self.linear.matrix(numbers) * (self.respondents / self.kept) ** 2
        middle, half = self._scale
        eye = np.eye(len(numbers))
        turn = np.block([[eye, 0 * eye], [middle * eye, half * eye]])
        return np.asarray(turn @ matrix @ turn.T, np.float64)

    def average_weight(self, over: str = "edges") -> Quantity:
        """Return the average weight of an edge; or the average sum of weights of an item, or of "all" vertices.

        Of an edge it is a ratio, and says nothing where the number of edges is within noise of 0.
        """
        _ = self._centred  # refuses where weights are not told
        f, w, var_f, var_w, cov = self.linear.totals()
        middle, half = self._scale
        if over == "edges":
            _ = self.frequency  # refuses where edges are not told
            ratio = w / f if f else math.nan
            variance = (
                (var_w - 2 * ratio * cov + ratio**2 * var_f) / f**2 if f else math.inf
            )
            return Quantity(
                middle + half * ratio,
                half * max(variance, 0.0) ** 0.5,
                self._edge_weight,
            )
        variance = middle**2 * var_f + 2 * middle * half * cov + half**2 * var_w
        total = Quantity(
            middle * f + half * w, max(variance, 0.0) ** 0.5, self._total_weight
        )
        return total.times(self.respondents / self.kept * self._per_vertex(over))

    def _edge_weight(self, confidence: float) -> Interval:
        triples, has, weight = _triples(self)
        assert has is not None  # `frequency` has refused what is not told
        return _only(triples.together().ratio(weight, has, confidence))

    def _total_weight(self, confidence: float) -> Interval:
        """Return the ends of the weights of all items of a respondent."""
        triples, _, weight = _triples(self)
        low, high = _only(triples.together().mean(weight, confidence))
        return Interval(low * len(self.design.items), high * len(self.design.items))

    def edges(self) -> Quantity:
        _ = self.frequency  # refuses where edges are not told
        f, _w, var_f, *_ = self.linear.totals()
        return Quantity(f, var_f**0.5, self._all_edges).times(
            self.respondents / self.kept
        )

    def _all_edges(self, confidence: float) -> Interval:
        """Return the ends of the number of edges of a respondent: exact where some symbols are hardly ever sent."""
        total, rates = self.linear.values[0].sum(keepdims=True), EdgeRates.of(self)
        if rates is not None and rates.together().few:
            low, high = (
                len(self.design.items) * each
                for each in rates.together().ends(confidence)
            )
            return _only((np.minimum(low, total), np.maximum(high, total)))
        return _only(scored(total, self.linear.total_curve()[:, None], confidence))

    def degree_distribution(self, points: int = 60) -> DegreeDistribution:
        """Return how the degrees of the items are distributed, the noise of their estimates taken out."""
        from deniable.types.key_value.items import degree_distribution

        return degree_distribution(self, points)

    def corrected(self, sizes: Mapping[int, float]) -> KeyValueEstimate:
        """Return the estimate with what padding cut off put back, given the shares of people by number of items."""
        from deniable.types.key_value.items import kept_share

        warnings = tuple(each for each in self.warnings if each.code != CROWDED)
        return replace(self, kept=kept_share(self, sizes), warnings=warnings)

    def shrunk(self) -> Shrunk:
        """Return frequencies and means drawn towards those of all items, for the least error on the whole; biased."""
        from deniable.types.key_value.items import shrunk

        return shrunk(self)

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
        count: int = 20,
    ) -> KeyValueSummary:
        """Return a table of the most frequent items, with the numbers of the whole graph and warnings."""
        return summarize(self, level, method, count, simultaneous=simultaneous)

    def _whole(
        self, *, level: float, method: str | None, simultaneous: bool
    ) -> KeyValueSummary:
        return summarize(self, level, method, None, simultaneous=simultaneous)

    def _source(self) -> dict[str, Any]:
        return {
            "tally": json.loads(self.tally.to_json()),
            "scaling": self.scaling,
            "population": self.population,
            "kept": self.kept,
            "corrected": not any(each.code == CROWDED for each in self.warnings),
            "quantity": self.quantity,
        }

    @classmethod
    def _remade(
        cls, source: Mapping[str, Any], design: KeyValueDesign
    ) -> KeyValueEstimate:
        tally = KeyValueTally.from_json(
            json.dumps(documents.field(source, "tally", dict)), design
        )
        made = estimate(
            tally,
            scaling=documents.field(source, "scaling", str),
            population=source.get("population"),
        )
        made = replace(made, kept=documents.field(source, "kept", float, int))
        if source.get("corrected") is True:
            made = replace(
                made,
                warnings=tuple(each for each in made.warnings if each.code != CROWDED),
            )
        return made.about(documents.field(source, "quantity", str))


def summarize(
    estimate: KeyValueEstimate,
    level: float,
    method: str | None,
    count: int | None,
    *,
    simultaneous: bool,
) -> KeyValueSummary:
    """Return the summary of an estimate; of all items in their order, if no count is given.

    Raises:
        InvalidRequest: fewer than one item.
    """
    if count is not None and (
        isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1
    ):
        raise InvalidRequest(
            f"count is {quoted(count)}; expected a whole number of at least 1."
        )
    columns = {
        what: _column(estimate, what, level) for what in ("frequency", "mean", "weight")
    }
    told = "weight" if columns["frequency"] is None else "frequency"
    everything = np.argsort(-np.nan_to_num(estimate.value(told)), kind="stable")
    order = everything[:count].tolist() if count is not None else range(len(everything))
    own = estimate._own_numbers(level, method, simultaneous=simultaneous)
    design, graph = estimate.design, _graph(estimate)
    whole = {
        name: Row(name, each.value, each.error, *each.interval(level=level))
        for name, each in graph.items()
    }
    return KeyValueSummary(
        title=f"{design.name}, ε = {formats.epsilon(design.epsilon)}, {estimate.respondents:,} respondents, "
        f"{len(design.items):,} items, {estimate.scaling} scaling",
        quantity=estimate.quantity,
        rows=tuple(_row(estimate, own[number], columns, number) for number in order),
        notes=(
            *(
                f"{name}: {each.value:.4g} ± {each.error:.2g}"
                for name, each in graph.items()
            ),
            *_notes(estimate),
        ),
        warnings=estimate.warnings,
        level=level,
        interval=method or estimate.default_interval(),
        method=estimate.scaling,
        respondents=estimate.respondents,
        missing=estimate.tally.missing,
        epsilon=design.epsilon,
        simultaneous=simultaneous,
        graph=whole,
        left_out=len(design.items) - len(order),
    )


def _notes(estimate: KeyValueEstimate) -> list[str]:
    design = estimate.design
    saved = formats.number(design.saving, 3)
    notes = [
        f"ε = {formats.epsilon(design.epsilon)} protects all items and weights of a respondent together; two "
        f"devices one after the other would be charged {formats.epsilon(design.sequential)}, {saved} more."
    ]
    if estimate.tally.missing:
        notes.append(
            f"{estimate.tally.missing:,} sent no response and take no part in the estimate."
        )
    return notes


Column = tuple[list[float], list[float], list[float]]


def _column(estimate: KeyValueEstimate, what: str, level: float) -> Column | None:
    try:
        value = estimate.value(what)
        if what == "weight":
            return value.tolist(), estimate.errors(what).tolist(), []
        low, high = estimate.ends(what, one_of(1, level))
    except NotEstimable:
        return None
    return value.tolist(), low.tolist(), high.tolist()


def _row(
    estimate: KeyValueEstimate,
    own: tuple[str, float, float, float, float],
    columns: dict[str, Column | None],
    number: int,
) -> ItemRow:
    frequency, mean, weight = columns["frequency"], columns["mean"], columns["weight"]
    clear = mean is not None and not estimate.within_noise[number]
    kind = WeightRow if frequency is None else ItemRow
    return kind(
        *own,
        *((None,) * 3 if frequency is None else (each[number] for each in frequency)),
        *(
            (None,) * 3
            if mean is None or not clear
            else (each[number] for each in mean)
        ),
        *((None,) * 2 if weight is None else (weight[0][number], weight[1][number])),
    )


def _graph(estimate: KeyValueEstimate) -> dict[str, Quantity]:
    told: dict[str, Quantity] = {}
    if estimate.linear.frequency is not None:
        told["average degree of an item"] = estimate.average_degree("items")
        told["average degree of all vertices"] = estimate.average_degree("all")
        told["density"] = estimate.density()
        if estimate.linear.weight is not None and not edges_within_noise(estimate):
            told["average weight of an edge"] = estimate.average_weight("edges")
    elif estimate.linear.weight is not None:
        told["average sum of weights of an item"] = estimate.average_weight("items")
    return told


def estimate(
    tally: KeyValueTally,
    *,
    scaling: str | None = None,
    population: int | str | None = None,
) -> KeyValueEstimate:
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
    linear = ItemLinear(
        tally, read_scaling(tally, scaling), _fraction(tally.respondents, population)
    )
    made = KeyValueEstimate(
        tally,
        linear,
        population,
        quantity="weight" if linear.frequency is None else "frequency",
    )
    return replace(made, warnings=_warnings(made))


def _fraction(n: int, population: int | str | None) -> float:
    if population == "census":
        return 0.0
    if isinstance(population, str):
        raise InvalidRequest(
            f'the population is {quoted(population)}; expected a whole number, "census" or None.'
        )
    return sampled_fraction(n, population)


def _warnings(made: KeyValueEstimate) -> tuple[Caution, ...]:
    doubts = []
    if (
        made.linear.frequency is not None
        and made.linear.weight is not None
        and made.within_noise.any()
    ):
        count, items = int(made.within_noise.sum()), len(made.design.items)
        text = (
            f"the degree of {count:,} of {items:,} items is within noise of 0: nothing is known about the mean value "
            "of those who have them."
        )
        doubts.append(Caution("within-noise", text))
    if (
        made.linear.frequency is not None
        and made.linear.weight is not None
        and edges_within_noise(made)
    ):
        text = "the number of all edges is within noise of 0: nothing is known about their average weight."
        doubts.append(Caution("edges-within-noise", text))
    unseen = int((made.tally.asked == 0).sum())
    if unseen:
        text = f"nobody was asked about {unseen:,} items: their estimates are those of the design alone."
        doubts.append(Caution("not-asked", text))
    return (*doubts, *crowding(made))
