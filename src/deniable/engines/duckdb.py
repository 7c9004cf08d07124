"""DuckDB counts, we estimate: a table, a view or a Parquet file of responses → a tally, in one query.

The package `duckdb` is not imported here: whoever has a connection has it. Nothing is drawn there, see `engines.sql`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.designs import AnyDesign
from deniable.engines import sql
from deniable.engines.sql.connections import count_on
from deniable.engines.sql.queries import Names, several
from deniable.errors import require
from deniable.tallies.stored.dialects import DIALECTS

__all__ = ["query", "tally"]


def query(
    design: AnyDesign, table: Names, columns: Names | None = None, **options: Any
) -> str:
    """Return the query by itself, to be run by somebody else: `engines.sql.query` in the words of DuckDB."""
    return sql.query(design, table, columns, dialect="duckdb", **options)


def tally(
    design: AnyDesign,
    connection: Any,
    table: Any,
    columns: Names | None = None,
    *,
    by: Names = (),
    reached: str | None = None,
) -> Any:
    """Count the responses of a table in DuckDB.

    Args:
        design: what the responses were drawn with, of any type.
        connection: an open connection, as `duckdb.connect()` returns it.
        table: the name of a table or a view, of a Parquet file, or a tuple of a schema and a name; or a relation, as
            `connection.sql()` returns it.
        columns: what the columns of responses are called, in the order of `design.columns`; by default as there. They
            are stored as `Responses.to_arrow()` has them, or as labels. Rows of nulls are missing.
        by: columns by whose values responses are counted apart.
        reached: of a ladder: the column that says how many stages were released to each respondent: 0 for none, 2 up to
            `stage_2`, null for all.

    Returns:
        The tally that `deniable.tally` makes of these responses, exactly; with `by` a `GroupedTally`, each group
        under the value of its column or a tuple of values.

    Raises:
        Incompatible: rows whose column `design` names another design, or none; where there is such a column.
        InvalidRequest: a column that is not there, or of a type that holds no responses of this design.
        InvalidResponse: rows that hold something which the design cannot send.

    Example:
        >>> import deniable as dn
        >>> import duckdb
        >>> design, connection = dn.warner(epsilon=1), duckdb.connect()
        >>> sent = dn.respond_all(design, ["yes", "no", None, "no"])
        >>> found = tally(design, connection, connection.from_arrow(sent.to_arrow()))
        >>> found == dn.tally(sent)
        True
    """
    require(
        hasattr(connection, "execute"),
        connection,
        "the connection",
        "one of DuckDB",
        "Open the file first: duckdb.connect(path, read_only=True).",
    )
    of_relation = hasattr(table, "query")
    connected = _InDuckDB(
        connection,
        _VIEW if of_relation else several(table),
        table if of_relation else None,
    )
    return count_on(connected, design, columns, by=by, reached=reached)


_VIEW = ("deniable_responses",)  # what a relation is called while it is asked


@dataclass(frozen=True)
class _InDuckDB:
    connection: Any
    table: tuple[str, ...]
    relation: Any
    dialect: str = "duckdb"

    def kinds(self) -> Mapping[str, str]:
        if self.relation is not None:
            return dict(
                zip(
                    self.relation.columns,
                    map(_kind, self.relation.types),
                    strict=True,
                )
            )
        cursor = self.connection.execute(
            f"SELECT * FROM {DIALECTS[self.dialect].name(*self.table)} LIMIT 0"
        )
        kinds = {column[0]: _kind(column[1]) for column in cursor.description}
        cursor.fetchall()
        return kinds

    def rows(self, query: str) -> Iterable[Sequence[Any]]:
        cursor = (
            self.connection.execute(query)
            if self.relation is None
            else self.relation.query(*self.table, query)
        )
        rows: list[Sequence[Any]] = cursor.fetchall()
        return rows


def _kind(of: object) -> str:
    name = str(of).partition("(")[0]
    if name in ("VARCHAR", "ENUM"):
        return "text"
    number = name.endswith(("INT", "INTEGER")) or name in (
        "DECIMAL",
        "FLOAT",
        "DOUBLE",
    )
    return "numbers" if number else "bytes" if name == "BLOB" else name
