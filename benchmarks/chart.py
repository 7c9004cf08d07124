"""The chart of docs/benchmarks.md: speed, error beside speed, and growth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

if TYPE_CHECKING:
    from benchmarks.growth import Growth
    from benchmarks.mechanisms import Accuracy
    from benchmarks.page import Standing

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "benchmarks.png"
OURS, PLAIN, PEER = "#1b6ca8", "#9aa5b1", "#d1495b"
SHOWN = (1024, 1.0)  # categories and ε of the second panel
MOST_SHOWN = 1.8  # times the smallest error, where its axis ends


def draw(
    standings: list[Standing], accuracies: list[Accuracy], growths: list[Growth]
) -> None:
    """Draw all three panels into the picture."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(17, 6.5), width_ratios=[1.25, 1, 1], layout="constrained"
    )
    _speeds(left, standings)
    _errors(middle, [each for each in accuracies if (each.k, each.epsilon) == SHOWN])
    _growths(right, [each for each in growths if each.name.startswith("categories")])
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=90)
    plt.close(figure)


def _speeds(axes: Any, standings: list[Standing]) -> None:
    shown = list(reversed(standings))
    height = 0.27
    for shift, colour, label, rates in (
        (height, OURS, "ours, secure and exact", [each.ours for each in shown]),
        (0, PLAIN, "plain NumPy, draw and count", [each.plain for each in shown]),
        (-height, PEER, "fastest peer", [each.peer for each in shown]),
    ):
        there = [
            (place + shift, value) for place, value in enumerate(rates) if value
        ]
        if there:
            axes.barh(
                *zip(*there, strict=True), height=height, color=colour, label=label
            )
    for place, each in enumerate(shown):
        if each.peer:
            axes.text(
                each.ours * 1.15,
                place + height,
                f"{each.ours / each.peer:,.0f} ×",
                va="center",
                fontsize=8,
                color=OURS,
            )
    axes.set_xscale("log")
    axes.set_xlim(right=axes.get_xlim()[1] * 2.5)
    axes.set_yticks(
        range(len(shown)), [each.mechanism.label for each in shown], fontsize=9
    )
    axes.set_xlabel(
        "respondents a second, end to end, one thread (× the fastest peer)"
    )
    axes.set_title("Speed, ε = 1")
    axes.set_ylim(bottom=-2.4)  # room for the legend
    axes.legend(loc="lower right", fontsize=8)
    axes.grid(axis="x", alpha=0.3)


def _errors(axes: Any, accuracies: list[Accuracy]) -> None:
    least = min(each.error for each in accuracies)
    for each, mark in zip(
        sorted(accuracies, key=lambda each: each.error), "osD^vP*X", strict=True
    ):
        ratio = each.error / least
        beyond = ratio > MOST_SHOWN
        label = f"{each.name}: {ratio:,.2f}" + (
            ", above the picture" if beyond else ""
        )
        axes.plot(
            each.rate,
            MOST_SHOWN if beyond else ratio,
            mark,
            markersize=9,
            label=label,
            clip_on=not beyond,
        )
    axes.set(xscale="log", ylim=(0.97, MOST_SHOWN))
    axes.margins(x=0.2)
    axes.set_xlabel("respondents a second, end to end")
    axes.set_ylabel("squared error ÷ that of the best")
    axes.set_title(f"Error beside speed, k = {SHOWN[0]:,}, ε = {SHOWN[1]:g}")
    axes.legend(loc="upper center", fontsize=8)
    axes.grid(alpha=0.3)


def _growths(axes: Any, growths: list[Growth]) -> None:
    for each, mark in zip(growths, "osD^v", strict=False):
        first = each.seconds[0]
        label = f"{each.name.removeprefix('categories, ')}: power {each.power:.1f}, expected {each.expected:g}"
        axes.plot(
            each.values,
            [seconds / first for seconds in each.seconds],
            marker=mark,
            label=label,
        )
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(growths[0].values, [f"{value:,}" for value in growths[0].values])
    axes.set_yticks([0.5, 1, 2, 4, 8, 16], ["0.5", "1", "2", "4", "8", "16"])
    axes.minorticks_off()
    axes.set_ylim(0.4, 20)
    axes.set_xlabel("categories")
    axes.set_ylabel("time ÷ that of the fewest categories")
    axes.set_title("Growth with the number of categories")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
