"""Where responses are kept: SQLite by default, Postgres by address. This folder alone knows SQL."""

from __future__ import annotations

import os

from deniable.collector.store.base import (
    Batch,
    BatchOutcome,
    Entry,
    NoSuchSurvey,
    Outcome,
    Refusal,
    Sent,
    StoreFailed,
    Submission,
    Token,
)
from deniable.collector.store.protocol import Store

__all__ = [
    "Batch",
    "BatchOutcome",
    "Entry",
    "NoSuchSurvey",
    "Outcome",
    "Refusal",
    "Sent",
    "Store",
    "StoreFailed",
    "Submission",
    "Token",
    "open_store",
]


def open_store(where: str | os.PathLike[str]) -> Store:
    """Open a SQLite file, which is made where there is none, or a Postgres database by its `postgresql://` address.

    Raises:
        StoreFailed: it cannot be read or written, or was made by a later version.
        MissingExtra: an address, and psycopg is not installed.
    """
    text = os.fspath(where)
    if text.startswith(("postgresql://", "postgres://")):
        from deniable.collector.store.postgres import PostgresStore

        return PostgresStore(text)
    from deniable.collector.store.sqlite import SqliteStore

    return SqliteStore(text)
