"""How fast files of packed responses are written and counted: `python -m benchmarks.files [responses]`.

Unary encoding of 1,000 categories in Parquet. The baseline is the same responses in memory, as packed rows: what a file
costs beside counting. Text is how a set is written in CSV, and how others may write it in Parquet.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import workloads
from benchmarks.measure import race, table
from deniable.designs import unary
from deniable.engines import local
from deniable.engines.files import respond_file, tally_file

K = 1_000
N = 1_000_000


def main(n: int = N) -> None:
    design = unary(K, epsilon=1)
    answers = workloads.answers(K, n)
    rows = local.draw_all(design, answers, fast=True)
    local.tally(design, rows, fast=True)  # compiled once, before the clock is read
    with tempfile.TemporaryDirectory() as folder:
        given, packed, text = (
            Path(folder) / f"{name}.parquet"
            for name in ("answers", "packed", "text")
        )
        pq.write_table(pa.table({"answer": answers}), given)
        respond_file(design, given, packed, column="answer")
        labels = design.channel.coding.labels(rows, design.symbols).cast(pa.string())
        hashes = pa.DictionaryArray.from_arrays(
            np.zeros(n, np.int32), pa.array([design.hash])
        )
        pq.write_table(
            pa.table({"response": labels, "design": hashes}),
            text,
            compression="zstd",
        )
        times = race(
            {
                "memory": lambda: local.tally(design, rows, fast=True),
                "packed": lambda: tally_file(design, packed),
                "draw": lambda: local.draw_all(
                    design, answers, codes=True, fast=True
                ),
                "respond": lambda: respond_file(
                    design, given, packed, column="answer", overwrite=True
                ),
            },
            rounds=3,
        )
        times |= race({"text": lambda: tally_file(design, text)}, rounds=1)
        size = packed.stat().st_size / rows.nbytes
    table(
        f"files, unary({K:,}, ε = 1), Parquet, n = {n:,}",
        [
            (
                "tally: time of the packed file ÷ of packed rows in memory",
                times["packed"] / times["memory"],
                None,
            ),
            (
                "tally: time of a file of text ÷ of packed rows in memory",
                times["text"] / times["memory"],
                None,
            ),
            (
                "respond: time from file to file ÷ in memory",
                times["respond"] / times["draw"],
                None,
            ),
            ("size of the packed file ÷ of the rows in memory", size, None),
        ],
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
