"""Gradual release: what relaxing gains, how fast it is, and that it streams. `python -m benchmarks.gradual`.

Speeds are those of raising responses relative to drawing them afresh, in the same run, on one core. The variance is
compared with that of responses which spend each further part of the budget afresh, independently of the ones before,
and are combined with the best weights.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from benchmarks import workloads
from benchmarks.measure import Row, race, table
from deniable.bulk import gradual
from deniable.designs import Design, k_ary, rappor, subset
from deniable.engines import local
from deniable.estimates import covariance
from deniable.estimates.inverses import left_inverse
from deniable.estimates.stages import afresh
from deniable.order.relaxation import Ladder, ladder, relax

N = 10_000_000
STREAMED = (10**7, 10**8)
CHUNK = 1_000_000
MOST_GROWTH = 1.05
STAGES = 10


def pair(build: Any, k: int, **options: Any) -> tuple[Design, Design]:
    return build(k, epsilon=1, **options), build(k, epsilon=2, **options)


def speeds() -> None:
    """Print how fast k-ary responses are raised and degraded, against drawing them afresh."""
    for fast in (True, False):
        rows: list[Row] = []
        for k in (2, 16, 1024):
            coarse, fine = pair(k_ary, k)
            rung, answers = relax(coarse, fine), workloads.answers(k, N)
            out = local.draw_all(coarse, answers, fast=fast)
            times = race(
                {
                    "fresh": lambda: local.draw_all(fine, answers, fast=fast),  # noqa: B023 - run at once
                    "up": lambda: gradual.upgrade(rung, out, answers, fast=fast),  # noqa: B023
                    "down": lambda: gradual.degrade(rung, out, fast=fast),  # noqa: B023
                },
                rounds=5,
            )
            rows.append(
                (f"k_ary_{k}: upgrade / respond", times["fresh"] / times["up"], 0.25)
            )
            rows.append(
                (
                    f"k_ary_{k}: degrade / respond",
                    times["fresh"] / times["down"],
                    None,
                )
            )
        table(f"speed, n = {N:,}, {'Numba' if fast else 'NumPy'}", rows)


def other_families() -> None:
    """Print the same for sets and bits."""
    rows: list[Row] = []
    smaller = subset(32, epsilon=1, t=10), subset(32, epsilon=2, t=4)
    for name, (coarse, fine), n in (
        ("subset_32, 10 and 10", pair(subset, 32, t=10), N // 20),
        ("subset_32, 10 and then 4", smaller, N // 20),
        ("rappor_128", pair(rappor, 128), N // 10),
    ):
        rung, answers = (
            relax(coarse, fine),
            workloads.answers(len(fine.categories), n),
        )
        out = local.draw_all(coarse, answers, fast=True)
        times = race(
            {
                "fresh": lambda: local.draw_all(fine, answers, fast=True),  # noqa: B023 - run at once
                "up": lambda: gradual.upgrade(rung, out, answers, fast=True),  # noqa: B023
            },
            rounds=5,
        )
        rows.append(
            (
                f"{name}, n = {n:,}: upgrade / respond",
                times["fresh"] / times["up"],
                None,
            )
        )
    table("speed of sets and bits, Numba", rows)


def chunks(rung: Any, n: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    rng = np.random.default_rng(20_160_814)
    for _ in range(0, n, CHUNK):
        answers = rng.integers(0, 16, CHUNK, dtype=np.uint8)
        yield local.draw_all(rung.old, answers, fast=True), answers


def streamed(n: int) -> dict[str, float]:
    rung = relax(*pair(k_ary, 16))
    raised = gradual.upgrade_stream(rung, chunks(rung, n), fast=True)
    counted = local.tally_stream(rung.new, raised, fast=True)
    assert counted.respondents == n
    return {"megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def memory() -> None:
    """Print the peak memory of raising more and more responses that come in chunks."""
    print(
        f"\nmemory, k_ary_16, chunks of {CHUNK:,}: answers → responses → raised → tally"
    )
    first = 0.0
    for n in STREAMED:
        command = [sys.executable, "-m", "benchmarks.gradual", str(n)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(run.stdout)["megabytes"]
        first = first or found
        verdict = "reached" if found <= MOST_GROWTH * first else "MISSED"
        print(
            f"  n = {n:>13,}   peak ÷ that at the first n {found / first:5.2f} (at most {MOST_GROWTH}: {verdict})"
        )


def simulated(stages: Ladder, people: int, repetitions: int) -> float:
    """Return the variance of the share of the first category after the last stage, each stage raised from the last."""
    k = len(stages.categories)
    answers = np.tile(np.arange(people) % k, repetitions).astype(np.uint8)
    column = local.draw_all(stages.designs[0], answers, fast=True)
    for rung in stages.relaxations:
        column = gradual.upgrade(rung, column, answers, fast=True)
    linear = left_inverse(stages.designs[-1].channel)
    found = [
        linear.shares(np.bincount(row, minlength=k) / people)[0]
        for row in column.reshape(repetitions, people)
    ]
    return float(np.var(found, ddof=1))


def variances() -> None:
    """Print by how much the variance falls, against spending every further tenth of the budget afresh."""
    print(
        f"\nvariance after {STAGES} stages, ε = 0.1 … 1, everybody raised at every stage"
    )
    print(
        f"  {'':6}   {'afresh ÷ relaxed':>18}   relaxed, simulated ÷ one response at ε = 1 (95 % of chance alone)"
    )
    epsilons = [f"{i}/10" for i in range(1, STAGES + 1)]
    people, repetitions = 1000, 4000
    for k in (2, 5, 20):
        build = partial(_k_ary, k)
        compared = afresh(build, epsilons, [1 / k] * k, people)
        last = covariance(build(1), [1 / k] * k, people, population=people)[0, 0]
        ratio = simulated(ladder(map(build, epsilons)), people, repetitions) / last
        low, high = chi2.ppf([0.025, 0.975], repetitions - 1) / (repetitions - 1)
        gain = compared.independent[-1] / compared.relaxed[-1]
        print(
            f"  k = {k:>2}   {gain:18.2f}   {ratio:9.3f}   ({low:.3f} to {high:.3f})"
        )


def _k_ary(k: int, epsilon: Any) -> Design:
    return k_ary(k, epsilon=epsilon)


def main() -> None:
    variances()
    speeds()
    other_families()
    memory()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(streamed(int(sys.argv[1]))))
    else:
        main()
