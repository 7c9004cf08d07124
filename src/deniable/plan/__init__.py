"""Before anybody is asked: how many people, how wide an interval, what can be found, and which design is best where."""

from __future__ import annotations

from deniable.plan.cards import crossing, crossing_independent, deck_sample_size, ideal_deck_variance
from deniable.plan.chooser import Choice, ConsideredDesign, optimal
from deniable.plan.comparison import ComparedDesign, Comparison, compare
from deniable.plan.detection import detection_limit, power, sample_size_for_power
from deniable.plan.devices import Device, best_device
from deniable.plan.items import ConsideredItems, ItemsChoice, optimal_items
from deniable.plan.sizes import sample_size, width
from deniable.plan.stages import Proposal, propose
from deniable.plan.variances import variance
from deniable.records.strings.discovery import discovery_limit
from deniable.records.strings.estimates import string_detection_limit

__all__ = [
    "Choice",
    "ComparedDesign",
    "Comparison",
    "ConsideredDesign",
    "ConsideredItems",
    "Device",
    "ItemsChoice",
    "Proposal",
    "best_device",
    "compare",
    "crossing",
    "crossing_independent",
    "deck_sample_size",
    "detection_limit",
    "discovery_limit",
    "ideal_deck_variance",
    "optimal",
    "optimal_items",
    "power",
    "propose",
    "sample_size",
    "sample_size_for_power",
    "string_detection_limit",
    "variance",
    "width",
]
