"""How many people, how wide an interval, how small a share: the first questions of a plan, answered in a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from scipy.stats import binom
from scipy.stats import t as student

from deniable.designs import Design, direct
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.covariances import Vector, vector
from deniable.estimates.intervals import quantile
from deniable.plan.detection import (
    check_amount,
    deciding_response,
    detection_limit,
    has_mean,
    read_category,
    sample_size_for_power,
    shares_around,
)
from deniable.plan.planned import Line, Planned
from deniable.plan.precision import (
    Sizes,
    first_for_good,
    read_probability,
    read_share,
    read_whole,
    sample_size,
    width,
)
from deniable.rendering.formats import percent
from deniable.types import operation
from deniable.types.categories.plan import DecidingResponse

_POWERS = (0.5, 0.8, 0.9, 0.95)
TIMES = (0.5, 0.75, 1.0, 1.5, 2.0)  # of the distance that was asked for, in a table
_MAX_COUNTED = 10_000_000  # respondents of whom every count is looked at, in seconds
_SAME = 1e-9  # a count that lies this close to where the interval is as wide as allowed is on it, but for rounding


def how_many(
    design: Design,
    *,
    share: float | None = None,
    within: float | None = None,
    sd: float | None = None,
    width: float | None = None,
    power: float | None = None,
    assurance: float | None = None,
    level: float = 0.95,
    null: float = 0.0,
    alpha: float = 0.05,
    two_sided: bool = False,
    category: str | None = None,
    method: str | None = None,
) -> Planned:
    """Answer how many people must respond, for an interval of a width or for a power, at the share that is expected.

    Of a design for numbers the question is another one: for a mean within so much, `within` and perhaps `sd`.

    Args:
        design: what people will respond with.
        share: the share that you expect.
        within: of a design for numbers: how far the interval of the mean may reach to both sides.
        sd: the largest standard deviation that you expect of the numbers; any, if it is not given.
        width: of the interval, from end to end.
        power: how surely `share` is told from `null`; see `power`.
        assurance: in how many of all surveys the interval is as narrow as that; on average, if it is not given.
        level: of the interval.
        null: the share that is to be rejected.
        alpha: how often a true null is rejected.
        two_sided: reject on both sides.
        category: whose share is meant; the last one, if none is named.
        method: of the test, "exact" or "normal"; by default "exact" where it can be computed.

    Raises:
        InvalidRequest: not exactly one of width and power, a share of numbers or a mean of categories, or numbers that
            do not fit.

    Example:
        >>> from deniable.designs import forced_response
        >>> die = forced_response("2/3", "1/6", "1/6")
        >>> how_many(die, share=0.1, power=0.8).value, how_many(die, share=0.2, width=0.12, assurance=0.8).value
        (241, 524)
        >>> from deniable.designs import number_design
        >>> how_many(number_design(0, 8000, epsilon=2), within=200, sd=1500).value
        1713
    """
    if within is not None:
        if not has_mean(design) or (share, width, power, category) != (None,) * 4:
            raise InvalidRequest(
                "a mean within so much was asked for; expected a design for numbers, and no share, width or power.",
                "Designs for numbers are built with number_design(low, high, epsilon=…).",
            )
        return _people_for_mean(design, within, sd, level)
    share = _expected_share(design, share, sd, category)
    if (width is None) == (power is None) or (
        width is None and assurance is not None
    ):
        raise InvalidRequest(
            "expected either a width or a power, and an assurance with a width alone.",
            "For example width=0.1, for an interval of 10 percentage points from end to end.",
        )
    name = read_category(design, category)

    people: Callable[..., int]
    if width is not None:
        people = partial(
            sample_size_for_width,
            width=width,
            level=level,
            assurance=assurance,
            category=name,
        )
    else:
        assert power is not None
        people = partial(
            sample_size_for_power,
            null=null,
            alpha=alpha,
            target=power,
            two_sided=two_sided,
            category=name,
            method=method,
        )
    n = people(design, share=share)
    goal = (
        f"a share of {percent(share)} is shown to differ from {percent(null)} with a power of {percent(power)}"
        if power is not None
        else _width_text(share, width or 0.0, level, assurance)
    )
    honest = direct(design.categories)
    lines = tuple(
        people_line(
            "expected share",
            percent(near),
            people(design, share=near),
            people(honest, share=near),
        )
        for near in _shares_near(share, null)
    )
    return Planned(f"Ask {n:,} people: {goal}.", n, lines)


def people_line(head: str, goal: str, people: int, honest: int) -> Line:
    """Return a line of a table: what is asked for, and how many people it takes."""
    return {
        head: goal,
        "people": people,
        "with honest direct answers": honest,
        "times as many": people / honest,
    }


def _shares_near(share: float, null: float) -> list[float]:
    """Return the expected share between smaller and larger ones: it is a guess, and what hangs on it must be seen."""
    near = [null + (share - null) * times for times in TIMES]
    return [
        near_share
        for near_share in near
        if 0 < near_share < 1 and near_share != null
    ] or [share]


def _width_text(
    share: float, width: float, level: float, assurance: float | None
) -> str:
    often = (
        "on average"
        if assurance is None
        else f"or narrower in {percent(assurance)} of all surveys or more"
    )
    return (
        f"the {percent(level)} interval of a share of {percent(share)} is {100 * width:.3g} "
        "percentage points "
        f"wide, {often}"
    )


def sample_size_for_width(
    design: Design,
    *,
    share: float,
    width: float,
    level: float = 0.95,
    assurance: float | None = None,
    category: str | None = None,
) -> int:
    """Return the number of respondents from which on an interval has a width on average, or with an assurance.

    With an assurance: the estimated error, and so the width of value ± t·error, varies from survey to survey; this is
    the number from which on it is at most `width` in that share of all surveys, by the binomial law of the count.

    Raises:
        InvalidRequest: numbers that do not fit, or an assurance where no single response decides on the share.

    Example:
        >>> from deniable.designs import forced_response
        >>> die = forced_response("2/3", "1/6", "1/6")
        >>> [sample_size_for_width(die, share=0.2, width=0.12, assurance=each) for each in (None, 0.8)]
        [505, 524]
    """
    name, true = read_category(design, category), read_share(share, "share")
    wide = read_probability(width, "the width")
    average = sample_size(
        design,
        margin=wide / 2,
        level=level,
        shares=shares_around(design, name, true),
        category=name,
    )
    if assurance is None:
        return average
    target = read_probability(assurance, "the assurance")
    response = _require_deciding_response(design, name)
    around = _search_radius(response.chance(true), average)
    size = first_for_good(
        lambda sizes: _narrow_enough(sizes, response, true, wide, level) >= target,
        average,
        around,
        least=2,
    )
    if size is None:
        raise InvalidRequest(
            "no number of respondents is enough; expected a larger width."
        )
    return size


def _search_radius(p_response: float, average: int) -> int:
    """Return how far from the average size the assured one may lie: twelve standard errors, and some."""
    spread = max(p_response * (1 - p_response), 1 / average)
    return math.ceil(12 * math.sqrt(average * (1 + 1 / spread))) + 200


def _t_quantile(df: Sizes | int, level: float) -> Vector:
    """Return the quantile of Student's t that an interval of this level reaches to both sides."""
    return vector(student.ppf((1 + level) / 2, df))


def _narrow_enough(
    sizes: Sizes,
    response: DecidingResponse,
    share: float,
    width: float,
    level: float,
) -> Vector:
    """Return how often an interval is at most so wide, for each number of respondents.

    Why: ŷ(1 − ŷ) ≤ (n − 1)·(width·gap/2q)² =: a where ŷ is the share of those who sent the response and q the quantile
    of t with n − 1 degrees of freedom; that is ŷ ≤ (1 − √(1 − 4a))/2, or as far from the other end.
    """
    reach = width * response.gap / (2 * _t_quantile(sizes - 1, level))
    allowed = (sizes - 1) * reach**2
    root = np.sqrt(np.maximum(1 - 4 * allowed, 0.0))
    low = np.floor(sizes * (1 - root) / 2 + _SAME)
    high = np.ceil(sizes * (1 + root) / 2 - _SAME)
    p = response.chance(share)
    inside = binom.cdf(low, sizes, p) + binom.sf(high - 1, sizes, p)
    return vector(np.where(4 * allowed >= 1, 1.0, inside))


def how_wide(
    design: Design,
    n: int,
    *,
    share: float | None = None,
    sd: float | None = None,
    level: float = 0.95,
    assurance: float | None = None,
    category: str | None = None,
) -> Planned:
    """Answer how wide the interval will be with n respondents, on average or with an assurance; see `how_many`.

    Of a design for numbers it is the interval of the mean, and no share is expected.

    Example:
        >>> from deniable.designs import warner
        >>> round(how_wide(warner(epsilon=1), 1000, share=0.2).value, 3)
        0.129
    """
    if has_mean(design) and (share, assurance, category) == (None,) * 3:
        return _mean_width(design, n, sd, level)
    share = _expected_share(design, share, sd, category)
    name, n = read_category(design, category), read_whole(n, "n", least=2)
    value = width(
        design,
        n,
        level=level,
        shares=shares_around(design, name, share),
        category=name,
    )
    widths = {"on average": value}
    if assurance is not None:
        shares = sorted({*_POWERS, read_probability(assurance, "the assurance")})
        assured = _assured_widths(design, n, name, share, level, shares)
        widths |= {f"{percent(sure)} of all": wide for sure, wide in assured.items()}
        value = assured[assurance]
    return _width_plan(n, share, value, level, assurance, widths)


def _width_plan(
    n: int,
    share: float,
    value: float,
    level: float,
    assurance: float | None,
    widths: Mapping[str, float],
) -> Planned:
    lines: tuple[Line, ...] = tuple(
        {"in surveys": surveys, "width": wide, "±": wide / 2}
        for surveys, wide in widths.items()
    )
    return Planned(
        f"With {n:,} respondents {_width_text(share, value, level, assurance)}.",
        value,
        lines,
    )


def _assured_widths(
    design: Design,
    n: int,
    category: str,
    share: float,
    level: float,
    assurances: Sequence[float],
) -> dict[float, float]:
    """Return, for each assurance, the smallest width that so many of all surveys do not exceed."""
    response = _require_deciding_response(design, category)
    if n > _MAX_COUNTED:
        raise InvalidRequest(
            f"n is {n:,}; expected at most {_MAX_COUNTED:,} for a width with an assurance."
        )
    counts = np.arange(n + 1)
    errors = np.sqrt(counts / n * (1 - counts / n) / (n - 1))
    widths = 2 * _t_quantile(n - 1, level) * errors / abs(response.gap)
    order = np.argsort(widths, kind="stable")
    often = np.cumsum(binom.pmf(counts, n, response.chance(share))[order])
    first = np.searchsorted(often, vector(assurances) * (1 - 1e-12))
    narrowest = widths[order[np.minimum(first, n)]]
    return dict(zip(assurances, narrowest.tolist(), strict=True))


def how_small(
    design: Design,
    n: int,
    *,
    power: float = 0.8,
    null: float = 0.0,
    alpha: float = 0.05,
    two_sided: bool = False,
    category: str | None = None,
    method: str | None = None,
) -> Planned:
    """Answer which share is the smallest that n respondents tell from `null`; the arguments are those of `how_many`.

    Example:
        >>> from deniable.designs import warner
        >>> round(how_small(warner(p="7/10"), 1000, method="normal").value, 4)
        0.091
    """

    limit = partial(
        detection_limit,
        design,
        n,
        null=null,
        alpha=alpha,
        two_sided=two_sided,
        category=category,
        method=method,
    )
    smallest_share = limit(target=power)
    sentence = (
        f"With {n:,} respondents a share of {percent(smallest_share)} or more is shown to differ from "
        f"{percent(null)} "
        f"with a power of {percent(power)}."
    )
    lines: tuple[Line, ...] = tuple(
        {"power": percent(target), "smallest share": limit(target=target)}
        for target in sorted({*_POWERS, power})
    )
    return Planned(sentence, smallest_share, lines)


def _require_deciding_response(design: Design, category: str) -> DecidingResponse:
    response = deciding_response(design, category)
    if response is None:
        raise InvalidRequest(
            "an assurance needs one response that decides on the share: two answers and two responses, or a k-ary "
            "design.",
            "Leave the assurance out: the width is then the one on average.",
        )
    return response


def _expected_share(
    design: Design, share: float | None, sd: float | None, category: str | None
) -> float:
    """Read the expected share of a category.

    Raises:
        InvalidRequest: none, a standard deviation, or a share of a design for numbers.
    """
    check_amount(design, share, category)
    if share is None or sd is not None:
        raise InvalidRequest(
            "expected the share that you expect, and no sd: that is of numbers.",
            "For example share=0.1.",
        )
    return read_share(share, "share")


def _people_for_mean(
    design: Design, within: float, sd: float | None, level: float
) -> Planned:
    """Answer how many people must respond for an interval of the mean that reaches so far to both sides."""
    if not within > 0:
        raise InvalidRequest(
            f"within is {quoted(within)}; expected more than 0: how far off the mean may be."
        )
    z, (variance, honest) = quantile(level), _mean_variances(design, sd)

    def people(variance: float, reach: float) -> int:
        return max(math.ceil(variance * (z / reach) ** 2 * (1 - 1e-12)), 2)

    n = people(variance, within)
    lines = tuple(
        people_line(
            "mean within ±",
            f"{reach:,.6g}",
            people(variance, reach),
            people(honest, reach),
        )
        for reach in [within * times for times in TIMES]
    )
    return Planned(
        f"Ask {n:,} people: {_mean_text(level, within, 6, sd)}.", n, lines
    )


def _mean_width(design: Design, n: int, sd: float | None, level: float) -> Planned:
    """Answer how wide the interval of the mean will be with n respondents."""
    read_whole(n, "n", least=2)
    reach, honest = (
        quantile(level) * math.sqrt(variance / n)
        for variance in _mean_variances(design, sd)
    )
    lines: tuple[Line, ...] = tuple(
        {"": question, "width": 2 * half, "±": half}
        for question, half in (("so asked", reach), ("directly", honest))
    )
    sentence = f"With {n:,} respondents {_mean_text(level, reach, 4, sd)}."
    return Planned(sentence, 2 * reach, lines)


def _mean_variances(design: Design, sd: float | None) -> tuple[float, float]:
    """Return the largest variance of one respondent's estimate, and that of an honest direct answer."""
    variance: float = operation(design, "mean_variance")(design, sd)
    deviation: float = operation(design, "largest_deviation")(design, sd)
    return variance, deviation**2


def _mean_text(level: float, reach: float, digits: int, sd: float | None) -> str:
    condition = (
        ", whatever the numbers are; fewer people do where you know their standard deviation (sd)"
        if sd is None
        else f", where the numbers have a standard deviation of {sd:,.6g} or less"
    )
    return (
        f"the {percent(level)} interval of the mean reaches at most {reach:,.{digits}g} to both sides"
        f"{condition}"
    )
