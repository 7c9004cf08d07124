"""Databases: transactions on a SQLite file or in Postgres. Only this folder imports the drivers of either."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from deniable.db.addresses import has_password, is_address, name_database
from deniable.db.database import (
    DURABLE,
    SHARED,
    Closable,
    Database,
    Migration,
    Seat,
    SqliteFile,
    Tables,
    applied_migrations,
    migrate,
)
from deniable.errors import DeniableError, UnreadableFile

__all__ = [
    "DURABLE",
    "SHARED",
    "Closable",
    "Database",
    "Migration",
    "Seat",
    "SqliteFile",
    "Tables",
    "applied_migrations",
    "has_password",
    "is_address",
    "migrate",
    "name_database",
    "open_database",
]


def open_database(
    location: str | os.PathLike[str],
    kind: str,
    *,
    settings: Sequence[str],
    patience: float,
    one_writer: bool,
    failure: type[DeniableError] = UnreadableFile,
) -> Database:
    """Return a database by its path, or by its address, such as `postgresql://host/name`. A file must be there.

    Args:
        where: the path or the address.
        kind: what it holds, for messages.
        settings: what SQLite is told: `DURABLE`, or `SHARED` where many read while one writes.
        patience: seconds to wait for another program that is writing.
        one_writer: whether a transaction that writes keeps all others waiting. SQLite has no other way; in Postgres
            those who lock rows of their own need it not.
        failure: what is raised where the database cannot be read or written.

    Raises:
        MissingExtra: an address, and psycopg is not installed.
    """
    if is_address(location):
        from deniable.db.postgres import PostgresServer

        return PostgresServer(
            os.fspath(location),
            kind,
            patience=patience,
            one_writer=one_writer,
            failure=failure,
        )
    return SqliteFile(
        Path(location), kind, settings=settings, patience=patience, failure=failure
    )
