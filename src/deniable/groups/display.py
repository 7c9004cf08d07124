"""The table and the picture of a tally of groups: how many responded in each, and with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.display.sheets import cell_counts, tally_title
from deniable.rendering import Sheet, formats
from deniable.tallies import Tally
from deniable.tallies.group_labels import group_name

if TYPE_CHECKING:
    from deniable.groups.tallies import GroupedTally
    from deniable.rendering.pictures import Picture


def groups_sheet(groups: GroupedTally) -> Sheet:
    """Return the number of responses of each group; with weights also their sums."""
    weight = ("weight",) if groups.weighted else ()
    values = tuple(
        (
            group_name(group),
            tally.respondents,
            *([float(sum(tally.weights))] if weight else []),
            tally.missing,
        )
        for group, tally in groups.items()
    )
    return Sheet(
        tally_title(groups),
        heads=("group", "responses", *weight, "sent nothing"),
        cells=tuple(
            tuple(
                f"{cell:,.10g}" if isinstance(cell, float) else formats.cell(cell)
                for cell in row
            )
            for row in values
        ),
        names=("group", "responses", *weight, "missing"),
        values=values,
        sizes=tuple(float(row[1]) for row in values),
    )


def groups_picture(groups: GroupedTally, title: str) -> Picture:
    """Draw the counts of each group by response; of many responses, how many there are in all."""
    from deniable.rendering.pictures import LINES, draw_bars, draw_grouped_bars

    title = title or tally_title(groups)
    first = next(iter(groups.values()))
    if not isinstance(first, Tally) or len(first.counts) > len(LINES):
        rows = [
            (group_name(group), float(tally.respondents))
            for group, tally in groups.items()
        ]
        return draw_bars(rows, title, "responses")
    labels, _ = cell_counts(first)
    counts = [
        (group_name(group), list(map(float, cell_counts(tally)[1])))
        for group, tally in groups.items()
    ]
    return draw_grouped_bars(counts, labels, title, "times sent", stacked=True)
