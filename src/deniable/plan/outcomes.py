"""Planning of the mean of an exactly observed outcome among the people with one answer (`dn.by_answer`)."""

from __future__ import annotations

import math

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidRequest, require
from deniable.estimates.intervals import quantile
from deniable.estimates.inverses import left_inverse
from deniable.plan.planned import Line, Planned
from deniable.plan.precision import (
    is_number,
    read_probability,
    read_whole,
    smallest,
    target_variance,
)
from deniable.rendering.formats import percent

_SAME = 1e-12  # a variance that is this close to the target is equal to it, but for rounding


def mean_variance(
    design: Design,
    n: int,
    *,
    share: float,
    sd: float,
    sd_others: float | None = None,
    gap: float = 0.0,
    category: str | None = None,
) -> float:
    """Return the variance that the mean outcome of the people with one answer will have with n responses.

    Implements: [π·m_1·s² + (1 − π)·m_0·(s_0² + Δ²)]/(n·π²), m_g = E[w² | answer g] with w the unbiased indicator of the
    answer; m_0 is the average over the other answers.

    Args:
        design: the device.
        n: how many will respond.
        share: π, the share of the answer.
        sd: s, the standard deviation of the outcome among the people with the answer.
        sd_others: s_0, that of the others; by default the same.
        gap: Δ, how far the means of both lie apart. It usually costs most.
        category: the answer; by default the last one.

    Raises:
        InvalidRequest: numbers that do not fit, or no such answer.
    """
    require(isinstance(design, Design), design, "the design", "one for categories")
    number = len(design.categories) - 1
    if category is not None:
        number = design.category_number(category)
    pi, size = read_probability(share, "the share"), read_whole(n, "n")
    s0 = sd if sd_others is None else sd_others
    for name, value in {"sd": sd, "sd_others": s0, "gap": gap}.items():
        if not is_number(value) or not math.isfinite(value):
            raise InvalidRequest(
                f"{name} is {value!r:.40}; expected a finite number."
            )
    answers = len(design.categories)
    moments = left_inverse(design.channel).moments(answers)[number]
    others = float(np.delete(moments, number).mean())
    inside, outside = pi * float(moments[number]), (1 - pi) * others
    return (inside * sd**2 + outside * (s0**2 + gap**2)) / (size * pi**2)


def by_answer(
    design: Design,
    *,
    share: float,
    sd: float,
    sd_others: float | None = None,
    gap: float = 0.0,
    n: int | None = None,
    within: float | None = None,
    level: float = 0.95,
    category: str | None = None,
) -> Planned:
    """Answer how precisely the mean outcome of the people with one answer is estimated, or how many must respond.

    Args:
        design: the device.
        share: the share of the answer.
        sd: the standard deviation of the outcome among the people with the answer.
        sd_others: that of the others; by default the same.
        gap: how far the means of both lie apart. It usually costs most.
        n: how many respond; the half width of the interval is then returned.
        within: how far the interval may reach to both sides; the number of responses is then returned.
        level: of the interval.
        category: the answer; by default the last one.

    Raises:
        InvalidRequest: n and within both given or both left open, or numbers that do not fit.

    Example:
        >>> from deniable.designs import warner
        >>> chrome = warner(p="0.7615077")
        >>> by_answer(chrome, share=0.12, sd=600, gap=2160, within=200).value
        20062
    """
    if (n is None) == (within is None):
        raise InvalidRequest(
            "expected a number of responses or within=, and exactly one of them.",
            "For example n=20_000, or within=200 in the unit of the outcome.",
        )

    def variance_at(size: int) -> float:
        return mean_variance(
            design,
            size,
            share=share,
            sd=sd,
            sd_others=sd_others,
            gap=gap,
            category=category,
        )

    z = quantile(read_probability(level, "the level"))
    if within is not None:
        target = target_variance(None, within, level, "normal") * (1 + _SAME)
        n = smallest(lambda size: variance_at(size) <= target)
        if n is None:
            raise InvalidRequest(
                f"no number of responses reaches ± {within:g}; expected a larger one."
            )
    assert n is not None
    half = z * math.sqrt(variance_at(n))
    direct = z * sd / math.sqrt(share * n)
    start = f"Among the {percent(share)} with the answer, the mean is known to ± {half:.3g} ({percent(level)})"
    sentence = f"{start} with {n:,} responses."
    line: Line = {
        "ε": design.epsilon,
        "share": percent(share),
        "responses": n,
        "half width": half,
        "if asked directly": direct,
    }
    notes = (
        "The interval is Fieller's, which is wider where the share is hardly above its own error.",
    )
    return Planned(sentence, half if within is None else n, (line,), notes)
