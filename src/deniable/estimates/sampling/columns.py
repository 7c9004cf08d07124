"""Columns that describe a sample, from lists, NumPy, pandas, Polars or Arrow: numbers, labels and masks of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidRequest, kind_of, quoted, require
from deniable.estimates.covariances import Vector, vector
from deniable.files.arrow import is_absent, to_items

Codes: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]


def named_column(given: object, data: Any, name: str) -> Any:
    """Return a column, looked up in a frame where it is given by its name.

    Raises:
        InvalidRequest: a name without a frame, or one that the frame does not have.
    """
    if not isinstance(given, str):
        return given
    if data is None:
        raise InvalidRequest(
            f"the {name} are given by the name {quoted(given)}; expected a column, or data= with a column of that name."
        )
    try:
        return data[given]
    except (KeyError, IndexError, TypeError, ValueError):
        pass
    except (
        Exception
    ) as error:  # Polars has errors of its own, and is never imported here
        if type(error).__module__.partition(".")[0] not in ("polars", "pyarrow"):
            raise
    require(
        hasattr(data, "__getitem__"),
        data,
        "data=",
        "a frame, or a mapping of columns",
    )
    raise InvalidRequest(
        f"the data has no column {quoted(given)}; expected one, for the {name}."
    )


def numbers(given: object, name: str, rows: int | None = None) -> Vector:
    """Read a column of numbers.

    Raises:
        InvalidRequest: something that is no finite number, or another number of rows.
    """
    try:
        filled = (
            np.ma.filled(given.astype(np.float64), np.nan)
            if isinstance(given, np.ma.MaskedArray)
            else given
        )
        found = np.array(filled, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidRequest(
            f"not everything in the {name} is a number; expected a number in each row."
        ) from None
    if found.ndim != 1:
        raise InvalidRequest(
            f"the {name} have {found.ndim} dimensions; expected one number in each row."
        )
    if not np.isfinite(found).all():
        first = int((~np.isfinite(found)).argmax())
        raise InvalidRequest(
            f"the {name} hold no finite number in row {first + 1:,}; expected one in each row."
        )
    check_rows(found, name, rows)
    return found


def labels(
    given: object, name: str, rows: int | None = None
) -> tuple[Codes, tuple[Any, ...]]:
    """Read a column of labels: a code for each row, and the different labels in the order in which they come.

    Raises:
        InvalidRequest: a label that is missing, or another number of rows.
    """
    items = objects(given, name)
    check_rows(items, name, rows)
    try:
        known = {each: code for code, each in enumerate(dict.fromkeys(items))}
    except TypeError:
        raise InvalidRequest(
            f"the {name} hold lists or frames; expected one label in each row."
        ) from None
    if any(map(is_absent, known)):
        row = next(row for row, each in enumerate(items) if is_absent(each))
        raise InvalidRequest(
            f"the {name} hold nothing in row {row + 1:,}; expected a label in each row."
        )
    return np.array([known[each] for each in items], np.intp), tuple(known)


def mask(given: object, name: str, rows: int) -> Mask:
    """Read a column of booleans.

    Raises:
        InvalidRequest: anything else than True and False, or another number of rows.
    """
    items = objects(given, name)
    check_rows(items, name, rows)
    if not all(isinstance(each, bool | np.bool_) for each in items):
        raise InvalidRequest(
            f"the {name} is no column of True and False; expected whether each row belongs to it."
        )
    return np.array(items, np.bool_)


def objects(given: object, name: str) -> list[Any]:
    """Return a column as a list of Python objects.

    Raises:
        InvalidRequest: no column.
    """
    found = to_items(given)
    if found is None:
        raise InvalidRequest(
            f"{name} is {kind_of(given)}; expected a column with a row for each person."
        )
    return found


def check_rows(found: Any, name: str, rows: int | None) -> None:
    """Refuse a column of another length.

    Raises:
        InvalidRequest: it has another number of rows.
    """
    if rows is not None and len(found) != rows:
        raise InvalidRequest(
            f"the {name} have {len(found):,} rows; expected {rows:,}, one for each person."
        )


def by_label(given: object, known: tuple[Any, ...], name: str, of: str) -> Vector:
    """Return a number for each label, looked up by the label or by how it is written.

    Raises:
        InvalidRequest: a label without a number, a number for no label, or no finite number.
    """
    if not isinstance(given, Mapping):
        raise InvalidRequest(
            f"the {name} are a {type(given).__name__}; expected a number for each {of} by its name."
        )
    written = {str(each): number for each, number in given.items()}
    for each in known:
        if str(each) not in written:
            raise InvalidRequest(
                f"the {name} have no number for the {of} {quoted(str(each))}; expected one."
            )
    lost = [each for each in written if each not in {str(label) for label in known}]
    if lost:
        raise InvalidRequest(
            f"the {name} name the {of} {quoted(lost[0])}, and nobody in the sample belongs to it.",
            "Join it with a similar one, in the column and in the numbers.",
        )
    return numbers([written[str(each)] for each in known], name)


def sums(values: Vector, codes: Codes, size: int) -> Vector:
    """Return the sums of rows of each code, for one column of values or for several."""
    if values.ndim == 1:
        return vector(np.bincount(codes, weights=values, minlength=size))
    return vector(
        np.stack(
            [
                np.bincount(codes, weights=column, minlength=size)
                for column in values.T
            ],
            axis=1,
        )
    )
