"""Gradual release of a key-value response: each symbol through the general step, the item kept."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from deniable.chance import ScriptedSource
from deniable.channel import Dense
from deniable.documents import Response
from deniable.errors import Incompatible, InvalidAnswer, InvalidResponse
from deniable.order.relaxation import relax
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
)
from deniable.types.key_value.respond import (
    NAMES,
    respond,
    settle,
    symbol_design,
    upgraded_response,
)
from deniable.types.key_value.schemes import Index, Unary
from deniable.types.ladder.respond import upgrade
from tests.support.positions import script
from tests.support.seeded import seeded

ITEMS = ["tea", "coffee", "milk"]
ANSWER = {"tea": "1/2", "milk": "-1"}
PAIRS = [
    pytest.param(lpp_club(ITEMS, 1), lpp_club(ITEMS, 2), id="club"),
    pytest.param(lpp_ddagger(ITEMS, 1), lpp_ddagger(ITEMS, 3), id="ddagger"),
    pytest.param(
        pckv_ue(ITEMS, 1, padding=2), pckv_ue(ITEMS, 2, padding=2), id="ue"
    ),
]


@pytest.mark.parametrize(("coarse", "fine"), PAIRS)
def test_a_response_is_released_symbol_by_symbol(
    coarse: KeyValueDesign, fine: KeyValueDesign
) -> None:
    source = seeded("a response is released")
    step = relax(symbol_design(coarse), symbol_design(fine))
    for _ in range(20):
        first = respond(coarse, ANSWER, source=source)
        parts = settle(coarse, ANSWER, first, source=source)
        raised = [
            (each.item, upgrade(step, each.response, each.answer, source=source))
            for each in parts
        ]
        second = upgraded_response(fine, raised)
        assert second.design == fine.hash
        number = fine.response_number(second.symbol)
        if fine.scheme.one_each:
            assert second.symbol[2:] == first.symbol[2:], "the item is kept"
        assert 0 <= number < fine.scheme.responses


def test_what_is_settled_follows_its_law_given_the_response() -> None:
    """Every position of every draw: joint law of response and what went in front of it, for a small channel."""
    symbol = Dense(((3, 1, 1), (1, 3, 1), (1, 1, 3)), 5)
    design = KeyValueDesign("small", ITEMS, Index(3, symbol))
    weight = Fraction(1, 2)
    for sent, mark in enumerate("0+-"):
        odds = [3 * symbol.weights[sent][1], 1 * symbol.weights[sent][2]]
        found: Counter[str] = Counter()
        for position in range(sum(odds)):
            words = script(position, sum(odds), last=True)
            (part,) = settle(
                design, {"tea": weight}, f"{mark} tea", source=ScriptedSource(words)
            )
            found[part.answer] += 1
            assert part.response == Response(symbol_design(design).hash, NAMES[sent])
        assert found == {"+": odds[0], "-": odds[1]}
        unused = ScriptedSource(bytes(8))
        (other,) = settle(design, {"tea": weight}, f"{mark} milk", source=unused)
        assert other.answer == "none"
        assert unused.used == 8, "as many words as where there is an edge"


def test_vectors_are_settled_with_one_drawn_place_at_most() -> None:
    design = pckv_ue(ITEMS, 1, padding=3)
    source = seeded("vectors are settled")
    answers: Counter[int] = Counter()
    for _ in range(300):
        parts = settle(design, ANSWER, "+0-", source=source)
        assert [each.item for each in parts] == ITEMS
        assert parts[1].answer == "none"  # nobody has coffee
        answers[sum(each.answer != "none" for each in parts)] += 1
    assert set(answers) == {0, 1}
    scheme = design.scheme
    assert isinstance(scheme, Unary)
    full = dict.fromkeys(ITEMS, 1)
    assert (
        sum(
            each.answer != "none"
            for each in settle(
                pckv_ue(ITEMS, 1, padding=1), full, "+0-", source=source
            )
        )
        == 1
    )


def test_what_does_not_fit_is_refused() -> None:
    design = lpp_club(ITEMS, 1)
    with pytest.raises(Incompatible, match="another design"):
        settle(design, ANSWER, respond(lpp_club(ITEMS, 2), ANSWER))
    with pytest.raises(InvalidResponse):
        settle(design, ANSWER, "nothing")
    with pytest.raises(InvalidAnswer):
        settle(design, {"beer": 1}, "0 tea")
    with pytest.raises(Incompatible, match="as a whole"):
        symbol_design(pckv_grr(ITEMS, 1, padding=1))
    with pytest.raises(Incompatible, match="another design"):
        upgraded_response(design, [("tea", Response("sha256:0", "+"))])
