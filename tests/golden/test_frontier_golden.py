"""Every entry of the frontier sheet agrees; one that nobody answers fails like one that differs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.runner import HERE, read, reference

ENTRIES = read(HERE / "frontier_golden.json")["reference"]


def test_no_entry_is_left_out() -> None:
    assert len(ENTRIES) == 108


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["id"]))
def test_agrees(entry: dict[str, Any]) -> None:
    outcome = reference(entry)
    assert outcome.verdict == "agrees", (
        f"expected {outcome.expected}, got {outcome.got}"
    )
