"""Results as pictures: each number with its interval, of one result or of several."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import LogLocator

from deniable.errors import InvalidRequest, quoted
from deniable.estimates.results import PERCENTAGES, Result, Row, Summary
from deniable.rendering import formats
from deniable.rendering.pictures import (
    ACCENT,
    INK,
    LINES,
    MAX_BARS,
    PALE,
    TRUTH,
    Picture,
    legend_below,
    name_rows,
    set_title,
    strip_frame,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW_BARS = 12  # up to so many have room between them
_NAME_LETTERS = (
    40  # of a name beside its interval; the picture keeps room for the numbers
)
_TITLE_LETTERS = 88  # in a line of the title, together with the longest name
_RATIOS = ("odds ratio",)  # quantities on a scale of factors
_UNITS = ("coefficient", "change in share")  # for one unit each, which differ
_MAX_FACTOR = 12.0  # times as far as another from 0: further, and its neighbour's interval is a dot


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
    summary = _summary_of(result, level)
    effects = _without_intercept(summary)
    rows = largest(effects, MAX_BARS)
    panels = _panels(rows) if summary.quantity in _UNITS else [rows]
    height = max(len(rows), 1) * (0.5 if len(rows) <= _FEW_BARS else 0.28)
    figure = Picture(
        figsize=(8, 1.2 + height + 0.5 * len(panels)), layout="constrained"
    )
    _draw_panels(figure, panels, truth, summary)
    n_hidden = len(summary.rows) - len(effects)
    remarks = ["without the intercept"] if n_hidden else []
    remarks += ["each panel has a scale of its own"] if len(panels) > 1 else []
    n_numbers = len(summary.rows) + summary.left_out - min(n_hidden, 1)
    lines = [*_count_note(summary, len(rows), n_numbers), "; ".join(remarks)]
    _label(figure.axes, summary, title or summary.title, lines)
    if truth or any(row.BESIDE for row in rows):
        legend_below(figure)
    if dark:
        figure.darken()
    return figure


def _draw_panels(
    figure: Picture,
    panels: Sequence[Sequence[Row]],
    truth: Mapping[str, float] | None,
    summary: Summary[Row],
) -> None:
    ratios = [len(panel) + 1 for panel in panels]
    subplots = figure.subplots(len(panels), squeeze=False, height_ratios=ratios)[
        :, 0
    ]
    for axes, panel in zip(subplots, panels, strict=True):
        _draw_rows(axes, panel, truth or {}, log=summary.quantity in _RATIOS)


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
        >>> both = {sex: estimate(Tally(warner(2), [90, 10])) for sex in ("men", "women")}
        >>> [label.get_text() for label in forest(both, "yes").axes[0].get_yticklabels()]
        ['men', 'women']
    """
    if not isinstance(results, Mapping):
        raise InvalidRequest(
            f"a forest is of several results by name; there is one {type(results).__name__}.",
            'For example {"men": men, "women": women}; dn.report.chart(result) draws one.',
        )
    summaries = {key: _summary_of(result, level) for key, result in results.items()}
    if len({summary.quantity for summary in summaries.values()}) != 1:
        raise InvalidRequest(
            "a forest is of one quantity; expected at least one result, and all of the same quantity."
        )
    first = next(iter(summaries.values()))
    names = [name] if name is not None else _largest_names(first, len(summaries))
    rows = [
        (key, row)
        for number in names
        for key, summary in summaries.items()
        for row in summary.rows
        if row.name == number
    ]
    if not rows:
        raise InvalidRequest(
            f"{quoted(name)} was not estimated in any of these; expected a name that one of them has."
        )
    several = len(names) > 1
    figure = Picture(figsize=(8, 1.7 + 0.34 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    _draw_forest(axes, rows, list(summaries), several=several)
    _finish_axes(axes, log=first.quantity in _RATIOS)
    n_numbers = len(first.rows) if name is None else 1
    lines = _count_note(first, len(names), n_numbers)
    _label([axes], first, title or (name or first.quantity), lines)
    if several:
        legend_below(figure, 4)
    if dark:
        figure.darken()
    return figure


def _draw_forest(
    axes: Axes,
    rows: Sequence[tuple[str, Row]],
    results: Sequence[str],
    *,
    several: bool,
) -> None:
    """Draw rows by the name of their result; those of another number stand a little apart, in colours of results."""
    height, ticks = 0.0, {}
    before: Row | None = None
    for key, row in rows:
        is_new = before is None or before.name != row.name
        if before is not None:
            height += 1.6 if several and is_new else 1.0
        if is_new or not several:
            ticks[height] = row.name if several else key
        color = LINES[results.index(key) % len(LINES)] if several else ACCENT
        label = key if several and row.name == rows[0][1].name else None
        _draw_interval(axes, row, height, color, label)
        before = row
    name_rows(axes, list(ticks.values()), heights=list(ticks), letters=_NAME_LETTERS)
    axes.set_ylim(height + 0.6, -0.6)


def _draw_interval(
    axes: Axes, row: Row, height: float, color: str, label: str | None
) -> None:
    axes.plot([row.low, row.high], [height] * 2, color=color, linewidth=2.2)
    axes.plot([row.estimate], [height], "o", color=color, markersize=6, label=label)


def _summary_of(result: Result | Summary[Row], level: float) -> Summary[Row]:
    if not isinstance(result, Result | Summary):
        raise InvalidRequest(
            f"there is no picture of a {type(result).__name__}; expected what estimate() returns, or its summary().",
            "Designs, tallies and plans draw themselves: thing.plot().",
        )
    return result.summary(level=level) if isinstance(result, Result) else result


def largest(rows: Sequence[Row], count: int) -> Sequence[Row]:
    """Return all rows, or, where there are more than `count`, those with the largest numbers."""
    if len(rows) <= count:
        return rows
    sizes = [-np.nan_to_num(row.estimate, nan=-np.inf) for row in rows]
    return [rows[index] for index in np.argsort(sizes, kind="stable")[:count]]


def _largest_names(summary: Summary[Row], n_results: int) -> list[str]:
    return [row.name for row in largest(summary.rows, MAX_BARS // n_results or 1)]


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
        max(
            [abs(end) for end in (row.low, row.high) if np.isfinite(end)],
            default=0.0,
        )
        for row in rows
    ]
    panels: list[list[int]] = []
    reach = 0.0  # of the last panel, whose first row is the largest
    for index in sorted(range(len(rows)), key=lambda index: -sizes[index]):
        if not panels or sizes[index] * _MAX_FACTOR < reach:
            reach = sizes[index]
            panels.append([])
        panels[-1].append(index)
    ordered = sorted(sorted(panel) for panel in panels)
    return [[rows[index] for index in panel] for panel in ordered] or [[]]


def _count_note(summary: Summary[Row], n_drawn: int, n_numbers: int) -> list[str]:
    """Return a line of the title about numbers that are not drawn."""
    if n_drawn >= n_numbers:
        return []
    # Of many intervals some miss the truth, and among the largest estimates more of them do.
    alone = "; each interval holds by itself, not for the largest of many"
    return [
        f"the {n_drawn} largest of {n_numbers:,}{'' if summary.simultaneous else alone}"
    ]


def _label(
    panels: Sequence[Axes], summary: Summary[Row], title: str, lines: Sequence[str]
) -> None:
    """Write the title with further lines, and say what the numbers are."""
    labels = [label for axes in panels for label in axes.get_yticklabels()]
    longest = max((len(label.get_text()) for label in labels), default=0)
    heading = textwrap.fill(title, _TITLE_LETTERS - longest)
    set_title(panels[0], "\n".join(filter(None, [heading, *lines])))
    whole = summary.rows[0].WHOLE if summary.rows else Row.WHOLE
    of = f"share of {whole}" if summary.quantity == "share" else summary.quantity
    credible = "credible " if summary.interval.startswith("credible") else ""
    panels[-1].set_xlabel(f"{of}, with {summary.level_text} {credible}intervals")
    percent = summary.quantity in PERCENTAGES
    for axes in panels:
        axes.xaxis.set_major_formatter(
            lambda value, _: formats.percent(value, 6) if percent else f"{value:,g}"
        )
        if summary.quantity in _RATIOS:
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.xaxis.set_minor_formatter(lambda _value, _: "")


def _draw_rows(
    axes: Axes, rows: Sequence[Row], truth: Mapping[str, float], *, log: bool
) -> None:
    for height, row in enumerate(_within_factors(rows) if log else rows):
        # A label names all marks of its kind, once.
        *beside, beside_name = row.BESIDE or ("",)
        labels = ("estimate", "truth", beside_name) if height == 0 else (None,) * 3
        if beside:
            axes.plot(
                [getattr(row, end) for end in beside],
                [height - 0.22] * 2,
                color=PALE,
                linewidth=6,
                solid_capstyle="butt",
                label=labels[2],
            )
        _draw_interval(axes, row, height, ACCENT, labels[0])
        if row.name in truth:
            axes.plot(
                [truth[row.name]],
                [height],
                "|",
                color=TRUTH,
                markersize=16,
                markeredgewidth=2.2,
                label=labels[1],
            )
    name_rows(axes, [row.name for row in rows], letters=_NAME_LETTERS)
    _finish_axes(axes, log=log)


def _within_factors(rows: Sequence[Row]) -> list[Row]:
    """Return rows for a scale of factors: ends at 0 and without bound lie at the edges of what is drawn."""
    ends = [end for row in rows for end in (row.estimate, row.low, row.high)]
    positive = [end for end in ends if 0 < end < np.inf]
    low, high = min([0.5, *positive]) / 2, max([2.0, *positive]) * 2
    return [
        replace(
            row, low=min(max(row.low, low), high), high=min(max(row.high, low), high)
        )
        for row in rows
    ]


def _finish_axes(axes: Axes, *, log: bool) -> None:
    """Draw where nothing is different, at 0 or at a factor of 1, and a grid for the numbers alone."""
    if log:
        axes.set_xscale("log")
    axes.axvline(1 if log else 0, color=INK, linewidth=0.8)
    strip_frame(axes)
    axes.grid(visible=False, axis="y")
