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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from deniable import documents
from deniable.errors import InvalidRequest, UnreadableFile, quoted
from deniable.files.spreadsheets import plain_batch

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[str | None, ...]

_REMEMBERED_LINES = (
    1 << 12
)  # that are remembered: a file of responses has few different ones


class BrokenLine(Exception):
    """A line that cannot be read; says which and why, and not what it holds."""

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        self.problem = problem
        super().__init__(f"line {line} {problem}")


def _json_batches(
    lines: Iterable[bytes], labels: Sequence[str], keep: Sequence[str], size: int
) -> Iterator[list[Row]]:
    """Read fields of each object as text, `size` lines at a time; null is None.

    Args:
        lines: what to read.
        labels: fields that hold text, or whole numbers that are labels.
        keep: fields that hold anything; what is not text stays as its JSON.
        size: how many lines a batch has.

    Raises:
        BrokenLine: a line is no object, or lacks a field.
    """
    numbered = iter(enumerate(lines, start=1))
    seen: dict[bytes, Row] = {}
    while batch := list(islice(numbered, size)):
        rows = []
        for number, line in batch:
            row = seen.get(line)
            if row is None:
                row = _row(number, line, labels, keep)
                if len(seen) >= _REMEMBERED_LINES:
                    seen.clear()
                seen[line] = row
            rows.append(row)
        yield rows


def _row(number: int, line: bytes, labels: Sequence[str], keep: Sequence[str]) -> Row:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise BrokenLine(number, "is not complete JSON") from None
    if not isinstance(fields, dict):
        raise BrokenLine(number, "is not a JSON object")
    if fields.get("schema") == f"deniable/response/{documents.VERSION}":
        fields = _sealed(number, line)
    missing = [name for name in (*labels, *keep) if name not in fields]
    if missing:
        raise BrokenLine(
            number,
            f"has no field {missing[0]!r}; where there is no value expected null",
        )
    return (
        *(_label(number, name, fields[name]) for name in labels),
        *(_kept(fields[name]) for name in keep),
    )


def _sealed(number: int, line: bytes) -> dict[str, Any]:
    """Read a response as it travels, which names its fields otherwise and is sealed by a hash."""
    try:
        response = documents.Response.from_json(line)
    except UnreadableFile:
        raise BrokenLine(
            number, "is a response whose content does not match its hash"
        ) from None
    return {"design": response.design, "response": response.symbol}


def _label(number: int, name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if math.isnan(value):
            return None
        if value == value // 1:
            return str(int(value))
    raise BrokenLine(
        number,
        f"holds a {type(value).__name__} in {name!r}; expected text, a whole number or null",
    )


def _kept(value: Any) -> str | None:
    return (
        value
        if value is None or isinstance(value, str)
        else json.dumps(value, ensure_ascii=False)
    )


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

    def __init__(self, name: str, size: int | None) -> None:
        self.name = name
        self._size = size

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...] | None:
        """The columns of the file; None where each row has its own."""

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

    @abstractmethod
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
        """

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
    @abstractmethod
    def share(self) -> float | None:
        """How much of the file was read, from 0 to 1, where that is known."""

    def row(self, offset: int) -> str:
        """Name a row in a message; the first one after a header is row 1."""
        return f"row {offset + 1:,} of {self.name}"

    def damaged(self, problem: str = "it breaks off or is damaged") -> UnreadableFile:
        """Return the error for a file that cannot be read to its end."""
        return UnreadableFile(
            f"cannot read {self.name}: {problem}.",
            "The file may be truncated; write or download it again.",
        )


class _ParquetFile(ColumnFile):
    named = True

    def __init__(self, stream: IO[bytes], name: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__(name, None)
        self._rows = 0
        self._stream = stream
        try:
            self._file = pq.ParquetFile(stream, page_checksum_verification=True)
        except (pa.ArrowException, OSError):
            raise self.damaged("it is not a complete Parquet file") from None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._file.schema_arrow.names)

    def named_design(self, key: str) -> str | None:
        return _in_metadata(self._file.schema_arrow, key)

    @property
    def share(self) -> float | None:
        return self._rows / max(1, self._file.metadata.num_rows)

    @property
    def pieces(self) -> tuple[int, ...]:
        metadata = self._file.metadata
        return tuple(
            metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)
        )

    def constant(self, column: str) -> str | None:
        metadata = self._file.metadata
        places = [
            at
            for at in range(metadata.num_columns)
            if metadata.schema.column(at).path == column
        ]
        found = (
            {self._only(group, places[0]) for group in range(metadata.num_row_groups)}
            if places
            else {None}
        )
        return found.pop() if len(found) == 1 else None

    def _only(self, group: int, place: int) -> str | None:
        """Return the one text that a column holds in a row group, as its statistics tell."""
        known: Any = self._file.metadata.row_group(group).column(place).statistics
        if (
            known is None
            or not known.has_min_max
            or not known.has_null_count
            or known.null_count
        ):
            return None
        return (
            known.min if isinstance(known.min, str) and known.min == known.max else None
        )

    def batches(
        self,
        labels: Sequence[str],
        keep: Sequence[str] = (),
        pieces: range | None = None,
        size: int = BATCH,
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = self._file.schema_arrow
        # Labels come as a dictionary: each is read once, and not once for every row.
        text = [name for name in labels if pa.types.is_string(schema.field(name).type)]
        groups: Any = None if pieces is None else list(pieces)
        try:
            file = pq.ParquetFile(
                self._stream, read_dictionary=text, page_checksum_verification=True
            )
            for batch in file.iter_batches(
                batch_size=size, columns=[*labels, *keep], row_groups=groups
            ):
                self._rows += len(batch)
                yield batch
        except (pa.ArrowException, OSError, KeyError):
            raise self.damaged() from None


class _ArrowFile(ColumnFile):
    """Arrow IPC: a file, whose batches are found by number, or a stream, which is read to its end."""

    named = True

    def __init__(self, stream: Any, name: str, size: int | None, head: bytes) -> None:
        import pyarrow as pa

        super().__init__(name, size)
        self._stream = stream
        self._whole = head.startswith(_ARROW_FILE) and not isinstance(
            stream, io.BufferedReader
        )
        self._read = 0
        try:
            if head.startswith(_ARROW_FILE) and not self._whole:
                stream.read(len(_ARROW_FILE) + 2)  # what comes behind is a stream
            self._opened: Any = (
                pa.ipc.open_file(stream) if self._whole else pa.ipc.open_stream(stream)
            )
        except (pa.ArrowException, OSError):
            raise self.damaged(
                "it is not a complete Arrow IPC file or stream"
            ) from None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._opened.schema.names)

    def named_design(self, key: str) -> str | None:
        return _in_metadata(self._opened.schema, key)

    @property
    def share(self) -> float | None:
        if self._whole:
            return self._read / max(1, int(self._opened.num_record_batches))
        return _position(self._stream, self._size)

    def batches(
        self,
        labels: Sequence[str],
        keep: Sequence[str] = (),
        pieces: range | None = None,
        size: int = BATCH,
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        assert pieces is None, "this format is read as a whole"
        try:
            for batch in self._all():
                chosen = batch.select([*labels, *keep])
                yield from (
                    chosen.slice(start, size) for start in range(0, len(chosen), size)
                )
        except (pa.ArrowException, OSError, KeyError):
            raise self.damaged() from None

    def _all(self) -> Iterator[pa.RecordBatch]:
        if not self._whole:
            yield from self._opened
            return
        for number in range(self._opened.num_record_batches):
            self._read = number + 1
            yield self._opened.get_batch(number)


class _CsvFile(ColumnFile):
    def __init__(
        self, stream: io.BufferedReader, name: str, size: int | None, head: bytes
    ) -> None:
        super().__init__(name, size)
        self._stream = stream
        self._bare = b"\n" not in head and b"\r" not in head
        if not head.strip():
            raise self.damaged("it is empty")
        try:
            first = head.decode("utf-8-sig", errors="ignore")
            line = first.split("\n", 1)[0]
            # Spreadsheets write semicolons where a comma is the decimal sign.
            self._delimiter = max(",;\t", key=line.count)
            self._names = tuple(
                next(
                    csv.reader(
                        io.StringIO(first, newline=""), delimiter=self._delimiter
                    )
                )
            )
        except (csv.Error, StopIteration):
            raise self.damaged("its first line is not a header") from None

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def share(self) -> float | None:
        return _position(self._stream, self._size)

    def batches(
        self,
        labels: Sequence[str],
        keep: Sequence[str] = (),
        pieces: range | None = None,
        size: int = BATCH,
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        assert pieces is None, "this format is read as a whole"
        uneven: list[Any] = []
        try:
            for batch in map(plain_batch, self._open([*labels, *keep], uneven)):
                yield from (
                    batch.slice(start, size) for start in range(0, len(batch), size)
                )
        except pa.ArrowException:
            if uneven:
                bad = uneven[0]
                fields = f"{bad.actual_columns} fields where the header has {bad.expected_columns}"
                raise self.damaged(f"row {bad.number - 1:,} has {fields}") from None
            raise self.damaged("it breaks off, or is not CSV in UTF-8") from None
        except OSError:
            raise self.damaged() from None

    def _open(
        self, wanted: Sequence[str], uneven: list[Any]
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
            read_options=pacsv.ReadOptions(
                use_threads=False
            ),  # so that rows are numbered
            parse_options=pacsv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(self._names)
                > 1,  # in a single column an empty line is a missing value
                invalid_row_handler=handle,
            ),
            # Text stays the text that it is: "01" is not 1, and "NA" may be a label. Only nothing is missing.
            convert_options=pacsv.ConvertOptions(
                include_columns=list(wanted),
                column_types={name: pa.string() for name in wanted},
                null_values=[""],
                strings_can_be_null=True,
            ),
        )


class _NdjsonFile(ColumnFile):
    def __init__(
        self, stream: io.BufferedReader, name: str, size: int | None, head: bytes
    ) -> None:
        super().__init__(name, size)
        self._stream = stream
        self._first = head.partition(b"\n")[0]

    @property
    def names(self) -> None:
        return None

    def has(self, column: str) -> bool:
        """Say whether the first row has this column."""
        try:
            return column in json.loads(self._first)
        except (ValueError, RecursionError, TypeError):
            return False

    @property
    def share(self) -> float | None:
        return _position(self._stream, self._size)

    def batches(
        self,
        labels: Sequence[str],
        keep: Sequence[str] = (),
        pieces: range | None = None,
        size: int = BATCH,
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        assert pieces is None, "this format is read as a whole"
        try:
            for rows in _json_batches(self._stream, labels, keep, min(size, BATCH)):
                columns = [
                    pa.array(column, pa.string()) for column in zip(*rows, strict=True)
                ]
                yield pa.record_batch(columns, names=[*labels, *keep])
        except BrokenLine as error:
            raise self.damaged(f"line {error.line:,} {error.problem}") from None
        except (OSError, UnicodeError):
            raise self.damaged() from None


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
    if format is not None and format not in (*FORMATS, *READ_ALONE):
        raise InvalidRequest(
            f"the format is {quoted(format, 20)}; expected one of {', '.join((*FORMATS, *READ_ALONE))}."
        )
    with ExitStack() as closing:
        if isinstance(file, str | os.PathLike):
            path = Path(file)
            name = path.name
            size: int | None = path.stat().st_size
            stream: Any = closing.enter_context(path.open("rb"))
            if path.suffix.lower() in COMPRESSED:
                stream, size = _unpacked(stream, path.suffix.lower()), None
            plain = None if size is None else path
        else:
            stream, name, size, plain = file, "the stream", None, None
        yield _open(stream, name, size, format, closing, plain, sheet)


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
    try:
        head = stream.read(_HEAD_BYTES)
    except OSError:
        raise UnreadableFile(
            f"cannot read {name}: it breaks off or is damaged."
        ) from None
    format = format or guess(name) or _begins(head)
    if sheet is not None and format != "excel":
        raise InvalidRequest(f"{name} is no workbook; expected no name of a sheet.")
    whole = format in ("parquet", *READ_ALONE) or (
        format == "arrow" and seekable and head.startswith(_ARROW_FILE)
    )
    if whole and not seekable:
        raise UnreadableFile(
            f"cannot read {format.capitalize()} from {name}; expected a file.",
            "Hand over its path.",
        )
    if seekable:
        stream.seek(start)
    if format in READ_ALONE:
        return _of_office(stream, name, format, path, sheet)
    if whole:
        if path is not None:
            stream = closing.enter_context(_native(path))
        return _READERS[format](stream, name, size, head)
    buffered = io.BufferedReader(
        stream if seekable else _Again(head, stream), _HEAD_BYTES
    )
    closing.callback(
        buffered.detach
    )  # the stream belongs to whoever opened it, and stays open
    return _READERS[format](buffered, name, size, head)


_READERS: dict[str, Callable[[Any, str, int | None, bytes], ColumnFile]] = {
    "parquet": lambda stream, name, _size, _head: _ParquetFile(stream, name),
    "arrow": _ArrowFile,
    "csv": _CsvFile,
    "ndjson": _NdjsonFile,
}
_PARQUET, _ARROW_FILE, _ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_OFFICE = {
    b"PK\x03\x04": "excel",
    b"$FL2": "spss",
    b"$FL3": "spss",
    b"<stata_dta>": "stata",
}

BINARY = (_PARQUET, _ARROW_FILE, _ARROW_STREAM, *_OFFICE)
"""How files begin that are no text."""


def _of_office(
    stream: Any, name: str, format: str, path: Path | None, sheet: str | None
) -> ColumnFile:
    from deniable.files.office import ExcelFile, StatisticsFile

    return (
        ExcelFile(stream, name, sheet)
        if format == "excel"
        else StatisticsFile(path or stream, name, format)
    )


def _native(path: Path) -> Any:
    """Open a file so that Arrow reads it without Python, and its threads do not wait for each other."""
    import pyarrow as pa

    return pa.OSFile(str(path), "rb")


def _begins(head: bytes) -> str:
    if head.startswith(_PARQUET):
        return "parquet"
    if head.startswith((_ARROW_FILE, _ARROW_STREAM)):
        return "arrow"
    if told := next(
        (format for begin, format in _OFFICE.items() if head.startswith(begin)), None
    ):
        return told
    return "ndjson" if head.lstrip().startswith(b"{") else "csv"


def _in_metadata(schema: pa.Schema, key: str) -> str | None:
    named = (schema.metadata or {}).get(key.encode())
    return None if named is None else named.decode(errors="replace")


class _Again(io.RawIOBase):
    """A stream that cannot go back, with what was read from it put in front again."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = len(buffer)
        piece = self._head[:room] or self._rest.read(room)
        self._head = self._head[room:]
        buffer[: len(piece)] = piece
        return len(piece)


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


def _unpacked(stream: Any, suffix: str) -> Any:
    import pyarrow as pa

    codec: Any = COMPRESSED[suffix]
    return pa.input_stream(stream, compression=codec)


def _position(stream: io.BufferedReader, size: int | None) -> float | None:
    return None if size is None else min(1.0, stream.tell() / max(1, size))
