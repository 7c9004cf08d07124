"""Designs under (ε, δ): exact promises, and an error that no pattern of likelihoods improves on."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import deniable as dn
from deniable import exact
from deniable.channel import Dense, Mixture, Patterns, Subset
from deniable.channel.patterns import LikelihoodLevel, LikelihoodPattern
from deniable.criteria import Relaxed
from deniable.designs.sets_of_answers_relaxed import (
    _deals,
    best_patterns,
    default_ceiling,
    level_weights,
)
from deniable.display.privacy_texts import promise
from deniable.errors import InvalidDesign, InvalidNumber
from deniable.plan import variance
from deniable.plan.relaxed import least_risk

F = Fraction

CASES = [
    (size, epsilon, delta, ceiling)
    for size in (2, 3, 4, 5, 6)
    for epsilon, delta in [
        ("0.1", "0.01"),
        ("0.1", "0.2"),  # where ε of the ceiling is more than twice ε
        ("0.5", "0.05"),
        (1, "0.1"),
        (2, "0.01"),
    ]
    for ceiling in (None, exact.rational(epsilon) * F(5, 2))
]


def total_variance(design: dn.Design) -> float:
    return variance(design, 1) * (2 if len(design.categories) == 2 else 1)


@pytest.mark.parametrize(("size", "epsilon", "delta", "ceiling"), CASES)
def test_no_pattern_improves_on_it_and_its_promises_are_exact(
    size: int, epsilon: str, delta: str, ceiling: Fraction | None
) -> None:
    design = dn.relaxed_subset(size, epsilon, delta, ceiling=ceiling)
    ratio, cap = (
        exact.exp_below(exact.rational(number))
        for number in (epsilon, ceiling or 2 * exact.rational(epsilon))
    )
    cap = cap if ceiling else max(ratio**2, (ratio + F(delta)) / (1 - F(delta)))
    table = design.channel.dense()
    assert table.parity <= cap
    assert table.delta(ratio) == design.channel.delta(ratio) <= F(delta)
    bound = least_risk(size, float(ratio), float(delta), float(cap))
    assert bound is not None
    assert bound * (1 - 1e-9) <= total_variance(design) <= bound * (1 + 1e-6)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_to_expose_a_share_is_the_best_under_epsilon_and_delta_alone(
    size: int,
) -> None:
    for epsilon, delta in [("0.1", "0.01"), ("0.5", "0.05"), (1, "0.1"), (3, "0.2")]:
        design = dn.exposing_subset(size, epsilon, delta)
        ratio = exact.exp_below(exact.rational(epsilon))
        assert design.channel.dense().delta(ratio) <= F(delta)
        assert design.parity == math.inf
        assert F(delta) - F(1, 2**63) < design.channel.delta(F(10**9)) <= F(delta)
        bound = least_risk(size, float(ratio), float(delta))
        assert bound is not None
        assert bound * (1 - 1e-9) <= total_variance(design) <= bound * (1 + 1e-6)


@pytest.mark.parametrize("cap", [1.7, math.e, 6.0, math.inf])
def test_the_bound_is_that_of_a_program_over_patterns_that_are_no_corners(
    cap: float,
) -> None:
    """Ten thousand random patterns beside the corners do not raise the largest spread of a linear program."""
    rng = np.random.default_rng(7)
    size, ratio, delta = 4, 1.5, 0.03
    highest = 50.0 if cap == math.inf else cap
    free = np.exp(rng.uniform(0, math.log(highest), (10_000, size)))
    if cap == math.inf:
        free[rng.random(free.shape) < 0.2] = 0
        free = np.vstack([free[free.sum(axis=1) > 0], np.eye(size)[:1]])
    levels = np.unique(
        [1, ratio, ratio**2, ratio**3, cap, cap / ratio, cap / ratio**2]
    )
    levels = levels[(levels >= 1) & (levels <= highest)]
    corners = np.array(list(product(levels, repeat=size)))
    rows = np.vstack([free, corners])
    rows /= rows.sum(axis=1, keepdims=True)
    spread = (rows**2).sum(axis=1)
    gaps = np.maximum(rows[:, :, None] - ratio * rows[:, None, :], 0).sum(
        axis=(1, 2)
    )
    program = linprog(
        -spread,
        A_ub=[gaps / (size - 1)],
        b_ub=[delta],
        A_eq=[np.ones(len(rows))],
        b_eq=[1],
    )
    bound = least_risk(size, ratio, delta, cap)
    assert bound is not None
    found = (size - 1) ** 2 / (-program.fun * size**2 - size)
    assert found >= bound * (1 - 1e-9)
    if cap < math.inf:
        assert found == pytest.approx(bound, rel=1e-9)


def test_the_excess_of_a_pattern_is_the_delta_of_all_its_orders() -> None:
    pattern = LikelihoodPattern(
        (LikelihoodLevel(1, 2), LikelihoodLevel(1, 3), LikelihoodLevel(1, 9))
    )
    orders = [
        (a, b, c)
        for a, b, c in product((2, 3, 9), repeat=3)
        if {a, b, c} == {2, 3, 9}
    ]
    table = Dense(tuple(orders), 28)
    for ratio in (F(1), F(3, 2), F(2), F(4), F(5)):
        assert pattern.excess(ratio) == table.delta(ratio)
    assert pattern.orders == 6
    assert pattern.odds == F(9, 2)


def test_levels_are_within_one_step_and_within_the_cap() -> None:
    ratio, cap = exact.exp_below(F(1, 2)), exact.exp_below(F(6, 5))
    weights = level_weights(ratio, cap)
    assert [round(math.log(w / weights[0]), 6) for w in weights] == [
        0.0,
        0.2,
        0.5,
        0.7,
        1.0,
        1.2,
    ]
    assert weights[2] <= ratio * weights[0]
    assert weights[5] <= ratio * weights[3]
    assert weights[-1] <= cap * weights[0]
    assert len(set(_deals(3, 3))) == 1 + 7


def test_kinds_of_channels() -> None:
    """Sizes of sets tell two patterns apart; where they do not, sets are turned over, or orders written out."""
    assert dn.relaxed_subset(10, 1, "1/10").channel.sizes == (1, 3)
    turned = dn.relaxed_subset(5, 1, "1/10").channel
    assert isinstance(turned, Mixture)
    assert turned.sizes == (1, 4)
    assert turned.inclusion(1) > F(1, 5)
    assert turned.inclusion(4) < F(4, 5)
    assert isinstance(dn.relaxed_subset(5, 1, 0).channel, Subset)
    two = dn.relaxed_subset(["no", "yes"], 1, "1/10")
    assert tuple(two.symbols) == ("no ×2.72", "yes ×2.72", "no ×7.39", "yes ×7.39")
    three = dn.relaxed_subset(["a", "b", "c"], "1/2", "1/20")
    assert "a ×2.72, b ×1.65" in three.symbols
    same = dn.relaxed_subset(["a", "a ×1.65", "b"], "1/2", "1/20")
    assert len(set(same.symbols)) == len(same.symbols)


def test_where_epsilon_is_zero_the_rest_tells_nothing() -> None:
    design = dn.relaxed_subset(5, 0, "1/10", ceiling=1)
    assert design.channel.sizes == (1, 5)
    assert design.delta(0) <= 0.1
    assert total_variance(design) == pytest.approx(least_risk(5, 1.0, 0.1, math.e))
    assert "any of them" in dn.relaxed_subset(2, 0, "1/10", ceiling=1).symbols


def test_what_cannot_be_kept_is_refused() -> None:
    for build in (dn.relaxed_subset, dn.exposing_subset):
        with pytest.raises(InvalidDesign, match="expected less"):
            build(3, 1, 1)
        with pytest.raises(InvalidNumber):
            build(3, -1, "1/10")
    with pytest.raises(InvalidDesign, match="nothing to tell"):
        dn.relaxed_subset(3, 0, 0)
    with pytest.raises(InvalidDesign, match="can tell from 0"):
        dn.exposing_subset(3, 1, 0)


def test_the_exposed_are_told_of() -> None:
    design = dn.exposing_subset(["a", "b", "c", "d"], 1, "1/10")
    assert "send their answer as it is" in design.caveat
    assert "send their answer as it is" in str(dn.certify(design))
    assert "gives away the answer: it is 'a'" in " ".join(promise(design))
    choice = dn.optimal(4, Relaxed(1, 0.1), expose=True)
    assert choice.design.name == "exposing_subset"
    assert "10% of the respondents" in str(choice)
    assert "exposing" not in str(dn.optimal(4, Relaxed(1, 0.1)))


MANY = [
    (size, epsilon, delta, steps)
    for size in (13, 20, 50, 100, 1_000)
    for epsilon, delta in [("0.5", "0.01"), ("0.5", "0.05"), (1, "0.1"), (2, "0.05")]
    for steps in (None, F(3, 2), 3)
    if size < 1_000 or (steps is None and epsilon != 2)
]


@pytest.mark.parametrize(("size", "epsilon", "delta", "steps"), MANY)
def test_the_search_among_many_categories_ends_at_the_bound(
    size: int, epsilon: str, delta: str, steps: Fraction | None
) -> None:
    """The bound goes through all patterns on the levels; the search climbs."""
    ratio, slack = exact.exp_below(exact.rational(epsilon)), F(delta)
    cap = (
        default_ceiling(ratio, slack)
        if steps is None
        else exact.exp_below(steps * exact.rational(epsilon))
    )
    mix = best_patterns(size, ratio, slack, cap)
    spread = sum(part.weight * part.pattern.spread for part in mix) / 2**64
    total = (size - 1) ** 2 / (size**2 * spread - size)
    bounds = (size, float(ratio), float(slack), float(cap))
    bound = least_risk(*bounds) or least_risk(*bounds, most_levels=3)
    assert bound is not None
    assert bound * (1 - 1e-9) <= total <= bound * (1 + 1e-6)
    excess = sum(part.weight * part.pattern.excess(ratio) for part in mix) / 2**64
    assert excess <= slack
    assert all(part.pattern.odds <= cap for part in mix)


def test_three_levels_are_a_channel_that_is_never_written_out() -> None:
    demand = Relaxed(0.5, 0.05)
    choice = dn.optimal(20, demand)
    channel = choice.design.channel
    assert isinstance(channel, Patterns)
    assert demand.check(choice.design)
    assert choice.design.epsilon <= 1
    best, *others = choice.candidates
    assert best.risk == pytest.approx(116.67, abs=0.005)  # frontier C2: 116.7
    assert all(best.risk <= other.risk for other in others)
    assert "smaller by more than 0.0001%" in str(choice)
    assert total_variance(choice.design) == pytest.approx(best.risk)


def test_the_reason_names_the_class_that_was_searched() -> None:
    """The levels of 2.5 ε are six, and 50 categories have too many patterns on them."""
    reasons = " ".join(dn.optimal(50, Relaxed(1, 0.1), ceiling=2.5).reasons)
    assert "patterns of at most 3 different likelihoods" in reasons
    assert least_risk(50, math.e, 0.1, math.exp(2.5)) is None
    exposing = dn.optimal(20, Relaxed(1, 0.1), expose=True)
    assert "smaller by more than 0.0001%" in str(exposing)


def test_mixtures_are_those_of_the_linear_program() -> None:
    ratio, cap = exact.exp_below(1), exact.exp_below(2)
    mix = best_patterns(10, ratio, F(1, 10), cap)
    assert [part.pattern.levels[1].categories for part in mix] == [3, 1]
    assert sum(part.weight for part in mix) == 2**64
    delta = sum(F(part.weight, 2**64) * part.pattern.excess(ratio) for part in mix)
    assert F(1, 10) - F(1, 2**60) < delta <= F(1, 10)
