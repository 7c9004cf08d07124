"""Responses in whatever form they come → counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.errors import DeniableError, InvalidResponse, quoted
from deniable.files.arrow import is_column, is_text, slice_rows, to_arrow
from deniable.tallies.base import is_count
from deniable.tallies.counts import Tally
from deniable.tallies.running import Running, booleans

if TYPE_CHECKING:
    import pyarrow as pa

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
            _add_column(running, column)
        else:
            _add_iterable(running, responses)
    return running.tally()


def _add_numpy(running: Running, array: NDArray[Any]) -> None:
    is_set = array.ndim == running.coding.ndim > 1
    if array.ndim != 1 and not is_set:
        raise InvalidResponse(
            f"the array has {array.ndim} dimensions; expected one, with a response in each place.",
            "Use array.ravel() where every cell is a response.",
        )
    present = None
    if np.ma.isMaskedArray(array):
        mask = np.ma.getmaskarray(array).reshape(len(array), -1)
        present = np.asarray(~mask.any(axis=1))
        array = np.ma.getdata(array)[present]
    if is_set:
        running.add_rows(array, present)
    elif array.dtype.kind in "iuf":
        running.add_numbers(array, present)
    elif array.dtype.kind == "b" and len(array):
        raise booleans("the array", running.design)
    elif array.dtype.kind in "OUTb":
        running.missing += 0 if present is None else int((~present).sum())
        for start in range(0, len(array), _ROWS):
            running.add_objects(array[start : start + _ROWS].tolist())
    else:
        raise InvalidResponse(
            f"the array is of type {array.dtype}; expected labels (text) or codes (integers)."
        )


def _add_mapping(running: Running, counted: Mapping[Any, Any]) -> None:
    order = list(counted)
    for value, count in counted.items():
        if not is_count(count):
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
    items = iter(responses)
    while batch := list(islice(items, _ROWS)):
        running.add_objects(batch)


def _add_column(running: Running, column: pa.ChunkedArray[Any]) -> None:
    """Count a column of Arrow."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_struct(column.type):
        fields = column.type.num_fields
        if fields != 1:
            names = [
                column.type.field(number).name for number in range(min(fields, 8))
            ]
            raise InvalidResponse(
                f"these are {fields} columns ({', '.join(map(repr, names))}); expected one.",
                'Hand over one of them, for example table["response"].',
            )
        column = pc.struct_field(column, [0])
    for chunk in column.chunks:
        for array in slice_rows(chunk):
            _add_array(running, array)


def _add_array(running: Running, array: Any) -> None:
    """Count an array of Arrow, labels by their distinct values."""
    import pyarrow as pa

    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    kind, present = array.type, None
    if array.null_count:
        present = array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_null(kind):
        running.add_missing(len(array))
    elif pa.types.is_dictionary(kind):
        _add_dictionary(running, array)
    elif is_text(kind):
        _add_dictionary(running, array.dictionary_encode())
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        running.add_numbers(
            array.drop_null().to_numpy(zero_copy_only=False), present
        )
    elif pa.types.is_fixed_size_binary(kind):
        rows = array if present is None else array.drop_null()
        running.add_rows(running.coding.from_arrow(rows), present)
    elif pa.types.is_boolean(kind):
        raise booleans("the column", running.design)
    else:
        raise InvalidResponse(
            f"the column is of type {kind}; expected labels (text) or codes (whole numbers)."
        )


def _add_dictionary(running: Running, array: Any) -> None:
    """Count by the distinct values, which are read once; those that no row uses are not even looked at."""
    indices, values = array.indices, array.dictionary.to_pylist()
    counts = np.bincount(
        indices.drop_null().to_numpy().astype(np.intp), minlength=len(values)
    )
    try:
        running.add_distinct(
            zip(values, counts.tolist(), strict=True), locate=values.index
        )
    except DeniableError:
        # The same again row by row, to name the first row.
        running.add_objects(array.to_pylist())
        raise
    running.missing += indices.null_count
    running.rows += len(array)
