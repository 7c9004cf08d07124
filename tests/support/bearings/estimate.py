"""Step 4: counts → the share of people who go in each direction."""

from __future__ import annotations

from deniable import estimates
from deniable.estimates import Estimate, shares
from deniable.tallies import Tally
from tests.support.bearings.count import BearingTally


def estimate(
    tally: BearingTally, *, method: str = "inversion", population: int | None = None
) -> Estimate:
    counts = Tally(tally.design.device, tally.counts, tally.missing)
    return estimates.estimate(counts, method=method, population=population)


def fitted(tally: Tally) -> Estimate:
    return shares.fitted(tally)
