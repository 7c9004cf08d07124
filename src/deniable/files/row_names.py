"""Names of rows and columns, which pandas has: two columns that name their rows differently are of different people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from deniable.errors import Incompatible

__all__ = ["check_same_people", "index_of", "name_of"]


def index_of(table: object) -> Any:
    """Return the index of a column or table of pandas; None where rows are only numbered by their place.

    pandas is never imported: whatever has an `index` that can be compared with another one has named rows.
    """
    index = getattr(table, "index", None)
    return index if hasattr(index, "equals") else None


def name_of(column: object) -> str:
    """Return the name of a column; empty where it has none."""
    name = getattr(column, "name", None)
    return name if isinstance(name, str) else ""


def check_same_people(**columns: Any) -> None:
    """Refuse columns of pandas whose rows have different names: by their place they would be of different people.

    Columns without names of rows are taken by their place. Names may be those of people, and are not repeated.

    Args:
        columns: by what the caller calls them; a mapping holds several, a tuple a design and its column.

    Raises:
        Incompatible: two columns of as many rows whose names differ.
    """
    indexes = [
        (name, index)
        for name, column in columns.items()
        for index in _indexes(column)
    ]
    for name, index in indexes[1:]:
        first, expected = indexes[0]
        if (
            index is not expected
            and len(index) == len(expected)
            and not index.equals(expected)
        ):
            row = next(
                row
                for row, (left, right) in enumerate(
                    zip(expected, index, strict=True), 1
                )
                if left != right
            )
            raise Incompatible(
                f"the {first} and the {name} are columns of pandas whose indexes differ, first in row {row:,}; "
                "expected the same people in the same order.",
                f"Bring the {name} into the order of the {first} with .loc[{first}.index]; or, where row by row they "
                "are of the same people as they stand, take .reset_index(drop=True) of both, or .to_numpy() of one.",
            )


def _indexes(column: object) -> Iterator[Any]:
    if isinstance(column, tuple) and len(column) == 2:
        column = column[1]
    parts = column.values() if isinstance(column, Mapping) else [column]
    for part in parts:
        index = index_of(part)
        if index is not None:
            yield index
