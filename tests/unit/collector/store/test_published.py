"""What analysts are shown changes in steps of at least the minimum, and is complete at the end, on both databases."""

from __future__ import annotations

import secrets
from collections import Counter
from datetime import date, timedelta
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.collector.store import (
    Batch,
    Entry,
    Sent,
    Store,
    Submission,
    open_store,
    responses,
)
from deniable.collector.store.published import (
    PUBLISHED,
    Cell,
    _fully_shown_stages,
    _stages_grown,
)
from deniable.collector.store.surveys import KnownSurvey
from deniable.errors import NotAllowed
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies
from tests.support.surveys import small

MINIMUM = 5


@pytest.fixture
def entry(store: Store) -> Entry:
    store.create(small(minimum=MINIMUM))
    return store.open("small")


def send(
    store: Store, entry: Entry, count: int, code: int = 0, group: int | None = None
) -> list[bytes]:
    """Let so many people respond to the first question, one after the other; return their keys."""
    keys = [secrets.token_bytes(16) for _ in range(count)]
    for key in keys:
        assert store.add(
            [Submission(entry.id, key, group, (Sent(0, 0, code),))]
        ) == ["stored"]
    return keys


def published_counts(
    store: Store, entry: Entry, question: int, group: int | None
) -> Tally | StageTallies:
    """Return the published counts of a group, large enough to be shown or not; None for everybody."""
    everybody = store.shown(entry.id, question).everybody.tally
    if group is None:
        return everybody
    column = KnownSurvey.from_entry(entry).columns[question]
    with store.transaction(write=False) as tables:
        return column.tally(column.read(tables, PUBLISHED, group))


def look(store: Store, entry: Entry, group: int | None = None) -> list[int]:
    """Return the counts that are shown of the first question."""
    found = published_counts(store, entry, 0, group)
    assert isinstance(found, Tally)
    return [int(each) for each in found.counts]


def test_what_is_shown_lags_one_whole_step_behind(
    store: Store, entry: Entry
) -> None:
    send(store, entry, 9, 0)
    assert (look(store, entry), store.shown(entry.id, 0).next_steps[None]) == (
        [0, 0],
        10,
    )
    send(store, entry, 1, 1)
    assert (look(store, entry), store.shown(entry.id, 0).next_steps[None]) == (
        [5, 0],
        15,
    ), "without the last five"
    send(store, entry, 4, 1)
    assert look(store, entry) == [5, 0]
    send(store, entry, 1, 1)
    assert (look(store, entry), store.shown(entry.id, 0).next_steps[None]) == (
        [9, 1],
        20,
    )


@pytest.mark.parametrize("people", [5, 9, 10, 14])
def test_all_is_shown_at_the_end_and_never_fewer_than_the_minimum_are_new(
    store: Store, entry: Entry, people: int
) -> None:
    told = [0]
    for _ in range(people):
        send(store, entry, 1)
        told.append(sum(look(store, entry)))
    store.close("small")
    told.append(sum(look(store, entry)))
    rises = [after - before for before, after in pairwise(told)]
    assert all(rise == 0 or rise >= MINIMUM for rise in rises), told
    assert told[-1] == people
    assert store.shown(entry.id, 0).complete_stages == 1


def test_a_survey_that_ends_by_its_date_shows_all(store: Store) -> None:
    today = date(2026, 6, 1)
    store.today = lambda: today
    store.create(small(minimum=MINIMUM, closes=today))
    entry = store.open("small")
    send(store, entry, 12)
    assert look(store, entry) == [5, 0]
    store.today = lambda: today + timedelta(days=1)
    assert look(store, entry) == [12, 0]
    assert store.shown(entry.id, 0).complete_stages == 1


def test_an_end_that_was_shown_stays_whatever_the_clock_says(store: Store) -> None:
    """A clock that is set back lets people respond after the end; what is shown takes no step with them."""
    today = date(2026, 6, 1)
    store.create(small(minimum=MINIMUM, closes=today))
    store.today = lambda: today
    entry = store.open("small")
    send(store, entry, 12)
    store.today = lambda: today + timedelta(days=1)
    assert look(store, entry) == [12, 0]
    store.today = lambda: today
    for _ in range(4 * MINIMUM):
        send(store, entry, 1, 1)
        assert look(store, entry) == [12, 0]


def test_fewer_than_the_minimum_are_never_shown(store: Store, entry: Entry) -> None:
    send(store, entry, MINIMUM - 1)
    for _ in range(2):
        store.close("small")
        assert look(store, entry) == [0, 0]
        assert store.shown(entry.id, 0).complete_stages == 0
        store.open("small")
    send(store, entry, 1)
    store.close("small")
    assert look(store, entry) == [5, 0]


def test_a_batch_is_shown_but_for_its_last_step(store: Store, entry: Entry) -> None:
    keys = np.frombuffer(secrets.token_bytes(16 * 100), np.uint8).reshape(-1, 16)
    store.add_batch(Batch(entry.id, 0, 0, keys, np.zeros(100, np.int64), None))
    assert look(store, entry) == [95, 0]


def test_programs_that_start_anew_or_share_a_database_show_no_fewer(
    where: str, store: Store, entry: Entry
) -> None:
    """The upcoming copy is in memory: each program has its own, and one that starts has none."""
    chance = Random("programs")
    programs = [store, *(open_store(where) for _ in range(2))]
    last = 0
    for people in range(1, 80):
        number = chance.randrange(3)
        if number and chance.random() < 0.1:
            programs[number].shut()
            programs[number] = open_store(where)
        send(programs[number], entry, 1)
        shown = sum(look(chance.choice(programs), entry))
        assert shown == last or shown - last >= MINIMUM
        assert not shown or people - shown >= MINIMUM
        last = shown
    assert last >= 30, "steps are taken all the same"
    for program in programs[1:]:
        program.shut()


def test_what_was_not_stored_is_not_shown(
    store: Store, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that fails at its end leaves no copy of its counts in memory."""
    send(store, entry, MINIMUM - 1, 0)
    with monkeypatch.context() as failing:
        failing.setattr(responses, "count_days", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            send(store, entry, 1, 1)
    send(store, entry, MINIMUM + 1, 0)
    assert look(store, entry) == [MINIMUM, 0]


def test_withdrawals_open_no_smaller_view(store: Store, entry: Entry) -> None:
    """Fill a group up, look, take the fakes back, and wait for the next person: nobody after the first is read."""
    send(store, entry, 1, 1, group=0)
    fakes = send(store, entry, 9, 0, group=0)
    assert look(store, entry, 0) == [4, 1]
    for key in fakes:
        store.withdraw(entry.id, key)
    assert look(store, entry, 0) == [4, 1]
    send(store, entry, 1, 1, group=0)
    send(store, entry, 9, 0, group=0)
    assert look(store, entry, 0) == [4, 1]
    assert store.tallies(entry.id, 0, 0).respondents == 11


def test_many_withdrawals_open_no_smaller_view_either(
    store: Store, entry: Entry
) -> None:
    keys = send(store, entry, 4 * MINIMUM, 0)
    assert look(store, entry) == [15, 0]
    for key in keys[: 3 * MINIMUM]:
        store.withdraw(entry.id, key)
    assert look(store, entry) == [15, 0]


def test_the_result_is_complete_also_where_few_are_new_because_people_withdrew(
    store: Store, entry: Entry
) -> None:
    keys = send(store, entry, 2 * MINIMUM, 0)
    assert look(store, entry) == [5, 0]
    for key in keys[-4:]:
        store.withdraw(entry.id, key)
    send(store, entry, 1, 1)
    store.close("small")
    assert look(store, entry) == [6, 1], "two more than before"
    assert store.shown(entry.id, 0).complete_stages == 1


def test_groups_that_are_too_small_are_not_in_the_total_either(
    store: Store, entry: Entry
) -> None:
    send(store, entry, 12, 0, group=0)
    send(store, entry, 2, 1, group=1)
    send(store, entry, 10, 0)
    assert look(store, entry) == [10, 0]
    assert look(store, entry, 1) == [0, 0]


def test_a_small_group_is_in_the_total_at_the_end_with_the_last_step_of_another(
    store: Store, entry: Entry
) -> None:
    send(store, entry, 12, 0, group=0)
    send(store, entry, 2, 1, group=1)
    assert look(store, entry) == [5, 0]
    store.close("small")
    assert look(store, entry) == [12, 2]
    assert look(store, entry, 0) == [5, 0], (
        "seven of the north and two of the south are told together"
    )
    assert look(store, entry, 1) == [0, 0]
    assert store.shown(entry.id, 0).complete_groups == frozenset()


def test_large_groups_are_whole_at_the_end(store: Store, entry: Entry) -> None:
    send(store, entry, 12, 0, group=0)
    send(store, entry, 6, 1, group=1)
    store.close("small")
    assert [look(store, entry, group) for group in (None, 0, 1)] == [
        [12, 6],
        [12, 0],
        [0, 6],
    ]
    assert store.shown(entry.id, 0).complete_groups == {0, 1}


def test_a_survey_whose_end_was_shown_is_not_opened_again(
    store: Store, entry: Entry
) -> None:
    """What came then, less what was shown, would be of few people: on the disk, and by opening and closing."""
    send(store, entry, 7, 0, group=0)
    store.close("small")
    store.open("small")
    send(store, entry, 1, 1, group=0)
    assert look(store, entry) == [0, 0], "the end that nobody saw has shown nothing"
    store.close("small")
    assert look(store, entry) == [7, 1]
    with pytest.raises(NotAllowed, match="could be told"):
        store.open("small")
    assert store.survey("small").state == "closed"
    assert look(store, entry) == [7, 1]


def raised(
    store: Store, entry: Entry, keys: list[bytes], stages: int, code: int = 0
) -> None:
    """Let people send so many stages of the second question, one after the other."""
    for key in keys:
        sent = tuple(Sent(1, stage, code) for stage in range(stages))
        assert store.add([Submission(entry.id, key, None, sent)]) == ["stored"]


def seen(store: Store, entry: Entry) -> list[int]:
    """Return how many are shown at each stage of the question that has some."""
    found = store.shown(entry.id, 1).everybody.tally
    assert isinstance(found, StageTallies)
    assert found.respondents == found.seen[0].respondents
    return [each.respondents for each in found.seen]


def people(count: int) -> list[bytes]:
    return [secrets.token_bytes(16) for _ in range(count)]


def test_stages_lag_a_step_of_their_own_and_end_complete(
    store: Store, entry: Entry
) -> None:
    raised(store, entry, people(6), 2)
    assert seen(store, entry) == [0, 0, 0]
    raised(store, entry, people(4), 2)
    assert seen(store, entry) == [5, 5, 0], "both lag by a step"
    raised(store, entry, people(4), 1)
    raised(store, entry, people(1), 2)
    assert seen(store, entry) == [10, 5, 0], (
        "one more is no step of the second stage"
    )
    raised(store, entry, people(2), 3)
    store.close("small")
    assert seen(store, entry) == [17, 13, 0], (
        "two are too few for a stage that was never shown"
    )
    assert store.shown(entry.id, 1).complete_stages == 2


def test_a_stage_moves_only_with_the_one_before(store: Store, entry: Entry) -> None:
    keys = people(10)
    raised(store, entry, keys, 1)
    assert seen(store, entry) == [5, 0, 0]
    raised(store, entry, keys, 2)
    assert seen(store, entry) == [5, 0, 0], (
        "those of the second stage are not all shown at the first"
    )
    store.close("small")
    assert seen(store, entry) == [10, 10, 0]


def test_who_withdrew_is_not_counted_below_nothing(
    store: Store, entry: Entry
) -> None:
    """Somebody who is shown at both stages withdraws, and was the only one with that response."""
    keys = people(5)
    raised(store, entry, keys[:1], 2, code=1)
    raised(store, entry, keys[1:] + people(5), 2)
    assert seen(store, entry) == [5, 5, 0]
    store.withdraw(entry.id, keys[0])
    raised(store, entry, people(30), 1)
    assert seen(store, entry) == [5, 5, 0], (
        "the first stage alone would have fewer than have raised it"
    )
    store.close("small")
    assert seen(store, entry) == [39, 9, 0]


@given(
    st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2)), max_size=80),
    st.integers(1, 6),
)
def test_groups_grow_by_the_minimum_and_so_does_what_is_left(
    events: list[tuple[int, int]], minimum: int
) -> None:
    """People of some group come and send some stages; whatever is shown, then and at the end, differs by enough."""
    stored: Counter[Cell] = Counter()
    upcoming: dict[Cell, int] = {}
    shown: dict[Cell, int] = {}
    for group, last in events:
        stored.update(Cell(stage, group) for stage in range(last + 1))
        for stepping, stages in _stages_grown(
            stored, upcoming, [minimum] * 3
        ).items():
            for cell in (Cell(stage, stepping) for stage in range(stages)):
                assert (
                    upcoming.get(cell, 0) == 0
                    or upcoming[cell] - shown.get(cell, 0) >= minimum
                )
                shown[cell], upcoming[cell] = upcoming.get(cell, 0), stored[cell]
    for stage in range(3):
        rises = {
            cell.group: stored[cell] - shown.get(cell, 0)
            for cell in stored
            if cell.stage == stage
        }
        assert all(
            rise >= minimum
            for group, rise in rises.items()
            if shown.get(Cell(stage, group))
        )
        apart = {
            group
            for group, stages in _fully_shown_stages(
                stored, shown, 3, minimum
            ).items()
            if stages > stage
        }
        assert all(rises[group] >= minimum for group in apart)
        left = sum(rises.values()) - sum(rises[group] for group in apart)
        assert left == 0 or left >= minimum or not apart
