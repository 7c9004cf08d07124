"""Text in CSV files that people open with a spreadsheet: it is never taken for a formula, and is read back as it was.

What gets a sign in front (`files/cells.py`) loses it when the file is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.files.cells import GUARDED, NUMBER, RISKY, SIGN, safe_cell

if TYPE_CHECKING:
    import pyarrow as pa


def safe_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the cells of a batch, and the names of its columns, as they go into a CSV file."""
    return _change_column(batch, _guard).rename_columns(
        [str(safe_cell(name)) for name in batch.schema.names]
    )


def plain_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the cells of a batch as they were before `safe_batch`."""
    return _change_column(batch, _unguard)


def _change_column(batch: pa.RecordBatch, change: object) -> pa.RecordBatch:
    import pyarrow as pa

    columns: list[Any] = []
    for column in batch.columns:
        if isinstance(column, pa.DictionaryArray):
            labels: Any = column.dictionary
            columns.append(
                pa.DictionaryArray.from_arrays(column.indices, _text(labels, change))
            )
        else:
            columns.append(_text(column, change))
    return pa.record_batch(columns, names=batch.schema.names)


def _text(column: Any, change: Any) -> Any:
    import pyarrow as pa

    return (
        change(column)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        else column
    )


def _guard(column: Any) -> Any:
    import pyarrow.compute as pc

    risky = pc.and_not(
        pc.match_substring_regex(column, RISKY),
        pc.match_substring_regex(column, NUMBER),
    )
    return (
        pc.if_else(risky, pc.binary_join_element_wise(SIGN, column, ""), column)
        if pc.any(risky).as_py()
        else column
    )


def _unguard(column: Any) -> Any:
    import pyarrow.compute as pc

    if not pc.any(pc.starts_with(column, SIGN)).as_py():
        return column
    guarded = pc.match_substring_regex(column, GUARDED)
    return pc.if_else(guarded, pc.utf8_slice_codeunits(column, 1), column)
