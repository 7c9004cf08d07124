"""The ledger's file: its tables, and how it is made and opened. Only this module and `book` know SQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.db.durable import DurableFile, closed_on_error
from deniable.errors import InvalidRequest, UnreadableFile
from deniable.release.ledger.book import Book

APPLICATION = 0x64656E79  # "deny": tells a ledger from any other SQLite file
VERSION = 2
PATIENCE = 60.0
"""Seconds to wait for another program that is writing."""

SCHEMA = """
CREATE TABLE ledger (id TEXT NOT NULL, budget TEXT, made TEXT NOT NULL);
CREATE TABLE design (hash TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE question (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, about TEXT NOT NULL REFERENCES design,
    answer TEXT, secret BLOB, budget TEXT, withdrawn TEXT
);
CREATE TABLE stage (
    question INTEGER NOT NULL REFERENCES question, place INTEGER NOT NULL, design TEXT NOT NULL REFERENCES design,
    step TEXT, response TEXT NOT NULL, parity TEXT NOT NULL, released INTEGER NOT NULL, UNIQUE (question, design)
);
CREATE TABLE receipt (
    number INTEGER PRIMARY KEY, question INTEGER REFERENCES question, design TEXT, holder TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE TABLE record (
    kind TEXT NOT NULL, question INTEGER NOT NULL REFERENCES question, name TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (kind, question, name)
);
"""


class Store:
    """An open ledger file."""

    def __init__(self, path: Path) -> None:
        self._file = DurableFile(path, "ledger", patience=PATIENCE)

    @classmethod
    def create(cls, path: Path, *, name: str, budget: str | None, made: str) -> Store:
        """Make a new file, readable by its owner alone.

        Raises:
            InvalidRequest: there is a file already.
        """
        # An empty file is what is left where a program was killed before the first transaction.
        store = cls(path)
        store._file.make()
        with closed_on_error(store), store.transaction() as book:
            if book.value("PRAGMA application_id") or book.value("SELECT count(*) FROM sqlite_master"):
                raise InvalidRequest(f"{path} exists already; expected a new file.", "Open it, or choose another name.")
            book.run(f"PRAGMA application_id = {APPLICATION}")
            book.run(f"PRAGMA user_version = {VERSION}")
            for statement in SCHEMA.split(";")[:-1]:
                book.run(statement)
            book.run("INSERT INTO ledger VALUES (?, ?, ?)", name, budget, made)
        return store

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open a file that `create` made.

        Raises:
            UnreadableFile: no ledger, damaged, or of another version.
        """
        if not path.is_file():
            raise UnreadableFile(f"there is no ledger at {path}.", "Make one first: Ledger.create(path).")
        store = cls(path)
        with closed_on_error(store), store.transaction(write=False) as book:
            if book.value("PRAGMA application_id") != APPLICATION:
                raise UnreadableFile(f"{path} is not a ledger.", "Open a file that Ledger.create() made.")
            if book.value("PRAGMA user_version") != VERSION:
                raise UnreadableFile(f"{path} was written by another version of deniable; use that version.")
        return store

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[Book]:
        """Run a transaction; see `DurableFile.transaction`."""
        with self._file.transaction(write=write) as connection:
            yield Book(connection)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
