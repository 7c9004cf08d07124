"""Where responses are kept: SQLite by default, Postgres by address. Only this folder knows its tables."""

from __future__ import annotations

import os

from deniable.collector.store.base import (
    Batch,
    BatchOutcome,
    Entry,
    Exchange,
    NoSuchSurvey,
    NotStored,
    Outcome,
    Sent,
    StoreFailed,
    Submission,
    Token,
)
from deniable.collector.store.published import (
    ShownCounts,
    ShownQuestion,
    ShownReader,
)
from deniable.collector.store.rewriting import SHARE
from deniable.collector.store.store import Store
from deniable.db import SHARED, SqliteFile, open_database

__all__ = [
    "Batch",
    "BatchOutcome",
    "Entry",
    "Exchange",
    "NoSuchSurvey",
    "NotStored",
    "Outcome",
    "Sent",
    "ShownCounts",
    "ShownQuestion",
    "ShownReader",
    "Store",
    "StoreFailed",
    "Submission",
    "Token",
    "open_store",
]


_PATIENCE = 60.0  # seconds to wait for another program that is writing


def open_store(
    location: str | os.PathLike[str], *, rewriting: float = SHARE
) -> Store:
    """Open a SQLite file, which is made where there is none, or a Postgres database by its `postgresql://` address.

    Args:
        where: the path or the address.
        rewriting: the share of all time that is spent on writing everything anew in the order of its keys, at most.

    Raises:
        StoreFailed: it cannot be read or written.
        UnreadableFile: it was made by a later version.
        MissingExtra: an address, and psycopg is not installed.
    """
    database = open_database(
        location,
        "database",
        settings=SHARED,
        patience=_PATIENCE,
        one_writer=False,
        failure=StoreFailed,
    )
    if isinstance(database, SqliteFile):
        try:
            database.make()
        except OSError as error:
            raise StoreFailed(
                f"cannot open {database.name}: {error.strerror}."
            ) from None
    return Store(database, rewriting=rewriting)
