"""How responses lie in the columns of a table, and what of them a query counts.

StoredCodes    a whole number: how often it occurs
StoredLabels   text: how often it occurs; the label is looked up where the counts are read
StoredSets     packed bits of few categories: how often each set occurs, by its number
StoredRows     many places in each row, bits or symbols: how many rows have each, line by line
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.tallies.counts import check_cells
from deniable.tallies.stored.dialects import Dialect

RESPONSE, COHORT = "response", "cohort"
"""What the columns are called inside a query, whatever they are called in the table."""


class StoredForm(ABC):
    """How a column of responses lies in a table.

    Attributes:
        KIND: of what type the column is: "numbers", "text" or "bytes".
    """

    KIND: ClassVar[str]

    @property
    def columns(self) -> tuple[str, ...]:
        """What is read of a row."""
        return (RESPONSE,)

    @abstractmethod
    def conditions(self, dialect: Dialect) -> list[str]:
        """Return what must hold of a response, each as far as those before it hold."""


class SingleCell(StoredForm):
    """A response that is counted as a whole."""

    @abstractmethod
    def counted(self, dialect: Dialect) -> str:
        """Return what is counted: the number of the response, or its label."""


@dataclass(frozen=True)
class StoredCodes(SingleCell):
    """Numbers of responses, from 0."""

    KIND: ClassVar[str] = "numbers"
    responses: int

    def conditions(self, dialect: Dialect) -> list[str]:
        return _is_code(dialect, RESPONSE, self.responses)

    def counted(self, dialect: Dialect) -> str:  # noqa: ARG002 - one shape for all
        return f"CAST({RESPONSE} AS BIGINT)"


@dataclass(frozen=True)
class StoredLabels(SingleCell):
    """Labels of symbols. Which of them there are is never written into a query."""

    KIND: ClassVar[str] = "text"

    def conditions(self, dialect: Dialect) -> list[str]:  # noqa: ARG002 - one shape for all
        return []

    def counted(self, dialect: Dialect) -> str:
        return dialect.text(RESPONSE)


@dataclass(frozen=True)
class StoredSets(SingleCell):
    """Packed bits of so few categories that each set is counted apart: bytes, the lowest first."""

    KIND: ClassVar[str] = "bytes"
    width: int

    def conditions(self, dialect: Dialect) -> list[str]:  # noqa: ARG002 - one shape for all
        return [f"octet_length({RESPONSE}) = {self.width}"]

    def counted(self, dialect: Dialect) -> str:
        content = dialect.content(RESPONSE)
        values = [
            dialect.value(dialect.byte(content, str(index)))
            for index in range(self.width)
        ]
        return " + ".join(
            f"{256**index} * {value}" for index, value in enumerate(values)
        )


@dataclass(frozen=True)
class StoredRows(StoredForm):
    """Rows of places, of which each holds a few bits. A line of counts is how many rows there are, and have each bit.

    Attributes:
        places: how many there are in a row.
        unit: how many bits a place has.
        cells: how many bits there are in all; those behind them are 0.
        sizes: how many bits of a row may be 1; empty for any number.
        by_size: whether there is a line for each number of ones.
        cohorts: how many cohorts there are, with a line for each; 0 where there is no column of cohorts.
    """

    places: int
    unit: int
    cells: int
    sizes: Sequence[int] = ()
    by_size: bool = False
    cohorts: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        return (COHORT, RESPONSE) if self.cohorts else (RESPONSE,)

    def conditions(self, dialect: Dialect) -> list[str]:
        cohort = _is_code(dialect, COHORT, self.cohorts) if self.cohorts else []
        size = [_is_listed(self.ones(dialect), self.sizes)] if self.sizes else []
        return [*cohort, *self.right(dialect), *size]

    def line(self, dialect: Dialect) -> str:
        """Return in which line of counts a row is counted."""
        return (
            f"CAST({COHORT} AS BIGINT)"
            if self.cohorts
            else self.ones(dialect)
            if self.by_size
            else "0"
        )

    @abstractmethod
    def right(self, dialect: Dialect) -> list[str]:
        """Return what must hold of a row by itself."""

    @abstractmethod
    def ones(self, dialect: Dialect) -> str:
        """Return how many bits of a row are 1."""

    @abstractmethod
    def content(self, dialect: Dialect) -> str:
        """Return what `piece` reads, once for each row."""

    @abstractmethod
    def piece(self, dialect: Dialect, content: str, place: str) -> str:
        """Return what stands at one place."""

    @abstractmethod
    def value(self, dialect: Dialect, piece: str) -> str:
        """Return the bits of a piece as a whole number."""


class PackedPlaces(StoredRows):
    """Bytes: bits of categories, eight in each, the lowest first; or symbols 0, 1 and 2, one in each."""

    KIND: ClassVar[str] = "bytes"

    def right(self, dialect: Dialect) -> list[str]:
        conditions = [f"octet_length({RESPONSE}) = {self.places}"]
        if self.unit == 2:
            return [
                *conditions,
                dialect.matches(dialect.digits(RESPONSE), "(0[012])*"),
            ]
        if self.cells % 8:
            last = dialect.value(
                dialect.byte(dialect.content(RESPONSE), str(self.places - 1))
            )
            conditions.append(f"{last} < {1 << self.cells % 8}")
        return conditions

    def ones(self, dialect: Dialect) -> str:
        return dialect.ones(RESPONSE)

    def content(self, dialect: Dialect) -> str:
        return dialect.content(RESPONSE)

    def piece(self, dialect: Dialect, content: str, place: str) -> str:
        return dialect.byte(content, place)

    def value(self, dialect: Dialect, piece: str) -> str:
        return dialect.value(piece)


class WrittenPlaces(StoredRows):
    """Text: the letter b and a digit for each category, as in b0110; or a letter of 0+- for each item."""

    KIND: ClassVar[str] = "text"

    @property
    def _letters(self) -> str:
        return "01" if self.unit == 1 else "0+-"

    @property
    def _before(self) -> str:
        return "b" if self.unit == 1 else ""

    def right(self, dialect: Dialect) -> list[str]:
        begins = len(self._before)
        return [
            f"char_length({self.content(dialect)}) = {begins + self.places}",
            f"substring({self.content(dialect)}, 1, {begins}) = '{self._before}'",
            f"translate(substring({self.content(dialect)}, {begins + 1}), '{self._letters}', '') = ''",
        ]

    def ones(self, dialect: Dialect) -> str:
        return f"char_length(translate({self.content(dialect)}, 'b0', ''))"

    def content(self, dialect: Dialect) -> str:
        return dialect.text(RESPONSE)

    def piece(self, dialect: Dialect, content: str, place: str) -> str:  # noqa: ARG002 - one shape for all
        return f"substring({content}, {place} + {len(self._before) + 1}, 1)"

    def value(self, dialect: Dialect, piece: str) -> str:  # noqa: ARG002 - one shape for all
        values = [
            f"WHEN '{letter}' THEN {value}"
            for value, letter in enumerate(self._letters)
        ]
        return f"CASE {piece} {' '.join(values)} END"


def code_form(responses: int, *, labels: bool) -> StoredForm:
    """Return the form of responses that are numbered: their numbers, or their labels."""
    return StoredLabels() if labels else StoredCodes(responses)


def category_form(design: Design, *, labels: bool) -> StoredForm:
    """Return the form of responses to a design for categories.

    Raises:
        InvalidRequest: more cells than a tally keeps, or sets within sets.
    """
    check_cells(design)
    channel = design.channel
    if channel.patterned is not None:
        raise InvalidRequest(
            f"a response of {design!r} is several sets within each other; expected one that a query counts.",
            "Read the rows, and count them with dn.tally().",
        )
    sets = channel.coding.ndim > 1
    if not sets or (channel.own_cells and labels):
        return code_form(channel.responses, labels=labels)
    if channel.own_cells:
        return StoredSets(channel.coding.width)
    sizes = channel.sizes if len(channel.sizes) <= channel.answers else ()
    return bit_form(
        channel.answers, labels=labels, sizes=sizes, by_size=channel.by_size
    )


def bit_form(
    bits: int,
    *,
    labels: bool,
    sizes: Sequence[int] = (),
    by_size: bool = False,
    cohorts: int = 0,
) -> StoredRows:
    """Return the form of rows of bits: packed in bytes, or written as digits."""
    if labels:
        return WrittenPlaces(bits, 1, bits, sizes, by_size, cohorts)
    return PackedPlaces(-(-bits // 8), 8, bits, sizes, by_size, cohorts)


def _is_code(dialect: Dialect, column: str, count: int) -> list[str]:
    """Return what must hold of a whole number from 0, of which there are so many."""
    return [
        dialect.is_number(column),
        f"{column} BETWEEN 0 AND {count - 1}",
        f"CAST({column} AS BIGINT) = {column}",
    ]


def _is_listed(number: str, sizes: Sequence[int]) -> str:
    """Return whether a number is one of those listed, which rise."""
    if sizes[-1] - sizes[0] == len(sizes) - 1:
        return f"{number} BETWEEN {sizes[0]} AND {sizes[-1]}"
    return f"{number} IN ({', '.join(map(str, sizes))})"
