"""How often the default 95 % interval holds the true share. `python -m benchmarks.coverage`

Simulated tallies (multinomial, exact in law), every category of interest looked at; and, for the same cases, the exact
coverage from the binomial law. Ends with the worst score coverage as the expected count of the rarest symbol shrinks.
"""

from __future__ import annotations

import itertools
import warnings

import numpy as np
from scipy.stats import binom

import deniable as dn
from deniable.errors import ImplausibleResponses
from deniable.estimates.linear import floats

REPETITIONS = 2_000
GRID = list(itertools.product((2, 5), (0.5, 1, 3), (100, 1_000), (0.0, 0.01, 0.05, 0.2, 0.5)))


def holds(design: dn.Design, counts: np.ndarray, share: float, method: str | None = None) -> bool:
    low, high = dn.estimate(dn.Tally(design, counts)).conf_int(method=method).popitem()[1]
    return bool(low - 1e-12 <= share <= high + 1e-12)


def simulated(design: dn.Design, shares: np.ndarray, n: int, seed: int) -> float:
    responses = floats(design.channel) @ shares
    draws = np.random.default_rng(seed).multinomial(n, responses / responses.sum(), size=REPETITIONS)
    return float(np.mean([holds(design, counts, shares[-1]) for counts in draws]))


def exact(design: dn.Design, share: float, n: int, method: str | None = None) -> float:
    """The interval of a category depends on the count of its own symbol alone, which is binomial."""
    matrix = floats(design.channel)
    chance = binom.pmf(np.arange(n + 1), n, matrix[0, 1] + (matrix[1, 1] - matrix[0, 1]) * share)
    likely = np.flatnonzero(chance > 1e-12)
    rest = [0] * (len(design.symbols) - 2)
    return float(
        sum(chance[hits] for hits in likely if holds(design, np.array([n - hits, *rest, hits]), share, method))
    )


def main() -> None:
    warnings.simplefilter("ignore", ImplausibleResponses)
    print(f"default 95 % interval, {REPETITIONS:,} repetitions each; wanted 93–97.5 %, at π = 0 at least 93 %")
    print("| k | ε | n | π | simulated | exact |\n|---|---|---|---|---|---|")
    worst, most = 1.0, 0.0
    for seed, (k, epsilon, n, share) in enumerate(GRID):
        design = dn.k_ary(k, epsilon=epsilon)
        shares = np.full(k, (1 - share) / (k - 1))
        shares[-1] = share
        rates = simulated(design, shares, n, seed), exact(design, share, n)
        print(f"| {k} | {epsilon} | {n:,} | {share} | {rates[0]:.4f} | {rates[1]:.4f} |", flush=True)
        worst, most = min(worst, *rates), max(most, *(rates if share else (0.0,)))
    print(f"\nsmallest {worst:.4f}, largest away from 0 {most:.4f}")
    print("\nworst exact coverage of the score interval and of the default, π = 0, n = 200:")
    print("| expected responses of the rarest symbol | score | default |\n|---|---|---|")
    for expected in (0.2, 0.5, 1, 2, 4, 8):
        design = dn.k_ary(5, p=round(1 - 4 * expected / 200, 6))
        print(f"| {expected} | {exact(design, 0.0, 200, 'score'):.4f} | {exact(design, 0.0, 200):.4f} |")


if __name__ == "__main__":
    main()
