"""The variance that an estimate will have, for given shares or in the worst case; each type of question computes it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from deniable import exact
from deniable.designs import AnyDesign
from deniable.errors import InvalidRequest, quoted, require
from deniable.estimates.covariances import Matrix
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

MOST_RESPONDENTS = 1 << 62
"""Sizes beyond are not looked for: they no longer fit into 64 bits."""


def variance(
    design: AnyDesign,
    n: int,
    *,
    shares: Shares | SharesByAttribute | None = None,
    category: str | None = None,
    population: Population = None,
    inverse: Matrix | None = None,
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

    Raises:
        InvalidRequest: shares, a category or a population that do not fit.

    Example:
        >>> from deniable.designs import warner
        >>> round(variance(warner(p="3/4"), 300, population="census"), 6)
        0.0025
    """
    return variance_curve(design, shares, Goal(category), inverse)(
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
    variances: VarianceCurve = curve(design, shares, goal, inverse)
    return variances


def read_whole(number: int, name: str, least: int = 1) -> int:
    """Read a whole number.

    Raises:
        InvalidRequest: anything else, or less than `least`.
    """
    if (
        isinstance(number, bool)
        or not isinstance(number, int | np.integer)
        or not least <= number <= MOST_RESPONDENTS
    ):
        raise InvalidRequest(
            f"{name} is {exact.shown(number)}; expected a whole number of at least {least}, and at most 2^62."
        )
    return int(number)


def read_probability(number: float, name: str) -> float:
    """Read a number between 0 and 1, both excluded.

    Raises:
        InvalidRequest: anything else.
    """
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float)
        or not 0 < number < 1
    ):
        raise InvalidRequest(
            f"{name} is {quoted(number)}; expected a number between 0 and 1."
        )
    return float(number)
