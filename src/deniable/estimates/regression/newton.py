"""To the top of a log-likelihood by Newton's method, which no start value is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.regression.models import Likelihood

_CLOSE = 1e-10  # the log-likelihood, in nats, that one more step could gain; that step is still taken
_MOST_STEPS = 200
_HALVINGS = 40
_FLAT = 1e-10  # curvature, against the largest, below which a direction is climbed by its gradient


class Maximum(NamedTuple):
    """Where a log-likelihood is largest.

    Attributes:
        theta: the coefficients.
        value: the log-likelihood there.
        information: minus its Hessian.
        steps: how many steps were taken.
        gap: what one more step would gain, in nats.
        converged: whether that is next to nothing.
    """

    theta: Vector
    value: float
    information: Matrix
    steps: int
    gap: float
    converged: bool


def highest(likelihood: Likelihood, starts: Sequence[Vector]) -> Maximum:
    """Return the best of the maxima that are reached from several starts.

    Why: the likelihood of randomized responses is not concave in the coefficients.
    """
    with np.errstate(
        over="ignore", invalid="ignore", divide="ignore"
    ):  # steps that go too far are taken back
        return max(
            (climb(likelihood, start) for start in starts), key=lambda top: top.value
        )


def climb(likelihood: Likelihood, start: Vector) -> Maximum:
    """Climb from a start until the gradient, measured by the information, is next to nothing.

    Why: where the log-likelihood bends upwards, Newton's step would go down; there the step is taken with the absolute
    values of the curvatures, so that it rises, and it is halved until it does. To stop by the gradient and not by how
    little the deviance changes is what brings the last digits.
    """
    theta, at = start, likelihood.slope(start)
    gap = np.inf
    for steps in range(_MOST_STEPS + 1):
        direction = _direction(at.gradient, at.information)
        gap = 0.5 * float(at.gradient @ direction)
        if not np.isfinite(gap) or steps == _MOST_STEPS:
            break
        moved = _risen(likelihood, theta, direction, at.value)
        if moved is None:
            break
        theta, at = moved, likelihood.slope(moved)
        if gap < _CLOSE:
            break
    return Maximum(
        theta,
        at.value,
        at.information,
        steps,
        abs(gap),
        converged=bool(abs(gap) < 1e-6),
    )


def _risen(
    likelihood: Likelihood, theta: Vector, direction: Vector, value: float
) -> Vector | None:
    slack = 1e-12 * max(1.0, abs(value))  # rounding of a sum of very many rows
    for halving in range(_HALVINGS):
        tried = theta + direction * 0.5**halving
        if likelihood.value(tried) >= value - slack:
            return tried
    return None


def _direction(gradient: Vector, information: Matrix) -> Vector:
    """Return Newton's step, in units in which each coefficient has a curvature of 1."""
    units = 1 / np.sqrt(np.maximum(np.abs(np.diagonal(information)), 1e-300))
    scaled = information * np.outer(units, units)
    try:
        factor = np.linalg.cholesky(scaled)
        step = np.linalg.solve(factor.T, np.linalg.solve(factor, gradient * units))
    except np.linalg.LinAlgError:
        curves, axes = np.linalg.eigh(scaled)
        steep = np.maximum(np.abs(curves), _FLAT * np.abs(curves).max())
        step = axes @ ((axes.T @ (gradient * units)) / steep)
    return np.asarray(step * units, np.float64)
