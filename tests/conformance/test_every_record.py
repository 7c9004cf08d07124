"""Every type of record goes through the same verbs, and what does not fit is refused with our error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from deniable.designs import number_design, warner
from deniable.documents import HashedDocument, Response
from deniable.errors import (
    DeniableError,
    Incompatible,
    InvalidAnswer,
    InvalidResponse,
    NotEstimable,
)
from deniable.types.drawn import count as drawn_tallies
from deniable.types.drawn import design as drawn
from deniable.types.drawn import estimate as drawn_estimates
from deniable.types.drawn import respond as drawn_responses
from deniable.types.edges import count as edge_tallies
from deniable.types.edges import design as edges
from deniable.types.edges import estimate as edge_estimates
from deniable.types.edges import respond as edge_responses
from deniable.types.key_value import count as item_tallies
from deniable.types.key_value import design as key_value
from deniable.types.key_value import estimate as item_estimates
from deniable.types.key_value import respond as item_responses
from deniable.types.numbers import count as number_tallies
from deniable.types.numbers import estimate as number_estimates
from deniable.types.numbers import respond as number_responses
from deniable.types.strings import count as string_tallies
from deniable.types.strings import design as strings
from deniable.types.strings import estimate as string_estimates
from deniable.types.strings import respond as string_responses


@dataclass(frozen=True)
class Type:
    build: Callable[[int], Any]
    answer: Any
    rooms: tuple[Any, Any, Any]
    options: tuple[Any, ...] = ()

    @property
    def design(self) -> Any:
        return self.build(3)


ITEMS = (item_responses, item_tallies, item_estimates)
TYPES = {
    "key-value": Type(
        lambda epsilon: key_value.lpp_club(["tea", "milk"], epsilon),
        {"tea": 0.5},
        ITEMS,
    ),
    "key-value, vectors": Type(
        lambda epsilon: key_value.pckv_ue(["tea", "milk"], epsilon, padding=1),
        {},
        ITEMS,
    ),
    "key-value, one item": Type(
        lambda epsilon: key_value.pckv_grr(["tea", "milk"], epsilon, padding=1),
        {"milk": -1},
        ITEMS,
    ),
    "edges": Type(
        lambda epsilon: edges.one_edge(["tea", "milk"], epsilon),
        {"tea": 1},
        (edge_responses, edge_tallies, edge_estimates),
    ),
    "strings": Type(
        lambda epsilon: strings.string_design(strings.Bloom(8, cohorts=2), epsilon),
        "Smith",
        (string_responses, string_tallies, string_estimates),
        (["Smith", "Jones"],),
    ),
    "drawn items": Type(
        lambda epsilon: drawn.drawn_items(
            {"tea": warner(epsilon), "milk": warner(1)}
        ),
        {"tea": "yes", "milk": "no"},
        (drawn_responses, drawn_tallies, drawn_estimates),
    ),
    "numbers": Type(
        lambda epsilon: number_design(0, 80, epsilon),
        37.5,
        (number_responses, number_tallies, number_estimates),
    ),
}
every = pytest.mark.parametrize("kind", TYPES.values(), ids=list(TYPES))

NO_ANSWERS = [
    None,
    b"x",
    [1],
    {"tea": None},
    {"tea": "x"},
    {1: 1},
    {"tea": 1, "soup": 1},
    {"tea": [1]},
    1j,
    object(),
]
NO_ANSWERS += [
    np.array([1, 2]),
    ("tea", 1),
    Response("a", "b"),
    {"tea": 10**400},
    {"tea": float("nan")},
    -(10**400),
]
NO_RESPONSES = [
    None,
    3,
    "x",
    b"x",
    [[1]],
    [object()],
    [b"x"],
    [1.5],
    [True],
    [["+ tea"]],
    np.array([1.5]),
]
NO_RESPONSES += [
    np.array([[1.5]]),
    np.array([-1]),
    np.array([10**6]),
    np.array(["x"]),
    np.zeros((2, 2, 2), int),
]


@every
def test_each_type_is_responded_to_counted_and_estimated(kind: Type) -> None:
    respond, tally, estimate = (
        kind.rooms[0].respond,
        kind.rooms[1].tally,
        kind.rooms[2].estimate,
    )
    design = kind.design
    assert isinstance(design, HashedDocument)
    assert type(design).from_json(design.to_json()) == design
    sent = [respond(design, kind.answer) for _ in range(50)]
    counted = tally(design, [*sent, None])
    assert (counted.design, counted.respondents, counted.missing) == (design, 50, 1)
    assert (
        sum([tally(design, sent[:20]), tally(design, [*sent[20:], None])]) == counted
    )
    found = estimate(counted, *kind.options)
    assert set(found.params) == set(found.bse)
    assert found.summary().missing == 1
    with pytest.raises(NotEstimable):
        estimate(type(counted).empty(design), *kind.options)


@every
@pytest.mark.parametrize("answer", NO_ANSWERS, ids=lambda each: type(each).__name__)
def test_what_is_no_answer_is_refused(kind: Type, answer: object) -> None:
    with pytest.raises(InvalidAnswer):
        kind.rooms[0].respond(kind.design, answer)


@every
@pytest.mark.parametrize(
    "responses", NO_RESPONSES, ids=lambda each: type(each).__name__
)
def test_what_are_no_responses_are_refused(kind: Type, responses: object) -> None:
    with pytest.raises(DeniableError) as caught:
        kind.rooms[1].tally(kind.design, responses)
    assert isinstance(caught.value, InvalidResponse)


@every
def test_responses_of_another_design_are_refused(kind: Type) -> None:
    with pytest.raises(Incompatible):
        kind.rooms[1].tally(
            kind.design, [kind.rooms[0].respond(kind.build(2), kind.answer)]
        )
