"""Step 1: a question with two answers, and a deck of cards that is dealt."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.designs import Deck

__all__ = ["DESIGN", "known_answers"]

DESIGN = Deck
"""The design class of this type."""


def known_answers(deck: Deck) -> Sequence[str]:
    """Return all answers: the categories."""
    return deck.categories
