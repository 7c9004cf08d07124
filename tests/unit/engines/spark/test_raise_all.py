"""Stored responses are raised to the next stage, each of them once and never again."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn
from deniable.engines import spark as engine
from deniable.engines.spark.tasks import stored_responses
from deniable.errors import Incompatible, InvalidRequest
from deniable.order.ladders import Ladder
from tests.support import spark as support

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LABELS = ["never", "once", "often"]
# where hardly a response is changed
STAGES = dn.ladder(dn.k_ary(LABELS, epsilon=e) for e in (1, "1.001", "1.002"))
FIRST_TWO = Ladder(STAGES.designs[:2], STAGES.steps[:1])


def answers(spark: SparkSession, n: int = 600) -> DataFrame:
    """Return answers of which every tenth is missing."""
    labels = "element_at(array('never', 'once', 'often'), CAST(id % 3 AS INT) + 1)"
    return spark.range(0, n, 1, 2).selectExpr(
        "id", f"IF(id % 10 = 9, NULL, {labels}) AS answer"
    )


def rows(frame: DataFrame) -> list[Any]:
    return sorted(frame.collect(), key=lambda row: row.id)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "sent")


def test_every_stage_is_raised_from_the_one_that_is_out(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    given = answers(spark)
    first = engine.respond_all(
        STAGES.designs[0], given, "answer", out=path, keep=["id"]
    )
    second = engine.raise_all(FIRST_TWO, path, given, "answer", on="id")
    third = engine.raise_all(STAGES, path, given, "answer", on=["id"])
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "sent",
        "sent.stage-1",
        "sent.stage-2",
    ]
    one, two, three, truths = map(rows, (first, second, third, given))
    assert len(three) == 600
    for a, b, c, truth in zip(one, two, three, truths, strict=True):
        assert a.response == b["stage_1"] == c["stage_1"]
        assert b["stage_2"] == c["stage_2"]
        assert (
            (c["stage_3"] is None) == (truth.answer is None) == (a.response is None)
        )
    changed = sum(
        len({row["stage_1"], row["stage_2"], row["stage_3"]}) > 1 for row in three
    )
    # of 600, each of whom a step changes with a probability below 2 in 1,000; a fresh draw changes most
    assert changed < 100
    assert {row.design for row in three} == {STAGES.hash}
    counted = dn.tally(
        stored_responses(STAGES, pa.Table.from_batches(third.toArrow().to_batches()))
    )
    assert (counted.respondents, counted.missing) == (540, 60)
    assert counted.finest[0].respondents == 0


def test_packed_rows_and_attributes_are_raised_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    sets = dn.ladder(dn.rappor(9, epsilon=e) for e in (1, 60))
    given = spark.range(0, 90, 1, 2).selectExpr(
        "id", "CAST(id % 9 AS INT) AS answer"
    )
    engine.respond_all(
        sets.designs[0],
        given,
        "answer",
        out=str(tmp_path / "sets"),
        keep=["id"],
        codes=True,
    )
    raised = rows(
        engine.raise_all(
            sets, str(tmp_path / "sets"), given, "answer", on="id", codes=True
        )
    )
    bits = np.frombuffer(
        b"".join(row["stage_2"] for row in raised), np.uint8
    ).reshape(90, 2)
    assert np.unpackbits(bits, axis=1, bitorder="little")[:, :9].argmax(
        axis=1
    ).tolist() == [i % 9 for i in range(90)]
    pairs = dn.ladder(
        dn.product({"a": dn.warner(e), "b": dn.k_ary(LABELS, e)}) for e in (1, 2)
    )
    both = answers(spark, 60).selectExpr(
        "id", "IF(id % 2 = 0, 'yes', 'no') AS a", "coalesce(answer, 'once') AS b"
    )
    engine.respond_all(
        pairs.designs[0], both, out=str(tmp_path / "pairs"), keep=["id"]
    )
    assert (
        engine.raise_all(pairs, str(tmp_path / "pairs"), both, on="id").count() == 60
    )


def test_a_stage_is_drawn_once_whoever_asks_again(
    spark: SparkSession, path: str
) -> None:
    given = answers(spark, 20)
    engine.respond_all(STAGES.designs[0], given, "answer", out=path, keep=["id"])
    some = engine.raise_all(
        FIRST_TWO, path + "/", given.where("id < 10"), "answer", on="id"
    )
    assert sorted(row.id for row in some.collect()) == list(range(10))
    other = dn.ladder([STAGES.designs[0], dn.k_ary(LABELS, epsilon=4)])
    for ladder in (FIRST_TWO, other):
        with pytest.raises(InvalidRequest, match="already"):
            engine.raise_all(ladder, path, given, "answer", on="id")


def test_a_worker_that_is_killed_half_way_raises_once(
    spark: SparkSession, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 12 * support.BATCH
    given = spark.range(0, n, 1, 2).selectExpr("id", "CAST(id % 3 AS INT) AS answer")
    engine.respond_all(
        STAGES.designs[0], given, "answer", out=path, keep=["id"], codes=True
    )
    monkeypatch.setattr(
        engine, "Raising", partial(support.DyingRaising, notes=str(tmp_path))
    )
    raised = engine.raise_all(FIRST_TWO, path, given, "answer", on="id", codes=True)
    assert (
        len(list(tmp_path.glob("note-?-0.dying")))
        == len(list(tmp_path.glob("note-?-1")))
        > 0
    )
    assert raised.selectExpr("count(*)", "count(DISTINCT id)").first() == (n, n)


def test_whoever_occurs_twice_is_raised_never(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    given = answers(spark, 20)
    engine.respond_all(STAGES.designs[0], given, "answer", out=path, keep=["id"])
    with pytest.raises(InvalidRequest, match="occurs twice"):
        engine.raise_all(
            FIRST_TWO, path, given.union(given.where("id = 7")), "answer", on="id"
        )
    assert [each.name for each in tmp_path.iterdir()] == ["sent"]


def test_what_does_not_follow_is_refused(spark: SparkSession, path: str) -> None:
    given = answers(spark, 20)
    with pytest.raises(InvalidRequest, match="one stage"):
        engine.raise_all(
            dn.ladder(STAGES.designs[:1]), path, given, "answer", on="id"
        )
    with pytest.raises(InvalidRequest, match="not stored"):
        engine.raise_all(FIRST_TWO, path, given, "answer", on="id")
    engine.respond_all(STAGES.designs[0], given, "answer", out=path, keep=["id"])
    with pytest.raises(Incompatible, match="stages before"):
        engine.raise_all(
            dn.ladder(STAGES.designs[1:]), path, given, "answer", on="id"
        )
    with pytest.raises(InvalidRequest, match="not stored"):
        engine.raise_all(STAGES, path, given, "answer", on="id")
    with pytest.raises(InvalidRequest, match="both sides"):
        engine.raise_all(FIRST_TWO, path, given, "answer", on="person")
    with pytest.raises(InvalidRequest, match="a name of its own"):
        engine.raise_all(
            FIRST_TWO,
            path,
            given.withColumnRenamed("answer", "response"),
            "response",
            on="id",
        )
