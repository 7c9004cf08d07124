"""Posteriors of shares: the exact mixture against numerical integration, draws against the exact one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import beta

import deniable as dn
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates import posteriors
from tests.support.sets import with_sums

SIGMAS = 6.2  # beyond which a normal number lies once in 10⁹


def integrated(
    tally: dn.Tally, prior: tuple[float, float]
) -> tuple[float, float, list[float]]:
    """Mean, variance, and the probabilities below some shares, by Gauss' quadrature of likelihood times prior."""
    nodes, gaps = np.polynomial.legendre.leggauss(200)
    edges = [0, 0.002, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.97, 1]
    pieces = list(pairwise(edges))
    shares = np.concatenate(
        [(low + high) / 2 + (high - low) / 2 * nodes for low, high in pieces]
    )
    widths = np.concatenate([(high - low) / 2 * gaps for low, high in pieces])
    said = np.column_stack([1 - shares, shares]) @ tally.design.channel.floats().T
    logs = xlogy(tally.counts, said).sum(axis=1) + beta.logpdf(
        shares, prior[1], prior[0]
    )
    weights = widths * np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = float(weights @ shares)
    return (
        mean,
        float(weights @ (shares - mean) ** 2),
        [float(weights[shares < end].sum()) for end in (0.05, 0.1, 0.3)],
    )


@pytest.mark.parametrize(
    ("design", "counts"),
    [
        (dn.warner(p="3/4"), [70, 30]),
        (dn.warner(p="1/4"), [70, 30]),
        (dn.forced_response("2/3", "1/6", "1/6"), [180, 20]),
        (dn.forced_response("2/3", "1/6", "1/6"), [2, 298]),
        (dn.mangat("2/3"), [60, 40]),
        (dn.kuk("3/5", "1/5", draws=2), [60, 30, 10]),
        (dn.direct(), [9, 1]),
    ],
)
@pytest.mark.parametrize("prior", [(1.0, 1.0), (2.5, 1.5)])
def test_the_mixture_is_the_integral(
    design: dn.Design, counts: list[int], prior: tuple[float, float]
) -> None:
    tally = dn.Tally(design, counts)
    found = dn.posterior(tally, prior=prior)
    assert found.method == "exact"
    mean, variance, below = integrated(tally, prior)
    assert found.params["yes"] == pytest.approx(mean, rel=1e-7)
    assert found.cov_params()[1, 1] == pytest.approx(variance, rel=1e-6)
    assert [
        1 - found.above("yes", share) for share in (0.05, 0.1, 0.3)
    ] == pytest.approx(below, abs=1e-8)
    assert found.above("no", 0.7) == pytest.approx(below[2], abs=1e-8)
    low, high = found.interval("yes", level=0.9)
    assert found.above("yes", low) == pytest.approx(0.95, abs=1e-8)
    assert found.above("yes", high) == pytest.approx(0.05, abs=1e-8)


def test_a_direct_question_gives_the_textbook() -> None:
    found = dn.posterior(dn.Tally(dn.direct(), [9, 1]), prior="jeffreys")
    assert found.params["yes"] == pytest.approx(1.5 / 11)
    assert found.interval("yes") == pytest.approx(
        beta.interval(0.95, 1.5, 9.5), abs=1e-9
    )


def test_many_respondents_far_from_what_the_device_sends_lose_no_digits() -> None:
    """Nobody of 4,000 said yes, where the device alone makes a sixth do so: the weights span e^±700 and more."""
    found = dn.posterior(
        dn.Tally(dn.forced_response("2/3", "1/6", "1/6"), [4000, 0])
    )
    assert (
        0
        < found.interval("yes").low
        < found.params["yes"]
        < found.interval("yes").high
        < 0.01
    )


def test_the_narrowest_interval_is_narrower_and_as_probable() -> None:
    found = dn.posterior(dn.Tally(dn.warner(p="3/4"), [70, 30]))
    narrow, usual = found.interval("yes", method="highest"), found.interval("yes")
    assert narrow.high - narrow.low < usual.high - usual.low
    assert found.above("yes", narrow.low) - found.above(
        "yes", narrow.high
    ) == pytest.approx(0.95, abs=1e-7)


def test_draws_agree_with_the_exact_posterior() -> None:
    """Means of draws lie within 6.2 of their own standard errors; once in 10⁹ they do not."""
    tally = dn.Tally(dn.warner(p="9/10"), [300, 100])
    exact = dn.posterior(tally)
    drawn = dn.posterior(tally, method="draws", draws=np.random.default_rng(11))
    assert drawn.drawn.effective >= 1000
    assert not drawn.warnings
    error = exact.bse["yes"] / np.sqrt(drawn.drawn.effective)
    assert abs(drawn.params["yes"] - exact.params["yes"]) < SIGMAS * error
    assert drawn.bse["yes"] == pytest.approx(exact.bse["yes"], rel=0.2)
    assert drawn.above("yes", exact.params["yes"]) == pytest.approx(
        0.5, abs=SIGMAS * 0.5 / 1000**0.5
    )
    narrow, usual = drawn.interval("yes", method="highest"), drawn.interval("yes")
    assert narrow.high - narrow.low <= usual.high - usual.low


def test_three_answers_agree_with_a_sum_over_the_simplex() -> None:
    design = dn.k_ary(["a", "b", "c"], epsilon=3)
    counts, prior = np.array([60, 30, 10]), np.array([1.0, 2.0, 0.5 + 0.5])
    steps = 300
    points = (
        np.array(
            [
                (i, j, steps - i - j)
                for i in range(steps + 1)
                for j in range(steps + 1 - i)
            ]
        )
        / steps
    )
    logs = np.log(points @ design.channel.floats().T) @ counts + np.log(
        np.maximum(points, 1e-12)
    ) @ (prior - 1)
    weights = np.exp(logs - logs.max())
    means = weights @ points / weights.sum()
    found = dn.posterior(
        dn.Tally(design, counts),
        prior=prior.tolist(),
        draws=np.random.default_rng(2),
    )
    errors = np.array(list(found.bse.values())) / np.sqrt(found.drawn.effective)
    assert (
        np.abs(np.array(list(found.params.values())) - means)
        < SIGMAS * errors + 2 / steps**1.5
    ).all()


def test_the_same_generator_gives_the_same_result_and_the_system_another() -> None:
    tally = dn.Tally(dn.k_ary(3, epsilon=5), [150, 90, 60])
    one, two = (
        dn.posterior(tally, draws=np.random.default_rng(5)) for _ in range(2)
    )
    assert one == two
    assert one.params == two.params
    assert dn.posterior(tally) != one


def test_chains_that_hardly_move_are_doubted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(posteriors, "_MAX_SWEEPS", 1000)
    found = dn.posterior(
        dn.Tally(dn.k_ary(3, epsilon="1/5"), [60, 50, 40]),
        draws=np.random.default_rng(1),
    )
    (doubt,) = found.warnings
    assert doubt.code == "few-draws"
    assert found.drawn.effective < 1000
    assert doubt.text in str(found.summary())


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_the_effective_sample_size_of_a_chain_with_a_known_memory(
    memory: float,
) -> None:
    """Of a chain whose steps keep a part φ it is (1 − φ)/(1 + φ) of their number."""
    noise = np.random.default_rng(3).standard_normal((4, 8000))
    chains = np.empty_like(noise)
    chains[:, 0] = noise[:, 0] / np.sqrt(1 - memory**2)
    for step in range(1, 8000):
        chains[:, step] = memory * chains[:, step - 1] + noise[:, step]
    worth, ratio = posteriors._worth(chains[:, :, None])
    assert worth == pytest.approx(32_000 * (1 - memory) / (1 + memory), rel=0.15)
    assert ratio < 1.01
    # chains that disagree
    assert (
        posteriors._worth(chains[:, :, None] + np.arange(4)[:, None, None])[1] > 1.05
    )


def test_the_prior_is_shown_and_intervals_are_called_credible() -> None:
    found = dn.posterior(
        dn.Tally(dn.warner(p="3/4"), [70, 30], missing=4), prior={"yes": 3, "no": 7}
    )
    heads, cells = found.summary().table()
    assert heads == [
        "",
        "share",
        "error",
        "95% credible interval",
        "prior",
        "prior interval",
    ]
    assert cells[1][4] == "0.3000"
    told = str(found.summary())
    assert (
        "Prior: Dirichlet(7, 3), which counts as much as 10 direct answers." in told
    )
    assert "4 sent no response" in told
    assert found == dn.posterior(dn.estimate(found.tally), prior=[7, 3])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"prior": 0}, "above 0"),
        ({"prior": [1, 2, 3]}, "expected 2 numbers"),
        ({"prior": {"yes": 1}}, "each category once"),
        ({"prior": "flat"}, "uniform or jeffreys"),
        ({"prior": ["x", "y"]}, "not made of numbers"),
        ({"method": "variational"}, "one of exact, draws"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, object], match: str) -> None:
    with pytest.raises(InvalidRequest, match=match):
        dn.posterior(dn.Tally(dn.warner(p="3/4"), [70, 30]), **given)  # type: ignore[arg-type]


def test_what_cannot_be_done_says_so() -> None:
    with pytest.raises(InvalidRequest, match="two answers"):
        dn.posterior(dn.Tally(dn.k_ary(3, 1), [5, 5, 5]), method="exact")
    with pytest.raises(InvalidRequest, match="cells"):
        dn.posterior(dn.Tally(dn.k_ary(100, 1), [5] * 100))
    with pytest.raises(InvalidRequest, match="expected a tally"):
        dn.posterior([1, 2])  # type: ignore[arg-type]
    with pytest.raises(NotEstimable, match="keeps sums"):
        dn.posterior(with_sums(dn.rappor(30, 2), [20] * 30, 100))
    with pytest.raises(InvalidRequest, match="expected a number"):
        dn.posterior(dn.Tally(dn.warner(p="3/4"), [70, 30])).above(
            "yes", float("nan")
        )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_intervals_of_draws_hold_their_level(level: float) -> None:
    """Of a thousand draws, whatever their distribution, and never a part of the level."""
    draws = np.random.default_rng(3).beta(2, 9, 1000)
    for narrowest in (False, True):
        low, high = posteriors._draws_interval(draws, level, narrowest=narrowest)
        inside = ((low <= draws) & (draws <= high)).mean()
        assert level - 0.002 <= inside <= level + 0.002, narrowest


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_of_the_prior_has_the_level_of_the_summary(
    level: float,
) -> None:
    """Of three answers that are equally likely beforehand the share of one has the distribution 1 − (1 − x)²."""
    design = dn.k_ary(["a", "b", "c"], epsilon=4)
    result = dn.posterior(
        dn.Tally(design, [50, 30, 20]), draws=np.random.default_rng(5)
    )
    for row in result.summary(level=level).rows:
        tails = [1 - (1 - end) ** 2 for end in (row.prior_low, row.prior_high)]
        assert tails == pytest.approx([(1 - level) / 2, (1 + level) / 2])


def test_the_first_half_of_all_sweeps_is_left_out() -> None:
    design = dn.k_ary(["a", "b", "c"], epsilon=8)
    result = dn.posterior(
        dn.Tally(design, [50, 30, 20]), draws=np.random.default_rng(5)
    )
    sweeps = posteriors._FIRST_SWEEPS
    assert len(result.drawn.shares) == posteriors.CHAINS * (sweeps - sweeps // 2)
