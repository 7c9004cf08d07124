"""Planning of imperfect tests: the numbers of people reach the width that was asked for, and hardly more."""

from __future__ import annotations

import math

import pytest
from scipy.stats import norm

import deniable as dn

SHARE, SENSITIVITY, SPECIFICITY, WIDTH = 0.1, 0.9, 0.98, 0.06


def width(tested: float, cases: float = math.inf, others: float = math.inf) -> float:
    """The width of Rogan and Gladen's interval; infinitely many validated people are a test with known errors."""
    positive = SHARE * SENSITIVITY + (1 - SHARE) * (1 - SPECIFICITY)
    variance = positive * (1 - positive) / tested
    variance += SHARE**2 * SENSITIVITY * (1 - SENSITIVITY) / cases
    variance += (1 - SHARE) ** 2 * SPECIFICITY * (1 - SPECIFICITY) / others
    distance = SENSITIVITY + SPECIFICITY - 1
    return float(2 * norm.isf(0.025) * math.sqrt(variance) / distance)


@pytest.mark.parametrize("cost", [1, 20])
def test_the_numbers_of_people_reach_the_width(cost: float) -> None:
    plan = dn.plan.prevalence(
        SHARE,
        width=WIDTH,
        sensitivity=SENSITIVITY,
        specificity=SPECIFICITY,
        cost=cost,
    )
    tested, cases, others, known = (int(line["number"]) for line in plan.lines)
    assert WIDTH * 0.98 < width(tested, cases, others) <= WIDTH
    assert width(known) <= WIDTH < width(known - 1)
