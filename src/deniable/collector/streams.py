"""What a stream of Arrow claims about itself, read before anything of it is unpacked or made room for.

Why: Arrow's reader believes a stream. A few bytes can say that they unpack to more than the memory of a machine, in a
field for compression or, in an older form, in free words beside a message; that there are more rows than bytes; that a
dictionary grows with every part. So what does not hold together, or uses more of the format than a batch of responses
needs, is refused by its headers alone. They are flatbuffers: a table is found through an offset, and its fields through
a list of offsets that stands before it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from deniable.collector.refusals import Refused
from deniable.collector.store.base import KEY

_MARK = 0xFFFFFFFF  # stands before every part
_VERSION = 4  # as flatbuffers count; people call it V5
_MAX_HEADER = 1 << 16  # bytes
_MAX_PARTS = (
    10_000  # dictionaries and batches of rows: each is an object or more in memory
)
_MAX_COLUMNS = 16  # more than a batch has; which ones it must have is asked later
# bytes: a dictionary is looked through with every batch of rows that it serves
_MAX_REREAD = 1 << 30

# Kinds of messages, and the fields that are looked at: of a message, a schema, a column, a dictionary, a batch of rows.
_SCHEMA, _DICTIONARY, _ROWS = 1, 2, 3
_MESSAGE_VERSION, _MESSAGE_KIND, _MESSAGE_HEADER, _MESSAGE_BODY, _MESSAGE_WORDS = (
    range(5)
)
_SCHEMA_COLUMNS, _SCHEMA_WORDS = 1, 2
_COLUMN_CHILDREN, _COLUMN_WORDS = 5, 6
_DICTIONARY_ID, _DICTIONARY_DATA, _DICTIONARY_DELTA = range(3)
_ROWS_LENGTH, _ROWS_NODES, _ROWS_BUFFERS, _ROWS_COMPRESSION, _ROWS_VARIADIC = range(
    5
)


def check_stream(raw: bytes) -> None:
    """Refuse a stream that claims what it should not.

    Raises:
        Refused: it is compressed, of another version than V5, has words of its own beside the columns, columns inside
            columns or too many of them, too many parts, a dictionary in pieces, or more rows than bytes; or it is no
            stream, or not a complete one.
    """
    try:
        _check(raw)
    except struct.error:
        raise _stream_error() from None


def _check(raw: bytes) -> None:
    columns, reread = 0, 0
    dictionaries: dict[int, int] = {}
    for number, message_header in enumerate(_read_messages(raw)):
        if number > _MAX_PARTS:
            raise Refused(
                422,
                f"the stream is in more than {_MAX_PARTS:,} parts; expected larger ones.",
            )
        if (message_header.kind == _SCHEMA) != (number == 0):
            raise _stream_error()
        if message_header.kind == _SCHEMA:
            columns = _check_schema(message_header.header)
        elif message_header.kind == _DICTIONARY:
            _add_dictionary(message_header, dictionaries)
        elif message_header.kind == _ROWS:
            _check_rows(
                message_header.header,
                message_header.body,
                columns=columns,
                min_rows=KEY,
            )
            reread += sum(dictionaries.values())
        else:
            raise _stream_error()
        if len(dictionaries) > columns or reread > _MAX_REREAD:
            raise Refused(
                422,
                "the dictionaries are too large; expected smaller ones, or fewer parts that use them.",
            )
    if not columns:
        raise _stream_error()


def _add_dictionary(
    message_header: _ArrowMessage, dictionaries: dict[int, int]
) -> None:
    if message_header.header.number(_DICTIONARY_DELTA, "<B"):
        raise Refused(422, "a dictionary comes in pieces; expected whole ones.")
    _check_rows(
        message_header.header.table(_DICTIONARY_DATA),
        message_header.body,
        columns=1,
        min_rows=1,
    )
    dictionaries[message_header.header.number(_DICTIONARY_ID, "<q")] = (
        message_header.body
    )


@dataclass(frozen=True, slots=True)
class _HeaderTable:
    """A table of a flatbuffer: the bytes it is in, and where in them it begins."""

    raw: bytes
    start: int

    def number(self, field: int, kind: str) -> int:
        """Return a number; 0 where it is left out."""
        offset = self._place(field)
        return self._read(kind, offset) if offset else 0

    def table(self, field: int) -> _HeaderTable:
        offset = self._place(field)
        if not offset:
            raise _stream_error()
        return _HeaderTable(self.raw, offset + self._read("<I", offset))

    def tables(self, field: int, limit: int) -> list[_HeaderTable]:
        """Return a list of tables, up to the first beyond `most`."""
        start, count = self._list(field)
        offsets = [start + 4 * number for number in range(min(count, limit + 1))]
        return [
            _HeaderTable(self.raw, offset + self._read("<I", offset))
            for offset in offsets
        ]

    def pairs(self, field: int, limit: int) -> list[tuple[int, int]]:
        """Return a list of pairs of whole numbers, up to the first beyond `most`."""
        start, count = self._list(field)
        return [
            (
                self._read("<q", start + 16 * number),
                self._read("<q", start + 16 * number + 8),
            )
            for number in range(min(count, limit + 1))
        ]

    def has(self, field: int) -> bool:
        return bool(self._place(field))

    def _list(self, field: int) -> tuple[int, int]:
        """Return where the entries of a list begin, and how many there are."""
        offset = self._place(field)
        if not offset:
            return 0, 0
        offset += self._read("<I", offset)
        return offset + 4, self._read("<I", offset)

    def _place(self, field: int) -> int:
        """Return where a field stands; 0 for one that is not there."""
        offsets = self.start - self._read("<i", self.start)
        entry = 4 + 2 * field
        if entry >= self._read("<H", offsets):
            return 0
        offset = self._read("<H", offsets + entry)
        return self.start + offset if offset else 0

    def _read(self, kind: str, offset: int) -> int:
        if offset < 0:
            raise struct.error("before the beginning")
        (value,) = struct.unpack_from(kind, self.raw, offset)
        return int(value)


class _ArrowMessage(NamedTuple):
    """A message: its kind, the table that describes it, and the bytes that follow it."""

    kind: int
    header: _HeaderTable
    body: int


def _read_messages(raw: bytes) -> Iterator[_ArrowMessage]:
    """Yield all messages of a stream, which must end with its mark and nothing behind it."""
    offset = 0
    while True:
        mark, size = struct.unpack_from("<Ii", raw, offset)
        offset += 8
        if mark != _MARK or not 0 <= size <= min(_MAX_HEADER, len(raw) - offset):
            raise _stream_error()
        if not size:
            break
        head = raw[offset : offset + size]
        message = _HeaderTable(head, struct.unpack_from("<I", head)[0])
        body = message.number(_MESSAGE_BODY, "<q")
        offset += size + body
        if not 0 <= body <= len(raw) or offset > len(raw):
            raise _stream_error()
        if message.number(_MESSAGE_VERSION, "<h") != _VERSION:
            raise Refused(
                422,
                "the stream is of another version of Arrow's format; expected V5.",
            )
        if message.has(_MESSAGE_WORDS):
            raise _metadata_error()
        yield _ArrowMessage(
            message.number(_MESSAGE_KIND, "<B"), message.table(_MESSAGE_HEADER), body
        )
    if offset != len(raw):
        raise _stream_error()


def _check_schema(schema: _HeaderTable) -> int:
    """Return how many columns there are."""
    columns = schema.tables(_SCHEMA_COLUMNS, _MAX_COLUMNS)
    if not 0 < len(columns) <= _MAX_COLUMNS:
        raise Refused(
            422,
            f"there are no columns, or too many; expected at most {_MAX_COLUMNS}.",
        )
    if schema.has(_SCHEMA_WORDS) or any(
        column.has(_COLUMN_WORDS) for column in columns
    ):
        raise _metadata_error()
    if any(column.tables(_COLUMN_CHILDREN, 0) for column in columns):
        raise Refused(
            422, "there are columns inside a column; expected text, codes and keys."
        )
    return len(columns)


def _check_rows(
    rows: _HeaderTable, body: int, *, columns: int, min_rows: int
) -> None:
    """Check a batch of rows whose columns have at least so many bytes in each row."""
    if rows.has(_ROWS_COMPRESSION):
        raise Refused(422, "the stream is compressed; expected one that is not.")
    if rows.has(_ROWS_VARIADIC):
        raise Refused(
            422, "a column is of a type with views; expected text, codes and keys."
        )
    length = rows.number(_ROWS_LENGTH, "<q")
    nodes, buffers = (
        rows.pairs(_ROWS_NODES, columns),
        rows.pairs(_ROWS_BUFFERS, 3 * columns),
    )
    if not 0 <= length * min_rows <= body:
        raise Refused(
            400,
            "the stream says that it has more rows than it has room for; expected all of them.",
        )
    if len(nodes) != columns or any(
        rows_of != length or not 0 <= empty <= length for rows_of, empty in nodes
    ):
        raise _stream_error()
    if len(buffers) > 3 * columns or any(
        not 0 <= start <= body or not 0 <= size <= body - start
        for start, size in buffers
    ):
        raise _stream_error()


def _metadata_error() -> Refused:
    return Refused(
        422,
        "the stream has words of its own beside its columns; expected none.",
        "In Python: table.replace_schema_metadata(None).",
    )


def _stream_error() -> Refused:
    return Refused(
        400,
        "the body is not a stream of Arrow, or breaks off; expected a complete one.",
    )
