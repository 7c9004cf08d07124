"""Pictures of weighted bipartite graphs: estimates against the truth, and the graph itself with what is uncertain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from numpy.typing import NDArray

from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, Vector
from deniable.rendering import formats
from deniable.rendering.pictures import (
    ACCENT,
    INK,
    MAX_BARS,
    TRUTH,
    Picture,
    set_main_title,
    set_title,
    shorten,
    start_picture,
    strip_frame,
)
from deniable.types.key_value.estimate import ItemEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType

__all__ = ["against_truth", "weighted_graph"]

# The low end of the scale of mean weights, its middle, and the high end; none is pale.
_COLORS = LinearSegmentedColormap.from_list(
    "weights", ("#b2182b", "#c9a227", "#1f5fa8")
)
_NAME_LETTERS = 34
_WIDEST = 20.0  # points: the widest edge
_NARROWING = 0.45  # the distance of edges at the people's end, as a part of that at the items' end
_BAND, _UNKNOWN = "#dfe5ec", "#8a94a0"


def against_truth(
    estimate: ItemEstimate,
    *,
    degree: Mapping[str, float],
    mean: Mapping[str, float] | None = None,
    level: float = 0.95,
    title: str = "",
) -> Figure:
    """Draw estimated degrees, and means, against the true ones; an item whose interval holds the truth is blue.

    Args:
        estimate: what was estimated.
        degree: the true degree of each item, where it is known because the graph is.
        mean: the true mean weight of each item; of items whose degree is within noise of 0 none is drawn.
        level: of the intervals.
        title: of the picture.

    Raises:
        NotEstimable: the design does not tell degrees, or not the means.
    """
    figure = Picture(figsize=(11 if mean else 5.6, 5.4), layout="constrained")
    first, *second = figure.subplots(1, 2 if mean else 1, squeeze=False)[0]
    all_items = np.ones(len(estimate.design.items), np.bool_)
    _scatter(first, estimate, "degree", degree, level, all_items)
    for axes in second:
        _scatter(axes, estimate, "mean", mean or {}, level, ~estimate.within_noise)
    epsilon = formats.epsilon(estimate.design.epsilon)
    name = getattr(estimate.design, "name", "one edge each")
    default = f"{name}, ε = {epsilon}, {estimate.respondents:,} respondents"
    set_main_title(figure, title or default)
    return figure


def weighted_graph(
    estimate: ItemEstimate, *, count: int = 20, level: float = 0.95, title: str = ""
) -> Figure:
    """Draw the graph as it is known: an edge from all respondents to each of the most frequent items.

    An edge is as wide as the number of people behind it: dark up to the lower end of its interval, lighter up to the
    estimate, pale up to the upper end. Its color is the mean weight, grey where nothing is known about it. Single
    people's edges are not drawn, because nobody knows them.

    Args:
        estimate: what was estimated.
        count: how many items to draw, at most forty.
        level: of the intervals.
        title: of the picture.

    Raises:
        InvalidRequest: more items than can be told apart.
        NotEstimable: the design does not tell degrees.
    """
    if not 1 <= count <= MAX_BARS:
        raise InvalidRequest(
            f"count is {count}; expected 1 to {MAX_BARS} items for a picture."
        )
    items = np.argsort(-estimate.degree, kind="stable")[:count].tolist()
    default = (
        f"{estimate.respondents:,} respondents and {len(items)} of {len(estimate.design.items):,} items, "
        f"ε = {formats.epsilon(estimate.design.epsilon)}"
    )
    figure, axes = start_picture(1.8 + 0.4 * len(items), title or default, width=9.6)
    axes.axis("off")
    _draw_edges(axes, estimate, items, level)
    if estimate.tells("weight"):
        _draw_color_scale(figure, axes, estimate)
    return figure


def _intervals(estimate: ItemEstimate, quantity: str, level: float) -> Matrix:
    """Return the low and the high end of each item's interval."""
    intervals = estimate.about(quantity).conf_int(level=level)
    return np.array(list(intervals.values())).reshape(-1, 2)


def _scatter(
    axes: Axes,
    estimate: ItemEstimate,
    quantity: str,
    truth: Mapping[str, float],
    level: float,
    is_drawn: NDArray[np.bool_],
) -> None:
    items = list(estimate.design.items)
    numbers = [
        number
        for number, item in enumerate(items)
        if is_drawn[number] and item in truth
    ]
    true = np.array([truth[items[number]] for number in numbers])
    values = estimate.value(quantity)[numbers]
    low, high = _intervals(estimate, quantity, level)[numbers].T
    covers = (low <= true) & (true <= high)
    groups = {
        "interval holds the truth": (covers, ACCENT),
        "it does not": (~covers, TRUTH),
    }
    _mark_intervals(axes, true, values, low, high, groups)
    strip_frame(axes)
    line = [min(true, default=0.0), max(true, default=1.0)]
    axes.plot(line, line, color=INK, linewidth=0.9, linestyle=":")
    bottom, top = min([line[0], *low]), max([line[1], *high])
    reach = top - bottom
    axes.set_ylim(bottom - 0.04 * reach, top + 0.16 * reach)  # room for the legend
    if quantity == "degree":
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel(f"true {quantity} of an item")
    axes.set_ylabel(f"estimated {quantity}, with {formats.level(level)} intervals")
    n_hidden = len(items) - len(numbers)
    if quantity == "mean" and n_hidden:
        note = f"{n_hidden:,} items with a degree within noise of 0 left out"
        set_title(axes, note, 9)
    if numbers:
        axes.legend(frameon=False, fontsize=9, loc="upper left")


def _mark_intervals(
    axes: Axes,
    true: Vector,
    values: Vector,
    low: Vector,
    high: Vector,
    groups: Mapping[str, tuple[NDArray[np.bool_], str]],
) -> None:
    for label, (mask, color) in groups.items():
        if mask.any():
            axes.vlines(
                true[mask],
                low[mask],
                high[mask],
                color=color,
                linewidth=1,
                alpha=0.55,
            )
            name = f"{label} ({int(mask.sum()):,})"
            axes.plot(true[mask], values[mask], "o", color=color, ms=4, label=name)


def _draw_edges(
    axes: Axes, estimate: ItemEstimate, items: list[int], level: float
) -> None:
    degrees = np.maximum(estimate.degree[items], 0.0)
    bounds = np.maximum(_intervals(estimate, "degree", level)[items], 0.0)
    points = _WIDEST / max(float(bounds.max()), 1.0)
    heights = np.arange(len(items), 0, -1, dtype=np.float64)
    middle = float(heights.mean())
    starts = middle + (heights - middle) * _NARROWING
    rows = zip(items, starts, heights, degrees, bounds, strict=True)
    for item, start, height, degree, (low, high) in rows:
        color = _color(estimate, item)
        bands = ((high, _BAND, 1.0), (degree, color, 0.55), (low, color, 1.0))
        for people, shade, opacity in bands:
            axes.plot(
                *_curve(start, height),
                color=shade,
                alpha=opacity,
                linewidth=people * points,
                solid_capstyle="butt",
            )
        _write_row(axes, _cells(estimate, item), height)
    heads = ("item", "people ± error", "mean ± error")
    _write_row(axes, heads, len(items) + 1.0, weight="bold")
    reach = max((starts[0] - starts[-1]) / 2, 0.3) + 0.25
    ends = [middle - reach, middle + reach]
    axes.plot([0, 0], ends, color=INK, linewidth=7, solid_capstyle="round")
    people = f"{estimate.respondents:,} people"
    axes.text(-0.03, middle, people, rotation=90, va="center", ha="right", color=INK)
    axes.set_xlim(-0.12, 2.75)
    axes.set_ylim(0.3, len(items) + 1.6)


def _write_row(
    axes: Axes, cells: tuple[str, str, str], height: float, weight: str = "normal"
) -> None:
    look: dict[str, Any] = {
        "va": "center",
        "color": INK,
        "fontsize": 9,
        "fontweight": weight,
    }
    for x, cell, align in zip(
        (1.05, 2.3, 2.75), cells, ("left", "right", "right"), strict=True
    ):
        axes.text(x, height, cell, ha=align, **look)


def _curve(start: float, end: float) -> tuple[Vector, Vector]:
    x = np.linspace(0.0, 1.0, 60)
    return x, start + (end - start) * (3 * x**2 - 2 * x**3)


def _has_mean(estimate: ItemEstimate, item: int) -> bool:
    return estimate.tells("weight") and not estimate.within_noise[item]


def _color(estimate: ItemEstimate, item: int) -> ColorType:
    if not _has_mean(estimate, item):
        return _UNKNOWN
    return _COLORS(float(_scale(estimate)(float(estimate.mean[item]))))


def _cells(estimate: ItemEstimate, item: int) -> tuple[str, str, str]:
    name = shorten(estimate.design.items[item], _NAME_LETTERS)
    people = f"{estimate.degree[item]:,.0f} ± {estimate.errors('degree')[item]:,.0f}"
    if not _has_mean(estimate, item):
        return name, people, "unknown"
    mean = f"{estimate.mean[item]:.2f} ± {estimate.errors('mean')[item]:.2f}"
    return name, people, mean


def _scale(estimate: ItemEstimate) -> Normalize:
    """Return the scale of mean weights."""
    return Normalize(
        float(estimate.design.low), float(estimate.design.high), clip=True
    )


def _draw_color_scale(figure: Figure, axes: Axes, estimate: ItemEstimate) -> None:
    bar = figure.colorbar(
        ScalarMappable(_scale(estimate), _COLORS),
        ax=axes,
        orientation="horizontal",
        fraction=0.03,
        pad=0.02,
        aspect=40,
    )
    text = (
        "mean weight of those who have the item (width: people; dark, light "
        "and pale: lower end, estimate, upper end)"
    )
    bar.set_label(text, color=INK, fontsize=9)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=INK, labelsize=8)
