"""What is counted of responses, kept in pieces, so that one more response changes a few bytes.

The counts of a design are a list of whole numbers: how many responses there are; the cells of the tally; and where
responses are sets of categories, how many held 0, 1, 2 … of them. `seen` counts all responses of a stage, and `raised`
those of respondents who have sent a finer one since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Sets
from deniable.db import Tables
from deniable.designs import Design
from deniable.errors import InvalidRequest, InvalidResponse
from deniable.tallies import Tally
from deniable.tallies import packed as sets

Vector: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = NDArray[np.uint8]

SEEN, RAISED = "seen", "raised"

_PIECE = 512  # counts that are read and written together: 4 kB
_MOST_COUNTS = 4_000_000  # of one design: 32 MB, read for each page with results
_STORED = np.dtype("<i8")


@dataclass(frozen=True)
class Layout:
    """How the responses of a design are written, and what is counted of them."""

    design: Design

    def __post_init__(self) -> None:
        if self.size > _MOST_COUNTS:
            raise InvalidRequest(
                f"a tally of {self.design!r} has {self.size:,} counts; expected at most {_MOST_COUNTS:,}.",
                "Ask with fewer categories, or with a design whose tally is smaller.",
            )

    @cached_property
    def width(self) -> int:
        """The bytes of one code: the number of the symbol, lowest byte first; of a set, its packed row."""
        return max(1, ((self.design.channel.responses - 1).bit_length() + 7) // 8)

    @cached_property
    def size(self) -> int:
        """How many counts there are."""
        channel = self.design.channel
        return 1 + channel.cells + (channel.size + 1 if isinstance(channel, Sets) else 0)

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
        return code.to_bytes(self.width, "little")

    def rows(self, codes: NDArray[Any]) -> Rows:
        """Return many codes as rows of bytes.

        Raises:
            InvalidResponse: the design never sends one of them; the message names the first.
        """
        channel = self.design.channel
        if isinstance(channel, Sets):
            rows = sets.pack(channel, codes)
            wrong = sets.impossible(channel, rows)
        else:
            if codes.ndim != 1 or codes.dtype.kind not in "iu":
                raise InvalidResponse(
                    f"the codes are of shape {codes.shape} and type {codes.dtype}; expected integers."
                )
            outside = (codes < 0) | (codes >= channel.responses)
            wrong = int(outside.argmax()) if outside.any() else None
            rows = codes.astype("<i8").view(np.uint8).reshape(len(codes), 8)[:, : self.width]
        if wrong is not None:
            raise InvalidResponse(
                f"row {wrong + 1:,} is no response of {self.design!r}; expected one that it can send."
            )
        return np.ascontiguousarray(rows)

    def joined(self, codes: Sequence[bytes]) -> Rows:
        """Return codes that are stored one by one as rows of bytes."""
        return np.frombuffer(b"".join(codes), np.uint8).reshape(len(codes), self.width)

    def numbers(self, rows: Rows) -> NDArray[np.int64]:
        """Return codes of a design that does not send sets, as numbers."""
        wide = np.zeros((len(rows), 8), np.uint8)
        wide[:, : rows.shape[1]] = rows
        return wide.view("<i8")[:, 0].astype(np.int64)

    def count(self, rows: Rows) -> tuple[NDArray[np.int64], Vector]:
        """Return which counts rise, and by how much."""
        channel = self.design.channel
        if isinstance(channel, Sets):
            shapes = np.bincount(sets.ones(rows), minlength=channel.size + 1)
            vector = np.concatenate(([len(rows)], sets.count(channel, rows), shapes))
            places = np.flatnonzero(vector)
            return places, vector[places]
        codes, counts = np.unique(self.numbers(rows), return_counts=True)
        return np.concatenate(([0], codes + 1)), np.concatenate(([len(rows)], counts))

    def tally(self, vector: Vector) -> Tally:
        """Return the tally that is in the counts."""
        cells = self.design.channel.cells
        return Tally(self.design, vector[1 : cells + 1], respondents=int(vector[0]))

    def shapes(self, vector: Vector) -> Vector:
        """Return how many sets held 0, 1, 2 … categories."""
        return vector[1 + self.design.channel.cells :]


class Counter(NamedTuple):
    """Whose counts these are: one stage of one question, in one group (−1: none)."""

    survey: int
    question: int
    stage: int
    which: str
    group: int


def add(tables: Tables, counter: Counter, layout: Layout, rows: Rows, sign: int = 1) -> None:
    """Count responses; with sign −1, take them out again."""
    places, rises = layout.count(rows)
    pieces = places // _PIECE
    for piece in np.unique(pieces).tolist():
        mine = pieces == piece
        found = tables.value(
            "SELECT counts FROM tally WHERE survey = ? AND question = ? AND stage = ? AND which = ? AND grp = ? "
            "AND piece = ?",
            *counter, piece,
        )  # fmt: skip
        start = piece * _PIECE
        counts = np.zeros(min(_PIECE, layout.size - start), _STORED)
        if found is not None:
            counts += np.frombuffer(found, _STORED)
        counts[places[mine] - start] += sign * rises[mine]
        assert counts.min() >= 0, "more was taken out than was counted"
        tables.run(
            "INSERT INTO tally VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (survey, question, stage, which, grp, piece) "
            "DO UPDATE SET counts = excluded.counts",
            *counter, piece, counts.tobytes(),
        )  # fmt: skip


def read(
    tables: Tables, survey: int, question: int, layouts: Iterable[Layout], group: int | None
) -> list[dict[str, Vector]]:
    """Return the counts of each stage, seen and raised; of one group, or of all together."""
    found = [{which: np.zeros(layout.size, np.int64) for which in (SEEN, RAISED)} for layout in layouts]
    every = "SELECT stage, which, piece, counts FROM tally WHERE survey = ? AND question = ?"
    one = () if group is None else (group,)
    for stage, which, piece, counts in tables.rows(every + (" AND grp = ?" if one else ""), survey, question, *one):
        vector, start = found[stage][which], piece * _PIECE
        vector[start : start + _PIECE] += np.frombuffer(counts, _STORED)
    return found
