"""Samples with weights, strata and clusters: what rows of responses say about the people they stand for."""

from __future__ import annotations

from deniable.estimates.sampling.cards import estimate_dealt
from deniable.estimates.sampling.devices import estimate_devices, estimate_stages
from deniable.estimates.sampling.estimating import (
    Asked,
    estimate,
    estimate_tally,
    estimate_values,
)
from deniable.estimates.sampling.people import People, effective_size, few_degrees
from deniable.estimates.sampling.replicates import Replicates
from deniable.estimates.sampling.results import SampledEstimate, SampledRow
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import (
    Dealt,
    OneResponse,
    RowValues,
    category_values,
    check_room,
    linear_of,
    linear_values,
    one_response,
    row_values,
)

__all__ = [
    "Asked",
    "Dealt",
    "OneResponse",
    "People",
    "Replicates",
    "RowValues",
    "SampledEstimate",
    "SampledRow",
    "Sampling",
    "category_values",
    "check_room",
    "effective_size",
    "estimate",
    "estimate_dealt",
    "estimate_devices",
    "estimate_stages",
    "estimate_tally",
    "estimate_values",
    "few_degrees",
    "linear_of",
    "linear_values",
    "one_response",
    "row_values",
]
