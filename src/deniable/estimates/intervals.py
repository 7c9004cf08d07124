"""Intervals for shares, by method. All of them are computed for every category at once.

| method    | what it is                                          | when                                        |
| --------- | --------------------------------------------------- | ------------------------------------------- |
| score     | all π whose own variance explains the distance      | the default of linear estimates             |
| normal    | value ± z·error                                     | large samples                               |
| chebyshev | value ± error/√(1 − level)                          | no assumption about the distribution        |
| exact     | Clopper–Pearson, carried through the channel        | the default where responses are rare        |
| profile   | all π whose likelihood is not much below the best   | inside [0, 1]; default of `likelihood`      |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import brentq

from deniable.channel import Channel
from deniable.errors import InvalidRequest
from deniable.estimates.backing import backing, clopper_pearson
from deniable.estimates.covariances import Covariance, Matrix, Vector, vector
from deniable.estimates.likelihood import Convergence, climbed, level, log_likelihood, most_likely
from deniable.estimates.linear import Linear, floats
from deniable.estimates.rows import SentSets
from deniable.estimates.simplex import projection
from deniable.estimates.supported import Supported, direct

Ends: TypeAlias = tuple[Vector, Vector]

ROUNDING = 1e-9
"""Relative size of a negative variance that is 0 but for rounding."""


class Interval(NamedTuple):
    """The two ends of an interval."""

    low: float
    high: float


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
        f: 1 for independent respondents, 0 for a census, (N − n)/(N − 1) between.
        sent: the sets that were sent, where the likelihood is theirs and not that of the counts.
    """

    center: Vector
    covariance: Covariance
    unbiased: Vector
    counts: Vector
    channel: Channel
    linear: Linear
    respondents: int
    f: float
    sent: SentSets | None = None

    def likely(self) -> tuple[Vector, Convergence]:
        """Return the most likely shares: from the sets that were sent where they are at hand, else from the tally."""
        if self.sent is None:
            return most_likely(self.channel, self.linear, self.counts)
        return climbed(*self.table, start=projection(self.unbiased))

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
        return self.linear.covariance(self.linear.expected(near), near, self.f, self.respondents)

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


def quantile(confidence: float) -> float:
    """Return z with probability `confidence` between −z and z under the normal law."""
    return -NormalDist().inv_cdf((1 - confidence) / 2)  # of the lower tail, which keeps its digits near 1


def one_of(events: int, level: float) -> float:
    """Return the level that each of so many intervals needs for all of them to hold with `level` (Bonferroni).

    Raises:
        InvalidRequest: a level outside (0, 1), or so near 1 that no float is left between.

    Example:
        >>> round(one_of(5, 0.95), 6)
        0.99
    """
    each = 1 - (1 - level) / events if isinstance(level, Real) and 0 < level < 1 else 1.0
    if not 0 < each < 1:
        raise InvalidRequest(f"the level is {level!s:.40}; expected a number between 0 and 1, such as 0.95.")
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
    raise InvalidRequest(f"the method is {method!r:.40}; expected normal or chebyshev.")


def normal(basis: Basis, confidence: float) -> Ends:
    """Return value ± z·error."""
    return _around(basis, quantile(confidence))


def chebyshev(basis: Basis, confidence: float) -> Ends:
    """Return value ± error/√(1 − level), which holds for every distribution with this variance."""
    return _around(basis, (1 - confidence) ** -0.5)


def score(basis: Basis, confidence: float) -> Ends:
    """Return all π with (π̂ − π)² ≤ z²·V(π), where V is the variance if π were true.

    For two answers and for diagonal channels this is Wilson's interval, carried through the channel. For others, V
    takes the other answers in the proportions in which they are estimated.
    """
    own, others = basis.linear.spread(projection(basis.unbiased))
    return wilson(basis.unbiased, own, others, basis.respondents, basis.f, confidence)


def wilson(value: Vector, own: Vector | float, others: Vector | float, n: float, f: float, confidence: float) -> Ends:
    """Solve (value − π)² = z²·V(π) with n·V(π) = f·π(1 − π) + own·π + others·(1 − π) − π.

    A direct question has own = 1 and others = 0: then this is Wilson's interval.
    """
    z2 = quantile(confidence) ** 2
    a = n + z2 * f
    half = n * value + z2 * (f + own - others - 1) / 2
    constant = n * value**2 - z2 * others
    # Below 0 only where no π explains a value; then the nearest π is the whole interval.
    root = np.sqrt(np.maximum(half**2 - a * constant, 0.0))
    return (half - root) / a, (half + root) / a


def exact(basis: Basis, confidence: float) -> Ends:
    """Return the Clopper–Pearson interval of how often responses back each category, carried through the channel.

    Why: the number of responses that back a category is binomial, whatever the other shares are (`estimates.backing`).

    Raises:
        InvalidRequest: some category has no responses of its own, or the population is finite.
    """
    if basis.f != 1:
        raise InvalidRequest(
            "the exact interval is for independent respondents; a population size was given.",
            "Use the score interval, which knows about finite populations.",
        )
    counted = backing(basis.channel)
    if counted is None:
        raise InvalidRequest(
            "the exact interval needs responses of its own for each category: such that no other sends as often.",
            "Use the score or the profile interval.",
        )
    hits = np.rint(counted.gather(basis.counts))
    return counted.shares(*clopper_pearson(hits, basis.respondents, confidence))


def recovered(basis: Basis, weights: Vector, ends: Ends) -> Interval:
    """Return the interval of a weighted sum of shares from their own intervals.

    Implements: the method of variance estimates recovery [ZD08]: each end of the sum takes from every share the end
    that moves the sum there, as if its distance were so many standard errors, with the correlations of the estimates.

    Why: single intervals that are lopsided near 0 and 1 make a lopsided one, where value ± z·error would be too short
    on one side. Of one share it is its own interval, and of the difference of two answers twice as wide.
    """
    center = basis.center
    below, above = (np.maximum(reach, 0.0) for reach in (center - ends[0], ends[1] - center))
    spread = basis.possible()
    errors = np.sqrt(np.maximum(spread.variances, 0.0))

    def width(reach: Vector) -> float:
        units = np.divide(reach, errors, out=np.zeros_like(reach), where=errors > 0)
        known = float((reach[errors == 0] ** 2).sum())  # what does not vary goes along with nothing
        return float(max(spread.between(units, units) + known, 0.0) ** 0.5)

    value, down, up = float(weights @ center), weights * below, weights * above
    return Interval(
        value - width(np.where(weights > 0, down, up)),
        value + width(np.where(weights > 0, up, down)),
    )


def profile(basis: Basis, confidence: float) -> Ends:
    """Return all π whose profile log-likelihood is within z²/2 of the maximum on the simplex."""
    best, _ = basis.likely()
    linear = direct(basis.linear) if basis.sent is None else None
    if linear is None:
        return profiled(*basis.table, best, confidence)
    top = log_likelihood(basis.counts, linear.expected(best))
    return _where_high(partial(_diagonal_height, linear, basis.counts), best, top, confidence)


def profiled(matrix: Matrix, counts: Vector, best: Vector, confidence: float) -> Ends:
    """Return the same for a channel that is written out, about its most likely shares."""
    top = log_likelihood(counts, matrix @ best)
    return _where_high(partial(_written_height, matrix, counts, best), best, top, confidence)


def default(basis: Basis, usual: str = "score") -> str:
    """Return the method that keeps its coverage: the usual one, or exact where some responses are hardly ever sent.

    Why: with a fraction of an expected response the score interval covers as little as 84 % at a level of 95 %, and the
    profile 82 % (`benchmarks/coverage.py`).
    """
    counted = backing(basis.channel) if basis.f == 1 else None
    return "exact" if counted is not None and counted.few(basis.respondents) else usual


METHODS: dict[str, Callable[[Basis, float], Ends]] = {
    "score": score,
    "normal": normal,
    "chebyshev": chebyshev,
    "exact": exact,
    "profile": profile,
}


def _around(basis: Basis, factor: float) -> Ends:
    width = factor * np.sqrt(basis.variances)
    return basis.center - width, basis.center + width


def _where_high(height: Callable[[int, float], float], best: Vector, top: float, confidence: float) -> Ends:
    """Return for each category the shares at which the profile log-likelihood is within z²/2 of the top."""
    floor = top - quantile(confidence) ** 2 / 2
    ends = [crossings(lambda share, j=j: height(j, share) - floor, float(best[j])) for j in range(len(best))]  # type: ignore[misc]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def crossings(above: Callable[[float], float], peak: float) -> tuple[float, float]:
    """Return where a function that falls on both sides of its peak crosses 0; an end of [0, 1] where it does not."""
    low = 0.0 if peak == 0 or above(0.0) >= 0 else float(brentq(above, 0.0, peak, xtol=1e-12))
    high = 1.0 if peak == 1 or above(1.0) >= 0 else float(brentq(above, peak, 1.0, xtol=1e-12))
    return low, high


def _diagonal_height(linear: Supported, counts: Vector, j: int, share: float) -> float:
    """Return the largest log-likelihood with one share fixed, where each cell tells one share."""
    rest = np.delete(np.arange(len(counts)), j)
    responses = np.empty(len(counts))
    responses[j] = linear.q + linear.gap * share
    responses[rest] = level(counts[rest], linear.q, rising=linear.gap > 0, mass=1 - responses[j])
    return max(log_likelihood(counts, responses), -1e300)


def _written_height(matrix: Matrix, counts: Vector, best: Vector, j: int, share: float) -> float:
    """Return the largest log-likelihood with one share fixed."""
    rest = np.delete(np.arange(len(best)), j)
    mixed = share * matrix[:, [j]] + (1 - share) * matrix[:, rest]
    if (mixed[counts > 0].sum(axis=1) == 0).any():
        return -1e300
    weights = best[rest] + 1e-3
    others, _ = climbed(mixed, counts, start=weights / weights.sum())
    return log_likelihood(counts, mixed @ others)
