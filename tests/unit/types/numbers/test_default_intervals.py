"""The default intervals of means and variances keep their level: summed over all tallies, nothing drawn."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, multinomial

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
    assert together.high > apart.high
    assert 0 <= apart.low <= apart.high <= 25


FEW = 20
RARE = (0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.2, 0.5)


@cache
def all_tallies(epsilon: float) -> tuple[NumberDesign, np.ndarray]:
    """Return a design with three levels and three responses, and all tallies of a few responses."""
    design = number_design(0, 10, epsilon=epsilon, levels=3, width=1)
    counts = np.array(list(product(range(FEW + 1), repeat=2)))
    counts = counts[counts.sum(axis=1) <= FEW]
    return design, np.column_stack([counts, FEW - counts.sum(axis=1)])


@cache
def intervals_of_levels(epsilon: float, method: str | None) -> np.ndarray:
    """Return the intervals of mean and deviation for each of these tallies."""
    design, tallies = all_tallies(epsilon)
    estimates = [estimate(NumberTally(design, row)) for row in tallies.tolist()]
    return np.array(
        [
            [each.interval(name, method=method) for name in ("mean", "sd")]
            for each in estimates
        ]
    )


def least_coverage(epsilon: float, place: int, method: str | None) -> np.ndarray:
    """Return the least coverage of mean and deviation, with few people at the top and all others at one level."""
    design, tallies = all_tallies(epsilon)
    levels, rates = np.array([0, 5, 10]), []
    for rare in RARE:
        shares = (1 - rare) * np.eye(3)[place] + rare * np.eye(3)[2]
        mean = levels @ shares
        truths = np.array([mean, np.sqrt(levels**2 @ shares - mean**2)])
        ends = intervals_of_levels(epsilon, method)
        held = (ends[..., 0] - 1e-9 <= truths) & (truths <= ends[..., 1] + 1e-9)
        law = multinomial.pmf(tallies, FEW, design.channel.floats() @ shares)
        rates.append(law @ held)
    return np.min(rates, axis=0)


@pytest.mark.parametrize("epsilon", [2, 8])
@pytest.mark.parametrize("place", [0, 1])
def test_means_and_deviations_with_few_people_at_the_top(
    epsilon: float, place: int
) -> None:
    assert (least_coverage(epsilon, place, None) >= 0.93).all()


def test_a_normal_interval_of_a_mean_misses_few_people_at_the_top() -> None:
    assert least_coverage(8, 0, "normal")[0] < 0.5
