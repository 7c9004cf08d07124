from __future__ import annotations

import inspect
import io
import secrets
from fractions import Fraction

import pytest

from deniable import chance
from deniable.chance import (
    SYSTEM,
    TOTAL,
    ScriptedSource,
    SystemSource,
    below,
    bits,
    words_for,
)
from deniable.channel import Channel, Dense, Diagonal, Product
from deniable.errors import OutOfRandomness
from deniable.responses import respond
from tests.support.positions import script, thrown_away, words

TOTALS = [
    1,
    2,
    3,
    6,
    10,
    2**24 - 1,
    2**24,
    2**24 + 1,
    2**32,
    10**18,
    2**63,
    2**64 - 1,
    2**64,
    2**64 + 1,
    3**60,
    10**40,
]
every_total = pytest.mark.parametrize("total", TOTALS)


def test_a_word_is_little_endian() -> None:
    assert (
        below(TOTAL, ScriptedSource(bytes([1, 2, 0, 0, 0, 0, 0, 3])))
        == 1 + 2 * 2**8 + 3 * 2**56
    )
    assert below(TOTAL, ScriptedSource(b"\xff" * 8)) == 2**64 - 1


def test_the_first_word_is_the_most_significant() -> None:
    total = 1 << 128
    assert words_for(total) == 2
    assert (
        below(
            total,
            ScriptedSource((7).to_bytes(8, "little") + (5).to_bytes(8, "little")),
        )
        == 7 * 2**64 + 5
    )


@every_total
def test_words_are_the_fewest_that_are_seldom_thrown_away(total: int) -> None:
    count = words_for(total)
    thrown = Fraction((1 << 64 * count) % total, 1 << 64 * count)
    assert thrown < Fraction(1, 2**40)
    assert 1 << 64 * count >= total
    if count > 1:
        fewer = 1 << 64 * (count - 1)
        assert Fraction(fewer % total, fewer) >= Fraction(1, 2**40)


@every_total
def test_each_number_owns_the_same_stretch_of_words(total: int) -> None:
    for number in {0, total // 3, total // 2, total - 1}:
        for last in (False, True):
            source = ScriptedSource(script(number, total, last=last))
            assert below(total, source) == number
            assert source.used == 8 * words_for(total)


@pytest.mark.parametrize(
    "total", [each for each in TOTALS if thrown_away(each) is None]
)
def test_nothing_is_thrown_away_where_words_divide_evenly(total: int) -> None:
    assert (1 << 64 * words_for(total)) % total == 0


@pytest.mark.parametrize(
    "total", [each for each in TOTALS if thrown_away(each) is not None]
)
def test_the_rest_is_thrown_away_as_a_whole(total: int) -> None:
    refused = thrown_away(total)
    assert refused is not None
    highest = b"\xff" * len(refused)
    source = ScriptedSource(refused + highest + script(total - 1, total))
    assert below(total, source) == total - 1
    assert source.used == 3 * len(refused)


def test_the_limit_for_throwing_away_is_two_to_the_minus_forty() -> None:
    """2^64 mod (2^63 − x) is 2x; engines and browsers must take as many words as we do."""
    assert words_for(2**63 - 2**23 + 1) == 1
    assert words_for(2**63 - 2**23) == 2
    assert words_for(2**127 - 2**87 + 1) == 2
    assert words_for(2**127 - 2**87) == 3


def test_bits_are_words_with_the_first_the_least_significant() -> None:
    script = bytes(range(1, 17))
    assert bits(1, ScriptedSource(script)) == int.from_bytes(script[:8], "little")
    assert bits(2, ScriptedSource(script)) == int.from_bytes(script, "little")
    assert bits(2, ScriptedSource(words(5, 1) + words(7, 1))) == 5 + 7 * 2**64
    with pytest.raises(OutOfRandomness, match="returned 9 bytes; expected 16"):
        bits(2, io.BytesIO(b"123456789"))


def test_a_power_of_two_throws_nothing_away() -> None:
    for power in (0, 1, 8, 63, 64):
        assert words_for(1 << power) == 1
        assert below(1 << power, ScriptedSource(b"\xff" * 8)) == (1 << power) - 1


def test_all_numbers_below_a_small_total_come_out_of_evenly_spaced_words() -> None:
    """2^16 words, one in each 2^48 of all: each of six numbers gets its sixth, to within one word."""
    counts = [0] * 6
    for high in range(1 << 16):
        counts[below(6, ScriptedSource(words(high << 48, 1)))] += 1
    assert max(counts) - min(counts) <= 1


def test_a_script_ends_with_an_error() -> None:
    source = ScriptedSource(b"abcdefgh")
    assert (source.read(3), source.used) == (b"abc", 3)
    with pytest.raises(OutOfRandomness, match="holds 8 bytes; expected at least 11"):
        source.read(8)
    assert source.read(5) == b"defgh"


@pytest.mark.parametrize("rest", [b"", b"short"])
def test_a_source_that_returns_too_little_is_never_drawn_from(rest: bytes) -> None:
    """A file that has come to its end returns no bytes; as a number that would be 0, each time."""
    with pytest.raises(
        OutOfRandomness, match=f"returned {len(rest)} bytes; expected 8"
    ):
        below(6, io.BytesIO(rest))


def test_a_source_that_returns_too_much_is_refused_too() -> None:
    class Generous:
        def read(self, count: int) -> bytes:
            return b"\0" * (count + 1)

    with pytest.raises(OutOfRandomness, match="returned 9 bytes; expected 8"):
        below(6, Generous())


def test_the_system_source_asks_the_operating_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr(
        secrets, "token_bytes", lambda count: asked.append(count) or b"\7" * count
    )
    assert SystemSource().read(8) == b"\7" * 8
    assert below(TOTAL) == int.from_bytes(b"\7" * 8, "little")
    assert asked == [8, 8]


def test_the_system_source_does_not_repeat_itself() -> None:
    assert len({SYSTEM.read(16) for _ in range(100)}) == 100


@pytest.mark.parametrize(
    "function",
    [below, bits, respond, Channel.draw, Dense.draw, Diagonal.draw, Product.draw],
)
def test_the_secure_source_is_the_default_and_no_seed_is_offered(
    function: object,
) -> None:
    parameters = inspect.signature(function).parameters  # type: ignore[arg-type]
    assert parameters["source"].default is chance.SYSTEM
    assert not any("seed" in name or "random" in name for name in parameters)


PROBABILITIES = [
    Fraction(0),
    Fraction(1),
    Fraction(1, 2),
    Fraction(1, 3),
    Fraction(2**64 - 1, 2**64),
    Fraction(1, 3**50),
]


@pytest.mark.parametrize("probability", PROBABILITIES, ids=str)
def test_an_event_happens_below_its_probability_and_not_above(
    probability: Fraction,
) -> None:
    """Words are digits behind a point: whole words below the probability, then as many as its digits are met."""
    digits = [(probability * 2 ** (64 * place)).__floor__() for place in (1, 2, 3)]
    for count, number in enumerate(digits, start=1):
        for near in (number - 1, number, number + 1):
            if 0 <= near < 1 << 64 * count:
                source = ScriptedSource(words(near, count) + bytes(8 * 5))
                # The zeros behind the words are the smallest number that begins like them.
                assert chance.happens(probability, source) == (
                    Fraction(near, 1 << 64 * count) < probability
                )


def test_one_word_decides_unless_it_is_the_probabilitys_own() -> None:
    third = Fraction(1, 3)
    first = 2**64 // 3
    for word, used in ((0, 8), (first - 1, 8), (first + 1, 8), (2**64 - 1, 8)):
        source = ScriptedSource(words(word, 1) + bytes(64))
        assert chance.happens(third, source) == (word < first)
        assert source.used == used
    source = ScriptedSource(words(first, 1) * 3 + bytes(8))
    assert chance.happens(third, source)
    assert source.used == 32
    source = ScriptedSource(words(2**63, 1))
    # exactly the probability: not below it
    assert not chance.happens(Fraction(1, 2), source)
    assert source.used == 8


@pytest.mark.parametrize(
    "sums",
    [
        [1, 3],
        [0, 1, 1, 4, 4],
        [3**50, 3**50 + 1, 5**40],
        [7],
        [0, 0, 2**64, 2**64 + 2**63],
    ],
)
def test_choices_own_stretches_of_the_real_line(sums: list[int]) -> None:
    total = sums[-1]
    for at, end in enumerate(sums):
        start = sums[at - 1] if at else 0
        if start == end:
            continue
        for point in (
            Fraction(start, total),
            Fraction(start + end, 2 * total),
            Fraction(end, total) - Fraction(1, 2**500),
        ):
            script_of_point = words((point * 2**512).__ceil__(), 8)
            assert (
                chance.choose(sums, ScriptedSource(script_of_point + bytes(8))) == at
            )


@pytest.mark.parametrize("probability", PROBABILITIES[:-1], ids=str)
def test_an_event_is_a_choice_of_two(probability: Fraction) -> None:
    sums = [probability.numerator, probability.denominator]
    for word in (0, 1, (probability * 2**64).__floor__() % 2**64, 2**63, 2**64 - 1):
        one, two = (
            ScriptedSource(words(word, 1) + bytes(range(80))) for _ in range(2)
        )
        assert chance.happens(probability, one) == (chance.choose(sums, two) == 0)
        assert one.used == two.used


def test_events_and_choices_refuse_short_sources() -> None:
    for draw in (
        lambda: chance.happens(Fraction(1, 3), ScriptedSource(b"short")),
        lambda: chance.choose([1, 2], ScriptedSource(b"")),
    ):
        with pytest.raises(OutOfRandomness):
            draw()
