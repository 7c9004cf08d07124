"""How fast very many categories are: `python -m benchmarks.large`.

End to end is from answers to responses, tally and unbiased shares with their errors, on one core with a secure
source. The peers' rates were measured with their own code on a machine of the same kind, at k = 1,024: k-ary
1,410,000 respondents a second, Hadamard response 132,000, hashing with 500 shared hashes 251,000, optimal local hashing
2,600. The ratio to the k-ary draw that a user writes by hand is measured in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks import workloads
from benchmarks.measure import Row, race, table
from benchmarks.respond import by_hand
from deniable.designs import Design, hadamard, k_ary, local_hashing
from deniable.engines import local
from deniable.estimates.shares import estimate

N = 2_000_000
PEERS = {"k_ary": 1.41e6, "hadamard": 132e3, "local_hashing": 251e3}
DESIGNS = {
    "hadamard(1024, ε = 1)": lambda: hadamard(1024, 1),
    "local_hashing(1024, ε = 1)": lambda: local_hashing(1024, 1),
    "local_hashing(1024, ε = 1, values=2)": lambda: local_hashing(1024, 1, values=2),
    "k_ary(10⁶, ε = 1)": lambda: k_ary(1_000_000, 1),
    "hadamard(10⁶, ε = 1)": lambda: hadamard(1_000_000, 1),
    "local_hashing(10⁶, ε = 1)": lambda: local_hashing(1_000_000, 1),
    "local_hashing(10⁶, ε = 4)": lambda: local_hashing(1_000_000, 4),
}


def bench(name: str, build: Callable[[], Design]) -> None:
    design = build()
    k = len(design.categories)
    x = workloads.answers(k, N)
    responses = local.draw_all(design, x, fast=True)
    tally = local.tally(design, responses)
    times = race(
        {
            "hand": by_hand(x, k, 0.5),
            "respond, fast": lambda: local.draw_all(design, x, fast=True),
            "respond, NumPy": lambda: local.draw_all(design, x, fast=False),
            "tally": lambda: local.tally(design, responses),
            "estimate": lambda: estimate(tally).errors,
        },
        rounds=3,
    )
    whole = times["respond, fast"] + times["tally"] + times["estimate"]
    rows: list[Row] = [
        (
            "respond, fast: 10⁶ responses a second",
            N / times["respond, fast"] / 1e6,
            100 if design.name == "k_ary" else None,
        ),
        (
            "respond, fast ÷ k-ary by hand",
            times["hand"] / times["respond, fast"],
            None,
        ),
        (
            "respond, NumPy ÷ k-ary by hand",
            times["hand"] / times["respond, NumPy"],
            None,
        ),
        (
            "end to end ÷ the best peer's rate at k = 1,024",
            N / whole / PEERS[design.name],
            20 if k == 1024 else None,
        ),
    ]
    told = ", ".join(
        f"{each} {N / times[each] / 1e6:,.1f} M/s"
        for each in ("respond, fast", "respond, NumPy", "tally")
    )
    table(
        f"{name}, n = {N:,}  [{told}, estimate {times['estimate']:.2f} s, end to end {N / whole / 1e6:.1f} M/s]",
        rows,
    )


def main() -> None:
    start = time.perf_counter()
    np.seterr(all="raise", under="ignore")
    for name, build in DESIGNS.items():
        bench(name, build)
    print(f"\n{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
