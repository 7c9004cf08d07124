"""Streams of Arrow are refused by what their headers claim, before anything is unpacked or made room for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from deniable.collector import streams
from deniable.collector.refusals import Refused
from deniable.collector.streams import check_stream
from tests.support import bombs
from tests.support.bombs import (
    DICTIONARY,
    END,
    ROWS,
    Table,
    body_of,
    message,
    opening,
    rows,
)

SCHEMA = pa.schema([("key", pa.binary(16)), ("symbol", pa.string())])
KEYS, OFFSETS, TEXT = bytes(32), b"\0\0\0\0\3\0\0\0\6\0\0\0", b"yesyes"
BODY, PLACES = body_of([b"", KEYS, b"", OFFSETS, TEXT])
NODES = [(2, 0), (2, 0)]


def refused(raw: bytes) -> tuple[int, str]:
    with pytest.raises(Refused) as caught:
        check_stream(raw)
    return caught.value.status, caught.value.problem


def batch(
    length: int = 2,
    nodes: Any = NODES,
    places: Any = PLACES,
    body: bytes = BODY,
    **more: Any,
) -> bytes:
    return (
        opening(SCHEMA)
        + message(ROWS, rows(length, nodes, places), body, **more)
        + END
    )


def test_what_is_made_by_hand_is_read_by_arrow_and_passes() -> None:
    raw = batch()
    assert pa.ipc.open_stream(raw).read_all()["symbol"].to_pylist() == ["yes", "yes"]
    check_stream(raw)


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_the_old_form_of_compression_is_refused(codec: str) -> None:
    raw = bombs.old_compression(1_000_000, codec)
    assert len(raw) < 200_000
    assert pa.ipc.open_stream(raw).read_all().nbytes == 25 * 1_000_000, (
        "Arrow's reader unpacks it"
    )
    assert refused(raw) == (
        422,
        "the stream is of another version of Arrow's format; expected V5.",
    )
    words = {"ARROW:experimental_compression": codec}
    assert refused(batch(words=words))[1].startswith(
        "the stream has words of its own"
    )


def test_another_version_is_refused() -> None:
    assert refused(opening(SCHEMA, bombs.V4) + END)[0] == 422
    for version in (0, 1, 2, bombs.V4, 5, -1):
        assert refused(batch(version=version)) == (
            422,
            "the stream is of another version of Arrow's format; expected V5.",
        )


def written(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(
        sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)
    ) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def test_words_beside_the_columns_are_refused() -> None:
    plain = pa.table({"key": ["a"]})
    check_stream(written(plain))
    assert (
        "words of its own"
        in refused(written(plain.replace_schema_metadata({"pandas": "{}"})))[1]
    )
    field = pa.field("key", pa.string(), metadata={"a": "b"})
    assert "words of its own" in refused(written(plain.cast(pa.schema([field]))))[1]


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_compression_is_refused_in_rows_and_in_dictionaries(codec: str) -> None:
    plain = pa.table({"key": ["a"] * 1000})
    assert refused(written(plain, compression=codec))[1].startswith(
        "the stream is compressed"
    )
    coded = pa.table({"key": plain["key"].dictionary_encode()})
    assert refused(written(coded, compression=codec))[1].startswith(
        "the stream is compressed"
    )
    data = rows(1, [(1, 0)], [], _3=Table({0: ("<B", 1)}))
    packed = message(DICTIONARY, Table({0: ("<q", 0), 1: data}), bytes(8))
    assert refused(opening(SCHEMA) + packed + END)[1].startswith(
        "the stream is compressed"
    )


@pytest.mark.parametrize(
    "raw",
    [
        batch(1 << 40, [(1 << 40, 0)] * 2),
        batch(3, [(3, 0)] * 2, body=BODY[:40], places=[(0, 0)] * 5),
        batch(-2, [(-2, 0)] * 2),
        batch(nodes=[(2, 0), (1 << 40, 0)]),
        batch(nodes=[(2, 0), (2, 3)]),
        batch(nodes=[(2, 0), (2, -1)]),
        batch(nodes=[(2, 0)]),
        batch(nodes=[(2, 0)] * 3),
        batch(places=[*PLACES[:4], (PLACES[4][0], 1 << 40)]),
        batch(places=[*PLACES[:4], (1 << 40, 6)]),
        batch(places=[*PLACES[:4], (-8, 6)]),
        batch(places=[*PLACES[:4], (0, -6)]),
        batch(places=[(0, 0)] * 1000),
        opening(SCHEMA) + message(ROWS, rows(0, [], [])) + END,
    ],
)
def test_lengths_that_do_not_fit_are_refused(raw: bytes) -> None:
    assert refused(raw)[0] == 400


def test_more_of_the_format_than_a_batch_needs_is_refused() -> None:
    inside = pa.schema([("key", pa.struct([("a", pa.string())]))])
    assert refused(opening(inside) + END)[1].startswith(
        "there are columns inside a column"
    )
    listed = pa.schema([("key", pa.list_(pa.string()))])
    assert refused(opening(listed) + END)[1].startswith(
        "there are columns inside a column"
    )
    many = pa.schema([(f"column {number}", pa.string()) for number in range(17)])
    assert refused(opening(many) + END)[1].startswith(
        "there are no columns, or too many"
    )
    assert refused(opening(pa.schema([])) + END)[1].startswith(
        "there are no columns, or too many"
    )
    views = pa.table({"key": pa.array(["a" * 50], pa.string_view())})
    assert "type with views" in refused(written(views))[1]


def test_dictionaries_in_pieces_or_read_again_and_again_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = rows(1, [(1, 0)], [(0, 0), (0, 8), (8, 1)])
    growing = Table({0: ("<q", 0), 1: data, 2: ("<B", 1)})
    assert refused(opening(SCHEMA) + message(DICTIONARY, growing, bytes(16)) + END)[
        1
    ].startswith("a dictionary comes in")
    whole = [
        message(DICTIONARY, Table({0: ("<q", number), 1: data}), bytes(16))
        for number in range(3)
    ]
    check_stream(opening(SCHEMA) + b"".join(whole[:2]) + END)
    assert (
        "dictionaries are too large"
        in refused(opening(SCHEMA) + b"".join(whole) + END)[1]
    )
    monkeypatch.setattr(streams, "_MAX_REREAD", 64)
    again = message(ROWS, rows(2, NODES, PLACES), BODY)
    check_stream(opening(SCHEMA) + whole[0] + again * 4 + END)
    assert (
        "dictionaries are too large"
        in refused(opening(SCHEMA) + whole[0] + again * 5 + END)[1]
    )


def test_parts_without_number_are_refused() -> None:
    empty = message(ROWS, rows(0, [(0, 0)] * 2, [(0, 0)] * 5))
    check_stream(opening(SCHEMA) + empty * 10_000 + END)
    assert refused(opening(SCHEMA) + empty * 10_001 + END)[1].startswith(
        "the stream is in more than 10,000 parts"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw[:-8],
        lambda raw: raw[:-4],
        lambda raw: raw + b"\0",
        lambda raw: raw + raw,
        lambda raw: raw[4:],
        lambda _: END,
        lambda _: b"",
        lambda _: opening(SCHEMA) + opening(SCHEMA) + END,
        lambda _: message(ROWS, rows(0, [], [])) + END,
        lambda _: opening(SCHEMA) + message(4, Table()) + END,
        lambda _: opening(SCHEMA) + message(0, Table()) + END,
        lambda _: b"\xff\xff\xff\xff\xff\xff\xff\xff" + bytes(100),
        lambda _: b"\xff\xff\xff\xff\0\0\0\x7f" + bytes(100),
    ],
)
def test_what_is_no_whole_stream_is_refused(
    change: Callable[[bytes], bytes],
) -> None:
    assert refused(change(batch()))[0] == 400


def test_every_byte_of_a_header_may_be_wrong() -> None:
    """Whatever passes here is read by Arrow, or refused by it; none of it takes more room than it has bytes."""
    raw = batch()
    for at in range(len(raw)):
        for bit in (1, 0x80, 0xFF):
            damaged = raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :]
            try:
                check_stream(damaged)
                table = pa.ipc.open_stream(damaged).read_all()
                table.validate(full=True)
            except (Refused, pa.ArrowException, OSError, UnicodeError):
                continue
            assert table.nbytes <= len(raw)
