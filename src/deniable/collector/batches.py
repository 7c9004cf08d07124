"""Many respondents' responses at once: lines of JSON, or a stream of Arrow, read into the store's columns.

A batch is stored as a whole or not at all, so the first thing that does not fit refuses all of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from deniable.collector.intake import FieldedSurvey
from deniable.collector.messages import SubmissionBody
from deniable.collector.refusals import Refused, parsed
from deniable.collector.store import Batch
from deniable.collector.store.base import KEY
from deniable.designs import Design
from deniable.errors import DeniableError
from deniable.tallies.arrow import is_text

_END = b"\xff\xff\xff\xff\0\0\0\0"  # without it, a stream that was cut between two parts looks complete
_MOST_LABELS = 10_000  # questions, designs or groups in one stream; three such numbers fit into one of 64 bits
_LINES = msgspec.json.Decoder(SubmissionBody)
_HEADER, _DATA, _COMPRESSION = 2, 1, 3  # fields of Arrow's flatbuffers: of a message, a dictionary, a batch


class _Destination(NamedTuple):
    """Where the rows of one `Batch` belong."""

    question: str
    design: str
    group: str | None


def read_lines(fielded: FieldedSurvey, raw: bytes) -> list[Batch]:
    """Read lines of JSON, each with the submission of one respondent.

    Raises:
        Refused: not JSON, or with a token: invitations are used one by one.
        DeniableError: what a single submission is refused for; the message names the line.
    """
    _check_admission(fielded)
    keys: dict[_Destination, list[str]] = {}
    symbols: dict[_Destination, list[str]] = {}
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        body = _line(fielded, number, line)
        for response in body.responses:
            to = _Destination(response.question, response.design, body.group)
            keys.setdefault(to, []).append(body.key)
            symbols.setdefault(to, []).append(response.symbol)
    raw_keys = {to: np.frombuffer(bytes.fromhex("".join(texts)), np.uint8) for to, texts in keys.items()}
    return _coarse_first([_batch(fielded, to, raw_keys[to].reshape(-1, KEY), pa.array(symbols[to])) for to in keys])


def read_arrow(fielded: FieldedSurvey, raw: bytes) -> list[Batch]:
    """Read a stream of Arrow with columns key, question, design, and symbol or code; group may be there too.

    Raises:
        Refused: not a complete stream, a column is missing or of another type, or a cell is empty.
        DeniableError: what a single submission is refused for.
    """
    _check_admission(fielded)
    try:
        if _compressed(raw):
            raise Refused(422, "the stream is compressed; expected one that is not.")
        if not raw.endswith(_END):
            raise Refused(400, "the stream breaks off; expected one with its end.")
        table = pa.ipc.open_stream(raw).read_all()
        table.validate(full=True)
        return _coarse_first(list(_split(fielded, table)))
    except (pa.ArrowException, OSError, UnicodeError, OverflowError, TypeError, ValueError, struct.error) as error:
        if isinstance(error, DeniableError):
            raise
        raise Refused(400, "the body is not a stream of Arrow; expected a complete one.") from None


def _line(fielded: FieldedSurvey, number: int, line: bytes) -> SubmissionBody:
    try:
        body: SubmissionBody = parsed(_LINES.decode, line)
        fielded.check_hash(body.survey)
        for response in body.responses:
            fielded.place(response.question, response.design).design.symbol_number(response.symbol)
    except DeniableError as error:
        error.problem = f"line {number:,}: {error.problem}"
        raise
    return body


def _split(fielded: FieldedSurvey, table: pa.Table) -> Iterator[Batch]:
    """Yield a batch for each question, design and group that occurs in a table."""
    sent_as = "symbol" if "symbol" in table.column_names else "code"
    for name in ("key", "question", "design", sent_as):
        if name not in table.column_names or table[name].null_count:
            raise Refused(422, f"the column {name!r} is missing, or has empty cells; expected one without.")
    names = ["question", "design", *(["group"] if "group" in table.column_names else [])]
    labels = [_labels(table[name], name) for name in names]
    if any(len(column.values) > _MOST_LABELS for column in labels):
        raise Refused(422, f"there are more than {_MOST_LABELS:,} questions, designs or groups; expected a few.")
    keys, sent = _keys(table["key"]), table[sent_as].combine_chunks()
    numbers = np.zeros(len(table), np.int64)
    for column in labels:
        numbers = numbers * (len(column.values) + 1) + column.numbers + 1
    _, firsts, kinds = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(kinds, kind="stable")
    starts = np.searchsorted(kinds[order], np.arange(len(firsts)))
    for first, rows in zip(firsts.tolist(), np.split(order, starts)[1:], strict=True):
        common = [column.value(int(column.numbers[first])) for column in labels]
        yield _batch(fielded, _Destination(*common, *[None] * (3 - len(common))), keys[rows], sent.take(rows))


class _Labels(NamedTuple):
    """A column of text, as numbers of its distinct values; -1 for an empty cell."""

    numbers: NDArray[np.int64]
    values: Any

    def value(self, number: int) -> Any:
        return None if number < 0 else self.values[number].as_py()


def _labels(column: Any, name: str) -> _Labels:
    """Read a column of text. A dictionary is not written out: a long value in many rows would fill the memory."""
    shared = pa.types.is_dictionary(column.type)
    if not is_text(column.type.value_type if shared else column.type):
        raise Refused(422, f"the column {name!r} is of type {column.type}; expected text.")
    array: Any = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded: Any = array if shared else array.dictionary_encode()
    return _Labels(encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(), encoded.dictionary)


def _batch(fielded: FieldedSurvey, to: _Destination, keys: NDArray[np.uint8], sent: Any) -> Batch:
    place = fielded.place(to.question, to.design)
    codes = _codes(place.design, sent)
    return Batch(fielded.entry.id, place.question, place.stage, keys, codes, fielded.group(to.group))


def _keys(column: Any) -> NDArray[np.uint8]:
    if column.type != pa.binary(KEY):
        raise Refused(422, f"the keys are of type {column.type}; expected fixed_size_binary[{KEY}].")
    return _fixed(column.combine_chunks(), KEY)


def _codes(design: Design, sent: Any) -> NDArray[Any]:
    """Return what was sent as the store wants it: numbers of symbols, or packed rows of bits for sets."""
    if not (pa.types.is_dictionary(sent.type) or is_text(sent.type)):
        return design.channel.coding.from_arrow(sent)
    labels = _labels(sent, "symbol")
    used, rows = np.unique(labels.numbers, return_inverse=True)
    numbers = [design.symbol_number(labels.value(number)) for number in used.tolist()]
    return np.asarray(design.channel.coding.pack(numbers)[rows])


def _fixed(values: Any, size: int) -> NDArray[np.uint8]:
    """Return the bytes of an Arrow array of fixed size, without a copy."""
    start = values.offset * size
    return np.frombuffer(values.buffers()[1], np.uint8)[start : start + len(values) * size].reshape(-1, size)


def _coarse_first(batches: list[Batch]) -> list[Batch]:
    """Put coarser stages first: they are stored before what raises them."""
    if not batches:
        raise Refused(422, "there is no response in this batch; expected at least one.")
    return sorted(batches, key=lambda batch: (batch.question, batch.stage))


def _check_admission(fielded: FieldedSurvey) -> None:
    if fielded.survey.admission != "open":
        raise Refused(403, "this survey is by invitation; expected responses one by one, each with its token.")


def _compressed(raw: bytes) -> bool:
    """Say whether any part of a stream of Arrow is compressed, before anything is unpacked.

    Why: a few bytes can unpack to more than the memory of a machine, and Arrow's reader unpacks without a limit. One
    field of a part's header says that it is compressed. The header is a flatbuffer: a table is found through an offset,
    and its fields through a list of offsets that stands before it.

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
        if message.type in {"record batch", "dictionary"} and _says_compressed(message.metadata, message.type):
            return True


def _says_compressed(metadata: pa.Buffer, kind: str) -> bool:
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
