"""Gradients and information are those of the log-likelihood, for every law; asked directly, it is what is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm

import deniable as dn
from deniable.estimates.regression.groups import GroupLikelihood
from deniable.estimates.regression.likelihoods import (
    EQUATIONS,
    LINKS,
    DeniedAnswerLaw,
    EquationLaw,
    ManyAnswerLaw,
    MeanErrorLaw,
    MeanLaw,
    NormalLaw,
    OutcomeLaw,
    TwoAnswerLaw,
)
from deniable.estimates.regression.models import Likelihood, RowLikelihood, Slope

N = 40
RNG = np.random.default_rng(20)
X = np.column_stack([np.ones(N), RNG.normal(size=N), RNG.normal(size=N)])
ONES = np.ones((N, 1))
WEIGHTS = RNG.uniform(0.5, 2, N)
TWO, THREE = RNG.uniform(0.05, 1, (N, 2)), RNG.uniform(0.05, 1, (N, 3))
OUTCOME = RNG.normal(size=N)


def rows(law: object, *matrices: np.ndarray) -> RowLikelihood:
    return RowLikelihood(law, matrices, WEIGHTS)  # type: ignore[arg-type]


GROUPS = np.array([0, 1, 2, 3, 1, 3, 3, 2] * 5)


def grouped(law: object, *matrices: np.ndarray, nodes: int = 25) -> GroupLikelihood:
    """Rows with weights in four groups, mixed, and nodes that lie beside the middle and are turned."""
    likelihood = GroupLikelihood.of(rows(law, *matrices), GROUPS, nodes)
    axes = likelihood.centers.shape[1]
    beside = np.linspace(-1, 1, 4 * axes).reshape(4, axes)
    return replace(
        likelihood, centers=beside, spreads=likelihood.spreads + 0.1 * np.tri(axes)
    )


def two_groups() -> GroupLikelihood:
    return grouped(TwoAnswerLaw(TWO, LINKS["logit"]), X)


def three_groups() -> GroupLikelihood:
    return grouped(ManyAnswerLaw(THREE), X, X)


LIKELIHOODS: dict[str, Callable[[], Likelihood]] = {
    **{
        link: lambda link=link: rows(TwoAnswerLaw(TWO, LINKS[link]), X)
        for link in LINKS
    },  # type: ignore[misc]
    "denied": lambda: rows(
        DeniedAnswerLaw(TWO, LINKS["logit"], (RNG.random(N) < 0.5).astype(float)),
        X,
        ONES,
    ),
    "multinomial": lambda: rows(ManyAnswerLaw(THREE), X, X),
    "mean": lambda: rows(MeanLaw(TWO, OUTCOME), X),
    "outcome by logit": lambda: rows(
        OutcomeLaw(TWO, (OUTCOME > 0).astype(float), "bernoulli"), X, ONES, X[:, :2]
    ),
    "outcome of three answers": lambda: rows(
        OutcomeLaw(THREE, (OUTCOME > 0).astype(float), "bernoulli"),
        X,
        ONES,
        ONES,
        X,
        X,
    ),
    "number": lambda: rows(
        OutcomeLaw(THREE, OUTCOME, "normal"), X, ONES, ONES, X, X, ONES
    ),
    **{
        f"equations of {family}": lambda family=family: rows(
            EquationLaw(THREE, OUTCOME, family, 3 * THREE - 1), X, ONES, ONES
        )
        for family in EQUATIONS
    },  # type: ignore[misc]
    "levels of a number": lambda: rows(
        NormalLaw(THREE, np.array([-1.0, 0, 1])), X, ONES
    ),
    "groups": two_groups,
    "groups of three answers": three_groups,
    "groups and errors": lambda: grouped(MeanErrorLaw(TWO, OUTCOME), X, ONES),
    "groups and honesty": lambda: grouped(
        DeniedAnswerLaw(TWO, LINKS["logit"], (OUTCOME > 0).astype(float)), X, ONES
    ),
    "groups and an outcome": lambda: grouped(
        OutcomeLaw(TWO, OUTCOME, "normal"), X, ONES, X[:, :2], ONES
    ),
}


def slopes_by_hand(likelihood: Likelihood, theta: np.ndarray) -> Slope:
    step = 1e-5
    ends = [(theta + step * one, theta - step * one) for one in np.eye(len(theta))]
    gradient = np.array(
        [
            (likelihood.value(up) - likelihood.value(down)) / (2 * step)
            for up, down in ends
        ]
    )
    hessian = np.array(
        [
            (likelihood.slope(up).gradient - likelihood.slope(down).gradient)
            / (2 * step)
            for up, down in ends
        ]
    )
    return Slope(likelihood.value(theta), gradient, -hessian)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_gradient_information_and_scores_are_those_of_the_log_likelihood(
    name: str,
) -> None:
    likelihood = LIKELIHOODS[name]()
    rows = likelihood.rows if isinstance(likelihood, GroupLikelihood) else likelihood
    assert isinstance(rows, RowLikelihood)
    size = rows.size + (0 if rows is likelihood else len(rows.law.raised))
    theta = np.random.default_rng(3).normal(scale=0.5, size=size)
    told, by_hand = likelihood.slope(theta), slopes_by_hand(likelihood, theta)
    assert told.value == pytest.approx(by_hand.value)
    assert told.gradient == pytest.approx(by_hand.gradient, rel=1e-6, abs=1e-6)
    assert told.information == pytest.approx(by_hand.information, rel=1e-5, abs=1e-5)
    assert likelihood.scores(theta).sum(axis=0) == pytest.approx(
        told.gradient, rel=1e-9, abs=1e-9
    )


@pytest.mark.parametrize("link", LINKS)
def test_expected_information_is_that_of_every_response_there_could_be(
    link: str,
) -> None:
    """Σ over responses of their probability times the outer product of their scores, by a loop."""
    channel = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]).T
    law = TwoAnswerLaw(TWO, LINKS[link])
    likelihood, theta = rows(law, X), np.array([0.2, -0.4, 0.3])
    expected, _ = likelihood.expected(theta, channel[None], np.zeros(N, np.int64))
    by_hand = np.zeros((3, 3))
    for i in range(N):
        share = law.shares(likelihood.eta(theta))[i]
        for z in range(3):
            one = replace(
                likelihood,
                law=law.with_responses(np.tile(channel[z], (N, 1))),
                weights=None,
            )
            score = one.scores(theta)[i]
            by_hand += WEIGHTS[i] * (channel[z] @ share) * np.outer(score, score)
    assert expected == pytest.approx(by_hand, rel=1e-9)


def test_a_direct_question_is_the_regression_that_statsmodels_fits() -> None:
    rng = np.random.default_rng(8)
    frame = {
        "x": rng.normal(size=400),
        "y": rng.integers(2, size=400),
        "z": rng.integers(3, size=400),
    }
    design = sm.add_constant(frame["x"])
    for family, theirs in (
        ("logit", sm.Logit(frame["y"], design)),
        ("probit", sm.Probit(frame["y"], design)),
    ):
        found, fit = (
            dn.regress("y ~ x", frame, design=dn.direct(), family=family),
            theirs.fit(disp=0, tol=1e-12),
        )
        assert found.values == pytest.approx(fit.params, abs=1e-7)
        assert list(found.bse.values()) == pytest.approx(fit.bse, abs=1e-6)
        assert found.log_likelihood == pytest.approx(fit.llf)
    found = dn.regress("z ~ x", frame, design=dn.direct(3))
    fit = sm.MNLogit(frame["z"], design).fit(disp=0, tol=1e-12)
    assert found.values == pytest.approx(fit.params.T.ravel(), abs=1e-7)
    assert found.log_likelihood == pytest.approx(fit.llf)
    assert found.worth == pytest.approx(400)


def fine_sum(likelihood: GroupLikelihood, theta: np.ndarray, points: int) -> float:
    """Return the log-likelihood by a sum over an even grid, group by group, with the weights as they were given."""
    axes = likelihood.centers.shape[1]
    line = np.linspace(-8, 8, points)
    b = np.stack([each.ravel() for each in np.meshgrid(*[line] * axes)], axis=1)
    density = (
        np.exp(-(b**2).sum(axis=1) / 2)
        * ((line[1] - line[0]) / np.sqrt(2 * np.pi)) ** axes
    )
    law, size, total = likelihood.rows.law, likelihood.rows.size, 0.0
    eta = likelihood.rows.eta(theta[:size])
    for group in range(4):
        mine = np.flatnonzero(group == GROUPS)
        mean = WEIGHTS[mine].mean()
        whole = np.zeros(len(b))
        for row in mine:
            one = law.with_responses(np.tile(law.evidence[row], (len(b), 1)))
            whole += (
                WEIGHTS[row]
                / mean
                * one.derivatives(eta[row] + b * theta[size:]).log
            )
        total += mean * np.log((np.exp(whole) * density).sum())
    return total


@pytest.mark.parametrize(
    ("make", "points"),
    [(two_groups, 4001), (three_groups, 201)],
    ids=["one axis", "two axes"],
)
def test_nodes_that_move_with_the_groups_integrate_as_a_fine_sum_does(
    make: Callable[[], GroupLikelihood], points: int
) -> None:
    likelihood = make()
    sigma = [1.3, 0.8][: likelihood.centers.shape[1]]
    theta = np.array(
        [0.4, -0.3, 0.5, -0.2, 0.6, 0.1][: likelihood.rows.size] + sigma
    )
    fine = fine_sum(likelihood, theta, points)
    moved = likelihood.adapted(theta)
    assert likelihood.value(theta) == pytest.approx(fine, abs=1e-4)
    assert moved.value(theta) == pytest.approx(fine, abs=1e-6)
    assert replace(moved, nodes=9).value(theta) == pytest.approx(fine, abs=1e-4)
    signs = np.where(np.arange(len(sigma)), 1.0, -1.0)
    other = theta * np.append(np.ones(likelihood.rows.size), signs)
    assert replace(moved, nodes=2).mirrored(signs).value(other) == pytest.approx(
        replace(moved, nodes=2).value(theta)
    )
    # trap H4: one point is not enough
    assert abs(replace(moved, nodes=1).value(theta) - fine) > 0.01


def test_nodes_follow_large_groups() -> None:
    """Of 4,000 rows a group's intercept is known so well that nodes which stay where they are miss it."""
    rng = np.random.default_rng(6)
    evidence = np.where(rng.random((4000, 1)) < 0.9, [[0.2, 0.8]], [[0.8, 0.2]])
    law = TwoAnswerLaw(evidence, LINKS["logit"])
    likelihood = GroupLikelihood.of(
        RowLikelihood(law, (np.ones((4000, 1)),)), np.zeros(4000, np.int64), 25
    )
    theta = np.array([0.0, 1.0])
    b = np.linspace(0, 9, 20_001)
    two = [
        TwoAnswerLaw(np.array([row]), LINKS["logit"])
        for row in ([0.2, 0.8], [0.8, 0.2])
    ]
    times = [int((evidence[:, 1] == row).sum()) for row in (0.8, 0.2)]
    whole = (
        sum(
            n * each.derivatives(b[:, None]).log
            for n, each in zip(times, two, strict=True)
        )
        - b**2 / 2
    )
    fine = whole.max() + np.log(
        np.exp(whole - whole.max()).sum() * (b[1] - b[0]) / np.sqrt(2 * np.pi)
    )
    assert likelihood.adapted(theta).value(theta) == pytest.approx(fine, abs=1e-4)
    assert abs(likelihood.value(theta) - fine) > 0.01


def test_levels_of_a_normal_number_are_those_of_rounding_at_random() -> None:
    """The probability of each level against a fine sum over numbers, each rounded up as often as it lies above."""
    levels = np.array([0.0, 2.5, 5, 7.5, 10])
    law = NormalLaw(np.ones((1, 5)), levels)
    mean, sigma = 4.2, 3.1
    y = np.linspace(mean - 12 * sigma, mean + 12 * sigma, 200_001)
    density = np.exp(-(((y - mean) / sigma) ** 2) / 2)
    place = np.clip(y, 0, 10) / 2.5
    hats = np.maximum(1 - np.abs(place[:, None] - np.arange(5)), 0)
    by_hand = (hats * density[:, None]).sum(axis=0) / density.sum()
    assert law.posterior(np.array([[mean, np.log(sigma)]]))[0] == pytest.approx(
        by_hand, abs=1e-6
    )
