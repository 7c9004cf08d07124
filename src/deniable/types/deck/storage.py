"""Responses in the tables of a database: the numbers that were sent."""

from __future__ import annotations

from deniable.designs.cards import Deck
from deniable.tallies.decks import DeckTally, tally
from deniable.tallies.stored.cells import Refused, Stages, count_cells, only_stage
from deniable.tallies.stored.forms import StoredForm, code_form

__all__ = ["forms", "of_cells"]


def forms(deck: Deck, *, labels: bool) -> tuple[StoredForm, ...]:
    """Return the form of the column of responses."""
    return (code_form(deck.numbers, labels=labels),)


def of_cells(deck: Deck, stages: Stages, refused: Refused) -> DeckTally:
    """Return the tally of the cells that a query counted."""

    def number_of(label: str) -> int:
        return int(tally(deck, [label]).counts.argmax())

    counted = only_stage(stages)
    return DeckTally(
        deck, count_cells(deck.numbers, counted, number_of, refused), counted.missing
    )
