"""Left inverses: each one inverts its channel, and closed forms agree with the written-out matrix."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.channel import Dense, Diagonal
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates import left_inverse
from deniable.estimates.linear import floats

TALL = dn.matrix(
    [
        ["1/2", "1/10", "1/5"],
        ["1/5", "1/5", "3/10"],
        ["1/10", "3/5", "1/5"],
        ["1/5", "1/10", "3/10"],
    ]
)


@pytest.mark.parametrize(
    "channel",
    [
        Diagonal(5, 3, 1),
        Diagonal(4, 1, 3),
        TALL.channel,
        dn.binary(0.9, 0.7).channel,
    ],
)
def test_shares_invert_what_is_expected(channel: Diagonal | Dense) -> None:
    linear = left_inverse(channel)
    shares = np.arange(1, channel.answers + 1) / sum(range(1, channel.answers + 1))
    assert np.allclose(linear.shares(linear.expected(shares)), shares, atol=1e-13)


@pytest.mark.parametrize("f", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("same", [7, 1])
def test_the_closed_form_of_a_diagonal_channel_is_the_written_out_one(
    same: int, f: float
) -> None:
    diagonal = Diagonal(4, same, 2)
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    closed, written = left_inverse(diagonal), left_inverse(diagonal.dense())
    responses = closed.expected(shares)
    one, two = (
        each.covariance(responses, shares, f, 50) for each in (closed, written)
    )
    assert np.allclose(one.matrix(), two.matrix(), atol=1e-14)
    assert np.allclose(one.variances, two.variances, atol=1e-14)
    weights = np.array([1.0, -1.0, 0.5, 0.0])
    assert one.between(weights, shares) == pytest.approx(
        two.between(weights, shares), abs=1e-14
    )
    for first, second in zip(
        closed.spread(shares), written.spread(shares), strict=True
    ):
        assert np.allclose(first, second, atol=1e-12)


def test_a_guess_lowers_the_variance_there_and_stays_unbiased() -> None:
    guess = np.array([0.8, 0.1, 0.1])
    best, even = left_inverse(TALL.channel, guess=guess), left_inverse(TALL.channel)
    assert np.allclose(best.inverse @ floats(TALL.channel), np.eye(3), atol=1e-12)
    risk = [
        np.trace(each.covariance(each.expected(guess), guess, 1.0, 1.0).matrix())
        for each in (best, even)
    ]
    assert risk[0] < risk[1]


def test_a_given_left_inverse_is_checked() -> None:
    inverse = np.linalg.pinv(floats(TALL.channel))
    tally = dn.Tally(TALL, [40, 30, 20, 10])
    assert np.allclose(
        dn.estimate(tally, inverse=inverse).value, inverse @ (tally.counts / 100)
    )
    with pytest.raises(InvalidRequest, match="not the identity"):
        dn.estimate(tally, inverse=inverse * 1.01)
    with pytest.raises(InvalidRequest, match="shape"):
        dn.estimate(tally, inverse=inverse.T)


def test_a_channel_that_cannot_tell_answers_apart_is_refused() -> None:
    blind = dn.matrix([["1/2", "1/2", "1/4"], ["1/2", "1/2", "3/4"]])
    with pytest.raises(NotEstimable, match="told apart"):
        dn.estimate(dn.Tally(blind, [10, 10]))
    with pytest.raises(NotEstimable, match="told apart"):
        left_inverse(Diagonal(3, 1, 1))


def test_a_million_categories_need_no_matrix() -> None:
    design = dn.k_ary(1_000_000, epsilon=8)
    counts = np.zeros(1_000_000, np.int64)
    counts[17] = 5_000
    estimate = dn.estimate(dn.Tally(design, counts))
    assert estimate.value.sum() == pytest.approx(1, abs=1e-6)
    assert estimate.value.argmax() == 17
    assert len(estimate.errors) == 1_000_000
