"""What is counted of responses, kept in pieces, so that one more response changes a few bytes.

The counts of a design are a list of whole numbers: how many responses there are; the cells of the tally; and where
responses are sets of categories, how many held 0, 1, 2 … of them. `seen` counts all responses of a stage, and `raised`
those of respondents who have sent a finer one since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from deniable.channel.coding import Coding, Rows
from deniable.collector.store.base import StoredQuestion
from deniable.db import Tables
from deniable.designs import Design, FieldedDesign
from deniable.errors import InvalidRequest, InvalidResponse
from deniable.tallies import Tally
from deniable.types import operation

Vector: TypeAlias = NDArray[np.int64]
Stages: TypeAlias = list[dict[str, Vector]]
"""The counts of each stage of a question, seen and raised."""

SEEN, RAISED = "seen", "raised"

_PIECE = 512  # counts that are read and written together: 4 kB
_MAX_COUNTS = 4_000_000  # of one design: 32 MB, read for each page with results
_STORED = np.dtype("<i8")

SIZE = _STORED.itemsize
"""Bytes of a count; the first one of all says how many responses there are."""


@dataclass(frozen=True)
class CountedDesign:
    """How the responses of a design are written, and what is counted of them."""

    design: Design

    def __post_init__(self) -> None:
        if self.size > _MAX_COUNTS:
            raise InvalidRequest(
                f"a tally of {self.design!r} has {self.size:,} counts; expected at most {_MAX_COUNTS:,}.",
                "Ask with fewer categories, or with a design whose tally is smaller.",
            )

    @cached_property
    def coding(self) -> Coding:
        """How the responses of the design lie in rows of bytes: the number of the symbol, lowest byte first."""
        return self.design.channel.coding

    @cached_property
    def cells(self) -> int:
        """How many cells the tally has."""
        return self.design.channel.cells

    @cached_property
    def size(self) -> int:
        """How many counts there are."""
        return 1 + self.cells + self.coding.shapes

    @cached_property
    def pieces(self) -> int:
        """In how many pieces they are kept."""
        return -(-self.size // _PIECE)

    def write(self, code: int) -> bytes:
        """Return a code as bytes.

        Raises:
            InvalidResponse: the design never sends it.
        """
        if not self.design.channel.possible(code):
            raise InvalidResponse(
                f"this is no response of {self.design!r}; expected one that it can send.",
                "Draw it with the definition that this survey has now.",
            )
        return code.to_bytes(self.coding.width, "little")

    def rows(self, codes: NDArray[Any]) -> Rows:
        """Return many codes as rows of bytes.

        Raises:
            InvalidResponse: the design never sends one of them; the message names the first.
        """
        responses = self.coding.read(codes)
        wrong = self.coding.impossible(responses)
        if wrong is not None:
            raise InvalidResponse(
                f"row {wrong + 1:,} is no response of {self.design!r}; expected one that it can send."
            )
        return self.coding.to_bytes(responses)

    def pack_codes(self, codes: Sequence[bytes]) -> Rows:
        """Pack codes that are stored one by one into rows of bytes."""
        return np.frombuffer(b"".join(codes), np.uint8).reshape(
            len(codes), self.coding.width
        )

    def count(self, rows: Rows) -> tuple[NDArray[np.int64], Vector]:
        """Return which counts rise, and by how much."""
        responses = self.coding.from_bytes(rows)
        cells, rises = self.coding.count_few(responses)
        shapes = self.coding.count_shapes(responses)
        sizes = np.flatnonzero(shapes)
        cells_rising = np.concatenate(([0], cells + 1, sizes + 1 + self.cells))
        return cells_rising, np.concatenate(([len(rows)], rises, shapes[sizes]))

    def tally(self, vector: Vector) -> Tally:
        """Return the tally that is in the counts; of a fielded design that of its type of question."""
        cells, respondents = vector[1 : self.cells + 1], int(vector[0])
        if isinstance(self.design, FieldedDesign):
            of_counts = operation(self.design.about, "of_counts")
            return cast(Tally, of_counts(self.design.about, cells, respondents))
        return Tally(self.design, cells, respondents=respondents)

    def shapes(self, vector: Vector) -> Vector:
        """Return how many sets held 0, 1, 2 … categories."""
        return vector[1 + self.cells :]


class Counter(NamedTuple):
    """Whose counts these are: one stage of one question, in one group (−1: none)."""

    survey: int
    question: int
    stage: int
    which: str
    group: int


def add(
    tables: Tables,
    counter: Counter,
    layout: CountedDesign,
    rows: Rows,
    sign: int = 1,
) -> None:
    """Count responses; with sign −1, take them out again."""
    cells_rising, rises = layout.count(rows)
    pieces_of_cells = cells_rising // _PIECE
    for piece_number in np.unique(pieces_of_cells).tolist():
        mine = pieces_of_cells == piece_number
        stored = tables.value(
            "SELECT counts FROM tally WHERE survey = ? AND question = ? AND stage = ? AND which = ? AND grp = ? "
            "AND piece = ?",
            *counter, piece_number,
        )  # fmt: skip
        start = piece_number * _PIECE
        counts = np.zeros(min(_PIECE, layout.size - start), _STORED)
        if stored is not None:
            counts += np.frombuffer(stored, _STORED)
        counts[cells_rising[mine] - start] += sign * rises[mine]
        assert counts.min() >= 0, "more was taken out than was counted"
        _write_piece(tables, "tally", counter, piece_number, counts)


def _write_piece(
    tables: Tables, table: str, counter: Counter, piece_number: int, counts: Vector
) -> None:
    tables.run(
        f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (survey, question, stage, which, grp, piece) "
        "DO UPDATE SET counts = excluded.counts",
        *counter, piece_number, counts.tobytes(),
    )  # fmt: skip


def write(tables: Tables, table: str, counter: Counter, vector: Vector) -> None:
    """Put all counts of a counter into a table, in the place of those that are there."""
    for start in range(0, len(vector), _PIECE):
        _write_piece(
            tables,
            table,
            counter,
            start // _PIECE,
            vector[start : start + _PIECE].astype(_STORED),
        )


def read(
    tables: Tables,
    table: str,
    question: StoredQuestion,
    layouts: Iterable[CountedDesign],
    group: int | None,
) -> Stages:
    """Return the counts of each stage in a table, seen and raised; of one group, or of all together."""
    counts_by_stage = [
        {
            counter_kind: np.zeros(layout.size, np.int64)
            for counter_kind in (SEEN, RAISED)
        }
        for layout in layouts
    ]
    every = f"SELECT stage, which, piece, counts FROM {table} WHERE survey = ? AND question = ?"
    group_filter = () if group is None else (group,)
    for stage, counter_kind, piece_number, counts in tables.rows(
        every + (" AND grp = ?" if group_filter else ""), *question, *group_filter
    ):
        vector, start = counts_by_stage[stage][counter_kind], piece_number * _PIECE
        vector[start : start + _PIECE] += np.frombuffer(counts, _STORED)
    return counts_by_stage


def days(tables: Tables, question: StoredQuestion) -> list[tuple[date, int]]:
    """Return how many responses came on each day (UTC), also those that were withdrawn later."""
    statement = "SELECT day, responses FROM day WHERE survey = ? AND question = ? ORDER BY day"
    return [
        (date.fromisoformat(day), number)
        for day, number in tables.rows(statement, *question)
    ]
