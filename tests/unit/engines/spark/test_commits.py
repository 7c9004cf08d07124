"""Whatever fails and is run again, one response to each answer can be read, wherever somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines import spark as engine
from deniable.engines.spark import commits
from deniable.errors import InvalidAnswer, InvalidRequest, UnreadableFile
from tests.support import spark as support

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

N = 6 * support.BATCH  # three blocks in each of two partitions
# two draws for one answer agree with a probability below 1/50
DESIGN = dn.k_ary(200, epsilon=1)


def answers(spark: SparkSession, n: int = N) -> DataFrame:
    return spark.range(0, n, 1, 2).selectExpr(
        "id", "CAST(id % 200 AS INT) AS answer"
    )


def once_each(folder: Path, n: int = N) -> bool:
    """Tell whether every number occurs once in all files below a folder, also those that Spark would not look at."""
    files = [
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith((".crc", "_SUCCESS"))
    ]
    ids = pa.concat_tables(
        [pq.read_table(path, partitioning=None) for path in files]
    )["id"].to_numpy()
    return len(ids) == n and bool((np.bincount(ids, minlength=n) == 1).all())


def notes(folder: Path) -> dict[str, list[str]]:
    """Return what attempts have noted: by partition and attempt how many rows were drawn, and the first of them."""
    return {
        path.name.removeprefix("note-"): path.read_text().split()
        for path in folder.glob("note-?-?")
    }


@pytest.fixture
def respond(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., DataFrame]:
    """Responds with a task that fails on purpose; notes and responses go to the test's folder."""

    def run(task: Any, n: int = N) -> DataFrame:
        monkeypatch.setattr(engine, "Drawing", partial(task, notes=str(tmp_path)))
        out = str(tmp_path / "out")
        return engine.respond_all(
            DESIGN, answers(spark, n), "answer", out=out, keep=["id"], codes=True
        )

    return run


def test_a_worker_that_is_killed_half_way_is_published_once(
    respond: Callable[..., DataFrame], tmp_path: Path
) -> None:
    sent = respond(support.DyingDrawing)
    drawn = notes(tmp_path)
    assert drawn.keys() == {"0-0", "0-1", "1-0", "1-1"}
    for partition in "01":
        (lost, first), (rows, again) = (
            drawn[f"{partition}-0"],
            drawn[f"{partition}-1"],
        )
        assert 0 < int(lost) < int(rows) == N / 2  # drawn, handed over, and lost
        assert first != again  # under another key
    assert once_each(tmp_path / "out")
    assert [
        path for path in tmp_path.iterdir() if not path.name.startswith("note-")
    ] == [tmp_path / "out"]
    twice = [
        sent.selectExpr("count(*)", "sum(hash(id, response))").first()
        for _ in range(2)
    ]
    assert twice[0] == twice[1]  # the lineage is read, and not drawn, again
    assert twice[0] is not None
    assert twice[0][0] == N


def test_of_two_attempts_at_a_time_one_is_published(
    respond: Callable[..., DataFrame], spark: SparkSession, tmp_path: Path
) -> None:
    with support.speculating(spark):
        respond(support.Rivals, 2000)
    drawn = notes(tmp_path)
    assert drawn["0-0"][0] == drawn["0-1"][0] == "1000"  # both have drawn all of it
    assert drawn["0-0"][1] != drawn["0-1"][1]
    assert once_each(tmp_path / "out", 2000)


def test_nothing_can_be_read_before_all_is_committed(
    respond: Callable[..., DataFrame], spark: SparkSession, tmp_path: Path
) -> None:
    # as a cluster may have it
    spark.conf.set("mapreduce.fileoutputcommitter.algorithm.version", "2")
    try:
        respond(support.Watching, 2000)
    finally:
        spark.conf.unset("mapreduce.fileoutputcommitter.algorithm.version")
    assert (tmp_path / "note-seen").read_text() == ""
    assert once_each(tmp_path / "out", 2000)


def test_a_job_that_failed_leaves_nothing_and_one_that_is_done_stays(
    spark: SparkSession, tmp_path: Path
) -> None:
    good = answers(spark, 1000).selectExpr("id", "CAST(answer AS STRING) AS answer")
    wrong = good.selectExpr("id", "IF(id = 700, 'a-secret', answer) AS answer")
    respond = partial(
        engine.respond_all,
        DESIGN,
        column="answer",
        out=str(tmp_path / "out"),
        keep=["id"],
    )
    with pytest.raises(InvalidAnswer, match="index 200") as caught:
        respond(wrong)
    assert "a-secret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    respond(good)
    before = sorted(
        (path.name, path.read_bytes()) for path in (tmp_path / "out").iterdir()
    )
    with pytest.raises(InvalidRequest, match="already"):
        respond(good)
    assert (
        sorted(
            (path.name, path.read_bytes()) for path in (tmp_path / "out").iterdir()
        )
        == before
    )


def test_of_two_calls_at_a_time_one_is_published(
    spark: SparkSession, tmp_path: Path
) -> None:
    def write(folder: str, text: str) -> None:
        path = Path(folder.removeprefix("file:"))
        path.mkdir()
        (path / "_SUCCESS").touch()
        (path / f"part-00000-{JOB}-c000.snappy.parquet").write_text(text)

    first, second = (commits.Output(spark, str(tmp_path / "out")) for _ in range(2))
    with pytest.raises(InvalidRequest, match="already"), first.publishing() as one:  # noqa: PT012 - one within the other
        write(one, "first")
        with second.publishing() as two:
            assert not (tmp_path / "out").exists()
            write(two, "second")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (
        tmp_path / "out" / f"part-00000-{JOB}-c000.snappy.parquet"
    ).read_text() == "second"


def test_what_a_driver_that_died_has_left_is_never_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    # and nobody goes on from here
    left = commits.Output(spark, str(tmp_path / "out")).publishing().__enter__()
    spark.range(3).write.parquet(left)
    assert not (tmp_path / "out").exists()
    # nor by whoever reads all there is
    assert spark.read.schema("id LONG").parquet(str(tmp_path)).count() == 0
    engine.respond_all(
        DESIGN,
        answers(spark, 10),
        "answer",
        out=str(tmp_path / "out"),
        keep=["id"],
        codes=True,
    )
    assert once_each(tmp_path / "out", 10)


def test_rows_that_change_with_each_reading_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = answers(spark, 10).selectExpr(
        "id", "CAST(200 * rand() AS INT) AS answer"
    )
    with pytest.raises(InvalidRequest, match="each time it is read"):
        engine.respond_all(
            DESIGN, frame, "answer", out=str(tmp_path / "out"), codes=True
        )


def test_other_ways_to_commit_are_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = commits.Output(spark, str(tmp_path / "out"))
    assert folder.options()["mapreduce.fileoutputcommitter.algorithm.version"] == "1"
    monkeypatch.setattr(commits, "_SCHEMES", ("hdfs",))
    with pytest.raises(InvalidRequest, match="renamed in one step"):
        folder.options()
    name = "spark.sql.sources.commitProtocolClass"
    monkeypatch.setattr(
        type(spark.conf), "get", lambda _, key: {name: "a.Direct.Committer"}[key]
    )
    with pytest.raises(InvalidRequest, match=r"a\.Direct\.Committer"):
        folder.options()
    monkeypatch.setattr(
        type(spark.conf), "get", lambda _, key: {name: commits.UPLOADING}[key]
    )
    assert folder.options()["pathoutputcommit.reject.fileoutput"] == "true"
    coordinated = {"spark.hadoop.outputCommitCoordination.enabled": "false"}
    monkeypatch.setattr(type(spark.sparkContext), "getConf", lambda _: coordinated)
    with pytest.raises(InvalidRequest, match="both commit"):
        folder.options()


JOB = "0e8b6cf2-2f4e-4a0e-9d55-0123456789ab"


@pytest.mark.parametrize(
    "names",
    [
        (f"part-00000-{JOB}-c000.snappy.parquet",),
        ("_SUCCESS", f"part-00000-{JOB}-c000.snappy.parquet", "_temporary"),
        (
            "_SUCCESS",
            f"part-00000-{JOB}-c000.snappy.parquet",
            f"part-00000-{JOB}-c001.snappy.parquet",
        ),
        (
            "_SUCCESS",
            f"part-00000-{JOB}-c000.snappy.parquet",
            f"part-00001-{JOB[::-1]}-c000.snappy.parquet",
        ),
        (
            "_SUCCESS",
            f"part-00000-{JOB}-c000.snappy.parquet",
            f"part-00000-{JOB}-c000.parquet",
        ),
    ],
    ids=[
        "unfinished",
        "leftovers",
        "two files of a task",
        "two jobs",
        "two attempts",
    ],
)
def test_a_folder_of_more_than_one_job_is_found(
    spark: SparkSession, tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(UnreadableFile):
        commits.Output(spark, str(tmp_path)).check()
