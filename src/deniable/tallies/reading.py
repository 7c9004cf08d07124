"""A column of responses in whatever form it comes → the codes of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.designs import AnyDesign, Design
from deniable.errors import InvalidRequest, InvalidResponse, require
from deniable.files.arrow import is_absent, to_items
from deniable.tallies.base import response_numbers
from deniable.tallies.running import Running, Where, at_index


def read_rows(
    design: AnyDesign,
    column: object,
    *,
    codes: bool | None = None,
    where: Where = at_index,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the rows of `Responses`, with zeros where nothing was sent, and which rows these are.

    Args:
        design: what the responses were drawn with.
        column: a row for each respondent, as for `read_distinct`.
        codes: what whole numbers are, as for `tally`.
        where: how a row is called in a message.

    Raises:
        InvalidResponse: something the design cannot send; the message names the row.
        Incompatible: a `Response` that was drawn with another design.
        InvalidRequest: a design whose rows are no single responses.
    """
    require(
        hasattr(design, "asks"),
        design,
        "the design",
        "one, first: Responses.of(design, column)",
    )
    if design.is_numbered and codes is None:
        return _read_numbered(design, column)
    if not isinstance(design, Design):
        raise InvalidRequest(
            f"rows of a design that asks for {design.asks} are not read from one column"
            f"{'' if codes is None else ' with codes='}; expected "
            "categories, numbers, or responses that are numbered.",
            "Draw them with dn.respond_all, or read them with Responses.from_arrow.",
        )
    numbers, indexes = read_distinct(design, column, codes=codes, where=where)
    return _place_rows(design, numbers, indexes)


def _place_rows(
    design: Design, numbers: Sequence[int | None], indexes: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    packed = packed_rows(
        design, [number for number in numbers if number is not None]
    )
    table = np.zeros((len(numbers), *packed.shape[1:]), packed.dtype)
    gaps = np.array([number is None for number in numbers], np.bool_)
    table[~gaps] = packed
    return table[indexes], gaps[indexes]


def _read_numbered(
    design: Any, column: object
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the numbers of responses that a design reads one by one, 0 where nothing was sent, and which these are."""
    items = [None if is_absent(item) else item for item in _read_items(column)]
    numbers = list(response_numbers(design, items))
    missing = np.array([number is None for number in numbers], np.bool_)
    return np.array([number or 0 for number in numbers], np.uint32), missing


def _read_items(column: object) -> list[Any]:
    items = to_items(column)
    if items is None:
        raise InvalidResponse(
            f"the responses are a {type(column).__name__}; expected a column with a response for each respondent."
        )
    return items


def packed_rows(design: Design, numbers: list[int]) -> NDArray[Any]:
    """Return the rows of `Responses` that hold these responses, by their numbers: codes, or packed bits of sets."""
    return design.channel.coding.pack(numbers)


def read_distinct(
    design: Design,
    column: object,
    *,
    codes: bool | None = None,
    where: Where = at_index,
) -> tuple[list[int | None], NDArray[np.intp]]:
    """Return the number of each different response in a column, None for nothing, and which of them each row holds.

    Each different value is read once, as `tally` reads it; where responses are sets, also rows of bytes.

    Args:
        design: what the responses were drawn with.
        column: a row for each respondent: a list, or a column of NumPy, pandas, Polars or Arrow.
        codes: what whole numbers are, as for `tally`.
        where: how a row is called in a message.

    Raises:
        InvalidResponse: something the design cannot send; the message names the row.
        Incompatible: a `Response` that was drawn with another design.
    """
    values, firsts, rows = _distinct(column)
    running = Running(design, codes=codes, where=where)
    pairs = zip(values, firsts, strict=True)
    return [_number(running, value, row) for value, row in pairs], rows


def _distinct(column: object) -> tuple[list[Any], list[int], NDArray[np.intp]]:
    """Return the different values of a column as they come, the first row of each, and which of them each row holds."""
    if isinstance(column, np.ndarray) and column.ndim != 1:
        raise InvalidResponse(
            f"the array has {column.ndim} dimensions; expected one response in each place."
        )
    if (
        isinstance(column, np.ndarray)
        and column.dtype.kind in "iuf"
        and not np.ma.isMaskedArray(column)
    ):
        values, firsts, inverse = np.unique(
            column, return_index=True, return_inverse=True
        )
        order = firsts.argsort()
        return (
            values[order].tolist(),
            firsts[order].tolist(),
            order.argsort()[inverse],
        )
    items = _read_items(column)
    indexes: dict[Any, int] = {}
    first: list[int] = []
    rows = np.empty(len(items), np.intp)
    for row, value in enumerate(items):
        index = rows[row] = indexes.setdefault((type(value), value), len(indexes))
        if index == len(first):
            first.append(row)
    return [value for _, value in indexes], first, rows


def _number(running: Running, value: object, row: int) -> int | None:
    if isinstance(value, bytes) and running.coding.ndim > 1:
        packed = np.frombuffer(value, np.uint8)[None, :]
        return running.coding.unpack(running.coding.checked(packed))[0]
    return running.number(value, lambda _: row)
