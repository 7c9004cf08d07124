"""Columns of answers in every form; refusals name a row and never the answer."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deniable.bulk.columns import in_range, read_answers
from deniable.designs import Design, k_ary, matrix, unary
from deniable.engines import local
from deniable.errors import InvalidAnswer
from tests.support.seeded import Seeded

COLOURS = k_ary(["red", "green", "blue"], epsilon=1)
NUMBERED = k_ary(5, epsilon=1)
LABELS = ["blue", "red", "green", "blue"]
CODES = [2, 0, 1, 2]

SECRET = "a-secret-answer"


def columns(values: list[Any]) -> dict[str, Any]:
    """The same column as everybody brings it."""
    return {
        "list": values,
        "tuple": tuple(values),
        "object array": np.array(values, object),
        "pandas": pd.Series(values),
        "pandas objects": pd.Series(values, dtype=object),
        "pandas categorical": pd.Series(values, dtype="category"),
        "pandas with another index": pd.Series(
            values, index=range(10, 10 + len(values))
        ),
        "polars": pl.Series(values),
        "arrow": pa.array(values),
        "arrow chunks": pa.chunked_array([values[:1], values[1:]]),
        "arrow dictionary": pa.array(values).dictionary_encode(),
        "arrow table of one column": pa.table({"answer": values}),
        "pandas frame of one column": pd.DataFrame({"answer": values}),
        "polars frame of one column": pl.DataFrame({"answer": values}),
    }


TEXT = {
    **columns(LABELS),
    "text array": np.array(LABELS),
    "text array of any length": np.array(LABELS, np.dtypes.StringDType()),
    "polars categorical": pl.Series(LABELS, dtype=pl.Categorical),
    "arrow large text": pa.array(LABELS, pa.large_string()),
    "arrow text views": pa.array(LABELS, pa.string_view()),
}
WHOLE = {
    **columns(CODES),
    **{
        f"array of {kind}": np.array(CODES, kind)
        for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
    },
    "big-endian": np.array(CODES, ">i4"),
    "big-endian and unsigned": np.array(CODES, ">u2"),
    "every second": np.array([2, 9, 0, 9, 1, 9, 2, 9])[::2],
    "masked, nothing hidden": np.ma.array(CODES),
    "pandas nullable": pd.Series(CODES, dtype="Int64"),
    "floats": [2.0, 0.0, 1.0, 2.0],
}


@pytest.mark.parametrize(
    "answers",
    [*TEXT.values(), *WHOLE.values()],
    ids=[*TEXT, *(f"codes, {name}" for name in WHOLE)],
)
def test_answers_of_any_kind(answers: Any) -> None:
    assert read_answers(COLOURS, answers).codes.tolist() == CODES
    assert local.draw_all(COLOURS, answers).size == 4


def test_labels_and_codes_may_be_mixed() -> None:
    assert (
        read_answers(COLOURS, ["blue", 0, np.int8(1), "blue"]).codes.tolist()
        == CODES
    )


@pytest.mark.parametrize(
    "nothing",
    [
        [],
        (),
        np.array([]),
        np.array([], np.uint8),
        pa.array([], pa.string()),
        pd.Series([], dtype=str),
    ],
)
def test_no_answers_at_all(nothing: Any) -> None:
    drawn = local.draw_all(COLOURS, nothing)
    assert drawn.shape == (0,)
    assert drawn.dtype == np.uint8


MISSING = {
    **{
        f"None in {name}": column
        for name, column in columns(["red", "blue", None, "blue", None]).items()
    },
    **{
        f"no code in {name}": column
        for name, column in columns([0, 2, None, 1, None]).items()
    },
    "NaN": np.array([0, 1, np.nan, 2, np.nan]),
    "NaN among objects": ["red", 1, float("nan"), "blue", None],
    "masked": np.ma.array([0, 1, 2, 0, 1], mask=[0, 0, 1, 0, 1]),
    "pandas nullable": pd.Series([0, 1, None, 2, None], dtype="Int64"),
    "only null": pa.array([0, 0, None, 0, None]),
}


@pytest.mark.parametrize("answers", MISSING.values(), ids=MISSING)
def test_missing_stays_missing(answers: Any) -> None:
    drawn = local.draw_all(COLOURS, answers)
    assert np.ma.getmaskarray(drawn).tolist() == [False, False, True, False, True]
    assert local.tally(COLOURS, drawn).missing == 2
    assert local.tally(COLOURS, drawn).respondents == 3


def test_a_missing_answer_takes_no_bytes() -> None:
    drawn = local.draw_all(COLOURS, ["red", None, "blue"], source=Seeded("gaps"))
    present = local.draw_all(COLOURS, ["red", "blue"], source=Seeded("gaps"))
    assert drawn[[0, 2]].tolist() == present.tolist()


def test_packed_rows_of_missing_answers_are_masked_and_not_counted() -> None:
    design = unary(20, epsilon=1)
    drawn = local.draw_all(design, np.ma.array([3, 5, 7], mask=[0, 1, 0]))
    assert np.ma.getmaskarray(drawn).all(axis=1).tolist() == [False, True, False]
    assert local.tally(design, drawn).missing == 1
    assert local.tally(design, drawn).respondents == 2


def test_the_index_that_is_told_counts_missing_rows() -> None:
    for answers in (
        [None, "red", None, SECRET],
        np.array([np.nan, 0, np.nan, 7]),
        pa.array([None, "red", None, "x"]),
    ):
        with pytest.raises(InvalidAnswer, match="index 3 is not"):
            local.draw_all(COLOURS, answers)


def test_a_column_of_nothing_but_nulls() -> None:
    assert np.ma.getmaskarray(local.draw_all(COLOURS, pa.nulls(3))).all()


UNKNOWN = {
    **columns(["red", "blue", SECRET, "red"]),
    "text array": np.array(["red", "blue", SECRET, SECRET]),
    "text array of any length": np.array(
        ["red", "blue", SECRET], np.dtypes.StringDType()
    ),
    "mixed": ["red", 1, SECRET],
    "bytes": ["red", 1, SECRET.encode()],
    "a boolean among others": ["red", 1, True],
    "an object": ["red", 1, object()],
    "arrow chunks": pa.chunked_array([["red"], ["blue", SECRET]]),
}


@pytest.mark.parametrize("answers", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_answers_are_refused_by_row_and_not_repeated(answers: Any) -> None:
    with pytest.raises(
        InvalidAnswer, match="index 2 is not one of the design's"
    ) as caught:
        local.draw_all(COLOURS, answers)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "'red', 'green', 'blue'" in caught.value.problem


OUT_OF_RANGE = {
    **{
        f"{value} as {kind}": np.array([1, 0, value], kind)
        for kind in ("i1", "i8")
        for value in (-1, -128, 3, 77)
    },
    "77 in a list": [1, 0, 77],
    "far out": np.array([1, 0, (1 << 64) - 1], np.uint64),
    "very far out": [1, 0, 1 << 70, "red"],
    "half": [1, 0, 0.77],
    "infinite": np.array([1, 0, np.inf]),
    "wrapping around": np.array([1, 0, 256 + 1]),
}


@pytest.mark.parametrize("answers", OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
@pytest.mark.parametrize("threads", [1, 2])
def test_codes_out_of_range_are_refused_by_row_and_not_repeated(
    answers: Any, threads: int
) -> None:
    with pytest.raises(
        InvalidAnswer,
        match=r"index 2 is not one of the design's.*a code from 0 to 2",
    ) as caught:
        local.draw_all(COLOURS, answers, threads=threads)
    assert "77" not in str(caught.value)
    assert "128" not in str(caught.value)


def test_the_first_of_several_blocks_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("vectors", "kernels"):
        monkeypatch.setattr(import_module(f"deniable.bulk.{name}"), "CHUNK", 10)
    answers = np.zeros(100, np.int64)
    answers[[41, 42, 87]] = 9
    with pytest.raises(InvalidAnswer, match="index 41 "):
        local.draw_all(COLOURS, answers, threads=2)


@pytest.mark.parametrize(
    "answers",
    [np.array([True, False]), [True, False], pd.Series([True]), pa.array([True])],
)
def test_booleans_are_refused(answers: Any) -> None:
    with pytest.raises(
        InvalidAnswer, match="True does not say which category"
    ) as caught:
        local.draw_all(COLOURS, answers)
    assert "numpy.where(answers, 'green', 'red')" in caught.value.hint


@pytest.mark.parametrize(
    "answers", ["red", b"red", 1, None, {"red"}, iter(["red"]), {"red": 1}]
)
def test_what_is_no_column_is_refused(answers: Any) -> None:
    with pytest.raises(InvalidAnswer, match="expected an array, a column or a list"):
        local.draw_all(COLOURS, answers)


def test_a_table_is_refused() -> None:
    with pytest.raises(InvalidAnswer, match=r"array has 2 dimensions; expected one"):
        local.draw_all(COLOURS, np.zeros((2, 2), np.uint8))
    with pytest.raises(InvalidAnswer, match="a table of 2 columns"):
        local.draw_all(COLOURS, pa.table({"a": [1], "b": [2]}))


@pytest.mark.parametrize(
    "answers",
    [
        np.array(["2020-01-01"], "M8[D]"),
        pa.array([b"red"]),
        np.array([1j]),
        [[0], [1]],
    ],
)
def test_other_types_are_refused(answers: Any) -> None:
    with pytest.raises(
        InvalidAnswer,
        match=r"expected labels \(text\) or codes|not one of the design's",
    ):
        local.draw_all(COLOURS, answers)


YEARS = matrix([["3/4", "1/4"], ["1/4", "3/4"]], categories=["1", "2"])


@pytest.mark.parametrize(
    "answers",
    [np.array([1, 1]), [1, "2"], [1.0, 1.0], pa.array([1]).dictionary_encode()],
)
def test_numbers_that_could_be_labels_or_codes_are_refused(answers: Any) -> None:
    with pytest.raises(
        InvalidAnswer, match="whether they are labels or codes"
    ) as caught:
        local.draw_all(YEARS, answers)
    assert "codes=False" in caught.value.hint


@pytest.mark.parametrize(
    ("answers", "codes", "expected"),
    [
        (np.array([1, 2, 1]), False, [0, 1, 0]),
        ([1, "2"], False, [0, 1]),
        ([1.0, 2.0], False, [0, 1]),
        (np.array([0, 1]), True, [0, 1]),
        (["1", "2"], None, [0, 1]),
    ],
)
def test_saying_what_numbers_are(
    answers: Any, codes: bool | None, expected: list[int]
) -> None:
    assert read_answers(YEARS, answers, codes=codes).codes.tolist() == expected


def test_a_number_that_is_no_label() -> None:
    with pytest.raises(InvalidAnswer, match="index 1 is not one"):
        read_answers(YEARS, np.array([1, 77]), codes=False)
    with pytest.raises(InvalidAnswer, match="index 1 is not one"):
        read_answers(YEARS, ["1", 77], codes=False)


@pytest.mark.parametrize("design", [NUMBERED, k_ary(["0", "1", "2"], epsilon=1)])
def test_labels_that_are_their_own_codes_need_no_word(design: Design) -> None:
    assert read_answers(design, np.array([2, 0])).codes.tolist() == [2, 0]
    assert read_answers(design, ["2", "0"]).codes.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("codes", "good"),
    [([], True), ([0, 2], True), ([3], False), ([-1], False), ([-128], False)],
)
def test_in_range(codes: list[int], good: bool) -> None:
    assert in_range(np.array(codes, np.int8), 3) is good
