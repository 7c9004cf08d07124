"""Imperfect tests: intervals against a search of the likelihood, and the error of the validation in all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import xlogy
from scipy.stats import chi2
from scipy.stats import t as student

import deniable as dn
from deniable.errors import InvalidRequest, NotEstimable
from tests.support.commands import done, run

ANTIBODIES = (80, 1000, (90, 100), (196, 200))
FEW_FALSE = (50, 3300, (103, 122), (399, 401))


def estimate(
    positive: Any, n: int, cases: tuple[int, int], others: tuple[int, int]
) -> Any:
    return dn.prevalence(positive, n, sensitivity=cases, specificity=others)


def log_likelihood(survey: Any, share: float, v: float, s: float) -> float:
    """The likelihood of a survey, written out."""
    positive, n, (k_v, n_v), (k_s, n_s) = survey
    t = share * v + (1 - share) * (1 - s)
    pairs = ((positive, n, t), (k_v, n_v, v), (k_s, n_s, s))
    return float(sum(xlogy(k, p) + xlogy(m - k, 1 - p) for k, m, p in pairs))


def searched(survey: Any, share: float | None) -> float:
    """The largest likelihood, at one prevalence or over all, by a search that knows nothing of ours."""

    def loss(numbers: Any) -> float:
        v, s, *free = 1 / (1 + np.exp(-np.asarray(numbers)))
        return -log_likelihood(survey, free[0] if free else share, v, s)

    start = [2.0, 3.0] + ([-3.0] if share is None else [])
    options = {"xatol": 1e-10, "fatol": 1e-11, "maxiter": 9000, "maxfev": 9000}
    return -float(minimize(loss, start, method="Nelder-Mead", options=options).fun)


@pytest.mark.parametrize("survey", [ANTIBODIES, FEW_FALSE], ids=["many", "few"])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_profile_ends_where_the_likelihood_has_fallen(
    survey: Any, level: float
) -> None:
    low, high = estimate(*survey).interval("prevalence", level=level)
    top, fallen = searched(survey, None), float(chi2.ppf(level, 1))
    for end in (low, high):
        drop = 2 * (top - searched(survey, end))
        if end > 0:
            assert drop == pytest.approx(fallen, abs=1e-5)
        else:
            assert drop <= fallen


@pytest.mark.parametrize("method", ["profile", "fieller", "normal"])
def test_intervals_hold_the_error_of_the_validation(method: str) -> None:
    """With a validation a million times as large they are as narrow as for a known test: a third narrower here."""
    positive, n, cases, others = ANTIBODIES
    large = [tuple(number * 10**6 for number in pair) for pair in (cases, others)]
    intervals = [
        estimate(positive, n, *pairs).interval("prevalence", method=method)
        for pairs in ((cases, others), large)
    ]
    own, known = (high - low for low, high in intervals)
    assert known / own == pytest.approx(0.00974891 / 0.0145026, abs=0.04)


def test_a_table_of_two_results_is_sensitivity_and_specificity() -> None:
    table = dn.prevalence([920, 80], validation=[[196, 10], [4, 90]])
    assert table == estimate(*ANTIBODIES)
    assert estimate(*ANTIBODIES) != estimate(80, 1000, (196, 200), (90, 100))


def test_a_known_covariance_is_that_of_the_results_alone() -> None:
    model = estimate(*ANTIBODIES).model
    assert math.sqrt(model.known_covariance()[0, 0]) == pytest.approx(
        math.sqrt(0.08 * 0.92 / 1000) / 0.88
    )


def test_no_positive_is_an_interval_from_zero_and_a_warning() -> None:
    found = estimate(0, 200, (45, 50), (48, 50))
    assert found.value < 0
    low, high = found.interval("prevalence")
    assert low == 0
    assert 0 < high < 0.1
    assert [caution.code for caution in found.warnings] == ["outside"]
    assert "0%" in dn.report.sentence(found)


def test_a_test_that_hardly_tells_warns_and_may_hold_every_share() -> None:
    found = estimate(50, 100, (6, 10), (5, 10))
    assert "weak" in [caution.code for caution in found.warnings]
    for method in ("profile", "fieller"):
        assert found.interval("prevalence", method=method) == (0, 1)


def test_results_of_a_sample_bring_their_weights_and_clusters() -> None:
    results = np.repeat(["no", "yes"], [920, 80])
    clusters = np.arange(1000) % 50
    responses = dn.Responses.of(dn.direct(), results)
    options: Any = {"sensitivity": (90, 100), "specificity": (196, 200)}
    plain = estimate(*ANTIBODIES)
    even = dn.prevalence(
        responses, sampling=dn.Sampling(np.full(1000, 3.0)), **options
    )
    assert even.value == pytest.approx(plain.value)
    assert even.error == pytest.approx(plain.error, rel=1e-3)
    assert even.interval("prevalence") == pytest.approx(
        plain.interval("prevalence"), rel=5e-3
    )
    one_village = np.where(results == "yes", clusters % 5, clusters)
    grouped = dn.prevalence(
        responses, sampling=dn.Sampling(clusters=one_village), **options
    )
    assert grouped.error > 1.5 * plain.error
    narrow, wide = (
        np.ptp(result.interval("prevalence")) for result in (plain, grouped)
    )
    assert wide > 1.3 * narrow
    assert dn.Statistic.from_json(grouped.to_json(), None) == grouped


def test_intervals_from_few_clusters_take_the_quantiles_of_t() -> None:
    """The ends of Fieller's interval, where the distance is t times its error, with the degrees of 6 clusters."""
    results = np.repeat(["no", "yes"], [480, 120])
    sampling = dn.Sampling(clusters=np.random.default_rng(1).permutation(600) % 6)
    responses = dn.Responses.of(dn.direct(), results)
    found = dn.prevalence(
        responses, sampling=sampling, sensitivity=(90, 100), specificity=(196, 200)
    )
    v, u, t = 0.9, 0.02, 0.2
    error = dn.estimate(responses, sampling=sampling).bse["yes"]
    for end in found.interval("prevalence", method="fieller"):
        variance = error**2 + end**2 * v * (1 - v) / 100
        variance += (1 - end) ** 2 * u * (1 - u) / 200
        distance = abs(t - u - end * (v - u))
        assert distance / variance**0.5 == pytest.approx(student.ppf(0.975, 5))


def test_words_are_those_of_tests() -> None:
    text = f"{estimate(*ANTIBODIES).summary()}{dn.report.methods(estimate(*ANTIBODIES))}"
    assert "sensitivity 90% (90 of 100) and specificity 98% (196 of 200)" in text
    for word in ("privacy", "ε", "randomized"):
        assert word not in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "specificity is None"),
        ({"sensitivity": (9, 8), "specificity": (9, 10)}, "sensitivity is"),
        ({"sensitivity": (9, 10), "specificity": (1.5, 2)}, "no count"),
        ({"validation": [[3, 1]]}, "2 results and a validation table of 1 × 2"),
        (
            {"validation": [[3, 1], [1, 3]], "sensitivity": (9, 10)},
            "expected the table alone",
        ),
        ({"validation": [[3, 1], [1, 3]], "categories": 3}, "3 categories"),
    ],
)
def test_counts_that_do_not_fit_are_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        dn.prevalence(8, 10, **options)


def test_more_positives_than_people_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="no count"):
        estimate(11, 10, (9, 10), (9, 10))
    with pytest.raises(InvalidRequest, match="Omit n="):
        dn.prevalence([1, 2], 3, validation=[[3, 1], [1, 3]])


@pytest.mark.parametrize(
    "validation", [[[5, 5], [5, 5]], [[1, 9], [9, 1]], [[5, 0], [5, 0]]]
)
def test_a_test_that_tells_nothing_is_refused(validation: Any) -> None:
    with pytest.raises(NotEstimable):
        dn.prevalence(8, 10, validation=validation)


def test_the_shell_gives_the_same() -> None:
    words = "--positive 80 -n 1000 --sensitivity 90,100 --specificity 196,200 --json"
    text = done("prevalence", *words.split()).stdout
    assert dn.Statistic.from_json(text, None) == estimate(*ANTIBODIES)
    table = "--positive 520,330,150 --validation 128,10,4;15,80,12;7,10,64"
    assert "56.5%" in done("prevalence", *table.split()).stdout
    assert run("prevalence", "--positive", "80").exit_code == 2
