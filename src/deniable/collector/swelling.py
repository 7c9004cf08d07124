"""Streams of Arrow that hold more than they weigh: compressed ones are found before anything is unpacked.

A few bytes can unpack to more than the memory of a machine, and Arrow's reader unpacks without a limit. One field of a
part's header says that it is compressed. The header is a flatbuffer: a table is found through an offset, and its fields
through a list of offsets that stands before it.
"""

from __future__ import annotations

import struct

import pyarrow as pa

_HEADER, _DATA, _COMPRESSION = 2, 1, 3  # numbers of fields: of a message, of a dictionary, of a batch of records


def compressed(raw: bytes) -> bool:
    """Say whether any part of a stream is compressed.

    Raises:
        ArrowInvalid: not a stream.
        struct.error: a header that does not hold together.
    """
    reader = pa.ipc.MessageReader.open_stream(raw)
    while True:
        try:
            message = reader.read_next_message()
        except StopIteration:
            return False
        if message.type in {"record batch", "dictionary"} and _packed(message.metadata, message.type):
            return True


def _packed(metadata: pa.Buffer, kind: str) -> bool:
    header = metadata.to_pybytes()
    (start,) = struct.unpack_from("<I", header)
    table = _follow(header, start, _HEADER)
    if kind == "dictionary":
        table = _follow(header, table, _DATA)
    return bool(_field(header, table, _COMPRESSION))


def _field(header: bytes, table: int, number: int) -> int:
    """Return where a field of a table stands; 0 for one that is not there."""
    (back,) = struct.unpack_from("<i", header, table)
    (size,) = struct.unpack_from("<H", header, table - back)
    place = 4 + 2 * number
    if place >= size:
        return 0
    (offset,) = struct.unpack_from("<H", header, table - back + place)
    return table + int(offset) if offset else 0


def _follow(header: bytes, table: int, number: int) -> int:
    """Return where the table that a field points to begins."""
    place = _field(header, table, number)
    (offset,) = struct.unpack_from("<I", header, place)
    return place + int(offset)
