from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t as student

import deniable as dn
from deniable import exact
from deniable.errors import InvalidRequest, NotEstimable, NotOrdered
from deniable.estimates import covariance, estimate
from deniable.estimates.stages import afresh, combine
from deniable.estimates.weighing import expected_covariance
from deniable.order.relaxation import ladder
from deniable.plan.stages import propose
from deniable.release.receipts import Budget
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies, count_stages
from tests.support.ladders import small

TWO = ladder([dn.warner(p="2/3"), dn.warner(p="4/5")])


def tallied(stages: dn.Design, counts: list[list[int]]) -> StageTallies:
    finest = tuple(
        Tally(design, each) for design, each in zip(stages, counts, strict=True)
    )
    return StageTallies(stages, finest, finest)


def test_one_stage_alone_is_the_ordinary_estimate() -> None:
    found = combine(tallied(TWO, [[0, 0], [30, 70]]))
    plain = estimate(Tally(TWO.designs[1], [30, 70]))
    assert found.value == pytest.approx(plain.value)
    assert found.evidence.weights == (0.0, pytest.approx(1.0))
    assert found.evidence.homogeneity == 1.0
    assert found.errors == pytest.approx(
        np.sqrt(np.diagonal(covariance(TWO.designs[1], plain.value, 99)))
    )


def test_two_answers_are_weighted_by_the_inverse_of_their_variances() -> None:
    groups = tallied(TWO, [[40, 60], [50, 150]])
    found = combine(groups, method="linear", guess=[0.3, 0.7])
    variances = [
        covariance(design, [0.3, 0.7], n)[1, 1]
        for design, n in zip(TWO, (100, 200), strict=True)
    ]
    parts = np.array([1 / each for each in variances]) / sum(
        1 / each for each in variances
    )
    alone = [estimate(each).params["yes"] for each in groups.finest]
    assert found.params["yes"] == pytest.approx(parts @ alone)
    assert found.evidence.weights == pytest.approx(parts)
    assert sum(found.evidence.weights) == pytest.approx(1)
    strata = combine(groups, method="strata")
    assert strata.params["yes"] == pytest.approx(np.array([1, 2]) @ alone / 3)
    assert strata.evidence.weights == pytest.approx((1 / 3, 2 / 3))


@pytest.mark.parametrize(
    "name", ["k_ary", "matrix", "hadamard", "the best sizes", "rr3_club", "product"]
)
def test_combinations_are_unbiased_and_beat_every_other_weighting(name: str) -> None:
    """The expected tallies give back the shares exactly; the variance at the guess is the smallest of all."""
    stages = small()[name]
    size = len(stages.categories)
    shares = np.arange(1, size + 1) / (size * (size + 1) / 2)
    people = [4000, 0, 2000, 1000][: len(stages)]
    tallies = []
    for design, n in zip(stages, people, strict=True):
        # as many people as make the expected counts whole numbers, to nine digits
        scale = 10**9
        from deniable.estimates.inverses import left_inverse

        expected = np.rint(
            left_inverse(design.channel).expected(shares) * n * scale
        ).astype(np.int64)
        respondents = (
            n * scale
            if design.channel.sizes and not design.channel.own_cells
            else int(expected.sum())
        )
        tallies.append(Tally(design, expected, respondents=respondents))
    groups = StageTallies(stages, tuple(tallies), tuple(tallies))
    for guess in (None, shares.tolist()):
        assert combine(groups, method="linear", guess=guess).value == pytest.approx(
            shares, abs=1e-8
        )
    for method in ("information", "strata"):
        assert combine(groups, method=method).value == pytest.approx(
            shares, abs=1e-8
        )
    best = np.trace(
        expected_covariance(
            [(d, n * scale) for d, n in zip(stages, people, strict=True) if n],
            shares,
        )
    )
    at_guess = np.trace(
        combine(groups, method="linear", guess=shares.tolist()).cov_params()
    )
    assert at_guess == pytest.approx(best, rel=1e-5)
    assert at_guess == pytest.approx(
        np.trace(combine(groups).cov_params()), rel=1e-5
    )
    assert at_guess <= np.trace(combine(groups, method="linear").cov_params()) * (
        1 + 1e-9
    )
    assert at_guess < np.trace(combine(groups, method="strata").cov_params())


def test_stages_whose_shares_differ_are_told() -> None:
    alike = combine(tallied(TWO, [[500, 500], [500, 500]]))
    apart = combine(tallied(TWO, [[400, 600], [700, 300]]))
    assert alike.evidence.homogeneity > 0.99
    assert apart.evidence.homogeneity < 1e-9


def test_a_census_adds_strata() -> None:
    groups = tallied(TWO, [[40, 60], [50, 150]])
    found = combine(groups, method="strata", population=300)
    sampled = combine(groups, method="strata")
    assert (found.errors < sampled.errors).all()
    half = combine(groups, method="strata", population=599)
    assert (found.errors < half.errors).all()
    assert (half.errors < sampled.errors).all()
    assert half.cov_params() == pytest.approx(
        (found.cov_params() + sampled.cov_params()) / 2, rel=1e-2
    )
    with pytest.raises(InvalidRequest, match="population"):
        combine(groups, population=300)
    with pytest.raises(InvalidRequest, match="at least the 300"):
        combine(groups, method="strata", population=299)


def test_intervals_and_contrasts() -> None:
    found = combine(tallied(TWO, [[40, 60], [50, 150]]))
    low, high = found.interval("yes")
    assert low < found.params["yes"] < high
    plain = found.interval("yes", method="normal")
    assert plain.high - plain.low == pytest.approx(
        2 * student.ppf(0.975, 299) * found.errors[1]
    )
    assert high - low == pytest.approx(plain.high - plain.low, rel=0.05)
    difference = found.contrast({"yes": 1, "no": -1})
    assert difference.value == pytest.approx(
        found.params["yes"] - found.params["no"]
    )
    assert difference.error == pytest.approx(2 * found.errors[1])


def test_what_cannot_be_combined_is_refused() -> None:
    with pytest.raises(NotEstimable, match="no responses"):
        combine(StageTallies.empty(TWO))
    with pytest.raises(InvalidRequest, match="expected one of"):
        combine(tallied(TWO, [[1, 1], [1, 1]]), method="best")
    with pytest.raises(InvalidRequest, match="guess"):
        combine(tallied(TWO, [[1, 1], [1, 1]]), method="linear", guess=[1, 1])
    for method in ("information", "likelihood", "strata"):
        with pytest.raises(InvalidRequest, match="with a guess"):
            combine(tallied(TWO, [[1, 1], [1, 1]]), method=method, guess=[0.5, 0.5])
    large = ladder([dn.k_ary(5000, 1)])
    with pytest.raises(NotEstimable, match="5,000"):
        combine(count_stages(large, [np.zeros(10, np.int64)]))


def test_the_proposal_reaches_the_target_and_no_more() -> None:
    groups = tallied(TWO, [[0, 0], [300, 700]])
    now = combine(groups).errors.max()
    found = propose(groups, now / 2, lambda e: dn.warner(epsilon=e), most=6)
    assert not found.stop
    assert found.reached
    assert found.expected <= now / 2
    assert found.expected > 0.99 * now / 2
    assert found.epsilon is not None
    assert TWO.epsilon < found.epsilon <= 6
    assert f"{found.epsilon:.4g}" in found.text


def test_the_proposal_stops_when_the_target_is_reached() -> None:
    groups = tallied(TWO, [[0, 0], [300, 700]])
    found = propose(groups, 0.5, lambda e: dn.warner(epsilon=e), most=6)
    assert (found.stop, found.reached, found.design, found.epsilon) == (
        True,
        True,
        None,
        None,
    )
    assert "stop" in found.text


def test_a_budget_that_is_not_enough_says_how_many_people_would_be() -> None:
    groups = tallied(TWO, [[0, 0], [30, 70]])
    found = propose(groups, 0.001, lambda e: dn.warner(epsilon=e), most=2)
    assert not found.stop
    assert not found.reached
    assert found.design == dn.warner(epsilon=2.0)
    assert found.respondents == math.ceil(100 * (found.expected / 0.001) ** 2)
    assert f"{found.respondents:,}" in found.text
    spent = propose(groups, 0.001, lambda e: dn.warner(epsilon=e), most=1)
    assert (spent.stop, spent.reached, spent.design) == (True, False, None)
    assert "spent" in spent.text


def test_fewer_who_are_willing_need_a_larger_epsilon() -> None:
    groups = tallied(TWO, [[100, 200], [300, 700]])
    target = 0.8 * combine(groups).errors.max()
    all_of_them = propose(groups, target, lambda e: dn.warner(epsilon=e), most=9)
    half = propose(
        groups, target, lambda e: dn.warner(epsilon=e), most=9, willing=0.5
    )
    assert half.epsilon > all_of_them.epsilon
    assert "50%" in half.text


def test_targets_may_be_widths_and_may_be_about_one_category() -> None:
    stages = ladder([dn.k_ary(["a", "b", "c"], 1)])
    groups = tallied(stages, [[800, 150, 50]])
    width = propose(
        groups,
        0.03,
        lambda e: dn.k_ary(["a", "b", "c"], epsilon=e),
        most=9,
        level=0.95,
    )
    error = propose(
        groups,
        0.03 / 1.959964,
        lambda e: dn.k_ary(["a", "b", "c"], epsilon=e),
        most=9,
    )
    assert width.expected == pytest.approx(error.expected, rel=1e-3)
    rare = propose(
        groups,
        0.02,
        lambda e: dn.k_ary(["a", "b", "c"], epsilon=e),
        most=9,
        category="c",
    )
    assert (
        rare.epsilon
        < propose(
            groups, 0.02, lambda e: dn.k_ary(["a", "b", "c"], epsilon=e), most=9
        ).epsilon
    )


def test_proposals_that_do_not_fit_are_refused() -> None:
    groups = tallied(TWO, [[0, 0], [300, 700]])
    for bad in (
        {"target": 0},
        {"target": 0.1, "willing": 0},
        {"target": 0.1, "level": 1},
    ):
        with pytest.raises(InvalidRequest):
            propose(groups, build=lambda e: dn.warner(epsilon=e), most=6, **bad)
    with pytest.raises(NotOrdered):
        propose(groups, 0.02, lambda e: dn.christofides(e, middle="1/2"), most="3/2")


def test_spending_afresh_costs_more_with_every_stage() -> None:
    found = afresh(
        lambda e: dn.k_ary(5, epsilon=e), [0.1, 0.2, 0.4, 0.8], [0.2] * 5, 1000
    )
    ratios = [a / b for a, b in zip(found.independent, found.relaxed, strict=True)]
    assert ratios[0] == pytest.approx(1)
    assert ratios == sorted(ratios)
    with pytest.raises(InvalidRequest, match="do not rise"):
        afresh(lambda e: dn.k_ary(5, epsilon=e), [0.2, 0.1], [0.2] * 5, 1000)


@pytest.mark.parametrize("guess", [[1, 0], [0, 1], None])
def test_a_guess_of_nobody_leaves_the_estimate_unbiased(
    guess: list[float] | None,
) -> None:
    """Asked directly, a share of 0 has no variance: no weight may be lost for that."""
    stages = ladder([dn.warner(p="2/3"), dn.direct()])
    shares = np.array([0.3, 0.7])
    counts = tallied(stages, [[39, 51], [27, 63]])
    assert combine(counts, method="linear", guess=guess).value == pytest.approx(
        shares
    )
    alone = combine(
        tallied(stages, [[0, 0], [27, 63]]), method="linear", guess=guess
    )
    assert alone.value == pytest.approx(shares)
    assert alone.errors == pytest.approx(np.sqrt([0.21 / 89] * 2))
    assert sum(alone.evidence.weights) == pytest.approx(1)


@pytest.mark.parametrize("respondents", [0, -1, math.nan])
def test_nobody_has_no_variance(respondents: int) -> None:
    with pytest.raises(InvalidRequest, match="at least one"):
        afresh(lambda e: dn.warner(epsilon=e), [1, 2], [0.5, 0.5], respondents)


def test_a_proposal_never_exceeds_the_budget_by_rounding() -> None:
    counted = tallied(TWO, [[40, 60], [50, 150]])
    for most in ("1.7", 1.9, "2.3", 3.3, "10/3"):
        found = propose(counted, 1e-300, lambda e: dn.warner(epsilon=e), most=most)
        assert found.epsilon is not None
        assert exact.rational(found.epsilon) <= Budget.from_number(most).epsilon
        assert found.respondents > 10**500


def test_stages_that_are_alike_differ_as_often_as_is_told() -> None:
    """p-values of 400 surveys have the mean 1/2, within 6.2 standard errors: a false alarm in 1e-9 of all runs."""
    generator = np.random.default_rng(71)
    rates = [
        sum(
            share * float(design.channel.probability(1, given=answer))
            for answer, share in enumerate((0.7, 0.3))
        )
        for design in TWO.designs
    ]
    drawn = generator.binomial(2_000, rates, (400, 2))
    p_values = [
        combine(
            tallied(TWO, [[2_000 - yes, yes] for yes in row])
        ).evidence.homogeneity
        for row in drawn.tolist()
    ]
    assert abs(np.mean(p_values) - 0.5) < 6.2 * math.sqrt(1 / 12 / 400)
