"""Backups: all tables in a SQLite file of their own, whichever kind of database they come from."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from os import PathLike
from pathlib import Path

from deniable.collector.store import schema
from deniable.collector.store.tables import Tables
from deniable.errors import InvalidRequest, UnreadableFile


def backup(tables: Tables, path: str | PathLike[str]) -> None:
    """Copy all tables to a new file, which appears when it is complete.

    Raises:
        InvalidRequest: there is a file already.
    """
    from deniable.collector.store.sqlite import SqliteTables

    goal = Path(path)
    if goal.exists():
        raise InvalidRequest(f"{goal} exists already; expected a new file.", "Choose another name.")
    part = goal.with_name(f".{goal.name}.part")
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with closing(sqlite3.connect(part, isolation_level=None)) as connection:
            copy = SqliteTables(connection)
            connection.execute("BEGIN")
            schema.migrate(copy)
            copy.run("DELETE FROM migration")
            _copy(tables, copy)
            connection.execute("COMMIT")
        os.link(part, goal)  # unlike a rename, refuses where a file has appeared meanwhile
    except FileExistsError:
        raise InvalidRequest(f"{goal} exists already; expected a new file.", "Choose another name.") from None
    finally:
        part.unlink(missing_ok=True)


def restore(tables: Tables, path: str | PathLike[str]) -> None:
    """Copy all tables of a backup into an empty database.

    Raises:
        InvalidRequest: it is not empty.
        UnreadableFile: not a backup, or one of another version.
    """
    from deniable.collector.store.sqlite import SqliteTables

    if tables.rows("SELECT 1 FROM survey") or tables.rows("SELECT 1 FROM token"):
        raise InvalidRequest(
            "there are surveys or tokens in this database; expected an empty one.", "Restore into a new database."
        )
    if not Path(path).is_file():
        raise UnreadableFile(f"there is no backup at {path}.")
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as connection:
            known = {name for (name,) in connection.execute("SELECT name FROM migration")}
            if known != {each.name for each in schema.MIGRATIONS}:
                raise UnreadableFile(f"{path} was written by another version of deniable.", "Use that version.")
            for table in schema.TABLES:
                tables.run(f"DELETE FROM {table}")
            _copy(SqliteTables(connection), tables)
    except sqlite3.DatabaseError as error:
        raise UnreadableFile(f"{path} is not a backup, or is damaged ({error}).") from None


def _copy(source: Tables, goal: Tables) -> None:
    for table, columns in schema.TABLES.items():
        goal.copy(table, columns, source.stream(f"SELECT {', '.join(columns)} FROM {table}"))
