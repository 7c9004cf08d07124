"""The same tally, bit for bit, from every warehouse, of every registered design and type; and whatever is cut how."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import cache, partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.designs import Design
from deniable.engines import sql
from deniable.errors import Incompatible, InvalidResponse
from deniable.tallies.responses import Responses
from deniable.tallies.stages import count_stages
from deniable.types import operation
from tests.support.registered import registered
from tests.support.types import TYPES
from tests.support.warehouses import (
    TABLE,
    InDuckDB,
    InPostgres,
    InSpark,
    Warehouse,
    as_labels,
    stored,
)

HOSTILE = "a\"; drop table x --`\n%s ? $1 '; {b}"
MANY = {
    "bits by size": dn.unary(70, 1),
    "bits": dn.rappor(33, 1, by_size=False),
    "sets of one size": dn.subset(20, 1),
    "sets of several sizes": dn.truncated_rappor(20, 1),
    "Hadamard": dn.hadamard(300, 1),
    "hashing": dn.local_hashing(300, 1),
}
"""Designs with more categories than the registered examples have: other codings, and other cells of a tally."""


@pytest.fixture(scope="module", params=["duckdb", "postgres", "spark"])
def warehouse(request: pytest.FixtureRequest) -> Iterator[Warehouse]:
    if request.param == "spark":
        yield InSpark(request.getfixturevalue("spark"))
    elif request.param == "duckdb":
        with closing(InDuckDB()) as opened:
            yield opened
    else:
        with closing(
            InPostgres(request.getfixturevalue("postgres_server"))
        ) as reached:
            yield reached


def drawn(design: Design, rows: int) -> Responses[Design]:
    """Return responses of which every ninth is missing."""
    labels = [
        None if i % 9 == 4 else design.categories[7 * i % len(design.categories)]
        for i in range(rows)
    ]
    return dn.respond_all(design, labels)


@cache
def typed(name: str) -> Responses[Any]:
    if name in MANY:
        return drawn(MANY[name], 200)
    asked = TYPES[name]()
    return dn.respond_all(asked.design, asked.answers)


def counted(warehouse: Warehouse, design: Any, **options: Any) -> Any:
    """Count the table that was loaded last."""
    asked = sql.query(design, TABLE, dialect=warehouse.dialect, **options)
    return sql.read_counts(design, *warehouse.rows(asked))


def same(found: Any, expected: Any) -> bool:
    return bool(found == expected and found.to_json() == expected.to_json())


@pytest.mark.parametrize("labels", [False, True], ids=["stored", "labels"])
def test_every_registered_design_is_counted_alike(
    warehouse: Warehouse, labels: bool
) -> None:
    """Designs of one form have the same query but for their hash: they stand in one table, and are counted apart."""
    alike: dict[Any, list[Responses[Design]]] = {}
    for each in registered():
        alike.setdefault(operation(each, "forms")(each, labels=labels), []).append(
            drawn(each, 30)
        )
    for sent in alike.values():
        tables = [(as_labels if labels else stored)(each) for each in sent]
        whose = pa.array(
            [number for number, each in enumerate(sent) for _ in range(len(each))]
        )
        warehouse.load(pa.concat_tables(tables).append_column("whose", whose))
        asked = partial(
            sql.query,
            table=TABLE,
            dialect=warehouse.dialect,
            by="whose",
            labels=labels,
            checked=False,
        )
        names, rows = warehouse.rows(asked(sent[0].design))
        for number, each in enumerate(sent):
            assert asked(each.design) == asked(sent[0].design).replace(
                sent[0].design.hash, each.design.hash
            )
            own = [
                [
                    each.design.hash if at == 1 else value
                    for at, value in enumerate(row)
                ]
                for row in rows
            ]
            found = sql.read_counts(
                each.design, names[1:], [row[1:] for row in own if row[0] == number]
            )
            assert same(found, dn.tally(each)), each.design


@pytest.mark.parametrize("name", [*TYPES, *MANY])
def test_every_type_is_counted_alike(warehouse: Warehouse, name: str) -> None:
    sent = typed(name)
    warehouse.load(stored(sent))
    assert same(counted(warehouse, sent.design), dn.tally(sent))


@pytest.mark.parametrize(
    "name",
    [
        "bits by size",
        "sets of several sizes",
        "ladder",
        "strings",
        "key-value vectors",
    ],
)
def test_labels_are_counted_alike(warehouse: Warehouse, name: str) -> None:
    sent = typed(name)
    warehouse.load(as_labels(sent))
    assert same(counted(warehouse, sent.design, labels=True), dn.tally(sent))


@pytest.mark.parametrize("name", ["categories", "sets of several sizes"])
def test_groups_are_counted_in_the_same_query(
    warehouse: Warehouse, name: str
) -> None:
    sent = typed(name)
    regions = [["north", "south", None][i % 3] for i in range(len(sent))]
    years = [2020 + i % 2 for i in range(len(sent))]
    warehouse.load(stored(sent, region=regions, year=years))
    found = counted(warehouse, sent.design, by=["region", "year"])
    assert set(found) == set(zip(regions, years, strict=True))
    for group, tally in found.items():
        assert same(
            tally,
            dn.tally(
                rows_of(
                    sent,
                    [each == group for each in zip(regions, years, strict=True)],
                )
            ),
        )
    assert same(sum(found.values()), dn.tally(sent))
    assert set(counted(warehouse, sent.design, by="region")) == set(regions)


def rows_of(sent: Responses[Any], rows: Any) -> Responses[Any]:
    chosen = np.asarray(rows, np.bool_)
    missing = None if sent.missing is None else sent.missing[chosen]
    return Responses(
        sent.design,
        {name: column[chosen] for name, column in sent.columns.items()},
        missing,
    )


@pytest.mark.parametrize(
    "name",
    ["categories", "bits", "ladder", "strings", "key-value vectors", "drawn pairs"],
)
@settings(
    max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_partition_gives_the_same(
    duckdb_and_postgres: list[Warehouse], name: str, data: Any
) -> None:
    sent = typed(name)
    cut = data.draw(
        st.lists(st.integers(0, 3), min_size=len(sent), max_size=len(sent))
    )
    for warehouse in duckdb_and_postgres:
        warehouse.load(stored(sent, part=cut))
        parts = counted(warehouse, sent.design, by="part")
        assert set(parts) == set(cut)
        assert all(
            same(parts[each], dn.tally(rows_of(sent, np.array(cut) == each)))
            for each in parts
        )
        assert same(sum(parts.values()), dn.tally(sent))


@pytest.fixture(scope="module")
def duckdb_and_postgres(postgres_server: str) -> Iterator[list[Warehouse]]:
    with closing(InDuckDB()) as one, closing(InPostgres(postgres_server)) as two:
        yield [one, two]


@pytest.mark.parametrize("name", ["ladder", "ladder of sets"])
def test_stages_that_were_reached(warehouse: Warehouse, name: str) -> None:
    sent = typed(name)
    last = len(sent.design)
    # 0 for those to whom nothing was released
    reached = [i % (last + 1) for i in range(len(sent))]
    present = (
        ~sent.missing if sent.missing is not None else np.ones(len(sent), np.bool_)
    )
    warehouse.load(
        stored(rows_of(sent, present), until=np.array(reached)[present].tolist())
    )
    found = counted(warehouse, sent.design, reached="until")
    expected = count_stages(
        sent.design, list(sent.present().values()), np.array(reached)[present]
    )
    assert same(found, expected)
    for beyond in (last + 1, -1):  # once at each stage
        warehouse.load(stored(sent, until=[beyond] + [last] * (len(sent) - 1)))
        with pytest.raises(
            InvalidResponse, match=f"{last} rows of the table hold no response"
        ):
            counted(warehouse, sent.design, reached="until")


def test_an_empty_table_is_an_empty_tally(warehouse: Warehouse) -> None:
    for name in ("categories", "bits", "ladder"):
        sent = typed(name)
        warehouse.load(
            stored(
                rows_of(sent, [False] * len(sent)), region=pa.array([], pa.string())
            )
        )
        assert same(
            counted(warehouse, sent.design), type(dn.tally(sent)).empty(sent.design)
        )
        assert counted(warehouse, sent.design, by="region") == dn.GroupedTally.empty(
            sent.design
        )


def test_rows_of_another_design_are_never_counted(warehouse: Warehouse) -> None:
    sent = typed("categories")
    for name in (dn.warner(3).hash, sent.design.hash[:-1], "", None):
        table = stored(sent).set_column(
            1, "design", pa.array([sent.design.hash] * (len(sent) - 2) + [name] * 2)
        )
        warehouse.load(table)
        with pytest.raises(
            Incompatible, match="2 rows of the table name another design, or none"
        ):
            counted(warehouse, sent.design)


WRONG: dict[str, tuple[str, pa.Array[Any], int]] = {
    "a code too large": ("categories", pa.array([0, 1, 2, 3, None, 200]), 2),
    "a negative code": ("categories", pa.array([0, -1, 2]), 1),
    "half a code": (
        "categories",
        pa.array([0.0, 1.5, 1.0, float("nan"), float("inf")]),
        3,
    ),
    "a card that is not there": ("deck", pa.array([0, 1 << 40]), 1),
    "rows of another length": (
        "bits",
        pa.array([bytes(5), bytes(4), b""], pa.binary()),
        2,
    ),
    "a bit behind the last one": (
        "bits",
        pa.array([bytes(4) + b"\2", bytes(4) + b"\1"], pa.binary()),
        1,
    ),
    "a set of another size": (
        "sets of one size",
        pa.array([bytes(3), b"\xff\xff\x0f"], pa.binary()),
        2,
    ),
    "a small set that is never sent": (
        "few sets",
        pa.array([b"\x01", b"\x0f", b"\x1f"], pa.binary()),
        2,
    ),
    "a symbol that is none": (
        "key-value vectors",
        pa.array([b"\0\1\2", b"\0\3\0", b"\x10\0\0"], pa.binary()),
        2,
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_no_design_sends_is_refused_with_its_number(
    warehouse: Warehouse, case: str
) -> None:
    name, column, wrong = WRONG[case]
    design = dn.subset(4, 1, t=1) if name == "few sets" else typed(name).design
    warehouse.load(
        pa.table(
            {"response": column, "design": pa.array([design.hash] * len(column))}
        )
    )
    with pytest.raises(
        InvalidResponse, match=f"^{wrong} rows of the table hold no response"
    ):
        counted(warehouse, design)


@pytest.mark.parametrize(
    ("name", "texts", "wrong"),
    [
        ("categories", ["once", "Once", "once ", "", None], 3),
        (
            "bits",
            [
                "b" + "01" * 16 + "1",
                "b" + "0" * 32,
                "c" + "0" * 33,
                "b" + "0" * 32 + "\n",
                "b" + "0" * 32 + "2",
            ],
            4,
        ),
        ("sets of one size", ["b" + "1" * 20, "b" + "0" * 20], 2),
        ("key-value vectors", ["0+-", "0+", "0+1", "0+\n", "0+é"], 4),
        ("deck", ["1", "0", "41", "01", "1.0"], 3),
    ],
)
def test_labels_that_no_design_has_are_refused(
    warehouse: Warehouse, name: str, texts: list[Any], wrong: int
) -> None:
    design = typed(name).design
    warehouse.load(
        pa.table({"response": texts, "design": [design.hash] * len(texts)})
    )
    with pytest.raises(
        InvalidResponse, match=f"^{wrong} rows of the table hold no response"
    ):
        counted(warehouse, design, labels=True)


def test_cohorts_and_half_of_a_response_are_refused(warehouse: Warehouse) -> None:
    sent = typed("strings")
    row = bytes(2)
    cohorts = [0, 4, -1, None, 1, None]
    rows = [row, row, row, row, None, None]
    names = [sent.design.hash] * len(rows)
    warehouse.load(
        pa.table(
            {
                "cohort": cohorts,
                "response": pa.array(rows, pa.binary()),
                "design": names,
            }
        )
    )
    with pytest.raises(
        InvalidResponse, match=r"^4 rows of the table hold no response"
    ):
        counted(warehouse, sent.design)


def test_text_is_never_taken_for_codes(warehouse: Warehouse) -> None:
    """The second symbol is "1": whoever counts the text "1" as the code 1 counts it for "2"."""
    design = dn.k_ary(["2", "1", "0"], 1)
    warehouse.load(
        pa.table({"response": ["1", "0", "0"], "design": [design.hash] * 3})
    )
    with pytest.raises(
        Exception,
        match=r"3 rows of the table hold no response|cast|operator does not exist",
    ):
        counted(warehouse, design)
    assert counted(warehouse, design, labels=True).counts.tolist() == [0, 1, 2]


def test_booleans_are_never_taken_for_codes(warehouse: Warehouse) -> None:
    design = dn.warner(1)
    warehouse.load(
        pa.table({"response": [True, False], "design": [design.hash] * 2})
    )
    with pytest.raises(
        Exception,
        match=r"2 rows of the table hold no response|operator does not exist|mismatch",
    ):
        counted(warehouse, design)


def test_hostile_names_are_names(warehouse: Warehouse) -> None:
    sent = typed("categories")
    table = stored(sent, **{HOSTILE + "by": ["x", "y"] * (len(sent) // 2)})
    table = table.rename_columns([HOSTILE + "column", *table.column_names[1:]])
    warehouse.load(pa.table({"n": [1]}), "x")
    warehouse.load(table, HOSTILE)
    names = {"columns": HOSTILE + "column", "by": HOSTILE + "by"}
    asked = sql.query(sent.design, HOSTILE, dialect=warehouse.dialect, **names)  # type: ignore[arg-type]
    found = sql.read_counts(sent.design, *warehouse.rows(asked))
    assert set(found) == {"x", "y"}
    assert same(sum(found.values()), dn.tally(sent))
    quoted = "`x`" if warehouse.dialect == "spark" else '"x"'
    assert warehouse.rows(f"SELECT * FROM {quoted}")[1] == [(1,)]
