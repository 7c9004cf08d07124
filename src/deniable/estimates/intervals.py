"""Intervals for shares, by method. All of them are computed for every category at once.

| method    | what it is                                          | when                                        |
| --------- | --------------------------------------------------- | ------------------------------------------- |
| score     | all π whose own variance explains the distance      | the default of linear estimates             |
| normal    | value ± t·error                                     | large samples                               |
| chebyshev | value ± error/√(1 − level)                          | no assumption about the distribution        |
| exact     | Clopper–Pearson, carried through the channel        | the default where responses are rare        |
| profile   | all π whose likelihood is not much below the best   | inside [0, 1]; default of `likelihood`      |
| wide      | the score interval and the profile together         | the default where no one count tells enough |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from numbers import Real
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import stdtrit

from deniable.channel import Channel
from deniable.errors import InvalidRequest, quoted
from deniable.estimates.backing import LEAST_EXPECTED, clopper_pearson, support_rates
from deniable.estimates.covariances import Covariance, Matrix, Vector, vector
from deniable.estimates.likelihood import (
    Convergence,
    level,
    log_likelihood,
    maximize_from,
    most_likely,
)
from deniable.estimates.linear import Linear, floats
from deniable.estimates.rows import SentSets
from deniable.estimates.simplex import projection
from deniable.estimates.supported import Supported, direct

Ends: TypeAlias = tuple[Vector, Vector]

_HALVINGS = 26  # of the way to an end
ROUNDING = 1e-9
"""Relative size of a negative variance that is 0 but for rounding."""


class Interval(NamedTuple):
    """The two ends of an interval. Printed they are short; a format goes to both: f"{interval:.2f}".

    Example:
        >>> print(Interval(0.067574462889676, 0.4739672715686716)), f"{Interval(0.067574, 0.473967):.2f}"
        0.06757 … 0.474
        (None, '0.07 … 0.47')
    """

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self:.4g}"

    def __format__(self, spec: str) -> str:
        return f"{self.low:{spec or '.4g'}} … {self.high:{spec or '.4g'}}"


@dataclass(frozen=True, eq=False)
class Basis:
    """What intervals are computed from.

    Attributes:
        center: the value the interval is about.
        covariance: of that value.
        unbiased: the linear unbiased value.
        counts: the cells of the tally.
        channel: the exact channel.
        linear: its left inverse.
        respondents: how many responses were counted.
        population: how many people there are altogether; nothing for independent respondents.
        sent: the sets that were sent, where the likelihood is theirs and not that of the counts.
    """

    center: Vector
    covariance: Covariance
    unbiased: Vector
    counts: Vector
    channel: Channel
    linear: Linear
    respondents: int
    population: int | None = None
    sent: SentSets | None = None

    @property
    def f(self) -> float:
        """1 for independent respondents, 0 for a census, (N − n)/(N − 1) between."""
        return finite_population_factor(self.respondents, self.population)

    @property
    def df(self) -> float:
        """The degrees of freedom of the variance: of people who were drawn one by one."""
        return self.respondents - 1

    @cached_property
    def spread(self) -> tuple[Vector, Vector]:
        """What a response adds for those who hold each answer and for others, as `Linear.spread` has it."""
        return self.linear.spread(projection(self.unbiased))

    def likely(self) -> tuple[Vector, Convergence]:
        """Return the most likely shares: from the sets that were sent where they are at hand, else from the tally."""
        if self.sent is None:
            return most_likely(self.channel, self.linear, self.counts)
        return maximize_from(*self.table, start=projection(self.unbiased))

    @property
    def table(self) -> tuple[Matrix, Vector]:
        """The probabilities of responses given each answer, but for a factor of each response; and how many came."""
        if self.sent is None:
            return floats(self.channel), self.counts
        return self.sent.matrix, vector(self.sent.times)

    def possible(self) -> Covariance:
        """Return the covariance if the nearest shares in the simplex were true.

        Why: an unbiased estimate of a variance may be negative, with few respondents or in a census; this never is.
        """
        near = projection(self.unbiased)
        return self.linear.covariance(
            self.linear.expected(near), near, self.f, self.respondents
        )

    @property
    def left(self) -> Vector | float:
        """The part of each variance that is left in a finite population, at the nearest shares in the simplex."""
        if self.population is None:
            return 1.0
        free = replace(self, population=None).possible().variances
        return np.divide(
            self.possible().variances, free, out=np.ones_like(free), where=free > 0
        )

    def weighted_sum(self, weights: Vector, added: float = 0.0) -> WeightedSum:
        """Return a weighted sum of the shares, with what its interval is computed from.

        Args:
            weights: of the shares.
            added: a variance that is added to that of the shares.
        """
        near, f, n = projection(self.unbiased), self.f, self.respondents
        variance = partial(sum_variance, self.linear, weights, f=f, n=n)
        scores = response_scores(self.linear, weights, len(self.counts))
        left = variance(near) / variance(near, f=1.0) if f < 1 else 1.0
        return WeightedSum(
            float(weights @ self.unbiased),
            weights,
            near,
            lambda shares: variance(shares) + added,
            partial(likely_means, scores, self.counts, weights, left),
        )

    @property
    def variances(self) -> Vector:
        """The variance of each share, never a negative one."""
        found = self.covariance.variances
        if found.min() < -ROUNDING * np.abs(found).max():
            found = np.where(found < 0, self.possible().variances, found)
        return np.maximum(found, 0.0)

    def variance(self, combination: Vector) -> float:
        """Return the variance of a linear combination of shares, never a negative one."""
        found = self.covariance.between(combination, combination)
        if found < 0:
            likely = self.possible().between(combination, combination)
            found = likely if found < -ROUNDING * likely else 0.0
        return max(found, 0.0)


def finite_population_factor(respondents: int, population: int | None) -> float:
    """Return f of F6: 1 for independent respondents, (N − n)/(N − 1) for n of N people."""
    return (
        1.0
        if population is None
        else (population - respondents) / max(population - 1, 1)
    )


def quantile(confidence: float, degrees: float = math.inf) -> float:
    """Return z with probability `confidence` between −z and z under the normal law, or Student's with few degrees."""
    if not math.isinf(degrees):
        return float(-stdtrit(degrees, (1 - confidence) / 2))
    # of the lower tail, which keeps its digits near 1
    return -NormalDist().inv_cdf((1 - confidence) / 2)


def bonferroni_level(events: int, level: float) -> float:
    """Return the level that each of so many intervals needs for simultaneous coverage `level` (Bonferroni).

    Raises:
        InvalidRequest: a level outside (0, 1), or so near 1 that no float is left between.

    Example:
        >>> round(bonferroni_level(5, 0.95), 6)
        0.99
    """
    each = (
        1 - (1 - level) / events
        if isinstance(level, Real) and 0 < level < 1
        else 1.0
    )
    if not 0 < each < 1:
        raise InvalidRequest(
            f"the level is {level!s:.40}; expected a number between 0 and 1, such as 0.95."
        )
    return float(each)


def coverage(multiple: float, method: str = "normal") -> float:
    """Return how often value ± multiple·error holds the truth: under the normal law, or at least by Chebyshev.

    Raises:
        InvalidRequest: a negative multiple, or another method.

    Example:
        >>> round(coverage(1.96), 6), round(coverage(4.5, "chebyshev"), 6)
        (0.950004, 0.950617)
    """
    if not multiple >= 0:
        raise InvalidRequest(f"the multiple is {multiple}; expected 0 or more.")
    if method == "normal":
        return 2 * NormalDist().cdf(multiple) - 1
    if method == "chebyshev":
        return max(0.0, 1 - multiple**-2) if multiple else 0.0
    raise InvalidRequest(
        f"the method is {quoted(method)}; expected normal or chebyshev."
    )


def normal(basis: Basis, confidence: float) -> Ends:
    """Return value ± t·error, t of n − 1 degrees of freedom."""
    return _normal_interval(basis, quantile(confidence, basis.df))


def chebyshev(basis: Basis, confidence: float) -> Ends:
    """Return value ± error/√(1 − level), which holds for every distribution with this variance."""
    return _normal_interval(basis, (1 - confidence) ** -0.5)


def score(basis: Basis, confidence: float) -> Ends:
    """Return all π with (π̂ − π)² ≤ z²·V(π), where V is the variance if π were true.

    For two answers and for diagonal channels this is Wilson's interval, carried through the channel. For others, V
    takes the other answers in the proportions in which they are estimated.
    """
    own, others = basis.spread
    return wilson(
        basis.unbiased, own, others, basis.respondents, basis.f, confidence
    )


def wilson(
    value: Vector,
    own: Vector | float,
    others: Vector | float,
    n: float,
    f: float,
    confidence: float,
) -> Ends:
    """Solve (value − π)² = z²·V(π) with n·V(π) = f·π(1 − π) + own·π + others·(1 − π) − π.

    A direct question has own = 1 and others = 0: then this is Wilson's interval.
    """
    curve = (others / n, (f + own - others - 1) / n, -f / n)
    return score_interval(value, curve, confidence)


def score_interval(
    value: Vector, curve: Iterable[Vector | float], confidence: float
) -> Ends:
    """Solve (value − t)² = z²·V(t), with V a polynomial: rows of constants, slopes and squares."""
    constant, slope, square = curve
    z2 = quantile(confidence) ** 2
    a, half = 1 - z2 * square, value + z2 * slope / 2
    # Below 0 only where no t explains a value; then the nearest t is the whole interval.
    root = np.sqrt(np.maximum(half**2 - a * (value**2 - z2 * constant), 0.0))
    return (half - root) / a, (half + root) / a


@dataclass(frozen=True, eq=False)
class WeightedSum:
    """A weighted sum Σ w_j π_j of shares, such as a mean of levels, with what its interval is computed from.

    Attributes:
        value: its unbiased estimate.
        weights: w.
        near: the estimated shares, brought into the simplex.
        variance: the variance of the estimate as a function of the true shares.
        likely: all values that are nearly as likely as the best one, at a confidence level; None where the likelihood
            takes too long.
    """

    value: float
    weights: Vector
    near: Vector
    variance: Callable[[Vector], float]
    likely: Callable[[float], Interval | None]

    def wide(self, confidence: float) -> Interval:
        """Return the score interval and the likely values together, as `wide` does for shares."""
        if not np.ptp(self.weights):
            return Interval(self.value, self.value)
        intervals = [self.score(confidence), self.likely(confidence)]
        lows, highs = zip(*filter(None, intervals), strict=True)
        return Interval(min(*lows, self.value), max(*highs, self.value))

    def score(self, confidence: float) -> Interval:
        """Return all values μ whose own variance explains the distance, (value − μ)² ≤ z²·V(μ), within the weights.

        V(μ) is the variance if some people more than estimated had the least weight (below the estimate) or the
        largest one (above it), and the others were as estimated. For two answers this is Wilson's interval.

        Why: a few people at an end of the range move the mean most. If none of them is among the respondents, the
        estimated variance does not know of them.
        """
        lowest, highest = np.argmin(self.weights), np.argmax(self.weights)
        return Interval(
            self._towards(int(lowest), confidence),
            self._towards(int(highest), confidence),
        )

    def _towards(self, index: int, confidence: float) -> float:
        """Return the last μ on the line from the estimated shares to those of people who are all in one category."""
        start, stop = float(self.weights @ self.near), float(self.weights[index])
        gap = stop - start
        if abs(gap) <= ROUNDING * np.ptp(self.weights):
            return stop
        corner = np.eye(len(self.near))[index]
        first, middle, last = (
            self.variance(vector((1 - t) * self.near + t * corner)) / gap**2
            for t in (0.0, 0.5, 1.0)
        )
        # the parabola through three of its points
        curve = (
            first,
            4 * middle - 3 * first - last,
            2 * (first + last) - 4 * middle,
        )
        _, t = score_interval(
            vector([(self.value - start) / gap]), curve, confidence
        )
        # before the start where projected shares lie beyond the estimate
        ends = float(self.weights.min()), float(self.weights.max())
        return min(max(start + gap * float(t[0]), ends[0]), ends[1])


def sum_variance(
    linear: Linear, weights: Vector, shares: Vector, *, f: float, n: float
) -> float:
    """Return the variance of a weighted sum of estimated shares, if these shares are the true ones."""
    covariance = linear.covariance(linear.expected(shares), shares, f, n)
    return max(covariance.between(weights, weights), 0.0)


def response_scores(linear: Linear, weights: Vector, responses: int) -> Vector:
    """Return what each response counts for in a weighted sum of shares."""
    return vector([weights @ linear.shares(each) for each in np.eye(responses)])


def likely_means(
    scores: Vector, counts: Vector, weights: Vector, left: float, confidence: float
) -> Interval:
    """Return the empirical-likelihood interval of a mean, of which a part of the variance is left."""
    between = float(weights.min()), float(weights.max())
    drop = left * quantile(confidence) ** 2 / 2
    return empirical_likelihood(scores, counts, between, drop)


def empirical_likelihood(
    scores: Vector, counts: Vector, between: tuple[float, float], drop: float
) -> Interval:
    """Return all means of the scores whose empirical log-likelihood is at most `drop` below the best one.

    Implements: [Owe01], chapter 2: the largest likelihood of any shares of responses with a mean μ of the scores s
    is Π (c_i/n)/(1 + t(s_i − μ)), with t such that these shares sum to 1. Responses that nobody sent may have a share.

    Args:
        scores: of the responses.
        counts: of the responses.
        between: the smallest and the largest possible mean.
        drop: of the log-likelihood.
    """
    peak = float(np.clip(scores @ counts / counts.sum(), *between))
    floor = _empirical_height(scores, counts, peak) - drop
    return Interval(
        *crossings(
            lambda mean: _empirical_height(scores, counts, mean) - floor,
            peak,
            between,
        )
    )


def _empirical_height(scores: Vector, counts: Vector, mean: float) -> float:
    """Return the largest log-likelihood of shares of responses with this mean score, 0 without that condition."""
    distances = scores - mean
    # between these every share is positive
    first, last = (
        (ROUNDING - 1) / float(end) for end in (distances.max(), distances.min())
    )

    def slope(t: float) -> float:
        return float(counts @ (distances / (1 + t * distances)))

    if slope(first) <= 0:
        t = first
    else:
        t = last if slope(last) >= 0 else float(brentq(slope, first, last))
    return -float(counts @ np.log1p(t * distances))


def exact(basis: Basis, confidence: float) -> Ends:
    """Return the Clopper–Pearson interval of how often responses back each category, carried through the channel.

    Of a finite population it holds the whole numbers of members that so many such responses allow, and the unbiased
    share, which may lie outside of 0 … 1.

    Why: the number of responses that back a category is binomial, whatever the other shares are (`estimates.backing`),
    or follows the law of `estimates.members`.

    Raises:
        InvalidRequest: some category has no responses of its own.
    """
    counted = support_rates(basis.channel)
    if counted is None:
        raise InvalidRequest(
            "the exact interval needs responses of its own for each category: such that no other sends as often.",
            "Use the score or the profile interval.",
        )
    hits = np.rint(counted.gather(basis.counts))
    if basis.population is None:
        return counted.shares(*clopper_pearson(hits, basis.respondents, confidence))
    low, high = counted.among(hits, basis.respondents, basis.population, confidence)
    return np.minimum(low, basis.unbiased), np.maximum(high, basis.unbiased)


def mover_interval(
    center: Vector, spread: Covariance, weights: Vector, ends: Ends
) -> Interval:
    """Return the interval of a weighted sum from the intervals of its terms and their covariance (MOVER).

    Implements: the method of variance estimates recovery [ZD08]: each end of the sum takes from every share the end
    that moves the sum there, as if its distance were so many standard errors, with the correlations of the estimates.

    Why: single intervals that are lopsided near 0 and 1 make a lopsided one, where value ± z·error would be too short
    on one side. Of one share it is its own interval, and of the difference of two answers twice as wide.
    """
    below, above = (
        np.maximum(reach, 0.0) for reach in (center - ends[0], ends[1] - center)
    )
    errors = np.sqrt(np.maximum(spread.variances, 0.0))

    def width(reach: Vector) -> float:
        units = np.divide(reach, errors, out=np.zeros_like(reach), where=errors > 0)
        # what does not vary goes along with nothing
        known = float((reach[errors == 0] ** 2).sum())
        return float(max(spread.between(units, units) + known, 0.0) ** 0.5)

    value, down, up = float(weights @ center), weights * below, weights * above
    return Interval(
        value - width(np.where(weights > 0, down, up)),
        value + width(np.where(weights > 0, up, down)),
    )


def profile(basis: Basis, confidence: float) -> Ends:
    """Return all π whose profile log-likelihood is within z²/2 of the maximum on the simplex.

    Of a finite population it is the part of z²/2 that the variance is of that of independent respondents.

    Implements: the correction of a likelihood ratio by how much the sample varies [RS84], of each share its own.
    """
    best, _ = basis.likely()
    linear, left = direct(basis.linear) if basis.sent is None else None, basis.left
    if linear is None:
        return profile_intervals(*basis.table, best, confidence, left)
    top = log_likelihood(basis.counts, linear.expected(best))
    return _where_high(
        partial(_diagonal_height, linear, basis.counts),
        best,
        top,
        left * quantile(confidence) ** 2 / 2,
    )


def profile_intervals(
    matrix: Matrix,
    counts: Vector,
    best: Vector,
    confidence: float,
    left: Vector | float = 1.0,
) -> Ends:
    """Return the profile-likelihood intervals for a dense channel about its MLE."""
    parts = np.broadcast_to(left, best.shape)
    ends = [
        profiled_sum(matrix, counts, best, weights, confidence, part)
        for weights, part in zip(np.eye(len(best)), parts.tolist(), strict=True)
    ]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def profiled_sum(
    matrix: Matrix,
    counts: Vector,
    best: Vector,
    weights: Vector,
    confidence: float,
    left: float = 1.0,
) -> Interval:
    """Return all Σ w_j π_j whose profile log-likelihood is within z²/2 of the maximum on the simplex."""
    floor = (
        log_likelihood(counts, matrix @ best) - left * quantile(confidence) ** 2 / 2
    )
    between = float(weights.min()), float(weights.max())
    peak = float(np.clip(weights @ best, *between))

    def above(value: float) -> float:
        return _written_height(matrix, counts, best, weights, value) - floor

    return Interval(*crossings(above, peak, between))


def wide(basis: Basis, confidence: float) -> Ends:
    """Return the score interval and the profile together.

    Why: of a response that is sent hardly ever, one that came too many puts the lower end of the score interval too
    high, and none puts the upper end of the likelihood too low. Together they hold what each of them misses. The
    profile is that of independent respondents, which among people who can be counted is too wide, never too narrow.
    """
    ends = (
        score(basis, confidence),
        profile(replace(basis, population=None), confidence),
    )
    return np.minimum(*(low for low, _ in ends)), np.maximum(
        *(high for _, high in ends)
    )


MOST_PROFILED = 1 << 10
"""Cells of a channel whose profile is found on the way to a default interval: less than a second."""


def default(basis: Basis, usual: str = "score") -> str:
    """Return the method that keeps its coverage: the usual one, or another where some responses are hardly ever sent.

    That is the exact one where one count tells enough of each category, else the wide one.

    Why: with a fraction of an expected response the score interval covers as little as 76 % at a level of 95 %, and the
    profile 82 % (`benchmarks/coverage.py`).
    """
    channel, n = basis.channel, basis.respondents
    counted = support_rates(channel)
    if counted is not None and counted.few(n) and counted.telling(n):
        return "exact"
    if (
        channel.two_level is not None
        or not channel.own_cells
        or channel.answers * channel.responses > MOST_PROFILED
    ):
        return usual
    rates = floats(channel)
    return "wide" if n * float(rates[rates > 0].min()) < LEAST_EXPECTED else usual


METHODS: dict[str, Callable[[Basis, float], Ends]] = {
    "score": score,
    "normal": normal,
    "chebyshev": chebyshev,
    "exact": exact,
    "profile": profile,
    "wide": wide,
}


def _normal_interval(basis: Basis, factor: float) -> Ends:
    width = factor * np.sqrt(basis.variances)
    return basis.center - width, basis.center + width


def _where_high(
    height: Callable[[int, float], float],
    best: Vector,
    top: float,
    drop: Vector | float,
) -> Ends:
    """Return for each category the shares at which the profile log-likelihood is within a drop of the top."""
    floors = np.broadcast_to(top - drop, best.shape).tolist()
    ends = [
        crossings(lambda share, j=j: height(j, share) - floors[j], float(best[j]))  # type: ignore[misc]
        for j in range(len(best))
    ]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def bisect_boundary(
    holds: Callable[[Vector], NDArray[np.bool_]],
    inside: Vector,
    last: Vector | float,
    halvings: int = _HALVINGS,
) -> Vector:
    """Return the boundary of each condition by bisection, from a point where it holds to the last.

    Why: ends that are tests turned around have no closed form; all of them are found together.
    """
    outside = np.broadcast_to(np.asarray(last, np.float64), inside.shape)
    inside = np.where(holds(outside), outside, inside)
    for _ in range(halvings):
        middle = (inside + outside) / 2
        held = holds(middle)
        inside, outside = (
            np.where(held, middle, inside),
            np.where(held, outside, middle),
        )
    return vector(outside)


def crossings(
    above: Callable[[float], float],
    peak: float,
    between: tuple[float, float] = (0.0, 1.0),
) -> tuple[float, float]:
    """Return where a function that falls on both sides of its peak crosses 0; the first or last where it does not."""
    first, last = between
    low = (
        first
        if peak == first or above(first) >= 0
        else float(brentq(above, first, peak, xtol=1e-12))
    )
    high = (
        last
        if peak == last or above(last) >= 0
        else float(brentq(above, peak, last, xtol=1e-12))
    )
    return low, high


def _diagonal_height(
    linear: Supported, counts: Vector, j: int, share: float
) -> float:
    """Return the largest log-likelihood with one share fixed, where each cell tells one share."""
    rest = np.delete(np.arange(len(counts)), j)
    responses = np.empty(len(counts))
    responses[j] = linear.q + linear.gap * share
    responses[rest] = level(
        counts[rest], linear.q, rising=linear.gap > 0, mass=1 - responses[j]
    )
    return max(log_likelihood(counts, responses), -1e300)


def _written_height(
    matrix: Matrix, counts: Vector, best: Vector, weights: Vector, value: float
) -> float:
    """Return the largest log-likelihood of shares with this weighted sum.

    Why: all such shares are mixtures of those that only one answer has, or two on both sides of the value.
    """
    corners, start = _corners(weights, value, best + 1e-3)
    mixed = matrix @ corners
    if (mixed[counts > 0].sum(axis=1) == 0).any():
        return -1e300
    parts, _ = maximize_from(mixed, counts, start=start / start.sum())
    return log_likelihood(counts, mixed @ parts)


def most_corners(weights: Vector) -> int:
    """Return how many corners the shares with one weighted sum have at most, of those with two answers."""
    _, counts = np.unique(weights, return_counts=True)
    below = np.cumsum(counts)
    return int((below * (below[-1] - below)).max())


def _corners(weights: Vector, value: float, likely: Vector) -> tuple[Matrix, Vector]:
    """Return the corners of all shares with a weighted sum, a column each, and how likely each of them is, roughly."""
    below, above, just = (
        np.flatnonzero(each)
        for each in (weights < value, weights > value, weights == value)
    )
    one, two = (each.ravel() for each in np.meshgrid(below, above))
    part = (value - weights[one]) / (weights[two] - weights[one])
    found = np.zeros((len(weights), one.size + just.size))
    columns = np.arange(one.size)
    found[one, columns], found[two, columns] = 1 - part, part
    found[just, one.size + np.arange(just.size)] = 1.0
    return found, np.concatenate([likely[one] * likely[two], likely[just]])
