"""Many who wait, few transactions; whoever is told "stored" is durable."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from deniable.collector.intake import SubmissionWriter
from deniable.collector.store import (
    Batch,
    Exchange,
    NotStored,
    Outcome,
    Sent,
    Store,
    StoreFailed,
    Submission,
    open_store,
)
from deniable.collector.store.base import Erasure, WithdrawalRequest
from tests.support.surveys import small


class Slow:
    """A store whose first transaction takes as long as the test wants, and that notes how much came at a time."""

    rewrite_pause: float | None = None
    rewrite_lasts = 0.0
    erase = None

    def is_pool(self, works: Sequence[object]) -> bool:
        return bool(works)

    def __init__(self, error: Exception | None = None) -> None:
        self.sizes: list[int] = []
        self.go = threading.Event()
        self.error = error

    def add(self, submissions: Sequence[Submission]) -> list[Outcome]:
        self.sizes.append(len(submissions))
        assert self.go.wait(10)
        if self.error:
            raise self.error
        return ["stored" for _ in submissions]

    def exchange_all(self, asked: Sequence[Exchange]) -> list[int]:
        return [each.blinded for each in asked]


class Withdrawing:
    """A store from which three responses are erased, and that is written anew, or not, or fails."""

    rewrite_pause = 0.0
    rewrite_lasts = 0.0
    add = exchange_all = None

    def __init__(self, settles: bool | None) -> None:
        self.settles = settles

    def is_pool(self, works: Sequence[object]) -> bool:
        return not works

    def erase(self, withdrawals: Sequence[object]) -> list[int]:
        return [3] * len(withdrawals)

    def rewrite(self, *, at_once: bool) -> bool:
        assert at_once
        if self.settles is None:
            raise StoreFailed("the disk is full")
        return self.settles


def one(number: int) -> Submission:
    return Submission(1, number.to_bytes(16, "big"), None, (Sent(0, 0, number % 2),))


def test_what_arrives_while_the_disk_is_busy_is_stored_together() -> None:
    store = Slow()

    async def run() -> list[Outcome]:
        with SubmissionWriter(cast(Store, store), hold=0, max_waiting=50) as writer:
            first = asyncio.create_task(writer.add(one(0)))
            while not store.sizes:
                await asyncio.sleep(0.001)
            others = [
                asyncio.create_task(writer.add(one(number)))
                for number in range(1, 121)
            ]
            await asyncio.sleep(0)
            store.go.set()
            return list(await asyncio.gather(first, *others))

    assert asyncio.run(run()) == ["stored"] * 121
    assert store.sizes == [1, 50, 50, 20]


def test_each_hears_of_its_own_outcome(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")
    store.create(small())
    entry = store.open("small")

    async def run() -> list[Outcome]:
        with SubmissionWriter(store, hold=0) as writer:
            wanted = [one(number)._replace(survey=entry.id) for number in range(200)]
            wrong = Submission(entry.id, bytes(16), None, (Sent(0, 0, 9),))
            return list(
                await asyncio.gather(
                    *(writer.add(each) for each in [*wanted, wrong, *wanted])
                )
            )

    outcomes = asyncio.run(run())
    assert outcomes[:200] == ["stored"] * 200
    assert isinstance(outcomes[200], NotStored)
    assert outcomes[201:] == ["repeated"] * 200
    assert store.tallies(entry.id, 0).respondents == 200
    store.shut()


def test_a_failing_database_is_told_to_everybody_and_the_writer_goes_on() -> None:
    store = Slow(StoreFailed("the disk is full"))
    store.go.set()

    async def run() -> None:
        with SubmissionWriter(cast(Store, store), hold=0) as writer:
            for _ in range(2):
                found: Any = await asyncio.gather(
                    writer.add(one(0)), writer.add(one(1)), return_exceptions=True
                )
                assert [str(each) for each in found] == ["the disk is full"] * 2
            store.error = None
            assert await writer.add(one(2)) == "stored"

    asyncio.run(run())


def test_who_has_gone_does_not_disturb_the_others() -> None:
    store = Slow()

    async def run() -> Outcome:
        with SubmissionWriter(cast(Store, store), hold=0) as writer:
            gone = asyncio.create_task(writer.add(one(0)))
            stays = asyncio.create_task(writer.add(one(1)))
            await asyncio.sleep(0)
            gone.cancel()
            await asyncio.sleep(0)
            store.go.set()
            return await stays

    assert asyncio.run(run()) == "stored"
    assert sum(store.sizes) == 2


def test_what_waits_at_the_end_is_stored_and_nothing_is_taken_after_it() -> None:
    store = Slow()

    async def run() -> None:
        writer = SubmissionWriter(cast(Store, store), hold=0)
        waiting = [
            asyncio.create_task(writer.add(one(number))) for number in range(3)
        ]
        await asyncio.sleep(0)
        store.go.set()
        await asyncio.to_thread(writer.close)
        assert await asyncio.gather(*waiting) == ["stored"] * 3
        with pytest.raises(StoreFailed, match="stopping"):
            await writer.add(one(4))

    asyncio.run(run())


def test_who_comes_alone_is_held_back_until_there_is_company() -> None:
    """The last one fills the pool; without it, everybody would wait for longer than any test."""
    store = Slow()
    store.go.set()

    async def run() -> list[Any]:
        with SubmissionWriter(cast(Store, store), pool=5, hold=3600) as writer:
            waiting = [
                asyncio.create_task(writer.add(one(number))) for number in range(4)
            ]
            done, _ = await asyncio.wait(waiting, timeout=0.1)
            assert not done
            assert not store.sizes
            signature = await writer.exchange(Exchange("small", "code", 7))
            return [signature, *await asyncio.gather(*waiting)]

    assert asyncio.run(run()) == [7, *["stored"] * 4]
    assert store.sizes == [4]


@pytest.mark.parametrize("settles", [True, False, None])
def test_who_withdraws_is_told_whether_it_was_overwritten(
    settles: bool | None,
) -> None:
    """Where the disk is full (None) that comes later, and nobody waits until there is room."""
    store = Withdrawing(settles)

    async def run() -> Erasure:
        with SubmissionWriter(cast(Store, store), hold=0) as writer:
            withdrawn = writer.withdraw(WithdrawalRequest(1, bytes(16)))
            return await asyncio.wait_for(withdrawn, 30)

    assert asyncio.run(run()) == Erasure(3, overwritten=bool(settles))


@pytest.mark.parametrize(
    ("submissions", "others", "alike"),
    [(20, 0, True), (25, 0, True), (19, 0, False), (20, 1, False), (0, 1, False)],
)
def test_a_pool_is_the_minimum_of_people_and_nothing_else(
    tmp_path: Path, submissions: int, others: int, alike: bool
) -> None:
    """Whoever only exchanges an invitation, or withdraws, hides among no submissions."""
    store = open_store(tmp_path / "store.db")
    store.create(small(minimum=20))
    entry = store.open("small")
    asked = [one(number)._replace(survey=entry.id) for number in range(submissions)]
    exchanges = [Exchange("small", "code", 7)] * others
    withdrawals = [WithdrawalRequest(entry.id, bytes(16))] * others
    for more in (exchanges, withdrawals):
        assert store.is_pool([*asked, *more]) == alike
    store.shut()


@pytest.mark.parametrize(
    ("people", "settled"), [((3,), True), ((20, 19), True), ((20, 25), False)]
)
def test_a_batch_is_settled_where_one_question_has_fewer_than_the_minimum(
    people: Sequence[int], settled: bool
) -> None:
    """Of many people few may have answered one question: the disk tells these from all others."""
    rewritten = []

    class Idle(Slow):
        def rewrite(self, *, at_once: bool = False) -> bool:
            rewritten.append(at_once)
            return True

    batches = [
        Batch(
            1,
            question,
            0,
            np.zeros((count, 16), np.uint8),
            np.zeros(count, np.int64),
            None,
        )
        for question, count in enumerate(people)
    ]
    store = Idle()
    with SubmissionWriter(cast(Store, store)) as writer:
        pass
    store.rewrite_pause = 0.0  # something is to be written anew, and may be
    writer.settle_batch(batches, 20)
    assert rewritten == [False] * settled


def test_who_has_waited_for_long_enough_is_stored_alone() -> None:
    store = Slow()
    store.go.set()

    async def run() -> Outcome:
        with SubmissionWriter(cast(Store, store), pool=5, hold=0.05) as writer:
            return await writer.add(one(1))

    assert asyncio.run(run()) == "stored"
