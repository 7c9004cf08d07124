"""End to end against other packages, measured in one run: `python -m benchmarks.peers PEERS_PYTHON PEERS_SCRIPT`

`scripts/bench-peers` sets up an environment with the packages and calls this. The script times each peer as its own
README uses it (answers → responses → shares, users per second, best of three). Ours is timed here on answers of the
same law: respond, tally and estimate, secure source, one thread, compiled kernels; a row gives the fastest peer.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import deniable as dn
from deniable.errors import ImplausibleResponses

EPSILON, PEOPLE = 1, 1_000_000
ROWS: list[tuple[str, int, Callable[[int], dn.Design], tuple[str, ...]]] = [
    *(
        ("k-ary", k, lambda k: dn.k_ary(k, EPSILON), ("k-RR", "GRR", "DE (", "randomized_response + IBU"))
        for k in (2, 16, 1024)
    ),
    *(("unary", k, lambda k: dn.unary(k, EPSILON), ("SUE",)) for k in (16, 128, 1024)),
    *(("unary, optimized", k, lambda k: dn.unary(k, EPSILON, optimized=True), ("OUE",)) for k in (16, 128, 1024)),
    *(("subset", k, lambda k: dn.subset(k, EPSILON), ("subset",)) for k in (16, 128)),
    ("local hashing", 1024, lambda k: dn.local_hashing(k, EPSILON), ("OLH", "FLH")),
    ("Hadamard", 1024, lambda k: dn.hadamard(k, EPSILON), ("Hadamard",)),
]


def ours(design: dn.Design) -> float:
    """Respondents per second from answers to shares, the best of five."""
    weights = 1 / np.arange(1, len(design.categories) + 1)
    answers = np.random.default_rng(1).choice(len(weights), PEOPLE, p=weights / weights.sum())
    best = np.inf
    for _ in range(6):  # the first compiles
        start = time.perf_counter()
        responses = dn.engines.local.draw_all(design, answers, codes=True, fast=True)
        dn.estimate(dn.engines.local.tally(design, responses, fast=True))
        best = min(best, time.perf_counter() - start)
    return PEOPLE / best


def peers(python: str, script: str) -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "peers.json"
        groups = "pureldp,mfldpy,qif,toolbox,opendp,diffprivlib"
        subprocess.run(
            [python, script, "--only", groups, "--budget", "2", "--json", str(out)], check=True, stdout=sys.stderr
        )
        return [row for row in json.loads(out.read_text()) if row["total"]]


def main(python: str, script: str) -> None:
    warnings.simplefilter("ignore", ImplausibleResponses)
    measured = peers(python, script)
    print("| design | k | ours, M/s | fastest peer | its M/s | ratio |\n|---|---|---|---|---|---|")
    ratios = []
    for name, k, build, words in ROWS:
        rivals = [row for row in measured if row["k"] == k and any(word in str(row["mech"]) for word in words)]
        speed = ours(build(k))
        best = max(rivals, key=lambda row: row["total"], default=None)
        if best is None:
            print(f"| {name} | {k} | {speed / 1e6:.2f} | none | | |")
            continue
        ratios.append(speed / best["total"])
        rival = f"{best['peer']}, {best['mech']} | {best['total'] / 1e6:.4f}"
        print(f"| {name} | {k} | {speed / 1e6:.2f} | {rival} | {ratios[-1]:.0f} |")
    print(f"\nsmallest ratio {min(ratios):.0f} (at least 20 is wanted)")


if __name__ == "__main__":
    main(*sys.argv[1:])
