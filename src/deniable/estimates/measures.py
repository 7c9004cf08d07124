"""How strongly two attributes hang together: odds ratios, correlations and conditional shares, freed of the device."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

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
)
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.cross_tables import AnswerTable, CrossTable, cross_table
from deniable.estimates.independence import response_scores
from deniable.estimates.intervals import Interval, quantile
from deniable.estimates.likelihood import log_likelihood
from deniable.estimates.linear import floats
from deniable.estimates.results import Bounds, Caution, Description, IntervalMethod
from deniable.estimates.statistics import Model, Statistic
from deniable.files.row_names import check_same_people
from deniable.tallies.columns import KnownColumn, asked_part, column_of
from deniable.tallies.group_labels import numbered

if TYPE_CHECKING:
    from deniable.estimates.sampling import Sampling

__all__ = ["Correlation", "TableMeasure", "correlation"]

_MOST_PROFILED = 144  # cells whose likelihood is searched for the ends of an interval
_TOLD = 5  # answers whose numbers are told one by one
_STARTS = 5  # corners towards which a search begins, besides the best table
_TINY = 1e-12

Measure = Callable[[Vector], float]


@dataclass(frozen=True, eq=False)
class TableMeasure(Model):
    """One number about a table of two attributes: an odds ratio, a correlation, or a share among the people of a row.

    The odds ratio and the share are those of the most likely table, which lies in the simplex; the correlation is that
    of the table as it is, so that with few people it may leave −1 … 1, or be undefined (not a number).

    Attributes:
        table: what it is about.
        name: "odds ratio", "correlation" or "share".
        rows: which rows, or a number for each of them.
        columns: which columns, or a number for each of them.
    """

    type: ClassVar = "table-measure"

    table: AnswerTable
    name: str
    rows: tuple[float, ...]
    columns: tuple[float, ...]

    @property
    def _shares(self) -> Vector:
        return (
            self.table.shares.reshape(-1)
            if self.name == "correlation"
            else self.table.likely
        )

    @property
    def value(self) -> float:
        """The number; infinite where an odds ratio is without bound, not a number where it is undefined."""
        return self._told(self._measure(self._shares))

    @property
    def _measure(self) -> Measure:
        """The measure of shares, on a scale without infinite values: of an odds ratio Yule's Q."""
        shape, rows, columns = self.table.shares.shape, self.rows, self.columns
        kinds: dict[str, Measure] = {
            "odds ratio": lambda shares: _yule(shares.reshape(shape), rows, columns),
            "correlation": lambda shares: _correlated(
                shares.reshape(shape), np.array(rows), np.array(columns)
            ),
            "share": lambda shares: _among(
                shares.reshape(shape), int(rows[0]), int(columns[0])
            ),
        }
        return kinds[self.name]

    def _told(self, measured: float) -> float:
        if self.name != "odds ratio" or math.isnan(measured):
            return measured
        return (
            math.inf
            if measured >= 1 - 1e-9
            else max(1 + measured, 0.0) / (1 - measured)
        )

    @property
    def params(self) -> dict[str, float]:
        return {self.name: self.value}

    @cached_property
    def _error(self) -> float:
        """The standard error, by the slopes of the measure; not a number at the border."""
        slopes = _slopes(lambda shares: self._told(self._measure(shares)), self._shares)
        spread = (
            self.table.cov_params()
            if self.name == "correlation"
            else self.table.likely_covariance()
        )
        with np.errstate(all="ignore"):
            variance = float(slopes @ spread @ slopes)
        return (
            math.sqrt(variance)
            if math.isfinite(variance) and variance >= 0
            else math.nan
        )

    def covariance_matrix(self) -> Matrix:
        return np.array([[self._error**2]])

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        return {"profile": self._profile_bounds}

    def _profile_bounds(self, confidence: float) -> Bounds:
        """Return the profile-likelihood interval, which covers at the border, too.

        Implements: all values that a table has whose log-likelihood is at most z²/2 below the largest [Wil38].

        Why: the log-likelihood is concave in the shares, so that these tables are a convex set; the bounds are where
        the measure is smallest and largest in it.
        """
        low, high = map(self._told, _range(self.table, self._measure, confidence))
        value = self.value
        if not math.isnan(value):
            low, high = min(low, value), max(high, value)
        return np.array([low]), np.array([high])

    @property
    def warnings(self) -> tuple[Caution, ...]:
        told = self.table.warnings
        value = self.value
        if math.isnan(value):
            return (
                *told,
                Caution(
                    "undefined",
                    f"a margin leaves 0 … 1, so that the {self.name} is undefined.",
                ),
            )
        if self.name == "correlation" and abs(value) > 1:
            return (
                *told,
                Caution(
                    "beyond",
                    "the correlation leaves −1 … 1: there are too few responses to tell it.",
                ),
            )
        return told

    def describe(self) -> Description:
        facts = self.table.told
        return Description(
            title=f"{self._title}, {facts.people}",
            quantity=self.name,
            method=self._method,
            respondents=facts.respondents,
            epsilon=asked_part(self.table.design).epsilon,
            missing=facts.missing,
            notes=(f"{self.table.independence()}.", *self._counted()),
        )

    def _counted(self) -> tuple[str, ...]:
        """Return in words as which numbers answers are correlated; nothing of two, whose numbers change only a sign."""
        table = self.table
        if self.name != "correlation":
            return ()
        sides = (
            (table.rows, table.row_labels, self.rows),
            (table.columns, table.column_labels, self.columns),
        )
        return tuple(_counted_as(*side) for side in sides if len(side[1]) > 2)

    @property
    def _method(self) -> str:
        variance = self.table.told.variance
        if self.name == "correlation":
            return f"moments, {variance}" if variance else "moments"
        return "pseudo-likelihood" if variance else "likelihood"

    @property
    def _title(self) -> str:
        table = self.table
        if self.name == "correlation":
            return f"{table.rows} with {table.columns}"
        rows, columns = (
            [labels[int(each)] for each in chosen]
            for labels, chosen in (
                (table.row_labels, self.rows),
                (table.column_labels, self.columns),
            )
        )
        if self.name == "share":
            return f"{table.columns} = {columns[0]} among {table.rows} = {rows[0]}"
        return f"{table.rows} ({rows[0]}, {rows[1]}) by {table.columns} ({columns[0]}, {columns[1]})"

    @property
    def design_hash(self) -> str:
        return self.table._design_hash

    def to_source(self) -> dict[str, Any]:
        return {
            "of": self.table.type,
            "table": self.table._source(),
            "name": self.name,
            "rows": list(self.rows),
            "columns": list(self.columns),
        }

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: Design) -> TableMeasure:
        from deniable.estimates.sampling.tables import SampledTable

        tables: dict[str, type[AnswerTable]] = {
            table.type: table for table in (CrossTable, SampledTable)
        }
        kind, name = (documents.field(source, field, str) for field in ("of", "name"))
        if kind not in tables:
            raise UnreadableFile(
                f"the table is of the type {quoted(kind)}; expected one of {', '.join(tables)}."
            )
        table = tables[kind]._remade(documents.field(source, "table", dict), design)
        if name not in ("odds ratio", "correlation", "share"):
            raise UnreadableFile(
                f"the measure is {quoted(name)}; expected odds ratio, correlation or share."
            )
        rows, columns = (
            tuple(map(float, documents.field(source, field, list)))
            for field in ("rows", "columns")
        )
        return cls(table, name, rows, columns)


def _counted_as(name: str, labels: Sequence[str], numbers: Sequence[float]) -> str:
    """Return in words as which numbers answers count, in the order of the design or column that they are of."""
    some = ", ".join(
        f"{quoted(label)} as {each:g}"
        for label, each in zip(labels[:_TOLD], numbers, strict=False)
    )
    more = f", … ({len(labels):,} in all)" if len(labels) > _TOLD else ""
    return f"The answers of {name} count in their order: {some}{more}."


def _yule(table: Matrix, rows: tuple[float, ...], columns: tuple[float, ...]) -> float:
    """Return (ad − bc)/(ad + bc), which is −1 for an odds ratio of 0 and 1 for one without bound."""
    (a, b), (c, d) = (
        [table[int(row), int(column)] for column in columns] for row in rows
    )
    total = a * d + b * c
    return float((a * d - b * c) / total) if total > 1e-18 else math.nan


def _correlated(table: Matrix, rows: Vector, columns: Vector) -> float:
    down, across = table.sum(axis=1), table.sum(axis=0)
    means = rows @ down, columns @ across
    spreads = (rows**2) @ down - means[0] ** 2, (columns**2) @ across - means[1] ** 2
    if min(spreads) <= _TINY:
        return math.nan
    return float(
        (rows @ table @ columns - means[0] * means[1])
        / math.sqrt(spreads[0] * spreads[1])
    )


def _among(table: Matrix, row: int, column: int) -> float:
    total = table[row].sum()
    return float(table[row, column] / total) if total > _TINY else math.nan


def _slopes(measure: Measure, shares: Vector) -> Vector:
    """Return by how much a measure rises with each share."""
    steps = np.eye(len(shares)) * 1e-6
    with np.errstate(all="ignore"):
        return np.array(
            [(measure(shares + step) - measure(shares - step)) / 2e-6 for step in steps]
        )


def _range(
    table: AnswerTable, measure: Measure, confidence: float
) -> tuple[float, float]:
    """Return the smallest and the largest measure of all tables whose likelihood is not much below the best.

    Raises:
        NotEstimable: a table with too many cells to search.
    """
    best = table.likely
    if len(best) > _MOST_PROFILED:
        raise NotEstimable(
            f"the table has {len(best):,} cells; expected at most {_MOST_PROFILED} for an interval by likelihood.",
            'Ask for method="normal".',
        )
    told = table.evidence(_slopes(measure, best))
    seen = told.counts > 0
    matrix, counts = floats(table.design.channel)[seen], told.counts[seen]
    floor = log_likelihood(counts, matrix @ best) - told.quantile(confidence) ** 2 / 2

    def room(shares: Vector) -> float:
        return float(
            log_likelihood(counts, np.maximum(matrix @ shares, 1e-300)) - floor
        )

    def slopes(shares: Vector) -> Vector:
        found: Vector = (counts / np.maximum(matrix @ shares, _TINY)) @ matrix
        return found

    limits: Any = [
        {"type": "ineq", "fun": room, "jac": slopes},
        {"type": "eq", "fun": lambda shares: shares.sum() - 1, "jac": np.ones_like},
    ]
    ends = [measure(best)] if not math.isnan(measure(best)) else []
    even = np.full(len(best), 1 / len(best))
    for sign in (1.0, -1.0):

        def goal(shares: Vector, sign: float = sign) -> float:
            found = measure(np.maximum(shares, 0.0))
            return 0.0 if math.isnan(found) else sign * found

        for start in (
            best,
            *(
                _inward(best, corner, room)
                for corner in (even, *np.eye(len(best)))[:_STARTS]
            ),
        ):
            found = minimize(
                goal,
                0.999 * start + 0.001 * even,
                method="SLSQP",
                bounds=[(0, 1)] * len(best),
                constraints=limits,
                options={"maxiter": 300, "ftol": 1e-10},
            )
            reached = np.maximum(found.x, 0.0) / max(
                np.maximum(found.x, 0.0).sum(), _TINY
            )
            if room(reached) > -1e-4 and not math.isnan(measure(reached)):
                ends.append(measure(reached))
    return (min(ends), max(ends)) if ends else (math.nan, math.nan)


def strength_range(table: CrossTable, confidence: float) -> Interval:
    """Return between which values Cramér's V lies for all tables whose likelihood is not much below the best.

    Raises:
        NotEstimable: a table with too many cells to search.
    """
    shape = table.shares.shape

    def strength(shares: Vector) -> float:
        found = shares.reshape(shape)
        expected = np.outer(found.sum(axis=1), found.sum(axis=0))
        told = expected > _TINY
        squares = float((((found - expected)[told]) ** 2 / expected[told]).sum())
        return math.sqrt(min(squares / (min(shape) - 1), 1.0))

    return Interval(*_range(table, strength, confidence))


def _inward(best: Vector, corner: Vector, room: Callable[[Vector], float]) -> Vector:
    """Return a table on the way from the best one to a corner that is still likely enough."""
    step = 0.5
    while step > 1e-6 and room((1 - step) * best + step * corner) < 0:
        step /= 2
    return (1 - step) * best + step * corner


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
    if not (_is_drawn(first) or _is_drawn(second)):
        raise InvalidRequest(
            "neither column holds responses; expected at least one that was drawn with a design.",
            "Hand over what respond_all() returned, or (design, column).",
        )
    numbers = [_as_numbers(each) for each in (first, second)]
    for each, known in zip((first, second), numbers, strict=True):
        if known is None:
            _check_order(each)
    if all(each is None for each in numbers):
        return _table(first, second, rows, columns, sampling).correlation()
    given, known = (
        (second, numbers[0]) if numbers[0] is not None else (first, numbers[1])
    )
    assert known is not None
    return _with_numbers(column_of(given), known, sampling)


def _table(
    first: Any, second: object, rows: str | None, columns: str | None, sampling: Any
) -> AnswerTable:
    if sampling is None:
        return cross_table(first, second, rows=rows, columns=columns)
    return cross_table(first, second, rows=rows, columns=columns, sampling=sampling)


def _is_drawn(given: object) -> bool:
    """Return whether a column is of responses, whose design has an order of its own."""
    from deniable.tallies.responses import Responses

    return isinstance(given, Responses) or (
        isinstance(given, tuple) and len(given) > 0 and isinstance(given[0], Design)
    )


def _check_order(given: object) -> None:
    """Refuse openly known text whose order is only that of the alphabet: it would be correlated with the spelling."""
    kind = getattr(given, "dtype", None)
    if (
        _is_drawn(given)
        or getattr(kind, "ordered", False)
        or type(kind).__name__ == "Enum"
    ):
        return
    known = [each for each in numbered(given)[0] if each is not None]
    if len(known) > 2 and any(isinstance(each, str) for each in known):
        raise InvalidRequest(
            f"an openly known column holds {len(known):,} different texts, which have no order; expected numbers, an "
            "ordered categorical, or two values.",
            "Pass numbers or an ordered categorical, or use cross_table(…).cramers_v, which needs no order.",
        )


def _as_numbers(given: object) -> Vector | None:
    """Return a column of numbers, not a number where one is missing; None for a column of something else."""
    if _is_drawn(given):
        return None
    if (
        isinstance(given, np.ndarray)
        and given.dtype.kind in "iuf"
        and not np.ma.isMaskedArray(given)
    ):
        return given.astype(np.float64)
    values, rows = numbered(given)
    numbers = [math.nan if each is None else each for each in values]
    if any(
        isinstance(each, bool) or not isinstance(each, int | float) for each in numbers
    ):
        return None
    return np.array(numbers, np.float64)[rows] if numbers else np.empty(0)


def _with_numbers(
    column: KnownColumn, numbers: Vector, sampling: Sampling | None
) -> Statistic[Correlation]:
    if len(column.codes) != len(numbers):
        raise Incompatible(
            f"there are {len(column.codes):,} and {len(numbers):,} rows; expected one of each for every respondent."
        )
    there = (column.codes >= 0) & ~np.isnan(numbers)
    size, n = len(column.design.categories), int(there.sum())
    if n < 3:
        raise NotEstimable(f"{n} respondents have both; expected at least 3.")
    scores = response_scores(column.design)
    places = np.arange(size, dtype=np.float64)
    known, other = column.codes * there, np.where(there, numbers, 0.0)
    moments = _CorrelatedScores(
        (scores @ places)[known], (scores @ places**2)[known], other, there
    )
    degrees, drawn, variance, used = math.inf, "", "", there
    if sampling is not None:
        from deniable.estimates.sampling import Sampling as Drawn

        if not isinstance(sampling, Drawn):
            raise InvalidRequest(
                f"the sampling is a {type(sampling).__name__}; expected a Sampling."
            )
        used = there & (sampling.weights != 0)
    if not np.ptp(other[used]):
        raise NotEstimable(
            f"all {int(used.sum()):,} numbers are alike; expected at least two different ones."
        )
    if sampling is None:
        value, adds = moments.correlated(there.astype(np.float64))
        error = float(adds[there].std(ddof=1) / math.sqrt(n))
    else:
        from deniable.estimates.sampling import number_error

        value, adds = moments.correlated(sampling.weights * there)
        error = number_error(
            lambda weights: moments.correlated(weights * there)[0],
            adds,
            sampling,
            there,
        )
        degrees, drawn, variance = (
            float(sampling.degrees_of(there)),
            sampling.describe(),
            sampling.variance,
        )
    missing = int((~there).sum())
    return Statistic(
        Correlation(value, error, n, missing, column.design, degrees, drawn, variance)
    )


class _CorrelatedScores(NamedTuple):
    """What a correlation is made of: scores of a response, of its square, and a number that is openly known."""

    own: Vector
    squares: Vector
    other: Vector
    there: NDArray[np.bool_]

    def correlated(self, weights: Vector) -> tuple[float, Vector]:
        """Return the correlation, and what each respondent adds to it (the delta method), 0 for those who lack one."""
        whole = weights.sum()
        mean, square, center = (
            float(weights @ each / whole)
            for each in (self.own, self.squares, self.other)
        )
        spread, width = (
            square - mean**2,
            float(weights @ (self.other - center) ** 2 / whole),
        )
        if spread <= 0 or width <= 0:
            return math.nan, np.full(len(weights), math.nan)
        moved = (self.own - mean) * (self.other - center)
        value = float(weights @ moved / whole / math.sqrt(spread * width))
        of_spread = (self.squares - square - 2 * mean * (self.own - mean)) / spread
        adds = moved / math.sqrt(spread * width) - value / 2 * (
            of_spread + (self.other - center) ** 2 / width
        )
        return value, np.where(self.there, adds, 0.0)


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
    def epsilon(self) -> float:
        """The most that a respondent has revealed."""
        return self.design.epsilon

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

    def _fisher_bounds(self, confidence: float) -> Bounds:
        width = quantile(confidence, self.degrees) * self.error / (1 - self.value**2)
        low, high = (
            math.tanh(math.atanh(self.value) + side * width) for side in (-1, 1)
        )
        return np.array([low]), np.array([high])

    @property
    def warnings(self) -> tuple[Caution, ...]:
        if math.isnan(self.value):
            return (
                Caution(
                    "undefined",
                    "the estimated share leaves 0 … 1, so that no correlation can be told.",
                ),
            )
        if abs(self.value) > 1:
            return (
                Caution(
                    "beyond",
                    "the correlation leaves −1 … 1: there are too few responses to tell it.",
                ),
            )
        return ()

    def describe(self) -> Description:
        answers = tuple(self.design.categories)
        return Description(
            title="Correlation of a randomized answer with a number, "
            + (self.sample or f"{self.respondents:,} respondents"),
            quantity="correlation",
            method=f"moments, {self.variance}" if self.variance else "moments",
            respondents=self.respondents,
            epsilon=self.epsilon,
            missing=self.missing,
            notes=(_counted_as("the design", answers, range(len(answers))),)
            if len(answers) > 2
            else (),
        )

    @property
    def design_hash(self) -> str:
        return self.design.hash

    def to_source(self) -> dict[str, Any]:
        return {
            "value": None if math.isnan(self.value) else self.value,
            "error": None if math.isnan(self.error) else self.error,
            "respondents": self.respondents,
            "missing": self.missing,
            "degrees": None if math.isinf(self.degrees) else self.degrees,
            "sample": self.sample,
            "variance": self.variance,
        }

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: Design) -> Correlation:
        value, error = (
            math.nan if source.get(name) is None else float(source[name])
            for name in ("value", "error")
        )
        respondents, missing = (
            documents.integer_field(source, name) for name in ("respondents", "missing")
        )
        degrees = (
            math.inf if source.get("degrees") is None else float(source["degrees"])
        )
        sample, variance = (
            documents.field(source, name, str) for name in ("sample", "variance")
        )
        return cls(
            value, error, respondents, missing, design, degrees, sample, variance
        )
