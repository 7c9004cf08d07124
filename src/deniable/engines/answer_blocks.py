"""Rows of answers, read from files one after another and joined to blocks that are worth shuffling."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deniable.errors import DeniableError, InvalidRequest, UnreadableFile
from deniable.files.columns import ColumnFile, open_columns
from deniable.files.inputs import Input

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 18
"""Rows that are drawn and shuffled at once, at least, where there are as many."""

_INDEX = re.compile(r"\bat index ([\d,]+)")


@dataclass(frozen=True)
class Stretch:
    """A file, or some of the pieces that it can be read in."""

    input: Input
    pieces: range | None = None

    def open(self, format: str | None) -> AbstractContextManager[ColumnFile]:
        """Open the file."""
        return open_columns(self.input.file, format)

    def first_row(self, opened: ColumnFile) -> int:
        """Return the row that the stretch begins with."""
        return 0 if self.pieces is None else sum(opened.pieces[: self.pieces.start])

    def share(self, opened: ColumnFile, row: int) -> float | None:
        """Return how much of the stretch was read up to a row, where that is known."""
        pieces = self.pieces or range(len(opened.pieces))
        total = sum(opened.pieces[index] for index in pieces)
        return (row - self.first_row(opened)) / total if total else opened.share


@dataclass
class Block:
    """Rows of answers and of what is kept, and where they stand.

    Attributes:
        table: the rows.
        share: how much of all was read, from 0 to 1, where that is known.
        places: for each stretch of rows its file, the row it begins with, and how many there are.
    """

    table: pa.Table
    share: float | None
    places: list[tuple[ColumnFile, int, int]] = field(repr=False)

    def located(self, error: DeniableError) -> DeniableError:
        """Return an error about an answer at an index as one about a row of a file."""

        def name_row(match: re.Match[str]) -> str:
            return f"in {self.row(int(match[1].replace(',', '')))}"

        problem = _INDEX.sub(name_row, error.problem)
        return type(error)(problem, error.hint)

    def row(self, index: int) -> str:
        """Name a row of the block in a message."""
        for opened, start, rows in self.places:
            if index < rows:
                return opened.row(start + index)
            index -= rows
        raise IndexError(index)


def read_blocks(
    ranges: Sequence[Stretch],
    labels: Sequence[str],
    keep: Sequence[str],
    format: str | None = None,
) -> Generator[Block]:
    """Read columns of files, and yield at least one block, which may be empty.

    Raises:
        InvalidRequest: a column that is not there.
        UnreadableFile: a file that cannot be read, or whose columns are of other types than those of the one before.
        OSError: a file is not there, or may not be read.
    """
    pending: list[tuple[pa.RecordBatch, ColumnFile, int]] = []
    yielded = False
    for number, stretch in enumerate(ranges):
        folders = stretch.input.named
        with stretch.open(format) as opened:
            names = [name for name in (*labels, *keep) if name not in folders]
            check_columns(opened, names, folders)
            row = stretch.first_row(opened)
            for batch in _read_batches(opened, labels, keep, stretch):
                pending.append((batch, opened, row))
                row += len(batch)
                if sum(len(rows) for rows, _, _ in pending) >= BLOCK:
                    share = stretch.share(opened, row)
                    total = None if share is None else (number + share) / len(ranges)
                    yield _join_batches(pending, total)
                    pending, yielded = [], True
    if pending:
        yield _join_batches(pending, 1.0)
    elif not yielded:
        yield Block(empty_table((*labels, *keep)), 1.0, [])


def _read_batches(
    opened: ColumnFile, labels: Sequence[str], keep: Sequence[str], stretch: Stretch
) -> Iterator[pa.RecordBatch]:
    """Read a file, and add the columns that its folders name."""
    import pyarrow as pa

    folders = stretch.input.named
    read = [name for name in keep if name not in folders]
    for batch in opened.batches(labels, read, stretch.pieces):
        columns: dict[str, Any] = dict(
            zip(batch.schema.names, batch.columns, strict=True)
        )
        for name in folders.keys() & set(keep):
            columns[name] = pa.array([folders[name]] * len(batch), pa.string())
        names = (*labels, *keep)
        yield (
            pa.record_batch({name: columns[name] for name in names})
            if names
            else batch
        )


def _join_batches(
    batches: Sequence[tuple[pa.RecordBatch, ColumnFile, int]], share: float | None
) -> Block:
    import pyarrow as pa

    try:
        table = pa.Table.from_batches([batch for batch, _, _ in batches])
    except pa.ArrowException:
        raise UnreadableFile(
            f"the columns of {batches[-1][1].name} are of other types than those of {batches[0][1].name}; expected the "
            "same.",
            "Respond to each of them in a folder of its own.",
        ) from None
    return Block(
        table, share, [(opened, row, len(batch)) for batch, opened, row in batches]
    )


def empty_table(names: Sequence[str]) -> pa.Table:
    """Return a table of no rows."""
    import pyarrow as pa

    columns: Any = {name: pa.array([], pa.string()) for name in names}
    return pa.table(columns)


def check_columns(
    opened: ColumnFile,
    wanted: Sequence[str],
    named: Sequence[str] | dict[str, Any] = (),
) -> None:
    """Refuse a file that does not have each of some columns once; say which it has, where these are surely names.

    Raises:
        InvalidRequest: one of them is not there, or there are several.
    """
    for name in wanted:
        # Where a header may be missing the columns stay unnamed: they could be somebody's answers.
        if opened.names is not None and opened.names.count(name) != 1:
            count = opened.names.count(name)
            raise InvalidRequest(
                f"{opened.name} has {count or 'no'} columns called {name!r}; expected one.",
                f"It has {', '.join((*opened.names, *named)):.400}."
                if opened.named
                else f"Its first line should name its columns: head -1 {opened.name} shows it.",
            )
