"""What estimates and designs refuse, or warn about, instead of telling something that is not so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import coo_array

from deniable.errors import InvalidDesign, InvalidRequest, NotEstimable
from deniable.types.key_value.count import MAX_ITEMS, KeyValueTally, tally
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    lpp_ddagger,
    pckv_grr,
    pckv_ue,
    vpp,
)
from deniable.types.key_value.draw import collect
from deniable.types.key_value.estimate import estimate
from tests.support.seeded import seeded

ITEMS = ["tea", "coffee", "milk"]
SENT = ["+ tea", "- coffee", "+ milk", "+ tea"]


def test_what_symbols_do_not_tell_has_no_average_and_no_covariance() -> None:
    sums = estimate(tally(vpp(ITEMS, 1), SENT))
    degrees = estimate(tally(lpp_club(ITEMS, 1, importance="frequency"), SENT))
    for found in (sums, degrees):
        with pytest.raises(NotEstimable):
            found.average_weight()
        with pytest.raises(NotEstimable):
            found.joint_covariance(["tea"])
    assert math.isfinite(sums.average_weight("items").value)


def test_an_average_weight_of_no_edges_is_left_out_and_warned_about() -> None:
    design = pckv_ue(["tea"], a="1/2", b="3/4", p="3/4", padding=1)
    # as many as there are without any edge
    nothing = estimate(KeyValueTally(design, np.array([[3, 1, 0]]), 4))
    assert nothing.degree.tolist() == [0]
    assert math.isnan(nothing.average_weight().value)
    assert nothing.average_weight().error == math.inf
    assert any(
        "number of all edges is within noise" in each.text
        for each in nothing.warnings
    )
    assert "average weight" not in nothing.summary().graph
    plenty = estimate(KeyValueTally(design, np.array([[6000, 3000, 1000]]), 10_000))
    assert not any("all edges" in each.text for each in plenty.warnings)
    assert "average weight of an edge" in plenty.summary().graph


def test_items_that_nobody_was_asked_about_have_no_conditional_estimate() -> None:
    with pytest.raises(
        InvalidRequest, match="nobody was asked about 1 of the items"
    ):
        estimate(tally(lpp_club(ITEMS, 1), SENT[:2]), scaling="conditional")


@pytest.mark.parametrize(
    "sizes",
    [
        {0: math.nan, 1: 0.5},
        {1: math.inf},
        {1.5: 1},
        {True: 1},
        {"1": 1},
        {1: "1"},
        [0.5, 0.5],
        None,
        {},
    ],
)
def test_shares_of_people_that_are_none_are_refused(sizes: object) -> None:
    found = estimate(
        KeyValueTally(pckv_grr(ITEMS, 3, padding=1), np.array([[5, 3, 2]] * 3), 10)
    )
    with pytest.raises(InvalidRequest, match="do not fit"):
        found.corrected(sizes)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, -1, 1.5, True])
def test_a_summary_shows_one_item_at_least(count: object) -> None:
    with pytest.raises(InvalidRequest, match="count is"):
        estimate(tally(lpp_club(ITEMS, 1), SENT)).summary(count=count)  # type: ignore[arg-type]


@pytest.mark.parametrize(("low", "high"), [(0, "1e-400"), ("1e-300", "2e-300")])
def test_small_scales_are_told_well_apart(low: object, high: object) -> None:
    assert lpp_club(ITEMS, 1, low=low, high=high).high > 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("low", "high"), [(-1e308, 1e308), (0, "1e400"), (10**17, 10**17 + 1)]
)
def test_scales_that_floats_cannot_hold_are_refused(
    low: object, high: object
) -> None:
    with pytest.raises(InvalidDesign, match="floats tell well apart"):
        lpp_club(ITEMS, 1, low=low, high=high)  # type: ignore[arg-type]


def test_an_epsilon_at_which_nothing_is_told_is_refused() -> None:
    for build in (lpp_club, lpp_ddagger):
        with pytest.raises(InvalidDesign, match="too fine"):
            build(ITEMS, 1e-30)


@pytest.mark.parametrize("importance", [5, ["mean"]])
def test_an_importance_is_a_name_or_numbers(importance: object) -> None:
    with pytest.raises(
        InvalidRequest, match="expected a name, or a number for each name"
    ):
        lpp_club(ITEMS, 1, importance=importance)  # type: ignore[arg-type]


def test_many_items_do_not_make_a_parity_long() -> None:
    """What all rows have in common cancels, and is not worked out: it would have millions of digits."""
    assert 0.99 < pckv_ue(100_000, 1, padding=100).epsilon <= 1


def test_more_items_than_can_be_counted_are_refused() -> None:
    with pytest.raises(InvalidRequest, match=f"expected at most {MAX_ITEMS:,}"):
        KeyValueTally.empty(lpp_club(10**12, 1))
    with pytest.raises(InvalidRequest, match="to count them"):
        tally(lpp_club(10**12, 1), ["+ 7"])


def test_means_that_differ_by_noise_alone_are_not_told_apart() -> None:
    """All items have the same mean; over many draws shrinking finds no differences, or next to none."""
    design, rng, found = lpp_club(200, 1), np.random.default_rng(11), []
    symbol = design.scheme.symbol
    sent = np.array(
        [[float(symbol.probability(i, given=j)) for j in range(3)] for i in range(3)]
    )
    for _ in range(20):
        counts = rng.multinomial(400, sent @ [0.7, 0.21, 0.09], size=200)
        found.append(
            float(
                np.ptp(
                    estimate(KeyValueTally(design, counts, int(counts.sum())))
                    .shrunk()
                    .mean
                )
            )
        )
    assert np.median(found) == 0


@pytest.mark.parametrize(
    "design",
    [lpp_club(5, 4), pckv_ue(5, 2, padding=3), pckv_grr(5, 2, padding=3)],
    ids=str,
)
def test_few_responses_still_give_a_covariance(design: KeyValueDesign) -> None:
    """At the estimates themselves, far outside their range, variances would come out negative."""
    given, source = (
        coo_array(([1.0, -1.0], ([0, 1], [2, 3])), shape=(12, 5)),
        seeded("few responses"),
    )
    for _ in range(20):
        found = estimate(collect(design, given, source=source))
        matrix = found.joint_covariance(list(design.items))
        assert np.linalg.eigvalsh(matrix).min() > -1e-9 * np.abs(matrix).max()
        assert np.diag(matrix) == pytest.approx(
            np.concatenate([found.variance("degree"), found.variance("weight")])
        )
