"""What a query has counted → tallies, the same as `deniable.tally` would have made of the responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from deniable.designs import AnyDesign
from deniable.engines.sql.queries import GROUP, Names, several
from deniable.errors import Incompatible, InvalidResponse, UnreadableFile, quoted
from deniable.groups.tallies import tallies_by_values
from deniable.tallies.stored.cells import StageCells, Stages
from deniable.types import operation

_PARTS = ("counted", "missing", "refused", "foreign")
_NEEDED = ("design", "stage", "raised", "part", "cell", "responses")


def read_counts(
    design: AnyDesign,
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    by: Names = (),
) -> Any:
    """Return the tally of what a query of `query` has returned; by groups, where it was asked for them.

    Args:
        design: the design of the query.
        names: what the columns are called.
        rows: what was returned, in any order; whole numbers may be text, as files have them.
        by: what the columns of groups are called in the table, which the query does not tell; may be left out.

    Returns:
        A tally of the design's type; where there are columns of groups, a `GroupedTally`. A group is the value of its
        column, or a tuple where there are several.

    Raises:
        Incompatible: the counts are of another design, or rows of the table are.
        InvalidResponse: the table holds something that the design cannot send.
        UnreadableFile: these are not the counts of such a query.
        InvalidRequest: another number of columns than the groups are made by.
    """
    _check_names(names)
    grouped = [number for number, name in enumerate(names) if name.startswith(GROUP)]
    groups, refused = _add_rows(design, names, rows, grouped)
    _check_foreign(design, refused)
    of_cells = operation(design, "of_cells")
    tallies = {
        group: of_cells(design, stages, refused) for group, stages in groups.items()
    }
    _check_possible(design, refused)
    if not grouped:
        return tallies[()] if tallies else of_cells(design, {}, refused)
    return tallies_by_values(design, tallies, several(by))


def _check_names(names: Sequence[str]) -> None:
    absent = [name for name in _NEEDED if name not in names]
    if absent:
        raise UnreadableFile(
            f"the counts have no column {absent[0]!r}; expected the columns that the query names.",
            "Run the query that deniable has printed, and keep its columns.",
        )
    if len(set(names)) < len(names):
        raise UnreadableFile(
            "two columns of the counts have one name; expected the columns that the query names."
        )


def _add_rows(
    design: AnyDesign,
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    grouped: list[int],
) -> tuple[dict[tuple[Hashable, ...], Stages], Counter[str]]:
    """Return the cells of each group, and how many rows were refused for each reason."""
    groups: dict[tuple[Hashable, ...], Stages] = {}
    refused = Counter[str]()
    for row in rows:
        stages = groups.setdefault(tuple(row[at] for at in grouped), {})
        _add(design, stages, refused, dict(zip(names, row, strict=True)))
    return groups, refused


def _check_foreign(design: AnyDesign, refused: Counter[str]) -> None:
    if refused["foreign"]:
        raise Incompatible(
            f"{refused['foreign']:,} rows of the table name another design, or none; expected {design.hash:.19}… "
            f"({design!r}).",
            "Select the rows of this design first, and tally each design's responses on their own.",
        )


def _check_possible(design: AnyDesign, refused: Counter[str]) -> None:
    if refused["refused"]:
        raise InvalidResponse(
            f"{refused['refused']:,} rows of the table hold no response of {design!r}; expected what it can send.",
            "Look whether these are the columns of its responses, and whether they are stored as text.",
        )


def _add(
    design: AnyDesign, stages: Stages, refused: Counter[str], row: dict[str, Any]
) -> None:
    if row["design"] != design.hash:
        raise Incompatible(
            f"these are counts of the design {row['design']!s:.19}…; expected {design.hash:.19}… ({design!r}).",
            "Hand over the design that the query was made for.",
        )
    part, responses = row["part"], _parse_count(row["responses"])
    if part not in _PARTS:
        raise UnreadableFile(
            f"a part is called {quoted(part)}; expected one of {', '.join(_PARTS)}."
        )
    if part in ("refused", "foreign"):
        refused[part] += responses
        return
    counted = stages.setdefault(
        (_parse_count(row["stage"]), _parse_count(row["raised"])), StageCells()
    )
    if part == "missing":
        counted.missing += responses
    elif row["cell"] is None and "label" in row:
        counted.labels[str(row["label"] or "")] += responses
    else:
        counted.cells[_parse_count(row["cell"])] += responses


def _parse_count(given: object) -> int:
    """Parse a count of 0 or more, which may be text."""
    text = str(given)
    if isinstance(given, bool) or not (text.isascii() and text.isdecimal()):
        raise UnreadableFile(
            f"a count is {quoted(text)}; expected a whole number, 0 or more."
        )
    return int(text)
