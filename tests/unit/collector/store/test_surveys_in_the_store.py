"""Surveys are created, opened and closed, and cannot be changed once they were open."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from deniable.blind import Key
from deniable.collector import signing
from deniable.collector.store import (
    NoSuchSurvey,
    NotStored,
    Sent,
    Store,
    StoreFailed,
    Submission,
    Token,
    open_store,
)
from deniable.collector.store.schema import MIGRATIONS, PART
from deniable.db import applied_migrations
from deniable.designs import k_ary
from deniable.errors import InvalidRequest, MissingExtra, NotAllowed, UnreadableFile
from deniable.survey import Keys
from tests.support.surveys import question, small


def test_a_draft_can_be_replaced_and_an_open_survey_cannot(store: Store) -> None:
    first = store.create(small())
    second = store.create(small(minimum=7))
    assert second.id > first.id
    assert (second.state, store.survey("small").survey.minimum) == ("draft", 7)
    assert store.open("small").state == "open"
    with pytest.raises(NotAllowed, match="frozen"):
        store.create(small())
    assert store.close("small").state == "closed"
    with pytest.raises(NotAllowed, match="frozen"):
        store.create(small(minimum=7))
    assert store.open("small") == second._replace(state="open")
    assert store.surveys() == [second._replace(state="open")]


def test_unknown_surveys_are_named(store: Store) -> None:
    for call in (store.survey, store.open, store.close):
        with pytest.raises(NoSuchSurvey, match="'nothing'"):
            call("nothing")
    with pytest.raises(NoSuchSurvey, match="'nothing'"):
        store.invite("nothing", 1)
    with pytest.raises(NoSuchSurvey):
        store.tallies(99, 0)


def test_a_draft_cannot_be_closed(store: Store) -> None:
    store.create(small())
    with pytest.raises(NotAllowed, match="never open"):
        store.close("small")


def test_a_tally_that_would_not_fit_is_refused(store: Store) -> None:
    with pytest.raises(InvalidRequest, match="at most"):
        store.create(
            small(questions=(question("large", k_ary(10_000_000, epsilon=1)),))
        )
    assert store.surveys() == []


def test_surveys_by_invitation_have_a_key_of_their_own(store: Store) -> None:
    keys = [
        store.create(small(name=name, admission="invitation")).public
        for name in ("one", "two")
    ]
    assert all(isinstance(key, Key) for key in keys)
    assert keys[0] != keys[1]
    found = store.survey("one")
    assert found.survey.keys is not None
    assert found.public == found.survey.keys.tokens == keys[0]
    assert store.create(small()).public is None


def test_the_key_of_receipts_is_under_the_hash_of_every_definition(
    store: Store,
) -> None:
    entries = [
        store.create(small(name=name, admission=how))
        for name, how in (("a", "open"), ("b", "invitation"))
    ]
    assert {each.survey.keys.receipts for each in entries if each.survey.keys} == {
        signing.receipt_key(store)
    }
    assert entries[0].survey.hash != small(name="a").hash
    brought = small(name="c", keys=Keys("0" * 64))
    assert store.create(brought).survey.keys == Keys(signing.receipt_key(store)), (
        "keys of elsewhere are not taken over"
    )


def test_a_second_program_sees_what_the_first_has_done(
    store: Store, where: str
) -> None:
    other = open_store(where)
    assert store.surveys() == []
    entry = other.create(small())
    assert store.survey("small") == entry
    other.open("small")
    assert store.survey("small").state == "open"
    store.close("small")
    refused = other.add([Submission(entry.id, bytes(16), None, (Sent(0, 0, 0),))])
    assert "closed" in refused[0].reason  # type: ignore[union-attr]
    other.shut()


def test_days_are_kept(store: Store) -> None:
    store.create(small(opens=date(2026, 3, 1), closes=date(2026, 3, 2)))
    entry = store.open("small")
    for day, said in (
        (28, "opens on 2026-03-01"),
        (1, ""),
        (2, ""),
        (3, "closed on 2026-03-02, its last day"),
    ):
        store.today = lambda day=day: date(2026, 2 if day == 28 else 3, day)  # type: ignore[attr-defined,misc]
        outcome = store.add(
            [Submission(entry.id, bytes([day] * 16), None, (Sent(0, 0, 0),))]
        )[0]
        assert said in outcome.reason if isinstance(outcome, NotStored) else not said
    assert store.days(entry.id, 0) == [(date(2026, 3, 1), 1), (date(2026, 3, 2), 1)]


def test_tokens_are_scoped_rotated_and_revoked(store: Store) -> None:
    store.create(small())
    text = store.issue_token(Token("ann", "analyst", "small"))
    assert store.find_token(text) == Token("ann", "analyst", "small")
    with pytest.raises(InvalidRequest, match="already"):
        store.issue_token(Token("ann", "admin"))
    newer = store.rotate_token("ann")
    assert store.find_token(text) is None
    assert store.find_token(newer) == Token("ann", "analyst", "small")
    store.issue_token(Token("root", "admin"))
    assert [each.name for each in store.tokens()] == ["ann", "root"]
    store.revoke_token("ann")
    assert store.find_token(newer) is None
    for call in (store.revoke_token, store.rotate_token):
        with pytest.raises(InvalidRequest, match="'ann'"):
            call("ann")


def test_tokens_without_a_scope_or_a_survey_are_refused(store: Store) -> None:
    with pytest.raises(InvalidRequest, match="scope"):
        store.issue_token(Token("ann", "everything"))  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="no survey"):
        store.issue_token(Token("ann", "analyst", "nothing"))


def test_secrets_are_drawn_once(store: Store, where: str) -> None:
    secret = store.secret("receipts")
    assert len(secret) == 32
    assert store.secret("sessions") != secret
    other = open_store(where)
    assert other.secret("receipts") == secret
    other.shut()


def test_secrets_and_tokens_are_not_in_the_file_as_text(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")
    store.create(small(admission="invitation"))
    token, codes = store.issue_token(Token("ann", "admin")), store.invite("small", 3)
    store.shut()
    stored = (tmp_path / "store.db").read_bytes()
    assert not any(
        text.encode() in stored or text[3:].encode() in stored
        for text in [token, *codes]
    )


def test_a_database_of_a_later_version_is_left_alone(
    store: Store, where: str
) -> None:
    with store.transaction() as tables:
        assert applied_migrations(tables, PART) == {each.name for each in MIGRATIONS}
        tables.run("INSERT INTO migration VALUES (?, 'from the future')", PART)
    with pytest.raises(UnreadableFile, match="later version"):
        open_store(where)


def test_what_is_no_database_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    path.write_text(
        "This is not a database, but a longer text than the header of one would be. "
        * 20
    )
    with pytest.raises(StoreFailed, match="not a database"):
        open_store(path)
    with pytest.raises(StoreFailed, match="cannot open"):
        open_store(tmp_path / "missing" / "store.db")
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(MissingExtra, match="postgres"):
        open_store("postgresql://127.0.0.1/nothing")


def test_a_server_that_is_not_there_is_told_without_its_password(
    postgres_server: str,
) -> None:
    assert postgres_server
    with pytest.raises(StoreFailed, match="could not be read") as caught:
        open_store(
            "postgresql://somebody:secret-word@127.0.0.1:1/nothing?connect_timeout=1"
        )
    assert "secret-word" not in str(caught.value)


def test_a_store_answers_or_says_that_it_does_not(
    store: Store, tmp_path: Path
) -> None:
    store.check()
    other = open_store(tmp_path / "other.db")
    with other.transaction() as tables:
        tables.run("DROP TABLE secret")
    with pytest.raises(StoreFailed, match="nothing was changed"):
        other.check()
    other.shut()
