"""How tight the auditor's bound is: ten million draws of sound designs, and the share of their ε that is found.

    python -m benchmarks.audit [NAME …]

For each design and ε: the lower bound at a confidence of 99.99 %, what it is of the true ε, and the seconds it took.
Expected: 0.95 with 2 to 16 answers, 0.85 for unary and subset designs of 128 answers. Ends with 1 if one is below.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import deniable as dn
from deniable.auditor import of_design

DRAWS = 10_000_000
EPSILONS = (0.5, 1, 2)
DESIGNS: dict[str, tuple[float, Callable[[float], Any]]] = {
    "warner": (0.95, dn.warner),
    **{f"k_ary {k}": (0.95, lambda e, k=k: dn.k_ary(k, e)) for k in (3, 4, 8, 16)},  # type: ignore[misc]
    **{f"unary {k}": (0.95, lambda e, k=k: dn.unary(k, e)) for k in (4, 16)},  # type: ignore[misc]
    **{f"subset {k}": (0.95, lambda e, k=k: dn.subset(k, e)) for k in (4, 16)},  # type: ignore[misc]
    "rappor 16": (0.95, lambda e: dn.rappor(16, e)),
    "hadamard 16": (0.95, lambda e: dn.hadamard(16, e)),
    "local_hashing 16": (0.95, lambda e: dn.local_hashing(16, e)),
    "ladder of k_ary 4": (
        0.95,
        lambda e: dn.ladder([dn.k_ary(4, e / 2), dn.k_ary(4, e)]),
    ),
    "unary 128": (0.85, lambda e: dn.unary(128, e)),
    "rappor 128": (0.85, lambda e: dn.rappor(128, e)),
    "subset 128": (0.85, lambda e: dn.subset(128, e)),
}


def main() -> int:
    chosen, missed = sys.argv[1:] or list(DESIGNS), 0
    print(
        f"{'design':20} {'ε':>5} {'bound':>8} {'share':>6} {'aim':>5} {'s':>6}  witness"
    )
    for name in chosen:
        aim, build = DESIGNS[name]
        for epsilon in EPSILONS:
            begun, design = time.perf_counter(), build(epsilon)
            engine = dn.engines.Local(fast=True)
            found = dn.audit(
                of_design(design, engine), draws=DRAWS, checks=["worst event"]
            )
            share = found.epsilon_at_least / design.epsilon
            missed += share < aim or found.verdict != "consistent"
            told = f"{found.epsilon_at_least:8.4f} {share:6.3f} {aim:5.2f} {time.perf_counter() - begun:6.1f}"
            print(
                f"{name:20} {epsilon:5} {told}  {found.verdict}: {found.witness}",
                flush=True,
            )
    print(
        f"{missed} of {len(chosen) * len(EPSILONS)} below their aim, or not consistent"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
