"""Rows of answers, read from files one after another and joined to blocks that are worth shuffling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deniable.errors import DeniableError, InvalidRequest, UnreadableFile
from deniable.files.columns import ColumnFile, File, open_columns
from deniable.files.inputs import Input

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1 << 18
"""Rows that are drawn and shuffled at once, at least, where there are as many."""

_INDEX = re.compile(r"\bat index ([\d,]+)")


@dataclass(frozen=True)
class Stretch:
    """A file, or some of the pieces that it can be read in."""

    input: Input | File
    pieces: range | None = None


@dataclass
class Block:
    """Rows of answers and of what is kept, and where they stand.

    Attributes:
        table: the rows.
        share: how much of all was read, from 0 to 1, where that is known.
        places: for each stretch of rows its file, the row it begins with, and how many there are.
    """

    table: Any
    share: float | None
    places: list[tuple[ColumnFile, int, int]] = field(repr=False)

    def located(self, error: DeniableError) -> DeniableError:
        """Return an error about an answer at an index as one about a row of a file."""
        problem = _INDEX.sub(
            lambda found: f"in {self.row(int(found[1].replace(',', '')))}",
            error.problem,
        )
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
) -> Iterator[Block]:
    """Read columns of files, and yield at least one block, which may be empty.

    Raises:
        InvalidRequest: a column that is not there.
        UnreadableFile: a file that cannot be read, or whose columns are of other types than those of the one before.
        OSError: a file is not there, or may not be read.
    """
    held: list[tuple[Any, ColumnFile, int]] = []
    yielded = False
    for number, each in enumerate(ranges):
        source = each.input
        named = source.named if isinstance(source, Input) else {}
        with open_columns(
            source.path if isinstance(source, Input) else source, format
        ) as opened:
            check_columns(
                opened, [name for name in (*labels, *keep) if name not in named], named
            )
            row = (
                sum(opened.pieces[: each.pieces.start])
                if each.pieces is not None
                else 0
            )
            total = sum(
                opened.pieces[at] for at in each.pieces or range(len(opened.pieces))
            )
            began = row
            for batch in _batches(opened, labels, keep, named, each.pieces):
                held.append((batch, opened, row))
                row += len(batch)
                if sum(len(piece) for piece, _, _ in held) >= BLOCK:
                    share = (row - began) / total if total else opened.share
                    yield _joined(
                        held, None if share is None else (number + share) / len(ranges)
                    )
                    held, yielded = [], True
    if held or not yielded:
        yield _joined(held, 1.0) if held else Block(_nothing((*labels, *keep)), 1.0, [])


def _batches(
    opened: ColumnFile,
    labels: Sequence[str],
    keep: Sequence[str],
    named: dict[str, str | None],
    pieces: range | None,
) -> Iterator[pa.RecordBatch]:
    """Read a file, and add the columns that its folders name."""
    import pyarrow as pa

    wanted = [name for name in keep if name not in named]
    for batch in opened.batches(labels, wanted, pieces):
        columns: dict[str, Any] = dict(
            zip(batch.schema.names, batch.columns, strict=True)
        )
        columns |= {
            name: pa.array([named[name]] * len(batch), pa.string())
            for name in keep
            if name in named
        }
        yield (
            pa.record_batch({name: columns[name] for name in (*labels, *keep)})
            if columns
            else batch
        )


def _joined(held: Sequence[tuple[Any, ColumnFile, int]], share: float | None) -> Block:
    import pyarrow as pa

    try:
        table = pa.Table.from_batches([batch for batch, _, _ in held])
    except pa.ArrowException:
        raise UnreadableFile(
            f"the columns of {held[-1][1].name} are of other types than those of {held[0][1].name}; expected the same.",
            "Respond to each of them in a folder of its own.",
        ) from None
    return Block(
        table, share, [(opened, row, len(batch)) for batch, opened, row in held]
    )


def _nothing(names: Sequence[str]) -> Any:
    import pyarrow as pa

    empty: Any = {name: pa.array([], pa.string()) for name in names}
    return pa.table(empty)


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
            found = opened.names.count(name)
            raise InvalidRequest(
                f"{opened.name} has {found or 'no'} columns called {name!r}; expected one.",
                f"It has {', '.join((*opened.names, *named)):.400}."
                if opened.named
                else f"Its first line should name its columns: head -1 {opened.name} shows it.",
            )
