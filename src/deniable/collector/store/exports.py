"""All responses to a question, for files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from deniable.collector.store.counts import Layout
from deniable.collector.store.shelf import Shelf
from deniable.collector.store.tables import Tables

_ROWS = 1 << 16


def export(tables: Tables, shelf: Shelf, question: int, groups: frozenset[int]) -> Iterator[pa.RecordBatch]:
    """Yield batches in the order of ids, which are random; only the groups that are given are named."""
    column = shelf.columns[question]
    names = pa.array(shelf.entry.survey.groups, pa.string())
    statement = "SELECT stage, grp, code FROM response WHERE survey = ? AND question = ? ORDER BY id, stage"
    found = tables.stream(statement, shelf.entry.id, question)
    while piece := list(islice(found, _ROWS)):
        stages = np.array([stage for stage, _, _ in piece], np.int64)
        group = pa.array([group if group in groups else None for _, group, _ in piece], pa.int64())
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([design.hash for design in column.question.designs]).take(stages),
                pa.array(stages),
                names.take(group),
                _symbols(column.layouts, [(stage, code) for stage, _, code in piece]),
            ],
            names=["design", "stage", "group", "symbol"],
        )


def _symbols(layouts: tuple[Layout, ...], pairs: list[tuple[int, bytes]]) -> pa.Array[Any]:
    """Return what responses are called; each that occurs is looked up once."""
    known: dict[tuple[int, bytes], str] = {}
    for stage, code in set(pairs):
        known[stage, code] = layouts[stage].design.symbols[int.from_bytes(code, "little")]
    return pa.array([known[each] for each in pairs], pa.string())
