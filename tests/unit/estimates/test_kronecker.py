from __future__ import annotations

import warnings

import numpy as np
import pytest

from deniable.designs import (
    Design,
    binary,
    items,
    k_ary,
    matrix,
    product,
    rr3_dagger,
    warner,
)
from deniable.errors import ImplausibleResponses, InvalidRequest, NotEstimable
from deniable.estimates import covariance, estimate, left_inverse
from deniable.estimates.kronecker import Factored
from deniable.estimates.linear import Written, written_inverse
from deniable.tallies import Tally

WIDE = matrix([[0.5, 0.1], [0.25, 0.25], [0.25, 0.65]])
DESIGNS = [
    product([k_ary(3, 1), warner(2)]),
    product(
        [k_ary(4, 2, low=True), binary("9/10", "7/10"), rr3_dagger("7/10", "11/20")]
    ),
    product([WIDE, k_ary(3, 1), WIDE]),
]
every = pytest.mark.parametrize("design", DESIGNS, ids=range(3))


@every
@pytest.mark.parametrize("f", [0.0, 0.3, 1.0])
def test_factors_give_what_the_written_matrix_gives(
    design: Design, f: float
) -> None:
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.ones(design.channel.answers))
    seen = rng.dirichlet(np.ones(design.channel.responses))
    ours, plain = left_inverse(design.channel), written_inverse(design.channel, None)
    assert isinstance(ours, Factored)
    assert np.allclose(ours.shares(seen), plain.shares(seen), rtol=1e-11, atol=1e-13)
    assert np.allclose(ours.expected(shares), plain.expected(shares), rtol=1e-13)
    for one, two in zip(ours.spread(shares), plain.spread(shares), strict=True):
        assert np.allclose(one, two, rtol=1e-10)
    held, written = (each.covariance(seen, shares, f, 7.0) for each in (ours, plain))
    assert np.allclose(held.matrix(), written.matrix(), rtol=1e-10, atol=1e-12)
    assert np.allclose(
        held.variances, np.diagonal(held.matrix()), rtol=1e-10, atol=1e-14
    )
    one, two = rng.normal(size=(2, len(shares)))
    assert held.between(one, two) == pytest.approx(
        written.between(one, two), rel=1e-9
    )
    assert held.between(one, two) == pytest.approx(
        one @ held.matrix() @ two, rel=1e-9
    )


def test_one_certain_answer_has_a_spread_too() -> None:
    design = DESIGNS[0]
    sure = np.eye(6)[2]
    ours, plain = left_inverse(design.channel), written_inverse(design.channel, None)
    for one, two in zip(ours.spread(sure), plain.spread(sure), strict=True):
        assert np.allclose(one, two, rtol=1e-10)


def test_a_guess_matters_only_where_there_are_more_responses_than_answers() -> None:
    guess = np.random.default_rng(4).dirichlet(np.ones(12))
    assert isinstance(
        left_inverse(DESIGNS[0].channel, guess=guess[:6] / guess[:6].sum()), Factored
    )
    best = left_inverse(DESIGNS[2].channel, guess=guess)
    assert isinstance(best, Written)
    at_guess = np.trace(covariance(DESIGNS[2], guess, 10, guess=guess))
    assert at_guess < np.trace(covariance(DESIGNS[2], guess, 10))


def test_four_attributes_of_six_categories_have_a_full_covariance() -> None:
    design = product([k_ary(6, 1)] * 4)
    rng = np.random.default_rng(8)
    shares = rng.dirichlet(np.ones(1296))
    whole = covariance(design, shares, 1000)
    assert whole.shape == (1296, 1296)
    assert np.allclose(whole, whole.T, rtol=1e-9, atol=1e-9)
    # shares add up to 1
    assert np.abs(whole.sum(axis=0)).max() < 1e-9 * np.abs(whole).max()
    contrast = rng.normal(size=1296)
    linear = left_inverse(design.channel)
    held = linear.covariance(linear.expected(shares), shares, 1.0, 1000)
    assert held.between(contrast, contrast) == pytest.approx(
        contrast @ whole @ contrast, rel=1e-9
    )


def test_a_million_cells_have_shares_and_errors_but_no_written_matrix() -> None:
    design = items({f"item {number}": 1 for number in range(20)})
    counts = np.zeros(1 << 20, np.int64)
    counts[:: 1 << 10] = 7
    with warnings.catch_warnings():
        # no survey looks like this
        warnings.simplefilter("ignore", ImplausibleResponses)
        found = estimate(Tally(design, counts))
    assert found.value.sum() == pytest.approx(1)
    assert (found.errors > 0).all()
    with pytest.raises(InvalidRequest, match="expected at most 4,096 cells"):
        found.cov_params()
    with pytest.raises(NotEstimable, match="fewer attributes"):
        estimate(Tally(design, counts), inverse=np.eye(2))


def test_a_factor_that_tells_nothing_is_refused() -> None:
    blind = matrix([["1/2", "1/2"], ["1/2", "1/2"]])
    with pytest.raises(NotEstimable, match="cannot be told apart"):
        left_inverse(product([warner(1), blind]).channel)
