"""A column of responses in whatever form it comes → the codes of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.designs import AnyDesign, Design
from deniable.errors import InvalidRequest, InvalidResponse
from deniable.tallies import arrow
from deniable.tallies.running import Running


def read_rows(design: AnyDesign, column: Any, *, codes: bool | None = None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the rows of `Responses`, with zeros where nothing was sent, and which rows these are.

    Each different value is read once, as `tally` reads it.

    Raises:
        InvalidResponse: something the design cannot send; the message names the row.
        Incompatible: a `Response` that was drawn with another design.
        InvalidRequest: a design for something else than categories or numbers.
    """
    if not isinstance(design, Design):
        raise InvalidRequest(
            f"rows of a design that asks for {design.asks} have more than one column; expected one for categories or "
            "numbers.",
            "Draw them with dn.respond_all, or read them with Responses.from_arrow.",
        )
    items = _items(column)
    running, seen = Running(design, codes=codes), {}
    numbers: list[int | None] = []
    for row, value in enumerate(items):
        key = (type(value), value)
        if key not in seen:
            seen[key] = running.number(value, lambda _, row=row: row)  # type: ignore[misc]
        numbers.append(seen[key])
    missing = np.array([each is None for each in numbers], np.bool_)
    present = [each for each in numbers if each is not None]
    coding = design.channel.coding
    packed = np.array(present, coding.space(0).dtype) if coding.ndim == 1 else coding.pack(present)
    rows = np.zeros((len(items), *packed.shape[1:]), packed.dtype)
    rows[~missing] = packed
    return rows, missing


def _items(column: Any) -> list[Any]:
    if isinstance(column, np.ma.MaskedArray):
        return [None if gap else each for each, gap in zip(column.tolist(), np.ma.getmaskarray(column), strict=True)]
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise InvalidResponse(f"the array has {column.ndim} dimensions; expected one response in each place.")
        return list(column.tolist())
    if arrow.is_column(column):
        read = arrow.read(column)
        return list(column) if read is None else read.to_pylist()
    if isinstance(column, str | bytes) or not hasattr(column, "__iter__") or hasattr(column, "keys"):
        raise InvalidResponse(
            f"the responses are a {type(column).__name__}; expected a column with a response for each respondent."
        )
    return list(column)
