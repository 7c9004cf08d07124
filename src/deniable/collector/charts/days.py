"""Responses day by day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

HEIGHT = 100
"""Units from the foot of a bar to the top of the picture."""

_MOST = 62


@dataclass(frozen=True, slots=True)
class Bar:
    """One day: where its bar stands and how wide it is, in percent; how high it is, out of `HEIGHT`."""

    day: date
    responses: int
    at: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Days:
    """The picture of the last two months with responses; days without any have a place, and no bar."""

    bars: tuple[Bar, ...]
    most: int
    first: date
    last: date


def days_chart(days: Sequence[tuple[date, int]]) -> Days | None:
    """Return the picture; nothing where nobody has responded."""
    counts = {day: count for day, count in days if count}
    if not counts:
        return None
    last = max(counts)
    first = max(min(counts), last - timedelta(_MOST - 1))
    places, most = (last - first).days + 1, max(count for day, count in counts.items() if day >= first)
    width = min(100 / places, 12.0)  # a single day is a bar, not a wall
    bars = tuple(
        Bar(day, count, round(width * (day - first).days, 3), round(0.86 * width, 3), round(HEIGHT * count / most, 2))
        for day, count in sorted(counts.items())
        if day >= first
    )
    return Days(bars, most, first, last)
