"""Postgres counts, we estimate: a table or a view of responses → a tally, in one query that reads.

Connections are the database layer's, `deniable.db`. Nothing is drawn there, see `engines.sql`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from deniable.db import Tables, is_address, open_database
from deniable.db.postgres import tables_on
from deniable.designs import AnyDesign
from deniable.engines import sql
from deniable.engines.sql.connections import count_on
from deniable.engines.sql.queries import Names, several
from deniable.errors import InvalidRequest, quoted
from deniable.tallies.stored.dialects import DIALECTS

__all__ = ["query", "tally"]


def query(
    design: AnyDesign, table: Names, columns: Names | None = None, **options: Any
) -> str:
    """Return the query by itself, to be run by somebody else: `engines.sql.query` in the words of Postgres."""
    return sql.query(design, table, columns, dialect="postgres", **options)


_PATIENCE = 60.0  # seconds to wait for somebody who has locked the table


def tally(
    design: AnyDesign,
    connection: object,
    table: Names,
    columns: Names | None = None,
    *,
    by: Names = (),
    reached: str | None = None,
) -> Any:
    """Count the responses of a table in Postgres.

    Args:
        design: what the responses were drawn with, of any type.
        connection: an address, such as `postgresql://host/name`, under which a transaction is opened that only reads;
            or an open connection of psycopg.
        table: the name of a table or a view, or a tuple of a schema and a name.
        columns: what the columns of responses are called, in the order of `design.columns`; by default as there. Codes
            are whole numbers, packed rows `bytea`; or all are labels. Rows of nulls are missing.
        by: columns by whose values responses are counted apart.
        reached: of a ladder: the column that says how many stages were released to each respondent: 0 for none, 2 up to
            `stage_2`, null for all.

    Returns:
        The tally that `deniable.tally` makes of these responses, exactly; with `by` a `GroupedTally`, each group
        under the value of its column or a tuple of values.

    Raises:
        Incompatible: rows whose column `design` names another design, or none; where there is such a column.
        InvalidRequest: a table or a column that is not there, or of a type that holds no responses of this design.
        InvalidResponse: rows that hold something which the design cannot send.
        UnreadableFile: the database at an address cannot be read.
        MissingExtra: an address, and psycopg is not installed.
    """
    counted = partial(_count_table, design, several(table), columns, by, reached)
    if not isinstance(connection, str):
        return counted(tables_on(connection))
    if not is_address(connection):
        raise InvalidRequest(
            "this is no address of a Postgres server; expected one such as postgresql://host/name."
        )
    with (
        open_database(
            connection,
            "table of responses",
            settings=(),
            patience=_PATIENCE,
            one_writer=False,
        ) as database,
        database.transaction(write=False) as tables,
    ):
        return counted(tables)


def _count_table(
    design: AnyDesign,
    table: tuple[str, ...],
    columns: Names | None,
    by: Names,
    reached: str | None,
    tables: Tables,
) -> Any:
    return count_on(
        _InPostgres(tables, table), design, columns, by=by, reached=reached
    )


@dataclass(frozen=True)
class _InPostgres:
    tables: Tables
    table: tuple[str, ...]
    dialect: str = "postgres"

    def kinds(self) -> Mapping[str, str]:
        columns = self.tables.rows(
            _COLUMNS, DIALECTS[self.dialect].name(*self.table)
        )
        if not columns:
            raise InvalidRequest(
                f"there is no table {quoted('.'.join(self.table), 80)}; expected one, or a view.",
                "Names are written as they are, capitals too; a schema goes before: ('survey', 'responses').",
            )
        return {
            name: "text" if listed else _KINDS.get(kind, kind)
            for name, kind, listed in columns
        }

    def rows(self, query: str) -> Iterable[Sequence[Any]]:
        return self.tables.rows(query)


_COLUMNS = """
SELECT attname, format_type(coalesce(nullif(typbasetype, 0), pg_type.oid), NULL), typtype = 'e'
FROM pg_attribute JOIN pg_type ON atttypid = pg_type.oid
WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped
ORDER BY attnum
"""
_KINDS = {
    **dict.fromkeys(
        ("smallint", "integer", "bigint", "numeric", "real", "double precision"),
        "numbers",
    ),
    **dict.fromkeys(("text", "character varying", "character"), "text"),
    "bytea": "bytes",
}
