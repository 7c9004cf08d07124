"""By how much groups of people differ, with tests that are adjusted for their number."""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

import numpy as np

from deniable import documents
from deniable.errors import InvalidRequest, UnreadableFile, quoted
from deniable.estimates.covariances import Matrix, vector
from deniable.estimates.independence import holm
from deniable.estimates.results import (
    AnyRow_co,
    Bounds,
    Caution,
    Columns,
    Description,
    IntervalMethod,
    IntervalRequest,
    Result,
    Row,
    construct_result,
    result_types,
)

__all__ = ["ALIKE", "REST", "Compared", "DifferenceRow", "Differences", "Groups"]

REST = "the rest"
"""What all other groups together are called."""

ALIKE = "Test that all groups are alike"
"""The hypothesis that is tested of groups."""

MAX_COMPARISONS = 5_000
"""Comparisons in a table; more of them tell nobody anything."""


class Compared(NamedTuple):
    """One comparison: its name, value, error, p-value, and its interval for a level; None for one around the value."""

    name: str
    value: float
    error: float
    p_value: float
    apart: Any


class Groups(Result[AnyRow_co]):
    """Estimates of groups that can be compared, in pairs or each with the rest."""

    if TYPE_CHECKING:  # fields of one class, properties of another

        @property
        def groups(self) -> Collection[Any]:
            """The groups, one after the other."""

        @property
        def respondents(self) -> int:
            """How many responses there are to all of them."""

    @property
    @abstractmethod
    def names_in_group(self) -> tuple[str, ...]:
        """What is estimated in each group."""

    @property
    @abstractmethod
    def group_sizes(self) -> dict[str, int]:
        """The number of responses of each group, by its name."""

    @property
    @abstractmethod
    def _have_all_shares(self) -> bool:
        """Whether the numbers of a group are the shares of all categories."""

    @property
    def compared_names(self) -> tuple[str, ...]:
        """What is compared: each number; of two categories, whose shares move together, the second alone."""
        names = self.names_in_group
        return names[-1:] if self._have_all_shares and len(names) == 2 else names

    @property
    @abstractmethod
    def comparison_notes(self) -> tuple[str, ...]:
        """What has to be known to read the groups, and the differences between them."""

    def pairwise(self) -> Differences:
        """Return by how much each group differs from each other one, with p-values adjusted for their number.

        Raises:
            InvalidRequest: fewer than two groups, or more pairs than a table holds.
        """
        return self.compared("pairs")

    def against_rest(self) -> Differences:
        """Return by how much each group differs from all others together.

        A group differs from everybody, itself included, by the share of the others times as much: the test is the same.

        Raises:
            InvalidRequest: one group, more groups than a table holds, or a sample, whose other groups together were
                not estimated.
        """
        return self.compared("rest")

    def compared(self, against: str) -> Differences:
        """Return by how much groups differ, in "pairs" or each from the "rest".

        Raises:
            InvalidRequest: fewer than two groups, or more comparisons than a table holds.
        """
        self._check_groups()
        n_groups = len(self.groups)
        n_pairs = math.comb(n_groups, 2) if against == "pairs" else n_groups
        comparisons = n_pairs * len(self.compared_names)
        if comparisons > MAX_COMPARISONS:
            raise InvalidRequest(
                f"there are {comparisons:,} comparisons; expected at most {MAX_COMPARISONS:,}.",
                "Take fewer groups; of a tally against_rest() does, too.",
            )
        return Differences(self, against, tuple(self._comparisons(against)))

    def _check_name(self, name: str | None) -> None:
        """Refuse the name of a number that the groups do not have."""
        if name is not None and name not in self.names_in_group:
            some = ", ".join(map(repr, self.names_in_group[:5]))
            raise InvalidRequest(
                f"{quoted(name)} was not estimated; expected a name such as {some:.200}."
            )

    @abstractmethod
    def _check_groups(self) -> None:
        """Refuse fewer than two groups."""

    @abstractmethod
    def _comparisons(self, against: str) -> Iterable[Compared]:
        """Return each comparison, in the order of `comparison_weights`."""

    def comparison_weights(self, against: str) -> Matrix:
        """Return what each comparison adds up, a row each, in the order of `Differences.params`."""
        return weigh_names(
            self._group_signs(against), self.names_in_group, self.compared_names
        )

    def _group_signs(self, against: str) -> Matrix:  # noqa: ARG002 - by default there are pairs alone
        """Return for each pair of groups 1 for the first, −1 for the second, 0 for all others."""
        return pair_signs(len(self.groups))


def nameless(responses: int) -> tuple[Caution, ...]:
    """Tell how many responses name no group, if any do."""
    text = f"{responses:,} responses name no group; they are in no comparison."
    return (Caution("ungrouped", text),) if responses else ()


def pair_signs(groups: int) -> Matrix:
    """Return for each pair of groups 1 for the first, −1 for the second, 0 for all others."""
    pairs = itertools.combinations(np.eye(groups), 2)
    return vector([first - second for first, second in pairs])


def weigh_names(
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

    of: Groups[Any]
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

    def _recovered_bounds(self, confidence: float, **options: Any) -> Bounds:
        lows, highs = vector(
            [
                comparison.apart.interval(level=confidence, **options)
                for comparison in self.compared
            ]
        ).T
        return lows, highs

    def _always_bounds(self, request: IntervalRequest) -> Bounds:
        """Return always-valid bounds: recovered from those of both groups, each for its own number of responses."""
        if request.method is not None or not self._have_contrasts:
            return super()._always_bounds(request)
        return self._recovered_bounds(
            request.level, always=True, planned=request.planned
        )

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.of.warnings

    _row_type = DifferenceRow

    def _row_columns(
        self,
        request: IntervalRequest,  # noqa: ARG002 - p has no level
    ) -> Mapping[str, Sequence[float]]:
        return {
            "p_value": list(self.p_values.values()),
            "adjusted": list(self.adjusted.values()),
        }

    def _describe(self, request: IntervalRequest) -> Description:
        groups = self.of.summary(level=request.level)
        n = len(self.compared)
        adjusting = (
            (f"p-values are adjusted for {n:,} comparisons by Holm.",)
            if n > 1
            else ()
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
            ranges={
                name: (least - most, most - least)
                for name, (least, most) in groups.ranges.items()
            },
        )

    @property
    def _design_hash(self) -> str:
        return self.of._design_hash

    def _source(self) -> dict[str, Any]:
        return {
            "of": self.of.type,
            "groups": self.of._source(),
            "against": self.against,
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: object) -> Differences:
        owner, against = (
            documents.field(source, name, str) for name in ("of", "against")
        )
        owners = result_types(Groups)
        if owner not in owners or against not in ("pairs", "rest"):
            raise UnreadableFile(
                f"the comparison is {quoted(against)} of {quoted(owner)}; expected pairs or rest of "
                f"{' or '.join(sorted(owners))}."
            )
        groups = construct_result(
            owner, documents.field(source, "groups", dict), design
        )
        return cast("Groups[Any]", groups).compared(against)
