from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from deniable.bulk.random_words import CHUNK, Slot, Slots, Words, join
from deniable.chance import ScriptedSource, words_for
from deniable.engines.local import Keystream
from deniable.errors import OutOfRandomness
from tests.support.positions import words as written

FULL = (1 << 64) - 1


def script(*numbers: int) -> bytes:
    return b"".join(written(number, 1) for number in numbers)


def test_words_are_little_endian() -> None:
    source = ScriptedSource(bytes.fromhex("0100000000000080"))
    assert Words(source).take(1, Slots([Slot.of(1 << 64)])).tolist() == [[2**63 + 1]]


def test_the_first_of_several_words_is_the_most_significant() -> None:
    block = Words(ScriptedSource(script(1, 2, 3, 4))).take(
        2, Slots([Slot.of(1 << 128)])
    )
    assert [join(row) for row in block] == [2**64 + 2, 3 * 2**64 + 4]


@pytest.mark.parametrize(
    ("total", "words"),
    [(2, 1), (1 << 64, 1), (10**12, 2), (1 << 128, 2), (1 << 192, 3)],
)
def test_a_slot_knows_its_words(total: int, words: int) -> None:
    slot = Slot.of(total)
    assert slot.words == words == words_for(total)
    assert slot.limit % total == 0
    assert slot.scale - total < slot.limit <= slot.scale


def test_rejected_words_are_thrown_away_and_replaced() -> None:
    source = ScriptedSource(script(FULL, 5, FULL, 6, 7, 8))
    assert Words(source).take(3, Slots([Slot.of(10)])).tolist() == [[5], [6], [7]]
    assert source.used == 40


def test_replacements_may_be_rejected_too() -> None:
    source = ScriptedSource(script(1, FULL, FULL, FULL, 2))
    assert Words(source).take(2, Slots([Slot.of(10)])).tolist() == [[1], [2]]
    assert source.used == 40


def test_the_limit_itself_is_rejected_and_one_less_is_not() -> None:
    limit = Slot.of(10).limit
    source = ScriptedSource(script(limit - 1, limit, 3))
    assert Words(source).take(2, Slots([Slot.of(10)])).tolist() == [[limit - 1], [3]]


@pytest.mark.parametrize("total", [10**12, 2**90 - 2**42])
def test_all_words_of_a_draw_are_thrown_away_together(total: int) -> None:
    slot = Slot.of(total)
    high, low = divmod(slot.limit - 1, 1 << 64)
    first = written(slot.limit, 2)
    source = ScriptedSource(
        first + script(high, low, FULL, FULL, high, low - 1, FULL, FULL, 1, 2)
    )
    assert Words(source).take(3, Slots([slot])).tolist() == [
        [high, low],
        [high, low - 1],
        [1, 2],
    ]
    assert source.used == 96


def test_within_a_row_only_the_words_of_that_draw_are_thrown_away() -> None:
    layout = Slots([Slot.of(10), Slot.of(1 << 64), Slot.of(10)])
    source = ScriptedSource(script(1, FULL, FULL, 2, FULL, 3, 4, 5, 6))
    assert Words(source).take(2, layout).tolist() == [[1, FULL, 2], [3, 4, 5]]
    assert source.used == 64


def test_a_block_larger_than_the_buffer() -> None:
    numbers = list(range(2 * CHUNK))
    source = ScriptedSource(np.array(numbers, "<u8").tobytes())
    assert (
        Words(source).take(2 * CHUNK, Slots([Slot.of(1 << 64)]))[:, 0].tolist()
        == numbers
    )


def test_no_rows_take_no_bytes() -> None:
    source = ScriptedSource(b"")
    assert Words(source).take(0, Slots([Slot.of(10)])).shape == (0, 1)


def test_a_source_that_gives_too_few_bytes_is_refused() -> None:
    class Short:
        def read(self, count: int) -> bytes:
            return bytes(min(count, 8))

    with pytest.raises(OutOfRandomness, match=r"gave 8 bytes; expected 32"):
        Words(Short()).take(4, Slots([Slot.of(10)]))


def test_a_source_that_fills_is_asked_to_fill() -> None:
    class Filling(Keystream):
        def read(self, count: int) -> bytes:
            raise AssertionError(f"reading {count} bytes makes a copy")

    assert Words(Filling()).take(100, Slots([Slot.of(10)])).shape == (100, 1)


def test_what_one_thread_holds_is_not_written_by_another() -> None:
    words, slots = Words(), Slots([Slot.of(1 << 64)])
    held = words.take(1000, slots)
    before = held.copy()
    with ThreadPoolExecutor(1) as other:
        theirs = other.submit(lambda: words.take(1000, slots).copy()).result()
    assert np.array_equal(held, before)
    assert not np.isin(theirs, before).any()
