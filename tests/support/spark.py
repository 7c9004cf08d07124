"""A small Spark cluster on this machine, for as long as the tests of a process run.

Java comes from the system (`scripts/java` installs it where it may). Where there is none, the tests that need it are
skipped, and say so. All of them belong to one group, so that one process starts one cluster (`tests/conftest.py`).

Tasks that fail on purpose are here because workers import them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deniable
from deniable.engines.spark.tasks import Drawing, Raising, Task

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

BATCH = 1000
"""Rows in a batch of Arrow, each of which is a block of the tasks below: three of them are drawn one after another."""

HOSTS = ("127.0.0.1", "127.0.0.2")
"""Two hosts of this one machine: Spark runs a task a second time on another host, or not at all."""


def missing() -> str:
    """Return why there is no Spark; empty where there can be one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pyspark  # noqa: F401 - only whether it is there
    except ImportError:
        return "left out: pyspark is not installed (pip install 'deniable[spark]')"
    home = os.environ.get("JAVA_HOME", "")
    if shutil.which("java") is None and not os.access(f"{home}/bin/java", os.X_OK):
        return "left out: no Java is installed (scripts/java installs it as root on Debian)"
    return ""


@contextmanager
def cluster() -> Iterator[SparkSession]:
    """Start a cluster of two hosts, each of which runs one task at a time: its executors are processes of their own."""
    with _folder() as folder:
        from pyspark import SparkContext

        SparkContext._ensure_initialized()
        java: Any = SparkContext._jvm
        deploy, nothing = (
            java.org.apache.spark.deploy,
            getattr(getattr(java.scala, "None$"), "MODULE$"),
        )
        settings = java.org.apache.spark.SparkConf(False)
        master = deploy.master.Master.startRpcEnvAndEndpoint(
            HOSTS[0], 0, 0, settings
        )._1()
        address: Any = SparkContext._gateway.new_array(java.java.lang.String, 1)
        address[0] = master.address().toSparkURL()
        start = deploy.worker.Worker.startRpcEnvAndEndpoint
        places = [
            start(
                host,
                0,
                0,
                1,
                1024,
                address,
                str(folder),
                java.scala.Some(number),
                settings,
                nothing,
            )
            for number, host in enumerate(HOSTS)
        ]
        try:
            with _session(
                address[0], _SMALL | {"spark.sql.warehouse.dir": str(folder)}
            ) as session:
                yield session
        finally:
            for each in (*places, master):
                each.shutdown()


@contextmanager
def one_process(settings: dict[str, str]) -> Iterator[SparkSession]:
    """Start Spark in one process that runs two tasks at a time, each of which is tried four times."""
    with (
        _folder() as folder,
        _session(
            "local[2,4]", {"spark.sql.warehouse.dir": str(folder)} | settings
        ) as session,
    ):
        yield session


@contextmanager
def _folder() -> Iterator[Path]:
    """Prepare a folder that is Spark's own, and workers that import what this process has imported, wherever it is."""
    import pyspark

    folder = Path(tempfile.mkdtemp(prefix="deniable-spark-"))
    roots = [str(Path(deniable.__file__).parents[1]), str(Path(__file__).parents[2])]
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([*roots, os.environ.get("PYTHONPATH", "")]),
        "PYSPARK_SUBMIT_ARGS": f"--driver-java-options '{_SMALL_JVM}' pyspark-shell",
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",  # nothing that others could reach
        "SPARK_LOCAL_DIRS": str(folder),
    }
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _session(master: str, settings: dict[str, str]) -> Iterator[SparkSession]:
    with warnings.catch_warnings():
        # of what pyspark thinks about versions of pandas, which is not used
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(master)
        for name, value in (_QUIET | settings).items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session
        finally:
            session.stop()


_SMALL_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Compile once and quickly: tests run many small jobs and no long one."""

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
MULTIPLIER = "spark.speculation.multiplier"
_SMALL = {
    "spark.executor.memory": "640m",
    "spark.executor.extraJavaOptions": _SMALL_JVM,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH),
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "50ms",
    MULTIPLIER: "1000000",  # which no task reaches, but where `speculating` lowers it
}


@contextmanager
def speculating(session: SparkSession) -> Iterator[None]:
    """Run a task a second time as soon as it takes longer than another one, in the jobs that are begun meanwhile."""
    # which each set of tasks looks into when it is begun
    settings: Any = session.sparkContext._jsc.sc().conf()
    before = settings.get(MULTIPLIER)
    settings.set(MULTIPLIER, "1.01")
    try:
        yield
    finally:
        settings.set(MULTIPLIER, before)


@dataclass(frozen=True)
class Noting(Task):
    """A task whose every attempt notes how many rows it has handed to Spark, and what the first of them were.

    Attributes:
        notes: a folder that all attempts know.
    """

    notes: str = ""

    def __call__(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task: Any = TaskContext.get()
        name = f"{task.partitionId()}-{task.attemptNumber()}"
        rows = 0
        for block in (
            each
            for batch in batches
            for each in super(Noting, self).__call__([batch])
        ):
            yield block
            rows += len(block)
            self.note(
                name,
                f"{rows} {hashlib.sha256(str(block.column(0)[:64]).encode()).hexdigest()}",
            )
            self.after_block(name)
        self.at_end(name)

    def note(self, name: str, text: str = "") -> Path:
        """Write a note, in one step."""
        path = Path(self.notes) / f"note-{name}"
        partial = path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(text)
        return partial.rename(path)

    def noted(self, name: str) -> bool:
        """Tell whether somebody has left a note."""
        return (Path(self.notes) / f"note-{name}").exists()

    def after_block(self, name: str) -> None:
        """Do what goes wrong after each block."""

    def at_end(self, name: str) -> None:
        """Do what goes wrong when all rows were handed over."""


@dataclass(frozen=True)
class Dying(Noting):
    """A task whose worker is killed on its first attempt, when its second block is out."""

    def after_block(self, name: str) -> None:
        if name.endswith("-0"):
            if self.noted(f"{name}.dying"):
                os.kill(os.getpid(), signal.SIGKILL)
            self.note(f"{name}.dying")


@dataclass(frozen=True)
class DyingDrawing(Dying, Drawing):
    """Responses that are drawn, lost and drawn again."""


@dataclass(frozen=True)
class DyingRaising(Dying, Raising):
    """Responses that are raised, lost and raised again."""


@dataclass(frozen=True)
class Rivals(Noting, Drawing):
    """A task whose first partition has two attempts at a time, neither of which ends before both have drawn all."""

    def at_end(self, name: str) -> None:
        self.note(f"{name}.drawn")
        if name.startswith("0-"):
            _wait(lambda: self.noted("0-0.drawn") and self.noted("0-1.drawn"))


@dataclass(frozen=True)
class Watching(Noting, Drawing):
    """A task that does not end before the other one is committed, and then notes what of it can be seen where."""

    def at_end(self, name: str) -> None:
        folder = Path(self.notes)
        if name.startswith("1-"):
            _wait(
                lambda: (
                    any(folder.glob("_out-*/part-*"))
                    or any(folder.glob("_out-*/_temporary/0/task_*"))
                )
            )
            seen = [
                path.name
                for where in ("_out-*/part-*", "out*")
                for path in folder.glob(where)
            ]
            self.note("seen", "\n".join(seen))


def _wait(happened: Callable[[], bool]) -> None:
    """Wait until something has happened; a test whose other half never comes goes on after two minutes, and fails."""
    end = time.monotonic() + 120
    while not happened() and time.monotonic() < end:
        time.sleep(0.02)
