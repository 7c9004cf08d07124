"""People: how many of a population each row stands for, and how much estimates vary from sample to sample.

Counts and samples are the same people: rows of a tally are all who sent the same response, with the sums of their
weights. Means, covariances, degrees of freedom and effective sizes come from here, whatever is estimated.

    w       the weight of a person, W = Σ w
    u_i     the influence function of a number (linearized values): its first-order change with the weight of row i
    n, d    people of a part, and degrees of freedom of its variance
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student

from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling.columns import Mask, check_rows, mask, sums
from deniable.estimates.sampling.replicates import refuse_lone
from deniable.estimates.sampling.samples import Sampling
from deniable.tallies.group_labels import group_name, number_groups


@dataclass(frozen=True, eq=False)
class People:
    """People from whom something is estimated, a row for each or for all who sent the same.

    Attributes:
        weights: Σ w of each row.
        squares: Σ w² of each row.
        counts: the number of people of each row.
        sampling: how they were drawn; None for rows of a tally, whose people were drawn one by one.

    Example:
        >>> people = People.of(Sampling([2, 2, 1, 1], clusters=["a", "a", "b", "b"]))
        >>> people.total_covariance([1, 0, 3, 3]).tolist(), people.degrees(np.ones(4, bool))
        ([[16.0]], 1)
    """

    weights: Vector
    squares: Vector
    counts: Vector
    sampling: Sampling | None = None

    @classmethod
    def of(cls, sampling: object) -> People:
        """Return the people of a sample.

        Raises:
            InvalidRequest: no sampling.
        """
        if not isinstance(sampling, Sampling):
            raise InvalidRequest(
                f"the sampling is a {type(sampling).__name__}; expected a Sampling."
            )
        squares = vector(sampling.weights**2)
        return cls(sampling.weights, squares, np.ones(len(sampling)), sampling)

    def __len__(self) -> int:
        return len(self.weights)

    def number(self, rows: Mask) -> int:
        """Return the number of people of some rows."""
        return int(self.counts[rows].sum())

    @property
    def one_by_one(self) -> bool:
        """Whether people were drawn one by one from one population: weights and a fraction are all that is known."""
        return self.sampling is None or self.sampling.one_by_one

    @property
    def by_rows(self) -> bool:
        """Whether variances are those of the rows, as people may not have followed the device."""
        return self.sampling is not None and self.sampling.by_rows

    @property
    def fraction(self) -> float:
        """The sampled fraction of people who were drawn one by one."""
        return 0.0 if self.sampling is None else float(self.sampling.fractions[0])

    @property
    def finite(self) -> Vector:
        """The share of its stratum that was drawn with each row."""
        if self.sampling is None:
            return np.zeros(len(self))
        return self.sampling.finite

    def describe(self, taken: int) -> tuple[str, str]:
        """Return in words how the variance is found, and how people were drawn of whom so many are taken."""
        if self.sampling is None:
            return "linearized", f"{taken:,} people"
        return self.sampling.variance, self.sampling.describe(taken)

    def groups(
        self, domain: object, by: object
    ) -> tuple[Mask, tuple[str, ...], tuple[Mask, ...]]:
        """Return the rows of a domain, and the names and rows of its groups; who names no group is in none of them.

        Raises:
            NotEstimable: nobody belongs to the domain, or to a group.
            InvalidRequest: columns that do not fit.
        """
        inside = np.ones(len(self), np.bool_)
        if domain is not None:
            inside = mask(domain, "domain", len(self))
        if not inside.any():
            raise NotEstimable(
                "nobody belongs to the domain; expected people who do."
            )
        if by is None:
            return inside, ("",), (inside,)
        labels, codes = number_groups(by)
        check_rows(codes, "groups", len(self))
        groups = [
            (group_name(label), (codes == code) & inside)
            for code, label in enumerate(labels)
            if label is not None and ((codes == code) & inside).any()
        ]
        if not groups:
            raise NotEstimable("nobody belongs to a group; expected people who do.")
        names, rows = zip(*groups, strict=True)
        return inside, names, rows

    def degrees(self, rows: Mask) -> int:
        """Return the degrees of freedom of the variance of a part: of people, or of clusters, less strata."""
        if self.sampling is None:
            return max(self.number(rows) - 1, 1)
        return self.sampling.degrees_of(rows)

    def with_replacement(self) -> People:
        """Return the same people as if they had been drawn with replacement."""
        if self.sampling is None:
            return self
        return replace(self, sampling=self.sampling.with_replacement())

    def covariance(
        self, influence: Matrix, numbers: Callable[[Matrix], Matrix]
    ) -> Matrix:
        """Return the covariance of numbers over samples: that of Σ w·u, or of their replicates where there are some.

        Args:
            influence: the influence function of each number, a row for each row, without weights.
            numbers: the numbers for each of several weightings, a column of weights each and a row of numbers each.

        Raises:
            NotEstimable: a stratum with one cluster.
        """
        if self.sampling is None or self.sampling.replicates is None:
            return self.total_covariance(influence)
        replicated = [numbers(each) for each in self.sampling.replicated_weights()]
        value = numbers(self.weights[:, None])[0]
        return self.sampling.replicates.covariance(
            vector(np.vstack(replicated)), value
        )

    def independent_covariance(self, influence: Matrix, people: Vector) -> Matrix:
        """Return Σ w²·u·u′·√(F·F′) of people who were drawn one by one, F = n/(n − 1) of the n who tell each number."""
        factors = np.sqrt(bessel(people))
        return vector(
            np.outer(factors, factors) * ((influence.T * self.squares) @ influence)
        )

    def total_covariance(self, values: object) -> Matrix:
        """Return the covariance of Σ w·value over samples, by what is known of how they were drawn.

        Implements: Horvitz and Thompson's estimate or Sen, Yates and Grundy's [HT52], [YG53], where joint probabilities
        are known; Deville's [Dev99], where only inclusion probabilities are; that between ultimate clusters otherwise.

        Args:
            values: a row for each row, 0 for those who take no part; without their weights.

        Raises:
            NotEstimable: a stratum with one cluster.
        """
        table = np.array(values, np.float64)
        check_rows(table, "values", len(self))
        table = table[:, None] if table.ndim == 1 else table
        sampling = self.sampling
        if sampling is None:
            totals, n = self.weights @ table, self.counts.sum()
            products = (table.T * self.squares) @ table - np.outer(
                totals, totals
            ) / n
            return vector(products * n / (n - 1))
        if sampling.calibration is not None:
            table = sampling.calibration.residuals(
                table, sampling.base, sampling.weights
            )
        weighted = vector(table * self.weights[:, None])
        if sampling.joint is not None:
            return _joint_covariance(weighted, sampling.joint, sampling.rule)
        if sampling.inclusion is not None and not sampling.clustered:
            return _deville_covariance(weighted, sampling)
        return _cluster_covariance(weighted, sampling)


def bessel(people: Vector) -> Vector:
    """Return n/(n − 1)."""
    return vector(people / np.maximum(people - 1, 1))


def few_degrees(people: Vector, degrees: Vector, confidence: float) -> Vector:
    """Return t_{n−1}/t_d: how much narrower an interval is of n people than of a variance with d degrees of freedom."""
    quantiles = [
        student.ppf((1 + confidence) / 2, df)
        for df in (np.maximum(people - 1, 1), degrees)
    ]
    return vector(quantiles[0] / quantiles[1])


def effective_size(
    people: Vector, degrees: Vector, effect: Vector, confidence: float
) -> Vector:
    """Return the number of people drawn one by one who would tell as much, at most as many as there are.

    Implements: n* = n/deff·(t_{n−1}/t_d)² of [KG98].

    Args:
        people: n of each number.
        degrees: d of each.
        effect: deff of each, its variance over that of n people drawn one by one; NaN where that is not known.
        confidence: the level of the interval.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = people / effect * few_degrees(people, degrees, confidence) ** 2
    return vector(np.clip(np.where(np.isnan(sizes), people, sizes), 1.0, people))


def _cluster_covariance(weighted: Matrix, sampling: Sampling) -> Matrix:
    """Return Σ_h (1 − f_h)·m_h/(m_h − 1)·Σ_c (t_hc − t̄_h)(t_hc − t̄_h)′, t_hc the sum of a cluster [HHM53].

    It holds the whole variance of the device, unless fractions f_h of the clusters were drawn without replacement.
    Calibrated weights leave what their auxiliary columns do not explain.
    """
    sampling.check_lone()
    clusters, strata = len(sampling.stratum_of), len(sampling.stratum_names)
    totals = (
        sums(weighted, sampling.clusters, clusters)
        if sampling.clustered
        else weighted
    )
    sizes = np.bincount(sampling.stratum_of, minlength=strata)
    means = sums(totals, sampling.stratum_of, strata) / sizes[:, None]
    away = totals - means[sampling.stratum_of]
    factors = (1 - sampling.fractions) * bessel(vector(sizes))
    return vector((away.T * factors[sampling.stratum_of]) @ away)


def _joint_covariance(weighted: Matrix, joint: Matrix, rule: str) -> Matrix:
    single = np.diagonal(joint)
    together = (joint - np.outer(single, single)) / joint
    crossed = weighted.T @ together @ weighted
    if rule == "horvitz-thompson":
        return vector(crossed)
    # −½ Σ d_ij (e_i − e_j)(e_i − e_j)′ = e′de − Σ_i (Σ_j d_ij) e_i e_i′; pairs of one person with itself cancel.
    return vector(crossed - (weighted.T * together.sum(axis=1)) @ weighted)


def _deville_covariance(weighted: Matrix, sampling: Sampling) -> Matrix:
    """Return Deville's approximation, stratum by stratum; whoever was sure to be drawn adds nothing."""
    assert sampling.inclusion is not None
    total, strata = np.zeros((weighted.shape[1],) * 2), len(sampling.stratum_names)
    unsure = sampling.inclusion < 1
    refuse_lone(
        np.bincount(sampling.strata[unsure], minlength=strata),
        sampling.stratum_names,
        np.ones(strata),
    )
    for stratum in np.unique(sampling.strata[unsure]).tolist():
        rows = np.flatnonzero((sampling.strata == stratum) & unsure)
        left = 1 - sampling.inclusion[rows]
        parts = left / left.sum()
        away = weighted[rows] - parts @ weighted[rows]
        total += (away.T * left) @ away / (1 - float(parts @ parts))
    return vector(total)
