"""Planning of a quantile of numbers in buckets: how many people, or how wide the interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from deniable.designs import AnyDesign
from deniable.errors import InvalidRequest, quoted, require
from deniable.estimates.covariances import Vector, vector
from deniable.estimates.results import quantile_name
from deniable.plan.people import TIMES, people_line
from deniable.plan.planned import Line, Planned
from deniable.plan.precision import (
    is_number,
    read_probability,
    read_whole,
    smallest,
)
from deniable.rendering.formats import percent
from deniable.types.buckets.design import BucketDesign
from deniable.types.buckets.estimate import EdgeCurve
from deniable.types.buckets.plan import ExpectedCurve

Numbers: TypeAlias = Sequence[float]
"""Numbers of a range, in its unit."""

_APPROXIMATE = (
    "Widths are those without chance, between edges of buckets. On average over surveys they are mostly within a third "
    "of that."
)


def quantile(
    design: AnyDesign,
    *,
    quantile: float = 0.5,
    width: float | None = None,
    n: int | None = None,
    numbers: Numbers | None = None,
    level: float = 0.95,
) -> Planned:
    """Answer how many people must respond for an interval of a quantile of a width, or how wide it is with n.

    Implements: the descent of `dn.estimate` on the distribution that is expected, with the standard errors of n
    respondents at each edge.

    Args:
        design: what people will respond with, by `bucket_design`.
        quantile: the one that is asked for; by default the median.
        width: of the interval, from end to end, as a part of the range; of logarithmic buckets, of its logarithm.
        n: how many respond; the width is then returned.
        numbers: numbers like those that you expect, at even steps of their distribution: the smallest, the quartiles
            and the largest, or those of a pilot. By default even over the buckets.
        level: of the interval.

    Raises:
        InvalidRequest: n and width both given or both left open, a width that no number of people reaches, or numbers
            that do not fit.

    Example:
        >>> from deniable.types.buckets.design import bucket_design
        >>> design = bucket_design(0, 80, epsilon=2, count=64)
        >>> quantile(design, n=20_000).value, quantile(design, width=0.125).value
        (0.0625, 2912)
    """
    require(
        isinstance(design, BucketDesign), design, "the design", "a bucket_design()"
    )
    if (n is None) == (width is None):
        raise InvalidRequest(
            "expected a number of people or width=, and exactly one of them.",
            "For example n=20_000, or width=0.05 for a twentieth of the range.",
        )
    assert isinstance(design, BucketDesign)
    share = read_probability(quantile, "the quantile")
    expected = ExpectedCurve(design, _read_distribution(design, numbers))
    measure = partial(_width, share, read_probability(level, "the level"))
    name = f"the {percent(level)} interval of the {quantile_name(share)}"
    around = (
        "numbers that lie even over the buckets"
        if numbers is None
        else "numbers like yours"
    )
    if n is not None:
        size = read_whole(n, "n", least=2)
        reach, honest = (
            measure(curve(size)) for curve in (expected.curve, expected.direct_curve)
        )
        lines: tuple[Line, ...] = tuple(
            {"": question, "width, of the range": part}
            for question, part in (("so asked", reach), ("directly", honest))
        )
        sentence = f"With {size:,} respondents {name} has about {percent(reach)} of the range, for {around}."
        return Planned(sentence, reach, lines, (_APPROXIMATE,))
    target = read_probability(width or 0.0, "the width")
    people = partial(_people, measure)
    found = people(expected.curve, target)
    if found is None:
        raise InvalidRequest(
            f"the width is {percent(target)} of the range; expected more: a quantile may lie anywhere in a bucket.",
            "Allow a larger width, or take more buckets: bucket_design(…, count=1024).",
        )
    rows = []
    for reach in (target * times for times in reversed(TIMES)):
        asked = people(expected.curve, reach)
        direct = people(expected.direct_curve, reach)
        if reach < 1 and asked and direct:
            head, goal = "width, of the range", percent(reach)
            rows.append(people_line(head, goal, asked, direct))
    sentence = f"Ask {found:,} people: {name} has then about {percent(target)} of the range, for {around}."
    return Planned(sentence, found, tuple(rows), (_APPROXIMATE,))


def _width(share: float, level: float, curve: EdgeCurve) -> float:
    """Return the width of the interval of a quantile, of the number of buckets."""
    start, stop = curve.descend(share, level)
    return (stop - start) / (len(curve.errors) - 1)


def _people(
    measure: Callable[[EdgeCurve], float],
    curve: Callable[[int], EdgeCurve],
    width: float,
) -> int | None:
    """Return the smallest number of people whose interval has at most this width; None if no number is enough."""
    return smallest(lambda n: measure(curve(n)) <= width, least=2)


def _read_distribution(design: BucketDesign, numbers: Numbers | None) -> Vector:
    """Return the share of people below each edge, on straight lines between the numbers.

    Raises:
        InvalidRequest: fewer than two numbers, or one outside of the range.
    """
    tree = design.buckets
    if numbers is None:
        return vector(np.linspace(0, 1, tree.count + 1))
    values = sorted(numbers)
    outside = [
        value
        for value in values
        if not (is_number(value) and tree.low <= value <= tree.high)
    ]
    if outside or len(values) < 2:
        raise InvalidRequest(
            f"one of the numbers is {quoted(outside[0])}; expected {tree.low:g} to {tree.high:g}."
            if outside
            else f"there are {len(values)} numbers; expected at least 2, the smallest and the largest."
        )
    below = np.interp(tree.edges, values, np.linspace(0, 1, len(values)), 0.0, 1.0)
    return vector([0.0, *below[1:-1], 1.0])
