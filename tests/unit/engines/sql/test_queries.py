"""The text of a query: names in quotes, whole numbers, the hash of the design, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import deniable as dn
from deniable.engines import duckdb, postgres, sql
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    UnreadableFile,
)
from deniable.tallies.stored.dialects import DIALECTS
from tests.support.types import TYPES

DESIGN = dn.k_ary(["it's", 'a "label"', "; drop"], 1)
ROW = {
    "design": DESIGN.hash,
    "stage": 1,
    "raised": 0,
    "part": "counted",
    "cell": 1,
    "responses": 5,
}


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
    st.sampled_from([*DIALECTS]),
)
def test_a_name_is_one_name(name: str, dialect: str) -> None:
    assume(dialect != "spark" or "${" not in name)
    mark = DIALECTS[dialect].mark
    quoted = DIALECTS[dialect].name(name)
    assert quoted[0] == quoted[-1] == mark
    inside = quoted[1:-1]
    assert inside.replace(2 * mark, mark) == name
    assert re.fullmatch(f"(?:{mark}{mark}|[^{mark}])*", inside, re.DOTALL)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_of_the_design_is_written_but_numbers_and_its_hash(
    dialect: str,
) -> None:
    for labels in (False, True):
        text = sql.query(DESIGN, "t", dialect=dialect, labels=labels)
        assert not any(label in text for label in DESIGN.symbols)
        assert set(re.findall(r"sha256:[0-9a-f]*", text)) == {DESIGN.hash}


@pytest.mark.parametrize("name", ["", "a\0b", 7])
def test_what_is_no_name_is_refused(name: Any) -> None:
    for dialect in DIALECTS:
        for options in (
            {"table": name},
            {"table": "t", "by": (name,)},
            {"table": "t", "columns": (name,)},
        ):
            if options != {"table": 7}:
                with pytest.raises(InvalidRequest, match="is no name"):
                    sql.query(DESIGN, dialect=dialect, **options)


def test_settings_of_spark_do_not_come_in_by_a_name() -> None:
    with pytest.raises(InvalidRequest, match="which Spark replaces"):
        sql.query(DESIGN, "a ${env:HOME}", dialect="spark")


def test_a_dialect_that_is_not_known() -> None:
    with pytest.raises(
        InvalidRequest,
        match="'oracle'; expected one of 'duckdb', 'postgres', 'spark'",
    ):
        sql.query(DESIGN, "t", dialect="oracle")


def test_engines_speak_their_own_dialect() -> None:
    for engine, name in ((duckdb, "duckdb"), (postgres, "postgres")):
        assert engine.query(DESIGN, "t", by="g") == sql.query(
            DESIGN, "t", by="g", dialect=name
        )


@pytest.mark.parametrize("name", TYPES)
def test_a_query_is_as_long_for_many_categories_as_for_few(name: str) -> None:
    assert len(sql.query(TYPES[name]().design, "t", dialect="duckdb")) < 6000
    assert (
        len(sql.query(dn.rappor(100_000, 1, by_size=False), "t", dialect="duckdb"))
        < 2500
    )


def test_what_no_tally_can_hold_is_not_asked_for() -> None:
    with pytest.raises(InvalidRequest, match="expected at most 268,435,456"):
        sql.query(dn.k_ary(1 << 29, 1), "t", dialect="duckdb")


def read(*rows: dict[str, Any], design: Any = DESIGN) -> Any:
    return sql.read_counts(
        design, list(rows[0]), [list(row.values()) for row in rows]
    )


def test_counts_add_up_and_may_be_text() -> None:
    assert read(
        ROW, {**ROW, "responses": "7"}, {**ROW, "part": "missing", "cell": None}
    ).counts.tolist() == [0, 12, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"responses": "-1"}, "a count is '-1'"),
        ({"responses": 1.5}, "a count is '1.5'"),
        ({"responses": True}, "a count is 'True'"),
        ({"responses": None}, "a count is 'None'"),
        ({"cell": None}, "a count is 'None'"),
        ({"cell": "1 OR 1"}, "a count is '1 OR 1'"),
        ({"part": "all"}, "a part is called 'all'"),
        ({"stage": 2}, "other stages"),
        ({"stage": 0}, "other stages"),
        ({"raised": 1}, "other stages"),
    ],
)
def test_counts_that_no_query_returns(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UnreadableFile, match=message):
        read({**ROW, **change})


def test_columns_that_are_not_there_or_twice() -> None:
    with pytest.raises(UnreadableFile, match="no column 'cell'"):
        read({name: value for name, value in ROW.items() if name != "cell"})
    with pytest.raises(
        UnreadableFile, match="two columns of the counts have one name"
    ):
        sql.read_counts(DESIGN, [*ROW, "cell"], [[*ROW.values(), 2]])


def test_counts_of_another_design_or_beyond_its_cells() -> None:
    with pytest.raises(Incompatible, match="these are counts of the design"):
        read(ROW, design=dn.warner(1))
    with pytest.raises(
        InvalidResponse, match="5 rows of the table hold no response"
    ):
        read({**ROW, "cell": 3})
    bits, stages = (
        dn.rappor(20, 1, by_size=False),
        dn.ladder([dn.warner(1), dn.warner(2)]),
    )
    with pytest.raises(UnreadableFile, match="a cell 21; expected at most 20"):
        read({**ROW, "design": bits.hash, "cell": 21}, design=bits)
    for stage in (0, 3):
        with pytest.raises(UnreadableFile, match="not one of 1 to 2"):
            read({**ROW, "design": stages.hash, "stage": stage}, design=stages)
