"""Simulated surveys: coefficients are right on average, and their errors are those that are seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, norm

import deniable as dn

RUNS, ROWS = 50, 2_500
FALSE_ALARM = 1e-9


def sent(
    design: dn.Design, answers: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw responses in law, a row of the channel for each answer."""
    ends = np.cumsum(design.channel.floats(), axis=0).T[answers]
    return (rng.random((len(answers), 1)) > ends[:, :-1]).sum(axis=1)


def distances(design: dn.Design, beta: np.ndarray) -> np.ndarray:
    """Return (estimate − truth)/error of each run and coefficient; two devices, the other one direct."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(RUNS):
        x = np.column_stack([np.ones(ROWS), rng.normal(size=ROWS)])
        eta = np.column_stack([np.zeros(ROWS), x @ beta.T])
        shares = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
        answers = (rng.random((ROWS, 1)) > np.cumsum(shares, axis=1)[:, :-1]).sum(
            axis=1
        )
        by = rng.random(ROWS) < 0.8
        rows = {
            "said": np.where(by, sent(design, answers, rng), answers),
            "x": x[:, 1],
            "by": np.where(by, "RR", "DQ"),
        }
        fit = dn.regress(
            "said ~ x",
            rows,
            design={"RR": design, "DQ": dn.direct(design.categories)},
            devices="by",
        )
        found.append((fit.values - beta.ravel()) / np.array(list(fit.bse.values())))
    return np.array(found)


def right(z: np.ndarray) -> bool:
    """Whether distances are about 0 and about 1: a bias of 1.2 errors and errors wrong by 2.4 are found almost surely.

    Both bounds share the rate of false alarms among all coefficients; that of the squares allows for tails that are not
    quite normal by a tenth.
    """
    tail = FALSE_ALARM / (4 * z.shape[1])
    mean = np.abs(z.mean(axis=0)).max() * np.sqrt(len(z)) < norm.isf(tail) * 1.05
    squares = (z**2).sum(axis=0)
    return bool(
        mean
        and squares.max() < 1.1 * chi2.isf(tail, len(z))
        and squares.min() > chi2.ppf(tail, len(z)) / 1.1
    )


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("design", "beta"),
    [
        (dn.kuk("4/5", "3/10", draws=3), [[-1.0, 0.5]]),
        (dn.k_ary(3, 3), [[0.3, 0.6], [-0.4, -0.5]]),
    ],
    ids=["two answers", "three answers"],
)
def test_coefficients_and_errors_are_those_of_repeated_surveys(
    design: dn.Design, beta: list[list[float]]
) -> None:
    z = distances(design, np.array(beta))
    assert right(z)
    # errors that are too small, as those of a direct question would be
    assert not right(2.4 * z)
    assert not right(z + 1.2)  # and a bias


def grouped(
    rng: np.random.Generator,
    design: dn.Design,
    beta: np.ndarray,
    sd: np.ndarray,
    groups: int,
    each: int,
) -> dict[str, np.ndarray]:
    """Return answers and responses of groups with intercepts of their own."""
    school, x = np.repeat(np.arange(groups), each), rng.normal(size=groups * each)
    raised = (sd * rng.normal(size=(groups, len(sd))))[school]
    eta = np.column_stack(
        [np.zeros(len(x)), np.column_stack([np.ones(len(x)), x]) @ beta.T + raised]
    )
    shares = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    answers = (rng.random((len(x), 1)) > np.cumsum(shares, axis=1)[:, :-1]).sum(
        axis=1
    )
    return {
        "said": sent(design, answers, rng),
        "answer": answers,
        "x": x,
        "school": school,
    }


@pytest.mark.statistical
def test_random_intercepts_and_their_errors_are_those_of_repeated_surveys() -> None:
    rng, design = np.random.default_rng(12), dn.warner(3)
    beta, sd = np.array([[-0.5, 0.6]]), np.array([0.9])
    found = []
    for _ in range(30):
        rows = grouped(rng, design, beta, sd, groups=60, each=25)
        fit = dn.regress("said ~ x", rows, design=design, intercepts="school")
        found.append(
            (fit.values - np.append(beta, sd)) / np.array(list(fit.bse.values()))
        )
    z = np.array(found)
    assert right(z)
    assert not right(3 * z)  # the errors that rows without groups would have
    assert not right(z + 1.6)


def far(fit: dn.Regression, truth: np.ndarray) -> bool:
    """Whether some coefficient is further from the truth than by chance once in 10⁹ surveys, a tenth allowed."""
    z = (fit.values - truth) / np.array(list(fit.bse.values()))
    return bool(np.abs(z).max() > 1.1 * norm.isf(FALSE_ALARM / (2 * len(z))))


@pytest.mark.statistical
def test_three_answers_have_a_deviation_each() -> None:
    rng, design = np.random.default_rng(13), dn.k_ary(3, 4)
    beta, sd = np.array([[0.3, 0.6], [-0.4, -0.5]]), np.array([1.2, 0.5])
    rows = grouped(rng, design, beta, sd, groups=120, each=30)
    fit = dn.regress("said ~ x", rows, design=design, intercepts="school")
    assert not far(fit, np.append(beta, sd))
    assert far(fit, np.append(beta, [0.0, 0.5]))


@pytest.mark.statistical
def test_weights_undo_a_selection_by_the_answer_within_groups() -> None:
    """Carriers are three times as likely to be in the sample; without weights the intercept is off by ln 3."""
    rng, design = np.random.default_rng(14), dn.warner(4)
    beta, sd = np.array([[-0.5, 0.6]]), np.array([0.9])
    everybody = grouped(rng, design, beta, sd, groups=150, each=120)
    chance = np.where(everybody["answer"] == 1, 0.9, 0.3)
    drawn = rng.random(len(chance)) < chance
    rows = {name: column[drawn] for name, column in everybody.items()} | {
        "w": 1 / chance[drawn]
    }
    sample = dn.Sampling("w", clusters="school", data=rows)
    truth = np.append(beta, sd)
    assert not far(
        dn.regress(
            "said ~ x", rows, design=design, intercepts="school", sampling=sample
        ),
        truth,
    )
    assert far(
        dn.regress("said ~ x", rows, design=design, intercepts="school"), truth
    )
