"""Always-valid intervals: those of all looks at growing data together cover with their level (confidence sequences).

| function              | what it covers                                             | guarantee  |
| --------------------- | ---------------------------------------------------------- | ---------- |
| `share_bounds`        | the share of one sort of responses                         | exact      |
| `mean_bounds`         | the mean of bounded scores of responses, from their counts | exact      |
| `bernstein_bounds`    | the mean of bounded values in order of arrival             | exact      |
| `widen`               | anything with a fixed-sample interval                      | asymptotic |
| `log_joint_wealth`    | all shares of responses together                           | exact      |
| `log_mean_wealth`     | a mean that was named beforehand, at many tallies          | exact      |

Each is tightest at the planned number of responses n0, which has to be chosen before the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, lambertw, logsumexp, xlog1py, xlogy

from deniable.errors import InvalidRequest, quoted
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import bisect_boundary

Ends: TypeAlias = tuple[Vector, Vector]

PLANNED = 10_000
"""The number of responses for which an interval is tuned where nothing was planned."""

_MAX_QUANTILE = 7.0  # beyond it 1 − level has no four digits left in a float
_HALVINGS = 45  # of the logarithm of a share, from 1e-12 on
_LEAST_SHARE = 1e-12
_MOST_PLANNED = 1 << 62
_RUIN = -1e200  # the logarithm of 0, of which none are none
_STAKES = np.linspace(
    -6, 6, 241
)  # standard deviations of the mixture, half a nat apart at most


def read_planned(planned: int | None) -> int:
    """Return the planned number of responses.

    Raises:
        InvalidRequest: not a whole number, or not from 2 to 2^62.
    """
    if planned is None:
        return PLANNED
    if (
        isinstance(planned, bool)
        or not isinstance(planned, int)
        or not 2 <= planned <= _MOST_PLANNED
    ):
        raise InvalidRequest(
            f"planned is {quoted(planned)}; expected a whole number of responses, 2 or more, and at most 2^62."
        )
    return planned


def mixture_divisor(level: float) -> float:
    """Return b: with the strength n0/b a mixture is tightest at n0 responses.

    Implements: b = −W₋₁(−α²/e) − 1, W₋₁ the lower branch of Lambert's function.

    Example:
        >>> round(mixture_divisor(0.95), 5)
        8.21197
    """
    return float(-lambertw(-((1 - level) ** 2) / math.e, -1).real - 1)


def multiplier(n: float, level: float, planned: int) -> float:
    """Return z_n, which takes the place of the normal quantile in intervals that are always valid.

    Implements: z_n = √((1 + ρ/n)·ln((n + ρ)/(ρα²))) with ρ = n0/b [Rob70].

    Example:
        >>> [round(multiplier(n, 0.95, 10_000), 3) for n in (1_000, 10_000, 100_000)]
        [3.823, 3.035, 3.246]
    """
    strength = planned / mixture_divisor(level)
    growth = math.log1p(n / strength) - 2 * math.log(1 - level)
    return math.sqrt((1 + strength / n) * growth)


class FixedLevel(NamedTuple):
    """The fixed-sample interval that is as wide as an always-valid one.

    Attributes:
        level: its confidence level.
        stretch: the factor by which its two arms are longer, where no level is high enough.
    """

    level: float
    stretch: float


def fixed_level(n: float, level: float, planned: int) -> FixedLevel:
    """Return the level at which the normal quantile is z_n."""
    quantile = multiplier(max(n, 1), level, planned)
    inside = min(quantile, _MAX_QUANTILE)
    return FixedLevel(1 - math.erfc(inside / math.sqrt(2)), quantile / inside)


def widen(
    compute: Callable[[float], Ends],
    values: Vector,
    n: Vector | int,
    level: float,
    planned: int,
) -> Ends:
    """Return always-valid bounds from fixed-sample ones, by a normal quantile that is z_n.

    Why: the error is that of a mean, so that it is the boundary of a Brownian motion with a normal mixture [Rob70]. An
    interval that solves for its variance (score, Fieller, Woodruff) keeps doing so.

    Args:
        compute: the fixed-sample bounds by their level.
        values: the estimates.
        n: the number of responses, of all values or of each.
        level: the confidence level of each sequence of intervals.
        planned: the number of responses for which they are tuned.
    """
    sizes = np.broadcast_to(n, values.shape)
    values = np.where(np.isfinite(values), values, 0.0)
    low, high = np.empty_like(values), np.empty_like(values)
    for size in np.unique(sizes).tolist():
        fixed, stretch = fixed_level(size, level, planned)
        chosen = np.asarray(sizes == size, np.bool_)
        reach = stretch * (np.stack(compute(fixed)) - values)[:, chosen]
        low[chosen], high[chosen] = values[chosen] + reach
    return low, high


def share_bounds(
    counts: Vector, n: Vector | int, level: float, planned: int
) -> Ends:
    """Return always-valid bounds of the share of one sort of responses, for each count of n.

    Implements: all l with ln B(cl + S, c(1 − l) + n − S) − ln B(cl, c(1 − l)) − S·ln l − (n − S)·ln(1 − l) below
    ln(1/α), c = n0/b; S is the count and B the beta function [HRMS21].

    Guarantee: whatever the number of looks and the rule for stopping, the chance that some interval misses is at most
    α = 1 − level (Ville's inequality).

    Example:
        >>> low, high = share_bounds(np.array([300.0]), 1_000, 0.95, 1_000)
        >>> [round(float(end[0]), 6) for end in (low, high)]
        [0.257177, 0.345007]
    """
    low, high = (
        _lowest_share(hits, n, level, planned) for hits in (counts, n - counts)
    )
    return low, 1 - high


def _lowest_share(
    hits: Vector, n: Vector | int, level: float, planned: int
) -> Vector:
    """Return the lower bound of the share for each number of hits."""
    strength, limit = planned / mixture_divisor(level), -math.log(1 - level)

    def holds(logs: Vector) -> NDArray[np.bool_]:
        share = np.exp(logs)
        heads, tails = strength * share, -strength * np.expm1(logs)
        mixture = betaln(heads + hits, tails + n - hits) - betaln(heads, tails)
        single = hits * logs + xlog1py(n - hits, -share)
        return np.asarray(mixture - single < limit, np.bool_)

    start = np.log(np.clip(hits / n, _LEAST_SHARE, 1 - _LEAST_SHARE))
    logs = bisect_boundary(holds, start, math.log(_LEAST_SHARE), _HALVINGS)
    return np.where(hits > 0, np.exp(logs), 0.0)


def log_joint_wealth(
    counts: Matrix, response_shares: Vector, level: float, planned: int
) -> Vector:
    """Return the logarithm of the martingale of all shares of responses; from ln(1/α) on they are rejected.

    Implements: a Dirichlet mixture centred at the shares l, ln Γ(c) − ln Γ(c + n) + Σ (ln Γ(cl_i + S_i) − ln Γ(cl_i)) −
    Σ S_i·ln l_i. Of two sorts of responses it is the M of `share_bounds`.

    Args:
        counts: how many responses there are of each sort, along the last axis.
        response_shares: l.
        level: the confidence level of all regions together.
        planned: the number of responses for which they are tuned.
    """
    strength = planned / mixture_divisor(level)
    centre = strength * response_shares
    terms = gammaln(centre + counts) - gammaln(centre)
    terms -= xlogy(counts, response_shares)
    total = gammaln(strength + counts.sum(axis=-1)) - gammaln(strength)
    return vector(terms.sum(axis=-1) - total)


def mean_bounds(
    scores: Matrix, counts: Vector, spread: Vector, level: float, planned: int
) -> Ends:
    """Return always-valid bounds of the means of bounded scores, from the number of responses with each.

    Implements: betting [WSR24], all m with mean_λ Π_z (1 + λ(x_z − m))^N_z < 1/α, the λ a normal law with the variance
    b/(n0·s²), cut where a factor could be negative; x_z is the score of response z, N_z their number.

    Guarantee: as that of `share_bounds`, for any law of the responses and whatever s is.

    Why: for each m every λ gives a martingale that is not negative, so their mean is one; and it depends on how many
    responses there are of each sort, not on their order. As a function of m it is convex, so that m form an interval.

    Args:
        scores: of each sort of responses, a row for each mean.
        counts: how many responses there are of each sort.
        spread: the standard deviation s that is expected of one score, for each mean.
        level: the confidence level of each sequence of intervals.
        planned: the number of responses for which they are tuned.
    """

    def holds(means: Vector) -> NDArray[np.bool_]:
        tallies = counts[:, None]
        wealth = log_mean_wealth(scores, tallies, means, spread, level, planned)
        return np.asarray(wealth[:, 0] < -math.log(1 - level), np.bool_)

    average = vector(scores @ counts / counts.sum())
    return (
        bisect_boundary(holds, average, scores.min(axis=1), _HALVINGS),
        bisect_boundary(holds, average, scores.max(axis=1), _HALVINGS),
    )


def log_mean_wealth(
    scores: Matrix,
    tallies: Matrix,
    means: Vector,
    spread: Vector,
    level: float,
    planned: int,
) -> Matrix:
    """Return the logarithm of the martingale of `mean_bounds`, a row for each mean and a column for each tally."""
    width = np.ptp(scores, axis=1)
    scale = np.sqrt(mixture_divisor(level) / planned) / spread
    cut = 1 / np.maximum(width, np.finfo(float).tiny)[:, None]
    stakes = np.clip(np.outer(scale, _STAKES), -cut, cut)
    weights = -(_STAKES**2) / 2
    weights -= logsumexp(weights)
    gains = stakes[:, :, None] * (scores - means[:, None])[:, None, :]
    with np.errstate(divide="ignore"):  # a stake of everything, lost
        logs = np.maximum(np.log1p(np.maximum(gains, -1.0)), _RUIN)
    exponents = logs @ tallies + weights[:, None]
    top = exponents.max(axis=1)
    exponents -= top[:, None]
    # `logsumexp` takes six times as long
    return vector(top + np.log(np.exp(exponents, out=exponents).sum(axis=1)))


def bernstein_bounds(
    values: Vector, low: float, high: float, level: float
) -> tuple[float, float]:
    """Return always-valid bounds of the mean of values between two numbers, in the order in which they came.

    Implements: the predictable empirical Bernstein interval [WSR24], for scores of any devices, row by row.

    Raises:
        InvalidRequest: no value, or one outside of the two numbers.
    """
    scaled = (np.asarray(values, np.float64) - low) / (high - low)
    slack = 1e-9  # of scores that were printed
    if not scaled.size or scaled.min() < -slack or scaled.max() > 1 + slack:
        raise InvalidRequest(
            f"the values leave the range {low:g} … {high:g}, or there are none; expected values between them."
        )
    rank, limit = np.arange(1, len(scaled) + 1), math.log(2 / (1 - level))
    means = (0.5 + np.cumsum(scaled)) / (rank + 1)
    variances = (0.25 + np.cumsum((scaled - means) ** 2)) / (rank + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    stakes = np.minimum(np.sqrt(2 * limit / (before * rank * np.log1p(rank))), 0.5)
    surprises = 4 * (scaled - np.concatenate([[0.5], means[:-1]])) ** 2
    penalties = surprises * (-np.log1p(-stakes) - stakes) / 4
    centre = float(stakes @ scaled / stakes.sum())
    radius = float((limit + penalties.sum()) / stakes.sum())
    return (
        low + (high - low) * (centre - radius),
        low + (high - low) * (centre + radius),
    )
