"""A database that one version left is opened by the next: nothing is lost, and nobody has to do anything anew."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from deniable import blind
from deniable.collector.store import (
    Sent,
    Store,
    StoreFailed,
    Submission,
    open_store,
    schema,
)
from deniable.collector.store.base import Admission
from deniable.db import Migration
from deniable.errors import UnreadableFile
from tests.support.stored import DATABASE, counts, known

NEXT = Migration(
    "next", ("ALTER TABLE token ADD COLUMN note TEXT NOT NULL DEFAULT ''",)
)
BROKEN = Migration(
    "next", (*NEXT.statements, "INSERT INTO no_such_table VALUES (1)")
)


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """The database that a released version left."""
    return Path(shutil.copy(DATABASE, tmp_path / "left.db"))


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next version, with a change of the tables."""
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, NEXT))
    monkeypatch.setitem(schema.TABLES, "token", (*schema.TABLES["token"], "note"))


def goes_on(store: Store) -> None:
    """All that people hold still works: keys, tokens, invitations, signatures of the collector."""
    held = known()
    assert {
        entry.survey.name: entry.survey.hash for entry in store.surveys()
    } == held["hashes"]
    assert counts(store) == held["counts"]
    token = store.find_token(held["token"])
    assert (
        (token.name, token.scope, token.survey) == ("anna", "analyst", "small")
        if token
        else False
    )
    field, invited = store.survey("small"), store.survey("invited")
    key, guest = bytes.fromhex(held["key"]), bytes.fromhex(held["guest"])
    assert len(store.stored(field.id, key)) == 3
    assert store.add([Submission(field.id, key, 1, (Sent(0, 0, 1),))]) == [
        "repeated"
    ]
    assert store.withdraw(field.id, key).responses == 3
    assert store.withdraw(invited.id, guest).responses == 1
    message, signature = held["waiting"]
    waiting = Admission(bytes.fromhex(message), int(signature, 16))
    assert store.add(
        [Submission(invited.id, os.urandom(16), None, (Sent(0, 0, 0),), waiting)]
    ) == ["stored"]
    assert invited.public is not None
    drawn = os.urandom(32)
    blinded, factor = blind.blind(drawn, invited.public)
    blind.unblind(
        drawn,
        store.exchange("invited", held["code"], blinded),
        factor,
        invited.public,
    )
    store.open("draft")


def test_a_database_that_was_left_is_opened_as_it_is(left: Path) -> None:
    store = open_store(left)
    goes_on(store)
    store.shut()


@pytest.mark.usefixtures("later")
def test_the_next_version_opens_it_once_and_for_all(left: Path) -> None:
    for _ in range(2):
        store = open_store(left)
        with store.transaction(write=False) as tables:
            assert tables.rows("SELECT note FROM token") == [("",)]
        store.shut()
    store = open_store(left)
    goes_on(store)
    store.shut()


def test_this_version_refuses_what_the_next_has_changed(
    left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, NEXT))
        open_store(left).shut()
    before = left.read_bytes()
    with pytest.raises(UnreadableFile, match="later version"):
        open_store(left)
    assert left.read_bytes() == before


def test_a_change_that_breaks_off_changes_nothing(
    left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, BROKEN))
        with pytest.raises(StoreFailed):
            open_store(left)
    store = open_store(left)
    goes_on(store)
    store.shut()


def test_the_next_version_restores_a_backup_of_this_one(
    where: str, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(left)
    store.backup(left.with_name("backup.db"))
    store.shut()
    before = left.with_name("backup.db").read_bytes()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, NEXT))
    monkeypatch.setitem(schema.TABLES, "token", (*schema.TABLES["token"], "note"))
    again = open_store(where)
    again.restore(left.with_name("backup.db"))
    goes_on(again)
    again.shut()
    assert left.with_name("backup.db").read_bytes() == before


def test_a_backup_of_the_next_version_is_refused(
    where: str, left: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, NEXT))
        patch.setitem(schema.TABLES, "token", (*schema.TABLES["token"], "note"))
        store = open_store(left)
        store.backup(tmp_path / "backup.db")
        store.shut()
    again = open_store(where)
    with pytest.raises(UnreadableFile, match="later version"):
        again.restore(tmp_path / "backup.db")
    assert again.surveys() == []
    again.shut()
