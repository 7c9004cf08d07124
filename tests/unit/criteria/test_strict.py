"""Demands that are a number or two."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from deniable.criteria import (
    BayesFactor,
    BetaFactor,
    Bounds,
    Epsilon,
    PosteriorCap,
    RhoToRho,
    Strict,
    posterior_bounds,
)
from deniable.designs import binary, exposing_binary, k_ary, warner
from deniable.errors import InvalidNumber

F = Fraction


def test_each_demand_becomes_its_parity() -> None:
    assert BayesFactor(3).parity == BetaFactor("3").parity == 3
    assert RhoToRho(0.2, 0.6).parity == 6
    assert PosteriorCap(0.05, 0.5).parity == 19
    assert F("2.718281828459045235") < Epsilon(1).parity < F("2.718281828459045236")
    assert Epsilon(0).parity == 1


def test_a_demand_becomes_an_epsilon_that_meets_it() -> None:
    for demand in (
        BetaFactor(3),
        RhoToRho(0.1, 0.5),
        Epsilon(1),
        Epsilon("1/10"),
        BayesFactor(1.5),
    ):
        assert demand.check(k_ary(4, demand.as_epsilon())).holds
    assert Epsilon(1).as_epsilon() == 1.0
    assert BetaFactor(1).as_epsilon() == 0
    assert BetaFactor(3).as_epsilon() == pytest.approx(math.log(3), rel=1e-15)


@pytest.mark.parametrize(
    ("demand", "prior", "expected"),
    [
        (BetaFactor(3), F(1, 4), Bounds(F(1, 12), F(3, 4))),
        (BetaFactor(3), F(1, 2), Bounds(F(1, 6), F(1))),
        (RhoToRho(F(1, 5), F(3, 5)), F(1, 10), Bounds(F(0), F(3, 5))),
        (RhoToRho(F(1, 5), F(3, 5)), F(1, 5), Bounds(F(0), F(1))),
        (RhoToRho(F(1, 5), F(3, 5)), F(4, 5), Bounds(F(1, 5), F(1))),
        (PosteriorCap(F(1, 20), F(1, 2)), F(1, 20), Bounds(F(0), F(1, 2))),
        (PosteriorCap(F(1, 20), F(1, 2)), F(1, 10), Bounds(F(0), F(1))),
        (BayesFactor(3), F(1, 5), Bounds(F(1, 13), F(3, 7))),
    ],
)
def test_borders_of_the_breach_region(
    demand: Strict, prior: Fraction, expected: Bounds
) -> None:
    assert demand.bounds(prior) == expected


def test_epsilon_bounds_are_those_of_its_parity() -> None:
    assert Epsilon(1).bounds("1/3") == posterior_bounds(Epsilon(1).parity, "1/3")


def test_posterior_bounds_of_a_design_that_exposes_people() -> None:
    assert posterior_bounds(math.inf, "1/3") == (0, 1)
    assert posterior_bounds(math.inf, 0) == (0, 0)
    assert posterior_bounds(math.inf, 1) == (1, 1)
    assert posterior_bounds(1, "1/3") == (F(1, 3), F(1, 3))


def test_a_verdict_names_response_answers_and_prior() -> None:
    verdict = RhoToRho(0.1, 0.2).check(binary("9/10", "7/10"))
    witness = verdict.witness
    assert witness is not None
    assert (witness.response, witness.likely, witness.unlikely) == (1, 1, 0)
    assert witness.names == ("'yes'", "'yes'", "'no'")
    assert witness.prior < F(1, 10)
    assert witness.posterior > F(1, 5)
    assert verdict.sentence == (
        "Fails: a factor of 2.25 is allowed by 0.1-to-0.2 privacy, but 'yes' is 7 times as likely from 'yes' as from "
        "'no'. Somebody who gave 'yes' a probability of 0.0672414 gives it 0.335381 after 'yes'."
    )
    assert str(verdict) == verdict.sentence
    assert verdict.measure == "parity"


def test_a_verdict_that_holds_has_no_witness() -> None:
    verdict = BetaFactor(8).check(binary("9/10", "7/10"))
    assert verdict.holds
    assert bool(verdict)
    assert verdict.witness is None
    assert verdict.sentence == (
        "Holds: no response is more than 7 times as likely from one answer as from another; 8 is allowed by β-factor "
        "privacy with β = 8."
    )


def test_a_channel_alone_is_told_by_numbers() -> None:
    verdict = BayesFactor(6).check(binary("9/10", "7/10").channel)
    assert (
        "response 1 is 7 times as likely from answer 1 as from answer 0"
        in verdict.sentence
    )


@pytest.mark.parametrize(
    "demand",
    [
        Epsilon(5),
        BayesFactor(99),
        BetaFactor(99),
        RhoToRho(0.1, 0.9),
        PosteriorCap(0.1, 0.9),
    ],
    ids=str,
)
def test_an_infinite_parity_fails_and_says_why(demand: Strict) -> None:
    verdict = demand.check(exposing_binary("1/10"))
    assert not verdict
    assert verdict.attained == math.inf
    assert verdict.witness is not None
    assert (
        verdict.witness.posterior == 1 > demand.bounds(verdict.witness.prior).upper
    )
    assert "'yes' is sent from 'yes' and never from 'no'" in verdict.sentence


def test_a_million_categories_are_judged_at_once() -> None:
    verdict = Epsilon(1).check(k_ary(1_000_000, 2))
    assert not verdict.holds
    assert verdict.witness is not None
    assert verdict.witness.posterior > verdict.witness.prior


@pytest.mark.parametrize(
    ("build", "arguments", "says"),
    [
        (BayesFactor, ("1/2",), "most is 1/2; expected at least 1"),
        (BetaFactor, (0,), "beta is 0; expected at least 1"),
        (BetaFactor, (math.inf,), "expected a finite number"),
        (RhoToRho, (0.5, 0.5), "expected 0 < rho1 < rho2 < 1"),
        (RhoToRho, (0, 0.5), "expected 0 < rho1 < rho2 < 1"),
        (RhoToRho, (0.5, 1), "expected 0 < rho1 < rho2 < 1"),
        (PosteriorCap, (0.5, 0.4), "expected 0 < prior ≤ most < 1"),
        (PosteriorCap, (0.5, 1), "expected 0 < prior ≤ most < 1"),
        (PosteriorCap, (2, 1), "expected a probability"),
        (Epsilon, (-1,), "expected 0 or more"),
        (posterior_bounds, ("1/2", "1/2"), "gamma is 1/2; expected at least 1"),
        (posterior_bounds, (2, 2), "expected a probability"),
    ],
)
def test_what_is_no_demand_is_refused(
    build: type[Strict], arguments: tuple[object, ...], says: str
) -> None:
    with pytest.raises(InvalidNumber, match=says):
        build(*arguments)


def test_demands_are_values() -> None:
    assert BetaFactor(3) == BetaFactor("3") != BetaFactor(4)
    assert (
        len({RhoToRho(0.1, 0.5), RhoToRho("1/10", "1/2"), RhoToRho(0.1, 0.6)}) == 2
    )
    with pytest.raises(FrozenInstanceError):
        BetaFactor(3).beta = 4  # type: ignore[misc]


def test_the_tightest_demand_that_warner_meets_is_its_parity() -> None:
    design = warner(p="3/4")
    assert BetaFactor(3).check(design).holds
    assert not BetaFactor("2.999999").check(design).holds
