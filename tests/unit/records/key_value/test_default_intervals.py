"""The default interval of a frequency keeps its level, summed over the binomial law of one count; nothing is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from deniable.errors import InvalidRequest
from deniable.records.key_value.designs import lpp_club, pckv_grr, pckv_ue
from deniable.records.key_value.estimates import KeyValueEstimate, estimate
from deniable.records.key_value.tallies import KeyValueTally

ASKED = 20


def with_hits(epsilon: float, hits: int, population: int | None = None) -> KeyValueEstimate:
    """Twenty were asked about each of two items, and so many said "+" about the first."""
    counts = np.array([[ASKED - hits, hits, 0], [ASKED, 0, 0]])
    counted = KeyValueTally(lpp_club(2, epsilon), counts, 2 * ASKED)
    return estimate(counted, scaling="conditional", population=population).about("frequency")


def coverage(epsilon: float, frequency: float, method: str | None) -> float:
    symbol = lpp_club(2, epsilon).scheme.symbol.floats()
    rate = (symbol @ [1 - frequency, frequency / 2, frequency / 2])[1:].sum()
    held = 0.0
    for hits in range(ASKED + 1):
        low, high = with_hits(epsilon, hits).conf_int(method=method)["0"]
        held += binom.pmf(hits, ASKED, rate) * (low - 1e-9 <= frequency <= high + 1e-9)
    return float(held)


@pytest.mark.parametrize("epsilon", [0.5, 2, 8])
def test_frequencies_at_and_near_none(epsilon: float) -> None:
    assert all(coverage(epsilon, share, None) >= 0.92 for share in (0, 0.005, 0.05, 0.1, 0.3))


def test_the_score_interval_would_not_do() -> None:
    assert coverage(8, 0.005, "score") < 0.92


def test_which_interval_it_is_is_told() -> None:
    assert [with_hits(each, 3).summary().interval for each in (0.5, 8)] == ["score", "exact"]
    degrees = with_hits(8, 3).about("degree")
    assert degrees.conf_int()["0"].high == pytest.approx(2 * ASKED * with_hits(8, 3).conf_int()["0"].high)
    assert with_hits(8, 3).about("mean").default_interval() == "delta"


def test_padding_is_put_back_into_the_exact_interval() -> None:
    """One item of two places is looked at, so that half of the rate stands for all of the frequency."""
    design = pckv_ue(3, 8, padding=2)
    counted = KeyValueTally(design, np.array([[ASKED - hits, hits, 0] for hits in (0, 5, 10)]), ASKED)
    found = estimate(counted).about("frequency")
    assert found.default_interval() == "exact"
    for value, (low, high) in zip(found.params.values(), found.conf_int().values(), strict=True):
        assert low <= value <= high


def test_what_one_count_does_not_tell_keeps_the_score_interval() -> None:
    census = with_hits(8, 3, population=2 * ASKED)
    assert census.default_interval() == "score"
    with pytest.raises(InvalidRequest, match="independent respondents"):
        census.conf_int(method="exact")
    direct = estimate(KeyValueTally(pckv_grr(2, 8, padding=1), np.array([[17, 3, 0], [19, 0, 1]]), ASKED))
    assert direct.default_interval() == "score"
