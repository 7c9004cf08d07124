"""A SQLite file that is on the disk when a transaction ends, and that one program writes at a time.

Durable: rollback journal and `synchronous = EXTRA`, which also syncs the folder, so that a response leaves only after
its record is safe. Alone: a writer takes the file before it reads (`BEGIN IMMEDIATE`), so that two programs never draw
the same stage. What is erased is overwritten (`secure_delete`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from deniable.errors import DeniableError, InvalidRequest, UnreadableFile

__all__ = ["DurableFile", "closed_on_error"]

_SETTINGS = ("journal_mode = DELETE", "synchronous = EXTRA", "secure_delete = ON", "foreign_keys = ON")


class Closable(Protocol):
    """What can be closed."""

    def close(self) -> None:
        """Close it."""
        ...


@contextmanager
def closed_on_error(opened: Closable) -> Iterator[None]:
    """Close what turns out not to be what was looked for."""
    try:
        yield
    except BaseException:
        opened.close()
        raise


class DurableFile:
    """An open file. Threads may share it, and a forked child opens it anew.

    Args:
        path: where it is.
        kind: what it holds, for messages.
        patience: seconds to wait for another program that is writing.
        settings: what SQLite is told when the file is opened.
        failure: what is raised where the file cannot be read or written.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        *,
        patience: float,
        settings: Sequence[str] = _SETTINGS,
        failure: type[DeniableError] = UnreadableFile,
    ) -> None:
        self.path = path
        self._kind = kind
        self._patience = patience
        self._settings = settings
        self._failure = failure
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0

    def make(self) -> None:
        """Make an empty file, readable by its owner alone; leave one that is there as it is."""
        file = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            if not os.fstat(file).st_size:  # an empty one may have been there already, readable for everybody
                os.chmod(self.path, 0o600)
        finally:
            os.close(file)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[sqlite3.Connection]:
        """Run a transaction: all of it is on the disk afterwards, or none of it.

        Raises:
            UnreadableFile: the file is damaged, full, not writable, or held by another program for too long.
        """
        with self._lock:
            try:
                connection = self._connected()
                connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except UnicodeEncodeError:
                raise InvalidRequest("a name holds half a character; expected text that can be written.") from None
            except sqlite3.Error as error:
                raise self._failure(
                    f"the {self._kind} {self.path} could not be read or written ({error}); nothing was changed.",
                    "Look whether another program holds it, whether the disk is full, and whether it may be written.",
                ) from None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None or self._process != os.getpid():  # a forked child must not use its parent's
            uri = f"{self.path.absolute().as_uri()}?mode=rw"
            # Locked by us, so that threads may share it.
            connection = sqlite3.connect(
                uri, uri=True, timeout=self._patience, isolation_level=None, check_same_thread=False
            )
            for setting in self._settings:
                connection.execute(f"PRAGMA {setting}")
            self._connection, self._process = connection, os.getpid()
        return self._connection

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None
