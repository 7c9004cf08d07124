"""Programs that are killed while they store: what was acknowledged is there, and counted once."""

from __future__ import annotations

import os

import pytest

from deniable.collector.store import Entry, Sent, Store, Submission
from tests.support import collector_kills


@pytest.mark.skipif(not hasattr(os, "fork"), reason="programs are forked")
def test_programs_that_are_killed_lose_nothing_and_count_nothing_twice(
    where: str,
) -> None:
    seen = collector_kills.run_apart(where, 6)
    assert seen.wrong == []
    assert seen.kills == 6
    assert min(seen.acknowledged, seen.interrupted) > 10, (
        "there was something to lose"
    )


def test_a_loss_would_be_found(store: Store, entry: Entry) -> None:
    """Something that was acknowledged and is not there; something that is there and was not counted."""
    lines: list[list[object]] = [["00" * 16, [[0, 0, 1]], None, ""]]
    seen = collector_kills.Seen()
    collector_kills.compare(store, entry, lines, seen)
    assert any("acknowledged and is not stored" in each for each in seen.wrong)
    assert any("sent again" in each for each in seen.wrong)


def test_a_wrong_count_would_be_found(store: Store, entry: Entry) -> None:
    store.add([Submission(entry.id, bytes(16), None, (Sent(0, 0, 1),))])
    with store.transaction() as tables:
        tables.run("DELETE FROM response")
    seen = collector_kills.Seen()
    collector_kills.compare(store, entry, [], seen)
    assert any("not those of the rows" in each for each in seen.wrong)
