"""Where one response proves something, every place that tells a design says so, with the Bayes factors of both."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import deniable as dn
from deniable.designs import Design
from deniable.designs.proofs import factors, format_factor, least_certain, proofs
from deniable.display import privacy_texts
from tests.support.registered import parameters

revealing = pytest.mark.parametrize(
    "design", parameters(lambda design: design.parity == math.inf)
)
BOTH = "The odds of 'yes' are multiplied by 0 where 'no' is sent and by 3 where 'yes' is sent."
PROOF = "Whoever sends 'no' gives away the answer: it is 'no'."


@revealing
def test_a_design_with_an_infinite_epsilon_says_what_is_proved(
    design: Design,
) -> None:
    told = proofs(design)
    assert told
    assert "some response proves something" in repr(design)
    assert set(told) <= set(privacy_texts.promise(design))


@pytest.mark.parametrize(
    "design", parameters(lambda design: design.parity < math.inf)
)
def test_other_designs_do_not(design: Design) -> None:
    assert proofs(design) == ()
    assert "proves" not in repr(design)


def test_both_factors_stand_in_words_and_in_every_summary() -> None:
    design = dn.mangat("2/3")
    assert proofs(design) == (PROOF, BOTH)
    told = str(dn.estimate(dn.Tally(design, [60, 40])).summary())
    assert PROOF in told
    assert BOTH in told


def test_a_negative_survey_tells_each_category_that_is_ruled_out() -> None:
    told = proofs(dn.negative_survey(["red", "green", "blue"]))
    assert told == tuple(
        f"Whoever sends {each!r} cannot have answered {each!r}."
        for each in ("red", "green", "blue")
    )
    assert least_certain(dn.negative_survey(3)) is None


def test_factors_are_rounded_away_from_one() -> None:
    assert format_factor(Fraction(2, 3)) == "1/1.5"
    assert format_factor(Fraction(1)) == "1"
    assert format_factor(Fraction(1_000_001, 1_000_000)) == "1.001"
    assert format_factor(Fraction(1_000_000, 1_000_001)) == "1/1.001"


def test_factors_are_told_for_two_answers_and_few_responses() -> None:
    assert factors(dn.k_ary(3, epsilon=1)) == ()
    assert factors(dn.kuk("3/5", "1/5", draws=25)) == ()
    assert len(factors(dn.kuk("3/5", "1/5", draws=5))) == 1
