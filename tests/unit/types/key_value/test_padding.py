"""What padding cuts off: responses never show it; it is warned of, bounded, and corrected where sizes are known."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import binom

import deniable as dn
from deniable.errors import InvalidRequest
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.schemes import NONE, PLUS

ITEMS, PLACES, PEOPLE, RUNS = 20, 3, 2_000, 150
SIZES = {0: 0.1, 1: 0.3, 2: 0.3, 3: 0.21, 10: 0.09}
"""Numbers of items with a heavy tail: 9 % of the people have more than there are places."""

ITEM_MEAN = sum(size * share for size, share in SIZES.items())
GRR, UE = (build(ITEMS, 4, padding=PLACES) for build in (dn.pckv_grr, dn.pckv_ue))
DESIGNS = pytest.mark.parametrize("design", [GRR, UE], ids=["grr", "ue"])
FALSE_ALARM = 1e-9


def studies(
    design: KeyValueDesign, seed: int, runs: int = RUNS
) -> list[tuple[dn.ItemEstimate, np.ndarray]]:
    """Estimates of independent people, with their numbers of items; all items are as frequent, all weights 1.

    A person's place holds an item with probability min(s, ℓ)/ℓ, each item as often as the others.
    """
    rng, scheme = np.random.default_rng(seed), design.scheme
    symbol = scheme.symbol.floats()
    found = []
    for _ in range(runs):
        sizes = rng.choice(list(SIZES), PEOPLE, p=list(SIZES.values()))
        full = rng.random(PEOPLE) < np.minimum(sizes, PLACES) / PLACES
        item = np.where(full, rng.integers(ITEMS, size=PEOPLE), -1)
        if scheme.KIND == "unary":
            has = np.bincount(item[full], minlength=ITEMS)
            marks = [
                rng.multinomial(own, symbol[:, PLUS])
                + rng.multinomial(PEOPLE - own, symbol[:, NONE])
                for own in has
            ]
            tally = KeyValueTally.of_marks(design, np.array(marks)[:, 1:], PEOPLE)
        else:
            rows = [
                {int(each): Fraction(1)} if each >= 0 else {} for each in (0, -1)
            ]
            one, none = (
                np.array(
                    [
                        float(scheme.probability(code, row))
                        for code in range(scheme.responses)
                    ]
                )
                for row in rows
            )
            # of one item in ℓ places to that in the place
            one = PLACES * one - (PLACES - 1) * none
            counts = rng.multinomial(int((~full).sum()), none)
            for each, own in enumerate(np.bincount(item[full], minlength=ITEMS)):
                law = np.concatenate([np.roll(one[:-1], 2 * each), one[-1:]])
                counts = counts + rng.multinomial(own, np.clip(law, 0, 1))
            tally = KeyValueTally.of_marks(
                design, counts[:-1].reshape(ITEMS, 2), PEOPLE
            )
        found.append((dn.estimate(tally), sizes))
    return found


def codes(estimate: Any) -> set[str]:
    return {caution.code for caution in estimate.warnings}


def covered(intervals: list[tuple[float, float]], truth: float) -> int:
    return sum(low <= truth <= high for low, high in intervals)


@pytest.mark.parametrize(
    "design",
    [dn.pckv_grr(3, 2, padding=2), dn.pckv_ue(3, 2, padding=2)],
    ids=["grr", "ue"],
)
def test_no_response_shows_that_items_were_cut_off(design: KeyValueDesign) -> None:
    """Those with three items send what is sent by people with any two of them, exactly."""
    everything = dict.fromkeys(range(3), Fraction(1, 2))
    pairs = [
        dict.fromkeys(pair, Fraction(1, 2)) for pair in combinations(range(3), 2)
    ]
    for response in range(design.scheme.responses):
        mixed = sum(design.scheme.probability(response, pair) for pair in pairs) / 3
        assert design.scheme.probability(response, everything) == mixed


@DESIGNS
def test_what_was_cut_off_is_always_warned_of_and_never_hidden(
    design: KeyValueDesign,
) -> None:
    runs = studies(design, 1)
    truth = PEOPLE * ITEM_MEAN / ITEMS
    plain = [found.average_degree().interval() for found, _ in runs]
    assert covered(plain, truth) <= RUNS // 10
    for found, _ in runs:
        assert "truncated" in codes(found)
    summary = runs[0][0].summary()
    assert "people with more than 3 items are counted with 3" in str(summary)
    assert "truncated" in {caution.code for caution in summary.warnings}
    bounds = [found.average_degree_bounds(most=10) for found, _ in runs]
    allowed = binom.ppf(FALSE_ALARM, RUNS, 0.95)
    assert covered(bounds, truth) >= allowed
    assert all(
        found.average_degree_bounds().high >= low_most.high
        for (found, _), low_most in zip(runs, bounds, strict=True)
    )


@DESIGNS
def test_known_numbers_of_items_correct_the_estimate(design: KeyValueDesign) -> None:
    truth = PEOPLE * ITEM_MEAN / ITEMS
    runs = [found.corrected(SIZES) for found, _ in studies(design, 2)]
    allowed = binom.ppf(FALSE_ALARM, RUNS, 0.95)
    assert (
        covered([each.average_degree().interval() for each in runs], truth)
        >= allowed
    )
    first = [each.about("degree").interval("0") for each in runs]
    assert covered(first, truth) >= allowed
    assert covered([each.average_degree_bounds() for each in runs], truth) >= allowed
    # four standard errors: 6e-5 of all studies; ten of 150 would be a miracle
    assert sum("sizes-differ" in codes(each) for each in runs) < 10
    assert not any("truncated" in codes(each) for each in runs)
    values = np.array([each.average_degree().value for each in runs])
    error = values.std() / RUNS**0.5
    assert abs(values.mean() - truth) < 6.2 * error
    assert "74.1% of all edges are counted" in str(runs[0].summary())


def test_numbers_of_items_from_a_question_widen_the_interval() -> None:
    """Asked of the same people: the errors of both add up, and what moves both is not forgotten."""
    asked = dn.k_ary([str(size) for size in range(11)], 3)
    rng, truth = np.random.default_rng(3), PEOPLE * ITEM_MEAN / ITEMS
    channel = asked.channel.floats()
    ends, errors, plain = [], [], []
    for found, sizes in studies(UE, 3):
        counts = sum(
            rng.multinomial(own, channel[:, size])
            for size, own in enumerate(np.bincount(sizes, minlength=11))
        )
        shares = dn.estimate(dn.Tally(asked, tuple(map(int, counts)), PEOPLE))
        corrected = found.corrected(shares)
        ends.append(corrected.average_degree().interval())
        errors.append(corrected.average_degree().error)
        plain.append(found.corrected(SIZES).average_degree().error)
        assert "sizes-differ" not in codes(corrected)
    assert covered(ends, truth) >= binom.ppf(FALSE_ALARM, RUNS, 0.95)
    assert np.mean(errors) > 1.05 * np.mean(plain)
    widths = [high - low for low, high in ends]
    assert widths == pytest.approx(2 * 1.96 * np.array(errors), rel=0.05)
    assert corrected.from_json(corrected.to_json(), UE) == corrected
    narrow = corrected.about("frequency").conf_int()["0"]
    assert narrow.low <= corrected.frequency[0] <= narrow.high


@DESIGNS
def test_numbers_of_items_that_responses_contradict_are_told(
    design: KeyValueDesign,
) -> None:
    ((found, _),) = studies(design, 4, runs=1)
    assert codes(found.corrected({0: 1.0})) >= {"sizes-differ"}
    assert codes(found.corrected({3: 0.5, 4: 0.5})) >= {"sizes-differ"}


def test_without_truncation_there_is_nothing_to_warn_of() -> None:
    counts = np.array([[70, 20, 10], [80, 10, 10], [90, 5, 5]])
    for design in (dn.pckv_ue(3, 3, padding=3), dn.lpp_club(3, 3)):
        respondents = 100 if design.scheme.KIND == "unary" else int(counts.sum())
        found = dn.estimate(KeyValueTally(design, counts, respondents))
        assert "truncated" not in codes(found)
        interval = found.average_degree().interval()
        ends = max(interval.low, 0), min(interval.high, respondents)
        assert tuple(found.average_degree_bounds()) == pytest.approx(ends)


@pytest.mark.parametrize("sizes", [{"two": 1.0}, {1: 0.5}, [1, 2], {1.5: 1.0}])
def test_numbers_of_items_that_do_not_fit_are_refused(sizes: object) -> None:
    ((found, _),) = studies(UE, 5, runs=1)
    with pytest.raises(InvalidRequest, match="do not fit"):
        found.corrected(sizes)  # type: ignore[arg-type]  # on purpose
    named = dn.estimate(dn.tally(dn.warner(1), ["yes"] * 9 + ["no"]))
    with pytest.raises(InvalidRequest, match="do not fit"):
        found.corrected(named)
    with pytest.raises(InvalidRequest, match="most is 0"):
        found.average_degree_bounds(most=0)


def test_padding_is_never_chosen_silently() -> None:
    for build in (dn.pckv_ue, dn.pckv_grr):
        with pytest.raises(TypeError, match="padding"):
            build(3, 1)  # type: ignore[call-arg]  # on purpose


FEW = {0: 0.1, 1: 0.4, 2: 0.3, 5: 0.2}
"""Numbers of five items, of which two have a place."""


def people_with_a_common_item(
    rng: np.random.Generator, people: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of items, and who has which; the first one is mostly had by those who have all five."""
    sizes = rng.choice(list(FEW), people, p=list(FEW.values()))
    keys = rng.random((people, 5))
    keys[:, 0] *= 0.5
    ranks = np.argsort(np.argsort(-keys, axis=1), axis=1)
    return sizes, ranks < sizes[:, None]


@pytest.mark.parametrize("build", [dn.pckv_grr, dn.pckv_ue])
def test_known_numbers_of_each_person_need_no_assumption(build: Any) -> None:
    """Whoever has an item may have more items than others: each row is corrected by the person's own number."""
    design, rng, runs, people = (
        build(5, 5, padding=2),
        np.random.default_rng(6),
        80,
        400,
    )
    truth = people_with_a_common_item(rng, 100_000)[1].mean(axis=0)
    ends, values, assumed = [], [], []
    for _ in range(runs):
        sizes, has = people_with_a_common_item(rng, people)
        sent = dn.respond_all(design, csr_array(has.astype(float)))
        sample = dn.Sampling(np.ones(people))
        found = dn.estimate(sent, sampling=sample, sizes=sizes)
        assert "truncated" not in codes(found)
        ends.append(found.conf_int()["0"])
        values.append(found.value[0])
        assumed.append(dn.estimate(dn.tally(sent)).corrected(FEW).frequency[0])
    assert covered(ends, truth[0]) >= binom.ppf(FALSE_ALARM, runs, 0.95)
    error = np.std(values) / runs**0.5
    assert abs(np.mean(values) - truth[0]) < 6.2 * error + 0.008
    # what the correction of the tally assumes does not hold here
    assert np.mean(assumed) < truth[0] - 6.2 * error


def test_rows_of_a_sample_are_warned_of_too() -> None:
    sent = dn.respond_all(UE, [{"0": 1}, {}, {"1": 0.5, "2": 1}] * 30)
    sample = dn.Sampling(np.ones(90))
    found = dn.estimate(sent, sampling=sample)
    for quantity in ("frequency", "degree", "mean"):
        assert "truncated" in codes(found.about(quantity))
    assert "counted with 3 of them" in str(found.summary())
    assert found.from_json(found.to_json(), UE).warnings == found.warnings
    for sizes, message in (
        ([1] * 89, "89"),
        ([0.5] * 90, "sizes holds"),
        ([21] * 90, "sizes holds"),
    ):
        with pytest.raises(InvalidRequest, match=message):
            dn.estimate(sent, sampling=sample, sizes=sizes)
    one = dn.lpp_club(ITEMS, 1)
    with pytest.raises(InvalidRequest, match="no sizes="):
        dn.estimate(
            dn.respond_all(one, [{}] * 9),
            sampling=dn.Sampling(np.ones(9)),
            sizes=[0] * 9,
        )
    even = dn.estimate(sent, sampling=sample, sizes=[1, 0, 2] * 30)
    assert even.params == pytest.approx(found.params)
