"""Files of responses, written batch by batch in the formats that `deniable.tallies.files` reads."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from deniable.errors import InvalidRequest
from deniable.files.columns import DESIGN, RESPONSE
from deniable.files.spreadsheets import safe_batch, safe_cell

if TYPE_CHECKING:
    import pyarrow as pa


class Writer(ABC):
    """Writes batches whose columns are `response`, those that are kept, and `design`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""

    def close(self) -> None:
        """Write what belongs at the end."""
        return


class _ParquetWriter(Writer):
    def __init__(self, file: IO[bytes], schema: pa.Schema, design: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__(file)
        self._metadata = {"deniable.design": design}
        named = schema.with_metadata(self._metadata)
        # Bits drawn at random cannot be compressed, and would only be read more slowly.
        packed = {field.name for field in schema if pa.types.is_fixed_size_binary(field.type)}
        options: Any = {
            "compression": {name: "none" if name in packed else "zstd" for name in schema.names},
            "use_dictionary": [name for name in schema.names if name not in packed],
        }
        self._writer = pq.ParquetWriter(file, named, write_page_checksum=True, **options)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch.replace_schema_metadata(self._metadata))

    def close(self) -> None:
        self._writer.close()


class _CsvWriter(Writer):
    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        import pyarrow as pa
        import pyarrow.csv as pacsv

        super().__init__(file)
        plain = [field.with_type(_plain(field.type)).with_name(str(safe_cell(field.name))) for field in schema]
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
        if names == [RESPONSE, DESIGN]:
            self._file.write(b"".join(_equal_lines(batch)))
            return
        for row in batch.to_pylist():
            self._file.write(json.dumps(row, ensure_ascii=False, default=str).encode() + b"\n")


@contextmanager
def writing(file: IO[bytes], format: str, schema: pa.Schema, design: str) -> Iterator[Writer]:
    """Begin a file of responses that names their design by its hash; its end is written when all went well."""
    writer: Writer
    if format == "parquet":
        writer = _ParquetWriter(file, schema, design)
    else:
        writer = _CsvWriter(file, schema) if format == "csv" else _NdjsonWriter(file)
    try:
        yield writer
    finally:
        writer.close()


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
        json.dumps({RESPONSE: label, DESIGN: design}, ensure_ascii=False).encode() + b"\n"
        for label in [*response.dictionary.to_pylist(), None]
    ]
    return map(lines.__getitem__, response.indices.fill_null(len(lines) - 1).to_pylist())


def _plain(kind: Any) -> Any:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind
