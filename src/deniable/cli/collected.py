"""Responses that were collected elsewhere, in the shell: what options say about columns; groups and columns apart."""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from deniable.cli.common import console, say, tell
from deniable.cli.reading import read_any_design
from deniable.errors import IncompatibleTallies, InvalidRequest, NotEstimable, quoted

if TYPE_CHECKING:
    from typing import TypeAlias

    from deniable.designs import AnyDesign
    from deniable.documents import Sealed
    from deniable.groups.collected import CollectedColumn
    from deniable.groups.separate import SeparateTallies
    from deniable.tallies.base import AdditiveTally
    from deniable.tallies.group_labels import Group

    AnyTally: TypeAlias = AdditiveTally[Any] | SeparateTallies


@dataclass(frozen=True)
class ColumnOptions:
    """What the words of a command say about the columns of files that name no design.

    Attributes:
        design: the file of a design, or a mapping file (.toml).
        columns: the columns that are meant.
        values: which value means which symbol, as VALUE=SYMBOL.
        missing: values that mean that nothing was sent.
        codes: whether values number the symbols.
        sheet: of a workbook.
    """

    design: Path
    columns: Sequence[str] = ()
    values: Sequence[str] = ()
    missing: Sequence[str] = ()
    codes: bool = False
    sheet: str | None = None

    @property
    def mapped(self) -> bool:
        """Whether a mapping file says the design of each column."""
        return self.design.suffix.lower() == ".toml"

    def questions(self, known: AnyDesign | None) -> dict[str, CollectedColumn]:
        """Return what is said about each column.

        Raises:
            InvalidRequest: columns that the mapping file does not have, or words that do not go together.
        """
        from deniable.groups.collected import CollectedColumn, read_mapping

        if known is not None:
            (column,) = self.columns
            return {
                column: CollectedColumn(
                    known,  # type: ignore[arg-type]
                    self.symbols,
                    tuple(self.missing),
                    self.codes,
                )
            }
        if self.values or self.missing or self.codes:
            raise InvalidRequest(
                "a mapping file says what values mean; expected no --value, --missing or --codes."
            )
        columns = read_mapping(self.design)
        absent = [name for name in self.columns if name not in columns]
        if absent:
            raise InvalidRequest(
                f"{self.design.name} says nothing about the column {quoted(absent[0], 80)}; expected one of "
                f"{', '.join(columns):.400}."
            )
        return {name: columns[name] for name in self.columns or columns}

    def named_question(
        self, source: str | IO[bytes], column: str, design: AnyDesign
    ) -> str | None:
        """Return which question of a file is meant that names the design of its responses; None where it does not."""
        from deniable.files.columns import DESIGN, RESPONSE, open_columns
        from deniable.files.inputs import find_inputs
        from deniable.tallies.files import metadata_key

        first = find_inputs(source)[0].path if isinstance(source, str) else source
        with open_columns(first, sheet=self.sheet) as opened:
            question: str | None = None
            if (
                opened.has(f"{column}.{design.columns[0]}")
                or opened.named_design(metadata_key(column)) is not None
            ):
                question = column
            elif column == RESPONSE and (
                opened.has(DESIGN) or opened.named_design(metadata_key()) is not None
            ):
                question = ""
        if not isinstance(source, str):
            source.seek(0)
        return question

    @property
    def symbols(self) -> dict[str, str]:
        """The symbol that each value means."""
        symbols: dict[str, str] = {}
        for pair in self.values:
            value, equals, symbol = pair.partition("=")
            if not equals or not value or value in symbols:
                raise InvalidRequest(
                    f"--value {pair:.80}: expected VALUE=SYMBOL, each value once."
                )
            symbols[value] = symbol
        return symbols


def read_designs(path: Path) -> list[AnyDesign]:
    """Read the design of a file, or all that a mapping file names."""
    if path.suffix.lower() != ".toml":
        return [read_any_design(path)]
    from deniable.groups.collected import read_mapping

    return [
        design
        for column in read_mapping(path).values()
        for design in column.designs.values()
    ]


def read_stream(*, whole: bool) -> IO[bytes]:
    """Return what stdin holds; all of it, where it must be looked at twice."""
    return io.BytesIO(sys.stdin.buffer.read()) if whole else sys.stdin.buffer


def read_tally(text: bytes, designs: Sequence[AnyDesign]) -> AnyTally:
    """Read a tally of one of these designs, whatever it is: of everybody, by groups, or of several columns."""
    from deniable.engines.response_files import read_tally as read_whole
    from deniable.groups.separate import SeparateTallies
    from deniable.groups.tallies import GroupedTally

    if _has_schema(text, SeparateTallies):
        return SeparateTallies.from_json(text, designs)
    design = next(
        (candidate for candidate in designs if candidate.hash.encode() in text),
        designs[0],
    )
    return (
        GroupedTally.from_json(text, design)
        if _has_schema(text, GroupedTally)
        else read_whole(text, design)
    )


def _has_schema(text: bytes, kind: type[Sealed]) -> bool:
    return f"/{kind.SCHEMA}/".encode() in text[:200]


def plainest(tallies: SeparateTallies) -> AnyTally:
    """Return the tally of one column that was asked with one design as it is; others as they are."""
    if len(tallies.tallies) > 1 or next(iter(tallies.tallies)).device is not None:
        return tallies
    return cast("AnyTally", tallies[tallies.columns[0]])


def sum_tallies(tallies: Sequence[Any]) -> Any:
    """Return the sum of tallies.

    Raises:
        IncompatibleTallies: some are by group or column, or with weights, and others are not.
    """
    if len(set(map(type, tallies))) > 1:
        raise IncompatibleTallies(
            "some tallies are by group or column, or with weights, and others are not; expected all in one way.",
            "Count all files with the same --by, --column and --weights, or none.",
        )
    return sum(tallies[1:], start=tallies[0])


def tell_unknown(unknown: dict[str, Counter[str]], designs: Sequence[Any]) -> None:
    """Tell which values are no symbols, and which of them come near to one."""
    from deniable.groups.collected import told_values

    if not unknown:
        return  # also of designs that have no list of symbols
    symbols = {
        symbol.casefold(): symbol
        for design in designs
        for symbol in design.symbols[:1000]
    }
    for column, counted in unknown.items():
        say(
            f"Warning: {column}: {told_values(counted)}. They are counted apart, and take no part."
        )
        near = {
            value: symbols[value.strip().casefold()]
            for value in counted
            if value.strip().casefold() in symbols
        }
        if near:
            words = " ".join(
                f"--value {shlex.quote(f'{value}={symbol}')}"
                for value, symbol in near.items()
            )
            say(f"If they are meant so, say it, with all other values: {words:.400}")


def tell_declared(tally: AnyTally) -> None:
    """Tell that the design was declared, where it was."""
    declared = [
        getattr(count, "declared", None) for _, count in _title_tallies(tally)
    ]
    rows = sum(count.rows for count in declared if count is not None)
    if rows:
        say(
            f"The design of {rows:,} rows is the one you named: their file does not say what it was."
        )


def print_tallies(tally: AnyTally) -> None:
    """Print the table of a tally, as `print(tally)` shows it, and its notes; of several each under what it counts."""
    from deniable.rendering import MAX_ROWS
    from deniable.rendering.terminal import to_rich

    for title, count in _title_tallies(tally):
        if title:
            tell(title, style="bold")
        sheet = count._sheet().shortened(MAX_ROWS)
        console().print(to_rich(sheet))
        for note in sheet.notes:
            tell(note)


def _title_tallies(tally: Any, *words: str) -> Iterator[tuple[str, Any]]:
    """Yield ungrouped tallies, each with its title."""
    from deniable.groups.separate import SeparateTallies

    if isinstance(tally, SeparateTallies):
        for key, count in tally.tallies.items():
            yield from _title_tallies(
                count,
                key.column,
                *([] if key.device is None else [f"asked with {key.device}"]),
            )
    elif hasattr(tally, "by"):
        for group, count in tally.items():
            yield ", ".join([*words, group_title(tally.by, group)]), count
    else:
        yield ", ".join(words), tally


def group_title(by: Sequence[str], group: Group) -> str:
    """Name a group, with the columns that groups are made by where they are known.

    Example:
        >>> group_title(("region", "sex"), ("north", None)), group_title((), "north")
        ('region = north, sex = (none)', 'north')
    """
    from deniable.tallies.group_labels import group_name

    return ", ".join(_words(_group_values(by, group))) if by else group_name(group)


def _group_values(by: Sequence[str], group: Group) -> dict[str, Any]:
    return dict(
        zip(by, group if isinstance(group, tuple) else (group,), strict=True)
    )


def _words(group: Mapping[str, Any]) -> list[str]:
    from deniable.tallies.group_labels import group_name

    return [f"{name} = {group_name(value)}" for name, value in group.items()]


@dataclass(frozen=True)
class SeparateResults:
    """An estimate for each column; in place of it, why there is none.

    Of a column whose groups were asked with several devices there is one for each group.

    Attributes:
        rows: a column, one of its groups (the values of columns, by name) or nothing, and a result or what keeps it
            from being made.
    """

    rows: tuple[tuple[str, dict[str, Any], Any], ...]

    @classmethod
    def of(
        cls, tallies: SeparateTallies, fit: Callable[[Any], Any]
    ) -> SeparateResults:
        """Estimate every column by itself."""
        return cls(tuple(_fit_tallies(tallies, fit)))

    def print(self, show: Callable[[Any], None]) -> None:
        """Print every estimate under what it is of."""
        for column, group, result in self.rows:
            tell(", ".join([column, *_words(group)]), style="bold")
            if isinstance(result, NotEstimable):
                tell(f"No estimate: {result.problem}")
            else:
                show(result)
            console().print()

    def to_json(self, options: dict[str, Any]) -> str:
        """Return all of them as JSON."""
        rows = [
            {
                "column": column,
                **({"group": group} if group else {}),
                **(
                    {"problem": result.problem}
                    if isinstance(result, NotEstimable)
                    else {"result": json.loads(result.to_json(**options))}
                ),
            }
            for column, group, result in self.rows
        ]
        return json.dumps({"estimates": rows}, ensure_ascii=False, indent=2)

    def written(self, path: Path, options: dict[str, Any]) -> str:
        """Return what a file of this name holds: JSON, or CSV with a line for each number of each column.

        Raises:
            InvalidRequest: another ending.
        """
        ending = path.suffix.lower()
        if ending == ".json":
            return self.to_json(options)
        if ending != ".csv":
            raise InvalidRequest(
                f"cannot write several estimates to {path.name}; expected .json or .csv."
            )
        return self._csv(options)

    def _csv(self, options: dict[str, Any]) -> str:
        from deniable.files.cells import safe_cell

        lines: list[dict[str, Any]] = []
        for column, group, result in self.rows:
            if not isinstance(result, NotEstimable):
                labels = {
                    "column": safe_cell(column),
                    "group": safe_cell(", ".join(_words(group))),
                }
                lines += [
                    labels | line
                    for line in csv.DictReader(
                        io.StringIO(result.summary(**options).to_csv())
                    )
                ]
        out = io.StringIO()
        names = list(dict.fromkeys(name for line in lines for name in line))
        writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
        return out.getvalue().removesuffix("\n")


def _fit_tallies(
    tallies: SeparateTallies, fit: Callable[[Any], Any]
) -> Iterator[tuple[str, dict[str, Any], Any]]:
    for column in tallies.columns:
        for group, counts in _groups(tallies, column):
            try:
                yield column, group, fit(counts)
            except NotEstimable as error:
                yield column, group, error


def _groups(
    tallies: SeparateTallies, column: str
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield what is estimated of a column: all of it at once, but groups with several devices one by one."""
    counts = tallies[column]
    if not isinstance(counts, dict):
        yield {}, counts
        return
    by = next(
        count.by  # type: ignore[attr-defined]  # groups
        for key, count in tallies.tallies.items()
        if key.column == column
    )
    for group, devices in counts.items():
        yield _group_values(by, group), devices
