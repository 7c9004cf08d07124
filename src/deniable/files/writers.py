"""Files of responses, written batch by batch in the formats that `deniable.tallies.files` reads."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

from deniable.errors import InvalidRequest
from deniable.files.cells import safe_cell
from deniable.files.columns import DESIGN, RESPONSE
from deniable.files.spreadsheets import safe_batch

if TYPE_CHECKING:
    import pyarrow as pa


class Writer(ABC):
    """Writes batches of responses and what is kept beside them, as a schema says."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        self._file = file
        self._schema = schema

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""

    def finish(self) -> None:
        """Write what is held back, when all batches were handed over."""
        return

    def close(self) -> None:
        """Write what belongs at the end, also after an error."""
        return


class _ArrowWriter(Writer):
    """Arrow IPC, the file format: its batches are found by number. So are the others that PyArrow writes."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        super().__init__(file, schema)
        self._writer = self._open()

    def _open(self) -> Any:
        import pyarrow as pa

        options = pa.ipc.IpcWriteOptions(compression="lz4")
        target: Any = self._file
        return pa.ipc.new_file(target, self._schema, options=options)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch.cast(self._schema))

    def close(self) -> None:
        self._writer.close()


class _ParquetWriter(_ArrowWriter):
    """Rows are gathered to groups, of the size that PyArrow itself writes."""

    def _open(self) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._held: list[pa.RecordBatch] = []
        # Bits drawn at random cannot be compressed, and would only be read more slowly.
        plain = [
            column.name
            for column in self._schema
            if not pa.types.is_fixed_size_binary(column.type)
        ]
        options: Any = {
            "compression": dict.fromkeys(self._schema.names, "none")
            | dict.fromkeys(plain, "snappy"),
            "use_dictionary": plain,
        }
        return pq.ParquetWriter(
            self._file, self._schema, write_page_checksum=True, **options
        )

    def write(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch.cast(self._schema))
        if (
            sum(map(len, self._held)) >= _GROUP_ROWS
            or sum(held.nbytes for held in self._held) >= _GROUP_BYTES
        ):
            self.finish()

    def finish(self) -> None:
        import pyarrow as pa

        if self._held:
            table = pa.Table.from_batches(self._held)
            self._held = []
            self._writer.write_table(table, row_group_size=table.num_rows)


class _CsvWriter(_ArrowWriter):
    """Text in the cells, of which none is taken for a formula."""

    def _open(self) -> Any:
        import pyarrow as pa
        import pyarrow.csv as pacsv

        self._schema = pa.schema(
            [
                column.with_type(
                    column.type.value_type
                    if isinstance(column.type, pa.DictionaryType)
                    else column.type
                ).with_name(str(safe_cell(column.name)))
                for column in self._schema
            ]
        )
        try:
            return pacsv.CSVWriter(self._file, self._schema)
        except pa.ArrowException:
            raise InvalidRequest(
                "a kept column is of a type that CSV cannot hold; expected text, numbers or dates.",
                "Write Parquet instead.",
            ) from None

    def write(self, batch: pa.RecordBatch) -> None:
        super().write(safe_batch(batch))


class _NdjsonWriter(Writer):
    def write(self, batch: pa.RecordBatch) -> None:
        import pyarrow as pa

        coded = isinstance(batch.schema.field(0).type, pa.DictionaryType)
        if coded and batch.schema.names == [RESPONSE, DESIGN]:
            self._file.writelines(_equal_lines(batch))
            return
        for row in batch.to_pylist():
            self._file.write(
                json.dumps(row, ensure_ascii=False, default=str).encode() + b"\n"
            )


def write_batches(
    batches: Iterable[pa.RecordBatch],
    file: IO[bytes],
    format: str,
    designs: Mapping[str, str],
) -> None:
    """Write a file of responses; its end is written when all went well.

    Args:
        batches: the rows, in one batch at least, which may be empty.
        file: where to write.
        format: one of `columns.FORMATS`.
        designs: for the metadata, under which key which design is named by its hash.
    """
    remaining = iter(batches)
    first = next(remaining)
    writer = _WRITERS[format](file, first.schema.with_metadata(dict(designs)))
    try:
        for batch in chain([first], remaining):
            if len(batch):
                writer.write(batch)
        writer.finish()
    finally:
        writer.close()


_WRITERS: dict[str, Callable[[IO[bytes], Any], Writer]] = {
    "parquet": _ParquetWriter,
    "arrow": _ArrowWriter,
    "csv": _CsvWriter,
    "ndjson": _NdjsonWriter,
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
    responses, design = batch.column(RESPONSE), batch.column(DESIGN)[0].as_py()
    labels = [*responses.dictionary.to_pylist(), None]
    lines = [f"{line(design, label)}\n".encode() for label in labels]
    indices = responses.indices.fill_null(len(labels) - 1)
    return map(lines.__getitem__, indices.to_pylist())
