"""People who do not follow the device: models that estimate how many there are, and what is left of a share.

Always one response, in two or more groups: `cheating_detection` (CDM, also symmetric), `lie_detector`,
`unrelated_cheating`, `extended_crosswise` with its test, `one_sayers`. Random answering: `control_item`, and
`anchored_crosswise` for numbers out of a publication. No to everything: `self_protection`, `sum_scores`. Against a
direct question: `compare_arms`. Everything is inside the simplex, with intervals at its border too.
"""

from __future__ import annotations

from deniable.estimates.compliance.arms import ArmComparison, compare_arms
from deniable.estimates.compliance.cheating import (
    Cheating,
    ExtendedCrosswise,
    LieDetector,
    cheating_detection,
    extended_crosswise,
    lie_detector,
    one_sayers,
    unrelated_cheating,
)
from deniable.estimates.compliance.control import (
    ControlItem,
    anchored_crosswise,
    control_item,
)
from deniable.estimates.compliance.fits import Compliance
from deniable.estimates.compliance.protection import (
    FreeSums,
    SelfProtection,
    SumScores,
    self_protection,
    sum_score_channel,
    sum_scores,
)

__all__ = [
    "ArmComparison",
    "Cheating",
    "Compliance",
    "ControlItem",
    "ExtendedCrosswise",
    "FreeSums",
    "LieDetector",
    "SelfProtection",
    "SumScores",
    "anchored_crosswise",
    "cheating_detection",
    "compare_arms",
    "control_item",
    "extended_crosswise",
    "lie_detector",
    "one_sayers",
    "self_protection",
    "sum_score_channel",
    "sum_scores",
    "unrelated_cheating",
]
