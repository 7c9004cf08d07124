"""The chosen design against the customary ones: exact total risk, confirmed by simulation. `python -m benchmarks.risk`

For every k and ε the table gives n times the worst-case sum of variances, each design at the same ε; then, for the
chosen design, the simulated sum of squared errors at even shares with its standard error.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import deniable as dn
from deniable.estimates import covariance
from deniable.plan import optimal, variance

SIZES = (4, 16, 128, 1024)
EPSILONS = (0.5, 1.0, 2.0, 4.0)
NAMES = (
    "chosen",
    "k_ary",
    "unary",
    "unary, optimized",
    "local_hashing",
    "rappor, customary",
    "hadamard",
)
REPETITIONS, PEOPLE = 400, 2_000


def customary(size: int, epsilon: float) -> float:
    """RAPPOR with its customary estimate, in the worst case, which is even (F10)."""
    even = [1 / size] * size
    return float(
        np.trace(covariance(dn.rappor(size, epsilon), even, 1, method="customary"))
    )


def simulated(design: dn.Design, seed: int) -> tuple[float, float]:
    """n times the summed squared error at even shares, through the library's own draws, and its standard error."""
    size = len(design.categories)
    rng = np.random.default_rng(seed)
    truth = np.full(size, 1 / size)
    errors = np.empty(REPETITIONS)
    for i in range(REPETITIONS):
        answers = rng.integers(0, size, PEOPLE)
        tally = dn.engines.local.tally(
            design, dn.engines.local.draw_all(design, answers, codes=True)
        )
        errors[i] = PEOPLE * ((dn.estimate(tally).value - truth) ** 2).sum()
    return float(errors.mean()), float(errors.std(ddof=1) / math.sqrt(REPETITIONS))


def main() -> None:
    import warnings

    warnings.simplefilter("ignore", dn.errors.ImplausibleResponses)
    print(
        "| k | ε | " + " | ".join(NAMES) + " | chosen design | simulated | off by |"
    )
    print("|" + "---|" * (len(NAMES) + 5))
    worst = 0.0
    beaten = []
    for seed, (size, epsilon) in enumerate((k, e) for k in SIZES for e in EPSILONS):
        choice = optimal(size, epsilon)
        risks = {each.name: each.risk for each in choice.candidates}
        risks["chosen"], risks["rappor, customary"] = (
            choice.candidates[0].risk,
            customary(size, epsilon),
        )
        beaten += [
            (size, epsilon, name)
            for name in NAMES
            if risks[name] < risks["chosen"] * (1 - 1e-9)
        ]
        mean, error = simulated(choice.design, seed)
        off = (mean - variance(choice.design, 1, shares=[1 / size] * size)) / error
        worst = max(worst, abs(off))
        cells = " | ".join(f"{risks[name]:.5g}" for name in NAMES)
        name = choice.candidates[0].name
        print(
            f"| {size} | {epsilon:g} | {cells} | {name} | {mean:.5g} ± {error:.2g} | {off:+.1f} SE |"
        )
        sys.stdout.flush()
    print(
        f"\nbeaten by another design: {beaten or 'never'}; farthest simulation {worst:.2f} standard errors"
    )


if __name__ == "__main__":
    main()
