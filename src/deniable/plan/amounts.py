"""Planning for an amount: how many people for a mean within so much, and how far off it will be."""

from __future__ import annotations

import math

from deniable.designs import AnyDesign
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.intervals import quantile
from deniable.plan.planned import Line, Planned
from deniable.plan.variances import read_whole
from deniable.rendering.formats import percent
from deniable.types import find_operation, operation

_TIMES = (0.5, 0.75, 1.0, 1.5, 2.0)  # of what was asked for, in the table


def has_mean(design: object) -> bool:
    """Return whether a design estimates a mean, as one for numbers does."""
    return find_operation(design, "mean_variance") is not None


def check_amount(design: object, share: float | None, category: str | None) -> None:
    """Refuse a share of a design for numbers, unless it is that of a level that was named.

    Raises:
        InvalidRequest: it is one.
    """
    if has_mean(design) and category is None:
        prefix = "" if share is None else f"a share of {percent(share)} was given, but "
        raise InvalidRequest(
            f"{prefix}this design asks for a number, which has a mean and no share; expected how far off that may be.",
            "For example within=200, or `deniable plan size design.json --within 200`; a share of one level needs its "
            "name as category.",
        )


def people_for_mean(
    design: AnyDesign, within: float, sd: float | None, level: float
) -> Planned:
    """Answer how many people must respond for an interval of the mean that reaches so far to both sides."""
    if not within > 0:
        raise InvalidRequest(
            f"within is {quoted(within)}; expected more than 0: how far off the mean may be."
        )
    z = quantile(level)
    one, plain = _variances(design, sd)

    def people(variance: float, far: float) -> int:
        return max(math.ceil(variance * (z / far) ** 2 * (1 - 1e-12)), 2)

    n = people(one, within)
    lines: list[Line] = [
        {
            "mean within ±": f"{within * times:,.6g}",
            "people": people(one, within * times),
            "with honest direct answers": people(plain, within * times),
            "times as many": people(one, within * times)
            / people(plain, within * times),
        }
        for times in _TIMES
    ]
    sentence = (
        f"Ask {n:,} people: the {percent(level)} interval of the mean reaches "
        f"at most {within:,.6g} to both sides"
    )
    return Planned(f"{sentence}{_condition_text(sd)}.", n, tuple(lines))


def mean_width(design: AnyDesign, n: int, sd: float | None, level: float) -> Planned:
    """Answer how wide the interval of the mean will be with n respondents."""
    read_whole(n, "n", least=2)
    far, plain = (
        quantile(level) * math.sqrt(variance / n) for variance in _variances(design, sd)
    )
    lines: list[Line] = [
        {"": "so asked", "width": 2 * far, "±": far},
        {"": "directly", "width": 2 * plain, "±": plain},
    ]
    sentence = f"the {percent(level)} interval of the mean reaches at most {far:,.4g} to both sides"
    return Planned(
        f"With {n:,} respondents {sentence}{_condition_text(sd)}.",
        2 * far,
        tuple(lines),
    )


def _variances(design: AnyDesign, sd: float | None) -> tuple[float, float]:
    """Return the largest variance of one respondent's estimate, and that of an honest direct answer."""
    estimated: float = operation(design, "mean_variance")(design, sd)
    deviation: float = operation(design, "largest_deviation")(design, sd)
    return estimated, deviation**2


def _condition_text(sd: float | None) -> str:
    if sd is None:
        return ", whatever the numbers are; fewer people do where you know their standard deviation (sd)"
    return f", where the numbers have a standard deviation of {sd:,.6g} or less"
