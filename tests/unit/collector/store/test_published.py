"""What analysts are shown changes in steps of at least the minimum, on SQLite and on Postgres."""

from __future__ import annotations

import secrets
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.collector.store import Entry, Sent, Store, Submission
from deniable.collector.store.published import REST, Cell, _due
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies
from tests.support.surveys import small

MINIMUM = 5


@pytest.fixture
def entry(store: Store) -> Entry:
    store.create(small(minimum=MINIMUM))
    return store.open("small")


def send(store: Store, entry: Entry, count: int, code: int = 0, group: int | None = None) -> list[bytes]:
    """Let so many people respond to the first question; return their keys."""
    keys = [secrets.token_bytes(16) for _ in range(count)]
    sent = [Submission(entry.id, key, group, (Sent(0, 0, code),)) for key in keys]
    assert store.add(sent) == ["stored"] * count
    return keys


def look(store: Store, entry: Entry, group: int | None = None) -> list[int]:
    """Return the counts that are shown of the first question."""
    store.publish(entry.id, 0)
    found = store.tallies(entry.id, 0, group, shown=True)
    assert isinstance(found, Tally)
    return [int(each) for each in found.counts]


def test_what_is_shown_changes_in_steps(store: Store, entry: Entry) -> None:
    send(store, entry, 4, 0)
    assert look(store, entry) == [0, 0]
    send(store, entry, 1, 1)
    assert look(store, entry) == [4, 1]
    send(store, entry, 4, 1)
    assert look(store, entry) == [4, 1]
    send(store, entry, 3, 0)
    assert look(store, entry) == [7, 5], "all seven since the last step"


def test_withdrawals_open_no_smaller_view(store: Store, entry: Entry) -> None:
    """Fill a group up, look, take the fakes back, and wait for the next person: nobody after the first is read."""
    send(store, entry, 1, 1, group=0)
    fakes = send(store, entry, 4, 0, group=0)
    assert look(store, entry, 0) == [4, 1]
    for key in fakes:
        store.withdraw(entry.id, key)
    assert look(store, entry, 0) == [4, 1]
    send(store, entry, 1, 1, group=0)
    fakes = send(store, entry, 4, 0, group=0)
    assert look(store, entry, 0) == [4, 1]
    assert store.tallies(entry.id, 0, 0).respondents == 6


def test_groups_that_are_too_small_are_not_in_the_total_either(store: Store, entry: Entry) -> None:
    send(store, entry, 7, 0, group=0)
    send(store, entry, 2, 1, group=1)
    send(store, entry, 5, 0)
    assert look(store, entry) == [12, 0]
    assert look(store, entry, 1) == [0, 0]


def test_the_rest_is_shown_of_everybody_when_a_survey_has_ended(store: Store, entry: Entry) -> None:
    send(store, entry, 5, 0, group=0)
    assert look(store, entry) == [5, 0]
    send(store, entry, 3, 1, group=0)
    send(store, entry, 2, 1, group=1)
    assert look(store, entry) == [5, 0]
    store.close("small")
    assert look(store, entry) == [5, 5]
    assert look(store, entry, 0) == [5, 0], "neither group by itself"
    assert look(store, entry, 1) == [0, 0]
    assert store.stages_complete(entry.id, 0) == 1
    store.open("small")
    send(store, entry, 6, 0, group=0)
    assert look(store, entry, 0) == [5, 0], "who is in the rest is not counted a second time"
    assert look(store, entry) == [11, 5]


def test_a_rest_that_is_too_small_stays_unseen(store: Store, entry: Entry) -> None:
    send(store, entry, 5, 0)
    assert look(store, entry) == [5, 0]
    send(store, entry, 4, 1)
    for _ in range(3):
        store.close("small")
        assert look(store, entry) == [5, 0]
        assert store.stages_complete(entry.id, 0) == 0
        store.open("small")
    send(store, entry, 1, 1)
    assert look(store, entry) == [5, 5]


def raised(store: Store, entry: Entry, keys: list[bytes], stages: int) -> None:
    sent = tuple(Sent(1, stage, 0) for stage in range(stages))
    assert store.add([Submission(entry.id, key, None, sent) for key in keys]) == ["stored"] * len(keys)


def seen(store: Store, entry: Entry) -> list[int]:
    """Return how many are shown at each stage of the question that has some."""
    store.publish(entry.id, 1)
    found = store.tallies(entry.id, 1, shown=True)
    assert isinstance(found, StageTallies)
    assert found.respondents == found.seen[0].respondents
    return [each.respondents for each in found.seen]


def test_stages_have_steps_of_their_own(store: Store, entry: Entry) -> None:
    keys = [secrets.token_bytes(16) for _ in range(12)]
    raised(store, entry, keys, 1)
    raised(store, entry, keys[:4], 2)
    assert seen(store, entry) == [12, 0, 0], "four are too few for a stage"
    raised(store, entry, keys[4:6], 2)
    assert seen(store, entry) == [12, 6, 0]
    raised(store, entry, keys[6:10], 3)
    assert seen(store, entry) == [12, 6, 0]
    raised(store, entry, keys[:6], 3)
    assert seen(store, entry) == [12, 6, 0], (
        "ten have sent the last stage, and not all of them are shown at the one before"
    )
    store.close("small")
    assert seen(store, entry) == [12, 6, 0]
    assert store.stages_complete(entry.id, 1) == 1


def test_somebody_else_in_the_place_of_who_withdrew_is_not_counted_below_nothing(store: Store, entry: Entry) -> None:
    keys = [secrets.token_bytes(16) for _ in range(5)]
    raised(store, entry, keys, 1)
    assert seen(store, entry) == [5, 0, 0]
    store.withdraw(entry.id, keys[0])
    other = secrets.token_bytes(16)
    sent = (Sent(1, 0, 1), Sent(1, 1, 1))
    assert store.add([Submission(entry.id, other, None, sent)]) == ["stored"]
    raised(store, entry, keys[1:], 2)
    assert seen(store, entry) == [5, 0, 0]


@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(1, 7), st.booleans()), max_size=30), st.integers(1, 8))
def test_copies_are_of_different_people_and_grow_by_the_minimum(
    events: list[tuple[int, int, bool]], minimum: int
) -> None:
    """People of some group come, and somebody looks; the survey ends and begins again at any time."""
    stored: Counter[Cell] = Counter()
    shown: Counter[Cell] = Counter()
    for group, people, over in events:
        stored[Cell(0, group)] += people
        started = shown[Cell(0, REST)] > 0
        for cell in _due(dict(stored), dict(shown), minimum, groups=not started, rest=started or over):
            whole = stored[cell] if cell.group != REST else stored.total() - (shown.total() - shown[cell])
            assert whole - shown[cell] >= minimum
            shown[cell] = whole
        assert shown.total() <= stored.total()
        if started or over:
            assert stored.total() - shown.total() < minimum


def test_many_withdrawals_open_no_smaller_view_either(store: Store, entry: Entry) -> None:
    keys = send(store, entry, 3 * MINIMUM, 0)
    assert look(store, entry) == [15, 0]
    for key in keys[: 2 * MINIMUM]:
        store.withdraw(entry.id, key)
    assert look(store, entry) == [15, 0]


def test_no_stage_is_due_whose_people_are_not_all_shown_at_the_one_before() -> None:
    stored, shown = {Cell(0, 0): 14, Cell(1, 0): 14}, {Cell(0, 0): 10}
    assert list(_due(stored, shown, 5, groups=True, rest=False)) == []
    assert list(_due(stored, shown, 4, groups=True, rest=False)) == [Cell(0, 0), Cell(1, 0)]
    assert list(_due(stored, {Cell(0, 0): 14}, 5, groups=True, rest=False)) == [Cell(1, 0)]
