"""Where we stand: `make bench`, or `python -m benchmarks.page [PEERS_PYTHON PEERS_SCRIPT]`, writes docs/benchmarks.md.

In one run: ours against other packages, against plain NumPy and against what the machine allows; error at equal ε
beside speed; and how time grows. Without the two arguments the other packages are left out, and the page says so.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import chart, growth, mechanisms, threads
from benchmarks.measure import race
from benchmarks.peers import (
    BOUNDED,
    BUDGET,
    MECHANISMS,
    PEOPLE,
    TELLS,
    Mechanism,
    answers_of,
    measured_peers,
    our_error,
    ours,
)
from benchmarks.respond import by_hand
from deniable.bulk.random_words import MAX_FILLED, SPARE
from deniable.engines import local
from deniable.errors import ImplausibleResponses

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BAR = 20  # times the fastest peer, on every mechanism that a peer has
PACKAGES = (
    "pure-ldp",
    "multi-freq-ldpy",
    "ldp-toolbox",
    "qif",
    "opendp",
    "diffprivlib",
)
CELLS = 2_000_000  # floats that plain NumPy holds at a time while it draws bits

Cells = Sequence[str]


class Table(NamedTuple):
    """A table of the page: the first cell of a row names it, and does not change from run to run."""

    title: str
    told: str
    header: Cells
    rows: list[Cells]

    def written(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join(
            [
                f"## {self.title}",
                "",
                self.told,
                "",
                *(f"| {' | '.join(line)} |" for line in lines),
                "",
            ]
        )


class Standing(NamedTuple):
    """One mechanism: respondents a second, end to end, by whom; 0 where nobody has it."""

    mechanism: Mechanism
    ours: float
    plain: float
    peer: float
    named: str


def row_names() -> dict[str, list[str]]:
    """The names of the rows that every run makes, by the title of their table; those of peers' errors differ."""
    sizes = [
        f"{name}, k = {k:,}, ε = {epsilon:g}" for epsilon, k, name in _accuracies()
    ]
    drawn = [f"{count} threads, k = {k:,}" for count in (2,) for k in (2, 16, 1024)]
    return {
        "Speed, end to end": [mechanism.label for mechanism in MECHANISMS],
        "What the machine allows": list(LIMITS),
        "Error at equal ε": sizes,
        "Growth": growth.NAMES,
        "Threads": drawn,
    }


def progress(what: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {what}", file=sys.stderr, flush=True)


# What is measured


def plain(mechanism: Mechanism) -> float:
    """Respondents a second with a few lines of NumPy, insecure and inexact; 0 for what takes more than a few lines."""
    k, design = mechanism.k, mechanism.build(mechanism.k)
    answers = answers_of(k, PEOPLE)
    if mechanism.name == "k-ary":
        drawn = by_hand(answers, k, float(design.channel.probability(0, given=0)))
        return (
            PEOPLE
            / race({"": lambda: np.bincount(drawn(), minlength=k)}, rounds=3)[""]
        )
    if mechanism.name.startswith("unary"):
        few = answers[: PEOPLE * 16 // max(k, 16)]
        return len(few) / race({"": lambda: unary_by_hand(few, k)}, rounds=2)[""]
    return 0


def unary_by_hand(answers: np.ndarray[Any, Any], k: int) -> np.ndarray[Any, Any]:
    """Draw bits as floats below a probability, and count them."""
    rng, counts = np.random.default_rng(), np.zeros(k)
    step = max(1, CELLS // k)
    for start in range(0, len(answers), step):
        part = answers[start : start + step]
        bits = rng.random((len(part), k), dtype=np.float32) < 0.27
        bits[np.arange(len(part)), part] = rng.random(len(part)) < 0.5
        counts += bits.sum(axis=0)
    return counts


def standings(measured: list[dict[str, Any]]) -> Iterable[Standing]:
    for mechanism in MECHANISMS:
        progress(mechanism.label)
        best = max(
            mechanism.rivals(measured), key=lambda row: row["total"], default=None
        )
        rate, named = (
            (best["total"], f"{best['peer']}, {best['mech']}") if best else (0, "—")
        )
        yield Standing(
            mechanism,
            ours(mechanism.build(mechanism.k)),
            plain(mechanism),
            rate,
            named,
        )


def copied() -> Callable[[], object]:
    source, target = np.zeros(32_000_000, np.int64), np.empty(32_000_000, np.int64)
    return lambda: np.copyto(target, source)


def keystream() -> Callable[[], object]:
    stream, buffer = local.Keystream(), np.empty(MAX_FILLED + SPARE, np.uint64)
    return lambda: [stream.fill(buffer, MAX_FILLED) for _ in range(32)]


def counted() -> Callable[[], object]:
    codes = np.random.default_rng(3).integers(0, 1024, PEOPLE)
    return lambda: np.bincount(codes, minlength=1024)


def uniform() -> Callable[[], object]:
    rng = np.random.default_rng(4)
    return lambda: rng.random(PEOPLE)


LIMITS: dict[str, tuple[Callable[[], Callable[[], object]], float, str]] = {
    "a copy in memory": (copied, 8 * 32_000_000, "bytes"),
    "the keystream, AES-256 in counter mode": (
        keystream,
        8 * 32 * MAX_FILLED,
        "bytes",
    ),
    "numpy.bincount of 64-bit codes, 1,024 cells": (counted, PEOPLE, "codes"),
    "numpy's random floats, PCG64, not secure": (uniform, PEOPLE, "floats"),
}


# What is told


def machine() -> str:
    processor = next(
        (
            line.split(":")[1].strip()
            for line in _lines("/proc/cpuinfo")
            if line.startswith("model name")
        ),
        platform.processor() or platform.machine(),
    )
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("numpy", "numba", "cryptography")
    )
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    ordinary = (
        not hasattr(os, "sched_getscheduler")
        or os.sched_getscheduler(0) == os.SCHED_OTHER
    )
    return (
        f"{processor}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {packages}. "
        f"{'' if ordinary else 'Run with real-time priority. '}Load when it began: {load}; "
        "above 0.5, others used the machine too, and the numbers are provisional."
    )


def peers_told(peers: Sequence[str]) -> str:
    """Say which releases of the other packages were measured."""
    if not peers:
        return ""
    asked = f"import importlib.metadata as m; print(', '.join(f'{{n}} {{m.version(n)}}' for n in {PACKAGES!r}))"
    found = subprocess.run(
        [peers[0], "-c", asked], check=True, capture_output=True, text=True
    ).stdout
    return f" Other packages: {found.strip()}; with as many respondents as go through in {BUDGET:g} s."


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def rate(number: float) -> str:
    """Return so many a second, in the unit that fits."""
    if not number:
        return "—"
    for size, unit in ((1e9, " G/s"), (1e6, " M/s"), (1e3, " k/s")):
        if number >= size:
            return f"{number / size:,.3g}{unit}"
    return f"{number:,.0f}/s"


def _smallest_ratio(found: list[Standing]) -> str:
    least = min((each.ours / each.peer for each in found if each.peer), default=None)
    if least is None:
        return "Other packages were left out: `../shared` is not beside this repository."
    return f"The smallest ratio is {least:,.0f}; at least {BAR} is wanted: {'reached' if least >= BAR else 'MISSED'}."


def speed_table(found: list[Standing]) -> Table:
    rows = [
        [
            each.mechanism.label,
            rate(each.ours),
            rate(each.plain),
            rate(each.peer),
            each.named,
            f"{each.ours / each.peer:,.0f}" if each.peer else "—",
        ]
        for each in found
    ]
    told = (
        f"Respondents a second from answers to shares, ε = 1, {PEOPLE:,} respondents, one thread, secure source, "
        "compiled kernels. Plain NumPy draws and counts with insecure floats, and stops there. The fastest peer is the "
        f"fastest of the packages that have the mechanism. {_smallest_ratio(found)}"
    )
    return Table(
        "Speed, end to end",
        told,
        ["mechanism", "ours", "plain NumPy", "fastest peer", "which", "ours ÷ peer"],
        rows,
    )


def limits_table() -> Table:
    times = race({name: make() for name, (make, _, _) in LIMITS.items()}, rounds=5)
    rows = [
        [name, f"{rate(size / times[name])}", unit]
        for name, (_, size, unit) in LIMITS.items()
    ]
    told = "One core. A k-ary response takes 8 bytes of the keystream, and is then counted once."
    return Table("What the machine allows", told, ["limit", "rate", "of"], rows)


def _accuracies() -> Iterable[tuple[float, int, str]]:
    return (
        (epsilon, k, name)
        for epsilon in mechanisms.EPSILONS
        for k in mechanisms.SIZES
        for name in mechanisms.DESIGNS
    )


def accuracy_table(found: list[mechanisms.Accuracy]) -> Table:
    least = {
        (each.k, each.epsilon): min(e.error for e in found if e[1:3] == each[1:3])
        for each in found
    }
    rows = [
        [
            f"{each.name}, k = {each.k:,}, ε = {each.epsilon:g}",
            f"{each.error:,.1f}",
            f"{each.error / least[each.k, each.epsilon]:.2f}",
            rate(each.rate),
        ]
        for each in found
    ]
    told = (
        "n times the squared error of all shares together, the mean over surveys of even answers (known to 1 or 2 %), "
        "next to the smallest of the same k and ε. "
        f"The speed is that of a survey of {mechanisms.PEOPLE:,}, end to end."
    )
    return Table(
        "Error at equal ε",
        told,
        ["mechanism", "n · error²", "÷ the smallest", "speed"],
        rows,
    )


def peers_table(measured: list[dict[str, Any]]) -> Table:
    rows = [
        _peer_row(mechanism, row)
        for mechanism in MECHANISMS
        for row in mechanism.rivals(measured)
    ]
    told = (
        "The largest error of any share: the peer's, seen once, and ours with as many respondents, its mean and "
        "standard deviation over surveys. Ours is unbiased, and projected onto the simplex beside peers that clip "
        "their shares. A difference counts from four standard deviations on."
    )
    header = ["peer", "n", "its error", "ours", "", "its speed", "note"]
    return Table("Errors of other packages", told, header, rows)


def _peer_row(mechanism: Mechanism, row: dict[str, Any]) -> Cells:
    bounded = any(word in row["note"] + row["mech"] for word in BOUNDED)
    error = our_error(mechanism.build(mechanism.k), row["n"], bounded=bounded)
    tells = TELLS.get((row["peer"], row["mech"]), "")
    return [
        f"{row['peer']}, {row['mech']}, k = {row['k']:,}",
        f"{row['n']:,}",
        f"{row['err']:.4f}",
        f"{error.mean:.4f} ± {error.deviation:.4f}",
        error.told(row["err"]),
        rate(row["total"]),
        f"**{tells}**" if tells else "shares clipped" if bounded else "",
    ]


def _ended(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:.3g}"


def growth_table(found: list[growth.Growth]) -> Table:
    rows = [
        [
            each.name,
            f"{_ended(each.values[0])} to {_ended(each.values[-1])}",
            f"{each.power:.2f}",
            f"{each.expected:g}",
            each.verdict,
        ]
        for each in found
    ]
    told = (
        "Time for drawing and counting grows like this power of what is named; "
        f"{growth.SLACK:g} more or less is as expected."
    )
    return Table("Growth", told, ["in", "from … to", "power", "expected", ""], rows)


def threads_table(found: list[threads.Gain]) -> Table:
    rows = [
        [
            f"{each.threads} threads, k = {each.k:,}",
            f"{each.gain:.2f}",
            f"{each.loop:.2f}",
        ]
        for each in found
    ]
    least = min(each.gain for each in found if each.threads == 2)
    told = (
        "Drawing with several threads ÷ one, and what a loop gains that shares nothing. "
        f"Two threads: {least:.2f} at least; {threads.BAR:g} is wanted on an idle machine: "
        f"{'reached' if least >= threads.BAR else 'MISSED'}."
    )
    return Table(
        "Threads", told, ["", "drawing", "a loop that shares nothing"], rows
    )


def grown() -> Iterable[growth.Growth]:
    for name, values, calls, expected in growth.CASES:
        progress(f"growth in {name}")
        yield growth.grown(name, values, calls(), expected)


def main(*peers: str) -> None:
    """Measure everything, and write the page and its chart."""
    warnings.simplefilter("ignore", ImplausibleResponses)
    started, told = time.perf_counter(), machine() + peers_told(peers)
    progress("limits of the machine")
    limits = limits_table()
    progress("threads")
    gained = [
        each for count in threads.thread_counts() for each in threads.gains(count)
    ]
    progress("other packages" if peers else "other packages are left out")
    measured = measured_peers(*peers) if peers else []
    stand = list(standings(measured))
    found = []
    for epsilon, k, name in _accuracies():
        progress(f"error of {name}, k = {k}, ε = {epsilon:g}")
        found.append(mechanisms.accuracy(name, k, epsilon))
    rising = list(grown())
    tables = [speed_table(stand), limits, accuracy_table(found)]
    if measured:
        progress("errors of other packages")
        tables.append(peers_table(measured))
    tables += [growth_table(rising), threads_table(gained)]
    chart.draw(stand, found, rising)
    minutes = (time.perf_counter() - started) / 60
    head = (
        f"# Benchmarks\n\nWritten by `make bench`, which took {minutes:.0f} "
        f"min; change nothing here by hand. {told}\n"
    )
    picture = "![Speed, error beside speed, and growth](pictures/benchmarks.png)\n"
    PAGE.write_text(
        "\n".join([head, picture, *(table.written() for table in tables)]).rstrip()
        + "\n"
    )
    progress(f"written: {PAGE.name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
