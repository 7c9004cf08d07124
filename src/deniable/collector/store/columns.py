"""Many responses in columns: a batch that comes in, inside one transaction, and all responses that go out to files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.channel.coding import Rows
from deniable.collector.store import counts, packs, published
from deniable.collector.store.base import KEY, Batch, BatchOutcome, NotStored, Sent, Submission
from deniable.collector.store.counts import SEEN, CountedDesign, Counter
from deniable.collector.store.responses import Desk, check_open, count_days, group_number
from deniable.collector.store.sieve import Sieve, Sieves
from deniable.collector.store.surveys import Column, KnownSurvey
from deniable.db import Tables
from deniable.errors import InvalidRequest, NotAllowed

_PIECE = 10_000  # rows that are objects at a time, where each is looked up
_EXPORTED_ROWS = 1 << 16  # in one batch of a file


def add_batch(tables: Tables, sieves: Sieves, known: KnownSurvey, batch: Batch, today: date) -> BatchOutcome:
    """Store a batch, all of it or nothing.

    Args:
        tables: of a transaction that has locked the survey.
        sieves: what this program knows about ids that are stored.
        known: the survey.
        batch: what is to be stored.
        today: the day on which it is.

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
    if batch.stage == 0 and _all_new(tables, sieves, known, batch, rows, today):
        return BatchOutcome(len(rows), 0)
    return _one_by_one(tables, known, batch, rows, today)


def _all_new(tables: Tables, sieves: Sieves, known: KnownSurvey, batch: Batch, rows: Rows, today: date) -> bool:
    """Store a batch whose respondents are all new; where one is not, leave all as it was."""
    column, group = known.columns[batch.question], group_number(known.entry, batch.group)
    made = packs.records(column.ids(batch.keys), group, rows)
    sieve = sieves.of(tables, batch.survey, batch.question)
    if not _surely_new(tables, batch, made, sieve):
        return False
    run = packs.write_run(tables, packs.StoredStage(batch.survey, batch.question, 0), made)
    sieve.note(made)
    sieve.names.add(run.name)
    lag = len(rows) - published.least(known, batch.question)[0]  # all but the last step can be shown at once
    for part in (rows[:lag], rows[lag:]) if lag > 0 else (rows,):
        counts.add(tables, Counter(batch.survey, batch.question, 0, SEEN, group), column.layouts[0], part)
        published.step(tables, known, batch.question)
    count_days(tables, {(batch.survey, batch.question): len(rows)}, today)
    return True


def _surely_new(tables: Tables, batch: Batch, made: packs.Records, sieve: Sieve) -> bool:
    """Say whether no id stands twice in a batch, and none is stored; what the sieve keeps back is looked up."""
    twice = (made["high"][1:] == made["high"][:-1]) & (made["low"][1:] == made["low"][:-1])
    if twice.any():
        return False
    few = made[sieve.perhaps(made)]
    single = "SELECT id FROM response WHERE survey = ? AND question = ? LIMIT ?"
    alone = {bytes(id_) for (id_,) in tables.rows(single, batch.survey, batch.question, len(made))}
    wanted = made if len(alone) == len(made) else few
    if packs.find(tables, batch.survey, batch.question, packs.ids_of(wanted)):
        return False
    return alone.isdisjoint(packs.ids_of(made)) if alone else True


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
    slices = packs.slices_of(tables, known.entry.id, question, _EXPORTED_ROWS)
    for number in range(slices):
        found = [
            packs.in_order(tables, packs.StoredStage(known.entry.id, question, stage), number, slices)
            for stage in range(stages)
        ]
        if any(map(len, found)):
            yield _exported(known, column, found, groups)


def _exported(
    known: KnownSurvey, column: Column, found: Sequence[packs.Records], groups: frozenset[int]
) -> pa.RecordBatch:
    """Return responses in columns: those of one id together, coarser stages first."""
    stages = np.repeat(np.arange(len(found)), list(map(len, found)))
    order = packs.order_of(np.concatenate([each[["high", "low"]] for each in found]))  # stable: coarser ones stay first
    sent = np.concatenate([each["group"] for each in found])
    symbols = pa.concat_arrays(list(map(_symbols, column.layouts, found)))
    named = pa.array(sent[order], mask=~np.isin(sent[order], sorted(groups)))
    return pa.RecordBatch.from_arrays(
        [
            pa.array([design.hash for design in column.question.designs]).take(stages[order]),
            pa.array(stages[order]),
            pa.array(known.entry.survey.groups, pa.string()).take(named),
            symbols.take(order),
        ],
        names=["design", "stage", "group", "symbol"],
    )


def _symbols(layout: CountedDesign, found: packs.Records) -> pa.Array[Any]:
    """Return what responses of one stage are called; each that occurs is looked up once."""
    codes = list(map(bytes, found["code"]))
    names = {code: layout.design.symbols[int.from_bytes(code, "little")] for code in set(codes)}
    return pa.array([names[code] for code in codes], pa.string())
