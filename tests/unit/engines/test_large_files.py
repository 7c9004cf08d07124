"""Files larger than memory: a job needs as much for many rows as for few, and one that is killed goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import file_kills

FEW, MANY = 1 << 22, 1 << 24
# bytes; the numbers that are kept with MANY responses are 128 MiB
MOST_GROWTH = 96 << 20

PROGRAM = """
import resource
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deniable import k_ary
from deniable.engines import Local
from deniable.engines.files import respond_file, tally_file

folder, rows, design = Path(sys.argv[1]), int(sys.argv[2]), k_ary(16, epsilon=1)
codes = pa.table({"x": np.arange(1 << 18, dtype=np.uint8) % 16, "id": np.arange(1 << 18)})
with pq.ParquetWriter(folder / "answers.parquet", codes.schema) as writer:
    for _ in range(rows >> 18):
        writer.write_table(codes)
answers, responses, engine = folder / "answers.parquet", folder / "responses.parquet", Local(fast=False)
respond_file(design, answers, responses, column="x", keep=["id"], engine=engine)
assert tally_file(design, responses, engine=engine).respondents == rows
print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(folder: Path, rows: int) -> int:
    place = folder / str(rows)
    place.mkdir()
    command = [sys.executable, "-c", PROGRAM, str(place), str(rows)]
    return int(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="peaks of memory are told in other units elsewhere",
)
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    assert peak(tmp_path, MANY) < peak(tmp_path, FEW) + MOST_GROWTH


@pytest.mark.skipif(
    not hasattr(os, "fork"), reason="programs are killed by a signal"
)
def test_a_job_that_is_killed_goes_on_and_draws_nothing_twice(
    tmp_path: Path,
) -> None:
    assert file_kills.run_apart(tmp_path, 3).wrong == []
