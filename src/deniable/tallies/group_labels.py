"""Columns of groups → the label of each group, and the number of each row's group."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidRequest
from deniable.files import arrow

__all__ = ["Group", "group_label", "group_name", "group_order", "number_groups"]

Group: TypeAlias = Hashable
"""What a group is called: text, a number, None where nobody said; a tuple of them, for groups by several columns."""


def group_name(group: Group) -> str:
    """Return what a group is called in tables.

    Example:
        >>> group_name(("north", 2020)), group_name(None)
        ('north · 2020', '(none)')
    """
    if isinstance(group, tuple):
        return " · ".join(map(group_name, group))
    return "(none)" if group is None else str(group)


def number_groups(by: object) -> tuple[list[Group], NDArray[np.intp]]:
    """Return the groups of a column in order, and each row's index of its group.

    They stand as a column of categories has them, else sorted, with what is missing last. Of several columns each
    group is a tuple.

    Raises:
        InvalidRequest: no column, or columns with different numbers of rows.
    """
    labels, numbers = _distinct(by)
    # Of pandas, or an Enum of Polars.
    categories = getattr(getattr(by, "dtype", None), "categories", None)
    present = dict.fromkeys(labels[number] for number in np.unique(numbers).tolist())
    first = [
        label
        for label in map(group_label, () if categories is None else categories)
        if label in present
    ]
    unlisted = [label for label in present if label not in set(first)]
    order = first + sorted(unlisted, key=group_order)
    number_of = {label: number for number, label in enumerate(order)}
    codes = np.array([number_of.get(label, -1) for label in labels], np.intp)
    return order, codes[numbers] if labels else numbers


def _distinct(by: Any) -> tuple[list[Group], NDArray[np.intp]]:
    """Return what a column holds, perhaps with repetitions, and the number of each row's."""
    if isinstance(by, Mapping):
        columns = [number_groups(value) for value in by.values()]
        if not columns or len({len(rows) for _, rows in columns}) > 1:
            raise InvalidRequest(
                "the columns of groups have different numbers of rows; expected one for each row."
            )
        return _combine_columns(columns)
    if (
        isinstance(by, np.ndarray)
        and by.ndim == 1
        and by.dtype.kind in "biufUSM"
        and not np.ma.isMaskedArray(by)
    ):
        values, rows = np.unique(by, return_inverse=True)
        return [group_label(value) for value in values.tolist()], rows.reshape(
            -1
        ).astype(np.intp, copy=False)
    if isinstance(by, str | bytes) or (
        not hasattr(by, "__iter__") and not arrow.is_column(by)
    ):
        raise InvalidRequest(
            f"by is a {type(by).__name__}; expected the group of each respondent, row by row.",
            'For example by=frame["region"].',
        )
    read = arrow.to_arrow(by) if arrow.is_column(by) else None
    if read is not None:
        return _arrow_labels(read)
    labels = [group_label(value) for value in by]
    number_of = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return list(number_of), np.array([number_of[value] for value in labels], np.intp)


def _arrow_labels(column: Any) -> tuple[list[Group], NDArray[np.intp]]:
    import pyarrow as pa

    array = column.combine_chunks()
    array = array.storage if isinstance(array, pa.ExtensionArray) else array
    if pa.types.is_struct(array.type):
        return _combine_columns([number_groups(each) for each in array.flatten()])
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_string())
    coded = (
        array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    )
    values = coded.dictionary.to_pylist()
    rows = np.asarray(coded.indices.fill_null(len(values)), np.intp)
    return [*map(group_label, values), None], rows


def _combine_columns(
    columns: list[tuple[list[Group], NDArray[np.intp]]],
) -> tuple[list[Group], NDArray[np.intp]]:
    """Return the occurring combinations of several columns, as tuples."""
    combinations, rows = np.unique(
        np.stack([numbers for _, numbers in columns], axis=1),
        axis=0,
        return_inverse=True,
    )
    labels = [order for order, _ in columns]
    return [
        tuple(label[at] for label, at in zip(labels, row, strict=True))
        for row in combinations.tolist()
    ], rows.reshape(-1)


def group_order(group: Group) -> Any:
    """Return where a group stands: numbers, text, and what is missing last."""
    if isinstance(group, tuple):
        return tuple(map(group_order, group))
    return (
        (2, "")
        if group is None
        else (0, group)
        if isinstance(group, int | float)
        else (1, str(group))
    )


def group_label(group: object) -> Group:
    """Return what a group is called, as JSON can hold it; what a table has for nothing is None."""
    if isinstance(group, tuple | list):
        return tuple(map(group_label, group))
    if isinstance(group, np.generic):
        group = group.item()
    if group is None or isinstance(group, str | bool | int):
        return group
    if isinstance(group, float):
        return group if math.isfinite(group) else None
    return None if str(group) in ("<NA>", "NaT") else str(group)
