"""How a Spark job writes each row once, and publishes all of its rows in one step, whatever fails on the way.

A task that fails, is lost or is too slow is run again, and draws again. What keeps its first responses from ever being
read is how its output becomes visible, in four steps:

    attempt   writes to a folder of its own, `_temporary/0/_temporary/attempt_…`, which goes when it fails
    task      one attempt is let through by the driver, and renames its folder to `_temporary/0/task_…`, in one step and
              in place of what an attempt that was let through before and lost may have left there
    job       when every task is committed, and not before, the driver moves their files together, erases `_temporary`
              and writes `_SUCCESS`
    call      all of this happens in a folder that no other call knows, `_NAME-…` beside the one that was asked for;
              what lies there is checked, and renamed to NAME in one step, unless there is something by then

The first three are version 1 of Hadoop's file output committer. Version 2 moves the files of each task together as soon
as it is committed: an attempt that is lost in that moment has published, and so will the next one. Committers that
write there directly publish every attempt. Without the fourth, two calls at a time that write one folder publish each
other's tasks, and a driver that ends while files are moved leaves some of them to be read.

On object stores nothing is renamed in one step: there the committer of the store uploads what tasks have written when
the job is committed, file by file, to where it is read. `_SUCCESS` says that this was completed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from deniable.errors import InvalidRequest, UnreadableFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RENAMING = (
    "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
)
UPLOADING = "org.apache.spark.internal.io.cloud.PathOutputCommitProtocol"

_SCHEMES = ("file", "hdfs", "abfs", "abfss")  # where a folder is renamed in one step
_ONCE = {
    "maxRecordsPerFile": "0",  # one file for each task: an attempt replaces all of another one, or nothing
    "partitionOverwriteMode": "static",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    "mapreduce.fileoutputcommitter.cleanup.skipped": "false",
}
_BY_RENAMING = {
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "spark.sql.parquet.output.committer.class": "org.apache.parquet.hadoop.ParquetOutputCommitter",
}
_BY_UPLOADING = {
    "pathoutputcommit.reject.fileoutput": "true",  # a store without a committer of its own would get one that renames
    "spark.sql.parquet.output.committer.class": "org.apache.spark.internal.io.cloud.BindingParquetOutputCommitter",
}
_PART = re.compile(r"part-(?P<task>\d{5,})-(?P<job>[0-9a-f-]{36})-c000\b.*\.parquet")


class Output:
    """The folder that one job publishes, on one of Spark's file systems."""

    def __init__(self, session: SparkSession, path: str) -> None:
        java: Any = session
        if not hasattr(java, "_jsparkSession"):
            raise InvalidRequest(
                "this session is one of Spark Connect, which does not tell how output is committed; expected one that "
                "runs in the driver.",
                "Run this step as an application of its own, with spark-submit.",
            )
        self._session = session
        self._jvm = java._jvm
        self._settings = java._jsparkSession.sessionState().newHadoopConf()
        relative = self._jvm.org.apache.hadoop.fs.Path(path)
        self._files = relative.getFileSystem(self._settings)
        self._path = self._files.makeQualified(relative)

    def __str__(self) -> str:
        return str(self._path.toString())

    def options(self) -> dict[str, str]:
        """Return the settings for a writer under which each task's rows are published once.

        They go before those of the session and of the cluster.

        Raises:
            InvalidRequest: with what the session is set to they would not hold.
        """
        settings = self._session.sparkContext.getConf()
        if (
            settings.get("spark.hadoop.outputCommitCoordination.enabled", "true")
            != "true"
        ):
            raise InvalidRequest(
                "two attempts of one task may both commit in this session; expected that the driver lets one through.",
                "Leave spark.hadoop.outputCommitCoordination.enabled at true.",
            )
        protocol, scheme = self._protocol(), self._files.getUri().getScheme()
        if protocol == UPLOADING:
            return _ONCE | _BY_UPLOADING
        if protocol != RENAMING:
            raise InvalidRequest(
                f"output is committed by {protocol}, of which it is not known whether a task that is run twice is "
                f"published once; expected {RENAMING} or {UPLOADING}.",
                "Set spark.sql.sources.commitProtocolClass to one of them.",
            )
        if scheme not in _SCHEMES:
            raise InvalidRequest(
                f"a folder of {scheme}:// is not renamed in one step, so that a task that is run twice might be "
                f"published twice; expected one of {', '.join(_SCHEMES)}, or a committer that does not rename.",
                f"Set spark.sql.sources.commitProtocolClass to {UPLOADING}, with the committer of that store.",
            )
        return _ONCE | _BY_RENAMING

    def exists(self) -> bool:
        """Tell whether there is something at this path."""
        return bool(self._files.exists(self._path))

    def check_free(self) -> None:
        """Make sure that nothing is at this path.

        Raises:
            InvalidRequest: there is.
        """
        if self.exists():
            raise InvalidRequest(
                "there is something at that path already; expected a folder that does not exist.",
                "Responses that were drawn are read, not drawn again: spark.read.parquet(path).",
            )

    @contextmanager
    def publishing(self) -> Iterator[str]:
        """Yield where a job is to write; publish that when it is done and sound, and erase it when it is not.

        Raises:
            InvalidRequest: there is something at this path, before or by the time the job is done.
            UnreadableFile: the job has not written what it should.
        """
        self.check_free()
        path = self._path if self._protocol() == UPLOADING else self._hidden()
        try:
            yield str(path.toString())
            self.check(path)
            if path is not self._path:
                self._rename(path)
        except BaseException:
            self._files.delete(path, True)
            raise

    def check(self, path: object = None) -> None:
        """Make sure that a job is complete, and has left one file for each of its tasks and nothing else.

        Raises:
            UnreadableFile: it is not, or it has not.
        """
        folder = self._path if path is None else path
        files = self._files.listStatus(folder) if self._files.exists(folder) else []
        names = [file.getPath().getName() for file in files]
        parts = [_PART.fullmatch(name) for name in names if name != "_SUCCESS"]
        task_ids = [match["task"] for match in parts if match is not None]
        jobs = {match["job"] for match in parts if match is not None}
        if (
            "_SUCCESS" not in names
            or None in parts
            or len(set(task_ids)) < len(task_ids)
            or len(jobs) > 1
        ):
            raise UnreadableFile(
                "the folder of responses does not hold one file for each task of one job; expected nothing else.",
                "Erase it, and respond again: what is in it may hold two responses to one answer.",
            )

    def _protocol(self) -> str:
        return str(self._session.conf.get("spark.sql.sources.commitProtocolClass"))

    def _hidden(self) -> Any:
        """Return a path beside this one that nobody else has, and that Spark takes no notice of when it reads."""
        return self._jvm.org.apache.hadoop.fs.Path(
            self._path.getParent(), f"_{self._path.getName()}-{uuid4()}"
        )

    def _rename(self, path: object) -> None:
        """Rename a folder to this path, in one step; where there is something by now it stays as it is."""
        from py4j.protocol import Py4JJavaError

        hadoop = self._jvm.org.apache.hadoop.fs
        files = hadoop.FileContext.getFileContext(self._path.toUri(), self._settings)
        replace_nothing: Any = self._session.sparkContext._gateway.new_array(
            getattr(hadoop, "Options$Rename"), 0
        )
        try:
            files.rename(path, self._path, replace_nothing)
        except Py4JJavaError:
            self.check_free()
            raise
