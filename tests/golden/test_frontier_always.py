"""Every entry of the frontier sheet about always-valid intervals agrees."""

from __future__ import annotations

import json

import pytest

from tests.golden.answers import frontier_always  # noqa: F401 - enters its answers
from tests.golden.runner import HERE, reference

ENTRIES = [
    entry
    for entry in json.loads((HERE / "frontier_golden.json").read_text())["reference"]
    if entry["topic"] == "B always valid"
]


def test_no_entry_is_left_out() -> None:
    assert len(ENTRIES) == 19


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_agrees(entry: dict[str, object]) -> None:
    outcome = reference(entry)
    assert outcome.verdict == "agrees", (
        f"expected {outcome.expected}, got {outcome.got}"
    )
