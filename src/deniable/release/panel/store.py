"""Where a panel's tables are: a SQLite file, or a Postgres database. Only this folder's stores and `book` know SQL.

Both are durable when a transaction ends, and let one program write at a time.
"""

from __future__ import annotations

import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from deniable.db.durable import DurableFile
from deniable.errors import UnreadableFile

VERSION = "1"
PATIENCE = 600.0
"""Seconds to wait for another program that is writing; a release to a large panel takes a while."""

SCHEMA = (
    "CREATE TABLE panel (id TEXT NOT NULL, version TEXT NOT NULL, budget TEXT, made TEXT NOT NULL)",
    "CREATE TABLE panel_design (hash TEXT PRIMARY KEY, body TEXT NOT NULL)",
    """CREATE TABLE panel_question (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, about TEXT NOT NULL REFERENCES panel_design, budget TEXT
    )""",
    """CREATE TABLE panel_stage (
        id INTEGER PRIMARY KEY, question INTEGER NOT NULL REFERENCES panel_question, place INTEGER NOT NULL,
        design TEXT NOT NULL REFERENCES panel_design, parity TEXT NOT NULL, UNIQUE (question, design)
    )""",
    """CREATE TABLE panel_step (
        question INTEGER NOT NULL REFERENCES panel_question, coarse TEXT NOT NULL, fine TEXT NOT NULL,
        body TEXT NOT NULL, PRIMARY KEY (question, coarse, fine)
    )""",
    """CREATE TABLE panel_answer (
        question INTEGER NOT NULL REFERENCES panel_question, respondent TEXT NOT NULL, answer TEXT,
        PRIMARY KEY (question, respondent)
    )""",
    """CREATE TABLE panel_response (
        stage INTEGER NOT NULL REFERENCES panel_stage, respondent TEXT NOT NULL, response TEXT NOT NULL,
        released INTEGER NOT NULL, PRIMARY KEY (stage, respondent)
    )""",
    "CREATE TABLE panel_withdrawn (respondent TEXT PRIMARY KEY, at TEXT NOT NULL)",
    "CREATE TABLE panel_receipt (number INTEGER PRIMARY KEY, body TEXT NOT NULL)",
)


class Tables(ABC):
    """The tables inside a transaction. Statements have `?` for values."""

    @abstractmethod
    def run(self, statement: str, *values: Any) -> None:
        """Run a statement."""

    @abstractmethod
    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows."""

    @abstractmethod
    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows."""

    @abstractmethod
    def each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for many rows of values."""

    @abstractmethod
    def has_tables(self) -> bool:
        """Say whether a panel was made here."""

    def value(self, statement: str, *values: Any) -> Any:
        """Return the first value of the first row; None where there is no row."""
        found = self.rows(statement, *values)
        return found[0][0] if found else None


class Store(ABC):
    """Where the tables are."""

    name: str

    @abstractmethod
    def transaction(self, *, write: bool = True) -> AbstractContextManager[Tables]:
        """Run a transaction: all of it is durable afterwards, or none of it happened."""

    @abstractmethod
    def close(self) -> None:
        """Close it."""


def open_store(where: str | os.PathLike[str], *, create: bool = False) -> Store:
    """Open a file, or a database by its address, such as `postgresql://host/name`.

    Raises:
        UnreadableFile: no such file.
        MissingExtra: an address, and psycopg is not installed.
    """
    text = os.fspath(where)
    if text.startswith(("postgresql://", "postgres://")):
        from deniable.release.panel.postgres import PostgresStore

        return PostgresStore(text)
    return SqliteStore(Path(text), create=create)


class SqliteStore(Store):
    """A SQLite file, readable by its owner alone."""

    def __init__(self, path: Path, *, create: bool) -> None:
        self.name = str(path)
        self._file = DurableFile(path, "panel", patience=PATIENCE)
        if create:
            self._file.make()
        elif not path.is_file():
            raise UnreadableFile(f"there is no panel at {path}.", "Make one first: Panel.create(path).")

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Tables]:
        """Run a transaction; see `DurableFile.transaction`."""
        with self._file.transaction(write=write) as connection:
            yield SqliteTables(connection)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class SqliteTables(Tables):
    """Tables in SQLite."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> None:
        """Run a statement."""
        self._connection.execute(statement, values)

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows."""
        return self._connection.execute(statement, values).fetchall()

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows."""
        marks = ", ".join("?" * len(columns))
        self._connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)

    def each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for many rows of values."""
        self._connection.executemany(statement, rows)

    def has_tables(self) -> bool:
        """Say whether a panel, or anything else, was made here."""
        return bool(self.value("SELECT count(*) FROM sqlite_master"))
