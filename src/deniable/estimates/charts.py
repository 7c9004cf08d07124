"""Results as pictures, and how all pictures look: their colours on light and on dark, and axes without clutter."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.colors import to_hex, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from deniable.errors import InvalidRequest, quoted, require
from deniable.estimates.results import PERCENTAGES, Result, Row, Summary
from deniable.rendering import formats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


INK, GRID, ACCENT, PALE, TRUTH = "#1f2933", "#e4e7eb", "#2563a8", "#b9cfe6", "#d1495b"
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

_PAINTED = (
    "facecolor",
    "edgecolor",
    "color",
    "markerfacecolor",
    "markeredgecolor",
)  # what is coloured of an artist
MOST_BARS = 40  # intervals that a reader can tell apart
_FEW_BARS = 12  # up to so many have room between them
_LETTERS = 40  # of a name beside its interval; the picture keeps room for the numbers
_TITLE = 88  # letters in a line of the title
_RATIOS = ("odds ratio",)  # quantities on a scale of factors
_APART = (
    "coefficient",
    "change in share",
)  # numbers for one unit each, which differ as the units do
_MOST_APART = 12.0  # times as far as another from 0: further, and its neighbour's interval is a dot


class Picture(Figure):
    """A figure of matplotlib that shows itself in a notebook, light or dark as its reader has it."""

    def _repr_svg_(self) -> str:
        told = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": "deniable"}):
            self.savefig(
                told, format="svg", metadata={"Date": None, "Creator": "deniable"}
            )
        return _adaptive(told.getvalue())


def _adaptive(svg: str) -> str:
    """Return an SVG whose colours follow what its reader prefers."""
    lights, darks = (
        "".join(f"--d{at}:{each};" for at, each in enumerate(side))
        for side in (DARK, DARK.values())
    )
    for at, light in enumerate(DARK):
        svg = svg.replace(light, f"var(--d{at})")
    style = f"<style>svg{{{lights}}}@media(prefers-color-scheme:dark){{svg{{{darks}}}}}</style>"
    return svg.replace("<defs>", f"{style}<defs>", 1)


def darkened(figure: Figure) -> Figure:
    """Return a figure with each of our colours changed to the one for a dark background.

    Example:
        >>> to_hex(darkened(Picture()).get_facecolor())
        '#14191f'
    """
    for artist in figure.findobj():
        for name in _PAINTED:
            read, write = (
                getattr(artist, f"get_{name}", None),
                getattr(artist, f"set_{name}", None),
            )
            if read is not None and write is not None:
                write(_dark(read()))
    for axes in figure.axes:
        axes.tick_params(which="both", colors=DARK[INK], grid_color=DARK[GRID])
    return figure


def _dark(color: Any) -> Any:
    """Return what one or several colours become; what is none of ours stays, and so does how clear it is."""
    if isinstance(color, str) and color in ("none", "auto"):
        return color
    found = to_rgba_array(color)
    for row in found:
        row[:3] = to_rgba_array(DARK.get(to_hex(row), to_hex(row)))[0, :3]
    return found if len(found) != 1 else tuple(found[0])


def drawable(text: str) -> str:
    """Return a text that a picture shows as it is: a dollar sign begins no formula."""
    return text.replace("$", r"\$")


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
    dark: bool = False,
) -> Picture:
    """Draw each number with its interval; above a share, pale, what a direct question would have had, or the prior.

    Coefficients are drawn without the intercept, and those of another order of magnitude in a panel of their own; odds
    ratios on a scale of factors, around 1.

    Args:
        result: what to draw: any result, or its summary. Of more than forty numbers the largest are drawn.
        truth: true values, where they are known because they were simulated.
        level: of the intervals; a summary has its own.
        title: of the picture; by default what was asked and of how many.
        dark: light on dark, for slides and dark pages.

    Raises:
        InvalidRequest: neither a result nor a summary.
    """
    summary = _summarized(result, level)
    listed = _without_intercept(summary)
    rows = largest(listed, MOST_BARS)
    panels = _panels(rows) if summary.quantity in _APART else [rows]
    height = max(len(rows), 1) * (0.5 if len(rows) <= _FEW_BARS else 0.28)
    figure = Picture(
        figsize=(8, 1.2 + height + 0.5 * len(panels)), layout="constrained"
    )
    ratios = [len(each) + 1 for each in panels]
    for axes, panel in zip(
        figure.subplots(len(panels), squeeze=False, height_ratios=ratios)[:, 0],
        panels,
        strict=True,
    ):
        _draw_rows(axes, panel, truth or {}, log=summary.quantity in _RATIOS)
    left_out = "without the intercept" if len(listed) < len(summary.rows) else ""
    scaled = "each panel has a scale of its own" if len(panels) > 1 else ""
    _label(
        figure.axes,
        summary,
        len(rows),
        title,
        remarks=[each for each in (left_out, scaled) if each],
    )
    if truth or any(row.BESIDE for row in rows):
        figure.legend(
            loc="outside lower center",
            ncols=3,
            frameon=False,
            fontsize=9,
            labelcolor=INK,
        )
    if dark:
        darkened(figure)
    return figure


def forest(
    results: Mapping[str, Result | Summary[Row]],
    name: str | None = None,
    *,
    level: float = 0.95,
    title: str = "",
    dark: bool = False,
) -> Picture:
    """Draw several results on one scale: of groups of people, of designs, of waves.

    Args:
        results: the results, or their summaries, by what they are called.
        name: the number of each result that is drawn; by default all that the first one has.
        level: of the intervals; a summary has its own.
        title: of the picture.
        dark: light on dark, for slides and dark pages.

    Raises:
        InvalidRequest: no results, results of different quantities, or none with a number of this name.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.estimates import estimate
        >>> from deniable.tallies import Tally
        >>> both = {each: estimate(Tally(warner(2), [90, 10])) for each in ("men", "women")}
        >>> [label.get_text() for label in forest(both, "yes").axes[0].get_yticklabels()]
        ['men', 'women']
    """
    if not isinstance(results, Mapping):
        raise InvalidRequest(
            f"a forest is of several results by name; there is one {type(results).__name__}.",
            'For example {"men": men, "women": women}; dn.report.chart(result) draws one.',
        )
    known = {each: _summarized(result, level) for each, result in results.items()}
    if len({summary.quantity for summary in known.values()}) != 1:
        raise InvalidRequest(
            "a forest is of one quantity; expected at least one result, and all of the same quantity."
        )
    first = next(iter(known.values()))
    names = (
        [name]
        if name is not None
        else [row.name for row in largest(first.rows, MOST_BARS // len(known) or 1)]
    )
    rows = [
        (number, each, _found(known[each], number))
        for number in names
        for each in known
    ]
    drawn = [(number, each, row) for number, each, row in rows if row is not None]
    if not drawn:
        raise InvalidRequest(
            f"{quoted(name)} was not estimated in any of these; expected a name that one of them has."
        )
    figure = Picture(figsize=(8, 1.7 + 0.34 * len(drawn)), layout="constrained")
    axes = figure.add_subplot()
    palette = (
        LINES * (len(known) // len(LINES) + 1)
        if len(names) > 1
        else [ACCENT] * len(known)
    )
    colors = dict(zip(known, palette, strict=False))
    heights = _stacked(drawn, apart=len(names) > 1)
    for height, (number, each, row) in zip(heights, drawn, strict=True):
        label = each if number == names[0] and len(names) > 1 else None
        axes.plot([row.low, row.high], [height] * 2, color=colors[each], linewidth=2.2)
        axes.plot(
            [row.estimate], [height], "o", color=colors[each], markersize=6, label=label
        )
    told = [number if len(names) > 1 else each for number, each, _ in drawn]
    places = [
        (height, text)
        for at, (height, text) in enumerate(zip(heights, told, strict=True))
        if told[at - 1] != text or at == 0
    ]
    axes.set_yticks(
        [height for height, _ in places],
        [drawable(_shortened(text)) for _, text in places],
    )
    axes.set_ylim(heights[-1] + 0.6, -0.6)
    _under(axes, log=first.quantity in _RATIOS)
    _label(
        [axes],
        first,
        len(names),
        title or (name or first.quantity),
        everything=len(first.rows) if name is None else 1,
    )
    if len(names) > 1:
        figure.legend(
            loc="outside lower center",
            ncols=4,
            frameon=False,
            fontsize=9,
            labelcolor=INK,
        )
    if dark:
        darkened(figure)
    return figure


def _stacked(drawn: Sequence[tuple[str, str, Row]], *, apart: bool) -> list[float]:
    """Return a height for each row; those of another number stand a little apart."""
    heights, at = [], 0.0
    for before, (number, _, _) in zip([None, *drawn], drawn, strict=False):
        at += 0.0 if before is None else 1.6 if apart and before[0] != number else 1.0
        heights.append(at)
    return heights


def _found(summary: Summary[Row], name: str) -> Row | None:
    return next((row for row in summary.rows if row.name == name), None)


def _summarized(result: Result | Summary[Row], level: float) -> Summary[Row]:
    if not isinstance(result, Result | Summary):
        raise InvalidRequest(
            f"there is no picture of a {type(result).__name__}; expected what estimate() returns, or its summary().",
            "Designs, tallies and plans draw themselves: thing.plot().",
        )
    return result.summary(level=level) if isinstance(result, Result) else result


def largest(rows: Sequence[Row], count: int) -> Sequence[Row]:
    """Return all rows, or, where there are more than `count`, those with the largest numbers."""
    return (
        rows
        if len(rows) <= count
        else sorted(rows, key=lambda row: -np.nan_to_num(row.estimate, nan=-np.inf))[
            :count
        ]
    )


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
    known = sorted(figure.canvas.get_supported_filetypes())
    if target.suffix.lower().removeprefix(".") not in known:
        raise InvalidRequest(
            f"the name of the picture ends in {quoted(target.suffix)}; expected one of {', '.join(known)}."
        )
    if not target.parent.is_dir():
        raise InvalidRequest(
            f"there is no folder {quoted(str(target.parent), 80)}; expected one that exists."
        )
    figure.savefig(target, dpi=150)
    return target


def _without_intercept(summary: Summary[Row]) -> Sequence[Row]:
    """Return the rows that are drawn: an intercept is no effect, and would squeeze those that are."""
    if summary.quantity != "coefficient":
        return summary.rows
    rows = [
        row for row in summary.rows if "Intercept" not in re.split(r"\W+", row.name)
    ]
    return rows or summary.rows


def _panels(rows: Sequence[Row]) -> list[list[Row]]:
    """Return rows of about one order of magnitude together, in their order, so that each interval can be seen."""
    sizes = [
        max([abs(end) for end in (row.low, row.high) if np.isfinite(end)], default=0.0)
        for row in rows
    ]
    found: list[
        tuple[float, list[int]]
    ] = []  # how far each panel reaches, and its rows
    for at in sorted(range(len(rows)), key=lambda each: -sizes[each]):
        if not found or sizes[at] * _MOST_APART < found[-1][0]:
            found.append((sizes[at], []))
        found[-1][1].append(at)
    return [
        [rows[at] for at in sorted(panel)]
        for panel in sorted(sorted(each) for _, each in found)
    ] or [[]]


def _label(
    panels: Sequence[Axes],
    summary: Summary[Row],
    shown: int,
    title: str,
    everything: int | None = None,
    remarks: Sequence[str] = (),
) -> None:
    first, last = panels[0], panels[-1]
    longest = max(
        (len(each.get_text()) for axes in panels for each in axes.get_yticklabels()),
        default=0,
    )
    told = textwrap.fill(title or summary.title, _TITLE - longest)
    everything = (
        len(summary.rows) + summary.left_out if everything is None else everything
    )
    everything -= (
        summary.quantity == "coefficient" and "without the intercept" in remarks
    )
    if shown < everything:
        # Of many intervals some miss the truth, and among the largest estimates more of them do.
        alone = (
            ""
            if summary.simultaneous
            else "; each interval holds by itself, not for the largest of many"
        )
        told += f"\nthe {shown} largest of {everything:,}{alone}"
    told += f"\n{'; '.join(remarks)}" if remarks else ""
    first.set_title(drawable(told), loc="left", color=INK, fontsize=11)
    whole = summary.rows[0].WHOLE if summary.rows else Row.WHOLE
    of = f"share of {whole}" if summary.quantity == "share" else summary.quantity
    credible = "credible " if summary.interval.startswith("credible") else ""
    last.set_xlabel(f"{of}, with {summary.level_text} {credible}intervals", color=INK)
    percent = summary.quantity in PERCENTAGES
    for axes in panels:
        axes.xaxis.set_major_formatter(
            lambda value, _: formats.percent(value, 6) if percent else f"{value:,g}"
        )
        if summary.quantity in _RATIOS:
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_minor_formatter(lambda _value, _: "")


def _shortened(name: str) -> str:
    told = " ".join(name.split()) if "\n" in name else name
    return told if len(told) <= _LETTERS else f"{told[: _LETTERS - 1]}…"


def _draw_rows(
    axes: Axes, rows: Sequence[Row], truth: Mapping[str, float], *, log: bool = False
) -> None:
    heights = np.arange(len(rows))
    if log:
        rows = _within(rows)
    for height, row in zip(heights, rows, strict=True):
        first = height == 0
        if row.BESIDE:
            *names, called = row.BESIDE
            label = called if first else None
            ends = [getattr(row, name) for name in names]
            axes.plot(
                ends,
                [height - 0.22] * 2,
                color=PALE,
                linewidth=6,
                solid_capstyle="butt",
                label=label,
            )
        axes.plot([row.low, row.high], [height] * 2, color=ACCENT, linewidth=2.2)
        axes.plot(
            [row.estimate],
            [height],
            "o",
            color=ACCENT,
            markersize=6,
            label="estimate" if first else None,
        )
        if row.name in truth:
            label = "truth" if first else None
            axes.plot(
                [truth[row.name]],
                [height],
                "|",
                color=TRUTH,
                markersize=16,
                markeredgewidth=2.2,
                label=label,
            )
    axes.set_yticks(heights, [drawable(_shortened(row.name)) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.6)
    _under(axes, log=log)


def _within(rows: Sequence[Row]) -> list[Row]:
    """Return rows for a scale of factors: ends at 0 and without bound lie at the edges of what is drawn."""
    known = [
        each
        for row in rows
        for each in (row.estimate, row.low, row.high)
        if 0 < each < np.inf
    ]
    low, high = min([0.5, *known]) / 2, max([2.0, *known]) * 2
    return [
        replace(
            row,
            **{
                name: min(max(getattr(row, name), low), high)
                for name in ("low", "high")
            },
        )
        for row in rows
    ]


def _under(axes: Axes, *, log: bool = False) -> None:
    """Draw where nothing is different, at 0 or at a factor of 1, and a grid for the numbers alone."""
    if log:
        axes.set_xscale("log")
    axes.axvline(1 if log else 0, color=INK, linewidth=0.8)
    plain(axes)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
