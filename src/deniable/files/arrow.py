"""Columns of Arrow, pandas, Polars, NumPy and lists → Arrow arrays or Python objects, for both sides.

Answers and responses are read by the same functions, which count nothing and keep nothing. pandas and Polars are never
imported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Real
from typing import TYPE_CHECKING, Any

from deniable.files.row_names import index_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ABSENT",
    "is_absent",
    "is_column",
    "is_text",
    "slice_rows",
    "to_arrow",
    "to_items",
]

_ROWS = 1 << 20  # rows that are turned into numbers at a time


def is_column(column: object) -> bool:
    """Tell whether an object hands over its content as Arrow, or is a column of pandas."""
    exports = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__")
    is_pandas = type(column).__module__.partition(".")[0] == "pandas"
    return is_pandas or any(hasattr(column, name) for name in exports)


def to_arrow(column: Any) -> pa.ChunkedArray[Any] | None:
    """Return a column as Arrow, or None where it holds Python objects of several kinds."""
    import pyarrow as pa

    if index_of(column) is not None and hasattr(column, "columns"):
        # of a frame, which would hand over its index as a column
        column = column.reset_index(drop=True)
    try:
        if hasattr(column, "__arrow_c_stream__"):
            return pa.chunked_array(column)
        array = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def to_items(column: Any) -> list[Any] | None:
    """Return a column as a list of Python objects, with None where it is masked or null; None where it is no column."""
    import numpy as np

    if isinstance(column, np.ma.MaskedArray):
        gaps = np.ma.getmaskarray(column)
        return [
            None if gap else item
            for item, gap in zip(column.tolist(), gaps, strict=True)
        ]
    if isinstance(column, np.ndarray):
        return list(column.tolist())
    if is_column(column):
        array = to_arrow(column)
        return list(column) if array is None else array.to_pylist()
    if (
        isinstance(column, str | bytes)
        or not hasattr(column, "__iter__")
        or hasattr(column, "keys")
    ):
        return None
    return list(column)


def slice_rows(array: Any) -> Iterator[Any]:
    """Cut an array so that what is made from a piece stays small."""
    for start in range(0, len(array), _ROWS):
        yield array.slice(start, _ROWS)


def is_text(kind: pa.DataType) -> bool:
    """Tell whether an Arrow type is text in one of its layouts."""
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )


ABSENT = {"NoneType", "NAType", "NaTType"}
"""The types of None and of what pandas writes for it, by name: pandas is never imported for it."""


def is_absent(value: object) -> bool:
    """Tell whether a value stands for nothing: None, NaN, or what pandas writes for them."""
    return type(value).__name__ in ABSENT or (
        isinstance(value, Real) and math.isnan(value)
    )
