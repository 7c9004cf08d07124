"""How often value ± a multiple of the error holds the truth."""

from __future__ import annotations

import pytest

from deniable.errors import InvalidRequest
from deniable.estimates import coverage
from deniable.estimates.intervals import quantile


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
def test_a_level_leads_to_its_multiple_and_back(level: float) -> None:
    assert coverage(quantile(level)) == pytest.approx(level, rel=1e-12)
    assert coverage((1 - level) ** -0.5, "chebyshev") == pytest.approx(
        level, rel=1e-12
    )


def test_chebyshev_says_nothing_below_one_error() -> None:
    assert coverage(0, "chebyshev") == coverage(0.9, "chebyshev") == coverage(0) == 0
    assert coverage(4.5, "chebyshev") > 0.95 > coverage(4.4, "chebyshev")


def test_what_is_no_multiple_is_refused() -> None:
    for multiple in (-1.0, float("nan")):
        with pytest.raises(InvalidRequest, match="expected 0 or more"):
            coverage(multiple)
    with pytest.raises(InvalidRequest, match="expected normal or chebyshev"):
        coverage(2, "score")
