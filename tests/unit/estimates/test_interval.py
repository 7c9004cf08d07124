"""Intervals: their algebra, their refusals, and their coverage, computed exactly from the binomial law."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

import deniable as dn
from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.estimates import Estimate
from deniable.estimates.intervals import METHODS, quantile, wilson


def estimates(design: Design, n: int) -> list[Estimate]:
    """An estimate for every count of the last symbol, the other responses being the first symbol."""
    size = len(design.symbols)
    return [
        dn.estimate(dn.Tally(design, [n - hits, *[0] * (size - 2), hits]))
        for hits in range(n + 1)
    ]


def coverage(
    design: Design, share: float, n: int, method: str | None, level: float = 0.95
) -> float:
    """The exact probability that the interval of the last category holds its share.

    The interval of a category depends on the count of its own symbol alone, which is binomial.
    """
    own, other = (
        float(design.channel.probability(1, given=given)) for given in (1, 0)
    )
    weights = binom.pmf(np.arange(n + 1), n, other + (own - other) * share)
    intervals = [
        list(each.conf_int(method=method, level=level).values())[-1]
        for each in estimates(design, n)
    ]
    return float(
        sum(
            w
            for w, (low, high) in zip(weights, intervals, strict=True)
            if low - 1e-12 <= share <= high + 1e-12
        )
    )


@pytest.mark.parametrize(
    ("epsilon", "size"), list(itertools.product([0.5, 1, 3], [2, 5]))
)
def test_the_default_keeps_its_coverage_near_zero(epsilon: float, size: int) -> None:
    design = dn.k_ary(size, epsilon=epsilon)
    for share in (0.01, 0.05, 0.2, 0.5):
        assert 0.93 <= coverage(design, share, 100, None) <= 0.975
    assert coverage(design, 0.0, 100, None) >= 0.93


def test_the_normal_interval_fails_where_the_default_holds() -> None:
    """The check of coverage can fail: with few responses neither the normal nor the score interval keeps 93 %."""
    design = dn.k_ary(5, epsilon=4)
    assert coverage(design, 0.0, 30, "normal") < 0.93
    assert coverage(design, 0.0, 30, "score") < 0.93
    assert coverage(design, 0.0, 30, None) >= 0.95


@pytest.mark.parametrize("method", ["exact", "chebyshev"])
def test_conservative_methods_never_fall_below_their_level(method: str) -> None:
    design = dn.warner(epsilon=2)
    assert all(
        coverage(design, share, 60, method) >= 0.95
        for share in (0, 0.02, 0.3, 0.7, 1)
    )


def test_profile_coverage_of_two_answers() -> None:
    assert all(
        coverage(dn.warner(epsilon=1), share, 80, "profile") >= 0.93
        for share in (0, 0.05, 0.3, 0.5)
    )


@pytest.mark.parametrize(("population", "members"), [(60, 18), (60, 30), (180, 54)])
def test_the_profile_knows_how_many_people_there_are(
    population: int, members: int
) -> None:
    """Sums over all counts of 60 respondents, all people or a third of them; as if of very many it holds too much."""
    design, n = dn.warner(epsilon=3), 60
    p, q = (float(design.channel.probability(1, given=given)) for given in (1, 0))
    law = np.zeros(n + 1)
    for m, chance in enumerate(
        hypergeom.pmf(np.arange(n + 1), population, members, n)
    ):
        law += chance * np.convolve(
            binom.pmf(np.arange(m + 1), m, p),
            binom.pmf(np.arange(n - m + 1), n - m, q),
        )
    held = {}
    for known in (population, None):
        made = [
            dn.estimate(dn.Tally(design, [n - hits, hits]), population=known)
            for hits in range(n + 1)
        ]
        ends = np.array([each.interval("yes", method="profile") for each in made])
        share = members / population
        held[known] = float(
            law @ ((ends[:, 0] - 1e-9 <= share) & (share <= ends[:, 1] + 1e-9))
        )
    assert 0.92 <= held[population] <= 0.975
    assert held[None] >= held[population] + 0.005


def test_of_a_census_that_asks_directly_the_profile_is_a_point() -> None:
    made = dn.estimate(
        dn.Tally(dn.k_ary(3, epsilon=12), [30, 20, 10]),
        population=60,
        method="likelihood",
    )
    free = dn.estimate(
        dn.Tally(dn.k_ary(3, epsilon=12), [30, 20, 10]), method="likelihood"
    )
    ends, wider = (
        np.array(list(each.conf_int(method="profile").values()))
        for each in (made, free)
    )
    assert np.ptp(ends, axis=1).max() < 0.1 * np.ptp(wider, axis=1).min()


def test_score_is_wilson_carried_through_the_channel() -> None:
    design, hits, n = dn.warner(p="3/4"), 37, 90
    low, high = wilson(np.array([hits / n]), 1.0, 0.0, n, 1.0, 0.95)
    got = dn.estimate(dn.Tally(design, [n - hits, hits])).interval("yes")
    assert got == pytest.approx(((low[0] - 0.25) / 0.5, (high[0] - 0.25) / 0.5))


def test_wilson_by_the_textbook() -> None:
    """10 of 50 at 95 %: .112 … .330 (Newcombe 1998 gives the formula; recomputed by hand)."""
    low, high = wilson(np.array([0.2]), 1.0, 0.0, 50, 1.0, 0.95)
    assert (low[0], high[0]) == pytest.approx((0.11244, 0.33037), abs=5e-5)


def test_every_method_holds_the_point_and_widens_with_the_level() -> None:
    estimate = dn.estimate(dn.Tally(dn.k_ary(3, epsilon=2), [50, 80, 70]))
    for method in METHODS:
        for value, narrow, wide in zip(
            estimate.value,
            estimate.conf_int(method=method, level=0.5).values(),
            estimate.conf_int(method=method, level=0.99).values(),
            strict=True,
        ):
            assert wide.low < narrow.low <= value <= narrow.high < wide.high


def test_simultaneous_intervals_split_the_error() -> None:
    estimate = dn.estimate(dn.Tally(dn.k_ary(5, epsilon=1), [50, 80, 70, 60, 40]))
    assert estimate.conf_int(simultaneous=True) == estimate.conf_int(
        level=1 - 0.05 / 5
    )
    two = dn.estimate(dn.Tally(dn.warner(1), [50, 80]))
    assert two.conf_int(simultaneous=True) == two.conf_int()


def test_a_census_is_narrower_than_a_sample() -> None:
    tally = dn.Tally(dn.warner(epsilon=3), [700, 300])
    widths = [
        high - low
        for low, high in (
            dn.estimate(tally, population=people).interval("yes")
            for people in (1000, 5000, None)
        )
    ]
    assert widths == sorted(widths)
    assert len(set(widths)) == 3


def test_general_designs_have_score_and_profile_intervals_that_agree_roughly() -> (
    None
):
    design = dn.matrix([[0.6, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.3, 0.7]])
    estimate = dn.estimate(dn.Tally(design, [3000, 3500, 3500]))
    for one, two in zip(
        *(
            estimate.conf_int(method=method).values()
            for method in ("score", "profile")
        ),
        strict=True,
    ):
        assert one == pytest.approx(two, abs=0.004)


def test_what_does_not_fit_is_refused() -> None:
    # nothing comes mostly from the last
    rows = [["1/2", 0, "1/3"], ["1/2", "1/2", "1/3"], [0, "1/2", "1/3"]]
    estimate = dn.estimate(dn.Tally(dn.matrix(rows), [30, 30, 40]))
    with pytest.raises(InvalidRequest, match="responses of its own"):
        estimate.conf_int(method="exact")
    with pytest.raises(InvalidRequest, match="expected one of score"):
        estimate.conf_int(method="bootstrap")
    with pytest.raises(InvalidRequest, match="between 0 and 1"):
        estimate.conf_int(level=95)


def test_quantile() -> None:
    assert quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
