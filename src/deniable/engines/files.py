"""A file of answers → a file of responses, on the machine of whoever holds the answers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.chance import Source
from deniable.designs import Design
from deniable.designs.labels import shown
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.files.atomic import atomic_write, check_free
from deniable.files.columns import DESIGN, FORMATS, RESPONSE, ColumnFile, guess, open_columns
from deniable.files.writers import Writer, writing
from deniable.tallies.arrow import is_text
from deniable.tallies.files import Progress

if TYPE_CHECKING:
    from deniable.engines.local.bulk import Responder


@dataclass(frozen=True, slots=True)
class WrittenResponses:
    """What was written: how many rows, and in how many of them nothing was sent."""

    path: Path
    rows: int
    missing: int


def respond_file(
    design: Design,
    answers: str | os.PathLike[str],
    column: str,
    responses: str | os.PathLike[str],
    *,
    keep: Sequence[str] = (),
    answers_format: str | None = None,
    format: str | None = None,
    source: Source | None = None,
    threads: int = 1,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> WrittenResponses:
    """Draw a response for each answer of a file, in constant memory, and write the responses to another.

    The responses stand in the order of the answers, so that this order must not hang together with them: shuffle
    answers that are sorted, or written group by group. Where an answer is missing the response is missing too: the
    file tells who did not answer, as every survey's file does; where that itself is sensitive, make it a
    category of the design. Every run draws anew, and reveals as much again: publish the responses of one run
    only. Nothing of the answers goes into the file but the columns that `keep` names, and the answers never do.

    Args:
        design: what to draw with.
        answers: a Parquet, CSV or NDJSON file. A whole number is the label that it writes: 3 is "3".
        column: which column holds the answers.
        responses: the file to write. It appears when it is complete; after an error nothing is left of it. Sets of
            categories are packed bits in Parquet, `FIXED_LEN_BYTE_ARRAY`; everything else is written as labels.
        keep: columns to carry over, such as a region. They are not protected in any way.
        answers_format: "parquet", "csv" or "ndjson"; by default told by the name.
        format: of the responses; by default told by the name.
        source: random bytes; the engine's secure source by default.
        threads: how many threads draw.
        overwrite: replace a file that exists.
        progress: told after each batch.

    Raises:
        InvalidAnswer: an answer that is no category of the design; the message names its row and does not repeat it.
        InvalidRequest: a column that is not there, a file that exists, a column to keep that may not be kept.
        UnreadableFile: the answers cannot be read.
        OSError: a file is not there, or may not be read or written.
    """
    target = Path(responses)
    format = _format(target, format)
    _check_keep(column, keep)
    _check_paths(Path(answers), target, overwrite=overwrite)
    from deniable.engines.local.bulk import Responder

    device = Responder(design, codes=True, source=source, threads=threads)
    packed = format == "parquet" and design.channel.coding.ndim > 1
    job = _Job(design, column, tuple(keep), device, packed)
    with open_columns(answers, answers_format) as columns:
        _check_columns(columns, column, keep)
        with atomic_write(target, overwrite=overwrite) as file:
            job.run(columns, file, format, progress)
    return WrittenResponses(target, job.rows, job.missing)


@dataclass
class _Job:
    design: Design
    column: str
    keep: tuple[str, ...]
    device: Responder
    packed: bool
    rows: int = 0
    missing: int = 0

    def run(self, columns: ColumnFile, file: Any, format: str, progress: Progress | None) -> None:
        import pyarrow as pa

        batches = columns.batches([self.column], self.keep)
        first = next(batches, None)
        if first is None:
            kept = [pa.array([], pa.string()) for _ in self.keep]
            first = pa.record_batch([pa.array([], pa.string()), *kept], names=[self.column, *self.keep])
        drawn = self._batch(columns, first)
        with writing(file, format, drawn.schema, self.design.hash) as writer:
            self._write(writer, drawn, columns, progress)
            for batch in batches:
                self._write(writer, self._batch(columns, batch), columns, progress)

    def _write(self, writer: Writer, drawn: Any, columns: ColumnFile, progress: Progress | None) -> None:
        if len(drawn):
            writer.write(drawn)
        if progress:
            progress(self.rows, columns.share)

    def _batch(self, columns: ColumnFile, batch: Any) -> Any:
        import pyarrow as pa

        numbers = self._numbers(columns, batch.column(self.column))
        present = numbers >= 0
        sent = self.device.draw(numbers[present])
        drawn = np.zeros((len(numbers), *sent.shape[1:]), sent.dtype)
        drawn[present] = sent
        self.rows += len(numbers)
        self.missing += int(len(numbers) - present.sum())
        named = pa.DictionaryArray.from_arrays(np.zeros(len(numbers), np.int32), pa.array([self.design.hash]))
        kept = [batch.column(name) for name in self.keep]
        return pa.record_batch([self._column(drawn, present), *kept, named], names=[RESPONSE, *self.keep, DESIGN])

    def _column(self, drawn: NDArray[Any], present: NDArray[np.bool_]) -> Any:
        coding = self.design.channel.coding
        if self.packed:
            return coding.to_arrow(drawn, present)
        return coding.labels(drawn, self.design.symbols, present)

    def _numbers(self, columns: ColumnFile, answers: Any) -> NDArray[np.int64]:
        """Return the numbers of the answers, −1 where there is none."""
        encoded = self._encoded(columns, answers)
        labels = encoded.dictionary.to_pylist()
        # One place behind the labels, which an index of −1 finds, is for rows without an answer.
        lookup = np.array([*(self._number(label) for label in labels), -1], np.int64)
        indices = encoded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
        numbers: NDArray[np.int64] = lookup[indices]
        if (numbers < -1).any():
            row = columns.row(self.rows + int((numbers < -1).argmax()))
            raise InvalidAnswer(
                f"the answer in {row} is not one of the design's; expected one of {shown(self.design.categories)}.",
                "Leave the cell empty where there is no answer.",
            )
        return numbers

    def _number(self, label: str) -> int:
        try:
            return self.design.category_number(label)
        except InvalidAnswer:
            return -2

    def _encoded(self, columns: ColumnFile, answers: Any) -> Any:
        import pyarrow as pa

        kind = answers.type
        if pa.types.is_dictionary(kind) and is_text(kind.value_type):
            return answers
        if pa.types.is_floating(kind):
            whole = _whole(answers)
            if whole is not None:
                answers, kind = whole, whole.type
        if pa.types.is_integer(kind) or pa.types.is_null(kind):
            return answers.cast(pa.string()).dictionary_encode()
        if is_text(kind):
            return answers.dictionary_encode()
        raise InvalidRequest(
            f"the column {self.column!r} of {columns.name} is of type {kind}; expected text or whole numbers.",
            f"Write the labels: {shown(self.design.categories)}.",
        )


def _whole(answers: Any) -> Any | None:
    """Return floats as integers, NaN as null; None where one of them has a fraction."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # pandas stores whole numbers as floats as soon as one of them is missing.
    filled = pc.if_else(pc.is_nan(answers), pa.scalar(None, answers.type), answers)
    try:
        return filled.cast(pa.int64())
    except pa.ArrowInvalid:
        return None


def _format(target: Path, format: str | None) -> str:
    chosen = format or guess(target.name)
    if chosen not in FORMATS or target.suffix.lower() in {".gz", ".bz2", ".zst", ".lz4"}:
        raise InvalidRequest(
            f"cannot tell how to write {target.name}; expected a name that ends in .parquet, .csv or .ndjson."
        )
    return chosen


def _check_keep(column: str, keep: Sequence[str]) -> None:
    if column in keep:
        raise InvalidRequest(
            f"the column {column!r} holds the answers and cannot be kept; expected other columns.",
            "Beside its answer a response protects nobody.",
        )
    for name in keep:
        if name in (RESPONSE, DESIGN) or list(keep).count(name) > 1:
            raise InvalidRequest(
                f"the column {name!r} cannot be kept; expected different names, and not {RESPONSE!r} or {DESIGN!r}.",
                "These two are written by deniable. Rename the column first.",
            )


def _check_paths(answers: Path, target: Path, *, overwrite: bool) -> None:
    if target.exists() and answers.exists() and target.samefile(answers):
        raise InvalidRequest("the responses would replace the answers; expected another file.")
    check_free(target, overwrite=overwrite)


def _check_columns(columns: ColumnFile, column: str, keep: Sequence[str]) -> None:
    for name in (column, *keep):
        # Where a header may be missing the columns stay unnamed: they could be somebody's answers.
        if columns.names is not None and columns.names.count(name) != 1:
            found = columns.names.count(name)
            raise InvalidRequest(
                f"{columns.name} has {found or 'no'} columns called {name!r}; expected one.",
                f"It has {', '.join(columns.names):.400}."
                if columns.named
                else f"Its first line should name its columns: head -1 {columns.name} shows it.",
            )
