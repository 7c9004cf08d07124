"""The interval that is used when none is named keeps its level: coverage summed over all tallies, nothing drawn."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, multinomial

import deniable as dn
from deniable.channel import TwoLevel
from deniable.designs import Design
from deniable.tallies import tally

LEAST, LEAST_ON_AVERAGE = 0.92, 0.94
SHARES = (0, 0.005, 0.03, 0.2, 0.5, 0.97)
HARDLY_EVER = 1e-10  # tallies that are left out; they count as missed


@cache
def interval(
    design: Design, counts: tuple[int, ...], number: int, method: str
) -> tuple[float, float]:
    """The default interval of one category."""
    return tuple(
        dn.estimate(dn.Tally(design, counts), method=method).conf_int().values()
    )[number]


def coverage(
    design: Design,
    shares: tuple[float, ...],
    number: int,
    n: int,
    method: str = "inversion",
) -> float:
    """The probability that the interval of a category holds its share, over all tallies of a small channel."""
    law = multinomial(n, np.maximum(design.channel.floats() @ shares, 0.0))
    held = 0.0
    for some in itertools.product(range(n + 1), repeat=design.channel.responses - 1):
        if (
            sum(some) <= n
            and (chance := law.pmf([*some, n - sum(some)])) > HARDLY_EVER
        ):
            low, high = interval(design, (*some, n - sum(some)), number, method)
            held += chance * (low - 1e-9 <= shares[number] <= high + 1e-9)
    return float(held)


@pytest.mark.parametrize("method", ["inversion", "likelihood"])
@pytest.mark.parametrize(
    ("epsilon", "n"), list(itertools.product(["1/2", 2, 8], [10, 30, 300]))
)
def test_two_answers(epsilon: float, n: int, method: str) -> None:
    design = dn.warner(epsilon=epsilon)
    found = [
        coverage(design, (1 - share, share), 1, n, method)
        for share in (*SHARES, 1 / n, 2 / n)
    ]
    assert min(found) >= LEAST
    assert np.mean(found) >= LEAST_ON_AVERAGE


@pytest.mark.parametrize("method", ["inversion", "likelihood"])
@pytest.mark.parametrize("epsilon", ["1/2", 2, 8])
@pytest.mark.parametrize(
    "build",
    [dn.rr3_dagger, dn.rr3_ddagger, lambda epsilon: dn.k_ary(3, epsilon=epsilon)],
)
def test_three_answers(
    build: Callable[..., Design], epsilon: float, method: str
) -> None:
    """Responses that none but two answers send apart have no rate of their own, and are bounded from both sides."""
    design = build(epsilon=epsilon)
    mixed = [(1, 0, 0), (0.965, 0.03, 0.005), (0.1, 0.2, 0.7), (0.5, 0.5, 0.0)]
    found = [
        coverage(design, shares, number, 10, method)
        for shares in mixed
        for number in range(3)
    ]
    assert min(found) >= LEAST
    assert np.mean(found) >= LEAST_ON_AVERAGE


def test_cards_whose_middle_tells_nothing() -> None:
    design = dn.christofides(epsilon=8, middle="1/5")
    assert all(
        coverage(design, (1 - share, share), 1, 30) >= LEAST for share in SHARES
    )


KINDS: dict[str, Callable[..., Design]] = {
    "k-ary": dn.k_ary,
    "subset": dn.subset,
    "hashing": dn.local_hashing,
    "Hadamard": dn.hadamard,
    "unary": dn.unary,
    "RAPPOR": dn.rappor,
}


def responses(design: Design) -> tuple[int, int]:
    """A response that supports the first category, and one that does not."""
    channel = design.channel
    assert isinstance(channel, TwoLevel)
    found: dict[bool, int] = {}
    sets = (
        ((1 << ones) - 1) << shift
        for ones in channel.sizes
        if ones
        for shift in (0, 1)
        if ones + shift <= 100
    )
    for response in sets if channel.sizes else range(channel.responses):
        found.setdefault(channel.supports(response, 0), response)
        if len(found) == 2:
            break
    return found[True], found[False]


@pytest.mark.parametrize(("size", "n"), list(itertools.product([5, 100], [10, 30])))
@pytest.mark.parametrize("kind", KINDS)
def test_where_one_kind_of_response_is_hardly_ever_sent(
    kind: str, size: int, n: int
) -> None:
    """At ε = 8 the default goes by how many responses support the category, which is binomial for every kind."""
    design = KINDS[kind](size, epsilon=8)
    channel, (own, other) = design.channel, responses(design)
    assert isinstance(channel, TwoLevel)
    made = [
        dn.estimate(tally(design, {own: hits, other: n - hits}))
        for hits in range(n + 1)
    ]
    assert {each.default_interval for each in made} == {"exact"}
    ends = np.array([each.conf_int()["0"] for each in made])
    q, gap = float(channel.p_false), float(channel.p_true - channel.p_false)
    for share in (*SHARES, 1 / n):
        chance = binom.pmf(np.arange(n + 1), n, q + gap * share)
        assert (
            chance[(ends[:, 0] <= share + 1e-9) & (share <= ends[:, 1] + 1e-9)].sum()
            >= 0.95
        )


def test_each_tail_keeps_its_half() -> None:
    """Neither end is beyond the truth in more than 2.5 of 100 surveys."""
    design = dn.k_ary(5, epsilon=8)
    ends = np.array(
        [
            interval(design, (hits, 0, 0, 0, 30 - hits), 0, "inversion")
            for hits in range(31)
        ]
    )
    q, gap = (
        float(design.channel.probability(0, given=1)),
        float(design.channel.probability(0, given=0)),
    )
    for share in (*SHARES, 1 / 30):
        chance = binom.pmf(np.arange(31), 30, q + (gap - q) * share)
        assert chance[ends[:, 0] > share + 1e-9].sum() <= 0.025
        assert chance[ends[:, 1] < share - 1e-9].sum() <= 0.025


def test_many_responses_of_every_sort_need_no_exact_interval() -> None:
    """It is wider: where the score interval keeps its level, it is the default."""
    # 0.1192 of the responses are the other one
    for n, wanted in ((33, "exact"), (34, "score")):
        assert (
            dn.estimate(dn.Tally(dn.warner(2), [n - 9, 9])).default_interval
            == wanted
        )
    assert (
        dn.estimate(
            dn.Tally(dn.warner(2), [25, 9]), method="likelihood"
        ).default_interval
        == "profile"
    )


def test_other_answers_that_differ_much_leave_the_count_too_little() -> None:
    """One response never comes from one answer, but often from others: then its count alone tells little."""
    rows = [["3/5", 0, "3/10"], ["1/5", "3/5", "1/10"], ["1/5", "2/5", "3/5"]]
    for n, wanted in ((6, "exact"), (21, "wide"), (3000, "score")):
        found = dn.estimate(
            dn.Tally(dn.matrix(rows, categories=["a", "b", "c"]), [n // 3] * 3)
        )
        assert found.default_interval == wanted


def test_both_bounds_of_other_answers_count() -> None:
    """Whichever of the other answers there are, those that never back a category or those that often do."""
    design = dn.matrix(
        [["3/5", 0, "3/10"], ["1/5", "3/5", "1/10"], ["1/5", "2/5", "3/5"]]
    )
    for shares in (
        (0.9, 0.1, 0.0),
        (0.9, 0.0, 0.1),
        (0.5, 0.5, 0.0),
        (0.5, 0.0, 0.5),
        (0.0, 0.0, 1.0),
    ):
        for number in range(3):
            assert coverage(design, shares, number, 12) >= 0.95


def test_the_most_likely_shares_lie_in_their_exact_intervals() -> None:
    """The likelihood uses more than one count, and can point beyond what this count alone allows."""
    for counts in itertools.product(range(5), repeat=3):
        if sum(counts) >= 2:
            found = dn.estimate(
                dn.Tally(dn.hadamard(2, 8), counts), method="likelihood"
            )
            assert found.default_interval == "exact"
            assert all(
                low <= found.params[name] <= high
                for name, (low, high) in found.conf_int().items()
            )


def contrast_coverage(
    design: Design,
    shares: tuple[float, ...],
    weights: dict[str, float],
    method: str | None,
) -> float:
    """The probability that the interval of a contrast holds it, over all tallies of ten responses."""
    n, law = 10, multinomial(10, design.channel.floats() @ shares)
    true = sum(
        weights.get(name, 0) * share
        for name, share in zip(design.categories, shares, strict=True)
    )
    held = 0.0
    for some in itertools.product(range(n + 1), repeat=2):
        if sum(some) <= n:
            counts = [*some, n - sum(some)]
            low, high = (
                dn.estimate(dn.Tally(design, counts))
                .contrast(weights)
                .interval(method=method)
            )
            held += law.pmf(counts) * (low - 1e-9 <= true <= high + 1e-9)
    return float(held)


@pytest.mark.parametrize("epsilon", ["1/2", 2, 8])
@pytest.mark.parametrize("shares", [(0.965, 0.03, 0.005), (0.2, 0.3, 0.5)])
@pytest.mark.parametrize(
    "weights", [{"0": 1, "1": -1}, {"1": 1, "2": -1}, {"1": 0.5, "2": 1}]
)
def test_contrasts(
    epsilon: float, shares: tuple[float, ...], weights: dict[str, float]
) -> None:
    assert (
        contrast_coverage(dn.k_ary(3, epsilon=epsilon), shares, weights, None)
        >= LEAST
    )


def test_value_and_error_alone_would_not_do_for_contrasts() -> None:
    """The check can fail: nobody of ten in two rare categories looks like no difference at all, with no error."""
    design, shares, weights = (
        dn.k_ary(3, epsilon=8),
        (0.965, 0.03, 0.005),
        {"0": 1.0, "1": -1.0},
    )
    assert contrast_coverage(design, shares, weights, "normal") < 0.5


def test_contrasts_of_one_share_and_of_two_answers() -> None:
    three = dn.estimate(dn.Tally(dn.k_ary(3, 1), [50, 30, 20]))
    assert three.contrast({"2": 1}).interval(level=0.9) == pytest.approx(
        three.interval("2", level=0.9)
    )
    low, high = three.interval("2")
    assert three.contrast({"2": -2}).interval() == pytest.approx(
        (-2 * high, -2 * low)
    )
    for method in ("inversion", "likelihood"):
        two = dn.estimate(dn.Tally(dn.warner(1), [70, 30]), method=method)
        low, high = two.interval("yes")
        assert two.contrast({"yes": 1, "no": -1}).interval() == pytest.approx(
            (2 * low - 1, 2 * high - 1)
        )
