"""Rows of sampled people → the share of people who go in each direction."""

from __future__ import annotations

from typing import Any

from deniable.estimates import sampling
from deniable.estimates.sampling import SampledEstimate, Sampling
from deniable.tallies.responses import Responses
from tests.support.bearings.design import BearingDesign


def estimate_sampled(
    responses: Responses[BearingDesign],
    people: Sampling,
    *,
    domain: Any = None,
    by: Any = None,
) -> SampledEstimate:
    rows = Responses(responses.design.device, responses.columns, responses.missing)
    return sampling.estimate(rows, people, domain=domain, by=by)
