"""Columns of true answers → codes. Nothing in here repeats an answer: a row that is refused is named by its index."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isnan
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design, Numbered
from deniable.designs.labels import shown
from deniable.errors import InvalidAnswer
from deniable.tallies import arrow

Codes: TypeAlias = NDArray[np.integer[Any]]


def read(design: Design, answers: Any, *, codes: bool | None = None) -> Codes:
    """Return the number of the category of each answer; whole numbers taken for codes still have to pass `in_range`.

    Why not here: whoever draws looks at them anyway, piece by piece and on several threads.

    Args:
        design: whose categories they are.
        answers: a NumPy array, a sequence, or a column of pandas, Polars or Arrow, of labels or of codes.
        codes: what whole numbers are; True for codes, False for labels (3 is the category "3"). By default they are
            codes, and refused where categories such as "1", "2", "3" make the two differ.

    Raises:
        InvalidAnswer: a row that is missing or is no category; only its index is told.

    Example:
        >>> from deniable.designs import warner
        >>> read(warner(epsilon=1), ["yes", "no", "yes"]).tolist()
        [1, 0, 1]
    """
    reader = _Reader(design, codes)
    if isinstance(answers, np.ndarray):
        return reader.numpy(answers)
    if not arrow.is_column(answers) and not _is_sequence(answers):
        raise InvalidAnswer(
            f"the answers are a {type(answers).__name__}; expected an array, a column or a list, with an answer for "
            "each respondent.",
            "For one answer use deniable.respond(), for an iterator of arrays engines.local.stream().",
        )
    column = arrow.read(answers)
    return reader.objects(list(answers)) if column is None else reader.column(column)


class _Reader:
    """One column being read."""

    def __init__(self, design: Design, codes: bool | None) -> None:
        self.design = design
        self.codes = codes

    def numpy(self, array: NDArray[Any]) -> Codes:
        if array.ndim != 1:
            raise InvalidAnswer(
                f"the array has {array.ndim} dimensions; expected one, with an answer in each place.",
                "Use array.ravel() where every cell is an answer.",
            )
        if isinstance(array, np.ma.MaskedArray):
            _refuse_missing(np.ma.getmaskarray(array))
            array = np.ma.getdata(array)
        if array.dtype.kind in "iuf":
            return self.numbers(array)
        if array.dtype.kind == "b":
            self.refuse_booleans()
        column = arrow.read(array) if array.dtype.kind in "OU" else None
        return self.objects(array.tolist()) if column is None else self.column(column)

    def column(self, column: Any) -> Codes:
        import pyarrow as pa

        chunked: Any = pa.chunked_array
        if pa.types.is_struct(column.type) and column.type.num_fields == 1:
            column = chunked([chunk.flatten()[0] for chunk in column.chunks], column.type.field(0).type)
        if column.null_count:
            _refuse_missing(column.is_null().to_numpy())
        if isinstance(column.type, pa.ExtensionType):
            column = chunked([chunk.storage for chunk in column.chunks], column.type.storage_type)
        kind = column.type
        if len(column) == 0:
            return np.empty(0, np.uint8)
        if arrow.is_text(kind) or pa.types.is_dictionary(kind):
            return self.labels(column)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return self.numbers(column.to_numpy())
        if pa.types.is_boolean(kind):
            self.refuse_booleans()
        raise InvalidAnswer(f"the answers are of type {kind}; expected labels (text) or codes (whole numbers).")

    def labels(self, column: Any) -> Codes:
        """Read text by its distinct values; those that no row uses are not even looked at."""
        parts: list[NDArray[np.int64]] = []
        rows = 0
        for chunk in column.chunks:
            encoded = chunk if hasattr(chunk, "indices") else chunk.dictionary_encode()
            values = encoded.dictionary.to_pylist()
            numbers = np.array([self.one(value) for value in values] or [-1], np.int64)
            parts.append(numbers[encoded.indices.to_numpy()])
            self.refuse_where(parts[-1] < 0, after=rows)
            rows += len(chunk)
        return np.concatenate(parts)

    def numbers(self, array: NDArray[Any]) -> Codes:
        """Read whole numbers, stored as integers or as floats in which NaN stands for nothing."""
        if array.dtype.kind == "f":
            _refuse_missing(np.isnan(array))
            with np.errstate(invalid="ignore"):  # an infinity becomes some integer, and is found by the comparison
                whole = array.astype(np.int64)
            self.refuse_where(whole != array)
            array = whole
        if self.codes is False:
            values, inverse = np.unique(array, return_inverse=True)
            array = np.array([self.number(str(value)) for value in values.tolist()], np.int64)[inverse]
            self.refuse_where(array < 0)
            return array
        self.settle_codes()
        return array

    def objects(self, rows: Sequence[Any]) -> Codes:
        """Read Python objects of several kinds, one by one."""
        _refuse_missing(np.fromiter((_absent(row) for row in rows), np.bool_, len(rows)))
        numbers = np.fromiter((self.one(row) for row in rows), np.int64, len(rows))
        self.refuse_where(numbers < 0)
        return numbers

    def one(self, row: Any) -> int:
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            if self.codes is False:
                return self.number(str(row))
            self.settle_codes()
            return int(row) if 0 <= row < self.design.channel.answers else -1
        return self.number(row)

    def number(self, label: object) -> int:
        """Return the number of a category, or −1."""
        try:
            return self.design.category_number(label) if isinstance(label, str) else -1
        except InvalidAnswer:
            return -1

    def settle_codes(self) -> None:
        """Make sure that a whole number cannot mean two categories."""
        if self.codes is None and _renumbered(self.design):
            raise InvalidAnswer(
                "these answers are whole numbers, and so are the categories of this design, in another order; "
                "expected to know whether they are labels or codes.",
                "Pass codes=False where 1 means the category '1', and codes=True where it means the second category.",
            )

    def refuse_booleans(self) -> NoReturn:
        first, second = self.design.categories[0], self.design.categories[1]
        raise InvalidAnswer(
            "the answers are booleans; expected labels or codes, because True does not say which category it means.",
            f"Write the labels, for example numpy.where(answers, {second!r:.40}, {first!r:.40}).",
        )

    def refuse_where(self, wrong: NDArray[np.bool_], after: int = 0) -> None:
        if wrong.any():
            raise refusal(self.design, after + int(wrong.argmax()))


def in_range(codes: Codes, size: int) -> bool:
    """Tell whether all codes are at least 0 and below a size."""
    if codes.dtype.kind == "i":
        codes = codes.view(codes.dtype.str.replace("i", "u"))  # negative numbers are the largest unsigned ones
    return codes.size == 0 or int(codes.max()) < size


def out_of_range(design: Design, codes: Codes) -> InvalidAnswer:
    """Return the error for codes that are not all in range."""
    return refusal(design, int(((codes < 0) | (codes >= design.channel.answers)).argmax()))


def refusal(design: Design, index: int) -> InvalidAnswer:
    """Return the error for an answer that is no category."""
    return InvalidAnswer(
        f"the answer at index {index:,} is not one of the design's; expected a label among "
        f"{shown(design.categories)}, or a code from 0 to {design.channel.answers - 1:,}."
    )


def _refuse_missing(missing: NDArray[np.bool_]) -> None:
    if missing.any():
        raise InvalidAnswer(
            f"the answer at index {int(missing.argmax()):,} is missing, and {int(missing.sum()):,} are in all; "
            "expected an answer in every row.",
            "Drop these rows, or design the question with a category such as 'no answer'.",
        )


def _is_sequence(answers: object) -> bool:
    return isinstance(answers, Sequence) and not isinstance(answers, str | bytes | bytearray)


def _absent(value: Any) -> bool:
    return type(value).__name__ in {"NoneType", "NAType", "NaTType"} or (isinstance(value, float) and isnan(value))


@lru_cache(maxsize=16)  # a stream asks again for every column
def _renumbered(design: Design) -> bool:
    """Tell whether a whole number is the label of one category and the code of another."""
    known = design.categories
    return not isinstance(known, Numbered) and any(
        label != str(code)
        for code, label in enumerate(known)
        if label.isascii() and label.removeprefix("-").isdecimal()
    )
