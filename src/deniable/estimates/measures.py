"""Measures of association of two attributes: odds ratios, correlations and conditional shares, freed of the device."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from deniable import documents
from deniable.designs import Design
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    NotEstimable,
    UnreadableFile,
    quoted,
    require,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.cross_tables import CountedCells, EstimatedCells, cross_table
from deniable.estimates.independence import response_scores
from deniable.estimates.intervals import Interval, quantile
from deniable.estimates.likelihood import log_likelihood
from deniable.estimates.linear import floats
from deniable.estimates.results import Bounds, Caution, Description, IntervalMethod
from deniable.estimates.statistics import Model, Statistic
from deniable.files.row_names import check_same_people
from deniable.tallies.columns import KnownColumn, asked_part, column_of
from deniable.tallies.group_labels import number_groups
from deniable.tallies.responses import Responses

if TYPE_CHECKING:
    from deniable.estimates.sampling import Sampling

__all__ = ["Correlation", "TableMeasure", "correlation"]

_MAX_PROFILED = 144  # cells whose likelihood is searched for the ends of an interval
_MAX_LISTED = 5  # answers whose numbers are listed one by one
_STARTS = 5  # corners towards which a search begins, besides the best table
_TINY = 1e-12
_FOUND = 1e-8  # of a measure, to which the search finds its ends

Measure = Callable[[Vector], tuple[float, Vector]]
"""A number of shares, and its derivative by each of them; not a number where it is undefined."""


@dataclass(frozen=True, eq=False)
class TableMeasure(Model):
    """One number about a table of two attributes: an odds ratio, a correlation, or a share among the people of a row.

    The odds ratio and the share are those of the maximum-likelihood table, which lies in the simplex; the correlation
    is that of the table as it is, so that with few people it may leave −1 … 1, or be undefined (not a number).

    Attributes:
        cells: of the table.
        name: "odds ratio", "correlation" or "share".
        rows: which rows, or a number for each of them.
        columns: which columns, or a number for each of them.
    """

    type: ClassVar = "table-measure"

    cells: EstimatedCells
    name: str
    rows: tuple[float, ...]
    columns: tuple[float, ...]

    @property
    def _is_correlation(self) -> bool:
        return self.name == "correlation"

    @property
    def _shares(self) -> Vector:
        if self._is_correlation:
            return self.cells.shares.reshape(-1)
        return self.cells.likely

    @property
    def value(self) -> float:
        """The number; infinite where an odds ratio is without bound, not a number where it is undefined."""
        return self._rescale(self._measure(self._shares)[0])

    def _measure(self, shares: Vector) -> tuple[float, Vector]:
        """Return the measure of shares, on a scale without infinite values: of an odds ratio Yule's Q."""
        compute = {
            "odds ratio": _yule,
            "correlation": _correlate,
            "share": _conditional_share,
        }[self.name]
        table = shares.reshape(self.cells.shares.shape)
        value, slopes = compute(table, np.array(self.rows), np.array(self.columns))
        return value, slopes.reshape(-1)

    def _rescale(self, measure: float) -> float:
        """Return the number for a measure: of Yule's Q the odds ratio."""
        if self.name != "odds ratio" or math.isnan(measure):
            return measure
        if measure >= 1 - 1e-9:
            return math.inf
        return max(1 + measure, 0.0) / (1 - measure)

    @property
    def params(self) -> dict[str, float]:
        return {self.name: self.value}

    @cached_property
    def _variance(self) -> float:
        """The variance, by the delta method; not a number at the border."""
        measure, gradient = self._measure(self._shares)
        cells = self.cells
        covariance = (
            cells.estimate.cov_params()
            if self._is_correlation
            else cells.likely_covariance()
        )
        with np.errstate(all="ignore"):
            if self.name == "odds ratio":
                gradient = gradient * 2 / np.square(1 - measure)
            variance = float(gradient @ covariance @ gradient)
        return variance if math.isfinite(variance) and variance >= 0 else math.nan

    def covariance_matrix(self) -> Matrix:
        return np.array([[self._variance]])

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        return {"profile": self._profile_bounds}

    def _profile_bounds(self, level: float) -> Bounds:
        """Return the profile-likelihood interval, which covers at the border, too.

        Implements: all values that a table has whose log-likelihood is at most z²/2 below the largest [Wil38].

        Why: the log-likelihood is concave in the shares, so that these tables are a convex set; the bounds are where
        the measure is smallest and largest in it.
        """
        low, high = map(
            self._rescale, _profile_range(self.cells, self._measure, level)
        )
        value = self.value
        if not math.isnan(value):
            low, high = min(low, value), max(high, value)
        return np.array([low]), np.array([high])

    @property
    def warnings(self) -> tuple[Caution, ...]:
        margin = f"a margin leaves 0 … 1, so that the {self.name} is undefined."
        largest = 1 if self._is_correlation else math.inf
        return (
            *self.cells.estimate.warnings,
            *_doubt_value(self.value, margin, largest),
        )

    def describe(self) -> Description:
        facts = self.cells.facts
        return Description(
            title=f"{self._title}, {facts.people}",
            quantity=self.name,
            method=self._method,
            respondents=facts.respondents,
            epsilon=asked_part(self.cells.design).epsilon,
            missing=facts.missing,
            notes=(self.cells.independence_sentence(), *self._score_notes()),
        )

    def _score_notes(self) -> tuple[str, ...]:
        """Return in words as which numbers answers are correlated; nothing of two, whose numbers change only a sign."""
        sides = zip(self.cells.axes, (self.rows, self.columns), strict=True)
        return tuple(
            _list_scores(axis.name, axis.labels, scores)
            for axis, scores in sides
            if self._is_correlation and len(axis.labels) > 2
        )

    @property
    def _method(self) -> str:
        variance = self.cells.facts.variance
        if self._is_correlation:
            return f"moments, {variance}" if variance else "moments"
        return "pseudo-likelihood" if variance else "likelihood"

    @property
    def _title(self) -> str:
        down, across = self.cells.axes
        if self._is_correlation:
            return f"{down.name} with {across.name}"
        rows = [down.labels[int(index)] for index in self.rows]
        columns = [across.labels[int(index)] for index in self.columns]
        if self.name == "share":
            return f"{across.name} = {columns[0]} among {down.name} = {rows[0]}"
        return f"{down.name} ({rows[0]}, {rows[1]}) by {across.name} ({columns[0]}, {columns[1]})"

    @property
    def design_hash(self) -> str:
        return self.cells.estimate._design_hash

    def to_source(self) -> dict[str, Any]:
        return {
            "of": self.cells.type,
            "table": self.cells.to_source(),
            "name": self.name,
            "rows": list(self.rows),
            "columns": list(self.columns),
        }

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: Design) -> Self:
        from deniable.estimates.sampling.tables import SampledCells

        kinds: dict[str, type[EstimatedCells]] = {
            cells.type: cells for cells in (CountedCells, SampledCells)
        }
        kind, name = (
            documents.field(source, field, str) for field in ("of", "name")
        )
        if kind not in kinds:
            raise UnreadableFile(
                f"the table is of the type {quoted(kind)}; expected one of {', '.join(kinds)}."
            )
        cells = kinds[kind].from_source(
            documents.field(source, "table", dict), design
        )
        if name not in ("odds ratio", "correlation", "share"):
            raise UnreadableFile(
                f"the measure is {quoted(name)}; expected odds ratio, correlation or share."
            )
        rows, columns = (
            tuple(map(float, documents.field(source, field, list)))
            for field in ("rows", "columns")
        )
        return cls(cells, name, rows, columns)


def _doubt_value(
    value: float, undefined: str, largest: float = 1
) -> tuple[Caution, ...]:
    """Return why a measure calls for care: it is undefined, or a correlation leaves −1 … 1."""
    if math.isnan(value):
        return (Caution("undefined", undefined),)
    if abs(value) <= largest:
        return ()
    text = "the correlation leaves −1 … 1: there are too few responses to tell it."
    return (Caution("beyond", text),)


def _list_scores(name: str, labels: Sequence[str], scores: Sequence[float]) -> str:
    """Return in words as which numbers answers count, in the order of the design or column that they are of."""
    listed = ", ".join(
        f"{quoted(label)} as {score:g}"
        for label, score in zip(labels[:_MAX_LISTED], scores, strict=False)
    )
    more = f", … ({len(labels):,} in all)" if len(labels) > _MAX_LISTED else ""
    return f"The answers of {name} count in their order: {listed}{more}."


def _undefined(table: Matrix) -> tuple[float, Matrix]:
    return math.nan, np.full_like(table, math.nan)


def _yule(table: Matrix, rows: Vector, columns: Vector) -> tuple[float, Matrix]:
    """Return (ad − bc)/(ad + bc), which is −1 for an odds ratio of 0 and 1 for one without bound."""
    block = np.ix_(rows.astype(int), columns.astype(int))
    (a, b), (c, d) = table[block]
    total = a * d + b * c
    if total <= 1e-18:
        return _undefined(table)
    slopes = np.zeros_like(table)
    numerators = np.array([[b * c * d, -a * c * d], [-a * b * d, a * b * c]])
    slopes[block] = 2 * numerators / total**2
    return float((a * d - b * c) / total), slopes


def _correlate(table: Matrix, rows: Vector, columns: Vector) -> tuple[float, Matrix]:
    """Return C/√(V·W) of the two scores, with slopes (dC − C/2·(dV/V + dW/W))/√(V·W)."""
    x, y = rows[:, None], columns[None, :]
    down, across = table.sum(axis=1), table.sum(axis=0)
    x_mean, y_mean = rows @ down, columns @ across
    V, W = rows**2 @ down - x_mean**2, columns**2 @ across - y_mean**2
    if min(V, W) <= _TINY:
        return _undefined(table)
    C, scale = rows @ table @ columns - x_mean * y_mean, math.sqrt(V * W)
    relative = (x**2 - 2 * x_mean * x) / V + (y**2 - 2 * y_mean * y) / W
    slopes = (x * y - x * y_mean - x_mean * y - C / 2 * relative) / scale
    return float(C / scale), slopes


def _conditional_share(
    table: Matrix, rows: Vector, columns: Vector
) -> tuple[float, Matrix]:
    row, column = int(rows[0]), int(columns[0])
    total = table[row].sum()
    if total <= _TINY:
        return _undefined(table)
    value = float(table[row, column] / total)
    slopes = np.zeros_like(table)
    slopes[row] = -value / total
    slopes[row, column] += 1 / total
    return value, slopes


def _strength(table: Matrix) -> tuple[float, Matrix]:
    """Return Cramér's V, √(S/(k − 1)) with S = Σ(t − e)²/e over cells whose expected share e is not 0."""
    down, across = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(down, across)
    known = expected > _TINY
    ratios = np.divide(table, expected, out=np.ones_like(table), where=known)
    squares = float((expected * (ratios - 1) ** 2).sum())
    # e is down·across, so its derivative in a cell of the row is `across`, and in one of the column `down`
    curvatures = np.where(known, 1 - ratios**2, 0.0)
    slopes = 2 * (ratios - 1) + (curvatures @ across)[:, None] + down @ curvatures
    largest = min(table.shape) - 1
    value = math.sqrt(squares / largest)
    return min(value, 1.0), slopes / (2 * largest * max(value, _TINY))


class _LikelyTables(NamedTuple):
    """The tables whose log-likelihood is not below a floor.

    Attributes:
        best: the maximum-likelihood table.
        matrix: the probability of each pair of responses, given each cell.
        counts: of the pairs of responses that were seen.
        floor: the least log-likelihood.
    """

    best: Vector
    matrix: Matrix
    counts: Vector
    floor: float

    @classmethod
    def from_cells(
        cls, cells: EstimatedCells, measure: Measure, level: float
    ) -> _LikelyTables:
        """Return the tables that a number is profiled in.

        Raises:
            NotEstimable: a table with too many cells to search.
        """
        best = cells.likely
        if len(best) > _MAX_PROFILED:
            raise NotEstimable(
                f"the table has {len(best):,} cells; expected at most {_MAX_PROFILED} for an interval by likelihood.",
                'Ask for method="normal".',
            )
        evidence = cells.evidence(measure(best)[1])
        seen = evidence.counts > 0
        matrix, counts = floats(cells.design.channel)[seen], evidence.counts[seen]
        drop = evidence.quantile(level) ** 2 / 2
        return cls(
            best, matrix, counts, log_likelihood(counts, matrix @ best) - drop
        )

    def room(self, shares: Vector) -> float:
        """Return how far the log-likelihood of a table is above the floor."""
        probabilities = np.maximum(self.matrix @ shares, 1e-300)
        return float(log_likelihood(self.counts, probabilities) - self.floor)

    def gradient(self, shares: Vector) -> Vector:
        """Return the derivative of the log-likelihood by each share."""
        probabilities = np.maximum(self.matrix @ shares, _TINY)
        return vector((self.counts / probabilities) @ self.matrix)

    def starts(self) -> list[Vector]:
        """Return tables to search from: the best one, and some towards corners, a little inside of the simplex."""
        even = np.full(len(self.best), 1 / len(self.best))
        corners = (even, *np.eye(len(self.best)))[:_STARTS]
        starts = [self.best, *map(self._move_towards, corners)]
        return [0.999 * start + 0.001 * even for start in starts]

    def _move_towards(self, corner: Vector) -> Vector:
        """Return a table on the way from the best one to a corner that is still likely enough."""
        step = 0.5
        while step > 1e-6 and self.room((1 - step) * self.best + step * corner) < 0:
            step /= 2
        return (1 - step) * self.best + step * corner

    def search(self, measure: Measure, sign: float, start: Vector) -> Vector:
        """Return the table with the smallest measure (times a sign) that a search from this start finds."""

        def goal(shares: Vector) -> tuple[float, Vector]:
            value, slopes = measure(np.maximum(shares, 0.0))
            is_defined = not math.isnan(value)
            return (sign * value, sign * slopes) if is_defined else (0.0, 0 * shares)

        limits: Any = [
            {"type": "ineq", "fun": self.room, "jac": self.gradient},
            {
                "type": "eq",
                "fun": lambda shares: shares.sum() - 1,
                "jac": np.ones_like,
            },
        ]
        found = minimize(
            goal,
            start,
            method="SLSQP",
            jac=True,
            bounds=[(0, 1)] * len(start),
            constraints=limits,
            options={"maxiter": 300, "ftol": 1e-10},
        )
        shares = np.maximum(found.x, 0.0)
        return vector(shares / max(shares.sum(), _TINY))


def _profile_range(
    cells: EstimatedCells, measure: Measure, level: float
) -> tuple[float, float]:
    """Return the smallest and the largest measure of all tables whose likelihood is not much below the best.

    Raises:
        NotEstimable: a table with too many cells to search.
    """
    tables = _LikelyTables.from_cells(cells, measure, level)
    starts = tables.starts()
    extremes = [
        tables.search(measure, sign, start)
        for sign in (1.0, -1.0)
        for start in starts
    ]
    likely = [table for table in extremes if tables.room(table) > -1e-4]
    values = [measure(table)[0] for table in (tables.best, *likely)]
    defined = [value for value in values if not math.isnan(value)]
    return (min(defined), max(defined)) if defined else (math.nan, math.nan)


def strength_range(cells: EstimatedCells, level: float) -> Interval:
    """Return between which values Cramér's V lies for all tables whose likelihood is not much below the best.

    Raises:
        NotEstimable: a table with too many cells to search.
    """
    shape = cells.shares.shape

    def strength(shares: Vector) -> tuple[float, Vector]:
        value, slopes = _strength(shares.reshape(shape))
        return value, slopes.reshape(-1)

    low, high = _profile_range(cells, strength, level)
    return Interval(0.0 if low < _FOUND else low, 1.0 if high > 1 - _FOUND else high)


def correlation(
    first: object,
    second: object,
    *,
    rows: str | None = None,
    columns: str | None = None,
    sampling: Sampling | None = None,
) -> Statistic[Correlation] | Statistic[TableMeasure]:
    """Estimate the correlation of two columns, of which one or both were randomized, freed of the devices.

    Implements: cov(r, c)/√(V(x)·V(c)) with r the unbiased score of a response: a device that draws on its own leaves
    the covariance as it is, and only the variance of what is correlated has to be freed of it [FT84]. Of two
    randomized columns both.

    Args:
        first: `Responses`, a design with what was sent as `(design, column)`, or a column of numbers or of what is
            openly known. Answers count as 0, 1, 2 and so on, in the order of the design or of an ordered categorical.
        second: the same rows of another.
        rows: what to call the first.
        columns: what to call the second.
        sampling: how these people were drawn, if not one by one.

    Returns:
        A statistic. Its model is a `Correlation` where one of the two holds numbers; else it is a `TableMeasure`, the
        correlation of their `cross_table`, whose interval is by likelihood.

    Raises:
        InvalidRequest: no column that was randomized, a design for something else, or openly known text of more than
            two values without an order.
        NotEstimable: fewer than three rows with both, or numbers that are all alike.
        Incompatible: columns of different lengths.

    Example:
        >>> import deniable as dn
        >>> sent = dn.Responses(dn.warner(p="3/4"), {"response": np.array([0, 1, 1, 0, 1, 0], np.uint8)})
        >>> round(dn.correlation(sent, [20, 45, 61, 33, 58, 30]).params["correlation"], 3)
        1.813
    """
    check_same_people(first=first, second=second, sampling=sampling)
    columns_given = (first, second)
    if not any(map(_is_randomized, columns_given)):
        raise InvalidRequest(
            "neither column holds responses; expected at least one that was drawn with a design.",
            "Hand over what respond_all() returned, or (design, column).",
        )
    left, right = map(_read_numbers, columns_given)
    if left is not None:
        return _correlate_numbers(column_of(second), left, sampling)
    if right is not None:
        return _correlate_numbers(column_of(first), right, sampling)
    table = cross_table(first, second, rows=rows, columns=columns, sampling=sampling)
    return table.correlation()


def _is_randomized(column: object) -> bool:
    """Return whether a column is of responses, whose design has an order of its own."""
    if isinstance(column, tuple) and column:
        return isinstance(column[0], Design)
    return isinstance(column, Responses)


def _read_numbers(column: object) -> Vector | None:
    """Return a column of numbers, not a number where one is missing; None for responses and for ordered categories.

    Raises:
        InvalidRequest: public text whose order is only that of the alphabet: it would be correlated with the spelling.
    """
    if _is_randomized(column):
        return None
    if (
        isinstance(column, np.ndarray)
        and column.dtype.kind in "iuf"
        and not np.ma.isMaskedArray(column)
    ):
        return column.astype(np.float64)
    values, rows = number_groups(column)
    known = [value for value in values if value is not None]
    if all(
        isinstance(value, int | float) and not isinstance(value, bool)
        for value in known
    ):
        numbers = [math.nan if value is None else value for value in values]
        return np.array(numbers, np.float64)[rows] if numbers else np.empty(0)
    kind = getattr(column, "dtype", None)
    is_ordered = getattr(kind, "ordered", False) or type(kind).__name__ == "Enum"
    has_text = any(isinstance(value, str) for value in known)
    if len(known) > 2 and has_text and not is_ordered:
        raise InvalidRequest(
            f"an openly known column holds {len(known):,} different texts, which have no order; expected numbers, an "
            "ordered categorical, or two values.",
            "Pass numbers or an ordered categorical, or use cross_table(…).cramers_v, which needs no order.",
        )
    return None


def _correlate_numbers(
    column: KnownColumn, numbers: Vector, sampling: Sampling | None
) -> Statistic[Correlation]:
    if len(column.codes) != len(numbers):
        raise Incompatible(
            f"there are {len(column.codes):,} and {len(numbers):,} rows; expected one of each for every respondent."
        )
    present = (column.codes >= 0) & ~np.isnan(numbers)
    n, missing = int(present.sum()), int((~present).sum())
    if n < 3:
        raise NotEstimable(f"{n} respondents have both; expected at least 3.")
    moments = _CorrelatedScores.from_columns(column, numbers, present)
    if sampling is None:
        moments.check_numbers(present)
        value, influences = moments.correlate(present.astype(np.float64))
        error = float(influences[present].std(ddof=1) / math.sqrt(n))
        return Statistic(Correlation(value, error, n, missing, column.design))
    from deniable.estimates.sampling import People, Sampling

    require(isinstance(sampling, Sampling), sampling, "the sampling", "a Sampling")
    moments.check_numbers(present & (sampling.weights != 0))
    value, influences = moments.correlate(sampling.weights * present)
    # With replacement: the whole variance of the device stays in the error, which is a little too large.
    people = People.of(sampling).with_replacement()
    covariance = people.covariance(
        vector(influences / (sampling.weights * present).sum())[:, None],
        lambda weights: vector(
            [[moments.correlate(column * present)[0]] for column in weights.T]
        ),
    )
    error = (
        math.sqrt(covariance[0, 0]) if np.isfinite(influences).all() else math.nan
    )
    df = float(sampling.degrees_of(present))
    facts = (df, sampling.describe(), sampling.variance)
    return Statistic(Correlation(value, error, n, missing, column.design, *facts))


class _CorrelatedScores(NamedTuple):
    """The unbiased scores of a response and of its square, and a public number, of each person."""

    scores: Vector
    squares: Vector
    numbers: Vector
    present: NDArray[np.bool_]

    @classmethod
    def from_columns(
        cls, column: KnownColumn, numbers: Vector, present: NDArray[np.bool_]
    ) -> _CorrelatedScores:
        by_response = response_scores(column.design)
        ranks = np.arange(len(column.design.categories), dtype=np.float64)
        codes = column.codes * present
        scores, squares = by_response @ ranks, by_response @ ranks**2
        known = np.where(present, numbers, 0.0)
        return cls(scores[codes], squares[codes], known, present)

    def check_numbers(self, used: NDArray[np.bool_]) -> None:
        """Refuse numbers that are all alike."""
        if not np.ptp(self.numbers[used]):
            raise NotEstimable(
                f"all {int(used.sum()):,} numbers are alike; expected at least two different ones."
            )

    def correlate(self, weights: Vector) -> tuple[float, Vector]:
        """Return the correlation, and each respondent's influence on it (delta method), 0 for those who lack one."""
        total = weights.sum()
        mean, square, center = (
            float(weights @ values / total)
            for values in (self.scores, self.squares, self.numbers)
        )
        deviations = self.numbers - center
        variance = square - mean**2
        known_variance = float(weights @ deviations**2 / total)
        if variance <= 0 or known_variance <= 0:
            return math.nan, np.full(len(weights), math.nan)
        products = (
            (self.scores - mean) * deviations / math.sqrt(variance * known_variance)
        )
        value = float(weights @ products / total)
        of_variance = self.squares - square - 2 * mean * (self.scores - mean)
        relative = of_variance / variance + deviations**2 / known_variance
        return value, np.where(self.present, products - value / 2 * relative, 0.0)


@dataclass(frozen=True, eq=False)
class Correlation(Model):
    """The correlation of a randomized column with numbers that are openly known.

    Attributes:
        value: the correlation; with few people it may leave −1 … 1. Not a number where the share is outside of 0 … 1.
        error: its standard error.
        respondents: how many rows have both.
        missing: how many lack one of them.
        design: what the responses were drawn with.
        degrees: degrees of freedom of the error; infinite for people who were drawn one by one.
        sample: how people were drawn, in words; empty for people who were drawn one by one.
        variance: how the variance of a sample was found, in a word or two.
    """

    type: ClassVar = "correlation"

    value: float
    error: float
    respondents: int
    missing: int
    design: Design
    degrees: float = math.inf
    sample: str = ""
    variance: str = ""

    @property
    def params(self) -> dict[str, float]:
        return {"correlation": self.value}

    def covariance_matrix(self) -> Matrix:
        return np.array([[self.error**2]])

    @property
    def df(self) -> float:
        return self.degrees

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "fisher", on the scale of artanh. A value that leaves −1 … 1 has none, and normal intervals."""
        return {"fisher": self._fisher_bounds} if abs(self.value) < 1 else {}

    def _fisher_bounds(self, level: float) -> Bounds:
        width = quantile(level, self.df) * self.error / (1 - self.value**2)
        center = math.atanh(self.value)
        low, high = np.tanh([center - width, center + width])
        return np.array([low]), np.array([high])

    @property
    def warnings(self) -> tuple[Caution, ...]:
        undefined = (
            "the estimated share leaves 0 … 1, so that no correlation can be told."
        )
        return _doubt_value(self.value, undefined)

    def describe(self) -> Description:
        categories = tuple(self.design.categories)
        people = self.sample or f"{self.respondents:,} respondents"
        scores = _list_scores("the design", categories, range(len(categories)))
        return Description(
            title=f"Correlation of a randomized answer with a number, {people}",
            quantity="correlation",
            method=f"moments, {self.variance}" if self.variance else "moments",
            respondents=self.respondents,
            epsilon=self.design.epsilon,
            missing=self.missing,
            notes=(scores,) if len(categories) > 2 else (),
        )

    @property
    def design_hash(self) -> str:
        return self.design.hash

    def to_source(self) -> dict[str, Any]:
        numbers = {
            name: getattr(self, name) for name in ("value", "error", "degrees")
        }
        finite = {
            name: number if math.isfinite(number) else None
            for name, number in numbers.items()
        }
        names = ("respondents", "missing", "sample", "variance")
        return {**finite, **{name: getattr(self, name) for name in names}}

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: Design) -> Self:
        value, error, df = (
            unknown if source.get(name) is None else float(source[name])
            for name, unknown in (
                ("value", math.nan),
                ("error", math.nan),
                ("degrees", math.inf),
            )
        )
        respondents, missing = (
            documents.integer_field(source, name)
            for name in ("respondents", "missing")
        )
        sample, variance = (
            documents.field(source, name, str) for name in ("sample", "variance")
        )
        return cls(value, error, respondents, missing, design, df, sample, variance)
