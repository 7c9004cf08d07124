"""Tables and pictures of designs for strings, and of their tallies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deniable.display.sheets import missing_notes, tally_title, view_sheet
from deniable.display.views import ChannelView
from deniable.rendering import Sheet, columns_of
from deniable.types.strings.claims import caveats
from deniable.types.strings.count import NoisyTally, StringTally
from deniable.types.strings.design import StringDesign

if TYPE_CHECKING:
    from deniable.rendering.pictures import Picture

_MOST_DOTS = 20_000  # bits of all cohorts that are drawn


def sheet(design: StringDesign) -> Sheet:
    """Return the table of the probabilities of a bit."""
    table = view_sheet(
        f"{design!r}", views(design)[0], (design.told, *caveats(design))
    )
    return replace(table, names=("bit", "one", "zero"))


def views(
    design: StringDesign,
    *,
    pictured: bool = False,  # noqa: ARG001 - two by two
) -> tuple[ChannelView, ...]:
    """Return the probabilities of a bit."""
    hit, stray = design.bit
    rows = ((hit, stray), (1 - hit, 1 - stray))
    return (ChannelView("each bit", ("a true 1", "a true 0"), ("1", "0"), rows),)


def tally_sheet(tally: StringTally | NoisyTally) -> Sheet:
    """Return a table with a row for each cohort: its responses, and the ones in all their bits."""
    cohorts = enumerate(zip(tally.sizes, tally.ones, strict=True))
    values = tuple(
        (f"cohort {number}", int(size), int(ones.sum()))
        for number, (size, ones) in cohorts
    )
    return Sheet(
        tally_title(tally),
        heads=("", "responses", "ones in all bits"),
        cells=columns_of(values),
        notes=missing_notes(tally),
        names=("cohort", "responses", "ones"),
        values=values,
    )


def tally_picture(tally: StringTally | NoisyTally, *, title: str = "") -> Picture:
    """Draw the share of ones in each bit of each cohort, with its expectations without and with a string there."""
    from deniable.rendering.pictures import (
        ACCENT,
        INK,
        TRUTH,
        legend_below,
        start_picture,
    )

    figure, axes = start_picture(4.6, title or tally_title(tally), letters=84)
    shares = tally.ones / np.maximum(tally.sizes, 1)[:, None]
    bits = np.broadcast_to(np.arange(shares.shape[1]), shares.shape)
    step = max(1, shares.size // _MOST_DOTS)
    axes.plot(
        bits.ravel()[::step],
        shares.ravel()[::step],
        "o",
        color=ACCENT,
        markersize=3,
        label="a bit of a cohort",
    )
    hit, stray = tally.rates()
    axes.axhline(stray, color=INK, linewidth=1, label="had nobody a string there")
    axes.axhline(
        hit, color=TRUTH, linewidth=1, linestyle="--", label="had everybody one"
    )
    axes.set(xlabel="bit", ylabel="ones for each response")
    legend_below(figure)
    return figure
