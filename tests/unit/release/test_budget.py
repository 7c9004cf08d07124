from __future__ import annotations

import math
from fractions import Fraction

import pytest

from deniable import exact
from deniable.designs import k_ary
from deniable.errors import InvalidNumber, OverBudget
from deniable.release.receipts import Budget, compose_parities


def test_rationals_are_compared() -> None:
    """A parity that is above e by less than a float can tell is refused all the same."""
    budget = Budget.from_number(1)
    budget.check(exact.exp_below(1), "it")
    with pytest.raises(OverBudget) as caught:
        budget.check(exact.exp_above(1) + Fraction(1, 10**40), "it")
    assert 0 < caught.value.excess < 1e-39
    assert caught.value.budget == 1


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1, 1.7, 2.5, "1/3"])
def test_a_design_fits_into_its_own_epsilon(epsilon: float | str) -> None:
    design = k_ary(5, epsilon=epsilon)
    Budget.from_number(epsilon).check(design.parity, "it")
    Budget.from_number(design.epsilon).check(design.parity, "it")


def test_what_is_left_is_rounded_down() -> None:
    left = Budget.from_number(2).left(Fraction(3))
    assert left is not None
    assert left < 2 - math.log(3) + 1e-15
    assert Budget.from_number(2).left(Fraction(10)) == 0
    assert Budget.from_number(2).left(math.inf) == 0
    assert Budget.from_number(None).left(Fraction(3)) is None


def test_no_limit_is_no_limit() -> None:
    Budget.from_number(None).check(math.inf, "it")
    assert Budget.from_number(None).written is None
    assert Budget.read(Budget.from_number("1/3").written) == Budget.from_number(
        "1/3"
    )


def test_an_infinite_parity_is_beyond_every_budget() -> None:
    with pytest.raises(OverBudget) as caught:
        Budget.from_number(100).check(math.inf, "it")
    assert caught.value.excess == math.inf
    assert compose_parities([Fraction(2), math.inf]) == math.inf


def test_a_budget_is_not_negative() -> None:
    with pytest.raises(InvalidNumber):
        Budget.from_number(-1)


@pytest.mark.parametrize("epsilon", [100_001, 1e9, "1e4000", 1e308])
def test_a_budget_beyond_all_numbers_is_refused_at_once(
    epsilon: exact.Rational,
) -> None:
    """Written down, it would be found out with every later question about it."""
    with pytest.raises(InvalidNumber, match="100,000"):
        Budget.from_number(epsilon)
    assert Budget.from_number(100_000).left(Fraction(1)) == pytest.approx(100_000)
