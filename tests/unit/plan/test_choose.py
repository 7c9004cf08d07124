"""The chooser: what it chooses is at least as good as every other design at the same ε, and it says why."""

from __future__ import annotations

import math

import pytest

import deniable as dn
from deniable.criteria import Epsilon, PosteriorCap, RhoToRho
from deniable.errors import InvalidRequest
from deniable.plan import optimal, variance
from deniable.survey.tools import TOOLS


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
@pytest.mark.parametrize("size", [4, 16, 128])
def test_no_candidate_has_a_smaller_error_and_all_keep_the_demand(size: int, epsilon: float) -> None:
    choice = optimal(size, epsilon)
    assert choice.design == choice.candidates[0].design
    best = choice.candidates[0].risk
    for each in choice.candidates:
        assert each.design.epsilon <= epsilon
        assert best <= each.risk * (1 + 1e-9)
        assert each.risk == pytest.approx(variance(each.design, 1))
    names = {each.design.name for each in choice.candidates}
    assert {"k_ary", "unary", "hadamard", "local_hashing", "rappor", "truncated_rappor"} <= names
    customary = size * (g := math.exp(epsilon / 2)) / (g - 1) ** 2 + 1 - 1 / size  # F10, at even shares
    assert best < customary


def test_two_answers_are_warners() -> None:
    choice = optimal(["no", "yes"], 1)
    assert choice.design == dn.warner(1)
    assert "garbling" in choice.reasons[0]


def test_equal_designs_are_decided_by_simplicity() -> None:
    """With three answers Hadamard, hashing and k-ary are the same channel under other names."""
    assert optimal(3, 2).design.name == "k_ary"


def test_a_million_categories_have_an_answer() -> None:
    choice = optimal(1_000_000, 1)
    assert choice.design.name == "local_hashing"
    assert choice.candidates[0].size <= 4
    assert any("125,000 bytes" in reason for reason in choice.reasons)


@pytest.mark.parametrize("demand", [RhoToRho("1/10", "1/2"), PosteriorCap("1/20", "1/5"), Epsilon(1)])
def test_any_criterion_can_be_demanded(demand: Epsilon) -> None:
    choice = optimal(6, demand)
    assert demand.check(choice.design).holds
    assert float(choice.design.parity) == pytest.approx(float(demand.parity), rel=1e-9)
    assert str(demand) in str(choice)


def test_the_answer_itself_as_often_as_possible() -> None:
    choice = optimal(20, 1, goal="unchanged")
    assert choice.design.name == "k_ary"
    assert choice.candidates[0].unchanged == pytest.approx(math.e / (math.e + 19))


def test_the_shortest_response() -> None:
    choice = optimal(300, 1, goal="wire")
    assert choice.candidates[0].size == 2
    assert all(each.size >= 2 for each in choice.candidates)
    assert choice.design.name in ("hadamard", "local_hashing")


def test_one_category_of_interest_is_asked_alone() -> None:
    choice = optimal(["a", "b", "c", "d"], 1, goal="category", category="c", shares=[0.4, 0.3, 0.1, 0.2])
    assert tuple(choice.design.categories) == ("not c", "c")
    assert choice.candidates[0].risk == pytest.approx(variance(dn.warner(1), 1, shares=[0.9, 0.1]))
    assert all(choice.candidates[0].risk < each.risk for each in choice.candidates[1:])
    assert "k_ary comes next" in choice.reasons[1]


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1), (3, 1), (5, 2)])
def test_a_device_by_hand_keeps_the_demand_and_says_what_to_do(size: int, epsilon: float) -> None:
    choice = optimal(size, epsilon, goal="device")
    device = choice.device
    assert device is not None
    assert choice.design.epsilon <= epsilon
    assert TOOLS[device.name] == device.outcomes
    truthful = device.outcomes - size * device.forced
    assert choice.design.probability("0", given="0") == pytest.approx((truthful + device.forced) / device.outcomes)
    assert "send the truth" in choice.reasons[0]
    finer = [
        (outcomes - (size - 1) * forced) / forced
        for outcomes in TOOLS.values()
        for forced in range(1, outcomes // size + 1)
        if 1 < (outcomes - (size - 1) * forced) / forced <= math.exp(epsilon)
    ]
    assert float(choice.design.parity) == pytest.approx(max(finer))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="expected one of error"):
        optimal(3, 1, goal="fame")
    with pytest.raises(InvalidRequest, match="goes with the goal"):
        optimal(3, 1, category="0")
    with pytest.raises(InvalidRequest, match="goes with the goal"):
        optimal(3, 1, goal="category")
    with pytest.raises(InvalidRequest, match="no coins, dice or cards"):
        optimal(60, 0.1, goal="device")
    with pytest.raises(InvalidRequest, match="fits into 0 bytes"):
        optimal(3, 1, most_bytes=0)
