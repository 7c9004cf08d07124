"""Shares with their intervals, and what a direct question would have had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.collector.charts.axis import Axis, axis
from deniable.estimate import Row

MOST = 40
"""Lines that a reader can tell apart; of more categories those with the largest shares are drawn."""


@dataclass(frozen=True, slots=True)
class Line:
    """One category: a label, and where its numbers stand."""

    label: str
    value: float
    low: float
    high: float
    direct_low: float
    direct_high: float


@dataclass(frozen=True, slots=True)
class Shares:
    """The picture of an estimate."""

    axis: Axis
    lines: tuple[Line, ...]
    left_out: int


def shares_chart(rows: Sequence[Row], labels: Sequence[str]) -> Shares:
    """Return the picture of an estimate; the axis always shows 0."""
    pairs = list(zip(rows, labels, strict=True))
    if len(pairs) > MOST:
        pairs = sorted(pairs, key=lambda pair: -pair[0].value)[:MOST]
    ends = [end for row, _ in pairs for end in (row.low, row.high, row.direct_low, row.direct_high)]
    scale = axis(min(0.0, *ends), max(0.01, *ends), lambda share: f"{round(100 * share, 1) + 0.0:g}%")
    lines = tuple(
        Line(label, *map(scale.at, (row.value, row.low, row.high, row.direct_low, row.direct_high)))
        for row, label in pairs
    )
    return Shares(scale, lines, len(rows) - len(pairs))
