"""Responses that were collected elsewhere, in the shell: what the options say about columns, and tallies kept apart."""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.common import console, print_tally, read_any_design, say
from deniable.errors import IncompatibleTallies, InvalidRequest, NotEstimable, quoted

if TYPE_CHECKING:
    from deniable.designs import AnyDesign
    from deniable.tallies.collected import CollectedColumn

Values = Annotated[
    list[str] | None,
    typer.Option(
        "--value",
        metavar="VALUE=SYMBOL",
        help="In a file that was collected elsewhere: which value means which symbol. Repeat it for each.",
    ),
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="VALUE", help="In such a file: a value that means that nothing was sent."),
]
Sheet = Annotated[str | None, typer.Option("--sheet", metavar="NAME", help="Of a workbook: which sheet.")]


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
        from deniable.tallies.collected import CollectedColumn, read_mapping

        if known is not None:
            (column,) = self.columns
            return {column: CollectedColumn(known, self._meant(), tuple(self.missing), self.codes)}  # type: ignore[arg-type]
        if self.values or self.missing or self.codes:
            raise InvalidRequest("a mapping file says what values mean; expected no --value, --missing or --codes.")
        found = read_mapping(self.design)
        absent = [each for each in self.columns if each not in found]
        if absent:
            raise InvalidRequest(
                f"{self.design.name} says nothing about the column {quoted(absent[0], 80)}; expected one of "
                f"{', '.join(found):.400}."
            )
        return {each: found[each] for each in self.columns or found}

    def _meant(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for each in self.values:
            value, equals, symbol = each.partition("=")
            if not equals or not value or value in found:
                raise InvalidRequest(f"--value {each:.80}: expected VALUE=SYMBOL, each value once.")
            found[value] = symbol
        return found


def named_question(given: Any, column: str, design: AnyDesign, sheet: str | None) -> str | None:
    """Return which question of a file is meant that names the design of its responses; None where it does not."""
    from deniable.files.columns import DESIGN, RESPONSE, open_columns
    from deniable.files.inputs import find_inputs
    from deniable.tallies.files import metadata_key

    first = find_inputs(given)[0].path if isinstance(given, str) else given
    with open_columns(first, sheet=sheet) as opened:
        found: str | None = None
        if opened.has(f"{column}.{design.columns[0]}") or opened.named_design(metadata_key(column)) is not None:
            found = column
        elif column == RESPONSE and (opened.has(DESIGN) or opened.named_design(metadata_key()) is not None):
            found = ""
    if not isinstance(given, str):
        given.seek(0)
    return found


def read_designs(path: Path) -> list[Any]:
    """Read the design of a file, or all that a mapping file names."""
    if path.suffix.lower() != ".toml":
        return [read_any_design(path)]
    from deniable.tallies.collected import read_mapping

    return [design for each in read_mapping(path).values() for design in each.designs.values()]


def read_stream(*, whole: bool) -> IO[bytes]:
    """Return what stdin holds; all of it, where it must be looked at twice."""
    return io.BytesIO(sys.stdin.buffer.read()) if whole else sys.stdin.buffer


def are_separate(text: bytes) -> bool:
    """Say whether a document holds tallies that are kept apart."""
    from deniable.tallies.separate import SeparateTallies

    return f"/{SeparateTallies.SCHEMA}/".encode() in text[:200]


def added(tallies: Iterable[Any]) -> Any:
    """Return the sum of tallies.

    Raises:
        IncompatibleTallies: some are kept apart by group or column, and others are not.
    """
    found = list(tallies)
    if len({type(each) for each in found}) > 1:
        raise IncompatibleTallies(
            "some tallies are kept apart by group or column, and others are not; expected one or the other.",
            "Count all files with the same --by, or none.",
        )
    return sum(found[1:], start=found[0])


def tell_unknown(unknown: dict[str, Counter[str]], designs: Sequence[Any]) -> None:
    """Tell which values are no symbols, and which of them come near to one."""
    from deniable.tallies.collected import told_values

    if not unknown:
        return  # also of designs that have no list of symbols
    symbols = {symbol.casefold(): symbol for design in designs for symbol in design.symbols[:1000]}
    for column, counted in unknown.items():
        say(f"Warning: {column}: {told_values(counted)}. They are counted apart, and take no part.")
        near = {value: symbols[value.strip().casefold()] for value in counted if value.strip().casefold() in symbols}
        if near:
            words = " ".join(f"--value {shlex.quote(f'{value}={symbol}')}" for value, symbol in near.items())
            say(f"If they are meant so, say it, with all other values: {words:.400}")


def tell_declared(tally: Any) -> None:
    """Tell that the design was declared, where it was."""
    from deniable.tallies.separate import SeparateTallies

    found = tally.tallies.values() if isinstance(tally, SeparateTallies) else [tally]
    declared = [getattr(each, "declared", None) for each in found]
    rows = sum(each.rows for each in declared if each is not None)
    if rows:
        say(f"The design of {rows:,} rows was declared by whoever counted: their file does not name it.")


def print_tallies(tally: Any, *, as_json: bool) -> None:
    """Print a tally, or each of those that are kept apart under what it counts."""
    from deniable.tallies.separate import SeparateTallies

    if as_json or not isinstance(tally, SeparateTallies):
        print_tally(tally, as_json=as_json)
        return
    for key, each in tally.tallies.items():
        console().print(heading(tally.by, key.column, key.group, key.device), markup=False, style="bold")
        print_tally(each, as_json=False)


def heading(by: Sequence[str], column: str, group: Sequence[str | None], device: str | None = None) -> str:
    """Name what a tally, or an estimate, is of."""
    groups = [f"{name} = {'(none)' if each is None else each}" for name, each in zip(by, group, strict=True)]
    return ", ".join([column, *groups, *([] if device is None else [f"asked with {device}"])])


@dataclass(frozen=True)
class SeparateResults:
    """An estimate for each column and group; in place of it, why there is none.

    Attributes:
        by: the columns that groups are made by.
        rows: column, group, and a result or what keeps it from being made.
    """

    by: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str | None, ...], Any], ...]

    @classmethod
    def of(cls, tallies: Any, fit: Callable[[Any], Any]) -> SeparateResults:
        """Estimate every column and group by itself."""
        return cls(tallies.by, tuple(_fitted(tallies, fit)))

    def print(self, show: Callable[[Any], None], told: dict[str, Any]) -> None:
        """Print every estimate under what it is of."""
        for column, group, found in self.rows:
            console().print(heading(self.by, column, group), markup=False, style="bold")
            if isinstance(found, NotEstimable):
                console().print(f"No estimate: {found.problem}", markup=False)
            else:
                show(found.summary(**told))
            console().print()

    def to_json(self, told: dict[str, Any]) -> str:
        """Return all of them as JSON."""
        rows = [
            {
                "column": column,
                "group": dict(zip(self.by, group, strict=True)),
                **(
                    {"problem": found.problem}
                    if isinstance(found, NotEstimable)
                    else {"result": json.loads(found.to_json(**told))}
                ),
            }
            for column, group, found in self.rows
        ]
        return json.dumps({"by": list(self.by), "estimates": rows}, ensure_ascii=False, indent=2)

    def written(self, path: Path, told: dict[str, Any]) -> str:
        """Return what a file of this name holds: JSON, or CSV with a line for each share of each group.

        Raises:
            InvalidRequest: another ending.
        """
        ending = path.suffix.lower()
        if ending == ".json":
            return self.to_json(told)
        if ending != ".csv":
            raise InvalidRequest(f"cannot write several estimates to {path.name}; expected .json or .csv.")
        return self._csv(told)

    def _csv(self, told: dict[str, Any]) -> str:
        from deniable.estimates.formats import to_csv
        from deniable.files.spreadsheets import safe_cell

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        for column, group, found in self.rows:
            if isinstance(found, NotEstimable):
                continue
            head, *lines = csv.reader(io.StringIO(to_csv(found.summary(**told))))
            if not out.tell():
                writer.writerow(["column", *map(safe_cell, self.by), *head])
            for line in lines:
                writer.writerow([safe_cell(column), *(safe_cell(each or "") for each in group), *line])
        return out.getvalue().removesuffix("\n")


def _fitted(tallies: Any, fit: Callable[[Any], Any]) -> Iterator[tuple[str, tuple[str | None, ...], Any]]:
    for column in tallies.columns:
        for group, counted in tallies.groups(column).items():
            values = (group,) if len(tallies.by) == 1 else group
            try:
                yield column, values, fit(counted)
            except NotEstimable as error:
                yield column, values, error
