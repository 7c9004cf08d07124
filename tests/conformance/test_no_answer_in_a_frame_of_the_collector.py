"""No function of the collector's side ever holds an answer: its local variables are looked at while we respond.

The import contract and `test_no_answer_at_the_collector.py` go by names. Here answers are marked, `respond_all` draws
for every type of question and every kind of column, and a tracer looks at each line of the collector's side that runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import deniable as dn
from deniable.engines.files import respond_file
from deniable.errors import DeniableError
from deniable.files import arrow
from deniable.tallies.responses import Responses
from tests.support.answer_traces import Marks, Trace, collectors_side, tracing
from tests.support.types import TYPES, Asked

Column = Callable[[list[Any]], Any]


def by_attribute(answers: list[Any]) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for answer in answers for name in answer or ())
    return {
        name: [None if answer is None else answer.get(name) for answer in answers]
        for name in names
    }


def by_edge(answers: list[Any]) -> dict[str, list[Any]]:
    """Return a table of who has which item with which weight; edges have one item each, so that all count."""
    rows = [
        (str(row), item, value)
        for row, answer in enumerate(answers)
        for item, value in (answer or {}).items()
    ]
    return {
        name: [row[place] for row in rows]
        for place, name in enumerate(("person", "item", "weight"))
    }


def to_maps(answers: list[Any]) -> pa.Array[Any]:
    pairs = [None if answer is None else list(answer.items()) for answer in answers]
    return pa.array(pairs, pa.map_(pa.string(), pa.float64()))


COLUMNS: dict[str, Column] = {
    "list": list,
    "tuple": tuple,
    "NumPy, objects": lambda answers: np.array([*answers, None], object)[:-1],
    "NumPy, text": lambda answers: np.array(
        [answer for answer in answers if answer is not None], np.str_
    ),
    "NumPy, numbers": lambda answers: np.array(
        [np.nan if answer is None else answer for answer in answers], float
    ),
    "NumPy, masked": lambda answers: np.ma.masked_array(
        np.array(["" if answer is None else answer for answer in answers], object),
        [each is None for each in answers],
    ),
    "pandas": pd.Series,
    "pandas, categorical": lambda answers: pd.Series(answers, dtype="category"),
    "Polars": lambda answers: pl.Series("answer", answers),
    "Arrow": pa.array,
    "Arrow, chunks": lambda answers: pa.chunked_array([answers[:40], answers[40:]]),
    "Arrow, dictionary": lambda answers: pa.array(answers).dictionary_encode(),
    "columns": by_attribute,
    "pandas, frame": lambda answers: pd.DataFrame(by_attribute(answers)),
    "Polars, frame": lambda answers: pl.DataFrame(by_attribute(answers)),
    "Arrow, table": lambda answers: pa.table(by_attribute(answers)),
}
EDGES: dict[str, Column] = {
    "list": list,
    "Arrow, maps": to_maps,
    "columns": by_edge,
    "pandas, frame": lambda answers: pd.DataFrame(by_edge(answers)),
    "Polars, frame": lambda answers: pl.DataFrame(by_edge(answers), strict=False),
    "Arrow, table": lambda answers: pa.Table.from_pandas(
        pd.DataFrame(by_edge(answers))
    ),
}
"""Kinds of columns of types that ask for items with weights."""
MARKED = {
    37.5: 37.4821736,
    0.5: 0.4821736,
    1: 0.7316482,
    -1: -0.9182736,
    "Smith": "marker-a",
    "Jones": "marker-b",
}


def marked(asked: Asked) -> Asked:
    """Return a type's example with answers that can be told from everything else."""

    def mark(answer: Any) -> Any:
        if isinstance(answer, dict):
            return {name: MARKED.get(value, value) for name, value in answer.items()}
        return (
            MARKED.get(answer, answer) if isinstance(answer, float | str) else answer
        )

    fixed = asked.design.asks == "edges"  # whose weights are levels of the design
    answers = asked.answers if fixed else [mark(answer) for answer in asked.answers]
    # rows that no rule writes down by itself
    order = np.random.default_rng(1).permutation(len(answers)).tolist()
    return replace(asked, answers=[answers[row] for row in order])


def traced(asked: Asked, column: Any) -> Trace | None:
    """Draw responses to a column, and return what was seen; None where the type does not take such a column."""
    marks = Marks.of(asked, column)
    assert marks.is_held(column)
    with tracing(marks) as trace:
        try:
            responses = dn.respond_all(asked.design, column)
        except (DeniableError, TypeError):
            return None
    assert len(responses) >= 40
    return trace


def built(column: Column, answers: list[Any]) -> Any:
    try:
        return column(answers)
    except (
        TypeError,
        ValueError,
        AttributeError,
        StopIteration,
        pa.ArrowException,
        pl.exceptions.PolarsError,
    ):
        return None


@pytest.mark.parametrize("name", TYPES)
def test_no_frame_of_the_collectors_side_holds_an_answer(name: str) -> None:
    asked = marked(TYPES[name]())
    kinds = EDGES if name.startswith(("key-value", "edges")) else COLUMNS
    columns = {
        kind: column
        for kind, build in kinds.items()
        if (column := built(build, asked.answers)) is not None
    }
    traces = {
        kind: trace
        for kind, column in columns.items()
        if (trace := traced(asked, column)) is not None
    }
    assert {kind: trace.leaks for kind, trace in traces.items() if trace.leaks} == {}
    assert len(traces) >= 5, sorted(traces)
    assert all(
        any("Responses" in frame for frame in trace.frames)
        for trace in traces.values()
    ), "nothing was looked at"


def test_codes_are_answers_too() -> None:
    asked = marked(TYPES["categories"]())
    answers = [answer for answer in asked.answers if answer is not None]
    codes = np.array(
        [asked.design.categories.index(answer) for answer in answers], np.uint8
    )
    trace = traced(replace(asked, answers=answers), codes)
    assert trace is not None
    assert trace.leaks == set()
    assert Marks.of(asked, None).is_held(codes)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    "name", ["categories", "sets", "ladder", "numbers", "strings"]
)
def test_answers_in_a_file_are_read_below_both_sides(
    name: str, suffix: str, tmp_path: Path
) -> None:
    asked = marked(TYPES[name]())
    answers, table = (
        tmp_path / f"answers{suffix}",
        pa.table({"answer": asked.answers}),
    )
    if suffix == ".csv":
        csv.write_csv(table, answers)
    else:
        parquet.write_table(table, answers)
    with tracing(Marks.of(asked, object())) as trace:
        respond_file(
            asked.design, answers, tmp_path / f"responses{suffix}", column="answer"
        )
    assert (tmp_path / f"responses{suffix}").exists()
    assert trace.leaks == set()


def planted(module: str, body: str) -> Any:
    """Return a function that belongs to a module of the package."""
    scope: dict[str, Any] = {"__name__": module}
    exec(body, scope)
    return scope["leak"]


@pytest.mark.parametrize(
    "kind", ["list", "pandas", "Polars", "Arrow", "NumPy, objects"]
)
@pytest.mark.parametrize(
    "body",
    [
        "def leak(column): return None",
        "def leak(column):\n    items = list(column)\n    del column\n    return len(items)",
        "def leak(column):\n    size = len(column)\n    return {'rows': [item for item in column], 'size': size}",
    ],
)
def test_a_column_that_is_handed_over_is_found(
    kind: str, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    leak, to_arrow = planted("deniable.tallies.counting", body), arrow.to_arrow

    def reads(column: Any) -> Any:
        leak(column)
        return to_arrow(column)

    monkeypatch.setattr(arrow, "to_arrow", reads)
    asked = marked(TYPES["categories"]())
    trace = traced(asked, COLUMNS[kind](asked.answers))
    assert trace is not None
    assert any(
        place.startswith("deniable.tallies.counting.leak") for place in trace.leaks
    )


def test_an_answer_in_an_attribute_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Responses.with_names
    asked = marked(TYPES["numbers"]())

    def keeps(self: Responses[Any], index: Any, name: str) -> Any:
        object.__setattr__(self, "columns", {**self.columns, "true": [37.4821736]})
        return names(self, index, name)

    monkeypatch.setattr(Responses, "with_names", keeps)
    trace = traced(asked, asked.answers)
    assert trace is not None
    assert "deniable.tallies.responses.Responses.with_names: self" in trace.leaks


def test_the_collectors_side_is_what_counts_and_estimates() -> None:
    side = collectors_side()
    for name in (
        "tallies.counting",
        "estimates.shares",
        "collector",
        "types.numbers.count",
        "types.drawn.estimate",
    ):
        assert side.match(f"deniable.{name}")
    for name in (
        "files.arrow",
        "bulk.columns",
        "types.numbers.draw",
        "responses",
        "tallies_of_others",
    ):
        assert not side.match(f"deniable.{name}")
