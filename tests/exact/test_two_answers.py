"""Optima for two answers under (ε, δ), against every design of a grid, in rationals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deniable import exact
from deniable.channel import Channel
from deniable.criteria import Relaxed
from deniable.designs import (
    Design,
    binary,
    capped_binary,
    exposing_binary,
    exposure_threshold,
    feasible_binary,
    optimal_binary,
    relaxed_warner,
    warner,
)
from deniable.designs.two_answers_relaxed import Curve

F = Fraction
SETTINGS = [
    ("1/2", "1/10"),
    (1, "2/5"),
    ("1/5", "1/100"),
    (2, "1/20"),
    (1, 0),
    (0, "1/4"),
]
SHARES = ["1/100", "1/10", "1/4", "1/2", "4/5", "99/100"]
STEPS = 40

epsilons = st.fractions(min_value=0, max_value=5, max_denominator=100)
deltas = st.fractions(min_value=0, max_value=1, max_denominator=100)


def variance(p00: Fraction, p11: Fraction, share: Fraction) -> Fraction:
    """λ(1 − λ)/D²: the response 'yes' has probability λ."""
    gap = p00 + p11 - 1
    sent = 1 - p00 + share * gap
    return sent * (1 - sent) / gap**2


def diagonal(channel: Channel) -> tuple[Fraction, Fraction]:
    return channel.probability(0, given=0), channel.probability(1, given=1)


def private(p00: Fraction, p11: Fraction, ratio: Fraction, delta: Fraction) -> bool:
    """The four inequalities of document 002, eq. (12)."""
    return (
        p11 <= ratio * (1 - p00) + delta
        and p00 <= ratio * (1 - p11) + delta
        and 1 - p00 <= ratio * p11 + delta
        and 1 - p11 <= ratio * p00 + delta
    )


@given(deltas, deltas, epsilons, deltas)
def test_feasible_is_the_four_inequalities(
    p00: Fraction, p11: Fraction, epsilon: Fraction, delta: Fraction
) -> None:
    below, above = exact.exp_below(epsilon), exact.exp_above(epsilon)
    assume(private(p00, p11, below, delta) == private(p00, p11, above, delta))
    assert feasible_binary(p00, p11, epsilon, delta) == private(
        p00, p11, below, delta
    )


def grid(ratio: Fraction, delta: Fraction) -> list[tuple[Fraction, Fraction]]:
    ticks = [F(i, STEPS) for i in range(STEPS + 1)]
    return [
        (a, b)
        for a, b in product(ticks, ticks)
        if a + b != 1 and private(a, b, ratio, delta)
    ]


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_no_feasible_design_of_a_grid_has_a_smaller_variance(
    epsilon: exact.Rational, delta: exact.Rational
) -> None:
    feasible = grid(exact.exp_below(epsilon), F(delta))
    assert len(feasible) > 10
    for share in map(F, SHARES):
        choice = optimal_binary(epsilon, delta, share=share, expose=True)
        best = variance(*diagonal(choice.design.channel), share)
        assert float(best) == choice.variance
        assert best <= min(variance(a, b, share) for a, b in feasible) * (
            1 + F(1, 10**12)
        )


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
@pytest.mark.parametrize("ceiling", ["1/2", "3/2", 4])
def test_no_feasible_design_below_the_ceiling_has_a_smaller_variance(
    epsilon: exact.Rational, delta: exact.Rational, ceiling: exact.Rational
) -> None:
    cap = exact.exp_below(ceiling)
    feasible = [
        point
        for point in grid(exact.exp_below(epsilon), F(delta))
        if private(*point, cap, F(0))
    ]
    for share in map(F, SHARES):
        choice = optimal_binary(epsilon, delta, share=share, ceiling=ceiling)
        assert choice.design.parity <= cap
        best = variance(*diagonal(choice.design.channel), share)
        assert best <= min(variance(a, b, share) for a, b in feasible) * (
            1 + F(1, 10**12)
        )


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS)
def test_without_exposing_no_design_of_the_same_parity_is_better(
    epsilon: exact.Rational, delta: exact.Rational
) -> None:
    choice = optimal_binary(epsilon, delta, share="1/100")
    parity = choice.design.parity
    assert choice.design.name == "relaxed_warner"
    for share in map(F, SHARES):
        best = variance(*diagonal(choice.design.channel), share)
        others = [
            (a, b) for a, b in grid(F(10**6), F(0)) if private(a, b, F(parity), F(0))
        ]
        assert best <= min(variance(a, b, share) for a, b in others)


@given(epsilons, deltas)
def test_the_even_design_is_private_exactly_and_tight(
    epsilon: Fraction, delta: Fraction
) -> None:
    assume(delta < 1 and (epsilon or delta))
    design = relaxed_warner(epsilon, delta)
    attained = design.channel.delta(exact.exp_below(epsilon))
    assert delta - F(1, 10**15) <= attained <= delta
    assert Relaxed(epsilon, delta).check(design).holds


@given(epsilons, deltas, epsilons, st.booleans())
def test_a_capped_design_keeps_both_promises_exactly(
    epsilon: Fraction, delta: Fraction, more: Fraction, first: bool
) -> None:
    assume(0 < delta < 1)
    ceiling = (
        F(exact.log_above((exact.exp_above(epsilon) + delta) / (1 - delta)))
        + more
        + F(1, 100)
    )
    design = capped_binary(epsilon, delta, ceiling, telling="no" if first else "yes")
    attained = design.channel.delta(exact.exp_below(epsilon))
    assert delta - F(1, 10**15) <= attained <= delta
    assert (
        exact.exp_below(ceiling) * (1 - F(1, 10**9))
        <= design.parity
        <= exact.exp_below(ceiling)
    )
    rare = (
        design.probability("no", given="yes")
        if first
        else design.probability("yes", given="no")
    )
    assert rare < F(1, 2)


@given(deltas, st.floats(0, 60))
def test_an_exposing_design_has_its_delta_at_every_epsilon(
    delta: Fraction, epsilon: float
) -> None:
    assume(0 < delta < 1)
    design = exposing_binary(delta)
    assert design.channel.delta(exact.exp_below(epsilon)) == delta
    assert design.probability("yes", given="no") == 0
    assert design.probability("yes", given="yes") == delta


def test_without_delta_it_is_warners_design() -> None:
    for epsilon in ("1/10", 1, 5):
        assert relaxed_warner(epsilon).channel == warner(epsilon).channel


@pytest.mark.parametrize(("epsilon", "delta"), SETTINGS[:4])
def test_the_threshold_is_where_the_two_variances_cross(
    epsilon: exact.Rational, delta: exact.Rational
) -> None:
    even, exposing = relaxed_warner(epsilon, delta), exposing_binary(delta)
    g = F(exposure_threshold(epsilon, delta))
    for share, better in ((g * F(999, 1000), exposing), (g * F(1001, 1000), even)):
        one, two = (
            variance(*diagonal(each.channel), share) for each in (even, exposing)
        )
        assert (one < two) == (better is even)


def test_the_example_in_which_both_are_optimal() -> None:
    # Document 002, example 1 (4): x = 2, δ = π = 1/4, and both variances are 15/16.
    assert (
        variance(F(3, 4), F(3, 4), F(1, 4))
        == variance(F(1), F(1, 4), F(1, 4))
        == F(15, 16)
    )


@pytest.mark.parametrize(
    "design",
    [binary("9/10", "7/10"), binary("1/10", "3/10"), exposing_binary("1/3")],
    ids=repr,
)
def test_a_curve_is_the_variance_at_every_share_and_knows_its_worst(
    design: Design,
) -> None:
    curve, point = Curve.from_channel(design.channel), diagonal(design.channel)
    shares = [F(i, 60) for i in range(61)]
    assert all(curve.at(share) == variance(*point, share) for share in shares)
    for low, high in ((F(0), F(1)), (F(1, 10), F(1, 5)), (F(4, 5), F(1))):
        inside = [
            variance(*point, share) for share in shares if low <= share <= high
        ]
        assert max(inside) <= curve.worst(low, high) <= max(inside) * (1 + F(1, 100))


@pytest.mark.parametrize("goal", ["guess", "worst", "regret"])
@pytest.mark.parametrize(
    "ends", [("0", "1"), ("1/10", "2/5"), ("1/100", "1/10"), ("3/10", "9/10")]
)
def test_what_is_said_about_a_range_is_what_a_grid_of_shares_says(
    goal: str, ends: tuple[str, str]
) -> None:
    choice = optimal_binary("1/2", "1/10", share_range=ends, expose=True, goal=goal)  # type: ignore[arg-type]
    low, high = map(F, ends)
    shares = [low + (high - low) * F(i, 40) for i in range(41)]
    every = [choice.chosen, *choice.others]
    points = {each.design: diagonal(each.design.channel) for each in every}
    for each in every:
        curve = [variance(*points[each.design], share) for share in shares]
        best = [
            min(variance(*point, share) for point in points.values())
            for share in shares
        ]
        regrets = [one - two for one, two in zip(curve, best, strict=True)]
        assert each.regret == float(max(regrets))
        assert float(max(curve)) <= each.worst <= float(max(curve)) * 1.01
        assert each.variance == float(
            variance(*points[each.design], (low + high) / 2)
        )
    key = {"guess": "variance", "worst": "worst", "regret": "regret"}[goal]
    assert getattr(choice.chosen, key) <= min(
        getattr(each, key) for each in every
    ) * (1 + 1e-12)
    assert choice.decided == (choice.chosen.regret == 0)
