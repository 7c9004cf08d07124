"""How many times as fast several threads draw as one: `python -m benchmarks.threads`.

What a loop gains that shares nothing with anybody is measured beside them, taking turns: no more can be had from a
machine whose cores others use as well.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from numpy.typing import NDArray

from benchmarks import workloads
from benchmarks.measure import Row, race, table
from benchmarks.respond import SIZES, N, spin
from deniable.designs import Design
from deniable.engines import local

BAR = 1.6
"""What two threads have to reach on a machine that is otherwise idle."""


class Gain(NamedTuple):
    """How many times as fast so many threads are as one, and so many loops that share nothing."""

    k: int
    threads: int
    gain: float
    loop: float


def thread_counts() -> list[int]:
    """Two threads, four, … up to the cores of the machine."""
    return [
        count for count in (2, 4, 8, 16, 32) if count <= max(os.cpu_count() or 2, 2)
    ]


def gains(threads: int) -> list[Gain]:
    """Race one thread against several, and a loop alone against as many of it."""
    with ThreadPoolExecutor(threads) as pool:
        calls: dict[str, Callable[[], object]] = {
            "loop": spin(None),
            "loops": spin(pool, threads),
        }
        for k in SIZES:
            for count in (1, threads):
                calls[f"{k} {count}"] = _drawing(
                    workloads.design(k), workloads.answers(k, N), count
                )
        times = race(calls, rounds=7)
    loop = threads * times["loop"] / times["loops"]
    return [
        Gain(k, threads, times[f"{k} 1"] / times[f"{k} {threads}"], loop)
        for k in SIZES
    ]


def _drawing(
    design: Design, answers: NDArray[Any], threads: int
) -> Callable[[], object]:
    return lambda: local.draw_all(design, answers, fast=True, threads=threads)


def main() -> None:
    for threads in thread_counts():
        found = gains(threads)
        bar = BAR if threads == 2 else None
        rows: list[Row] = [
            (f"k_ary({each.k}, ε = 1)", each.gain, bar) for each in found
        ]
        rows.append(("a loop that shares nothing", found[0].loop, None))
        table(f"{threads} threads ÷ one, n = {N:,}", rows)


if __name__ == "__main__":
    main()
