"""Step 1: a question for a number in a range."""

from __future__ import annotations

from deniable.designs import NumberDesign, Purpose, number_design

__all__ = ["BUILDERS", "DESIGN", "known_answers"]

DESIGN = NumberDesign
"""The design class of this type."""

BUILDERS = {number_design: Purpose.ORDERED}
"""What the shell builds designs of this type with, and under which purpose lists show it."""


def known_answers(design: NumberDesign) -> tuple[float, ...]:
    """Return answers that differ much: both ends of the range, and its middle."""
    low, width = design.range.low, design.range.width
    return tuple(float(low + step * width / 2) for step in range(3))
