"""Numbers → levels of their range → responses, many at once; and responses → counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bulk.columns import build_responses, draw_all, read_objects
from deniable.bulk.columns import tally as tally_levels
from deniable.bulk.random_words import CHUNK, Replay, Words
from deniable.chance import Source
from deniable.designs import NumberDesign
from deniable.errors import InvalidAnswer
from deniable.files import arrow
from deniable.tallies.responses import Missing, Responses, add_missing
from deniable.types.numbers.count import NumberTally
from deniable.types.numbers.respond import level_below, level_of

__all__ = ["count_sent", "respond_all", "round_values", "tally_column"]

_SURE = 1e-9
"""A word that is further than this from a value's place between two levels decides, unless the range is narrow."""


def respond_all(
    design: NumberDesign,
    answers: object,
    *,
    source: Source | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> Responses[NumberDesign]:
    """Round each number to a level, and draw a response to the level."""
    values, present = read_numbers(answers)
    levels = round_values(design, values, source=source)
    codes = draw_all(
        design, levels, codes=True, source=source, threads=threads, fast=fast
    )
    return build_responses(design, present, codes)


def read_numbers(answers: object) -> tuple[NDArray[Any], Missing]:
    """Return the numbers that are present, and which rows they stand in."""
    if (
        isinstance(answers, np.ndarray)
        and answers.dtype.kind in "iuf"
        and not isinstance(answers, np.ma.MaskedArray)
    ):
        present = (
            ~np.isnan(answers)
            if answers.dtype.kind == "f"
            else np.ones(answers.shape, np.bool_)
        )
        return (answers if present.all() else answers[present]), present
    if isinstance(answers, np.ma.MaskedArray):
        return answers.compressed(), ~np.ma.getmaskarray(answers)
    column = arrow.to_arrow(answers) if arrow.is_column(answers) else None
    if column is not None and _is_number(column.type):
        present = np.asarray(column.is_valid())
        numbers, present[present] = read_numbers(column.drop_null().to_numpy())
        return numbers, present
    values = read_objects(answers)
    present = np.array([value is not None for value in values], np.bool_)
    return np.array(
        [value for value in values if value is not None] or np.empty(0)
    ), present


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def count_sent(
    responses: Responses[NumberDesign], *, threads: int = 1, fast: bool | None = None
) -> NumberTally:
    """Count responses by stretch of levels."""
    tally = tally_column(
        responses.design, responses.present()["response"], threads=threads, fast=fast
    )
    return add_missing(tally, responses)


def tally_column(
    design: NumberDesign,
    responses: object,
    *,
    codes: bool | None = None,
    threads: int = 1,
    fast: bool | None = None,
) -> NumberTally:
    """Count a column of labels or codes, as `bulk.columns.tally` does for categories."""
    tally = tally_levels(design, responses, codes=codes, threads=threads, fast=fast)
    return NumberTally(design, tally.counts, tally.missing)


def round_values(
    design: NumberDesign, values: object, *, source: Source | None = None
) -> NDArray[np.uint8]:
    """Round each value to one of the two levels around it at random; keep the levels, and respond to them.

    Guarantee: the upper one with probability exactly (x − lower) / step, each value read as the decimal it shows; from
    a given source the same as `rounded` value by value.

    Why: a word is the beginning of a uniform number. Only where it is so near to the value's place that floats might
    mistake the order, or where the value is so near to a level that floats might mistake the level, exact numbers
    decide.

    Args:
        design: which levels there are.
        values: numbers in an array, a list or a column.
        source: random bytes, for tests; by default a secure keystream.

    Returns:
        Numbers of the levels: codes of categories for `engines.local.draw_all`.

    Raises:
        InvalidAnswer: a row that is missing, no number, or outside the range; only its index is told.

    Example:
        >>> from deniable.designs import number_design
        >>> round_values(number_design(0, 10, epsilon=1, levels=3), [0, 5, 10.0]).tolist()
        [0, 1, 2]
    """
    column = read_column(values)
    words = Words(source)
    out = np.empty(len(column), np.uint8)
    for start in range(0, len(column), CHUNK):
        chunk = slice(start, start + CHUNK)
        _round_into(design, column[chunk], words, out[chunk], start)
    return out


def read_column(values: object) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "iuf":
        raise InvalidAnswer(
            "the values are not one column of numbers; expected whole numbers or floats."
        )
    return column


def _round_into(
    design: NumberDesign,
    values: NDArray[Any],
    words: Words,
    out: NDArray[np.uint8],
    start: int,
) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        places = (values.astype(np.float64) - float(design.range.low)) / float(
            design.scale.step
        )
    sure = _sure(design, values.dtype)
    # Also NaN, which compares with nothing; and those so near to an end of the range that only exact numbers tell.
    doubtful = np.flatnonzero(
        ~((places > sure) & (places < design.scale.levels - 1 - sure))
    )
    for first in np.unique(values[doubtful], return_index=True)[1].tolist():
        _check(design, values[doubtful[first]], start + int(doubtful[first]))
    buffer = words.room(len(values))
    words.fill(buffer, len(values))
    drawn = buffer[: len(values)].copy()
    below = np.floor(places)
    numbers = drawn.astype(np.float64) * 2.0**-64
    out[:] = below + (numbers < places - below)
    near_level = np.abs(places - np.rint(places)) < sure
    unsure = np.flatnonzero((np.abs(numbers - (places - below)) < sure) | near_level)
    if not unsure.size:
        return
    exactly = {int(row): level_below(design, values[row]) for row in unsure}
    if any(_level(drawn[row], part) for row, (_, part) in exactly.items()):
        _one_by_one(design, values, (drawn, words), out)
        return
    for row, (level, part) in exactly.items():
        out[row] = level + (Fraction(int(drawn[row]), 1 << 64) < part)


def _sure(design: NumberDesign, kind: np.dtype[Any]) -> float:
    """Return how far apart a word and a place must be for floats to tell them apart.

    Why: a float is off by 2^-53 of its size, one of 32 or 16 bits by more from the decimal that it shows, and the ends
    may be large next to what lies between two levels.
    """
    off = max(2.0**-52, float(np.finfo(kind).eps)) if kind.kind == "f" else 2.0**-52
    range_ = design.range
    return max(
        _SURE,
        16 * off * float(max(abs(range_.low), abs(range_.high)) / design.scale.step),
    )


def _level(word: np.uint64, place: Fraction) -> bool:
    """Whether a word is the very beginning of the place, so that `happens` takes another one: 2^-64 a value."""
    digit, remainder = divmod(place.numerator << 64, place.denominator)
    return int(word) == digit and remainder > 0


def _one_by_one(
    design: NumberDesign,
    values: NDArray[Any],
    taken: tuple[NDArray[np.uint64], Words],
    out: NDArray[np.uint8],
) -> None:
    """Draw value by value, from the words that were taken and then from the source."""
    replay = Replay(taken[0], taken[1].source)
    for row, value in enumerate(values):
        out[row] = level_of(design, value, source=replay)


def _check(design: NumberDesign, value: Any, row: int) -> None:
    try:
        level_below(design, value)
    except InvalidAnswer as error:
        raise InvalidAnswer(
            f"the value at index {row:,} cannot be used: {error.problem}", error.hint
        ) from None
