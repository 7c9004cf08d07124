"""Tallies that are kept apart, in one document: of several columns, and of the devices that a column was asked with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from deniable import documents
from deniable.designs import AnyDesign
from deniable.documents import HashedDocument, Sealed
from deniable.errors import (
    IncompatibleTallies,
    InvalidRequest,
    UnreadableFile,
    quoted,
)
from deniable.groups.tallies import GroupedTally
from deniable.tallies.base import AdditiveTally
from deniable.tallies.group_labels import Group, group_order
from deniable.types import operation


class TallyKey(NamedTuple):
    """Which rows a tally counts.

    Attributes:
        column: the column of responses.
        device: what the rows call the device that people were asked with; None where there is one design.
    """

    column: str
    device: str | None = None


@dataclass(frozen=True, eq=False)
class SeparateTallies(Sealed):
    """Tallies by column and device. They add up in any order, also by `sum()`, each with those of its key.

    Attributes:
        tallies: a tally for each key, or a `GroupedTally`; columns in the order in which they came, devices in that of
            their names.

    Example:
        >>> from deniable.designs import mangat, warner
        >>> from deniable.tallies import Tally
        >>> one, two = Tally(warner(p="3/4"), [5, 3]), Tally(mangat("2/3"), [2, 6])
        >>> apart = SeparateTallies({TallyKey("smokes"): one, TallyKey("drinks"): two})
        >>> apart.columns, (apart + apart)["drinks"].counts.tolist()
        (('smokes', 'drinks'), [4, 12])
    """

    SCHEMA: ClassVar[str] = "separate-tallies"
    tallies: Mapping[TallyKey, AdditiveTally[Any]]

    def __post_init__(self) -> None:
        places = {column: place for place, column in enumerate(self.columns)}
        ordered = sorted(
            self.tallies, key=lambda key: (places[key.column], key.device or "")
        )
        object.__setattr__(
            self, "tallies", {key: self.tallies[key] for key in ordered}
        )
        for column in self.columns:
            own = self._devices(column)
            if len(
                {isinstance(each, GroupedTally) and each.by for each in own.values()}
            ) > 1 or (None in own and len(own) > 1):
                raise InvalidRequest(
                    f"the tallies of {quoted(column, 80)} do not fit together; expected one of everybody, or one for "
                    "each device, with the same groups."
                )

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, SeparateTallies):
            return NotImplemented
        both = dict(self.tallies)
        for key, each in other.tallies.items():
            if key in both and type(both[key]) is not type(each):
                raise IncompatibleTallies(
                    f"of {quoted(key.column, 80)} one tally is by groups or of another type; expected two alike.",
                    "Count all files with the same groups, or without any.",
                )
            both[key] = both[key] + each if key in both else each
        return type(self)(both)

    def __radd__(self, other: int) -> Self:
        """Add to 0, with which `sum()` begins."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SeparateTallies) and self.tallies == other.tallies

    def __hash__(self) -> int:
        return hash(frozenset(self.tallies.items()))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of responses."""
        return tuple(dict.fromkeys(key.column for key in self.tallies))

    def __getitem__(self, column: str) -> Any:
        """Return what `estimate` takes of a column: a tally, a `GroupedTally`, or a list with a tally for each device.

        Groups that were asked with several devices are estimated one at a time: a mapping from groups to such lists.

        Raises:
            InvalidRequest: no such column.
        """
        if column not in self.columns:
            known = ", ".join(map(repr, self.columns))
            raise InvalidRequest(
                f"the column is {quoted(column)}; expected one of {known:.400}."
            )
        own = self._devices(column)
        if None in own:
            return own[None]
        if not any(isinstance(each, GroupedTally) for each in own.values()):
            return list(own.values())
        groups: dict[Group, list[Any]] = {}
        for each in own.values():
            for group, tally in each.items():
                groups.setdefault(group, []).append(tally)
        return {group: groups[group] for group in sorted(groups, key=group_order)}

    def _devices(self, column: str) -> dict[str | None, Any]:
        return {
            key.device: tally
            for key, tally in self.tallies.items()
            if key.column == column
        }

    def to_body(self) -> dict[str, Any]:
        """Return the tallies for JSON, each with what it counts."""
        return {
            "tallies": [
                {
                    "column": key.column,
                    "device": key.device,
                    "grouped"
                    if isinstance(tally, GroupedTally)
                    else "tally": tally.to_body(),
                }
                for key, tally in self.tallies.items()
            ],
        }

    @classmethod
    def from_json(
        cls, text: str | bytes, designs: AnyDesign | Iterable[AnyDesign]
    ) -> Self:
        """Read tallies of these designs.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            IncompatibleTallies: a tally was counted under none of the designs.
        """
        known: list[Any] = (
            [designs] if isinstance(designs, HashedDocument) else list(designs)
        )
        body = documents.unseal(cls.SCHEMA, text)
        tallies: dict[TallyKey, Any] = {}
        for each in documents.field(body, "tallies", list):
            row = documents.field({"tally": each}, "tally", dict)
            key = TallyKey(
                documents.field(row, "column", str),
                documents.field(row, "device", str, type(None)),
            )
            if key in tallies:
                raise UnreadableFile(
                    "two tallies are of one column and device; expected one."
                )
            tallies[key] = _read(row, known)
        try:
            return cls(tallies)
        except InvalidRequest as error:
            raise UnreadableFile(error.problem, error.hint) from None


def _read(row: Mapping[str, Any], designs: list[AnyDesign]) -> Any:
    grouped = "grouped" in row
    body = documents.field(row, "grouped" if grouped else "tally", dict)
    for design in designs:
        kind: Any = GroupedTally if grouped else operation(design, "TALLY")
        if body.get(kind.OWNER) == design.hash:
            return kind.from_body(body, design)
    kind = GroupedTally if grouped else operation(designs[0], "TALLY")
    return kind.from_body(body, designs[0])  # which tells that it is of another one
