"""How many people to ask, and how wide the interval will be."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deniable import exact
from deniable.designs import AnyDesign
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.covariances import Matrix
from deniable.estimates.intervals import quantile
from deniable.plan.variances import (
    MOST_RESPONDENTS,
    Population,
    fraction,
    read_probability,
    read_whole,
    variance_curve,
)
from deniable.types.categories.plan import Goal, Shares, SharesByAttribute

_SAME = 1e-12  # a variance that is this close to what was asked for is equal to it, but for rounding


def sample_size(
    design: AnyDesign,
    *,
    variance: float | None = None,
    margin: float | None = None,
    level: float = 0.95,
    method: str = "normal",
    shares: Shares | SharesByAttribute | None = None,
    category: str | None = None,
    population: Population = None,
    inverse: Matrix | None = None,
) -> int:
    """Return the smallest number of respondents with at most this variance, or at most this margin of error.

    Implements: F17 for every design, through the covariance of its own estimate.

    Args:
        design: what people will respond with; of attributes of which some are drawn, all respondents count. A deck
            changes with the number of people: see `deck_sample_size`.
        variance: the largest variance allowed. Of `category`; if none is named, of both shares for two categories, and
            of the sum over all categories for more.
        margin: the largest half width of an interval allowed. Of `category`; if none is named, of every category.
        level: of the interval.
        method: "normal", or "chebyshev" for an interval that assumes nothing.
        shares: the shares that you expect; the worst possible ones, if they are not given.
        category: whose share is meant.
        population: how many people there are altogether; "census" if all of them are asked.
        inverse: another left inverse than the design's own.

    Raises:
        InvalidRequest: not exactly one of variance and margin, or a population too small for it.

    Example:
        >>> from deniable.designs import warner
        >>> sample_size(warner(epsilon=1), margin=0.05)
        1799
    """
    target = target_variance(variance, margin, level, method)
    at = variance_curve(
        design, shares, Goal(category, largest=margin is not None), inverse
    )
    most = (
        population
        if isinstance(population, int) and not isinstance(population, bool)
        else MOST_RESPONDENTS
    )
    fraction(
        most if isinstance(population, int) else 1, population
    )  # refuses what is no population
    size = smallest(
        lambda n: at(n, fraction(n, population)) <= target * (1 + _SAME), most
    )
    if size is None:
        least = at(most, fraction(most, population))
        raise InvalidRequest(
            f"even if all {most:,} people respond the variance is {least:.4g}; expected at most {target:.4g}.",
            "Allow a larger variance or margin, or a larger ε.",
        )
    return size


def width(
    design: AnyDesign,
    n: int,
    *,
    level: float = 0.95,
    method: str = "normal",
    shares: Shares | SharesByAttribute | None = None,
    category: str | None = None,
    population: Population = None,
    inverse: Matrix | None = None,
) -> float:
    """Return how wide the interval will be, from end to end, with n respondents: 2·z·√Var.

    The arguments are those of `sample_size`. If no category is named, the widest interval counts.

    Example:
        >>> from deniable.designs import warner
        >>> round(width(warner(epsilon=1), 1799), 3)
        0.1
    """
    at = variance_curve(design, shares, Goal(category, largest=True), inverse)
    value = at(read_whole(n, "n"), fraction(n, population))
    return 2 * math.sqrt(max(value, 0.0) / target_variance(None, 1.0, level, method))


def smallest(
    enough: Callable[[int], bool], most: int = MOST_RESPONDENTS, least: int = 1
) -> int | None:
    """Return the smallest n from `least` to `most` that is enough, if all larger ones are too; None if none is."""
    high = least
    while not enough(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = least - 1
    while high - low > 1:
        middle = (low + high) // 2
        if middle > low and enough(middle):
            high = middle
        else:
            low = middle
    return high


def first_for_good(
    enough: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    near: int,
    around: int,
    least: int = 1,
) -> int | None:
    """Return the number from which on all larger ones are enough; None if there is none.

    What is enough may fail now and then: sizes `around` the one that it is expected `near` are looked at, and more of
    them until the last failure lies well inside.
    """
    while near + around <= MOST_RESPONDENTS:
        sizes = np.arange(max(least, near - around), near + around + 1)
        short = sizes[~enough(sizes)]
        if len(short) and short[-1] < near + around // 2:
            return int(short[-1]) + 1
        if not len(short) and sizes[0] == least:
            return least
        around *= 2
    return None


def target_variance(
    variance: float | None, margin: float | None, level: float, method: str
) -> float:
    """Return the largest variance that keeps the demand.

    Raises:
        InvalidRequest: not exactly one of variance and margin, or numbers that do not fit.
    """
    if (variance is None) == (margin is None):
        raise InvalidRequest(
            "expected either a variance or a margin, and exactly one of them.",
            "For example margin=0.05, for an interval of ± 5 percentage points.",
        )
    demand = variance if variance is not None else margin
    if (
        isinstance(demand, bool)
        or not isinstance(demand, int | float)
        or not 0 < demand < 1e100
    ):
        raise InvalidRequest(
            f"the demand is {exact.shown(demand)}; expected a positive number."
        )
    confidence = read_probability(level, "the level")
    if not quantile(confidence):
        raise InvalidRequest(
            f"the level is {level}; expected one that floats tell from 0, such as 0.95."
        )
    if method not in ("normal", "chebyshev"):
        raise InvalidRequest(
            f"the method is {quoted(method)}; expected normal or chebyshev."
        )
    if variance is not None:
        return float(demand)
    return (
        demand**2 / quantile(confidence) ** 2
        if method == "normal"
        else demand**2 * (1 - confidence)
    )
