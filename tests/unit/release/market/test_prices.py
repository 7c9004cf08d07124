from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import pytest

import deniable as dn
from deniable.errors import InvalidNumber, InvalidRequest, UnreadableFile
from deniable.order.relaxation import ladder
from deniable.release.market import NOTHING, Prices

STAGES = ladder([dn.warner(p=p) for p in ("3/5", "2/3", "3/4")])


def cheapest(prices: Prices, held: int, wanted: int) -> Fraction:
    """The cheapest way of all ways to come to a stage or a finer one, gone through."""
    between = list(range(NOTHING + 1, len(STAGES)))
    ways = [
        way
        for size in range(len(between) + 1)
        for way in permutations(between, size)
    ]
    costs = []
    for way in ways:
        at, paid = held, Fraction(0)
        for stage in way:
            paid += prices.due(at, stage)
            at = max(at, stage)
        if at >= wanted:
            costs.append(paid)
    return min(costs)


def test_no_detour_is_cheaper_than_the_price() -> None:
    for upgrades in ({}, {(0, 1): 1, (1, 2): 4, (0, 2): 4}, {(0, 2): "3.5"}):
        prices = Prices(STAGES, [1, "3/2", "4.5"], upgrades)
        for held, wanted in product(range(NOTHING, 3), range(3)):
            assert prices.due(held, wanted) == cheapest(prices, held, wanted)


@pytest.mark.parametrize(
    ("prices", "upgrades", "problem"),
    [
        ([2, 1, 3], {}, "expected prices that rise"),
        ([1, 2, 5], {(0, 1): "1/2"}, "by way of stage 0 only 3/2"),
        ([1, 2, 5], {(0, 1): 1, (1, 2): 1}, "by way of stage 1 only"),
        ([1, 2, 5], {(0, 2): 7}, "holding more never costs more"),
        ([1, 2, 5], {(0, 2): 5}, "by way of stage 1 only 4"),
        ([5, 6, 7], {(0, 1): 6, (0, 2): 5}, "expected prices that rise"),
        (
            [5, 6, 7],
            {(0, 1): 5, (0, 2): 5, (1, 2): 6},
            "holding more never costs more",
        ),
    ],
)
def test_arbitrage_is_refused(
    prices: list[int], upgrades: dict[tuple[int, int], int | str], problem: str
) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        Prices(STAGES, prices, upgrades)


def test_equal_and_zero_prices_are_fine() -> None:
    assert Prices(STAGES, [0, 0, 0]).due(NOTHING, 2) == 0
    assert Prices(STAGES, [2, 2, 2]).due(0, 2) == 0


@pytest.mark.parametrize(
    ("prices", "upgrades"),
    [
        ([1, 2], {}),
        ([-1, 2, 3], {}),
        ([1, 2, 3], {(1, 0): 1}),
        ([1, 2, 3], {(0, 3): 1}),
        ([1, 2, 3], {(0, 1): -1}),
    ],
)
def test_what_is_no_price_list_is_refused(
    prices: list[int], upgrades: dict[tuple[int, int], int]
) -> None:
    with pytest.raises(InvalidRequest):
        Prices(STAGES, prices, upgrades)
    with pytest.raises(InvalidNumber):
        Prices(STAGES, ["much", 1, 2])


def test_a_price_list_travels() -> None:
    prices = Prices(STAGES, [1, "3/2", 4], {(0, 2): 3}, "EUR")
    again = Prices.from_json(prices.to_json())
    assert (again.ladder, again.prices, again.upgrades, again.currency) == (
        prices.ladder, prices.prices, prices.upgrades, "EUR",
    )  # fmt: skip
    with pytest.raises(UnreadableFile):
        Prices.from_json(prices.to_json().replace("3/2", "1/2"))
