"""Both sets of kernels against Python's integers, at the places where a quotient or a comparison changes."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.bulk import kernels, vectors
from deniable.bulk.backend import Backend, Picks, Thresholds, workers
from deniable.bulk.edges import Edges
from deniable.channel import Bits
from deniable.channel.coding import code_type
from deniable.designs import k_ary, subset

MOST = (1 << 64) - 1

both = pytest.mark.parametrize("hand", [vectors, kernels], ids=["numpy", "numba"])


def expected(word: int, answer: int, divisor: int, size: int) -> int:
    q = word // divisor
    return answer if q >= size - 1 else q + (q >= answer)


def edges(divisor: int, size: int) -> list[int]:
    near = [
        divisor * q + step
        for q in (0, 1, 2, size // 2, size - 2, size - 1, size, MOST // divisor)
        for step in (-1, 0, 1)
    ]
    return [
        word for word in [*near, 1 << 32, (1 << 32) - 1, MOST] if 0 <= word <= MOST
    ]


def check_division(
    hand: ModuleType, words: list[int], divisor: int, size: int
) -> None:
    answers = sorted({0, 1, size // 2, size - 2, size - 1})
    pairs = [(word, answer) for word in words for answer in answers]
    kind = code_type(size)
    out = np.empty(len(pairs), kind)
    codes = np.array([answer for _, answer in pairs], kind)
    hand.divide(
        np.array([word for word, _ in pairs], np.uint64), codes, out, divisor, size
    )
    assert out.tolist() == [
        expected(word, answer, divisor, size) for word, answer in pairs
    ]


@both
@pytest.mark.parametrize("size", [3, 16, 255, 256, 257, 65_536, 65_537, 1 << 20])
@pytest.mark.parametrize("bits", [0, 1, 31, 32, 33, 34, 35, 43, 44, 61, 62])
def test_division_at_powers_of_two(hand: ModuleType, size: int, bits: int) -> None:
    for divisor in {max(1, (1 << bits) + step) for step in (-1, 0, 1)}:
        check_division(hand, edges(divisor, size), divisor, size)


@given(
    divisor=st.integers(0, 63).flatmap(
        lambda bits: st.integers(1 << bits, (2 << bits) - 1)
    ),
    size=st.sampled_from([3, 4, 256, 1000, 1 << 16, 1 << 33]),
    words=st.lists(st.integers(0, MOST), max_size=5),
)
def test_division_everywhere(divisor: int, size: int, words: list[int]) -> None:
    for hand in (vectors, kernels):
        check_division(hand, edges(divisor, size) + words, divisor, size)


@both
@pytest.mark.parametrize("below", [1, 2, 1 << 63, MOST, MOST + 1])
def test_flipping_below_a_bound(hand: ModuleType, below: int) -> None:
    words = [
        word
        for word in (0, 1, below - 2, below - 1, below, below + 1, MOST)
        if 0 <= word <= MOST
    ]
    answers = np.array([0, 1] * len(words), np.uint8)
    out = np.empty(answers.size, np.uint8)
    hand.flip(
        np.repeat(np.array(words, np.uint64), 2), answers, out, np.uint64(below - 1)
    )
    assert out.tolist() == [
        answer ^ (word < below) for word in words for answer in (0, 1)
    ]


@both
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 100])
def test_climbing_counts_the_steps_below(hand: ModuleType, length: int) -> None:
    columns = [
        sorted((i * i * 7919 + j) << 50 & MOST for i in range(1, length + 1))
        for j in range(3)
    ]
    ladder = Thresholds(columns, words=1)
    words = sorted(
        {
            word
            for column in columns
            for t in column
            for word in (t - 1, t, min(t + 1, MOST))
        }
        | {0, MOST}
    )
    pairs = [(word, j) for word in words for j in range(3)]
    out = np.empty(len(pairs), np.intp)
    hand.count_below(
        np.array([w for w, _ in pairs], np.uint64),
        np.array([j for _, j in pairs], np.intp),
        out,
        ladder.steps,
        ladder.width,
    )
    # What is counted is t ≤ word, that is t − 1 < word.
    assert out.tolist() == [
        bisect_left([t - 1 for t in columns[j]], word) for word, j in pairs
    ]


@both
def test_counting_codes(hand: ModuleType) -> None:
    coding = k_ary(5, 1).channel.coding
    assert hand.count(
        coding, np.array([0, 4, 4, 1, 4, 0, 2], np.uint8)
    ).tolist() == [
        2,
        1,
        1,
        0,
        3,
    ]
    with pytest.raises(OverflowError):
        hand.count(coding, np.array([0, 5], np.uint8))


def near_every_quotient(
    picks: Picks, rows: int
) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Words at, just before and just behind multiples of the divisors, and the last that are not thrown away."""
    dice = np.random.default_rng(20)
    words = np.empty((rows, len(picks.lasts)), np.uint64)
    for step, (divisor, last) in enumerate(
        zip(picks.divisors.tolist(), picks.lasts.tolist(), strict=True)
    ):
        edges = [
            quotient * divisor + by
            for quotient in range((last + 1) // divisor + 1)
            for by in (-1, 0, 1)
        ]
        words[:, step] = dice.choice(
            np.array(
                [word for word in edges if 0 <= word <= last] + [last], np.uint64
            ),
            rows,
        )
    return words


@pytest.mark.parametrize(
    ("size", "steps"),
    [(2, 1), (3, 1), (16, 4), (63, 20), (64, 32), (65, 31), (128, 34), (128, 64)],
)
def test_sets_filled_side_by_side_are_those_filled_one_by_one(
    size: int, steps: int
) -> None:
    """With every pick at the edge of two quotients, and any number of them forgotten."""
    picks, rows, dice = Picks.of(size, steps), 333, np.random.default_rng(size)
    words = near_every_quotient(picks, rows)
    answers, own = (
        dice.integers(0, size, rows).astype(np.uint8),
        dice.integers(0, 2, rows).astype(np.bool_),
    )
    wanted = dice.integers(0, steps + 1, rows)
    compiled, numpy, single = (
        np.zeros((rows, -(-size // 8)), np.uint8) for _ in range(3)
    )
    assert kernels.fill(words, answers, own, wanted, compiled, picks)
    assert vectors.fill(words, answers, own, wanted, numpy, picks)
    for row in range(rows):
        part = slice(row, row + 1)
        assert kernels.fill(
            words[part], answers[part], own[part], wanted[part], single[part], picks
        )
    assert compiled.tolist() == numpy.tolist() == single.tolist()


@both
@pytest.mark.parametrize("rows", [1, 100])
def test_a_set_with_a_word_to_throw_away_is_not_filled(
    hand: ModuleType, rows: int
) -> None:
    picks = Picks.of(100, 27)
    for step in [
        step for step, last in enumerate(picks.lasts.tolist()) if last < MOST
    ]:
        words = np.zeros((rows, 27), np.uint64)
        out = np.zeros((rows, 13), np.uint8)
        given = (
            np.zeros(rows, np.uint8),
            np.zeros(rows, np.bool_),
            np.full(rows, 27),
            out,
            picks,
        )
        words[-1, step] = picks.lasts[step]
        assert hand.fill(words, *given)
        words[-1, step] += np.uint64(1)
        assert not hand.fill(words, *given)


@both
@pytest.mark.parametrize("size", [20, 31, 128, 200])
@pytest.mark.parametrize("rows", [1, 4_000, 150_000])
def test_counting_the_bits_of_packed_rows(
    hand: ModuleType, size: int, rows: int
) -> None:
    """Of rows with all bits, so that every count is as high as can be, and of others behind them."""
    coding = Bits(size, 3, 1, 4).coding
    sets = np.full((rows, coding.width), 255, np.uint8)
    sets[rows // 2 :] = np.random.default_rng(size).integers(
        0, 256, sets[rows // 2 :].shape, np.uint8
    )
    if size % 8:
        sets[:, -1] &= np.uint8((1 << size % 8) - 1)
    bits = np.unpackbits(sets, axis=1, bitorder="little")[:, :size]
    assert hand.count(coding, sets)[-size:].tolist() == bits.sum(axis=0).tolist()


@both
@pytest.mark.parametrize(
    "wrong",
    [[0b111, 0, 0], [0, 0, 0], [1, 0, 16]],
    ids=["one more", "none", "behind the last"],
)
def test_a_packed_row_that_is_never_sent_is_not_counted(
    hand: ModuleType, wrong: list[int]
) -> None:
    coding = subset(20, 1, t=2).channel.coding
    rows = np.tile(np.array([0b101, 0, 0], np.uint8), (500, 1))
    assert hand.count(coding, rows)[:4].tolist() == [500, 0, 500, 0]
    rows[321] = wrong
    with pytest.raises(OverflowError):
        hand.count(coding, rows)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_all_work_is_done_once(threads: int) -> None:
    done: list[int] = []
    with workers(threads) as run:
        run(done.append, range(0, 100, 3))
        run(done.append, [])
    assert sorted(done) == list(range(0, 100, 3))


def test_nobody_takes_more_work_after_an_error() -> None:
    done: list[int] = []

    def work(number: int) -> None:
        if number == 3:
            raise ZeroDivisionError
        done.append(number)

    with workers(3) as run, pytest.raises(ZeroDivisionError):
        run(work, range(1_000_000))
    assert len(done) < 999_999


@both
def test_each_backend_offers_the_whole_protocol(hand: ModuleType) -> None:
    offered = {name for name in vars(Backend) if not name.startswith("_")} | set(
        Backend.__annotations__
    )
    assert {"toss", "fill", "nest", "count", "CHUNK", "COIN_WORDS"} <= offered
    assert all(hasattr(hand, name) for name in offered)


@both
@pytest.mark.parametrize("width", [1, 2, 5])
def test_marks_change_exactly_behind_their_last_words(
    hand: ModuleType, width: int
) -> None:
    """For each answer, own item or not, a word at either edge, and one before and behind it."""
    steps = np.array([[10, 1 << 63], [MOST - 2, MOST - 1], [0, MOST]], np.uint64)
    near = sorted(
        {
            min(max(edge + by, 0), MOST)
            for edge in map(int, steps.ravel())
            for by in (-1, 0, 1)
        }
    )
    people = [
        (word, item, answer)
        for word in near
        for item in range(-1, width)
        for answer in range(3)
    ]
    words = np.array([[word] * width for word, _, _ in people], np.uint64)
    item = np.array([item for _, item, _ in people], np.int64)
    answers = np.array([answer for _, _, answer in people], np.uint8)
    out = np.full((len(people), width), 9, np.uint8)
    hand.mark(words, item, answers, steps, out)
    for row, (word, own, answer) in enumerate(people):
        kinds = [answer if place == own else 0 for place in range(width)]
        assert out[row].tolist() == [
            sum(word > int(edge) for edge in steps[kind]) for kind in kinds
        ]


@both
def test_items_and_weights_change_exactly_at_their_words(hand: ModuleType) -> None:
    """A word just before and at the edge of each item, and just before and at the threshold of each weight."""
    weights = np.array([-1.0, -0.5, 0.0, 0.25, 1.0])
    items = len(weights)
    scale = (1 << 64) // items
    thresholds = [int((1 + Fraction(float(weight))) * 2**63) for weight in weights]
    cases = [
        (word, rounding)
        for item in range(items)
        for word in (item * scale, (item + 1) * scale - 1)
        for rounding in sorted(
            {max(0, min(thresholds[item] + by, MOST)) for by in (-1, 0, 1)}
        )
    ]
    people = len(cases)
    edges = Edges(
        people,
        items,
        np.arange(people + 1) * items,
        np.tile(np.arange(items), people),
        np.tile(weights, people),
    )
    item, answers = np.empty(people, np.int64), np.empty(people, np.uint8)
    hand.ask(np.array(cases, np.uint64), edges, 0, scale, item, answers)
    assert item.tolist() == [word // scale for word, _ in cases]
    assert answers.tolist() == [
        1 if rounding < thresholds[word // scale] else 2 for word, rounding in cases
    ]
    nobody = Edges(
        people,
        items,
        np.zeros(people + 1, np.int64),
        np.empty(0, np.int64),
        np.empty(0),
    )
    hand.ask(np.array(cases, np.uint64), nobody, 0, scale, item, answers)
    assert not answers.any()


@both
def test_marks_are_counted(hand: ModuleType) -> None:
    counts = np.ones((3, 2), np.int64)
    hand.count_marks(np.array([[0, 1, 2], [2, 1, 2]], np.uint8), counts)
    assert counts.tolist() == [[1, 2], [3, 1], [1, 3]]


@both
def test_words_that_equal_a_bound_decide_nothing(hand: ModuleType) -> None:
    words = np.array([4, 6, 9], np.uint64)
    like, keep = np.array([True, False, True]), np.zeros(3, np.bool_)
    assert hand.decide(words, like, keep, np.uint64(5), np.uint64(7))
    assert keep.tolist() == [True, True, False]
    assert not hand.decide(words, like, keep, np.uint64(9), np.uint64(7))
    assert not hand.decide(words, like, keep, np.uint64(5), np.uint64(6))
