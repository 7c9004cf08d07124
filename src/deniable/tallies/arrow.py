"""Counts of the responses in Arrow arrays, by their distinct values."""

from __future__ import annotations

from typing import Any

from deniable.errors import DeniableError, InvalidResponse
from deniable.files.arrow import is_text, slice_rows
from deniable.tallies.running import Running, booleans


def add(running: Running, column: Any) -> None:
    """Count a column.

    Raises:
        InvalidResponse: not a column of labels or codes, or a value that the design cannot send.
    """
    import pyarrow as pa

    if pa.types.is_struct(column.type) and column.type.num_fields != 1:
        names = ", ".join(
            repr(column.type.field(i).name)
            for i in range(min(column.type.num_fields, 8))
        )
        raise InvalidResponse(
            f"these are {column.type.num_fields} columns ({names}); expected one.",
            'Hand over one of them, for example table["response"].',
        )
    for chunk in column.chunks:
        for batch in slice_rows(chunk):
            add_array(
                running, batch.flatten()[0] if pa.types.is_struct(batch.type) else batch
            )


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
        present = (
            array.is_valid().to_numpy(zero_copy_only=False)
            if array.null_count
            else None
        )
        running.add_numbers(array.drop_null().to_numpy(zero_copy_only=False), present)
    elif pa.types.is_fixed_size_binary(kind):
        present = (
            array.is_valid().to_numpy(zero_copy_only=False)
            if array.null_count
            else None
        )
        running.add_rows(
            running.coding.from_arrow(array.drop_null() if array.null_count else array),
            present,
        )
    elif pa.types.is_boolean(kind):
        raise booleans("the column", running.design)
    else:
        raise InvalidResponse(
            f"the column is of type {kind}; expected labels (text) or codes (whole numbers)."
        )


def _add_dictionary(running: Running, array: Any) -> None:
    """Count by the distinct values, which are read once; those that no row uses are not even looked at."""
    import numpy as np

    indices = array.indices
    counts = np.bincount(
        indices.drop_null().to_numpy().astype(np.intp), minlength=len(array.dictionary)
    )
    values = array.dictionary.to_pylist()
    try:
        running.add_distinct(
            zip(values, counts.tolist(), strict=True), locate=values.index
        )
    except DeniableError:
        running.add_objects(
            array.to_pylist()
        )  # the same again row by row, to name the first row
        raise
    running.missing += indices.null_count
    running.rows += len(array)
