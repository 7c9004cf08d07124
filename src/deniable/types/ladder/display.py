"""Tables and pictures of ladders and of their tallies, stage by stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.designs import Design
from deniable.display.sheets import parts_sheet, tally_title
from deniable.display.views import ChannelView, part_views
from deniable.order.ladders import Ladder
from deniable.rendering import Sheet, columns_of, formats
from deniable.tallies.stages import StageTallies

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture

COUNTED_ONCE = "Everybody counts once, with the finest response sent."


def sheet(ladder: Ladder) -> Sheet:
    """Return a table with a row for each stage."""
    note = "All stages together reveal what the finest one reveals, and no more."
    return parts_sheet(f"{ladder!r}", parts(ladder), (note,))


def views(ladder: Ladder, *, pictured: bool = False) -> tuple[ChannelView, ...]:
    """Return the response probabilities of the first few stages."""
    return part_views(parts(ladder), pictured=pictured)


def parts(ladder: Ladder) -> list[tuple[str, Design]]:
    """Return the designs of the stages by name."""
    return [
        (f"stage {number}", design)
        for number, design in enumerate(ladder.designs, 1)
    ]


def methods_notes(ladder: Ladder) -> tuple[str, ...]:  # noqa: ARG001 - the same for all
    """Return sentences for a methods section."""
    return (COUNTED_ONCE,)


def tally_sheet(tallies: StageTallies) -> Sheet:
    """Return a table with a row for each stage: how many respondents sent it, and for how many it is the finest."""
    stages = zip(tallies.design.epsilons, tallies.seen, tallies.finest, strict=True)
    values = tuple(
        (f"stage {number}", epsilon, seen.respondents, finest.respondents)
        for number, (epsilon, seen, finest) in enumerate(stages, 1)
    )
    return Sheet(
        tally_title(tallies),
        heads=("", "ε", "have sent it", "stopped there"),
        cells=columns_of(
            [
                (name, formats.epsilon(epsilon), *counts)
                for name, epsilon, *counts in values
            ]
        ),
        notes=(COUNTED_ONCE,),
        names=("stage", "epsilon", "seen", "finest"),
        values=values,
    )


def tally_picture(tallies: StageTallies, *, title: str = "") -> Picture:
    """Draw for each stage how many respondents sent it, and for how many it is the finest."""
    from deniable.rendering.pictures import draw_grouped_bars

    rows = [
        (f"stage {number}", [float(seen.respondents), float(finest.respondents)])
        for number, (seen, finest) in enumerate(
            zip(tallies.seen, tallies.finest, strict=True), 1
        )
    ]
    return draw_grouped_bars(
        rows,
        ("have sent it", "stopped there"),
        title or tally_title(tallies),
        "respondents",
    )
