"""`deniable tally --sql` and `--from-sql`: the query that counts responses in a warehouse, and what it returned."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli import collected
from deniable.cli.common import check_out, say, write
from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from deniable.designs import AnyDesign

Sql = Annotated[bool, typer.Option("--sql", help="Print the query that counts a table, in place of counting files.")]
Dialect = Annotated[
    str, typer.Option("--dialect", metavar="duckdb|postgres|spark", help="With --sql: which database the query is for.")
]
Table = Annotated[str, typer.Option("--table", metavar="NAME", help="With --sql: the table that holds the responses.")]
Schema = Annotated[str, typer.Option("--schema", metavar="NAME", help="With --sql: the schema that the table is in.")]
Labels = Annotated[bool, typer.Option("--labels", help="With --sql: the table holds the responses as text.")]
Unchecked = Annotated[bool, typer.Option("--no-design", help="With --sql: the table has no column 'design' to check.")]
Reached = Annotated[
    str, typer.Option("--reached", metavar="COLUMN", help="With --sql, for a ladder: how many stages were released.")
]
FromSql = Annotated[
    Path | None,
    typer.Option("--from-sql", metavar="FILE", help="What the query returned, as CSV or JSON; - for stdin."),
]


@dataclass(frozen=True)
class TableOptions:
    """What the options of `deniable tally` say about a table, as `engines.sql.query` takes it."""

    table: str
    schema: str
    columns: Sequence[str]
    by: Sequence[str]
    dialect: str
    labels: bool
    unchecked: bool
    reached: str

    def show(self, design: AnyDesign) -> None:
        """Print the query.

        Raises:
            InvalidRequest: there is no table, or a name that cannot be written.
        """
        from deniable.engines.sql import query

        if not self.table:
            raise InvalidRequest("there is no table; expected --table NAME.")
        text = query(
            design,
            (*([self.schema] if self.schema else []), self.table),
            self.columns or None,
            dialect=self.dialect,
            by=self.by,
            labels=self.labels,
            checked=not self.unchecked,
            reached=self.reached or None,
        )
        typer.echo(f"{text};")


def show_counts(
    design: AnyDesign, path: Path, out: Path | None, by: Sequence[str], *, force: bool, as_json: bool
) -> None:
    """Print the tally of what a query returned, or of each group of it, and write it where that is asked for.

    Raises:
        Incompatible: counts of another design.
        InvalidResponse: the table holds what the design cannot send.
        UnreadableFile: no counts.
        InvalidRequest: --by names another number of columns than the counts have groups by.
    """
    from deniable.engines.sql import read_counts

    check_out(out, force=force)
    found = read_counts(design, *_read(path), by=by)
    collected.print_tallies(found, as_json=as_json)
    if out is not None:
        write(out, found.to_json(indent=2), force=force)
        say(f"wrote {out}")


def _read(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return the names of the columns and the rows of a file: CSV with a header, or JSON, an object for each row."""
    content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    try:
        text = content.decode("utf-8-sig").strip()
        return _of_json(text) if text[:1] in ("[", "{") else _of_csv(text)
    except (ValueError, csv.Error, RecursionError):
        raise UnreadableFile(
            f"{path.name} holds no table of counts; expected CSV with a header, or JSON with an object for each row."
        ) from None


def _of_json(text: str) -> tuple[list[str], list[list[Any]]]:
    objects = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    if not all(isinstance(each, dict) for each in objects):
        raise ValueError
    names = list(dict.fromkeys(name for each in objects for name in each))  # some leave out what is null
    rows = [[each.get(name) for name in names] for each in objects]
    if any(isinstance(value, list | dict) for row in rows for value in row):
        raise ValueError
    return names, rows


def _of_csv(text: str) -> tuple[list[str], list[list[Any]]]:
    names, *rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if any(len(row) != len(names) for row in rows):
        raise ValueError
    return names, [[value or None for value in row] for row in rows]
