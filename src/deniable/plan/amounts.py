"""Planning for an amount: how many people for a mean within so much, and how far off it will be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations, pairwise

import numpy as np

from deniable.designs import Deck, Design, NumberDesign
from deniable.errors import InvalidRequest, quoted
from deniable.estimates import covariance
from deniable.estimates.intervals import quantile
from deniable.plan.planned import Line, Planned, percent
from deniable.plan.variances import whole

_TIMES = (0.5, 0.75, 1.0, 1.5, 2.0)  # of what was asked for, in the table


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
    levels = [float(each) for each in design.scale.values]
    unit = np.eye(len(levels))
    seconds = [
        float(np.array(levels) @ covariance(design, unit[at].tolist(), 1) @ np.array(levels)) + level**2
        for at, level in enumerate(levels)
    ]
    known = list(zip(levels, seconds, strict=True))
    worst = _largest(combinations(known, 2))
    if deviation is None:
        return worst
    return min(worst, _deviation(design, deviation) ** 2 + _largest(pairwise(known)))


def _largest(lines: Iterable[tuple[tuple[float, float], tuple[float, float]]]) -> float:
    """Return by how much one of these lines exceeds the square, at most."""
    found = 0.0
    for (start, low), (stop, high) in lines:
        slope = (high - low) / (stop - start)
        at = min(max(slope / 2, start), stop)
        found = max(found, low + slope * (at - start) - at * at)
    return found


def _deviation(design: NumberDesign, given: float | None) -> float:
    most = float(design.range.width) / 2
    if given is None:
        return most
    if not 0 < given <= most:
        raise InvalidRequest(
            f"the standard deviation is {quoted(given)}; expected more than 0 and at most {most:g}, half of the range."
        )
    return float(given)


def check_amount(design: Design | Deck, share: float | None, category: str | None) -> None:
    """Refuse a share of a design for numbers, unless it is that of a level that was named.

    Raises:
        InvalidRequest: it is one.
    """
    if isinstance(design, NumberDesign) and category is None:
        what = "" if share is None else f"a share of {percent(share)} was given, but "
        raise InvalidRequest(
            f"{what}this design asks for a number, which has a mean and no share; expected how far off that may be.",
            "For example within=200, or `deniable plan size design.json --within 200`; a share of one level needs its "
            "name as category.",
        )


def people_for_mean(design: NumberDesign, within: float, sd: float | None, level: float) -> Planned:
    """Answer how many people must respond for an interval of the mean that reaches so far to both sides."""
    if not within > 0:
        raise InvalidRequest(f"within is {quoted(within)}; expected more than 0: how far off the mean may be.")
    z, one, plain = quantile(level), mean_variance(design, sd), _deviation(design, sd) ** 2

    def people(variance: float, far: float) -> int:
        return max(math.ceil(variance * (z / far) ** 2 * (1 - 1e-12)), 2)

    n = people(one, within)
    lines: list[Line] = [
        {
            "mean within ±": f"{within * times:,.6g}",
            "people": people(one, within * times),
            "with honest direct answers": people(plain, within * times),
            "times as many": people(one, within * times) / people(plain, within * times),
        }
        for times in _TIMES
    ]
    sentence = (
        f"Ask {n:,} people: the {percent(level)} interval of the mean reaches at most {within:,.6g} to both sides"
    )
    return Planned(f"{sentence}{_at(sd)}.", n, tuple(lines))


def mean_width(design: NumberDesign, n: int, sd: float | None, level: float) -> Planned:
    """Answer how wide the interval of the mean will be with n respondents."""
    whole(n, "n", least=2)
    far, plain = (
        quantile(level) * math.sqrt(each / n) for each in (mean_variance(design, sd), _deviation(design, sd) ** 2)
    )
    lines: list[Line] = [{"": "so asked", "width": 2 * far, "±": far}, {"": "directly", "width": 2 * plain, "±": plain}]
    told = f"the {percent(level)} interval of the mean reaches at most {far:,.4g} to both sides"
    return Planned(f"With {n:,} respondents {told}{_at(sd)}.", 2 * far, tuple(lines))


def _at(sd: float | None) -> str:
    if sd is None:
        return ", whatever the numbers are; fewer people do where you know their standard deviation (sd)"
    return f", where the numbers have a standard deviation of {sd:,.6g} or less"
