"""What counts say about ε and δ: lower bounds that hold with a stated confidence; draws that would refute a claim."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.estimates.backing import clopper_pearson

Vector: TypeAlias = NDArray[np.float64]
_MAX_DRAWS = 10**15  # more than anybody draws


class Counted(NamedTuple):
    """How often an event came up: `hits` of `n` draws with one answer, `other_hits` of `other_n` with the other.

    The hits are numbers, or arrays of them for several events.
    """

    hits: Any
    n: int
    other_hits: Any
    other_n: int


def ranges(counted: Counted, false_alarm: float) -> tuple[Vector, Vector]:
    """Return the smallest frequency of events under the first answer, and the largest under the second.

    Guarantee: both hold together with probability 1 − `false_alarm` at least, whatever the frequencies are.

    Why: each is one end of a Clopper–Pearson interval that misses on that side with half the rate at most.
    """
    level = 1 - false_alarm
    low, _ = clopper_pearson(
        np.atleast_1d(np.asarray(counted.hits, np.float64)), counted.n, level
    )
    _, high = clopper_pearson(
        np.atleast_1d(np.asarray(counted.other_hits, np.float64)),
        counted.other_n,
        level,
    )
    return low, high


def epsilon_at_least(
    counted: Counted, false_alarm: float, delta: float = 0.0
) -> Vector:
    """Return the smallest ε that goes with the counts: P ≤ e^ε·Q + δ, so ε ≥ ln((P − δ) / Q); 0 where that is less.

    Example:
        >>> epsilon_at_least(Counted(7300, 10_000, 2700, 10_000), 0.01).round(2)
        array([0.94])
    """
    low, high = ranges(counted, false_alarm)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = np.log(np.maximum(low - delta, 0.0) / high)
    return np.asarray(np.maximum(np.nan_to_num(bounds, nan=0.0, neginf=0.0), 0.0))


def delta_at_least(counted: Counted, false_alarm: float, epsilon: float) -> Vector:
    """Return the smallest δ that goes with the counts at this ε: δ ≥ P − e^ε·Q; 0 where that is less."""
    low, high = ranges(counted, false_alarm)
    return np.maximum(low - math.exp(epsilon) * high, 0.0)


def draws_to_refute(
    counted: Counted, false_alarm: float, epsilon: float, delta: float
) -> int | None:
    """Return how many draws of this event would refute (ε, δ), if it goes on coming up as often; None if none would.

    Example:
        >>> draws_to_refute(Counted(7500, 10_000, 2500, 10_000), 1e-4, 1, 0)
        16464
        >>> draws_to_refute(Counted(7300, 10_000, 2700, 10_000), 1e-4, 1, 0) is None
        True
    """
    often, second_rate = (
        counted.hits / counted.n,
        counted.other_hits / counted.other_n,
    )
    if often <= math.exp(epsilon) * second_rate + delta:
        return None
    low, high = 2, 2
    while not _refutes(high, often, second_rate, false_alarm, epsilon, delta):
        low, high = high, 2 * high
        if high > _MAX_DRAWS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle)
            if _refutes(middle, often, second_rate, false_alarm, epsilon, delta)
            else (middle, high)
        )
    return 2 * high


def _refutes(
    n: int,
    often: float,
    other: float,
    false_alarm: float,
    epsilon: float,
    delta: float,
) -> bool:
    expected = Counted(math.floor(n * often), n, math.ceil(n * other), n)
    return bool(epsilon_at_least(expected, false_alarm, delta)[0] > epsilon)
