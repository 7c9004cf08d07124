"""By how much groups of people differ, with tests that are adjusted for their number."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from deniable import documents
from deniable.errors import InvalidRequest, UnreadableFile, quoted
from deniable.estimates.covariances import Matrix, vector
from deniable.estimates.independence import holm
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
)

__all__ = ["ALIKE", "REST", "Compared", "DifferenceRow", "Differences"]

REST = "the rest"
"""What all other groups together are called."""

ALIKE = "Test that all groups are alike"
"""The hypothesis that is tested of groups."""

_MOST_COMPARISONS = 5_000  # in a table; more of them tell nobody anything
OWNERS: dict[str, Any] = {}
"""Type of a result (`Result.type`) → the class whose groups are compared; each class enters itself."""


class Compared(NamedTuple):
    """One comparison: its name, value, error, p-value, and its interval for a level; None for one around the value."""

    name: str
    value: float
    error: float
    p_value: float
    apart: Any


class Groups(Protocol):
    """Estimates of groups that can be compared."""

    type: ClassVar[str]

    @property
    def groups(self) -> Any:
        """The groups, one after the other."""

    @property
    def respondents(self) -> int:
        """How many responses there are to all of them."""

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What calls for care."""

    @property
    def compared_names(self) -> tuple[str, ...]:
        """What is compared between groups."""

    @property
    def comparison_notes(self) -> tuple[str, ...]:
        """What has to be known to read differences between them."""

    @property
    def df(self) -> float:
        """The degrees of freedom of the covariance."""

    def cov_params(self) -> Matrix:
        """Return the covariance of all numbers of all groups."""

    def compared(self, against: str) -> Differences:
        """Return by how much they differ."""

    def comparison_weights(self, against: str) -> Matrix:
        """Return what each comparison adds up, a row each."""

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[Any]:
        """Return a table of the groups."""


def check_number(comparisons: int) -> None:
    """Refuse more comparisons than a table holds.

    Raises:
        InvalidRequest: too many.
    """
    if comparisons > _MOST_COMPARISONS:
        raise InvalidRequest(
            f"there are {comparisons:,} comparisons; expected at most {_MOST_COMPARISONS:,}.",
            "Take fewer groups; of a tally against_rest() does, too.",
        )


def nameless(responses: int) -> tuple[Caution, ...]:
    """Tell how many responses name no group, if any do."""
    text = f"{responses:,} responses name no group; they are in no comparison."
    return (Caution("ungrouped", text),) if responses else ()


def pair_signs(groups: int) -> Matrix:
    """Return for each pair of groups 1 for the first, −1 for the second, 0 for all others."""
    found = [
        np.eye(groups)[one] - np.eye(groups)[two]
        for one, two in itertools.combinations(range(groups), 2)
    ]
    return vector(found)


def comparison_weights(
    signs: Matrix, names: Sequence[str], compared: Sequence[str]
) -> Matrix:
    """Return the sums of numbers that comparisons are, where each group has the same names in the same order."""
    chosen = np.eye(len(names))[[list(names).index(name) for name in compared]]
    return vector(np.kron(signs, chosen))


@dataclass(frozen=True, slots=True)
class DifferenceRow(Row):
    """By how much two groups differ.

    Attributes:
        p_value: how often they would differ as much, or more, if they were alike.
        adjusted: the same, with all comparisons of the table taken together [Hol79].
    """

    COLUMNS: ClassVar[Columns] = (*Row.COLUMNS, ("p_value",), ("adjusted",))
    HEADS: ClassVar[Mapping[str, str]] = {"estimate": "difference"}

    p_value: float
    adjusted: float


@dataclass(frozen=True, eq=False)
class Differences(Result[DifferenceRow]):
    """By how much groups differ, in pairs or each from all others, with tests adjusted for their number.

    Attributes:
        of: the estimates of the groups.
        against: "pairs" or "rest".
        compared: what was compared, in the order of `params`.
    """

    type: ClassVar = "differences"

    of: Groups
    against: str
    compared: tuple[Compared, ...] = field(repr=False)

    @property
    def params(self) -> dict[str, float]:
        return {each.name: each.value for each in self.compared}

    @property
    def bse(self) -> dict[str, float]:
        return {comparison.name: comparison.error for comparison in self.compared}

    @property
    def df(self) -> float:
        return self.of.df

    def cov_params(self) -> Matrix:
        """Return the covariance of all differences: those that share a group go together."""
        weights = self.of.comparison_weights(self.against)
        found: Matrix = weights @ self.of.cov_params() @ weights.T
        np.fill_diagonal(found, [each.error**2 for each in self.compared])
        return found

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self.of).compared, (self.of, self.against)

    @property
    def p_values(self) -> dict[str, float]:
        """How often groups that are alike would differ as much, one comparison at a time."""
        return {each.name: each.p_value for each in self.compared}

    @property
    def adjusted(self) -> dict[str, float]:
        """The p-values adjusted for their number, by Holm."""
        values = holm(np.array([each.p_value for each in self.compared]))
        return dict(zip(self.params, values.tolist(), strict=True))

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "recovered" from the intervals of both groups where these have contrasts, and the usual ones."""
        around = super()._interval_methods()
        return (
            {"recovered": self._recovered_bounds, **around}
            if self._have_contrasts
            else around
        )

    @property
    def _have_contrasts(self) -> bool:
        return all(comparison.apart is not None for comparison in self.compared)

    def _recovered_bounds(self, confidence: float) -> Bounds:
        lows, highs = vector(
            [
                comparison.apart.interval(level=confidence)
                for comparison in self.compared
            ]
        ).T
        return lows, highs

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.of.warnings

    @property
    def _row_type(self) -> RowType:
        return DifferenceRow

    def _row_columns(self, request: IntervalRequest) -> Mapping[str, Sequence[float]]:  # noqa: ARG002 - p has no level
        return {
            "p_value": list(self.p_values.values()),
            "adjusted": list(self.adjusted.values()),
        }

    def _describe(self, request: IntervalRequest) -> Description:
        groups = self.of.summary(level=request.level)
        n = len(self.compared)
        adjusting = (
            (f"p-values are adjusted for {n:,} comparisons by Holm.",) if n > 1 else ()
        )
        what = (
            "each pair of groups"
            if self.against == "pairs"
            else f"each group and {REST}"
        )
        return Description(
            title=f"Differences between {what}: {len(self.of.groups):,} groups, {self.of.respondents:,} respondents",
            quantity="difference in share"
            if groups.quantity == "share"
            else "difference",
            method=groups.method,
            respondents=self.of.respondents,
            epsilon=groups.epsilon,
            missing=groups.missing,
            notes=(*adjusting, *self.of.comparison_notes),
        )

    @property
    def _design_hash(self) -> str:
        return str(self.of._design_hash)  # type: ignore[attr-defined]  # which every result has

    def _source(self) -> dict[str, Any]:
        source: Mapping[str, Any] = self.of._source()  # type: ignore[attr-defined]  # which every result has
        return {"of": self.of.type, "groups": source, "against": self.against}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Any) -> Differences:
        kind, against = (
            documents.field(source, name, str) for name in ("of", "against")
        )
        if kind not in OWNERS or against not in ("pairs", "rest"):
            raise UnreadableFile(
                f"the comparison is {quoted(against)} of {quoted(kind)}; expected pairs or rest of "
                f"{' or '.join(sorted(OWNERS))}."
            )
        made: Differences = (
            OWNERS[kind]
            ._remade(documents.field(source, "groups", dict), design)
            .compared(against)
        )
        return made
