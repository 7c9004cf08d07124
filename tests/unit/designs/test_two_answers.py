"""The choice between two-answer designs, and what it says."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from deniable.designs import (
    BinaryChoice,
    Design,
    capped_binary,
    exposing_binary,
    exposure_threshold,
    feasible_binary,
    optimal_binary,
    relaxed_warner,
)
from deniable.errors import InvalidDesign, InvalidNumber, InvalidRequest

F = Fraction


def kept(design: Design) -> tuple[float, float]:
    no, yes = (
        float(design.probability(name, given=name)) for name in design.categories
    )
    return no, yes


def test_people_are_exposed_only_when_that_is_asked_for() -> None:
    asked = optimal_binary("0.5", "0.1", share="0.2", expose=True)
    assert asked.design == exposing_binary("0.1")
    assert asked.chosen.exposes
    assert (
        "exposes people outright: whoever sends 'yes' has given that answer away"
        in asked.note
    )
    assert "a share of 0.1 of those who have it" in asked.note
    plain = optimal_binary("0.5", "0.1", share="0.2")
    assert plain.design == relaxed_warner("0.5", "0.1")
    assert plain.others == ()
    assert plain.runner_up is None
    assert "A design with a variance of 1.96 at 0.2 was left out" in plain.note
    assert plain.variance > asked.variance == pytest.approx(1.96)


def test_above_the_threshold_nothing_needs_to_be_said_about_exposing() -> None:
    choice = optimal_binary("0.5", "0.1", share="0.3")
    assert choice.note == ""
    assert choice.threshold == pytest.approx(exposure_threshold("0.5", "0.1"))
    assert optimal_binary(1, share="0.001").note == ""


def test_no_range_of_shares_at_all_without_asking_leads_to_exposure() -> None:
    for share in (None, "0.001", "0.999"):
        for goal in ("guess", "worst", "regret"):
            for ceiling in (None, 2, 40):
                choice = optimal_binary(
                    "0.01", "0.2", share=share, goal=goal, ceiling=ceiling
                )  # type: ignore[arg-type]
                assert not any(
                    each.exposes for each in (choice.chosen, *choice.others)
                )
                assert choice.design.epsilon < math.inf


def test_both_sides_of_the_threshold_are_decided_and_between_them_the_middle_is_guessed() -> (
    None
):
    below = optimal_binary("0.5", "0.1", share_range=("0.05", "0.2"), expose=True)
    above = optimal_binary("0.5", "0.1", share_range=("0.25", "0.75"), expose=True)
    between = optimal_binary("0.5", "0.1", share_range=("0.1", "0.4"), expose=True)
    assert (below.decided, above.decided, between.decided) == (True, True, False)
    assert (below.design.name, above.design.name) == (
        "exposing_binary",
        "relaxed_warner",
    )
    assert (
        between.design
        == optimal_binary("0.5", "0.1", share="0.25", expose=True).design
    )
    assert between.guess == 0.25
    assert (
        "no candidate is always best; this one is best at the guessed share"
        in between.why
    )
    assert (
        f"If the share is 0.1 it costs {between.chosen.regret:.6g} more than the best there"
        in between.why
    )
    assert between.chosen.regret > 0 == below.chosen.regret == above.chosen.regret


def test_a_goal_can_overrule_the_guess() -> None:
    settings: dict[str, Any] = {"share_range": ("0", "0.45"), "expose": True}
    guess = optimal_binary("0.5", "0.1", **settings)
    worst = optimal_binary("0.5", "0.1", goal="worst", **settings)
    assert guess.design.name == "exposing_binary"
    assert worst.design.name == "relaxed_warner"
    assert worst.chosen.worst < guess.chosen.worst
    assert "best at the worst share of the range" in worst.why
    regret = optimal_binary("0.5", "0.1", goal="regret", **settings)
    assert regret.chosen.regret == min(
        each.regret for each in (regret.chosen, *regret.others)
    )


def test_a_guess_inside_a_range_is_taken() -> None:
    choice = optimal_binary(
        "0.5", "0.1", share="0.15", share_range=("0.1", "0.4"), expose=True
    )
    assert (choice.low, choice.guess, choice.high) == (0.1, 0.15, 0.4)
    assert choice.design.name == "exposing_binary"


def test_the_answers_change_places_with_their_shares() -> None:
    for settings in ({"expose": True}, {"ceiling": 3}):
        rare = optimal_binary("0.5", "0.1", share="0.1", **settings)  # type: ignore[arg-type]
        common = optimal_binary("0.5", "0.1", share="0.9", **settings)  # type: ignore[arg-type]
        assert kept(rare.design) == tuple(reversed(kept(common.design)))
        assert rare.variance == pytest.approx(common.variance, rel=1e-15)


def test_a_ceiling_leads_from_the_even_design_to_the_exposing_one() -> None:
    variances = [
        optimal_binary("0.5", "0.1", share="0.05", ceiling=each).variance
        for each in (0.3, 1, 2, 4, 8, 16)
    ]
    assert variances == sorted(variances, reverse=True)
    assert variances[-1] == pytest.approx(
        optimal_binary("0.5", "0.1", share="0.05", expose=True).variance, rel=1e-3
    )
    low = optimal_binary("0.5", "0.1", share="0.05", ceiling=0.3)
    assert low.design.name == "warner"
    assert low.design.epsilon <= 0.3
    assert low.others == ()


def test_at_a_tie_nobody_is_exposed() -> None:
    # x = 2, δ = π = 1/4 of document 002, example 1 (4); ln 2 as a float is a little below ln 2.
    choice = optimal_binary(math.log(2), "1/4", share="1/4", expose=True)
    assert choice.design.name == "relaxed_warner"
    assert choice.runner_up is not None
    assert choice.runner_up.variance == pytest.approx(choice.variance, rel=1e-12)


def test_a_choice_explains_itself() -> None:
    choice = optimal_binary(
        "0.5", "0.1", share="0.1", ceiling=3, categories=["never", "ever"]
    )
    assert isinstance(choice, BinaryChoice)
    assert choice.design.categories == ("never", "ever")
    text = str(choice)
    assert text.startswith("capped_binary (p00 = 0.994576, p11 = 0.108943, ε = 3).")
    assert (
        "it is the best of 3 candidates, with a variance of 1.44893 per respondent at 0.1"
        in text
    )
    assert (
        "the runner-up, relaxed_warner (p00 = 0.660213, p11 = 0.660213, ε = 0.6643), has 2.27491"
        in text
    )
    assert (
        "A lopsided design wins where the rarer answer has a share below 0.1965."
        in text
    )
    alone = optimal_binary(1, share="0.1")
    assert (
        "smallest variance of all designs whose parity is at most its own, 1.01067 per respondent at 0.1"
        in alone.why
    )


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"goal": "best"}, InvalidRequest, "expected one of guess, worst, regret"),
        ({"expose": True, "ceiling": 2}, InvalidRequest, "either ceiling or expose"),
        ({"share_range": (0.1,)}, InvalidRequest, "the range has 1 numbers"),
        ({"share_range": (0.4, 0.1)}, InvalidRequest, "from small to large"),
        (
            {"share": 0.5, "share_range": (0.1, 0.4)},
            InvalidRequest,
            "with the guess inside",
        ),
        ({"share": 2}, InvalidNumber, "expected a probability"),
        ({"epsilon": -1}, InvalidNumber, "expected a positive number"),
        ({"epsilon": 0, "delta": 0}, InvalidDesign, "leave nothing to tell"),
        ({"delta": 1}, InvalidDesign, "δ is 1"),
        ({"delta": 2}, InvalidNumber, "expected a probability"),
        ({"ceiling": 0}, InvalidNumber, "ceiling is 0"),
        ({"categories": 3}, InvalidDesign, "there are 3 categories; expected 2"),
    ],
)
def test_what_cannot_be_chosen_is_refused(
    arguments: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        optimal_binary(**{"epsilon": 1, "delta": "0.1", **arguments})


def test_builders_refuse_what_they_cannot_keep() -> None:
    for delta in (0, 1):
        with pytest.raises(InvalidDesign, match="expected between 0 and 1"):
            exposing_binary(delta)
    with pytest.raises(InvalidRequest, match="not one of the two categories"):
        exposing_binary("0.1", telling="maybe")
    with pytest.raises(InvalidDesign, match=r"above 3\.13142"):
        capped_binary(1, "0.1", 1)
    with pytest.raises(InvalidDesign, match="a ratio above"):
        capped_binary(1, 0, 3)
    with pytest.raises(InvalidDesign, match="above inf"):
        capped_binary(1, 1, 3)
    with pytest.raises(InvalidDesign, match="leave nothing to tell"):
        exposure_threshold(0, 0)
    with pytest.raises(InvalidNumber, match="p00"):
        feasible_binary(2, 0, 1)


def test_the_region_has_two_sides() -> None:
    assert feasible_binary(0.7, 0.7, 1)
    assert feasible_binary(0.3, 0.3, 1)
    assert feasible_binary(1, 0.1, 1, 0.1)
    assert not feasible_binary(1, 0.11, 1, 0.1)
    assert feasible_binary(0, 1, 1)  # nothing is told


def test_a_telling_response_can_be_either() -> None:
    yes, no = capped_binary(1, "0.1", 3), capped_binary(1, "0.1", 3, telling="no")
    assert kept(yes) == tuple(reversed(kept(no)))
    assert yes.probability("yes", given="no") < F(1, 50)
    assert no.probability("no", given="yes") < F(1, 50)
    assert kept(exposing_binary("1/3", telling="no")) == (pytest.approx(1 / 3), 1)
