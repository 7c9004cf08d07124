"""How many people, how wide an interval, how small a share: the first questions of a plan, answered in a sentence."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from scipy.stats import t as student

from deniable.designs import Design, direct
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Vector
from deniable.plan.amounts import check_amount, has_mean, mean_width, people_for_mean
from deniable.plan.detection import (
    deciding_response,
    detection_limit,
    read_category,
    read_share,
    sample_size_for_power,
    shares_around,
)
from deniable.plan.planned import Line, Planned
from deniable.plan.sizes import first_for_good, sample_size, width
from deniable.plan.variances import read_probability, read_whole
from deniable.rendering.formats import percent
from deniable.types.categories.plan import DecidingResponse

_POWERS = (0.5, 0.8, 0.9, 0.95)
_MOST_COUNTED = (
    10_000_000  # respondents whose every count is looked at, in a few seconds
)
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
        return people_for_mean(design, within, sd, level)
    check_amount(design, share, category)
    if share is None or sd is not None:
        raise InvalidRequest(
            "expected the share that you expect, and no sd: that is of numbers.",
            "For example share=0.1.",
        )
    if (width is None) == (power is None) or (width is None and assurance is not None):
        raise InvalidRequest(
            "expected either a width or a power, and an assurance with a width alone.",
            "For example width=0.1, for an interval of 10 percentage points from end to end.",
        )
    name = read_category(design, category)

    def people(asked: Design, at: float) -> int:
        if power is not None:
            return sample_size_for_power(
                asked,
                share=at,
                null=null,
                alpha=alpha,
                target=power,
                two_sided=two_sided,
                category=name,
                method=method,
            )
        assert width is not None
        return sample_size_for_width(
            asked,
            share=at,
            width=width,
            level=level,
            assurance=assurance,
            category=name,
        )

    n = people(design, read_share(share, "share"))
    goal = (
        f"a share of {percent(share)} is shown to differ from {percent(null)} with a power of {percent(power)}"
        if power is not None
        else _width_text(share, width or 0.0, level, assurance)
    )
    honest = direct(design.categories)
    lines = tuple(
        _people_line(people(design, at), people(honest, at), at)
        for at in _shares_near(share, null)
    )
    return Planned(f"Ask {n:,} people: {goal}.", n, lines)


def _people_line(people: int, honest: int, share: float) -> Line:
    return {
        "expected share": percent(share),
        "people": people,
        "with honest direct answers": honest,
        "times as many": people / honest,
    }


def _shares_near(share: float, null: float) -> list[float]:
    """Return the expected share between smaller and larger ones: it is a guess, and what hangs on it must be seen."""
    near = [null + (share - null) * times for times in (0.5, 0.75, 1.0, 1.5, 2.0)]
    return [
        near_share for near_share in near if 0 < near_share < 1 and near_share != null
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
    target_assurance, counted = (
        read_probability(assurance, "the assurance"),
        _require_deciding_response(design, name),
    )
    p_response = counted.chance(true)
    around = (
        math.ceil(
            12
            * math.sqrt(
                average * (1 + 1 / max(p_response * (1 - p_response), 1 / average))
            )
        )
        + 200
    )
    size = first_for_good(
        lambda sizes: (
            _narrow_enough(sizes, counted, true, wide, level) >= target_assurance
        ),
        average,
        around,
        least=2,
    )
    if size is None:
        raise InvalidRequest(
            "no number of respondents is enough; expected a larger width."
        )
    return size


def _t_quantile(df: NDArray[np.int64] | int, level: float) -> Vector:
    """Return the quantile of Student's t that an interval of this level reaches to both sides."""
    return np.asarray(student.ppf((1 + level) / 2, df), np.float64)


def _narrow_enough(
    sizes: NDArray[np.int64],
    counted: DecidingResponse,
    share: float,
    width: float,
    level: float,
) -> Vector:
    """Return how often an interval is at most so wide, for each number of respondents.

    Why: ŷ(1 − ŷ) ≤ (n − 1)·(width·gap/2q)² =: a where ŷ is the share of those who sent the response and q the quantile
    of t with n − 1 degrees of freedom; that is ŷ ≤ (1 − √(1 − 4a))/2, or as far from the other end.
    """
    allowed = (sizes - 1) * (
        width * counted.gap / (2 * _t_quantile(sizes - 1, level))
    ) ** 2
    root = np.sqrt(np.maximum(1 - 4 * allowed, 0.0))
    low = np.floor(sizes * (1 - root) / 2 + _SAME)
    high = np.ceil(sizes * (1 + root) / 2 - _SAME)
    chance = counted.chance(share)
    inside = binom.cdf(low, sizes, chance) + binom.sf(high - 1, sizes, chance)
    return np.asarray(np.where(4 * allowed >= 1, 1.0, inside), np.float64)


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
        return mean_width(design, n, sd, level)
    check_amount(design, share, category)
    if share is None or sd is not None:
        raise InvalidRequest(
            "expected the share that you expect, and no sd: that is of numbers.",
            "For example share=0.1.",
        )
    name, true, n = (
        read_category(design, category),
        read_share(share, "share"),
        read_whole(n, "n", least=2),
    )
    average = width(
        design, n, level=level, shares=shares_around(design, name, true), category=name
    )
    lines: list[Line] = [
        {"in surveys": "on average", "width": average, "±": average / 2}
    ]
    value = average
    if assurance is not None:
        value = _width_in(
            design, n, name, true, level, read_probability(assurance, "the assurance")
        )
        lines += [
            {"in surveys": f"{percent(sure)} of all", "width": wide, "±": wide / 2}
            for sure in sorted({*_POWERS, assurance})
            for wide in [_width_in(design, n, name, true, level, sure)]
        ]
    return Planned(
        f"With {n:,} respondents {_width_text(true, value, level, assurance)}.",
        value,
        tuple(lines),
    )


def _width_in(
    design: Design, n: int, category: str, share: float, level: float, assurance: float
) -> float:
    """Return the smallest width that so many of all surveys do not exceed."""
    counted = _require_deciding_response(design, category)
    if n > _MOST_COUNTED:
        raise InvalidRequest(
            f"n is {n:,}; expected at most {_MOST_COUNTED:,} for a width with an assurance."
        )
    counts = np.arange(n + 1)
    wide = (
        2
        * _t_quantile(n - 1, level)
        * np.sqrt(counts / n * (1 - counts / n) / (n - 1))
        / abs(counted.gap)
    )
    order = np.argsort(wide, kind="stable")
    often = np.cumsum(binom.pmf(counts, n, counted.chance(share))[order])
    return float(
        wide[order[min(int(np.searchsorted(often, assurance * (1 - 1e-12))), n)]]
    )


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

    def limit(target: float) -> float:
        return detection_limit(
            design,
            n,
            null=null,
            alpha=alpha,
            target=target,
            two_sided=two_sided,
            category=category,
            method=method,
        )

    smallest_share = limit(power)
    sentence = (
        f"With {n:,} respondents a share of {percent(smallest_share)} or more is shown to differ from "
        f"{percent(null)} "
        f"with a power of {percent(power)}."
    )
    lines: list[Line] = [
        {"power": percent(target), "smallest share": limit(target)}
        for target in sorted({*_POWERS, power})
    ]
    return Planned(sentence, smallest_share, tuple(lines))


def _require_deciding_response(design: Design, category: str) -> DecidingResponse:
    response = deciding_response(design, category)
    if response is None:
        raise InvalidRequest(
            "an assurance needs one response that decides on the share: two answers and two responses, or a k-ary "
            "design.",
            "Leave the assurance out: the width is then the one on average.",
        )
    return response
