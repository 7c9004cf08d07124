"""Step 1: a question for a number in a range."""

from __future__ import annotations

from deniable.designs import NumberDesign

__all__ = ["DESIGN", "known_answers"]

DESIGN = NumberDesign
"""The design class of this type."""


def known_answers(design: NumberDesign) -> tuple[float, ...]:
    """Return answers that differ much: both ends of the range, and its middle."""
    low, width = design.range.low, design.range.width
    return tuple(float(low + step * width / 2) for step in range(3))
