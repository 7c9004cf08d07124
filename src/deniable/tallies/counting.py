"""Responses in whatever form they come → counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.errors import InvalidResponse, quoted
from deniable.files.arrow import is_column, to_arrow
from deniable.tallies import arrow
from deniable.tallies.counts import Tally
from deniable.tallies.running import Running, booleans

_ROWS = 1 << 16  # Python objects that are held at a time


def tally(design: Design, responses: Any, *, codes: bool | None = None) -> Tally:
    """Count responses.

    They may be a NumPy array, any iterable of Python objects, a column of pandas, Polars or Arrow (a table of one
    column too), or a mapping from each response to how often it was sent. Each response is a label, a code (the
    number of a symbol, from 0) or a `Response`. Sets of categories may also come as an array of packed rows, as
    `engines.local.draw_all` returns them, or of rows of 0 and 1. What is missing (None, NaN, null, `pandas.NA`, masked)
    is counted in `Tally.missing` and never guessed. An iterable is read once, in constant memory.

    Booleans are refused: True does not say which symbol was sent, and where the symbols are ["yes", "no"] taking it
    for the code 1 would turn every response around.

    Args:
        design: what the responses were drawn with.
        responses: what was sent.
        codes: what whole numbers are; True for codes, False for labels (3 is the symbol "3"). By default they are
            codes, and refused where symbols such as "1", "2", "3" make the two differ.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        Incompatible: a `Response` that was drawn with another design.

    Example:
        >>> from deniable.designs import warner
        >>> counted = tally(warner(epsilon=1), ["yes", "no", None, "yes"])
        >>> counted.counts, counted.missing
        (array([1, 2]), 1)
    """
    running = Running(design, codes=codes)
    if isinstance(responses, np.ndarray):
        _add_numpy(running, responses)
    elif isinstance(responses, Mapping):
        _add_mapping(running, responses)
    else:
        column = to_arrow(responses) if is_column(responses) else None
        if column is not None:
            arrow.add(running, column)
        else:
            _add_iterable(running, responses)
    return running.tally()


def count_codes(design: Design, codes: NDArray[Any]) -> Tally:
    """Count an array of codes, all present: the quick way for engines.

    Raises:
        InvalidResponse: not a one-dimensional array of integers, or a code out of range.

    Example:
        >>> from deniable.designs import warner
        >>> count_codes(warner(epsilon=1), np.array([0, 1, 1], np.uint8)).counts
        array([1, 2])
    """
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InvalidResponse(
            f"the codes are of shape {codes.shape} and type {codes.dtype}; expected one row of integers."
        )
    running = Running(design, codes=True)
    running.add_numbers(codes)
    return running.tally()


def _add_numpy(running: Running, array: NDArray[Any]) -> None:
    if array.ndim == running.coding.ndim > 1:
        missing = (
            np.asarray(np.ma.getmaskarray(array).any(axis=1))
            if isinstance(array, np.ma.MaskedArray)
            else None
        )
        if missing is None or not missing.any():
            running.add_rows(np.ma.getdata(array))
        else:
            running.add_rows(np.ma.getdata(array)[~missing], ~missing)
        return
    if array.ndim != 1:
        raise InvalidResponse(
            f"the array has {array.ndim} dimensions; expected one, with a response in each place.",
            "Use array.ravel() where every cell is a response.",
        )
    present = None
    if isinstance(array, np.ma.MaskedArray):
        present = ~np.ma.getmaskarray(array)
        array = array.compressed()
    if array.dtype.kind in "iuf":
        running.add_numbers(array, present)
    elif array.dtype.kind == "b" and len(array):
        raise booleans("the array", running.design)
    elif array.dtype.kind in "OUTb":
        running.missing += 0 if present is None else int(len(present) - present.sum())
        for start in range(0, len(array), _ROWS):
            running.add_objects(array[start : start + _ROWS].tolist())
    else:
        raise InvalidResponse(
            f"the array is of type {array.dtype}; expected labels (text) or codes (integers)."
        )


def _add_mapping(running: Running, counted: Mapping[Any, Any]) -> None:
    order = list(counted)
    for value, count in counted.items():
        if (
            isinstance(count, bool)
            or not isinstance(count, int | np.integer)
            or count < 0
        ):
            raise InvalidResponse(
                f"a response was sent {quoted(count)} times; expected a whole number, 0 or more.",
                'A mapping gives for each response how often it was sent, such as {"yes": 20, "no": 180}.',
            )
        running.add_distinct([(value, int(count))], locate=order.index)


def _add_iterable(running: Running, responses: Iterable[Any]) -> None:
    if isinstance(responses, str | bytes | bytearray | Set) or not isinstance(
        responses, Iterable
    ):
        raise InvalidResponse(
            f"the responses are a {type(responses).__name__}; expected a sequence with a response for each respondent.",
            'For example ["yes", "no", "yes"], an array of codes, or a column of a table.',
        )
    for batch in _batched(iter(responses)):
        running.add_objects(batch)


def _batched(items: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(items, _ROWS)):
        yield batch
