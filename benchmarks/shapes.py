"""How far pictures of a distribution are from it: smoothed square waves, EM alone, a tree of buckets, two levels.

`python -m benchmarks.shapes [surveys]`: Beta(2, 5), 100,000 respondents, F at 256 edges; errors as parts of the range.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import beta

import deniable as dn
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.types.buckets.count import BucketTally
from deniable.types.buckets.plan import response_rates
from deniable.types.numbers.count import NumberTally
from deniable.types.numbers.shape import level_borders

SURVEYS, RESPONDENTS, BUCKETS = 32, 100_000, 256
LAW = beta(2, 5)
EDGES = np.arange(BUCKETS + 1) / BUCKETS


def errors(epsilon: float, surveys: int) -> dict[str, list[float]]:
    """Return the mean error of F, that of the median, and the root mean square error of the mean, by estimate."""
    generator, truth = np.random.default_rng(5), LAW.cdf(EDGES)
    designs = [
        dn.number_design(0, 1, epsilon, goal="shape"),
        dn.number_design(0, 1, epsilon, levels=2),
    ]
    rates = [
        each.channel.floats() @ level_shares(each.scale.levels, LAW.ppf)
        for each in designs
    ]
    borders = level_borders(np.linspace(0, 1, designs[0].scale.levels))
    tree = dn.bucket_design(0, 1, epsilon, count=BUCKETS)
    tree_rates = response_rates(tree, np.diff(truth))
    rows: dict[str, list[list[float]]] = {}

    def add(name: str, distribution: Any, median: float, mean: float) -> None:
        far = float(np.abs(distribution - truth).mean())
        row = [far, abs(median - LAW.median()), (mean - LAW.mean()) ** 2]
        rows.setdefault(name, []).append(row)

    for _ in range(surveys):
        wave, rounded = (
            NumberTally(
                design,
                generator.multinomial(RESPONDENTS, each / each.sum()).tolist(),
            )
            for design, each in zip(designs, rates, strict=True)
        )
        made = dn.estimate(wave)
        likely = early_stopped(designs[0].channel.floats(), wave.counts, epsilon)
        for name, shares in (("smoothed", made.smooth().shares), ("EM", likely)):
            below = np.concatenate([[0.0], np.cumsum(shares)])
            median = float(np.interp(0.5, below, borders))
            mean = float(shares @ np.linspace(0, 1, len(shares)))
            add(name, np.interp(EDGES, borders, below), median, mean)
        sizes = generator.multinomial(
            RESPONDENTS, np.full(len(tree_rates), 1 / len(tree_rates))
        )
        counts = list(map(generator.multinomial, sizes, tree_rates))
        found = dn.estimate(BucketTally(tree, np.concatenate(counts)))
        curve = found.model.curves[0].distribution
        add("tree", curve, found.params["median"], np.nan)
        add("two levels", np.nan, np.nan, dn.estimate(rounded).mean.value)
        add("unbiased", np.nan, np.nan, made.mean.value)
    means = {name: np.mean(each, axis=0) for name, each in rows.items()}
    return {name: [*each[:2], each[2] ** 0.5] for name, each in means.items()}


def early_stopped(matrix: Matrix, counts: Vector, epsilon: float) -> Vector:
    """Return shares by EM that ends, as in [LWL20], when a step gains less than 0.001·e^ε nats."""
    shares = np.full(matrix.shape[1], 1 / matrix.shape[1])
    last, height = -np.inf, float(counts @ np.log(matrix @ shares))
    while height - last >= 1e-3 * np.exp(epsilon):
        shares = shares * ((counts / (matrix @ shares)) @ matrix) / counts.sum()
        last, height = height, float(counts @ np.log(matrix @ shares))
    return vector(shares)


def level_shares(levels: int, inverse: Callable[[Vector], Vector]) -> Vector:
    """Return the shares of the levels that numbers with this quantile function are rounded to."""
    numbers = inverse(vector((np.arange(1 << 16) + 0.5) / (1 << 16)))
    below, part = np.divmod(numbers * (levels - 1), 1)
    places = below.astype(int)
    counts = np.bincount(places, 1 - part, levels)
    counts += np.bincount(places + 1, part, levels)
    return vector(counts / counts.sum())


def main() -> None:
    surveys = int(sys.argv[1]) if len(sys.argv) > 1 else SURVEYS
    print(f"Beta(2, 5), {RESPONDENTS:,} respondents, {surveys} surveys")
    print("| ε | estimate | mean error of F | of the median | rmse of the mean |")
    print("|---|---|---|---|---|")
    for epsilon in (0.5, 1.0, 2.0):
        for name, each in errors(epsilon, surveys).items():
            print(
                f"| {epsilon:g} | {name} | {' | '.join(f'{x:.4f}' for x in each)} |"
            )


if __name__ == "__main__":
    main()
