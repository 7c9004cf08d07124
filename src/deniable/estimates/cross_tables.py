"""Two attributes against each other: a table of shares with their errors, margins and covariances."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from deniable.designs import Design, product
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    quoted,
    require,
    require_options,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.independence import highest, response_scores, score_test
from deniable.estimates.intervals import Interval, one_of, quantile
from deniable.estimates.results import Caution, Columns, Result, Row, Summary
from deniable.estimates.shares import Estimate, ShareRow, TallyEvidence, fitted
from deniable.estimates.testing import HypothesisTest, likelihood_ratio
from deniable.files.row_names import check_same_people
from deniable.rendering import Sheet
from deniable.tallies import Tally, marginal
from deniable.tallies.columns import column_of
from deniable.tallies.responses import Responses

if TYPE_CHECKING:
    from deniable.estimates.measures import TableMeasure
    from deniable.estimates.sampling import Sampling
    from deniable.estimates.sampling.tables import SampledTable
    from deniable.estimates.statistics import Statistic

MOST_PAIRS = 1_000_000
"""Pairs of responses that are counted in a table of two columns."""


OTHER = "(other)"
"""The label of all strings that are not listed."""

_FAINT = 3.0  # standard errors below which a share is not told from 0


@dataclass(frozen=True, eq=False)
class Grid(Result):
    """Shares of all combinations of two attributes. Print it, or read its arrays.

    Attributes:
        rows: the attribute that goes down.
        columns: the attribute that goes across.
        row_labels: its categories.
        column_labels: its categories.
        shares: a share for each row and column; unbiased unless the estimate says otherwise.
        errors: their standard errors.
        row_totals: the share of each row; what the estimate of that attribute alone gives.
        row_errors: their standard errors.
        column_totals: the share of each column.
        column_errors: their standard errors.
    """

    rows: str
    columns: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    shares: Matrix
    errors: Matrix
    row_totals: Vector
    row_errors: Vector
    column_totals: Vector
    column_errors: Vector

    @property
    def cramers_v(self) -> float:
        """Cramér's V: 0 for independent questions, 1 where one answer tells the other.

        Implements: φ² = Σ (π_ab − π_a·π_b)² / (π_a·π_b), less what the errors of the shares add to it on average, and
        V = √(φ² / (m − 1)), with m the smaller number of answers [Cra46]. Below 0 it counts as 0, above 1 as 1.
        Answers too rare to be told from 0 count together (`pooled`); where fewer than two are left it is not a number.
        """
        found = _Strength.of(self)
        return found.v(found.total - found.expected)

    def cramers_v_interval(self, *, level: float = 0.95) -> Interval:
        """Return an interval for Cramér's V.

        Why: the sum of squares is, but for a factor, nearly a noncentral χ²; all noncentralities that explain it are in
        the interval. It begins at 0 where independent questions explain it. A sum that is smaller than half of those
        that independent questions give, by luck, tells no more than a usual one: it counts as their median, so that the
        interval is never without width, and holds the truth as often or more.

        Raises:
            InvalidRequest: a level outside (0, 1).
        """
        found, tail = _Strength.of(self), (1 - one_of(1, level)) / 2
        ends = found.noncentrality(1 - tail), found.noncentrality(tail, least=0.5)
        return Interval(*(found.v(found.scale * each) for each in ends))

    def _faint(self, axis: int) -> list[str]:
        """Return the answers whose shares are below three of their errors."""
        return [
            label
            for label, share, error in zip(*self._margin(axis), strict=True)
            if share < _FAINT * error
        ]

    def pooled(self, axis: int) -> Matrix:
        """Return which answers Cramér's V counts together, a row for each group: those too rare to be told from 0.

        They go to all other strings, or to the rarest answer that is not one of them.

        Args:
            axis: 1 for the answers to the first question, over whose rows the table is summed; 0 for the second.
        """
        labels, shares, _ = self._margin(axis)
        faint = np.isin(labels, self._faint(axis))
        joined = faint | (
            np.arange(len(labels)) == np.where(faint, np.inf, shares).argmin()
        )
        if labels[-1] == OTHER:
            joined = faint | (np.arange(len(labels)) == len(labels) - 1)
        apart = np.eye(len(labels))[~joined]
        return np.vstack([apart, joined.astype(np.float64)])

    def _margin(self, axis: int) -> tuple[tuple[str, ...], Vector, Vector]:
        """Return the labels of a margin, its shares and their errors; what is summed over is the axis."""
        if axis:
            return self.row_labels, self.row_totals, self.row_errors
        return self.column_labels, self.column_totals, self.column_errors

    def _sheet(self) -> Sheet:
        heads, *cells = map(tuple, self._cells())
        summary = self.summary()._sheet()
        return Sheet(
            summary.title,
            heads,
            tuple(cells),
            summary.notes,
            names=summary.names,
            values=summary.values,
        )

    def __str__(self) -> str:
        return _lines(self._cells())

    def _cells(self) -> list[list[str]]:
        head = [f"{self.rows} by {self.columns}", *self.column_labels, "all"]
        body = [
            [label, *map(_cell, shares, errors), _cell(total, error)]
            for label, shares, errors, total, error in zip(
                self.row_labels,
                self.shares,
                self.errors,
                self.row_totals,
                self.row_errors,
                strict=True,
            )
        ]
        foot = ["all", *map(_cell, self.column_totals, self.column_errors), ""]
        return [head, *body, foot]


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
    def of(cls, made: Grid) -> _Strength:
        groups = [made.pooled(axis) for axis in (1, 0)]
        joined = np.kron(*groups)
        table = groups[0] @ made.shares @ groups[1].T
        down, across = table.sum(axis=1), table.sum(axis=0)
        if min(table.shape) < 2 or min(down.min(), across.min()) <= 0:
            return cls(math.nan, math.nan, math.nan, 2)
        scale = np.sqrt(np.outer(down, across)).reshape(-1, 1)
        apart = (
            np.kron(
                np.eye(len(down)) - down[:, None], np.eye(len(across)) - across[:, None]
            )
            / scale
        )
        spread = apart @ joined @ made.cov_params() @ joined.T @ apart.T
        away = apart @ table.reshape(-1)
        total, expected = float(away @ away), float(np.trace(spread))
        along = float(away @ spread @ away) / max(total, 1e-300)
        # Without any spread, as of a table all of whose people are in two cells, the law is not known: not a number.
        scale_of = (
            max(along, float((spread**2).sum()) / expected)
            if expected > 0
            else math.nan
        )
        return cls(total, expected, scale_of, min(table.shape))

    def v(self, squares: float) -> float:
        """Return Cramér's V for a sum of squares."""
        if math.isnan(squares):
            return math.nan
        return math.sqrt(min(max(squares, 0.0) / (self.labels - 1), 1.0))

    def noncentrality(self, chance: float, *, least: float = 0.0) -> float:
        """Return the noncentrality at which a χ² is below what was seen with this chance.

        Args:
            chance: the lower tail.
            least: which quantile of independent questions the sum that was seen counts as at least.
        """
        seen, freedom = self.total / self.scale, self.expected / self.scale
        if math.isnan(seen):
            return math.nan
        seen = max(seen, float(chi2.ppf(least, freedom)))

        def excess(far: float) -> float:
            return float(ncx2.cdf(seen, freedom, far)) - chance

        if excess(0.0) <= 0:
            return 0.0
        return float(brentq(excess, 0.0, 2 * seen + 40 * math.sqrt(seen + 1) + 100))


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
class AnswerTable(Grid):
    """Shares of all combinations of two attributes that everybody answered, and how they hang together.

    Attributes:
        estimate: what the table shows; `estimate.cov_params()` is the covariance of all cells.
    """

    estimate: Result = field(repr=False)

    @property
    def params(self) -> dict[str, float]:
        return self.estimate.params

    @property
    def bse(self) -> dict[str, float]:
        return self.estimate.bse

    def cov_params(self) -> Matrix:
        return self.estimate.cov_params()

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Interval]:
        return self.estimate.conf_int(
            level=level, method=method, simultaneous=simultaneous
        )

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[Row]:
        """Return the summary of the cells, with how both attributes are associated."""
        cells = self.estimate.summary(
            level=level, method=method, simultaneous=simultaneous
        )
        notes = (
            *cells.notes,
            *self._further_notes(),
            *self.association_words(level=level),
        )
        return dataclasses.replace(
            cells, rows=self._table_rows(cells.rows), notes=notes
        )

    def _table_rows(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        """Return the rows of the table from those of its cells."""
        return tuple(rows)

    def _further_notes(self) -> tuple[str, ...]:
        """Return what else is needed to read the table."""
        return ()

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.estimate.warnings

    @property
    @abstractmethod
    def design(self) -> Design:
        """The product that both were asked with."""

    @property
    @abstractmethod
    def told(self) -> TableFacts:
        """How many responses the table is made from, how, and how many are missing."""

    @property
    @abstractmethod
    def likely(self) -> Vector:
        """The most likely shares of all combinations, row by row."""

    @abstractmethod
    def likely_covariance(self) -> Matrix:
        """Return their covariance, as if they lay inside of the simplex."""

    @abstractmethod
    def evidence(self, slopes: Vector) -> TableEvidence:
        """Return the counts of responses whose likelihood tells a number with these slopes about the shares."""

    @abstractmethod
    def independence(self) -> HypothesisTest:
        """Test whether the two attributes are independent."""

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
        from deniable.estimates.measures import TableMeasure
        from deniable.estimates.statistics import Statistic

        return Statistic(
            TableMeasure(
                self, "odds ratio", self._chosen(rows, 0), self._chosen(columns, 1)
            )
        )

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
        from deniable.estimates.measures import TableMeasure
        from deniable.estimates.statistics import Statistic

        return Statistic(
            TableMeasure(
                self, "correlation", *map(_numbers, (rows, columns), self.shares.shape)
            )
        )

    def share(self, column: str, *, among: str) -> Statistic[TableMeasure]:
        """Return the share of a column among the people of a row: of drinkers among those who smoke.

        Raises:
            InvalidRequest: answers that the table does not have.
        """
        from deniable.estimates.measures import TableMeasure
        from deniable.estimates.statistics import Statistic

        chosen = _place(self.row_labels, among), _place(self.column_labels, column)
        return Statistic(
            TableMeasure(self, "share", (float(chosen[0]),), (float(chosen[1]),))
        )

    def _chosen(self, given: tuple[str, str] | None, axis: int) -> tuple[float, ...]:
        labels, side = ((self.row_labels, "rows"), (self.column_labels, "columns"))[
            axis
        ]
        if given is None and len(labels) > 2:
            some = ", ".join(map(repr, labels[:5]))
            raise InvalidRequest(
                f"there are {len(labels)} {side}; expected which two: {side}= two of {some:.200}."
            )
        if given is None:
            return (0.0, 1.0)
        pair = isinstance(given, Sequence) and not isinstance(given, str)
        require(
            pair,
            given,
            f"{side}=",
            f"two answers, such as ({labels[0]!r}, {labels[1]!r})",
        )
        places = tuple(float(_place(labels, each)) for each in given)
        if len(set(places)) != 2:
            raise InvalidRequest(
                f"there are {len(places)} answers to be compared; expected two different ones."
            )
        return places

    def association_words(self, *, level: float = 0.95) -> tuple[str, ...]:
        """Return in words how both attributes hang together: the test, an odds ratio, Cramér's V."""
        found = [f"{self.independence()}."]
        if self.shares.shape == (2, 2):
            ratio = self.odds_ratio()
            between = ratio.conf_int(level=level)["odds ratio"]
            found.append(
                f"Odds ratio: {ratio.value:.3g} ({between.low:.3g} … {between.high:.3g})."
            )
        if not math.isnan(self.cramers_v):
            low, high = self.cramers_v_interval(level=level)
            ends = "" if math.isnan(low) else f" ({low:.3f} … {high:.3f})"
            found.append(
                f"Cramér's V, less what noise adds: {self.cramers_v:.3f}{ends}."
            )
        return tuple(found)

    def _people(self) -> str:
        """Return in words how many people are in the table, and how many are not."""
        n, missing = self.told.respondents, self.told.missing
        left = (
            f"; {missing:,} without both {'is' if missing == 1 else 'are'} left out"
            if missing
            else ""
        )
        return f"{n:,} respondent{'' if n == 1 else 's'}{left}."

    def text(self, *, level: float = 0.95) -> str:
        """Return the table for people: shares with their errors, margins, how both hang together, what calls for care.

        Args:
            level: how often the intervals of the odds ratio and of Cramér's V hold the truth.
        """
        words = (self._people(), *self.association_words(level=level))
        return "\n".join(
            [super().__str__(), *words, *(f"Warning: {each}" for each in self.warnings)]
        )

    def __str__(self) -> str:
        return self.text()


class TableFacts(NamedTuple):
    """What is told beside every number about a table."""

    respondents: int
    missing: int
    variance: str = ""  # of a sample: how it was found, in a word or two
    sample: str = ""

    @property
    def people(self) -> str:
        """Of whom the table is, for a title: the sample, or how many people."""
        return self.sample or f"{self.respondents:,} respondents"


class TableEvidence(NamedTuple):
    """Counts of pairs of responses, and how a distance from their largest likelihood is judged.

    Attributes:
        counts: of all pairs; of a sample with weights and clusters those that as many independent people would give as
            tell as much.
        quantile: the distance for a confidence, as a number of standard errors.
    """

    counts: Vector
    quantile: Callable[[float], float]


@dataclass(frozen=True, eq=False)
class CrossTable(AnswerTable):
    """Shares of all combinations of two attributes that everybody answered, and how they hang together.

    Attributes:
        estimate: what the table shows; `estimate.cov_params()` is the covariance of all cells.
    """

    type: ClassVar = "cross-table"

    estimate: Estimate = field(repr=False)

    @property
    def design(self) -> Design:
        return self.estimate.design

    @property
    def told(self) -> TableFacts:
        return TableFacts(self.estimate.respondents, self.estimate.tally.missing)

    @cached_property
    def _likely(self) -> Estimate:
        return (
            self.estimate
            if self.estimate.bounded
            else fitted(self.estimate.tally, method="likelihood")
        )

    @property
    def likely(self) -> Vector:
        return self._likely.value

    def likely_covariance(self) -> Matrix:
        return self._likely.cov_params()

    def evidence(self, slopes: Vector) -> TableEvidence:  # noqa: ARG002 - people are independent, whatever is asked
        return TableEvidence(self.estimate.tally.counts.astype(np.float64), quantile)

    @property
    def unbiased(self) -> CrossTable:
        """The unbiased table, for one whose shares were brought into the simplex."""
        return cross_table(self.estimate.tally) if self.estimate.bounded else self

    def independence(self, *, method: str = "score") -> HypothesisTest:
        """Test whether the two attributes are independent.

        Implements: the score test of the table of responses, or G²: twice what the log-likelihood of the joint shares
        is above that of both margins [Wil38].

        Args:
            method: "score", which is exact where responses are few, or "likelihood".

        Raises:
            InvalidRequest: another method.
        """
        return independence(self.estimate.tally, method=method)

    def cramers_v_interval(self, *, level: float = 0.95) -> Interval:
        """Return an interval for Cramér's V; where answers are too rare to be told from 0, by likelihood.

        Raises:
            InvalidRequest: a level outside (0, 1).
            NotEstimable: a table of rare answers with too many cells to search.
        """
        found = super().cramers_v_interval(level=level)
        if not math.isnan(found.low):
            return found
        from deniable.estimates.measures import strength_range

        return strength_range(self, one_of(1, level))

    def _table_rows(self, rows: Sequence[Row]) -> tuple[Row, ...]:
        unbiased = self.unbiased.params if self.estimate.bounded else {}
        fields = [field.name for field in dataclasses.fields(ShareRow)]
        return tuple(
            CellRow(
                **{name: getattr(row, name) for name in fields},
                unbiased=unbiased.get(row.name),
            )
            for row in rows
        )

    @property
    def _design_hash(self) -> str:
        return self.estimate._design_hash

    def _source(self) -> dict[str, Any]:
        return self.estimate._source()

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Design) -> CrossTable:
        return _table_of(TallyEvidence.read(source, design))

    def covariance(self, one: tuple[str, str], two: tuple[str, str]) -> float:
        """Return the covariance of two cells, each named by its row and its column."""
        return self.estimate.basis.covariance.between(self._cell(one), self._cell(two))

    def _joined_names(self) -> dict[str, list[Any]]:
        pairs = [
            (row, column) for row in self.row_labels for column in self.column_labels
        ]
        return {
            self.rows: [row for row, _ in pairs],
            self.columns: [column for _, column in pairs],
        }

    def _cell(self, names: tuple[str, str]) -> Vector:
        number = self.estimate.design.category_number(
            {self.rows: names[0], self.columns: names[1]}
        )
        return vector(np.arange(len(self.estimate.value)) == number)


@overload
def cross_table(
    given: Estimate | Tally | Responses[Any] | tuple[Design, Any],
    second: object = None,
    *,
    rows: str | None = None,
    columns: str | None = None,
    method: str = "inversion",
) -> CrossTable: ...
@overload
def cross_table(
    given: Responses[Any] | tuple[Design, Any],
    second: object = None,
    *,
    rows: str | None = None,
    columns: str | None = None,
    sampling: Sampling,
) -> SampledTable: ...
def cross_table(
    given: Estimate | Tally | Responses[Any] | tuple[Design, Any],
    second: object = None,
    *,
    rows: str | None = None,
    columns: str | None = None,
    method: str = "inversion",
    sampling: Sampling | None = None,
) -> CrossTable | SampledTable:
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
        from deniable.estimates.sampling.tables import sampled_table

        if isinstance(given, Estimate | Tally) or method != "inversion":
            raise InvalidRequest(
                "a sampling describes rows, and its table is unbiased; expected two columns, a row for each person.",
                "For example dn.cross_table(smokes, drinks, sampling=sample).",
            )
        check_same_people(first=given, second=second, sampling=sampling)
        return sampled_table(*_paired(given, second, rows, columns), sampling)
    if isinstance(given, Estimate) and second is None:
        if rows is None and columns is None:
            return _table_of(given)
        method = given.method.partition(",")[0]
        given = given.tally
    if (
        isinstance(given, Responses)
        and second is None
        and getattr(given.design, "factors", None)
    ):
        given = _counted(given)
    if not isinstance(given, Tally):
        given = _joined(given, second, rows, columns)
    elif second is not None:
        raise InvalidRequest(
            "a tally of several attributes was given with a second column; expected one of the two."
        )
    elif rows is not None or columns is not None:
        if rows is None or columns is None:
            raise InvalidRequest(
                "one attribute was named; expected rows= and columns=, or neither."
            )
        given = marginal(given, rows, columns)
    return _table_of(fitted(given, method=method))


def _table_of(estimate: Estimate) -> CrossTable:
    factors = estimate.design.factors
    if len(factors) != 2:
        raise InvalidRequest(
            f"the estimate is of {max(1, len(factors))} attributes; expected 2, for rows and columns.",
            "Say which: cross_table(tally, rows='smokes', columns='drinks').",
        )
    (rows, down), (columns, across) = factors
    shape = (len(down.categories), len(across.categories))
    shares = estimate.value.reshape(shape)
    return CrossTable(
        estimate=estimate,
        rows=rows,
        columns=columns,
        row_labels=tuple(down.categories),
        column_labels=tuple(across.categories),
        shares=shares,
        errors=estimate.errors.reshape(shape),
        row_totals=shares.sum(axis=1),
        row_errors=_margin_errors(estimate, shape, 0),
        column_totals=shares.sum(axis=0),
        column_errors=_margin_errors(estimate, shape, 1),
    )


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
    chosen = method or ("score" if len(factors) == 2 else "likelihood")
    if (
        len(factors) < 2
        or chosen not in ("score", "likelihood")
        or (chosen == "score" and len(factors) > 2)
    ):
        raise InvalidRequest(
            f"the method is {quoted(chosen)} for {max(1, len(factors))} attributes; expected score for two of them, or "
            "likelihood for two or more."
        )
    if chosen == "score":
        shape = [each.channel.responses for _, each in factors]
        rows, columns = (response_scores(each) for _, each in factors)
        return score_test(vector(tally.counts).reshape(shape), rows, columns)
    margins = [marginal(tally, name) for name, _ in factors]
    alone = sum(highest(each.design, vector(each.counts)) for each in margins)
    sizes = [len(each.categories) for _, each in factors]
    df = math.prod(sizes) - 1 - sum(each - 1 for each in sizes)
    return likelihood_ratio(
        "Test of independence", highest(tally.design, vector(tally.counts)) - alone, df
    )


def _counted(sent: Responses[Any]) -> Tally:
    """Return the tally of responses to a product."""
    both = column_of(sent)
    counts = np.bincount(
        both.codes[both.codes >= 0], minlength=both.design.channel.responses
    )
    return Tally(both.design, counts, int((both.codes < 0).sum()))


def _joined(
    first: object, second: object, rows: str | None, columns: str | None
) -> Tally:
    """Return the tally of two columns as one of a product."""
    both, pairs = _paired(first, second, rows, columns)
    counts = np.bincount(pairs[pairs >= 0], minlength=both.channel.responses)
    return Tally(both, counts, int((pairs < 0).sum()))


def _paired(
    first: object, second: object, rows: str | None, columns: str | None
) -> tuple[Design, NDArray[np.int64]]:
    """Return two columns as the responses to a product, -1 where one of them is missing."""
    check_same_people(first=first, second=second)
    one, two = (column_of(each) for each in (first, second))
    if one.open and two.open:
        raise InvalidRequest(
            "neither column holds responses; expected at least one that was drawn with a design.",
            "Hand over what respond_all() returned, or (design, column).",
        )
    if len(one.codes) != len(two.codes):
        raise Incompatible(
            f"there are {len(one.codes):,} and {len(two.codes):,} rows; expected one of each for every respondent."
        )
    names = (rows or one.name or "first", columns or two.name or "second")
    if names[0] == names[1]:
        raise InvalidRequest(
            "both columns have one name; expected rows= and columns= to tell them apart."
        )
    both = product({names[0]: one.design, names[1]: two.design})
    sizes = one.design.channel.responses, two.design.channel.responses
    if math.prod(sizes) > MOST_PAIRS:
        raise InvalidRequest(
            f"there are {math.prod(sizes):,} pairs of responses; expected at most {MOST_PAIRS:,}.",
            "Use dn.association(), which needs no table.",
        )
    there = (one.codes >= 0) & (two.codes >= 0)
    return both, np.where(there, one.codes * sizes[1] + two.codes, -1)


def _numbers(given: Sequence[float] | None, size: int) -> tuple[float, ...]:
    numbers = given is None or (
        isinstance(given, Iterable) and all(isinstance(each, Real) for each in given)
    )
    require(numbers, given, "what stands for the answers", "a number for each")
    found = tuple(map(float, range(size) if given is None else given))
    if len(found) != size or len(set(found)) < 2 or not all(map(math.isfinite, found)):
        raise InvalidRequest(
            f"there are {len(found)} numbers; expected one for each of {size} answers, not all alike."
        )
    return found


def _place(labels: Sequence[str], given: str) -> int:
    if given not in labels:
        some = ", ".join(map(repr, labels[:5]))
        raise InvalidRequest(
            f"{quoted(given)} is no answer of this table; expected one such as {some:.200}."
        )
    return labels.index(given)


def _margin_errors(estimate: Estimate, shape: tuple[int, int], axis: int) -> Vector:
    numbers = np.indices(shape)[axis].ravel()
    members = [(numbers == number).astype(np.float64) for number in range(shape[axis])]
    return np.sqrt([estimate.basis.variance(each) for each in members])


def _cell(share: float, error: float) -> str:
    return f"{share:.3f} ± {error:.3f}"


def _lines(rows: Sequence[Sequence[str]]) -> str:
    first, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [
        [
            row[0].ljust(first),
            *(cell.rjust(width) for cell, width in zip(row[1:], others, strict=True)),
        ]
        for row in rows
    ]
    return "\n".join("  ".join(row).rstrip() for row in aligned)
