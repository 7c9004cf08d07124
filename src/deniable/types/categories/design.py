"""Step 1: a question whose answer is one of several categories."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.designs import Design

__all__ = ["DESIGN", "known_answers"]

DESIGN = Design
"""The design class of this type."""


def known_answers(design: Design) -> Sequence[str]:
    """Return all answers: the categories."""
    return design.categories
