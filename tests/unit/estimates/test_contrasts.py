"""Contrasts of stages, of drawn items and of two groups keep their level: summed over all tallies, nothing drawn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, multinomial

import deniable as dn
from deniable.errors import InvalidRequest
from deniable.estimates.intervals import profiled_sum, quantile
from deniable.estimates.results import Contrast

DESIGN = dn.warner(epsilon=4)
LADDER = dn.ladder([dn.warner(epsilon=1), DESIGN])
DRAWN = dn.drawn_items({"smokes": DESIGN, "drinks": DESIGN})


def tally(design: dn.Design, n: int, hits: int) -> dn.Tally:
    return dn.Tally(design, [n - hits, hits])


@cache
def of_groups(n: int, m: int, one: int, two: int) -> Contrast:
    first, second = (
        dn.estimate(tally(DESIGN, *each)).contrast({"yes": 1})
        for each in ((n, one), (m, two))
    )
    return first - second


@cache
def of_drawn(n: int, m: int, one: int, two: int) -> Contrast:
    counted = dn.DrawnTally(DRAWN, np.array([n - one, one, m - two, two]))
    return dn.estimate(counted).contrast({"smokes: yes": 1, "drinks: yes": -1})


@cache
def of_stages(n: int, m: int, one: int, two: int) -> Contrast:
    parts = tally(LADDER.designs[0], n, one), tally(LADDER.designs[1], m, two)
    return dn.estimate(dn.StageTallies(LADDER, parts, parts)).contrast(
        {"yes": 1, "no": -1}
    )


def coverage(
    made: Callable[[int, int, int, int], Contrast],
    rates: Sequence[float],
    truth: float,
    method: str | None = None,
    sizes: tuple[int, int] = (20, 12),
) -> float:
    """Sum over all pairs of tallies."""
    chances = [
        binom.pmf(np.arange(n + 1), n, rate)
        for n, rate in zip(sizes, rates, strict=True)
    ]
    held = 0.0
    for one, two in np.argwhere(np.outer(*chances) > 1e-7).tolist():
        low, high = made(*sizes, one, two).interval(method=method)
        held += (
            chances[0][one] * chances[1][two] * (low - 1e-9 <= truth <= high + 1e-9)
        )
    return float(held)


def rate(share: float, design: dn.Design = DESIGN) -> float:
    return float(design.channel.floats()[1] @ [1 - share, share])


PAIRS = [(0.0, 0.0), (0.005, 0.005), (0.0, 0.03), (0.03, 0.2), (0.5, 0.5)]


@pytest.mark.parametrize("made", [of_groups, of_drawn])
def test_the_difference_of_two_groups_and_of_two_items(
    made: Callable[[int, int, int, int], Contrast],
) -> None:
    found = [coverage(made, (rate(one), rate(two)), one - two) for one, two in PAIRS]
    assert min(found) >= 0.92
    assert np.mean(found) >= 0.94
    assert (
        min(
            coverage(made, (rate(one), rate(two)), one - two, "normal")
            for one, two in PAIRS
        )
        < 0.8
    )


def test_the_contrast_of_stages() -> None:
    shares = (0, 0.005, 0.03, 0.2, 0.5)
    rates = [[rate(share, each) for each in LADDER] for share in shares]
    found = [
        coverage(of_stages, each, 2 * share - 1, sizes=(14, 6))
        for share, each in zip(shares, rates, strict=True)
    ]
    assert min(found) >= 0.92
    assert np.mean(found) >= 0.94
    plain = [
        coverage(of_stages, each, 2 * share - 1, "normal", (14, 6))
        for share, each in zip(shares, rates, strict=True)
    ]
    assert min(plain) < 0.9


def test_a_contrast_of_one_share_is_its_own_interval() -> None:
    parts = tally(LADDER.designs[0], 40, 30), tally(LADDER.designs[1], 20, 3)
    found = dn.estimate(dn.StageTallies(LADDER, parts, parts))
    assert found.contrast({"yes": 1}).interval(level=0.9) == pytest.approx(
        found.interval("yes", level=0.9)
    )
    low, high = found.interval("yes")
    assert found.contrast({"yes": 1, "no": -1}).interval() == pytest.approx(
        (2 * low - 1, 2 * high - 1)
    )


def test_three_answers_in_stages() -> None:
    ladder = dn.ladder([dn.k_ary(3, epsilon=each) for each in (1, 6)])
    parts = tuple(
        dn.Tally(design, counts)
        for design, counts in zip(ladder, ([30, 40, 30], [40, 0, 10]), strict=True)
    )
    found = dn.estimate(dn.StageTallies(ladder, parts, parts)).contrast(
        {"1": 1, "2": -1}
    )
    plain = found.interval(method="normal")
    assert found.interval().low < found.value < found.interval().high
    assert found.interval() != plain


def test_groups_are_compared_in_the_same_thing() -> None:
    one, two = (dn.estimate(tally(DESIGN, 20, hits)) for hits in (3, 9))
    assert (
        one.contrast({"yes": 1}) - two.contrast({"yes": 1})
    ).error == pytest.approx(np.hypot(one.bse["yes"], two.bse["yes"]))
    with pytest.raises(InvalidRequest, match="the same"):
        one.contrast({"yes": 1}) - two.contrast({"no": 1})
    for weight in (float("nan"), 10**400):
        with pytest.raises(InvalidRequest, match="finite"):
            one.contrast({"yes": weight})
    with pytest.raises(InvalidRequest, match="was not estimated"):
        dn.estimate(dn.DrawnTally(DRAWN, np.array([9, 3, 8, 4]))).contrast(
            {"yes": 1}
        )


FOUR = dn.ladder([dn.k_ary(4, epsilon=each) for each in ("1/2", 8)])


def tallies_of(n: int) -> list[tuple[int, ...]]:
    """All tallies of n responses of four symbols."""
    return [
        each for each in itertools.product(range(n + 1), repeat=4) if sum(each) == n
    ]


@pytest.mark.parametrize("weights", [(1, 0, 0, -1), (1, 1, 0, -2)])
def test_contrasts_of_stages_where_one_fine_response_decides(
    weights: tuple[int, ...],
) -> None:
    """Four people at ε = ½ and one at ε = 8. Recovered from single intervals alone they hold 87 %."""
    named = dict(zip(FOUR.designs[0].categories, weights, strict=True))
    chances, ends = [], []
    for counts in itertools.product(tallies_of(4), tallies_of(1)):
        parts = tuple(
            dn.Tally(each, count) for each, count in zip(FOUR, counts, strict=True)
        )
        ends.append(
            dn.estimate(dn.StageTallies(FOUR, parts, parts))
            .contrast(named)
            .interval()
        )
        chances.append([multinomial.pmf(count, sum(count), np.array(SHARES) @ design.channel.floats().T)
                        for count, design in zip(counts, FOUR, strict=True)])  # fmt: skip
    low, high = np.array(ends).T[:, :, None]
    truths = np.array(SHARES) @ weights
    found = (
        np.prod(chances, axis=1) * ((low - 1e-9 <= truths) & (truths <= high + 1e-9))
    ).sum(axis=0)
    assert found.min() >= 0.92
    assert found.mean() >= 0.94


SHARES = [
    (0.94, 0.03, 0.03, 0.0),
    (0.91, 0.03, 0.03, 0.03),
    (0.74, 0.03, 0.03, 0.2),
    (0.25, 0.25, 0.25, 0.25),
]


@pytest.mark.parametrize("weights", [(1, 0, -1), (0, 1, 0), (2, -1, -1), (1, 2, 3)])
def test_the_profile_of_a_sum_is_what_a_search_of_all_shares_finds(
    weights: tuple[int, ...],
) -> None:
    matrix, counts = (
        dn.k_ary(3, epsilon=2).channel.floats(),
        np.array([12.0, 3.0, 1.0]),
    )
    grid = (
        np.array([(i, j, 400 - i - j) for i in range(401) for j in range(401 - i)])
        / 400
    )
    heights = np.log(grid @ matrix.T) @ counts
    likely = grid[heights >= heights.max() - quantile(0.95) ** 2 / 2] @ weights
    found = profiled_sum(
        matrix, counts, grid[heights.argmax()], np.array(weights, float), 0.95
    )
    assert found == pytest.approx((likely.min(), likely.max()), abs=0.02)
    assert found.low <= likely.min() + 1e-3
    assert found.high >= likely.max() - 1e-3
