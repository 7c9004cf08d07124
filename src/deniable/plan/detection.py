"""How surely a share is told apart from another one, and the smallest share that is."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

from deniable.designs import Deck, Design
from deniable.errors import InvalidRequest
from deniable.plan.sizes import smallest
from deniable.plan.variances import (
    MOST_RESPONDENTS,
    Goal,
    Population,
    VarianceCurve,
    between,
    fraction,
    variance_curve,
    whole,
)

_NORMAL = NormalDist()


def power(
    design: Design | Deck,
    n: int,
    *,
    share: float,
    null: float = 0.0,
    alpha: float = 0.05,
    two_sided: bool = False,
    category: str | None = None,
    population: Population = None,
) -> float:
    """Return how surely n respondents reject that a share is `null`, if it is `share`.

    The test compares the unbiased estimate with null ± z·√Var(null); its distance from the true share is taken as
    normal with Var(share). A one-sided test looks to the side on which `share` lies.

    Implements: the power of [BIZ15] for forced response and Warner's design, for every design.

    Args:
        design: the design, or a deck.
        n: how many will respond.
        share: the true share of the category.
        null: the share that is to be rejected.
        alpha: how often a true null is rejected.
        two_sided: reject on both sides.
        category: whose share is meant; the last one, if none is named. The other categories share the rest evenly.
        population: how many people there are altogether; "census" if all of them are asked.

    Raises:
        InvalidRequest: shares outside [0, 1], equal shares, or an alpha outside (0, 1).

    Example:
        >>> from deniable.designs import forced_response
        >>> round(power(forced_response("2/3", "1/6", "1/6"), 200, share=0.2, alpha=0.01), 6)
        0.986887
    """
    at = _power(design, share, null, alpha, two_sided, category)
    return at(whole(n, "n"), fraction(n, population))


def sample_size_for_power(
    design: Design,
    *,
    share: float,
    null: float = 0.0,
    alpha: float = 0.05,
    target: float = 0.8,
    two_sided: bool = False,
    category: str | None = None,
    population: Population = None,
) -> int:
    """Return the smallest number of respondents with at least the power `target`; the arguments are those of `power`.

    Raises:
        InvalidRequest: also where a population is too small for it.

    Example:
        >>> from deniable.designs import forced_response
        >>> sample_size_for_power(forced_response("2/3", "1/6", "1/6"), share=0.1)
        212
    """
    wanted = between(target, "the target")
    at = _power(design, share, null, alpha, two_sided, category)
    most = whole(population, "the population") if isinstance(population, int) else MOST_RESPONDENTS
    size = smallest(lambda n: at(n, fraction(n, population)) >= wanted, most)
    if size is None:
        raise InvalidRequest(
            f"even if all {most:,} people respond the power stays below {wanted}.",
            "Look for a larger difference, or allow a larger ε.",
        )
    return size


def detection_limit(
    design: Design | Deck,
    n: int,
    *,
    null: float = 0.0,
    alpha: float = 0.05,
    target: float = 0.8,
    two_sided: bool = False,
    category: str | None = None,
    population: Population = None,
) -> float:
    """Return the smallest share above `null` that n respondents find with the power `target`.

    Raises:
        InvalidRequest: also where not even a share of 1 would be found.

    Example:
        >>> from deniable.designs import warner
        >>> round(detection_limit(warner(epsilon=1), 1000), 3)
        0.076
    """
    wanted, f = between(target, "the target"), fraction(whole(n, "n"), population)

    def reached(share: float) -> float:
        return _power(design, share, null, alpha, two_sided, category)(n, f)

    low, high = _read_share(null, "null"), 1.0
    if low == 1 or reached(high) < wanted:
        raise InvalidRequest(
            f"{n:,} respondents do not find any share above {null} with a power of {wanted}; expected more of them.",
            "Ask more people, or allow a larger ε.",
        )
    return _bisect(lambda share: reached(share) >= wanted, low, high)


def _power(
    design: Design | Deck, share: float, null: float, alpha: float, two_sided: bool, category: str | None
) -> VarianceCurve:
    true, rejected = _read_share(share, "share"), _read_share(null, "null")
    if true == rejected:
        raise InvalidRequest(f"share and null are both {share}; expected two different shares.")
    z = -_NORMAL.inv_cdf(between(alpha, "alpha") / (2 if two_sided else 1))
    at_true, at_null = (_variance_curve_at(design, each, category) for each in (true, rejected))

    def reached(n: int, f: float) -> float:
        error, threshold = math.sqrt(max(at_true(n, f), 0.0)), z * math.sqrt(max(at_null(n, f), 0.0))
        distance = abs(true - rejected)
        return _above(distance - threshold, error) + (_above(-distance - threshold, error) if two_sided else 0.0)

    return reached


def _above(gap: float, error: float) -> float:
    """Return the probability that a normal value with mean `gap` is positive."""
    return _NORMAL.cdf(gap / error) if error > 0 else float(gap > 0)


def _variance_curve_at(design: Design | Deck, share: float, category: str | None) -> VarianceCurve:
    categories = design.categories
    name = categories[-1] if category is None else category
    if name not in categories:
        raise InvalidRequest(f"{name!r:.40} is not a category; expected one of the design's.")
    rest = (1 - share) / (len(categories) - 1)
    shares = [share if each == name else rest for each in categories]
    return variance_curve(design, shares, Goal(name))


def _read_share(number: float, name: str) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
        raise InvalidRequest(f"{name} is {number!r:.40}; expected a share from 0 to 1.")
    return float(number)


def _bisect(enough: Callable[[float], bool], low: float, high: float) -> float:
    """Return where `enough` becomes true; it is at `high`."""
    while high - low > 1e-12:
        middle = (low + high) / 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
