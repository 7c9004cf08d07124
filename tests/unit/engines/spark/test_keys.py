"""Every task draws under a key of its own, taken where it runs: in workers that were forked from one daemon."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import deniable as dn
from deniable.engines.spark import respond_all

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS, TASKS, RUN = 64, 4, 4


def test_no_two_tasks_share_what_they_draw(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Everybody has the same answer, and a response is nearly one of 50,000 at random.

    Four in a row are found in two places by chance once in 10^13 times. The second job runs in the workers of the
    first.
    """
    design = dn.k_ary(50_000, epsilon="1/100")
    frame = spark.range(0, ROWS * TASKS, 1, TASKS).selectExpr("id", "7 AS answer")
    seen: dict[tuple[int, ...], int] = {}
    for job in range(2):
        out = str(tmp_path / str(job))
        sent = respond_all(
            design,
            frame,
            "answer",
            out=out,
            keep=["id"],
            codes=True,
            keep_order=True,
        )
        drawn = [
            row.response for row in sorted(sent.collect(), key=lambda row: row.id)
        ]
        for start in range(len(drawn) - RUN + 1):
            words = tuple(drawn[start : start + RUN])
            assert words not in seen, "two places share what they draw"
            seen[words] = start
    assert len(seen) == 2 * (ROWS * TASKS - RUN + 1)
