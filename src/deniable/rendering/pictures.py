"""The look of all pictures: colours on light and on dark, axes without clutter, bars, tables of probabilities."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex, to_rgba, to_rgba_array
from matplotlib.figure import Figure

from deniable.errors import InvalidRequest, quoted, require
from deniable.rendering import MAX_ANSWERS, MAX_RESPONSES, formats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

    from deniable.display.views import ChannelView

INK, GRID, ACCENT, PALE, TRUTH = (
    "#1f2933",
    "#e4e7eb",
    "#2563a8",
    "#b9cfe6",
    "#d1495b",
)
LINES = (
    ACCENT,
    TRUTH,
    "#2f7d5b",
    "#8a5a00",
    "#6b3fa0",
    "#3b8ea5",
    "#a33b82",
    "#5c6670",
)
"""Colours of lines, in this order; told apart also by people who see few colours, as far as their number allows."""

DARK = {
    "#ffffff": "#14191f", "#000000": "#e6eaee", INK: "#e6eaee", GRID: "#37424d", ACCENT: "#6aa5e0", PALE: "#38597a",
    TRUTH: "#ff8a80", "#2f7d5b": "#6fd3a0", "#8a5a00": "#e0b050", "#6b3fa0": "#b79cf0", "#3b8ea5": "#7cc7da",
    "#a33b82": "#ee8fcf", "#5c6670": "#aab4be",
}  # fmt: skip
"""What each colour becomes on a dark background."""

MAX_BARS = 40
"""Bars or intervals that a reader can tell apart."""

_TITLE_LETTERS = 92  # in a line of a title over a picture of full width
_LABEL_LETTERS = 32  # of a label beside an axis
_PAINTED = ("facecolor", "edgecolor", "color", "markerfacecolor", "markeredgecolor")
_OPACITY = 0.55  # of a certain cell; the number on it stays readable


class Picture(Figure):
    """A figure of matplotlib that shows itself in a notebook, light or dark as its reader has it."""

    def _repr_svg_(self) -> str:
        out = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": "deniable"}):
            self.savefig(
                out, format="svg", metadata={"Date": None, "Creator": "deniable"}
            )
        return _follow_reader(out.getvalue())

    def darken(self) -> None:
        """Change each of our colours to the one for a dark background.

        Example:
            >>> picture = Picture()
            >>> picture.darken()
            >>> to_hex(picture.get_facecolor())
            '#14191f'
        """
        for artist in self.findobj():
            for name in _PAINTED:
                read, write = (
                    getattr(artist, f"{verb}_{name}", None)
                    for verb in ("get", "set")
                )
                if read is not None and write is not None:
                    write(_dark_color(read()))
        for axes in self.axes:
            axes.tick_params(which="both", colors=DARK[INK], grid_color=DARK[GRID])


def _follow_reader(svg: str) -> str:
    """Return an SVG whose colours follow what its reader prefers."""
    lights, darks = (
        "".join(f"--d{number}:{color};" for number, color in enumerate(colors))
        for colors in (DARK, DARK.values())
    )
    for number, light in enumerate(DARK):
        svg = svg.replace(light, f"var(--d{number})")
    style = f"<style>svg{{{lights}}}@media(prefers-color-scheme:dark){{svg{{{darks}}}}}</style>"
    return svg.replace("<defs>", f"{style}<defs>", 1)


def _dark_color(color: ColorType | Sequence[ColorType]) -> object:
    """Return what one or several colours become; others stay, and so does how clear they are."""
    if isinstance(color, str) and color in ("none", "auto"):
        return color
    colors = to_rgba_array(color)
    for row in colors:
        row[:3] = to_rgba_array(DARK.get(to_hex(row), to_hex(row)))[0, :3]
    return colors if len(colors) != 1 else tuple(colors[0])


def start_picture(
    height: float,
    title: str = "",
    *,
    width: float = 8,
    letters: int = _TITLE_LETTERS,
) -> tuple[Picture, Axes]:
    """Return a picture with one pair of axes below a title, whose lines have at most so many letters."""
    figure = Picture(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    lines = [textwrap.fill(line, letters) for line in title.splitlines()]
    set_title(axes, "\n".join(lines))
    strip_frame(axes)
    return figure, axes


def set_title(axes: Axes, title: str, size: int = 11) -> None:
    """Write a title above the left end of a pair of axes; a dollar sign begins no formula."""
    axes.set_title(_escape_dollars(title), loc="left", color=INK, fontsize=size)


def set_main_title(figure: Figure, title: str, *notes: str) -> None:
    """Write a title above several pairs of axes, and notes in lines below it."""
    text = _escape_dollars("\n".join([textwrap.fill(title, _TITLE_LETTERS), *notes]))
    figure.suptitle(text, x=0.01, ha="left", color=INK, fontsize=11)


def strip_frame(axes: Axes) -> None:
    """Remove the frame and the ticks of axes, and lay a pale grid under the marks."""
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    _write_in_ink(axes)
    for name in ("top", "right"):
        axes.spines[name].set_visible(False)


def _write_in_ink(axes: Axes) -> None:
    axes.tick_params(length=0, colors=INK)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_color(INK)


def name_rows(
    axes: Axes,
    names: Sequence[str],
    *,
    heights: Sequence[float] | None = None,
    letters: int = _LABEL_LETTERS,
) -> None:
    """Write names beside rows, the first at the top; the grid is for the numbers alone."""
    positions = range(len(names)) if heights is None else heights
    axes.set_yticks(positions, [shorten(name, letters) for name in names])
    axes.set_ylim(max(positions, default=0) + 0.5, -0.6)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)


def legend_below(figure: Figure, columns: int = 3) -> None:
    """Explain colours and marks below the axes."""
    figure.legend(
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
    )


def shorten(text: str, letters: int = _LABEL_LETTERS) -> str:
    """Return a label on one line, cut after some letters."""
    line = " ".join(text.split()) if "\n" in text else text
    return _escape_dollars(
        line if len(line) <= letters else f"{line[: letters - 1]}…"
    )


def _escape_dollars(text: str) -> str:
    """Return a text that a picture shows as it is: a dollar sign begins no formula."""
    return text.replace("$", r"\$")


def draw_bars(
    rows: Sequence[tuple[str, float]],
    title: str,
    across: str,
    *,
    ordered: bool = True,
) -> Picture:
    """Draw a bar for each name; of very many the largest, and the title tells of how many."""
    if ordered and len(rows) > MAX_BARS:
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
    longest = max([min(len(name), _LABEL_LETTERS) for name, _ in rows], default=0)
    if len(rows) > MAX_BARS:
        title += f"\nthe {MAX_BARS} largest of {len(rows):,}"
        rows = rows[:MAX_BARS]
    height = 1.6 + max(1, len(rows)) * (0.42 if len(rows) <= MAX_ANSWERS else 0.26)
    figure, axes = start_picture(height, title, letters=_TITLE_LETTERS - longest)
    heights = np.arange(len(rows), dtype=float)
    values = np.nan_to_num([row for _, row in rows], posinf=0.0, neginf=0.0)
    values = values.reshape(len(rows), -1)
    left = np.zeros(len(rows))
    width = 0.7 if stacked else 0.7 / len(names)
    colors = (PALE, *LINES) if stacked else LINES
    for number, (name, color) in enumerate(zip(names, colors, strict=False)):
        offset = 0 if stacked else (number - (len(names) - 1) / 2) * width
        lengths = values[:, number]
        axes.barh(
            heights + offset,
            lengths,
            width,
            left=left,
            color=color,
            label=name or None,
        )
        left = left + lengths if stacked else left
    _label_bars(axes, rows, across, log)
    if any(names):
        legend_below(figure, len(names))
    return figure


def _label_bars(
    axes: Axes, rows: Sequence[tuple[str, Sequence[float]]], across: str, log: bool
) -> None:
    name_rows(axes, [name for name, _ in rows])
    axes.set_xlabel(across)
    if log:
        axes.set_xscale("log")
    else:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")


def draw_views(views: Sequence[ChannelView], title: str) -> Picture:
    """Draw tables of probabilities, three beside each other."""
    beside = min(len(views), 3)
    lines = -(-len(views) // beside)
    rows = max(len(view.responses) for view in views)
    highest = float(max(view.highest for view in views))
    row_height = 0.36 if rows <= MAX_RESPONSES else 0.16
    height = 1.3 + lines * (0.9 + max(1.4, row_height * rows))
    figure = Picture(figsize=(8, height), layout="constrained")
    for number, view in enumerate(views):
        axes = figure.add_subplot(lines, beside, number + 1)
        draw_cells(axes, view.chances, view.responses, view.given, highest)
        axes.set(xlabel=view.across, ylabel="" if number % beside else "response")
        if view.title:
            set_title(axes, shorten(view.title), 10)
    notes = [view.note for view in views if view.note][:1]
    set_main_title(figure, title, *notes)
    return figure


def draw_cells(
    axes: Axes,
    chances: Sequence[Sequence[Fraction]],
    down: Sequence[str],
    across: Sequence[str],
    highest: float = 1.0,
) -> None:
    """Draw a table of probabilities: the fuller the likelier, and where there is room, a number says how likely."""
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    cells = [
        (column, row, chance)
        for row, line in enumerate(chances)
        for column, chance in enumerate(line)
    ]
    squares = [corners + np.array([column, row]) for column, row, _ in cells]
    fills = [to_rgba(ACCENT, _OPACITY * float(p) / highest) for _, _, p in cells]
    axes.add_collection(
        PolyCollection(squares, facecolors=fills, edgecolors=GRID, linewidths=0.8)
    )
    if len(down) * len(across) <= MAX_ANSWERS**2 and len(across) <= MAX_ANSWERS:
        for column, row, chance in cells:
            percent = formats.percent(chance, 2)
            axes.text(
                column, row, percent, ha="center", va="center", color=INK, fontsize=9
            )
    letters = 14 if len(across) > 2 else _LABEL_LETTERS
    turned = len(across) > 4 and max(map(len, across)) > 5
    side = {"rotation": 40, "ha": "right"} if turned else {"ha": "center"}
    step = max(1, -(-len(across) // MAX_RESPONSES))
    names = [shorten(name, letters) for name in across[::step]]
    axes.set_xticks(range(0, len(across), step), names, **side)
    step = max(1, -(-len(down) // MAX_RESPONSES))
    axes.set_yticks(range(0, len(down), step), list(map(shorten, down[::step])))
    axes.set_xlim(-0.5, len(across) - 0.5)
    axes.set_ylim(len(down) - 0.5, -0.5)
    _write_in_ink(axes)
    for spine in axes.spines.values():
        spine.set_visible(False)


def save(figure: Figure, path: str | Path) -> Path:
    """Write a picture; the ending of the name says the format, such as .png or .svg.

    Raises:
        InvalidRequest: no picture, a format that Matplotlib does not write, or a folder that is not there.
    """
    require(
        hasattr(figure, "savefig"),
        figure,
        "the picture",
        "a figure of Matplotlib, as plot() returns",
    )
    require(isinstance(path, str | Path), path, "the path", "the name of a file")
    target = Path(path)
    endings = sorted(figure.canvas.get_supported_filetypes())
    if target.suffix.lower().removeprefix(".") not in endings:
        raise InvalidRequest(
            f"the name of the picture ends in {quoted(target.suffix)}; expected one of {', '.join(endings)}."
        )
    if not target.parent.is_dir():
        raise InvalidRequest(
            f"there is no folder {quoted(str(target.parent), 80)}; expected one that exists."
        )
    figure.savefig(target, dpi=150)
    return target
