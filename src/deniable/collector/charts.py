"""Pictures on the analyst's pages, as numbers for SVG: shares with their intervals, days, and the planner's curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain
from typing import TypeVar

from deniable.collector.results import CategoryResult
from deniable.rendering import formats

Thing = TypeVar("Thing")

HEIGHT = 100
"""Units from the foot of a bar to the top of the picture of days."""

MAX_LINES = 40
"""Categories that a reader can tell apart; of more those with the largest shares are drawn."""

_MAX_DAYS = 62  # two months: a bar for each can still be told from the next
_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # of an axis, times a power of ten


@dataclass(frozen=True, slots=True)
class Tick:
    """A number on an axis: where it stands, in percent, and how it is written."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from one number to another."""

    low: float
    high: float
    ticks: tuple[Tick, ...]

    def at(self, value: float) -> float:
        """Return where a value stands, in percent; what lies outside stands at the end."""
        percent = 100 * (value - self.low) / (self.high - self.low)
        return round(min(max(percent, 0.0), 100.0), 2)


def axis(
    low: float, high: float, write: Callable[[float], str], *, max_ticks: int = 5
) -> Axis:
    """Return an axis that holds both numbers, in steps of a round number; both numbers are at most `most` steps apart.

    Example:
        >>> percent = axis(-0.02, 0.53, lambda value: f"{value:.0%}")
        >>> [(tick.at, tick.text) for tick in percent.ticks]
        [(0.0, '-20%'), (25.0, '0%'), (50.0, '20%'), (75.0, '40%'), (100.0, '60%')]
    """
    room = max(high - low, 1e-9)
    power = 10 ** math.floor(math.log10(room / max_ticks))
    step = next(
        factor * power
        for factor in _ROUND_STEPS
        if room / (factor * power) <= max_ticks
    )
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    rounded_axis = Axis(first * step, last * step, ())
    # 0.3, not 0.30000000000000004
    values = [round(number * step, 9) for number in range(first, last + 1)]
    texts = [write(value) for value in values]
    ticks = [
        Tick(rounded_axis.at(value), text)
        for value, text in zip(values, texts, strict=True)
    ]
    return Axis(rounded_axis.low, rounded_axis.high, tuple(ticks))


@dataclass(frozen=True, slots=True)
class CurveChart:
    """A curve in a square of 100 × 100 that grows downwards, as SVG does.

    Attributes:
        points: the curve, as an SVG polyline writes it.
        compared: the curve that it is compared with.
        x: where the point lies.
        y: where the point lies.
        across: the marks below.
        up: the marks beside, from the bottom.
    """

    points: str
    compared: str
    x: float
    y: float
    across: tuple[Tick, ...]
    up: Axis


def curve_chart(
    values: Sequence[tuple[float, float]],
    point: tuple[float, float],
    compared: Sequence[tuple[float, float]],
    marks: Sequence[float],
) -> CurveChart:
    """Return the curve through values (x, y), the point on it, another curve, and marks on the logarithmic scale of x.

    What lies higher than twice the point and the middle of the curve has places below 0, for the picture to cut off.
    """
    first, last = math.log(values[0][0]), math.log(values[-1][0])

    def across(x: float) -> float:
        return round(100 * (math.log(x) - first) / (last - first), 2)

    top = max(2 * values[len(values) // 2][1], 1.4 * point[1], 2 * compared[-1][1])
    scale = axis(
        0.0,
        min(top, max(y for _, y in values)),
        lambda share: f"±{round(100 * share, 2) + 0.0:g}",
        max_ticks=4,
    )
    points, compared_points = (
        " ".join(f"{across(x):g},{100 - 100 * y / scale.high:.4g}" for x, y in curve)
        for curve in (values, compared)
    )
    ticks = tuple(Tick(across(mark), f"{mark:,.15g}") for mark in marks)
    return CurveChart(
        points,
        compared_points,
        across(point[0]),
        100 - scale.at(point[1]),
        ticks,
        scale,
    )


@dataclass(frozen=True, slots=True)
class Bar:
    """One day: where its bar stands and how wide it is, in percent; how high it is, out of `HEIGHT`."""

    day: date
    responses: int
    at: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class DaysChart:
    """The picture of the last two months with responses; days without any have a place, and no bar."""

    bars: tuple[Bar, ...]
    most: int
    first: date
    last: date


def days_chart(days: Sequence[tuple[date, int]]) -> DaysChart | None:
    """Return the picture; nothing where nobody has responded."""
    counts = {day: count for day, count in days if count}
    if not counts:
        return None
    last = max(counts)
    first = max(min(counts), last - timedelta(_MAX_DAYS - 1))
    n_days, max_count = (
        (last - first).days + 1,
        max(count for day, count in counts.items() if day >= first),
    )
    width = min(100 / n_days, 12.0)  # a single day is a bar, not a wall
    bars = tuple(
        Bar(
            day,
            count,
            round(width * (day - first).days, 3),
            round(0.86 * width, 3),
            round(HEIGHT * count / max_count, 2),
        )
        for day, count in sorted(counts.items())
        if day >= first
    )
    return DaysChart(bars, max_count, first, last)


@dataclass(frozen=True, slots=True)
class ShareLine:
    """One category: a label, and where its numbers stand."""

    label: str
    value: float
    low: float
    high: float
    direct_low: float
    direct_high: float


@dataclass(frozen=True, slots=True)
class SharesChart:
    """The picture of an estimate."""

    axis: Axis
    lines: tuple[ShareLine, ...]
    left_out: int


def select_largest(
    items: Sequence[Thing], size: Callable[[Thing], float]
) -> Sequence[Thing]:
    """Return all things in their order, or, of more than can be looked through, the largest."""
    if len(items) <= MAX_LINES:
        return items
    return sorted(items, key=size, reverse=True)[:MAX_LINES]


def shares_chart(shares: Sequence[CategoryResult]) -> SharesChart:
    """Return the picture of an estimate; the axis always shows 0."""
    largest = select_largest(shares, lambda share: share.row.estimate)
    ends = [
        (row.estimate, row.low, row.high, row.direct_low, row.direct_high)
        for row in (share.row for share in largest)
    ]
    bounds = list(chain.from_iterable(numbers[1:] for numbers in ends))
    scale = axis(min(0.0, *bounds), max(0.01, *bounds), formats.percent)
    lines = tuple(
        ShareLine(share.label, *map(scale.at, numbers))
        for share, numbers in zip(largest, ends, strict=True)
    )
    return SharesChart(scale, lines, len(shares) - len(largest))
