"""Step 1: choose a channel. A function for each family, a value for each design."""

from types import ModuleType

from deniable.designs.attributes import attribute_epsilons as attribute_epsilons
from deniable.designs.cards import Deck as Deck
from deniable.designs.cards import integer_deck as integer_deck
from deniable.designs.design import AnyDesign as AnyDesign
from deniable.designs.design import Design as Design
from deniable.designs.design import Factor as Factor
from deniable.designs.design import FieldedDesign as FieldedDesign
from deniable.designs.families import *  # noqa: F403 - the list of families
from deniable.designs.labels import Bitstrings as Bitstrings
from deniable.designs.labels import Numbered as Numbered
from deniable.designs.numbers import NumberDesign as NumberDesign
from deniable.designs.numbers import Range as Range
from deniable.designs.numbers import Scale as Scale
from deniable.designs.numbers import number_design as number_design
from deniable.designs.registry import FAMILIES as FAMILIES
from deniable.designs.registry import Family as Family
from deniable.designs.registry import Purpose as Purpose
from deniable.designs.registry import register as register
from deniable.designs.sets_of_answers import best_t as best_t
from deniable.designs.sets_of_answers import mixture_risk as mixture_risk
from deniable.designs.sets_of_answers import rappor_weights as rappor_weights
from deniable.designs.sets_of_answers import subset_information as subset_information
from deniable.designs.sets_of_answers import subset_risk as subset_risk
from deniable.designs.two_answers_relaxed import BinaryChoice as BinaryChoice
from deniable.designs.two_answers_relaxed import (
    exposure_threshold as exposure_threshold,
)
from deniable.designs.two_answers_relaxed import feasible_binary as feasible_binary
from deniable.designs.two_answers_relaxed import optimal_binary as optimal_binary

__all__ = [
    name
    for name, value in vars().items()
    if not name.startswith("_")
    and value is not ModuleType
    and not isinstance(value, ModuleType)
]
