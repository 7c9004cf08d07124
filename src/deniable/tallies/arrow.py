"""Columns of Arrow, pandas and Polars, counted by their distinct values. pandas and Polars are never imported here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from deniable.errors import DeniableError, InvalidResponse
from deniable.tallies.rows import index_of
from deniable.tallies.running import Running, booleans

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 20  # rows that are turned into numbers at a time


def is_column(responses: object) -> bool:
    """Tell whether something hands over its content as Arrow, or is a column of pandas."""
    exports = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__")
    pandas = type(responses).__module__.partition(".")[0] == "pandas"
    return pandas or any(hasattr(responses, name) for name in exports)


def read(responses: Any) -> pa.ChunkedArray[Any] | None:
    """Return a column as Arrow, or None where it holds Python objects of several kinds."""
    import pyarrow as pa

    if index_of(responses) is not None and hasattr(responses, "columns"):
        responses = responses.reset_index(drop=True)  # of a frame, which would hand over its index as a column
    try:
        if hasattr(responses, "__arrow_c_stream__"):
            return pa.chunked_array(responses)
        array = pa.array(responses, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def add(running: Running, column: Any) -> None:
    """Count a column.

    Raises:
        InvalidResponse: not a column of labels or codes, or a value that the design cannot send.
    """
    import pyarrow as pa

    if pa.types.is_struct(column.type) and column.type.num_fields != 1:
        names = ", ".join(repr(column.type.field(i).name) for i in range(min(column.type.num_fields, 8)))
        raise InvalidResponse(
            f"these are {column.type.num_fields} columns ({names}); expected one.",
            'Hand over one of them, for example table["response"].',
        )
    for chunk in column.chunks:
        for batch in batches(chunk):
            add_array(running, batch.flatten()[0] if pa.types.is_struct(batch.type) else batch)


def batches(chunk: Any) -> Iterator[Any]:
    """Cut an array so that what is made from a piece stays small."""
    for start in range(0, len(chunk), _ROWS):
        yield chunk.slice(start, _ROWS)


def add_array(running: Running, array: Any) -> None:
    """Count one array.

    Raises:
        InvalidResponse: of a type that holds neither labels nor codes, or a value that the design cannot send.
    """
    import pyarrow as pa

    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    kind = array.type
    if pa.types.is_null(kind):
        running.add_missing(len(array))
    elif pa.types.is_dictionary(kind):
        _add_dictionary(running, array)
    elif is_text(kind):
        _add_dictionary(running, array.dictionary_encode())
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        present = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
        running.add_numbers(array.drop_null().to_numpy(zero_copy_only=False), present)
    elif pa.types.is_fixed_size_binary(kind):
        present = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
        running.add_rows(running.coding.from_arrow(array.drop_null() if array.null_count else array), present)
    elif pa.types.is_boolean(kind):
        raise booleans("the column", running.design)
    else:
        raise InvalidResponse(f"the column is of type {kind}; expected labels (text) or codes (whole numbers).")


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type is text in one of its layouts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _add_dictionary(running: Running, array: Any) -> None:
    """Count by the distinct values, which are read once; those that no row uses are not even looked at."""
    import numpy as np

    indices = array.indices
    counts = np.bincount(indices.drop_null().to_numpy().astype(np.intp), minlength=len(array.dictionary))
    values = array.dictionary.to_pylist()
    try:
        running.add_distinct(zip(values, counts.tolist(), strict=True), locate=values.index)
    except DeniableError:
        running.add_objects(array.to_pylist())  # the same again row by row, to name the first row
        raise
    running.missing += indices.null_count
    running.rows += len(array)
