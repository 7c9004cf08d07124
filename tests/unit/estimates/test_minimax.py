from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

import deniable as dn
from deniable.channel import Dense, Hadamard, Hashing
from deniable.designs.sets_of_answers import subset_risk
from deniable.estimates import minimax
from deniable.estimates.inverses import left_inverse
from deniable.estimates.largest_risk import hardest, moments
from deniable.estimates.linear import floats
from deniable.order.admissibility import repair
from tests.support.tables import random_channel, subset_channel


@pytest.mark.parametrize(("k", "t"), [(4, 1), (4, 2), (5, 2), (6, 3)])
def test_subset_designs_have_the_minimax_risk_of_the_theory(k: int, t: int) -> None:
    found = minimax(subset_channel(k, t, Fraction(3)))
    assert found.risk == pytest.approx(float(subset_risk(k, t, 3)), rel=1e-12)
    assert found.gap <= 1e-12 * found.risk
    assert np.allclose(found.shares, 1 / k)


def test_square_designs_have_one_inverse() -> None:
    design = dn.matrix([[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]])
    found = minimax(design)
    inverse = np.linalg.inv(floats(design.channel))
    assert np.allclose(found.linear.inverse, inverse)  # type: ignore[attr-defined]
    v = (inverse**2).sum(axis=0) @ floats(design.channel)
    grid = np.random.default_rng(0).dirichlet(np.ones(3), 4000)
    assert found.risk >= (grid @ v - (grid**2).sum(axis=1)).max() - 1e-12
    assert found.gap == 0


@pytest.mark.parametrize("number", range(8))
def test_no_left_inverse_does_better_in_the_worst_case(number: int) -> None:
    order = random.Random(number)
    k = order.randint(2, 5)
    channel = random_channel(order, k, order.randint(k + 1, 9))
    found = minimax(channel)
    assert found.gap <= 1e-9 * found.risk
    matrix = floats(channel)
    base = found.linear.inverse  # type: ignore[attr-defined]
    assert np.allclose(base @ matrix, np.eye(k), atol=1e-9)
    # All other left inverses are this one plus rows from the left null space.
    null = np.linalg.svd(matrix.T)[2][k:]

    def worst(weights: np.ndarray) -> float:
        inverse = base + weights.reshape(k, -1) @ null
        v = np.square(inverse).sum(axis=0) @ matrix
        return max(v @ pi - pi @ pi for pi in tries)

    v = moments(found.linear, k)
    tries = [
        hardest(found.linear, k),
        found.shares,
        *np.eye(k),
        *np.random.default_rng(number).dirichlet(np.ones(k), 50),
    ]
    assert max(v @ pi - pi @ pi for pi in tries) <= found.risk + 1e-9
    step = np.random.default_rng(number).normal(size=(20, k * len(null)))
    assert all(worst(0.05 * each) >= found.risk - found.gap - 1e-9 for each in step)


def test_an_independent_optimizer_finds_the_same_hardest_shares() -> None:
    channel = repair(random_channel(random.Random(3), 4, 6), 12).channel
    found = minimax(channel)

    def loss(shares: np.ndarray) -> float:
        pi = np.clip(shares, 1e-9, None)
        pi = pi / pi.sum()
        matrix = floats(channel)
        information = matrix.T @ (matrix / (matrix @ pi)[:, None])
        return float(pi @ pi - np.trace(np.linalg.inv(information)))

    even = np.full(4, 0.25)
    result = minimize(
        loss,
        even,
        method="SLSQP",
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda pi: pi.sum() - 1},
        options={"ftol": 1e-13, "maxiter": 300},
    )
    assert -result.fun == pytest.approx(found.risk, rel=1e-6)


def test_the_minimax_inverse_is_at_most_as_risky_as_the_default_and_can_be_handed_over() -> (
    None
):
    channel = random_channel(random.Random(8), 3, 7)
    design = dn.Design("wide", 3, 7, channel)  # type: ignore[arg-type]
    found = minimax(design)
    default = left_inverse(channel)
    v = moments(default, 3)
    assert (
        found.risk <= max(v @ pi - pi @ pi for pi in [hardest(default, 3)]) + 1e-12
    )
    tally = dn.Tally(
        design, np.rint(1000 * floats(channel) @ [0.2, 0.3, 0.5]).astype(int)
    )
    estimate = dn.estimate(tally, inverse=found.linear.inverse)  # type: ignore[attr-defined]
    assert np.allclose(estimate.value, [0.2, 0.3, 0.5], atol=0.03)


def test_coded_designs_treat_all_answers_alike() -> None:
    for channel in (Hadamard(7, 3, 1), Hashing(9, 3, 3, 1)):
        found = minimax(channel)
        assert found.gap <= 1e-9 * found.risk
        assert np.allclose(found.shares, 1 / channel.answers)
        assert np.allclose(
            moments(found.linear, channel.answers),
            moments(found.linear, channel.answers)[0],
        )
    full = minimax(Hashing(9, 3, 3, 1))
    assert full.risk == pytest.approx(float(subset_risk(9, 3, 3)), rel=1e-12)


def test_a_channel_that_cannot_tell_answers_apart_is_refused() -> None:
    blind = Dense.from_rows(
        [
            [Fraction(1, 2)] * 2 + [Fraction(1, 4)],
            [Fraction(1, 2)] * 2 + [Fraction(3, 4)],
        ]
    )
    with pytest.raises(dn.errors.NotEstimable):
        minimax(blind)
