"""The entries of the telemetry sheet about variances of numbers agree."""

from __future__ import annotations

import pytest

from tests.golden.runner import HERE, run

OUTCOMES = run(HERE / "telemetry_golden.json")


@pytest.mark.parametrize(
    ("entries", "count"), [("tree4", 7), ("range-variance", 2), ("mean-variance", 4)]
)
def test_numbers_have_the_variances_of_the_sheet(entries: str, count: int) -> None:
    verdicts = {
        each.id: each.verdict for each in OUTCOMES if each.id.startswith(entries)
    }
    assert len(verdicts) == count
    assert set(verdicts.values()) == {"agrees"}


def test_no_other_entry_differs() -> None:
    assert [each.id for each in OUTCOMES if each.verdict == "differs"] == []
