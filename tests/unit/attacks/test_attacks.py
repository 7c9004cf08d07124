from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.attacks import ATTACKS, attack, error_rates, simulate_attacks
from deniable.criteria import bayes_error
from deniable.engines import local
from deniable.errors import InvalidRequest, InvalidResponse
from deniable.order.relaxation import ladder
from tests.support.ladders import small
from tests.support.seeded import Seeded


def test_a_single_design_is_a_chain_of_one() -> None:
    rates = error_rates(dn.k_ary(4, p="1/2"), exact=True)
    assert set(rates.errors.values()) == {Fraction(1, 2)}
    assert rates.bound == Fraction(1, 2)
    assert len(rates) == len(ATTACKS) == len(list(rates))


def test_a_design_that_does_not_attain_the_bound() -> None:
    design = dn.subset(4, t=2, p="3/4")
    rates = error_rates(design, exact=True)
    assert (
        rates.errors["last output"]
        == bayes_error(design, ["1/4"] * 4)
        == Fraction(5, 8)
    )
    assert rates.bound == Fraction(1, 2)


def test_a_long_chain_is_refused_and_can_be_simulated() -> None:
    stages = ladder(dn.k_ary(12, epsilon=math.sqrt(i) / 3) for i in range(1, 11))
    with pytest.raises(InvalidRequest, match="states"):
        error_rates(stages)
    rates = simulate_attacks(stages, 4_000, source=Seeded("long"))
    assert rates.beaten() == ()
    assert rates["maximum likelihood"] == pytest.approx(
        rates["last output"], abs=0.01
    )


def test_too_many_responses_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="fewer"):
        error_rates(dn.rappor(20, epsilon=1))
    with pytest.raises(InvalidRequest, match="too many"):
        simulate_attacks(ladder(dn.rappor(10, epsilon=e) for e in (1, 2)), 10)


def test_weights_must_fit() -> None:
    for weights in (
        [1],
        [1, 0],
        [1, math.inf],
        [1, math.nan],
        [1e-300, 1e-300],
        [1e300, 1e300],
    ):
        with pytest.raises(InvalidRequest, match="weights"):
            error_rates(ladder([dn.warner(1), dn.warner(2)]), weights=weights)


@pytest.mark.parametrize(
    "name",
    [
        "k_ary",
        "rappor",
        "mixture",
        "matrix",
        "local_hashing",
        "sets, then single categories",
    ],
)
def test_simulated_rates_are_near_the_exact_ones(name: str) -> None:
    """False alarms: below 1e-8 each, and the bytes are fixed."""
    stages = small()[name]
    exactly, drawn = (
        error_rates(stages),
        simulate_attacks(stages, 40_000, source=Seeded(name)),
    )
    for each in ATTACKS:
        assert abs(exactly[each] - drawn[each]) <= 6 * drawn.standard[each]
    assert drawn.beaten() == ()


def test_guesses_are_made_from_what_was_sent() -> None:
    stages = small()["rappor"]
    columns = [np.array([[0b001], [0b110]], np.uint8)] * 4
    guesses = attack(stages, columns, source=Seeded("guesses"))
    assert set(guesses) == set(ATTACKS)
    for guess in guesses.values():
        assert guess[0] == 0
        assert guess[1] in (1, 2)


def test_ties_are_split_evenly() -> None:
    """Two responses that contradict each other speak for two answers alike: each is guessed half of the time."""
    stages = ladder([dn.warner(1), dn.warner(2)])
    n = 10_000
    guess = attack(
        stages, [np.zeros(n, int), np.ones(n, int)], source=Seeded("ties")
    )["highest frequency"]
    # false alarms: 1e-9
    assert abs(int(guess.sum()) - n / 2) <= 6.2 * math.sqrt(n) / 2


def test_columns_that_do_not_fit_are_refused() -> None:
    stages = small()["k_ary"]
    with pytest.raises(InvalidResponse, match="expected 4"):
        attack(stages, [[0]])
    with pytest.raises(InvalidResponse, match="stage 1 never"):
        attack(stages, [[9]] * 4)
    with pytest.raises(InvalidResponse, match="different lengths"):
        attack(stages, [[0, 1], [1], [1], [1]])


@pytest.mark.parametrize("people", [0, -1, 1.5])
def test_nobody_is_not_attacked(people: int) -> None:
    with pytest.raises(InvalidRequest, match="at least one"):
        simulate_attacks(small()["k_ary"], people)


def test_a_promise_that_is_broken_is_found_out() -> None:
    """Three independent responses, sold as one chain whose bound is that of its last stage, are seen through."""
    stages = ladder([dn.warner("9/10"), dn.warner("95/100"), dn.warner(1)])
    n = 40_000
    answers = np.arange(n) % 2
    source = Seeded("broken")
    columns = [
        local.draw_all(dn.warner(1), answers, codes=True, source=source, fast=False)
        for _ in range(3)
    ]
    error = float(
        (
            attack(stages, columns, source=source)["highest frequency"] != answers
        ).mean()
    )
    bound = float(error_rates(stages).bound)
    assert error < bound - 10 * math.sqrt(error * (1 - error) / n)


def test_bayes_rule_uses_the_prior_and_never_does_worse_than_guessing() -> None:
    prior = ["8/10", "1/10", "1/10"]
    rates = error_rates(dn.k_ary(3, p="3/4"), prior=prior, exact=True)
    assert rates.errors["last output"] == Fraction(1, 4), (
        "the votes err more often than the blind guess, 1/5"
    )
    assert rates.errors["Bayes' rule"] == Fraction(1, 5), (
        "no response moves the prior far enough"
    )
    telling = error_rates(dn.k_ary(3, p="9/10"), prior=prior, exact=True)
    assert (
        telling.errors["Bayes' rule"]
        == bayes_error(dn.k_ary(3, p="9/10"), prior)
        == Fraction(1, 10)
    )


def test_guesses_by_bayes_rule_follow_the_prior() -> None:
    design, prior = dn.k_ary(3, p="1/2"), ["8/10", "1/10", "1/10"]
    guessed = attack(design, [[0, 1, 2]], prior=prior, source=Seeded("prior"))
    assert guessed["Bayes' rule"].tolist() == [0, 0, 0]
    assert guessed["last output"].tolist() == [0, 1, 2]
    drawn = simulate_attacks(design, 40_000, prior=prior, source=Seeded("bayes"))
    # false alarms: below 1e-8
    assert abs(drawn["Bayes' rule"] - 0.2) <= 6 * drawn.standard["Bayes' rule"]
