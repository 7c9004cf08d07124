"""Imperfect tests: how many people to test, and how many cases and others to validate the test with."""

from __future__ import annotations

import math

from deniable.errors import InvalidRequest, quoted
from deniable.estimates.intervals import quantile
from deniable.plan.planned import Line, Planned
from deniable.plan.precision import is_number, read_probability, read_share
from deniable.rendering.formats import percent


def prevalence(
    share: float,
    *,
    width: float,
    sensitivity: float,
    specificity: float,
    cost: float = 1.0,
    level: float = 0.95,
) -> Planned:
    """Answer how many people to test and to validate, at the smallest cost, for an interval of a width.

    Implements: n_i = √(a_i/c_i)·Σ_j √(a_j·c_j)/V for a variance Σ a_i/n_i = V, with a_i of Rogan and Gladen's estimate.

    Args:
        share: the prevalence that you expect.
        width: of the interval, from end to end.
        sensitivity: that you expect of the test.
        specificity: likewise.
        cost: what a validated person costs, one who is only tested costing 1.
        level: of the interval.

    Raises:
        InvalidRequest: shares that are none, or a test that does not tell cases from others.

    Example:
        >>> prevalence(0.1, width=0.06, sensitivity=0.9, specificity=0.98).value
        798
    """
    positive, v, s = (
        read_share(number, name)
        for name, number in (
            ("share", share),
            ("sensitivity", sensitivity),
            ("specificity", specificity),
        )
    )
    if v + s <= 1 or not is_number(cost) or not 0 < cost < math.inf:
        raise InvalidRequest(
            f"sensitivity + specificity is {v + s:g} and the cost {quoted(cost)}; expected more than 1, and a positive "
            "cost."
        )
    t = positive * v + (1 - positive) * (1 - s)
    terms = (
        t * (1 - t),
        positive**2 * v * (1 - v),
        (1 - positive) ** 2 * s * (1 - s),
    )
    half = read_probability(width, "the width") / 2
    unit = (quantile(level) / (half * (v + s - 1))) ** 2
    costs = (1.0, cost, cost)
    total = sum(math.sqrt(a * c) for a, c in zip(terms, costs, strict=True))
    tested, cases, others = (
        max(1, math.ceil(unit * total * math.sqrt(a / c)))
        for a, c in zip(terms, costs, strict=True)
    )
    lines: tuple[Line, ...] = (
        {"people": "tested", "number": tested},
        {"people": "validated cases", "number": cases},
        {"people": "validated others", "number": others},
        {
            "people": "tested, were the test's errors known",
            "number": math.ceil(unit * terms[0]),
        },
    )
    sentence = (
        f"Test {tested:,} people, and validate the test with {cases:,} cases and {others:,} others: the interval of a "
        f"prevalence of {percent(share)} then has a width of about {100 * width:.3g} percentage points."
    )
    note = "By the normal approximation; near 0 the profile interval is wider."
    return Planned(sentence, tested, lines, (note,))
