from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deniable.chance import ScriptedSource
from deniable.channel import Channel, Dense, Diagonal, Product, from_body
from deniable.channel.product import join, mixed_radix_digits
from deniable.errors import InvalidDesign
from tests.support import brute
from tests.support.positions import SMALL, drawn, positions, scripts_of_all_positions
from tests.support.rational import kronecker, table, times, transposed
from tests.support.strategies import channels, dense, diagonal, gammas, priors


@given(channels())
def test_columns_sum_to_one(channel: Channel) -> None:
    assert all(sum(column) == 1 for column in transposed(table(channel)))


@given(channels())
def test_parity_is_the_brute_force_one_and_its_witness_attains_it(
    channel: Channel,
) -> None:
    rows = table(channel)
    response, likely, unlikely = channel.witness
    assert channel.parity == brute.parity(rows)
    assert (
        brute.quotient(rows[response][likely], rows[response][unlikely])
        == channel.parity
    )
    assert rows[response][likely] > 0


@given(channels(), gammas)
def test_delta_is_the_largest_excess(channel: Channel, gamma: Fraction) -> None:
    columns = transposed(table(channel))
    assert channel.delta(gamma) == max(
        sum(max(Fraction(0), a - gamma * b) for a, b in zip(one, two, strict=True))
        for one in columns
        for two in columns
    )


@given(dense(), gammas)
def test_delta_is_the_supremum_over_all_sets(
    channel: Dense, gamma: Fraction
) -> None:
    assert channel.delta(gamma) == brute.delta(table(channel), gamma)


@given(channels().filter(lambda channel: channel.parity == math.inf))
def test_delta_never_falls_to_zero_where_a_response_excludes_an_answer(
    channel: Channel,
) -> None:
    assert channel.delta(Fraction(10**9)) > 0


@given(channels().filter(lambda channel: channel.parity < math.inf))
def test_delta_is_zero_from_the_parity_on_and_not_before(channel: Channel) -> None:
    parity = channel.parity
    assert isinstance(parity, Fraction)
    assert channel.delta(parity) == 0
    if parity > 1:
        assert channel.delta((1 + parity) / 2) > 0


@given(channels())
def test_extremes_and_bayes_factors_are_the_brute_force_ones(
    channel: Channel,
) -> None:
    rows = table(channel)
    for i, row in enumerate(rows):
        assert channel.extremes(i) == (max(row), min(row))
        for j in range(channel.answers):
            rest = [cell for other, cell in enumerate(row) if other != j]
            assert channel.extremes(i, besides=j) == (max(rest), min(rest))
            assert channel.bayes_factors(i, j) == brute.bayes_factors(rows, i, j)


@given(st.data(), channels(), gammas)
def test_post_processing_never_raises_parity_or_delta(
    data: st.DataObject, first: Channel, gamma: Fraction
) -> None:
    then = data.draw(dense(answers=first.responses) | diagonal(size=first.responses))
    composed = then @ first
    assert table(composed) == times(table(then), table(first))
    assert composed.parity <= first.parity
    assert composed.delta(gamma) <= first.delta(gamma)


@given(st.data(), st.integers(2, 5))
def test_diagonal_composition_is_dense_composition(
    data: st.DataObject, size: int
) -> None:
    one, two = data.draw(diagonal(size=size)), data.draw(diagonal(size=size))
    composed = one @ two
    assert table(composed) == table(one.dense() @ two.dense())
    assert composed.dense() == one.dense() @ two.dense()
    if size > 2 or one.same or two.same:
        assert isinstance(composed, Diagonal)


@given(st.data(), st.integers(2, 4), st.integers(2, 4), st.integers(2, 4))
def test_composition_is_associative(
    data: st.DataObject, one: int, two: int, three: int
) -> None:
    first = data.draw(dense(answers=2, responses=one))
    second = data.draw(dense(answers=one, responses=two))
    third = data.draw(dense(answers=two, responses=three))
    assert (third @ second) @ first == third @ (second @ first)


@given(dense(), dense())
def test_channels_that_do_not_fit_are_not_composed(
    then: Dense, first: Dense
) -> None:
    assume(then.answers != first.responses)
    with pytest.raises(InvalidDesign, match="expected equal numbers"):
        then @ first


small_factor = dense(answers=2, responses=3) | diagonal(size=2) | diagonal(size=3)


@given(small_factor, small_factor)
def test_a_product_is_the_kronecker_product(one: Channel, two: Channel) -> None:
    both = Product((one, two))
    assert table(both) == kronecker(table(one), table(two)) == table(both.dense())
    assert both.answers == one.answers * two.answers
    assert both.responses == one.responses * two.responses


@given(small_factor, small_factor, small_factor)
def test_products_are_associative(
    one: Channel, two: Channel, three: Channel
) -> None:
    flat, nested = Product((one, two, three)), Product((one, Product((two, three))))
    assert table(flat) == table(nested)
    assert flat.witness == nested.witness


@given(small_factor, small_factor)
def test_parities_multiply(one: Channel, two: Channel) -> None:
    assert Product((one, two)).parity == one.parity * two.parity


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.data())
def test_mixed_radix_splits_and_joins(sizes: list[int], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, math.prod(sizes) - 1))
    digits = mixed_radix_digits(number, sizes)
    assert all(0 <= digit < size for digit, size in zip(digits, sizes, strict=True))
    assert join(digits, sizes) == number
    assert sorted([digits, mixed_radix_digits(0, sizes)]) == [
        mixed_radix_digits(0, sizes),
        digits,
    ]


@st.composite
def with_proportional_rows(draw: st.DrawFn) -> Dense:
    """A channel whose rows are split at random, so that some are proportional and some never occur."""
    base = draw(dense())
    share = draw(dense(answers=base.responses, responses=base.responses + 2))
    parts = [
        [weight * cell for cell in base.weights[i]]
        for row in share.weights
        for i, weight in enumerate(row)
    ]
    return Dense(tuple(map(tuple, parts)), base.total * share.total)


@given(st.data(), with_proportional_rows())
def test_merging_proportional_rows_loses_nothing(
    data: st.DataObject, channel: Dense
) -> None:
    assume(channel.parity != 1)  # then one response is left, which is no channel
    merged, groups = channel.merged()
    rows, few = table(channel), table(merged)
    assert merged.parity == channel.parity
    assert sorted(i for group in groups for i in group) == [
        i for i, row in enumerate(rows) if any(row)
    ]

    forth = tuple(
        tuple(Fraction(i in group) for i in range(len(rows))) for group in groups
    )
    assert times(forth, rows) == few
    back = tuple(
        tuple(
            max(rows[i]) / max(few[g]) if i in group else Fraction(0)
            for g, group in enumerate(groups)
        )
        for i in range(len(rows))
    )
    assert all(sum(column) == 1 for column in transposed(back))
    assert times(back, few) == rows

    prior = data.draw(priors(channel.answers))
    for g, group in enumerate(groups):
        for i in group:
            assert brute.posterior(rows, prior, i) == brute.posterior(few, prior, g)


@given(with_proportional_rows())
def test_merging_twice_is_merging_once(channel: Dense) -> None:
    assume(channel.parity != 1)
    merged, _ = channel.merged()
    assert merged.merged() == (merged, tuple((i,) for i in range(merged.responses)))


@given(channels())
def test_channels_come_back_from_json(channel: Channel) -> None:
    again = from_body(channel.to_body())
    assert again == channel
    assert hash(again) == hash(channel)


@given(dense(), st.integers(1, 10**20))
def test_weights_are_kept_in_lowest_terms(channel: Dense, factor: int) -> None:
    scaled = Dense(
        tuple(tuple(factor * w for w in row) for row in channel.weights),
        factor * channel.total,
    )
    assert scaled == channel
    assert math.gcd(scaled.total, *(w for row in scaled.weights for w in row)) == 1


@given(channels())
def test_all_positions_together_draw_exactly_the_channel(channel: Channel) -> None:
    number = positions(channel)
    assume(number <= SMALL)
    for answer in range(channel.answers):
        counts = [0] * channel.responses
        for script in scripts_of_all_positions(channel):
            counts[drawn(channel, answer, script)] += 1
        expected = [
            channel.probability(i, given=answer) * number
            for i in range(channel.responses)
        ]
        assert counts == expected


@given(channels(), st.binary(min_size=400, max_size=400))
def test_a_draw_is_a_response_of_positive_probability(
    channel: Channel, script: bytes
) -> None:
    for answer in range(channel.answers):
        response = channel.draw(answer, ScriptedSource(script))
        assert channel.probability(response, given=answer) > 0
