"""How pictures look: their colours, and axes without clutter."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
