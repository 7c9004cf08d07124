"""A tally on a connection: what is looked up first, and what is refused before anything is counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from psycopg.rows import dict_row

import deniable as dn
from deniable.engines import duckdb, postgres
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from tests.support.warehouses import TABLE, InDuckDB, InPostgres, as_labels, stored

DESIGN = dn.k_ary(["never", "once", "often"], 1)
SENT = dn.respond_all(DESIGN, ["never", "often", None, "once"] * 20)
REGIONS = ["north", "south"] * 40
HOSTILE = 'a"; drop table x --%s ? %(b)s'


@pytest.fixture(scope="module")
def in_duckdb() -> Iterator[InDuckDB]:
    with closing(InDuckDB()) as opened:
        yield opened


@pytest.fixture(scope="module")
def in_postgres(postgres_server: str) -> Iterator[InPostgres]:
    with closing(InPostgres(postgres_server)) as opened:
        yield opened


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def place(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """An engine, and tables that it can count."""
    engine = {"duckdb": duckdb, "postgres": postgres}[request.param]
    return engine, request.getfixturevalue(f"in_{request.param}")


def test_codes_packed_rows_and_labels_are_told_apart(place: tuple[Any, Any]) -> None:
    engine, tables = place
    sets = dn.respond_all(dn.unary(20, 1), ["3", None, "7"])
    strings = dn.respond_all(
        dn.string_design(dn.Bloom(16, cohorts=4), 4), ["Smith", None, "Jones"]
    )
    for sent in (SENT, sets, strings):
        for table in (stored(sent), as_labels(sent), sent.to_arrow()):
            tables.load(table)
            assert engine.tally(sent.design, tables.connection, TABLE) == dn.tally(
                sent
            )


def test_columns_and_groups_are_called_anything(place: tuple[Any, Any]) -> None:
    engine, tables = place
    table = stored(SENT, **{HOSTILE: REGIONS}).rename_columns(
        [HOSTILE + "1", "design", HOSTILE]
    )
    tables.load(table, HOSTILE)
    found = engine.tally(
        DESIGN, tables.connection, HOSTILE, HOSTILE + "1", by=HOSTILE
    )
    assert set(found) == {"north", "south"}
    assert sum(found.values()) == dn.tally(SENT)


def test_what_is_not_there_or_of_another_type_is_refused(
    place: tuple[Any, Any],
) -> None:
    engine, tables = place
    tables.load(stored(SENT, region=REGIONS))
    with pytest.raises(
        InvalidRequest,
        match="no column 'answer'; expected one of 'response', 'design', 'region'",
    ):
        engine.tally(DESIGN, tables.connection, TABLE, "answer")
    with pytest.raises(InvalidRequest, match="no column 'age'"):
        engine.tally(DESIGN, tables.connection, TABLE, by=["region", "age"])
    with pytest.raises(
        InvalidRequest, match="'response' holds numbers; expected bytes"
    ):
        engine.tally(dn.unary(3, 1), tables.connection, TABLE)
    with pytest.raises(InvalidRequest, match="2 columns are named; expected 1"):
        engine.tally(DESIGN, tables.connection, TABLE, ["response", "region"])
    with pytest.raises(InvalidRequest, match="goes with a ladder"):
        engine.tally(DESIGN, tables.connection, TABLE, reached="region")
    with pytest.raises(
        Incompatible, match="80 rows of the table name another design"
    ):
        engine.tally(dn.k_ary(3, 2), tables.connection, TABLE)
    with pytest.raises(
        InvalidResponse, match="80 rows of the table hold no response"
    ):
        engine.tally(DESIGN, tables.connection, TABLE, "region")


def test_a_schema_goes_before_the_table(in_duckdb: InDuckDB) -> None:
    in_duckdb.load(stored(SENT))
    in_duckdb.connection.execute(
        f'CREATE SCHEMA IF NOT EXISTS "s.1"; CREATE OR REPLACE VIEW "s.1".v AS FROM {TABLE}'
    )
    assert duckdb.tally(DESIGN, in_duckdb.connection, ("s.1", "v")) == dn.tally(SENT)


def test_relations_and_parquet_files_of_duckdb(
    in_duckdb: InDuckDB, tmp_path: Path
) -> None:
    path = tmp_path / 'it\'s "quoted".parquet'
    pq.write_table(stored(SENT, region=REGIONS), path)
    assert duckdb.tally(DESIGN, in_duckdb.connection, str(path)) == dn.tally(SENT)
    relation = in_duckdb.connection.from_arrow(stored(SENT, region=REGIONS)).filter(
        "region = 'north'"
    )
    north = duckdb.tally(DESIGN, in_duckdb.connection, relation)
    assert (
        north
        == duckdb.tally(DESIGN, in_duckdb.connection, str(path), by="region")[
            "north"
        ]
    )


def test_an_address_of_postgres_and_any_connection(
    in_postgres: InPostgres, postgres_server: str
) -> None:
    in_postgres.load(stored(SENT, region=REGIONS))
    assert postgres.tally(DESIGN, postgres_server, TABLE) == dn.tally(SENT)
    with psycopg.connect(postgres_server, row_factory=dict_row) as connection:
        assert postgres.tally(DESIGN, connection, ("public", TABLE)) == dn.tally(
            SENT
        )
    with pytest.raises(InvalidRequest, match="there is no table 'nowhere'"):
        postgres.tally(DESIGN, postgres_server, "nowhere")
    with pytest.raises(InvalidRequest, match="no address"):
        postgres.tally(DESIGN, "responses.db", TABLE)
    with pytest.raises(UnreadableFile, match="could not be read"):
        postgres.tally(
            DESIGN, postgres_server.replace("host=", "host=/nowhere"), TABLE
        )


def test_types_of_postgres_that_hold_codes_and_labels(
    in_postgres: InPostgres,
) -> None:
    run = in_postgres.connection.execute
    run(
        "DROP TABLE IF EXISTS typed; DROP TYPE IF EXISTS habit; DROP DOMAIN IF EXISTS code"
    )
    run(
        "CREATE TYPE habit AS ENUM ('never', 'once', 'often'); CREATE DOMAIN code AS smallint"
    )
    run(
        "CREATE TABLE typed (a habit, b code, c numeric, d char(9), e varchar(9), f date)"
    )
    run(
        "INSERT INTO typed VALUES ('once', 1, 1, 'once', 'once', NULL), (NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    for column in "abcde":
        found = postgres.tally(DESIGN, in_postgres.connection, "typed", column)
        assert (found.counts.tolist(), found.missing) == ([0, 1, 0], 1)
    with pytest.raises(InvalidRequest, match="'f' holds date; expected numbers"):
        postgres.tally(DESIGN, in_postgres.connection, "typed", "f")


def test_types_of_duckdb_that_hold_codes_and_labels(in_duckdb: InDuckDB) -> None:
    values = "'once'::ENUM('never', 'once', 'often') AS a, 1::UTINYINT AS b, 1::DECIMAL(3, 0) AS c, 1::DOUBLE AS d"
    relation = in_duckdb.connection.sql(f"SELECT {values}, true AS e")
    for column in "abcd":
        assert duckdb.tally(
            DESIGN, in_duckdb.connection, relation, column
        ).counts.tolist() == [0, 1, 0]
    with pytest.raises(InvalidRequest, match="'e' holds BOOLEAN; expected numbers"):
        duckdb.tally(DESIGN, in_duckdb.connection, relation, "e")


def test_groups_keep_their_values(in_duckdb: InDuckDB) -> None:
    rows = pa.table({"response": [0, 1, 2], "year": [2020, 2021, None]})
    found = duckdb.tally(
        DESIGN,
        in_duckdb.connection,
        in_duckdb.connection.from_arrow(rows),
        by="year",
    )
    assert {year: tally.counts.tolist() for year, tally in found.items()} == {
        2020: [1, 0, 0], 2021: [0, 1, 0], None: [0, 0, 1],
    }  # fmt: skip
