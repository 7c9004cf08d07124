"""Values → ends of their range, many at once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.chance import Source
from deniable.engines.local.words import CHUNK, Replay, Words
from deniable.errors import InvalidAnswer
from deniable.records.numbers.designs import Range
from deniable.records.numbers.responses import Function, place_of

__all__ = ["round_values"]

_SURE = 1e-9
"""A word that is further than this from a value's place in its range decides, unless the range is very narrow."""


def round_values(
    range_: Range, values: Any, *, square: bool = False, source: Source | None = None
) -> NDArray[np.uint8]:
    """Round each value to an end of its range at random; keep the ends, and respond to them.

    Guarantee: 1, the high end, with probability exactly (f(x) − low) / (high − low), each value read as the decimal it
    shows; from a given source the same as `gradual.means.respond.rounded` value by value.

    Why: a word is the beginning of a uniform number. Only where it is so near to the value's place that floats might
    mistake the order, the two are compared in exact numbers.

    Args:
        range_: where f(x) lies.
        values: numbers in an array, a list or a column.
        square: ask for x² in place of x.
        source: random bytes, for tests; by default a secure keystream.

    Returns:
        Codes of the ends, answers for `engines.local.draw_all`: 0 for "low" and 1 for "high".

    Raises:
        InvalidAnswer: a row that is missing, no number, or outside the range; only its index is told.

    Example:
        >>> round_values(Range.of(0, 10), [0, 10, 10.0]).tolist()
        [0, 1, 1]
    """
    column = _read(values)
    words = Words(source)
    out = np.empty(len(column), np.uint8)
    for start in range(0, len(column), CHUNK):
        part = slice(start, start + CHUNK)
        _round_into(range_, column[part], _square if square else None, words, out[part], start)
    return out


def _read(values: Any) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise InvalidAnswer("the values are not one column of numbers; expected whole numbers or floats.")
    return column


def _round_into(
    range_: Range, values: NDArray[Any], of: Function | None, words: Words, out: NDArray[np.uint8], start: int
) -> None:
    floats = values.astype(np.float64)
    with np.errstate(over="ignore"):  # a square without an end lies outside of every range
        places = ((floats * floats if of else floats) - float(range_.low)) / float(range_.width)
    sure = _sure(range_, values.dtype)
    # Also NaN, which compares with nothing; and those so near to an end that only exact numbers tell.
    doubtful = np.flatnonzero(~((places > sure) & (places < 1 - sure)))
    for first in np.unique(values[doubtful], return_index=True)[1].tolist():
        _check(range_, values[doubtful[first]], of, start + int(doubtful[first]))
    buffer = words.room(len(values))
    words.fill(buffer, len(values))
    drawn = buffer[: len(values)].copy()
    numbers = drawn.astype(np.float64) * 2.0**-64
    out[:] = numbers < places
    unsure = np.flatnonzero(np.abs(numbers - places) < sure)
    if not unsure.size:
        return
    exactly = {int(row): place_of(range_, values[row], of) for row in unsure}
    if any(_level(drawn[row], exactly[int(row)]) for row in unsure):
        _one_by_one(range_, values, of, (drawn, words), out)
        return
    for row in unsure:
        out[row] = Fraction(int(drawn[row]), 1 << 64) < exactly[int(row)]


def _sure(range_: Range, kind: np.dtype[Any]) -> float:
    """Return how far apart a word and a place must be for floats to tell them apart.

    Why: a float is off by 2^-53 of its size, one of 32 or 16 bits by more from the decimal that it shows, and the ends
    may be large next to what lies between them.
    """
    off = max(2.0**-52, float(np.finfo(kind).eps)) if kind.kind == "f" else 2.0**-52
    return max(_SURE, 16 * off * float(max(abs(range_.low), abs(range_.high)) / range_.width))


def _level(word: np.uint64, place: Fraction) -> bool:
    """Whether a word is the very beginning of the place, so that `happens` takes another one: 2^-64 a value."""
    digit, rest = divmod(place.numerator << 64, place.denominator)
    return int(word) == digit and rest > 0


def _one_by_one(
    range_: Range,
    values: NDArray[Any],
    of: Function | None,
    taken: tuple[NDArray[np.uint64], Words],
    out: NDArray[np.uint8],
) -> None:
    """Draw value by value, from the words that were taken and then from the source."""
    replay = Replay(taken[0], taken[1].source)
    for row, value in enumerate(values):
        out[row] = chance.happens(place_of(range_, value, of), replay)


def _check(range_: Range, value: Any, of: Function | None, row: int) -> None:
    try:
        place_of(range_, value, of)
    except InvalidAnswer as error:
        raise InvalidAnswer(f"the value at index {row:,} cannot be used: {error.problem}", error.hint) from None


def _square(value: Fraction) -> Fraction:
    return value * value
