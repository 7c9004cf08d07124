"""Beliefs before and after, caps for a known prior, and (ε, δ)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from deniable.criteria import (
    KnownPrior,
    Relaxed,
    bayes_error,
    delta_curve,
    least_bayes_error,
    posterior,
    posterior_range,
)
from deniable.designs import (
    binary,
    exposing_binary,
    k_ary,
    matrix,
    relaxed_warner,
    warner,
)
from deniable.errors import InvalidDesign, InvalidNumber, InvalidRequest

F = Fraction
THREE = matrix(
    [[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]],
    categories=["never", "once", "often"],
    symbols=["a", "b", "c"],
)


def test_a_prior_by_name_or_in_order_is_the_same() -> None:
    named = {"often": 0.2, "never": 0.5, "once": 0.3}
    assert (
        posterior(THREE, named, 2)
        == posterior(THREE, [0.5, 0.3, 0.2], 2)
        == (F(5, 28), F(9, 28), F(1, 2))
    )
    assert posterior_range(THREE, named, ["once", "often"]) == posterior_range(
        THREE, [0.5, 0.3, 0.2], {1, 2}
    )
    assert posterior_range(THREE, named, "often").most.response == 2


def test_thirds_written_as_floats_are_thirds() -> None:
    assert posterior(THREE, [1 / 3] * 3, 0) == (F(2, 3), F(2, 9), F(1, 9))


def test_the_best_guess_is_wrong_as_often_as_the_golden_file_says() -> None:
    assert bayes_error(THREE, [0.5, 0.3, 0.2]) == F(41, 100)
    assert (
        bayes_error(k_ary(5, p="1/2"), [0.2] * 5)
        == least_bayes_error(F(4), [0.2] * 5)
        == F(1, 2)
    )
    assert least_bayes_error(math.inf, {"a": 0.5, "b": 0.5}) == 0


@pytest.mark.parametrize(
    ("prior", "says"),
    [
        ([0.5, 0.5], "has 2 probabilities; expected 3"),
        ([0.5, 0.3, 0.3], "adds up to 1.1; expected 1"),
        ({"never": 0.5, "once": 0.5}, "expected exactly the 3 categories"),
        (
            {"never": 0.5, "once": 0.3, "always": 0.2},
            "expected exactly the 3 categories",
        ),
    ],
)
def test_a_prior_that_does_not_fit_is_refused(prior: Any, says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        bayes_error(THREE, prior)


def test_other_requests_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="never occurs"):
        posterior(exposing_binary("1/2"), [1, 0], 1)
    with pytest.raises(InvalidRequest, match="numbers only"):
        bayes_error(THREE.channel, {"never": 0.5, "once": 0.3, "often": 0.2})
    with pytest.raises(InvalidDesign, match="million"):
        bayes_error(k_ary(10_000, 1), [F(1, 10_000)] * 10_000)
    for event in ([], ["sometimes"], [0, 0], [7]):
        with pytest.raises(InvalidRequest, match="event does not fit"):
            posterior_range(THREE, [0.5, 0.3, 0.2], event)  # type: ignore[arg-type]


def test_a_cap_for_a_known_prior_may_hold_where_the_parity_alone_would_not() -> None:
    demand = KnownPrior({"no": 0.9, "yes": 0.1}, most=0.5, about=["yes"])
    # 'no' is the tighter response: parity 8.5 for 'yes', 6 for 'no'
    design = binary("9/10", "17/20")
    assert demand.check(design).holds
    lopsided = binary("19/20", "1/2")
    assert lopsided.parity == 10 > demand.parity == 9
    assert not demand.check(lopsided).holds
    # 'no' never tells that much
    assert KnownPrior([0.1, 0.9], most=0.5, about=[0]).check(lopsided).holds


def test_a_cap_tells_which_response_breaks_it() -> None:
    verdict = KnownPrior([0.5, 0.3, 0.2], most=0.6).check(THREE)
    assert not verdict.holds
    assert verdict.measure == "posterior"
    witness = verdict.witness
    assert witness is not None
    assert (witness.response, witness.likely, witness.unlikely) == (0, 0, 2)
    assert (witness.prior, witness.posterior) == (F(1, 2), verdict.attained)
    assert (
        "Somebody who gave 'never' a probability of 0.5 gives it" in verdict.sentence
    )
    event = KnownPrior([0.5, 0.3, 0.2], most=0.6, about=[1, 2]).check(THREE)
    assert "gave the event a probability of 0.5" in event.sentence
    assert (
        KnownPrior([0.5, 0.3, 0.2], most=0.9)
        .check(THREE)
        .sentence.startswith("Holds")
    )


def test_an_event_that_nobody_believes_in_can_never_be_confirmed() -> None:
    assert KnownPrior([1, 0], most=0.1, about=[1]).parity == math.inf


def test_caps_that_say_nothing_are_refused() -> None:
    with pytest.raises(InvalidNumber, match="prior ≤ most"):
        KnownPrior([0.9, 0.1], most=0.5)
    with pytest.raises(InvalidRequest, match="not part of the prior"):
        KnownPrior([0.9, 0.1], most=0.95, about=["yes"])
    with pytest.raises(InvalidRequest, match="not part of the prior"):
        KnownPrior([0.9, 0.1], most=0.95, about=[])
    with pytest.raises(InvalidRequest, match="expected 3, one for each"):
        KnownPrior([0.9, 0.1], most=0.95).check(THREE)


def test_epsilon_and_delta_at_the_floats_a_design_is_certified_with() -> None:
    for epsilon, delta in ((0.5, 0.1), (1, 0.3), (0.1, 0.7), (0.3, 1e-6)):
        design = relaxed_warner(epsilon, delta)
        assert Relaxed(epsilon, delta).check(design).holds
        assert Relaxed(epsilon, design.delta(epsilon)).check(design).holds
        assert Relaxed(design.epsilon, 0).check(design).holds
        assert not Relaxed(epsilon, delta * 0.999).check(design).holds


def test_several_responses_are_told_as_such() -> None:
    design = matrix([[0.3, 0.05], [0.3, 0.05], [0.4, 0.9]])
    verdict = Relaxed("1/10", "1/10").check(design)
    assert verdict.witness is not None
    assert (
        verdict.witness.likely,
        verdict.witness.unlikely,
        verdict.witness.responses,
    ) == (0, 1, (0, 1))
    assert verdict.measure == "delta"
    assert "one of 2 responses such as '0'" in verdict.sentence


def test_a_channel_too_large_to_search_has_a_verdict_without_witness() -> None:
    verdict = Relaxed(1, 0.001).check(k_ary(1_000_000, 12))
    assert not verdict.holds
    assert verdict.witness is None


def test_the_parity_that_suffices_for_epsilon_and_delta() -> None:
    assert Relaxed(0, "1/2").parity == 3
    assert Relaxed(1, 1).parity == math.inf
    assert Relaxed(1, 1).check(binary(1, "1/2")).holds
    with pytest.raises(InvalidNumber):
        Relaxed(1, 2)


def test_the_delta_curve_is_that_of_the_design() -> None:
    design = warner(p="3/4")
    assert delta_curve(design, [0, "1/2", 1, 2]) == tuple(
        design.delta(each) for each in (0, "1/2", 1, 2)
    )
    assert delta_curve(design.channel, [0]) == (0.5,)
