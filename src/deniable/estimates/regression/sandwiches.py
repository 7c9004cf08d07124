"""Standard errors by name: what the covariance of coefficients is computed from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.errors import NotEstimable
from deniable.estimates.covariances import Matrix

ERRORS = {
    "observed": "observed information",
    "expected": "expected information",
    "outer": "outer product of scores",
    "robust": "robust (HC0)",
    "cluster": "clusters",
}
"""The standard errors that can be asked for, and how a table calls them."""

FEW_CLUSTERS = 30
"""Clusters below which intervals take the quantiles of t, with clusters less strata as its degrees of freedom."""


def inverted(information: Matrix) -> Matrix | None:
    """Return the inverse of an information matrix; None where it is not positive definite."""
    units = 1 / np.sqrt(np.maximum(np.abs(np.diagonal(information)), 1e-300))
    scaled = information * np.outer(units, units)
    try:
        np.linalg.cholesky(scaled)
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return None
    whole = inverse * np.outer(units, units)
    return np.asarray((whole + whole.T) / 2, np.float64)


def sandwich(
    bread: Matrix, scores: Matrix, clusters: NDArray[np.int64] | None = None, strata: NDArray[np.int64] | None = None
) -> Matrix:
    """Return A⁻¹BA⁻¹, which holds also where the law of single rows is not quite that of the model.

    Implements: HC0, B = Σ s_i·s_i′ [Whi82]; with clusters their sums in place of rows, and B times G/(G − 1); with
    strata the covariance between the clusters of each, times m/(m − 1) [Bin83].

    Args:
        bread: A⁻¹, the inverse of the observed information.
        scores: the weighted gradient of each row.
        clusters: the number of each row's cluster; None where each row is its own.
        strata: the number of each row's stratum.

    Raises:
        NotEstimable: a stratum with a single cluster, or one cluster in all.
    """
    if clusters is None is strata:
        return np.asarray(bread @ (scores.T @ scores) @ bread, np.float64)
    own = np.arange(len(scores)) if clusters is None else clusters
    layer = np.zeros(len(scores), np.int64) if strata is None else strata
    pairs, where = np.unique(np.column_stack([layer, own]), axis=0, return_inverse=True)
    sums = np.zeros((len(pairs), scores.shape[1]))
    np.add.at(sums, where.ravel(), scores)
    meat = np.zeros((scores.shape[1],) * 2)
    for stratum in np.unique(pairs[:, 0]):
        members = sums[pairs[:, 0] == stratum]
        if len(members) < 2:
            raise NotEstimable(
                "a stratum has one cluster, or there is one cluster in all; expected at least 2, to see how they "
                "differ.",
                "Join strata that are alike, or leave clusters= and strata= away.",
            )
        apart = members - members.mean(axis=0)
        meat += len(members) / (len(members) - 1) * (apart.T @ apart)
    return np.asarray(bread @ meat @ bread, np.float64)
