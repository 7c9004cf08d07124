"""How DuckDB, Postgres and Spark write what they do not write alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from deniable.errors import InvalidRequest, quoted


class Dialect(ABC):
    """What a query asks of a kind of database, in its own words. Expressions come in and go out as text.

    Attributes:
        MARK: what stands around a name.
        TEXT: the type of text.
    """

    MARK: ClassVar[str] = '"'
    TEXT: ClassVar[str] = "TEXT"

    def name(self, *parts: str) -> str:
        """Return a name in quotes: of a column, or of a table with its schema and its catalog.

        Raises:
            InvalidRequest: a name that cannot be written.
        """
        for part in parts:
            if not isinstance(part, str) or not part or "\0" in part:
                raise InvalidRequest(
                    f"{quoted(part)} is no name; expected text that is not empty."
                )
        return ".".join(
            self.MARK + part.replace(self.MARK, 2 * self.MARK) + self.MARK
            for part in parts
        )

    @abstractmethod
    def numbers(self, count: int, column: str) -> str:
        """Return a table of the numbers from 0 up, in a column of this name."""

    @abstractmethod
    def is_number(self, value: str) -> str:
        """Return whether a column is of a type of numbers, as far as the database does not refuse to compare others."""

    @abstractmethod
    def content(self, packed: str) -> str:
        """Return bytes as `byte` reads them, once for each row."""

    @abstractmethod
    def byte(self, content: str, place: str) -> str:
        """Return one byte, in whatever form is quick to group by."""

    @abstractmethod
    def value(self, byte: str) -> str:
        """Return what `byte` gave as a whole number."""

    @abstractmethod
    def ones(self, packed: str) -> str:
        """Return how many bits are 1."""

    @abstractmethod
    def has_bit(self, value: str, bit: str) -> str:
        """Return whether a bit of a whole number is 1."""

    @abstractmethod
    def digits(self, packed: str) -> str:
        """Return bytes as text, two hexadecimal digits for each."""

    @abstractmethod
    def matches(self, digits: str, pattern: str) -> str:
        """Return whether all digits together are of a pattern of ours."""

    def text(self, value: str) -> str:
        """Return a value as text, in which no two different texts are equal."""
        return f"CAST({value} AS {self.TEXT})"


class DuckDB(Dialect):
    """DuckDB, from version 1."""

    def numbers(self, count: int, column: str) -> str:
        return f"range({count}) AS numbers({column})"

    def is_number(self, value: str) -> str:
        return f"typeof({value}) <> 'BOOLEAN'"

    def content(self, packed: str) -> str:
        return self.digits(packed)

    def byte(self, content: str, place: str) -> str:
        return f"substr({content}, 2 * {place} + 1, 2)"

    def value(self, byte: str) -> str:
        return f"CAST('0x' || {byte} AS INTEGER)"

    def ones(self, packed: str) -> str:
        return f"bit_count(CAST({packed} AS BIT))"

    def has_bit(self, value: str, bit: str) -> str:
        return f"({value} >> CAST({bit} AS INTEGER)) & 1 = 1"

    def matches(self, digits: str, pattern: str) -> str:
        return f"regexp_full_match({digits}, '{pattern}')"

    def digits(self, packed: str) -> str:
        return f"hex({packed})"


class Postgres(Dialect):
    """Postgres, from version 14."""

    def numbers(self, count: int, column: str) -> str:
        return f"generate_series(0, {count - 1}) AS numbers({column})"

    def is_number(self, value: str) -> str:
        return f"{value} IS NOT NULL"

    def content(self, packed: str) -> str:
        return packed

    def byte(self, content: str, place: str) -> str:
        return f"get_byte({content}, {place})"

    def value(self, byte: str) -> str:
        return byte

    def ones(self, packed: str) -> str:
        return f"bit_count({packed})"

    def has_bit(self, value: str, bit: str) -> str:
        return f"({value} >> {bit}) & 1 = 1"

    def matches(self, digits: str, pattern: str) -> str:
        return f"{digits} ~ '^(?:{pattern})$'"

    def digits(self, packed: str) -> str:
        return f"encode({packed}, 'hex')"

    def text(self, value: str) -> str:
        return f'{super().text(value)} COLLATE "C"'


class Spark(Dialect):
    """Spark SQL, from version 3.4."""

    MARK = "`"
    TEXT = "STRING"

    def name(self, *parts: str) -> str:
        if any("${" in part for part in parts if isinstance(part, str)):
            raise InvalidRequest(
                "a name holds '${', which Spark replaces by a setting before it reads a query; expected other names.",
                "Select from the table under other names first.",
            )
        return super().name(*parts)

    def numbers(self, count: int, column: str) -> str:
        return f"(SELECT CAST(id AS INT) AS {column} FROM range({count}))"

    def is_number(self, value: str) -> str:
        return f"typeof({value}) NOT IN ('string', 'boolean')"

    def content(self, packed: str) -> str:
        return self.digits(packed)

    def byte(self, content: str, place: str) -> str:
        return f"substring({content}, 2 * {place} + 1, 2)"

    def value(self, byte: str) -> str:
        return f"CAST(conv({byte}, 16, 10) AS INT)"

    def ones(self, packed: str) -> str:
        digit = self.value(f"substring({self.digits(packed)}, place, 1)")
        return f"aggregate(sequence(1, 2 * octet_length({packed})), 0, (ones, place) -> ones + bit_count({digit}))"

    def has_bit(self, value: str, bit: str) -> str:
        return f"shiftright({value}, {bit}) & 1 = 1"

    def matches(self, digits: str, pattern: str) -> str:
        return f"{digits} RLIKE '^(?:{pattern})$'"

    def digits(self, packed: str) -> str:
        return f"hex({packed})"


DIALECTS: dict[str, Dialect] = {
    "duckdb": DuckDB(),
    "postgres": Postgres(),
    "spark": Spark(),
}
"""By name, as `--dialect` takes it."""
