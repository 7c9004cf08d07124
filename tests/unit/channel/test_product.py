from __future__ import annotations

import math
from fractions import Fraction

import pytest

from deniable.chance import ScriptedSource
from deniable.channel import Channel, Dense, Diagonal, Product, from_body
from deniable.channel.product import combinations, join, mixed_radix_digits
from deniable.errors import InvalidDesign, UnreadableFile
from tests.support.positions import script

COIN = Diagonal(2, 3, 1)
DIE = Dense(((2, 1), (1, 1), (1, 2)), 4)


def test_the_last_factor_counts_fastest() -> None:
    both = Product((COIN, DIE))
    assert (both.answers, both.responses) == (4, 6)
    assert both.split_answer(3) == (1, 1)
    assert both.split_response(5) == (1, 2)
    assert both.probability(5, given=3) == COIN.probability(
        1, given=1
    ) * DIE.probability(2, given=1)


def test_parities_multiply_and_the_witness_attains_it() -> None:
    both = Product((COIN, DIE))
    assert both.parity == 6
    response, likely, unlikely = both.witness
    assert both.probability(response, given=likely) == 6 * both.probability(
        response, given=unlikely
    )


def test_an_infinite_factor_makes_the_whole_infinite() -> None:
    sure = Dense(((1, 0), (0, 1)), 1)
    assert Product((COIN, sure)).parity == Product((sure, COIN)).parity == math.inf


def test_each_factor_draws_in_turn() -> None:
    both = Product((COIN, DIE))
    source = ScriptedSource(script(0, 4) + script(3, 4))
    assert both.split_response(both.draw(0, source)) == (1, 2)
    assert source.used == 16


def test_bayes_factors_look_past_the_excluded_combination() -> None:
    both = Product((COIN, COIN))
    assert both.bayes_factors(0, 0) == (3, 9)
    assert both.bayes_factors(0, 3) == (Fraction(1, 9), Fraction(1, 3))
    assert both.bayes_factors(0, 1) == (Fraction(1, 3), 3)


@pytest.mark.parametrize("factors", [(), (COIN,)])
def test_a_product_has_at_least_two_factors(factors: tuple[Channel, ...]) -> None:
    with pytest.raises(InvalidDesign, match="expected at least 2"):
        Product(factors)


def test_a_product_too_large_to_write_out_still_tells_its_parity() -> None:
    large = Product((Diagonal(10_000, 5, 1), Diagonal(10_000, 3, 1), COIN))
    assert large.parity == 45
    assert large.probability(0, given=0) == Fraction(15, 10_004 * 10_002) * Fraction(
        3, 4
    )
    with pytest.raises(InvalidDesign, match="expected at most 10 million"):
        large.delta(Fraction(2))


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "product", "factors": [1]},
        {"kind": "product"},
        {"kind": "spiral"},
        {},
    ],
)
def test_what_is_no_channel_is_unreadable(body: dict[str, object]) -> None:
    with pytest.raises(UnreadableFile):
        from_body(body)


def test_labels_of_combinations_follow_the_numbers() -> None:
    labels = combinations([["a", "b"], ["x", "y", "z"]])
    sizes = [2, 3]
    assert labels[join([1, 2], sizes)] == "b · z"
    assert [mixed_radix_digits(number, sizes) for number in range(6)] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
        (1, 2),
    ]
