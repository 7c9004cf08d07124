"""Tallies that are kept apart, in one document: of several columns, of groups of people, of different devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

from deniable import documents
from deniable.designs import Design
from deniable.documents import Sealed
from deniable.errors import IncompatibleTallies, InvalidRequest, UnreadableFile, quoted
from deniable.tallies.counts import Tally

Group: TypeAlias = str | tuple[str | None, ...] | None
"""What a group is called: the value of its column, None where it has none; a tuple, where there are several columns."""


class TallyKey(NamedTuple):
    """Which rows a tally counts.

    Attributes:
        column: the column of responses.
        group: the value of each column that groups are made by; None where a row has none.
        device: what the rows call the device that people were asked with; None where there is one design.
    """

    column: str
    group: tuple[str | None, ...] = ()
    device: str | None = None


@dataclass(frozen=True, eq=False)
class SeparateTallies(Sealed):
    """Tallies by column, group and device. They add up in any order, also by `sum()`, each with those of its key.

    Attributes:
        by: the columns that groups are made by; empty where everybody counts together.
        tallies: a tally for each key; columns in the order in which they came, groups in that of their names.

    Example:
        >>> from deniable.designs import warner
        >>> design = warner(p="3/4")
        >>> regions = {"N": Tally(design, [5, 3]), "S": Tally(design, [2, 6])}
        >>> apart = SeparateTallies.of_groups("q1", ["region"], regions)
        >>> (apart + apart).groups()["S"].counts.tolist(), apart.together().counts.tolist()
        ([4, 12], [7, 9])
    """

    SCHEMA: ClassVar[str] = "separate-tallies"
    by: tuple[str, ...]
    tallies: Mapping[TallyKey, Tally]

    def __post_init__(self) -> None:
        for key in self.tallies:
            if len(key.group) != len(self.by):
                raise InvalidRequest(
                    f"a group has {len(key.group)} values; expected one for each of {quoted(self.by, 80)}."
                )
        places = {column: place for place, column in enumerate(self.columns)}
        ordered = sorted(self.tallies.items(), key=lambda each: (places[each[0].column], _order(each[0])))
        object.__setattr__(self, "tallies", dict(ordered))

    @classmethod
    def of_groups(cls, column: str, by: Iterable[str], groups: Mapping[Any, Tally]) -> Self:
        """Return tallies of one column by group, as a query of `engines.sql` gives them."""
        named = tuple(by)
        keys = {group: group if isinstance(group, tuple) else (group,) for group in groups}
        texts = {group: tuple(None if each is None else str(each) for each in key) for group, key in keys.items()}
        return cls(named, {TallyKey(column, texts[group]): tally for group, tally in groups.items()})

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, SeparateTallies):
            return NotImplemented
        if self.by != other.by:
            raise IncompatibleTallies(
                f"cannot add tallies by {_named(self.by)} to those by {_named(other.by)}; expected the same groups."
            )
        keys = dict.fromkeys([*self.tallies, *other.tallies])
        return type(self)(
            self.by,
            {key: sum(each.tallies[key] for each in (self, other) if key in each.tallies) for key in keys},  # type: ignore[misc]  # never empty
        )

    def __radd__(self, other: int) -> Self:
        """Add to 0, with which `sum()` begins."""
        return self if type(other) is int and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SeparateTallies) and (self.by, self.tallies) == (other.by, other.tallies)

    def __hash__(self) -> int:
        return hash((self.by, frozenset(self.tallies.items())))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of responses."""
        return tuple(dict.fromkeys(key.column for key in self.tallies))

    def groups(self, column: str | None = None) -> dict[Group, Any]:
        """Return what `estimate` takes for each group of a column: a tally, or one for each device.

        Args:
            column: which column of responses; it may be left out where there is one.

        Raises:
            InvalidRequest: no such column, or none named where there are several.
        """
        chosen = self._chosen(column)
        found: dict[Group, list[Tally]] = {}
        for key, tally in self.tallies.items():
            if key.column == chosen:
                group = key.group[0] if len(self.by) == 1 else key.group
                found.setdefault(group, []).append(tally)
        by_device = any(key.device is not None for key in self.tallies if key.column == chosen)
        return {group: each if by_device else each[0] for group, each in found.items()}

    def together(self, column: str | None = None) -> Any:
        """Return what `estimate` takes for everybody: the tally of all groups, or one for each device."""
        chosen = self._chosen(column)
        devices: dict[str | None, list[Tally]] = {}
        for key, tally in self.tallies.items():
            if key.column == chosen:
                devices.setdefault(key.device, []).append(tally)
        totals = [sum(each[1:], start=each[0]) for each in devices.values()]
        return totals[0] if set(devices) == {None} else totals

    def _chosen(self, column: str | None) -> str:
        if column is None and len(self.columns) == 1:
            return self.columns[0]
        if column not in self.columns:
            raise InvalidRequest(f"the column is {quoted(column)}; expected one of {_named(self.columns):.400}.")
        return str(column)

    def to_body(self) -> dict[str, Any]:
        """Return the tallies for JSON, each with what it counts."""
        return {
            "by": list(self.by),
            "tallies": [
                {"column": key.column, "group": list(key.group), "device": key.device, "tally": tally.to_body()}
                for key, tally in self.tallies.items()
            ],
        }

    @classmethod
    def from_json(cls, text: str | bytes, designs: Design | Iterable[Design]) -> Self:
        """Read tallies of these designs.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            IncompatibleTallies: a tally was counted under none of the designs.
        """
        known = [designs] if isinstance(designs, Design) else list(designs)
        body = documents.unseal(cls.SCHEMA, text)
        by = documents.field(body, "by", list)
        tallies = {_key(each): _tally(each, known) for each in documents.field(body, "tallies", list)}
        try:
            return cls(tuple(map(str, by)), tallies)
        except InvalidRequest as error:
            raise UnreadableFile(error.problem, error.hint) from None


def _order(key: TallyKey) -> tuple[Any, ...]:
    """Return what keys are sorted by; those without a value come last."""
    return tuple((each is None, each or "") for each in (*key.group, key.device))


def _named(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names)) or "nothing"


def _key(row: Any) -> TallyKey:
    if not isinstance(row, dict):
        raise UnreadableFile("a tally is no JSON object; expected a column, a group, a device and counts.")
    group, device = documents.field(row, "group", list), row.get("device")
    if not all(each is None or isinstance(each, str) for each in (*group, device)):
        raise UnreadableFile("a group or a device is no text; expected text or null.")
    return TallyKey(documents.field(row, "column", str), tuple(group), device)


def _tally(row: Mapping[str, Any], designs: list[Design]) -> Tally:
    body = documents.field(row, "tally", dict)
    named = next((each for each in designs if each.hash == body.get("design")), designs[0])
    return Tally.from_body(body, named)
