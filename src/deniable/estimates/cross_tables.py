"""Two attributes against each other: a table of shares with their errors, margins and covariances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval
from deniable.estimates.results import Caution, Result, Summary
from deniable.estimates.shares import Estimate, ShareRow, remake
from deniable.rendering import Sheet


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

    def _sheet(self) -> Sheet:
        heads, *cells = map(tuple, self._cells())
        summary = self.summary()._sheet()
        return Sheet(summary.title, heads, tuple(cells), summary.notes, names=summary.names, values=summary.values)

    def __str__(self) -> str:
        return _lines(self._cells())

    def _cells(self) -> list[list[str]]:
        head = [f"{self.rows} by {self.columns}", *self.column_labels, "all"]
        body = [
            [label, *map(_cell, shares, errors), _cell(total, error)]
            for label, shares, errors, total, error in zip(
                self.row_labels, self.shares, self.errors, self.row_totals, self.row_errors, strict=True
            )
        ]
        foot = ["all", *map(_cell, self.column_totals, self.column_errors), ""]
        return [head, *body, foot]


@dataclass(frozen=True, eq=False)
class CrossTable(Grid):
    """Shares of all combinations of two attributes that everybody answered.

    Attributes:
        estimate: what the table shows; `estimate.cov_params()` is the covariance of all cells.
    """

    type: ClassVar = "cross-table"

    estimate: Estimate = field(repr=False)

    @property
    def params(self) -> dict[str, float]:
        return self.estimate.params

    @property
    def bse(self) -> dict[str, float]:
        return self.estimate.bse

    def cov_params(self) -> Matrix:
        return self.estimate.cov_params()

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        return self.estimate.conf_int(level=level, method=method, simultaneous=simultaneous)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.estimate.warnings

    def summary(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> Summary[ShareRow]:
        return self.estimate.summary(level=level, method=method, simultaneous=simultaneous)

    @property
    def _design_hash(self) -> str:
        return self.estimate._design_hash

    def _source(self) -> dict[str, Any]:
        return self.estimate._source()

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Design) -> CrossTable:
        return cross_table(remake(design, source))

    def covariance(self, one: tuple[str, str], two: tuple[str, str]) -> float:
        """Return the covariance of two cells, each named by its row and its column."""
        return self.estimate.basis.covariance.between(self._cell(one), self._cell(two))

    def _cell(self, names: tuple[str, str]) -> Vector:
        number = self.estimate.design.category_number({self.rows: names[0], self.columns: names[1]})
        return vector(np.arange(len(self.estimate.value)) == number)


def cross_table(estimate: Estimate) -> CrossTable:
    """Return the estimate of two attributes as a table, the first going down and the second across.

    Raises:
        InvalidRequest: an estimate of another number of attributes.

    Example:
        >>> from deniable.designs import product, warner
        >>> from deniable.estimates import estimate
        >>> from deniable.tallies import Tally
        >>> both = product({"smokes": warner(p="3/4"), "drinks": warner(p="3/4")})
        >>> print(cross_table(estimate(Tally(both, [400, 200, 250, 150]))))
        smokes by drinks             no            yes            all
        no                0.600 ± 0.044  0.100 ± 0.036  0.700 ± 0.031
        yes               0.200 ± 0.039  0.100 ± 0.032  0.300 ± 0.031
        all               0.800 ± 0.030  0.200 ± 0.030
    """
    factors = estimate.design.factors
    if len(factors) != 2:
        raise InvalidRequest(
            f"the estimate is of {max(1, len(factors))} attributes; expected 2, for rows and columns.",
            "Estimate the tally of two of them: estimate(tally.marginal(counted, 'smokes', 'drinks')).",
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


def _margin_errors(estimate: Estimate, shape: tuple[int, int], axis: int) -> Vector:
    numbers = np.indices(shape)[axis].ravel()
    members = [(numbers == number).astype(np.float64) for number in range(shape[axis])]
    return np.sqrt([estimate.basis.variance(each) for each in members])


def _cell(share: float, error: float) -> str:
    return f"{share:.3f} ± {error:.3f}"


def _lines(rows: Sequence[Sequence[str]]) -> str:
    first, *others = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [
        [row[0].ljust(first), *(cell.rjust(width) for cell, width in zip(row[1:], others, strict=True))] for row in rows
    ]
    return "\n".join("  ".join(row).rstrip() for row in aligned)
