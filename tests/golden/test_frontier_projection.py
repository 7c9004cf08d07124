"""Every entry about projected shares of the frontier sheet agrees, relative to its size."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.golden.runner import HERE, QUANTITIES

ENTRIES = [
    entry
    for entry in json.loads((HERE / "frontier_golden.json").read_text())["reference"]
    if entry["topic"] == "F projection"
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: str(entry["id"]))
def test_agrees(entry: dict[str, Any]) -> None:
    import tests.golden.answers.frontier_projection  # noqa: F401 - enters its answers

    got = QUANTITIES[entry["quantity"]](**entry["inputs"])
    assert got == pytest.approx(entry["expected"], rel=entry["tolerance"])


def test_all_are_answered() -> None:
    assert len(ENTRIES) == 12
