"""Files of responses → counts. A file names the design of its responses, and is refused under another one.

Every format has the columns `response` (a label, or in Parquet the packed bits of a set; nothing where nothing was
sent) and `design` (the hash of the design). The hash stands in each row because rows travel: a comment line, or the
metadata of a file, is lost when pandas, Excel, SQL or Spark writes it again or two files are joined, and a column is
not. `design` is the last column of a CSV file, so that one which breaks off within a row shows it. A Parquet file, in
which an equal column takes no space, also names the design in its schema metadata under `deniable.design`. A line of
NDJSON may also be a `Response` as it travels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deniable.designs import Design
from deniable.errors import Incompatible, InvalidResponse, UnreadableFile
from deniable.files.columns import DESIGN, RESPONSE, ColumnFile, File, open_columns
from deniable.tallies import arrow
from deniable.tallies.counting import tally
from deniable.tallies.counts import Tally
from deniable.tallies.running import Running

Progress = Callable[[int, float | None], None]
"""Told after each batch: how many rows were read, and which share of the file, where that is known."""


def tally_file(
    design: Design,
    file: File,
    format: str | None = None,
    *,
    progress: Progress | None = None,
    count: Callable[..., Tally] = tally,
) -> Tally:
    """Count the responses of a file, in constant memory.

    Labels are read as they are written: where 1 stands in the column, it is the symbol "1". A CSV or NDJSON file that
    breaks off exactly between two rows looks complete; only Parquet tells.

    Args:
        design: what the responses were drawn with.
        file: a path or an open binary file.
        format: "parquet", "csv" or "ndjson"; by default told by the name of the file, or by how it begins.
        progress: told after each batch.
        count: counts a batch, a column or an array of packed rows, as `tallies.tally` does; an engine brings its own.

    Raises:
        Incompatible: the responses were drawn with another design.
        UnreadableFile: truncated, or not a file of responses.
        InvalidResponse: a label that the design cannot send; the message names the row.
        OSError: the file is not there, or may not be read.
    """
    with open_columns(file, format) as columns:
        wanted = _wanted(columns, design)
        total, rows = Tally.empty(design), 0
        for batch in columns.batches(wanted):
            if DESIGN in wanted:
                _check_rows(columns, rows, batch.column(DESIGN), design)
            try:
                total = total + _counted(design, batch.column(RESPONSE), count)
            except InvalidResponse:
                # The same again, to name the row of the file.
                running = Running(design, codes=False, where=columns.row)
                running.rows = rows
                arrow.add_array(running, batch.column(RESPONSE))
                raise
            rows += len(batch)
            if progress:
                progress(rows, columns.share)
    return total


def _counted(design: Design, column: Any, count: Callable[..., Tally]) -> Tally:
    """Count one column of Arrow; packed rows as an array, which nobody has to read again."""
    import pyarrow as pa

    if not pa.types.is_fixed_size_binary(column.type):
        return count(design, column, codes=False)
    present = column.drop_null() if column.null_count else column
    counted = count(design, design.channel.coding.from_arrow(present))
    return Tally(design, counted.counts, column.null_count, counted.respondents)


def _wanted(columns: ColumnFile, design: Design) -> list[str]:
    if columns.design is not None and columns.design != design.hash:
        raise foreign(columns.name, columns.design, design)
    if columns.names is None:
        return [RESPONSE, DESIGN]
    if columns.names.count(RESPONSE) != 1:
        # The columns that there are stay unnamed: in a file of answers without a header they are somebody's answers.
        raise UnreadableFile(
            f"{columns.name} has {columns.names.count(RESPONSE) or 'no'} columns called {RESPONSE!r}; expected one.",
            "Write it with `deniable respond`, or tally a column of your own with deniable.tally(design, column).",
        )
    if columns.names.count(DESIGN) == 1:
        return [RESPONSE, DESIGN]
    if columns.design is None:
        raise UnreadableFile(
            f"{columns.name} does not say which design its responses were drawn with; expected a column {DESIGN!r}.",
            f"If it was {design.hash}, add that column, or tally the responses with deniable.tally(design, column).",
        )
    return [RESPONSE]


def _check_rows(columns: ColumnFile, before: int, named: Any, design: Design) -> None:
    import pyarrow as pa

    encoded = named if isinstance(named, pa.DictionaryArray) else named.dictionary_encode()
    if not encoded.indices.null_count and encoded.dictionary.to_pylist() == [design.hash]:
        return
    for offset, each in enumerate(named.to_pylist()):
        if each is None:
            raise UnreadableFile(f"{columns.row(before + offset)} names no design; expected {design.hash:.19}….")
        if each != design.hash:
            if design.hash.startswith(str(each)):
                raise columns.damaged(f"row {before + offset + 1:,} breaks off")
            raise foreign(columns.row(before + offset), str(each), design)


def foreign(what: str, named: str, design: Design) -> Incompatible:
    """Return the error for responses of another design."""
    return Incompatible(
        f"{what} belongs to the design {named:.19}…; expected {design.hash:.19}… ({design!r}).",
        "Hand over the design file that the responses were drawn with.",
    )
