"""How DuckDB, Postgres and Spark write what they do not write alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from deniable.errors import InvalidRequest, quoted

Write: TypeAlias = Callable[..., str]


@dataclass(frozen=True)
class Dialect:
    """What a query asks of a kind of database, in its own words. Expressions come in and go out as text.

    Attributes:
        numbers: a table of as many numbers, from 0 up, in a column of this name.
        is_number: whether a column is of a type of numbers, as far as the database does not refuse to compare others.
        content: bytes as `byte` reads them, once for each row.
        byte: of what `content` gave, the byte at a place, in whatever form is quick to group by.
        value: what `byte` gave as a whole number.
        ones: how many bits of bytes are 1.
        has_bit: whether of a whole number this bit is 1.
        digits: bytes as text, two hexadecimal digits for each.
        matches: whether all digits together are of a pattern of ours.
        text: a value as text, in which no two different texts are equal.
        type_of_text: what the type of text is called.
        mark: what stands around a name.
        replaced: how what is replaced before a query is read begins, which names must not hold.
    """

    numbers: Write
    is_number: Write
    content: Write
    byte: Write
    value: Write
    ones: Write
    has_bit: Write
    digits: Write
    matches: Write
    text: Write
    type_of_text: str = "TEXT"
    mark: str = '"'
    replaced: str = ""

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
            if self.replaced and self.replaced in part:
                raise InvalidRequest(
                    "a name holds '${', which Spark replaces by a setting before it reads a query; expected "
                    "other names.",
                    "Select from the table under other names first.",
                )
        return ".".join(
            self.mark + part.replace(self.mark, 2 * self.mark) + self.mark
            for part in parts
        )


DIALECTS: dict[str, Dialect] = {
    # From version 1.
    "duckdb": Dialect(
        numbers="range({}) AS numbers({})".format,
        is_number="typeof({}) <> 'BOOLEAN'".format,
        content="hex({})".format,
        byte="substr({}, 2 * {} + 1, 2)".format,
        value="CAST('0x' || {} AS INTEGER)".format,
        ones="bit_count(CAST({} AS BIT))".format,
        has_bit="({} >> CAST({} AS INTEGER)) & 1 = 1".format,
        digits="hex({})".format,
        matches="regexp_full_match({}, '{}')".format,
        text="CAST({} AS TEXT)".format,
    ),
    # From version 14.
    "postgres": Dialect(
        numbers=lambda count, column: (
            f"generate_series(0, {count - 1}) AS numbers({column})"
        ),
        is_number="{} IS NOT NULL".format,
        content="{}".format,
        byte="get_byte({}, {})".format,
        value="{}".format,
        ones="bit_count({})".format,
        has_bit="({} >> {}) & 1 = 1".format,
        digits="encode({}, 'hex')".format,
        matches="{} ~ '^(?:{})$'".format,
        text='CAST({} AS TEXT) COLLATE "C"'.format,
    ),
    # From version 3.4.
    "spark": Dialect(
        numbers="(SELECT CAST(id AS INT) AS {1} FROM range({0}))".format,
        is_number="typeof({}) NOT IN ('string', 'boolean')".format,
        content="hex({})".format,
        byte="substring({}, 2 * {} + 1, 2)".format,
        value="CAST(conv({}, 16, 10) AS INT)".format,
        ones=(
            "aggregate(sequence(1, 2 * octet_length({0})), 0, (ones, place) -> ones + "
            "bit_count(CAST(conv(substring(hex({0}), place, 1), 16, 10) AS INT)))"
        ).format,
        has_bit="shiftright({}, {}) & 1 = 1".format,
        digits="hex({})".format,
        matches="{} RLIKE '^(?:{})$'".format,
        text="CAST({} AS STRING)".format,
        type_of_text="STRING",
        mark="`",
        replaced="${",
    ),
}
"""By name, as `--dialect` takes it."""
