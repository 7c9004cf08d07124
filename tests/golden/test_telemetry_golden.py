"""The entries of the telemetry sheet about numbers in buckets agree."""

from __future__ import annotations

from tests.golden.runner import HERE, run

OUTCOMES = run(HERE / "telemetry_golden.json")


def test_the_tree_has_the_variances_of_the_sheet() -> None:
    verdicts = {
        each.id: each.verdict for each in OUTCOMES if each.id.startswith("tree4")
    }
    assert len(verdicts) == 7
    assert set(verdicts.values()) == {"agrees"}


def test_no_other_entry_differs() -> None:
    assert [each.id for each in OUTCOMES if each.verdict == "differs"] == []
