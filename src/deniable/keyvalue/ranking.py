"""The items with the largest values, and which of them surely belong there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import InvalidRequest

if TYPE_CHECKING:
    from deniable.keyvalue.result import KeyValueEstimate


@dataclass(frozen=True)
class Ranked:
    """One of the items with the largest values.

    Attributes:
        item: its name.
        value: its estimate.
        low: the lower end of its interval; the intervals of all items hold together.
        high: the upper end.
        sure: whether it is among the largest whatever the truth within the intervals is.
    """

    item: str
    value: float
    low: float
    high: float
    sure: bool


def top(estimate: KeyValueEstimate, count: int, by: str, level: float) -> tuple[Ranked, ...]:
    """Return the items with the largest values.

    Why the intervals hold for what was picked: they hold for all items at once, whichever are looked at. An item surely
    belongs to the first `count` if fewer than that many of the others reach up to its lower end.

    Args:
        estimate: what is known.
        count: how many.
        by: "degree", "frequency", "weight" or "mean"; by the mean only items whose degree stands clear of noise.
        level: how often all intervals together hold.

    Raises:
        InvalidRequest: fewer than one.
    """
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InvalidRequest(f"count is {count!r:.40}; expected a whole number of at least 1.")
    values = estimate.value(by)
    intervals = np.array(estimate.conf_int(by, level=level, simultaneous=True))
    eligible = np.isfinite(values)
    if by == "mean":
        eligible &= ~estimate.within_noise
    order = [number for number in np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable") if eligible[number]]
    highs = np.sort(intervals[:, 1])
    picked = []
    for number in order[:count]:
        low, high = intervals[number]
        rivals = len(highs) - int(np.searchsorted(highs, low)) - (high >= low)
        picked.append(
            Ranked(estimate.design.items[number], float(values[number]), float(low), float(high), bool(rivals < count))
        )
    return tuple(picked)
