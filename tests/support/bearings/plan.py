"""Planning with bearings: as with the device."""

from __future__ import annotations

from deniable.estimates.covariances import Matrix
from deniable.types.categories import plan
from deniable.types.categories.plan import Goal, Shares, VarianceCurve
from tests.support.bearings.design import BearingDesign


def variance_curve(
    design: BearingDesign,
    shares: Shares | None,
    goal: Goal,
    inverse: Matrix | None = None,
) -> VarianceCurve:
    return plan.variance_curve(design.device, shares, goal, inverse)
