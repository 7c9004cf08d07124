"""A pilot is a survey of its own: nothing of it mixes with the survey, and all of it is erased when it ends."""

from __future__ import annotations

import os

import pytest

from deniable import blind
from deniable.collector.store import Entry, NotStored, Sent, Store, Submission
from deniable.collector.store.base import Admission
from deniable.collector.store.schema import TABLES
from deniable.errors import InvalidRequest, NotAllowed
from tests.support.surveys import small

HELD = [
    table
    for table, columns in TABLES.items()
    if "survey" in columns and table != "token"
]


def rows(store: Store, survey: int) -> dict[str, int]:
    """Return how many rows each table has of a survey."""
    with store.transaction(write=False) as tables:
        return {
            each: tables.value(
                f"SELECT count(*) FROM {each} WHERE survey = ?", survey
            )
            for each in HELD
        }


def sent(store: Store, entry: Entry) -> Submission:
    """Send a response; where the survey is by invitation, with a token."""
    key, admission = os.urandom(16), None
    if entry.public is not None:
        [code] = store.invite(entry.survey.name, 1)
        message = os.urandom(32)
        blinded, factor = blind.blind(message, entry.public)
        signed = store.exchange(entry.survey.name, code, blinded)
        admission = Admission(
            message, blind.unblind(message, signed, factor, entry.public)
        )
    made = Submission(entry.id, key, 0, (Sent(0, 0, 1),), admission)
    assert store.add([made]) == ["stored"]
    return made


@pytest.fixture
def pilot(store: Store) -> Entry:
    """The pilot of the small survey, by invitation."""
    store.create(small(admission="invitation"))
    return store.start_pilot("small")


def test_a_pilot_asks_the_same_under_another_name_and_hash(
    store: Store, pilot: Entry
) -> None:
    survey, draft = pilot.survey, store.survey("small")
    assert (survey.name, survey.pilot, pilot.state, draft.state) == (
        "small-pilot",
        True,
        "open",
        "draft",
    )
    assert survey.questions[0].design == draft.survey.questions[0].design
    assert survey.hash != draft.survey.hash
    assert pilot.public != draft.public, "a token of one admits nobody to the other"


@pytest.mark.parametrize("ending", ["opened", "ended"])
def test_nothing_of_a_pilot_is_left(store: Store, pilot: Entry, ending: str) -> None:
    submission = sent(store, pilot)
    store.invite("small-pilot", 5)
    with store.transaction() as tables:
        # as if enough had come to be shown
        tables.run("INSERT INTO published SELECT * FROM tally")
    held = {
        "response": 1,
        "tally": 1,
        "published": 1,
        "day": 1,
        "invitation": 6,
        "spent": 1,
    }
    assert rows(store, pilot.id) == dict.fromkeys(HELD, 0) | held
    store.rewrite(at_once=True)
    assert rows(store, pilot.id) == dict.fromkeys(HELD, 0) | held | {
        "response": 0,
        "run": 1,
        "pack": 1,
    }
    if ending == "opened":
        store.open("small")
    else:
        assert store.end_pilot("small").state == "ended"
    assert rows(store, pilot.id) == dict.fromkeys(HELD, 0)
    with store.transaction(write=False) as tables:
        assert (
            tables.value("SELECT private FROM survey WHERE id = ?", pilot.id) == ""
        ), "nobody signs for it again"
    assert store.survey("small-pilot").state == "ended"
    assert store.tallies(pilot.id, 0).respondents == 0
    (refused,) = store.add([submission])
    assert isinstance(refused, NotStored)
    assert "has ended" in refused.reason


def test_the_field_starts_from_nothing(store: Store, pilot: Entry) -> None:
    admission = sent(store, pilot).admission
    entry = store.open("small")
    assert rows(store, entry.id) == dict.fromkeys(HELD, 0)
    refused = store.add(
        [Submission(entry.id, os.urandom(16), None, (Sent(0, 0, 1),), admission)]
    )
    assert isinstance(refused[0], NotStored), "a token of the pilot"
    sent(store, entry)
    assert store.tallies(entry.id, 0).respondents == 1


def test_invitations_of_the_survey_are_left_alone(store: Store) -> None:
    """Codes of a draft are for the survey: the pilot neither takes nor erases them."""
    draft = store.create(small(admission="invitation"))
    [code] = store.invite("small", 1)
    store.start_pilot("small")
    with pytest.raises(NotAllowed, match="unknown"):
        store.exchange("small-pilot", code, 2)
    store.end_pilot("small")
    entry = store.open("small")
    assert (entry.id, entry.survey.hash) == (draft.id, draft.survey.hash), (
        "what was signed and linked still holds"
    )
    assert store.exchange("small", code, 2) > 0


def test_a_pilot_can_be_closed_looked_at_and_started_again(
    store: Store, pilot: Entry
) -> None:
    sent(store, pilot)
    assert store.close("small-pilot").state == "closed"
    assert store.tallies(pilot.id, 0).respondents == 1, "until it is ended"
    with pytest.raises(NotAllowed, match="runs already"):
        store.start_pilot("small")
    store.end_pilot("small")
    for call in (store.open, store.close):
        with pytest.raises(NotAllowed, match="has ended"):
            call("small-pilot")
    again = store.start_pilot("small")
    assert again.id > pilot.id, "numbers are not used twice"
    assert store.tallies(again.id, 0).respondents == 0


def test_what_is_no_draft_has_no_pilot(store: Store) -> None:
    store.create(small())
    with pytest.raises(NotAllowed, match="has no pilot"):
        store.end_pilot("small")
    store.open("small")
    with pytest.raises(NotAllowed, match="expected a draft"):
        store.start_pilot("small")
    with pytest.raises(InvalidRequest, match="expected the survey itself"):
        store.create(small().as_pilot())
    store.create(small(name="x" * 36))
    with pytest.raises(InvalidRequest, match="up to 40 letters"):
        store.start_pilot("x" * 36)


def test_a_pilot_takes_responses_before_the_survey_opens(store: Store) -> None:
    from datetime import date

    store.create(small(opens=date(2999, 1, 1)))
    sent(store, store.start_pilot("small"))
