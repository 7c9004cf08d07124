from __future__ import annotations

import math
from fractions import Fraction

import pytest

from deniable.chance import ScriptedSource
from deniable.channel import Dense, Diagonal, Witness
from deniable.errors import InvalidDesign
from tests.support.positions import script


def test_one_weight_on_the_diagonal_another_elsewhere() -> None:
    channel = Diagonal(3, 4, 1)
    assert channel.total == 6
    assert channel.probability(1, given=1) == Fraction(2, 3)
    assert channel.probability(0, given=1) == Fraction(1, 6)
    assert channel.dense() == Dense(((4, 1, 1), (1, 4, 1), (1, 1, 4)), 6)
    assert channel.parity == 4


def test_weights_are_kept_in_lowest_terms() -> None:
    assert Diagonal(3, 40, 10) == Diagonal(3, 4, 1)
    assert Diagonal(3, 0, 10) == Diagonal(3, 0, 1)


@pytest.mark.parametrize(
    ("size", "same", "other", "problem"),
    [
        (1, 1, 1, "expected at least 2"),
        (0, 1, 1, "expected at least 2"),
        (3, 1, 0, "expected same ≥ 0 and other ≥ 1"),
        (3, -1, 1, "expected same ≥ 0 and other ≥ 1"),
        (3, 2 << 13_000, 1, "common denominator"),
        (10**4000, 2, 1, "common denominator"),
    ],
    ids=["one", "none", "no other", "negative", "long weight", "long size"],
)
def test_what_is_no_channel_is_refused(
    size: int, same: int, other: int, problem: str
) -> None:
    with pytest.raises(InvalidDesign, match=problem):
        Diagonal(size, same, other)


def test_the_draw_goes_through_the_others_first() -> None:
    channel = Diagonal(4, 5, 2)
    drawn = [
        [
            channel.draw(j, ScriptedSource(script(position, 11)))
            for position in range(11)
        ]
        for j in range(4)
    ]
    assert drawn == [
        [1, 1, 2, 2, 3, 3, 0, 0, 0, 0, 0],
        [0, 0, 2, 2, 3, 3, 1, 1, 1, 1, 1],
        [0, 0, 1, 1, 3, 3, 2, 2, 2, 2, 2],
        [0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 3],
    ]


def test_the_low_side_may_never_send_the_answer() -> None:
    channel = Diagonal(3, 0, 1)
    assert channel.parity == math.inf
    assert channel.witness == Witness(0, 1, 0)
    assert channel.delta(Fraction(7)) == Fraction(1, 2)
    for given in range(3):
        assert {
            channel.draw(given, ScriptedSource(script(p, 2))) for p in range(2)
        } == {0, 1, 2} - {given}


def test_the_witness_is_on_the_side_of_the_larger_weight() -> None:
    assert Diagonal(3, 4, 1).witness == Witness(0, 0, 1)
    assert Diagonal(3, 1, 4).witness == Witness(0, 1, 0)
    assert Diagonal(3, 1, 4).parity == 4


def test_two_answers_have_no_third_to_compare_with() -> None:
    channel = Diagonal(2, 3, 1)
    assert channel.extremes(0, besides=0) == (Fraction(1, 4), Fraction(1, 4))
    assert channel.extremes(0, besides=1) == (Fraction(3, 4), Fraction(3, 4))
    assert channel.bayes_factors(0, 0) == (3, 3)
    assert channel.bayes_factors(0, 1) == (Fraction(1, 3), Fraction(1, 3))


def test_swapping_two_answers_twice_is_the_identity() -> None:
    swap = Diagonal(2, 0, 1)
    assert swap @ swap == Dense(((1, 0), (0, 1)), 1)
    assert swap @ Diagonal(2, 3, 1) == Diagonal(2, 1, 3)


def test_a_million_answers_take_no_memory() -> None:
    channel = Diagonal(10**6, 10**6, 1)
    assert (channel @ channel).parity < channel.parity
    assert channel.delta(Fraction(2)) == Fraction(10**6 - 2, 2 * 10**6 - 1)
    assert (
        channel.draw(77, ScriptedSource(script(channel.total - 1, channel.total)))
        == 77
    )
    with pytest.raises(InvalidDesign, match="expected at most 10 million"):
        channel.dense()


@pytest.mark.parametrize(
    "other", [Diagonal(3, 2, 1), Dense(((1, 0), (0, 1), (0, 0)), 1)]
)
def test_sizes_must_fit(other: Diagonal | Dense) -> None:
    with pytest.raises(InvalidDesign, match="expected equal numbers"):
        Diagonal(2, 2, 1) @ other
