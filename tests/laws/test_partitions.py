from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from deniable.designs import k_ary
from deniable.tallies import Tally, tally

DESIGN = k_ary(["no", "yes", "=1+1", "NA", "a b", "naïve ☂"], epsilon=1)
rows = st.lists(st.none() | st.sampled_from(DESIGN.symbols))


def _codes(labels: list[str | None]) -> list[float]:
    return [np.nan if label is None else DESIGN.symbol_number(label) for label in labels]


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
def test_any_partition_of_the_rows_in_any_forms_gives_the_same_tally(parts: list[tuple[Any, Any]], order: Any) -> None:
    together = [label for labels, _ in parts for label in labels]
    order.shuffle(parts)
    total = reduce(add, (tally(DESIGN, form(labels)) for labels, form in parts), Tally.empty(DESIGN))
    assert total == tally(DESIGN, together)
    assert total.missing == together.count(None)
    assert total.counts.tolist() == [together.count(symbol) for symbol in DESIGN.symbols]
