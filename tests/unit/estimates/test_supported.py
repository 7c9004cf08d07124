from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.channel import Channel, Diagonal, Hadamard, Hashing, TwoLevel
from deniable.channel.support import SupportTable, walsh
from deniable.engines import local
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Written, floats
from deniable.estimates.shares import fitted
from deniable.estimates.supported import Supported, supported
from tests.support.seeded import seeded

CHANNELS: list[TwoLevel] = [
    *(Diagonal(k, 5, 2) for k in (2, 3, 9)),
    *(Hadamard(k, 5, 2) for k in (2, 3, 6, 7, 20)),
    *(
        Hashing(k, q, 5, 2)
        for q in (2, 3, 4, 5, 7, 8, 9, 16, 25)
        for k in (2, 4, 9, 26, 70)
    ),
]
every = pytest.mark.parametrize("channel", CHANNELS, ids=repr)


@cache
def written(channel: Channel) -> np.ndarray:
    matrix = np.array(
        [
            [float(channel.probability(i, given=j)) for j in range(channel.answers)]
            for i in range(channel.responses)
        ]
    )
    matrix.flags.writeable = False
    return matrix


def shares_of(channel: Channel) -> np.ndarray:
    shares = np.arange(1.0, channel.answers + 1) ** 2
    return shares / shares.sum()


@every
def test_the_transforms_are_those_of_the_table(channel: TwoLevel) -> None:
    linear, matrix = supported(channel), written(channel)
    assert np.allclose(floats(channel), matrix, rtol=1e-14)
    table = (matrix > matrix.min() * 1.5).T
    cells, answers = (
        np.linspace(-1, 2, channel.responses),
        np.linspace(3, -1, channel.answers),
    )
    for support in (linear.support, SupportTable.from_channel(channel)):
        assert (support.size, support.cells) == (channel.answers, channel.responses)
        assert np.allclose(support.gather(cells), table @ cells)
        assert np.allclose(support.scatter(answers), table.T @ answers)
        assert np.array_equal(support.table(), table)


@every
def test_it_is_a_left_inverse_with_the_covariance_of_the_formula(
    channel: TwoLevel,
) -> None:
    linear, matrix, pi = supported(channel), written(channel), shares_of(channel)
    inverse = np.array([linear.shares(unit) for unit in np.eye(channel.responses)]).T
    assert np.allclose(inverse @ matrix, np.eye(channel.answers), atol=1e-10)
    lam = matrix @ pi
    assert np.allclose(linear.expected(pi), lam, rtol=1e-12)
    for f in (0.0, 0.25, 1.0):
        expected = (
            f * (np.diag(pi) - np.outer(pi, pi))
            + (inverse * lam) @ inverse.T
            - np.diag(pi)
        ) / 11
        found = linear.covariance(lam, pi, f, 11.0)
        assert np.allclose(found.matrix(), expected, atol=1e-12)
        assert np.allclose(found.variances, np.diag(expected), atol=1e-12)
        one, two = (
            np.cos(np.arange(channel.answers)),
            np.sin(np.arange(channel.answers)),
        )
        assert np.isclose(found.between(one, two), one @ expected @ two, atol=1e-12)


@every
def test_the_spread_does_not_depend_on_the_other_answer(channel: TwoLevel) -> None:
    linear, matrix = supported(channel), written(channel)
    inverse = np.array([linear.shares(unit) for unit in np.eye(channel.responses)]).T
    moments = inverse**2 @ matrix
    own, others = linear.spread(shares_of(channel))
    assert np.allclose(np.diag(moments), own)
    assert np.allclose(moments[~np.eye(channel.answers, dtype=bool)], others[0])


def test_walsh_is_its_own_inverse_up_to_the_length() -> None:
    values = np.random.default_rng(4).normal(size=256)
    assert np.allclose(walsh(walsh(values)), 256 * values)


def test_a_guess_asks_for_the_locally_best_inverse() -> None:
    channel = Hashing(5, 3, 5, 2)
    guess = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    best = left_inverse(channel, guess=guess)
    assert isinstance(best, Written)
    lam = floats(channel) @ guess
    plain = left_inverse(channel).covariance(lam, guess, 1.0, 1.0).variances.sum()
    assert best.covariance(lam, guess, 1.0, 1.0).variances.sum() < plain
    assert isinstance(
        left_inverse(Hadamard(7, 3, 1), guess=np.full(7, 1 / 7)), Supported
    )


@pytest.mark.parametrize("build", [dn.hadamard, dn.local_hashing])
def test_many_categories_end_to_end(
    build: object, request: pytest.FixtureRequest
) -> None:
    design = build(20_000, epsilon=3)  # type: ignore[operator]
    answers = np.minimum(np.random.default_rng(9).geometric(0.2, 60_000), 20_000) - 1
    responses = local.draw_all(
        design, answers, codes=True, source=seeded(request.node.name), fast=False
    )
    estimate = dn.estimate(dn.tally(design, responses, codes=True))
    truth = np.bincount(answers, minlength=20_000) / len(answers)
    wrong = np.abs(estimate.value - truth) / estimate.errors
    # 20,000 normal deviates beyond 6.5: once in 600,000 runs
    assert wrong.max() < 6.5
    assert np.isclose(np.mean(wrong**2), 1, atol=0.1)
    low, high = estimate.interval("0")
    assert low < estimate.value[0] < high
    contrast = estimate.contrast({"0": 1, "1": -1})
    assert abs(contrast.value - (truth[0] - truth[1])) < 6.5 * contrast.error
    with pytest.raises(InvalidRequest, match="too large to write out"):
        estimate.cov_params()


def test_a_likelihood_that_would_need_the_table_is_refused() -> None:
    design = dn.local_hashing(20_000, epsilon=1)
    tally = dn.tally(design, np.arange(1000), codes=True)
    with pytest.raises(NotEstimable, match="too large to write out"):
        dn.estimate(tally, method="likelihood")


def test_a_small_design_has_a_likelihood() -> None:
    design = dn.hadamard(5, epsilon=2)
    counts = np.rint(
        1000
        * supported(design.channel).expected(np.array([0.5, 0.3, 0.2, 0.0, 0.0]))
    ).astype(int)  # type: ignore[arg-type]
    found = dn.estimate(dn.Tally(design, counts), method="likelihood")
    assert np.allclose(found.value, [0.5, 0.3, 0.2, 0.0, 0.0], atol=0.01)
    assert found.value.min() >= 0
    assert np.isclose(found.value.sum(), 1)


def test_the_table_of_a_million_categories_is_computed() -> None:
    page = (
        Path(__file__).parents[3] / "docs" / "theory" / "large-domains.md"
    ).read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \((\d+)\) \| ([\d.]+) \|$",
        page,
        re.MULTILINE,
    )
    assert len(rows) == 4
    size = 1_000_000
    for epsilon, plain, signs, hashed, values, best in rows:
        hashing = dn.local_hashing(size, epsilon).channel
        assert isinstance(hashing, Hashing)
        assert hashing.values == int(values)
        subset = dn.subset(size, epsilon).channel
        held = float(subset.inclusion(subset.ones))  # type: ignore[attr-defined]
        diagonal = dn.k_ary(size, epsilon).channel
        for shown, p, s in (
            (
                plain,
                float(diagonal.probability(0, given=0)),
                float(diagonal.probability(0, given=1)),
            ),
            (
                signs,
                supported(dn.hadamard(size, epsilon).channel).p,
                supported(dn.hadamard(size, epsilon).channel).q,
            ),  # type: ignore[arg-type]
            (hashed, supported(hashing).p, supported(hashing).q),
            (best, held, (subset.ones - held) / (size - 1)),  # type: ignore[attr-defined]
        ):
            assert s * (1 - s) / (p - s) ** 2 == pytest.approx(
                float(shown), rel=5e-4
            )


@pytest.mark.parametrize(
    ("k", "epsilon", "n", "share"),
    [(100, 8, 30, 0.01), (100, 8, 300, 0.0), (100, 8, 300, 0.02)],
)
def test_hashing_keeps_its_coverage_where_strays_are_rare(
    k: int, epsilon: int, n: int, share: float
) -> None:
    """The support of a category is binomial, so that the coverage of the default interval is a sum over its counts."""
    design = dn.local_hashing(k, epsilon)
    channel = design.channel
    assert isinstance(channel, Hashing)
    hit, miss = (
        next(i for i in range(channel.responses) if channel.supports(i, 0) is wanted)
        for wanted in (True, False)
    )
    law = supported(channel)
    held = 0.0
    for count in range(n + 1):
        chance = float(binom.pmf(count, n, law.q + law.gap * share))
        if chance > 1e-9:
            made = fitted(
                dn.tally(design, {hit: count, miss: n - count}, codes=True)
            )
            assert made.default_interval == "exact"
            low, high = made.interval("0")
            held += chance * (low <= share <= high)
    assert held >= 0.95
