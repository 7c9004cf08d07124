"""`deniable tally-query` and `tally-result`: the query that counts responses in a database, and what it returned."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deniable.cli import collected
from deniable.cli.common import CommandOutput, guarded
from deniable.cli.reading import read_any_design, read_bytes
from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from deniable.designs import AnyDesign


@guarded
def tally_query(
    design: Path,
    *,
    table: str,
    schema: str = "",
    column: list[str] | None = None,
    by: list[str] | None = None,
    dialect: str = "duckdb",
    labels: bool = False,
    no_design: bool = False,
    reached: str | None = None,
) -> None:
    """Print the SQL query that counts the responses in a table of a database.

    Run it there, and let `deniable tally-result` read the counts that it returns.

    Args:
        table (NAME): the table that holds the responses.
        schema (NAME): the schema that the table is in.
        column (NAME): a column that holds responses; by default as `deniable respond` calls it. May be repeated.
        by (COLUMN): count apart by the values of this column. May be repeated.
        dialect (duckdb|postgres|spark): the database that the query is for.
        labels: the table holds the responses as text.
        no_design: the table has no column 'design' to check.
        reached (COLUMN): for a ladder: the column with the number of released stages.
    """
    from deniable.engines.sql import query

    text = query(
        _read_design(design),
        (schema, table) if schema else (table,),
        column,
        dialect=dialect,
        by=by or (),
        labels=labels,
        checked=not no_design,
        reached=reached,
    )
    typer.echo(f"{text};")


@guarded
def tally_result(
    design: Path,
    counts: Path,
    *,
    by: list[str] | None = None,
    output: CommandOutput,
) -> None:
    """Read the counts that the query of `deniable tally-query` returned, and print or write their tally.

    Args:
        counts: what the query returned, as CSV or JSON; - for stdin.
        by (COLUMN): what the columns are called that groups were made by, in their order. May be repeated.
        out: write the tally to this file.
    """
    from deniable.engines.sql import read_counts

    tally = read_counts(_read_design(design), *_read(counts), by=by or ())
    output.deliver(tally.to_json(indent=2), lambda: collected.print_tallies(tally))


def _read_design(path: Path) -> AnyDesign:
    if path.suffix.lower() == ".toml":
        raise InvalidRequest(
            "a query counts one column; expected a design, not a mapping file."
        )
    design: AnyDesign = read_any_design(path)
    return design


def _read(path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return the names of the columns and the rows of a file: CSV with a header, or JSON, an object for each row."""
    content = read_bytes(path)
    try:
        text = content.decode("utf-8-sig").strip()
        return _parse_json(text) if text[:1] in ("[", "{") else _parse_csv(text)
    except (ValueError, csv.Error, RecursionError):
        raise UnreadableFile(
            f"{path.name} holds no table of counts; expected CSV with a header, or JSON with an object for each row."
        ) from None


def _parse_json(text: str) -> tuple[list[str], list[list[Any]]]:
    objects = (
        json.loads(text)
        if text.startswith("[")
        else [json.loads(line) for line in text.splitlines()]
    )
    if not all(isinstance(row, dict) for row in objects):
        raise ValueError
    names = list(
        dict.fromkeys(name for row in objects for name in row)
    )  # some leave out what is null
    rows = [[row.get(name) for name in names] for row in objects]
    if any(isinstance(value, list | dict) for row in rows for value in row):
        raise ValueError
    return names, rows


def _parse_csv(text: str) -> tuple[list[str], list[list[Any]]]:
    names, *rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if any(len(row) != len(names) for row in rows):
        raise ValueError
    return names, [[value or None for value in row] for row in rows]
