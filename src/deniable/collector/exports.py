"""All responses to a question as a file that `deniable tally` reads: in random order, and no small group named."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from deniable.collector.store import Entry, Store
from deniable.collector.store.published import (
    fewest_shown,
    large_enough,
    too_few_error,
)
from deniable.errors import NotAllowed
from deniable.files.columns import DESIGN, RESPONSE
from deniable.files.spreadsheets import safe_batch

FORMATS = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv"}
"""What responses are exported as, with the media type of each."""


def write(
    store: Store, entry: Entry, question: int, kind: str, file: IO[bytes]
) -> None:
    """Write all responses to a question, as whoever runs the collector may have them.

    Args:
        store: where they are.
        entry: the survey.
        question: the number of the question.
        kind: one of `FORMATS`.
        file: open for writing in binary.

    Raises:
        NotAllowed: there are fewer than the survey's minimum.
    """
    minimum = fewest_shown(entry)
    total, *sizes = (
        store.tallies(entry.id, question, group).respondents
        for group in (None, *range(len(entry.survey.groups)))
    )
    if total < minimum:
        raise too_few_error(entry, question, minimum)
    groups = large_enough(sizes, total, minimum)
    _write(kind, file, store.export(entry.id, question, groups=groups))


def write_complete(
    store: Store, entry: Entry, question: int, kind: str, file: IO[bytes]
) -> None:
    """Write the responses to a question of a survey that has ended, which are all counted in what analysts are shown.

    A stage that too few have sent to be shown is left out.

    Why: rows cannot be held back in steps, as counts are, because none says when it came.

    Raises:
        NotAllowed: the survey has not ended, or too few have responded.
    """
    published = store.shown(entry.id, question)
    published.counts()
    stages = published.complete_stages
    if not stages:
        raise NotAllowed(
            "responses are given out when a survey has ended and all of them are counted in what is shown; expected "
            "such a survey.",
            "Read the counts, which have all that an estimate needs, or ask whoever runs the collector: "
            "`deniable survey export`.",
        )
    groups = published.complete_groups.intersection(published.large_groups)
    _write(
        kind, file, store.export(entry.id, question, groups=groups, stages=stages)
    )


def _write(kind: str, file: IO[bytes], exported: Iterator[pa.RecordBatch]) -> None:
    batches = map(_columns, exported)
    if kind == "csv":
        batches = map(safe_batch, batches)
    first = next(batches)
    open_writer = pq.ParquetWriter if kind == "parquet" else pacsv.CSVWriter
    with open_writer(file, first.schema) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)


def pieces(file: IO[bytes], size: int = 1 << 18) -> Iterator[bytes]:
    """Yield a file from its beginning, and close it."""
    with file:
        file.seek(0)
        while chunk := file.read(size):
            yield chunk


def _columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Give columns the names and the order that files of responses have: the design is the last one.

    Stages count from 1, as in the codebook and in all that people read.
    """
    stages = pc.add(batch["stage"], pa.scalar(1, batch["stage"].type))
    return pa.record_batch(
        {
            "stage": stages,
            "group": batch["group"],
            RESPONSE: batch["symbol"],
            DESIGN: batch["design"],
        }
    )
