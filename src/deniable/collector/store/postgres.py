"""Responses in a Postgres database, through psycopg."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, LifoQueue
from typing import Any, ClassVar

from deniable.collector.store import surveys
from deniable.collector.store.base import Entry, StoreFailed
from deniable.collector.store.sql import SqlStore
from deniable.collector.store.tables import Tables
from deniable.errors import MissingExtra

_ROWS = 1 << 14  # rows that are held at a time


class PostgresStore(SqlStore):
    """A Postgres database. Whoever writes to a survey locks its row first; readers wait for nobody."""

    def __init__(self, address: str) -> None:
        try:
            import psycopg
        except ImportError:
            raise MissingExtra(
                "a collector on Postgres needs psycopg, which is not installed.",
                'Run: pip install "deniable[postgres]"',
            ) from None
        self._psycopg = psycopg
        self._address = address
        self.name = address.rpartition("@")[2]  # without a password, for messages
        self._idle: LifoQueue[Any] = LifoQueue()
        super().__init__()

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Tables]:
        """Run a transaction; one that only reads sees the database as it was when it began."""
        with self._told():
            connection = self._connection()
            try:
                connection.read_only = not write
                levels = self._psycopg.IsolationLevel
                connection.isolation_level = levels.READ_COMMITTED if write else levels.REPEATABLE_READ
                with connection.transaction():
                    yield PostgresTables(connection)
            finally:
                self._idle.put(connection)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell of an error of the database by its kind alone: its words may hold the values of a row."""
        try:
            yield
        except self._psycopg.Error as error:
            raise StoreFailed(
                f"the database at {self.name} could not be read or written ({type(error).__name__}); nothing was "
                "changed.",
                "Look whether it is there, and whether you may use it.",
            ) from None

    def close(self, name: str) -> Entry:
        """Take no more responses, and write those that are there anew, in the order of their ids.

        Why: Postgres keeps rows in the order in which they came, each with the number of its transaction. Rows of one
        respondent's questions could be told by that. SQLite has neither.
        """
        entry = super().close(name)
        with self.transaction() as tables:
            surveys.lock(tables, entry.id)  # a withdrawal would not find a row that is being moved
            tables.run(
                "WITH gone AS (DELETE FROM response WHERE survey = ? RETURNING *) "
                "INSERT INTO response SELECT * FROM gone ORDER BY question, id, stage",
                entry.id,
            )
        with self._told():
            connection = self._connection()
            connection.read_only = False
            connection.execute("VACUUM response")
            self._idle.put(connection)
        return entry

    def shut(self) -> None:
        """Close all connections."""
        while not self._idle.empty():
            self._idle.get().close()

    def _connection(self) -> Any:
        while True:
            try:
                found = self._idle.get_nowait()
            except Empty:
                break
            if not found.closed:
                return found
        made = self._psycopg.connect(self._address, autocommit=True)
        # Whatever the database's own settings: a response is acknowledged when it is on the disk.
        made.execute("SET synchronous_commit = on")
        return made


class PostgresTables(Tables):
    """Tables in Postgres."""

    dialect: ClassVar[dict[str, str]] = {
        "bytes": "BYTEA",
        "by_key": "",
        "lock": "FOR UPDATE",
        "alone": "SELECT pg_advisory_xact_lock(7308613580)",  # any number that is ours
    }

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> int:
        """Run a statement and return how many rows it changed."""
        changed: int = self._connection.execute(_own(statement), values).rowcount
        return changed

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows."""
        found: list[Any] = self._connection.execute(_own(statement), values).fetchall()
        return found

    def stream(self, statement: str, *values: Any) -> Iterator[Any]:
        """Yield rows without holding all of them."""
        with self._connection.cursor(name="stream") as cursor:
            cursor.itersize = _ROWS
            yield from cursor.execute(_own(statement), values)

    def find(self, survey: int, question: int, ids: Sequence[bytes]) -> list[tuple[bytes, int, int, bytes]]:
        """Return id, stage, group and code of all responses with these ids."""
        return self.rows(
            "SELECT id, stage, grp, code FROM response WHERE survey = ? AND question = ? AND id = ANY(?)",
            survey, question, list(ids),
        )  # fmt: skip

    def copy(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows to a table, by COPY."""
        statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


def _own(statement: str) -> str:
    return statement.replace("?", "%s")
