from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.bulk import gradual
from deniable.engines import local
from deniable.errors import InvalidAnswer, InvalidRequest, InvalidResponse
from deniable.order.bits import BitByBit
from deniable.order.relaxation import relax
from tests.support.seeded import Seeded

KARY = relax(
    dn.k_ary(["red", "green", "blue"], 1), dn.k_ary(["red", "green", "blue"], 2)
)
SETS = relax(dn.subset(10, epsilon=1, t=3), dn.subset(10, epsilon=2, t=3))


def test_answers_may_be_labels_and_nobody_is_told_them() -> None:
    before = local.draw_all(KARY.old, ["red", "blue"])
    assert gradual.upgrade(KARY, before, ["red", "blue"]).dtype == np.uint8
    with pytest.raises(InvalidAnswer) as refused:
        gradual.upgrade(KARY, before, ["red", "mauve"])
    assert "mauve" not in str(refused.value)
    with pytest.raises(InvalidAnswer, match="index 1"):
        gradual.upgrade(KARY, before, [0, 3])


@pytest.mark.parametrize(
    "responses", [[0, 3], [-1, 0], [0.5, 1.0], [[0, 1]], ["red", "red"]]
)
def test_responses_that_are_none_are_refused(responses: list[object]) -> None:
    with pytest.raises(InvalidResponse, match="from 0 to 2"):
        gradual.upgrade(KARY, responses, [0, 1])


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InvalidResponse, match="3 responses and 2 answers"):
        gradual.upgrade(KARY, [0, 1, 2], [0, 1])


def test_whoever_is_missing_must_be_missing_in_both_columns() -> None:
    answers = ["red", None, "blue"]
    before = local.draw_all(KARY.old, answers)
    raised = gradual.upgrade(KARY, before, answers)
    assert np.ma.getmaskarray(raised).tolist() == [False, True, False]
    for others in (
        ["red", "blue", None],
        [None, "red", "blue"],
        ["red", "green", "blue"],
    ):
        with pytest.raises(InvalidResponse, match="others are missing"):
            gradual.upgrade(KARY, before, others)


def test_impossible_sets_are_refused() -> None:
    rows = np.array([[0b111, 0], [0b11, 0]], np.uint8)
    with pytest.raises(InvalidResponse, match="index 1"):
        gradual.degrade(SETS, rows)
    with pytest.raises(InvalidResponse):
        gradual.upgrade(SETS, np.zeros((2, 3), np.uint8), [0, 1])


@pytest.mark.parametrize("fast", [False, True])
def test_responses_that_their_answers_never_give_are_refused(fast: bool) -> None:
    told = relax(dn.exposing_binary("1/10"), dn.direct())
    with pytest.raises(
        InvalidResponse, match="none that its respondent can have sent"
    ) as refused:
        gradual.upgrade(told, [1, 1], ["yes", "no"], fast=fast)
    assert "no'" not in str(refused.value)
    one = relax(dn.k_ary(3, p=0), dn.k_ary(3, p=0))
    with pytest.raises(InvalidResponse):
        gradual.upgrade(one, [0, 1], [1, 1], fast=fast)


def test_nobody_at_all() -> None:
    assert gradual.upgrade(KARY, np.empty(0, np.uint8), []).shape == (0,)
    assert gradual.degrade(SETS, np.empty((0, 2), np.uint8)).shape == (0, 2)


def test_threads_have_streams_of_their_own() -> None:
    answers = np.zeros(3_000_000, np.uint8)
    before = local.draw_all(KARY.old, answers)
    raised = gradual.upgrade(KARY, before, answers, threads=2)
    assert raised.shape == answers.shape
    kept = float(KARY.step.kernel(0, old=0, given=0))
    assert abs((raised[before == 0] == 0).mean() - kept) < 0.01
    with pytest.raises(InvalidRequest, match="threads"):
        gradual.upgrade(KARY, before, answers, threads=2, source=Seeded("two"))


def test_kernels_are_chosen_again_when_enough_rows_have_come() -> None:
    raiser = gradual.Raiser(KARY, source=Seeded("raiser"), fast=None)
    first = raiser.upgrade([0, 1, 2], [0, 1, 2])
    assert first.shape == (3,)
    assert raiser.degrade(first).shape == (3,)


def test_rows_of_bits_must_fit() -> None:
    step = relax(dn.rappor(12, epsilon=1), dn.rappor(12, epsilon=2)).step
    assert isinstance(step, BitByBit)
    good = np.zeros((3, 2), np.uint8)
    assert gradual.upgrade_bits(step, good, good).shape == (3, 2)
    for bad in (
        np.zeros((3, 3), np.uint8),
        np.zeros((2, 2), np.uint8),
        np.zeros((3, 2), np.int64),
    ):
        with pytest.raises(InvalidResponse, match="2 bytes"):
            gradual.upgrade_bits(step, good, bad)
    with pytest.raises(InvalidResponse, match="behind the last"):
        gradual.upgrade_bits(step, good, np.full((3, 2), 255, np.uint8))
