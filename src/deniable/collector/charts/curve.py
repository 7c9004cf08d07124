"""A falling or rising curve with a point on it, over a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.collector.charts.axis import Axis, Tick, axis


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve in a square of 100 × 100 that grows downwards, as SVG does.

    Attributes:
        points: the curve, as an SVG polyline writes it.
        floor: where the value that is compared with lies.
        x: where the point lies.
        y: where the point lies.
        across: the marks below.
        up: the marks beside, from the bottom.
    """

    points: str
    floor: float
    x: float
    y: float
    across: tuple[Tick, ...]
    up: Axis


def curve(
    values: Sequence[tuple[float, float]], point: tuple[float, float], floor: float, marks: Sequence[float]
) -> Curve:
    """Return the curve through values (x, y), the point on it, and marks on the logarithmic scale of x.

    What lies higher than twice the point and the middle of the curve has places below 0, for the picture to cut off.
    """
    first, last = math.log(values[0][0]), math.log(values[-1][0])

    def across(x: float) -> float:
        return round(100 * (math.log(x) - first) / (last - first), 2)

    top = max(2 * values[len(values) // 2][1], 1.4 * point[1], 2 * floor)
    scale = axis(0.0, min(top, max(y for _, y in values)), lambda share: f"±{round(100 * share, 2) + 0.0:g}", most=4)
    points = " ".join(f"{across(x):g},{100 - 100 * y / scale.high:.4g}" for x, y in values)
    ticks = tuple(Tick(across(mark), f"{mark:g}") for mark in marks)
    return Curve(points, 100 - scale.at(floor), across(point[0]), 100 - scale.at(point[1]), ticks, scale)
