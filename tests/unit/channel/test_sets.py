"""What channels of sets refuse, and what a hundred thousand categories cost them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from deniable.chance import SYSTEM, TOTAL, ScriptedSource
from deniable.channel import Bits, Channel, Mixture, Subset, from_body, sets
from deniable.channel.sets import MAX_CATEGORIES, MAX_CELLS, Part
from deniable.errors import InvalidDesign, OutOfRandomness, UnreadableFile

HUGE = 100_000
MIXED = Mixture(6, (Part(1, 1, 1), Part(4, 1, 1)), 2)


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: Subset(1, 1, 1, 2), "there are 1 categories"),
        (lambda: Subset(4, 0, 1, 2), "the sets hold 0 of 4"),
        (lambda: Subset(4, 4, 1, 2), "the sets hold 4 of 4"),
        (lambda: Subset(4, 2, 3, 2), "the weight inside is 3"),
        (lambda: Subset(4, 2, 0, 0), "add up to 0"),
        (lambda: Bits(1, 1, 0, 2), "there are 1 categories"),
        (lambda: Bits(MAX_CATEGORIES + 1, 1, 0, 2), "16,777,216"),
        (lambda: Bits(3, 3, 1, 2), "the weight hit is 3"),
        (lambda: Bits(3, 1, 3, 2), "the weight stray is 3"),
        (
            lambda: Bits(3000, 2, 1, 4, sized=True),
            "9,006,001 cells; expected at most 4,004,001",
        ),
        (lambda: Mixture(3, (), 1), "the sizes of sets"),
        (lambda: Mixture(3, (Part(2, 1, 1), Part(1, 1, 1)), 2), "the sizes of sets"),
        (lambda: Mixture(3, (Part(4, 1, 1),), 1), "the sizes of sets"),
        (lambda: Mixture(3, (Part(1, 1, 1), Part(2, 0, 1)), 1), "do not add up"),
        (lambda: Mixture(3, (Part(1, 1, 1),), 2), "do not add up"),
        (
            lambda: Mixture(3, (Part(0, 1, 1),), 1),
            "more or less often than there is room for",
        ),
        (
            lambda: Mixture(3, (Part(3, 1, 0),), 1),
            "more or less often than there is room for",
        ),
    ],
)
def test_what_is_no_channel_is_refused(build: object, problem: str) -> None:
    with pytest.raises(InvalidDesign, match=problem):
        build()  # type: ignore[operator]


def test_weights_are_held_in_lowest_terms() -> None:
    assert Subset(4, 2, 6, 8) == Subset(4, 2, 3, 4)
    assert Bits(3, 6, 2, 8) == Bits(3, 3, 1, 4)
    assert Mixture(3, (Part(1, 4, 6), Part(2, 8, 10)), 12) == Mixture(
        3, (Part(1, 2, 3), Part(2, 4, 5)), 6
    )


@pytest.mark.parametrize(
    "channel",
    [Subset(HUGE, 26_894, TOTAL // 2, TOTAL), Bits(HUGE, TOTAL - 5, 5, TOTAL)],
)
def test_a_hundred_thousand_categories_are_never_written_out(
    channel: Channel,
) -> None:
    assert channel.parity > 1
    assert channel.delta(Fraction(1)) > 0
    assert channel.cells == HUGE
    response = channel.draw(99_999)
    assert channel.possible(response)
    assert len(list(channel.cells_of(response))) == response.bit_count()
    assert channel.bayes_factors(response, 0)[0] > 0
    with pytest.raises(InvalidDesign, match="to write out"):
        channel.dense()


def test_cells_are_sets_or_categories_or_sizes_and_categories(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert list(Subset(4, 2, 3, 4).cells_of(0b0110)) == [0b0110]
    assert Bits(3, 3, 1, 4, sized=True).cells == 8
    monkeypatch.setattr(sets, "MAX_COUNTED_APART", 1)
    assert list(Subset(4, 2, 3, 4).cells_of(0b0110)) == [1, 2]
    by_size = Bits(3, 3, 1, 4, sized=True)
    assert by_size.cells == 16
    assert list(by_size.cells_of(0)) == [0]
    assert list(by_size.cells_of(0b101)) == [8, 9, 11]
    mixture = Mixture(4, (Part(1, 1, 1), Part(3, 1, 2)), 2)
    assert mixture.cells == 10
    assert list(mixture.cells_of(0b0111)) == [5, 6, 7, 8]


def test_a_tally_by_size_may_have_every_size_of_two_thousand_categories() -> None:
    assert Bits(2000, 2, 1, 4, sized=True).cells == MAX_CELLS


@pytest.mark.parametrize("name", ["size", "hit", "stray", "total", "tally"])
def test_a_body_with_a_wrong_field_is_unreadable(name: str) -> None:
    body = Bits(3, 3, 1, 4).to_body()
    body[name] = "many"
    with pytest.raises(UnreadableFile, match=name):
        from_body(body)


def test_a_short_source_is_noticed() -> None:
    class Short:
        def read(self, count: int) -> bytes:
            return SYSTEM.read(count - 1)

    with pytest.raises(OutOfRandomness, match="returned 7 bytes; expected 8"):
        Bits(3, 3, 1, 4).draw(0, Short())


def test_how_many_words_are_taken_does_not_depend_on_the_answer() -> None:
    for channel, heads in (
        (Subset(6, 2, 3, 4), 1),
        (Subset(6, 5, 3, 4), 1),
        (MIXED, 2),
    ):
        for script in (bytes(800), b"\xfe" * 800):
            assert {used(channel, answer, script) for answer in range(6)} == {
                8 * (heads + channel.steps)
            }
    script = bytes(range(256)) * 8
    assert len({used(Bits(6, 3, 1, 4), answer, script) for answer in range(6)}) == 1


def used(channel: Channel, answer: int, script: bytes) -> int:
    source = ScriptedSource(script)
    channel.draw(answer, source)
    return source.used
