"""Tables and pictures of decks and of their tallies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs import Deck
from deniable.display.sheets import counts_sheet, tally_title, view_sheet
from deniable.display.views import ChannelView, design_views
from deniable.rendering import Sheet
from deniable.tallies.decks import DeckTally
from deniable.types.deck.claims import single_response_design

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture


def sheet(deck: Deck) -> Sheet:
    """Return the table of the probabilities of one response that is seen alone."""
    return view_sheet(_title(deck), views(deck)[0], (deck.guarantee,))


def methods_notes(deck: Deck) -> tuple[str, ...]:
    """Return sentences for a methods section."""
    return (deck.guarantee,)


def views(deck: Deck, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    """Return the probabilities of one response that is seen alone."""
    return design_views(single_response_design(deck), pictured=pictured)


def picture_title(deck: Deck) -> str:
    """Return the title of a picture of the deck."""
    return f"{_title(deck)}: one response, seen alone"


def tally_sheet(tally: DeckTally) -> Sheet:
    """Return the table of counts by number."""
    return counts_sheet(tally, _numbers(tally), tally.counts.tolist())


def tally_picture(tally: DeckTally, *, title: str = "") -> Picture:
    """Draw the counts by number as bars."""
    from deniable.rendering.pictures import draw_bars

    rows = list(zip(_numbers(tally), map(float, tally.counts.tolist()), strict=True))
    return draw_bars(rows, title or tally_title(tally), "times sent")


def _title(deck: Deck) -> str:
    return f"{deck.cards:,} cards for {deck.people:,} people"


def _numbers(tally: DeckTally) -> list[str]:
    return [str(number) for number in range(1, tally.design.numbers + 1)]
