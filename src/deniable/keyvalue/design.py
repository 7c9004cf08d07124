"""Step 1: choose how somebody's items and weights become a response. A function for each family."""

from __future__ import annotations

from deniable.keyvalue.lpp import lpp, lpp_club, lpp_ddagger, vpp
from deniable.keyvalue.mechanism import KeyValueDesign
from deniable.keyvalue.pckv import pckv_grr, pckv_ue
from deniable.keyvalue.spread import Moments, conditional_moments, moments

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
