"""The default intervals of frequency, weight and mean keep their level, summed over all tallies; nothing is drawn."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from deniable.errors import InvalidRequest
from deniable.estimates.intervals import Ends
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.design import lpp_club, pckv_grr, pckv_ue
from deniable.types.key_value.estimate import ItemEstimate, estimate

ASKED = 20


def with_hits(
    epsilon: float, hits: int, population: int | None = None
) -> ItemEstimate:
    """Twenty were asked about each of two items, and so many said "+" about the first."""
    counts = np.array([[ASKED - hits, hits, 0], [ASKED, 0, 0]])
    counted = KeyValueTally(lpp_club(2, epsilon), counts, 2 * ASKED)
    return estimate(counted, scaling="conditional", population=population).about(
        "frequency"
    )


def coverage(epsilon: float, frequency: float, method: str | None) -> float:
    symbol = lpp_club(2, epsilon).scheme.symbol.floats()
    rate = (symbol @ [1 - frequency, frequency / 2, frequency / 2])[1:].sum()
    held = 0.0
    for hits in range(ASKED + 1):
        low, high = with_hits(epsilon, hits).conf_int(method=method)["0"]
        held += binom.pmf(hits, ASKED, rate) * (
            low - 1e-9 <= frequency <= high + 1e-9
        )
    return float(held)


@pytest.mark.parametrize("epsilon", [0.5, 2, 8])
def test_frequencies_at_and_near_none(epsilon: float) -> None:
    assert all(
        coverage(epsilon, share, None) >= 0.92
        for share in (0, 0.005, 0.05, 0.1, 0.3)
    )


def test_the_score_interval_would_not_do() -> None:
    assert coverage(8, 0.005, "score") < 0.92


def test_which_interval_it_is_is_told() -> None:
    assert [with_hits(each, 3).summary().interval for each in (0.5, 8)] == [
        "score",
        "exact",
    ]
    degrees = with_hits(8, 3).about("degree")
    assert degrees.conf_int()["0"].high == pytest.approx(
        2 * ASKED * with_hits(8, 3).conf_int()["0"].high
    )
    assert with_hits(8, 3).about("mean")._default_interval == "wide"


def test_padding_is_put_back_into_the_exact_interval() -> None:
    """One item of two places is looked at, so that half of the rate stands for all of the frequency."""
    design = pckv_ue(3, 8, padding=2)
    counted = KeyValueTally(
        design, np.array([[ASKED - hits, hits, 0] for hits in (0, 5, 10)]), ASKED
    )
    found = estimate(counted).about("frequency")
    assert found._default_interval == "exact"
    for value, (low, high) in zip(
        found.params.values(), found.conf_int().values(), strict=True
    ):
        assert low <= value <= high


def test_what_one_count_does_not_tell_keeps_the_score_interval() -> None:
    census = with_hits(8, 3, population=2 * ASKED)
    assert census._default_interval == "score"
    with pytest.raises(InvalidRequest, match="independent respondents"):
        census.conf_int(method="exact")
    assert (
        census.about("mean")._default_interval
        == census.about("weight")._default_interval
        == "score"
    )
    direct = estimate(
        KeyValueTally(
            pckv_grr(2, 8, padding=1), np.array([[17, 3, 0], [19, 0, 1]]), ASKED
        )
    )
    assert direct._default_interval == "exact"


SENT = np.array(
    [
        (ASKED - plus - minus, plus, minus)
        for plus in range(ASKED + 1)
        for minus in range(ASKED + 1 - plus)
    ]
)
"""All that twenty people may send about an item."""


@cache
def all_ends(
    epsilon: float, quantity: str, method: str | None
) -> tuple[ItemEstimate, Ends]:
    """The intervals on a scale from 1 to 5 of all tallies: each is an item of one large tally."""
    design = lpp_club(len(SENT), epsilon, low=1, high=5)
    found = estimate(
        KeyValueTally(design, SENT, int(SENT.sum())), scaling="conditional"
    )
    return found, found.about(quantity)._bounds(method, 0.95)


def held(
    epsilon: float,
    quantity: str,
    frequency: float,
    mean: float,
    method: str | None = None,
) -> float:
    """How often the interval holds the truth."""
    found, (low, high) = all_ends(epsilon, quantity, method)
    truth = mean if quantity == "mean" else found.respondents * frequency * mean
    plus = frequency * (mean - 1) / 4
    law = multinomial(
        ASKED,
        found.design.scheme.symbol.floats()
        @ [1 - frequency, plus, frequency - plus],
    )
    return float(law.pmf(SENT)[(low <= truth + 1e-6) & (truth - 1e-6 <= high)].sum())


TRUTHS = [
    (frequency, mean)
    for frequency in (0, 0.005, 0.03, 0.2, 1)
    for mean in (1, 2, 3, 4.6)
]


@pytest.mark.parametrize("quantity", ["weight", "mean"])
@pytest.mark.parametrize("epsilon", [0.5, 2, 8])
def test_weights_and_means_of_items_that_hardly_anyone_has(
    epsilon: float, quantity: str
) -> None:
    found = [held(epsilon, quantity, *each) for each in TRUTHS]
    assert min(found) >= 0.92
    assert np.mean(found) >= 0.94


def test_normal_and_delta_intervals_would_not_do() -> None:
    assert min(held(8, "weight", *each, method="normal") for each in TRUTHS) < 0.92
    assert min(held(8, "mean", *each, method="delta") for each in TRUTHS) < 0.92


def test_the_mean_of_an_item_that_perhaps_nobody_has_may_be_anything() -> None:
    counts = np.array([[ASKED, 0, 0], [ASKED - 1, 1, 0], [4, 16, 0]])
    found = estimate(
        KeyValueTally(lpp_club(3, 2, low=1, high=5), counts, 3 * ASKED),
        scaling="conditional",
    )
    nobody, one, many = found.about("mean").conf_int().values()
    assert nobody == one == (1, 5)
    assert many.low > 3
    assert many.high == 5


def test_with_a_single_response_nothing_is_known() -> None:
    counted = KeyValueTally(
        lpp_club(2, 8, low=-2, high=1),
        np.array([[0, 1, 0], [ASKED, 0, 0]]),
        ASKED + 1,
    )
    found = estimate(counted, scaling="conditional")
    assert found.about("mean").interval("0") == (-2, 1)
    assert found.about("weight").interval("0") == pytest.approx(
        (-2 * (ASKED + 1), ASKED + 1)
    )


def test_a_census_knows_more() -> None:
    free, census = (with_hits(2, 12, population=each) for each in (None, 2 * ASKED))
    for quantity in ("weight", "mean"):
        widths = [
            np.diff(each.about(quantity).interval("0", method="score"))
            for each in (free, census)
        ]
        assert widths[1] <= widths[0]
    assert np.diff(census.about("weight").interval("0")) < np.diff(
        free.about("weight").interval("0")
    )
