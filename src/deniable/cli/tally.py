"""`deniable tally`: files of responses → counts; `tally-query` and `tally-result`: tables in a database → counts."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from deniable.cli import collected
from deniable.cli.common import CommandOutput, echo, guard_command, progress, say
from deniable.cli.reading import read_any_design, read_bytes
from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from deniable.designs import AnyDesign
    from deniable.groups.collected import CollectedColumn
    from deniable.groups.separate import SeparateTallies
    from deniable.tallies.base import AdditiveTally


@guard_command
def tally(
    design: Path,
    responses: list[str],
    *,
    column: list[str] | None = None,
    by: list[str] | None = None,
    value: list[str] | None = None,
    missing: list[str] | None = None,
    codes: bool | None = None,
    sheet: str | None = None,
    weights: str | None = None,
    threads: int | None = None,
    output: CommandOutput,
) -> None:
    """Count the responses of one file or of several, which add up. Files of another design are refused.

    A file that was collected elsewhere names no design: with --column you vouch for the one you hand over, and the
    tally says so. Values that are no symbols are counted apart and shown, never guessed; --value says what they mean.

    Responses in a database are counted there: see `deniable tally-query`.

    Args:
        design: a design, as written by `deniable design`; or a mapping file (.toml) for several columns.
        responses (FILE…): responses (Parquet, Arrow, CSV, NDJSON, Excel, SPSS, Stata; a file, a folder or a
            'pattern*'), tallies (.json), or - for stdin.
        column (NAME): which column holds the responses; with a mapping file it may be repeated.
        by (COLUMN): count apart by the values of this column. May be repeated.
        value (VALUE=SYMBOL): in a file that was collected elsewhere: which value means which symbol. May be repeated.
        missing (VALUE): in such a file: a value that means that nothing was sent. May be repeated.
        codes: whole numbers are codes, the indices of the symbols from 0, or labels. By default the file says it;
            those of a file that was collected elsewhere are labels.
        weights (NAME): column with the survey weights.
        threads (1…): how many threads count; by default one for each core.
        out: write the tally to this file.
    """
    options = collected.ColumnOptions(
        design, column or (), value or (), missing or (), codes is True, sheet
    )
    single = None if options.mapped else read_any_design(design)
    if single is not None and len(options.columns) > 1:
        raise InvalidRequest(
            f"there are {len(options.columns)} of --column and one design; expected one.",
            "For several columns write a mapping file, which names the design of each, and hand it over as DESIGN.",
        )
    if len({Path(path).resolve() for path in responses}) < len(responses):
        say("a file is named more than once; its responses count as often.")
    if weights is not None and single is None:
        raise InvalidRequest(
            "--weights goes with one design; expected no mapping file."
        )
    counter = _FileCounter(options, single, by or [], codes, threads, weights)
    total = collected.sum_tallies([counter.count(path) for path in responses])
    collected.tell_unknown(counter.unknown, counter.designs)
    output.deliver(total.to_json(indent=2), lambda: collected.print_tallies(total))
    collected.tell_declared(total)


@dataclass
class _FileCounter:
    """Counts one file after another, and keeps which values were no symbols."""

    options: collected.ColumnOptions
    design: AnyDesign | None
    by: list[str]
    codes: bool | None
    threads: int | None
    weights: str | None
    unknown: dict[str, Counter[str]] = field(default_factory=dict)

    @cached_property
    def designs(self) -> list[AnyDesign]:
        """All designs that columns may be of."""
        if self.design is not None:
            return [self.design]
        return collected.read_designs(self.options.design)

    def count(self, path: str) -> collected.AnyTally:
        """Count a file, or read a tally."""
        if path.lower().endswith(".json"):
            return collected.read_tally(Path(path).read_bytes(), self.designs)
        options, source = self.options, cast("str | IO[bytes]", path)
        if path == "-":
            is_reread = self.design is None or bool(options.columns)
            source = collected.read_stream(whole=is_reread)
        if self.design is None:
            return self._count_mapped(source, path)
        question = (
            options.named_question(source, options.columns[0], self.design)
            if options.columns
            else ""
        )
        if question is not None:
            return self._count_named(self.design, source, path, question)
        columns = options.questions(self.design)
        tally = collected.plainest(self._count_declared(columns, source, path))
        return tally if self.weights is None else self._weigh(tally, columns, source)

    def _count_mapped(
        self, source: str | IO[bytes], path: str
    ) -> collected.AnyTally:
        """Count columns with a design each; where a file names that of a column, under it alone."""
        from deniable.groups.separate import SeparateTallies, TallyKey

        declared, tallies_by_key = {}, {}
        for column, column_options in self.options.questions(None).items():
            design = column_options.designs.get(None)
            question = None
            if design is not None:
                question = self.options.named_question(source, column, design)
            if design is None or question is None:
                declared[column] = column_options
                continue
            tally = self._count_named(design, source, path, question)
            tallies_by_key[TallyKey(column)] = tally
        tallies = SeparateTallies(tallies_by_key)
        if declared:
            tallies += self._count_declared(declared, source, path)
        return collected.plainest(tallies)

    def _count_named(
        self, design: AnyDesign, source: str | IO[bytes], path: str, question: str
    ) -> AdditiveTally[Any]:
        """Count a file that names the design of its responses."""
        from deniable.engines import Local
        from deniable.engines.files import tally_file

        options = self.options
        if options.values or options.missing or options.sheet:
            why = (
                "this one names its design; expected none of them"
                if options.columns
                else "expected --column with them"
            )
            raise InvalidRequest(
                f"--value, --missing and --sheet are for files that were collected elsewhere; {why}."
            )
        with progress(f"counting {Path(path).name}") as report:
            tally: AdditiveTally[Any] = tally_file(
                design,
                source,
                by=self.by,
                engine=Local(threads=self.threads or os.cpu_count() or 1),
                progress=report,
                question=question,
                codes=self.codes,
                weights=self.weights,
            )
        return tally

    def _count_declared(
        self,
        columns: Mapping[str, CollectedColumn],
        source: str | IO[bytes],
        path: str,
    ) -> SeparateTallies:
        """Count a file that names no design."""
        from deniable.groups.collected import count_columns

        with progress(f"counting {Path(path).name}") as report:
            count = count_columns(
                columns,
                source,
                by=self.by,
                sheet=self.options.sheet,
                progress=report,
            )
        for column, values in count.unknown.items():
            self.unknown.setdefault(column, Counter()).update(values)
        return count.tallies

    def _weigh(
        self,
        tally: Any,
        columns: Mapping[str, CollectedColumn],
        source: str | IO[bytes],
    ) -> collected.AnyTally:
        """Count the same rows with the weights that stand beside them."""
        from deniable.groups.collected import weigh

        ((column, column_options),) = columns.items()
        weights, sheet = str(self.weights), self.options.sheet
        return weigh(tally, column_options, source, column, weights, sheet=sheet)


@guard_command
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
        _read_single_design(design),
        (schema, table) if schema else (table,),
        column,
        dialect=dialect,
        by=by or (),
        labels=labels,
        checked=not no_design,
        reached=reached,
    )
    echo(f"{text};")


@guard_command
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

    tally = read_counts(
        _read_single_design(design), *_read_table(counts), by=by or ()
    )
    output.deliver(tally.to_json(indent=2), lambda: collected.print_tallies(tally))


def _read_single_design(path: Path) -> AnyDesign:
    if path.suffix.lower() == ".toml":
        raise InvalidRequest(
            "a query counts one column; expected a design, not a mapping file."
        )
    return read_any_design(path)


def _read_table(path: Path) -> tuple[list[str], list[list[Any]]]:
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
    # some leave out what is null
    names = list(dict.fromkeys(name for row in objects for name in row))
    rows = [[row.get(name) for name in names] for row in objects]
    if any(isinstance(value, list | dict) for row in rows for value in row):
        raise ValueError
    return names, rows


def _parse_csv(text: str) -> tuple[list[str], list[list[Any]]]:
    names, *rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if any(len(row) != len(names) for row in rows):
        raise ValueError
    return names, [[value or None for value in row] for row in rows]
