"""Named ways to bring an estimate into the simplex: each trades the absence of bias for values that can be shares."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from deniable.errors import NotEstimable
from deniable.estimates.covariances import Vector, vector


def projection(value: Vector) -> Vector:
    """Return the point of the simplex nearest to a vector, or to each row of a matrix, in Euclidean distance.

    Why: the nearest point is [value − t]₊ with one t for all, which the sorted values give.
    """
    ordered = np.flip(np.sort(value, axis=-1), axis=-1)
    excess = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, value.shape[-1] + 1)
    last = (ordered > excess).sum(axis=-1, keepdims=True) - 1
    nearest: Vector = np.maximum(
        value - np.take_along_axis(excess, last, axis=-1), 0.0
    )
    return nearest


def rising(distribution: Vector) -> Vector:
    """Return a distribution function that never falls: the mean of the running maximum and of the running minimum.

    Why: the running maximum is too high where noise is large, and the minimum from the right as much too low.
    """
    highest = np.maximum.accumulate(distribution)
    lowest = np.minimum.accumulate(distribution[::-1])[::-1]
    return np.clip((highest + lowest) / 2, 0.0, 1.0)


def projected_error(shares: Vector, variances: Vector) -> float:
    """Return the expected total squared error of projected shares, if these are the true ones.

    Σ_j E[([π̂_j − τ]₊ − π_j)²] for normal π̂_j with these variances, where E Σ_j [π̂_j − τ]₊ = 1 fixes the threshold τ.

    Implements: the mean-field approximation, which takes τ for the same in every survey. For twenty categories or more
    it is within 10% of simulations.
    """
    s = np.sqrt(np.maximum(variances, np.finfo(np.float64).tiny))

    def moments(threshold: float) -> tuple[Vector, Vector]:
        m = shares - threshold
        below, density = (
            ndtr(m / s),
            np.exp(-((m / s) ** 2) / 2) / np.sqrt(2 * np.pi),
        )
        return m * below + s * density, (m**2 + s**2) * below + m * s * density

    threshold = brentq(lambda t: moments(t)[0].sum() - 1, -1.0, 1 + 40 * s.max())
    first, second = moments(threshold)
    return float((second - 2 * shares * first + shares**2).sum())


def plausible_shares(value: Vector, variances: Vector) -> Vector:
    """Return shares about as unequal as the true ones, from an unbiased estimate: projected, and moved to even ones.

    Why: noise makes projected shares more unequal than the true ones, but Σ π̂_j² − Σ Var(π̂_j) is unbiased for Σ π_j².
    """
    even, projected = 1 / len(value), projection(value)
    excess = value @ value - variances.sum() - even
    ratio = max(excess, 0.0) / max(projected @ projected - even, 1e-300)
    return vector(even + min(ratio, 1.0) ** 0.5 * (projected - even))


def normalization(value: Vector) -> Vector:
    """Return the value with what is negative set to 0 and the rest divided by its sum.

    Raises:
        NotEstimable: nothing is above 0, as it may be where a response counts for several categories or for none.
    """
    clipped = np.clip(value, 0.0, None)
    if not clipped.any():
        raise NotEstimable(
            "no share is estimated above 0, so there is nothing to scale.",
            "Use projected().",
        )
    normalized: Vector = clipped / clipped.sum()
    return normalized
