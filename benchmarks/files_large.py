"""Parquet larger than memory: `python -m benchmarks.files_large [ROWS] [ROUNDS]`, 10⁷ rows by default.

A file of codes below 16 in bytes, written by PyArrow with its own settings. Every step runs in a program of its own, so
that each has a peak of its own. `rewrite` is what PyArrow takes merely to read the file and write it again, row group
by row group; `group` is DuckDB's `GROUP BY` over the file of responses, which `tally` counts.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import table
from deniable.designs import k_ary
from deniable.engines import Local
from deniable.engines.files import respond_file, tally_file

K = 16
ROWS = 10_000_000
_GROUP = 1 << 20
DESIGN = k_ary(K, epsilon=1)


def make(path: Path, rows: int) -> None:
    chance = np.random.default_rng(14)
    with pq.ParquetWriter(path, pa.schema([("answer", pa.uint8())])) as writer:
        for start in range(0, rows, _GROUP):
            codes = chance.integers(0, K, min(_GROUP, rows - start)).astype(np.uint8)
            writer.write_table(pa.table({"answer": codes}))


def rewrite(folder: Path) -> None:
    file = pq.ParquetFile(folder / "answers.parquet")
    with pq.ParquetWriter(folder / "copy.parquet", file.schema_arrow) as writer:
        for group in range(file.num_row_groups):
            writer.write_table(file.read_row_group(group))


def respond(folder: Path) -> None:
    respond_file(
        DESIGN,
        folder / "answers.parquet",
        folder / "responses.parquet",
        column="answer",
        engine=Local(fast=True),
        overwrite=True,
    )


def parts(folder: Path) -> None:
    respond_file(
        DESIGN,
        folder / "answers.parquet",
        folder / "parts",
        column="answer",
        engine=Local(fast=True),
    )


def group(folder: Path) -> None:
    import duckdb

    query = f"SELECT response, count(*) FROM '{folder / 'responses.parquet'}' GROUP BY response ORDER BY response"
    counted = [count for _, count in duckdb.sql(query).fetchall()]
    (folder / "duckdb.json").write_text(json.dumps(counted))


def tally(folder: Path) -> None:
    counted = tally_file(
        DESIGN, folder / "responses.parquet", engine=Local(threads=2, fast=True)
    )
    if (folder / "duckdb.json").exists():
        assert counted.counts.tolist() == json.loads(
            (folder / "duckdb.json").read_text()
        ), "the same counts"


STEPS: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (rewrite, respond, parts, group, tally)
}


def timed(name: str, folder: Path) -> tuple[float, float]:
    """Run a step in a program of its own; return its seconds, without loading, and the peak of its memory in GB."""
    command = [sys.executable, "-m", "benchmarks.files_large", name, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def step(name: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory(
        dir=folder
    ) as small:  # what is loaded and compiled is loaded and compiled here
        make(Path(small) / "answers.parquet", 1000)
        respond(Path(small))
        STEPS[name](Path(small))
    began = time.perf_counter()
    STEPS[name](folder)
    seconds = time.perf_counter() - began
    print(
        json.dumps(
            [
                seconds,
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
            ]
        )
    )


def main(rows: int = ROWS, rounds: int = 3) -> None:
    best: dict[str, float] = {}
    peaks: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(folder / "answers.parquet", rows)
        for number in range(rounds):
            for name in STEPS:
                if name == "parts" and number:
                    continue  # a folder is written once
                seconds, peak = timed(name, folder)
                best[name] = min(seconds, best.get(name, seconds))
                peaks[name] = max(peak, peaks.get(name, 0))
    table(
        f"files, k_ary({K}, ε = 1), Parquet of bytes, n = {rows:,}",
        [
            (
                "respond: rate ÷ that of PyArrow reading and writing again",
                best["rewrite"] / best["respond"],
                0.5,
            ),
            (
                "respond to a folder of parts: rate ÷ the same",
                best["rewrite"] / best["parts"],
                0.5,
            ),
            (
                "tally: rate ÷ that of DuckDB's GROUP BY",
                best["group"] / best["tally"],
                0.7,
            ),
            *(
                (f"{name}: peak of memory in GB", peaks[name], None)
                for name in STEPS
            ),
            *(
                (f"{name}: million rows a second", rows / best[name] / 1e6, None)
                for name in STEPS
            ),
        ],
    )


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in STEPS:
        step(sys.argv[1], Path(sys.argv[2]))
    else:
        main(*map(int, sys.argv[1:]))
