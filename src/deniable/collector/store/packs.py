"""Responses in packs: some hundred of them, by their ids, in one row of the database.

Whatever was stored together as a batch is a run: its responses in the order of their ids, cut into packs at fixed ids.
So a batch changes no page that is there, however many responses are stored.
Single responses lie in a table of their own, a row each. When everything is written anew (`rewriting`), both are merged
into one run for each stage of a question: a run is cut by how many responses it has, so that its packs follow from the
responses, and nothing is left of which of them came together.

    ids  0…  ├── pack 0 ──┼── pack 1 ──┼── pack 2 ──┼── pack 3 ──┤  …f      a run of four packs
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel.coding import Rows
from deniable.collector.store.base import StoredQuestion
from deniable.db import Tables

ID = 16
"""Bytes of an id."""

Records: TypeAlias = NDArray[Any]
"""Responses in the order of their ids: fields `high` and `low` (halves of the id), `group` and `code`."""

# bytes of a pack, at most, unless its ids crowd: what a look for one response reads
_PACK = 1 << 13
_SLICE = 256  # packs that are in memory at a time
_READ = 512  # packs of a run whose ids are noted together
_RUN = ("survey", "question", "stage", "name", "pieces", "width", "responses")
_PACKED = ("survey", "question", "stage", "name", "piece", "packed")
_HALVES = np.dtype([("high", ">u8"), ("low", ">u8")])


class StoredStage(NamedTuple):
    """One stage of one question of one survey, by their numbers."""

    survey: int
    question: int
    number: int

    @property
    def whole(self) -> StoredQuestion:
        """The question with all its stages."""
        return StoredQuestion(self.survey, self.question)


class Run(NamedTuple):
    """Responses of one stage in packs.

    Attributes:
        stage: whose they are.
        name: random, so that runs lie in an order that tells nothing.
        pieces: how many packs the ids are cut into, a power of two; those without a response are not stored.
        width: bytes of a code.
        responses: how many there are.
    """

    stage: StoredStage
    name: bytes
    pieces: int
    width: int
    responses: int


def record_type(width: int) -> np.dtype[Any]:
    """Return how a response with a code of so many bytes is written."""
    return np.dtype([*_HALVES.descr, ("group", "<i4"), ("code", f"V{width}")])


def build_records(
    ids: Rows, groups: int | NDArray[np.int64], codes: Rows
) -> Records:
    """Return responses in the order of their ids."""
    new_records = np.empty(len(ids), record_type(codes.shape[1]))
    new_records[["high", "low"]] = np.ascontiguousarray(ids).view(_HALVES)[:, 0]
    new_records["group"] = groups
    new_records["code"] = np.ascontiguousarray(codes).view(f"V{codes.shape[1]}")[
        :, 0
    ]
    return new_records[order_of(new_records)]


def order_of(stored: Records) -> NDArray[np.intp]:
    """Return in which order responses lie by their ids."""
    low, high = (stored[half].astype(np.uint64) for half in ("low", "high"))
    return np.lexsort((low, high))


def ids_of(stored: Records) -> list[bytes]:
    """Return the ids of responses."""
    content = stored[["high", "low"]].astype(_HALVES).tobytes()
    return [content[offset : offset + ID] for offset in range(0, len(content), ID)]


def write_run(tables: Tables, stage: StoredStage, stored: Records) -> Run:
    """Write responses as a run of their own."""
    run = _new_run(stage, len(stored), stored.dtype)
    tables.insert("run", _RUN, [(*stage, *run[1:])])
    _write(tables, run, stored)
    return run


def runs(tables: Tables, question: StoredQuestion) -> list[Run]:
    """Return the runs of a question."""
    statement = f"SELECT {', '.join(_RUN)} FROM run WHERE survey = ? AND question = ? ORDER BY stage, name"
    return [
        Run(StoredStage(*row[:3]), bytes(row[3]), *row[4:])
        for row in tables.rows(statement, *question)
    ]


def find(
    tables: Tables, question: StoredQuestion, ids: Sequence[bytes]
) -> list[tuple[bytes, int, int, bytes]]:
    """Return id, stage, group and code of all responses with these ids."""
    rows: list[tuple[bytes, int, int, bytes]] = tables.rows_among(
        "SELECT id, stage, grp, code FROM response WHERE survey = ? AND question = ? AND id",
        ids,
        *question,
    )
    for run in runs(tables, question):
        for _, pack, positions in _packs_with_ids(tables, run, ids):
            taken = pack[positions]
            rows += zip(
                ids_of(taken), [run.stage.number] * len(taken), taken["group"].tolist(), map(bytes, taken["code"]),
                strict=True,
            )  # fmt: skip
    return rows


def erase(tables: Tables, question: StoredQuestion, id_: bytes) -> None:
    """Erase all responses with an id."""
    tables.run(
        "DELETE FROM response WHERE survey = ? AND question = ? AND id = ?",
        *question,
        id_,
    )
    for run in runs(tables, question):
        for piece_number, pack, positions in list(
            _packs_with_ids(tables, run, [id_])
        ):
            remaining = np.delete(pack, positions)
            key = (*run.stage, run.name)
            statement = f"DELETE FROM pack WHERE {_WHERE} AND piece = ?"
            tables.run(statement, *key, piece_number)
            if len(remaining):
                row = (*key, piece_number, remaining.tobytes())
                tables.insert("pack", _PACKED, [row])
            statement = f"UPDATE run SET responses = responses - ? WHERE {_WHERE}"
            tables.run(statement, len(positions), *key)


def in_order(
    tables: Tables, stage: StoredStage, number: int, slices: int
) -> Records:
    """Return the responses of a stage whose ids lie in one of so many equal slices, a power of two, by their ids."""
    slices_by_run = [_read_rows(tables, stage, number, slices)]
    for run in (run for run in runs(tables, stage.whole) if run.stage == stage):
        first, after = (
            number * run.pieces // slices,
            -(-(number + 1) * run.pieces // slices),
        )
        statement = f"SELECT packed FROM pack WHERE {_WHERE} AND piece >= ? AND piece < ? ORDER BY piece"
        packs = [
            packed
            for (packed,) in tables.stream(statement, *stage, run.name, first, after)
        ]
        read = np.frombuffer(b"".join(packs), record_type(run.width))
        slices_by_run.append(read[_pack_numbers(read["high"], slices) == number])
    full = list(filter(len, slices_by_run)) or slices_by_run[-1:]
    # Else in the order of bytes of this machine.
    merged = np.concatenate(full, dtype=full[0].dtype)
    return merged[order_of(merged)]


def read_id_halves(tables: Tables, run: Run) -> Iterator[Records]:
    """Yield the ids of a run in halves, many at a time."""
    packs = tables.stream(
        f"SELECT packed FROM pack WHERE {_WHERE}", *run.stage, run.name
    )
    while packed_chunk := [packed for (packed,) in islice(packs, _READ)]:
        yield np.frombuffer(b"".join(packed_chunk), record_type(run.width))


def slices_of(tables: Tables, question: StoredQuestion, max_rows: int) -> int:
    """Return into how many slices of at most so many responses, about, those of a question can be cut."""
    alone = tables.value(
        "SELECT count(*) FROM response WHERE survey = ? AND question = ?", *question
    )
    count = int(alone) + sum(run.responses for run in runs(tables, question))
    return 1 << (count // max_rows).bit_length()


def merge_all(tables: Tables, survey: int) -> None:
    """Put all responses to a survey into one run for each stage of each question."""
    every = "SELECT question FROM run WHERE survey = ? UNION SELECT question FROM response WHERE survey = ? ORDER BY 1"
    for (question,) in tables.rows(every, survey, survey):
        _merge_question(tables, StoredQuestion(survey, question))


def _merge_question(tables: Tables, question: StoredQuestion) -> None:
    before: dict[int, list[Run]] = defaultdict(list)
    for run in runs(tables, question):
        before[run.stage.number].append(run)
    count = (
        "SELECT stage, length(code), count(*) FROM response WHERE survey = ? AND question = ? GROUP BY stage, "
        "length(code)"
    )
    staged = {
        stage: (width, number)
        for stage, width, number in tables.rows(count, *question)
    }
    for stage in sorted({*before, *staged}):
        width, number = staged.get(stage, (0, 0))
        _merge(tables, StoredStage(*question, stage), before[stage], number, width)


def _merge(
    tables: Tables,
    stage: StoredStage,
    before: Sequence[Run],
    staged: int,
    width: int,
) -> None:
    number = staged + sum(run.responses for run in before)
    merged = _new_run(stage, number, record_type(width or before[0].width))
    if (
        not staged
        and len(before) == 1
        and (before[0].pieces == merged.pieces and number)
    ):
        return  # it lies as it would lie
    slices = max(1, merged.pieces // _SLICE)
    for slice_number in range(slices if number else 0):
        _write(tables, merged, in_order(tables, stage, slice_number, slices))
    tables.run(
        "DELETE FROM response WHERE survey = ? AND question = ? AND stage = ?",
        *stage,
    )
    for run in before:
        for table in ("run", "pack"):
            tables.run(f"DELETE FROM {table} WHERE {_WHERE}", *stage, run.name)
    if number:
        tables.insert("run", _RUN, [(*stage, *merged[1:])])


_WHERE = "survey = ? AND question = ? AND stage = ? AND name = ?"


def _new_run(stage: StoredStage, responses: int, written: np.dtype[Any]) -> Run:
    """Return a run that is to be written, with a random name."""
    packs = -(-responses * written.itemsize // _PACK)
    n_pieces = 1 << max(0, packs - 1).bit_length()
    return Run(
        stage, secrets.token_bytes(ID), n_pieces, written["code"].itemsize, responses
    )


def _pack_numbers(high: NDArray[np.uint64], n_pieces: int) -> NDArray[np.int64]:
    """Return the index of the pack of each id, from the id's first half."""
    bits = n_pieces.bit_length() - 1
    return (high.astype(np.uint64) >> np.uint64(1) >> np.uint64(63 - bits)).astype(
        np.int64
    )


def _write(tables: Tables, run: Run, stored: Records) -> None:
    """Write some of the packs of a run: all responses of each."""
    numbers = _pack_numbers(stored["high"], run.pieces)
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    content, size = stored.tobytes(), stored.dtype.itemsize
    packs = zip(starts, [*starts[1:], len(stored)], strict=True)
    rows = (
        (
            *run.stage,
            run.name,
            int(numbers[start]),
            content[start * size : end * size],
        )
        for start, end in packs
    )
    tables.insert("pack", _PACKED, rows)


def _packs_with_ids(
    tables: Tables, run: Run, ids: Sequence[bytes]
) -> Iterator[tuple[int, Records, list[int]]]:
    """Yield the packs of a run that hold one of these ids: number, responses, and which of them that are."""
    searched, halves = set(ids), np.frombuffer(b"".join(ids), _HALVES)
    piece_numbers = sorted({*_pack_numbers(halves["high"], run.pieces).tolist()})
    statement = f"SELECT piece, packed FROM pack WHERE {_WHERE} AND piece"
    for piece_number, packed in tables.rows_among(
        statement, piece_numbers, *run.stage, run.name
    ):
        pack = np.frombuffer(packed, record_type(run.width))
        positions = [
            position for position, id_ in enumerate(ids_of(pack)) if id_ in searched
        ]
        if positions:
            yield piece_number, pack, positions


def _read_rows(
    tables: Tables, stage: StoredStage, number: int, slices: int
) -> Records:
    """Return what lies in rows of its own, of one of the slices."""
    first, after = ((edge << 128) // slices for edge in (number, number + 1))
    bounds = [edge.to_bytes(ID, "big") for edge in (first, after - 1)]
    rows = tables.rows(
        "SELECT id, grp, code FROM response WHERE survey = ? AND question = ? AND stage = ? AND id >= ? AND id <= ?",
        *stage, *bounds,
    )  # fmt: skip
    if not rows:
        return np.empty(0, record_type(1))
    ids, groups, codes = zip(*rows, strict=True)
    id_rows, code_rows = (
        np.frombuffer(b"".join(texts), np.uint8).reshape(len(rows), -1)
        for texts in (ids, codes)
    )
    return build_records(id_rows, np.array(groups), code_rows)
