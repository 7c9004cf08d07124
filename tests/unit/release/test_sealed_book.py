"""Whatever is edited, deleted or added in a book past the program is found, and nothing more is done with the book."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.errors import DeniableError, UnreadableFile
from deniable.order.relaxation import ladder
from deniable.release.ledger import Ledger
from deniable.release.market import Market, Prices
from deniable.release.panel import Panel
from tests.support.books import TABLES, reseal
from tests.support.ladders import stage

STAGES = ladder([stage(2), stage(4)])


def filled_ledger(path: Path) -> None:
    """Make a ledger with rows in every table: offers, consents, sales, steps, a withdrawal."""
    with Ledger.create(path, budget=9) as ledger:
        ledger.answer("colour", "red", about=stage(2), budget=4)
        ledger.release("colour", stage(2), to="Anna")
        ledger.release("colour", stage(3))
        ledger.answer("planned", "red", about=STAGES, keep=True)
        ledger.answer("gone", "red", about=STAGES)
        ledger.release("gone", 0)
        ledger.withdraw("gone")
        market = Market(ledger)
        market.offer("planned", Prices(STAGES, [3, 10], currency="EUR"))
        market.consent("planned", "Bert", up_to=1)
        market.sell("planned", "Bert", 0)
        market.consent("planned", "Carl", up_to=1)
        market.revoke("planned", "Carl")
        ledger.check()


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("book") / "mine.ledger"
    filled_ledger(path)
    return path.read_bytes()


def columns() -> list[tuple[str, str]]:
    """Return every column of every table, read from a new book."""
    with closing(sqlite3.connect(":memory:")) as file:
        for statement in TABLES:
            file.execute(statement)
        tables = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [
            (table, column)
            for (table,) in tables.fetchall()
            for _, column, *_ in file.execute(f"PRAGMA table_info({table})")
        ]


COLUMNS = columns()
BOOK_TABLES = sorted({table for table, _ in COLUMNS})


def edits() -> Iterator[tuple[str, str]]:
    """Yield a name and a statement for each way to change one row past the program."""
    for table, column in COLUMNS:
        one = (
            f"WHERE rowid = (SELECT max(rowid) FROM {table} WHERE {column} IS {{}})"
        )
        yield (
            f"edit {table}.{column}",
            f"UPDATE {table} SET {column} = CASE typeof({column}) WHEN 'integer' THEN {column} + 1 "
            f"WHEN 'blob' THEN zeroblob(64) ELSE 'x' || {column} END {one.format('NOT NULL')}",
        )
        yield (
            f"replace {table}.{column}",
            f"UPDATE OR REPLACE {table} SET {column} = '777' {one.format('NOT NULL')}",
        )
    for table in BOOK_TABLES:
        yield (
            f"delete from {table}",
            f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})",
        )
        yield f"delete all of {table}", f"DELETE FROM {table}"
        names = [column for other, column in COLUMNS if other == table]
        copies = ", ".join(
            f"CASE typeof({name}) WHEN 'integer' THEN {name} + 100 WHEN 'text' THEN {name} || 'x' ELSE {name} END"
            for name in names
        )
        yield (
            f"insert into {table}",
            f"INSERT INTO {table} SELECT {copies} FROM {table} LIMIT 1",
        )


EDITS = {
    **dict(edits()),
    "a revoked buyer": "UPDATE release_record SET body = (SELECT body FROM release_record WHERE name = 'Bert') "
    "WHERE name = 'Carl'",
    "a price of nothing": "UPDATE release_record SET body = replace(body, '\"10\"', '\"0\"') WHERE kind = 'offer'",
    "a holder": "UPDATE release_receipt SET holder = 'Dora' WHERE number = 1",
    "a body that is no JSON": "UPDATE release_design SET body = '{'",
    "another type of value": "UPDATE release_response SET response = CAST(response AS BLOB)",
    "text behind a zero": "UPDATE release_receipt SET holder = holder || char(0) || 'x' WHERE number = 1",
    "text that is not of this encoding": "UPDATE release_book SET made = CAST(x'ff' AS TEXT)",
    **{
        f"a row of number {number}": "INSERT INTO release_record (rowid, kind, question, name, body) "
        f"SELECT {number}, kind, question, 'Zoe', body FROM release_record LIMIT 1"
        for number in ("-9223372036854775807 - 1", "-5", "9223372036854775807")
    },
    "a column": "ALTER TABLE release_answer ADD COLUMN note TEXT",
    "a later version": "INSERT INTO migration VALUES ('release', 'from the future')",
    "no version": "DELETE FROM migration",
}


def edited(path: Path, content: bytes, statement: str) -> None:
    path.write_bytes(content)
    with closing(sqlite3.connect(path)) as file:
        rows = file.execute(statement).rowcount
        assert rows or "ALTER" in statement, "nothing was changed"
        file.commit()


@pytest.mark.parametrize("statement", EDITS.values(), ids=EDITS)
def test_a_change_past_the_program_is_found(
    tmp_path: Path, content: bytes, statement: str
) -> None:
    path = tmp_path / "mine.ledger"
    edited(path, content, statement)
    with pytest.raises(UnreadableFile), Ledger.open(path) as ledger:
        ledger.check()


OPERATIONS: dict[str, Callable[[Ledger], object]] = {
    "answer": lambda ledger: ledger.answer("new", "red", about=stage(2)),
    "release": lambda ledger: ledger.release("colour", stage(2)),
    "release of a waiting stage": lambda ledger: ledger.release("planned", 1),
    "forget": lambda ledger: ledger.forget("colour"),
    "withdraw": lambda ledger: ledger.withdraw(),
    "status": lambda ledger: ledger.status(),
    "history": lambda ledger: ledger.history(),
    "offer": lambda ledger: Market(ledger).offer("planned", Prices(STAGES, [3, 4])),
    "consent": lambda ledger: Market(ledger).consent("planned", "Dora", up_to=0),
    "revoke": lambda ledger: Market(ledger).revoke("planned", "Bert"),
    "sell": lambda ledger: Market(ledger).sell("planned", "Carl", 1),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_nothing_is_done_with_a_broken_book(
    tmp_path: Path, content: bytes, operation: Callable[[Ledger], object]
) -> None:
    path = tmp_path / "mine.ledger"
    edited(path, content, EDITS["a revoked buyer"])
    before = path.read_bytes()
    with (
        Ledger.open(path) as ledger,
        pytest.raises(UnreadableFile, match="by another hand"),
    ):
        operation(ledger)
    assert path.read_bytes() == before


def test_a_change_while_it_is_open_is_found(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.ledger"
    path.write_bytes(content)
    with Ledger.open(path) as ledger:
        ledger.check()
        with closing(sqlite3.connect(path)) as file:
            file.execute(EDITS["a price of nothing"])
            file.commit()
        with pytest.raises(UnreadableFile, match="by another hand"):
            Market(ledger).sell("planned", "Bert", 1)


@pytest.mark.parametrize(
    "statement",
    [
        *(
            EDITS[name]
            for name in ("a body that is no JSON", "replace release_receipt.body")
        ),
        "UPDATE release_stage SET parity = 'much'",
        "UPDATE release_design SET body = '[]'",
        "UPDATE release_receipt SET body = replace(body, 'total_after', 'total')",
        "DELETE FROM release_design",
    ],
)
def test_damaged_data_end_in_one_clear_error_even_under_a_new_seal(
    tmp_path: Path, content: bytes, statement: str
) -> None:
    path = tmp_path / "mine.ledger"
    edited(path, content, statement)
    with Ledger.open(path) as ledger:
        reseal(ledger)
        with pytest.raises(UnreadableFile) as refused:
            ledger.check()
    assert isinstance(refused.value, DeniableError)
    assert len(str(refused.value)) < 400


def test_a_seal_is_that_of_the_rows_alone(tmp_path: Path) -> None:
    """It depends on nothing that was erased: two books that differ in a forgotten answer alone have the same seal."""
    seals = set()
    for answer in ("red", "green"):
        path = tmp_path / answer
        with Ledger.create(path) as ledger:
            ledger.answer("colour", answer, about=stage(2))
            ledger.withdraw("colour")
        with closing(sqlite3.connect(path)) as file:
            for table, column in (
                ("release_book", "id"),
                ("release_book", "made"),
                ("release_withdrawal", "at"),
                ("release_receipt", "body"),
            ):
                file.execute(f"UPDATE {table} SET {column} = ''")
            file.commit()
        with Ledger.open(path) as ledger:
            seals.add(reseal(ledger))
    assert len(seals) == 1


def test_rows_of_a_panel_are_sealed_on_both_databases(where: str) -> None:
    people = {f"person {number}": "red" for number in range(40)}
    with Panel.create(where, budget=9) as panel:
        panel.answer("colour", people, about=STAGES, keep=True)
        panel.release("colour", 0)
        panel.check()
        with panel.database.transaction() as tables:
            tables.run(
                "UPDATE release_answer SET answer = '2' WHERE respondent = 'person 7'"
            )
        for operation in (
            panel.check,
            lambda: panel.release("colour", 1),
            lambda: panel.tallies("colour"),
            lambda: panel.withdraw(["person 7"]),
        ):
            with pytest.raises(UnreadableFile, match="by another hand"):
                operation()
        with panel.database.transaction() as tables:
            tables.run(
                "UPDATE release_answer SET answer = '0' WHERE respondent = 'person 7'"
            )
        panel.check()
        assert panel.release("colour", stage(Fraction(6))).fresh == 40
