"""How much a weighted sum varies from sample to sample: between clusters, by inclusion probabilities, by replicates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling.columns import Mask, check_rows, sums
from deniable.estimates.sampling.replicates import refuse_lone
from deniable.estimates.sampling.samples import Sampling


def design_covariance(values: Any, sampling: Sampling) -> Matrix:
    """Return the covariance of Σ w·value over samples, by what is known of how the sample was drawn.

    Implements: Horvitz and Thompson's estimate or Sen, Yates and Grundy's [HT52], [YG53], where joint probabilities are
    known; Deville's [Dev99], where only inclusion probabilities are; that between ultimate clusters otherwise.

    Args:
        values: a row for each person, 0 for those who take no part; without their weights.
        sampling: how the people were drawn.

    Raises:
        NotEstimable: a stratum with one cluster.
    """
    if sampling.inclusion is None or (sampling.clustered and sampling.joint is None):
        return between_cluster_covariance(values, sampling)
    weighted = _weighted(values, sampling)
    if sampling.joint is not None:
        return _joint(
            weighted, sampling.joint, np.asarray(sampling.inclusion), sampling.rule
        )
    return _deville(weighted, sampling)


def between_cluster_covariance(scores: Any, sampling: Sampling) -> Matrix:
    """Return Σ_h (1 − f_h)·m_h/(m_h − 1)·Σ_c (t_hc − t̄_h)(t_hc − t̄_h)′, t_hc the weighted sum of scores in a cluster.

    It holds the whole variance of the device, unless fractions f_h of the clusters were drawn without replacement.
    Calibrated weights leave what their auxiliary columns do not explain.

    Implements: ultimate clusters [HHM53].

    Args:
        scores: a row for each person, 0 for those who take no part; without their weights.
        sampling: how the people were drawn.

    Raises:
        NotEstimable: a stratum with one cluster.

    Example:
        >>> sample = Sampling([2, 2, 1, 1], clusters=["a", "a", "b", "b"])
        >>> between_cluster_covariance([1, 0, 3, 3], sample).tolist()
        [[16.0]]
    """
    weighted = _weighted(scores, sampling)
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
    factors = (1 - sampling.fractions) * sizes / np.maximum(sizes - 1, 1)
    return vector((away.T * factors[sampling.stratum_of]) @ away)


def sandwich(scores: Any, bread: Any, sampling: Sampling) -> Matrix:
    """Return A⁻¹BA⁻¹, the covariance of a pseudo-likelihood estimate.

    Implements: [Bin83], with B between ultimate clusters.

    Args:
        scores: the score of each person at the estimate, a row each, without weights.
        bread: A⁻¹, the inverse of the weighted sum of the observed informations.
        sampling: how the people were drawn.

    Raises:
        InvalidRequest: tables that do not fit.
        NotEstimable: a stratum with one cluster.

    Example:
        >>> sample = Sampling([2, 2, 1, 1], clusters=["a", "a", "b", "b"])
        >>> sandwich([[1], [0], [3], [3]], [[0.5]], sample).tolist()
        [[4.0]]
    """
    outer, inner = np.array(bread, np.float64), np.array(scores, np.float64)
    if outer.ndim != 2 or inner.ndim != 2 or outer.shape != (inner.shape[1],) * 2:
        raise InvalidRequest(
            f"the scores have the shape {inner.shape} and the bread {outer.shape}; expected a column for each number."
        )
    return vector(outer @ design_covariance(inner, sampling) @ outer.T)


def number_error(
    number: Callable[[Vector], float], adds: Vector, sampling: Sampling, here: Mask
) -> float:
    """Return the standard error of a number that is no mean of values, such as a correlation.

    Implements: its linearized variance between clusters, that of Σ w·a/Σ w with a what each row adds; or that of its
    replicates. A sample without replacement counts as one with, which makes the error a little too large and keeps the
    whole variance of the device in it.

    Args:
        number: the number for weights of the rows.
        adds: what each row adds to it, 0 for those who take no part.
        sampling: how the people were drawn.
        here: the rows that take part.

    Raises:
        NotEstimable: a stratum with one cluster.
    """
    check_rows(sampling, "columns of the sampling", len(adds))
    if not np.isfinite(adds).all():
        return math.nan
    if sampling.replicates is not None:
        found = [
            number(vector(column))
            for table in sampling.replicated_weights()
            for column in table.T
        ]
        value = vector([number(sampling.weights)])
        return math.sqrt(
            float(
                sampling.replicates.covariance(vector(found)[:, None], value)[0, 0]
            )
        )
    moves = adds / (sampling.weights * here).sum()
    return math.sqrt(
        float(between_cluster_covariance(moves, sampling.with_replacement())[0, 0])
    )


def _weighted(values: Any, sampling: Sampling) -> Matrix:
    given = np.array(values, np.float64)
    check_rows(given, "values", len(sampling))
    if given.ndim == 1:
        given = given[:, None]
    if sampling.calibration is not None:
        given = sampling.calibration.residuals(
            given, sampling.base, sampling.weights
        )
    return vector(given * sampling.weights[:, None])


def _joint(weighted: Matrix, joint: Matrix, single: Vector, rule: str) -> Matrix:
    together = (joint - np.outer(single, single)) / joint
    crossed = weighted.T @ together @ weighted
    if rule == "horvitz-thompson":
        return vector(crossed)
    # −½ Σ d_ij (e_i − e_j)(e_i − e_j)′ = e′de − Σ_i (Σ_j d_ij) e_i e_i′; pairs of one person with itself cancel.
    return vector(crossed - (weighted.T * together.sum(axis=1)) @ weighted)


def _deville(weighted: Matrix, sampling: Sampling) -> Matrix:
    """Return Deville's approximation, stratum by stratum; whoever was sure to be drawn adds nothing."""
    assert sampling.inclusion is not None
    total, strata = np.zeros((weighted.shape[1],) * 2), len(sampling.stratum_names)
    unsure = sampling.inclusion < 1
    refuse_lone(
        np.bincount(sampling.strata[unsure], minlength=strata),
        sampling.stratum_names,
        np.ones(strata),
    )
    for stratum in range(strata):
        rows = np.flatnonzero((sampling.strata == stratum) & unsure)
        if not len(rows):
            continue
        left = 1 - sampling.inclusion[rows]
        parts = left / left.sum()
        away = weighted[rows] - parts @ weighted[rows]
        total += (away.T * left) @ away / (1 - float(parts @ parts))
    return vector(total)
