"""The default intervals of means and variances keep their level: summed over all tallies, nothing drawn."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from deniable.designs import NumberDesign, number_design
from deniable.estimates.statistics import Statistic
from deniable.types.numbers.count import NumberTally
from deniable.types.numbers.estimate import Mean, estimate, spread

N = 12
PEOPLE = {
    "nobody": ([-5], [1]),
    "one in 200": ([-5, 5], [0.995, 0.005]),
    "few": ([-5, 5], [0.97, 0.03]),
    "some": ([-5, 5], [0.8, 0.2]),
    "even": ([-5, 5], [0.5, 0.5]),
    "all alike": ([0], [1]),
    "four alike": ([-4, -1, 1, 4], [0.25] * 4),
}


@cache
def means(design: NumberDesign) -> list[Statistic[Mean]]:
    return [
        estimate(NumberTally(design, [N - hits, hits])).mean for hits in range(N + 1)
    ]  # type: ignore[arg-type]


@cache
def variance(
    epsilon: float, one: int, two: int, method: str | None
) -> tuple[float, float]:
    first, second = designs(epsilon)
    return spread(means(first)[one], means(second)[two]).conf_int(method=method)[
        "variance"
    ]


@cache
def designs(epsilon: float) -> tuple[NumberDesign, NumberDesign]:
    design = number_design(-5, 5, epsilon=epsilon, levels=2)
    return design, design.squared


def law(design: NumberDesign, mean: float) -> np.ndarray:
    share = (mean - float(design.range.low)) / float(design.range.width)
    return np.asarray(
        binom.pmf(
            np.arange(N + 1), N, design.channel.floats()[1] @ [1 - share, share]
        )
    )


def coverage(epsilon: float, who: str, method: str | None = None) -> float:
    values, shares = map(np.array, PEOPLE[who])
    both = values @ shares, values**2 @ shares
    truth = both[1] - both[0] ** 2
    one, two = (
        law(design, mean)
        for design, mean in zip(designs(epsilon), both, strict=True)
    )
    ends = [
        [variance(epsilon, i, j, method) for j in range(N + 1)] for i in range(N + 1)
    ]
    held = [
        [low - 1e-9 <= truth <= high + 1e-9 for low, high in row] for row in ends
    ]
    return float(one @ np.array(held) @ two)


@pytest.mark.parametrize("epsilon", [0.5, 2, 8])
def test_variances_at_and_near_none_and_the_largest(epsilon: float) -> None:
    assert min(coverage(epsilon, who) for who in PEOPLE) >= 0.95


def test_a_normal_interval_would_not_do() -> None:
    assert min(coverage(8, who, "normal") for who in PEOPLE) < 0.2


def test_means_at_and_near_the_ends() -> None:
    for epsilon in (0.5, 2, 8):
        design = designs(epsilon)[0]
        ends = np.array([each.conf_int()["mean"] for each in means(design)])
        for mean in (-5, -4.95, -4.7, -3, 0, 5):
            held = (ends[:, 0] - 1e-9 <= mean) & (mean <= ends[:, 1] + 1e-9)
            assert law(design, mean)[held].sum() >= 0.92


def test_the_same_people_may_err_together() -> None:
    one, two = (
        means(design)[hits] for design, hits in zip(designs(2), (8, 6), strict=True)
    )
    apart, together = (
        spread(one, two, same_people=each).conf_int()["variance"]
        for each in (False, True)
    )
    assert together.low <= apart.low
    assert together.high >= apart.high
    assert 0 <= apart.low <= apart.high <= 25
