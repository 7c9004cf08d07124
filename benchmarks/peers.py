"""End to end against other packages, measured in one run: `python -m benchmarks.peers PEERS_PYTHON PEERS_SCRIPT`

`scripts/bench-peers` sets up an environment with the packages and calls this. The script times each peer as its own
README uses it (answers → responses → shares, users per second, best of three). Ours is timed here on answers of the
same law: respond, tally and estimate, secure source, one thread, compiled kernels; a row gives the fastest peer.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import deniable as dn
from deniable.errors import ImplausibleResponses

EPSILON, PEOPLE = 1, 1_000_000
BUDGET = 1  # seconds that one timing of a peer may take; the script lets n shrink until it does
GROUPS = "pureldp,mfldpy,qif,toolbox,opendp,diffprivlib"
TELLS = {
    (
        "multi-freq-ldpy",
        "subset selection",
    ): "the true answer stands first: its ε is not kept"
}
"""Peers that break the ε they claim, found by running them (`peers.md`, section 1b)."""

BOUNDED = ("clipped", "IBU")
"""What the script notes, or names, where a peer gives shares that were bent into the simplex."""


class Mechanism(NamedTuple):
    """What is measured: a design of ours, and the words by which the script's rows of the same mechanism are known."""

    name: str
    k: int
    build: Callable[[int], dn.Design]
    words: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"{self.name}, k = {self.k:,}"

    def rivals(self, measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            row
            for row in measured
            if row["k"] == self.k and any(word in row["mech"] for word in self.words)
        ]


_OPTIMIZED = partial(dn.unary, epsilon=EPSILON, optimized=True)
_KRR = (
    "k-RR",
    "GRR",
    "DE (",
    "randomized_response + IBU",
    "randomized_response_bool",
    "Binary",
    "Exponential",
)
MECHANISMS = [
    *(
        Mechanism("k-ary", k, partial(dn.k_ary, epsilon=EPSILON), _KRR)
        for k in (2, 16, 1024)
    ),
    *(
        Mechanism("unary", k, partial(dn.unary, epsilon=EPSILON), ("SUE",))
        for k in (16, 128, 1024)
    ),
    *(
        Mechanism("unary, optimized", k, _OPTIMIZED, ("OUE",))
        for k in (16, 128, 1024)
    ),
    *(
        Mechanism("subset", k, partial(dn.subset, epsilon=EPSILON), ("subset",))
        for k in (16, 128)
    ),
    Mechanism(
        "local hashing",
        1024,
        partial(dn.local_hashing, epsilon=EPSILON),
        ("OLH", "FLH"),
    ),
    Mechanism(
        "Hadamard", 1024, partial(dn.hadamard, epsilon=EPSILON), ("Hadamard",)
    ),
]


def answers_of(k: int, n: int) -> NDArray[np.int64]:
    """Answers of the law that the script uses: the first categories are the most frequent."""
    weights = 1 / np.arange(1, k + 1)
    return np.random.default_rng(1).choice(k, n, p=weights / weights.sum())


def surveyed(
    design: dn.Design, answers: NDArray[np.int64], threads: int = 1
) -> dn.Estimate:
    """One survey end to end: respond, tally and estimate."""
    responses = dn.engines.local.draw_all(
        design, answers, codes=True, fast=True, threads=threads
    )
    return dn.estimate(
        dn.engines.local.tally(design, responses, fast=True, threads=threads)
    )


def ours(design: dn.Design) -> float:
    """Respondents per second from answers to shares, the best of five."""
    answers = answers_of(len(design.categories), PEOPLE)
    best = np.inf
    for _ in range(6):  # the first compiles
        start = time.perf_counter()
        surveyed(design, answers)
        best = min(best, time.perf_counter() - start)
    return float(PEOPLE / best)


class Error(NamedTuple):
    """The largest error of any share, over repeated surveys."""

    mean: float
    deviation: float

    def told(self, peer: float) -> str:
        """Say how a peer's error, seen once, compares; a difference counts from four standard deviations on."""
        if abs(peer - self.mean) <= 4 * self.deviation:
            return "equal within noise"
        return "ours is smaller" if peer > self.mean else "OURS IS LARGER"


def our_error(design: dn.Design, n: int, *, bounded: bool) -> Error:
    """Return our error with as many people as a peer had, bent into the simplex where the peer's shares are."""
    k = len(design.categories)
    answers = answers_of(k, n)
    truth = np.bincount(answers, minlength=k) / n
    found = []
    for _ in range(min(60, max(12, 3_000_000 // n))):
        result = surveyed(design, answers)
        found.append(
            np.abs((result.projected() if bounded else result).value - truth).max()
        )
    return Error(float(np.mean(found)), float(np.std(found, ddof=1)))


def measured_peers(
    python: str, script: str, budget: float = BUDGET
) -> list[dict[str, Any]]:
    """Run the script on the peers, and return its rows; its own table goes to the error stream, as progress."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "peers.json"
        options = ["--only", GROUPS, "--budget", f"{budget:g}", "--json", str(out)]
        subprocess.run([python, script, *options], check=True, stdout=sys.stderr)
        return [row for row in json.loads(out.read_text()) if row["total"]]


def main(python: str, script: str) -> None:
    warnings.simplefilter("ignore", ImplausibleResponses)
    measured = measured_peers(python, script)
    print(
        "| design | k | ours, M/s | fastest peer | its M/s | ratio |\n|---|---|---|---|---|---|"
    )
    least = math.inf
    for mechanism in MECHANISMS:
        speed = ours(mechanism.build(mechanism.k))
        best = max(
            mechanism.rivals(measured), key=lambda row: row["total"], default=None
        )
        start = f"| {mechanism.name} | {mechanism.k} | {speed / 1e6:.2f} |"
        if best is None:
            print(f"{start} none | | |")
            continue
        least = min(least, speed / best["total"])
        peer, rate = f"{best['peer']}, {best['mech']}", best["total"]
        print(f"{start} {peer} | {rate / 1e6:.4f} | {speed / rate:.0f} |")
    print(f"\nsmallest ratio {least:.0f} (at least 20 is wanted)")


if __name__ == "__main__":
    main(*sys.argv[1:])
