from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from deniable.bulk import kernels
from deniable.designs import k_ary, warner
from deniable.engines import local
from deniable.errors import InvalidResponse
from deniable.tallies import Tally

DESIGN = k_ary(5, epsilon=1)

hands = pytest.mark.parametrize("fast", [False, True], ids=["numpy", "numba"])
kinds = pytest.mark.parametrize(
    "kind", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", ">i4", ">u2"]
)


@hands
@kinds
@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 1000, 70_001])
def test_codes_are_counted(fast: bool, kind: str, n: int) -> None:
    codes = (np.arange(n) * 7 % 11 % 5).astype(kind)
    counted = local.tally(DESIGN, codes, fast=fast)
    assert counted == Tally(DESIGN, np.bincount(codes.astype(int), minlength=5))
    assert counted.missing == 0


@hands
@pytest.mark.parametrize("threads", [1, 3])
def test_threads_and_blocks_count_everything_once(
    fast: bool, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["deniable.bulk.columns"]
    monkeypatch.setattr(module, "_COUNTED", 1000)
    monkeypatch.setattr(kernels, "_CHECKED_CODES", 77)
    codes = (np.arange(12_345) % 5).astype(np.uint8)
    assert (
        local.tally(DESIGN, codes, threads=threads, fast=fast).counts.tolist()
        == [2469] * 5
    )


@hands
@pytest.mark.parametrize("most", [1 << 18, 1000])
def test_many_symbols(
    fast: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "_MAX_SYMBOLS", most)
    design = k_ary(70_000, epsilon=1)
    codes = np.arange(140_000) % 70_000
    assert (local.tally(design, codes, fast=fast).counts == 2).all()


@hands
def test_strides_do_not_matter(fast: bool) -> None:
    codes = np.array([0, 9, 1, 9, 1, 9])[::2]
    assert local.tally(DESIGN, codes, fast=fast).counts.tolist() == [1, 2, 0, 0, 0]


@hands
@kinds
@pytest.mark.parametrize("wrong", [5, 100, -1])
def test_a_code_out_of_range_is_refused_by_row(
    fast: bool, kind: str, wrong: int
) -> None:
    codes = np.zeros(70_000, kind)
    codes[[66_000, 69_000]] = np.array(wrong).astype(kind)
    with pytest.raises(InvalidResponse, match="index 66,000 "):
        local.tally(DESIGN, codes, fast=fast)


def test_an_enormous_code_takes_no_memory() -> None:
    with pytest.raises(InvalidResponse, match="index 1 "):
        local.tally(DESIGN, np.array([0, 1 << 62]))


@pytest.mark.parametrize(
    "responses",
    [
        ["yes", "no", None],
        np.array(["yes", "no"]),
        np.ma.array([0, 1, 1], mask=[0, 0, 1]),
        np.array([0, 1, np.nan]),
    ],
)
def test_everything_else_is_counted_as_ever(responses: Any) -> None:
    counted = local.tally(warner(1), responses)
    assert counted.counts.tolist() == [1, 1]
    assert counted.missing == len(responses) - 2
