"""Many respondents' responses at once: lines of JSON, or a stream of Arrow, read into the store's columns.

A batch is stored as a whole or not at all, so the first thing that does not fit refuses all of it. It is read in
pieces, and what the pieces come to is counted while they are read: what is sent can say in few bytes what takes many.
"""

from __future__ import annotations

import io
from collections import defaultdict
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from deniable.collector.intake import FieldedSurvey
from deniable.collector.messages import MAX_SYMBOL_LENGTH, SubmissionBody
from deniable.collector.refusals import Refused, decode_json
from deniable.collector.store import Batch
from deniable.collector.store.base import KEY
from deniable.collector.streams import check_stream
from deniable.designs import Design
from deniable.errors import DeniableError
from deniable.files.arrow import is_text

_MAX_LABELS = 10_000  # questions, designs or groups in one stream; three such numbers fit into one of 64 bits
_PIECE_LINES = 10_000
_PIECE_ROWS = 1 << 17
_LINES = msgspec.json.Decoder(SubmissionBody)
_COLUMNS = ("key", "question", "design")


class _Destination(NamedTuple):
    """Where the rows of one `Batch` belong."""

    question: str
    design: str
    group: str | None = None


class _BatchBuilder:
    """The responses of the pieces that were read, by where they belong.

    Args:
        fielded: the survey.
        most: bytes that keys and codes may come to.
    """

    def __init__(self, fielded: FieldedSurvey, max_rows: int) -> None:
        self._fielded = fielded
        self._most = max_rows
        self._pieces: dict[
            _Destination, list[tuple[NDArray[np.uint8], NDArray[Any]]]
        ] = {}

    def make_room(self, to: _Destination, rows: int) -> Design:
        """Return the design that responses were drawn with, before they are unpacked.

        Raises:
            Refused: there is no room for so many.
        """
        design = self._fielded.place(to.question, to.design).design
        self._most -= rows * (KEY + design.channel.coding.width)
        if self._most < 0:
            raise Refused(
                413,
                "the responses of this batch take too much room; expected fewer.",
                "Send it in several parts.",
            )
        return design

    def add(
        self, to: _Destination, keys: NDArray[np.uint8], codes: NDArray[Any]
    ) -> None:
        """Keep responses that there is room for."""
        self._pieces.setdefault(to, []).append((keys, codes))

    def batches(self) -> list[Batch]:
        """Return a batch for each question, design and group; coarser stages first, for others raise them."""
        if not self._pieces:
            raise Refused(
                422, "there is no response in this batch; expected at least one."
            )
        return sorted(
            map(self._batch, self._pieces),
            key=lambda batch: (batch.question, batch.stage),
        )

    def _batch(self, to: _Destination) -> Batch:
        column, chunks = (
            self._fielded.place(to.question, to.design),
            self._pieces[to],
        )
        keys, codes = (
            np.concatenate(column) if len(column) > 1 else column[0]
            for column in zip(*chunks, strict=True)
        )
        self._pieces[to] = []
        return Batch(
            self._fielded.entry.id,
            column.question,
            column.stage,
            keys,
            codes,
            self._fielded.group(to.group),
        )


def read_lines(fielded: FieldedSurvey, raw: bytes, max_rows: int) -> list[Batch]:
    """Read lines of JSON, each with the submission of one respondent.

    Args:
        fielded: the survey.
        raw: the lines.
        most: bytes that keys and codes may come to.

    Raises:
        Refused: not JSON, with a token (invitations are used one by one), or more than there is room for.
        DeniableError: what a single submission is refused for; the message names the line.
    """
    _check_admission(fielded)
    gathered = _BatchBuilder(fielded, max_rows)
    waiting: dict[_Destination, list[tuple[str, int]]] = defaultdict(list)

    def flush() -> None:
        for to, responses in waiting.items():
            keys, numbers = zip(*responses, strict=True)
            rows = np.frombuffer(bytes.fromhex("".join(keys)), np.uint8)
            coding = fielded.place(to.question, to.design).design.channel.coding
            gathered.add(to, rows.reshape(-1, KEY), coding.pack(numbers))
        waiting.clear()

    for number, line in enumerate(io.BytesIO(raw), start=1):
        if not line.strip():
            continue
        for to, key, symbol in _parse_line(fielded, gathered, number, line):
            waiting[to].append((key, symbol))
        if not number % _PIECE_LINES:
            flush()
    flush()
    return gathered.batches()


def read_arrow(fielded: FieldedSurvey, raw: bytes, max_rows: int) -> list[Batch]:
    """Read a stream of Arrow with columns key, question, design, and symbol or code; group may be there too.

    Args:
        fielded: the survey.
        raw: the stream.
        most: bytes that keys and codes may come to.

    Raises:
        Refused: not a complete stream, one that claims what it should not, a column that is missing, there twice,
            unknown or of another type, an empty cell, or more than there is room for.
        DeniableError: what a single submission is refused for.
    """
    _check_admission(fielded)
    check_stream(raw)
    gathered = _BatchBuilder(fielded, max_rows)
    try:
        reader = pa.ipc.open_stream(pa.py_buffer(raw))
        _check_columns(reader.schema)
        for record_batch in reader:
            record_batch.validate(full=True)
            for start in range(0, len(record_batch), _PIECE_ROWS):
                _gather(gathered, record_batch.slice(start, _PIECE_ROWS))
    except DeniableError:
        raise
    except (pa.ArrowException, OSError, OverflowError, TypeError, ValueError):
        raise Refused(
            400, "the body is not a stream of Arrow; expected a complete one."
        ) from None
    return gathered.batches()


def _parse_line(
    fielded: FieldedSurvey, gathered: _BatchBuilder, number: int, line: bytes
) -> list[tuple[_Destination, str, int]]:
    """Return where each response of a line belongs, its key, and the number of its symbol."""
    try:
        body: SubmissionBody = decode_json(_LINES.decode, line)
        fielded.check_hash(body.survey)
        responses = []
        for response in body.responses:
            to = _Destination(response.question, response.design, body.group)
            responses.append(
                (
                    to,
                    body.key,
                    gathered.make_room(to, 1).symbol_number(response.symbol),
                )
            )
    except DeniableError as error:
        error.problem = f"line {number:,}: {error.problem}"
        raise
    return responses


def _check_columns(schema: Any) -> None:
    """Refuse columns that are there twice, missing, or not of a batch: what nobody asks for might be an answer."""
    names = list(schema.names)
    if len(set(names)) < len(names):
        raise Refused(400, "a column is there twice; expected each of them once.")
    sent_as = "symbol" if "symbol" in names else "code"
    for name in (*_COLUMNS, sent_as):
        if name not in names:
            raise Refused(422, f"the column {name!r} is missing; expected it.")
    if not set(names) <= {*_COLUMNS, sent_as, "group"}:
        raise Refused(422, "there are columns besides those of a batch; expected key, question, design, and symbol or "
                      "code; group may be there too.")  # fmt: skip
    if schema.field("key").type != pa.binary(KEY):
        raise Refused(
            422,
            f"the keys are of type {schema.field('key').type}; expected fixed_size_binary[{KEY}].",
        )


def _gather(gathered: _BatchBuilder, record_batch: Any) -> None:
    """Take up a piece of a stream: the rows of each question, design and group that occur in it."""
    columns = dict(zip(record_batch.schema.names, record_batch.columns, strict=True))
    groups = {"group": columns.pop("group")} if "group" in columns else {}
    if any(column.null_count for column in columns.values()):
        raise Refused(
            422,
            "a key, question, design or response is empty; expected all of them.",
        )
    keys = _fixed_bytes(columns.pop("key"), KEY)
    responses = columns.pop("symbol" if "symbol" in columns else "code")
    named = {name: columns[name] for name in ("question", "design")} | groups
    labels = [_read_labels(column, name) for name, column in named.items()]
    if any(len(column.values) > _MAX_LABELS for column in labels):
        raise Refused(
            422,
            f"there are more than {_MAX_LABELS:,} questions, designs or groups; expected a few.",
        )
    numbers = np.zeros(len(record_batch), np.int64)
    for column in labels:
        numbers = numbers * (len(column.values) + 1) + column.numbers + 1
    _, firsts, kinds = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(kinds, kind="stable")
    starts = np.searchsorted(kinds[order], np.arange(len(firsts)))
    for first, rows in zip(
        firsts.tolist(), np.split(order, starts)[1:], strict=True
    ):
        to = _Destination(
            *(column.value(column.numbers[first]) for column in labels)
        )
        design = gathered.make_room(to, len(rows))
        gathered.add(to, keys[rows], _codes(design, responses.take(pa.array(rows))))


class _Labels(NamedTuple):
    """A column of text, as numbers of its distinct values; -1 for an empty cell."""

    numbers: NDArray[np.int64]
    values: Any

    def value(self, number: int) -> Any:
        return None if number < 0 else self.values[int(number)].as_py()


def _read_labels(column: Any, name: str) -> _Labels:
    """Read a column of text. A dictionary is not written out: a long value in many rows would fill the memory."""
    shared = pa.types.is_dictionary(column.type)
    if not is_text(column.type.value_type if shared else column.type):
        raise Refused(
            422, f"the column {name!r} is of type {column.type}; expected text."
        )
    encoded: Any = column if shared else column.dictionary_encode()
    longest = pc.max(pc.binary_length(encoded.dictionary)).as_py()
    if longest is not None and longest > MAX_SYMBOL_LENGTH:
        raise Refused(
            422,
            f"a value of the column {name!r} is too long; expected at most {MAX_SYMBOL_LENGTH:,} bytes.",
        )
    return _Labels(
        encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(), encoded.dictionary
    )


def _codes(design: Design, responses: Any) -> NDArray[Any]:
    """Return what was sent as the store wants it: numbers of symbols, or packed rows of bits for sets."""
    if not (pa.types.is_dictionary(responses.type) or is_text(responses.type)):
        return design.channel.coding.from_arrow(responses)
    labels = _read_labels(responses, "symbol")
    used, rows = np.unique(labels.numbers, return_inverse=True)
    numbers = [
        design.symbol_number(labels.value(number)) for number in used.tolist()
    ]
    return np.asarray(design.channel.coding.pack(numbers)[rows])


def _fixed_bytes(values: Any, size: int) -> NDArray[np.uint8]:
    """Return the bytes of an Arrow array of fixed size, without a copy."""
    start = values.offset * size
    return np.frombuffer(values.buffers()[1], np.uint8)[
        start : start + len(values) * size
    ].reshape(-1, size)


def _check_admission(fielded: FieldedSurvey) -> None:
    if fielded.survey.admission != "open":
        raise Refused(
            403,
            "this survey is by invitation; expected responses one by one, each with its token.",
        )
