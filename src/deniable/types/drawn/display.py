"""Tables and pictures of drawn items and of their tallies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable.designs import Design
from deniable.display.privacy_texts import promise
from deniable.display.sheets import counts_sheet, parts_sheet, tally_title
from deniable.display.views import ChannelView, part_views
from deniable.rendering import Sheet, formats
from deniable.types.drawn.claims import caveats
from deniable.types.drawn.count import DrawnTally
from deniable.types.drawn.design import DrawnDesign

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture


def sheet(design: DrawnDesign) -> Sheet:
    """Return a table with a row for each question."""
    return parts_sheet(
        f"{design!r}",
        _factors(design),
        (*privacy_text(design)[:2], *caveats(design)),
    )


def views(design: DrawnDesign, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    """Return the response probabilities of the first few questions."""
    return part_views(_factors(design), pictured=pictured)


def parts(design: DrawnDesign) -> list[tuple[str, Design]]:
    """Return the designs of the questions by name."""
    return [(f"“{name}”", part) for name, part in _factors(design)]


def privacy_text(design: DrawnDesign) -> tuple[str, ...]:
    """Return sentences about what a response reveals at most, and about each question.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.types.drawn.design import drawn_items
        >>> privacy_text(drawn_items({"smokes": warner(p="3/4"), "drinks": warner(p="2/3")}))[0]
        'Everybody answers 1 of 2 questions, drawn at random; which ones says nothing about the answers.'
    """
    first = (
        f"Everybody answers {design.each} of {len(design.factors)} questions, drawn at random; which ones says nothing "
        "about the answers."
    )
    second = "Warning: this design has no finite ε. Some responses prove something about an answer."
    if design.parity != math.inf:
        second = (
            "Whatever is sent, the odds between any two combinations of answers change by a factor of at most "
            f"{formats.factor(design.parity)} (ε = {formats.epsilon(design.epsilon)})."
        )
    return (
        first,
        second,
        *(f"{name}: {promise(part)[0]}" for name, part in design.factors),
    )


def tally_sheet(tally: DrawnTally) -> Sheet:
    """Return the table of counts by response."""
    return counts_sheet(tally, _symbols(tally), tally.counts.tolist())


def tally_picture(tally: DrawnTally, *, title: str = "") -> Picture:
    """Draw the counts by response as bars."""
    from deniable.rendering.pictures import draw_bars

    rows = list(zip(_symbols(tally), map(float, tally.counts.tolist()), strict=True))
    return draw_bars(rows, title or tally_title(tally), "times sent")


def _factors(design: DrawnDesign) -> list[tuple[str, Design]]:
    return [(factor.attribute, factor.design) for factor in design.factors]


def _symbols(tally: DrawnTally) -> list[str]:
    return [tally.design.symbol(number) for number in range(len(tally.counts))]
