"""The chooser: what it chooses is at least as good as every other design at the same ε, and it says why."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deniable as dn
from deniable.criteria import Epsilon, PosteriorCap, RhoToRho
from deniable.errors import InvalidRequest
from deniable.estimates import covariance
from deniable.estimates.covariances import Matrix, Vector
from deniable.plan import optimal, variance
from deniable.plan.staircase import staircase
from deniable.survey.tools import TOOLS


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
@pytest.mark.parametrize("size", [4, 16, 128])
def test_no_candidate_has_a_smaller_error_and_all_keep_the_demand(
    size: int, epsilon: float
) -> None:
    choice = optimal(size, epsilon)
    assert choice.design == choice.candidates[0].design
    best = choice.candidates[0].risk
    for each in choice.candidates:
        assert each.design.epsilon <= epsilon
        assert best <= each.risk * (1 + 1e-9)
        assert each.risk == pytest.approx(variance(each.design, 1))
    names = {each.design.name for each in choice.candidates}
    assert {
        "k_ary",
        "unary",
        "hadamard",
        "local_hashing",
        "rappor",
        "truncated_rappor",
    } <= names
    # F10, at even shares
    customary = size * (g := math.exp(epsilon / 2)) / (g - 1) ** 2 + 1 - 1 / size
    assert best < customary


def test_two_answers_are_warners() -> None:
    choice = optimal(["no", "yes"], 1)
    assert choice.design == dn.warner(1)
    assert "by adding noise" in choice.reasons[0]


def test_equal_designs_are_decided_by_simplicity() -> None:
    """With three answers Hadamard, hashing and k-ary are the same channel under other names."""
    assert optimal(3, 2).design.name == "k_ary"


def test_a_million_categories_have_an_answer() -> None:
    choice = optimal(1_000_000, 1)
    assert choice.design.name == "local_hashing"
    assert choice.candidates[0].size <= 4
    assert any("125,000 bytes" in reason for reason in choice.reasons)


@pytest.mark.parametrize("size", [1_999, 2_000, 2_001])
def test_at_the_limit_of_a_tally_by_size_there_is_a_choice(size: int) -> None:
    choice = optimal(size, 1)
    assert choice.design.name == "subset"
    names = {candidate.name for candidate in choice.candidates}
    assert {"rappor", "truncated_rappor"} <= names or size > 2_000


@pytest.mark.parametrize(
    "demand", [RhoToRho("1/10", "1/2"), PosteriorCap("1/20", "1/5"), Epsilon(1)]
)
def test_any_criterion_can_be_demanded(demand: Epsilon) -> None:
    choice = optimal(6, demand)
    assert demand.check(choice.design).holds
    assert float(choice.design.parity) == pytest.approx(
        float(demand.parity), rel=1e-9
    )
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
    choice = optimal(
        ["a", "b", "c", "d"],
        1,
        goal="category",
        category="c",
        shares=[0.4, 0.3, 0.1, 0.2],
    )
    assert tuple(choice.design.categories) == ("not c", "c")
    assert choice.candidates[0].risk == pytest.approx(
        variance(dn.warner(1), 1, shares=[0.9, 0.1])
    )
    assert all(
        choice.candidates[0].risk < each.risk for each in choice.candidates[1:]
    )
    assert "k_ary comes next" in choice.reasons[1]


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1), (3, 1), (5, 2)])
def test_a_device_by_hand_keeps_the_demand_and_says_what_to_do(
    size: int, epsilon: float
) -> None:
    choice = optimal(size, epsilon, goal="device")
    device = choice.device
    assert device is not None
    assert choice.design.epsilon <= epsilon
    assert TOOLS[device.name] == device.outcomes
    truthful = device.outcomes - size * device.forced
    assert choice.design.probability("0", given="0") == pytest.approx(
        (truthful + device.forced) / device.outcomes
    )
    assert "send the truth" in choice.reasons[0]
    finer = [
        (outcomes - (size - 1) * forced) / forced
        for outcomes in TOOLS.values()
        for forced in range(1, outcomes // size + 1)
        if 1 < (outcomes - (size - 1) * forced) / forced <= math.exp(epsilon)
    ]
    assert float(choice.design.parity) == pytest.approx(max(finer))


SHARES = {
    "two rare ones": (1, (0.94, 0.03, 0.03)),
    "one common one": (1, (0.95, 0.0125, 0.0125, 0.0125, 0.0125)),
    "falling": (2, (0.6, 0.25, 0.1, 0.05)),
    "nearly nobody": (1, (0.97, 0.01, 0.01, 0.01, 0.0, 0.0)),
    "even": (1, (0.25, 0.25, 0.25, 0.25)),
}


def test_responses_of_a_staircase_are_called_by_the_answers_that_they_speak_for() -> (
    None
):
    design = staircase(
        ["never", "once", "often"], 1, np.array([0.9, 0.07, 0.03])
    ).design
    for number, symbol in enumerate(design.symbols):
        named = [
            label for label in design.categories if label in symbol.split(" or ")
        ]
        chances = {
            label: design.probability(symbol, given=label)
            for label in design.categories
        }
        assert 0 < len(named) < 3
        assert min(chances[label] for label in named) > max(
            chances[label] for label in set(chances) - set(named)
        )
        assert design.symbol_number(symbol) == number
    twice = staircase(
        ["a", "b", "a or b", "c"], 1, np.array([0.5, 0.2, 0.2, 0.1])
    ).design
    assert len(set(twice.symbols)) == len(twice.symbols)


@pytest.mark.parametrize(("epsilon", "shares"), SHARES.values(), ids=list(SHARES))
def test_at_given_shares_no_mixture_of_staircase_patterns_is_better(
    epsilon: float, shares: tuple[float, ...]
) -> None:
    """A hundred steps of another method find nothing better, and nothing below the bound."""
    size = len(shares)
    choice = optimal(size, epsilon, shares=shares)
    chosen = choice.candidates[0]
    assert chosen.design.epsilon <= epsilon
    error = np.trace(covariance(chosen.design, shares, 1, guess=shares))
    assert chosen.risk == pytest.approx(error)
    other = best_by_descent(size, math.exp(epsilon), np.array(shares))
    assert chosen.risk <= other * (1 + 1e-6)
    bound = staircase([str(x) for x in range(size)], epsilon, np.array(shares)).bound
    assert bound * (1 - 1e-9) <= min(
        other, *(each.risk for each in choice.candidates)
    )
    assert bound >= chosen.risk * (1 - 1e-6)


def best_by_descent(size: int, gamma: float, shares: Vector) -> float:
    """Return the smallest total variance that conditional gradients find: each step moves towards a linear program's
    best corner, as far as is best."""
    from scipy.optimize import linprog, minimize_scalar

    held = np.array(
        [
            [number >> x & 1 for number in range(1, (1 << size) - 1)]
            for x in range(size)
        ]
    )
    patterns = np.where(held, gamma, 1.0)

    def information(weights: Vector) -> Matrix:
        return np.asarray(patterns * (weights / (shares @ patterns)) @ patterns.T)

    weights = np.full(patterns.shape[1], 1 / patterns[0].sum())
    for _ in range(100):
        inverse = np.linalg.inv(information(weights))
        slope = -np.sum((inverse @ patterns) ** 2, axis=0) / (shares @ patterns)
        corner = linprog(slope, A_eq=patterns, b_eq=np.ones(size)).x - weights

        def along(
            step: float, start: Vector = weights, way: Vector = corner
        ) -> float:
            return float(np.trace(np.linalg.inv(information(start + step * way))))

        weights = (
            weights
            + minimize_scalar(along, bounds=(0, 0.999), method="bounded").x * corner
        )
    return float(np.trace(np.linalg.inv(information(weights))) - shares @ shares)


def test_the_best_design_at_given_shares_is_well_ahead_of_the_others_and_says_by_what_it_is_proved() -> (
    None
):
    choice = optimal(5, 1, shares=[0.95, 0.0125, 0.0125, 0.0125, 0.0125])
    best, *others = choice.candidates
    assert best.name == "staircase"
    assert min(each.risk for each in others) > 1.1 * best.risk
    assert dn.Design.from_json(choice.design.to_json()) == choice.design
    assert choice.design.epsilon == pytest.approx(1)
    assert any("smaller by more than 0.0001%" in reason for reason in choice.reasons)
    assert any('method="likelihood"' in reason for reason in choice.reasons)


def test_minimax_is_said_of_the_worst_case_alone() -> None:
    assert "minimax" in str(optimal(6, 1))
    for size in (6, 20):
        shares = [0.9, *[0.1 / (size - 1)] * (size - 1)]
        assert "minimax" not in str(optimal(size, 1, shares=shares))
        assert "at the given shares" in str(optimal(size, 1, shares=shares))
        for goal in ("wire", "unchanged"):
            assert "minimax" not in str(optimal(size, 1, goal=goal))


def test_at_even_shares_the_best_design_is_a_simple_one_and_proved_to_be() -> None:
    for size, epsilon, name in ((4, 1, "k_ary"), (6, 1, "subset"), (5, 3, "k_ary")):
        choice = optimal(size, epsilon, shares=[1 / size] * size)
        assert choice.design.name == name
        assert any(
            "smaller by more than 0.0001%" in reason for reason in choice.reasons
        )


def test_a_category_that_nobody_has_is_no_obstacle() -> None:
    choice = optimal(3, 1, shares=[1, 0, 0])
    assert choice.design.epsilon <= 1
    assert choice.candidates[0].risk > 0


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
