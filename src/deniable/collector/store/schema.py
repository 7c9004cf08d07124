"""The tables, as named migrations. A later version adds a migration and leaves those before it alone.

No column can hold an answer, an address or the moment of a response. A response is found by an id that only whoever has
its key can work out; the ids of one respondent's questions have nothing in common. Rows lie in the order of their ids,
which tells nothing about the order in which they came.
"""

from __future__ import annotations

from typing import NamedTuple

from deniable.collector.store.base import StoreFailed
from deniable.collector.store.tables import Tables


class Migration(NamedTuple):
    """A change of the tables, applied once, together with the record of it."""

    name: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(
        "first",
        (
            """CREATE TABLE survey (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, state TEXT NOT NULL, definition TEXT NOT NULL,
                private TEXT NOT NULL
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
)

TABLES = {
    "migration": ("name",),
    "survey": ("id", "name", "state", "definition", "private"),
    "response": ("survey", "question", "id", "stage", "grp", "code"),
    "tally": ("survey", "question", "stage", "which", "grp", "piece", "counts"),
    "day": ("survey", "question", "day", "responses"),
    "invitation": ("hash", "survey", "used"),
    "spent": ("hash", "survey"),
    "token": ("name", "hash", "scope", "survey"),
    "secret": ("name", "value"),
}
"""All tables with their columns, as they are after the last migration."""


def migrate(tables: Tables) -> None:
    """Bring a database, new or old, to this version; inside one transaction.

    Raises:
        StoreFailed: a later version has worked on it.
    """
    tables.run(tables.dialect["alone"])  # two programs may start at the same time
    tables.run("CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY)")
    done = {name for (name,) in tables.rows("SELECT name FROM migration")}
    unknown = done - {each.name for each in MIGRATIONS}
    if unknown:
        raise StoreFailed(
            f"this database was changed by a later version of deniable ({min(unknown)!r:.40}).", "Use that version."
        )
    for each in MIGRATIONS:
        if each.name not in done:
            for statement in each.statements:
                tables.run(statement.format_map(tables.dialect))
            tables.run("INSERT INTO migration VALUES (?)", each.name)
