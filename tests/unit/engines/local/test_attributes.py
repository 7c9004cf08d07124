from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.bulk.columns import read_answers
from deniable.designs import k_ary, product, warner
from deniable.engines.local import draw_all, join_attributes, tally
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.estimates import estimate
from deniable.tallies import marginal

DESIGN = product(
    {"smokes": warner(3), "age": k_ary(["young", "old", "very old"], 3)}
)


def test_columns_become_the_codes_of_combinations() -> None:
    smokes, age = (
        ["no", "yes", "yes", "no"],
        ["old", "young", "very old", "very old"],
    )
    expected = [
        DESIGN.category_number({"smokes": a, "age": b})
        for a, b in zip(smokes, age, strict=True)
    ]
    assert (
        join_attributes(DESIGN, {"smokes": smokes, "age": age}).codes.tolist()
        == expected
    )
    assert (
        join_attributes(
            DESIGN, {"age": pa.array(age), "smokes": np.array([0, 1, 1, 0])}
        ).codes.tolist()
        == expected
    )


def test_several_columns_go_through_the_whole_flow() -> None:
    rng = np.random.default_rng(9)
    columns = {
        "smokes": rng.integers(0, 2, 200_000),
        "age": rng.integers(0, 3, 200_000),
    }
    counted = tally(DESIGN, draw_all(DESIGN, columns))
    assert np.abs(estimate(marginal(counted, "age")).value - 1 / 3).max() < 0.02
    assert np.abs(estimate(counted).value - 1 / 6).max() < 0.02


@pytest.mark.parametrize(
    ("columns", "error", "problem"),
    [
        ({"smokes": ["no"]}, InvalidRequest, "expected one for each attribute"),
        (
            {"smokes": ["no"], "age": ["old"], "sex": ["f"]},
            InvalidRequest,
            "expected one for each attribute",
        ),
        (
            {"smokes": ["no"], "age": ["old", "old"]},
            InvalidAnswer,
            "differ in length",
        ),
        ({"smokes": ["no"], "age": ["zebra"]}, InvalidAnswer, "at index 0"),
        ({"smokes": ["no"], "age": np.array([3])}, InvalidAnswer, "at index 0"),
    ],
    ids=range(5),
)
def test_what_does_not_fit_is_refused_without_being_repeated(
    columns: Any, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem) as caught:
        join_attributes(DESIGN, columns)
    assert "zebra" not in str(caught.value)


def test_one_attribute_needs_no_putting_join_attributes() -> None:
    with pytest.raises(InvalidRequest, match="it has one only"):
        join_attributes(warner(1), {})


def test_a_combination_is_missing_where_one_of_its_answers_is() -> None:
    columns = {
        "smokes": ["no", None, "yes", "no"],
        "age": pa.array(["old", "old", "young", None]),
    }
    codes, missing = join_attributes(DESIGN, columns)
    assert codes.tolist() == [1, 3]
    assert missing is not None
    assert missing.tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    "frame",
    [pa.table, pd.DataFrame, pl.DataFrame],
    ids=["arrow", "pandas", "polars"],
)
def test_frames_hold_a_column_for_each_attribute_and_others(frame: Any) -> None:
    columns = frame(
        {"region": [1, 2], "smokes": ["no", "yes"], "age": ["old", "young"]}
    )
    assert read_answers(DESIGN, columns).codes.tolist() == [1, 3]
    assert len(draw_all(DESIGN, columns)) == 2
    with pytest.raises(InvalidRequest, match="expected one for each attribute"):
        read_answers(DESIGN, frame({"smokes": ["no"]}))
