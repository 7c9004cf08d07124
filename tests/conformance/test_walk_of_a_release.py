"""How many files one has to read to follow a release from the ledger to the disk and back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import deniable as dn

ROOT = Path(dn.__file__).parent
HABIT = ["never", "once", "often"]
FIRST, RAISED = 12, 13  # files; a second stage adds the table of closed forms and the step that it finds there


def walk(call: Callable[[], object]) -> list[str]:
    """Return the files in which a function is called."""
    seen: set[Path] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001 - as the interpreter calls it
        seen.add(Path(frame.f_code.co_filename))

    before = sys.gettrace()
    sys.settrace(note)
    try:
        call()
    finally:
        sys.settrace(before)
    told = ROOT / "errors.py"  # what a refusal would say is no part of the way
    return sorted(str(each.relative_to(ROOT)) for each in seen - {told} if each.is_relative_to(ROOT))


@pytest.mark.parametrize("planned", [False, True])
def test_a_release_is_followed_through_few_files(tmp_path: Path, planned: bool) -> None:
    first, second = (dn.k_ary(HABIT, epsilon=epsilon) for epsilon in (1, 2))
    with dn.Ledger.create(tmp_path / "mine.ledger", budget=3) as ledger:
        ledger.answer("smoking", "once", about=dn.ladder([first, second]) if planned else first, budget=2)
        one = walk(lambda: ledger.release("smoking", first))
        two = walk(lambda: ledger.release("smoking", second))
    assert len(one) <= FIRST, one
    assert len(two) <= RAISED, two
    assert {"release/ledger.py", "release/stages.py", "release/book.py", "db/database.py"} <= set(one)
