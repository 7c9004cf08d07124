"""How fast answers become responses, and responses a tally: `python -m benchmarks.respond`.

Everything on one core but where two threads are named; what a loop without memory and without Python's lock gains from
two threads is measured beside them, because no more can be had from a machine that others use as well. The baseline is
what a user writes by hand: NumPy's PCG64, floats compared with a probability, no secrecy and no exactness.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import workloads
from benchmarks.measure import Row, race, table
from deniable.bulk.random_words import CHUNK, SPARE
from deniable.engines import local

N = 10_000_000
SIZES = (2, 16, 1024)


def words_alone(n: int) -> Callable[[], None]:
    """The source alone: as many words as there are answers, into the buffer that draws use."""
    stream = local.Keystream()
    buffer = np.empty(CHUNK + SPARE, np.uint64)

    def run() -> None:
        for _ in range(0, n, CHUNK):
            stream.fill(buffer, CHUNK)

    return run


def by_hand(x: NDArray[Any], k: int, p: float) -> Callable[[], NDArray[Any]]:
    rng = np.random.Generator(np.random.PCG64())

    def run() -> NDArray[Any]:
        keep = rng.random(x.size) < p
        if k == 2:  # the other category is known
            return np.where(keep, x, 1 - x)
        other = rng.integers(0, k - 1, x.size)
        other += other >= x
        return np.where(keep, x, other)

    return run


def spin(pool: ThreadPoolExecutor | None, times: int = 2) -> Callable[[], None]:
    """A loop that shares nothing, once, or several times at once on a pool."""
    from numba import njit

    @njit(nogil=True)
    def loop(n: int) -> int:
        total = 0
        for i in range(n):
            total ^= (i * 2_654_435_761) >> 7
        return total

    def run() -> None:
        if pool is None:
            loop(1 << 27)
        else:
            list(pool.map(loop, [1 << 27] * times))

    return run


def bench_respond(k: int) -> None:
    design, x = workloads.design(k), workloads.answers(k, N)
    p = float(design.channel.probability(0, given=0))
    pool = ThreadPoolExecutor(2)
    times = race(
        {
            "words": words_alone(N),
            "hand": by_hand(x, k, p),
            "fast": lambda: local.draw_all(design, x, fast=True),
            "fast, 2 threads": lambda: local.draw_all(
                design, x, fast=True, threads=2
            ),
            "numpy": lambda: local.draw_all(design, x, fast=False),
            "numpy, 2 threads": lambda: local.draw_all(
                design, x, fast=False, threads=2
            ),
            "loop": spin(None),
            "two loops": spin(pool),
        }
    )
    pool.shutdown()
    rows: list[Row] = [
        ("fast ÷ random words alone", times["words"] / times["fast"], 0.4),
        ("fast ÷ by hand", times["hand"] / times["fast"], 5),
        ("NumPy ÷ by hand", times["hand"] / times["numpy"], 1.2),
        ("fast, two threads ÷ one", times["fast"] / times["fast, 2 threads"], 1.6),
        (
            "NumPy, two threads ÷ one",
            times["numpy"] / times["numpy, 2 threads"],
            None,
        ),
        (
            "a loop that shares nothing, two threads ÷ one",
            2 * times["loop"] / times["two loops"],
            None,
        ),
    ]
    speeds = ", ".join(
        f"{name} {N / seconds / 1e6:,.0f}"
        for name, seconds in times.items()
        if "loop" not in name
    )
    table(
        f"respond, k_ary({k}, ε = 1), {x.dtype}, n = {N:,}  [M/s here: {speeds}]",
        rows,
    )


def bench_tally(k: int) -> None:
    design = workloads.design(k)
    responses = local.draw_all(design, workloads.answers(k, N), fast=True)
    times = race(
        {
            "bincount": lambda: np.bincount(responses, minlength=k),
            "fast": lambda: local.tally(design, responses, fast=True),
            "fast, 2 threads": lambda: local.tally(
                design, responses, fast=True, threads=2
            ),
            "numpy": lambda: local.tally(design, responses, fast=False),
        }
    )
    rows: list[Row] = [
        ("fast ÷ np.bincount", times["bincount"] / times["fast"], 0.8),
        ("NumPy ÷ np.bincount", times["bincount"] / times["numpy"], 0.8),
        ("fast, two threads ÷ one", times["fast"] / times["fast, 2 threads"], None),
    ]
    table(f"tally, k_ary({k}, ε = 1), {responses.dtype}, n = {N:,}", rows)


def main() -> None:
    for k in SIZES:
        bench_respond(k)
    for k in SIZES:
        bench_tally(k)


if __name__ == "__main__":
    main()
