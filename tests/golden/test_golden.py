"""Every entry of the golden file agrees."""

from __future__ import annotations

import json

import pytest

from tests.golden.runner import (
    HERE,
    QUANTITIES,
    Outcome,
    agrees,
    agrees_as_printed,
    quantity,
    reference,
    run,
)

OUTCOMES = run(HERE / "golden.json")


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda each: each.id)
def test_agrees(outcome: Outcome) -> None:
    assert outcome.verdict == "agrees", (
        f"expected {outcome.expected}, got {outcome.got}"
    )


def test_every_entry_is_evaluated() -> None:
    entries = json.loads((HERE / "golden.json").read_text())
    assert sorted(each.id for each in OUTCOMES) == sorted(
        e["id"] for e in entries["documents"] + entries["reference"]
    )
    assert len(OUTCOMES) >= 348  # it is not an empty file that agrees


def test_a_wrong_expectation_is_told() -> None:
    entries = json.loads((HERE / "golden.json").read_text())["reference"]
    entry = next(each for each in entries if each["quantity"] == "binary_design")
    entry["expected"]["var"] *= 1 + 1e-6
    assert reference(entry).verdict == "differs"


def test_numbers_agree_to_nine_digits_and_structures_part_by_part() -> None:
    assert agrees({"a": [1.0, "inf"]}, {"a": [1.0 + 1e-12, float("inf")]})
    assert not agrees([1.0, 2.0], [1.0])
    assert not agrees(1.0, 1.0 + 1e-6)


def test_small_numbers_agree_relatively_where_the_sheet_says_so() -> None:
    assert agrees(0.0001, 0.0002, tolerance=0.02)
    assert not agrees({"a": [0.0001]}, {"a": [0.0002]}, tolerance=0.02, least=0)


def test_printed_numbers_agree_to_half_a_unit_of_their_last_digit() -> None:
    assert agrees_as_printed(0.243, 0.24277)
    assert not agrees_as_printed(0.243, 0.2422)
    assert agrees_as_printed(101011, 101011)
    assert not agrees_as_printed(101011, 101010)


def test_a_quantity_has_one_answer() -> None:
    known = next(iter(QUANTITIES))
    with pytest.raises(ValueError, match="is answered by"):
        quantity(known)(lambda: None)
