"""Always-valid intervals: the exact chance of ever missing, their width, and what no option may lose."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.looks import PACES, ever_missed_difference
from scipy.stats import binom, multinomial, norm

import deniable as dn
from deniable.errors import InvalidRequest
from deniable.estimates import confidence_sequences as sequences
from deniable.estimates.backing import support_rates
from deniable.estimates.linear import floats
from deniable.simulate import tallies
from tests.support.looks import ever_missed

WARNER = dn.warner(epsilon=1)
TEN = dn.k_ary(10, epsilon=1)
UNARY = dn.unary(100, epsilon=2, optimized=True, by_size=False)
SKEWED = [["7/10", "1/10", "1/5"], ["1/5", "7/10", "1/10"], ["1/10", "1/5", "7/10"]]


def estimated(design: Any, counts: Any, **options: Any) -> Any:
    return dn.estimate(dn.Tally(design, [int(count) for count in counts], **options))


def interval(result: Any, name: str, **options: Any) -> tuple[float, float]:
    return tuple(result.conf_int(always=True, **options)[name])


@pytest.mark.parametrize("share", [0, 0.01, 0.1, 0.5])
@pytest.mark.parametrize("planned", [20, 200])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_all_looks_together_miss_as_seldom_as_promised(
    share: float, planned: int, level: float
) -> None:
    """Exact over all paths of 300 responses, looked at after each: at most α, and not for nothing far below it."""
    keep, lie = math.e / (1 + math.e), 1 / (1 + math.e)
    rate = lie + (keep - lie) * share

    def holds(counts: Any, sizes: Any) -> Any:
        low, high = sequences.share_bounds(counts, sizes, level, planned)
        return (low < rate) & (rate < high)

    missed = ever_missed(rate, range(1, 301), holds)
    assert missed <= 1 - level
    if planned == 20:
        assert missed > (1 - level) / 2  # α in place of α² is found here


def test_intervals_of_one_look_miss_far_more_often() -> None:
    """The same recursion finds what peeking does to the intervals that the library gives for one look."""
    keep, lie = math.e / (1 + math.e), 1 / (1 + math.e)

    def holds(counts: Any, sizes: Any) -> Any:
        seen, z2 = counts / sizes, 1.959964**2
        rate = lie + (keep - lie) * 0.1
        return (seen - rate) ** 2 <= z2 * rate * (1 - rate) / sizes

    assert ever_missed(lie + (keep - lie) * 0.1, range(1, 301), holds) > 0.3


def ever_missed_by(
    design: Any, truth: list[float], value: float, ask: Callable[[Any], Any]
) -> float:
    """Return the exact chance of ever missing a number of three answers, over all tallies of 2 to 11 responses."""
    chances = floats(design.channel) @ np.array(truth)
    alive, missed = {(0, 0, 0): 1.0}, 0.0
    for n in range(1, 12):
        grown: dict[tuple[int, ...], float] = {}
        for (counts, chance), which in itertools.product(alive.items(), range(3)):
            after = tuple(np.add(counts, np.eye(3, dtype=int)[which]).tolist())
            grown[after] = grown.get(after, 0.0) + chance * chances[which]
        alive = {}
        for counts, chance in grown.items():
            low, high = ask(estimated(design, counts)) if n > 1 else (value, value)
            if low <= value <= high:
                alive[counts] = chance
            else:
                missed += chance
    return missed


def test_the_interval_of_a_mean_misses_as_seldom_as_promised() -> None:
    """Exact over all tallies of three levels after each of 11 responses."""
    design = dn.number_design(0, 10, epsilon=2, levels=3)
    missed = ever_missed_by(
        design,
        [0.7, 0.2, 0.1],
        2.0,
        lambda found: interval(found.mean, "mean", level=0.5, planned=6),
    )
    assert 0.1 < missed <= 0.5, missed


def test_a_contrast_is_missed_as_seldom_as_promised() -> None:
    """Exact over all tallies of three categories after each of 11 responses."""
    design, share = dn.k_ary(3, epsilon=1), 0.0
    first, _, last = design.categories
    missed = ever_missed_by(
        design,
        [share, 0.4 - share, 0.6],
        0.6 - share,
        lambda found: found.contrast({first: -1, last: 1}).interval(
            always=True, level=0.5, planned=6
        ),
    )
    assert 0.1 < missed <= 0.5, missed


@pytest.mark.parametrize("levels", [2, 3])
def test_means_are_compared_from_intervals_that_are_not_cut(levels: int) -> None:
    """Everybody is at the bottom, and by chance the mean is estimated a little below it."""
    design = dn.number_design(0, 10, epsilon=1, levels=levels)
    counts = np.rint(10_000 * floats(design.channel)[:, 0])
    counts += [60, *[0] * (len(counts) - 2), -60]
    result = estimated(design, counts)
    assert result.mean.value < 0
    low, high = result.mean.contrast({"mean": 1}).interval(always=True)
    assert low < result.mean.value < high
    assert interval(result.mean, "mean")[0] > low
    of_all = result.contrast({"mean": 1}).interval(always=True)
    assert of_all == pytest.approx((low, high))


@pytest.mark.parametrize("pace", list(PACES))
def test_differences_are_missed_as_seldom_as_promised(pace: str) -> None:
    """Exact over all pairs of tallies, at two shares of 0: where intervals are cut they would miss up to 25 %."""
    assert ever_missed_difference((0.0, 0.0), PACES[pace][:70]) <= 0.05


def test_the_interval_is_where_the_martingale_stays_below_its_limit() -> None:
    """Two ways to the same: simulations of many looks take the martingale, people the interval."""
    rng = np.random.default_rng(9)
    for _ in range(20):
        n, rate = int(rng.integers(10, 5_000)), rng.uniform(0.05, 0.95)
        counts = rng.binomial(n, rate, 200)
        low, high = sequences.share_bounds(counts, n, 0.6, 300)
        both = np.stack([counts, n - counts], axis=-1)
        rates = np.array([rate, 1 - rate])
        wealth = sequences.log_joint_wealth(both, rates, 0.6, 300)
        holds = (low < rate) & (rate < high)
        assert holds.tolist() == (wealth < -math.log(0.4)).tolist()
        assert holds.mean() > 0


def test_the_sum_of_all_shares_is_known() -> None:
    """All scores are alike, so that nothing varies, and no interval is a division by 0."""
    result = estimated(TEN, [100] * 10)
    ends = result.contrast(dict.fromkeys(result.params, 1)).interval(always=True)
    assert ends == pytest.approx((1, 1), abs=1e-9)


def test_betting_is_a_martingale() -> None:
    """Exact over all tallies of 6 responses: the means whose bounds exclude the truth have at most the chance α."""
    scores, truth = np.array([[-1.0, 0.5, 4.0]]), np.array([0.5, 0.3, 0.2])
    missed = 0.0
    for counts in itertools.product(range(7), repeat=3):
        if sum(counts) != 6:
            continue
        low, high = sequences.mean_bounds(
            scores, np.array(counts), np.array([1.5]), 0.8, 6
        )
        if not low[0] <= float(scores[0] @ truth) <= high[0]:
            missed += float(multinomial.pmf(counts, 6, truth))
    assert missed <= 0.2


@pytest.mark.parametrize("looks", [10, 60])
def test_many_looks_at_simulated_surveys(looks: int) -> None:
    """Seeded; at a true rate of 5 % more misses come once in 10⁹ times. Looks from 100 to 20,000 responses."""
    rng, surveys = np.random.default_rng(20_260_401), 200
    sizes = np.unique(np.geomspace(100, 20_000, looks).astype(int))
    added = np.diff(sizes, prepend=0)
    for design, q, p in ((TEN, *_rates(TEN)), (UNARY, *_rates(UNARY))):
        assert 0 < q < p < 1, design
        for share in (0.0, 0.1):
            rate = q + (p - q) * share
            counts = rng.binomial(added, rate, (surveys, len(sizes))).cumsum(axis=1)
            low, high = sequences.share_bounds(counts, sizes, 0.95, 1_000)
            missed = ((rate < low) | (rate > high)).any(axis=1).sum()
            assert missed <= binom.isf(1e-9, surveys, 0.05)
            fixed = 1.959964 * np.sqrt(counts * (1 - counts / sizes)) / sizes
            peeked = (np.abs(counts / sizes - rate) > fixed).any(axis=1).sum()
            assert peeked > binom.isf(1e-9, surveys, 0.05)


def _rates(design: Any) -> tuple[float, float]:
    backing = support_rates(design.channel)
    assert backing is not None
    return float(np.max(backing.most)), float(np.min(backing.p))


def simulated(design: Any, share: float, n: int) -> Any:
    """Return the estimate of a survey in which the second category has this share, the others one each."""
    k = len(design.categories)
    people = np.full(k, round(n * (1 - share) / (k - 1)))
    people[1] = n - people.sum() + people[1]
    (counts,) = tallies(design, people.tolist(), draws=np.random.default_rng(5))
    return estimated(design, counts, respondents=n)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("design", [WARNER, TEN, UNARY], ids=lambda each: each.name)
def test_the_price_is_at_most_2_2_at_100_000(design: Any, share: float) -> None:
    """Of intervals that do not end at 0 or 1, where always-valid ones are cut."""
    result, name = simulated(design, share, 100_000), design.categories[1]
    fixed = np.ptp(result.interval(name))
    low, high = interval(result, name)
    if low > 0:
        assert 1.4 <= (high - low) / fixed <= 2.2
    assert high - low <= 2.2 * fixed
    contrast = result.contrast({name: 1, design.categories[0]: -1})
    ratio = np.ptp(contrast.interval(always=True)) / np.ptp(contrast.interval())
    assert 1.2 <= ratio <= 2.2


def test_the_price_of_means_is_at_most_2_2_at_100_000() -> None:
    rng = np.random.default_rng(6)
    for levels in (2, 5, 11):
        design = dn.number_design(0, 10, epsilon=2, levels=levels)
        people = rng.multinomial(100_000, rng.dirichlet(np.ones(levels)))
        (counts,) = tallies(design, people.tolist(), draws=rng)
        mean = estimated(design, counts).mean
        ratio = np.ptp(interval(mean, "mean")) / np.ptp(mean.conf_int()["mean"])
        assert 1.4 <= ratio <= 2.2


@pytest.mark.parametrize(
    "result",
    [
        estimated(WARNER, [620, 380]),
        estimated(TEN, [120] * 4 + [80] * 6),
        estimated(dn.matrix(SKEWED), [300, 300, 360]),
        estimated(dn.number_design(0, 10, epsilon=2, levels=5), [200] * 6).mean,
    ],
    ids=["warner", "ten", "skewed", "mean"],
)
def test_no_option_is_lost(result: Any) -> None:
    name = list(result.params)[-1]
    usual = interval(result, name)
    fixed = result.conf_int()[name]
    assert usual[0] <= max(fixed.low, 0) <= min(fixed.high, usual[1]) <= usual[1]
    assert interval(result, name, level=0.99)[1] > usual[1]
    assert interval(result, name, planned=900) != usual
    events = result._n_intervals()
    alone = interval(result, name, level=1 - 0.05 / events)
    assert interval(result, name, simultaneous=True) == pytest.approx(alone)
    assert interval(result, name, method="normal")[1] > fixed.high
    row = next(
        row
        for row in result.summary(always=True, level=0.9, planned=700).rows
        if row.name == name
    )
    expected = interval(result, name, level=0.9, planned=700)
    assert (row.low, row.high) == pytest.approx(expected)
    summary = result.summary(always=True, planned=700)
    assert summary.interval == "always-valid"
    assert "however often one looks" in summary.notes[-1]
    assert "700" in summary.notes[-1]
    assert list(result.to_frame(always=True)["high"])[-1] == usual[1]


def test_the_tuning_is_not_chosen_by_the_data() -> None:
    """At every n the default is tuned for 10,000, so that it never is the narrowest of its n elsewhere."""
    for n in (200, 2_000, 50_000):
        result = estimated(WARNER, [0.6 * n, 0.4 * n])
        usual = np.ptp(interval(result, "yes"))
        assert usual == np.ptp(interval(result, "yes", planned=10_000))
        assert usual > np.ptp(interval(result, "yes", planned=n))


def test_shares_are_cut_after_they_are_carried_through_the_channel() -> None:
    """A rate of responses below the stray one is a share below 0: cut earlier it would end elsewhere."""
    result = estimated(WARNER, [9_000, 3_300])
    low, high = interval(result, "yes")
    rates = sequences.share_bounds(np.array([3_300]), 12_300, 0.95, 10_000)
    keep, lie = math.e / (1 + math.e), 1 / (1 + math.e)
    assert low == 0
    assert high == pytest.approx(float((rates[1][0] - lie) / (keep - lie)))
    reversed_design = dn.warner(p="1/4")
    low, high = interval(estimated(reversed_design, [380, 620]), "yes")
    assert 0 < low < estimated(reversed_design, [380, 620]).params["yes"] < high < 1


def test_contrasts_and_differences_are_recovered_from_always_valid_intervals() -> (
    None
):
    sent = ["yes"] * 6_200 + ["no"] * 3_800 + ["yes"] * 1_200 + ["no"] * 1_800
    groups = dn.estimate(dn.tally(WARNER, sent, by=["n"] * 10_000 + ["s"] * 3_000))
    first, second = groups["n"], groups["s"]
    alone = first.contrast({"yes": 1})
    assert alone.interval(always=True) == pytest.approx(interval(first, "yes"))
    apart = alone - second.contrast({"yes": 1})
    (low, high) = apart.interval(always=True)
    reaches = [
        np.subtract(interval(each, "yes"), each.params["yes"])
        for each in (first, second)
    ]
    assert low == pytest.approx(apart.value - np.hypot(reaches[0][0], reaches[1][1]))
    assert high == pytest.approx(
        apart.value + np.hypot(reaches[0][1], reaches[1][0])
    )
    assert interval(groups.pairwise(), "n − s · yes") == pytest.approx((low, high))
    assert interval(groups, "s · yes") == interval(second, "yes")
    with pytest.raises(InvalidRequest, match="recovered"):
        apart.interval(always=True, method="normal")


def test_arms_that_come_one_after_the_other_are_compared_validly() -> None:
    """Normal errors, 2,000 surveys: one arm is complete, the other grows and is looked at 60 times."""
    rng, surveys = np.random.default_rng(11), 2_000
    sizes = np.unique(np.geomspace(50, 20_000, 60).astype(int))
    steps = np.diff(sizes, prepend=0)
    growing = rng.normal(size=(surveys, len(sizes))) * np.sqrt(steps)
    second = growing.cumsum(axis=1) / sizes
    for complete in (500, 20_000):
        first = rng.normal(size=(surveys, 1)) / np.sqrt(complete)
        reach = [
            sequences.multiplier(n, 0.95, 1_000) / np.sqrt(n)
            for n in (complete, *sizes)
        ]
        missed = np.abs(first - second) > np.hypot(reach[0], reach[1:])
        assert missed.any(axis=1).sum() <= binom.isf(1e-9, surveys, 0.05)


def test_what_does_not_come_one_by_one_is_refused_by_name() -> None:
    tally = dn.Tally(WARNER, [620, 380])
    dealt = dn.DeckTally(dn.Deck((2, 3, 7), people=10), [1, 3, 6])
    for result, reason in (
        (dn.estimate(tally, population=5_000), "population of 5000"),
        (dn.posterior(tally), "credible intervals"),
        (dn.estimate(dealt), "cards that are dealt"),
        (
            dn.estimate(
                dn.Tally(dn.number_design(0, 1, epsilon=1, levels=3), [50] * 4),
                population=500,
            ),
            "population of 500",
        ),
    ):
        with pytest.raises(InvalidRequest, match=f"always is True for .*{reason}"):
            result.conf_int(always=True)


@pytest.mark.parametrize("planned", [0, 1, -5, 2.5, True, "1000", 10**400])
def test_a_planned_number_is_whole(planned: Any) -> None:
    with pytest.raises(InvalidRequest, match=re.escape("planned is")):
        estimated(WARNER, [62, 38]).conf_int(always=True, planned=planned)


def test_planned_without_always_is_refused() -> None:
    result = estimated(WARNER, [62, 38])
    for ask in (
        result.conf_int,
        result.summary,
        result.contrast({"yes": 1}).interval,
    ):
        with pytest.raises(InvalidRequest, match="without always=True"):
            ask(planned=500)


def test_where_no_level_is_high_enough_the_arms_are_stretched() -> None:
    """At 20 responses z_n is 19: the fixed interval of the largest level, 7 errors, is made longer."""
    values, error = np.array([3.0]), 0.5
    wanted = sequences.multiplier(20, 0.95, 10_000) * error
    low, high = sequences.widen(
        lambda level: (
            values - error * _quantile(level),
            values + error * _quantile(level),
        ),
        values,
        20,
        0.95,
        10_000,
    )
    assert wanted > 9
    assert (3 - low[0], high[0] - 3) == pytest.approx((wanted, wanted), rel=1e-3)


def _quantile(level: float) -> float:
    return float(norm.isf((1 - level) / 2))


def test_a_stake_of_the_bernstein_interval_is_set_before_its_value_is_seen() -> None:
    """So the middle is linear in the last value, whose stake does not depend on it."""
    before = np.arange(400) % 3 / 2
    low, half, high = (
        sum(sequences.bernstein_bounds(np.append(before, last), 0, 1, 0.95))
        for last in (0.0, 0.5, 1.0)
    )
    assert low < half < high
    assert half - low == pytest.approx(high - half, rel=1e-6)


def test_bernstein_refuses_values_outside_of_the_range() -> None:
    for values in ([0.5, 1.5], []):
        with pytest.raises(InvalidRequest, match="leave the range"):
            sequences.bernstein_bounds(np.array(values), 0, 1, 0.95)
