"""Before anybody is asked: how many people, how wide an interval, what can be found, and which design is best where."""

from __future__ import annotations

from deniable.plan.caps import best_under_caps, designs_at
from deniable.plan.cards import (
    crossing,
    crossing_independent,
    deck_sample_size,
    ideal_deck_variance,
)
from deniable.plan.chooser import (
    Choice,
    ConsideredDesign,
    Device,
    best_device,
    optimal,
)
from deniable.plan.comparison import ComparedDesign, Comparison, compare
from deniable.plan.detection import detection_limit, power, sample_size_for_power
from deniable.plan.groups import (
    Arm,
    allocation,
    cheater_detection,
    difference,
    difference_power,
    two_sample_allocation,
)
from deniable.plan.honesty import crossover, noncompliance
from deniable.plan.imperfect_tests import prevalence
from deniable.plan.items import ConsideredItems, ItemsChoice, optimal_items
from deniable.plan.lists import list_experiment
from deniable.plan.outcomes import by_answer, mean_variance
from deniable.plan.people import how_many, how_small, how_wide, sample_size_for_width
from deniable.plan.planned import Planned
from deniable.plan.precision import sample_size, variance, width
from deniable.plan.quantiles import quantile
from deniable.plan.stages import Proposal, propose
from deniable.plan.totals import total_error
from deniable.plan.truncation import padding
from deniable.types.strings.limits import discovery_limit, string_detection_limit

__all__ = [
    "Arm",
    "Choice",
    "ComparedDesign",
    "Comparison",
    "ConsideredDesign",
    "ConsideredItems",
    "Device",
    "ItemsChoice",
    "Planned",
    "Proposal",
    "allocation",
    "best_device",
    "best_under_caps",
    "by_answer",
    "cheater_detection",
    "compare",
    "crossing",
    "crossing_independent",
    "crossover",
    "deck_sample_size",
    "designs_at",
    "detection_limit",
    "difference",
    "difference_power",
    "discovery_limit",
    "how_many",
    "how_small",
    "how_wide",
    "ideal_deck_variance",
    "list_experiment",
    "mean_variance",
    "noncompliance",
    "optimal",
    "optimal_items",
    "padding",
    "power",
    "prevalence",
    "propose",
    "quantile",
    "sample_size",
    "sample_size_for_power",
    "sample_size_for_width",
    "string_detection_limit",
    "total_error",
    "two_sample_allocation",
    "variance",
    "width",
]
