"""A Postgres database, through psycopg."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from deniable.db.addresses import shown
from deniable.db.database import READERS_PATIENCE, Database, Tables
from deniable.errors import DeniableError, InvalidRequest, MissingExtra

_ROWS = 1 << 14  # rows that a stream holds at a time


class PostgresServer(Database):
    """A database on a server. See `open_database` for the arguments."""

    keeps_arrival = True

    def __init__(
        self, address: str, kind: str, *, patience: float, one_writer: bool, failure: type[DeniableError]
    ) -> None:
        super().__init__()
        try:
            import psycopg
        except ImportError:
            raise MissingExtra(
                f"a {kind} in Postgres needs psycopg, which is not installed.", 'Run: pip install "deniable[postgres]"'
            ) from None
        self._psycopg = psycopg
        self._address = address
        self._kind = kind
        self._patience = patience
        self._one_writer = one_writer
        self._failure = failure
        self.name = shown(address).removeprefix("postgresql://")

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Tables]:
        # A reader sees one moment. A writer sees what others wrote while it waited, whatever the server's settings.
        levels = self._psycopg.IsolationLevel
        with self._told(), self._connection() as connection:
            connection.read_only = not write
            connection.isolation_level = levels.READ_COMMITTED if write else levels.REPEATABLE_READ
            with connection.transaction():
                tables = PostgresTables(connection)
                if write and self._one_writer:
                    tables.lock()
                yield tables

    def clean(self, tables: Iterable[str]) -> bool:
        """Write tables into new files. The server's own log is its administrator's."""
        kept: list[str] = []  # how many dead rows somebody may still see: the first number that the server tells

        def note(told: Any) -> None:
            kept.extend(re.findall(r"\d+", told.message_detail or "")[:1])

        with self._told(), self._connection() as connection:
            connection.read_only = False
            connection.add_notice_handler(note)
            connection.execute(f"SET lock_timeout = {round(1000 * READERS_PATIENCE)}")
            try:
                for table in tables:
                    connection.execute(f"VACUUM (FULL, VERBOSE) {table}")
            except self._psycopg.errors.LockNotAvailable:
                return False
            finally:
                connection.remove_notice_handler(note)
                self._set_patience(connection)
        return set(kept) <= {"0"}

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell of an error of the server by its kind alone: its words may hold the values of a row."""
        try:
            yield
        except UnicodeEncodeError:
            raise InvalidRequest("a name holds half a character; expected text that can be written.") from None
        except self._psycopg.Error as error:
            raise self._failure(
                f"the {self._kind} at {self.name} could not be read or written ({type(error).__name__}); nothing was "
                "changed.",
                "Look whether it is there, whether another program holds it, and whether you may use it.",
            ) from None

    def _connect(self) -> Any:
        connection = self._psycopg.connect(self._address, autocommit=True)
        # Whatever the server's settings: a transaction is on the disk when it ends.
        connection.execute("SET synchronous_commit = on")
        self._set_patience(connection)
        return connection

    def _set_patience(self, connection: Any) -> None:
        connection.execute(f"SET lock_timeout = {round(1000 * self._patience)}")


class PostgresTables(Tables):
    """Tables in Postgres."""

    dialect: ClassVar[Mapping[str, str]] = {"bytes": "BYTEA", "by_key": "", "lock": "FOR UPDATE"}

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> int:
        changed: int = self._connection.execute(_marked(statement), values).rowcount
        return changed

    def rows(self, statement: str, *values: Any) -> list[Any]:
        found: list[Any] = self._connection.execute(_marked(statement), values).fetchall()
        return found

    def rows_among(self, statement: str, wanted: Sequence[Any], *values: Any) -> list[Any]:
        return self.rows(f"{statement} = ANY(?)", *values, list(wanted)) if wanted else []

    def stream(self, statement: str, *values: Any) -> Iterator[Any]:
        with self._connection.cursor(name="stream") as cursor:
            cursor.itersize = _ROWS
            yield from cursor.execute(_marked(statement), values)

    def each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_marked(statement), list(rows))

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def has(self, table: str) -> bool:
        return self.value("SELECT to_regclass(?)", table) is not None

    def taken(self, table: str) -> bool:
        return self.has(table)

    def lock(self) -> None:
        # "deny", so that it is ours, and the schema, so that another one's writers go on.
        self.run("SELECT pg_advisory_xact_lock(1684369017, hashtext(coalesce(current_schema(), '')))")

    def damaged(self) -> bool:
        """Say no: a server with checksums refuses to read damaged pages, and holds references by itself."""
        return False


def _marked(statement: str) -> str:
    return statement.replace("?", "%s")
