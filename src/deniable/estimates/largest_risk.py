"""The linear unbiased estimate whose largest risk is smallest, for any channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.channel import Channel
from deniable.designs import Design
from deniable.estimates.covariances import Vector, vector
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Linear, Written
from deniable.estimates.simplex import projection

_CLOSE = 1e-12  # relative to the risk: what rounding leaves
_STEPS = 2_000
_STALE = 1e-15


@dataclass(frozen=True, eq=False)
class Minimax:
    """A linear unbiased estimate, and how far it is from the best in the worst case.

    Attributes:
        linear: the left inverse L; where it is written out, hand `linear.inverse` to `estimate(…, inverse=…)`.
        shares: the shares of answers that are hardest to estimate.
        risk: n times the largest total variance of L, over all shares.
        gap: no linear unbiased estimate has a largest risk below risk − gap.
    """

    linear: Linear
    shares: Vector
    risk: float
    gap: float


def minimax(design: Design | Channel) -> Minimax:
    """Return the left inverse L whose largest total variance over all shares of answers is smallest.

    Implements: Section 6.2 of [Cha19] for an arbitrary channel. For t-subset designs, their mixtures and every other
    design whose risk at even shares does not depend on the answer, L is the locally best one at even shares (Theorems
    6.3 and 7.1). For others there is no closed form, and the hardest shares are found numerically.

    Why: n·tr Cov = Σ π_j v_j(L) − Σ π_j² is convex in L and concave in π, so that its smallest maximum is its largest
    minimum: the locally best L at the shares where the locally best risk is largest. The slope of that risk is
    v_j − 2π_j; and the largest risk of its L over all shares, a projection, tells how far it is from the best.

    Raises:
        NotEstimable: the channel cannot tell answers apart, or is too large to write out.

    Example:
        >>> from deniable.designs import k_ary
        >>> round(minimax(k_ary(4, p="1/2")).risk, 6)
        6.75
    """
    channel = design.channel if isinstance(design, Design) else design
    shares = np.full(channel.answers, 1 / channel.answers)
    linear = left_inverse(channel)
    risk, gap = _risk_and_gap(linear, shares)
    if channel.answers == channel.responses:
        return Minimax(linear, hardest(linear, channel.answers), risk, 0.0)
    if gap > _CLOSE * risk:
        shares = _climb(channel, shares)
        linear = left_inverse(channel, guess=shares)
        risk, gap = _risk_and_gap(linear, shares)
    return Minimax(linear, shares, risk, gap)


def moments(linear: Linear, size: int) -> Vector:
    """Return v_j = E[|L|² | answer j], the length of the estimate from one response, squared, for each answer."""
    if isinstance(linear, Written):
        return vector(np.square(linear.inverse).sum(axis=0) @ linear.channel)
    # All other kinds treat every answer alike: its own row of L, and the rows of all others.
    own, others = linear.spread(np.full(size, 1 / size))
    return vector(own + others.sum() - others)


def hardest(linear: Linear, size: int) -> Vector:
    """Return the shares at which a left inverse has its largest risk Σ π_j v_j − Σ π_j²: the nearest to v/2."""
    return projection(moments(linear, size) / 2)


def _risk_and_gap(linear: Linear, shares: Vector) -> tuple[float, float]:
    """Return the largest risk of a left inverse, and its excess over the risk at some shares."""
    v = moments(linear, len(shares))
    worst = projection(v / 2)
    largest = float(v @ worst - worst @ worst)
    return largest, max(0.0, largest - float(v @ shares - shares @ shares))


def _climb(channel: Channel, shares: Vector) -> Vector:
    """Climb the locally best risk, a concave function of the shares, along its projected slope."""
    length = 1.0 / len(shares)
    v = moments(left_inverse(channel, guess=shares), len(shares))
    height = float(v @ shares - shares @ shares)
    for _ in range(_STEPS):
        slope = v - 2 * shares
        moved = projection(shares + length * slope / np.abs(slope).max())
        after = moments(left_inverse(channel, guess=moved), len(shares))
        top = float(after @ moved - moved @ moved)
        if top > height:
            shares, v, height, length = moved, after, top, length * 2
        else:
            length /= 4
        if length < _STALE or _flat(v, height):
            break
    return shares


def _flat(v: Vector, height: float) -> bool:
    worst = projection(v / 2)
    return float(v @ worst - worst @ worst) - height <= _CLOSE * height
