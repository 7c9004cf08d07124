"""The tables of a book, and a seal written anew after a change by hand, as a forger would."""

from __future__ import annotations

from deniable.db.database import SqliteTables
from deniable.release.book import MIGRATIONS, Book, Bookkeeper

TABLES = [
    statement.format_map(SqliteTables.dialect)
    for migration in MIGRATIONS
    for statement in migration.statements
]


def reseal(bookkeeper: Bookkeeper) -> str:
    """Write the seal anew, and return it."""
    with bookkeeper.database.transaction() as tables:
        return Book(tables, bookkeeper.KIND, {}).seal()
