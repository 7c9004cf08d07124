"""Responses in a SQLite file: one writer at a time, readers beside it, each transaction on the disk when it ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any, ClassVar

from deniable.collector.store.base import StoreFailed
from deniable.collector.store.sql import SqlStore
from deniable.collector.store.tables import Tables
from deniable.db.durable import DurableFile

SETTINGS = (
    "journal_mode = WAL",  # readers go on while somebody writes
    "synchronous = FULL",  # the log is on the disk before a transaction ends
    "secure_delete = ON",  # what is withdrawn is overwritten
    "cache_size = -65536",  # 64 MB
    "wal_autocheckpoint = 16384",  # pages: 64 MB of log before it is carried over, for batches change many pages
    "journal_size_limit = 67108864",  # a log that has grown is cut to as much again
    "temp_store = MEMORY",
)
PATIENCE = 60.0
"""Seconds to wait for another program that is writing."""

_MOST_IDS = 500  # values in one statement


class SqliteStore(SqlStore):
    """A SQLite file, readable by its owner alone."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.name = str(path)
        self._path = Path(path)
        self._writer = self._file()
        self._readers: LifoQueue[DurableFile] = LifoQueue()
        try:
            self._writer.make()
        except OSError as error:
            raise StoreFailed(f"cannot open {path}: {error.strerror}.") from None
        super().__init__()

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Tables]:
        """Run a transaction."""
        file = self._writer if write else self._reader()
        try:
            with file.transaction(write=write) as connection:
                yield SqliteTables(connection)
        finally:
            if not write:
                self._readers.put(file)

    def shut(self) -> None:
        """Close the file, and leave no log of what was written last beside it."""
        while not self._readers.empty():
            self._readers.get().close()
        self._writer.close()

    def _reader(self) -> DurableFile:
        try:
            return self._readers.get_nowait()
        except Empty:
            return self._file()

    def _file(self) -> DurableFile:
        return DurableFile(self._path, "database", patience=PATIENCE, settings=SETTINGS, failure=StoreFailed)


class SqliteTables(Tables):
    """Tables in SQLite."""

    dialect: ClassVar[dict[str, str]] = {"bytes": "BLOB", "by_key": "WITHOUT ROWID", "lock": "", "alone": "SELECT 1"}

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> int:
        """Run a statement and return how many rows it changed."""
        return self._connection.execute(statement, values).rowcount

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows."""
        return self._connection.execute(statement, values).fetchall()

    def stream(self, statement: str, *values: Any) -> Iterator[Any]:
        """Yield rows without holding all of them."""
        return iter(self._connection.execute(statement, values))

    def find(self, survey: int, question: int, ids: Sequence[bytes]) -> list[tuple[bytes, int, int, bytes]]:
        """Return id, stage, group and code of all responses with these ids."""
        found: list[Any] = []
        for start in range(0, len(ids), _MOST_IDS):
            piece = ids[start : start + _MOST_IDS]
            marks = ",".join("?" * len(piece))
            found += self.rows(
                f"SELECT id, stage, grp, code FROM response WHERE survey = ? AND question = ? AND id IN ({marks})",
                survey, question, *piece,
            )  # fmt: skip
        return found

    def copy(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows to a table."""
        marks = ", ".join("?" * len(columns))
        self._connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)
