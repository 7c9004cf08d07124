"""Files of responses → counts. A file names the design of its responses, and is refused under another one.

Responses are stored in one form, in files as in SQL and on Spark. The columns are those of `Responses`, called as
`design.columns` says, and `design`, the hash of the design. In Parquet and Arrow IPC they hold codes (whole numbers),
or packed bits and rows of symbols (binary values of one size), and null where nothing was sent; in CSV and NDJSON
labels, and nothing. Text is read as labels everywhere. Where a file holds responses to several questions, the names of
each begin with the question's and a dot: `smokes.response`, `smokes.design`.

The hash stands in each row because rows travel: a comment line, or the metadata of a file, is lost when pandas, Excel,
SQL or Spark writes it again or two files are joined, and a column is not. `design` is the last column of a CSV file, so
that one which breaks off within a row shows it. A typed file, in which an equal column takes no space, also names the
design in its metadata under `deniable.design`. A line of NDJSON may also be a `Response` as it travels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from deniable.designs import AnyDesign, Design
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
    nearest,
    quoted,
)
from deniable.files.columns import BATCH, DESIGN, ColumnFile
from deniable.files.office import cell_text
from deniable.tallies.responses import Responses
from deniable.tallies.weighted import WeightedTally, tally_weighted

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, float | None], None]
"""Told after each batch: how many rows were read, and which share of all, where that is known."""

Values: TypeAlias = tuple[str | None, ...]
"""The values of some columns by which responses are counted apart."""

Count: TypeAlias = Callable[[AnyDesign, "pa.RecordBatch", bool | None], Any]
"""Counts a batch with the columns of `Responses`, given what whole numbers are."""

_METADATA = "deniable.design"
_INDEX = re.compile(r"^the response at index ([\d,]+)")


def count_weighted(
    weights: str, design: AnyDesign, batch: pa.RecordBatch, codes: bool | None
) -> WeightedTally:
    """Count a batch of responses with the weights that stand beside them.

    Raises:
        InvalidResponse: something that the design cannot send, or a weight that is missing, negative or no number.
        InvalidRequest: a design that is not about categories or numbers.
    """
    import pyarrow as pa

    if not isinstance(design, Design):
        raise InvalidRequest(
            f"weights do not go with a design that asks for {design.asks}; expected categories or numbers."
        )
    column: Any = batch.column(weights)
    try:
        numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise InvalidResponse(
            f"a weight in {quoted(weights)} is no number; expected one in each row."
        ) from None
    return tally_weighted(
        Responses.of(design, batch.column(0), codes=codes), numbers
    )


def counted_batches(
    columns: ColumnFile,
    design: AnyDesign,
    count: Count,
    *,
    question: str = "",
    codes: bool | None = None,
    beside: Sequence[str] = (),
    pieces: range | None = None,
    size: int = BATCH,
    by: Sequence[str] = (),
) -> Iterator[tuple[int, dict[Values, Any]]]:
    """Count an open file batch by batch.

    Args:
        columns: the file.
        design: what the responses were drawn with.
        count: counts a batch.
        question: which of several questions; empty where the file holds one.
        codes: what whole numbers are; True for codes, False for labels. By default codes, and refused where symbols
            that are numbers make the two differ and the file does not say that it is one of ours.
        beside: further columns that are handed to `count` as they are, such as weights.
        pieces: which of the file's pieces; all by default.
        size: how many rows a batch has, at most.
        by: columns by whose values to count apart.

    Yields:
        How many rows were read so far, and the tally of the last ones for each group, that is the values of `by`.

    Raises:
        Incompatible: the responses were drawn with another design.
        UnreadableFile: truncated, or does not say which design its responses were drawn with.
        InvalidRequest: the column of responses is not there.
        InvalidResponse: something that the design cannot send; the message names the row.
    """
    prefix = f"{question}." if question else ""
    ours = columns.named_design(metadata_key(question))
    response_columns, hash_columns = _select_columns(columns, design, prefix, ours)
    for name in beside:
        if columns.names is not None and columns.names.count(name) != 1:
            raise _no_column(columns, name)
    are_codes = codes if codes is not None or ours is None else True
    rows = sum(columns.pieces[: pieces.start]) if pieces is not None else 0
    for batch in columns.batches(
        [*response_columns, *hash_columns], [*beside, *by], pieces=pieces, size=size
    ):
        for name in hash_columns:
            _check_rows(columns, rows, batch.column(name), design)
        names = [*design.columns, *beside]
        responses = batch.select([*response_columns, *beside]).rename_columns(names)
        try:
            tallies: dict[Values, Any] = {(): count(design, responses, are_codes)}
        except InvalidResponse as error:
            raise _locate_error(error, columns, rows) from None
        rows += len(batch)
        if by:
            groups = _divide_rows(batch, responses, by)
            tallies = {
                group: count(design, group_rows, are_codes)
                for group, group_rows in groups
            }
        yield rows, tallies


def _divide_rows(
    batch: pa.RecordBatch, responses: pa.RecordBatch, by: Sequence[str]
) -> Iterator[tuple[Values, pa.RecordBatch]]:
    """Divide rows by the values of columns."""
    import pyarrow as pa

    rows: dict[Values, list[int]] = {}
    groups = zip(*(batch.column(name).to_pylist() for name in by), strict=True)
    for row, values in enumerate(groups):
        rows.setdefault(tuple(map(cell_text, values)), []).append(row)
    return (
        (group, responses.take(pa.array(indexes))) for group, indexes in rows.items()
    )


def metadata_key(question: str = "") -> str:
    """Return where the metadata of a file names the design of a question.

    Example:
        >>> metadata_key(), metadata_key("smokes")
        ('deniable.design', 'deniable.design.smokes')
    """
    return f"{_METADATA}.{question}" if question else _METADATA


def _locate_error(
    error: InvalidResponse, columns: ColumnFile, before: int
) -> InvalidResponse:
    """Return an error about a response at an index as one about a row of the file."""
    match = _INDEX.match(error.problem)
    if match is None:
        return InvalidResponse(
            f"{columns.name}, after row {before:,}: {error.problem}", error.hint
        )
    row = columns.row(before + int(match[1].replace(",", "")))
    return InvalidResponse(row + error.problem[match.end() :], error.hint)


def _select_columns(
    columns: ColumnFile, design: AnyDesign, prefix: str, ours: str | None
) -> tuple[list[str], list[str]]:
    """Return the columns to read: those of responses, and that of the design where it must be checked."""
    if ours is not None and ours != design.hash:
        raise foreign(columns.name, ours, design)
    responses, named = [prefix + name for name in design.columns], prefix + DESIGN
    if columns.names is None:
        return responses, [named]
    for name in responses:
        if columns.names.count(name) != 1:
            raise _no_column(columns, name)
    if columns.names.count(named) == 1:
        return responses, [] if columns.constant(named) == design.hash else [named]
    if ours is None:
        raise UnreadableFile(
            f"{columns.name} does not say which design its responses were drawn with; expected a column {named!r}.",
            f"If it was {design.hash:.19}…, say so: --column {responses[0]}, or deniable.tally_column(…).",
        )
    return responses, []


def _no_column(columns: ColumnFile, name: str) -> InvalidRequest:
    assert columns.names is not None
    problem = f"{columns.name} has {columns.names.count(name) or 'no'} columns called {name!r}; expected one."
    questions = [
        column.removesuffix(f".{DESIGN}")
        for column in columns.names
        if column.endswith(f".{DESIGN}")
    ]
    if questions:
        return InvalidRequest(
            problem,
            f"It holds several questions; name one: --column {questions[0]} or another.",
        )
    # Where a header may be missing the columns stay unnamed: in a file of answers they are somebody's answers.
    there = (
        f"{nearest(name, columns.names)} It has {', '.join(columns.names):.400}. ".lstrip()
        if columns.named
        else ""
    )
    return InvalidRequest(
        problem,
        f"{there}Name the column of a file that was collected elsewhere: --column NAME, or deniable.tally_column(…).",
    )


def _check_rows(
    columns: ColumnFile, before: int, named: Any, design: AnyDesign
) -> None:
    import pyarrow as pa

    encoded = (
        named if isinstance(named, pa.DictionaryArray) else named.dictionary_encode()
    )
    if not encoded.indices.null_count and encoded.dictionary.to_pylist() == [
        design.hash
    ]:
        return
    for offset, hash_ in enumerate(named.to_pylist()):
        if hash_ is None:
            raise UnreadableFile(
                f"{columns.row(before + offset)} names no design; expected {design.hash:.19}…."
            )
        if hash_ != design.hash:
            if design.hash.startswith(str(hash_)):
                raise columns.damaged(f"row {before + offset + 1:,} breaks off")
            raise foreign(columns.row(before + offset), str(hash_), design)


def foreign(what: str, named: str, design: AnyDesign) -> Incompatible:
    """Return the error for responses of another design."""
    return Incompatible(
        f"{what} belongs to the design {named:.19}…; expected {design.hash:.19}… ({design!r}).",
        "Hand over the design file that the responses were drawn with.",
    )
