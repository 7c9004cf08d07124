"""Categories come as a list, or as a column of NumPy, pandas, Polars or Arrow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dn

COLUMN = pd.Series(["a", "b"], name="x")


@pytest.mark.parametrize(
    "given",
    [
        np.array(["a", "b"]),
        COLUMN,
        COLUMN.unique(),
        pd.Categorical(["a", "b"]),
        COLUMN.astype("category").cat.categories,
        pl.Series(["a", "b"]),
        pa.array(["a", "b"]),
        pa.chunked_array([["a"], ["b"]]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_categories_from_a_column(given: object) -> None:
    assert dn.k_ary(given, epsilon=1) == dn.k_ary(["a", "b"], epsilon=1)  # type: ignore[arg-type]


def test_numbers_are_to_be_written_as_text() -> None:
    with pytest.raises(
        dn.errors.InvalidDesign,
        match=r"holds 1; expected text .*\n.*\[str\(each\) for each in categories",
    ):
        dn.k_ary(np.array([1, 2]), epsilon=1)  # type: ignore[arg-type]
