"""Maximum likelihood: closed forms and EM find the same maximum, and the certificate is true."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.channel import Diagonal
from deniable.errors import ImplausibleResponses
from deniable.estimates import covariance, left_inverse, likelihood
from deniable.estimates.likelihood import (
    expectation_maximization,
    level,
    log_likelihood,
    most_likely,
    newton,
)
from deniable.estimates.linear import floats

COUNTS = st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(
    lambda counts: sum(counts) > 0
)


@given(COUNTS, st.sampled_from([(3, 1), (9, 2), (1, 3), (2, 9)]))
@settings(max_examples=150, deadline=None)
def test_the_closed_form_of_a_diagonal_channel_is_a_maximum(
    counts: list[int], weights: tuple[int, int]
) -> None:
    channel = Diagonal(4, *weights)
    observed = np.array(counts, float)
    shares, convergence = most_likely(channel, left_inverse(channel), observed)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1)
    assert convergence.converged
    # The certificate of EM at the closed form: nothing is left to gain.
    seen = observed > 0
    matrix = floats(channel)
    gradient = (
        (observed[seen] / (matrix @ shares)[seen]) @ matrix[seen] / observed.sum()
    )
    assert gradient.max() == pytest.approx(1, abs=1e-9)


@given(COUNTS)
@settings(max_examples=60, deadline=None)
def test_em_reaches_the_height_that_its_gap_promises(counts: list[int]) -> None:
    matrix = floats(
        dn.matrix(
            [[0.5, 0.1, 0.2], [0.2, 0.2, 0.3], [0.1, 0.6, 0.2], [0.2, 0.1, 0.3]]
        ).channel
    )
    observed = np.array(counts, float)
    shares, convergence = expectation_maximization(
        matrix, observed, start=np.full(3, 1 / 3)
    )
    assert convergence.converged
    best = log_likelihood(observed, matrix @ shares)
    grid = [
        np.array([a, b, 20 - a - b]) / 20 for a in range(21) for b in range(21 - a)
    ]
    assert all(
        log_likelihood(observed, matrix @ each) <= best + convergence.gap + 1e-9
        for each in grid
    )


def test_em_that_runs_out_of_steps_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likelihood, "_MOST_NEWTON", 0)
    monkeypatch.setattr(likelihood, "_MOST_STEPS", 1)
    design = dn.matrix(
        [[0.5, 0.1, 0.2], [0.2, 0.2, 0.3], [0.1, 0.6, 0.2], [0.2, 0.1, 0.3]]
    )
    estimate = dn.estimate(dn.Tally(design, [10, 30, 25, 5]), method="likelihood")
    assert not estimate.convergence.converged
    assert any("may still gain" in warning.text for warning in estimate.warnings)


def test_newton_and_em_find_the_same_maximum() -> None:
    """Also on the border, where Newton leaves categories out and takes them back."""
    generator = np.random.default_rng(4)
    settled = 0
    for _ in range(300):
        matrix = generator.dirichlet(np.ones(7), size=4).T
        truth = generator.dirichlet(np.full(4, 0.3))
        counts = generator.multinomial(
            int(generator.integers(8, 2000)), matrix @ truth
        ).astype(np.float64)
        start = np.full(4, 1 / 4)
        found = newton(matrix, counts, start=start)
        slow, _ = expectation_maximization(matrix, counts, start=start)
        if found is not None:
            settled += 1
            assert found[1].gap <= 1e-9
            heights = [
                log_likelihood(counts, matrix @ shares)
                for shares in (found[0], slow)
            ]
            assert heights[0] >= heights[1] - 1e-7
            assert found[0].min() >= 0
    assert settled > 270


def test_a_few_steps_are_enough_whatever_rounding_leaves() -> None:
    """With ten thousand million respondents a rounded slope alone is worth more than the tolerance for a few."""
    for design in (
        dn.hadamard(5, 1),
        dn.local_hashing(7, 2, values=3),
        dn.rappor(4, 1),
    ):
        matrix = design.channel.floats()
        shares = (
            np.arange(1, matrix.shape[1] + 1)
            / np.arange(1, matrix.shape[1] + 1).sum()
        )
        for seed in range(5):
            counts = (
                np.random.default_rng(seed)
                .multinomial(10**10, matrix @ shares)
                .astype(np.float64)
            )
            found = newton(matrix, counts, start=shares)
            assert found is not None
            assert found[1].steps <= 4


def test_without_bounds_the_level_is_proportional() -> None:
    assert np.allclose(
        level(np.array([1.0, 2.0, 3.0]), 0.01, rising=True), [1 / 6, 2 / 6, 3 / 6]
    )


def test_an_estimate_inside_the_simplex_is_the_most_likely_one() -> None:
    tally = dn.Tally(dn.binary(0.9, 0.7), [60, 40])
    assert np.allclose(
        dn.estimate(tally, method="likelihood").value, dn.estimate(tally).value
    )


@pytest.mark.parametrize(
    "counts", [[30, 50, 20], [10, 42, 48]], ids=["inside", "at the border"]
)
@pytest.mark.parametrize("population", [None, 400, 100])
def test_the_errors_of_the_most_likely_shares_know_the_population(
    counts: list[int], population: int | None
) -> None:
    design = dn.k_ary(3, epsilon=2)
    found = dn.estimate(
        dn.Tally(design, counts), method="likelihood", population=population
    )
    expected = covariance(design, found.value.tolist(), 100, population=population)
    assert np.allclose(found.cov_params(), expected, rtol=1e-9, atol=1e-15)
    census = covariance(design, found.value.tolist(), 100, population=100)
    assert population == 100 or found.cov_params().trace() > 1.05 * census.trace()


def test_twenty_yes_of_two_hundred_under_a_forced_response() -> None:
    """The case where an R package ends with a matrix error; moment −.10 (SE .0319) and likelihood 0."""
    forced = dn.matrix([["5/6", "1/6"], ["1/6", "5/6"]], categories=["yes", "no"])
    tally = dn.Tally(forced, [20, 180])
    with pytest.warns(ImplausibleResponses, match="did not follow the device"):
        moment = dn.estimate(tally)
    assert moment.params["yes"] == pytest.approx(-0.10)
    assert moment.errors[0] == pytest.approx(0.0319, abs=5e-5)
    with pytest.warns(ImplausibleResponses):
        likely = dn.estimate(tally, method="likelihood")
    assert likely.params["yes"] == 0
    low, high = likely.interval("yes")
    assert low == 0
    assert 0.01 < high < 0.1
    assert "coded the other way round" in str(likely.summary())
