"""How fast Spark responds beside Spark doing nothing, and whether it ever responds twice: `python -m benchmarks.spark`.

Two tasks at a time (`local[2]`), from Parquet to Parquet. The baseline is a frame that goes through `mapInArrow` as it
is: the same input, the same way to Python and back, the same sink. Then every task is killed when half of its rows are
out, and what was published is read twice. Ends with 1 if a bar is missed. `python -m benchmarks.spark ROWS` for others.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tests.support import spark as support

from benchmarks import workloads
from benchmarks.measure import race, table
from deniable.engines import spark as engine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

N, KILLED = 10_000_000, 1_000_000
PARTITIONS = 4
BAR = 0.5


def nothing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def write_answers(folder: Path, categories: int, n: int) -> str:
    """Write codes as Parquet, in as many files as there are partitions; return where they are."""
    codes = workloads.answers(categories, n).astype(np.int32)
    (folder / "answers").mkdir()
    for number, part in enumerate(np.array_split(codes, PARTITIONS)):
        pq.write_table(
            pa.table({"answer": part}), folder / "answers" / f"{number}.parquet"
        )
    return str(folder / "answers")


def speed(session: SparkSession, folder: Path, n: int) -> bool:
    """Print how fast responses are drawn and counted, beside Spark's own work; tell whether the bar is reached."""
    design = workloads.design(16)
    answers = session.read.parquet(write_answers(folder, 16, n))
    out = str(folder / "out")

    def erased(run: Any) -> Any:
        def again() -> None:
            shutil.rmtree(out, ignore_errors=True)
            run()

        return again

    drawn = partial(
        engine.respond_all, design, answers, "answer", out=out, codes=True
    )
    times = race(
        {
            "nothing": erased(
                lambda: answers.mapInArrow(nothing, answers.schema).write.parquet(
                    out
                )
            ),
            "in order": erased(partial(drawn, keep_order=True)),
            "respond": erased(drawn),
        },
        rounds=2,
    )
    sent = session.read.parquet(out)
    times |= race(
        {
            "count": lambda: sent.groupBy("response").count().collect(),
            "tally": lambda: engine.tally(design, sent),
        },
        rounds=2,
    )
    table(
        f"Spark local[2], k_ary(16, ε = 1), Parquet to Parquet, n = {n:,}",
        [
            (
                "respond ÷ mapInArrow doing nothing, rows in a second",
                times["nothing"] / times["respond"],
                BAR,
            ),
            ("the same with keep_order", times["nothing"] / times["in order"], None),
            (
                "tally ÷ Spark's own GROUP BY of the column, rows in a second",
                times["count"] / times["tally"],
                None,
            ),
            ("respond, million rows in a second", n / times["respond"] / 1e6, None),
            ("tally, million rows in a second", n / times["tally"] / 1e6, None),
        ],
    )
    return times["nothing"] / times["respond"] >= BAR


def twice(session: SparkSession, folder: Path, n: int) -> int:
    """Kill every task half-way; return how many answers have two responses, anywhere and whenever one looks."""
    answers = session.range(0, n, 1, PARTITIONS).selectExpr(
        "id", "CAST(id % 16 AS INT) AS answer"
    )
    out = folder / "killed"
    with patch.object(
        engine, "Drawing", partial(support.DyingDrawing, notes=str(folder))
    ):
        sent = engine.respond_all(
            workloads.design(16),
            answers,
            "answer",
            out=str(out),
            keep=["id"],
            codes=True,
            keep_order=True,
        )
    killed = len(list(folder.glob("note-?-0.dying")))
    files = [
        path
        for path in out.rglob("*")
        if path.is_file() and not path.name.endswith((".crc", "_SUCCESS"))
    ]
    ids = np.concatenate(
        [pq.read_table(path, partitioning=None)["id"].to_numpy() for path in files]
    )
    several, missing = (
        int((np.bincount(ids, minlength=n) > 1).sum()),
        n - len(np.unique(ids)),
    )
    changed = differing(sent, session.read.parquet(str(out)))
    print(
        f"\nSpark local[2], n = {n:,}: {killed} of {PARTITIONS} tasks killed half-way, and run again"
    )
    print(
        f"  answers with two responses among all files: {several}; with none: {missing}"
    )
    print(
        f"  answers whose response differs when the lineage is read again: {changed}"
    )
    return several + missing + changed + (killed != PARTITIONS)


def differing(one: DataFrame, other: DataFrame) -> int:
    renamed = other.selectExpr("id", "response AS again")
    return int(
        one.join(renamed, "id", "full").where("NOT (response <=> again)").count()
    )


def main(n: int = N, killed: int = KILLED) -> int:
    with (
        tempfile.TemporaryDirectory() as folder,
        support.one_process({"spark.driver.memory": "4g"}) as session,
    ):
        fast = speed(session, Path(folder), n)
        wrong = twice(session, Path(folder), killed)
    return 0 if fast and not wrong else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
