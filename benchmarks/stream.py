"""From a generator of answers to a tally, in constant memory and linear time: `python -m benchmarks.stream`.

Each size runs in an interpreter of its own, which tells its peak memory; every chunk of answers is drawn anew.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import workloads
from deniable.engines import local

SIZES = (10**7, 10**8, 10**9)
CHUNK = 1_000_000
CATEGORIES = 16
MOST_MEGABYTES = 300


def chunks(n: int) -> Iterator[NDArray[Any]]:
    rng = np.random.default_rng(20_160_814)
    for _ in range(0, n, CHUNK):
        yield rng.integers(0, CATEGORIES, CHUNK, dtype=np.uint8)


def measure(n: int) -> dict[str, float]:
    design = workloads.design(CATEGORIES)
    local.tally_stream(
        design, local.draw_stream(design, chunks(CHUNK), fast=True), fast=True
    )  # compiled beforehand
    start = time.perf_counter()
    counted = local.tally_stream(
        design, local.draw_stream(design, chunks(n), fast=True), fast=True
    )
    seconds = time.perf_counter() - start
    assert counted.respondents == n
    return {
        "seconds": seconds,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    print(
        f"\nstream, k_ary({CATEGORIES}, ε = 1), chunks of {CHUNK:,}: generator → responses → tally"
    )
    first: float | None = None
    for n in SIZES:
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.stream", str(n)],
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(run.stdout)
        each = found["seconds"] / n
        first = first or each
        verdict = "reached" if found["megabytes"] < MOST_MEGABYTES else "MISSED"
        print(
            f"  n = {n:>13,}   peak {found['megabytes']:4.0f} MB (below {MOST_MEGABYTES}: {verdict})"
            f"   time per answer ÷ that at the first n {each / first:5.2f}   [{1e9 * each:.2f} ns here]"
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
    else:
        main()
