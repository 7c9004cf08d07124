"""Results that hold results of any type of question, so that they can be read from JSON.

The classes of results register themselves when their modules are imported; importing this module imports them all.
"""

from __future__ import annotations

from deniable.estimates.sampling import SampledEstimate
from deniable.types import FOLDERS, find_type_operation

__all__ = ["SampledEstimate"]

for _question_type in FOLDERS:
    find_type_operation(_question_type, "estimate")
