"""Correlations that are corrected for the devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import InvalidRequest, NotEstimable

RNG = np.random.default_rng(12)


def sent(design: dn.Design, codes: Any, missing: Any = None) -> dn.Responses:
    return dn.Responses(design, {"response": np.array(codes, np.uint8)}, missing)


def test_a_direct_question_has_the_usual_correlation() -> None:
    y, c = RNG.integers(2, size=200), RNG.normal(size=200)
    found = dn.correlation(sent(dn.direct(), y), c)
    assert found.value == pytest.approx(np.corrcoef(y, c)[0, 1])
    assert found.value == pytest.approx(found.observed)
    assert dn.correlation(c, sent(dn.direct(), y)).value == pytest.approx(found.value)


def test_missing_people_are_left_out_and_counted() -> None:
    y, c = RNG.integers(2, size=100), RNG.normal(size=100)
    c[3] = np.nan
    found = dn.correlation(sent(dn.warner(2), y, np.arange(100) == 5), c)
    there = ~np.isin(np.arange(100), [3, 5])
    assert found.value == pytest.approx(dn.correlation(sent(dn.warner(2), y[there]), c[there]).value)
    assert (found.respondents, found.missing) == (98, 2)


def test_the_error_is_that_of_leaving_people_out() -> None:
    """Linearization against the jackknife, for a strong correlation, where the variances matter."""
    rng = np.random.default_rng(15)
    y = rng.random(400) < 0.2
    c, z = y + 0.3 * rng.normal(size=400), np.where(rng.random(400) < 0.9, y, ~y)
    design = dn.warner(p="9/10")
    found = dn.correlation(sent(design, z), c)
    left = [dn.correlation(sent(design, np.delete(z, n)), np.delete(c, n)).value for n in range(400)]
    assert found.error == pytest.approx(np.sqrt(399 / 400 * ((np.array(left) - np.mean(left)) ** 2).sum()), rel=0.02)


@pytest.mark.statistical
def test_the_error_is_the_spread_of_repeated_surveys() -> None:
    """Over 300 surveys of 800 people the ratio of error to spread has a deviation of 0.041: 0.75 and 1.3 are six."""
    rng, design, values, errors = np.random.default_rng(13), dn.warner(2), [], []
    keep = float(design.channel.probability(1, given=1))
    for _ in range(300):
        c = rng.normal(size=800)
        y = rng.random(800) < 1 / (1 + np.exp(-c))
        z = np.where(rng.random(800) < keep, y, ~y)
        found = dn.correlation(sent(design, z), c)
        values.append(found.value)
        errors.append(found.error)
    assert 0.75 < np.mean(errors) / np.std(values) < 1.3
    assert abs(np.mean(values) - 0.4132) < 6.2 * np.std(values) / np.sqrt(300)  # corr(y, c), from 10⁸ people


def test_what_has_no_correlation_is_refused() -> None:
    y, c = RNG.integers(2, size=50), RNG.normal(size=50)
    for wrong in (
        (c, c),
        (sent(dn.k_ary(3, 1), y), c),
        (sent(dn.warner(1), y), c[1:]),
        (sent(dn.warner(1), y), ["a"] * 50),
    ):
        with pytest.raises(InvalidRequest):
            dn.correlation(*wrong)
    with pytest.raises(NotEstimable, match="estimated share"):
        dn.correlation(sent(dn.warner(1), np.zeros(50)), c)
    with pytest.raises(NotEstimable, match="same for everybody"):
        dn.correlation(sent(dn.direct(), y), np.ones(50))
