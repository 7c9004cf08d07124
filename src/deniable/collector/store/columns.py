"""Many responses in columns: a batch that comes in, inside one transaction, and all responses that go out to files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.channel.coding import Rows
from deniable.collector.store import counts, published
from deniable.collector.store.base import KEY, Batch, BatchOutcome, NotStored, Sent, Submission
from deniable.collector.store.counts import SEEN, CountedDesign, Counter
from deniable.collector.store.responses import Desk, check_open, count_days, group_number
from deniable.collector.store.surveys import ID, KnownSurvey
from deniable.db import Tables
from deniable.errors import InvalidRequest, NotAllowed

_PIECE = 10_000  # rows that are objects at a time, where each is looked up
_EXPORTED_ROWS = 1 << 16  # in one batch of a file

# All columns in one statement: the database cuts them up, which takes a third of the time of a value at a time.
_INSERT = f"""
    INSERT INTO response SELECT ?, ?, substr(?, 1 + {ID} * i, {ID}), 0, ?, substr(?, 1 + ? * i, ?)
    FROM (WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n) AS numbers
    WHERE true ON CONFLICT DO NOTHING
"""


def add_batch(tables: Tables, known: KnownSurvey, batch: Batch, today: date) -> BatchOutcome:
    """Store a batch, all of it or nothing.

    Raises:
        DeniableError: something in it is refused; the message names the row.
    """
    _check(known, batch, today)
    layout = known.columns[batch.question].layouts[batch.stage]
    rows = layout.rows(batch.codes)
    if len(rows) != len(batch.keys):
        raise InvalidRequest(f"there are {len(batch.keys):,} keys and {len(rows):,} responses; expected as many.")
    if not len(rows):
        return BatchOutcome(0, 0)
    if batch.stage == 0 and _all_new(tables, known, batch, rows, today):
        return BatchOutcome(len(rows), 0)
    return _one_by_one(tables, known, batch, rows, today)


def _all_new(tables: Tables, known: KnownSurvey, batch: Batch, rows: Rows, today: date) -> bool:
    """Store a batch whose respondents are all new; where one is not, leave all as it was."""
    column, group = known.columns[batch.question], group_number(known.entry, batch.group)
    ids = column.ids(batch.keys)
    order = np.argsort(ids.view(">u8")[:, 0])  # rising keys are stored fastest
    tables.run("SAVEPOINT batch")
    added = tables.run(
        _INSERT, batch.survey, batch.question, ids[order].tobytes(), group,
        rows[order].tobytes(), rows.shape[1], rows.shape[1], len(rows) - 1,
    )  # fmt: skip
    if added < len(rows):
        tables.run("ROLLBACK TO SAVEPOINT batch")
        return False
    tables.run("RELEASE SAVEPOINT batch")
    lag = len(rows) - published.least(known, batch.question)[0]  # all but the last step can be shown at once
    for part in (rows[:lag], rows[lag:]) if lag > 0 else (rows,):
        counts.add(tables, Counter(batch.survey, batch.question, 0, SEEN, group), column.layouts[0], part)
        published.step(tables, known, batch.question)
    count_days(tables, {(batch.survey, batch.question): added}, today)
    return True


def _one_by_one(tables: Tables, known: KnownSurvey, batch: Batch, rows: Rows, today: date) -> BatchOutcome:
    stored = 0
    for start in range(0, len(rows), _PIECE):
        piece = slice(start, start + _PIECE)
        submissions = [
            Submission(
                batch.survey, key, batch.group, (Sent(batch.question, batch.stage, int.from_bytes(code, "little")),)
            )
            for key, code in zip(_cut(batch.keys[piece]), _cut(rows[piece]), strict=True)
        ]
        outcomes = Desk(tables, {batch.survey: known}, today).add(submissions)
        for number, outcome in enumerate(outcomes, start=start + 1):
            if isinstance(outcome, NotStored):
                error = outcome.error
                raise type(error)(f"row {number:,}: {error.problem}", error.hint)
        stored += outcomes.count("stored")
    return BatchOutcome(stored, len(rows) - stored)


def _check(known: KnownSurvey, batch: Batch, today: date) -> None:
    check_open(known.entry, today)
    if known.entry.public is not None:
        raise NotAllowed(
            "this survey is by invitation, and a batch has no tokens; expected single submissions.",
            "Send each respondent's responses with a token.",
        )
    group_number(known.entry, batch.group)
    if not 0 <= batch.question < len(known.columns):
        raise InvalidRequest(f"there is no question {batch.question}; expected 0 to {len(known.columns) - 1}.")
    stages = len(known.columns[batch.question].layouts)
    if not 0 <= batch.stage < stages:
        raise InvalidRequest(f"there is no stage {batch.stage}; expected 0 to {stages - 1}.")
    if batch.keys.ndim != 2 or batch.keys.shape[1] != KEY or batch.keys.dtype != np.uint8:
        raise InvalidRequest(f"the keys are of shape {batch.keys.shape}; expected {KEY} bytes for each respondent.")


def _cut(rows: Rows) -> list[bytes]:
    """Return rows as bytes."""
    width, whole = rows.shape[1], rows.tobytes()
    return [whole[start : start + width] for start in range(0, len(whole), width)]


def export(
    tables: Tables, known: KnownSurvey, question: int, groups: frozenset[int], stages: int
) -> Iterator[pa.RecordBatch]:
    """Yield batches of the first stages in the order of ids, which are random; only the groups given are named."""
    column = known.columns[question]
    names = pa.array(known.entry.survey.groups, pa.string())
    statement = (
        "SELECT stage, grp, code FROM response WHERE survey = ? AND question = ? AND stage < ? ORDER BY id, stage"
    )
    found = tables.stream(statement, known.entry.id, question, stages)
    while piece := list(islice(found, _EXPORTED_ROWS)):
        reached = np.array([stage for stage, _, _ in piece], np.int64)
        group = pa.array([group if group in groups else None for _, group, _ in piece], pa.int64())
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([design.hash for design in column.question.designs]).take(reached),
                pa.array(reached),
                names.take(group),
                _symbols(column.layouts, [(stage, code) for stage, _, code in piece]),
            ],
            names=["design", "stage", "group", "symbol"],
        )


def _symbols(layouts: tuple[CountedDesign, ...], pairs: list[tuple[int, bytes]]) -> pa.Array[Any]:
    """Return what responses are called; each that occurs is looked up once."""
    names: dict[tuple[int, bytes], str] = {}
    for stage, code in set(pairs):
        names[stage, code] = layouts[stage].design.symbols[int.from_bytes(code, "little")]
    return pa.array([names[each] for each in pairs], pa.string())
