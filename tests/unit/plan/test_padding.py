"""The planned padding is the best one of all, by the formula and by draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import deniable as dn
from deniable.bulk.edges import read_edges
from deniable.errors import InvalidRequest
from deniable.plan import padding
from deniable.types.key_value.draw import collect

TAIL = {0: 0.1, 1: 0.3, 2: 0.3, 3: 0.21, 6: 0.09}
ITEMS = 6


def drawn_errors(
    build: Any, epsilon: float, places: int, frequency: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors of many surveys: of the share of each item, and of the average share."""
    rng, n = np.random.default_rng(places), 300
    design = build(ITEMS, epsilon, padding=places, frequency=frequency)
    truth = sum(size * share for size, share in TAIL.items()) / ITEMS
    errors = []
    for _ in range(100):
        sizes = rng.choice(list(TAIL), n, p=list(TAIL.values()))
        ranks = rng.random((n, ITEMS)).argsort(axis=1).argsort(axis=1)
        has = csr_array((ranks < sizes[:, None]).astype(float))
        edges = read_edges(design, has)
        errors.append(dn.estimate(collect(design, edges)).frequency - truth)
    each = np.array(errors)
    return each, each.mean(axis=1)


@pytest.mark.parametrize(
    ("family", "goal", "epsilon"),
    [("pckv_grr", "average degree", 1), ("pckv_ue", "items", 4)],
)
def test_the_planned_errors_are_those_of_draws(
    family: str, goal: str, epsilon: float
) -> None:
    """Six standard errors of the mean of squares: a false alarm in 1e-9 of all runs."""
    plan = padding(ITEMS, epsilon, 300, shares=TAIL, family=family, goal=goal)
    frequency = round(sum(size * share for size, share in TAIL.items()) / ITEMS, 6)
    drawn = {}
    for line in plan.lines:
        places = int(line["places"])
        items, average = drawn_errors(
            getattr(dn, family), epsilon, places, frequency
        )
        squares = (items**2).mean(axis=1) if goal == "items" else average**2
        error = squares.std() / len(squares) ** 0.5
        assert abs(squares.mean() - float(line["error"]) ** 2) < 6.2 * error
        drawn[places] = squares.mean(), error
    best, own_error = drawn[int(plan.value)]
    for other, error in drawn.values():
        assert best - other < 6.2 * np.hypot(own_error, error)


@pytest.mark.parametrize("family", ["pckv_grr", "pckv_ue"])
@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("n", [30, 1_000, 100_000])
def test_no_other_padding_is_better(family: str, corrected: bool, n: int) -> None:
    plan = padding(ITEMS, 2, n, shares=TAIL, family=family, corrected=corrected)
    column = "error, corrected" if corrected else "error"
    errors = {line["places"]: line[column] for line in plan.lines}
    assert plan.value == min(errors, key=errors.__getitem__)
    assert corrected or n < 1_000 or errors.keys() == set(range(1, 7))
    assert plan.design is not None
    assert plan.design.scheme.padding == plan.value  # type: ignore[attr-defined]  # of this type
    assert plan.design.epsilon <= 2


def test_of_many_places_the_best_is_found_without_trying_all() -> None:
    spread = dict.fromkeys(range(120), 1 / 120)
    plan = padding(150, 5, 20_000, shares=spread, family="pckv_grr")
    assert len(plan.lines) < 80
    errors = [line["error"] for line in plan.lines]
    assert plan.lines[errors.index(min(errors))]["places"] == plan.value
    tried = {line["places"] for line in plan.lines}
    assert {plan.value - 1, plan.value + 1} <= tried


def test_more_people_have_more_places_and_as_many_as_are_enough() -> None:
    plans = {
        n: padding(ITEMS, 4, n, shares=TAIL, family="pckv_grr")
        for n in (30, 1_000, 100_000)
    }
    places = [plan.value for plan in plans.values()]
    assert places == sorted(places)
    assert places[0] < places[-1] == 6
    enough = padding(ITEMS, 4, within=0.05, shares=TAIL, family="pckv_grr")
    n = int(enough.value)
    assert f"Ask {n:,} people" in enough.sentence
    for people, fits in ((n, True), (n - 1, False)):
        plan = padding(ITEMS, 4, people, shares=TAIL, family="pckv_grr")
        least = min(float(line["error"]) for line in plan.lines)
        assert (1.959964 * least <= 0.05) is fits


def test_the_numbers_of_items_may_come_from_a_question() -> None:
    asked = dn.k_ary([str(size) for size in range(7)], 6)
    answers = np.random.default_rng(1).choice(
        list(TAIL), 3_000, p=list(TAIL.values())
    )
    pilot = dn.estimate(
        dn.tally(dn.respond_all(asked, [str(each) for each in answers]))
    )
    people = {"family": "pckv_grr", "n": 1_000}
    plan = padding(ITEMS, 4, shares=pilot.projected(), **people)  # type: ignore[arg-type]  # by name
    known = padding(ITEMS, 4, shares=TAIL, **people)  # type: ignore[arg-type]  # by name
    assert abs(plan.value - known.value) <= 1
    assert "lpp_club, which needs no padding" in str(plan)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shares": {0: 1.0}}, "nobody has an item"),
        ({"shares": {7: 1.0}}, "not from 0 to 6"),
        ({"shares": {1: 0.5}}, "do not fit"),
        ({"shares": TAIL, "goal": "weights"}, "the goal is"),
        ({"shares": TAIL, "family": "lpp"}, "the family is"),
        ({"shares": TAIL, "n": None}, "either n or within"),
        ({"shares": TAIL, "within": 0.1}, "either n or within"),
        ({"shares": TAIL, "n": 0}, "n is 0"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        padding(ITEMS, 4, **{"n": 100, **options})
