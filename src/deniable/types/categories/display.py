"""Tables and pictures of designs for categories and of their tallies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs import Design
from deniable.display.named_designs import device_clause
from deniable.display.privacy_texts import frequencies, odds, promise
from deniable.display.sheets import (
    cell_counts,
    counts_sheet,
    design_title,
    parts_sheet,
    tally_title,
    view_sheet,
)
from deniable.display.views import design_views as views
from deniable.rendering import Sheet, formats
from deniable.tallies import Tally
from deniable.tallies.weighted import WeightedTally

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture

__all__ = [
    "device_clause",
    "parts",
    "picture_title",
    "privacy_text",
    "sheet",
    "tally_picture",
    "tally_sheet",
    "views",
]


def sheet(design: Design) -> Sheet:
    """Return the table of response probabilities; of several attributes, a row for each."""
    (first, *others) = views(design)
    notes = (*promise(design), *((design.caveat,) if design.caveat else ()))
    if others or design.factors:
        return parts_sheet(
            f"{design!r}",
            [(factor.attribute, factor.design) for factor in design.factors],
            notes,
        )
    return view_sheet(
        f"{design!r}", first, notes, complete=first.given == tuple(design.categories)
    )


def picture_title(design: Design) -> str:
    """Return the title of a picture of the design."""
    if design.factors:
        return f"{design.name} of {', '.join(design.attributes)}; ε = {formats.epsilon(design.epsilon)}"
    return design_title(design)


def parts(design: Design) -> list[tuple[str, Design]]:
    """Return the designs of the attributes by name; the design itself if it has one attribute."""
    return [
        (f"“{factor.attribute}”", factor.design) for factor in design.factors
    ] or [("", design)]


def privacy_text(design: Design) -> tuple[str, ...]:
    """Return sentences about what a response reveals at most, and about how often each is sent."""
    return (*promise(design), *odds(design), *frequencies(design))


def tally_sheet(tally: Tally | WeightedTally) -> Sheet:
    """Return the table of counts by response."""
    return counts_sheet(tally, *cell_counts(tally))


def tally_picture(tally: Tally | WeightedTally, *, title: str = "") -> Picture:
    """Draw the counts, or the sums of weights, as bars."""
    from deniable.rendering.pictures import draw_bars

    labels, counts = cell_counts(tally)
    amounts, axis = (
        (tally.weights, "sum of weights")
        if isinstance(tally, WeightedTally)
        else (counts, "times sent")
    )
    rows = list(zip(labels, map(float, amounts), strict=True))
    return draw_bars(rows, title or tally_title(tally), axis)
