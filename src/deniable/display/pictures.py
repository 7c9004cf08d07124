"""Pictures that several types of question share: response probabilities, bars of counts."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba

from deniable.display.views import MOST_ANSWERS, MOST_RESPONSES, ChannelView
from deniable.estimates.charts import (
    ACCENT,
    GRID,
    INK,
    LINES,
    MOST_BARS,
    PALE,
    Picture,
    drawable,
    plain,
)
from deniable.rendering import formats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE_LETTERS = 92
"""Letters in a line of a title over a picture of full width."""

_LETTERS = 32  # of a label beside an axis
_FULL = 0.55  # opacity of a certain cell; the number on it stays readable


def draw_axes(height: float, title: str) -> tuple[Picture, Axes]:
    """Return a picture of full width with one pair of axes below a title."""
    figure = Picture(figsize=(8, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(drawable(title), loc="left", color=INK, fontsize=11)
    plain(axes)
    return figure, axes


def draw_bars(
    rows: Sequence[tuple[str, float]], title: str, across: str, *, ordered: bool = True
) -> Picture:
    """Draw a bar for each name; of very many the largest, and the title tells of how many."""
    if ordered and len(rows) > MOST_BARS:
        rows = sorted(rows, key=lambda row: -row[1])
    return draw_grouped_bars(
        [(name, [value]) for name, value in rows], ("",), title, across
    )


def draw_grouped_bars(
    rows: Sequence[tuple[str, Sequence[float]]],
    names: Sequence[str],
    title: str,
    across: str,
    *,
    stacked: bool = False,
    log: bool = False,
) -> Picture:
    """Draw a bar for each name and row, beside or behind each other; of very many rows the first."""
    longest = max([min(len(name), _LETTERS) for name, _ in rows], default=0)
    heading = "\n".join(
        textwrap.fill(line, TITLE_LETTERS - longest) for line in title.splitlines()
    )
    if len(rows) > MOST_BARS:
        heading += f"\nthe {MOST_BARS} largest of {len(rows):,}"
        rows = rows[:MOST_BARS]
    figure, axes = draw_axes(
        1.6 + max(1, len(rows)) * (0.42 if len(rows) <= MOST_ANSWERS else 0.26), heading
    )
    heights = np.arange(len(rows), dtype=float)
    ends = np.zeros(len(rows))
    values = np.array(
        [[each if np.isfinite(each) else 0.0 for each in row] for _, row in rows]
    ).reshape(len(rows), -1)
    each = 0.7 if stacked else 0.7 / len(names)
    colors = (PALE, *LINES) if stacked else LINES
    for at, (name, color) in enumerate(zip(names, colors, strict=False)):
        places = heights if stacked else heights + (at - (len(names) - 1) / 2) * each
        axes.barh(
            places,
            values[:, at],
            each,
            left=ends if stacked else 0,
            color=color,
            label=name or None,
        )
        ends = ends + values[:, at]
    axes.set_yticks(heights, [shorten(name) for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(across, color=INK)
    if log:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    if any(names):
        figure.legend(
            loc="outside lower center",
            ncols=len(names),
            frameon=False,
            fontsize=9,
            labelcolor=INK,
        )
    return figure


def draw_views(shown: Sequence[ChannelView], title: str) -> Picture:
    """Draw tables of probabilities, three beside each other."""
    beside = min(len(shown), 3)
    lines = -(-len(shown) // beside)
    rows, highest = (
        max(len(each.responses) for each in shown),
        float(max(each.highest for each in shown)),
    )
    figure = Picture(
        figsize=(
            8,
            1.3
            + lines
            * (0.9 + max(1.4, (0.36 if rows <= MOST_RESPONSES else 0.16) * rows)),
        ),
        layout="constrained",
    )
    for at, panel in enumerate(shown, 1):
        axes = figure.add_subplot(lines, beside, at)
        draw_cells(axes, panel.chances, panel.responses, panel.given, highest)
        axes.set_xlabel(panel.across, color=INK)
        axes.set_ylabel(
            "response" if at % beside == 1 or beside == 1 else "", color=INK
        )
        if panel.title:
            axes.set_title(shorten(panel.title), loc="left", color=INK, fontsize=10)
    notes = [each.note for each in shown if each.note][:1]
    heading = "\n".join([textwrap.fill(title, TITLE_LETTERS), *notes])
    figure.suptitle(drawable(heading), x=0.01, ha="left", color=INK, fontsize=11)
    return figure


def draw_cells(
    axes: Axes,
    chances: Sequence[Sequence[Fraction]],
    down: Sequence[str],
    across: Sequence[str],
    highest: float = 1.0,
) -> None:
    """Draw a table of probabilities: the fuller the likelier, and where there is room, a number says how likely."""
    small = (
        len(down) * len(across) <= MOST_ANSWERS * MOST_ANSWERS
        and len(across) <= MOST_ANSWERS
    )
    squares = [
        [(j - 0.5, i - 0.5), (j + 0.5, i - 0.5), (j + 0.5, i + 0.5), (j - 0.5, i + 0.5)]
        for i in range(len(down))
        for j in range(len(across))
    ]
    fills = [
        to_rgba(ACCENT, _FULL * float(chance) / highest)
        for row in chances
        for chance in row
    ]
    axes.add_collection(
        PolyCollection(squares, facecolors=fills, edgecolors=GRID, linewidths=0.8)
    )
    for i, row in enumerate(chances if small else ()):
        for j, chance in enumerate(row):
            axes.text(
                j,
                i,
                formats.percent(chance, 2),
                ha="center",
                va="center",
                color=INK,
                fontsize=9,
            )
    turned = len(across) > 4 and max(map(len, across)) > 5
    letters = 14 if len(across) > 2 else _LETTERS
    right, below = (
        max(1, -(-size // MOST_RESPONSES)) for size in (len(across), len(down))
    )
    axes.set_xticks(range(0, len(across), right), [shorten(each, letters) for each in across[::right]],
                    rotation=40 if turned else 0, ha="right" if turned else "center")  # fmt: skip
    axes.set_yticks(
        range(0, len(down), below), [shorten(each) for each in down[::below]]
    )
    axes.set_xlim(-0.5, len(across) - 0.5)
    axes.set_ylim(len(down) - 0.5, -0.5)
    axes.tick_params(length=0, colors=INK)
    for side in axes.spines.values():
        side.set_visible(False)


def shorten(text: str, letters: int = _LETTERS) -> str:
    """Return a label on one line, cut after some letters."""
    line = " ".join(text.split()) if "\n" in text else text
    return drawable(line if len(line) <= letters else f"{line[: letters - 1]}…")
