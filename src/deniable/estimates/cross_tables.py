"""Two attributes against each other: a table of shares with their errors, margins and covariances."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from deniable.designs import Design, product
from deniable.designs.design import Factor
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    quoted,
    require,
    require_options,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.independence import highest, response_scores, score_test
from deniable.estimates.intervals import Interval, bonferroni_level, quantile
from deniable.estimates.results import (
    Bounds,
    Caution,
    Columns,
    Description,
    IntervalRequest,
    Result,
    Row,
    RowType,
    read_type,
)
from deniable.estimates.shares import (
    Estimate,
    ShareRow,
    TallyEvidence,
    fitted,
)
from deniable.estimates.statistics import Model, Statistic
from deniable.estimates.testing import HypothesisTest, likelihood_ratio
from deniable.files.row_names import check_same_people
from deniable.rendering import Sheet, to_text
from deniable.rendering.statements import POSITIVE, state, state_measure
from deniable.tallies import Tally, marginal
from deniable.tallies.columns import column_of
from deniable.tallies.responses import Responses

if TYPE_CHECKING:
    from deniable.estimates.measures import TableMeasure
    from deniable.estimates.sampling import Sampling

__all__ = [
    "OTHER",
    "ModelledCells",
    "Table",
    "TableCells",
    "cross_table",
    "independence",
]

MAX_PAIRS = 1_000_000
"""Pairs of responses that are counted in a table of two columns."""

OTHER = "(other)"
"""The label of all strings that are not listed."""

_MIN_RATIO = 3.0  # a share of fewer standard errors is not told from 0


class TableAxis(NamedTuple):
    """An attribute of a table: its name, and the labels of its categories."""

    name: str
    labels: tuple[str, ...]


class Margin(NamedTuple):
    """The shares of one attribute alone, with their standard errors."""

    shares: Vector
    errors: Vector


class TableFacts(NamedTuple):
    """The counts of people in a table and, of a sample, its variance estimator and its description."""

    respondents: int
    missing: int
    variance: str = ""
    sample: str = ""

    @property
    def people(self) -> str:
        """The people in the table, for a title: the sample, or how many they are."""
        return self.sample or f"{self.respondents:,} respondents"


class TableEvidence(NamedTuple):
    """Counts of pairs of responses, and how a distance from their largest likelihood is judged.

    Attributes:
        counts: of all pairs; of a sample with weights and clusters those that as many independent people would give as
            tell as much.
        quantile: the distance for a confidence level, as a number of standard errors.
    """

    counts: Vector
    quantile: Callable[[float], float]


class TableCells(ABC):
    """The joint shares in a table, and the responses behind them."""

    type: ClassVar[str]
    """The name in JSON of a table with such cells."""

    states_strength: ClassVar[bool] = False
    """Whether the words about the table say that Cramér's V is not a number, where it is none."""

    if TYPE_CHECKING:  # fields of some classes, properties of others

        @property
        def estimate(self) -> Result[Any]:
            """The shares of all combinations, row by row."""

        @property
        def shares(self) -> Matrix:
            """The share of each row and column."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "type" in vars(cls):
            read_type(cls.type, Table)(partial(_read_table, cls))

    @property
    @abstractmethod
    def axes(self) -> tuple[TableAxis, TableAxis]:
        """The attributes that go down and across."""

    @property
    @abstractmethod
    def facts(self) -> TableFacts:
        """The counts of people."""

    def margin(self, axis: int) -> Margin:
        """Return the shares of the attribute that goes down (0) or across (1)."""
        shares = self.shares
        indices = np.indices(shares.shape)[axis].ravel()
        variances = [
            self.estimate._variance((indices == index).astype(np.float64))
            for index in range(shares.shape[axis])
        ]
        return Margin(shares.sum(axis=1 - axis), np.sqrt(variances))

    def rare_labels(self, axis: int) -> list[str]:
        """Return the answers whose shares are below three of their errors."""
        rows = zip(self.axes[axis].labels, *self.margin(axis), strict=True)
        return [label for label, share, error in rows if share < _MIN_RATIO * error]

    def independence(self, method: str | None) -> HypothesisTest | None:  # noqa: ARG002 - by default none is known
        """Test whether the two attributes are independent; None where no test is known."""
        return None

    def independence_sentence(self) -> str:
        """Return the test of independence in words; empty where there is none."""
        test = self.independence(None)
        return f"{test}." if test else ""

    def notes(self) -> tuple[str, ...]:
        """Return what is needed to read the table besides the notes of the estimate."""
        return ()

    def people_sentence(self) -> str:
        """Return in words how many people are in the table, and how many are not; empty where the notes do."""
        return ""

    def strength_interval(self, level: float) -> Interval | None:  # noqa: ARG002 - likewise
        """Return an interval of Cramér's V where the answers are too rare for that of the squares, if there is one."""
        return None

    @property
    def row_type(self) -> RowType:
        """The rows of the summary."""
        return self.estimate._row_type

    def row_columns(self, request: IntervalRequest) -> Mapping[str, Sequence[Any]]:
        """Return further columns of the summary by field of the row."""
        return self.estimate._row_columns(request)

    @abstractmethod
    def to_source(self) -> dict[str, Any]:
        """Return what `from_source` needs besides the design, for JSON."""

    @classmethod
    @abstractmethod
    def from_source(cls, source: Mapping[str, Any], design: Any) -> Self:
        """Construct the cells from their source."""


class EstimatedCells(TableCells):
    """TableCells of a product that everybody answered, with a likelihood of the joint shares."""

    @property
    @abstractmethod
    def design(self) -> Design:
        """The product that both were asked with."""

    @property
    def axes(self) -> tuple[TableAxis, TableAxis]:
        down, across = (
            TableAxis(name, tuple(factor.categories))
            for name, factor in self.design.factors
        )
        return down, across

    @property
    def shares(self) -> Matrix:
        """The share of each row and column."""
        down, across = self.axes
        shape = len(down.labels), len(across.labels)
        return self.estimate._values().reshape(shape)

    @property
    @abstractmethod
    def likely(self) -> Vector:
        """The maximum-likelihood shares of all combinations, row by row."""

    @abstractmethod
    def likely_covariance(self) -> Matrix:
        """Return their covariance, as if they lay inside of the simplex."""

    @abstractmethod
    def evidence(self, gradient: Vector) -> TableEvidence:
        """Return the counts whose likelihood tells a number with this gradient in the shares."""

    def people_sentence(self) -> str:
        n, missing = self.facts.respondents, self.facts.missing
        verb = "is" if missing == 1 else "are"
        left_out = f"; {missing:,} without both {verb} left out" if missing else ""
        return f"{n:,} respondent{'' if n == 1 else 's'}{left_out}."


class ModelledCells(TableCells, Model):
    """TableCells that are their own model: a statistic tells their shares."""

    @cached_property
    def estimate(self) -> Statistic[Self]:
        """The shares of all combinations, row by row."""
        return Statistic(self)

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.names, self.shares.ravel().tolist(), strict=True))

    @property
    def names(self) -> Sequence[str]:
        """The names of all combinations, row by row."""
        down, across = self.axes
        return [
            f"{row} · {column}" for row in down.labels for column in across.labels
        ]

    @property
    def row_type(self) -> RowType:
        return Row

    def row_columns(
        self,
        request: IntervalRequest | None = None,  # noqa: ARG002 - there are none
    ) -> Mapping[str, Any]:
        return {}


@dataclass(frozen=True, eq=False)
class Table(Result[Any]):
    """Shares of all combinations of two attributes, and how they are associated. Print it, or read its arrays.

    Attributes:
        cells: the joint shares, and the responses behind them.
    """

    cells: TableCells = field(repr=False)

    @property
    def type(self) -> str:  # type: ignore[override]  # one class has several types
        """The type's name in JSON."""
        return self.cells.type

    @property
    def estimate(self) -> Any:
        """The estimate of all cells, row by row; `estimate.cov_params()` is their covariance."""
        return self.cells.estimate

    @property
    def design(self) -> Any:
        """The product that both were asked with."""
        return self.estimate.design

    @property
    def rows(self) -> str:
        """The attribute that goes down."""
        return self.cells.axes[0].name

    @property
    def columns(self) -> str:
        """The attribute that goes across."""
        return self.cells.axes[1].name

    @property
    def row_labels(self) -> tuple[str, ...]:
        """The categories of the attribute that goes down."""
        return self.cells.axes[0].labels

    @property
    def column_labels(self) -> tuple[str, ...]:
        """The categories of the attribute that goes across."""
        return self.cells.axes[1].labels

    @cached_property
    def shares(self) -> Matrix:
        """The share of each row and column; unbiased unless the estimate says otherwise."""
        return self.cells.shares

    @cached_property
    def errors(self) -> Matrix:
        """The standard errors of the shares."""
        return vector(list(self.bse.values())).reshape(self.shares.shape)

    @cached_property
    def _margins(self) -> tuple[Margin, Margin]:
        return self.cells.margin(0), self.cells.margin(1)

    @property
    def row_totals(self) -> Vector:
        """The share of each row: what the estimate of that attribute alone gives."""
        return self._margins[0].shares

    @property
    def row_errors(self) -> Vector:
        """The standard errors of the row totals."""
        return self._margins[0].errors

    @property
    def column_totals(self) -> Vector:
        """The share of each column."""
        return self._margins[1].shares

    @property
    def column_errors(self) -> Vector:
        """The standard errors of the column totals."""
        return self._margins[1].errors

    @property
    def respondents(self) -> int:
        """The number of people who answered both."""
        return self.cells.facts.respondents

    @property
    def missing(self) -> int:
        """The number of people who lack one of both."""
        return self.cells.facts.missing

    @property
    def params(self) -> dict[str, float]:
        return self.cells.estimate.params

    @property
    def bse(self) -> dict[str, float]:
        return self.cells.estimate.bse

    def cov_params(self) -> Matrix:
        return self.cells.estimate.cov_params()

    @property
    def df(self) -> float:
        return self.cells.estimate.df

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.cells.estimate.warnings

    @property
    def _default_interval(self) -> str:
        return self.cells.estimate._default_interval

    def _requested_bounds(self, request: IntervalRequest) -> Bounds:
        return self.cells.estimate._requested_bounds(request)

    def _bounds(self, method: str | None, level: float) -> Bounds:
        return self.cells.estimate._bounds(method, level)

    def _describe(self, request: IntervalRequest) -> Description:
        description = self.cells.estimate._describe(request)
        words = self.association_words(level=request.level)
        notes = (*description.notes, *self.cells.notes(), *words)
        return dataclasses.replace(description, notes=notes)

    @property
    def _row_type(self) -> RowType:
        return self.cells.row_type

    def _row_columns(self, request: IntervalRequest) -> Mapping[str, Sequence[Any]]:
        return self.cells.row_columns(request)

    def _joined_names(self) -> dict[str, list[Any]]:
        n_rows, n_columns = self.shares.shape
        return {
            self.rows: [
                label for label in self.row_labels for _ in range(n_columns)
            ],
            self.columns: list(self.column_labels) * n_rows,
        }

    @property
    def _design_hash(self) -> str:
        return self.cells.estimate._design_hash

    def _source(self) -> dict[str, Any]:
        return self.cells.to_source()

    @property
    def unbiased(self) -> Table:
        """The unbiased table, for one whose shares were brought into the simplex."""
        if not getattr(self.estimate, "bounded", False):
            return self
        return cross_table(self.estimate.tally)

    def covariance(self, first: tuple[str, str], second: tuple[str, str]) -> float:
        """Return the covariance of two cells, each named by its row and its column."""
        indices = tuple(
            self.design.category_number({self.rows: row, self.columns: column})
            for row, column in (first, second)
        )
        return float(self.cov_params()[indices])

    def independence(self, *, method: str | None = None) -> HypothesisTest:
        """Test whether the two attributes are independent.

        Implements: of a tally the score test of the table of responses, or G²: twice what the log-likelihood of the
        joint shares is above that of both margins [Wil38]. Of a sample Wald's test of π_ab − π_a·π_b, with its
        covariance and an F law for its degrees of freedom [KG90].

        Args:
            method: of a tally "score" (the default), which is exact where responses are few, or "likelihood".

        Raises:
            InvalidRequest: another method, or a table of which no test is known.
            NotEstimable: more cells than the clusters of a sample can tell.
        """
        test = self.cells.independence(method)
        if test is None:
            raise InvalidRequest(
                "no test of independence is known for this table; expected one of people who answered both."
            )
        return test

    @property
    def p_value(self) -> float:
        """The p-value of the test of independence."""
        return self.independence().p_value

    @property
    def cramers_v(self) -> float:
        """Cramér's V: 0 for independent questions, 1 where one answer tells the other.

        Implements: φ² = Σ (π_ab − π_a·π_b)² / (π_a·π_b), less what the errors of the shares add to it on average, and
        V = √(φ² / (m − 1)), with m the smaller number of answers [Cra46]. Below 0 it counts as 0, above 1 as 1.
        Answers too rare to be told from 0 count together (`pooled`); where fewer than two are left it is not a number.
        """
        strength = _Strength.from_table(self)
        return strength.v(strength.total - strength.expected)

    def cramers_v_interval(self, *, level: float = 0.95) -> Interval:
        """Return an interval for Cramér's V; where answers are too rare to be told from 0, of a tally by likelihood.

        Why: the sum of squares is, but for a factor, nearly a noncentral χ²; all noncentralities that explain it are in
        the interval. It begins at 0 where independent questions explain it. A sum that is smaller than half of those
        that independent questions give, by luck, tells no more than a usual one: it counts as their median, so that the
        interval is never without width, and holds the truth as often or more.

        Raises:
            InvalidRequest: a level outside (0, 1).
            NotEstimable: a table of rare answers with too many cells to search.
        """
        strength, tail = (
            _Strength.from_table(self),
            (1 - bonferroni_level(1, level)) / 2,
        )
        low, high = (
            strength.noncentrality(1 - tail),
            strength.noncentrality(tail, min_quantile=0.5),
        )
        by_likelihood = (
            self.cells.strength_interval(level) if math.isnan(low) else None
        )
        squares = Interval(
            *(strength.v(strength.scale * end) for end in (low, high))
        )
        return by_likelihood or squares

    def pooled(self, axis: int) -> Matrix:
        """Return which answers Cramér's V counts together, a row for each group: those too rare to be told from 0.

        They go to all other strings, or to the rarest answer that is not one of them.

        Args:
            axis: 1 for the answers to the first question, over whose rows the table is summed; 0 for the second.
        """
        labels, shares = (
            self.cells.axes[1 - axis].labels,
            self._margins[1 - axis].shares,
        )
        rare = np.isin(labels, self.cells.rare_labels(1 - axis))
        rarest = np.where(rare, np.inf, shares).argmin()
        host = len(labels) - 1 if labels[-1] == OTHER else rarest
        together = rare | (np.arange(len(labels)) == host)
        return np.vstack(
            [np.eye(len(labels))[~together], together.astype(np.float64)]
        )

    def odds_ratio(
        self,
        rows: tuple[str, str] | None = None,
        columns: tuple[str, str] | None = None,
    ) -> Statistic[TableMeasure]:
        """Return the odds ratio π_ac·π_bd / (π_ad·π_bc) of two rows a, b and two columns c, d.

        Args:
            rows: two answers of the attribute that goes down; may be left away where there are two.
            columns: two answers of the one that goes across.

        Raises:
            InvalidRequest: answers that the table does not have.
        """
        pairs = (
            _index_pair(labels, answers, name)
            for labels, answers, name in (
                (self.row_labels, rows, "rows"),
                (self.column_labels, columns, "columns"),
            )
        )
        return self._measure("odds ratio", *pairs)

    def correlation(
        self,
        rows: Sequence[float] | None = None,
        columns: Sequence[float] | None = None,
    ) -> Statistic[TableMeasure]:
        """Return the correlation of numbers that stand for the answers.

        Args:
            rows: a number for each answer of the attribute that goes down; 0, 1, 2 and so on by default.
            columns: a number for each answer of the one that goes across.

        Raises:
            InvalidRequest: other numbers of numbers, or all of them alike.
        """
        scores = map(_read_scores, (rows, columns), self.shares.shape)
        return self._measure("correlation", *scores)

    def share(self, column: str, *, among: str) -> Statistic[TableMeasure]:
        """Return the share of a column among the people of a row: of drinkers among those who smoke.

        Raises:
            InvalidRequest: answers that the table does not have.
        """
        row = float(_index(self.row_labels, among))
        return self._measure(
            "share", (row,), (float(_index(self.column_labels, column)),)
        )

    def _measure(
        self, name: str, rows: tuple[float, ...], columns: tuple[float, ...]
    ) -> Statistic[TableMeasure]:
        from deniable.estimates.measures import TableMeasure

        if not isinstance(self.cells, EstimatedCells):
            raise InvalidRequest(
                f"the {name} is not known for this table; expected one that cross_table() made."
            )
        return Statistic(TableMeasure(self.cells, name, rows, columns))

    def association_words(self, *, level: float = 0.95) -> tuple[str, ...]:
        """Return in words how both attributes are associated: the test, an odds ratio, Cramér's V."""
        test = self.cells.independence_sentence()
        if not test:
            return ()
        sentences = [test]
        if self.shares.shape == (2, 2) and isinstance(self.cells, EstimatedCells):
            ratio = self.odds_ratio()
            bounds = ratio.interval("odds ratio", level=level)
            stated = state(ratio.value, *bounds, POSITIVE)
            sentences.append(state_measure("Odds ratio", stated, "{:.3g}".format))
        if self.cells.states_strength or not math.isnan(self.cramers_v):
            stated = state(self.cramers_v, *self.cramers_v_interval(level=level))
            name = "Cramér's V, less what noise adds"
            sentences.append(state_measure(name, stated, "{:.3f}".format))
        return tuple(sentences)

    def _sheet(self) -> Sheet:
        summary = self.summary()._sheet()
        return dataclasses.replace(
            self._grid(),
            title=summary.title,
            notes=summary.notes,
            names=summary.names,
            values=summary.values,
        )

    def text(self, *, level: float = 0.95) -> str:
        """Return the table as text: shares with their errors, margins, how both are associated, what calls for care.

        Args:
            level: how often the intervals of the odds ratio and of Cramér's V hold the truth.
        """
        grid = to_text(self._grid()).removeprefix("\n")
        words = (self.cells.people_sentence(), *self.association_words(level=level))
        cautions = (f"Warning: {caution}" for caution in self.warnings)
        return "\n".join([grid, *filter(None, words), *cautions])

    def __str__(self) -> str:
        return self.text()

    def _grid(self) -> Sheet:
        body = [
            (label, *map(_cell, shares, errors), _cell(total, error))
            for label, shares, errors, total, error in zip(
                self.row_labels,
                self.shares,
                self.errors,
                *self._margins[0],
                strict=True,
            )
        ]
        foot = ("all", *map(_cell, *self._margins[1]), "")
        heads = (f"{self.rows} by {self.columns}", *self.column_labels, "all")
        return Sheet("", heads, (*body, foot))


def _read_table(
    cells: type[TableCells], source: Mapping[str, Any], design: object
) -> Table:
    return Table(cells.from_source(source, design))


class _Strength(NamedTuple):
    """The sum of squares behind Cramér's V.

    Attributes:
        total: Σ (π_ab − π_a·π_b)² / (π_a·π_b), of the estimated shares.
        expected: what their errors add to it on average.
        scale: by which it is nearly a noncentral χ².
        labels: the smaller number of answers.
    """

    total: float
    expected: float
    scale: float
    labels: int

    @classmethod
    def from_table(cls, table: Table) -> _Strength:
        pools = [table.pooled(axis) for axis in (1, 0)]
        shares = pools[0] @ table.shares @ pools[1].T
        down, across = shares.sum(axis=1), shares.sum(axis=0)
        if min(shares.shape) < 2 or min(down.min(), across.min()) <= 0:
            return cls(math.nan, math.nan, math.nan, 2)
        roots = np.sqrt(np.outer(down, across)).reshape(-1, 1)
        centered = [np.eye(len(sums)) - sums[:, None] for sums in (down, across)]
        residuals = np.kron(*centered) / roots
        jacobian = residuals @ np.kron(*pools)
        covariance = jacobian @ table.cov_params() @ jacobian.T
        residual = residuals @ shares.reshape(-1)
        total, expected = float(residual @ residual), float(np.trace(covariance))
        # Without any variance, as of a table all of whose people are in two cells, the law is not known.
        if expected <= 0:
            return cls(total, expected, math.nan, min(shares.shape))
        along = float(residual @ covariance @ residual) / max(total, 1e-300)
        scale = max(along, float((covariance**2).sum()) / expected)
        return cls(total, expected, scale, min(shares.shape))

    def v(self, squares: float) -> float:
        """Return Cramér's V for a sum of squares."""
        if math.isnan(squares):
            return math.nan
        return math.sqrt(min(max(squares, 0.0) / (self.labels - 1), 1.0))

    def noncentrality(
        self, probability: float, *, min_quantile: float = 0.0
    ) -> float:
        """Return the noncentrality at which a χ² is below the observed sum with this probability.

        Args:
            probability: the lower tail.
            min_quantile: which quantile of independent questions the observed sum counts as at least.
        """
        observed, df = self.total / self.scale, self.expected / self.scale
        if math.isnan(observed):
            return math.nan
        observed = max(observed, float(chi2.ppf(min_quantile, df)))

        def excess(noncentrality: float) -> float:
            return float(ncx2.cdf(observed, df, noncentrality)) - probability

        if excess(0.0) <= 0:
            return 0.0
        upper = 2 * observed + 40 * math.sqrt(observed + 1) + 100
        return float(brentq(excess, 0.0, upper))


@dataclass(frozen=True, slots=True)
class CellRow(ShareRow):
    """The share of one pair of answers.

    Attributes:
        unbiased: the unbiased share, beside one that was brought into the simplex.
    """

    COLUMNS: ClassVar[Columns] = (
        ShareRow.COLUMNS[0],
        ("unbiased",),
        *ShareRow.COLUMNS[1:],
    )
    SHARES: ClassVar[tuple[str, ...]] = (*ShareRow.SHARES, "unbiased")

    unbiased: float | None = None


@dataclass(frozen=True, eq=False)
class CountedCells(EstimatedCells):
    """TableCells of a tally of a product.

    Attributes:
        estimate: the shares of all combinations.
    """

    type: ClassVar = "cross-table"

    estimate: Estimate = field(repr=False)

    def __post_init__(self) -> None:
        n_factors = len(self.design.factors)
        if n_factors != 2:
            raise InvalidRequest(
                f"the estimate is of {max(1, n_factors)} attributes; expected 2, for rows and columns.",
                "Say which: cross_table(tally, rows='smokes', columns='drinks').",
            )

    @property
    def design(self) -> Design:
        return self.estimate.design

    @property
    def facts(self) -> TableFacts:
        return TableFacts(self.estimate.respondents, self.estimate.tally.missing)

    @cached_property
    def mle(self) -> Estimate:
        """The maximum-likelihood estimate."""
        if self.estimate.bounded:
            return self.estimate
        return fitted(self.estimate.tally, method="likelihood")

    @property
    def likely(self) -> Vector:
        return self.mle.value

    def likely_covariance(self) -> Matrix:
        return self.mle.cov_params()

    def evidence(self, gradient: Vector) -> TableEvidence:  # noqa: ARG002 - people are independent, whatever is asked
        return TableEvidence(self.estimate.tally.counts.astype(np.float64), quantile)

    def independence(self, method: str | None) -> HypothesisTest:
        return independence(self.estimate.tally, method=method)

    def strength_interval(self, level: float) -> Interval:
        from deniable.estimates.measures import strength_range

        return strength_range(self, level)

    @property
    def row_type(self) -> RowType:
        return CellRow

    def row_columns(self, request: IntervalRequest) -> Mapping[str, Sequence[Any]]:
        unbiased: Sequence[float | None] = [None] * len(self.estimate.value)
        if self.estimate.bounded:
            unbiased = fitted(self.estimate.tally).value.tolist()
        return {**super().row_columns(request), "unbiased": unbiased}

    def to_source(self) -> dict[str, Any]:
        return self.estimate._source()

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: Design) -> Self:
        return cls(TallyEvidence.read(source, design))


def cross_table(
    given: object,
    second: object = None,
    *,
    rows: str | None = None,
    columns: str | None = None,
    method: str = "inversion",
    sampling: Sampling | None = None,
) -> Table:
    """Set two attributes against each other: a table of joint shares with its margins, and how they hang together.

    `cross_table(estimate)` and `cross_table(tally)` are of a `product`. `cross_table(smokes, drinks)` is of two columns
    of the same rows: each `Responses`, or a design with what was sent, such as `(design, frame["drinks"])`; or, one of
    the two, a column of what is openly known of each respondent, such as `frame["sex"]`.

    Args:
        given: an estimate, a tally or responses of several attributes, or the first of two columns.
        second: the second column.
        rows: the attribute that goes down: which of a product, if it has more than two; or what to call the first
            column.
        columns: the attribute that goes across.
        method: "inversion" for the unbiased table, or "likelihood" for one in the simplex, with the unbiased one
            beside it; of an estimate its own.
        sampling: of two columns: how these people were drawn.

    Raises:
        InvalidRequest: another number of attributes, nothing to set against the first, or a column of one answer.
        Incompatible: columns of different lengths.
        InvalidResponse: something that a design cannot send.

    Example:
        >>> from deniable.designs import product, warner
        >>> from deniable.tallies import Tally
        >>> both = product({"smokes": warner(p="3/4"), "drinks": warner(p="3/4")})
        >>> print(cross_table(Tally(both, [400, 200, 250, 150])))
        smokes by drinks             no            yes            all
        no                0.600 ± 0.044  0.100 ± 0.036  0.700 ± 0.031
        yes               0.200 ± 0.039  0.100 ± 0.032  0.300 ± 0.031
        all               0.800 ± 0.030  0.200 ± 0.030
        1,000 respondents.
        Test of independence: χ² = 1.83 with 1 degree of freedom, p = 0.176.
        Odds ratio: 3 (0.557 … 19.9).
        Cramér's V, less what noise adds: 0.146 (0.000 … 0.536).
    """
    require_options(texts={"rows": rows, "columns": columns, "method": method})
    if sampling is not None:
        from deniable.estimates.sampling.tables import sample_table

        if isinstance(given, Estimate | Tally) or method != "inversion":
            raise InvalidRequest(
                "a sampling describes rows, and its table is unbiased; expected two columns, a row for each person.",
                "For example dn.cross_table(smokes, drinks, sampling=sample).",
            )
        check_same_people(first=given, second=second, sampling=sampling)
        return sample_table(*_pair_columns(given, second, rows, columns), sampling)
    if isinstance(given, Estimate) and second is None:
        if rows is None and columns is None:
            return Table(CountedCells(given))
        method = given.method.partition(",")[0]
        given = given.tally
    if isinstance(given, Tally):
        tally = _marginal_tally(given, second, rows, columns)
    elif (
        second is None
        and isinstance(given, Responses)
        and getattr(given.design, "factors", None)
    ):
        column = column_of(given)
        tally = _marginal_tally(
            _count_codes(column.design, column.codes), None, rows, columns
        )
    else:
        tally = _count_codes(*_pair_columns(given, second, rows, columns))
    return Table(CountedCells(fitted(tally, method=method)))


def _marginal_tally(
    tally: Tally, second: object, rows: str | None, columns: str | None
) -> Tally:
    """Return the tally of two attributes of a product."""
    if second is not None:
        raise InvalidRequest(
            "a tally of several attributes was given with a second column; expected one of the two."
        )
    if rows is not None and columns is not None:
        return marginal(tally, rows, columns)
    if rows is not None or columns is not None:
        raise InvalidRequest(
            "one attribute was named; expected rows= and columns=, or neither."
        )
    return tally


def independence(
    given: Tally | Estimate, *, method: str | None = None
) -> HypothesisTest:
    """Test whether the attributes of a product are independent: two of them, or all of more.

    Implements: of two attributes the score test of the table of responses. Of any number G²: twice what the
    log-likelihood of the joint shares is above that of all margins [Wil38].

    Args:
        given: a tally of several attributes, or its estimate.
        method: "score" for two attributes, the default for two; "likelihood" for any number.

    Raises:
        InvalidRequest: one attribute, or a method that does not go with their number.

    Example:
        >>> from deniable.designs import product, warner
        >>> three = Tally(product([warner(2)] * 3), [90, 20, 25, 15, 30, 10, 12, 40])
        >>> print(independence(three))
        Test of independence: G² = 76.83 with 4 degrees of freedom, p = 8.16e-16
    """
    require(
        isinstance(given, Tally | Estimate),
        given,
        "what is tested",
        "a tally of several attributes, or its estimate",
    )
    tally = given if isinstance(given, Tally) else given.tally
    factors = tally.design.factors
    chosen = _independence_method(factors, method)
    if chosen == "score":
        designs = [factor.design for factor in factors]
        shape = [design.channel.responses for design in designs]
        rows, columns = map(response_scores, designs)
        return score_test(vector(tally.counts).reshape(shape), rows, columns)
    return _likelihood_test(tally, factors)


def _independence_method(factors: Sequence[Factor], method: str | None) -> str:
    chosen = method or ("score" if len(factors) == 2 else "likelihood")
    allowed = {1: (), 2: ("score", "likelihood")}.get(
        max(1, len(factors)), ("likelihood",)
    )
    if chosen not in allowed:
        raise InvalidRequest(
            f"the method is {quoted(chosen)} for {max(1, len(factors))} attributes; expected score for two of them, or "
            "likelihood for two or more."
        )
    return chosen


def _likelihood_test(tally: Tally, factors: Sequence[Factor]) -> HypothesisTest:
    """Test independence by the ratio of the likelihoods with and without it."""
    margins = [marginal(tally, factor.attribute) for factor in factors]
    heights = [
        highest(counts.design, vector(counts.counts)) for counts in (tally, *margins)
    ]
    sizes = [len(margin.design.categories) for margin in margins]
    df = math.prod(sizes) - 1 - sum(size - 1 for size in sizes)
    return likelihood_ratio(
        "Test of independence", heights[0] - sum(heights[1:]), df
    )


def _count_codes(design: Design, codes: NDArray[np.int64]) -> Tally:
    """Return the tally of responses to a product; a negative code is a missing response."""
    present = codes >= 0
    counts = np.bincount(codes[present], minlength=design.channel.responses)
    return Tally(design, counts, int((~present).sum()))


def _pair_columns(
    first: object, second: object, rows: str | None, columns: str | None
) -> tuple[Design, NDArray[np.int64]]:
    """Return two columns as the responses to a product, -1 where one of them is missing."""
    check_same_people(first=first, second=second)
    down, across = column_of(first), column_of(second)
    if down.open and across.open:
        raise InvalidRequest(
            "neither column holds responses; expected at least one that was drawn with a design.",
            "Hand over what respond_all() returned, or (design, column).",
        )
    if len(down.codes) != len(across.codes):
        raise Incompatible(
            f"there are {len(down.codes):,} and {len(across.codes):,} rows; expected one of each for every respondent."
        )
    names = (rows or down.name or "first", columns or across.name or "second")
    if names[0] == names[1]:
        raise InvalidRequest(
            "both columns have one name; expected rows= and columns= to tell them apart."
        )
    both = product({names[0]: down.design, names[1]: across.design})
    n_pairs = both.channel.responses
    if n_pairs > MAX_PAIRS:
        raise InvalidRequest(
            f"there are {n_pairs:,} pairs of responses; expected at most {MAX_PAIRS:,}.",
            "Use dn.association(), which needs no table.",
        )
    present = (down.codes >= 0) & (across.codes >= 0)
    codes = down.codes * across.design.channel.responses + across.codes
    return both, np.where(present, codes, -1)


def _index_pair(
    labels: Sequence[str], pair: tuple[str, str] | None, name: str
) -> tuple[float, ...]:
    """Return the indices of two labels; of two in all, by default theirs."""
    if pair is None and len(labels) > 2:
        some = ", ".join(map(repr, labels[:5]))
        raise InvalidRequest(
            f"there are {len(labels)} {name}; expected which two: {name}= two of {some:.200}."
        )
    if pair is None:
        return (0.0, 1.0)
    require(
        isinstance(pair, Sequence) and not isinstance(pair, str),
        pair,
        f"{name}=",
        f"two answers, such as ({labels[0]!r}, {labels[1]!r})",
    )
    indices = tuple(float(_index(labels, label)) for label in pair)
    if len(set(indices)) != 2:
        raise InvalidRequest(
            f"there are {len(indices)} answers to be compared; expected two different ones."
        )
    return indices


def _read_scores(scores: Sequence[float] | None, size: int) -> tuple[float, ...]:
    if scores is None:
        scores = range(size)
    are_numbers = isinstance(scores, Iterable) and all(
        isinstance(score, Real) for score in scores
    )
    require(are_numbers, scores, "what stands for the answers", "a number for each")
    numbers = tuple(map(float, scores))
    if (
        len(numbers) != size
        or len(set(numbers)) < 2
        or not all(map(math.isfinite, numbers))
    ):
        raise InvalidRequest(
            f"there are {len(numbers)} numbers; expected one for each of {size} answers, not all alike."
        )
    return numbers


def _index(labels: Sequence[str], label: str) -> int:
    if label not in labels:
        some = ", ".join(map(repr, labels[:5]))
        raise InvalidRequest(
            f"{quoted(label)} is no answer of this table; expected one such as {some:.200}."
        )
    return labels.index(label)


def _cell(share: float, error: float) -> str:
    return f"{share:.3f} ± {error:.3f}"
