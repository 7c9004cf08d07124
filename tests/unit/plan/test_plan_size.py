from __future__ import annotations

import math

import pytest

import deniable as dn
from deniable import plan
from deniable.errors import InvalidDesign, InvalidNumber, InvalidRequest
from deniable.plan.precision import Population, smallest


@pytest.mark.parametrize("population", [None, "census", 5_000], ids=str)
@pytest.mark.parametrize(
    "design",
    [dn.warner(1), dn.simmons(1, b="3/10"), dn.k_ary(4, 2)],
    ids=lambda d: d.name,
)
def test_it_is_the_smallest_number(
    design: dn.Design, population: Population
) -> None:
    for target in (0.05, 0.0123, 0.002):
        n = plan.sample_size(design, variance=target, population=population)
        assert plan.variance(design, n, population=population) <= target * (1 + 1e-9)
        assert n == 1 or plan.variance(design, n - 1, population=population) > target


def test_closed_forms_of_the_sheet() -> None:
    for eps in (0.1, 0.5, 2.0):
        x, design = math.exp(eps), dn.warner(eps)
        device = x / (x - 1) ** 2
        assert plan.sample_size(
            design, variance=0.01, population="census"
        ) == math.ceil(device / 0.01)
        assert plan.sample_size(design, variance=0.01) == math.ceil(
            (0.25 + device) / 0.01
        )
        assert plan.sample_size(
            design, variance=0.01, shares={"yes": 0.1, "no": 0.9}
        ) == math.ceil((0.09 + device) / 0.01)
        cards = dn.christofides(eps, middle="1/5")
        w = (x + 1) ** 2 / ((x - 1) ** 2 * 0.8) - 1
        assert plan.sample_size(
            cards, variance=0.01, population="census"
        ) == math.ceil(w / 0.04)


def test_a_number_that_is_exactly_enough_is_not_rounded_up() -> None:
    design = dn.warner(p="3/4")  # n·Var = 3/4 in a census
    assert plan.sample_size(design, variance=0.75, population="census") == 1
    for n in (3, 7, 10, 49, 1000, 12_345):
        assert plan.sample_size(design, variance=0.75 / n, population="census") == n


def test_margins_are_variances() -> None:
    design, s2 = dn.warner(p="3/4"), 0.25 + 0.75
    assert plan.sample_size(design, margin=0.05) == math.ceil(
        1.959963984540054**2 * s2 / 0.0025
    )
    assert plan.sample_size(design, margin=0.05, level=0.99) == math.ceil(
        2.5758293035489004**2 * s2 / 0.0025
    )
    assert plan.sample_size(design, margin=0.05, method="chebyshev") == math.ceil(
        s2 / (0.05 * 0.0025) - 1e-9
    )


def test_every_category_keeps_a_margin_and_one_alone_needs_no_more() -> None:
    design = dn.matrix(
        [[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]],
        categories=["a", "b", "c"],
    )
    alone = [
        plan.sample_size(design, margin=0.05, category=each)
        for each in design.categories
    ]
    assert plan.sample_size(design, margin=0.05) == max(alone)
    assert min(alone) < max(alone)


@pytest.mark.parametrize("method", ["normal", "chebyshev"])
def test_width_and_margin_agree(method: str) -> None:
    for design in (dn.warner(1), dn.k_ary(5, 1)):
        n = plan.sample_size(design, margin=0.07, method=method)
        assert plan.width(design, n, method=method) <= 0.14 * (1 + 1e-9)
        assert plan.width(design, n - 1, method=method) > 0.14
    deck = dn.integer_deck(400, 1)
    expected = (
        2 * 1.959963984540054 * plan.variance(deck, 400, population="census") ** 0.5
    )
    assert plan.width(deck, 400, population="census") == pytest.approx(
        expected, rel=1e-9
    )


def test_a_small_population_needs_fewer_people_or_is_too_small() -> None:
    design = dn.warner(3)
    many = plan.sample_size(design, margin=0.05)
    assert plan.sample_size(design, margin=0.05, population=1_000) < many
    assert plan.sample_size(design, margin=0.05, population=10**9) == many
    with pytest.raises(InvalidRequest, match="even if all 20 people respond"):
        plan.sample_size(design, margin=0.01, population=20)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"variance": 0.1, "margin": 0.1},
        {"variance": 0},
        {"variance": -1},
        {"variance": float("nan")},
        {"margin": True},
        {"margin": 0.1, "level": 95},
        {"margin": 0.1, "method": "exact"},
        {"margin": 0.1, "population": "all"},
        {"margin": 0.1, "population": 0.5},
    ],
)
def test_demands_that_do_not_fit_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest):
        plan.sample_size(dn.warner(1), **options)  # type: ignore[arg-type]


def test_smallest_finds_every_number() -> None:
    for most in (1, 2, 17, 1000):
        for first in range(1, most + 1):
            assert smallest(lambda n, first=first: n >= first, most) == first  # type: ignore[misc]
        assert smallest(lambda n: False, most) is None  # noqa: ARG005


def _census(people: int, eps: float, middle: float, share: float) -> float:
    try:
        deck = dn.integer_deck(people, eps, middle)
    except InvalidDesign:
        return math.inf
    return plan.variance(
        deck, people, shares=[1 - share, share], population="census"
    )


def test_decks_of_whole_cards_keep_the_demand() -> None:
    for eps, middle, share, target in (
        (0.5, 0.01, 0.1, 0.1),
        (1, 0.1, 0.5, 0.01),
        (0.05, 0, 0.2, 0.5),
    ):
        ideal = plan.deck_sample_size(
            eps, middle, variance=target, share=share, ideal=True
        )
        n = plan.deck_sample_size(eps, middle, variance=target, share=share)
        assert n >= ideal
        deck = dn.integer_deck(n, eps, middle)
        assert plan.variance(
            deck, n, shares=[1 - share, share], population="census"
        ) <= target * (1 + 1e-9)
        assert max(
            _census(people, eps, middle, share) for people in range(n, n + 300)
        ) <= target * (1 + 1e-9)
        assert n == ideal or not _census(n - 1, eps, middle, share) <= target
    assert plan.deck_sample_size(1, margin=0.1, ideal=True) == plan.deck_sample_size(
        1, variance=(0.1 / 1.959963984540054) ** 2, ideal=True
    )


def test_groups_too_small_for_whole_cards_are_passed_over() -> None:
    n = plan.deck_sample_size(0.05, 0.36, variance=1e9)
    assert n > plan.deck_sample_size(0.05, 0.36, variance=1e9, ideal=True)
    assert dn.integer_deck(n, 0.05, 0.36).epsilon_alone <= 0.05


def test_a_demand_that_no_deck_keeps_is_told() -> None:
    with pytest.raises(InvalidRequest, match="no deck"):
        plan.deck_sample_size("1e-12", variance=1e-6)


def test_ideal_decks_are_the_formulas_of_the_document() -> None:
    x, p2 = math.exp(0.3), 0.2
    w = (x + 1) ** 2 / ((x - 1) ** 2 * (1 - p2)) - 1
    assert plan.ideal_deck_variance(50, 0.3, p2, 0.1) == pytest.approx(
        0.09 * w / 49, rel=1e-12
    )
    assert plan.ideal_deck_variance(
        50, 0.3, p2, 0.1, replaced=True
    ) == pytest.approx(w / 200, rel=1e-12)
    assert plan.deck_sample_size(
        0.3, p2, variance=0.01, share=0.1, ideal=True
    ) == math.ceil(1 + 0.09 * w / 0.01)
    with pytest.raises(InvalidRequest, match="nothing is told"):
        plan.ideal_deck_variance(50, 0.3, 1, 0.1)
    with pytest.raises(InvalidNumber, match="share"):
        plan.ideal_deck_variance(50, 0.3, 0.2, 1.1)
    with pytest.raises(InvalidRequest, match="people"):
        plan.crossing(1, 0.3, 0.2)


@pytest.mark.parametrize(
    ("people", "eps", "middle"),
    [(9, 0.5, 0.36), (100, 0.5, 0.1), (10_000, 0.01, 0.01), (7, 3, 0)],
)
def test_at_a_crossing_the_variances_are_equal(
    people: int, eps: float, middle: float
) -> None:
    warner = plan.variance(dn.warner(eps), people, population="census")
    back = plan.ideal_deck_variance(people, eps, middle, 0.5, replaced=True)
    for ends, other in (
        (plan.crossing(people, eps, middle), warner),
        (plan.crossing_independent(people), back),
    ):
        for end, outwards in ((ends.low, -1e-3), (ends.high, 1e-3)):
            assert plan.ideal_deck_variance(
                people, eps, middle, end
            ) == pytest.approx(other, rel=1e-6)
            assert (
                plan.ideal_deck_variance(people, eps, middle, end + outwards) < other
            )
            assert (
                plan.ideal_deck_variance(people, eps, middle, end - outwards) > other
            )
