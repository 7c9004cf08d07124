"""Sums over like items: laws of true sums, by going through all of them."""

from __future__ import annotations

from itertools import product as combinations
from math import exp, factorial
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import xlogy

import deniable as dn
from deniable.errors import InvalidRequest

DIE = dn.forced_response("3/5", "1/5", "1/5")
SUMS = [310, 250, 120, 40, 8]
LAWS: tuple[Any, ...] = ("binomial", "poisson", "free")
C = dn.compliance


def responded(true: np.ndarray, u: float, v: float) -> np.ndarray:
    """The law of sums of responses, by all combinations of answers and of responses."""
    items = len(true) - 1
    found = np.zeros(items + 1)
    for answers in combinations((0, 1), repeat=items):
        ways = sum(
            1
            for other in combinations((0, 1), repeat=items)
            if sum(other) == sum(answers)
        )
        for said in combinations((0, 1), repeat=items):
            rates = [(v if answer else u) if yes else 1 - (v if answer else u)
                     for answer, yes in zip(answers, said, strict=True)]  # fmt: skip
            found[sum(said)] += true[sum(answers)] / ways * np.prod(rates)
    return found


def cut_poisson(mean: float, items: int) -> np.ndarray:
    whole = np.array([exp(-mean) * mean**s / factorial(s) for s in range(items + 1)])
    return whole / whole.sum()


def height(counts: list[int], expected: np.ndarray) -> float:
    return float(xlogy(counts, np.maximum(expected, 1e-300)).sum())


def mixed(honest: np.ndarray, theta: float) -> np.ndarray:
    return (1 - theta) * honest + theta * np.eye(len(honest))[0]


class TestPoisson:
    def test_nothing_is_more_likely(self) -> None:
        found = C.sum_scores(DIE, SUMS, law="poisson")

        def fall(free: np.ndarray) -> float:
            return -height(
                SUMS, mixed(responded(cut_poisson(free[0], 4), 0.2, 0.8), free[1])
            )

        best = minimize(
            fall,
            [0.5, 0.2],
            method="Nelder-Mead",
            options={"xatol": 1e-9, "fatol": 1e-11},
        )
        assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-7)
        share = cut_poisson(best.x[0], 4) @ np.arange(5) / 4
        assert found.params == pytest.approx(
            {"yes": share, "always no": best.x[1]}, abs=1e-5
        )
        alone = minimize(
            lambda free: fall(np.array([free[0], 0.0])),
            [0.3],
            method="Nelder-Mead",
            options={"xatol": 1e-9},
        )
        assert found.model.log_likelihood_without == pytest.approx(
            -alone.fun, abs=1e-7
        )
        assert found.model.protection_test.statistic == pytest.approx(
            2 * (alone.fun - best.fun), abs=1e-6
        )

    def test_ends_of_intervals_are_as_unlikely_as_they_may_be(self) -> None:
        found = C.sum_scores(DIE, SUMS, law="poisson")
        drop = 1.959964**2 / 2

        def at_share(mean: float) -> float:
            honest = responded(cut_poisson(mean, 4), 0.2, 0.8)
            return max(
                height(SUMS, mixed(honest, theta))
                for theta in np.linspace(0, 0.5, 2001)
            )

        def at_theta(theta: float) -> float:
            means = np.linspace(0.2, 1.2, 2001)
            laws = [responded(each, 0.2, 0.8) for each in np.eye(5)]
            return max(
                height(SUMS, mixed(cut_poisson(mean, 4) @ np.array(laws), theta))
                for mean in means
            )

        means = np.linspace(0.05, 2, 4001)
        shares = [cut_poisson(mean, 4) @ np.arange(5) / 4 for mean in means]
        for end in found.interval("yes"):
            mean = np.interp(end, shares, means)
            assert at_share(float(mean)) == pytest.approx(
                found.log_likelihood - drop, abs=2e-3
            )
        for end in found.interval("always no"):
            assert at_theta(end) == pytest.approx(
                found.log_likelihood - drop, abs=2e-3
            )

    def test_errors_are_those_of_the_expected_information(self) -> None:
        """Second differences of the log-likelihood of the expected counts."""
        found = C.sum_scores(DIE, SUMS, law="poisson")
        means = np.linspace(0.05, 3, 20001)
        shares = [cut_poisson(mean, 4) @ np.arange(5) / 4 for mean in means]
        laws = np.array([responded(each, 0.2, 0.8) for each in np.eye(5)])

        def expected(share: float, theta: float) -> np.ndarray:
            return mixed(
                cut_poisson(float(np.interp(share, shares, means)), 4) @ laws, theta
            )

        at, step = np.array(list(found.params.values())), 1e-3
        slopes = np.column_stack([
            (expected(*(at + move)) - expected(*(at - move))) / (2 * step) for move in step * np.eye(2)
        ])  # fmt: skip
        information = sum(SUMS) * (slopes.T / expected(*at)) @ slopes
        assert found.cov_params() == pytest.approx(
            np.linalg.inv(information), rel=1e-3
        )

    def test_many_items_are_nearly_binomial_where_few_carry(self) -> None:
        """Poisson's law is the limit of the binomial one: with many items and a small share both say the same."""
        draws = np.random.default_rng(5)
        carried = draws.binomial(60, 0.02, size=4000)
        said = draws.binomial(carried, 0.8) + draws.binomial(60 - carried, 0.2)
        counts = np.bincount(said, minlength=61).tolist()
        both = [
            C.sum_scores(DIE, counts, law=law).params["yes"]
            for law in ("binomial", "poisson")
        ]
        assert both[0] == pytest.approx(both[1], abs=2e-3)


class TestFree:
    def test_inside_the_simplex_it_is_the_solution(self) -> None:
        true = np.array([0.4, 0.3, 0.2, 0.1])
        counts = np.rint(1_000_000 * responded(true, 0.2, 0.8)).astype(int).tolist()
        found = C.sum_scores(DIE, counts, law="free")
        assert list(found.params.values())[1:] == pytest.approx(true, abs=1e-5)
        assert found.params["yes"] == pytest.approx(
            true @ np.arange(4) / 3, abs=1e-5
        )
        assert found.moments == pytest.approx(found.params, abs=1e-12)
        assert found.fit.df == 0
        assert found.model.parameters == 3

    def test_nothing_in_the_simplex_is_more_likely(self) -> None:
        found = C.sum_scores(DIE, [90, 30, 20, 25], law="free")
        laws = np.array([responded(each, 0.2, 0.8) for each in np.eye(4)])
        tried = [
            np.array(each) / 40
            for each in combinations(range(41), repeat=4)
            if sum(each) == 40
        ]
        heights = np.array([height([90, 30, 20, 25], each @ laws) for each in tried])
        assert found.log_likelihood >= heights.max() - 1e-9
        held = np.array(tried)[heights >= found.log_likelihood - 1.9207]
        for number, (name, (low, high)) in enumerate(found.conf_int().items()):
            values = held @ (
                np.arange(4) / 3 if number == 0 else np.eye(4)[number - 1]
            )
            assert low <= values.min() + 1e-9, name
            assert values.max() <= high + 1e-9, name
            assert low >= values.min() - 0.05
            assert high <= values.max() + 0.05
        assert [each.code for each in found.warnings] == ["outside"]

    def test_errors_are_those_of_the_inverse(self) -> None:
        found = C.sum_scores(DIE, [90, 80, 40, 12], law="free")
        shares = np.array([90, 80, 40, 12]) / 222
        spread = (np.diag(shares) - np.outer(shares, shares)) / 221
        inverse = np.linalg.inv(
            np.array([responded(each, 0.2, 0.8) for each in np.eye(4)]).T
        )
        inverse = np.vstack([np.arange(4) / 3 @ inverse, inverse])
        assert found.cov_params() == pytest.approx(inverse @ spread @ inverse.T)


def test_laws_are_compared_by_what_they_explain_and_how_many_numbers_they_take() -> (
    None
):
    every = {law: C.sum_scores(DIE, SUMS, law=law) for law in LAWS}
    for found in every.values():
        assert list(found.model.laws) == list(LAWS)
        for law, each in every.items():
            assert found.model.laws[law].log_likelihood == each.log_likelihood
            assert (
                found.model.laws[law].aic
                == each.model.aic
                == 2 * found.model.laws[law].parameters - 2 * each.log_likelihood
            )
    assert [each.parameters for each in every["free"].model.laws.values()] == [
        2,
        2,
        4,
    ]
    assert f"poisson {every['poisson'].model.aic:.1f}" in str(
        every["binomial"].summary()
    )


@pytest.mark.parametrize("law", LAWS)
def test_the_law_that_made_the_sums_explains_them_best(law: Any) -> None:
    true = {
        "binomial": np.array([0.42, 0.42, 0.14, 0.02]),
        "poisson": cut_poisson(0.8, 3),
        "free": np.array([0.6, 0, 0, 0.4]),
    }
    theta = 0.0 if law == "free" else 0.2
    if law == "binomial":
        true[law] = np.array([0.7**3, 3 * 0.7**2 * 0.3, 3 * 0.7 * 0.3**2, 0.3**3])
    counts = (
        np.rint(200_000 * mixed(responded(true[law], 0.2, 0.8), theta))
        .astype(int)
        .tolist()
    )
    compared = C.sum_scores(DIE, counts).model.laws
    assert min(compared, key=lambda each: compared[each].aic) == law


def test_items_that_were_counted_together_are_added_up() -> None:
    items = dn.product(dict.fromkeys("abc", DIE))
    cells = [300, 60, 50, 15, 70, 20, 18, 7]
    sums = [300, 180, 53, 7]
    for law in LAWS:
        together = C.sum_scores(dn.Tally(items, cells, missing=4), law=law)
        assert together.params == C.sum_scores(DIE, sums, law=law).params
        assert together.summary().missing == 4


@pytest.mark.parametrize("law", LAWS)
def test_no_small_survey_leaves_the_simplex_or_has_no_interval(law: Any) -> None:
    for counts in combinations(range(5), repeat=4):
        if sum(counts) != 4:
            continue
        found = C.sum_scores(DIE, list(counts), law=law)
        ends = found.conf_int()
        for name, value in found.params.items():
            low, high = ends[name]
            assert 0 <= low <= high <= 1
            assert low - 1e-6 <= value <= high + 1e-6
        assert np.isfinite(list(found.bse.values())).all()
        if law == "free":
            assert sum(list(found.params.values())[1:]) == pytest.approx(1)


def test_another_law_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="binomial, poisson, free"):
        C.sum_scores(DIE, SUMS, law="normal")  # type: ignore[call-overload]
