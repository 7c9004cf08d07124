"""Streams of Arrow that say in few bytes what would take many, made by hand: Arrow's own writer refuses to."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

V4, V5 = 3, 4
SCHEMA, DICTIONARY, ROWS = 1, 2, 3
END = b"\xff\xff\xff\xff\0\0\0\0"


@dataclass
class Table:
    """A table of a flatbuffer: numbers as (format, value), text, tables, lists of tables, lists of pairs."""

    fields: dict[int, Any] = field(default_factory=dict)


def flatbuffer(root: Table) -> bytes:
    """Write a flatbuffer; every field has eight bytes, and what it points to follows."""
    out = bytearray(8)
    struct.pack_into("<I", out, 0, _table(out, root))
    return bytes(out) + bytes(-len(out) % 8)


def _table(out: bytearray, table: Table) -> int:
    most = max(table.fields, default=-1) + 1
    out += bytes(-len(out) % 8)
    offsets = len(out)
    slots = {number: 4 + 8 * at for at, number in enumerate(sorted(table.fields))}
    out += struct.pack(
        f"<HH{most}H",
        4 + 2 * most,
        4 + 8 * len(slots),
        *(slots.get(each, 0) for each in range(most)),
    )
    out += bytes((4 - len(out)) % 8)
    start = len(out)
    out += struct.pack("<i", start - offsets) + bytes(8 * len(slots))
    for number, value in table.fields.items():
        place = start + slots[number]
        if isinstance(value, tuple):
            struct.pack_into(value[0], out, place, value[1])
        else:
            struct.pack_into("<I", out, place, _child(out, value) - place)
    return start


def _child(out: bytearray, value: Any) -> int:
    if isinstance(value, Table):
        return _table(out, value)
    out += bytes((4 - len(out)) % 8)
    start = len(out)
    if isinstance(value, str):
        out += struct.pack("<I", len(value)) + value.encode() + bytes(1)
    elif value and isinstance(value[0], Table):
        out += struct.pack("<I", len(value)) + bytes(4 * len(value))
        for number, each in enumerate(value):
            place = start + 4 + 4 * number
            struct.pack_into("<I", out, place, _table(out, each) - place)
    else:
        out += struct.pack(
            f"<I{2 * len(value)}q",
            len(value),
            *(number for pair in value for number in pair),
        )
    return start


def message(
    kind: int,
    header: Table,
    body: bytes = b"",
    *,
    version: int = V5,
    words: dict[str, str] | None = None,
) -> bytes:
    """Return a part of a stream."""
    fields = {0: ("<h", version), 1: ("<B", kind), 2: header, 3: ("<q", len(body))}
    if words:
        fields[4] = [Table({0: name, 1: text}) for name, text in words.items()]
    head = flatbuffer(Table(fields))
    return struct.pack("<Ii", 0xFFFFFFFF, len(head)) + head + body


def rows(
    length: int,
    nodes: Sequence[tuple[int, int]],
    buffers: Sequence[tuple[int, int]],
    **more: Any,
) -> Table:
    """Return the header of a batch of rows."""
    return Table(
        {
            0: ("<q", length),
            1: list(nodes),
            2: list(buffers),
            **{int(name[1:]): each for name, each in more.items()},
        }
    )


def body_of(buffers: Sequence[bytes]) -> tuple[bytes, list[tuple[int, int]]]:
    """Lay buffers one behind the other; return them, and where each begins and how long it is."""
    body, places = b"", []
    for each in buffers:
        places.append((len(body), len(each)))
        body += each + bytes(-len(each) % 8)
    return body, places


def opening(schema: pa.Schema, version: int = V5) -> bytes:
    """Return the first part of a stream: its schema, and nothing else."""
    options = pa.ipc.IpcWriteOptions(
        metadata_version=getattr(pa.ipc.MetadataVersion, f"V{version + 1}")
    )
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, schema, options=options).close()
    return sink.getvalue().to_pybytes().removesuffix(END)


def unpacked_buffer(size: int, codec: str) -> bytes:
    """Return so many zeros as Arrow keeps a compressed buffer: their number, and then what they are packed into."""
    packed = pa.compress(
        pa.py_buffer(np.zeros(size, np.uint8)), codec=codec, asbytes=True
    )
    return struct.pack("<q", size) + bytes(packed)


def old_compression(count: int, codec: str) -> bytes:
    """Return so many rows of zeros in V4, compressed in the way that words beside a message tell."""
    schema = pa.schema(
        [
            ("key", pa.binary(16)),
            ("question", pa.string()),
            ("design", pa.string()),
            ("code", pa.int8()),
        ]
    )
    sizes = (16 * count, 4 * (count + 1), 4 * (count + 1), count)
    keys, question, design, code = (unpacked_buffer(size, codec) for size in sizes)
    body, places = body_of(
        [b"", keys, b"", question, b"", b"", design, b"", b"", code]
    )
    header = rows(count, [(count, 0)] * 4, places)
    words = {"ARROW:experimental_compression": codec}
    return (
        opening(schema, V4)
        + message(ROWS, header, body, version=V4, words=words)
        + END
    )
