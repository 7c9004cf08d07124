"""Results as pictures, and how all pictures look: their colours, and axes without clutter."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InvalidRequest
from deniable.estimates.results import PERCENTAGES, Result, Row, Summary
from deniable.estimates.shares import ShareRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK, GRID, ACCENT, PALE, TRUTH = "#1f2933", "#e4e7eb", "#2563a8", "#b9cfe6", "#d1495b"
LINES = (ACCENT, TRUTH, "#2f7d5b", "#8a5a00", "#6b3fa0", "#3b8ea5", "#a33b82", "#5c6670")
"""Colours of lines, in this order; told apart also by people who see few colours, as far as their number allows."""

MOST_BARS = 40  # intervals that a reader can tell apart
_FEW_BARS = 12  # up to so many have room between them
_LETTERS = 40  # of a name beside its interval; the picture keeps room for the numbers
_TITLE = 88  # letters in a line of the title


def plain(axes: Axes) -> None:
    """Take away the frame and the ticks, and lay a pale grid under what is drawn."""
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def chart(
    result: Result | Summary[Row],
    *,
    truth: Mapping[str, float] | None = None,
    level: float = 0.95,
    title: str = "",
) -> Figure:
    """Draw each number with its interval; above a share, pale, what a direct question would have had.

    Args:
        result: what to draw: any result, or its summary. Of more than forty numbers the largest are drawn.
        truth: true values, where they are known because they were simulated.
        level: of the intervals; a summary has its own.
        title: of the picture; by default what was asked and of how many.

    Raises:
        InvalidRequest: neither a result nor a summary.
    """
    from matplotlib.figure import Figure

    if not isinstance(result, Result | Summary):
        raise InvalidRequest(
            f"there is no picture of a {type(result).__name__}; expected what estimate() returns, or its summary()."
        )
    summary = result.summary(level=level) if isinstance(result, Result) else result
    rows = largest(summary.rows, MOST_BARS)
    height = max(len(rows), 1) * (0.5 if len(rows) <= _FEW_BARS else 0.28)
    figure = Figure(figsize=(8, 1.7 + height), layout="constrained")
    axes = figure.add_subplot()
    _draw_rows(axes, rows, truth or {})
    _label(axes, summary, len(rows), title)
    if truth or any(isinstance(row, ShareRow) for row in rows):
        figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def largest(rows: Sequence[Row], count: int) -> Sequence[Row]:
    """Return all rows, or, where there are more than `count`, those with the largest numbers."""
    return (
        rows if len(rows) <= count else sorted(rows, key=lambda row: -np.nan_to_num(row.estimate, nan=-np.inf))[:count]
    )


def save(figure: Figure, path: str | Path) -> Path:
    """Write a picture; the ending of the name says the format, such as .png or .svg."""
    target = Path(path)
    figure.savefig(target, dpi=150)
    return target


def _label(axes: Axes, summary: Summary[Row], shown: int, title: str) -> None:
    told = textwrap.fill(title or summary.title, _TITLE)
    everything = len(summary.rows) + summary.left_out
    if shown < everything:
        told += f"\nthe {shown} largest of {everything:,}"
    axes.set_title(told, loc="left", color=INK, fontsize=11)
    of = "share of respondents" if summary.quantity == "share" else summary.quantity
    axes.set_xlabel(f"{of}, with {summary.percent} intervals", color=INK)
    if summary.quantity in PERCENTAGES:
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
    else:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")


def _draw_rows(axes: Axes, rows: Sequence[Row], truth: Mapping[str, float]) -> None:
    heights = np.arange(len(rows))
    for height, row in zip(heights, rows, strict=True):
        first = height == 0
        if isinstance(row, ShareRow):
            label = "had everybody been asked directly" if first else None
            ends = [row.direct_low, row.direct_high]
            axes.plot(ends, [height - 0.22] * 2, color=PALE, linewidth=6, solid_capstyle="butt", label=label)
        axes.plot([row.low, row.high], [height] * 2, color=ACCENT, linewidth=2.2)
        axes.plot([row.estimate], [height], "o", color=ACCENT, markersize=6, label="estimate" if first else None)
        if row.name in truth:
            label = "truth" if first else None
            axes.plot([truth[row.name]], [height], "|", color=TRUTH, markersize=16, markeredgewidth=2.2, label=label)
    axes.set_yticks(heights, [textwrap.shorten(row.name, _LETTERS, placeholder=" …") for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.6)
    axes.axvline(0, color=INK, linewidth=0.8)
    plain(axes)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
