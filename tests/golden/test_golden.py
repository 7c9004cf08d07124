"""Every entry of the golden file that we cover agrees, and the list of those that we do not is known."""

from __future__ import annotations

import json

import pytest

from tests.golden.runner import HERE, Outcome, agrees, agrees_as_printed, reference, run

OUTCOMES = run(HERE / "golden.json")
COVERED = [each for each in OUTCOMES if each.verdict != "uncovered"]
FOUNDATION = {
    "parity_eps_delta",
    "inverse_estimate",
    "covariance",
    "covariance_estimate",
    "blue_at",
    "mle_gamma_diagonal",
    "binary_design",
}
LATER_TOPICS = ("LPP", "PCKV")
LATER_QUANTITIES = ("lpp", "pckv", "relax", "bridge", "best_ordered", "noisy", "mean_estimation", "attack")


@pytest.mark.parametrize("outcome", COVERED, ids=lambda each: each.id)
def test_agrees(outcome: Outcome) -> None:
    assert outcome.verdict == "agrees", f"expected {outcome.expected}, got {outcome.got}"


def test_the_quantities_of_the_foundation_are_covered() -> None:
    entries = json.loads((HERE / "golden.json").read_text())["reference"]
    covered = {each.id for each in COVERED}
    assert [e["id"] for e in entries if e["quantity"] in FOUNDATION and e["id"] not in covered] == []


def test_nothing_is_left_uncovered_in_the_documents_on_designs() -> None:
    """Documents 000 to 003 but for key-value data, and every reference not about relaxing or key-value data."""
    entries = json.loads((HERE / "golden.json").read_text())
    wanted = [e["id"] for e in entries["documents"] if e["doc"] < "004" and not e["topic"].startswith(LATER_TOPICS)]
    wanted += [e["id"] for e in entries["reference"] if not e["quantity"].startswith(LATER_QUANTITIES)]
    covered = {each.id for each in COVERED}
    assert [each for each in wanted if each not in covered] == []


def test_a_wrong_expectation_is_told() -> None:
    entries = json.loads((HERE / "golden.json").read_text())["reference"]
    entry = next(each for each in entries if each["quantity"] == "binary_design")
    entry["expected"]["var"] *= 1 + 1e-6
    assert reference(entry).verdict == "differs"


def test_numbers_agree_to_nine_digits_and_structures_part_by_part() -> None:
    assert agrees({"a": [1.0, "inf"]}, {"a": [1.0 + 1e-12, float("inf")]})
    assert not agrees([1.0, 2.0], [1.0])
    assert not agrees(1.0, 1.0 + 1e-6)


def test_printed_numbers_agree_to_half_a_unit_of_their_last_digit() -> None:
    assert agrees_as_printed(0.243, 0.24277)
    assert not agrees_as_printed(0.243, 0.2422)
    assert agrees_as_printed(101011, 101011)
    assert not agrees_as_printed(101011, 101010)
