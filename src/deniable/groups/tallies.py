"""Counts of several groups of people who were asked with one design: a tally for each."""

from __future__ import annotations

from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.designs import AnyDesign, Design
from deniable.errors import (
    Incompatible,
    IncompatibleTallies,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
    quoted,
)
from deniable.files import arrow
from deniable.files.row_names import check_same_people
from deniable.groups.display import groups_picture, groups_sheet
from deniable.rendering import Sheet
from deniable.tallies.base import AdditiveTally
from deniable.tallies.group_labels import (
    Group,
    group_label,
    group_order,
    number_groups,
)
from deniable.tallies.responses import Responses
from deniable.tallies.weighted import WeightedTally
from deniable.types import operation
from deniable.types.surfaces import check_surface

if TYPE_CHECKING:
    from deniable.groups.estimates import GroupedEstimate
    from deniable.rendering.pictures import Picture

__all__ = ["GroupedTally", "check_groups", "tallies_by_values", "tally_by"]

MOST_GROUPS = 100_000
"""Groups that are told apart: more of them are rather the names of people."""


@dataclass(frozen=True, eq=False)
class GroupedTally(AdditiveTally[AnyDesign]):
    """A tally for each group of people. They add up in any order, group by group; a new group is a further one.

    It reads like a mapping from groups to tallies. Whoever is in it was asked with one design, so that `overall` is the
    tally that counting everybody at once would have given.

    Attributes:
        design: what all responses were drawn with.
        groups: the tally of each group, in the order in which groups are shown; read-only. A group is called by text, a
            number or None (where nobody said), or by a tuple of them. All are of one kind, with weights or without.
        by: what the columns are called that groups are made by; empty where nobody said.

    Example:
        >>> import deniable as dn
        >>> regions = dn.tally(dn.warner(1), ["yes", "no", "no"], by=["north", "south", "south"])
        >>> {region: each.respondents for region, each in regions.items()}
        {'north': 1, 'south': 2}
        >>> regions.overall == dn.tally(dn.warner(1), ["yes", "no", "no"])
        True
    """

    SCHEMA: ClassVar[str] = "grouped-tally"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies

        def estimate(
            self,
            *,
            method: str | None = None,
            guess: Mapping[str, float] | Sequence[float] | None = None,
            scaling: str | None = None,
            quantiles: Sequence[float] | None = None,
        ) -> GroupedEstimate: ...

    design: AnyDesign
    groups: Mapping[Any, Any] = field(default_factory=dict)
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        groups = {group_label(group): each for group, each in self.groups.items()}
        object.__setattr__(self, "by", tuple(map(str, self.by)))
        if len(groups) < len(self.groups):
            raise InvalidRequest(
                "two groups have one name; expected a name for each."
            )
        if any(
            not isinstance(each, AdditiveTally) or each.design != self.design
            for each in groups.values()
        ):
            raise IncompatibleTallies(
                f"a group's tally is not of {self.design!r}; expected one design for all groups.",
                "Estimate each design's groups on their own, then compare the estimates.",
            )
        if len(set(map(type, groups.values()))) > 1:
            raise _mixed()
        if not _have_values(groups, self.by):
            raise InvalidRequest(
                f"a group has another number of values; expected one for each of {_listed(self.by)}."
            )
        object.__setattr__(self, "groups", MappingProxyType(groups))

    @classmethod
    def empty(cls, design: AnyDesign) -> GroupedTally:
        return cls(design, {})

    def _sheet(self) -> Sheet:
        return groups_sheet(self)

    def _picture(self, title: str) -> Picture:
        return groups_picture(self, title)

    @property
    def weighted(self) -> bool:
        """Whether responses were counted with how many people each stands for."""
        return self._kind is WeightedTally

    @property
    def _kind(self) -> Any:
        return next(map(type, self.groups.values()), operation(self.design, "TALLY"))

    @property
    def respondents(self) -> int:
        """How many responses were counted, in all groups."""
        return sum(tally.respondents for tally in self.groups.values())

    @property
    def missing(self) -> int:
        """How many respondents of all groups sent nothing."""
        return sum(tally.missing for tally in self.groups.values())

    @property
    def overall(self) -> Any:
        """The tally of all groups together."""
        return sum(self.groups.values(), self._kind.empty(self.design))

    def __getitem__(self, group: Group) -> Any:
        if group not in self.groups:
            known = ", ".join(repr(each) for each in list(self.groups)[:5])
            raise InvalidRequest(
                f"there is no group {quoted(group)}; expected one such as {known:.200}."
            )
        return self.groups[group]

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __contains__(self, group: object) -> bool:
        return group in self.groups

    def keys(self) -> KeysView[Group]:
        """Return the groups."""
        return self.groups.keys()

    def values(self) -> ValuesView[Any]:
        """Return their tallies."""
        return self.groups.values()

    def items(self) -> ItemsView[Group, Any]:
        """Return each group with its tally."""
        return self.groups.items()

    def __add__(self, other: GroupedTally) -> GroupedTally:
        if not isinstance(other, GroupedTally):
            return NotImplemented
        if self.design != other.design:
            raise IncompatibleTallies(
                f"cannot add groups of {self.design!r} to groups of {other.design!r}; expected one design.",
                "Estimate each on its own, then compare or combine the estimates.",
            )
        if self.by and other.by and self.by != other.by:
            raise IncompatibleTallies(
                f"cannot add groups by {_listed(self.by)} to groups by {_listed(other.by)}; expected the same columns."
            )
        if self.groups and other.groups and self.weighted != other.weighted:
            raise _mixed()
        both = dict(self.groups)
        for group, each in other.groups.items():
            both[group] = both[group] + each if group in both else each
        return GroupedTally(self.design, both, self.by or other.by)

    def __repr__(self) -> str:
        return f"GroupedTally({self.design!r}, {len(self):,} groups, {self.respondents:,} respondents)"

    def __hash__(self) -> int:
        return hash((self.design, frozenset(self.groups.items())))

    def __reduce__(self) -> tuple[type[GroupedTally], tuple[Any, ...]]:
        return type(self), (self.design, dict(self.groups), self.by)

    def to_body(self) -> dict[str, Any]:
        groups = [
            {
                "group": list(group) if isinstance(group, tuple) else group,
                self._key: each.to_body(),
            }
            for group, each in self.groups.items()
        ]
        return {self.OWNER: self.design.hash, "by": list(self.by), "groups": groups}

    @property
    def _key(self) -> str:
        return "weighted" if self.weighted else "tally"

    @classmethod
    def _read_parts(
        cls, body: Mapping[str, Any], design: AnyDesign
    ) -> dict[str, Any]:
        groups: dict[Group, Any] = {}
        for each in documents.field(body, "groups", list):
            named = documents.field({"group": each}, "group", dict)
            group = _read_label(named.get("group", ()))
            if group in groups:
                raise UnreadableFile(
                    "two groups have one name; expected a name for each."
                )
            if "weighted" in named and isinstance(design, Design):
                groups[group] = WeightedTally.from_body(
                    documents.field(named, "weighted", dict), design
                )
            else:
                groups[group] = operation(design, "TALLY").from_body(
                    documents.field(named, "tally", dict), design
                )
        if len(set(map(type, groups.values()))) > 1:
            raise UnreadableFile(
                "some groups have weights, and others have none; expected all in one way."
            )
        by = tuple(map(str, documents.field(body, "by", list)))
        if not _have_values(groups, by):
            raise UnreadableFile(
                f"a group has another number of values; expected one for each of {_listed(by)}."
            )
        return {"groups": groups, "by": by}


def _mixed() -> IncompatibleTallies:
    return IncompatibleTallies(
        "some groups are counted with weights, and others without; expected all in one way.",
        "Count all of them with the same column of weights, or none.",
    )


def _have_values(groups: Iterable[Group], by: tuple[str, ...]) -> bool:
    """Say whether groups have a value for each column that they are made by, where those are named."""
    return not by or all(
        len(each) == len(by) if isinstance(each, tuple) else len(by) == 1
        for each in groups
    )


def _listed(by: tuple[str, ...]) -> str:
    return ", ".join(quoted(each, 80) for each in by)


def tallies_by_values(
    design: AnyDesign, groups: Mapping[tuple[Any, ...], Any], by: Iterable[str] = ()
) -> GroupedTally:
    """Return tallies by the values of columns, in the order of those.

    Args:
        design: what all responses were drawn with.
        groups: the tally of each combination of values; of one column, too, a tuple.
        by: what the columns are called, if anybody knows.

    Raises:
        InvalidRequest: groups without end, or another number of columns.
    """
    _check_number(len(groups))
    ordered = sorted(groups, key=group_order)
    return GroupedTally(
        design,
        {each[0] if len(each) == 1 else each: groups[each] for each in ordered},
        tuple(by),
    )


def tally_by(
    count: Callable[[Any, Any], Any],
    design: AnyDesign,
    responses: Any,
    by: object,
    also: Any,
) -> GroupedTally:
    """Count responses apart by groups.

    Args:
        count: counts some rows: responses, and what goes with them, such as weights.
        design: what they were drawn with.
        responses: a row for each respondent: `Responses`, an array, a list, or a column of a table.
        by: the group of each respondent, row by row: a list, an array or a column; of several columns a table, or a
            mapping from names to columns.
        also: another column that goes with the responses, or None.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        InvalidRequest: other numbers of rows, groups without end, or responses that have no rows.
        Incompatible: columns of pandas that are of other people.
    """
    check_groups(design)
    check_same_people(responses=responses, groups=by, reached=also)
    given, (order, numbers) = _rows(design, responses), number_groups(by)
    if len(given) != len(numbers):
        raise Incompatible(
            f"there are {len(given):,} responses and {len(numbers):,} groups; expected one for each row."
        )
    if also is not None and len(also) != len(given):
        raise Incompatible(
            f"there are {len(given):,} responses, and {len(also):,} rows beside them; expected one for each row."
        )
    _check_number(len(order))
    ends = np.cumsum(np.bincount(numbers, minlength=len(order)))
    rows = np.split(np.argsort(numbers, kind="stable"), ends)[:-1]
    try:
        found = {
            group: count(
                _cut(given, each), None if also is None else np.asarray(also)[each]
            )
            for group, each in zip(order, rows, strict=True)
        }
    except InvalidResponse:
        count(given, also)  # which names the row as it stands in the whole column
        raise
    return GroupedTally(design, found, _names(by))


def _check_number(groups: int) -> None:
    if groups > MOST_GROUPS:
        raise InvalidRequest(
            f"there are {groups:,} groups; expected at most {MOST_GROUPS:,}.",
            "Group by something that people share, such as a region.",
        )


def _names(by: object) -> tuple[str, ...]:
    """Return what columns of groups are called, where they have names."""
    if isinstance(by, Mapping):
        return tuple(map(str, by))
    # of Arrow, whose `columns` are the columns themselves
    several = getattr(by, "column_names", None)
    if several is None:
        several = getattr(by, "columns", None)
    if several is not None:
        return tuple(map(str, several))
    name = getattr(by, "name", None)
    return (name,) if isinstance(name, str) and name else ()


def check_groups(design: AnyDesign) -> None:
    """Refuse to group responses to a design whose groups cannot be told apart.

    Raises:
        InvalidRequest: a deck.
    """
    if design.is_dealt:
        check_surface(design, "groups")


def _rows(design: AnyDesign, responses: Any) -> Any:
    """Return responses in a form that can be cut by rows."""
    if isinstance(responses, Responses | np.ndarray):
        return responses
    if design.has_stages or isinstance(responses, str | bytes | Mapping):
        raise InvalidRequest(
            f"the responses are a {type(responses).__name__}; expected a row for each respondent, to be grouped.",
            "Hand over what respond_all() returned, or a column.",
        )
    column = arrow.to_arrow(responses) if arrow.is_column(responses) else None
    if column is None:
        return list(responses)
    import pyarrow as pa

    return (
        column.cast(pa.large_string())
        if pa.types.is_string_view(column.type)
        else column
    )  # views cannot be cut


def _cut(given: Any, rows: NDArray[np.intp]) -> Any:
    if isinstance(given, Responses | np.ndarray):
        return given[rows]
    return (
        [given[row] for row in rows.tolist()]
        if isinstance(given, list)
        else given.take(rows)
    )


def _read_label(given: object) -> Group:
    if (
        isinstance(given, list)
        and given
        and all(
            each is None or isinstance(each, str | int | float) for each in given
        )
    ):
        return tuple(given)
    if given is None or isinstance(given, str | int | float):
        return given
    raise UnreadableFile(
        "a group has no name; expected text, a number or nothing, or a list of them."
    )
