"""Intervals for degrees, weights and means of items, all items at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InvalidRequest
from deniable.estimates.covariance import Vector
from deniable.estimates.intervals import Ends, quantile, wilson
from deniable.records.key_value.linear import CONDITIONAL

if TYPE_CHECKING:
    from deniable.records.key_value.result import KeyValueEstimate

NOISE = 2.0
"""A degree within so many standard errors of 0 says nothing about the mean of those who have the item."""

METHODS = {
    "degree": ("score", "normal"),
    "frequency": ("score", "normal"),
    "weight": ("normal",),
    "mean": ("delta", "fieller"),
}


def ends(estimate: KeyValueEstimate, what: str, confidence: float, method: str | None) -> Ends:
    """Return the two ends for each item.

    Raises:
        InvalidRequest: something that is not estimated, or a method that does not exist or does not fit.
    """
    value = estimate.value(what)
    if method is not None and method not in METHODS[what]:
        raise InvalidRequest(f"the method is {method!r:.40}; expected {' or '.join(METHODS[what])} for the {what}.")
    if what in ("degree", "frequency") and method != "normal":
        factor = (estimate.respondents if what == "degree" else 1) / estimate.kept
        low, high = _score(estimate, confidence)
        return low * factor, high * factor
    if method == "fieller":
        return _fieller(estimate, confidence)
    width = quantile(confidence) * estimate.errors(what)
    low, high = value - width, value + width
    if what == "mean" and method is None:
        blind = estimate.within_noise | ~np.isfinite(value)
        low = np.where(blind, float(estimate.design.low), low)
        high = np.where(blind, float(estimate.design.high), high)
    return low, high


def edges_within_noise(estimate: KeyValueEstimate) -> bool:
    """Tell whether the number of all edges is within noise of 0: then nothing is known about their average weight."""
    total, _w, variance, *_ = estimate.linear.totals()
    return not total > NOISE * variance**0.5


def _score(estimate: KeyValueEstimate, confidence: float) -> Ends:
    """Return all frequencies whose own variance explains the distance from the estimate."""
    linear = estimate.linear
    assert linear.frequency is not None
    f, w = linear.plausible
    others, plus, minus = linear.second[0]
    tilt = np.divide(w, f, out=np.zeros_like(f), where=f > 0)
    own = plus * (1 + tilt) / 2 + minus * (1 - tilt) / 2
    n = estimate.respondents
    share: Any = 1 - (linear.asked / n) * (1 - linear.f) if linear.scaling == CONDITIONAL else linear.f
    asked: Any = linear.asked
    return wilson(linear.frequency, own, others, asked, share, confidence)


def _fieller(estimate: KeyValueEstimate, confidence: float) -> Ends:
    """Return all means μ with (w − μf)² ≤ z²·Var(w − μf), cut to the scale; all of it where no end can be given."""
    z2 = quantile(confidence) ** 2
    var_f, var_w, cov = estimate.linear.variances
    f, w = estimate.linear.frequency, estimate.linear.weight
    assert f is not None
    assert w is not None
    a, half, c = f**2 - z2 * var_f, f * w - z2 * cov, w**2 - z2 * var_w
    inside = half**2 - a * c
    clear = (a > 0) & (inside >= 0)
    root = np.sqrt(np.where(clear, inside, 0.0))
    below = np.where(clear, a, 1.0)
    low, high = float(estimate.design.low), float(estimate.design.high)
    middle, scale = (low + high) / 2, (high - low) / 2

    def end(sign: int) -> Vector:
        ratio = np.where(clear, (half + sign * root) / below, float(sign))
        return np.asarray(middle + scale * np.clip(ratio, -1.0, 1.0), np.float64)

    return end(-1), end(1)
