"""What a sentence may state of an estimated number: nothing impossible, and nothing that the data do not decide.

An unbiased estimate and its interval may leave the range of what is possible. Tables keep them as they are; every
sentence states them by `state`, which cuts them off at the ends of the range and says what has to be said about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from deniable.rendering import formats

Range: TypeAlias = tuple[float, float]
"""The least and the largest possible value."""

SHARE: Range = (0.0, 1.0)
POSITIVE: Range = (0.0, math.inf)
ANY: Range = (-math.inf, math.inf)

_NOISE = 1e-9


class Statement(NamedTuple):
    """An estimate with its interval, cut off at the ends of what is possible.

    Attributes:
        value: the estimate; not a number where it is not known, or where the interval does not hold it.
        low: the lower end.
        high: the upper end.
        possible: the range.
        beyond: "below" or "above" where the raw estimate lies outside of the range; else empty.
        fits: whether the interval holds a possible value: else the responses do not fit the design.
    """

    value: float
    low: float
    high: float
    possible: Range
    beyond: str
    fits: bool

    @property
    def is_undecided(self) -> bool:
        """Whether every possible value lies in the interval."""
        return self.fits and (self.low, self.high) == self.possible

    def ends(self, low: str, high: str) -> str:
        """Return the interval in words, from its formatted ends; an end that says nothing is left out."""
        least, most = self.possible
        if self.low <= least:
            return f"at most {high}"
        return (
            f"at least {low}" if self.high >= most else f"between {low} and {high}"
        )

    def every(self, least: str, most: str) -> str:
        """Return all possible values in words, from the formatted ends of the range."""
        low, high = map(math.isinf, self.possible)
        if low:
            return "any value" if high else f"any value up to {most}"
        return f"any value from {least} {'on' if high else f'to {most}'}"

    def remark(self, least: str, most: str) -> str:
        """Return a sentence about what lies outside of the range, from its formatted ends; empty where nothing does."""
        side = (
            "below"
            if self.beyond == "below" or self.high <= self.possible[0]
            else "above"
        )
        end = least if side == "below" else most
        if not self.fits:
            return f"The whole interval lies {side} {end}, which is not possible: look at the responses."
        return f"The raw estimate lies {side} {end}." if self.beyond else ""


def state(
    estimate: float, low: float, high: float, possible: Range = SHARE
) -> Statement:
    """Cut an estimate and its interval off at the ends of what is possible; an end that is not known is the range's.

    Example:
        >>> state(-0.01, -0.05, 0.024)
        Statement(value=0.0, low=0.0, high=0.024, possible=(0.0, 1.0), beyond='below', fits=True)
        >>> state(1.35, 0.1, 0.2).value
        nan
        >>> state(1.35, -0.75, 3.4).is_undecided, state(math.nan, 0, math.inf, (0, math.inf)).is_undecided
        (True, True)
    """
    least, most = possible
    fits = not (high < least or low > most)
    beyond = "below" if estimate < least else "above" if estimate > most else ""
    value = min(max(estimate, least), most)
    # An end that is not known compares as false; one that is off by the noise of a float is the end of the range.
    low = min(low, most) if low > least + _NOISE else least
    high = max(high, least) if high < most - _NOISE else most
    if fits and not low - _NOISE <= value <= high + _NOISE:
        # unbiased values of few people can contradict a likelihood
        value = math.nan
    return Statement(value, low, high, possible, beyond, fits)


def state_measure(name: str, stated: Statement, show: Callable[[float], str]) -> str:
    """Tell a measure of association in a sentence: its value and its interval, as far as they are numbers.

    Example:
        >>> state_measure("Odds ratio", state(math.inf, 1.3, math.inf, POSITIVE), str)
        'Odds ratio: at least 1.3.'
        >>> state_measure("Odds ratio", state(math.nan, 0, math.inf, POSITIVE), str)
        'Odds ratio: the data cannot decide, any value from 0.0 on would fit them.'
    """
    if stated.is_undecided:
        return f"{name}: the data cannot decide, {stated.every(*map(show, stated.possible))} would fit them."
    low, high = show(stated.low), show(stated.high)
    ends = stated.ends(low, high)
    if not math.isfinite(stated.value):
        return f"{name}: {ends}."
    interval = ends if math.isinf(stated.high) else formats.interval(low, high)
    return f"{name}: {show(stated.value)} ({interval})."
