"""Files of answers → files of responses, where the answers are; and files of responses → a tally. On any engine.

One file is written at once or not at all. A folder is written in parts, each of them once: see `files.journal`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.bulk.shuffles import Shuffler
from deniable.chance import Source
from deniable.designs import AnyDesign
from deniable.engines.answer_blocks import Block, Stretch, read_blocks
from deniable.engines.asked_columns import AskedColumns, ask, one_array
from deniable.engines.pipeline import ahead, in_order
from deniable.engines.response_files import tally_file
from deniable.errors import InvalidRequest, quoted
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
from deniable.files.inputs import Input, Paths, find_inputs
from deniable.files.writers import writing
from deniable.tallies.files import Progress

if TYPE_CHECKING:
    from deniable.engines import Engine

__all__ = ["PART_BYTES", "PART_ROWS", "WrittenResponses", "respond_file", "tally_file"]

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
        tuple(keep),
        _chosen(engine),
        source,
        not keep_order,
        format,
        answers_format,
    )
    job.check_keep()
    if not isinstance(answers, str | os.PathLike | Sequence):
        if folder:
            raise InvalidRequest(
                "a stream is read once; expected the name of a file to write, not of a folder."
            )
        return job.write_file(
            [Stretch(answers)], target, overwrite=overwrite, progress=progress
        )
    inputs = find_inputs(answers)
    _check_partitions(inputs, questions)
    if folder:
        _check_apart(inputs, target)
        return _respond_parts(job, inputs, target, progress)
    check_paths(inputs, target, overwrite=overwrite)
    return job.write_file(
        [Stretch(each) for each in inputs],
        target,
        overwrite=overwrite,
        progress=progress,
    )


def _chosen(engine: Engine | None) -> Engine:
    if engine is not None:
        return engine
    from deniable.engines.local.engine import Local

    return Local()


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

    def write_file(
        self,
        ranges: Sequence[Stretch],
        target: Path,
        *,
        overwrite: bool,
        progress: Progress | None,
    ) -> WrittenResponses:
        check_free(target, overwrite=overwrite)
        with closing(ahead(self.drawn(ranges, progress))) as drawn:
            first = next(
                drawn
            )  # before anything is written: most of what is wrong shows here
            with atomic_write(target, overwrite=overwrite) as file:
                self.write(chain([first], drawn), file, first.schema)
        return WrittenResponses(target, self.rows, self.missing)

    def write(self, drawn: Iterator[Any], file: Any, schema: Any) -> None:
        designs = {each.metadata_key: each.design.hash for each in self.questions}
        with writing(file, self.format, schema, designs) as writer:
            for batch in drawn:
                if len(batch):
                    writer.write(batch)

    def drawn(
        self, ranges: Sequence[Stretch], progress: Progress | None = None
    ) -> Generator[Any]:
        """Read, draw and hand over to whoever writes: steps that run at the same time."""
        labels = tuple(
            dict.fromkeys(name for each in self.questions for name in each.labels)
        )
        others = [name for each in self.questions for name in each.others]
        keep = tuple(dict.fromkeys([*others, *self.keep]))
        blocks = ahead(read_blocks(ranges, labels, keep, self.answers_format))
        own = threading.local()  # each thread draws with keys of its own
        with closing(
            in_order(
                blocks, partial(self._batch, own), getattr(self.engine, "threads", 1)
            )
        ) as batches:
            for batch, missing, share in batches:
                self.rows += len(batch)
                self.missing += missing
                if progress:
                    progress(self.rows, share)
                yield batch

    def _batch(self, own: Any, block: Block) -> tuple[Any, int, float | None]:
        """Draw the responses to a block, and put them into an order that tells nothing."""
        import pyarrow as pa

        if not hasattr(own, "draws"):
            own.draws = [
                each.drawing(self.engine, self.source) for each in self.questions
            ]
            own.shuffler = (
                Shuffler(self.source, getattr(self.engine, "fast", None))
                if self.shuffle
                else None
            )
        drawn = [draw(block) for draw in own.draws]
        columns: dict[str, Any] = {}
        for question, sent in zip(self.questions, drawn, strict=True):
            columns |= question.columns_of(sent, stored=self.format in TYPED)
        columns |= {name: one_array(block.table.column(name)) for name in self.keep}
        batch: Any = pa.record_batch(columns)
        if own.shuffler is not None:
            batch = batch.take(pa.array(own.shuffler.order(len(batch))))
        return self._with_designs(batch), _rows_missing(drawn), block.share

    def _with_designs(self, batch: Any) -> Any:
        """Name the designs in each row, behind all else: a CSV file that breaks off within a row shows it."""
        import pyarrow as pa

        named = {
            each.prefix + DESIGN: each.named(len(batch)) for each in self.questions
        }
        fields = [
            pa.field(name, array.type, nullable=False) for name, array in named.items()
        ]
        schema = pa.schema([*batch.schema, *fields])
        return pa.RecordBatch.from_arrays(
            [*batch.columns, *named.values()], schema=schema
        )

    def check_keep(self) -> None:
        """Refuse to keep the answers, or what would be taken for something else."""
        read = {name for each in self.questions for name in each.columns}
        written = {
            each.prefix + name
            for each in self.questions
            for name in (*each.design.columns, DESIGN)
        }
        for name in self.keep:
            if name in read:
                raise InvalidRequest(
                    f"the column {name!r} holds the answers and cannot be kept; expected other columns.",
                    "Beside its answer a response protects nobody.",
                )
            if name in written or self.keep.count(name) > 1:
                raise InvalidRequest(
                    f"the column {name!r} cannot be kept; expected different names, and none of "
                    f"{', '.join(map(repr, sorted(written)))}.",
                    "These are written by deniable. Rename the column first.",
                )

    def told(self) -> dict[str, Any]:
        """Return what makes this job this one: where it differs, responses are not of one job."""
        return {
            "questions": [each.told() for each in self.questions],
            "keep": list(self.keep),
            "keep_order": not self.shuffle,
            "format": self.format,
            "answers_format": self.answers_format,
        }


def _rows_missing(drawn: Sequence[Any]) -> int:
    gaps = [each.missing for each in drawn if each.missing is not None]
    if not gaps:
        return 0
    together = gaps[0].copy()
    for each in gaps[1:]:
        together |= each
    return int(together.sum())


# A folder, in parts


def _respond_parts(
    job: _Job, inputs: list[Input], out: Path, progress: Progress | None
) -> WrittenResponses:
    with journal.begun(out, lambda: {**job.told(), **_planned(job, inputs)}) as begun:
        _check_same(job, inputs, begun)
        parts: list[list[dict[str, Any]]] = begun.plan["parts"]
        known = {str(each.path): each for each in inputs}
        for number, part in enumerate(parts):
            name = f"part-{number:05}.{job.format}"
            if name not in begun.finished:
                _write_part(
                    job,
                    begun,
                    name,
                    [_range(each, known) for each in part],
                    _scaled(progress, number, parts),
                )
        rows, missing = (
            sum(line[what] for line in begun.finished.values())
            for what in ("rows", "missing")
        )
    return WrittenResponses(out, rows, missing)


def _write_part(
    job: _Job,
    begun: journal.Journal,
    name: str,
    ranges: list[Stretch],
    progress: Progress | None,
) -> None:
    before = job.rows, job.missing
    stamps = _stamps(ranges)

    def record() -> dict[str, Any]:
        if _stamps(ranges) != stamps:
            raise InvalidRequest(
                "a file was changed while its answers were read; expected it to stay.",
                "Run it again.",
            )
        return {
            "rows": job.rows - before[0],
            "missing": job.missing - before[1],
            "inputs": stamps,
        }

    with closing(ahead(job.drawn(ranges, progress))) as drawn:
        first = next(drawn)
        with begun.part(name, record) as file:
            job.write(chain([first], drawn), file, first.schema)


def _stamps(ranges: Sequence[Stretch]) -> dict[str, list[int]]:
    return {
        str(each.input.path): list(each.input.stamp)
        for each in ranges
        if isinstance(each.input, Input)
    }


def _planned(job: _Job, inputs: list[Input]) -> dict[str, Any]:
    """Divide the rows into parts, in an order drawn at random, so that a part's number tells nothing about its rows."""
    parts: list[list[dict[str, Any]]] = [[]]
    held = 0.0
    for each in inputs:
        for piece, share in _pieces(each, job.answers_format):
            if parts[-1] and held + share > 1:
                parts.append([])
                held = 0.0
            parts[-1].append(piece)
            held += share
    if job.shuffle:
        parts = [
            parts[number]
            for number in Shuffler(job.source, False).order(len(parts)).tolist()
        ]
    return {"inputs": [str(each.path) for each in inputs], "parts": parts}


def _pieces(given: Input, format: str | None) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield what of a file goes into one part, with how much of a part it fills."""
    with open_columns(given.path, format) as opened:
        rows = opened.pieces
    if sum(rows) <= PART_ROWS:
        size = sum(rows) / PART_ROWS if rows else given.stamp[0] / PART_BYTES
        yield {"path": str(given.path)}, size
        return
    start, held = 0, 0
    for number, count in enumerate(rows):
        held += count
        if held >= PART_ROWS or number == len(rows) - 1:
            yield (
                {
                    "path": str(given.path),
                    "pieces": [start, number + 1],
                    "stamp": list(given.stamp),
                },
                held / PART_ROWS,
            )
            start, held = number + 1, 0


def _range(told: Mapping[str, Any], known: Mapping[str, Input]) -> Stretch:
    pieces = told.get("pieces")
    return Stretch(known[told["path"]], None if pieces is None else range(*pieces))


def _scaled(
    progress: Progress | None, number: int, parts: Sequence[Any]
) -> Progress | None:
    """Tell how much of all parts is done."""
    if progress is None:
        return None
    tell: Callable[[int, float | None], None] = progress
    return lambda rows, share: tell(
        rows, None if share is None else (number + share) / len(parts)
    )


def _check_same(job: _Job, inputs: list[Input], begun: journal.Journal) -> None:
    """Refuse to go on with a job that was begun with something else."""
    differ = [
        name for name, value in job.told().items() if begun.plan.get(name) != value
    ]
    if differ:
        raise InvalidRequest(
            f"this folder was begun with other {' and '.join(each.replace('_', ' ') for each in differ)}; expected the "
            "same as before.",
            "Go on as it was begun; or choose another folder, and publish one of the two only: it draws anew.",
        )
    if sorted(begun.plan["inputs"]) != sorted(str(each.path) for each in inputs):
        raise InvalidRequest(
            "this folder was begun with other files of answers; expected the same as before.",
            "Respond to files that came later in a folder of their own.",
        )
    kept = {
        path: stamp
        for line in begun.finished.values()
        for path, stamp in line["inputs"].items()
    }
    kept |= {
        each["path"]: each["stamp"]
        for part in begun.plan["parts"]
        for each in part
        if "stamp" in each
    }
    for each in inputs:
        if str(each.path) in kept and kept[str(each.path)] != list(each.stamp):
            raise InvalidRequest(
                f"{each.path.name} has changed since responses to it were drawn; expected it as it was.",
                "To respond to what is in it now, choose another folder: all of it is drawn anew.",
            )


# What is refused before anything is read


def _format(target: Path, format: str | None) -> tuple[str, bool]:
    """Return the format to write, and whether it is a folder."""
    told = guess(target.name)
    packed = target.suffix.lower() in COMPRESSED
    if format is not None and format not in FORMATS:
        raise InvalidRequest(
            f"the format is {quoted(format, 20)}; expected one of {', '.join(FORMATS)}."
        )
    if told in FORMATS and not packed and not target.is_dir():
        return format or str(told), False
    if target.suffix and (packed or format is None):
        raise InvalidRequest(
            f"cannot tell how to write {target.name}; expected a name that ends in .parquet, .arrow, .csv or .ndjson, "
            "or without an ending for a folder."
        )
    return format or "parquet", not target.suffix


def check_paths(inputs: Sequence[Input], target: Path, *, overwrite: bool) -> None:
    """Refuse to write the responses over the answers, or over a file that exists."""
    for each in inputs:
        with suppress(FileNotFoundError):
            if target.samefile(each.path):
                raise InvalidRequest(
                    "the responses would replace the answers; expected another file."
                )
    check_free(target, overwrite=overwrite)


def _check_apart(inputs: Sequence[Input], out: Path) -> None:
    if any(out.resolve() in each.path.resolve().parents for each in inputs):
        raise InvalidRequest(
            "the responses would lie among the answers; expected another folder."
        )


def _check_partitions(
    inputs: Sequence[Input], questions: Sequence[AskedColumns]
) -> None:
    for name in (name for each in questions for name in each.columns):
        if name in inputs[0].named:
            raise InvalidRequest(
                f"the files are divided by {name!r}, which holds answers: which part a response is in would tell it; "
                "expected answers in a column.",
                "Write them to one file first, in an order that has nothing to do with the answers.",
            )
