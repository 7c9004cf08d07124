"""Numbers on cards → how often each was sent. `tallies.decks` counts, below the estimate of a deck."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.designs.cards import Deck
from deniable.tallies.decks import DeckTally, tally

__all__ = ["TALLY", "count_labels", "tally"]

TALLY = DeckTally


def count_labels(deck: Deck, columns: Mapping[str, Any]) -> DeckTally:
    """Count a column of numbers in a file."""
    return tally(deck, columns["response"].to_pylist())
