"""Samples with weights, strata and clusters: what rows of responses say about the people they stand for."""

from __future__ import annotations

from deniable.estimates.sampling.estimating import estimate, estimate_tally, estimate_values
from deniable.estimates.sampling.replicates import Replicates
from deniable.estimates.sampling.results import SampledEstimate, SampledRow
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import RowValues, row_values
from deniable.estimates.sampling.variances import between_cluster_covariance, design_covariance, sandwich

__all__ = [
    "Replicates",
    "RowValues",
    "SampledEstimate",
    "SampledRow",
    "Sampling",
    "between_cluster_covariance",
    "design_covariance",
    "estimate",
    "estimate_tally",
    "estimate_values",
    "row_values",
    "sandwich",
]
