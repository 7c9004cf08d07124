"""Key-value responses follow their scheme, estimates scatter as the formulas say, and intervals hold.

Each test says how often it cries wolf. Responses: exact binomial regions, 10⁻⁹ shared among all cells. Variances: the
mean of squared errors over their expectation, for many items and rounds, is a mean of nearly independent χ²₁ variables;
its region is that of χ², widened by 2 % for errors that are not quite normal, at 10⁻⁹.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, chi2

from deniable.bulk.edges import Edges
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
)
from deniable.types.key_value.draw import collect
from deniable.types.key_value.estimate import estimate
from deniable.types.key_value.respond import respond
from deniable.types.key_value.variances import second_moments
from tests.support.keyvalue import designs
from tests.support.seeded import seeded

FALSE_ALARM = 1e-9
DRAWS = 4_000
ANSWERS = ({}, {"0": Fraction(1, 3)}, {"0": -1, "1": 1})


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name",
    [
        "lpp_club",
        "lpp, a public fake weight",
        "pckv_ue, 2 places",
        "pckv_grr, 2 places",
    ],
)
def test_responses_follow_the_scheme(name: str) -> None:
    design, source = designs(2)[name], seeded(name)
    cells = len(ANSWERS) * design.scheme.responses
    for answer in ANSWERS:
        row = design.row(answer)
        drawn = (
            design.response_number(respond(design, answer, source=source).symbol)
            for _ in range(DRAWS)
        )
        sent = Counter(drawn)
        for response in range(design.scheme.responses):
            p = float(design.scheme.probability(response, row))
            tail = FALSE_ALARM / cells / 2
            assert (
                binom.ppf(tail, DRAWS, p)
                <= sent[response]
                <= binom.isf(tail, DRAWS, p)
            )
            # A cell that is off by a tenth is found all but surely.
            moved = p + 0.1 if p < 0.5 else p - 0.1
            missed = binom.cdf(binom.isf(tail, DRAWS, p), DRAWS, moved) - binom.cdf(
                binom.ppf(tail, DRAWS, p) - 1, DRAWS, moved
            )
            assert missed < 1e-3


def graph(people: int, items: int, most: int) -> Edges:
    """Everybody has up to `most` items, frequent ones more often, with weights between −1 and 1."""
    rng = np.random.default_rng(17)
    order = np.argsort(
        rng.random((people, items)) / np.linspace(3, 1, items), axis=1
    )[:, :most]
    sizes = rng.integers(0, most + 1, people)
    there = np.arange(most) < sizes[:, None]
    item = np.where(there, order, items)
    item.sort(axis=1)
    there = item < items
    start = np.zeros(people + 1, np.int64)
    np.cumsum(sizes, out=start[1:])
    return Edges(
        people, items, start, item[there], rng.uniform(-1, 1, int(there.sum()))
    )


def expected(design: KeyValueDesign, edges: Edges) -> np.ndarray:
    """The variances of degree and weight of each item, from F15: fixed scaling, people as they are."""
    told = second_moments(design.scheme)
    k, w, squares, n = edges.degree, edges.weight_sum, edges.square_sum, edges.people
    shares = np.stack([n - k, (k + w) / 2, (k - w) / 2])
    degree, weight = (
        np.array([float(each) for each in row]) @ shares
        for row in (told.degree, told.weight)
    )
    return np.stack([degree - k, weight - squares])


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [1, 2, 4])
@pytest.mark.parametrize("builder", [lpp_ddagger, lpp_club, pckv_ue, pckv_grr])
def test_estimates_scatter_as_the_formulas_say(builder, epsilon: int) -> None:  # type: ignore[no-untyped-def]
    """A variance that is off by 25 % is found all but surely."""
    people, items, rounds = 3_000, 40, 100
    edges = graph(people, items, 3)
    design = (
        builder(items, epsilon, padding=3)
        if "pckv" in builder.__name__
        else builder(items, epsilon)
    )
    variance, source = (
        expected(design, edges),
        seeded(f"{builder.__name__} {epsilon}"),
    )
    truth = np.stack([edges.degree, edges.weight_sum])
    squared = np.zeros_like(variance)
    for _ in range(rounds):
        found = estimate(collect(design, edges, source=source), scaling="fixed")
        squared += (np.stack([found.degree, found.weight]) - truth) ** 2
    ratio = (squared / variance).mean(axis=1) / rounds
    count = rounds * items
    low, high = (
        chi2.ppf(FALSE_ALARM / 2, count) / count,
        chi2.isf(FALSE_ALARM / 2, count) / count,
    )
    assert (ratio > 0.98 * low).all()
    assert (ratio < 1.02 * high).all()
    assert chi2.cdf(1.02 * high * count / 1.25, count) < 1e-2
    assert chi2.sf(0.98 * low * count / 0.75, count) < 1e-2


@pytest.mark.statistical
def test_the_errors_that_are_told_are_those_that_occur() -> None:
    """Default estimates of independent respondents: told variances against those of the formula, within 10 %."""
    edges = graph(20_000, 25, 3)
    for design in (
        lpp_club(25, 2),
        pckv_ue(25, 2, padding=3),
        pckv_grr(25, 2, padding=3),
    ):
        source = seeded(design.name)
        found = estimate(
            collect(design, edges, source=source),
            scaling="fixed",
            population="census",
        )
        told = np.stack([found.variance("degree"), found.variance("weight")])
        assert told == pytest.approx(expected(design, edges), rel=0.1)


@pytest.mark.statistical
@pytest.mark.parametrize("what", ["degree", "weight", "mean"])
def test_intervals_hold_as_often_as_they_say(what: str) -> None:
    """The count of misses among all items and rounds has an exact binomial region at 10⁻⁹ around 4 % to 6 %.

    Items in one round are nearly independent: whoever is asked about one is not asked about another.
    """
    edges, design, rounds = graph(20_000, 25, 3), lpp_club(25, 3), 60
    truth = {
        "degree": edges.degree,
        "weight": edges.weight_sum,
        "mean": edges.weight_sum / edges.degree,
    }[what]
    source, missed = seeded(f"intervals {what}"), 0
    for _ in range(rounds):
        found = estimate(collect(design, edges, source=source))
        low, high = np.array(list(found.about(what).conf_int().values())).T
        missed += int(((truth < low) | (truth > high)).sum())
    count = rounds * 25
    assert (
        binom.ppf(FALSE_ALARM / 2, count, 0.04)
        <= missed
        <= binom.isf(FALSE_ALARM / 2, count, 0.06)
    )
