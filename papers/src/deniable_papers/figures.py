"""What exhibits of several documents share: panels with theory as lines, and simulated surveys as points on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.estimates import covariance
from deniable.rendering.pictures import INK, LINES, strip_frame
from deniable.simulate import shares, tallies
from deniable_papers.values import Point, Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "INK",
    "LINES",
    "Method",
    "dots",
    "errors",
    "legend",
    "line",
    "moments",
    "panels",
    "risk",
    "risks",
]

Method = Literal["inversion", "customary"]

_BARS = 2.0  # standard errors that a bar shows to each side
_PEOPLE = (
    1_000_000  # in a simulated population, so that shares are met to six digits
)


def panels(
    titles: Sequence[str],
    *,
    x: str,
    y: str,
    width: float = 5.6,
    height: float = 4.8,
    rows: int = 1,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each title, side by side in rows, with the names of their axes."""
    from matplotlib.figure import Figure

    columns = len(titles) // rows
    figure = Figure(
        figsize=(max(6.4, width * columns), height * rows), layout="constrained"
    )
    every = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, title in zip(every, titles, strict=True):
        axes.set_title(title, loc="left", color=INK, fontsize=11)
        axes.set_xlabel(x, color=INK)
        axes.set_ylabel(y, color=INK)
        strip_frame(axes)
    return figure, every


def line(
    axes: Axes, x: Any, y: Any, color: str, label: str = "", style: Any = "-"
) -> None:
    """Draw theory."""
    axes.plot(x, y, color=color, linestyle=style, linewidth=1.6, label=label or None)


def dots(
    axes: Axes,
    x: Sequence[float],
    points: Sequence[Point],
    color: str,
    label: str = "",
    marker: str = "o",
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
            axes.plot(
                [at],
                [point.simulated],
                "o",
                markersize=13,
                markerfacecolor="none",
                color=INK,
            )


def legend(figure: Figure, columns: int = 3) -> None:
    """Name what is drawn below the panels, each name once."""
    named = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        named.update(
            {
                label: handle
                for handle, label in zip(handles, labels, strict=True)
                if label not in named
            }
        )
    figure.legend(
        named.values(),
        named.keys(),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=9,
    )


def errors(
    design: Design,
    true: Sequence[float],
    respondents: int,
    setting: Setting,
    *,
    methods: Sequence[Method] = ("inversion",),
) -> list[NDArray[np.float64]]:
    """Return estimate minus truth of each share, a row for each survey; for each method, from the same tallies."""
    people = np.rint(np.array(true) * _PEOPLE).astype(np.int64)
    drawn = tallies(
        design,
        people,
        setting.repetitions,
        respondents=respondents,
        replaced=True,
        draws=setting.generator,
    )
    return [
        shares(design, drawn, respondents, method=method) - people / people.sum()
        for method in methods
    ]


def moments(
    name: str,
    design: Design,
    true: Sequence[float],
    respondents: int,
    setting: Setting,
) -> list[Point]:
    """Compare the mean and the variance of every estimated share with the theory: unbiased, and of this variance."""
    (seen,) = errors(design, true, respondents, setting)
    spread = np.diagonal(covariance(design, true, respondents))
    points = []
    for category, share in enumerate(true):
        points.append(
            Point.of(
                f"{name}: mean of π_{category}", share, share + seen[:, category]
            )
        )
        points.append(
            Point.of(
                f"{name}: variance of π_{category}",
                spread[category],
                seen[:, category] ** 2,
            )
        )
    return points


def risk(
    design: Design, true: Sequence[float], method: Method = "inversion"
) -> float:
    """Return the total variance of the estimate for one respondent."""
    return float(np.trace(covariance(design, true, 1, method=method)))


def risks(
    name: str,
    design: Design,
    true: Sequence[float],
    setting: Setting,
    *,
    respondents: int = 100,
    methods: Sequence[Method] = ("inversion",),
) -> list[Point]:
    """Compare that total variance with what is seen, for each method."""
    seen = errors(design, true, respondents, setting, methods=methods)
    return [
        Point.of(
            f"{name}, {method}",
            risk(design, true, method),
            respondents * (each**2).sum(axis=1),
        )
        for method, each in zip(methods, seen, strict=True)
    ]
