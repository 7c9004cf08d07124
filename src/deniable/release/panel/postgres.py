"""A panel in Postgres, through psycopg."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from deniable.errors import InvalidRequest, MissingExtra, UnreadableFile
from deniable.release.panel.store import Store, Tables


class PostgresStore(Store):
    """A Postgres database. Writers take turns by a lock on the table `panel`; readers need not wait."""

    def __init__(self, address: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra(
                "a panel in Postgres needs psycopg, which is not installed.", 'Run: pip install "deniable[postgres]"'
            ) from None
        self._psycopg = psycopg
        self._address = address
        parts = urlsplit(address)
        self.name = f"{parts.hostname or ''}{parts.path}"  # for messages, without names, passwords and options
        self._process = 0
        self._connection: Any = None
        self._lock = threading.RLock()  # a thread's transaction would end inside another's

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Tables]:
        """Run a transaction."""
        # A reader sees one moment. A writer sees what others wrote while it waited, whatever the server's settings.
        level = "READ COMMITTED" if write else "REPEATABLE READ"
        try:
            with self._lock, self._connected().transaction():
                connection = self._connection
                connection.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
                tables = PostgresTables(connection)
                if write and tables.has_tables():
                    connection.execute("LOCK TABLE panel IN EXCLUSIVE MODE")
                yield tables
        except UnicodeEncodeError:
            raise InvalidRequest("a name holds half a character; expected text that can be written.") from None
        except self._psycopg.Error as error:
            told = type(error).__name__  # a server's message may hold the values of a row
            raise UnreadableFile(
                f"the panel at {self.name} could not be read or written ({told}); nothing was released.",
                "Look whether the database is there, and whether you may use it.",
            ) from None

    def _connected(self) -> Any:
        if self._connection is None or self._connection.closed or self._process != os.getpid():
            self._connection = self._psycopg.connect(self._address, autocommit=True)
            self._process = os.getpid()
            # Whatever the server's settings: a response leaves only when its record is on the disk.
            self._connection.execute("SET synchronous_commit = on")
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None


class PostgresTables(Tables):
    """Tables in Postgres."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> None:
        """Run a statement."""
        self._connection.execute(_own(statement), values)

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows."""
        found: list[Any] = self._connection.execute(_own(statement), values).fetchall()
        return found

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows, by COPY."""
        statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for many rows of values."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_own(statement), list(rows))

    def has_tables(self) -> bool:
        """Say whether a panel was made here."""
        return self.value("SELECT to_regclass('panel')") is not None


def _own(statement: str) -> str:
    return statement.replace("?", "%s")
