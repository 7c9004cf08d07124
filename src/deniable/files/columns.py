"""Files of columns (Parquet, Arrow IPC, CSV, NDJSON; Excel, SPSS and Stata), read batch by batch.

A further format is a subclass of `ColumnFile`, a line in `_READERS`, and the endings of its names in `_SUFFIXES`. What
other programs write and we only read is in `files.office`.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from deniable import documents
from deniable.errors import (
    DeniableError,
    InvalidRequest,
    UnreadableFile,
    require_choice,
)
from deniable.files.spreadsheets import plain_batch

if TYPE_CHECKING:
    import pyarrow as pa

Row: TypeAlias = tuple[str | None, ...]

# Lines that are remembered: a file of responses has few different ones.
_REMEMBERED_LINES = 1 << 12

FORMATS = ("parquet", "arrow", "csv", "ndjson")
"""Formats that are read and written."""

READ_ALONE = ("excel", "spss", "stata")
"""Formats that are read and never written."""

TYPED = ("parquet", "arrow")
"""Formats whose columns have types: responses lie there in their stored form."""

RESPONSE = "response"
"""The column of responses."""

DESIGN = "design"
"""The column that names the design of each response by its hash."""

BATCH = 1 << 17
"""Rows in a batch, at most."""

File: TypeAlias = str | os.PathLike[str] | IO[bytes]
"""A path, or an open binary file; Parquet must be seekable."""

_SUFFIXES = {
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".csv": "csv", ".tsv": "csv", ".txt": "csv",
    ".ndjson": "ndjson", ".jsonl": "ndjson",
    ".xlsx": "excel", ".xlsm": "excel", ".sav": "spss", ".zsav": "spss", ".dta": "stata",
}  # fmt: skip
COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""What the ending of a packed file's name says about how it is packed."""

_HEAD_BYTES = 1 << 20


@dataclass(frozen=True)
class Meanings:
    """What a file says about the values of a column.

    Attributes:
        labels: what each code is called.
        missing: codes that say why somebody did not answer.
        ranges: from where to where numbers say so.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    ranges: tuple[tuple[float, float], ...] = ()

    def is_missing(self, code: str) -> bool:
        """Say whether a code stands for no answer.

        Example:
            >>> Meanings({"99": "refused"}, ranges=((98.0, 99.0),)).is_missing("99")
            True
        """
        if code in self.missing:
            return True
        try:
            return any(low <= float(code) <= high for low, high in self.ranges)
        except ValueError:
            return False

    def label(self, code: str) -> str | None:
        """Return what a code is called, which may be the code itself; None where it stands for no answer."""
        return None if self.is_missing(code) else self.labels.get(code, code)


class ColumnFile(ABC):
    """An open file of columns."""

    named: ClassVar[bool] = False
    """Whether a name of a column is surely one. The first line of a CSV file without a header is somebody's data."""

    def __init__(
        self,
        stream: Any,
        name: str,
        size: int | None = None,
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.name = name
        self.names = names
        """The columns of the file; None where each row has its own."""
        self._stream = stream
        self._size = size

    def named_design(self, key: str) -> str | None:  # noqa: ARG002 - for formats that have metadata
        """Return the hash of a design that the metadata of the file names under a key."""
        return None

    @property
    def pieces(self) -> tuple[int, ...]:
        """How many rows there are in each of the pieces that can be read by themselves; empty where there are none."""
        return ()

    def constant(self, column: str) -> str | None:  # noqa: ARG002 - for formats that know
        """Return the text that a column holds in every row, where the file itself says so."""
        return None

    def batches(
        self,
        labels: Sequence[str],
        keep: Sequence[str] = (),
        pieces: range | None = None,
        size: int = BATCH,
    ) -> Iterator[pa.RecordBatch]:
        """Read columns of labels, which come as text, a dictionary, codes or bytes; and others as they are.

        Args:
            labels: columns of answers or of responses.
            keep: others.
            pieces: which of the pieces to read; all of the file by default.
            size: how many rows a batch has, at most, where the format leaves a choice.

        Raises:
            UnreadableFile: the file breaks off or is damaged.
        """
        import pyarrow as pa

        assert pieces is None or self.pieces, "this format is read as a whole"
        self._selected = pieces
        try:
            yield from self._read(list(labels), list(keep), size)
        except DeniableError:
            raise
        except (pa.ArrowException, OSError, KeyError, ValueError, EOFError):
            raise self.damaged() from None

    @abstractmethod
    def _read(
        self, labels: list[str], keep: list[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        """Read batches; what a damaged file raises is explained by `batches`."""

    def coded_batches(
        self, columns: Sequence[str], size: int = BATCH
    ) -> Iterator[pa.RecordBatch]:
        """Read columns as they are stored: numbers as numbers, also where the file says what each is called."""
        return self.batches((), columns, size=size)

    def meanings(self, column: str) -> Meanings:  # noqa: ARG002 - for formats that know
        """Return what the file says about the values of a column."""
        return Meanings()

    def has(self, column: str) -> bool:
        """Say whether there is a column of this name."""
        return self.names is not None and column in self.names

    @property
    def share(self) -> float | None:
        """How much of the file was read, from 0 to 1, where that is known."""
        if self._size is None:
            return None
        return min(1.0, float(self._stream.tell()) / max(1, self._size))

    def row(self, offset: int) -> str:
        """Name a row in a message; the first one after a header is row 1."""
        return f"row {offset + 1:,} of {self.name}"

    def damaged(
        self, problem: str = "it breaks off or is damaged"
    ) -> UnreadableFile:
        """Return the error for a file that cannot be read to its end."""
        return UnreadableFile(
            f"cannot read {self.name}: {problem}.",
            "The file may be truncated; write or download it again.",
        )


class _ParquetFile(ColumnFile):
    named = True

    def __init__(
        self, stream: Any, name: str, _size: int | None, _head: bytes
    ) -> None:
        import pyarrow as pa

        super().__init__(stream, name)
        self._rows = 0
        try:
            self._file = self._open()
        except (pa.ArrowException, OSError):
            raise self.damaged("it is not a complete Parquet file") from None
        self.names = tuple(self._file.schema_arrow.names)

    def _open(self, **options: Any) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetFile(
            self._stream, page_checksum_verification=True, **options
        )

    def named_design(self, key: str) -> str | None:
        return _find_metadata(self._file.schema_arrow, key)

    @property
    def share(self) -> float | None:
        return self._rows / max(1, int(self._file.metadata.num_rows))

    @property
    def pieces(self) -> tuple[int, ...]:
        metadata = self._file.metadata
        groups = range(metadata.num_row_groups)
        return tuple(metadata.row_group(group).num_rows for group in groups)

    def constant(self, column: str) -> str | None:
        metadata = self._file.metadata
        paths = [
            metadata.schema.column(index).path
            for index in range(metadata.num_columns)
        ]
        if column not in paths:
            return None
        index, groups = paths.index(column), range(metadata.num_row_groups)
        texts = {self._only_text(group, index) for group in groups}
        return texts.pop() if len(texts) == 1 else None

    def _only_text(self, group: int, column: int) -> str | None:
        """Return the one text that a column holds in a row group, as its statistics tell."""
        about = self._file.metadata.row_group(group).column(column).statistics
        if about is None or not about.has_min_max or not about.has_null_count:
            return None
        is_text = isinstance(about.min, str) and not about.null_count
        return about.min if is_text and about.min == about.max else None

    def _read(
        self, labels: list[str], keep: list[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        schema = self._file.schema_arrow
        # Labels come as a dictionary: each is read once, and not once for every row.
        text = [
            name for name in labels if pa.types.is_string(schema.field(name).type)
        ]
        groups = None if self._selected is None else list(self._selected)
        for batch in self._open(read_dictionary=text).iter_batches(
            batch_size=size, columns=labels + keep, row_groups=groups
        ):
            self._rows += len(batch)
            yield batch


class _ArrowFile(ColumnFile):
    """Arrow IPC: a file, whose batches are found by number, or a stream, which is read to its end."""

    named = True

    def __init__(
        self, stream: Any, name: str, size: int | None, head: bytes
    ) -> None:
        import pyarrow as pa

        super().__init__(stream, name, size)
        is_file = head.startswith(_ARROW_FILE)
        self._is_seekable = is_file and not isinstance(stream, io.BufferedReader)
        self._batches = 0
        try:
            if is_file and not self._is_seekable:
                stream.read(len(_ARROW_FILE) + 2)  # what comes behind is a stream
            open_ipc = pa.ipc.open_file if self._is_seekable else pa.ipc.open_stream
            self._opened: Any = open_ipc(stream)
        except (pa.ArrowException, OSError):
            raise self.damaged(
                "it is not a complete Arrow IPC file or stream"
            ) from None
        self.names = tuple(self._opened.schema.names)

    def named_design(self, key: str) -> str | None:
        return _find_metadata(self._opened.schema, key)

    @property
    def share(self) -> float | None:
        if self._is_seekable:
            return self._batches / max(1, int(self._opened.num_record_batches))
        return super().share

    def _read(
        self, labels: list[str], keep: list[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        for batch in self._read_all():
            yield from _slice_batch(batch.select(labels + keep), size)

    def _read_all(self) -> Iterator[pa.RecordBatch]:
        if not self._is_seekable:
            yield from self._opened
            return
        for number in range(self._opened.num_record_batches):
            self._batches = number + 1
            yield self._opened.get_batch(number)


def _slice_batch(batch: pa.RecordBatch, size: int) -> Iterator[pa.RecordBatch]:
    return (batch.slice(start, size) for start in range(0, len(batch), size))


def _find_metadata(schema: pa.Schema, key: str) -> str | None:
    value = (schema.metadata or {}).get(key.encode())
    return None if value is None else value.decode(errors="replace")


class _CsvFile(ColumnFile):
    def __init__(
        self, stream: Any, name: str, size: int | None, head: bytes
    ) -> None:
        super().__init__(stream, name, size)
        self._bare = b"\n" not in head and b"\r" not in head
        if not head.strip():
            raise self.damaged("it is empty")
        text = head.decode("utf-8-sig", errors="ignore")
        # Spreadsheets write semicolons where a comma is the decimal sign.
        self._delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
        lines = io.StringIO(text, newline="")
        try:
            self._header = next(csv.reader(lines, delimiter=self._delimiter))
        except (csv.Error, StopIteration):
            raise self.damaged("its first line is not a header") from None
        self.names = tuple(self._header)

    def _read(
        self, labels: list[str], keep: list[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        uneven: list[Any] = []
        try:
            for batch in map(plain_batch, self._open(labels + keep, uneven)):
                yield from _slice_batch(batch, size)
        except pa.ArrowException:
            if uneven:
                row = uneven[0]
                fields = f"{row.actual_columns} fields where the header has {row.expected_columns}"
                raise self.damaged(f"row {row.number - 1:,} has {fields}") from None
            raise self.damaged("it breaks off, or is not CSV in UTF-8") from None

    def _open(
        self, columns: Sequence[str], uneven: list[Any]
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.csv as pacsv

        def handle(row: Any) -> Literal["error"]:
            uneven.append(row)
            return "error"

        if self._bare:
            return  # a header without a line end, and nothing behind it
        yield from pacsv.open_csv(
            self._stream,
            # So that rows are numbered.
            read_options=pacsv.ReadOptions(use_threads=False),
            parse_options=pacsv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,
                # In a single column an empty line is a missing value.
                ignore_empty_lines=len(self._header) > 1,
                invalid_row_handler=handle,
            ),
            # Text stays the text that it is: "01" is not 1, and "NA" may be a label. Only nothing is missing.
            convert_options=pacsv.ConvertOptions(
                include_columns=list(columns),
                column_types=dict.fromkeys(columns, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )


class _BrokenLine(Exception):
    """Why a line cannot be read, and not what it holds."""


class _NdjsonFile(ColumnFile):
    def __init__(
        self, stream: Any, name: str, size: int | None, head: bytes
    ) -> None:
        super().__init__(stream, name, size)
        self._first = head.partition(b"\n")[0]

    def has(self, column: str) -> bool:
        """Say whether the first row has this column."""
        try:
            return column in json.loads(self._first)
        except (ValueError, RecursionError, TypeError):
            return False

    def _read(
        self, labels: list[str], keep: list[str], size: int
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        rows = self._read_rows(labels, keep)
        while batch := list(islice(rows, min(size, BATCH))):
            columns = [
                pa.array(column, pa.string()) for column in zip(*batch, strict=True)
            ]
            yield pa.record_batch(columns, names=labels + keep)

    def _read_rows(self, labels: list[str], keep: list[str]) -> Iterator[Row]:
        """Read fields of each object as text; null is None. Equal lines are read once."""
        rows: dict[bytes, Row] = {}
        for number, line in enumerate(self._stream, start=1):
            row = rows.get(line)
            if row is None:
                try:
                    row = _read_line(line, labels, keep)
                except _BrokenLine as error:
                    raise self.damaged(f"line {number:,} {error}") from None
                if len(rows) >= _REMEMBERED_LINES:
                    rows.clear()
                rows[line] = row
            yield row


def _read_line(line: bytes, labels: Sequence[str], keep: Sequence[str]) -> Row:
    """Read fields that hold text, or whole numbers that are labels; and others, of which what is no text stays JSON.

    Raises:
        _BrokenLine: a line is no object, or lacks a field.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise _BrokenLine("is not complete JSON") from None
    if not isinstance(fields, dict):
        raise _BrokenLine("is not a JSON object")
    if fields.get("schema") == f"deniable/response/{documents.VERSION}":
        fields = _read_sealed(line)
    missing = [name for name in (*labels, *keep) if name not in fields]
    if missing:
        raise _BrokenLine(
            f"has no field {missing[0]!r}; where there is no value expected null"
        )
    texts = [_read_label(name, fields[name]) for name in labels]
    return (*texts, *(_to_text(fields[name]) for name in keep))


def _read_sealed(line: bytes) -> dict[str, Any]:
    """Read a response as it travels, which names its fields otherwise and is sealed by a hash."""
    try:
        response = documents.Response.from_json(line)
    except UnreadableFile:
        raise _BrokenLine(
            "is a response whose content does not match its hash"
        ) from None
    return {DESIGN: response.design, RESPONSE: response.symbol}


def _read_label(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if math.isnan(value):
            return None
        if value == value // 1:
            return str(int(value))
    raise _BrokenLine(
        f"holds a {type(value).__name__} in {name!r}; expected text, a whole number or null"
    )


def _to_text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def open_columns(
    file: File, format: str | None = None, *, sheet: str | None = None
) -> Iterator[ColumnFile]:
    """Open a file of columns; its format is told by its name, or by how it begins.

    Files whose names end in .gz, .bz2, .zst or .lz4 are unpacked while they are read.

    Args:
        file: a path, or an open file.
        format: where neither the name nor the beginning tells.
        sheet: of a workbook: which sheet; by default the only one that holds something.

    Raises:
        UnreadableFile: not a file of columns.
        InvalidRequest: a format that is not known here, or a sheet that is not there.
        MissingExtra: the package that reads this format is not installed.
        OSError: the file is not there, or may not be read.
    """
    if format is not None:
        require_choice("the format is", format, (*FORMATS, *READ_ALONE))
    with ExitStack() as closing:
        if not isinstance(file, str | os.PathLike):
            yield _open(file, "the stream", None, format, closing, None, sheet)
            return
        import pyarrow as pa

        path = Path(file)
        stream: Any = closing.enter_context(path.open("rb"))
        size, codec = path.stat().st_size, COMPRESSED.get(path.suffix.lower())
        if codec is None:
            yield _open(stream, path.name, size, format, closing, path, sheet)
        else:
            unpacked: Any = pa.input_stream(stream, compression=codec)  # type: ignore[arg-type]  # it is one of its names
            yield _open(unpacked, path.name, None, format, closing, None, sheet)


def _open(
    stream: Any,
    name: str,
    size: int | None,
    format: str | None,
    closing: ExitStack,
    path: Path | None,
    sheet: str | None,
) -> ColumnFile:
    seekable = stream.seekable()
    start = stream.tell() if seekable else 0
    head = _read_head(stream, name)
    format = format or guess(name) or _begins(head)
    if sheet is not None and format != "excel":
        raise InvalidRequest(f"{name} is no workbook; expected no name of a sheet.")
    jumps = format in ("parquet", *READ_ALONE) or (
        format == "arrow" and seekable and head.startswith(_ARROW_FILE)
    )
    if jumps and not seekable:
        raise UnreadableFile(
            f"cannot read {format.capitalize()} from {name}; expected a file.",
            "Hand over its path.",
        )
    if seekable:
        stream.seek(start)
    if format in READ_ALONE:
        return _open_office(stream, name, format, path, sheet)
    if not jumps:
        raw = stream if seekable else _ReplayStream(head, stream)
        stream = io.BufferedReader(raw, _HEAD_BYTES)
        # The stream belongs to whoever opened it, and stays open.
        closing.callback(stream.detach)
    elif path is not None:
        import pyarrow as pa

        # Arrow reads such a file without Python, and its threads do not wait for each other.
        stream = closing.enter_context(pa.OSFile(str(path), "rb"))
    return _READERS[format](stream, name, size, head)


def _read_head(stream: Any, name: str) -> bytes:
    try:
        head: bytes = stream.read(_HEAD_BYTES)
    except OSError:
        raise UnreadableFile(
            f"cannot read {name}: it breaks off or is damaged."
        ) from None
    return head


def _open_office(
    stream: Any, name: str, format: str, path: Path | None, sheet: str | None
) -> ColumnFile:
    from deniable.files import office

    if format == "excel":
        return office.ExcelFile(stream, name, sheet)
    return office.StatisticsFile(path or stream, name, format)


_READERS: dict[str, Callable[[Any, str, int | None, bytes], ColumnFile]] = {
    "parquet": _ParquetFile,
    "arrow": _ArrowFile,
    "csv": _CsvFile,
    "ndjson": _NdjsonFile,
}
_ARROW_FILE = b"ARROW1"
_BEGINNINGS = {
    b"PAR1": "parquet",
    _ARROW_FILE: "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"PK\x03\x04": "excel",
    b"$FL2": "spss",
    b"$FL3": "spss",
    b"<stata_dta>": "stata",
}

BINARY = tuple(_BEGINNINGS)
"""How files begin that are no text."""


def _begins(head: bytes) -> str:
    for beginning, format in _BEGINNINGS.items():
        if head.startswith(beginning):
            return format
    return "ndjson" if head.lstrip().startswith(b"{") else "csv"


class _ReplayStream(io.RawIOBase):
    """A stream that cannot go back, with what was read from it put in front again."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = len(buffer)
        content = self._head[:room] or self._stream.read(room)
        self._head = self._head[room:]
        buffer[: len(content)] = content
        return len(content)


def guess(name: str) -> str | None:
    """Return the format that a file's name tells, if it does.

    Example:
        >>> guess("answers.csv.gz"), guess("responses.parquet"), guess("answers")
        ('csv', 'parquet', None)
    """
    path = Path(name.lower())
    return _SUFFIXES.get(
        (Path(path.stem) if path.suffix in COMPRESSED else path).suffix
    )
