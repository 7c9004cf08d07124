"""Files of answers → files of responses, where the answers are; and files of responses → a tally. On any engine.

One file is written at once or not at all. A folder is written in parts, each of them once: see `files.journal`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from deniable.bulk.shuffles import Shuffler
from deniable.chance import Source
from deniable.designs import AnyDesign
from deniable.engines import Engine
from deniable.engines.answer_blocks import Block, Stretch, read_blocks
from deniable.engines.asked_columns import AskedColumns, ask, check_keep, one_array
from deniable.engines.local.engine import Local
from deniable.engines.pipeline import in_order, prefetch
from deniable.engines.response_files import tally_file
from deniable.errors import InvalidRequest, read_names, require_choice
from deniable.files import journal
from deniable.files.atomic import atomic_write, check_free
from deniable.files.columns import (
    COMPRESSED,
    DESIGN,
    FORMATS,
    TYPED,
    File,
    guess,
    open_columns,
)
from deniable.files.inputs import Input, Paths, read_inputs
from deniable.files.writers import write_batches
from deniable.tallies.files import Progress

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "PART_BYTES",
    "PART_ROWS",
    "WrittenResponses",
    "respond_file",
    "tally_file",
]

PART_ROWS = 1 << 25
"""Rows after which a part ends, where the format tells how many there are."""

PART_BYTES = 1 << 28
"""Bytes after which a part ends, where it does not."""


@dataclass(frozen=True, slots=True)
class WrittenResponses:
    """What was written: how many rows, and in how many of them a response is missing."""

    path: Path
    rows: int
    missing: int


def respond_file(
    design: AnyDesign | Mapping[str, AnyDesign],
    answers: Paths | File,
    responses: str | os.PathLike[str],
    *,
    column: str | None = None,
    keep: Sequence[str] = (),
    codes: bool | None = None,
    cohorts: str | None = None,
    keep_order: bool = False,
    answers_format: str | None = None,
    format: str | None = None,
    source: Source | None = None,
    engine: Engine | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> WrittenResponses:
    """Draw a response for each answer of one file or of many, in constant memory, and write the responses.

    Rows are shuffled in blocks of 262,144 or more, and what is kept goes with them. Where answers are sorted over more
    rows than that, shuffle them before: which block a response is in would tell. Where an answer is missing the
    response is missing too: the file tells who did not answer, as every survey's file does; where that itself is
    sensitive, make it a category of the design. Nothing of the answers is written but the columns that `keep` names,
    and the answers never are.

    Guarantee: a name that ends in .parquet, .arrow, .csv or .ndjson is one file, which appears when it is complete, and
    after an error or a kill is not there. A name without an ending is a folder, written in parts: after an error or a
    kill the same call goes on, and no answer whose response was given out is drawn for again. Any other call draws
    anew, and reveals as much again: publish the responses of one only.

    Args:
        design: what to draw with; for several columns a mapping from each column to its design. The responses of one
            row then stay together, and reveal at most the sum of their ε.
        answers: Parquet, Arrow IPC, CSV or NDJSON: a file, a pattern, a folder, or several of them. In a folder that is
            partitioned, `region=north/…`, the columns that folders name can be kept.
        responses: the file or the folder to write. In Parquet and Arrow the columns of `deniable.Responses` in their
            stored form: codes, packed bits as binary values, a column for each stage; in CSV and NDJSON their labels.
            `design` names the design by its hash. Of several columns each has its name and a dot in front.
        column: which column holds the answers; None for a design of several attributes, whose columns are called as
            they are, and where `design` is a mapping.
        keep: columns to carry over, such as a region. They are not protected in any way.
        codes: what whole numbers are; True for codes, False for labels. By default they are codes, but labels where
            categories such as "1", "2", "3" are other numbers than their codes.
        cohorts: of strings: the column of the respondents' cohorts; by default they are drawn.
        keep_order: leave the rows in their order, which then tells whose response is whose to everybody who knows the
            order of the answers, and all of it where the answers are sorted.
        answers_format: of a file whose name does not tell its format.
        format: of the responses; by default told by the name, and of a folder "parquet".
        source: random bytes, for tests; the engine's secure source by default.
        engine: where the responses are drawn; this machine by default.
        overwrite: replace a file that exists. A folder is never replaced.
        progress: told after each batch.

    Raises:
        InvalidAnswer: an answer that the design does not know; the message names its row and does not repeat it.
        InvalidRequest: a column that is not there or may not be kept, a file that exists, or a folder that was begun
            with something else.
        UnreadableFile: the answers cannot be read, or what was written of a folder is gone.
        OSError: a file is not there, or may not be read or written.
    """
    target = Path(responses)
    format, folder = _format(target, format)
    questions = ask(design, column, codes=codes, cohorts=cohorts)
    job = _Job(
        questions,
        read_names(keep, "keep"),
        engine or Local(),
        source,
        not keep_order,
        format,
        answers_format,
    )
    check_keep(job.keep, questions)
    inputs = read_inputs(answers)
    _check_partitions(inputs, questions)
    if folder and not isinstance(inputs[0].file, Path):
        raise InvalidRequest(
            "a stream is read once; expected the name of a file to write, not of a folder."
        )
    if folder:
        _check_apart(inputs, target)
        return _respond_parts(job, inputs, target, progress)
    check_paths(inputs, target, overwrite=overwrite)
    with closing(
        prefetch(job.draw(list(map(Stretch, inputs)), progress))
    ) as batches:
        # Before anything is written: most of what is wrong shows here.
        first = next(batches)
        with atomic_write(target, overwrite=overwrite) as file:
            job.write(chain([first], batches), file)
    return WrittenResponses(target, job.rows, job.missing)


@dataclass
class _Job:
    questions: tuple[AskedColumns, ...]
    keep: tuple[str, ...]
    engine: Engine
    source: Source | None
    shuffle: bool
    format: str
    answers_format: str | None
    rows: int = 0
    missing: int = 0

    def write(self, batches: Iterable[pa.RecordBatch], file: IO[bytes]) -> None:
        """Write batches, of which there is one at least."""
        designs = {
            question.metadata_key: question.design.hash
            for question in self.questions
        }
        write_batches(batches, file, self.format, designs)

    def draw(
        self, ranges: Sequence[Stretch], progress: Progress | None = None
    ) -> Generator[pa.RecordBatch]:
        """Read, draw and hand over to whoever writes: steps that run at the same time."""
        labels = [name for question in self.questions for name in question.labels]
        unlabelled = [
            name for question in self.questions for name in question.others
        ]
        names = (
            tuple(dict.fromkeys(labels)),
            tuple(dict.fromkeys([*unlabelled, *self.keep])),
        )
        blocks = prefetch(read_blocks(ranges, *names, self.answers_format))
        # Each thread draws with keys of its own.
        draw = partial(self._draw_block, threading.local())
        threads = getattr(self.engine, "threads", 1)
        with closing(in_order(blocks, draw, threads)) as batches:
            for batch, missing, share in batches:
                self.rows += len(batch)
                self.missing += missing
                if progress:
                    progress(self.rows, share)
                yield batch

    def _draw_block(
        self, local: Any, block: Block
    ) -> tuple[pa.RecordBatch, int, float | None]:
        """Draw the responses to a block, and put them into an order that tells nothing."""
        import pyarrow as pa

        if not hasattr(local, "draws"):
            local.draws = [
                question.block_drawer(self.engine, self.source)
                for question in self.questions
            ]
            local.shuffler = Shuffler(
                self.source, getattr(self.engine, "fast", None)
            )
        responses = [draw(block) for draw in local.draws]
        columns: dict[str, Any] = {}
        for question, drawn in zip(self.questions, responses, strict=True):
            columns |= question.columns_of(drawn, stored=self.format in TYPED)
        columns |= {name: one_array(block.table.column(name)) for name in self.keep}
        batch: Any = pa.record_batch(columns)
        if self.shuffle:
            batch = batch.take(pa.array(local.shuffler.order(len(batch))))
        missing = np.logical_or.reduce([drawn.gaps for drawn in responses])
        return self._with_designs(batch), int(missing.sum()), block.share

    def _with_designs(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Name the designs in each row, behind all else: a CSV file that breaks off within a row shows it."""
        import pyarrow as pa

        schema, columns = batch.schema, batch.columns
        for question in self.questions:
            hashes = question.hashes(len(batch))
            name = question.prefix + DESIGN
            schema = schema.append(pa.field(name, hashes.type, nullable=False))
            columns.append(hashes)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def to_plan(self) -> dict[str, Any]:
        """Return what makes this job this one: where it differs, responses are not of one job."""
        return {
            "questions": [question.to_plan() for question in self.questions],
            "keep": list(self.keep),
            "keep_order": not self.shuffle,
            "format": self.format,
            "answers_format": self.answers_format,
        }


# A folder, in parts


def _respond_parts(
    job: _Job, inputs: list[Input], out: Path, progress: Progress | None
) -> WrittenResponses:
    with journal.begun(
        out, lambda: {**job.to_plan(), **_plan_parts(job, inputs)}
    ) as begun:
        _check_same(job, inputs, begun)
        parts: list[list[dict[str, Any]]] = begun.plan["parts"]
        by_path = {str(file.path): file for file in inputs}
        for number, entries in enumerate(parts):
            name = f"part-{number:05}.{job.format}"
            if name not in begun.finished:
                ranges = [_read_stretch(entry, by_path) for entry in entries]
                scaled = _scale_progress(progress, number, len(parts))
                _write_part(job, begun, name, ranges, scaled)
        rows, missing = (
            sum(line[key] for line in begun.finished.values())
            for key in ("rows", "missing")
        )
    return WrittenResponses(out, rows, missing)


def _write_part(
    job: _Job,
    begun: journal.Journal,
    name: str,
    ranges: list[Stretch],
    progress: Progress | None,
) -> None:
    rows, missing = job.rows, job.missing
    stamps = _stamps(ranges)

    def record() -> dict[str, Any]:
        if _stamps(ranges) != stamps:
            raise InvalidRequest(
                "a file was changed while its answers were read; expected it to stay.",
                "Run it again.",
            )
        counts = {"rows": job.rows - rows, "missing": job.missing - missing}
        return {**counts, "inputs": stamps}

    with closing(prefetch(job.draw(ranges, progress))) as batches:
        first = next(batches)
        with begun.part(name, record) as file:
            job.write(chain([first], batches), file)


def _stamps(ranges: Sequence[Stretch]) -> dict[str, list[int]]:
    inputs = [stretch.input for stretch in ranges]
    return {str(file.path): list(file.stamp) for file in inputs}


def _plan_parts(job: _Job, inputs: list[Input]) -> dict[str, Any]:
    """Divide the rows into parts, in an order drawn at random, so that a part's number tells nothing about its rows."""
    parts: list[list[dict[str, Any]]] = [[]]
    filled = 0.0
    for file in inputs:
        for entry, share in _divide_file(file, job.answers_format):
            if parts[-1] and filled + share > 1:
                parts.append([])
                filled = 0.0
            parts[-1].append(entry)
            filled += share
    if job.shuffle:
        order = Shuffler(job.source, False).order(len(parts))
        parts = [parts[number] for number in order.tolist()]
    return {"inputs": [str(file.path) for file in inputs], "parts": parts}


def _divide_file(
    file: Input, format: str | None
) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield what of a file goes into one part, with how much of a part it fills."""
    with open_columns(file.path, format) as opened:
        pieces = opened.pieces
    path = {"path": str(file.path)}
    if sum(pieces) <= PART_ROWS:
        yield path, sum(pieces) / PART_ROWS if pieces else file.stamp[0] / PART_BYTES
        return
    start, rows = 0, 0
    for end, count in enumerate(pieces, 1):
        rows += count
        if rows >= PART_ROWS or end == len(pieces):
            stretch = {"pieces": [start, end], "stamp": list(file.stamp)}
            yield path | stretch, rows / PART_ROWS
            start, rows = end, 0


def _read_stretch(entry: Mapping[str, Any], by_path: Mapping[str, Input]) -> Stretch:
    pieces = range(*entry["pieces"]) if "pieces" in entry else None
    return Stretch(by_path[entry["path"]], pieces)


def _scale_progress(
    progress: Progress | None, number: int, parts: int
) -> Progress | None:
    """Tell how much of all parts is done."""
    if progress is None:
        return None
    return lambda rows, share: progress(
        rows, None if share is None else (number + share) / parts
    )


def _check_same(job: _Job, inputs: list[Input], begun: journal.Journal) -> None:
    """Refuse to go on with a job that was begun with something else."""
    plan = begun.plan
    differ = [
        name for name, value in job.to_plan().items() if plan.get(name) != value
    ]
    if differ:
        names = " and ".join(name.replace("_", " ") for name in differ)
        raise InvalidRequest(
            f"this folder was begun with other {names}; expected the same as before.",
            "Go on as it was begun; or choose another folder, and publish one of the two only: it draws anew.",
        )
    if sorted(plan["inputs"]) != sorted(str(file.path) for file in inputs):
        raise InvalidRequest(
            "this folder was begun with other files of answers; expected the same as before.",
            "Respond to files that came later in a folder of their own.",
        )
    stamps: dict[str, list[int]] = {}
    for line in begun.finished.values():
        stamps |= line["inputs"]
    for entry in chain.from_iterable(plan["parts"]):
        if "stamp" in entry:
            stamps[entry["path"]] = entry["stamp"]
    for file in inputs:
        if stamps.get(str(file.path), list(file.stamp)) != list(file.stamp):
            raise InvalidRequest(
                f"{file.path.name} has changed since responses to it were drawn; expected it as it was.",
                "To respond to what is in it now, choose another folder: all of it is drawn anew.",
            )


# What is refused before anything is read


def _format(target: Path, format: str | None) -> tuple[str, bool]:
    """Return the format to write, and whether it is a folder."""
    guessed = guess(target.name)
    packed = target.suffix.lower() in COMPRESSED
    if format is not None:
        require_choice("the format is", format, FORMATS)
    if guessed in FORMATS and not packed and not target.is_dir():
        return format or str(guessed), False
    if target.suffix and (packed or format is None):
        raise InvalidRequest(
            f"cannot tell how to write {target.name}; expected a name that ends in .parquet, .arrow, .csv or .ndjson, "
            "or without an ending for a folder."
        )
    return format or "parquet", not target.suffix


def check_paths(inputs: Sequence[Input], target: Path, *, overwrite: bool) -> None:
    """Refuse to write the responses over the answers, or over a file that exists."""
    for file in inputs:
        with suppress(FileNotFoundError):
            if isinstance(file.file, Path) and target.samefile(file.file):
                raise InvalidRequest(
                    "the responses would replace the answers; expected another file."
                )
    check_free(target, overwrite=overwrite)


def _check_apart(inputs: Sequence[Input], out: Path) -> None:
    if any(out.resolve() in file.path.resolve().parents for file in inputs):
        raise InvalidRequest(
            "the responses would lie among the answers; expected another folder."
        )


def _check_partitions(
    inputs: Sequence[Input], questions: Sequence[AskedColumns]
) -> None:
    for name in (name for question in questions for name in question.columns):
        if name in inputs[0].named:
            raise InvalidRequest(
                f"the files are divided by {name!r}, which holds answers: which part a response is in would tell it; "
                "expected answers in a column.",
                "Write them to one file first, in an order that has nothing to do with the answers.",
            )
