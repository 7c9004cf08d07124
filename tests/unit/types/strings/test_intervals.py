"""Intervals of strings hold their shares among surveys in which they are found: summed over the law of estimates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from deniable.types.strings.estimate import Found, given_found

PEOPLE, DEVICE, LIMIT = 10_000, 0.004, 0.015
ESTIMATES = np.linspace(LIMIT, 0.35, 20_000)


def error(share: float) -> float:
    return math.hypot(DEVICE, math.sqrt(share * (1 - share) / PEOPLE))


def found(share: float) -> Found:
    return Found("a", share, error(share), 0.0, LIMIT, PEOPLE)


ERRORS = np.array([error(share) for share in ESTIMATES.tolist()])
ENDS = np.array(
    given_found(ESTIMATES, ERRORS, np.full_like(ESTIMATES, LIMIT), PEOPLE, 0.95)
).T
NORMAL = np.array(
    [
        [share - 1.96 * error(share), share + 1.96 * error(share)]
        for share in ESTIMATES.tolist()
    ]
)


def coverage(ends: np.ndarray, truth: float) -> float:
    """How often the interval holds the truth, of all estimates above the limit."""
    density = norm.pdf(ESTIMATES, truth, error(truth))
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return float(density[held].sum() / density.sum())


@pytest.mark.parametrize(
    "truth", [0.0, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.1, 0.2]
)
def test_strings_by_chance_and_strings_that_are_there(truth: float) -> None:
    assert coverage(ENDS, truth) >= 0.949


def test_a_normal_interval_would_not_do() -> None:
    assert coverage(NORMAL, 0.0) == 0
    assert coverage(NORMAL, 0.005) < 0.6


def test_far_above_the_limit_it_is_the_score_interval() -> None:
    low, high = found(0.2).interval()
    for end in (low, high):
        assert abs(end - 0.2) / error(end) == pytest.approx(1.96, abs=1e-3)
    assert low > NORMAL[np.searchsorted(ESTIMATES, 0.2)][0]


def test_a_string_at_the_limit_may_be_nobodys() -> None:
    low, high = found(LIMIT).interval()
    assert low == 0
    assert high > LIMIT
    assert [len(ends) for ends in given_found(*np.empty((3, 0)), PEOPLE, 0.95)] == [
        0,
        0,
    ]


def test_a_share_without_error_is_itself() -> None:
    with np.errstate(all="raise"):
        low, high = Found("a", 1.0, 0.0, 0.0, 0.5, 10).interval()
    assert high == 1
    assert low < 1
