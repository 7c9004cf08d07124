"""The tables, as named migrations, and copies of all of them in a file.

A later version adds a migration and leaves those before it alone.

No column can hold an answer, an address or the moment of a response. A response is found by an id that only whoever has
its key can work out; the ids of one respondent's questions have nothing in common. Rows lie in the order of their ids,
which tells nothing about the order in which they came.
"""

from __future__ import annotations

import os
import shutil
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from deniable.collector.store import packs
from deniable.db import (
    DURABLE,
    Migration,
    SqliteFile,
    Tables,
    applied_migrations,
    migrate,
)
from deniable.errors import InvalidRequest, UnreadableFile
from deniable.files.atomic import sync_folder

PART = "collector"
"""Under this name the database records the migrations."""

_PATIENCE = 5.0  # seconds to wait for another program that reads or writes a backup

MIGRATIONS = (
    Migration(
        "first",
        (
            """CREATE TABLE survey (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL, definition TEXT NOT NULL,
                private TEXT NOT NULL, signature TEXT NOT NULL
            )""",
            """CREATE TABLE response (
                survey INTEGER NOT NULL, question INTEGER NOT NULL, id {bytes} NOT NULL, stage INTEGER NOT NULL,
                grp INTEGER NOT NULL, code {bytes} NOT NULL, PRIMARY KEY (survey, question, id, stage)
            ) {by_key}""",
            """CREATE TABLE tally (
                survey INTEGER NOT NULL, question INTEGER NOT NULL, stage INTEGER NOT NULL, which TEXT NOT NULL,
                grp INTEGER NOT NULL, piece INTEGER NOT NULL, counts {bytes} NOT NULL,
                PRIMARY KEY (survey, question, stage, which, grp, piece)
            ) {by_key}""",
            """CREATE TABLE upcoming (
                survey INTEGER NOT NULL, question INTEGER NOT NULL, stage INTEGER NOT NULL, which TEXT NOT NULL,
                grp INTEGER NOT NULL, piece INTEGER NOT NULL, counts {bytes} NOT NULL,
                PRIMARY KEY (survey, question, stage, which, grp, piece)
            ) {by_key}""",
            """CREATE TABLE published (
                survey INTEGER NOT NULL, question INTEGER NOT NULL, stage INTEGER NOT NULL, which TEXT NOT NULL,
                grp INTEGER NOT NULL, piece INTEGER NOT NULL, counts {bytes} NOT NULL,
                PRIMARY KEY (survey, question, stage, which, grp, piece)
            ) {by_key}""",
            """CREATE TABLE day (
                survey INTEGER NOT NULL, question INTEGER NOT NULL, day TEXT NOT NULL, responses INTEGER NOT NULL,
                PRIMARY KEY (survey, question, day)
            ) {by_key}""",
            """CREATE TABLE invitation (
                hash {bytes} PRIMARY KEY, survey INTEGER NOT NULL, used {bytes}
            ) {by_key}""",
            "CREATE TABLE spent (hash {bytes} PRIMARY KEY, survey INTEGER NOT NULL) {by_key}",
            """CREATE TABLE token (
                name TEXT PRIMARY KEY, hash {bytes} NOT NULL UNIQUE, scope TEXT NOT NULL, survey TEXT NOT NULL
            ) {by_key}""",
            "CREATE TABLE secret (name TEXT PRIMARY KEY, value {bytes} NOT NULL) {by_key}",
        ),
    ),
    Migration(
        "packs",  # what lies in rows of its own is put into them when everything is written anew
        (
            """CREATE TABLE run (
                survey INTEGER NOT NULL, question INTEGER NOT NULL, stage INTEGER NOT NULL, name {bytes} NOT NULL,
                pieces INTEGER NOT NULL, width INTEGER NOT NULL, responses INTEGER NOT NULL,
                PRIMARY KEY (survey, question, stage, name)
            ) {by_key}""",
            """CREATE TABLE pack (
                survey INTEGER NOT NULL, question INTEGER NOT NULL, stage INTEGER NOT NULL, name {bytes} NOT NULL,
                piece INTEGER NOT NULL, packed {bytes} NOT NULL, PRIMARY KEY (survey, question, stage, name, piece)
            ) {by_key}""",
        ),
    ),
    Migration(
        "sessions",
        (
            "CREATE TABLE session (hash {bytes} PRIMARY KEY, token {bytes} NOT NULL, ends INTEGER NOT NULL) {by_key}",
        ),
    ),
    # what is stored, less a copy of its counts, tells who came after it
    Migration("no upcoming counts", ("DROP TABLE upcoming",)),
)

TABLES = {
    "survey": ("id", "name", "state", "definition", "private", "signature"),
    "response": ("survey", "question", "id", "stage", "grp", "code"),
    "run": ("survey", "question", "stage", "name", "pieces", "width", "responses"),
    "pack": ("survey", "question", "stage", "name", "piece", "packed"),
    "tally": ("survey", "question", "stage", "which", "grp", "piece", "counts"),
    "published": ("survey", "question", "stage", "which", "grp", "piece", "counts"),
    "day": ("survey", "question", "day", "responses"),
    "invitation": ("hash", "survey", "used"),
    "spent": ("hash", "survey"),
    "token": ("name", "hash", "scope", "survey"),
    "secret": ("name", "value"),
    "session": ("hash", "token", "ends"),
}
"""All tables with their columns, as they are after the last migration."""


def backup(tables: Tables, path: str | PathLike[str]) -> None:
    """Copy all tables to a new file, which appears when it is complete.

    Raises:
        InvalidRequest: there is a file already.
    """
    goal = Path(path)
    if goal.exists():
        raise InvalidRequest(
            f"{goal} exists already; expected a new file.", "Choose another name."
        )
    partial = goal.with_name(f".{goal.name}.part")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        with _open_backup(partial) as file, file.transaction() as copy:
            migrate(copy, PART, MIGRATIONS)
            _copy(tables, copy)
            for (survey,) in copy.rows("SELECT id FROM survey ORDER BY id"):
                # a copy that stays must not tell which responses came together
                packs.merge_all(copy, survey)
        # unlike a rename, refuses where a file has appeared meanwhile
        os.link(partial, goal)
        sync_folder(goal.parent)
    except FileExistsError:
        raise InvalidRequest(
            f"{goal} exists already; expected a new file.", "Choose another name."
        ) from None
    finally:
        partial.unlink(missing_ok=True)


def restore(tables: Tables, path: str | PathLike[str]) -> None:
    """Copy all tables of a backup, of this version or one before it, into an empty database.

    The backup stays as it is: what an older version wrote is brought to this one in a copy beside it, for its owner
    alone.

    Raises:
        InvalidRequest: it is not empty.
        UnreadableFile: not a backup, or one of a later version.
    """
    if tables.rows("SELECT 1 FROM survey") or tables.rows("SELECT 1 FROM token"):
        raise InvalidRequest(
            "there are surveys or tokens in this database; expected an empty one.",
            "Restore into a new database.",
        )
    if not Path(path).is_file():
        raise UnreadableFile(f"there is no backup at {path}.")
    with (
        TemporaryDirectory(dir=Path(path).absolute().parent) as folder,
        _open_backup(Path(shutil.copy(path, folder))) as file,
        file.transaction() as copy,
    ):
        if not applied_migrations(copy, PART):
            raise UnreadableFile(
                f"{path} is no backup of a collector.",
                "Restore what `survey backup` wrote.",
            )
        migrate(copy, PART, MIGRATIONS)
        for table in TABLES:
            tables.run(f"DELETE FROM {table}")
        _copy(copy, tables)


def _open_backup(path: Path) -> SqliteFile:
    """Return the file of a backup; what is written to it is durable."""
    return SqliteFile(path, "backup", settings=DURABLE, patience=_PATIENCE)


def _copy(source: Tables, goal: Tables) -> None:
    for table, columns in TABLES.items():
        if table == "session":  # whoever is signed in signs in anew
            continue
        # the key first: in its order rows do not tell in which one they came
        names = ", ".join(columns)
        goal.insert(
            table,
            columns,
            source.stream(f"SELECT {names} FROM {table} ORDER BY {names}"),
        )
