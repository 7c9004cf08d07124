"""An axis with round numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


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
        place = 100 * (value - self.low) / (self.high - self.low)
        return round(min(max(place, 0.0), 100.0), 2)


def axis(low: float, high: float, write: Callable[[float], str], *, most: int = 5) -> Axis:
    """Return an axis that holds both numbers, in steps of a round number; both numbers are at most `most` steps apart.

    Example:
        >>> found = axis(-0.02, 0.53, lambda value: f"{value:.0%}")
        >>> [(tick.at, tick.text) for tick in found.ticks]
        [(0.0, '-20%'), (25.0, '0%'), (50.0, '20%'), (75.0, '40%'), (100.0, '60%')]
    """
    room = max(high - low, 1e-9)
    power = 10 ** math.floor(math.log10(room / most))
    step = next(each * power for each in _STEPS if room / (each * power) <= most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    made = Axis(first * step, last * step, ())
    ticks = tuple(Tick(made.at(number * step), write(number * step)) for number in range(first, last + 1))
    return Axis(made.low, made.high, ticks)
