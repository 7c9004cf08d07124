from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable import plan
from deniable.errors import InvalidRequest
from deniable.estimates import best_split
from deniable.plan import Arm

DIE = dn.forced_response("2/3", "1/6", "1/6")


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.2), (0.1, 0.25)])
def test_the_power_is_that_of_all_pairs_of_counts(
    first: float, second: float
) -> None:
    n = 250, 200
    counts = [np.arange(each + 1) for each in n]
    chances = [1 / 6 + share * 2 / 3 for share in (first, second)]
    law = np.multiply.outer(*map(binom.pmf, counts, n, chances))
    said = [c / m for c, m in zip(counts, n, strict=True)]
    pooled = np.add.outer(*counts) / sum(n)
    z = np.subtract.outer(*said) / np.sqrt(
        np.maximum(pooled * (1 - pooled), 1e-12) * (1 / n[0] + 1 / n[1])
    )
    summed = law[np.abs(z) > 1.959963984540054].sum()
    assert plan.difference_power(
        Arm(DIE, first, n[0]), Arm(DIE, second, n[1])
    ) == pytest.approx(summed, abs=0.02)


def test_a_table_rounds_epsilon_up() -> None:
    told = plan.difference(
        Arm(dn.warner(p="7/10"), 0.3, 600), Arm(dn.direct(), 0.2, 400)
    )
    assert str(told).splitlines()[2].split()[2] == "0.8473"  # ln(7/3) = 0.84729786…
    told = plan.difference(
        Arm(dn.warner(p="3/4"), 0.3, 600), Arm(dn.direct(), 0.2, 400)
    )
    assert str(told).splitlines()[2].split()[2] == "1.099"  # ln 3 = 1.09861…
    told = plan.difference(Arm(DIE, 0.3, 600), Arm(dn.direct(), 0.2, 400))
    assert str(told).splitlines()[2].split()[2] == "1.61"  # ln 5 = 1.60943…
    assert str(told).splitlines()[3].split()[2] == "∞"


def test_as_many_as_a_power_takes() -> None:
    arms = Arm(DIE, 0.3), Arm(dn.direct(), 0.2)
    told = plan.difference(*arms, power=0.8)
    n = [int(line["people"]) for line in told.lines]
    assert told.value == sum(n)
    assert f"{n[0]:,} and {n[1]:,}" in told.sentence
    made = [
        Arm(arm.design, arm.share, size) for arm, size in zip(arms, n, strict=True)
    ]
    assert plan.difference(*made).value == plan.difference_power(*made) >= 0.8
    fewer = [
        Arm(arm.design, arm.share, size - 2)
        for arm, size in zip(arms, n, strict=True)
    ]
    assert plan.difference_power(*fewer) < 0.8


@pytest.mark.parametrize("costs", [(1, 1), (3, 1)])
def test_the_division_is_the_best_of_a_grid_for_its_cost(
    costs: tuple[float, float],
) -> None:
    arms = Arm(dn.warner(p="7/10"), 0.2), Arm(dn.direct(), 0.1)
    one = plan.allocation(*arms, 1000, costs=costs).value

    def worth(
        first: float,
    ) -> float:  # what a difference varies by, times what it costs
        parts = first, 1000 - first
        spread = sum(arm.spread() / n for arm, n in zip(arms, parts, strict=True))
        return spread * sum(cost * n for cost, n in zip(costs, parts, strict=True))

    assert min(range(1, 1000), key=worth) == pytest.approx(one, abs=1)


@pytest.mark.parametrize("costs", [(1, 1), (4, 1)])
def test_two_samples_are_divided_as_the_best_of_a_grid(
    costs: tuple[float, float],
) -> None:
    one = plan.two_sample_allocation(
        ["7/10", "1/5"], 1000, share=0.2, innocuous=0.4, costs=costs
    ).value

    def worth(first: int) -> float:
        found = best_split(
            ["7/10", "1/5"], sensitive=0.2, innocuous=0.4, first=first / 1000
        )
        return found.variance * (costs[0] * first + costs[1] * (1000 - first))

    assert min(range(1, 1000), key=worth) == pytest.approx(one, abs=1)


def test_samples_that_find_cheaters_have_their_errors() -> None:
    p, n, pi, gamma = (0.2, 0.8), (600, 400), 0.15, 0.05
    draws = np.random.default_rng(5)
    said = [
        draws.binomial(m, pi + each * (1 - pi - gamma), 40_000) / m
        for each, m in zip(p, n, strict=True)
    ]
    honest = (p[1] * said[0] - p[0] * said[1]) / (p[1] - p[0])
    cheating = 1 - honest - (said[1] - said[0]) / (p[1] - p[0])
    told = plan.cheater_detection(["1/5", "4/5"], n, share=pi, cheating=gamma)
    assert [line["standard error"] for line in told.lines] == pytest.approx(
        [honest.std(), cheating.std()], rel=6.2 / math.sqrt(2 * 40_000)
    )


@pytest.mark.parametrize(
    ("first", "second", "given", "why"),
    [
        (Arm(DIE, 0.2, 10), Arm(DIE, 0.2, 10), {}, "both shares"),
        (Arm(DIE, 0.2, 10), Arm(DIE, 0.3), {}, "and not both"),
        (Arm(DIE, 0.2, 10), Arm(DIE, 0.3, 10), {"power": 0.8}, "and not both"),
        (Arm(DIE, 0.2, 10), Arm(DIE, 1.3, 10), {}, "share is 1.3"),
        (
            Arm(DIE, 0.2),
            Arm(DIE, 0.3),
            {"power": 0.8, "costs": (0, 1)},
            "the costs are",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    first: Arm, second: Arm, given: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidRequest, match=why):
        plan.difference(first, second, **given)
