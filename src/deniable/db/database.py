"""Interface of databases, and its implementation on a SQLite file.

A transaction is on the disk when it ends, or nothing of it has happened. A writer takes its turn before it reads, so
that two programs never decide on the same state. Statements have `?` for values.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from queue import Empty, LifoQueue
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, Self

from deniable.errors import DeniableError, InvalidRequest, UnreadableFile, quoted

DURABLE = (
    "journal_mode = DELETE",  # one file that can be copied when nobody writes; no log of erased rows beside it
    "synchronous = EXTRA",  # file and folder are on the disk before a transaction ends, so before a response leaves
    "secure_delete = ON",  # what is erased is overwritten
    "foreign_keys = ON",
)
"""For files that few programs use: whoever reads waits for whoever writes."""

SHARED = (
    "journal_mode = WAL",  # readers go on while somebody writes
    "synchronous = FULL",  # the log is on the disk before a transaction ends, so before a response is acknowledged
    "secure_delete = ON",  # what is withdrawn is overwritten
    "cache_size = -65536",  # 64 MB
    "wal_autocheckpoint = 16384",  # pages: 64 MB of log before it is carried over, for batches change many pages
    "journal_size_limit = 67108864",  # a log that has grown is cut to as much again
    "temp_store = MEMORY",
)
"""For files that many read while one writes, several submissions at a time."""

READERS_PATIENCE = 0.1
"""Seconds for which what is to be written anew waits for those who read it; all others wait behind it."""

_TEXT_ROWS = (
    1 << 14
)  # in a piece of the text of a table: SQLite holds no text of a gigabyte
_MAX_VALUES = 500  # in one statement: SQLite may be built to take no more than 999


class Tables(ABC):
    """The tables inside a transaction."""

    dialect: ClassVar[Mapping[str, str]]
    """How this kind of database writes what differs: a column of bytes, a table that lies in the order of its key,
    and the lock of a row until the end of the transaction."""

    @abstractmethod
    def run(self, statement: str, *values: Any) -> int:
        """Run a statement and return the number of changed rows."""

    @abstractmethod
    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Return all rows."""

    @abstractmethod
    def rows_among(
        self, statement: str, keys: Sequence[Any], *values: Any
    ) -> list[Any]:
        """Return all rows where the column with which the statement ends is one of those wanted."""

    @abstractmethod
    def stream(self, statement: str, *values: Any) -> Iterator[Any]:
        """Yield rows without holding all of them."""

    @abstractmethod
    def texts(self, table: str) -> Iterator[str]:
        """Yield the rows of a table as one text in pieces, the same only for the same values of the same types.

        The table does not lie in the order of its key.
        """

    @abstractmethod
    def each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for many rows of values."""

    @abstractmethod
    def insert(
        self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Add many rows to a table."""

    @abstractmethod
    def has(self, table: str) -> bool:
        """Say whether there is a table of this name."""

    @abstractmethod
    def taken(self, table: str) -> bool:
        """Say whether what has this table cannot be made here: it is there, or, in a file, anything else is."""

    @abstractmethod
    def lock(self) -> None:
        """Keep all other writers waiting until the end of the transaction."""

    @abstractmethod
    def damaged(self) -> bool:
        """Say whether pages, indices or references between rows are damaged, as far as this kind of database tells."""

    def value(self, statement: str, *values: Any) -> Any:
        """Return the first value of the first row; None where there is no row."""
        rows = self.rows(statement, *values)
        return rows[0][0] if rows else None


class Closable(ABC):
    """Base of resources that are closed at the end of a `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Close the file, or the connection."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Seat(Closable):
    """A seat that is taken until it is closed, or its program has ended, however it ends."""

    @abstractmethod
    def held(self) -> bool:
        """Say whether it is still taken: a server that was started anew has forgotten it."""

    def note(self, text: str) -> None:
        """Leave a word for programs that come to the same database, where there is a place for it."""


class Database(Closable):
    """Database with transactions.

    Threads may share it, and a forked child connects anew.

    Attributes:
        name: what it is called in messages, without a password.
        folder: where files that are gone in a moment may lie beside it; None where it is a server's.
        keeps_arrival: whether rows lie in the order in which they came, and not in that of their key.
    """

    name: str
    folder: Path | None = None
    keeps_arrival: ClassVar[bool]

    def __init__(self) -> None:
        self._idle: LifoQueue[tuple[int, Any]] = LifoQueue()

    @abstractmethod
    def transaction(self, *, write: bool = True) -> AbstractContextManager[Tables]:
        """Run a transaction: all of it is on the disk afterwards, or none of it. One that reads sees one moment."""

    @abstractmethod
    def clean(self, tables: Iterable[str]) -> bool:
        """Write tables into new files without what was erased or moved, and empty the log; say whether nothing is left.

        Where somebody else reads, old rows may have to stay for them: try again later.
        """

    @abstractmethod
    def take_seat(self, seats: int) -> Seat | None:
        """Take one of a limited number of seats of a program; None where none is free.

        All who share a database must name the same number: where somebody sits who named another one, none is free.

        Raises:
            InvalidRequest: this kind of database has not so many.
        """

    def read_note(self) -> str:
        """Return the note that the last holder of the seat left; empty where there is none."""
        return ""

    @abstractmethod
    def _connect(self) -> Any: ...

    def close(self) -> None:
        """Close all idle connections."""
        while (connection := self._take_idle()) is not None:
            connection.close()

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """Yield an idle connection, or a new one."""
        idle = self._take_idle()
        connection = self._connect() if idle is None else idle
        try:
            yield connection
        finally:
            self._idle.put((os.getpid(), connection))

    def _take_idle(self) -> Any:
        while True:
            try:
                process, connection = self._idle.get_nowait()
            except Empty:
                return None
            # a fork must not use its parent's
            if process == os.getpid() and not getattr(connection, "closed", False):
                return connection


class Migration(NamedTuple):
    """A change of tables, applied once, together with the record of it."""

    name: str
    statements: tuple[str, ...]


def applied_migrations(tables: Tables, component: str) -> set[str]:
    """Return the names of the migrations of one part of the program that this database has seen."""
    if not tables.has("migration"):
        return set()
    return {
        name
        for (name,) in tables.rows(
            "SELECT name FROM migration WHERE part = ?", component
        )
    }


def migrate(tables: Tables, component: str, migrations: Sequence[Migration]) -> None:
    """Bring a database, new or old, to this version; inside one transaction.

    Raises:
        UnreadableFile: a later version has worked on it.
    """
    tables.lock()  # two programs may start at the same time
    tables.run(
        "CREATE TABLE IF NOT EXISTS migration (part TEXT, name TEXT, PRIMARY KEY (part, name))"
    )
    applied_names = applied_migrations(tables, component)
    unknown = applied_names - {migration.name for migration in migrations}
    if unknown:
        raise UnreadableFile(
            f"this database was changed by a later version of deniable ({quoted(min(unknown))}).",
            "Use that version.",
        )
    for migration in migrations:
        if migration.name not in applied_names:
            for statement in migration.statements:
                tables.run(statement.format_map(tables.dialect))
            tables.run(
                "INSERT INTO migration VALUES (?, ?)", component, migration.name
            )


class SqliteFile(Database):
    """A SQLite file. `make` makes it, readable by its owner alone.

    Args:
        path: where it is.
        kind: what it holds, for messages.
        settings: `DURABLE` or `SHARED`.
        patience: seconds to wait for another program that is writing.
        failure: what is raised where the file cannot be read or written.
    """

    keeps_arrival = False

    def __init__(
        self,
        path: Path,
        kind: str,
        *,
        settings: Sequence[str],
        patience: float,
        failure: type[DeniableError] = UnreadableFile,
    ) -> None:
        super().__init__()
        self.name = str(path)
        self.folder = path.absolute().parent
        self._path = path
        self._kind = kind
        self._settings = settings
        self._patience = patience
        self._failure = failure
        self._reads_beside = "journal_mode = WAL" in settings
        self._turn = threading.RLock()

    def make(self) -> None:
        """Make an empty file; leave one that is there as it is, unless it is empty."""
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            if not self._path.stat().st_size:  # it may be readable for everybody
                self._path.chmod(0o600)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Tables]:
        beside = self._reads_beside and not write
        with (
            self._translate_error(),
            nullcontext() if beside else self._turn,
            self._connection() as connection,
        ):
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield SqliteTables(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def clean(self, tables: Iterable[str]) -> bool:  # noqa: ARG002 - a file is written anew as a whole
        """Write the whole file anew, every table in the order of its key, and empty the log.

        Why: a page keeps its rows in the order in which they came, whatever their keys, and the log keeps transactions
        in theirs. Rows that are added in the order of their keys lie in that order, so that afterwards the bytes of the
        file follow from the rows it holds.
        """
        with self._translate_error(), self._turn, self._connection() as connection:
            # a large file does not fit into memory; its copy lies beside it, and not where others may look
            connection.execute("PRAGMA temp_store = FILE")
            folder = str(self.folder).replace("'", "''")
            connection.execute(f"PRAGMA temp_store_directory = '{folder}'")
            try:
                connection.execute("VACUUM")
                connection.execute(
                    f"PRAGMA busy_timeout = {round(1000 * READERS_PATIENCE)}"
                )
                ((busy, _, _),) = connection.execute(
                    "PRAGMA wal_checkpoint(TRUNCATE)"
                )
            finally:
                connection.execute(
                    f"PRAGMA busy_timeout = {round(1000 * self._patience)}"
                )
                connection.execute("PRAGMA temp_store = MEMORY")
        return not busy

    def take_seat(self, seats: int) -> Seat | None:
        if seats != 1:
            raise InvalidRequest(
                f"{seats} programs are to share the {self._kind} {self._path}; expected one: it is a file.",
                "Use a Postgres database for several, or run one.",
            )
        return LockedFile.taken(self._lock_path)

    @property
    def _lock_path(self) -> Path:
        return self._path.with_name(f"{self._path.name}-seat")

    def read_note(self) -> str:
        try:
            return self._lock_path.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    @contextmanager
    def _translate_error(self) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError:
            raise InvalidRequest(
                "a name holds half a character; expected text that can be written."
            ) from None
        except sqlite3.Error as error:
            raise self._failure(
                f"the {self._kind} {self._path} could not be read or written ({error}); nothing was changed.",
                "Look whether another program holds it, whether the disk is full, and whether it may be written.",
            ) from None

    def _connect(self) -> sqlite3.Connection:
        uri = f"{self._path.absolute().as_uri()}?mode=rw"
        # One thread at a time has it, so that threads may share it.
        connection = sqlite3.connect(
            uri,
            uri=True,
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            for setting in self._settings:
                connection.execute(f"PRAGMA {setting}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


class LockedFile(Seat):
    """Single seat at a file: a lock on a second file beside it, released by the system when the program ends.

    Why not on the file itself: a program that closes it would give up the locks that SQLite has there.
    """

    def __init__(self, file: int) -> None:
        self._file = file

    @classmethod
    def taken(cls, path: Path) -> LockedFile | None:
        """Return the seat; None where another program has it."""
        import fcntl

        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        return cls(file)

    def held(self) -> bool:
        return True

    def note(self, text: str) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text.encode(), 0)

    def close(self) -> None:
        os.close(self._file)


class SqliteTables(Tables):
    """Tables in SQLite."""

    dialect: ClassVar[Mapping[str, str]] = {
        "bytes": "BLOB",
        "by_key": "WITHOUT ROWID",
        "lock": "",
    }

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, *values: Any) -> int:
        return self._connection.execute(statement, values).rowcount

    def rows(self, statement: str, *values: Any) -> list[Any]:
        return self._connection.execute(statement, values).fetchall()

    def rows_among(
        self, statement: str, keys: Sequence[Any], *values: Any
    ) -> list[Any]:
        rows: list[Any] = []
        for start in range(0, len(keys), _MAX_VALUES):
            chunk = keys[start : start + _MAX_VALUES]
            rows += self.rows(
                f"{statement} IN ({','.join('?' * len(chunk))})", *values, *chunk
            )
        return rows

    def stream(self, statement: str, *values: Any) -> Iterator[Any]:
        return iter(self._connection.execute(statement, values))

    def texts(self, table: str) -> Iterator[str]:
        # JSON has no bytes: of these the literals; bytes in any other column are an error, as nobody wrote them there
        columns = ", ".join(
            f'quote("{name}")' if kind == "BLOB" else f'"{name}"'
            for _, name, kind, *_ in self.rows(f"PRAGMA table_info({table})")
        )
        # by number, so in the order in which they were entered, which copies and VACUUM keep
        statement = (
            f"SELECT json_group_array(json_array({columns})), max(rowid) + 1 FROM {table} NOT INDEXED "
            f"WHERE rowid BETWEEN ? AND ? + {_TEXT_ROWS}"
        )
        first, after = f"SELECT min(rowid) FROM {table} WHERE rowid >= ?", -(1 << 63)
        while (start := self.value(first, after)) is not None:
            [(text, after)] = self.rows(statement, start, start)
            # without brackets: the same text however the rows are numbered
            yield f"{text[1:-1]},"

    def each(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(statement, rows)

    def insert(
        self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        marks = ", ".join("?" * len(columns))
        self.each(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows
        )

    def has(self, table: str) -> bool:
        return (
            self.value("SELECT 1 FROM sqlite_master WHERE name = ?", table)
            is not None
        )

    def taken(self, table: str) -> bool:  # noqa: ARG002 - a file holds one thing
        return bool(self.value("SELECT count(*) FROM sqlite_master"))

    def lock(self) -> None:
        """Do nothing: SQLite has a single writer."""

    def damaged(self) -> bool:
        return self.rows("PRAGMA integrity_check") != [("ok",)] or bool(
            self.rows("PRAGMA foreign_key_check")
        )
