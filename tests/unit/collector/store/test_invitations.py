"""One-time invitations: good for one respondent, and not to be joined with responses afterwards."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import pytest

from deniable import blind
from deniable.collector.store import (
    Entry,
    Exchange,
    NotStored,
    Sent,
    Store,
    Submission,
    credentials,
    responses,
)
from deniable.collector.store.base import Admission, Invitations
from deniable.errors import DeniableError, InvalidRequest, NotAllowed
from tests.support.surveys import small


@pytest.fixture
def entry(store: Store) -> Entry:
    """The small survey by invitation, open."""
    store.create(small(admission="invitation"))
    return store.open("small")


def invitations(store: Store, name: str) -> Invitations:
    """Return how many invitations a survey has, and how many were used."""
    with store.transaction(write=False) as tables:
        return credentials.invitations(tables, store.survey(name).id)


def test_analysts_see_used_invitations_in_steps_of_the_minimum(store: Store) -> None:
    """Whoever looks after each use sees the count change once in so many, and so not when each was used."""
    store.create(small(admission="invitation", minimum=5))
    entry = store.open("small")
    seen = []
    for code in store.invite("small", 12):
        admitted(store, entry, code)
        seen.append(
            store.read_shown(lambda reader: reader.invitations(entry.id).used)
        )
    assert seen == [0] * 4 + [5] * 5 + [10] * 3


def admitted(store: Store, entry: Entry, code: str) -> Admission:
    """Exchange an invitation as a respondent does."""
    assert entry.public is not None
    message = os.urandom(32)
    blinded, factor = blind.blind(message, entry.public)
    signed = store.exchange("small", code, blinded)
    return Admission(message, blind.unblind(message, signed, factor, entry.public))


def submit(
    entry: Entry, admission: Admission | None, key: bytes = b"k" * 16, *sent: Sent
) -> Submission:
    return Submission(entry.id, key, None, sent or (Sent(0, 0, 1),), admission)


def refused(store: Store, submission: Submission) -> DeniableError:
    outcome = store.add([submission])[0]
    assert isinstance(outcome, NotStored)
    return outcome.error


def test_an_invitation_admits_one_respondent(store: Store, entry: Entry) -> None:
    token = admitted(store, entry, store.invite("small", 1)[0])
    assert store.add([submit(entry, token)]) == ["stored"]
    assert store.add([submit(entry, token)]) == ["repeated"]
    assert "used already" in str(refused(store, submit(entry, token, b"x" * 16)))
    assert store.tallies(entry.id, 0).respondents == 1


def test_who_was_invited_to_a_draft_is_invited_to_what_takes_its_place(
    store: Store,
) -> None:
    store.create(small(name="later", admission="invitation"))
    code = store.invite("later", 1)[0]
    store.exchange("later", code, 2)
    store.create(small(name="later", admission="invitation", minimum=5))
    assert store.exchange("later", code, 3) > 0
    assert invitations(store, "later") == (1, 1)


def test_two_keys_with_one_token_in_one_transaction(
    store: Store, entry: Entry
) -> None:
    token = admitted(store, entry, store.invite("small", 1)[0])
    outcomes = store.add(
        [submit(entry, token, b"a" * 16), submit(entry, token, b"b" * 16)]
    )
    assert outcomes[0] == "stored"
    assert isinstance(outcomes[1], NotStored)


def test_whoever_was_admitted_may_send_more_later(
    store: Store, entry: Entry
) -> None:
    token = admitted(store, entry, store.invite("small", 1)[0])
    store.add([submit(entry, token)])
    assert store.add([submit(entry, token, b"k" * 16, Sent(2, 0, 5))]) == ["stored"]
    assert store.add([submit(entry, None, b"k" * 16, Sent(1, 0, 1))]) == [
        "stored"
    ], "the key is known"
    other = admitted(store, entry, store.invite("small", 1)[0])
    assert store.add([submit(entry, other, b"k" * 16)]) == ["repeated"]
    assert store.add([submit(entry, other, b"o" * 16)]) == ["stored"], (
        "a token that was not needed is still good"
    )


def test_a_refused_submission_does_not_use_up_the_token(
    store: Store, entry: Entry
) -> None:
    token = admitted(store, entry, store.invite("small", 1)[0])
    assert refused(store, submit(entry, token, b"k" * 16, Sent(0, 0, 9)))
    assert store.add([submit(entry, token)]) == ["stored"]


def test_without_a_good_token_nobody_is_admitted(store: Store, entry: Entry) -> None:
    token = admitted(store, entry, store.invite("small", 1)[0])
    store.create(small(name="other", admission="invitation"))
    other = store.open("other")
    for wrong in (
        None,
        token._replace(signature=token.signature + 1),
        token._replace(message=b"m" * 32),
    ):
        assert isinstance(refused(store, submit(entry, wrong)), NotAllowed)
    assert isinstance(refused(store, submit(other, token)), NotAllowed)
    assert (
        store.tallies(entry.id, 0).respondents
        == store.tallies(other.id, 0).respondents
        == 0
    )


def test_a_code_is_exchanged_once(store: Store, entry: Entry) -> None:
    code, unused = store.invite(entry.survey.name, 2)
    signature = store.exchange("small", code, 12345)
    assert store.exchange("small", code, 12345) == signature, (
        "for those whose connection broke"
    )
    for wrong in (code, code + "x", "", "in_\ud800"):
        with pytest.raises(NotAllowed, match="unknown, or was used"):
            store.exchange("small", wrong, 54321)
    assert invitations(store, "small") == Invitations(made=2, used=1)
    store.create(small(name="other", admission="invitation"))
    with pytest.raises(NotAllowed):
        store.exchange("other", unused, 1)


def test_what_cannot_be_signed_leaves_the_invitation_good(
    store: Store, entry: Entry
) -> None:
    (code,) = store.invite("small", 1)
    assert entry.public is not None
    for wrong in (0, -1, entry.public.modulus):
        with pytest.raises(InvalidRequest, match="modulus"):
            store.exchange("small", code, wrong)
    assert invitations(store, "small").used == 0
    assert admitted(store, entry, code)


def test_only_surveys_by_invitation_have_them(store: Store, entry: Entry) -> None:
    store.create(small(name="open"))
    with pytest.raises(NotAllowed, match="open to everybody"):
        store.invite("open", 1)
    for count in (0, -1, 1_000_001):
        with pytest.raises(InvalidRequest, match="1 to 1,000,000"):
            store.invite(entry.survey.name, count)


def test_nothing_that_is_stored_joins_an_invitation_with_a_response(
    store: Store, entry: Entry
) -> None:
    """Any pairing of signings and tokens fits as well as the true one: for each there is a blinding factor.

    This is what a collector who keeps everything that it ever sees could go by, and all pairs look alike.
    """
    assert entry.public is not None
    modulus = entry.public.modulus
    seen, tokens = [], []
    for code in store.invite("small", 4):
        message = os.urandom(32)
        blinded, factor = blind.blind(message, entry.public)
        signed = store.exchange("small", code, blinded)
        seen.append((blinded, signed))
        tokens.append(
            Admission(message, blind.unblind(message, signed, factor, entry.public))
        )
    for number, token in enumerate(tokens):
        assert store.add([submit(entry, token, bytes([number] * 16))]) == ["stored"]
    for blinded, signed in seen:
        for token in tokens:
            factor = signed * pow(token.signature, -1, modulus) % modulus
            assert pow(token.signature * factor, blind.EXPONENT, modulus) == blinded
    assert not set(_stored(store, "invitation")) & set(
        _stored(store, "spent", "response")
    )
    assert {hashlib.sha256(token.message).digest() for token in tokens} <= set(
        _stored(store, "spent")
    )


def _stored(store: Any, *tables: str) -> list[bytes]:
    """All bytes that lie in tables."""
    with store.transaction(write=False) as opened:
        rows = [
            row for table in tables for row in opened.rows(f"SELECT * FROM {table}")
        ]
    return [
        bytes(value)
        for row in rows
        for value in row
        if isinstance(value, bytes) and len(value) >= 16
    ]


def with_code(entry: Entry, code: str, key: bytes, *sent: Sent) -> Submission:
    return Submission(entry.id, key, None, sent or (Sent(0, 0, 1),), None, code)


def test_without_script_an_invitation_is_used_with_the_response_or_not_at_all(
    store: Store, entry: Entry
) -> None:
    """One transaction: a response that is refused, or a database that fails, leaves the invitation as it was."""
    (code,) = store.invite("small", 1)
    assert "no response" in str(
        refused(store, with_code(entry, code, b"k" * 16, Sent(0, 0, 9)))
    )
    assert invitations(store, "small") == Invitations(1, 0)
    with pytest.MonkeyPatch.context() as patched:
        # the last thing that is written
        patched.setattr(responses, "count_days", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            store.add([with_code(entry, code, b"k" * 16)])
    assert invitations(store, "small") == Invitations(1, 0)
    assert store.add([with_code(entry, code, b"k" * 16)]) == ["stored"]
    assert store.add([with_code(entry, code, b"k" * 16)]) == ["repeated"], (
        "sent twice from one page"
    )
    assert invitations(store, "small") == Invitations(1, 1)
    assert "used already" in str(refused(store, with_code(entry, code, b"o" * 16)))


def test_nothing_that_is_stored_tells_who_had_no_script(
    store: Store, entry: Entry
) -> None:
    """Beside the hash of the code, by which it is known, nothing that a code is used with can be worked out from it."""
    codes = store.invite("small", 3)
    for number, code in enumerate(codes):
        store.add([with_code(entry, code, bytes([number] * 16))])
    known = [
        *(code.encode() for code in codes),
        *(bytes([n] * 16) for n in range(3)),
    ]
    hashes = {hashlib.sha256(each).digest() for each in known}
    with store.transaction(write=False) as tables:
        spent = {bytes(each) for (each,) in tables.rows("SELECT hash FROM spent")}
        used = {
            bytes(each) for (each,) in tables.rows("SELECT used FROM invitation")
        }
    assert len(spent) == len(used) == 3
    assert not spent & used
    assert not (spent | used) & hashes


def test_without_script_an_invitation_admits_one_also_in_one_transaction(
    store: Store, entry: Entry
) -> None:
    (code,) = store.invite("small", 1)
    both = [with_code(entry, code, b"a" * 16), with_code(entry, code, b"b" * 16)]
    outcomes = store.add(both)
    assert outcomes[0] == "stored"
    assert isinstance(outcomes[1], NotStored)
    assert isinstance(
        store.add([with_code(entry, "in_made_up", b"c" * 16)])[0], NotStored
    )
    assert store.tallies(entry.id, 0).respondents == 1


@pytest.mark.usefixtures("entry")
def test_many_exchanges_in_one_transaction_are_each_answered(store: Store) -> None:
    codes = store.invite("small", 3)
    asked = [Exchange("small", code, number) for number, code in enumerate(codes, 2)]
    wrong = [Exchange("small", "in_made_up", 2), Exchange("nowhere", codes[0], 2)]
    signed = store.exchange_all([*asked, *wrong])
    assert signed[:3] == [store.exchange(*each) for each in asked], "the same again"
    assert all(isinstance(each, NotStored) for each in signed[3:])
    assert invitations(store, "small") == Invitations(3, 3)
