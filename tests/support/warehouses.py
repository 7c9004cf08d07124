"""Tables of responses in DuckDB, Postgres and Spark, and what a query of ours returns there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from deniable.engines.spark.tasks import signed_type
from deniable.tallies.responses import Responses
from deniable.tallies.stored.dialects import DIALECTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = "sent"


class Warehouse(Protocol):
    """A database that holds one table at a time."""

    dialect: str

    def load(self, table: pa.Table, name: str = TABLE) -> None:
        """Put a table there, in place of one of the same name."""
        ...

    def rows(self, query: str) -> tuple[list[str], list[Sequence[Any]]]:
        """Return the names of the columns, and all rows."""
        ...


class InDuckDB:
    dialect = "duckdb"

    def __init__(self) -> None:
        import duckdb

        self.connection = duckdb.connect()

    def load(self, table: pa.Table, name: str = TABLE) -> None:
        self.connection.register("given", table)
        self.connection.execute(
            f"CREATE OR REPLACE TABLE {DIALECTS['duckdb'].name(name)} AS SELECT * FROM given"
        )
        self.connection.unregister("given")

    def rows(self, query: str) -> tuple[list[str], list[Sequence[Any]]]:
        found = self.connection.execute(query)
        return [each[0] for each in found.description], found.fetchall()

    def close(self) -> None:
        self.connection.close()


class InPostgres:
    dialect = "postgres"

    def __init__(self, address: str) -> None:
        import psycopg

        self.connection = psycopg.connect(address, autocommit=True)

    def load(self, table: pa.Table, name: str = TABLE) -> None:
        quote = DIALECTS["postgres"].name
        kinds = [
            f"{quote(each.name)} {_in_postgres(each.type)}" for each in table.schema
        ]
        self.connection.execute(f"DROP TABLE IF EXISTS {quote(name)}".encode())
        self.connection.execute(
            f"CREATE TABLE {quote(name)} ({', '.join(kinds)})".encode()
        )
        with self.connection.cursor().copy(
            f"COPY {quote(name)} FROM STDIN".encode()
        ) as copy:
            for row in zip(
                *(column.to_pylist() for column in table.columns), strict=True
            ):
                copy.write_row(row)

    def rows(self, query: str) -> tuple[list[str], list[Sequence[Any]]]:
        found = self.connection.execute(query.encode())
        return [each[0] for each in found.description or ()], found.fetchall()

    def close(self) -> None:
        self.connection.close()


class InSpark:
    dialect = "spark"

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    def load(self, table: pa.Table, name: str = TABLE) -> None:
        schema = pa.schema(
            [(each.name, signed_type(each.type)) for each in table.schema]
        )
        self.session.createDataFrame(table.cast(schema)).createOrReplaceTempView(
            DIALECTS["spark"].name(name)
        )

    def rows(self, query: str) -> tuple[list[str], list[Sequence[Any]]]:
        found = self.session.sql(query)
        return found.columns, [tuple(row) for row in found.collect()]


def stored(sent: Responses[Any], **more: Sequence[Any]) -> pa.Table:
    """Return responses as a table that names their design in every row, beside other columns."""
    table = sent.to_arrow().append_column(
        "design", pa.array([sent.design.hash] * len(sent))
    )
    for name, column in more.items():
        table = table.append_column(name, pa.array(column))
    return table


def as_labels(sent: Responses[Any]) -> pa.Table:
    """Return the same with labels in place of codes and of packed rows."""
    rows = [
        each if isinstance(each, tuple) else (each,) * len(sent.design.columns)
        for each in sent
    ]
    columns = zip(*rows, strict=True)
    table = pa.table(
        {
            name: pa.array(column)
            for name, column in zip(sent.design.columns, columns, strict=True)
        }
    )
    return table.append_column("design", pa.array([sent.design.hash] * len(sent)))


def _in_postgres(kind: Any) -> str:
    if pa.types.is_integer(kind):
        return "smallint" if kind.bit_width < 16 else "bigint"
    if pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return "double precision" if pa.types.is_floating(kind) else "boolean"
    return (
        "bytea"
        if pa.types.is_fixed_size_binary(kind) or pa.types.is_binary(kind)
        else "text"
    )
