"""Pictures of weighted bipartite graphs: estimates against the truth, and the graph itself with what is uncertain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidRequest
from deniable.estimates.charts import ACCENT, INK, MOST_BARS, TRUTH, plain
from deniable.estimates.covariances import Vector
from deniable.rendering import formats
from deniable.types.key_value.estimate import KeyValueEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

__all__ = ["against_truth", "weighted_graph"]

_COLORS = (
    "#b2182b",
    "#c9a227",
    "#1f5fa8",
)  # the low end of the scale, its middle, and the high end; none is pale
_LETTERS = 34
_WIDEST = 20.0  # points: the widest edge
_NARROW = (
    0.45  # how far the edges lie apart at the people's end, of how far at the items'
)
_BAND, _UNKNOWN = "#dfe5ec", "#8a94a0"


def against_truth(
    estimate: KeyValueEstimate,
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
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11 if mean else 5.6, 5.4), layout="constrained")
    axes = figure.subplots(1, 2 if mean else 1, squeeze=False)[0]
    everybody = np.ones(len(estimate.design.items), np.bool_)
    _scatter(axes[0], estimate, "degree", degree, level, everybody)
    if mean:
        _scatter(axes[1], estimate, "mean", mean, level, ~estimate.within_noise)
    epsilon = formats.epsilon(estimate.design.epsilon)
    default = (
        f"{estimate.design.name}, ε = {epsilon}, {estimate.respondents:,} respondents"
    )
    figure.suptitle(title or default, color=INK, fontsize=11, x=0.02, ha="left")
    return figure


def weighted_graph(
    estimate: KeyValueEstimate, *, count: int = 20, level: float = 0.95, title: str = ""
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
    from matplotlib.figure import Figure

    if not 1 <= count <= MOST_BARS:
        raise InvalidRequest(
            f"count is {count}; expected 1 to {MOST_BARS} items for a picture."
        )
    order = np.argsort(-estimate.degree, kind="stable")[:count]
    figure = Figure(figsize=(9.6, 1.8 + 0.4 * len(order)), layout="constrained")
    axes = figure.add_subplot()
    _fan(axes, estimate, order.tolist(), level)
    default = (
        f"{estimate.respondents:,} respondents and {len(order)} of {len(estimate.design.items):,} items, "
        f"ε = {formats.epsilon(estimate.design.epsilon)}"
    )
    axes.set_title(title or default, loc="left", color=INK, fontsize=11)
    _colorbar(figure, axes, estimate)
    return figure


def _scatter(
    axes: Axes,
    estimate: KeyValueEstimate,
    what: str,
    truth: Mapping[str, float],
    level: float,
    shown: NDArray[np.bool_],
) -> None:
    items = list(estimate.design.items)
    picked = [
        number for number, item in enumerate(items) if shown[number] and item in truth
    ]
    true = np.array([truth[items[number]] for number in picked])
    value = estimate.value(what)[picked]
    ends = np.array(list(estimate.about(what).conf_int(level=level).values()))[
        picked
    ].reshape(-1, 2)
    holds = (ends[:, 0] <= true) & (true <= ends[:, 1])
    for mask, color, label in (
        (holds, ACCENT, "interval holds the truth"),
        (~holds, TRUTH, "it does not"),
    ):
        if mask.any():
            axes.vlines(
                true[mask],
                ends[mask, 0],
                ends[mask, 1],
                color=color,
                linewidth=1.0,
                alpha=0.55,
            )
            named = f"{label} ({int(mask.sum()):,})"
            axes.plot(
                true[mask],
                value[mask],
                "o",
                color=color,
                markersize=4,
                label=named,
                linestyle="none",
            )
    limits = (
        [min(true.min(), ends[:, 0].min()), max(true.max(), ends[:, 1].max())]
        if picked
        else [0.0, 1.0]
    )
    line = [min(true, default=0.0), max(true, default=1.0)]
    axes.plot(line, line, color=INK, linewidth=0.9, linestyle=":")
    reach = limits[1] - limits[0]
    axes.set_ylim(
        limits[0] - 0.04 * reach, limits[1] + 0.16 * reach
    )  # room for the legend
    if what == "degree":
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel(f"true {what} of an item", color=INK)
    axes.set_ylabel(
        f"estimated {what}, with {formats.level(level)} intervals", color=INK
    )
    hidden = len(items) - len(picked)
    if what == "mean" and hidden:
        axes.set_title(
            f"{hidden:,} items with a degree within noise of 0 left out",
            loc="left",
            color=INK,
            fontsize=9,
        )
    if picked:
        axes.legend(frameon=False, fontsize=9, loc="upper left")
    plain(axes)


def _fan(
    axes: Axes, estimate: KeyValueEstimate, order: list[int], level: float
) -> None:
    degree = np.maximum(estimate.degree[order], 0.0)
    ends = np.maximum(
        np.array(list(estimate.about("degree").conf_int(level=level).values()))[order],
        0.0,
    )
    widest = max(float(ends[:, 1].max()), 1.0)
    heights = np.arange(len(order), 0, -1, dtype=np.float64)
    middle = float(heights.mean())
    starts = middle + (heights - middle) * _NARROW
    for number, start, height, value, (low, high) in zip(
        order, starts, heights, degree, ends, strict=True
    ):
        color = _color(estimate, number)
        for width, shade, opacity in (
            (high, _BAND, 1.0),
            (value, color, 0.55),
            (low, color, 1.0),
        ):
            points = _WIDEST * width / widest
            axes.plot(
                *_curve(start, height),
                color=shade,
                alpha=opacity,
                linewidth=points,
                solid_capstyle="butt",
            )
        _write(axes, _label(estimate, number), height)
    _write(
        axes,
        ("item", "people ± error", "mean ± error"),
        len(order) + 1.0,
        weight="bold",
    )
    reach = max((starts[0] - starts[-1]) / 2, 0.3) + 0.25
    axes.plot(
        [0, 0],
        [middle - reach, middle + reach],
        color=INK,
        linewidth=7,
        solid_capstyle="round",
    )
    axes.text(
        -0.03,
        middle,
        f"{estimate.respondents:,} people",
        rotation=90,
        va="center",
        ha="right",
        color=INK,
    )
    axes.set_xlim(-0.12, 2.75)
    axes.set_ylim(0.3, len(order) + 1.6)
    axes.axis("off")


def _write(
    axes: Axes, cells: tuple[str, str, str], height: float, weight: str = "normal"
) -> None:
    for x, text, side in (
        (1.05, cells[0], "left"),
        (2.3, cells[1], "right"),
        (2.75, cells[2], "right"),
    ):
        axes.text(
            x,
            height,
            text,
            va="center",
            ha=side,
            color=INK,
            fontsize=9,
            fontweight=weight,
        )


def _curve(start: float, end: float) -> tuple[Vector, Vector]:
    x = np.linspace(0.0, 1.0, 60)
    return x, start + (end - start) * (3 * x**2 - 2 * x**3)


def _color(
    estimate: KeyValueEstimate, number: int
) -> tuple[float, float, float, float] | str:
    if estimate.linear.weight is None or estimate.within_noise[number]:
        return _UNKNOWN
    low, high = float(estimate.design.low), float(estimate.design.high)
    place = (float(estimate.mean[number]) - low) / (high - low)
    red, green, blue, alpha = _colors()(min(1.0, max(0.0, place)))
    return red, green, blue, alpha


def _colors() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("weights", _COLORS)


def _label(estimate: KeyValueEstimate, number: int) -> tuple[str, str, str]:
    name = estimate.design.items[number]
    name = name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
    people = (
        f"{estimate.degree[number]:,.0f} ± {estimate.errors('degree')[number]:,.0f}"
    )
    if estimate.linear.weight is None or estimate.within_noise[number]:
        return name, people, "unknown"
    return (
        name,
        people,
        f"{estimate.mean[number]:.2f} ± {estimate.errors('mean')[number]:.2f}",
    )


def _colorbar(figure: Figure, axes: Axes, estimate: KeyValueEstimate) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    if estimate.linear.weight is None:
        return
    scale = Normalize(float(estimate.design.low), float(estimate.design.high))
    bar = figure.colorbar(
        ScalarMappable(scale, _colors()),
        ax=axes,
        orientation="horizontal",
        fraction=0.03,
        pad=0.02,
        aspect=40,
    )
    words = (
        "mean weight of those who have the item (width: people; dark, light "
        "and pale: lower end, estimate, upper end)"
    )
    bar.set_label(words, color=INK, fontsize=9)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=INK, labelsize=8)
