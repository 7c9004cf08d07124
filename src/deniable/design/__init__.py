"""Step 1: choose a channel. A function for each family, a value for each design."""

from __future__ import annotations

from deniable.design.attributes import attribute_epsilons
from deniable.design.binary import binary
from deniable.design.binary_choice import BinaryChoice
from deniable.design.bitstrings import Bitstrings
from deniable.design.christofides import christofides
from deniable.design.crosswise import crosswise
from deniable.design.deck import Deck, integer_deck
from deniable.design.design import Design, Factor
from deniable.design.forced_response import forced_response
from deniable.design.hadamard import hadamard
from deniable.design.hashing import local_hashing
from deniable.design.items import direct, items
from deniable.design.k_ary import k_ary
from deniable.design.labels import Numbered
from deniable.design.matrix import matrix
from deniable.design.mixture import mixture, mixture_risk, rappor_weights, truncated_rappor
from deniable.design.product import product
from deniable.design.registry import FAMILIES, Family
from deniable.design.relaxed_binary import (
    capped_binary,
    exposing_binary,
    exposure_threshold,
    feasible_binary,
    relaxed_warner,
)
from deniable.design.simmons import simmons
from deniable.design.subset import best_t, subset, subset_information, subset_risk
from deniable.design.three import rr3_club, rr3_dagger, rr3_ddagger
from deniable.design.two_answers import optimal_binary
from deniable.design.unary import rappor, unary
from deniable.design.warner import warner

__all__ = [
    "FAMILIES",
    "BinaryChoice",
    "Bitstrings",
    "Deck",
    "Design",
    "Factor",
    "Family",
    "Numbered",
    "attribute_epsilons",
    "best_t",
    "binary",
    "capped_binary",
    "christofides",
    "crosswise",
    "direct",
    "exposing_binary",
    "exposure_threshold",
    "feasible_binary",
    "forced_response",
    "hadamard",
    "integer_deck",
    "items",
    "k_ary",
    "local_hashing",
    "matrix",
    "mixture",
    "mixture_risk",
    "optimal_binary",
    "product",
    "rappor",
    "rappor_weights",
    "relaxed_warner",
    "rr3_club",
    "rr3_dagger",
    "rr3_ddagger",
    "simmons",
    "subset",
    "subset_information",
    "subset_risk",
    "truncated_rappor",
    "unary",
    "warner",
]
