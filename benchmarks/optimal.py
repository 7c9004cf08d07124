"""Searches that try to beat what `dn.optimal` chooses. `python -m benchmarks.optimal [largest k]` prints the table.

Each line is a class of demands. "excess" is by how much of its error a design of the class can be better at most, in
percent: the largest over the settings of the line. Up to 6 categories the bound is dual, and over all designs: a linear
program over patterns for (ε, δ), a convex one over extreme rays for priors and policies, staircase patterns for ε at
given shares. For more categories it is the same bound where it can be computed, else one over patterns of at most three
likelihoods, or the best of the families that are searched here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import TypeAlias

import numpy as np

from deniable import exact
from deniable.criteria import KnownPrior, Policy, Relaxed
from deniable.designs.sets_of_answers import subset_risk
from deniable.designs.sets_of_answers_relaxed import default_ceiling
from deniable.plan import optimal
from deniable.plan.cones import ConeDemand, best_subset_for_prior
from deniable.plan.relaxed import least_risk
from deniable.plan.staircase import staircase

Excess: TypeAlias = tuple[float, str]  # of a setting, and what it was compared with
SIZES = (2, 3, 4, 5, 6, 8, 13, 20, 50, 100, 1_000)
DEMANDS = ((0.5, 0.01), (0.5, 0.05), (1.0, 0.01), (1.0, 0.1), (2.0, 0.05))
SMALL = 6
MOST_PROGRAMMED = 8  # categories of a staircase program


def risk_of(size: int, *demand: object, **options: object) -> float:
    """Return n times the total variance of the chosen design."""
    best = optimal(size, *demand, **options).candidates[0]  # type: ignore[arg-type]
    return best.risk * (2 if size == 2 else 1)


def pure(size: int) -> Iterator[Excess]:
    """ε in the worst case: patterns of two levels at every size of set, and staircase patterns at even shares."""
    for epsilon in (0.5, 1.0, 2.0):
        ratio = exact.exp_below(Fraction(epsilon))
        bound = min(float(subset_risk(size, t, ratio)) for t in range(1, size))
        how = "all sizes of sets"
        if 2 < size <= MOST_PROGRAMMED:
            labels, even = [str(j) for j in range(size)], np.full(size, 1 / size)
            bound, how = staircase(labels, epsilon, even).bound, "all designs"
        yield risk_of(size, epsilon) / bound - 1, how


def shares(size: int) -> Iterator[Excess]:
    """ε at given shares, one of which is large."""
    if 2 < size <= MOST_PROGRAMMED:
        given = np.array([0.6, *[0.4 / (size - 1)] * (size - 1)])
        labels = [str(j) for j in range(size)]
        for epsilon in (0.5, 1.0, 2.0):
            bound = staircase(labels, epsilon, given).bound
            yield risk_of(size, epsilon, shares=given) / bound - 1, "all designs"


def capped(size: int) -> Iterator[Excess]:
    """(ε, δ) with a ceiling: the default, and multiples of ε that are whole and not whole."""
    for (epsilon, delta), steps in product(DEMANDS, (None, 1.5, 2.5, 3.0)):
        ratio, slack = exact.exp_below(epsilon), exact.rational(delta)
        ceiling = None if steps is None else steps * epsilon
        cap = (
            default_ceiling(ratio, slack)
            if ceiling is None
            else exact.exp_below(ceiling)
        )
        risk = risk_of(size, Relaxed(epsilon, delta), ceiling=ceiling)
        yield against(size, ratio, delta, float(cap), risk)


def exposing(size: int) -> Iterator[Excess]:
    """(ε, δ) without a ceiling."""
    for epsilon, delta in DEMANDS:
        risk = risk_of(size, Relaxed(epsilon, delta), expose=True)
        yield against(size, exact.exp_below(epsilon), delta, math.inf, risk)


def against(
    size: int, ratio: Fraction, delta: float, cap: float, risk: float
) -> Excess:
    """Return the excess over the dual bound, of all patterns or of those with at most three likelihoods."""
    bounds, how = (size, float(ratio), delta, cap), "all designs"
    bound = least_risk(*bounds)
    if bound is None:
        bound, how = least_risk(*bounds, most_levels=3), "three likelihoods"
    return (math.nan, "nothing") if bound is None else (risk / bound - 1, how)


def prior(size: int) -> Iterator[Excess]:
    """One known prior, of which one answer has more than the others."""
    for large, most in (
        (Fraction(3, 5), Fraction(7, 10)),
        (Fraction(1, 2), Fraction(3, 4)),
    ):
        known = [large, *[(1 - large) / (size - 1)] * (size - 1)]
        demand = KnownPrior(known, most)
        yield by_cone(size, demand, best_sets(demand, size))


def best_sets(demand: KnownPrior, size: int) -> float:
    """Return the error of the best size of sets under a prior and the default ceiling."""
    known = [share for _, share in demand.prior]
    t, gamma = best_subset_for_prior(
        known, demand.most, ConeDemand(demand, None).cap
    )
    return float(subset_risk(size, t, gamma)) if gamma < math.inf else math.inf


def policy(size: int) -> Iterator[Excess]:
    """Groups of two and of a third of the answers, of which all pairs are protected; and one property."""
    for width in {2, max(2, min(size // 3, 10))}:
        groups = [
            range(start, min(start + width, size)) for start in range(0, size, width)
        ]
        pairs = [pair for group in groups for pair in combinations(group, 2)]
        yield by_cone(size, Policy(1, pairs=pairs), math.inf)
    if 2 < size <= 12:
        yield by_cone(size, Policy(1, properties=[range(2)]), math.inf)


def by_cone(size: int, demand: KnownPrior | Policy, family: float) -> Excess:
    """Return the excess over the bound of a demand on every response, or over a family."""
    labels, cone = [str(j) for j in range(size)], ConeDemand(demand, None)
    risk = risk_of(size, demand)
    best = cone.in_groups(labels) or cone.best(labels, np.full(size, 1 / size))
    if best is not None:
        return risk / best.bound - 1, "all designs"
    return risk / family - 1, "all sizes of sets"


CLASSES: dict[str, Callable[[int], Iterator[Excess]]] = {
    "ε": pure,
    "ε at given shares": shares,
    "(ε, δ) with a ceiling": capped,
    "(ε, δ), exposing": exposing,
    "known prior": prior,
    "policy": policy,
}


def main(most: int) -> None:
    print("| demand | k | settings | compared with | largest excess |")
    print("|---|---|---|---|---|")
    for name, settings in CLASSES.items():
        for size in (size for size in SIZES if size <= most):
            found = list(settings(size))
            for how in dict.fromkeys(how for _, how in found):
                excesses = [excess for excess, own in found if own == how]
                line = f"| {name} | {size:,} | {len(excesses)} | {how} | {100 * max(excesses):.2g} % |"
                print(line, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1])
