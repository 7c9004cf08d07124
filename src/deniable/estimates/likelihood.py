"""Maximum likelihood on the simplex: closed forms where they exist, else EM with an acceleration and a certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from deniable.channel import Channel
from deniable.errors import NotEstimable
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.linear import Linear, floats
from deniable.estimates.simplex import projection
from deniable.estimates.supported import direct

_CLOSE = 1e-9  # log-likelihood of all respondents together, in nats, that may be left to gain
_MOST_STEPS = 20_000
_SMOOTH_GAIN = 1e-3  # nats, of all respondents together
_MOST_NEWTON = 50


@dataclass(frozen=True, slots=True)
class Convergence:
    """How the maximum was found, and how much likelihood could be left.

    Attributes:
        steps: how many steps were taken; 0 for a closed form.
        gap: no shares have a log-likelihood larger than this one by more than `gap` (nats, all respondents together).
        converged: whether the gap is below the tolerance.
    """

    steps: int
    gap: float
    converged: bool

    def __str__(self) -> str:
        return f"the likelihood may still gain {self.gap:.2g} after {self.steps:,} steps."


def most_likely(
    channel: Channel, linear: Linear, counts: Vector
) -> tuple[Vector, Convergence]:
    """Return the shares under which the counts are most likely, and how they were found.

    Implements: F6. Where the unbiased estimate of a square channel lies in the simplex it reproduces the observed
    shares and so is the maximum; for a diagonal channel the maximum is a water level; otherwise EM.
    """
    if not channel.own_cells:
        raise NotEstimable(
            "the likelihood needs a count for every response; the tally of this design keeps sums.",
            'Estimate from the responses themselves: dn.estimate(dn.respond_all(…), method="likelihood"); or use '
            'method="inversion", and projected() for shares in the simplex.',
        )
    closed = Convergence(0, 0.0, converged=True)
    observed = counts / counts.sum()
    unbiased = linear.shares(observed)
    if channel.answers == channel.responses and unbiased.min() >= 0:
        return unbiased, closed
    if channel.answers == 2 == channel.responses:
        return np.clip(unbiased, 0.0, 1.0), closed
    if diagonal := direct(linear):
        responses = level(counts, diagonal.q, rising=diagonal.gap > 0)
        # no negative zeros
        shares = np.maximum((responses - diagonal.q) / diagonal.gap, 0.0) + 0.0
        return shares / shares.sum(), closed
    matrix, start = floats(channel), projection(unbiased)
    return maximize_from(matrix, counts, start=start)


def maximize_from(
    matrix: Matrix, counts: Vector, *, start: Vector
) -> tuple[Vector, Convergence]:
    """Return the maximum for responses with these rows of the channel, each up to a factor."""
    return newton(matrix, counts, start=start) or expectation_maximization(
        matrix, counts, start=start
    )


def level(
    counts: Vector, bound: float, *, rising: bool, mass: float = 1.0
) -> Vector:
    """Return λ with sum `mass` that makes counts most likely under λ ≥ bound (rising) or λ ≤ bound.

    Why: without bounds λ is proportional to the counts; bounded cells lie at the bound, all others share the rest in
    proportion. Going through the counts in order finds which are bounded (F6).
    """
    order = np.argsort(counts, kind="stable")
    if not rising:
        order = order[::-1]
    ordered = counts[order]
    left = ordered.sum() - np.concatenate([[0.0], np.cumsum(ordered)[:-1]])
    room = mass - bound * np.arange(len(counts))
    with np.errstate(divide="ignore", invalid="ignore"):
        proportional = np.where(
            left > 0, ordered * room / left, room / np.arange(len(counts), 0, -1)
        )
    inside = proportional >= bound if rising else proportional <= bound
    first = int(np.argmax(inside)) if inside.any() else len(counts)
    result = np.full(len(counts), bound)
    rest = order[first:]
    if len(rest):
        weight = counts[rest]
        result[rest] = (
            weight * room[first] / weight.sum()
            if weight.sum()
            else room[first] / len(rest)
        )
    return result


def newton(
    matrix: Matrix, counts: Vector, *, start: Vector
) -> tuple[Vector, Convergence] | None:
    """Return the maximum in a few of Newton's steps along the simplex; None where these do not settle.

    Why: with H the observed information and slopes g, H·π = g, so that the step to where all slopes are 1 ends at
    2π − H⁻¹·1. A category that it takes below 0 is left out until its slope says that it belongs to the shares.
    """
    n, seen = counts.sum(), counts > 0
    matrix, observed = matrix[seen], counts[seen] / n
    shares = 0.99 * start + 0.01 / len(start)
    held = shares > 0
    for steps in range(1, _MOST_NEWTON + 1):
        weights = observed / (matrix @ shares) ** 2
        information = (matrix[:, held].T * weights) @ matrix[:, held]
        try:
            moved = 2 * shares[held] - np.linalg.solve(
                information, np.ones(len(information))
            )
        except np.linalg.LinAlgError:
            return None
        shares = np.zeros_like(shares)
        shares[held] = np.maximum(moved, 0.0)
        expected = matrix @ shares
        if not (np.isfinite(expected).all() and expected.min() > 0):
            return None
        shares, expected = shares / shares.sum(), expected / shares.sum()
        slopes = (observed / expected) @ matrix
        gap = float(n * (slopes.max() - 1))
        if gap <= close(n):
            return shares, Convergence(steps, max(gap, 0.0), converged=True)
        held = (shares > 0) | (slopes > 1)
    return None


def close(respondents: float) -> float:
    """Return the log-likelihood, in nats, that may be left to gain: next to nothing, and more than rounding leaves."""
    return max(_CLOSE, 1e-14 * respondents)


def expectation_maximization(
    matrix: Matrix, counts: Vector, *, start: Vector
) -> tuple[Vector, Convergence]:
    """Climb the likelihood with accelerated EM until the certificate closes.

    Implements: EM for mixing weights, π_j ← π_j Σ_i λ̂_i P_ij / (Pπ)_i, with the squared extrapolation SqS3 of [VR08].

    Why: the log-likelihood is concave, so no shares gain more than n·(max_j Σ_i λ̂_i P_ij / (Pπ)_i − 1).
    """
    n = counts.sum()
    seen = counts > 0
    matrix, observed = matrix[seen], counts[seen] / n

    def step(shares: Vector) -> tuple[Vector, float]:
        gradient = (observed / (matrix @ shares)) @ matrix
        return shares * gradient, float(n * (gradient.max() - 1))

    def height(shares: Vector) -> float:
        return float(observed @ np.log(matrix @ shares))

    size = matrix.shape[1]
    shares = 0.99 * start + 0.01 / size
    gap = np.inf
    for steps in range(1, _MOST_STEPS + 1):
        shares, gap = _squared_step(step, height, shares, close(n))
        if gap <= close(n):
            return shares, Convergence(steps, max(gap, 0.0), converged=True)
    return shares, Convergence(_MOST_STEPS, gap, converged=False)


def smoothed(matrix: Matrix, counts: Vector) -> Vector:
    """Return shares that are likely and alike among neighbours: EM with a moving average of (1, 2, 1)/4 in each step.

    Implements: EMS [LWL20]; it ends when a step gains less than 0.001 nats. At the ends the last share is repeated.
    """
    shares, height = np.full(matrix.shape[1], 1 / matrix.shape[1]), -np.inf
    for _ in range(_MOST_STEPS):
        expected = matrix @ shares
        last, height = height, log_likelihood(counts, expected)
        if height - last < _SMOOTH_GAIN:
            break
        shares = shares * ((counts / expected) @ matrix) / counts.sum()
        padded = np.pad(shares, 1, mode="edge")
        shares = (padded[:-2] + 2 * shares + padded[2:]) / 4
    return shares


def _squared_step(
    step: Callable[[Vector], tuple[Vector, float]],
    height: Callable[[Vector], float],
    shares: Vector,
    enough: float,
) -> tuple[Vector, float]:
    one, gap = step(shares)
    two, _ = step(one)
    first, second = one - shares, two - 2 * one + shares
    size = np.linalg.norm(second)
    if gap <= enough or size == 0:
        return shares if gap <= enough else two, gap
    length = max(1.0, float(np.linalg.norm(first) / size))
    leap = np.maximum(shares + 2 * length * first + length**2 * second, two * 1e-12)
    leap /= leap.sum()
    after, _ = step(leap)
    return (after if height(after) >= height(two) else two), gap


def log_likelihood(counts: Vector, expected: Vector) -> float:
    """Return Σ counts·log(expected) with 0·log 0 = 0."""
    return float(xlogy(counts, expected).sum())
