"""Answer → response. `deniable.responses` holds the draw, which a respondent's device loads without the other types."""

from __future__ import annotations

from deniable.designs import Design
from deniable.designs.labels import format_labels
from deniable.responses import respond

__all__ = ["expected_answer", "parse_answer", "respond"]


def parse_answer(design: Design, text: str) -> str:  # noqa: ARG001 - as other types
    """Return the category that a line names."""
    return text


def expected_answer(design: Design) -> str:
    """Say what a line may hold."""
    return f"one of {format_labels(design.categories)}"
