"""What leaves a program, or is acknowledged by it, is on the disk before; and files are their owner's alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable import db
from deniable.collector.store import Sent, Submission, open_store, schema
from deniable.release.ledger import Ledger
from deniable.release.panel import Panel
from tests.support import syncs
from tests.support.surveys import small

needs_calls = pytest.mark.skipif(bool(syncs.missing()), reason=syncs.missing() or "strace is there")

LEDGER = """
from deniable import Ledger, k_ary
with Ledger.create({place!r}) as ledger:
    ledger.answer("habit", "1", about=k_ary(3, epsilon=1))
    for epsilon in (1, 3, 2):
        ledger.release("habit", k_ary(3, epsilon=epsilon))
        leave()
"""
PANEL = """
from deniable import Panel, k_ary
with Panel.create({place!r}) as panel:
    panel.answer("habit", {{"anna": "1", "bert": "2"}}, about=k_ary(3, epsilon=1))
    for epsilon in (1, 3, 2):
        panel.release("habit", k_ary(3, epsilon=epsilon))
        leave()
"""
STORE = """
from deniable.collector.store import Sent, Submission, open_store
from tests.support.surveys import small
store = open_store({place!r})
store.create(small())
entry = store.open("small")
for number in range(3):
    store.add([Submission(entry.id, bytes([number] * 16), None, (Sent(0, 0, 1),))])
    leave()
"""


@needs_calls
@pytest.mark.parametrize("lines", [LEDGER, PANEL, STORE], ids=["ledger", "panel", "collector"])
def test_nothing_leaves_before_it_is_on_the_disk(tmp_path: Path, lines: str) -> None:
    """A release that a power cut takes back would be drawn again; a response that it takes was acknowledged."""
    folder = tmp_path / "kept"
    folder.mkdir()
    found = syncs.unforced(folder, lines.format(place=str(folder / "some.db")))
    assert found == [[], [], []]


@needs_calls
@pytest.mark.parametrize(
    ("weaker", "lost"),
    [("synchronous = OFF", "some.db: written"), ("synchronous = FULL", "kept: an entry is gone")],
)
def test_what_is_not_on_the_disk_would_be_seen(tmp_path: Path, weaker: str, lost: str) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    settings = tuple(each if not each.startswith("synchronous") else weaker for each in db.DURABLE)
    lines = f"from deniable import db\ndb.DURABLE = {settings}\n" + LEDGER.format(place=str(folder / "some.db"))
    assert all(lost in each for each in syncs.unforced(folder, lines))


def test_the_settings_that_promise_it_are_in_force(tmp_path: Path) -> None:
    """For where system calls cannot be read."""
    with ExitStack() as opened:
        ledger = opened.enter_context(Ledger.create(tmp_path / "mine.ledger"))
        panel = opened.enter_context(Panel.create(tmp_path / "panel.db"))
        store = open_store(tmp_path / "collector.db")
        opened.callback(store.shut)
        for database in (ledger.database, panel.database):
            for write in (True, False):
                with database.transaction(write=write) as tables:
                    assert _settings(tables) == {"synchronous": 3, "journal_mode": "delete", "secure_delete": 1}
        with store.transaction() as tables:
            assert _settings(tables) == {"synchronous": 2, "journal_mode": "wal", "secure_delete": 1}


def _settings(tables: db.Tables) -> dict[str, object]:
    return {name: tables.value(f"PRAGMA {name}") for name in ("synchronous", "journal_mode", "secure_delete")}


@pytest.fixture
def careless() -> Iterator[None]:
    """A program whose new files are readable and writable for everybody, unless they are made otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("careless")
def test_every_file_is_its_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also journals, logs and half-written copies, which are there for a moment."""
    seen: set[str] = set()
    ledger = Ledger.create(tmp_path / "mine.ledger")
    panel = Panel.create(tmp_path / "panel.db")
    store = open_store(tmp_path / "collector.db")
    hub = db.SqliteFile(tmp_path / "hub.db", "hub", settings=db.DURABLE, patience=1)
    hub.make()
    ledger.answer("habit", "1", about=dn.k_ary(3, epsilon=1))
    panel.answer("habit", {"anna": "1"}, about=dn.k_ary(3, epsilon=1))
    store.create(small())
    entry = store.open("small")
    store.add([Submission(entry.id, bytes(16), None, (Sent(0, 0, 1),))])
    for database in (ledger.database, panel.database, store.database, hub):
        with database.transaction() as tables:
            tables.run("CREATE TABLE IF NOT EXISTS scratch (x INTEGER)")
            seen |= _owners_alone(tmp_path)
    copy: Callable[..., None] = schema._copy
    monkeypatch.setattr(schema, "_copy", lambda *tables: (copy(*tables), seen.update(_owners_alone(tmp_path))))
    store.backup(tmp_path / "backup.db")
    seen |= _owners_alone(tmp_path)
    for each in (ledger, panel, hub):
        with closing(each):
            pass
    store.shut()
    assert {"mine.ledger-journal", "collector.db-wal", "collector.db-shm", ".backup.db.part", "backup.db"} <= seen


def _owners_alone(folder: Path) -> set[str]:
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()}
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}
    return set(modes)


def test_what_is_erased_is_overwritten_in_every_page(tmp_path: Path) -> None:
    """Rows that fill many pages, which are given back: none of their bytes stay."""
    marks = [os.urandom(24).hex() for _ in range(400)]
    for settings in (db.DURABLE, db.SHARED):
        path = tmp_path / f"{len(settings)}.db"
        with closing(db.SqliteFile(path, "file", settings=settings, patience=1)) as file:
            file.make()
            with file.transaction() as tables:
                tables.run("CREATE TABLE kept (id INTEGER PRIMARY KEY, mark TEXT)")
                tables.insert("kept", ("id", "mark"), enumerate(marks))
            assert _found(tmp_path, marks) == len(marks)
            with file.transaction() as tables:
                tables.run("UPDATE kept SET mark = NULL WHERE id % 2 = 0")
                tables.run("DELETE FROM kept WHERE id % 2 = 1")
        assert _found(tmp_path, marks) == 0


def _found(folder: Path, marks: list[str]) -> int:
    content = b"".join(each.read_bytes() for each in folder.iterdir())
    return sum(each.encode() in content for each in marks)


def test_a_file_that_cannot_be_had_is_given_up(tmp_path: Path) -> None:
    file: dict[str, Any] = {"settings": db.DURABLE, "patience": 0.2}
    one = db.SqliteFile(tmp_path / "one.db", "file", **file)
    one.make()
    with closing(one), closing(db.SqliteFile(tmp_path / "one.db", "file", **file)) as two:
        with (
            one.transaction(),
            pytest.raises(dn.errors.UnreadableFile, match="another program"),
            two.transaction(),
        ):
            raise AssertionError("two programs write at a time")
        with two.transaction():  # afterwards it can be had
            pass
