"""Columns of the same people, row by row: two columns of pandas that name their rows differently are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from deniable.errors import Incompatible

__all__ = ["check_same_people", "index_of", "name_of"]


def index_of(given: Any) -> Any:
    """Return what the rows of a column or table are called; None where they are only numbered by their place.

    pandas is never imported: whatever has an `index` that can be compared with another one has named rows.
    """
    index = getattr(given, "index", None)
    return index if hasattr(index, "equals") else None


def name_of(column: Any) -> str:
    """Return what a column is called; empty where it has no name."""
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
    named = [(name, index) for name, column in columns.items() for index in _indexes(column)]
    for name, index in named[1:]:
        first, known = named[0]
        if index is not known and len(index) == len(known) and not index.equals(known):
            row = next(row for row, (one, two) in enumerate(zip(known, index, strict=True), 1) if one != two)
            raise Incompatible(
                f"the {first} and the {name} are columns of pandas whose indexes differ, first in row {row:,}; "
                "expected the same people in the same order.",
                f"Bring the {name} into the order of the {first} with .loc[{first}.index]; or, where row by row they "
                "are of the same people as they stand, take .reset_index(drop=True) of both, or .to_numpy() of one.",
            )


def _indexes(column: Any) -> Iterator[Any]:
    if isinstance(column, tuple) and len(column) == 2:
        column = column[1]
    parts = column.values() if isinstance(column, Mapping) else [column]
    for part in parts:
        index = index_of(part)
        if index is not None:
            yield index
