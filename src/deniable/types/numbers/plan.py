"""Planning for the mean of numbers; the shares of levels are planned as those of categories are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, pairwise

import numpy as np

from deniable.designs import NumberDesign
from deniable.errors import InvalidRequest, quoted
from deniable.estimates import covariance
from deniable.types.categories.plan import (
    compared_privacy,
    deciding_response,
    has_few_tallies,
    variance_curve,
)

__all__ = [
    "compared_privacy",
    "deciding_response",
    "has_few_tallies",
    "largest_deviation",
    "mean_variance",
    "variance_curve",
]


def mean_variance(design: NumberDesign, deviation: float | None = None) -> float:
    """Return the largest variance of the estimated mean of one respondent, at any numbers or at a standard deviation.

    Why: given the number x the square of an estimate is s(x) on average, and s is linear between levels, as rounding
    is. Over people it is E s(X) − (E X)²: at most the largest value of a line between two levels less the square, and
    with a known deviation at most its square and the largest s(x) − x².

    Args:
        design: what people will respond with.
        deviation: of the numbers among people; any, if it is not given.

    Raises:
        InvalidRequest: a deviation that no numbers of this range have.

    Example:
        >>> from deniable.designs import number_design
        >>> design = number_design(0, 80, epsilon=2)
        >>> round(mean_variance(design) ** 0.5, 1), round(mean_variance(design, 12) ** 0.5, 1)
        (56.1, 41.3)
    """
    levels = np.array([float(value) for value in design.scale.values])
    certain = np.eye(len(levels))
    moments = [
        float(levels @ covariance(design, certain[number].tolist(), 1) @ levels)
        + level**2
        for number, level in enumerate(levels.tolist())
    ]
    points = list(zip(levels.tolist(), moments, strict=True))
    worst = _largest_excess(combinations(points, 2))
    if deviation is None:
        return worst
    return min(
        worst,
        largest_deviation(design, deviation) ** 2
        + _largest_excess(pairwise(points)),
    )


def _largest_excess(
    lines: Iterable[tuple[tuple[float, float], tuple[float, float]]],
) -> float:
    """Return the largest difference between one of these lines and the square, between its ends."""
    largest = 0.0
    for (start, low), (stop, high) in lines:
        slope = (high - low) / (stop - start)
        value = min(max(slope / 2, start), stop)
        largest = max(largest, low + slope * (value - start) - value * value)
    return largest


def largest_deviation(design: NumberDesign, deviation: float | None) -> float:
    """Return the largest standard deviation that the numbers can have: half of the range, if it is not given.

    Raises:
        InvalidRequest: a deviation that no numbers of this range have.
    """
    half = float(design.range.width) / 2
    if deviation is None:
        return half
    if not 0 < deviation <= half:
        raise InvalidRequest(
            f"the standard deviation is {quoted(deviation)}; expected more than 0 and at most {half:g}, half of the "
            "range."
        )
    return float(deviation)
