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
from deniable.estimates.intervals import Interval, one_of
from deniable.estimates.results import Caution, Columns, Result, Row, Summary, around

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

    def cov_params(self) -> Matrix:
        """Return the covariance of all numbers of all groups."""

    def compared(self, against: str) -> Differences:
        """Return by how much they differ."""

    def comparison_weights(self, against: str) -> Matrix:
        """Return what each comparison adds up, a row each."""

    def summary(self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False) -> Summary[Any]:
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
    found = [np.eye(groups)[one] - np.eye(groups)[two] for one, two in itertools.combinations(range(groups), 2)]
    return vector(found)


def comparison_weights(signs: Matrix, names: Sequence[str], compared: Sequence[str]) -> Matrix:
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
class Differences(Result):
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
        return {each.name: each.error for each in self.compared}

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

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        """Return an interval for each difference: "recovered" from those of both groups, "normal" or "chebyshev".

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """
        events = len(self.compared) if simultaneous else 1
        have = all(each.apart is not None for each in self.compared)
        if method not in (None, "recovered") or not have:
            if method == "recovered":
                raise InvalidRequest("these numbers have no contrasts; expected normal or chebyshev intervals.")
            return around(self.params, self.bse, level=level, method=method, events=events)
        own = one_of(events, level)
        return {each.name: each.apart.interval(level=own) for each in self.compared}

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.of.warnings

    def summary(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> Summary[DifferenceRow]:
        intervals, adjusted = self.conf_int(level=level, method=method, simultaneous=simultaneous), self.adjusted
        rows = tuple(
            DifferenceRow(each.name, each.value, each.error, *intervals[each.name], each.p_value, adjusted[each.name])
            for each in self.compared
        )
        have = all(each.apart is not None for each in self.compared)
        of = self.of.summary(level=level)
        adjusting = (f"p-values are adjusted for {len(rows):,} comparisons by Holm.",) if len(rows) > 1 else ()
        what = "each pair of groups" if self.against == "pairs" else f"each group and {REST}"
        return Summary(
            title=f"Differences between {what}: {len(self.of.groups):,} groups, {self.of.respondents:,} respondents",
            quantity="difference in share" if of.quantity == "share" else "difference",
            rows=rows,
            notes=(*adjusting, *self.of.comparison_notes),
            warnings=self.warnings,
            level=level,
            interval=method or ("recovered" if have else "normal"),
            method=of.method,
            respondents=self.of.respondents,
            missing=of.missing,
            epsilon=of.epsilon,
            simultaneous=simultaneous,
        )

    @property
    def _design_hash(self) -> str:
        return str(self.of._design_hash)  # type: ignore[attr-defined]  # which every result has

    def _source(self) -> dict[str, Any]:
        source: Mapping[str, Any] = self.of._source()  # type: ignore[attr-defined]  # which every result has
        return {"of": self.of.type, "groups": source, "against": self.against}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Any) -> Differences:
        kind, against = (documents.field(source, name, str) for name in ("of", "against"))
        if kind not in OWNERS or against not in ("pairs", "rest"):
            raise UnreadableFile(
                f"the comparison is {quoted(against)} of {quoted(kind)}; expected pairs or rest of "
                f"{' or '.join(OWNERS)}."
            )
        made: Differences = OWNERS[kind]._remade(documents.field(source, "groups", dict), design).compared(against)
        return made
