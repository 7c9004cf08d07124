from __future__ import annotations

import math
from fractions import Fraction

import pytest

from deniable.channel import Dense, Product, Witness
from deniable.errors import InvalidDesign

THIRDS = Dense(((2, 1), (1, 2)), 3)


def test_probabilities_are_weights_over_the_total() -> None:
    assert THIRDS.probability(0, given=0) == Fraction(2, 3)
    assert (THIRDS.answers, THIRDS.responses) == (2, 2)
    assert THIRDS.sums == ((2, 3), (1, 3))


def test_a_table_of_fractions_becomes_weights_in_lowest_terms() -> None:
    channel = Dense.from_rows(
        [[Fraction(1, 2), Fraction(1, 3)], [Fraction(1, 2), Fraction(2, 3)]]
    )
    assert channel == Dense(((3, 2), (3, 4)), 6)
    assert Dense(((30, 20), (30, 40)), 60) == channel


@pytest.mark.parametrize(
    ("weights", "total", "problem"),
    [
        ((), 1, "0 rows"),
        (((1, 1),), 1, "1 rows"),
        (((1,), (0,)), 1, "expected at least 2 responses"),
        (((), ()), 1, "expected at least 2 responses"),
        (((1, 1), (0,)), 1, "each row of equal length"),
        (((2, -1), (-1, 2)), 1, "column 0 holds a negative probability"),
        (((1, 1), (1, 2)), 2, "column 1 sum to 3/2; expected exactly 1"),
        (((0, 0), (0, 0)), 0, "expected a positive total"),
        (((1, 1), (1, 1)), 0, "expected a positive total"),
        (((-1, -1), (0, 0)), -1, "expected a positive total"),
    ],
)
def test_what_is_no_channel_is_refused(
    weights: tuple[tuple[int, ...], ...], total: int, problem: str
) -> None:
    with pytest.raises(InvalidDesign, match=problem):
        Dense(weights, total)


def test_the_missing_share_is_named() -> None:
    with pytest.raises(InvalidDesign) as caught:
        Dense.from_rows(
            [[Fraction(19, 40), Fraction(1, 2)], [Fraction(19, 40), Fraction(1, 2)]]
        )
    assert "sum to 19/20; expected exactly 1" in caught.value.problem
    assert "Add 1/20" in caught.value.hint


def test_a_denominator_that_no_file_could_hold_is_refused() -> None:
    tiny = Fraction(1, 3**9000)
    with pytest.raises(
        InvalidDesign,
        match="common denominator of 14,265 bits; expected at most 13,000",
    ) as caught:
        Dense.from_rows([[tiny, 1 - tiny], [1 - tiny, tiny]])
    assert "fewer digits" in caught.value.hint


def test_the_longest_denominator_goes_into_a_file_and_back() -> None:
    total = (1 << 13_000) - 1
    channel = Dense(((1, total - 1), (total - 1, 1)), total)
    assert Dense.from_body(channel.to_body()) == channel


def test_a_row_with_a_zero_has_infinite_parity() -> None:
    channel = Dense(((1, 0), (1, 2)), 2)
    assert channel.parity == math.inf
    assert channel.witness == Witness(0, 0, 1)
    assert channel.bayes_factors(0, 0) == (math.inf, math.inf)
    assert channel.bayes_factors(0, 1) == (0, 0)
    assert channel.delta(Fraction(1000)) == Fraction(1, 2)


def test_a_response_that_never_occurs_says_nothing() -> None:
    channel = Dense(((2, 1), (0, 0), (1, 2)), 3)
    assert channel.parity == 2
    assert channel.bayes_factors(1, 0) == (1, 1)
    assert channel.extremes(1) == (0, 0)


def test_the_witness_is_a_response_that_occurs() -> None:
    """A row of zeros would be 0/0 in a product, and hide the parity of the other factor."""
    useless = Dense(((0, 0), (1, 1)), 1)
    assert useless.parity == 1
    assert useless.witness.response == 1
    assert (
        Product((useless, THIRDS)).parity == Product((THIRDS, useless)).parity == 2
    )


def test_equal_columns_give_parity_one() -> None:
    channel = Dense(((1, 1), (2, 2)), 3)
    assert channel.parity == 1
    assert channel.delta(Fraction(1)) == 0


@pytest.mark.parametrize("gamma", [Fraction(99, 100), Fraction(0), Fraction(-1)])
def test_delta_is_asked_from_one_on(gamma: Fraction) -> None:
    with pytest.raises(InvalidDesign, match="expected at least 1"):
        THIRDS.delta(gamma)


def test_after_multiplies_matrices() -> None:
    assert Dense(((5, 4), (4, 5)), 9) == THIRDS @ THIRDS
    assert THIRDS.after(THIRDS) == THIRDS @ THIRDS


def test_merging_adds_proportional_rows_and_drops_empty_ones() -> None:
    channel = Dense(((2, 1), (0, 0), (4, 2), (1, 4)), 7)
    merged, groups = channel.merged()
    assert merged == Dense(((6, 3), (1, 4)), 7)
    assert groups == ((0, 2), (3,))


def test_a_channel_that_says_nothing_merges_into_no_channel() -> None:
    with pytest.raises(InvalidDesign, match="1 rows"):
        Dense(((1, 1), (2, 2)), 3).merged()


def test_writing_it_out_is_itself() -> None:
    assert THIRDS.dense() is THIRDS
