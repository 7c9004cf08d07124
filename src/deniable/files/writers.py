"""Files of responses, written batch by batch in the formats that `deniable.tallies.files` reads."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from deniable.errors import InvalidRequest
from deniable.files.cells import safe_cell
from deniable.files.columns import DESIGN, RESPONSE
from deniable.files.spreadsheets import safe_batch

if TYPE_CHECKING:
    import pyarrow as pa


class Writer(ABC):
    """Writes batches of responses and what is kept beside them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""

    def finish(self) -> None:
        """Write what is held back, when all batches were handed over."""
        return

    def close(self) -> None:
        """Write what belongs at the end, also after an error."""
        return


class _ParquetWriter(Writer):
    """Rows are gathered to groups, of the size that PyArrow itself writes."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__(file)
        # Bits drawn at random cannot be compressed, and would only be read more slowly.
        packed = {
            field.name for field in schema if pa.types.is_fixed_size_binary(field.type)
        }
        options: Any = {
            "compression": {
                name: "none" if name in packed else "snappy" for name in schema.names
            },
            "use_dictionary": [name for name in schema.names if name not in packed],
        }
        self._schema = schema
        self._writer = pq.ParquetWriter(
            file, schema, write_page_checksum=True, **options
        )
        self._held: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        if (
            sum(map(len, self._held)) >= _GROUP_ROWS
            or sum(each.nbytes for each in self._held) >= _GROUP_BYTES
        ):
            self._write_held()

    def _write_held(self) -> None:
        import pyarrow as pa

        if self._held:
            table = pa.Table.from_batches(
                [each.cast(self._schema) for each in self._held]
            )
            self._held = []
            self._writer.write_table(table, row_group_size=table.num_rows)

    def finish(self) -> None:
        self._write_held()

    def close(self) -> None:
        self._writer.close()


class _ArrowWriter(Writer):
    """Arrow IPC, the file format: its batches are found by number."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        import pyarrow as pa

        super().__init__(file)
        self._schema = schema
        target: Any = file
        self._writer = pa.ipc.new_file(
            target, schema, options=pa.ipc.IpcWriteOptions(compression="lz4")
        )

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch.cast(self._schema))

    def close(self) -> None:
        self._writer.close()


class _CsvWriter(Writer):
    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        import pyarrow as pa
        import pyarrow.csv as pacsv

        super().__init__(file)
        plain = [
            field.with_type(_plain(field.type)).with_name(str(safe_cell(field.name)))
            for field in schema
        ]
        try:
            self._writer = pacsv.CSVWriter(file, pa.schema(plain))
        except pa.ArrowException:
            raise InvalidRequest(
                "a kept column is of a type that CSV cannot hold; expected text, numbers or dates.",
                "Write Parquet instead.",
            ) from None
        self._schema = pa.schema(plain)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(safe_batch(batch).cast(self._schema))

    def close(self) -> None:
        self._writer.close()


class _NdjsonWriter(Writer):
    def write(self, batch: pa.RecordBatch) -> None:
        names = batch.schema.names
        if names == [RESPONSE, DESIGN] and _coded(batch.schema.field(0)):
            self._file.write(b"".join(_equal_lines(batch)))
            return
        for row in batch.to_pylist():
            self._file.write(
                json.dumps(row, ensure_ascii=False, default=str).encode() + b"\n"
            )


@contextmanager
def writing(
    file: IO[bytes], format: str, schema: pa.Schema, designs: Mapping[str, str]
) -> Iterator[Writer]:
    """Begin a file of responses; its end is written when all went well.

    Args:
        file: where to write.
        format: one of `columns.FORMATS`.
        schema: of the batches.
        designs: for the metadata, under which key which design is named by its hash.
    """
    writer = _WRITERS[format](file, schema.with_metadata(dict(designs)))
    try:
        yield writer
        writer.finish()
    finally:
        writer.close()


_WRITERS: dict[str, Callable[[IO[bytes], Any], Writer]] = {
    "parquet": _ParquetWriter,
    "arrow": _ArrowWriter,
    "csv": _CsvWriter,
    "ndjson": lambda file, _schema: _NdjsonWriter(file),
}
_GROUP_ROWS = 1 << 20
_GROUP_BYTES = 1 << 26


def line(design: str, symbol: str | None) -> str:
    """Return a response as a line of NDJSON, without the line end.

    Example:
        >>> line("sha256:00", "yes")
        '{"response": "yes", "design": "sha256:00"}'
    """
    return json.dumps({RESPONSE: symbol, DESIGN: design}, ensure_ascii=False)


def _equal_lines(batch: Any) -> Iterator[bytes]:
    """Write each label once, and repeat it for its rows."""
    response, design = batch.column(RESPONSE), batch.column(DESIGN)[0].as_py()
    lines = [
        json.dumps({RESPONSE: label, DESIGN: design}, ensure_ascii=False).encode()
        + b"\n"
        for label in [*response.dictionary.to_pylist(), None]
    ]
    return map(
        lines.__getitem__, response.indices.fill_null(len(lines) - 1).to_pylist()
    )


def _coded(field: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(field.type))


def _plain(kind: Any) -> Any:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind
