"""Both experiments of the Gradual document, regenerated, and raised responses against their design.

Everything is drawn by the engine that people use, from bytes that are the same in every run. Each test stays silent at
a rate of 1e-9, shared among its stages and categories.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, norm

import deniable as dn
from deniable.attacks import ATTACKS, attack, error_rates, simulate_attacks
from deniable.bulk import gradual
from deniable.chance import Source
from deniable.designs import Design
from deniable.engines import local
from deniable.estimates import covariance
from deniable.estimates.inverses import left_inverse
from deniable.order.ladders import Ladder
from deniable.order.relaxation import family_ladder, ladder, relax
from tests.support.draws import assert_counts_follow, draws_needed

FALSE_ALARM = 1e-9
REPETITIONS = 400

Column = NDArray[np.unsignedinteger]


def noisy(rounds: int) -> float:
    """Return ε after so many noisy samples with ε_α = 1 and ε_β = 0.5: (65), the schedule of Experiment 6.1."""
    return math.log(
        (math.exp(1 + 0.5 * rounds) + 1) / (math.exp(1) + math.exp(0.5 * rounds))
    )


EXPERIMENTS = {
    "6.1": (family_ladder("k_ary", 2, [noisy(K) for K in range(1, 11)]), [400, 600]),
    "6.2": (
        family_ladder("k_ary", 5, [f"{i}/10" for i in range(1, 11)]),
        [100, 200, 300, 400, 500],
    ),
}
every_experiment = pytest.mark.parametrize("name", sorted(EXPERIMENTS))
every_hand = pytest.mark.parametrize("fast", [False, True], ids=["numpy", "numba"])


def released(
    stages: Ladder, answers: Column, source: Source, *, fast: bool
) -> list[Column]:
    """Draw the first stage and raise it, one stage after the other."""
    columns = [local.draw_all(stages.designs[0], answers, source=source, fast=fast)]
    for rung in stages.relaxations:
        columns.append(
            gradual.upgrade(rung, columns[-1], answers, source=source, fast=fast)
        )
    return columns


def people(counts: Sequence[int], repetitions: int) -> Column:
    """Return the objects of an experiment, all repetitions of it one behind the other."""
    return np.tile(
        np.repeat(np.arange(len(counts), dtype=np.uint8), counts), repetitions
    )


def estimates(design: Design, column: Column, n: int) -> NDArray[np.float64]:
    """Return the estimated shares, a row for each repetition."""
    linear = left_inverse(design.channel)
    rows = column.reshape(-1, n)
    size = design.channel.responses
    return np.array(
        [linear.shares(np.bincount(row, minlength=size) / n) for row in rows]
    )


@pytest.mark.statistical
@every_hand
@every_experiment
def test_mean_and_variance_lie_in_their_bands_at_every_stage(
    name: str, fast: bool, seeded: Source
) -> None:
    """Catches a variance that is off by half, and a mean that is off by half a standard error, at any stage."""
    stages, counts = EXPERIMENTS[name]
    n = sum(counts)
    shares = np.array(counts) / n
    tail = FALSE_ALARM / (2 * 2 * len(stages) * len(counts))
    low, high = chi2.ppf([tail, 1 - tail], REPETITIONS - 1) / (REPETITIONS - 1)
    assert low > 0.55
    assert high < 1.65  # the bands are narrow enough to be worth it
    for design, column in zip(
        stages,
        released(stages, people(counts, REPETITIONS), seeded, fast=fast),
        strict=True,
    ):
        found = estimates(design, column, n)
        variances = np.diagonal(covariance(design, shares.tolist(), n, population=n))
        room = norm.isf(tail) * np.sqrt(variances / REPETITIONS)
        assert (np.abs(found.mean(axis=0) - shares) <= room).all()
        ratios = found.var(axis=0, ddof=1) / variances
        assert (ratios >= low).all()
        assert (ratios <= high).all()


@pytest.mark.statistical
@every_experiment
def test_no_attack_beats_the_bound(name: str, seeded: Source) -> None:
    """As many objects of each value, as Theorem 6.1 wants it; all ten responses of each are seen."""
    stages, counts = EXPERIMENTS[name]
    size = len(counts)
    answers = people([400] * 2 if size == 2 else [100] * size, REPETITIONS)
    columns = released(stages, answers, seeded, fast=True)
    rates = error_rates(stages)
    for each, guess in attack(stages, columns, source=seeded).items():
        error = float((guess != answers).mean())
        standard = math.sqrt(error * (1 - error) / answers.size)
        assert error >= float(rates.bound) - 4 * standard
        # False alarms at 1e-9: six standard errors on either side of what the enumeration says.
        assert abs(error - rates[each]) <= 6.2 * standard


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["6.1", "6.2"])
def test_simulated_rates_are_the_exact_ones(name: str, seeded: Source) -> None:
    stages, _ = EXPERIMENTS[name]
    exactly, drawn = (
        error_rates(stages),
        simulate_attacks(stages, 100_000, source=seeded),
    )
    assert drawn.beaten() == ()
    for each in ATTACKS:
        assert abs(drawn[each] - exactly[each]) <= 6.2 * drawn.standard[each]


def test_relaxing_beats_spending_afresh_by_the_ratio_that_is_told() -> None:
    """The bar of ten stages: with k = 2 the variance is more than ten times smaller."""
    from deniable.estimates.stages import afresh

    for k in (2, 5, 20):
        found = afresh(
            lambda e: dn.k_ary(k, epsilon=e),  # noqa: B023
            [f"{i}/10" for i in range(1, 11)],
            [1 / k] * k,
            1000,
        )
        last = covariance(dn.k_ary(k, epsilon=1), [1 / k] * k, 1000, population=1000)
        assert math.isclose(found.relaxed[-1], np.trace(last))
        assert found.independent[-1] / found.relaxed[-1] > 10
        assert all(
            a >= b * (1 - 1e-12)
            for a, b in zip(found.independent, found.relaxed, strict=True)
        )


PAIRS = [
    (dn.warner(1), dn.warner(2)),
    (dn.k_ary(5, "1/2"), dn.k_ary(5, 2)),
    (dn.k_ary(3, 1, low=True), dn.k_ary(3, 3)),
    (dn.binary("6/10", "7/10"), dn.binary("9/10", "8/10")),
    (dn.hadamard(3, 1), dn.hadamard(3, 2)),
    (
        dn.product([dn.warner(1), dn.k_ary(3, 1)]),
        dn.product([dn.warner(2), dn.k_ary(3, 2)]),
    ),
]


@pytest.mark.statistical
@pytest.mark.parametrize("pair", PAIRS, ids=repr)
@pytest.mark.parametrize(("fast", "threads"), [(False, 1), (True, 2)])
def test_raised_responses_follow_the_finer_design(
    pair: tuple[Design, Design], fast: bool, threads: int
) -> None:
    """The secure path, which nobody can seed: a cell off by 3/100 is found with 0.999."""
    coarse, fine = pair
    rung, n = relax(coarse, fine), draws_needed(fine)
    counts = []
    for answer in range(fine.channel.answers):
        before = local.draw_all(
            coarse, np.full(n, answer), fast=fast, threads=threads
        )
        raised = gradual.upgrade(
            rung, before, np.full(n, answer), fast=fast, threads=threads
        )
        counts.append(np.bincount(raised, minlength=fine.channel.responses))
    assert_counts_follow(fine, counts)


@pytest.mark.statistical
def test_degraded_responses_follow_the_coarser_design() -> None:
    stages = ladder([dn.k_ary(5, "1/2"), dn.k_ary(5, 1), dn.k_ary(5, 2)])
    n = max(map(draws_needed, stages))
    columns = [
        gradual.release_planned(stages, np.full(n, answer)) for answer in range(5)
    ]
    for at, design in enumerate(stages):
        assert_counts_follow(
            design, [np.bincount(each[at], minlength=5) for each in columns]
        )
