"""Variance, interval width and sample size of an estimate, for given shares or in the worst case.

Each type of question computes the variance as a function of n (`variance_curve`); widths and sizes follow from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from deniable import exact
from deniable.designs import AnyDesign, Design
from deniable.errors import InvalidRequest, quoted, require
from deniable.estimates.covariances import Matrix
from deniable.estimates.intervals import quantile
from deniable.estimates.shares import sampled_fraction
from deniable.types import find_operation
from deniable.types.categories.plan import (
    Goal,
    Shares,
    SharesByAttribute,
    VarianceCurve,
)

Population: TypeAlias = int | Literal["census"] | None
"""How many people there are altogether; "census" if everybody is asked, None if respondents are independent."""

Sizes: TypeAlias = NDArray[np.int64]
"""Numbers of respondents."""

MAX_RESPONDENTS = 1 << 62
"""Sizes beyond are not looked for: they no longer fit into 64 bits."""

_SAME = 1e-12  # a variance that is this close to the target is equal to it, but for rounding


def variance(
    design: AnyDesign,
    n: int,
    *,
    shares: Shares | SharesByAttribute | None = None,
    category: str | None = None,
    population: Population = None,
    inverse: Matrix | None = None,
    projected: bool = False,
) -> float:
    """Return the variance that the unbiased estimate will have with n respondents.

    Args:
        design: the design, a deck that is dealt, or attributes of which some are drawn for each respondent.
        n: how many will respond.
        shares: the true shares, of drawn attributes by attribute; the worst possible ones, if they are not given.
        category: whose share is meant, such as "smokes: yes" of drawn attributes. If it is not given: for two
            categories the variance that both shares have, for more the sum over all categories; of drawn attributes the
            sum of that over all of them.
        population: how many people there are altogether; "census" if all are asked.
        inverse: another left inverse than the design's own, answers × responses.
        projected: return instead the total squared error of all shares after `projected()`; at even shares, if none are
            given.

    Raises:
        InvalidRequest: shares, a category or a population that do not fit.

    Example:
        >>> from deniable.designs import k_ary, warner
        >>> round(variance(warner(p="3/4"), 300, population="census"), 6)
        0.0025
        >>> [round(variance(k_ary(100, 2), 5000, projected=each), 4) for each in (False, True)]
        [0.0549, 0.0199]
    """
    goal = Goal(category, projected=projected)
    return variance_curve(design, shares, goal, inverse)(
        read_whole(n, "n"), fraction(n, population)
    )


def fraction(n: int, population: Population) -> float:
    """Return f of F6 for n respondents.

    Raises:
        InvalidRequest: a population smaller than n.
    """
    if population == "census":
        return 0.0
    if isinstance(population, str):
        raise InvalidRequest(
            f'the population is {quoted(population)}; expected a whole number, "census" or None.'
        )
    return sampled_fraction(n, population)


def variance_curve(
    design: AnyDesign,
    shares: Shares | SharesByAttribute | None,
    goal: Goal,
    inverse: Matrix | None = None,
) -> VarianceCurve:
    """Return the variance as a function of n and f.

    Raises:
        InvalidRequest: a design that cannot be planned with, or shares that do not fit.
    """
    curve = find_operation(design, "variance_curve")
    require(
        curve is not None, design, "the design", "one, such as dn.warner(epsilon=1)"
    )
    assert curve is not None
    if goal.projected and (
        goal.category or goal.largest or not isinstance(design, Design)
    ):
        raise InvalidRequest(
            "projected=True goes with the total squared error of all shares of one design for categories; expected no "
            "category and no margin.",
            "Projection does not help a single share: plan it without projected=True.",
        )
    variances: VarianceCurve = curve(design, shares, goal, inverse)
    return variances


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
    projected: bool = False,
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
        projected: let `variance` be the total squared error of all shares after `projected()`.

    Raises:
        InvalidRequest: not exactly one of variance and margin, or a population too small for it.

    Example:
        >>> from deniable.designs import warner
        >>> sample_size(warner(epsilon=1), margin=0.05)
        1799
    """
    target = target_variance(variance, margin, level, method)
    goal = Goal(category, largest=margin is not None, projected=projected)
    curve = variance_curve(design, shares, goal, inverse)
    limit = (
        population
        if isinstance(population, int) and not isinstance(population, bool)
        else MAX_RESPONDENTS
    )

    def variance_at(n: int) -> float:
        return curve(n, fraction(n, population))

    # refuses others
    fraction(limit if isinstance(population, int) else 1, population)
    size = smallest(lambda n: variance_at(n) <= target * (1 + _SAME), limit)
    if size is None:
        raise InvalidRequest(
            f"even if all {limit:,} people respond the variance is {variance_at(limit):.4g}; expected at most "
            f"{target:.4g}.",
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
    curve = variance_curve(design, shares, Goal(category, largest=True), inverse)
    value = curve(read_whole(n, "n"), fraction(n, population))
    return 2 * math.sqrt(max(value, 0.0) / target_variance(None, 1.0, level, method))


def smallest(
    enough: Callable[[int], bool], most: int = MAX_RESPONDENTS, least: int = 1
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
    enough: Callable[[Sizes], NDArray[np.bool_]],
    near: int,
    around: int,
    least: int = 1,
) -> int | None:
    """Return the number from which on all larger ones are enough; None if there is none.

    What is enough may fail now and then: sizes `around` the one that it is expected `near` are looked at, and more of
    them until the last failure lies well inside.
    """
    while near + around <= MAX_RESPONDENTS:
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
    if not is_number(demand) or not 0 < demand < 1e100:
        raise InvalidRequest(
            f"the demand is {exact.text(demand)}; expected a positive number."
        )
    z = quantile(read_probability(level, "the level"))
    if not z:
        raise InvalidRequest(
            f"the level is {level}; expected one that floats tell from 0, such as 0.95."
        )
    if method not in ("normal", "chebyshev"):
        raise InvalidRequest(
            f"the method is {quoted(method)}; expected normal or chebyshev."
        )
    if variance is not None:
        return float(demand)
    return demand**2 / z**2 if method == "normal" else demand**2 * (1 - level)


def read_whole(number: int, name: str, least: int = 1) -> int:
    """Read a whole number.

    Raises:
        InvalidRequest: anything else, or less than `least`.
    """
    if (
        isinstance(number, bool)
        or not isinstance(number, int | np.integer)
        or not least <= number <= MAX_RESPONDENTS
    ):
        raise InvalidRequest(
            f"{name} is {exact.text(number)}; expected a whole number of at least {least}, and at most 2^62."
        )
    return int(number)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_probability(number: float, name: str) -> float:
    """Read a number between 0 and 1, both excluded.

    Raises:
        InvalidRequest: anything else.
    """
    if not is_number(number) or not 0 < number < 1:
        raise InvalidRequest(
            f"{name} is {quoted(number)}; expected a number between 0 and 1."
        )
    return float(number)


def read_share(number: float, name: str) -> float:
    """Read a share.

    Raises:
        InvalidRequest: not a number from 0 to 1.
    """
    if not is_number(number) or not 0 <= number <= 1:
        raise InvalidRequest(
            f"{name} is {quoted(number)}; expected a share from 0 to 1."
        )
    return float(number)
