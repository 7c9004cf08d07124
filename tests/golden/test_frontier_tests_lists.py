"""The entries of the frontier sheet about imperfect tests and list experiments agree, and all of them are answered."""

from __future__ import annotations

import json

import pytest

from tests.golden.answers import frontier_lists, frontier_tests  # noqa: F401 - enter their answers
from tests.golden.runner import HERE, reference

ENTRIES = [
    entry
    for entry in json.loads((HERE / "frontier_golden.json").read_text())["reference"]
    if entry["topic"] in ("D list experiment", "E imperfect tests")
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["id"]))
def test_agrees(entry: dict[str, object]) -> None:
    outcome = reference(entry)
    assert outcome.verdict == "agrees", (
        f"expected {outcome.expected}, got {outcome.got}"
    )


def test_all_are_answered() -> None:
    assert len(ENTRIES) == 18
