"""Tables and pictures of designs for one edge, and of their tallies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.display.views import ChannelView, design_views
from deniable.rendering import Sheet, formats
from deniable.types.edges.claims import caveats
from deniable.types.edges.count import EdgeTally
from deniable.types.edges.design import EdgeDesign
from deniable.types.key_value.display import (
    item_design_sheet,
    item_tally_picture,
    item_tally_sheet,
)

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture


def sheet(design: EdgeDesign) -> Sheet:
    """Return the table of the response probabilities of a weight."""
    return item_design_sheet(design, views(design)[0], caveats(design))


def privacy_text(design: EdgeDesign) -> list[str]:
    """Return what a response reveals at most about the weight, and what it does not protect."""
    return [
        f"Whatever is sent, the odds between any two weights change by a factor of at most "
        f"{formats.factor(design.parity)} (ε = {formats.epsilon(design.epsilon)}).",
        design.caveat,
    ]


def views(design: EdgeDesign, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    """Return the response probabilities of the weight of an edge."""
    return tuple(
        view._replace(title="the weight of an edge")
        for view in design_views(design.choice, pictured=pictured)
    )


def tally_sheet(tally: EdgeTally) -> Sheet:
    """Return the table of counts by item and weight."""
    return item_tally_sheet(tally, tally.design.choice.symbols)


def tally_picture(tally: EdgeTally, *, title: str = "") -> Picture:
    """Draw the counts by item and weight as bars."""
    return item_tally_picture(tally, tally.design.choice.symbols, title=title)
