from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.channel import Dense
from deniable.designs import Design, hadamard, k_ary, local_hashing, warner
from deniable.documents import Response
from deniable.errors import Incompatible, InvalidRequest, InvalidResponse
from deniable.tallies import Tally, tally

DESIGN = k_ary(["a", "b", "c"], epsilon=1)
LABELS = ["a", None, "b", "c", "c"]
CODES = [0, None, 1, 2, 2]
EXPECTED = Tally(DESIGN, np.array([1, 1, 2]), missing=1)

FORMS: dict[str, Callable[[], Any]] = {
    "list of labels": lambda: LABELS,
    "tuple of labels": lambda: tuple(LABELS),
    "generator": lambda: (each for each in LABELS),
    "list of codes": lambda: CODES,
    "list of NumPy codes": lambda: [None if code is None else np.int16(code) for code in CODES],
    "list of floats": lambda: [0.0, float("nan"), 1.0, np.float32(2), 2.0],
    "labels and codes": lambda: ["a", None, 1, 2.0, "c"],
    "Responses": lambda: [label and Response(DESIGN.hash, label) for label in LABELS],
    "mapping": lambda: {"a": 1, "b": 1, "c": np.int64(2), None: 1},
    "NumPy floats": lambda: np.array([0, np.nan, 1, 2, 2]),
    "NumPy objects": lambda: np.array(LABELS, object),
    "NumPy masked codes": lambda: np.ma.masked_array([0, 99, 1, 2, 2], [0, 1, 0, 0, 0]),
    "NumPy masked labels": lambda: np.ma.masked_array(["a", "?", "b", "c", "c"], [0, 1, 0, 0, 0]),
    "NumPy masked floats": lambda: np.ma.masked_array([0.0, np.nan, 1, 2, 2], [0, 1, 0, 0, 0]),
    "Arrow text": lambda: pa.array(LABELS),
    "Arrow large text": lambda: pa.array(LABELS, pa.large_string()),
    "Arrow text views": lambda: pa.array(LABELS, pa.string_view()),
    "Arrow dictionary": lambda: pa.array(LABELS).dictionary_encode(),
    "Arrow dictionary with unused values": lambda: pa.DictionaryArray.from_arrays(
        pa.array([3, None, 2, 1, 1], pa.uint64()), pa.array(["never used", "c", "b", "a"])
    ),
    "Arrow dictionary with a null value": lambda: pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, 3, 3]), pa.array(LABELS[:4])
    ),
    "Arrow chunks": lambda: pa.chunked_array([LABELS[:2], LABELS[2:]]),
    "Arrow codes": lambda: pa.array(CODES, pa.uint8()),
    "Arrow floats": lambda: pa.array([0.0, None, 1.0, 2.0, 2.0]),
    "Arrow table of one column": lambda: pa.table({"response": LABELS}),
    "Arrow batch of one column": lambda: pa.record_batch({"response": LABELS}),
    "pandas text": lambda: pd.Series(LABELS),
    "pandas objects": lambda: pd.Series(LABELS, dtype=object),
    "pandas objects of several kinds": lambda: pd.Series(["a", pd.NA, 1, 2, "c"], dtype=object),
    "pandas categorical": lambda: pd.Series(LABELS, dtype="category"),
    "pandas Categorical": lambda: pd.Categorical(LABELS, categories=["z", "c", "b", "a"]),
    "pandas floats": lambda: pd.Series(CODES),
    "pandas nullable integers": lambda: pd.Series(CODES, dtype="Int8"),
    "pandas nullable array": lambda: pd.array(CODES, dtype="Int16"),
    "pandas on Arrow": lambda: pd.Series(CODES, dtype="int8[pyarrow]"),
    "pandas frame of one column": lambda: pd.DataFrame({"response": LABELS}),
    "Polars text": lambda: pl.Series(LABELS),
    "Polars categorical": lambda: pl.Series(LABELS, dtype=pl.Categorical),
    "Polars enum": lambda: pl.Series(LABELS, dtype=pl.Enum(["c", "b", "a"])),
    "Polars codes": lambda: pl.Series(CODES, dtype=pl.UInt8),
    "Polars frame of one column": lambda: pl.DataFrame({"response": LABELS}),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_tally(form: str) -> None:
    assert tally(DESIGN, FORMS[form]()) == EXPECTED


@pytest.mark.parametrize(
    "dtype",
    [
        "u1",
        "i1",
        "u2",
        "i2",
        "u4",
        "i4",
        "u8",
        "i8",
        ">u2",
        ">i8",
        "f4",
        "U1",
        "T",
        "O",
    ],
)
def test_every_kind_of_full_array_gives_the_same_tally(dtype: str) -> None:
    labels = dtype in ("U1", "T", "O")
    kind = np.dtypes.StringDType() if dtype == "T" else np.dtype(dtype)
    array = np.array(["a", "b", "c", "c"] if labels else [0, 1, 2, 2]).astype(kind)
    assert tally(DESIGN, array) == Tally(DESIGN, np.array([1, 1, 2]))
    assert tally(DESIGN, array[::-1]) == Tally(DESIGN, np.array([1, 1, 2]))


@pytest.mark.parametrize(
    "empty",
    [[], np.array([]), np.array([], np.uint8), np.array([], bool), pa.array([]), {}],
)
def test_nothing_counts_as_the_zero(empty: Any) -> None:
    assert tally(DESIGN, empty) == Tally.empty(DESIGN)


@pytest.mark.parametrize(
    "nothing",
    [
        [None] * 3,
        pa.nulls(3),
        pd.Series([None] * 3),
        np.full(3, np.nan),
        [pd.NaT] * 3,
    ],
)
def test_missing_is_counted_and_not_guessed(nothing: Any) -> None:
    assert tally(DESIGN, nothing) == Tally(DESIGN, np.zeros(3, int), missing=3)


UNKNOWN: dict[str, tuple[Callable[[], Any], int]] = {
    "labels": (lambda: ["a", "b", "x", "y"], 2),
    "generator beyond one batch": (lambda: (each for each in ["a"] * 70_000 + ["x"]), 70_000),
    "codes": (lambda: [0, 1, 3], 2),
    "half a code": (lambda: [0, None, 1.5], 2),
    "infinity": (lambda: [0, float("inf")], 1),
    "a very large code": (lambda: [0, 10**30], 1),
    "NumPy": (lambda: np.array([0, 1, 3]), 2),
    "NumPy bytes": (lambda: np.array([0, 1, 3], np.uint8), 2),
    "NumPy many bytes": (lambda: np.append(np.ones(200_001, np.uint8), np.uint8(3)), 200_001),
    "NumPy negative": (lambda: np.array([0, -1], np.int8), 1),
    "NumPy huge": (lambda: np.array([0, 1 << 50]), 1),
    "NumPy unsigned huge": (lambda: np.array([0, (1 << 64) - 1], np.uint64), 1),
    "NumPy fraction": (lambda: np.array([0, np.nan, 1.5]), 2),
    "NumPy infinity": (lambda: np.array([0, np.nan, np.inf]), 2),
    "NumPy float out of range": (lambda: np.array([0, np.nan, 7.0]), 2),
    "NumPy masked": (lambda: np.ma.masked_array([0, 99, 9], [0, 1, 0]), 2),
    "NumPy text": (lambda: np.array(["a", "x"]), 1),
    "NumPy objects": (lambda: np.array(["a", None, "x"], object), 2),
    "Arrow": (lambda: pa.array(["a", None, "x"]), 2),
    "Arrow codes": (lambda: pa.array([0, None, 9]), 2),
    "Arrow dictionary in another order": (
        lambda: pa.DictionaryArray.from_arrays(pa.array([2, 1, 0]), pa.array(["x", "y", "a"])), 1
    ),
    "Arrow second chunk": (lambda: pa.chunked_array([["a", "b"], ["a", "x"]]), 3),
    "pandas floats": (lambda: pd.Series([1.0, None, 7.0]), 2),
    "pandas categorical": (lambda: pd.Series(["b", "x"], dtype="category"), 1),
    "Polars": (lambda: pl.Series(["a", "x"]), 1),
    "a list inside": (lambda: ["a", ["b"]], 1),
    "bytes inside": (lambda: ["a", b"a"], 1),
    "True among codes": (lambda: [1, 0, True], 2),
}  # fmt: skip


@pytest.mark.parametrize("case", UNKNOWN)
def test_the_first_unknown_row_is_named(case: str) -> None:
    make, index = UNKNOWN[case]
    with pytest.raises(InvalidResponse, match=rf"at index {index:,}\b.*expected"):
        tally(DESIGN, make())


@pytest.mark.parametrize(
    "booleans",
    [
        [True],
        np.array([False]),
        np.array([True], object),
        pd.Series([True]),
        pl.Series([None, True]),
        {True: 5},
    ],
)
def test_booleans_are_refused_because_they_name_no_symbol(booleans: Any) -> None:
    with pytest.raises(InvalidResponse, match="boolean"):
        tally(warner(epsilon=1), booleans)


@pytest.mark.parametrize(
    "wrong",
    [
        "abc", b"abc", {"a", "b"}, 7, None, np.zeros((2, 2), int), np.array(3), np.array(["2026-01-01"], "M8[D]"),
        pa.array([b"a"]), pa.table({"x": ["a"], "y": ["a"]}), {"a": -1}, {"a": 1.5}, {"a": True}, {"x": 1},
    ],
)  # fmt: skip
def test_what_is_no_column_of_responses_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidResponse, match="expected"):
        tally(DESIGN, wrong)


def test_a_response_of_another_design_is_refused() -> None:
    other = k_ary(["a", "b", "c"], epsilon=2)
    with pytest.raises(
        Incompatible, match=rf"index 1 .*{other.hash[:19]}.*{DESIGN.hash[:19]}"
    ):
        tally(DESIGN, [Response(DESIGN.hash, "a"), Response(other.hash, "a")])


LIKERT = k_ary(["1", "2", "3"], epsilon=1)
NUMBERS: list[Any] = [
    [1, 3, None],
    np.array([1, np.nan, 3]),
    pa.array([1, 3, None]),
    pd.Series([1, 3, None]),
]


@pytest.mark.parametrize("numbers", [*NUMBERS, np.array([1, 2], np.uint8), {1: 2}])
def test_numbers_that_could_be_labels_or_codes_are_refused(numbers: Any) -> None:
    with pytest.raises(InvalidResponse, match="codes=False"):
        tally(LIKERT, numbers)


@pytest.mark.parametrize("numbers", NUMBERS)
def test_numbers_are_labels_where_it_is_said(numbers: Any) -> None:
    assert tally(LIKERT, numbers, codes=False) == Tally(
        LIKERT, np.array([1, 0, 1]), missing=1
    )


def test_numbers_are_codes_where_it_is_said() -> None:
    assert tally(LIKERT, [1, 2, None], codes=True) == Tally(
        LIKERT, np.array([0, 1, 1]), missing=1
    )


@pytest.mark.parametrize(
    "numbers",
    [[1, None, 5, 4], np.array([1, np.nan, 5, 4]), pa.array([1, None, 5, 4])],
)
def test_the_first_number_that_is_no_label_is_named(numbers: Any) -> None:
    with pytest.raises(InvalidResponse, match="index 2 is '5'"):
        tally(LIKERT, numbers, codes=False)


def test_labels_that_are_their_own_codes_may_be_either() -> None:
    design = k_ary(3, epsilon=1)
    assert tally(design, ["0", 2, "2"]) == Tally(design, np.array([1, 0, 2]))


@given(
    st.lists(st.integers(0, 255), max_size=50),
    st.sampled_from(["u1", "u2", "i4", "i8"]),
    st.integers(0, 3),
)
def test_codes_are_counted_as_bincount_counts_them(
    codes: list[int], dtype: str, odd: int
) -> None:
    # more than the chunks in which they are counted
    many = np.array(codes * 5000 + [7] * odd, dtype)
    design = k_ary(256, epsilon=1)
    assert (
        tally(design, many).counts.tolist()
        == np.bincount(many, minlength=256).tolist()
    )


def test_bytes_are_counted_for_designs_larger_than_a_byte() -> None:
    many = np.arange(200_001).astype(np.uint8)
    assert (
        tally(k_ary(300, epsilon=1), many).counts.tolist()
        == np.bincount(many, minlength=300).tolist()
    )


class _Bits(Dense):
    """Four responses of two bits each; the tally keeps how often each bit was set."""

    @property
    def cells(self) -> int:
        return 2

    def cells_of(self, response: int) -> Iterable[int]:
        return [bit for bit in (0, 1) if response >> bit & 1]


@pytest.mark.parametrize(
    "responses",
    [
        ["10", "11", None, "00"],
        np.array([1, np.nan, 3, 0]),
        pa.array([1, 3, 0, None]),
    ],
)
def test_a_response_may_count_in_several_cells(responses: Any) -> None:
    channel = _Bits(((1, 2), (2, 1), (1, 1), (1, 1)), 5)
    design = Design("bits", ["no", "yes"], ["00", "10", "01", "11"], channel)
    codes = not isinstance(responses, list)
    counted = tally(design, responses, codes=codes)
    assert (counted.counts.tolist(), counted.respondents, counted.missing) == (
        [2, 1],
        3,
        1,
    )


def test_a_response_with_an_unknown_symbol_is_named() -> None:
    with pytest.raises(InvalidResponse, match="index 1 is 'x'"):
        tally(DESIGN, [Response(DESIGN.hash, "a"), Response(DESIGN.hash, "x")])


class _Labels(pa.ExtensionType):
    """A type of somebody's own, stored as text."""

    def __init__(self) -> None:
        super().__init__(pa.string(), "tests.labels")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


def test_a_type_of_somebodys_own_is_counted_as_it_is_stored() -> None:
    assert (
        tally(DESIGN, pa.ExtensionArray.from_storage(_Labels(), pa.array(LABELS)))
        == EXPECTED
    )


@pytest.mark.parametrize("people", [1.5, True, "3", None, float("nan")])
def test_people_are_whole_numbers(people: Any) -> None:
    for wrong in ({"missing": people}, {"respondents": people}):
        with pytest.raises(InvalidResponse, match="expected a whole number"):
            Tally(DESIGN, [1, 1, 2], **wrong)


@pytest.mark.parametrize(
    "design", [hadamard(10**12, 1), local_hashing(10**12, 1), k_ary(10**9, 12)]
)
def test_what_no_memory_holds_is_not_counted(design: Design) -> None:
    for count in (lambda: Tally.empty(design), lambda: tally(design, [0])):
        with pytest.raises(InvalidRequest, match="expected at most 268,435,456"):
            count()
