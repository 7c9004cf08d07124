"""Weights: read exactly, brought to [−1, 1], and rounded to +1 or −1 so that the mean is kept; never repeated."""

from __future__ import annotations

import math
import numbers
from fractions import Fraction
from typing import TypeAlias

from deniable import chance, exact
from deniable.errors import DeniableError, InvalidAnswer, InvalidDesign

Weight: TypeAlias = exact.Rational

NONE, PLUS, MINUS = 0, 1, 2
"""What is true of one item once its weight is rounded: no edge, an edge of +1, an edge of −1."""

GRID = 1 << 63
"""A float is read as the nearest multiple of 1/GRID; from 2^-10 up every float is such a multiple."""

_FARTHEST, _FINEST = 10**100, 10**6


def read_scale(low: Weight, high: Weight) -> tuple[Fraction, Fraction]:
    """Read the smallest and the largest weight there can be.

    Raises:
        InvalidDesign: they are not in this order, or so large or so close together that floats between them blur.
    """
    ends = exact.rational(low, name="low"), exact.rational(high, name="high")
    if not ends[0] < ends[1]:
        raise InvalidDesign(f"low is {exact.shown(low)} and high is {exact.shown(high)}; expected low < high.")
    if max(map(abs, ends)) > _FARTHEST or ends[1] - ends[0] < max(map(abs, ends)) / _FINEST:
        raise InvalidDesign(
            f"low is {exact.shown(low)} and high is {exact.shown(high)}; expected ends that floats tell well apart.",
            "Shift the weights, or measure them in another unit.",
        )
    return ends


def read(weight: Weight, low: Fraction = Fraction(-1), high: Fraction = Fraction(1)) -> Fraction:
    """Return a weight between low and high as an exact number between −1 and 1.

    Text, fractions and decimals are scaled exactly. A float or an integer is scaled in floating point, as bulk draws
    do it, and then is the number that it holds, on a grid of 2^-63.

    Raises:
        InvalidAnswer: not a number between low and high; the message does not repeat it.

    Example:
        >>> read("1/3"), read(4, Fraction(1), Fraction(5))
        (Fraction(1, 3), Fraction(1, 2))
    """
    plain = isinstance(weight, numbers.Real) and not isinstance(weight, Fraction | bool)
    try:
        if plain:
            scaled = _scaled(float(weight), low, high)
        else:
            scaled = (2 * exact.rational(weight) - low - high) / (high - low)
    except (DeniableError, OverflowError, ValueError):
        raise refusal(low, high) from None
    if not -1 <= scaled <= 1:
        raise refusal(low, high)
    return scaled


def _scaled(weight: float, low: Fraction, high: Fraction) -> Fraction:
    bottom, top = float(low), float(high)
    if not bottom <= weight <= top:
        raise ValueError
    if (bottom, top) != (-1.0, 1.0):
        weight = min(1.0, max(-1.0, (2 * weight - (bottom + top)) / (top - bottom)))
    return Fraction(round(Fraction(weight) * GRID), GRID)


def refusal(low: Fraction, high: Fraction) -> InvalidAnswer:
    """Return the error for a weight that does not fit."""
    return InvalidAnswer(f"a weight is not a number from {_text(low)} to {_text(high)}; expected one that is.")


def _text(end: Fraction) -> str:
    return f"{float(end):g}" if math.isclose(float(f"{float(end):g}"), float(end), rel_tol=0) else str(end)


def rounded(weight: Fraction | None, source: chance.Source = chance.SYSTEM) -> int:
    """Draw +1 with probability (1 + weight)/2, else −1; nothing for no edge, which takes a word all the same.

    Why: then the rounded weight has the weight as its mean, exactly. One word decides whatever the weight is, but once
    in 2^64 draws, so that how much randomness is taken tells nothing about it.
    """
    if weight is None:
        chance.spare(1, source)
        return NONE
    return PLUS if chance.happens((1 + weight) / 2, source) else MINUS
