"""How many items have how many edges, with the noise of the single estimates taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InvalidRequest
from deniable.estimate.covariance import Vector

if TYPE_CHECKING:
    from deniable.keyvalue.result import KeyValueEstimate

_STEPS = 2000


@dataclass(frozen=True, eq=False)
class DegreeDistribution:
    """The distribution of the degrees of the items.

    Attributes:
        degrees: numbers of edges, from none to as many as there are respondents.
        shares: the most likely share of items with each.
        mean: the average degree, from the estimates themselves.
        deviation: the standard deviation of the degrees, what is noise subtracted; 0 where noise explains all of it.
    """

    degrees: Vector
    shares: Vector
    mean: float
    deviation: float

    def at_least(self, degree: float) -> float:
        """Return the share of items with so many edges or more."""
        return float(self.shares[self.degrees >= degree].sum())


def degree_distribution(estimate: KeyValueEstimate, points: int) -> DegreeDistribution:
    """Return the most likely distribution of degrees, given that each estimate is normal around its own degree.

    Implements: the maximum likelihood estimate of a mixing distribution on a grid [Lai78], by expectation and
    maximization. A histogram of the estimates themselves would show their noise.

    Args:
        estimate: what is known.
        points: how many numbers of edges to tell apart.

    Raises:
        InvalidRequest: fewer than two points.
        NotEstimable: the design does not tell degrees.
    """
    if isinstance(points, bool) or not isinstance(points, int | np.integer) or points < 2:
        raise InvalidRequest(f"points is {points!r:.40}; expected a whole number of at least 2.")
    values, errors = estimate.degree, np.maximum(estimate.errors("degree"), 1e-9)
    top = min(float(estimate.respondents), max(float((values + 2 * errors).max()), 1.0))
    grid = np.linspace(0.0, top, int(points))
    shares = _mixture(values, errors, grid)
    spread = max(float(values.var() - (errors**2).mean()), 0.0)
    return DegreeDistribution(grid, shares, float(values.mean()), spread**0.5)


def _mixture(values: Vector, errors: Vector, grid: Vector) -> Vector:
    heights = -0.5 * ((values[:, None] - grid[None, :]) / errors[:, None]) ** 2
    likelihood = np.exp(heights - heights.max(axis=1, keepdims=True))
    shares = np.full(len(grid), 1 / len(grid))
    for _ in range(_STEPS):
        posterior = likelihood * shares
        new = (posterior / posterior.sum(axis=1, keepdims=True)).mean(axis=0)
        moved = np.abs(new - shares).max()
        shares = new
        if moved < 1e-9:
            break
    return np.asarray(shares, np.float64)
