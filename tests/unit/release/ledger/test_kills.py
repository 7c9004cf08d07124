"""Programs that are killed in the middle of a release; `benchmarks/kills.py` does the same 200 times."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deniable.release.ledger import Ledger
from tests.support import kills


@pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
def test_two_writers_that_are_killed_leave_a_whole_ledger(tmp_path: Path) -> None:
    assert kills.run_apart(str(tmp_path / "shared.ledger"), 40).wrong == []


def test_what_went_wrong_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kills, "QUESTIONS", 2)
    path = str(tmp_path / "shared.ledger")
    kills.prepare(path)
    with Ledger.open(path) as ledger:
        true = ledger.release("q1", kills.stages()[3])
    right = [1, 3, true.response.symbol, true.receipt.hash]
    other = next(each for each in kills.COLOURS if each != true.response.symbol)
    cases = {
        "left with": [right, [1, 3, other, true.receipt.hash]],
        "is recorded": [[1, 3, other, true.receipt.hash]],
        "is not counted": [[1, 4, other, true.receipt.hash]],
        "no receipt": [[1, 3, true.response.symbol, "sha256:0"]],
        "failed": [["failed", "KeyError"]],
    }
    for problem, left in {"": [right], **cases}.items():
        seen = kills.Outcome()
        kills.compare(path, left, seen)
        assert (
            any(problem in each for each in seen.wrong)
            if problem
            else seen.wrong == []
        )
