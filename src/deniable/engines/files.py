"""A file of answers → a file of responses, where the answers are; and a file of responses → a tally. On any engine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.chance import Source
from deniable.designs import Design
from deniable.designs.labels import shown
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.files.atomic import atomic_write, check_free
from deniable.files.columns import DESIGN, FORMATS, RESPONSE, ColumnFile, File, guess, open_columns
from deniable.files.writers import writing
from deniable.tallies.arrow import is_text
from deniable.tallies.files import Progress
from deniable.tallies.files import tally_file as count_file

if TYPE_CHECKING:
    from deniable.engines import Engine
    from deniable.tallies import Tally
    from deniable.tallies.responses import Responses


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
    engine: Engine | None = None,
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
        engine: where the responses are drawn; this machine by default.
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
    packed = format == "parquet" and design.channel.coding.ndim > 1
    job = _Job(design, column, tuple(keep), _chosen(engine), source, packed)
    with open_columns(answers, answers_format) as columns:
        _check_columns(columns, column, keep)
        with atomic_write(target, overwrite=overwrite) as file:
            job.run(columns, file, format, progress)
    return WrittenResponses(target, job.written, job.missing)


def tally_file(
    design: Design,
    file: File,
    format: str | None = None,
    *,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Tally:
    """Count the responses of a file, in constant memory, as `tallies.files.tally_file` does, on an engine."""
    return count_file(design, file, format, progress=progress, count=_chosen(engine).tally)


def _chosen(engine: Engine | None) -> Engine:
    if engine is not None:
        return engine
    from deniable.engines.local.engine import Local

    return Local()


@dataclass
class _Job:
    design: Design
    column: str
    keep: tuple[str, ...]
    engine: Engine
    source: Source | None
    packed: bool
    read: int = 0
    written: int = 0
    missing: int = 0

    def run(self, columns: ColumnFile, file: Any, format: str, progress: Progress | None) -> None:
        waiting: deque[Any] = deque()  # batches whose answers the engine has, and whose responses are not there yet
        drawn = self.engine.respond_stream(self.design, self._answers(columns, waiting), source=self.source, codes=True)
        first = self._batch(next(drawn), waiting)
        with writing(file, format, first.schema, self.design.hash) as writer:
            for batch in chain([first], (self._batch(each, waiting) for each in drawn)):
                if len(batch):
                    writer.write(batch)
                if progress:
                    progress(self.written, columns.share)

    def _answers(self, columns: ColumnFile, waiting: deque[Any]) -> Iterator[NDArray[Any]]:
        import pyarrow as pa

        none = [pa.array([], pa.string()) for _ in (self.column, *self.keep)]
        nothing = pa.record_batch(none, names=[self.column, *self.keep])
        batches = columns.batches([self.column], self.keep)
        for batch in chain([next(batches, nothing)], batches):
            numbers = self._numbers(columns, batch.column(self.column))
            self.read += len(numbers)
            waiting.append(batch)
            yield np.ma.MaskedArray(np.maximum(numbers, 0), numbers < 0)

    def _batch(self, drawn: Responses[Design], waiting: deque[Any]) -> Any:
        import pyarrow as pa

        batch = waiting.popleft()
        present = np.ones(len(drawn), np.bool_) if drawn.missing is None else ~drawn.missing
        self.written += len(drawn)
        self.missing += int(len(drawn) - present.sum())
        named = pa.DictionaryArray.from_arrays(np.zeros(len(drawn), np.int32), pa.array([self.design.hash]))
        kept = [batch.column(name) for name in self.keep]
        responses = self._column(drawn.columns["response"], present)
        return pa.record_batch([responses, *kept, named], names=[RESPONSE, *self.keep, DESIGN])

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
            row = columns.row(self.read + int((numbers < -1).argmax()))
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
