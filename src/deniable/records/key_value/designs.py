"""Step 1: choose how somebody's items and weights become a response. A function for each family."""

from __future__ import annotations

from deniable.records.key_value.builders import lpp, lpp_club, lpp_ddagger, pckv_grr, pckv_ue, vpp
from deniable.records.key_value.mechanism import KeyValueDesign
from deniable.records.key_value.spread import Moments, conditional_moments, moments

__all__ = [
    "KeyValueDesign",
    "Moments",
    "conditional_moments",
    "lpp",
    "lpp_club",
    "lpp_ddagger",
    "moments",
    "pckv_grr",
    "pckv_ue",
    "vpp",
]
