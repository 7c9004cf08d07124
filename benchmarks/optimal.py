"""What `dn.optimal` chooses under (ε, δ) against a bound for all designs. `python -m benchmarks.optimal [largest k]`

The bound is a linear program over all patterns of likelihoods: up to 10 categories without a ceiling, and up to 1,000
with one of 2ε. "beaten" is by how much any design might have a smaller worst case, in percent.
"""

from __future__ import annotations

import math
import sys
from itertools import product

from deniable.criteria import Relaxed
from deniable.plan import optimal
from deniable.plan.relaxed import least_risk

SIZES = (2, 3, 4, 5, 6, 10, 20, 50, 100, 1_000)
DEMANDS = ((0.5, 0.01), (0.5, 0.05), (1.0, 0.01), (1.0, 0.1), (2.0, 0.05))


def gap(size: int, epsilon: float, delta: float, *, expose: bool) -> str:
    """Return how far the choice is above the bound, in percent; a dash where there are too many patterns."""
    choice = optimal(size, Relaxed(epsilon, delta), expose=expose)
    total = choice.candidates[0].risk * (2 if size == 2 else 1)
    suffices = Relaxed(epsilon, delta).parity
    cap = math.inf if expose else max(math.exp(2 * epsilon), float(suffices))
    bound = least_risk(size, math.exp(epsilon), delta, cap)
    percent = "—" if bound is None else f"{100 * (total / bound - 1):.2g} %"
    return f"{total:.5g} | {percent}"


def main(most: int) -> None:
    print("| k | ε | δ | ceiling 2ε | beaten | exposing | beaten |")
    print("|---|---|---|---|---|---|---|")
    for size, (epsilon, delta) in product(SIZES, DEMANDS):
        if size <= most:
            cells = [gap(size, epsilon, delta, expose=e) for e in (False, True)]
            print(f"| {size} | {epsilon:g} | {delta:g} | {' | '.join(cells)} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZES[-1])
