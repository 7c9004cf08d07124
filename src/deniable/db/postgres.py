"""A Postgres database, through psycopg."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from deniable.db.addresses import name_database
from deniable.db.database import READERS_PATIENCE, Database, Seat, Tables
from deniable.errors import DeniableError, InvalidRequest, MissingExtra

_LOCKS = 1684369017  # "deny", so that locks are ours
_SEATS = _LOCKS + 1
_ROWS = 1 << 14  # rows that a stream holds at a time


class PostgresServer(Database):
    """A database on a server. See `open_database` for the arguments."""

    keeps_arrival = True

    def __init__(
        self,
        address: str,
        kind: str,
        *,
        patience: float,
        one_writer: bool,
        failure: type[DeniableError],
    ) -> None:
        super().__init__()
        try:
            import psycopg
        except ImportError:
            raise MissingExtra(
                f"a {kind} in Postgres needs psycopg, which is not installed.",
                'Run: pip install "deniable[postgres]"',
            ) from None
        self._psycopg = psycopg
        self._address = address
        self._kind = kind
        self._patience = patience
        self._one_writer = one_writer
        self._failure = failure
        self.name = name_database(address).removeprefix("postgresql://")

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Tables]:
        # A reader sees one moment. A writer sees what others wrote while it waited, whatever the server's settings.
        levels = self._psycopg.IsolationLevel
        with self._translate_error(), self._connection() as connection:
            connection.read_only = not write
            connection.isolation_level = (
                levels.READ_COMMITTED if write else levels.REPEATABLE_READ
            )
            with connection.transaction():
                tables = PostgresTables(connection)
                if write and self._one_writer:
                    tables.lock()
                yield tables

    def clean(self, tables: Iterable[str]) -> bool:
        """Write tables into new files. The server's own log is its administrator's."""
        notices: list[
            str
        ] = []  # how many dead rows somebody may still see: the first number that the server tells

        def note(notice: Any) -> None:
            notices.extend(re.findall(r"\d+", notice.message_detail or "")[:1])

        with self._translate_error(), self._connection() as connection:
            connection.read_only = False
            connection.add_notice_handler(note)
            connection.execute(
                f"SET lock_timeout = {round(1000 * READERS_PATIENCE)}"
            )
            try:
                for table in tables:
                    connection.execute(f"VACUUM (FULL, VERBOSE) {table}")
            except self._psycopg.errors.LockNotAvailable:
                return False
            finally:
                connection.remove_notice_handler(note)
                self._set_patience(connection)
        return set(notices) <= {"0"}

    def take_seat(self, seats: int) -> Seat | None:
        """Take a lock of the session, which the server gives back when the connection ends.

        Its number holds the schema, how many seats there are, and which one this is, so that the locks that are held
        tell who else sits here.
        """
        with self._translate_error():
            connection = self._connect()
            with connection.transaction():
                tables = PostgresTables(connection)
                tables.lock()
                schema = tables.value(
                    "SELECT hashtext(coalesce(current_schema(), '')) & 16383"
                )
                taken_seats = [
                    number & 0xFFFF
                    for (number,) in tables.rows(_TAKEN, _SEATS)
                    if number >> 16 == schema
                ]
                free = sorted(
                    {seats << 8 | seat for seat in range(seats)} - set(taken_seats)
                )
                alike = all(number >> 8 == seats for number in taken_seats)
                if free and alike:
                    tables.run(
                        "SELECT pg_advisory_lock(?, ?)",
                        _SEATS,
                        schema << 16 | free[0],
                    )
                    return HeldLock(connection)
            connection.close()
            return None

    @contextmanager
    def _translate_error(self) -> Iterator[None]:
        """Tell of an error of the server by its kind alone: its words may hold the values of a row."""
        try:
            yield
        except UnicodeEncodeError:
            raise InvalidRequest(
                "a name holds half a character; expected text that can be written."
            ) from None
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


def tables_on(connection: Any) -> Tables:
    """Return the tables on a caller's connection of psycopg; its transaction stays the caller's."""
    from psycopg.rows import tuple_row

    return PostgresTables(connection.cursor(row_factory=tuple_row))


_TAKEN = (
    "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = ? AND objsubid = 2 "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class HeldLock(Seat):
    """A lock that a connection holds for as long as it lives."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def held(self) -> bool:
        try:
            self._connection.execute("SELECT 1")
        except Exception:
            return False
        return True

    def close(self) -> None:
        self._connection.close()


class PostgresTables(Tables):
    """Tables in Postgres."""

    dialect: ClassVar[Mapping[str, str]] = {
        "bytes": "BYTEA",
        "by_key": "",
        "lock": "FOR UPDATE",
    }

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> int:
        changed: int = self._execute(statement, values).rowcount
        return changed

    def rows(self, statement: str, *values: Any) -> list[Any]:
        fetched: list[Any] = self._execute(statement, values).fetchall()
        return fetched

    def _execute(self, statement: str, values: Sequence[Any]) -> Any:
        # Without values nothing is looked for: a name in quotes may hold any letter.
        if not values:
            return self._connection.execute(statement)
        return self._connection.execute(_mark_parameters(statement), values)

    def rows_among(
        self, statement: str, keys: Sequence[Any], *values: Any
    ) -> list[Any]:
        return (
            self.rows(f"{statement} = ANY(?)", *values, list(keys)) if keys else []
        )

    def stream(self, statement: str, *values: Any) -> Iterator[Any]:
        with self._connection.cursor(name="stream") as cursor:
            cursor.itersize = _ROWS
            # bytes come as they are, not in digits
            yield from cursor.execute(
                _mark_parameters(statement), values, binary=True
            )

    def texts(self, table: str) -> Iterator[str]:
        statement = f'SELECT t::text FROM {table} t ORDER BY t::text COLLATE "C"'
        return (f"{text}\n" for (text,) in self.stream(statement))

    def each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_mark_parameters(statement), list(rows))

    def insert(
        self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def has(self, table: str) -> bool:
        return self.value("SELECT to_regclass(?)", table) is not None

    def taken(self, table: str) -> bool:
        return self.has(table)

    def lock(self) -> None:
        # With the schema, so that another one's writers go on.
        self.run(
            "SELECT pg_advisory_xact_lock(?, hashtext(coalesce(current_schema(), '')))",
            _LOCKS,
        )

    def damaged(self) -> bool:
        """Say no: a server with checksums refuses to read damaged pages, and holds references by itself."""
        return False


def _mark_parameters(statement: str) -> str:
    return statement.replace("?", "%s")
