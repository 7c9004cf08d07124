"""What a ledger's file keeps, refuses and overwrites."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.errors import InvalidRequest, UnreadableFile
from deniable.order.relaxation import ladder
from deniable.release.ledger import SECRET, DerivedBytes, Ledger
from tests.support.books import reseal
from tests.support.ladders import stage


def test_a_copy_that_is_asked_the_same_way_responds_the_same_way(
    ledger: Ledger, path: Path, tmp_path: Path
) -> None:
    """A backup that is restored does not spend a stage twice."""
    for number in range(8):
        ledger.answer(f"q{number}", "blue", stage(2))
        ledger.release(f"q{number}", stage(2))
    copy = tmp_path / "copy.ledger"
    copy.write_bytes(path.read_bytes())
    with Ledger.open(copy) as other:
        for number in range(8):
            for parity in (3, 6, 4):
                ours, theirs = (
                    each.release(f"q{number}", stage(parity))
                    for each in (ledger, other)
                )
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
        file.execute("UPDATE release_response SET released = 1")
    file.close()
    reseal(ledger)
    with pytest.raises(UnreadableFile, match="without a receipt"):
        ledger.check()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE release_stage SET parity = '7'", "is not what the history counts"),
        (
            "UPDATE OR IGNORE release_stage SET design = (SELECT max(hash) FROM release_design WHERE hash != design)",
            "without a receipt",
        ),
        (
            "UPDATE release_design SET body = (SELECT body FROM release_design ORDER BY hash LIMIT 1)",
            "was exchanged",
        ),
        ("DELETE FROM release_receipt WHERE number = 1", "does not follow"),
        (
            "INSERT INTO migration VALUES ('release', 'from the future')",
            "later version",
        ),
    ],
)
def test_what_was_changed_behind_its_back_is_found(
    ledger: Ledger, path: Path, change: str, told: str
) -> None:
    ledger.answer("colour", "red", stage(2))
    ledger.answer("shape", "red", stage(3))
    for question, parity in (("colour", 2), ("shape", 3), ("shape", 4)):
        ledger.release(question, stage(parity))
    ledger.close()
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA foreign_keys = OFF")
        file.execute(change)
    file.close()
    with pytest.raises(UnreadableFile, match=told):
        check_forged(path)


def check_forged(path: Path) -> None:
    """Write the seal of a changed ledger anew, as a forger would, and check it."""
    with Ledger.open(path) as changed:
        reseal(changed)
        changed.check()


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    ledger.answer("colour", "red", stage(2))
    found: list[str] = []

    def ask() -> None:
        found.extend(
            ledger.release("colour", stage(parity)).response.symbol
            for parity in (4, 4, 4)
        )

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
    (row,) = secret.execute("SELECT secret FROM release_answer").fetchall()
    secret.close()
    assert row[0] in path.read_bytes()
    ledger.withdraw()
    ledger.close()
    assert row[0] not in path.read_bytes()


def test_a_file_without_the_answer_cannot_tell_it(path: Path) -> None:
    """The bytes of a draw from the answer tell it, next to the response: they are not kept longer than the answer."""
    with Ledger.create(path) as ledger:
        ledger.answer("planned", "red", ladder([stage(2), stage(4)]))
        ledger.answer("forgotten", "red", stage(2))
        ledger.release("forgotten", stage(4))
        kept = _secrets(path)
        ledger.forget("forgotten")
        left = _secrets(path)
        assert [len(each) for each in kept] == [SECRET, 2 * SECRET]
        assert left == [kept[0], kept[1][:SECRET]]
        assert kept[1][SECRET:] not in path.read_bytes()
        # what the test is about
        assert _draws(kept[1][SECRET:]) == {int(_response(path, "forgotten"), 16)}
        for question in ("planned", "forgotten"):
            ledger.release(question, stage(3))  # a coarser one is made all the same
    assert _secrets(path) == left


def test_planned_stages_do_not_follow_from_what_the_file_keeps(path: Path) -> None:
    """Made again from the secret, sixty draws of an answer all come out as they did by chance once in 10^18."""
    with Ledger.create(path) as ledger:
        for number in range(60):
            ledger.answer(
                f"q{number}", "red", ladder([stage(1 + Fraction(1, 100)), stage(2)])
            )
    names = [f"q{number}" for number in range(60)]
    made = [_planned(secret) for secret in _secrets(path)]
    assert made != [int(_response(path, name), 16) for name in names]


def _secrets(path: Path) -> list[bytes]:
    with closing(sqlite3.connect(path)) as file:
        return [
            secret
            for (secret,) in file.execute(
                "SELECT secret FROM release_answer ORDER BY question"
            )
        ]


def _response(path: Path, question: str) -> str:
    """Return the finest response that is drawn."""
    statement = (
        "SELECT response FROM release_response JOIN release_stage s ON stage = s.id JOIN release_question q "
        "ON question = q.id WHERE name = ? ORDER BY place DESC LIMIT 1"
    )
    with closing(sqlite3.connect(path)) as file:
        return str(file.execute(statement, (question,)).fetchone()[0])


def _draws(secret: bytes) -> set[int]:
    """Return what the answer sends, drawn again."""
    return {
        stage(4).channel.draw(0, DerivedBytes(secret, [stage(4).hash, None, None]))
    }


def _planned(secret: bytes) -> int:
    return stage(2).channel.draw(0, DerivedBytes(secret, ["planned"]))


def test_an_empty_file_becomes_readable_for_its_owner_alone(path: Path) -> None:
    path.touch()
    path.chmod(0o644)
    Ledger.create(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["half \ud800 a character", 5, None, b"bytes"])
def test_a_name_that_cannot_be_written_leaves_the_ledger_as_it_was(
    ledger: Ledger, path: Path, name: str
) -> None:
    """A receipt that cannot be read again would close the ledger for good."""
    ledger.answer("colour", "red", stage(2))
    before = path.read_bytes()
    with pytest.raises((InvalidRequest, UnreadableFile)):
        ledger.release("colour", stage(2), to=name)
    with pytest.raises(InvalidRequest):
        ledger.answer(name, "red", stage(2))
    assert path.read_bytes() == before
    ledger.release("colour", stage(2), to="Anna")
    ledger.check()
