"""All responses to a question as a file that `deniable tally` reads: in random order, and no small group named."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from deniable.collector.small_cells import counts_shown, groups_shown
from deniable.collector.store import Entry, Store
from deniable.files.columns import DESIGN, RESPONSE
from deniable.files.spreadsheets import safe_batch

FORMATS = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv"}
"""What responses are exported as, with the media type of each."""


def write(store: Store, entry: Entry, question: int, kind: str, file: IO[bytes]) -> None:
    """Write the responses to a question.

    Args:
        store: where they are.
        entry: the survey.
        question: the number of the question.
        kind: one of `FORMATS`.
        file: open for writing in binary.

    Raises:
        NotAllowed: there are fewer than the survey's minimum.
    """
    counts_shown(store, entry, question)
    groups = groups_shown(store, entry, question)
    batches = map(_columns, store.export(entry.id, question, groups=groups))
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
        while piece := file.read(size):
            yield piece


def _columns(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Give columns the names and the order that files of responses have: the design is the last one."""
    return pa.record_batch(
        {"stage": batch["stage"], "group": batch["group"], RESPONSE: batch["symbol"], DESIGN: batch["design"]}
    )
