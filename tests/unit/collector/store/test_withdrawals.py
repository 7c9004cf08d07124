"""What is said after a withdrawal is what is then true."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from deniable.collector.app import make_app
from deniable.collector.settings import Settings
from deniable.collector.store import (
    Entry,
    Sent,
    Store,
    StoreFailed,
    Submission,
    open_store,
)
from deniable.designs import k_ary
from deniable.survey.catalogue import LANGUAGES, locale
from tests.support import respondents
from tests.support.collector import Inside
from tests.support.surveys import question, small


@pytest.fixture
def entry(store: Store) -> Entry:
    """A survey in every language, open."""
    store.create(respondents.BROWSER)
    return store.open("browser")


def sent(store: Store, entry: Entry) -> tuple[bytes, bytes]:
    """Send a response; return its key, and the id of its row."""
    key = os.urandom(16)
    assert store.add([Submission(entry.id, key, None, (Sent(0, 0, 1),))]) == [
        "stored"
    ]
    return key, hashlib.sha256(
        f"{entry.survey.hash}\0animal\0".encode() + key
    ).digest()[:16]


def on_disk(folder: Path, row: bytes) -> bool:
    return any(row in each.read_bytes() for each in folder.iterdir())


def test_what_was_overwritten_is_not_in_the_file_and_not_in_the_log(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path / "store.db")
    store.create(respondents.BROWSER)
    entry = store.open("browser")
    for _ in range(20):
        sent(store, entry)
    key, row = sent(store, entry)
    assert on_disk(tmp_path, row), "this would find it"
    assert store.withdraw(entry.id, key) == (1, True)
    assert not on_disk(tmp_path, row), "while the store is open"
    store.shut()


def test_what_could_not_be_overwritten_is_said_to_be_still_there(
    store: Store, entry: Entry
) -> None:
    key, _ = sent(store, entry)
    with store.transaction(write=False) as reader:
        # from here on it sees the row, whatever others do
        reader.rows("SELECT * FROM response")
        assert store.withdraw(entry.id, key) == (1, False)
        assert len(reader.rows("SELECT * FROM response")) == 1
        assert store.tallies(entry.id, 0).respondents == 0, "it counts no more"
    assert store.rewrite(at_once=True)


def test_a_full_disk_does_not_undo_a_withdrawal(
    store: Store, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, _ = sent(store, entry)

    def full(**_: object) -> bool:
        raise StoreFailed("there is no room for a second copy.")

    monkeypatch.setattr(store, "rewrite", full)
    assert store.withdraw(entry.id, key) == (1, False)
    monkeypatch.undo()
    assert store.withdraw(entry.id, key) == (0, True)


AWKWARD = ("yes", "no & <never>", 'say "no"', "n\u00f3", "it's", "a\\b")


def test_what_is_said_without_script_is_as_long_whatever_was_sent(
    store: Store,
) -> None:
    """Also where labels hold what is written otherwise in JSON and in HTML."""
    dice = question("dice", k_ary(AWKWARD, p="1/2"), device="physical")
    survey = small(name="dice", questions=(dice,), groups=())
    store.create(survey)
    store.open("dice")
    with Inside(make_app(Settings(), store)) as collector:
        pages = [
            collector.ask(
                "POST", "/s/dice?lang=en", f"consent=yes&key={os.urandom(16).hex()}&q-1={code:02}&form=abc".encode(),
                content_type="application/x-www-form-urlencoded", cookie="deniable-form=abc",
            )
            for code in range(len(AWKWARD))
        ]  # fmt: skip
    assert {page.status for page in pages} == {200}
    assert len({len(page.body) for page in pages}) == 1


def test_a_page_without_script_says_which(
    store: Store, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Inside(make_app(Settings(), store)) as collector:
        for said, overwritten in (("done", True), ("soon", False), ("none", True)):
            monkeypatch.setattr(store, "rewrite", lambda done=overwritten, **_: done)
            for language in LANGUAGES:
                key = sent(store, entry)[0] if said != "none" else bytes(16)
                page = collector.ask(
                    "POST", f"/s/browser?lang={language}", f"withdraw={key.hex()}&form=abc".encode(),
                    content_type="application/x-www-form-urlencoded", cookie="deniable-form=abc",
                )  # fmt: skip
                words = locale(language).words["withdraw"]
                assert page.status == 200
                assert [
                    name
                    for name in ("done", "soon", "none")
                    if words[name] in page.body.decode()
                ] == [said]
    monkeypatch.undo()
