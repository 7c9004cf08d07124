"""Many responses in columns: a batch that comes in, inside one transaction, and all responses that go out to files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.channel.coding import Rows
from deniable.collector.store import counts, packs, published
from deniable.collector.store.base import (
    KEY,
    Batch,
    BatchOutcome,
    NotStored,
    Sent,
    StoredQuestion,
    Submission,
)
from deniable.collector.store.counts import SEEN, CountedDesign, Counter
from deniable.collector.store.id_filter import IdFilter, IdFilters
from deniable.collector.store.published import Upcoming
from deniable.collector.store.responses import (
    Desk,
    check_open,
    count_days,
    group_number,
)
from deniable.collector.store.surveys import Column, KnownSurvey
from deniable.db import Tables
from deniable.errors import InvalidRequest, NotAllowed

_PIECE = 10_000  # rows that are objects at a time, where each is looked up
_EXPORTED_ROWS = 1 << 16  # in one batch of a file


def add_batch(
    tables: Tables,
    filters: IdFilters,
    survey: KnownSurvey,
    batch: Batch,
    today: date,
    upcoming: Upcoming,
) -> BatchOutcome:
    """Store a batch, all of it or nothing.

    Args:
        tables: of a transaction that has locked the survey.
        filters: what this program knows about ids that are stored.
        survey: where it belongs.
        batch: what is to be stored.
        today: the day on which it is.
        upcoming: the counts that are shown next.

    Raises:
        DeniableError: something in it is refused; the message names the row.
    """
    _check(survey, batch, today)
    layout = survey.columns[batch.question].layouts[batch.stage]
    rows = layout.rows(batch.codes)
    if len(rows) != len(batch.keys):
        raise InvalidRequest(
            f"there are {len(batch.keys):,} keys and {len(rows):,} responses; expected as many."
        )
    if not len(rows):
        return BatchOutcome(0, 0)
    # where questions are drawn, what each key has sent to the others is looked up
    if (
        batch.stage == 0
        and not survey.entry.survey.draws
        and _insert_if_new(tables, filters, survey, batch, rows, today, upcoming)
    ):
        return BatchOutcome(len(rows), 0)
    return _one_by_one(tables, survey, batch, rows, today, upcoming)


def _insert_if_new(
    tables: Tables,
    filters: IdFilters,
    survey: KnownSurvey,
    batch: Batch,
    rows: Rows,
    today: date,
    upcoming: Upcoming,
) -> bool:
    """Insert a batch whose respondents are all new; otherwise change nothing."""
    column = survey.columns[batch.question]
    group = group_number(survey.entry, batch.group)
    new_records = packs.build_records(column.ids(batch.keys), group, rows)
    id_filter = filters.get(tables, column.stored)
    if not _are_certainly_new(tables, column.stored, new_records, id_filter):
        return False
    run = packs.write_run(tables, packs.StoredStage(*column.stored, 0), new_records)
    id_filter.add_ids(new_records)
    id_filter.names.add(run.name)
    counter = Counter(*column.stored, 0, SEEN, group)
    lag = _last_step(len(rows), column)
    for chunk in filter(len, (rows[:lag], rows[lag:])):
        counts.add(tables, counter, column.layouts[0], chunk)
        published.step(tables, column, upcoming)
    count_days(tables, {column.stored: len(rows)}, today)
    return True


def _are_certainly_new(
    tables: Tables,
    question: StoredQuestion,
    new_records: packs.Records,
    id_filter: IdFilter,
) -> bool:
    """Say whether no id stands twice in a batch, and none is stored; what the id_filter keeps back is looked up."""
    twice = (new_records["high"][1:] == new_records["high"][:-1]) & (
        new_records["low"][1:] == new_records["low"][:-1]
    )
    if twice.any():
        return False
    suspects = new_records[id_filter.find_candidates(new_records)]
    single = "SELECT id FROM response WHERE survey = ? AND question = ? LIMIT ?"
    alone = {
        bytes(id_) for (id_,) in tables.rows(single, *question, len(new_records))
    }
    candidates = new_records if len(alone) == len(new_records) else suspects
    if packs.find(tables, question, packs.ids_of(candidates)):
        return False
    return alone.isdisjoint(packs.ids_of(new_records)) if alone else True


def _one_by_one(
    tables: Tables,
    survey: KnownSurvey,
    batch: Batch,
    rows: Rows,
    today: date,
    upcoming: Upcoming,
) -> BatchOutcome:
    stored = 0
    column = survey.columns[batch.question]
    for start, end in pairwise(_piece_bounds(len(rows), column)):
        rows_slice = slice(start, end)
        submissions = [
            Submission(
                batch.survey,
                key,
                batch.group,
                (Sent(batch.question, batch.stage, int.from_bytes(code, "little")),),
            )
            for key, code in zip(
                _to_bytes(batch.keys[rows_slice]),
                _to_bytes(rows[rows_slice]),
                strict=True,
            )
        ]
        desk = Desk(tables, {batch.survey: survey}, today, upcoming)
        outcomes = desk.add(submissions)
        for number, outcome in enumerate(outcomes, start=start + 1):
            if isinstance(outcome, NotStored):
                error = outcome.error
                raise type(error)(f"row {number:,}: {error.problem}", error.hint)
        stored += outcomes.count("stored")
    return BatchOutcome(stored, len(rows) - stored)


def _last_step(n_rows: int, column: Column) -> int:
    """Return where the last step of a batch begins: all before it can be shown at once."""
    return max(n_rows - published.min_steps(column)[0], 0)


def _piece_bounds(n_rows: int, column: Column) -> list[int]:
    """Return where the pieces of a batch begin and end."""
    starts = {*range(0, n_rows, _PIECE), _last_step(n_rows, column)}
    return [*sorted(starts), n_rows]


def _check(survey: KnownSurvey, batch: Batch, today: date) -> None:
    check_open(survey.entry, today)
    if survey.entry.public is not None:
        raise NotAllowed(
            "this survey is by invitation, and a batch has no tokens; expected single submissions.",
            "Send each respondent's responses with a token.",
        )
    group_number(survey.entry, batch.group)
    if not 0 <= batch.question < len(survey.columns):
        raise InvalidRequest(
            f"there is no question {batch.question}; expected 0 to {len(survey.columns) - 1}."
        )
    stages = len(survey.columns[batch.question].layouts)
    if not 0 <= batch.stage < stages:
        raise InvalidRequest(
            f"there is no stage {batch.stage}; expected 0 to {stages - 1}."
        )
    if (
        batch.keys.ndim != 2
        or batch.keys.shape[1] != KEY
        or batch.keys.dtype != np.uint8
    ):
        raise InvalidRequest(
            f"the keys are of shape {batch.keys.shape}; expected {KEY} bytes for each respondent."
        )


def _to_bytes(rows: Rows) -> list[bytes]:
    """Return rows as bytes."""
    width, content = rows.shape[1], rows.tobytes()
    return [
        content[start : start + width] for start in range(0, len(content), width)
    ]


def export(
    tables: Tables,
    survey: KnownSurvey,
    question: int,
    groups: frozenset[int],
    stages: int,
) -> Iterator[pa.RecordBatch]:
    """Yield batches of the first stages in the order of ids, which are random; only the groups given are named."""
    column = survey.columns[question]
    slices = packs.slices_of(tables, column.stored, _EXPORTED_ROWS)
    for number in range(slices):
        records_by_stage = [
            packs.in_order(
                tables, packs.StoredStage(*column.stored, stage), number, slices
            )
            for stage in range(stages)
        ]
        if any(map(len, records_by_stage)):
            yield _to_columns(survey, column, records_by_stage, groups)


def _to_columns(
    survey: KnownSurvey,
    column: Column,
    records_by_stage: Sequence[packs.Records],
    groups: frozenset[int],
) -> pa.RecordBatch:
    """Return responses in columns: those of one id together, coarser stages first."""
    stages = np.repeat(
        np.arange(len(records_by_stage)), list(map(len, records_by_stage))
    )
    order = packs.order_of(
        np.concatenate([records[["high", "low"]] for records in records_by_stage])
    )  # stable: coarser ones stay first
    group_numbers = np.concatenate(
        [records["group"] for records in records_by_stage]
    )
    symbols = pa.concat_arrays(
        list(map(_to_symbols, column.layouts, records_by_stage))
    )
    group_column = pa.array(
        group_numbers[order], mask=~np.isin(group_numbers[order], sorted(groups))
    )
    return pa.RecordBatch.from_arrays(
        [
            pa.array([design.hash for design in column.question.designs]).take(
                stages[order]
            ),
            pa.array(stages[order]),
            pa.array(survey.entry.survey.groups, pa.string()).take(group_column),
            symbols.take(order),
        ],
        names=["design", "stage", "group", "symbol"],
    )


def _to_symbols(layout: CountedDesign, records: packs.Records) -> pa.Array[Any]:
    """Return what responses of one stage are called; each that occurs is looked up once."""
    codes = list(map(bytes, records["code"]))
    names = {
        code: layout.design.symbols[int.from_bytes(code, "little")]
        for code in set(codes)
    }
    return pa.array([names[code] for code in codes], pa.string())
