"""How often always-valid 95 % intervals miss at some of many looks, and their width at 100,000 responses.

`python -m benchmarks.coverage_page looks` writes the tables. Looks lie between 100 and 100,000 responses: 10, 1,000, or
one after each response; the intervals are tuned for 1,000. Of shares and of differences the chance is exact: the law of
the counts that never led to a miss goes from look to look. Means and contrasts are simulated in law.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom
from tests.support.looks import ever_missed

import deniable as dn
from benchmarks.coverage_predictors import standard_error
from deniable.designs import number_design
from deniable.errors import ImplausibleResponses
from deniable.estimates import confidence_sequences as sequences
from deniable.estimates.backing import support_rates
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval
from deniable.estimates.linear import floats
from deniable.types.numbers.count import NumberTally

SURVEYS = 2_000
LEVEL, PLANNED, FIRST, LAST, LAST_DRAWN = 0.95, 1_000, 100, 100_000, 10_000
LIMIT = -np.log(1 - LEVEL)
SHARES = (0.0, 0.01, 0.1, 0.5)
LOOKS = {
    f"{looks:,}": np.unique(np.geomspace(FIRST, LAST, looks).round().astype(int))
    for looks in (10, 1_000)
} | {"after each": np.arange(FIRST, LAST + 1)}
WARNER = dn.warner(epsilon=1)
STRAY = 1 / (1 + np.e)
DESIGNS: dict[str, Any] = {
    "Warner, ε = 1": WARNER,
    "10-ary, ε = 1": dn.k_ary(10, epsilon=1),
    "unary 100, ε = 2": dn.unary(100, epsilon=2, optimized=True, by_size=False),
}


def shares() -> Iterator[str]:
    """One share, exact."""
    for (name, design), share in product(DESIGNS.items(), SHARES):
        counted = support_rates(design.channel)
        assert counted is not None
        stray, hit = float(np.max(counted.most)), float(np.min(counted.p))
        rate = stray + (hit - stray) * share

        def holds(counts: Vector, sizes: Vector, rate: float = rate) -> Vector:
            both = np.stack([counts, sizes - counts], axis=-1)
            rates = vector([rate, 1 - rate])
            wealth = sequences.log_joint_wealth(both, rates, LEVEL, PLANNED)
            return np.asarray(wealth < LIMIT)

        missed = [
            ever_missed(rate, looks.tolist(), holds) for looks in LOOKS.values()
        ]
        hits = np.array([LAST * rate])
        rates = sequences.share_bounds(hits, LAST, LEVEL, PLANNED)
        error = (rate * (1 - rate) / LAST) ** 0.5
        ratio = float(rates[1][0] - rates[0][0]) / (2 * 1.959964 * error)
        yield row(f"share {share:g}, {name}", missed, ratio)


def row(name: str, missed: list[float], ratio: float) -> str:
    cells = [*(f"{rate:.4f}" for rate in missed), f"{ratio:.2f}"]
    return f"| {name} | {' | '.join(cells)} |"


def means(surveys: int) -> Iterator[str]:
    """Means of levels of which few are at the top, simulated."""
    for levels, share in product((3, 11), SHARES):
        design = number_design(0, 10, epsilon=2, levels=levels)
        truth = vector([1 - share, *[0.0] * (levels - 2), share])
        mean = dn.estimate(NumberTally(design, expected(design, truth))).mean
        model = mean.model
        missed = simulate(model.shares, model.levels, truth, surveys)
        ratio = ratio_of_widths(partial(mean.interval, "mean"))
        yield row(f"mean, {levels} levels, {share:g} at the top", missed, ratio)


def contrasts(surveys: int) -> Iterator[str]:
    """Differences between the shares of two categories, simulated."""
    for size, share in product((3, 10), SHARES):
        design = dn.k_ary(size, epsilon=1)
        truth = vector([*[(1 - share) / (size - 1)] * (size - 1), share])
        estimate = dn.estimate(dn.Tally(design, expected(design, truth)))
        contrast = estimate.contrast(
            {design.categories[-1]: 1, design.categories[0]: -1}
        )
        weights = vector([-1.0, *[0.0] * (size - 2), 1.0])
        missed = simulate(estimate, weights, truth, surveys)
        ratio = ratio_of_widths(contrast.interval)
        yield row(f"contrast, {size}-ary, share {share:g}", missed, ratio)


def expected(design: Any, truth: Vector) -> list[int]:
    """Return the tally of 100,000 responses that is expected."""
    counts = np.rint(LAST * floats(design.channel) @ truth).astype(int).tolist()
    return [LAST - sum(counts[1:]), *counts[1:]]


def ratio_of_widths(interval: Callable[..., Interval]) -> float:
    """Return the width of the always-valid interval over that of the interval of one look."""
    return float(np.ptp(interval(always=True, planned=PLANNED)) / np.ptp(interval()))


def simulate(
    estimate: dn.Estimate[Any], weights: Vector, truth: Vector, surveys: int
) -> list[float]:
    """Return how often a weighted sum of shares is missed: its martingale at the true value reaches 1/α.

    Why: the interval is where the martingale is below 1/α, so that no interval has to be searched.
    """
    scores, spread = estimate.evidence.response_scores(weights[None])
    value, rates = vector([weights @ truth]), floats(estimate.design.channel) @ truth
    generator = np.random.default_rng(27)
    missed = []
    for all_looks in LOOKS.values():
        looks, repetitions, fails = all_looks, surveys, 0
        if len(looks) > 1_000:
            looks, repetitions = looks[looks <= LAST_DRAWN], surveys // 10
        added = np.diff(looks, prepend=0)
        for _ in range(repetitions):
            tallies = generator.multinomial(added, rates / rates.sum()).cumsum(
                axis=0
            )
            fails += any(
                bool(
                    (
                        sequences.log_mean_wealth(
                            scores, block.T, value, spread, LEVEL, PLANNED
                        )
                        >= LIMIT
                    ).any()
                )
                for block in np.array_split(tallies, max(len(looks) // 1_000, 1))
            )
        missed.append(fails / repetitions)
    return missed


def differences() -> Iterator[str]:
    """Differences between two groups, Warner at ε = 1, exact: both grow alike, or one was complete before."""
    for (first, second), pace in product(
        [(0.0, 0.0), (0.01, 0.1), (0.1, 0.1), (0.5, 0.5)], PACES
    ):
        missed = ever_missed_difference((first, second), PACES[pace])
        yield f"| {first:g} and {second:g}, {pace} | {missed:.4f} |"


GROUP, TUNED = 200, 50
"""How many responses the larger group has at last, and for how many the intervals are tuned."""

PACES: dict[str, list[tuple[int, int]]] = {
    "both at one pace": [(n, n) for n in range(2, GROUP + 1)],
    "one three times as fast": [(max(n // 3, 2), n) for n in range(2, GROUP + 1)],
    "one complete before": [(GROUP, n) for n in range(2, GROUP + 1)],
}


def ever_missed_difference(
    truths: tuple[float, float], looks: list[tuple[int, int]]
) -> float:
    """Return the exact chance that the difference is missed at one of the looks, by forward recursion."""
    rates = [STRAY + (1 - 2 * STRAY) * share for share in truths]
    chances, missed, before = np.ones((1, 1)), 0.0, (0, 0)
    for sizes in looks:
        for axis, rate in enumerate(rates):
            law = binom.pmf(
                np.arange(sizes[axis] - before[axis] + 1),
                sizes[axis] - before[axis],
                rate,
            )
            chances = np.apply_along_axis(np.convolve, axis, chances, law)
        out = ~difference_holds(sizes, truths[0] - truths[1])
        missed += float(chances[out].sum())
        chances[out] = 0.0
        before = sizes
    return missed


def difference_holds(sizes: tuple[int, int], difference: float) -> Matrix:
    """Tell for each pair of counts whether the interval that is recovered from those of both shares holds."""
    first, second = map(reaches, sizes)
    apart = np.subtract.outer(first[0], second[0]) - difference
    below, above = (
        np.hypot.outer(first[1], second[2]),
        np.hypot.outer(first[2], second[1]),
    )
    return np.asarray((apart <= below + 1e-12) & (-apart <= above + 1e-12))


@cache
def reaches(n: int) -> Matrix:
    """Return for each count of n the share, and how far its interval reaches below and above it."""
    counts = np.arange(n + 1)
    estimates = [
        dn.estimate(dn.Tally(WARNER, [n - count, count])) for count in counts
    ]
    shares = [estimate.contrast({"yes": 1}) for estimate in estimates]
    low, high = vector(
        [each.interval(always=True, planned=TUNED) for each in shares]
    ).T
    values = vector([each.value for each in shares])
    return np.stack([values, values - low, high - values])


def lines() -> Iterator[str]:
    """Yield the part of the page."""
    warnings.simplefilter("ignore", ImplausibleResponses)
    yield f"""\
How often always-valid 95 % intervals miss at some of many looks: 10 or 1,000 between 100 and 100,000 responses, or one
after each response from the 100th on, tuned for 1,000. Wanted are at most 5 %. The last column is their width at
100,000 responses over that of the interval for one look, wanted at most 2.2. Rows of shares are exact; means of numbers
from 0 to 10 at ε = 2 and contrasts at ε = 1 are drawn {SURVEYS:,} times (a standard error of
{standard_error(SURVEYS)}), those after each response {SURVEYS // 10:,} times up to {LAST_DRAWN:,} responses
({standard_error(SURVEYS // 10)}).
"""
    yield f"| number | {' | '.join(LOOKS)} | width |"
    yield f"|{' --- |' * (len(LOOKS) + 2)}"
    for part in (shares(), means(SURVEYS), contrasts(SURVEYS)):
        yield from part
    yield f"""
Exact chance that the difference between two groups is missed at some look, Warner's design at ε = 1, {GROUP} responses
of the larger group at last, tuned for {TUNED}:
"""
    yield "| shares, pace | missed |"
    yield "| --- | --- |"
    yield from differences()
