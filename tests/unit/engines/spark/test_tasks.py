"""What a task does with its rows, without a cluster."""

from __future__ import annotations

import pyarrow as pa

import deniable as dn
from deniable.engines.spark.tasks import Drawing

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
