"""Step 1: a question whose response is released in stages."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.order.ladders import Ladder

__all__ = ["DESIGN", "known_answers"]

DESIGN = Ladder
"""The design class of this type."""


def known_answers(ladder: Ladder) -> Sequence[str]:
    """Return all answers: the categories."""
    return ladder.categories
