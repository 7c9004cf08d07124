"""The walk over all paths of a sampler is itself checked: on samplers whose law is known, and on wrong ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction

import pytest

from deniable import chance
from deniable.channel import Dense, Diagonal
from deniable.channel.sets import Bits
from tests.support.paths import TooManyPaths, distribution


class Sampler(Diagonal):
    """A channel that draws as it is told."""

    def __init__(self, draw: Callable[[int], int]) -> None:
        super().__init__(2, 1, 1)
        object.__setattr__(self, "_draw", draw)

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:  # noqa: ARG002 - nothing is read
        return self._draw(given)  # type: ignore[attr-defined, no-any-return]


def law(draw: Callable[[int], int]) -> dict[int, Fraction]:
    return distribution(Sampler(draw), 0)


F = Fraction
THIRDS = [2, 5, 6]


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda _: 7, {7: F(1)}),
        (lambda _: chance.below(2**64) < 2**62, {True: F(1, 4), False: F(3, 4)}),
        (lambda _: chance.below(10) <= 2, {True: F(3, 10), False: F(7, 10)}),
        (lambda _: chance.below(10) > 2, {True: F(7, 10), False: F(3, 10)}),
        (lambda _: chance.below(10) >= 2, {True: F(4, 5), False: F(1, 5)}),
        (lambda _: chance.below(10) // 4, {0: F(2, 5), 1: F(2, 5), 2: F(1, 5)}),
        (
            lambda _: (chance.below(10) - 3) // 4,
            {-1: F(3, 10), 0: F(2, 5), 1: F(3, 10)},
        ),
        (
            lambda _: (chance.below(10) + 2) // 4,
            {0: F(1, 5), 1: F(2, 5), 2: F(2, 5)},
        ),
        (
            lambda _: int(chance.below(10) % 4),
            {0: F(3, 10), 1: F(3, 10), 2: F(1, 5), 3: F(1, 5)},
        ),
        (
            lambda _: bisect_right(THIRDS, chance.below(6)),
            {0: F(1, 3), 1: F(1, 2), 2: F(1, 6)},
        ),
        (lambda _: chance.below(4) >> 1, {0: F(1, 2), 1: F(1, 2)}),
        (lambda _: chance.below(4) & 1, {0: F(1, 2), 1: F(1, 2)}),
        (lambda _: 2 * chance.below(2) + 1, {1: F(1, 2), 3: F(1, 2)}),
        (lambda _: 1 + chance.below(8) // 2 // 2, {1: F(1, 2), 2: F(1, 2)}),
        (
            lambda _: chance.below(2**64) // 3 < 2**62,
            {True: F(3, 4), False: F(1, 4)},
        ),
        (
            lambda _: chance.below(100) // 10 - 2 >= 5,
            {True: F(3, 10), False: F(7, 10)},
        ),
        (
            lambda _: int(chance.below(2)) + int(chance.below(2)),
            {0: F(1, 4), 1: F(1, 2), 2: F(1, 4)},
        ),
        (
            lambda _: chance.bits(1) & 5,
            {0: F(1, 4), 1: F(1, 4), 4: F(1, 4), 5: F(1, 4)},
        ),
    ],
    ids=range(18),
)
def test_known_laws(
    draw: Callable[[int], int], expected: dict[int, Fraction]
) -> None:
    assert law(draw) == expected


def test_a_comparison_that_is_already_decided_does_not_fork() -> None:
    def draw(_: int) -> int:
        position = chance.below(10)
        return (position < 5) + (position < 7) + (position < 5)

    assert law(draw) == {3: F(1, 2), 1: F(1, 5), 0: F(3, 10)}


def test_a_remainder_is_known_within_its_stretch() -> None:
    def draw(_: int) -> int:
        stretch, rest = divmod(chance.below(2**64), 2**62)
        return 10 * stretch + (rest < 2**61)

    assert law(draw) == {
        10 * stretch + side: F(1, 8) for stretch in range(4) for side in (0, 1)
    }


def test_what_cannot_be_walked_is_said_to_be_so() -> None:
    with pytest.raises(TooManyPaths, match="a division"):
        law(lambda _: int(chance.below(2**64)))
    with pytest.raises(TooManyPaths, match="coins"):
        law(lambda _: chance.bits(1) & (2**64 - 1))
    with pytest.raises(TooManyPaths, match="more than"):
        law(lambda _: sum(int(chance.below(10)) for _ in range(6)))


def test_the_source_works_again_afterwards() -> None:
    law(lambda _: chance.below(2**64) < 5)
    assert isinstance(chance.below(10), int)
    assert isinstance(chance.bits(1), int)


@pytest.mark.parametrize(
    "channel", [Dense(((2, 1), (1, 2)), 3), Diagonal(3, 2**63, 5), Bits(2, 3, 1, 4)]
)
def test_a_sampler_that_is_off_by_one_position_is_found(
    channel: Dense | Diagonal | Bits, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed = {
        i: p
        for i in range(channel.responses)
        if (p := channel.probability(i, given=0))
    }
    assert distribution(channel, 0) == claimed
    if isinstance(channel, Dense):
        monkeypatch.setitem(channel.__dict__, "sums", ((1, 3), (1, 3)))
    elif isinstance(channel, Diagonal):
        monkeypatch.setitem(
            channel.__dict__, "total", Diagonal(3, 2**63 + 1, 5).total
        )
    else:
        monkeypatch.setattr(Bits, "digits", lambda _, weight: (255, weight))
    assert distribution(channel, 0) != claimed
