"""What a task does with its rows, without a cluster."""

from __future__ import annotations

import pyarrow as pa
import pytest

import deniable as dn
from deniable.engines.spark.tasks import BLOCK, Drawing, blocks

ROWS = 1000


def test_rows_leave_a_task_in_another_order_unless_their_order_is_wanted() -> None:
    """A thousand rows stay in their order by chance once in 1000! times."""
    answers = pa.record_batch(
        [pa.array(["0", "1"] * (ROWS // 2)), pa.array(range(ROWS))],
        names=["answer", "id"],
    )
    design, kept = dn.warner(1, categories=["0", "1"]), ("id",)
    (shuffled,) = Drawing(design, ("answer",), kept)([answers])
    assert shuffled.column("id").to_pylist() != list(range(ROWS))
    assert sorted(shuffled.column("id").to_pylist()) == list(range(ROWS))
    (in_order,) = Drawing(design, ("answer",), kept, shuffle=False)([answers])
    assert in_order.column("id").to_pylist() == list(range(ROWS))


def test_a_response_stays_with_what_is_carried_over() -> None:
    """Asked directly, the response is the answer, wherever its row ends up."""
    certain = dn.direct(["0", "1", "2"])
    answers = pa.record_batch(
        [pa.array(["2", "0", "1"] * 100), pa.array([2, 0, 1] * 100)],
        names=["answer", "own"],
    )
    (sent,) = Drawing(certain, ("answer",), ("own",))([answers])
    assert sent.column("response").to_pylist() == sent.column("own").to_pylist()


def test_cohorts_that_are_given_are_taken() -> None:
    """Four cohorts drawn at random for two hundred rows are those that were given once in 4^200 times."""
    design = dn.string_design(dn.Bloom(16, cohorts=4), 4)
    cohorts = [3, 1, 0, 2] * 50
    answers = pa.record_batch(
        [pa.array(["Smith", "Jones"] * 100), pa.array(cohorts)],
        names=["answer", "group"],
    )
    task = Drawing(design, ("answer",), cohorts="group", shuffle=False)
    assert set(task.read) == {"answer", "group"}
    (sent,) = task([answers])
    assert sent.column("cohort").to_pylist() == cohorts


@pytest.mark.parametrize("sizes", [[1], [0, 1], [1, 0], [1, 1, 1], [], [0]])
def test_no_row_of_a_small_partition_is_lost(sizes: list[int]) -> None:
    """Asked directly, the response is the answer: the only row of a partition leaves it as well."""
    batches = [
        pa.record_batch([pa.array(["1"] * size, pa.string())], names=["answer"])
        for size in sizes
    ]
    sent = list(Drawing(dn.direct(["0", "1"]), ("answer",))(batches))
    assert [
        code for batch in sent for code in batch.column("response").to_pylist()
    ] == [1] * sum(sizes)


@pytest.mark.parametrize("rows", [1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 1])
def test_blocks_hold_every_row_once(rows: int) -> None:
    batch = pa.record_batch([pa.array(range(rows))], names=["id"])
    parts = [batch.slice(start, 7000) for start in range(0, rows, 7000)]
    found = [
        row for block in blocks(parts) for row in block.column("id").to_pylist()
    ]
    assert found == list(range(rows))
