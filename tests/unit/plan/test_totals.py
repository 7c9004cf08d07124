"""The error of all shares together: planned with a projection, and told of shares that were projected."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable import plan
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.simplex import plausible_shares, projected_error, projection

DESIGN = dn.k_ary(20, epsilon=1)
FIVE = [0.2] * 5 + [0.0] * 15
ZIPF = (1 / np.arange(1, 21) / (1 / np.arange(1, 21)).sum()).tolist()


def test_a_planned_size_is_the_smallest_one() -> None:
    for shares in (FIVE, ZIPF, None):
        n = int(plan.total_error(DESIGN, error=0.02, shares=shares).value)
        errors = [
            plan.variance(DESIGN, people, shares=shares, projected=True)
            for people in (n - 1, n)
        ]
        assert errors[0] > 0.02 >= errors[1]
        size = plan.sample_size(DESIGN, variance=0.02, shares=shares, projected=True)
        assert size == n


def test_rows_of_a_matrix_are_projected_one_by_one() -> None:
    rows = np.random.default_rng(5).normal(0.1, 0.3, (50, 7))
    np.testing.assert_array_equal(
        projection(rows), [projection(row) for row in rows]
    )


@pytest.mark.parametrize("size", [5, 20])
@pytest.mark.parametrize("relative", [0.3, 0.7, 1.0])
def test_even_shares_are_the_safe_figure(size: int, relative: float) -> None:
    """As long as errors are at most an even share: against shares at random, and even ones of fewer categories."""
    variances = np.full(size, (relative / size) ** 2)
    safe = projected_error(np.full(size, 1 / size), variances)
    draws = np.random.default_rng(6)
    some = [draws.dirichlet(np.full(size, a)) for a in (0.1, 0.5, 2, 20) * 20]
    few = [(np.arange(size) < n) / n for n in range(1, size + 1)]
    worst = max(projected_error(shares, variances) for shares in (*some, *few))
    assert worst <= safe * (1 + 1e-9)


@pytest.mark.parametrize(
    "shares", [FIVE, ZIPF, [0.05] * 20], ids=["five", "zipf", "even"]
)
def test_projected_shares_tell_their_error(shares: list[float]) -> None:
    """On average within 15% of what it is; that of the unbiased shares is 50 to 100% larger. The seed is fixed."""
    draws, people = np.random.default_rng(7), np.round(np.array(shares) * 1e6)
    counts = dn.simulate.tallies(
        DESIGN, people.astype(int), 200, respondents=2000, replaced=True, draws=draws
    )
    found = [dn.estimate(dn.Tally(DESIGN, row)).projected() for row in counts]
    true = np.mean([((each.value - shares) ** 2).sum() for each in found])
    told = np.mean([each.total_squared_error for each in found])
    assert 0.85 < told / true < 1.15
    assert true * 1.5 < plan.variance(DESIGN, 2000, shares=shares)


def test_shares_are_as_unequal_as_an_unbiased_estimate_says() -> None:
    value, variances = np.array([0.9, 0.3, 0.1, -0.3]), np.full(4, 0.02)
    shares = plausible_shares(value, variances)
    assert shares @ shares == pytest.approx(projection(value) @ projection(value))
    variances = np.full(4, 0.15)
    shares = plausible_shares(value, variances)
    assert shares @ shares == pytest.approx(value @ value - 0.6)
    assert plausible_shares(value, variances * 2) == pytest.approx([0.25] * 4)


def test_single_shares_keep_errors_and_intervals_of_the_unbiased_estimate() -> None:
    unbiased = dn.estimate(dn.Tally(DESIGN, [*[150] * 5, *[83] * 15]))
    projected = unbiased.projected()
    assert unbiased.total_squared_error == pytest.approx(
        sum(error**2 for error in unbiased.bse.values())
    )
    assert projected.total_squared_error < 0.6 * unbiased.total_squared_error
    assert projected.bse == unbiased.bse
    inside = np.clip(list(unbiased.conf_int().values()), 0, 1)
    low, high = np.transpose(list(projected.conf_int().values()))
    assert (low <= inside[:, 0]).all()
    assert (high >= inside[:, 1]).all()
    told = "their total squared error is about"
    assert told in str(projected.summary())
    assert told not in str(unbiased.summary())
    again = dn.Estimate.from_json(projected.to_json(), DESIGN)
    assert again.total_squared_error == projected.total_squared_error
    twice = projected.projected()
    assert twice.total_squared_error == projected.total_squared_error
    with pytest.raises(NotEstimable, match="normalization"):
        _ = unbiased.normalized().total_squared_error


def test_the_goal_projected_ranks_by_the_error_of_projected_shares() -> None:
    choice = plan.optimal(20, 1, goal="projected", n=2000, shares=FIVE)
    risks = [
        2000 * plan.variance(one.design, 2000, shares=FIVE, projected=True)
        for one in choice.candidates
    ]
    assert [one.risk for one in choice.candidates] == pytest.approx(risks)
    assert risks == sorted(risks)
    assert "2,000 respondents, at the given shares" in choice.reasons[0]


def test_a_design_too_large_to_simulate_is_planned_all_the_same() -> None:
    line = plan.total_error(dn.unary(30, 1), n=1000).lines[0]
    assert line["simulated"] == "–"
    assert 0 < float(line["projected"]) < float(line["unbiased"])


def test_two_categories_have_the_error_of_both() -> None:
    line = plan.total_error(dn.warner(1), n=1000).lines[0]
    assert line["unbiased"] == pytest.approx(2 * plan.variance(dn.warner(1), 1000))


def test_what_a_projection_does_not_help_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="no category and no margin"):
        plan.sample_size(DESIGN, margin=0.1, projected=True)
    with pytest.raises(InvalidRequest, match="no category and no margin"):
        plan.variance(DESIGN, 100, category="3", projected=True)
    with pytest.raises(InvalidRequest, match="no category and no margin"):
        plan.variance(dn.integer_deck(10, 1), 3, projected=True)
    with pytest.raises(InvalidRequest, match="exactly one"):
        plan.total_error(DESIGN)
    with pytest.raises(InvalidRequest, match=r"more than 2\^62 people"):
        plan.total_error(dn.warner(epsilon=1), error=1e-320)
    for options in ({"n": 100}, {"goal": "projected"}):
        with pytest.raises(InvalidRequest, match="goes with the goal 'projected'"):
            plan.optimal(5, 1, **options)  # type: ignore[arg-type]
