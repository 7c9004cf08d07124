from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from deniable.bulk import backend
from deniable.designs import k_ary, warner
from deniable.engines import local
from deniable.errors import InvalidAnswer, InvalidResponse
from deniable.tallies import Tally
from tests.support.hands import Counted, everybody, scalar
from tests.support.seeded import seeded

DESIGN = k_ary(5, p="0.7654321")


def script() -> Counted:
    return Counted(b"", seeded("a stream"))


@pytest.mark.parametrize(
    "cuts", [[], [1], [0, 0], [100, 101, 400], list(range(1, 500))]
)
def test_cutting_the_column_changes_nothing(cuts: list[int]) -> None:
    answers, source = everybody(DESIGN, 500), script()
    drawn = list(
        local.draw_stream(DESIGN, np.split(np.array(answers), cuts), source=source)
    )
    assert [len(piece) for piece in drawn] == [
        len(piece) for piece in np.split(np.array(answers), cuts)
    ]
    assert (np.concatenate(drawn).tolist(), source.used) == scalar(
        DESIGN, answers, script()
    )


def test_compiled_kernels_may_take_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "ROWS_WORTH_COMPILING", 250)
    monkeypatch.delitem(
        __import__("sys").modules, "deniable.bulk.kernels", raising=False
    )
    answers = everybody(DESIGN, 500)
    drawn = local.draw_stream(
        DESIGN, np.split(np.array(answers), 5), source=script()
    )
    assert (
        np.concatenate(list(drawn)).tolist() == scalar(DESIGN, answers, script())[0]
    )


def test_nothing_is_asked_for_before_it_is_needed() -> None:
    taken = []

    def chunks() -> Iterator[list[int]]:
        for number in range(10):
            taken.append(number)
            yield [0] * number

    drawn = local.draw_stream(warner(1), chunks())
    assert taken == []
    assert len(next(drawn)) == 0
    assert len(next(drawn)) == 1
    assert taken == [0, 1]


def test_columns_of_any_form() -> None:
    drawn = local.draw_stream(
        warner(1), [["yes", "no"], np.array([1]), np.array(["no"])], threads=2
    )
    assert [len(piece) for piece in drawn] == [2, 1, 1]


def test_a_wrong_answer_stops_the_stream() -> None:
    drawn = local.draw_stream(warner(1), [[0], [0, 7]])
    assert len(next(drawn)) == 1
    with pytest.raises(InvalidAnswer, match="index 1 "):
        next(drawn)


def test_tallies_of_chunks_add_up() -> None:
    chunks = [np.array([0, 1, 1], np.uint8), ["4", None], [], np.array([2])]
    assert local.tally_stream(DESIGN, chunks) == Tally(
        DESIGN, np.array([1, 2, 1, 0, 1]), missing=1
    )
    assert local.tally_stream(DESIGN, []) == Tally.empty(DESIGN)


def test_a_wrong_response_stops_the_tally() -> None:
    with pytest.raises(InvalidResponse, match="index 1 "):
        local.tally_stream(DESIGN, [np.array([0]), np.array([0, 7])])


def test_memory_does_not_grow_with_the_stream() -> None:
    def peak(chunks: int) -> int:
        answers = (np.zeros(100_000, np.uint8) for _ in range(chunks))
        tracemalloc.start()
        counted = local.tally_stream(
            DESIGN, local.draw_stream(DESIGN, answers, fast=False), fast=False
        )
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert counted.respondents == 100_000 * chunks
        return most

    peak(1)
    # one chunk more, where sixty would be six million
    assert peak(60) < peak(3) + 200_000
