"""Tables and pictures of designs for items with weights, and of their tallies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deniable.designs import Design
from deniable.display.sheets import missing_notes, tally_title, view_sheet
from deniable.display.views import ChannelView, design_views
from deniable.rendering import Sheet, columns_of, formats
from deniable.types.key_value.claims import caveats
from deniable.types.key_value.count import ItemTally, KeyValueTally
from deniable.types.key_value.design import NAMES, ItemDesign, KeyValueDesign

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture

_MARKS = {"0": "none", "+": "+", "-": "−"}
# of marks that are no names for programs
_COLUMN_NAMES = {"+": "plus", "−": "minus"}


def sheet(design: KeyValueDesign) -> Sheet:
    """Return the table of the response probabilities of one item."""
    return item_design_sheet(design, views(design)[0], caveats(design))


def privacy_text(design: KeyValueDesign) -> list[str]:
    """Return what a response reveals at most, and what two devices one after the other would be charged."""
    key, value = design.scheme.parts
    return [
        f"Whatever is sent, the odds between any two rows of items and weights change by a factor of at most "
        f"{formats.factor(design.parity)} (ε = {formats.epsilon(design.epsilon)}).",
        f"Key and value on their own change odds by up to {formats.factor(key)} and {formats.factor(value)}; one after "
        f"the other they would be charged ε = {formats.epsilon(design.sequential)}, {formats.number(design.saving)} "
        "more than is spent.",
    ]


def views(
    design: KeyValueDesign, *, pictured: bool = False
) -> tuple[ChannelView, ...]:
    """Return the response probabilities of an item that the device looks at."""
    symbol = design.scheme.symbol
    item_design = Design("symbol", NAMES, NAMES[-symbol.responses :], symbol)
    return tuple(
        view._replace(title="an item that is looked at")
        for view in design_views(item_design, pictured=pictured)
    )


def tally_sheet(tally: KeyValueTally) -> Sheet:
    """Return the table of counts by item and mark."""
    return item_tally_sheet(tally, _marks(tally))


def tally_picture(tally: KeyValueTally, *, title: str = "") -> Picture:
    """Draw the counts by item and mark as bars."""
    return item_tally_picture(tally, _marks(tally), title=title)


def item_design_sheet(
    design: ItemDesign, view: ChannelView, notes: Sequence[str]
) -> Sheet:
    """Return the table of the response probabilities of a design for items."""
    promise = (
        "Whatever is sent, the odds between any two answers change by a factor of at most "
        f"{formats.factor(design.parity)}."
    )
    return view_sheet(f"{design!r}", view, (promise, *notes))


def item_tally_sheet(tally: ItemTally[Any], marks: Sequence[str]) -> Sheet:
    """Return the table of counts by item and mark; the items with the largest counts come first in a short one."""
    values = tuple(
        (name, *counts)
        for name, counts in zip(
            tally.design.items, tally.counts.tolist(), strict=True
        )
    )
    heads = ("item", *marks)
    return Sheet(
        tally_title(tally),
        heads=heads,
        cells=columns_of(values),
        notes=missing_notes(tally),
        names=tuple(_COLUMN_NAMES.get(head, head) for head in heads),
        values=values,
        sizes=tuple(map(float, tally.counts[:, 1:].sum(axis=1).tolist())),
    )


def item_tally_picture(
    tally: ItemTally[Any], marks: Sequence[str], *, title: str = ""
) -> Picture:
    """Draw the counts by item and mark as stacked bars; of very many items the largest."""
    from deniable.rendering.pictures import MAX_BARS, draw_grouped_bars

    rows = list(
        zip(tally.design.items, tally.counts.astype(float).tolist(), strict=True)
    )
    if len(rows) > MAX_BARS:
        rows.sort(key=lambda row: -sum(row[1][1:]))
    return draw_grouped_bars(
        rows, marks, title or tally_title(tally), "times sent", stacked=True
    )


def _marks(tally: KeyValueTally) -> tuple[str, ...]:
    return tuple(_MARKS[mark] for mark in tally.design.scheme.marks)
