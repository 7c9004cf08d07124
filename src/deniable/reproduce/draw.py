"""What the figures of all documents share: panels in a row, theory as lines, simulation as points with error bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deniable.estimates.charts import INK, LINES, plain
from deniable.reproduce.values import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["INK", "LINES", "dots", "legend", "line", "panels"]

_BARS = 2.0  # standard errors that a bar shows to each side


def panels(
    titles: Sequence[str], *, x: str, y: str, width: float = 5.6, height: float = 4.8, rows: int = 1
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each title, side by side in rows, with the names of their axes."""
    from matplotlib.figure import Figure

    columns = len(titles) // rows
    figure = Figure(figsize=(max(6.4, width * columns), height * rows), layout="constrained")
    made = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, title in zip(made, titles, strict=True):
        axes.set_title(title, loc="left", color=INK, fontsize=11)
        axes.set_xlabel(x, color=INK)
        axes.set_ylabel(y, color=INK)
        plain(axes)
    return figure, made


def line(axes: Axes, x: Any, y: Any, color: str, label: str = "", style: Any = "-") -> None:
    """Draw theory."""
    axes.plot(x, y, color=color, linestyle=style, linewidth=1.6, label=label or None)


def dots(
    axes: Axes, x: Sequence[float], points: Sequence[Point], color: str, label: str = "", marker: str = "o"
) -> None:
    """Draw simulated points with bars of two standard errors; a flagged one gets a ring."""
    axes.errorbar(
        x,
        [point.simulated for point in points],
        yerr=[_BARS * point.error for point in points],
        fmt=marker, color=color, markersize=4, capsize=2, elinewidth=1, linestyle="none", label=label or None,
    )  # fmt: skip
    for at, point in zip(x, points, strict=True):
        if point.flagged:
            axes.plot([at], [point.simulated], "o", markersize=13, markerfacecolor="none", color=INK)


def legend(figure: Figure, columns: int = 3) -> None:
    """Name what is drawn below the panels, each name once."""
    named = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        named.update({label: handle for handle, label in zip(handles, labels, strict=True) if label not in named})
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
