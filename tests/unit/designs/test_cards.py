from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import deniable as dn
from deniable.designs import (
    FAMILIES,
    christofides,
    crosswise,
    forced_response,
    simmons,
    warner,
)
from deniable.errors import InvalidDesign, InvalidNumber, InvalidRequest


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (simmons, InvalidRequest, "exactly one"),
        (lambda: simmons(1, p="1/2"), InvalidRequest, "exactly one"),
        (lambda: simmons(p=0), InvalidDesign, "between 0 and 1"),
        (lambda: simmons(p=1), InvalidDesign, "between 0 and 1"),
        (lambda: simmons(1, b=0), InvalidDesign, "b nearer|between 0 and 1"),
        (lambda: simmons(1, b=1), InvalidDesign, "between 0 and 1"),
        (lambda: simmons(1, b="1e-30"), InvalidDesign, "too fine"),
        (lambda: simmons(1, b=2), InvalidNumber, "probability"),
        (lambda: simmons(-1), InvalidNumber, "positive"),
        (
            lambda: simmons(1, categories=["a", "b", "c"]),
            InvalidDesign,
            "categories",
        ),
        (christofides, InvalidRequest, "exactly one"),
        (
            lambda: christofides(1, cards=["1/3", "2/3"]),
            InvalidRequest,
            "exactly one",
        ),
        (
            lambda: christofides(cards=["1/3", "2/3"], middle="1/5"),
            InvalidRequest,
            "middle goes with epsilon",
        ),
        (lambda: christofides(cards=["1/3", "1/3"]), InvalidDesign, "sum to 2/3"),
        (
            lambda: christofides(cards=["1/3", "1/3", "1/3"]),
            InvalidDesign,
            "both ends",
        ),
        (lambda: christofides(cards="12"), InvalidDesign, "list"),
        (lambda: christofides(cards=[1]), InvalidDesign, "list"),
        (lambda: christofides(1, middle=1), InvalidDesign, "fewer middle cards"),
        (lambda: christofides(1, middle="3/2"), InvalidNumber, "probability"),
        (
            lambda: forced_response("2/3", "1/6", "1/5"),
            InvalidDesign,
            "do not sum to 1",
        ),
        (lambda: forced_response("2/3", "1/2"), InvalidDesign, "do not sum to 1"),
        (lambda: forced_response(0, "1/2"), InvalidDesign, "between 0 and 1"),
        (lambda: forced_response(1, 0), InvalidDesign, "between 0 and 1"),
        (lambda: crosswise("1/2"), InvalidDesign, "equally often"),
        (lambda: crosswise(0), InvalidDesign, "gives every answer away"),
        (
            lambda: crosswise("1/4", categories=["a", "b", "c"]),
            InvalidDesign,
            "expected 2",
        ),
    ],
)
def test_what_cannot_be_built_is_refused_with_a_reason(
    build: Callable[[], Any], error: type, words: str
) -> None:
    with pytest.raises(error, match=words):
        build()


@pytest.mark.parametrize(
    "design", [simmons(1), crosswise("1/4")], ids=lambda design: design.name
)
def test_designs_that_rest_on_an_unknown_answer_say_so(design: dn.Design) -> None:
    assert "random device" in design.caveat
    assert "do not know" in design.caveat
    again = dn.Design.from_json(design.to_json())
    assert again.caveat == design.caveat
    assert design.caveat in str(dn.estimate(dn.Tally(design, [60, 40])).summary())


def test_other_designs_have_no_caveat() -> None:
    assert warner(1).caveat == ""
    assert (
        dn.Design("made up", ["a", "b"], ["a", "b"], warner(1).channel).caveat == ""
    )
    told = {name for name, family in FAMILIES.items() if family.caveat}
    assert {"simmons", "crosswise"} <= told
    assert "warner" not in told


def test_numbers_that_were_sent_are_labels_of_cards() -> None:
    design = christofides(cards=["1/10", "3/10", "6/10"])
    counted = dn.tally(design, ["1", "3", "3", "2"])
    assert counted.counts.tolist() == [1, 1, 2]
    assert dn.tally(design, [1, 3, 3, 2], codes=False) == counted


def test_a_forced_response_that_is_impossible_makes_epsilon_infinite() -> None:
    assert forced_response("1/2", "1/2", 0).epsilon == float("inf")
