"""Frames of answers become files of responses, for every type of design that has a column of answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deniable as dn
from deniable.engines.spark import respond_all, tally
from deniable.engines.spark.tasks import stored_responses
from deniable.errors import Incompatible, InvalidRequest
from deniable.tallies.responses import Responses
from tests.support.types import TYPES, Asked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = {name: build for name, build in TYPES.items() if name != "deck"}

# and all of them, as tables are,
COUNTED = "attributes", "ladder of sets", "key-value vectors", "strings", "numbers"
# by tests/conformance/test_every_warehouse.py


def answers_of(spark: SparkSession, asked: Asked) -> tuple[DataFrame, str | None]:
    """Return everybody's answers as a frame of two partitions, with a number for each, and which column holds them."""
    attributes = asked.design.answer_columns
    rows: list[dict[str, Any]] = []
    for number, answer in enumerate(asked.answers):
        given = (
            (answer or dict.fromkeys(attributes))
            if attributes
            else {"answer": answer}
        )
        rows.append({"id": number, **given})
    table = pa.Table.from_pylist(
        rows, pa.schema([("id", pa.int64()), *_fields(asked)])
    )
    return spark.createDataFrame(table), None if attributes else "answer"


def _fields(asked: Asked) -> list[tuple[str, Any]]:
    if asked.design.asks in ("key-value", "edges"):
        return [("answer", pa.map_(pa.string(), pa.float64()))]
    has_numbers = asked.design.answer_form == "numbers"
    kind = pa.float64() if has_numbers else pa.string()
    return [(name, kind) for name in asked.design.answer_columns or ("answer",)]


def read_back(design: Any, frame: DataFrame) -> Responses[Any]:
    """Return committed responses, in the order of their numbers, as those that `dn.respond_all` draws."""
    table = frame.toArrow().sort_by("id")
    assert set(table["design"].to_pylist()) == {design.hash}
    return stored_responses(design, table)


@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_is_drawn_and_counted(
    name: str, spark: SparkSession, tmp_path: Path
) -> None:
    asked = COLUMNS[name]()
    frame, column = answers_of(spark, asked)
    stored = respond_all(
        asked.design, frame, column, out=str(tmp_path / "out"), keep=["id"]
    )
    sent = read_back(asked.design, stored)
    assert len(sent) == len(asked.answers)
    assert sent.missing is not None
    assert sent.missing.tolist() == [answer is None for answer in asked.answers]
    assert dn.estimate(dn.tally(sent), **asked.estimate) is not None
    if name in COUNTED:
        assert tally(asked.design, stored) == dn.tally(sent)


def test_groups_are_counted_on_the_cluster(
    spark: SparkSession, tmp_path: Path
) -> None:
    design = dn.unary(["never", "once", "often"], 1)
    frame = spark.range(0, 90, 1, 3).selectExpr(
        "id", "CAST(id % 3 AS INT) AS answer", "id % 2 AS half"
    )
    stored = respond_all(
        design,
        frame,
        "answer",
        out=str(tmp_path / "out"),
        keep=["id", "half"],
        codes=True,
    )
    before = spark.catalog.listTables()  # of other tests
    found = tally(design, stored, by="half")
    halves = {
        half: dn.tally(read_back(design, stored.where(f"half = {half}")))
        for half in (0, 1)
    }
    assert found == dn.GroupedTally(design, halves, by=("half",))
    assert dn.tally(design, stored) == found[0] + found[1]
    assert spark.catalog.listTables() == before
    with pytest.raises(Incompatible, match="90 rows"):
        tally(dn.unary(["never", "once", "often"], 2), stored)
    with pytest.raises(InvalidRequest, match="no column 'region'"):
        tally(design, stored, by="region")


def test_the_verb_refuses_a_frame_that_would_draw_again(spark: SparkSession) -> None:
    with pytest.raises(InvalidRequest, match="drawn anew"):
        dn.respond_all(dn.warner(1), spark.range(3))


def test_given_cohorts_and_lone_rows_reach_the_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Eight partitions of one row each: every row leaves, in the cohort that it was given."""
    design = dn.string_design(dn.Bloom(16, cohorts=1024), 4)
    cohorts = [1000 + number for number in range(8)]
    table = pa.table({"answer": ["Smith"] * 8, "group": cohorts})
    frame = spark.createDataFrame(table).repartitionByRange(8, "group")
    stored = respond_all(
        design, frame, "answer", out=str(tmp_path / "out"), cohorts="group"
    )
    assert sorted(stored.toArrow()["cohort"].to_pylist()) == cohorts
