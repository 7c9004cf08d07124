"""Named ways to bring an estimate into the simplex: each trades the absence of bias for values that can be shares."""

from __future__ import annotations

import numpy as np

from deniable.errors import NotEstimable
from deniable.estimates.covariances import Vector


def projection(value: Vector) -> Vector:
    """Return the point of the simplex nearest to a vector, in Euclidean distance.

    Why: the nearest point is [value − t]₊ with one t for all, which the sorted values give.
    """
    ordered = np.sort(value)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(value) + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    nearest: Vector = np.maximum(value - excess[last], 0.0)
    return nearest


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
