"""How pictures look: their colours, and axes without clutter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InvalidRequest
from deniable.estimates import Estimate
from deniable.estimates.stages import Combined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK, GRID = "#1f2933", "#e4e7eb"
LINES = ("#2563a8", "#d1495b", "#2f7d5b", "#8a5a00", "#6b3fa0", "#3b8ea5", "#a33b82", "#5c6670")
"""Colours of lines, in this order; told apart also by people who see few colours, as far as their number allows."""


def plain(axes: Axes) -> None:
    """Take away the frame and the ticks, and lay a pale grid under what is drawn."""
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


_MOST = 40  # bars that a reader can tell apart
_INK, _ACCENT, _PALE, _TRUTH = "#1f2933", "#2563a8", "#b9cfe6", "#d1495b"


def chart(
    estimate: Estimate | Combined,
    *,
    truth: Mapping[str, float] | None = None,
    level: float = 0.95,
    title: str = "",
) -> Figure:
    """Draw each category's share with its interval; above it, pale, what a direct question would have had.

    Args:
        estimate: what to draw, of one design or of stages.
        truth: true shares, where they are known because they were simulated.
        level: of the intervals.
        title: of the picture; by default what was asked and of how many.

    Raises:
        InvalidRequest: more categories than can be told apart.
    """
    from matplotlib.figure import Figure

    size = len(estimate.value)
    if size > _MOST:
        raise InvalidRequest(f"there are {size:,} categories; expected at most {_MOST} for a picture.")
    figure = Figure(figsize=(8, 1.7 + 0.5 * size), layout="constrained")
    axes = figure.add_subplot()
    _draw_rows(axes, estimate, truth or {}, level)
    summary = estimate.summary(level=level)
    axes.set_title(title or summary.title, loc="left", color=_INK, fontsize=11)
    axes.set_xlabel(f"share of respondents, with {level:.0%} intervals", color=_INK)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def save(figure: Figure, path: str | Path) -> Path:
    """Write a picture; the ending of the name says the format, such as .png or .svg."""
    target = Path(path)
    figure.savefig(target, dpi=150)
    return target


def _draw_rows(axes: Axes, estimate: Estimate | Combined, truth: Mapping[str, float], level: float) -> None:
    rows = estimate.summary(level=level).rows
    for y, row in enumerate(rows):
        first = y == 0
        axes.plot(
            [row.direct_low, row.direct_high],
            [y - 0.22] * 2,
            color=_PALE,
            linewidth=6,
            solid_capstyle="butt",
            label="had everybody been asked directly" if first else None,
        )
        axes.plot([row.low, row.high], [y, y], color=_ACCENT, linewidth=2.2)
        axes.plot([row.value], [y], "o", color=_ACCENT, markersize=6, label="estimate" if first else None)
        if row.category in truth:
            axes.plot(
                [truth[row.category]],
                [y],
                "|",
                color=_TRUTH,
                markersize=16,
                markeredgewidth=2.2,
                label="truth" if first else None,
            )
    axes.set_yticks(np.arange(len(rows)), [row.category for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.6)
    axes.axvline(0, color=_INK, linewidth=0.8)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.grid(axis="x", color="#e4e7eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=_INK)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
