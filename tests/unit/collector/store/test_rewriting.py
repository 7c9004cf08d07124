"""Everything is written anew when something was changed, and takes no more than its share of the time."""

from __future__ import annotations

import hashlib
import os

import pytest

from deniable.collector.store import Entry, Sent, Store, Submission, rewriting
from deniable.collector.store.rewriting import Rewriter


class Clock:
    """A clock that stands still, but while somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 100.0
        self.runs: list[float] = []
        self.done = True

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def work(self) -> bool:
        self.runs.append(self.now)
        self.now += 2.0
        return self.done


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(rewriting, "time", made)
    return made


def test_what_was_not_changed_is_left_alone(clock: Clock) -> None:
    rewriter = Rewriter(clock.work, 0.1)
    assert rewriter.pause is None
    assert rewriter.run()
    rewriter.note()
    assert rewriter.pause == 0
    assert rewriter.run()
    assert rewriter.run()
    assert clock.runs == [100]
    assert rewriter.pause is None


def test_it_takes_its_share_of_the_time_and_no_more(clock: Clock) -> None:
    rewriter = Rewriter(clock.work, 0.1)
    for _ in range(3):
        rewriter.note()
        rewriter.run()
    assert clock.runs == [100, 120, 140], "2 of 20 seconds"
    rewriter.note()
    assert rewriter.pause == pytest.approx(18)
    rewriter.run(at_once=True)
    assert clock.runs[-1] == 142


def test_what_is_changed_meanwhile_is_written_anew_again(clock: Clock) -> None:
    def work() -> bool:
        if len(clock.runs) < 2:
            rewriter.note()
        return clock.work()

    rewriter = Rewriter(work, 0.1)
    rewriter.note()
    for _ in range(2):
        assert rewriter.run()
        assert rewriter.pause == pytest.approx(18)
    assert rewriter.run()
    assert (len(clock.runs), rewriter.pause) == (3, None)


def test_what_could_not_be_done_is_done_again(clock: Clock) -> None:
    rewriter = Rewriter(clock.work, 0.1)
    rewriter.note()
    clock.done = False
    assert not rewriter.run()
    assert rewriter.pause == pytest.approx(18)
    clock.done = True
    assert rewriter.run()
    assert rewriter.pause is None


def test_while_it_lasts_it_is_expected_to_end_as_it_did_before(clock: Clock) -> None:
    """Who asks meanwhile waits for the end; only after a failure nothing is tried for a while."""
    pauses: list[float | None] = []

    def work() -> bool:
        pauses.append(rewriter.pause)
        return clock.work()

    rewriter = Rewriter(work, 0.1)
    for _ in range(2):
        rewriter.note()
        rewriter.run()
    assert pauses == [0, pytest.approx(20)]

    def fail() -> bool:
        raise OSError("the disk is full")

    rewriter = Rewriter(fail, 0.1)
    rewriter.note()
    with pytest.raises(OSError, match="full"):
        rewriter.run()
    assert rewriter.pause == pytest.approx(10)


def test_a_reader_who_stays_is_not_disturbed_and_keeps_nothing_for_ever(
    store: Store, entry: Entry
) -> None:
    keys = [os.urandom(16) for _ in range(3)]
    store.add(
        [Submission(entry.id, key, None, (Sent(0, 0, 1),)) for key in keys[:2]]
    )
    with store.transaction(write=False) as tables:
        assert tables.rows("SELECT count(*) FROM response") == [(2,)]
        store.add([Submission(entry.id, keys[2], None, (Sent(0, 0, 1),))])
        assert not store.rewrite(at_once=True), "old rows stay for whoever reads"
        assert tables.rows("SELECT count(*) FROM response") == [(2,)]
    assert store.rewrite(at_once=True)
    assert [store.stored(entry.id, key) for key in keys] == [(Sent(0, 0, 1),)] * 3


def test_tokens_that_were_spent_lie_in_the_order_of_their_hashes(
    store: Store, entry: Entry
) -> None:
    for number in range(40):
        token = hashlib.sha256(bytes([number])).digest()
        with store.transaction() as tables:
            tables.insert("spent", ("hash", "survey"), [(token, entry.id)])
    assert store.rewrite(at_once=True)
    with store.transaction(write=False) as tables:
        tokens = [bytes(token) for (token,) in tables.rows("SELECT hash FROM spent")]
    assert len(tokens) == 40
    assert tokens == sorted(tokens)
