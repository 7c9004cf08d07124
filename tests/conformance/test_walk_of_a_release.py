"""How many files one has to read to follow a release from the ledger to the disk and back."""

from __future__ import annotations

from pathlib import Path

import pytest

import deniable as dn
from tests.support.walks import walk

HABIT = ["never", "once", "often"]
# files; a second stage adds the table of closed forms and the step that it finds there
FIRST, RAISED = 12, 13


@pytest.mark.parametrize("planned", [False, True])
def test_a_release_is_followed_through_few_files(
    tmp_path: Path, planned: bool
) -> None:
    first, second = (dn.k_ary(HABIT, epsilon=epsilon) for epsilon in (1, 2))
    with dn.Ledger.create(tmp_path / "mine.ledger", budget=3) as ledger:
        ledger.answer(
            "smoking",
            "once",
            about=dn.ladder([first, second]) if planned else first,
            budget=2,
        )
        # What refuses a wrong argument is not part of the way.
        one = set(walk(lambda: ledger.release("smoking", first))) - {"errors.py"}
        two = set(walk(lambda: ledger.release("smoking", second))) - {"errors.py"}
    assert len(one) <= FIRST, sorted(one)
    assert len(two) <= RAISED, sorted(two)
    assert {
        "release/ledger.py",
        "release/stages.py",
        "release/book.py",
        "db/database.py",
    } <= one
