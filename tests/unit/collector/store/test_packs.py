"""Responses in packs: nothing is counted twice, whoever stored it, and packs tell nothing but the responses in them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import numpy as np
import pytest

from deniable.chance import Source
from deniable.collector.store import (
    Batch,
    BatchOutcome,
    Entry,
    Sent,
    Store,
    Submission,
    id_filter,
    open_store,
    packs,
)
from deniable.collector.store.base import StoredQuestion, WithdrawalRequest

PEOPLE = 3000


def keys(count: int) -> list[bytes]:
    return [os.urandom(16) for _ in range(count)]


def batch(entry: Entry, people: list[bytes], code: int = 1) -> Batch:
    rows = np.frombuffer(b"".join(people), np.uint8).reshape(-1, 16)
    return Batch(entry.id, 0, 0, rows, np.full(len(people), code))


def alone(entry: Entry, people: list[bytes], code: int = 1) -> list[Submission]:
    return [Submission(entry.id, key, None, (Sent(0, 0, code),)) for key in people]


@pytest.fixture
def other(store: Store, entry: Entry, where: str) -> Iterator[Store]:  # noqa: ARG001 - opened when there is a survey
    """The store of another process on the same database."""
    opened = open_store(where)
    yield opened
    opened.shut()


def layout(store: Store) -> list[tuple[object, ...]]:
    with store.transaction(write=False) as tables:
        return tables.rows(
            "SELECT question, stage, piece, packed FROM pack ORDER BY question, stage, piece"
        )


def test_a_batch_is_one_run_and_all_become_one_when_everything_is_written_anew(
    store: Store, entry: Entry
) -> None:
    people = keys(PEOPLE)
    for at in range(0, PEOPLE, 1000):
        assert store.add_batch(batch(entry, people[at : at + 1000])) == BatchOutcome(
            1000, 0
        )
    store.add(alone(entry, mine := keys(20)))
    with store.transaction(write=False) as tables:
        assert [
            run.responses for run in packs.runs(tables, StoredQuestion(entry.id, 0))
        ] == [1000] * 3
    assert store.rewrite(at_once=True)
    with store.transaction(write=False) as tables:
        (run,) = packs.runs(tables, StoredQuestion(entry.id, 0))
        assert (run.responses, run.pieces, run.width) == (PEOPLE + 20, 8, 1)
        assert not tables.rows("SELECT 1 FROM response")
    assert all(
        store.stored(entry.id, key) == (Sent(0, 0, 1),)
        for key in (people + mine)[::50]
    )
    assert sum(len(piece) for piece in store.export(entry.id, 0)) == PEOPLE + 20


def test_packs_follow_from_the_responses_and_from_nothing_else(
    store: Store, entry: Entry
) -> None:
    """The same people in another order, in other batches and alone: not one byte differs."""
    people = keys(1200)
    store.add_batch(batch(entry, people))
    store.rewrite(at_once=True)
    first = layout(store)
    for key in people[:30]:
        store.withdraw(entry.id, key)
    store.add(alone(entry, people[:30]))
    store.rewrite(at_once=True)
    assert layout(store) == first


@pytest.mark.parametrize("left", [1, 300])
def test_packs_do_not_tell_that_somebody_has_withdrawn(
    store: Store, entry: Entry, left: int
) -> None:
    """Whoever is left lies as if nobody else had ever come."""
    people = keys(1200)
    store.add_batch(batch(entry, people))
    store.rewrite(at_once=True)
    store.erase([WithdrawalRequest(entry.id, key) for key in people[left:]])
    store.rewrite(at_once=True)
    after = layout(store)
    store.erase([WithdrawalRequest(entry.id, key) for key in people[:left]])
    store.rewrite(at_once=True)
    store.add_batch(batch(entry, people[:left]))
    store.rewrite(at_once=True)
    assert layout(store) == after


@pytest.mark.parametrize("size", [1, 7, 39, 40])
def test_batches_of_people_who_came_alone_before_count_nobody_again(
    store: Store, entry: Entry, size: int
) -> None:
    """However few of those who are stored one by one are in a batch, and whoever they are."""
    people = keys(40)
    store.add(alone(entry, people))
    for at in range(0, 40, size):
        part = people[at : at + size]
        assert store.add_batch(batch(entry, part)) == BatchOutcome(0, len(part))
    assert store.tallies(entry.id, 0).respondents == 40


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize(
    ("before", "people"), [("batch", 150), ("alone", 150), ("alone", 250)]
)
def test_what_another_process_stored_is_not_counted_again(
    store: Store, other: Store, entry: Entry, before: str, people: int, settled: bool
) -> None:
    """A batch is laid beside those who came alone where they are fewer, and else each of it is looked up."""
    known = keys(people)
    # from here on it remembers which ids there are
    store.add_batch(batch(entry, keys(200)))
    if before == "batch":
        other.add_batch(batch(entry, known))
    else:
        other.add(alone(entry, known))
    if settled:
        assert other.rewrite(at_once=True)
    assert store.add_batch(batch(entry, keys(100) + known[:100])) == BatchOutcome(
        100, 100
    )
    assert set(store.add(alone(entry, known))) == {"repeated"}
    assert store.tallies(entry.id, 0).respondents == 300 + people


def test_a_batch_in_which_somebody_stands_twice_counts_them_once(
    store: Store, entry: Entry
) -> None:
    people = keys(10)
    assert store.add_batch(batch(entry, people + people[:3])) == BatchOutcome(10, 3)


def test_who_withdraws_is_gone_from_the_pack_and_may_come_again(
    store: Store, entry: Entry
) -> None:
    people = keys(300)
    store.add_batch(batch(entry, people))
    assert store.withdraw(entry.id, people[0]) == (1, True)
    assert store.stored(entry.id, people[0]) == ()
    assert store.tallies(entry.id, 0).respondents == 299
    assert store.add_batch(batch(entry, people[:1], code=0)) == BatchOutcome(1, 0), (
        "the filter keeps back, nothing else"
    )
    assert store.stored(entry.id, people[0]) == (Sent(0, 0, 0),)


def test_a_run_whose_last_respondent_withdraws_is_gone(
    store: Store, entry: Entry
) -> None:
    (key,) = keys(1)
    store.add_batch(batch(entry, [key]))
    store.withdraw(entry.id, key)
    with store.transaction(write=False) as tables:
        assert packs.runs(tables, StoredQuestion(entry.id, 0)) == []
    assert layout(store) == []


def test_a_backup_does_not_tell_which_batch_a_response_came_in(
    store: Store, entry: Entry, tmp_path: object
) -> None:
    for _ in range(3):
        store.add_batch(batch(entry, keys(10)))
    store.backup(f"{tmp_path}/backup.db")
    copy = open_store(f"{tmp_path}/backup.db")
    with copy.transaction(write=False) as tables:
        assert [
            run.responses for run in packs.runs(tables, StoredQuestion(entry.id, 0))
        ] == [30]
    copy.shut()


def test_an_id_filter_lets_nothing_through_that_was_noted(seeded: Source) -> None:
    """Also where it is nearly full; of others it keeps back few."""
    found = np.frombuffer(
        seeded.read(16 * 150_000), np.dtype([("high", ">u8"), ("low", ">u8")])
    )
    mine, others = found[:100_000], found[100_000:]
    for size, most in ((4_000, 1.0), (100_000, 0.01)):
        made = id_filter.IdFilter(size)
        made.add_ids(mine)
        assert len(made.find_candidates(mine)) == len(mine)
        assert len(made.find_candidates(others)) <= most * len(others)


def test_an_id_filter_grows_with_what_is_stored(
    store: Store, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(id_filter, "_MIN_BITS", 1 << 8)
    sizes, people = [], keys(900)
    for at in range(0, 900, 300):
        assert store.add_batch(batch(entry, people[at : at + 300])) == BatchOutcome(
            300, 0
        )
        sizes.append(store._id_filters._kept[entry.id, 0].size)
    assert sizes == [1 << 8, 1 << 15, 1 << 15]
    assert store.add_batch(batch(entry, random.sample(people, 50))) == BatchOutcome(
        0, 50
    )
