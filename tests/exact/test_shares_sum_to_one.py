"""That shares sum to one is used: what is estimated sums to one, and nothing linear and unbiased is better there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.channel import Bits, Hadamard, Hashing, Sets, TwoLevel, sets
from deniable.designs import Design
from deniable.estimates import covariance, left_inverse, minimax
from deniable.estimates.shares import fitted
from deniable.estimates.supported import Summing, supported
from tests.support.registered import parameters
from tests.support.sets import TELLING

Matrix = NDArray[np.float64]

CODED: dict[str, TwoLevel] = {
    **{f"hadamard {k}": Hadamard(k, 7, 2) for k in (3, 4, 5, 6, 8, 10)},
    **{
        f"hashing {k}, {q}": Hashing(k, q, 5, 2)
        for k, q in ((4, 2), (6, 2), (4, 3), (7, 3), (10, 3), (9, 3), (5, 5))
    },
}


def written(channel: TwoLevel) -> Matrix:
    responses = range(channel.responses)
    return np.array(
        [
            [float(channel.probability(i, given=j)) for j in range(channel.size)]
            for i in responses
        ]
    )


def variances(left: Matrix, matrix: Matrix, shares: Matrix) -> Matrix:
    return np.asarray((left**2) @ (matrix @ shares) - shares**2)


def even(size: int) -> Matrix:
    return np.full(size, 1 / size)


@pytest.mark.parametrize("design", parameters())
def test_estimated_shares_sum_to_one(design: Design) -> None:
    """Whatever was sent, also far from what is expected."""
    for n in (2, 37):
        counts = np.zeros(design.channel.cells, np.int64)
        possible = [
            i for i in range(design.channel.responses) if design.channel.possible(i)
        ]
        for sent in range(n):
            counts[
                list(design.channel.cells_of(possible[sent * sent % len(possible)]))
            ] += 1
        assert fitted(
            dn.Tally(design, counts, respondents=n)
        ).value.sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    "design",
    [
        dn.unary(40, 1, by_size=False),
        dn.unary(40, 2, optimized=True),
        dn.rappor(40, 2),
    ],
)
def test_shares_of_many_categories_sum_to_one(design: Design) -> None:
    sent = dn.tally(design, ["b" + 40 * "1", "b" + 40 * "0", "b10" + 38 * "1"])
    assert fitted(sent).value.sum() == pytest.approx(1, abs=1e-9)
    assert fitted(sent, method="customary").value.sum() != pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("channel", CODED.values(), ids=CODED.keys())
def test_coded_designs_have_the_best_linear_estimate_at_even_shares(
    channel: TwoLevel,
) -> None:
    """The best one written out; and never worse than the estimate from support alone."""
    matrix, shares = written(channel), even(channel.size)
    weighted = matrix.T / (matrix @ shares)
    best = np.linalg.solve(weighted @ matrix, weighted)
    linear = left_inverse(channel)
    found = np.array([linear.shares(unit) for unit in np.eye(channel.responses)]).T
    assert found == pytest.approx(best, abs=1e-9)
    raw = supported(channel)
    before = raw.covariance(raw.expected(shares), shares, 1.0, 1.0).variances.sum()
    now = linear.covariance(
        linear.expected(shares), shares, 1.0, 1.0
    ).variances.sum()
    uneven = len({channel.supporters(i) for i in range(channel.responses)}) > 1
    assert now < before * (1 - 1e-4) if uneven else now == pytest.approx(before)


SUMMED = [each for each in TELLING.values() if isinstance(each, Bits)]


@pytest.mark.parametrize("channel", SUMMED, ids=repr)
def test_from_sums_the_estimate_is_the_best_that_sums_to_one(
    channel: Bits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Projected with the covariance at even shares, all of it from the table; no other weights are better there."""
    monkeypatch.setattr(sets, "MAX_COUNTED_APART", 1)
    channel = Bits(channel.size, channel.hit, channel.stray, channel.total)
    linear, matrix, k = left_inverse(channel), written(channel), channel.size
    assert isinstance(linear, Summing)
    held = np.array(
        [[float(i >> j & 1) for i in range(channel.responses)] for j in range(k)]
    )
    raw = (held - float(channel.p_false)) / float(channel.p_true - channel.p_false)
    left = np.array([linear.shares(column) for column in held.T]).T
    assert left == pytest.approx(raw + (1 - raw.sum(axis=0)) / k)
    assert left @ matrix == pytest.approx(np.eye(k))
    best = variances(left, matrix, even(k))
    assert linear.covariance(
        np.empty(0), even(k), 1.0, 1.0
    ).variances == pytest.approx(best)
    generator = np.random.default_rng(13)
    for _ in range(20):
        weights = generator.dirichlet(np.ones(k))
        other = raw + np.outer(weights, 1 - raw.sum(axis=0))
        assert variances(other, matrix, even(k)).sum() >= best.sum() - 1e-12
    assert best.sum() < variances(raw, matrix, even(k)).sum() - 1e-3


@pytest.mark.parametrize(
    ("k", "epsilon", "gain"),
    [(13, 4, 1.2), (100, 8, 1.28), (200, 8, 1.22), (100, 1, 1.002)],
)
def test_sizes_of_sets_tell_more_and_are_counted_by_default(
    k: int, epsilon: int, gain: float
) -> None:
    """What counts of categories alone lose at even shares, where the estimate by size is the best one there is."""
    designs = dn.unary(k, epsilon), dn.unary(k, epsilon, by_size=False)
    ours, alone = (
        np.trace(dn.estimates.covariance(each, even(k), 1)) for each in designs
    )
    assert alone / ours == pytest.approx(gain, abs=0.01)


@pytest.mark.parametrize(
    ("k", "p", "q"),
    [(13, "3/4", "1/4"), (100, "1/2", "1/10"), (100_000, "1/2", "1/3")],
)
def test_the_gain_is_the_variance_of_the_sum(k: int, p: str, q: str) -> None:
    """In rationals: what is saved in total at even shares is Var(Σπ̂)/k = [p(1 − p) + (k − 1)·q(1 − q)]/(k·(p − q)²)."""
    hit, stray = Fraction(p), Fraction(q)
    saved = (
        (hit * (1 - hit) + (k - 1) * stray * (1 - stray)) / (hit - stray) ** 2 / k
    )
    design = dn.unary(k, p=p, q=q, by_size=False)
    raw, ours = supported(design.channel), left_inverse(design.channel)  # type: ignore[arg-type]
    before, now = (
        each.covariance(np.empty(0), even(k), 1.0, 1.0).variances.sum()
        for each in (raw, ours)
    )
    assert before - now == pytest.approx(float(saved), rel=1e-6)


@pytest.mark.parametrize(
    ("design", "least"),
    [
        (dn.unary(3, "1/2"), 0.32),
        (dn.unary(10, "1/2"), 0.09),
        (dn.unary(3, "1/2", optimized=True), 0.32),
        (dn.unary(10, 2, optimized=True), 0.09),
        (dn.hadamard(4, 4), 0.21),
        (dn.hadamard(10, 2), 0.04),
        (dn.local_hashing(6, "1/2"), 0.05),
        (dn.local_hashing(10, "1/2", values=3), 0.07),
    ],
    ids=repr,
)
def test_plans_promise_what_estimates_keep(design: Design, least: float) -> None:
    """The share of the variance that is saved at even shares; the plan, the covariance and the table agree on it."""
    channel = design.channel
    assert isinstance(channel, TwoLevel)
    k = channel.size
    raw = supported(channel)
    before = raw.covariance(raw.expected(even(k)), even(k), 1.0, 1.0).variances.sum()
    planned = 1000 * dn.plan.variance(design, 1000, shares=even(k).tolist())
    assert planned == pytest.approx(
        1000 * np.trace(covariance(design, even(k), 1000))
    )
    assert 1 - planned / before >= least
    linear = left_inverse(channel)
    cells = np.zeros((channel.cells, channel.responses))
    for response in filter(channel.possible, range(channel.responses)):
        cells[list(channel.cells_of(response)), response] = 1
    left = np.array([linear.shares(column) for column in cells.T]).T
    shares = np.arange(1, k + 1) / (k * (k + 1) / 2)
    assert np.diag(covariance(design, shares, 1)) == pytest.approx(
        variances(left, written(channel), shares)
    )
    worst = max(np.square(left).sum(axis=0) @ written(channel))
    assert dn.plan.variance(design, 1, population="census") == pytest.approx(
        worst - 1
    )


def test_the_best_at_even_shares_is_minimax_for_sets_of_every_kind() -> None:
    for channel in TELLING.values():
        assert minimax(channel).gap == pytest.approx(0, abs=1e-9)


def test_a_million_categories_stay_linear() -> None:
    """Nothing of the size of a square of the categories is made; a table of them would be eight terabytes."""
    design = dn.unary(1_000_000, 2)
    assert isinstance(design.channel, Sets)
    linear = left_inverse(design.channel)
    shares = linear.shares(np.full(1_000_000, 0.25))
    assert shares.sum() == pytest.approx(1)
    assert linear.covariance(np.empty(0), shares, 1.0, 1.0).between(
        np.ones(1_000_000), np.ones(1_000_000)
    ) == (pytest.approx(0, abs=1e-6))
