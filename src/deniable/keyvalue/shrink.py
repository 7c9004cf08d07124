"""A named step for noisy items: estimates drawn towards the average of all items, by as much as noise explains them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.estimate.covariance import Vector
from deniable.keyvalue.intervals import NOISE

if TYPE_CHECKING:
    from deniable.keyvalue.result import KeyValueEstimate


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Frequencies and means with less error on the whole; biased towards their averages, item by item.

    Attributes:
        frequency: the share of respondents who have each item, between 0 and 1.
        mean: the mean weight of those who have it, on the scale of the design.
    """

    frequency: Vector
    mean: Vector


def shrunk(estimate: KeyValueEstimate) -> Shrunk:
    """Return the best linear predictions of all items' frequencies and means, their spread told from the data.

    Implements: empirical Bayes with normal priors [EM73]. With average f̄ and spread τ² (what the variance of the
    estimates leaves over their noise), a frequency becomes f̄ + τ²/(τ² + noise)·(estimate − f̄). For the mean, w − μ̄f is
    an unbiased estimate of f times how far the item's mean is from μ̄, and is shrunk in the same way. What is itself
    told by noisy numbers, μ̄ and the spread of the means, counts by as much as it stands clear of `NOISE`.

    Raises:
        NotEstimable: the design does not tell edges from none, or not the weights.
    """
    f, w = estimate.frequency, estimate._centred
    var_f, var_w, cov = (each / estimate.kept**2 for each in estimate.linear.variances)
    frequency = np.clip(estimate.linear.plausible[0] / estimate.kept, 0.0, 1.0)
    common = _common(estimate)
    excess = w - common * f
    noise = np.maximum(var_w - 2 * common * cov + common**2 * var_f, 0.0)
    between = _between(excess, noise) / max(float((frequency**2).sum()), 1e-300)
    between = min(between, 1.0)
    weight = frequency**2 * between + noise
    shift = np.divide(frequency * between * excess, weight, out=np.zeros_like(f), where=weight > 0)
    low, high = float(estimate.design.low), float(estimate.design.high)
    middle, half = (low + high) / 2, (high - low) / 2
    return Shrunk(frequency, np.asarray(middle + half * np.clip(common + shift, -1.0, 1.0), np.float64))


def _between(excess: Vector, noise: Vector) -> float:
    """Return by how much squares exceed their noise, drawn towards 0 by as much as noise explains that.

    Why: the sum of so many squares of pure noise has the variance 2·Σ noise². Half of all such sums are positive, and
    would make differences between means out of nothing.
    """
    found = float((excess**2 - noise).sum())
    return max(1 - NOISE**2 * 2 * float((noise**2).sum()) / found**2, 0.0) * found if found > 0 else 0.0


def _common(estimate: KeyValueEstimate) -> float:
    """Return the mean weight of all edges, drawn towards the middle of the scale by as much as noise explains it.

    Two things can be unsure. Whether there are edges at all: a total within `NOISE` standard errors of 0 says nothing
    about a mean, as for a single item, and one farther away counts by as much as it is. And the ratio itself: 3 is one
    over the variance of a mean of which nothing is known but that it is between −1 and 1.
    """
    f, w, var_f, var_w, cov = estimate.linear.totals()
    if f <= 0:
        return 0.0
    sure = max(1 - NOISE**2 * var_f / f**2, 0.0)
    ratio = float(np.clip(w / f, -1.0, 1.0))
    noise = max(var_w - 2 * ratio * cov + ratio**2 * var_f, 0.0)
    return float(np.clip(sure * f * w / (f**2 + 3 * noise), -1.0, 1.0))
