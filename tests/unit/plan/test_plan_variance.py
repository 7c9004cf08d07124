"""Variances for planning: given shares through the estimate's own covariance, and worst cases against a search."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable import plan
from deniable.designs.sets_of_answers import best_t, subset_risk
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.estimates import covariance, deck_variance
from deniable.plan.precision import Population

SKEW = dn.matrix(
    [[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]], categories=["a", "b", "c"]
)
TALL = dn.matrix([["1/2", "1/10"], ["1/4", "1/4"], ["1/4", "13/20"]])
DESIGNS = [
    dn.warner(1),
    dn.binary("9/10", "7/10"),
    dn.simmons(p="7/10", b="3/10"),
    dn.christofides(cards=["1/10", "2/10", "3/10", "4/10"]),
    dn.k_ary(["a", "b", "c"], 1),
    dn.subset(3, 1, t=2),
    SKEW,
    TALL,
]
POPULATIONS: list[Population] = [None, "census", 40]
every_case = pytest.mark.parametrize("population", POPULATIONS, ids=str)
every_design = pytest.mark.parametrize(
    "design", DESIGNS, ids=lambda design: design.name
)


def known(
    design: dn.Design, shares: list[float], n: int, population: Population
) -> np.ndarray:
    people = n if population == "census" else population
    return np.diagonal(covariance(design, shares, n, population=people))  # type: ignore[arg-type]


def simplex(size: int, steps: int) -> list[list[float]]:
    if size == 2:
        return [[i / steps, 1 - i / steps] for i in range(steps + 1)]
    return [
        [i / steps, j / steps, (steps - i - j) / steps]
        for i in range(steps + 1)
        for j in range(steps + 1 - i)
    ]


@every_design
@every_case
def test_given_shares_have_the_variance_of_the_estimate(
    design: dn.Design, population: Population
) -> None:
    size, n = len(design.categories), 30
    for shares in simplex(size, 5):
        each = known(design, shares, n, population)
        for number, category in enumerate(design.categories):
            found = plan.variance(
                design, n, shares=shares, category=category, population=population
            )
            assert found == pytest.approx(each[number], rel=1e-9, abs=1e-12)
        both = plan.variance(design, n, shares=shares, population=population)
        assert both == pytest.approx(
            each[0] if size == 2 else each.sum(), rel=1e-9, abs=1e-12
        )


@every_design
@every_case
def test_the_worst_case_is_the_worst_on_a_fine_grid(
    design: dn.Design, population: Population
) -> None:
    size, n = len(design.categories), 30
    grid = np.array(
        [known(design, shares, n, population) for shares in simplex(size, 60)]
    )
    for number, category in enumerate(design.categories):
        worst = plan.variance(design, n, category=category, population=population)
        assert grid[:, number].max() <= worst * (1 + 1e-9)
        assert worst <= grid[:, number].max() * 1.002
    worst = plan.variance(design, n, population=population)
    best = (grid.sum(axis=1) if size > 2 else grid[:, 0]).max()
    assert best <= worst * (1 + 1e-9) <= best * 1.002


def test_total_worst_cases_of_symmetric_designs_are_at_even_shares() -> None:
    design = dn.k_ary(7, 1)
    even = plan.variance(design, 100, shares=[1 / 7] * 7)
    assert plan.variance(design, 100) == pytest.approx(even, rel=1e-12)
    x, k = np.e, 7
    risk = (k - 1) * (x + k - 1) ** 2 / (k * (x - 1) ** 2)  # (k − 1)/a₁ of F9
    assert even * 100 == pytest.approx(risk, rel=1e-9)


def test_a_million_categories_are_planned_at_once() -> None:
    k, x = 10**6, np.e
    risk = (k - 1) * (x + k - 1) ** 2 / (k * (x - 1) ** 2)
    # whole weights stay a little below ε
    assert plan.variance(dn.k_ary(k, 1), 1) == pytest.approx(risk, rel=1e-7)


def test_the_minimax_design_has_its_risk_for_large_domains() -> None:
    for k in (5, 16, 10_000):
        design = dn.subset(k, 1)
        gamma = Fraction(str(np.e))
        risk = float(subset_risk(k, best_t(k, gamma), gamma))
        assert plan.variance(design, 100) * 100 == pytest.approx(risk, rel=1e-6)
        assert plan.sample_size(design, variance=0.01) == pytest.approx(
            risk / 0.01, rel=1e-5, abs=1
        )


def test_products_are_searched_answer_by_answer() -> None:
    design = dn.product([dn.warner(1), dn.binary("9/10", "7/10")])
    grid = [
        np.diagonal(covariance(design, [a, b, c, max(0.0, 1 - a - b - c)], 20))
        for a, b, c in thirds(12)
    ]
    for number, category in enumerate(design.categories):
        worst, best = (
            plan.variance(design, 20, category=category),
            max(each[number] for each in grid),
        )
        assert best <= worst * (1 + 1e-9) <= best * 1.02


def test_the_worst_case_of_too_many_answers_is_not_searched() -> None:
    design = dn.product([dn.k_ary(40, 1), dn.k_ary(30, 1)])
    with pytest.raises(InvalidRequest, match="Give the shares"):
        plan.variance(design, 20)
    assert plan.variance(design, 20, shares=[1 / 1200] * 1200) > 0


def thirds(steps: int) -> list[tuple[float, float, float]]:
    return [
        (i / steps, j / steps, k / steps)
        for i in range(steps + 1)
        for j in range(steps + 1 - i)
        for k in range(steps + 1 - i - j)
    ]


def test_a_deck_is_planned_as_it_is_estimated() -> None:
    deck = dn.integer_deck(50, 1, "1/10", cards=80)
    for population, people in ((None, None), ("census", 40), (60, 60)):
        for share in (0.1, 0.5):
            found = plan.variance(
                deck, 40, shares=[1 - share, share], population=population
            )  # type: ignore[arg-type]
            assert found == pytest.approx(
                deck_variance(deck, share, respondents=40, population=people),
                rel=1e-12,
            )
    assert plan.variance(deck, 40) == plan.variance(deck, 40, shares=[0.5, 0.5])
    with pytest.raises(InvalidRequest, match="80 cards"):
        plan.variance(deck, 81)


def test_what_does_not_fit_is_refused() -> None:
    design = dn.warner(1)
    for n in (0, -1, 2.5, True):
        with pytest.raises(InvalidRequest, match="whole number"):
            plan.variance(design, n)  # type: ignore[arg-type]
    with pytest.raises(InvalidAnswer):
        plan.variance(design, 10, category="perhaps")
    with pytest.raises(InvalidRequest, match="sum to 1"):
        plan.variance(design, 10, shares=[0.5, 0.6])
    with pytest.raises(InvalidRequest, match="census"):
        plan.variance(design, 10, population="all")  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="population"):
        plan.variance(design, 10, population=9)
