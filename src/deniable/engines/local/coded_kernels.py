"""The functions of `coded`, compiled with Numba; the same words in, the same responses out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit

from deniable.engines.local.coded import Family, Signs
from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import WordArray

_ONE = np.uint64(1)
_NIBBLES = np.uint64(0x6996)  # bit i says whether the number i has an odd number of ones
_LOW = np.uint64(15)
_CUT = np.uint64(11)
_SHORT = 1 << 28
_SHIFT = np.uint64(36)


def signs(words: WordArray, answers: Codes, out: Codes, channel: Signs) -> None:
    """Draw rows: those with +1 in the answer's column from the words below the edge, the others above it."""
    edge, large, small = map(np.uint64, (channel.edge, channel.large, channel.small))
    _signs(words, answers, out, edge, large, small, _inverse(channel.large), _inverse(channel.small))


def forms(words: WordArray, answers: Codes, out: Codes, channel: Family) -> None:
    """Draw a hash and the value of the answer under it, or another value."""
    per_hash, other, values = map(np.uint64, (channel.per_hash, channel.other, channel.values))
    inverses = _inverse(channel.per_hash), _inverse(channel.other)
    if channel.values == 2:
        _bits(words, answers, out, per_hash, other, inverses[0])
        return
    given = words, answers, out, per_hash, other, values, *inverses, channel.starts, channel.powers
    side = np.uint64(channel.side)
    if channel.dots.size and int(channel.powers[-1]) * channel.values <= _SHORT:
        _forms(*given, side, channel.dots, channel.blocks)
    else:
        _long_forms(*given, side, channel.dots)


def _inverse(divisor: int) -> float:
    """Return a float a little below 2^11 / divisor, for `_quotient`."""
    return float(Fraction(1 << 11, divisor) * (1 - Fraction(1, 1 << 50)))


def _compiled(function: Any) -> Any:
    return njit(nogil=True)(function)


@_compiled
def _odd(number: Any) -> Any:
    number ^= number >> np.uint64(32)
    number ^= number >> np.uint64(16)
    number ^= number >> np.uint64(8)
    number ^= number >> np.uint64(4)
    return (_NIBBLES >> (number & _LOW)) & _ONE


@_compiled
def _quotient(word: Any, divisor: Any, inverse: Any) -> Any:
    """Divide by multiplying.

    Why it is exact up to 2^40: the estimate is never above the quotient and less than one below it, 2^-10 from rounding
    and 2^11 / divisor from the bits that are cut off; so one look at the remainder tells. Above, it is large too.
    """
    estimate = np.uint64(np.int64(word >> _CUT) * inverse)
    return estimate + np.uint64(word - estimate * divisor >= divisor)


@_compiled
def _signs(
    words: Any, answers: Any, out: Any, edge: Any, large: Any, small: Any, inverse_large: Any, inverse_small: Any
) -> None:
    for i in range(words.size):
        column = np.uint64(answers[i]) + _ONE
        odd = np.uint64(words[i] >= edge)
        rest = words[i] - odd * edge
        # Both sides are chosen without a branch, which chance would mispredict every other time.
        number = _quotient(rest, small if odd else large, inverse_small if odd else inverse_large) + (odd ^ _ONE)
        below = (column & (~column + _ONE)) - _ONE
        row = ((number & ~below) << _ONE) | (number & below)
        row |= (below + _ONE) * (_odd(row & column) ^ odd)
        out[i] = row - _ONE


@_compiled
def _bits(words: Any, answers: Any, out: Any, per_hash: Any, other: Any, inverse_hash: Any) -> None:
    """Draw with two values: hash number n is the form n + 1, and its value the parity of the ones in common."""
    for i in range(words.size):
        number = _quotient(words[i], per_hash, inverse_hash)
        flip = np.uint64(words[i] - number * per_hash < other)
        out[i] = (number << _ONE) | (_odd((number + _ONE) & np.uint64(answers[i])) ^ flip)


@_compiled
def _forms(
    words: Any,
    answers: Any,
    out: Any,
    per_hash: Any,
    other: Any,
    values: Any,
    inverse_hash: Any,
    inverse_other: Any,
    starts: Any,
    powers: Any,
    side: Any,
    dots: Any,
    blocks: int,
) -> None:
    """Draw with forms and answers up to 2^28, which are cut into blocks by multiplying with ⌈2^36 / side⌉.

    Why it is exact: that is at most 1 − 2^-36·side above 2^36 / side, and 2^28 · 255 < 2^36.
    """
    last, cut = values - _ONE, _above(side)
    fold = _above(values)
    for i in range(words.size):
        number = _quotient(words[i], per_hash, inverse_hash)
        d = _quotient(words[i] - number * per_hash, other, inverse_other)
        length = starts.size - 1
        while starts[length] > number:
            length -= 1
        form, rest, value = number - starts[length] + powers[length], np.uint64(answers[i]), np.uint64(0)
        for _ in range(blocks):
            more, left = (form * cut) >> _SHIFT, (rest * cut) >> _SHIFT
            value += np.uint64(dots[(form - more * side) * side + rest - left * side])
            form, rest = more, left
        value -= ((value * fold) >> _SHIFT) * values
        moved = d + np.uint64(d >= value)
        out[i] = number * values + (moved if d < last else value)


@_compiled
def _above(divisor: Any) -> Any:
    """Return ⌈2^36 / divisor⌉."""
    return ((_ONE << _SHIFT) + divisor - _ONE) // divisor


@_compiled
def _long_forms(
    words: Any,
    answers: Any,
    out: Any,
    per_hash: Any,
    other: Any,
    values: Any,
    inverse_hash: Any,
    inverse_other: Any,
    starts: Any,
    powers: Any,
    side: Any,
    dots: Any,
) -> None:
    """Draw with forms of any length, dividing."""
    last = values - _ONE
    for i in range(words.size):
        number = _quotient(words[i], per_hash, inverse_hash)
        d = _quotient(words[i] - number * per_hash, other, inverse_other)
        length = starts.size - 1
        while starts[length] > number:
            length -= 1
        form, rest, value = number - starts[length] + powers[length], np.uint64(answers[i]), np.uint64(0)
        while form > 0 and rest > 0:
            a, x = form % side, rest % side
            value += np.uint64(dots[a * side + x]) if dots.size > 0 else a * x % values
            form, rest = form // side, rest // side
        value %= values
        if d < last:
            value = d + np.uint64(d >= value)
        out[i] = number * values + value
