"""The division of ε between key and value: no other member of the family is better, and none is worse than LPP."""

from __future__ import annotations

import math
from itertools import product

import pytest
from scipy.optimize import brentq

from deniable.exact import exp_below
from deniable.types.key_value.design import (
    GOALS,
    EvenChannel,
    KeyValueDesign,
    VarianceGoal,
    best_index,
    lpp,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
    read_goal,
)
from deniable.types.key_value.schemes import Direct, Unary
from deniable.types.key_value.variances import second_moments


def club(design: KeyValueDesign) -> EvenChannel:
    symbol = design.scheme.symbol
    none, some = (
        float(symbol.probability(0, given=0)),
        1 - float(symbol.probability(0, given=1)),
    )
    return EvenChannel(none, some, float(symbol.probability(1, given=1)) / some)


def variances(
    design: KeyValueDesign, frequency: float = 0.1, mean: float = 0.0
) -> dict[str, float]:
    places = None if design.scheme.one_each else design.scheme.multiplier
    return {
        name: VarianceGoal(
            {each: float(each == name) for each in GOALS}, frequency, mean
        ).risk(club(design), places=places)
        for name in GOALS
    }


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("goal", ["weight", "mean", {"frequency": 2, "weight": 1}])
@pytest.mark.parametrize("mean", [0, 0.7])
def test_no_member_of_ddagger_is_better(
    epsilon: float, goal: object, mean: float
) -> None:
    wanted = read_goal(goal, 0.2, mean)  # type: ignore[arg-type]
    best = wanted.risk(
        club(lpp_ddagger(5, epsilon, importance=goal, frequency=0.2, mean=mean))
    )  # type: ignore[arg-type]
    x = math.exp(epsilon)
    for step in range(1, 200):
        q = 0.5 + (x / (1 + x) - 0.5) * step / 199
        p = x / (x + 2 * q)
        assert wanted.risk(EvenChannel(p, p, q)) >= best * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_member_of_club_is_better(epsilon: float) -> None:
    wanted = read_goal(None, 0.2, 0.3)
    best = wanted.risk(club(lpp_club(5, epsilon, frequency=0.2, mean=0.3)))
    x = math.exp(epsilon)
    grid = [step / 30 for step in range(1, 30)]
    for none, some, sign in product(grid, grid, grid):
        stray, kept, turned = (1 - none) / 2, some * sign, some * (1 - sign)
        rows = ((none, 1 - some), (stray, kept, turned))
        if all(max(row) <= x * min(row) for row in rows) and sign > 0.5:
            assert wanted.risk(EvenChannel(none, some, sign)) >= best * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("frequency", [0.01, 0.1, 0.5])
def test_ours_is_better_than_lpp_in_both_at_equal_true_epsilon(
    epsilon: float, frequency: float
) -> None:
    """LPP divides evenly; its true ε is less than ε₁ + ε₂, and it is given all of it."""
    each = brentq(
        lambda e: max(e, math.log(2) + 2 * e - math.log(math.exp(e) + 1)) - epsilon,
        1e-6,
        10,
    )
    theirs, ours = lpp(5, each, each), lpp_club(5, epsilon, frequency=frequency)
    assert theirs.epsilon == pytest.approx(epsilon, abs=1e-9)
    one, two = variances(ours, frequency), variances(theirs, frequency)
    assert one["frequency"] <= two["frequency"]
    assert one["mean"] <= two["mean"]


@pytest.mark.parametrize("builder", [pckv_ue, pckv_grr])
@pytest.mark.parametrize(("items", "padding"), [(20, 1), (20, 4), (6, 5)])
def test_no_other_numbers_of_pckv_are_better(
    builder, items: int, padding: int
) -> None:  # type: ignore[no-untyped-def]
    epsilon, wanted = 1.5, read_goal(None, 0.1, 0)
    best = wanted.risk(
        club(builder(items, epsilon, padding=padding)), places=padding
    )
    limit = float(exp_below(epsilon))
    steps = [step / 16 for step in range(1, 16)]
    for a, p in product(steps, [0.5 + step / 32 for step in range(1, 16)]):
        if builder is pckv_grr:
            design = pckv_grr(items, a=a, p=p, padding=padding)
            feasible = [design] if design.parity <= limit else []
        else:
            feasible = [
                design
                for b in steps
                if (design := pckv_ue(items, a=a, b=b, p=p, padding=padding)).parity
                <= limit
            ]
        for design in feasible:
            assert wanted.risk(club(design), places=padding) >= best * (1 - 1e-4)


def test_for_the_frequency_alone_nothing_is_spent_on_signs() -> None:
    for design in (
        lpp_ddagger(5, 1, importance="frequency"),
        lpp_club(5, 1, importance="frequency"),
        pckv_ue(5, 1, importance="frequency", padding=1),
        pckv_grr(5, 1, importance="frequency", padding=1),
    ):
        assert club(design).sign == pytest.approx(0.5)
        plus, minus = design.scheme.symbol.weights[1:]
        assert plus[1] == plus[2] or abs(plus[1] - plus[2]) <= 2
        assert sum(plus) == sum(minus)


def test_the_risk_in_floats_is_that_of_the_exact_moments() -> None:
    f, mean = 0.3, -0.4
    for design in (
        lpp_club(5, 1),
        pckv_ue(5, 1, padding=2),
        pckv_grr(5, 1, padding=2),
    ):
        exact = second_moments(design.scheme, conditional=True)
        shares = (1 - f, f * (1 + mean) / 2, f * (1 - mean) / 2)
        second = [
            sum(
                share * float(value)
                for share, value in zip(shares, row, strict=True)
            )
            for row in (exact.degree, exact.weight, exact.both)
        ]
        var_f, var_w, cov = (
            second[0] - f**2,
            second[1] - (f * mean) ** 2,
            second[2] - f * f * mean,
        )
        told = variances(design, f, mean)
        assert told["frequency"] == pytest.approx(var_f)
        assert told["weight"] == pytest.approx(var_w)
        assert told["mean"] == pytest.approx(
            (var_w - 2 * mean * cov + mean**2 * var_f) / f**2
        )


def test_the_free_weight_of_nothing_never_hurts() -> None:
    """Given the same ε, `pckv_grr` built from ε is not worse than the paper's form at its best a and p."""
    wanted = read_goal(None, 0.1, 0)
    for items, padding in ((10, 1), (10, 3), (100, 10)):
        ours = wanted.risk(club(pckv_grr(items, 1, padding=padding)), places=padding)
        theirs = math.inf
        for step in range(1, 60):
            p = 0.5 + step / 130
            y = padding * (math.e - 1) + 1
            b = 1 / (y / (2 * p) + padding + items - 1)
            design = pckv_grr(
                items, a=y / (2 * p) * b * (1 - 1e-12), p=p, padding=padding
            )
            if design.epsilon <= 1:
                theirs = min(theirs, wanted.risk(club(design), places=padding))
        assert ours <= theirs < math.inf


def test_a_channel_too_fine_for_its_items_is_refused() -> None:
    from deniable.errors import InvalidDesign

    with pytest.raises(InvalidDesign, match=r"too fine|too many"):
        pckv_ue(4, 1e-19, padding=1)
    assert isinstance(pckv_ue(4, 1e-6, padding=1).scheme, Unary)
    assert isinstance(pckv_grr(4, 1e-6, padding=1).scheme, Direct)
    assert best_index("rr3_club", exp_below(1), read_goal("mean", 0.5, 1)).sign > 0.5
