"""What a ledger's file keeps, refuses and overwrites."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from deniable.errors import (
    InvalidRequest,
    UnreadableFile,
)
from deniable.gradual.design import ladder
from deniable.gradual.ledger import Ledger
from tests.support.ladders import stage


def test_a_copy_that_is_asked_the_same_way_responds_the_same_way(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    """A backup that is restored does not spend a stage twice."""
    for number in range(8):
        ledger.answer(f"q{number}", "blue", stage(2))
        ledger.release(f"q{number}", stage(2))
    copy = tmp_path / "copy.ledger"
    copy.write_bytes(path.read_bytes())
    with Ledger.open(copy) as other:
        for number in range(8):
            for parity in (3, 6, 4):
                ours, theirs = (each.release(f"q{number}", stage(parity)) for each in (ledger, other))
                assert ours.response == theirs.response


@pytest.mark.usefixtures("ledger")
def test_the_file_is_its_owners_alone(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(InvalidRequest, match="exists already"):
        Ledger.create(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="no ledger at"):
        Ledger.open(tmp_path / "nothing")
    text = tmp_path / "text"
    text.write_text("not a database, but long enough to look at " * 40)
    with pytest.raises(UnreadableFile):
        Ledger.open(text)
    with pytest.raises((UnreadableFile, InvalidRequest)):
        Ledger.create(text)
    assert text.read_text().startswith("not a database")
    other = tmp_path / "other"
    file = sqlite3.connect(other)
    file.execute("CREATE TABLE t (x)")
    file.commit()
    file.close()
    with pytest.raises(UnreadableFile, match="not a ledger"):
        Ledger.open(other)
    with pytest.raises(InvalidRequest, match="exists already"):
        Ledger.create(other)


def test_a_file_that_was_left_empty_can_be_made(tmp_path: Path) -> None:
    """A program was killed right after it had made the file."""
    path = tmp_path / "mine"
    path.touch()
    with pytest.raises(UnreadableFile, match="not a ledger"):
        Ledger.open(path)
    Ledger.create(path).close()
    Ledger.open(path).close()


def test_a_damaged_file_says_so(path: Path, ledger: Ledger) -> None:
    ledger.answer("colour", "red", stage(2))
    ledger.close()
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(UnreadableFile), Ledger.open(path) as broken:
        broken.check()


def test_a_stage_that_was_not_counted_is_found(path: Path, ledger: Ledger) -> None:
    ledger.answer("colour", "red", ladder([stage(2), stage(4)]))
    ledger.release("colour", 0)
    ledger.check()
    with sqlite3.connect(path) as file:
        file.execute("UPDATE stage SET released = 1")
    file.close()
    with pytest.raises(UnreadableFile, match="without a receipt"):
        ledger.check()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE stage SET parity = '7'", "is not what the history counts"),
        ("UPDATE stage SET design = (SELECT max(hash) FROM design WHERE hash != design)", "without a receipt"),
        ("UPDATE design SET body = (SELECT body FROM design ORDER BY hash LIMIT 1)", "was exchanged"),
        ("DELETE FROM receipt WHERE number = 1", "does not follow"),
        ("PRAGMA user_version = 2", "another version"),
    ],
)
def test_what_was_changed_behind_its_back_is_found(ledger: Ledger, path: Path, change: str, told: str) -> None:
    ledger.answer("colour", "red", stage(2))
    ledger.answer("shape", "red", stage(3))
    for question, parity in (("colour", 2), ("shape", 3), ("shape", 4)):
        ledger.release(question, stage(parity))
    ledger.close()
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA foreign_keys = OFF")
        file.execute(change.replace("UPDATE stage SET design", "UPDATE OR IGNORE stage SET design"))
    file.close()
    with pytest.raises(UnreadableFile, match=told), Ledger.open(path) as changed:
        changed.check()


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    ledger.answer("colour", "red", stage(2))
    found: list[str] = []

    def ask() -> None:
        found.extend(ledger.release("colour", stage(parity)).response.symbol for parity in (4, 4, 4))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 12
    assert len(set(found)) == 1


def test_an_erased_answer_is_overwritten(path: Path) -> None:
    """What is withdrawn is gone from the bytes of the file, too."""
    ledger = Ledger.create(path)
    ledger.answer("colour", "red", stage(2))
    secret = sqlite3.connect(path)
    (row,) = secret.execute("SELECT secret FROM question").fetchall()
    secret.close()
    assert row[0] in path.read_bytes()
    ledger.withdraw()
    ledger.close()
    assert row[0] not in path.read_bytes()
