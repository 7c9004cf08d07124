"""Step 1: choose a channel. A function for each family, a value for each design."""

from __future__ import annotations

from deniable.designs.attributes import attribute_epsilons, direct, items, product
from deniable.designs.cards import Deck, christofides, integer_deck
from deniable.designs.design import AnyDesign, Design, Factor
from deniable.designs.labels import Bitstrings, Numbered
from deniable.designs.many_answers import forced_response, hadamard, k_ary, local_hashing, matrix
from deniable.designs.registry import FAMILIES, Family, register
from deniable.designs.sets_of_answers import (
    best_t,
    mixture,
    mixture_risk,
    rappor,
    rappor_weights,
    subset,
    subset_information,
    subset_risk,
    truncated_rappor,
    unary,
)
from deniable.designs.three_answers import rr3_club, rr3_dagger, rr3_ddagger
from deniable.designs.two_answers import binary, crosswise, simmons, warner
from deniable.designs.two_answers_relaxed import (
    BinaryChoice,
    capped_binary,
    exposing_binary,
    exposure_threshold,
    feasible_binary,
    optimal_binary,
    relaxed_warner,
)

__all__ = [
    "FAMILIES",
    "AnyDesign",
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
    "register",
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
