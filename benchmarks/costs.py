"""What 10¹² responses cost, from what a few million cost here: `python -m benchmarks.costs [ROWS]` writes the page.

Core-seconds are those that the processors spent on this process and on all that it started, Spark's own included,
whoever else was at work on this machine. Everything runs once before it is measured. Linux only: it reads /proc.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.support import spark as support

import deniable as dn
from deniable.engines import spark as engine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PAGE = Path(__file__).parents[1] / "docs" / "costs.md"
MANY = 10**12
N = 4_000_000
PARTITIONS = 4
TICKS = os.sysconf("SC_CLK_TCK")


class Workload(NamedTuple):
    """A design, what it is called on the page, and by how much there are fewer answers than of the first one."""

    name: str
    design: Any
    fewer: int = 1  # as rows of sets are longer


WORKLOADS = (
    Workload("`k_ary(16, 1)`", dn.k_ary(16, 1)),
    Workload("`number_design(0, 100, 1)`", dn.number_design(0, 100, 1)),
    Workload("`local_hashing(1000, 1)`", dn.local_hashing(1000, 1), 2),
    Workload("`hadamard(1000, 1)`", dn.hadamard(1000, 1), 2),
    Workload("`unary(64, 1)`", dn.unary(64, 1), 4),
    Workload("`unary(1000, 1)`", dn.unary(1000, 1), 20),
)


class Cost(NamedTuple):
    """Core-seconds and bytes for one response."""

    drawn: float
    counted: float
    drawn_on_spark: float
    stored: float
    counted_on_spark: float


def answers_of(work: Workload, n: int) -> Any:
    rows = n // work.fewer
    if work.design.asks == "numbers":
        return np.random.default_rng(1).uniform(0, 100, rows)
    return (
        np.random.default_rng(1)
        .integers(0, len(work.design.categories), rows)
        .astype(np.int32)
    )


def cost(session: SparkSession, folder: Path, work: Workload, n: int) -> Cost:
    answers = answers_of(work, n)
    codes: dict[str, Any] = {} if work.design.asks == "numbers" else {"codes": True}
    (folder / "answers").mkdir()
    for number, part in enumerate(np.array_split(answers, PARTITIONS)):
        pq.write_table(
            pa.table({"answer": part}), folder / "answers" / f"{number}.parquet"
        )
    frame = session.read.parquet(str(folder / "answers"))
    sent = dn.respond_all(work.design, answers, fast=True, **codes)
    found = [
        seconds(partial(dn.respond_all, work.design, answers, fast=True, **codes)),
        seconds(partial(dn.tally, sent)),
        seconds(partial(stored, work, frame, folder, codes)),
        float(
            sum(path.stat().st_size for path in (folder / "out").glob("*.parquet"))
        ),
        seconds(
            partial(
                engine.tally, work.design, session.read.parquet(str(folder / "out"))
            )
        ),
    ]
    return Cost(*(each / len(answers) for each in found))


def stored(
    work: Workload, frame: DataFrame, folder: Path, codes: dict[str, Any]
) -> None:
    shutil.rmtree(folder / "out", ignore_errors=True)
    engine.respond_all(
        work.design, frame, "answer", out=str(folder / "out"), **codes
    )


def seconds(run: Callable[[], object]) -> float:
    """Return the core-seconds of a call that has run once before."""
    run()
    before = spent()
    run()
    return spent() - before


def spent() -> float:
    """Return the core-seconds of this process and of all below it, those that have ended too."""
    parents = {
        int(path.name): stat(path)
        for path in Path("/proc").iterdir()
        if path.name.isdigit()
    }
    ours = {os.getpid()}
    while more := {
        pid
        for pid, (parent, _) in parents.items()
        if parent in ours and pid not in ours
    }:
        ours |= more
    return sum(parents[pid][1] for pid in ours) / TICKS


def stat(path: Path) -> tuple[int, int]:
    """Return the parent of a process, and the ticks that it and its ended children have taken."""
    try:
        fields = (path / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0, 0  # it has ended
    return int(fields[1]), sum(map(int, fields[11:15]))


def lines(costs: dict[str, Cost], n: int) -> Iterator[str]:
    yield HEAD.format(rows=f"{n:,}", cores=os.cpu_count())
    yield f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}"
    for name, each in costs.items():
        hours = [
            shown(MANY * core / 3600) for core in (each.drawn, each.drawn_on_spark)
        ]
        hours += [f"{each.stored:.2f} B", f"{shown(each.stored)} TB"]
        hours += [
            shown(MANY * core / 3600)
            for core in (each.counted, each.counted_on_spark)
        ]
        yield f"| {name} | {' | '.join(hours)} |"
    hours_of_first = MANY * costs[WORKLOADS[0].name].drawn_on_spark / 3600
    rate = MANY / hours_of_first / 3600
    yield TAIL.format(
        rate=shown(rate),
        hours=shown(hours_of_first),
        thousand=shown(hours_of_first / 1000),
    )


def shown(number: float) -> str:
    """Return a number in two digits: more are not known."""
    digits = 2 - len(f"{int(number)}") if number >= 1 else 2
    return f"{round(number, digits):,.{max(0, digits)}f}"


COLUMNS = (
    "design",
    "respond, arrays",
    "respond, Spark",
    "a response stored",
    "all stored",
    "tally, arrays",
    "tally, Spark",
)
HEAD = """# Core-hours and bytes for 10¹² responses

What 10¹² responses cost, in hours of one core and in bytes; no prices, which change. Written by
`python -m benchmarks.costs`, which draws, stores and counts up to {rows} of each kind on the machine it runs on
({cores} cores), and multiplies: every step takes each row by itself, so that costs grow with the rows. What a job costs
whatever its size (planning it, starting its tasks) is multiplied too, and weighs the more, the fewer rows there were:
these numbers are too high rather than too low.

*Arrays* are `dn.respond_all` and `dn.tally` on arrays in memory, with compiled kernels. *Spark* is `dn.engines.spark`,
from answers in Parquet to responses in Parquet, and from these to a tally: all that Spark and its Python workers spend,
reading, moving rows to Python and back, drawing, shuffling, compressing and writing. Columns of work are core-hours.
"""

TAIL = """
To read it: one core under Spark responds to {rate} answers in a second with the first design, so that 10¹² of them
take {hours} core-hours, or {thousand} hours on a cluster of a thousand cores. Most of that is Spark's: the column of
arrays is what drawing takes by itself, and `python -m benchmarks.spark` shows Spark doing nothing. Sets of many
categories are the dear ones, to store and to count; hashing tells as much in a few bytes.

What this leaves out: reading from a store that is slower than the disk here, starting executors, tasks that are run
again, replicas of what is stored, and the shuffle with which `raise_all` joins answers and stored responses."""


def main(n: int = N) -> None:
    costs: dict[str, Cost] = {}
    with support.one_process({"spark.driver.memory": "4g"}) as session:
        for work in WORKLOADS:
            with tempfile.TemporaryDirectory() as folder:
                costs[work.name] = cost(session, Path(folder), work, n)
            print(
                work.name, *(f"{each:.3g}" for each in costs[work.name]), flush=True
            )
    PAGE.write_text("\n".join(lines(costs, n)) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
