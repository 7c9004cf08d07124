"""Responses are compared with a claimed design: what draws as it says passes, and small differences are found."""

from __future__ import annotations

import random
from typing import Any

import pytest

import deniable as dn
from deniable.auditor import Audit, audit
from tests.support.seeded import Seeded

LEVEL = 1 - 1e-9


def fit(thing: Any, answers: Any = None, **options: Any) -> Audit:
    options = {"draws": 60_000, "level": LEVEL, "source": Seeded("fit"), **options}
    return audit(thing, answers, checks=["goodness of fit"], **options)


DESIGNS = {
    "two answers": dn.warner(1),
    "a table": dn.binary("9/10", "7/10"),
    "few sets": dn.unary(5, 1),
    "many sets": dn.unary(40, 1),
    "sets of one size": dn.subset(40, 1),
    "codes": dn.hadamard(12, 1),
    "stages": dn.ladder([dn.k_ary(3, 1), dn.k_ary(3, 2)]),
    "stages of sets": dn.ladder([dn.rappor(3, 1), dn.rappor(3, 2)]),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", DESIGNS)
def test_a_design_fits_itself(name: str) -> None:
    (finding,) = fit(DESIGNS[name]).findings
    assert finding.verdict == "consistent"
    assert finding.figures["events"] >= 4


OTHERS = {
    "ε a fifth too large": (dn.warner(1.2), dn.warner(1)),
    "sets with too many": (dn.unary(40, 0.8), dn.unary(40, 1)),
    "sets of another size": (dn.subset(40, 1, t=12), dn.subset(40, 1)),
    "another second stage": (
        dn.ladder([dn.k_ary(3, 1), dn.k_ary(3, "2.3")]),
        dn.ladder([dn.k_ary(3, 1), dn.k_ary(3, 2)]),
    ),
    "two answers that change places": (
        dn.binary("9/10", "7/10"),
        dn.binary("7/10", "9/10"),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_design_does_not_fit(name: str) -> None:
    drawn, claimed = OTHERS[name]
    assert fit(drawn, claimed=claimed).verdict == "violated"


EVEN = dn.matrix([["1/256", "1/256"]] * 256, categories=["a", "b"])


def tilted(chance: random.Random, share: float) -> Audit:
    """Let half of 256 responses come up too often by this share."""

    def draw(_: str) -> str:
        return str(
            chance.randrange(256)
            if chance.random() > share
            else chance.randrange(0, 256, 2)
        )

    return fit(draw, ["a", "b"], claimed=EVEN, epsilon=1)


def test_many_small_differences_add_up() -> None:
    (finding,) = tilted(random.Random(3), 0.15).findings
    assert finding.violated
    assert "together" in finding.sentence


@pytest.mark.statistical
def test_what_came_up_too_often_by_chance_is_not_held_against_it() -> None:
    """A union that is chosen and counted on the same draws would be violated by every mechanism."""
    assert tilted(random.Random(4), 0.0).verdict == "consistent"


def test_what_a_design_never_sends_is_enough() -> None:
    (finding,) = fit(
        lambda _: "maybe", ["yes", "no"], claimed=dn.warner(1), draws=1_000
    ).findings
    assert finding.violated
    assert "never sends" in finding.sentence


def test_symbols_of_a_function_are_compared() -> None:
    design = dn.warner(1)
    source = Seeded("scalar")
    found = fit(
        lambda answer: dn.respond(design, answer, source=source),
        ["yes", "no"],
        claimed=design,
        draws=8_000,
    )
    assert found.verdict == "consistent"


def test_nothing_is_compared_without_a_law() -> None:
    assert fit(dn.number_design(0, 80, 1)).findings == ()
    assert fit(lambda answer: answer, ["yes", "no"], epsilon=1).findings == ()
