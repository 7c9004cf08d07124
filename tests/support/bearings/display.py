"""Tables and pictures of bearings: those of the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.display.sheets import counts_sheet, tally_title, view_sheet
from deniable.display.views import ChannelView, design_views
from deniable.rendering import Sheet
from tests.support.bearings.count import BearingTally
from tests.support.bearings.design import POINTS, BearingDesign

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture


def sheet(design: BearingDesign) -> Sheet:
    return view_sheet("bearings", views(design)[0], ())


def views(
    design: BearingDesign, *, pictured: bool = False
) -> tuple[ChannelView, ...]:
    return design_views(design.device, pictured=pictured)


def tally_sheet(tally: BearingTally) -> Sheet:
    return counts_sheet(tally, POINTS, tally.counts.tolist())


def tally_picture(tally: BearingTally, *, title: str = "") -> Picture:
    from deniable.rendering.pictures import draw_bars

    rows = list(zip(POINTS, map(float, tally.counts.tolist()), strict=True))
    return draw_bars(rows, title or tally_title(tally), "times sent")
