from __future__ import annotations

import csv
import io
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.designs import k_ary
from deniable.groups.collected import tally_column
from deniable.tallies import Tally, tally
from deniable.tallies.counts import Declared

DESIGN = k_ary(["no", "yes", "=1+1", "NA", "a b", "naïve ☂"], epsilon=1)
rows = st.lists(st.none() | st.sampled_from(DESIGN.symbols))


def _codes(labels: list[str | None]) -> list[float]:
    return [
        np.nan if label is None else DESIGN.symbol_number(label) for label in labels
    ]


FORMS = st.sampled_from([
    list,
    iter,
    lambda labels: np.array(labels, object),
    lambda labels: np.array(_codes(labels)),
    lambda labels: pa.array(labels, pa.string()),
    lambda labels: pa.array(labels, pa.string()).dictionary_encode(),
    lambda labels: pd.Series(labels, dtype=object),
    lambda labels: pd.Series(labels, dtype="category"),
    lambda labels: pd.Series(_codes(labels), dtype="Int64"),
    lambda labels: pl.Series(labels, dtype=pl.String),
])  # fmt: skip


@given(st.lists(st.tuples(rows, FORMS)), st.randoms(use_true_random=False))
def test_any_partition_of_the_rows_in_any_forms_gives_the_same_tally(
    parts: list[tuple[Any, Any]], order: Any
) -> None:
    together = [label for labels, _ in parts for label in labels]
    order.shuffle(parts)
    total = reduce(
        add,
        (tally(DESIGN, form(labels)) for labels, form in parts),
        Tally.empty(DESIGN),
    )
    assert total == tally(DESIGN, together)
    assert total.missing == together.count(None)
    assert total.counts.tolist() == [
        together.count(symbol) for symbol in DESIGN.symbols
    ]


CELLS = st.sampled_from([*DESIGN.symbols, "99", "who knows", ""])
SHEETS = st.lists(
    st.lists(st.tuples(CELLS, st.sampled_from(["N", "S", ""]))),
    min_size=1,
    max_size=4,
)


def _written(rows: list[tuple[str, str]]) -> io.BytesIO:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([("q", "region"), *rows])
    return io.BytesIO(out.getvalue().encode())


@pytest.mark.filterwarnings("ignore::deniable.errors.UnknownValues")
@settings(max_examples=40)
@given(SHEETS, st.randoms(use_true_random=False))
def test_any_partition_of_what_was_collected_elsewhere_gives_the_same_groups(
    parts: Any, order: Any
) -> None:
    # a file that holds no symbol at all is refused
    parts = [[*part, ("no", "N")] for part in parts]
    together = [row for part in parts for row in part]
    order.shuffle(parts)
    total: Any = sum(
        tally_column(DESIGN, _written(part), "q", by="region", missing=["99"])
        for part in parts
    )
    assert total == tally_column(
        DESIGN, _written(together), "q", by="region", missing=["99"]
    )
    for region, found in total.items():
        cells = [cell for cell, where in together if where == (region or "")]
        reasons = (("99", cells.count("99")),)
        assert found.counts.tolist() == [
            cells.count(symbol) for symbol in DESIGN.symbols
        ]
        assert found.missing == cells.count("") + cells.count("99")
        assert found.declared == Declared(
            len(cells), cells.count("who knows"), reasons
        )
