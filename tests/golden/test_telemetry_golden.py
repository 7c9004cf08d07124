"""The entries of the telemetry sheet about variances of numbers agree."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from tests.golden.runner import HERE, run

OUTCOMES = run(HERE / "telemetry_golden.json")


@pytest.mark.parametrize(
    ("entries", "count"),
    [("tree4", 7), ("range-variance", 2), ("mean-variance", 4), ("sw-", 9)],
)
def test_numbers_have_the_variances_of_the_sheet(entries: str, count: int) -> None:
    verdicts = {
        each.id: each.verdict for each in OUTCOMES if each.id.startswith(entries)
    }
    assert len(verdicts) == count
    assert set(verdicts.values()) == {"agrees"}


@pytest.mark.parametrize(
    ("entries", "count"), [("cdf-sim", 3), ("quantile-cover-256", 1)]
)
def test_what_takes_minutes_is_measured_by_a_benchmark(
    entries: str, count: int
) -> None:
    measured = [each for each in OUTCOMES if each.id.startswith(entries)]
    assert [each.verdict for each in measured] == ["measured"] * count
    page = (HERE.parents[1] / "docs/theory/means.md").read_text()
    for each in measured:
        command, _, where = each.got.partition("; ")
        assert where == "docs/theory/means.md"
        assert command in page
        assert find_spec(command.split()[2]) is not None


def test_no_other_entry_differs() -> None:
    assert [each.id for each in OUTCOMES if each.verdict == "differs"] == []
