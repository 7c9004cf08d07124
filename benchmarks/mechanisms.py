"""The error of the best mechanisms known at equal ε, beside their speed: `python -m benchmarks.mechanisms`.

The error is n times the squared error of all shares together, averaged over surveys of even answers: what one
respondent's worth of noise is, whatever n. The unbiased estimate is used for all of them.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import deniable as dn
from benchmarks.peers import surveyed
from deniable.errors import ImplausibleResponses

PEOPLE = 20_000
DESIGNS: dict[str, Callable[[int, float], dn.Design]] = {
    "k-ary (direct encoding)": dn.k_ary,
    "unary (symmetric)": dn.unary,
    "unary, optimized": lambda k, epsilon: dn.unary(k, epsilon, optimized=True),
    "RAPPOR": dn.rappor,
    "subset": dn.subset,
    "hashing, two values": lambda k, epsilon: dn.local_hashing(k, epsilon, values=2),
    "hashing over prime powers (projective geometry)": dn.local_hashing,
    "Hadamard": dn.hadamard,
}
SIZES, EPSILONS = (16, 128, 1024), (1.0, 3.0)


class Accuracy(NamedTuple):
    """What a mechanism costs in error, and how many respondents a second go through it end to end."""

    name: str
    k: int
    epsilon: float
    error: float
    rate: float


def accuracy(name: str, k: int, epsilon: float) -> Accuracy:
    """Hold surveys until the mean error is known to about one or two percent."""
    design = DESIGNS[name](k, epsilon)
    answers = np.random.default_rng(7).integers(0, k, PEOPLE)
    truth = np.bincount(answers, minlength=k) / PEOPLE
    errors, best = [], np.inf
    surveyed(design, answers)
    for _ in range(max(12, 12_800 // k)):
        start = time.perf_counter()
        found = surveyed(design, answers)
        best = min(best, time.perf_counter() - start)
        errors.append(PEOPLE * float(((found.value - truth) ** 2).sum()))
    return Accuracy(name, k, epsilon, float(np.mean(errors)), PEOPLE / best)


def main() -> None:
    warnings.simplefilter("ignore", ImplausibleResponses)
    for epsilon in EPSILONS:
        for k in SIZES:
            for name in DESIGNS:
                found = accuracy(name, k, epsilon)
                print(
                    f"ε = {epsilon:g}, k = {k:5,}  {name:<48} {found.error:10,.1f}  {found.rate / 1e6:8.2f} M/s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
