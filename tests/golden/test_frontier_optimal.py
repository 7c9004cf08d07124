"""Every entry about optimal designs of the frontier sheet agrees."""

from __future__ import annotations

import json

import pytest

from tests.golden.runner import HERE, Outcome, reference

ENTRIES = [
    entry
    for entry in json.loads((HERE / "frontier_golden.json").read_text())["reference"]
    if entry["topic"] == "C optimal designs"
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["id"])
def test_agrees(entry: dict[str, object]) -> None:
    import tests.golden.answers.frontier_optimal  # noqa: F401 - enters its answers

    outcome: Outcome = reference(entry)
    assert outcome.verdict == "agrees", (
        f"expected {outcome.expected}, got {outcome.got}"
    )
