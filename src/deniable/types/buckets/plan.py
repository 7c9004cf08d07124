"""Planning for quantiles: the distribution that is expected, with the standard errors of n respondents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.estimates.covariances import Vector, vector
from deniable.estimates.inverses import left_inverse
from deniable.types.buckets.design import BucketDesign
from deniable.types.buckets.estimate import EdgeCurve, design_scores

__all__ = ["ExpectedCurve", "response_rates"]


@dataclass(frozen=True, eq=False)
class ExpectedCurve:
    """The distribution function that is expected.

    Attributes:
        design: what people will respond with.
        distribution: the share of people below each edge of the buckets.
    """

    design: BucketDesign
    distribution: Vector

    @cached_property
    def _variances(self) -> Vector:
        """Return n times the variance at each edge: h·Σ_l s_l², s_l² that of a score on level l of h."""
        shares, scores = np.diff(self.distribution), design_scores(self.design)
        levels = len(self.design.factors)
        total = np.zeros(len(scores.values))
        for level, rates in enumerate(response_rates(self.design, vector(shares))):
            values = scores.values[:, scores.levels == level]
            total += levels * (values**2 @ rates - (values @ rates) ** 2)
        return vector([0.0, *total, 0.0])

    def curve(self, n: int) -> EdgeCurve:
        """Return what n respondents would tell if chance had no say."""
        errors = np.sqrt(self._variances / n)
        return EdgeCurve("", max(n - 1, 1), self.distribution, vector(errors))

    def direct_curve(self, n: int) -> EdgeCurve:
        """Return what n honest direct answers would tell."""
        errors = np.sqrt(self.distribution * (1 - self.distribution) / n)
        return EdgeCurve("", max(n - 1, 1), self.distribution, vector(errors))


def response_rates(design: BucketDesign, shares: Vector) -> list[Vector]:
    """Return the probabilities of the responses on each level for people with these shares of buckets."""
    rates = []
    for _, part in design.factors:
        nodes = shares.reshape(part.channel.answers, -1).sum(axis=1)
        rates.append(vector(left_inverse(part.channel).expected(vector(nodes))))
    return rates
