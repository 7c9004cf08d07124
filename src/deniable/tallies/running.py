"""Counts that grow batch by batch, and become one Tally at the end."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.designs.labels import Computed, format_labels
from deniable.documents import Response
from deniable.errors import Incompatible, InvalidResponse, quoted
from deniable.files.arrow import ABSENT, is_absent
from deniable.tallies.counts import Tally, zeros

# single responses that are held back to be counted together
_HELD_RESPONSES = 1 << 12

Flags: TypeAlias = NDArray[np.bool_]

Where: TypeAlias = Callable[[int], str]
"""How a row is called in a message, given how many came before it."""


def at_index(offset: int) -> str:
    """Name a row of a sequence."""
    return f"the response at index {offset:,}"


class Running:
    """How often each symbol was sent so far, in whatever form the next batch comes.

    Args:
        design: what the responses were drawn with.
        codes: what whole numbers are; True for codes, False for labels. None for codes, refused where the symbols of
            the design are themselves numbers and a code would mean another symbol.
        where: how a row is called in a message.
    """

    def __init__(
        self, design: Design, *, codes: bool | None = None, where: Where = at_index
    ) -> None:
        self.design = design
        self.rows = 0
        self.missing = 0
        self._codes = codes
        self._where = where
        self._counts = zeros(design)
        self._respondents = 0
        self.coding = design.channel.coding
        self._held: list[int] = []

    def tally(self) -> Tally:
        """Return what was counted so far."""
        self._count_held()
        return Tally(self.design, self._counts, self.missing, self._respondents)

    def add_missing(self, rows: int) -> None:
        """Count rows without a response."""
        self.missing += rows
        self.rows += rows

    def add_objects(self, batch: list[Any]) -> None:
        """Count Python objects: labels, codes, Responses, and None or NaN where nothing was sent."""
        wrong = {kind for kind in set(map(type, batch)) if not _countable(kind)}
        if wrong:
            first = next(
                row for row, item in enumerate(batch) if type(item) in wrong
            )
            self._refuse_kind(type(batch[first]), first)
        # One pass in C; equal objects are read once. Booleans, which equal 0 and 1, were refused above.
        self.add_distinct(Counter(batch).items(), locate=batch.index)
        self.rows += len(batch)

    def add_distinct(
        self, counted: Iterable[tuple[Any, int]], *, locate: Callable[[Any], int]
    ) -> None:
        """Count values of which each comes with how often it was seen; `locate` finds the first row of a value.

        Values come in the order of their first rows, so that an error names the first of all. The rows themselves are
        for the caller to add.
        """
        for value, count in counted:
            if not count:
                continue
            number = self.number(value, locate)
            if number is None:
                self.missing += count
            else:
                self._add(number, count)

    def number(self, value: object, locate: Callable[[Any], int]) -> int | None:
        """Return the number of the response that a value is, None where it stands for nothing; nothing is counted.

        Raises:
            InvalidResponse: something the design cannot send.
            Incompatible: a `Response` that was drawn with another design.
        """
        if not _countable(type(value)):
            self._refuse_kind(type(value), locate(value))
        number = self._number(value, locate)
        if number is not None and not self.design.channel.possible(number):
            self.refuse(value, locate(value))
        return number

    def add_numbers(self, batch: NDArray[Any], present: Flags | None = None) -> None:
        """Count an array of whole numbers, stored as integers or as floats in which NaN stands for nothing.

        Args:
            batch: the numbers, without those rows that are known to be missing.
            present: where there are missing rows, which of all rows are in the batch.
        """
        if batch.dtype.kind == "f":
            batch, present = self._to_integers(batch, present)
        if len(batch):
            self._settle_codes()
        if (
            self._codes is False
            or self.coding.ndim > 1
            or not self.design.channel.own_cells
        ):
            values, firsts, counts = np.unique(
                batch, return_index=True, return_counts=True
            )
            order = firsts.argsort()
            counted = zip(
                values[order].tolist(), counts[order].tolist(), strict=True
            )
            self.add_distinct(
                counted,
                locate=lambda value: _row_at(
                    present, int((batch == value).argmax())
                ),
            )
        else:
            self._add_codes(batch, present)
        self._add_rows(len(batch), present)

    def add_rows(self, batch: NDArray[Any], present: Flags | None = None) -> None:
        """Count an array as the channel's coding reads it, such as packed rows of sets.

        Args:
            batch: the rows, without those that are known to be missing.
            present: where there are missing rows, which of all rows are in the batch.
        """
        rows = self.coding.read(batch)
        if (first := self.coding.impossible(rows)) is not None:
            self.refuse(self.coding.show(rows[first]), _row_at(present, first))
        self.coding.count_into(self._counts, rows)
        self._respondents += len(rows)
        self._add_rows(len(rows), present)

    def _add_rows(self, counted: int, present: Flags | None) -> None:
        rows = counted if present is None else len(present)
        self.missing += rows - counted
        self.rows += rows

    def refuse(self, value: object, offset: int) -> NoReturn:
        """Say that a row of this batch holds no response of the design.

        Raises:
            InvalidResponse: always.
        """
        row = self._where(self.rows + offset)
        symbols = self.design.symbols
        if self.design.channel.sizes:
            symbol = value.symbol if isinstance(value, Response) else value
            raise InvalidResponse(
                f"{row} is {quoted(symbol)}; expected {self.coding.describe()}."
            )
        if isinstance(value, numbers.Real) and self._codes is not False:
            raise InvalidResponse(
                f"{row} is the code {value}; expected {self.coding.describe()}.",
                f"Codes number the symbols in their order: {format_labels(symbols)}.",
            )
        raise InvalidResponse(
            f"{row} is {quoted(value)}; expected one of {format_labels(symbols)}."
        )

    def _add(self, number: int, count: int) -> None:
        self._respondents += count
        if count == 1 and not self.design.channel.own_cells:
            self._held.append(number)
            if len(self._held) >= _HELD_RESPONSES:
                self._count_held()
            return
        for cell in self.design.channel.cells_of(number):
            self._counts[cell] += count

    def _count_held(self) -> None:
        """Count what is held back: many packed rows at once cost little more than one of them cell by cell."""
        if self._held:
            self.coding.count_into(self._counts, self.coding.pack(self._held))
            self._held.clear()

    def _number(self, value: Any, locate: Callable[[Any], int]) -> int | None:
        label = value
        if isinstance(value, Response):
            if value.design != self.design.hash:
                row = self._where(self.rows + locate(value))
                raise Incompatible(
                    f"{row} belongs to the design {value.design:.19}…; expected {self.design.hash:.19}… "
                    f"({self.design!r}).",
                    "Tally each design's responses on their own.",
                )
            label = value.symbol
        elif is_absent(value):
            return None
        elif not isinstance(value, str):
            if value != value // 1:
                self.refuse(value, locate(value))
            self._settle_codes()
            if self._codes is not False:
                in_range = 0 <= value < self.design.channel.responses
                return int(value) if in_range else self.refuse(value, locate(value))
            label = str(int(value))
        try:
            return self.design.symbol_number(label)
        except InvalidResponse:
            self.refuse(label, locate(value))

    def _to_integers(
        self, batch: NDArray[Any], present: Flags | None
    ) -> tuple[NDArray[np.int64], Flags]:
        """Return floats as integers, and which rows they belong to."""
        filled = ~np.isnan(batch)
        if present is None:
            present = filled
        else:
            present = present.copy()
            present[present] = filled
        numbers = batch[filled]
        # An infinity becomes some integer, and is found by the comparison.
        with np.errstate(invalid="ignore"):
            integers = numbers.astype(np.int64)
        wrong = integers != numbers
        if wrong.any():
            first = int(wrong.argmax())
            self.refuse(float(numbers[first]), _row_at(present, first))
        return integers, present

    def _add_codes(self, codes: NDArray[Any], present: Flags | None) -> None:
        try:
            self.coding.count_into(self._counts, codes)
        except OverflowError:
            first = self.coding.impossible(codes) or 0
            self.refuse(int(codes[first]), _row_at(present, first))
        self._respondents += len(codes)

    def _settle_codes(self) -> None:
        """Before the first whole number is read, make sure that it cannot mean two symbols."""
        if self._codes is None and self._ambiguous:
            raise InvalidResponse(
                "these responses are whole numbers, and so are the symbols of this design, in another order; "
                "expected to know whether they are labels or codes.",
                f"Pass codes=False where 1 means the symbol {'1'!r}, and codes=True where it means the second symbol.",
            )

    @cached_property
    def _ambiguous(self) -> bool:
        return are_renumbered(self.design.symbols)

    def _refuse_kind(self, kind: type, offset: int) -> NoReturn:
        row = self._where(self.rows + offset)
        if "bool" in kind.__name__:
            raise booleans(row, self.design)
        raise InvalidResponse(
            f"{row} is a {kind.__name__}; expected a label, a code or a Response."
        )


def booleans(row: str, design: Design) -> InvalidResponse:
    """Return the error for True and False, which do not say which symbol they mean."""
    first, second = design.symbols[0], design.symbols[1]
    return InvalidResponse(
        f"{row} is a boolean; expected a label or a code, because True does not say which symbol was sent.",
        f"Write the labels, for example numpy.where(responses, {quoted(second)}, {quoted(first)}).",
    )


def _countable(kind: type) -> bool:
    if issubclass(kind, bool | np.bool_):
        return False
    return issubclass(kind, str | numbers.Real | Response) or kind.__name__ in ABSENT


def are_renumbered(labels: Sequence[str]) -> bool:
    """Tell whether a whole number is the label of one category or symbol and the code of another."""
    # "0", "1", "2" are their own codes, and other worked-out labels no numbers.
    return not isinstance(labels, Computed) and any(
        label != str(code)
        for code, label in enumerate(labels)
        if label.isascii() and label.removeprefix("-").isdecimal()
    )


def _row_at(present: Flags | None, index: int) -> int:
    """Return the row of a response, given its index among those that are present."""
    return index if present is None else int(np.flatnonzero(present)[index])
