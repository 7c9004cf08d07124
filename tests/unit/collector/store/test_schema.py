"""No table can hold an answer, an address or a time; rows of one respondent have nothing in common."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.collector.store import (
    Batch,
    Entry,
    Sent,
    Store,
    Submission,
    open_store,
)
from deniable.collector.store.packs import ids_of, record_type
from deniable.collector.store.schema import MIGRATIONS, TABLES
from deniable.db import Tables
from tests.support import postgres
from tests.support.stored import ids
from tests.support.surveys import small

MEANING = {
    "survey": "the number of a survey; in token, its name",
    "question": "the number of a question",
    "id": "SHA-256 of survey, question and key; in survey, its number",
    "stage": "the number of a stage",
    "grp": "the number of a group",
    "code": "the number of the symbol that was sent",
    "which": "'seen' or 'raised'",
    "piece": "which of the counts, or of the packs of a run",
    "pieces": "into how many packs ids are cut",
    "width": "bytes of a code",
    "packed": "ids, groups and codes, by their ids",
    "counts": "counts",
    "day": "a day on which responses came, with their number",
    "responses": "how many",
    "hash": "SHA-256 of an invitation, of a token, of a session, of a message that was spent",
    "used": "SHA-256 of a blinded message",
    "part": "which part of the program has made its tables here",
    "name": "of a survey, a token, a secret, a migration; random, of a run",
    "state": "draft, open, closed or ended",
    "definition": "the survey",
    "private": "the survey's signing key",
    "signature": "the author's, of the definition",
    "scope": "analyst or admin",
    "value": "random bytes of the collector",
    "token": "SHA-256 of the token that a session was opened with",
    "ends": "when an analyst's session does",
}


def test_every_column_is_known_and_none_can_hold_an_answer(tmp_path: Path) -> None:
    open_store(tmp_path / "store.db").shut()
    with sqlite3.connect(tmp_path / "store.db") as connection:
        tables = {
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            )
        }
        found = {
            table: tuple(
                row[1] for row in connection.execute(f"PRAGMA table_info({table})")
            )
            for table in sorted(tables)
        }
    connection.close()
    assert found == {**TABLES, "migration": ("part", "name")}
    assert {column for columns in found.values() for column in columns} == set(
        MEANING
    )
    assert not any(
        re.search("answer|categor|address|ip$|agent|time|stamp|created", column)
        for column in MEANING
    )


def test_responses_lie_in_the_order_of_their_ids_and_carry_no_number_of_their_own(
    tmp_path: Path,
) -> None:
    statements = [
        statement for migration in MIGRATIONS for statement in migration.statements
    ]
    kept = [
        each
        for each in statements
        if re.search(r"TABLE (response|run|pack|spent|invitation)\b", each)
    ]
    assert len(kept) == 5
    assert all(each.rstrip().endswith("{by_key}") for each in kept), (
        "no row number that tells when a row came"
    )
    store = open_store(tmp_path / "store.db")
    store.create(small())
    entry = store.open("small")
    for _ in range(50):
        store.add([Submission(entry.id, os.urandom(16), None, (Sent(0, 0, 0),))])
    for _ in range(2):
        found = ids(store, entry.id)
        assert len(found) == 50
        assert found == sorted(found)
        store.rewrite(at_once=True)  # into packs
    store.shut()


def test_rows_are_not_written_in_the_order_in_which_they_came(
    store: Store, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also inside a page, and in a log: what came together is written in the order of ids, which is random."""
    with store.transaction() as tables:
        kind = type(tables)
    written: list[tuple[str, list[Any]]] = []
    insert = kind.insert

    def noted(
        tables: Tables,
        table: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
    ) -> None:
        written.append((table, list(rows)))
        insert(tables, table, columns, written[-1][1])

    monkeypatch.setattr(kind, "insert", noted)
    sent = (Sent(0, 0, 1), Sent(1, 0, 2))
    store.add([Submission(entry.id, os.urandom(16), None, sent) for _ in range(40)])
    keys = np.frombuffer(os.urandom(16 * 40), np.uint8).reshape(40, 16)
    store.add_batch(Batch(entry.id, 0, 0, keys, np.zeros(40, np.uint8)))
    assert [len(rows) for table, rows in written if table == "response"] == [80]
    assert all(rows == sorted(rows) for _, rows in written)
    ((pack,),) = [rows for table, rows in written if table == "pack"]
    assert len(packed := ids_of(np.frombuffer(pack[-1], record_type(1)))) == 40
    assert packed == sorted(packed)


def test_the_rows_of_one_respondent_have_nothing_in_common(
    store: Store, entry: Entry
) -> None:
    key = os.urandom(16)
    store.add(
        [Submission(entry.id, key, 0, (Sent(0, 0, 1), Sent(1, 0, 2), Sent(2, 0, 3)))]
    )
    with store.transaction(write=False) as tables:
        rows = tables.rows("SELECT question, id FROM response ORDER BY question")
    survey = entry.survey
    expected = [
        hashlib.sha256(f"{survey.hash}\0{question.name}\0".encode() + key).digest()[
            :16
        ]
        for question in survey.questions
    ]
    assert [bytes(id_) for _, id_ in rows] == expected
    assert len(set(expected)) == 3


def test_the_key_is_not_stored(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")
    store.create(small())
    entry, key = store.open("small"), os.urandom(16)
    store.add([Submission(entry.id, key, 0, (Sent(0, 0, 1),))])
    store.withdraw(entry.id, key)
    store.add([Submission(entry.id, key, 0, (Sent(0, 0, 1),))])
    files = [path.read_bytes() for path in tmp_path.iterdir()]
    assert not any(
        key in content or key.hex().encode() in content for content in files
    )
    assert any(b"A small survey" in content for content in files), (
        "this would find what is there"
    )
    store.shut()


def test_what_is_withdrawn_is_overwritten_when_the_store_is_closed(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path / "store.db")
    store.create(small())
    entry, key = store.open("small"), os.urandom(16)
    for _ in range(20):
        store.add([Submission(entry.id, os.urandom(16), None, (Sent(0, 0, 1),))])
    store.add([Submission(entry.id, key, None, (Sent(0, 0, 1),))])
    id_ = hashlib.sha256(f"{entry.survey.hash}\0smokes\0".encode() + key).digest()[
        :16
    ]
    assert any(id_ in path.read_bytes() for path in tmp_path.iterdir())
    store.withdraw(entry.id, key)
    store.shut()
    assert [path.name for path in tmp_path.iterdir()] == ["store.db"], (
        "the log is gone"
    )
    assert id_ not in (tmp_path / "store.db").read_bytes()


def test_in_postgres_a_closed_survey_does_not_tell_what_came_together(
    postgres_server: str,
) -> None:
    store = open_store(postgres.fresh_schema(postgres_server, "closed_survey"))
    store.create(small())
    entry = store.open("small")
    sent = (Sent(0, 0, 1), Sent(1, 0, 2), Sent(2, 0, 3))
    for _ in range(10):
        store.add([Submission(entry.id, os.urandom(16), None, sent)])
    assert len(_transactions(store)) == 10, "this is how they could be told"
    store.close("small")
    assert len(_transactions(store)) == 1
    with store.transaction(write=False) as tables:
        rows = tables.rows("SELECT question, stage, piece FROM pack ORDER BY ctid")
    assert rows == sorted(rows)
    assert len(found := ids(store, entry.id)) == 30
    assert found == sorted(found)
    assert store.tallies(entry.id, 0).respondents == 10
    store.shut()


def _transactions(store: Store) -> set[str]:
    with store.transaction(write=False) as tables:
        return {
            str(number)
            for (number,) in tables.rows(
                "SELECT xmin FROM response UNION SELECT xmin FROM pack"
            )
        }
