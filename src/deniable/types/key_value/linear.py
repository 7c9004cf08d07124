"""Counts → frequency and weight of each item with their covariances, per respondent and on the scale from −1 to 1."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.errors import InvalidRequest, quoted
from deniable.estimates.covariances import Matrix, Vector
from deniable.types.key_value.count import KeyValueTally
from deniable.types.key_value.schemes import NONE, Scheme
from deniable.types.key_value.variances import scores, second_moments

SCALINGS = FIXED, CONDITIONAL = "fixed", "conditional"
NOISE = 2.0
"""A degree within so many standard errors of 0 says nothing about the mean of those who have the item."""


@dataclass(frozen=True, eq=False)
class ItemLinear:
    """The unbiased estimates of a tally, on the scale from −1 to 1 and per respondent.

    Attributes:
        tally: the counts.
        scaling: "fixed" multiplies by how seldom an item is looked at; "conditional" divides by how often it was.
        f: 1 for independent respondents, 0 for a census, (N − n)/(N − 1) between.
    """

    tally: KeyValueTally
    scaling: str
    f: float

    @cached_property
    def asked(self) -> Vector:
        """How many respondents an item's estimate is a mean over."""
        n = float(self.tally.respondents)
        counted = self.tally.asked.astype(np.float64)
        return counted if self.scaling == CONDITIONAL else np.full(len(counted), n)

    @cached_property
    def frequency(self) -> Vector | None:
        """The share of respondents who have each item; None where symbols do not tell."""
        return self._mean(scores(self.tally.design.scheme.symbol).degree)

    @cached_property
    def weight(self) -> Vector | None:
        """The sum of weights over the number of respondents, for each item; None where symbols do not tell."""
        return self._mean(scores(self.tally.design.scheme.symbol).weight)

    def _mean(self, score: tuple[Fraction, ...] | None) -> Vector | None:
        if score is None:
            return None
        sums = self.tally.counts @ np.array(score, np.float64)
        scheme = self.tally.design.scheme
        factor = 1 if self.scaling == CONDITIONAL else scheme.multiplier
        return np.asarray(factor * sums / self.asked, np.float64)

    @cached_property
    def second(self) -> Matrix:
        """Second moments of what a respondent adds: rows degree, weight and both; columns none, + and −."""
        conditional = self.scaling == CONDITIONAL
        moments = second_moments(self.tally.design.scheme, conditional=conditional)
        return np.array(moments, np.float64)

    @cached_property
    def values(self) -> tuple[Vector, Vector]:
        """The estimates of frequency and weight as they are, a stand-in where symbols do not tell."""
        size = len(self.tally.counts)
        f = np.ones(size) if self.frequency is None else self.frequency
        return f, np.zeros(size) if self.weight is None else self.weight

    @cached_property
    def plausible(self) -> tuple[Vector, Vector]:
        """Frequencies and weights brought into range and drawn towards their averages by as much as noise explains.

        Why: variances are worked out at these. Estimates that are mostly noise would give variances that are mostly
        noise, too small for items that happen to lie low, and cutting them off at 0 would make all variances too large.
        """
        f, w = self.values
        mean_f, mean_w = float(np.clip(f.mean(), 0.0, 1.0)), float(w.mean())
        second_f, second_w = self.second[:2] @ _shares(mean_f, mean_w)
        f = _shrink(f, mean_f, (second_f - mean_f**2) / self.asked)
        w = _shrink(w, mean_w, (second_w - mean_w**2) / self.asked)
        f = np.clip(f, 0.0, 1.0)
        return f, np.clip(w, -f, f)

    @cached_property
    def moments(self) -> tuple[Vector, Vector, Vector, Vector, Vector]:
        """The frequency, the weight and the three second moments of each item, at plausible values."""
        f, w = self.plausible
        dd, vv, dv = self.second @ _shares(f, w)
        return f, w, dd, vv, dv

    @cached_property
    def variances(self) -> tuple[Vector, Vector, Vector]:
        """The variances of frequency and weight, and their covariance, for each item.

        In a census the spread of the weights themselves does not count, and it cannot be told from rounded weights: it
        is taken to be as small as it can be, which makes the variance of a weight a little too large, never too small.
        """
        f, w = self.plausible
        var_f, var_w, cov = self.free_variances
        squares = np.divide(w**2, f, out=np.zeros_like(f), where=f > 0)
        sampled = (1 - self.f) / self.tally.respondents
        var_f = var_f - sampled * f * (1 - f)
        var_w = var_w - sampled * np.maximum(squares - w**2, 0.0)
        cov = cov - sampled * w * (1 - f)
        return np.maximum(var_f, 0.0), np.maximum(var_w, 0.0), cov

    @property
    def free_variances(self) -> tuple[Vector, Vector, Vector]:
        """The same for independent respondents."""
        f, w, dd, vv, dv = self.moments
        n = self.asked
        return (dd - f**2) / n, (vv - w**2) / n, (dv - f * w) / n

    def matrix(self, items: list[int]) -> Matrix:
        """Return the covariance of the frequencies and then the weights of some items, for independent respondents."""
        if self.scaling == CONDITIONAL:
            # Whoever was asked about one item was not asked about another.
            ff, ww, fw = (np.diag(part[items]) for part in self.free_variances)
            return np.block([[ff, fw], [fw, ww]])
        f, w, dd, vv, dv = (moment[items] for moment in self.moments)
        ff, ww, fw = np.diag(dd), np.diag(vv), np.diag(dv)
        off = 1 - np.eye(len(items))
        beta = self.tie
        ff = ff + off * (beta * (f[:, None] + f[None, :]) - beta**2)
        fw = fw + off * beta * w[None, :]
        means = np.concatenate([f, w])
        second = np.block([[ff, fw], [fw.T, ww]])
        return (second - np.outer(means, means)) / self.tally.respondents

    @property
    def tie(self) -> float:
        """By how much a respondent who sends another item lowers the estimate of an item."""
        return item_tie(self.tally.design.scheme)

    def totals(self) -> tuple[float, float, float, float, float]:
        """Return the sums of frequency and weight over all items, their variances and their covariance.

        For independent respondents; in a census the variances are smaller, by how much people differ in their sums,
        which single responses do not tell.
        """
        sum_f, sum_w = (float(part.sum()) for part in self.values)
        if self.scaling == CONDITIONAL:
            var_f, var_w, cov = (float(part.sum()) for part in self.free_variances)
            return sum_f, sum_w, var_f, var_w, cov
        f, w, dd, vv, dv = (float(moment.sum()) for moment in self.moments)
        m, beta, n = len(self.tally.counts), self.tie, self.tally.respondents
        second_f = dd + 2 * beta * (m - 1) * f - m * (m - 1) * beta**2
        var_f, var_w = (second_f - f**2) / n, (vv - w**2) / n
        cov = (dv + beta * (m - 1) * w - f * w) / n
        return sum_f, sum_w, max(var_f, 0.0), max(var_w, 0.0), cov

    def total_curve(self) -> Vector:
        """Return the variance of the sum of frequencies as a polynomial in it: its constant, slope and square.

        Items keep their proportions to each other, and their mean weights; of a sum of 0 all have the same frequency.
        """
        f, w = self.plausible
        total, n, m, beta = float(f.sum()), self.tally.respondents, len(f), self.tie
        f, w = (
            (f / total, w / total) if total > 0 else (np.full(m, 1 / m), np.zeros(m))
        )
        nobody = self.second[0] @ _shares(0.0, 0.0)
        rises = self.second[0] @ _shares(f, w) - nobody
        if self.scaling == CONDITIONAL:
            curve = np.stack([np.full(m, nobody), rises, -(f**2)]) / self.asked
            return np.asarray(curve.sum(axis=1), np.float64)
        constant = m * nobody - m * (m - 1) * beta**2
        return np.array([constant, rises.sum() + 2 * beta * (m - 1), -1.0]) / n


def item_tie(scheme: Scheme) -> float:
    """Return by how much a response about another item lowers the estimate of an item; 0 but for one-item responses.

    Why: two items are then never sent together, which ties their estimates.
    """
    degree = scores(scheme.symbol).degree
    if scheme.KIND != "direct" or degree is None:
        return 0.0
    return float(scheme.multiplier * degree[NONE])


def _shares(f: Vector | float, w: Vector | float) -> Matrix:
    """Return the shares of none, + and − that belong to a frequency and a weight."""
    return np.stack([1 - f, (f + w) / 2, (f - w) / 2])


def _shrink(values: Vector, average: float, noise: Vector) -> Vector:
    """Shrink values towards their average by as much as noise explains their spread."""
    spread = max(float(((values - average) ** 2 - noise).mean()), 0.0)
    pull = np.divide(
        spread, spread + noise, out=np.ones_like(noise), where=spread + noise > 0
    )
    return np.asarray(average + pull * (values - average), np.float64)


def choose(tally: KeyValueTally) -> str:
    """Return the scaling with the smaller variance at the average frequency that the tally shows.

    Why: dividing by how many were asked forgives an uneven draw of items, which matters for frequent items; where only
    few were asked about an item it costs more than it forgives, and where nobody was it gives no estimate.
    """
    if (
        not tally.design.scheme.one_each
        or not tally.respondents
        or (tally.asked == 0).any()
    ):
        return FIXED
    f, w = (float(part.mean()) for part in ItemLinear(tally, FIXED, 1.0).values)
    f = min(1.0, max(0.0, f))
    shares, squares = _shares(f, w), np.array([f**2, w**2])
    variance = {}
    for scaling in SCALINGS:
        linear = ItemLinear(tally, scaling, 1.0)
        second = (linear.second[:2] @ shares - squares) * float(
            (1 / linear.asked).mean()
        )
        variance[scaling] = float(second.sum())
    return min(variance, key=variance.__getitem__)


def read_scaling(tally: KeyValueTally, scaling: str | None) -> str:
    """Read a scaling, or choose one.

    Raises:
        InvalidRequest: there is no such scaling for this design.
    """
    if scaling is None:
        return choose(tally)
    if scaling not in SCALINGS or (
        scaling == CONDITIONAL and not tally.design.scheme.one_each
    ):
        raise InvalidRequest(
            f"the scaling is {quoted(scaling)}; expected 'fixed', or 'conditional' where one item of each is looked at."
        )
    unseen = int((tally.asked == 0).sum())
    if scaling == CONDITIONAL and unseen:
        raise InvalidRequest(
            f"nobody was asked about {unseen:,} of the items; expected 'fixed' scaling there."
        )
    return scaling
