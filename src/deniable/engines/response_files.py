"""Files of responses → a tally, for every type of design, on any engine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from deniable.designs import AnyDesign, Design
from deniable.engines import Engine
from deniable.engines.answer_blocks import Stretch
from deniable.engines.local.engine import Local
from deniable.engines.sql.queries import several
from deniable.errors import InvalidResponse
from deniable.files.columns import File, open_columns
from deniable.files.inputs import Input, Paths, read_inputs
from deniable.groups.collected import check_columns
from deniable.groups.tallies import check_groups, tallies_by_values
from deniable.tallies.counting import tally as tally_categories
from deniable.tallies.files import (
    Count,
    Progress,
    Values,
    count_weighted,
    counted_batches,
    metadata_key,
)
from deniable.tallies.responses import Responses
from deniable.tallies.weighted import WeightedTally
from deniable.types import operation

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 20  # rows that are counted at a time
_SHARES = (
    4  # stretches of a file for each thread, so that none waits long for another
)


def tally_file(
    design: AnyDesign,
    responses: Paths | File,
    format: str | None = None,
    *,
    question: str = "",
    codes: bool | None = None,
    by: str | Sequence[str] = (),
    weights: str | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Any:
    """Count the responses of one file or of many, in constant memory, for a design of any type.

    Args:
        design: what the responses were drawn with.
        responses: Parquet, Arrow IPC, CSV or NDJSON: a file, a pattern, a folder, several of them, or an open file.
        format: of files whose names do not tell.
        question: which of several questions; its columns are called `smokes.response` and so on.
        codes: what whole numbers are; True for codes, False for labels. By default codes, and refused where symbols
            that are numbers make the two differ and a file does not say that it is one of ours.
        by: columns, or what folders name, by whose values to count apart: a `GroupedTally` comes back, whose groups are
            called by text.
        weights: of categories and numbers: the column that holds how many people each row stands for; a `WeightedTally`
            comes back.
        engine: where to count; all cores of this machine by default.
        progress: told after each batch.

    Raises:
        Incompatible: the responses were drawn with another design.
        UnreadableFile: truncated, or not a file of responses.
        InvalidResponse: something that the design cannot send, or a weight that is missing, negative or no number.
        InvalidRequest: there is no such file, no such column of groups, groups of a deck, or weights of items.
        OSError: a file is not there, or may not be read.
    """
    engine = engine or Local(threads=os.cpu_count() or 1)
    groups = several(by)
    if groups:
        check_groups(design)
    count: Count = partial(_count, engine)
    options: dict[str, Any] = {"question": question, "codes": codes, "size": _BATCH}
    empty = operation(design, "TALLY").empty
    if weights is not None:
        count, empty = partial(count_weighted, weights), WeightedTally.empty
        options["beside"] = [weights]
    threads = getattr(engine, "threads", 1)
    stretches = list(_divide_files(read_inputs(responses), format, threads))
    counter = _StretchCounter(
        design, count, format, groups, options, len(stretches), progress
    )
    total: dict[Values, Any] = {}
    with ThreadPoolExecutor(max(1, min(threads, len(stretches)))) as pool:
        for tallies in pool.map(counter.count, stretches):
            add_tallies(total, tallies)
    if groups:
        return tallies_by_values(design, total, groups)
    return total[()] if total else empty(design)


def add_tallies(total: dict[Values, Any], tallies: Mapping[Values, Any]) -> None:
    """Add tallies to those of the same groups."""
    for group, tally in tallies.items():
        total[group] = total[group] + tally if group in total else tally


def _divide_files(
    inputs: Sequence[Input], format: str | None, threads: int
) -> Iterator[Stretch]:
    """Divide files into stretches that threads take one after another."""
    for file in inputs:
        pieces = 0
        if threads > 1 and isinstance(file.file, Path):
            with open_columns(file.file, format) as opened:
                pieces = len(opened.pieces)
        step = max(1, -(-pieces // (_SHARES * threads)))
        for start in range(0, pieces, step):
            yield Stretch(file, range(start, min(start + step, pieces)))
        if not pieces:
            yield Stretch(file)


@dataclass
class _StretchCounter:
    """Counts stretches of files by groups, and tells how far all of them are."""

    design: AnyDesign
    count_batch: Count
    format: str | None
    groups: tuple[str, ...]
    options: dict[str, Any]
    stretches: int
    progress: Progress | None
    rows: int = 0
    done: float = 0.0
    lock: Lock = field(default_factory=Lock)

    def count(self, stretch: Stretch) -> dict[Values, Any]:
        folders = stretch.input.named
        by = [name for name in self.groups if name not in folders]
        total: dict[Values, Any] = {}
        share: float | None = 0.0
        with stretch.open(self.format) as opened:
            check_columns(opened, by, by)
            before = stretch.first_row(opened)
            for rows, tallies in counted_batches(
                opened,
                self.design,
                self.count_batch,
                pieces=stretch.pieces,
                by=by,
                **self.options,
            ):
                for values, tally in tallies.items():
                    names = dict(zip(by, values, strict=True)) | folders
                    group = tuple(names[name] for name in self.groups)
                    add_tallies(total, {group: tally})
                earlier, share = share or 0.0, stretch.share(opened, rows)
                self._tell(
                    rows - before, (share or 0.0) - earlier, share is not None
                )
                before = rows
        self._tell(0, 1.0 - (share or 0.0), True)
        return total

    def _tell(self, rows: int, done: float, is_known: bool) -> None:
        if self.progress is None:
            return
        with self.lock:
            self.rows += rows
            self.done += done
            share = min(1.0, self.done / self.stretches) if is_known else None
            self.progress(self.rows, share)


def _count(
    engine: Engine, design: AnyDesign, batch: pa.RecordBatch, codes: bool | None
) -> Any:
    """Count a batch, in its stored form or as labels."""
    import pyarrow as pa

    columns = {name: _restore_type(batch.column(name)) for name in design.columns}
    kinds = [column.type for column in columns.values()]
    are_stored = all(
        pa.types.is_integer(kind) or pa.types.is_fixed_size_binary(kind)
        for kind in kinds
    )
    if codes is False or not are_stored:
        return operation(design, "count_labels")(design, columns)
    first = columns[design.columns[0]]
    if isinstance(design, Design) and design.channel.coding.ndim == 1:
        if codes is None:  # refuses what may be labels as well
            tally_categories(design, first.drop_null()[:1])
        if first.null_count == 0:
            return engine.tally(design, first.to_numpy())
    table: Any = pa.table(columns, metadata={metadata_key(): design.hash})
    responses = Responses.from_arrow(table, design)
    try:
        return engine.tally(design, responses)
    except InvalidResponse:
        # names the row, with those before it that are missing
        if isinstance(design, Design):
            tally_categories(design, first, codes=True)
        raise


def _restore_type(column: Any) -> Any:
    """Return a column as we write it, where another program has changed its type: pandas writes whole numbers with gaps

    as floats, Spark binary values without their size.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if pa.types.is_floating(column.type):
            nothing = pa.scalar(None, column.type)
            return pc.if_else(pc.is_nan(column), nothing, column).cast(pa.int64())
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            rows = column.drop_null()[:1].to_pylist()
            return column.cast(pa.binary(len(rows[0])) if rows else pa.null())
    except pa.ArrowException:
        raise InvalidResponse(
            f"a column of type {column.type} holds neither codes nor rows of one size; expected either."
        ) from None
    return column


def read_tally(text: bytes | str, design: AnyDesign) -> Any:
    """Read a tally of a design, with weights or without.

    Raises:
        UnreadableFile: truncated, edited, or of another version.
        IncompatibleTallies: it was counted under another design.
    """
    content = text.encode() if isinstance(text, str) else text
    is_weighted = f'"deniable/{WeightedTally.SCHEMA}/'.encode() in content
    if is_weighted and isinstance(design, Design):
        return WeightedTally.from_json(text, design)
    return operation(design, "TALLY").from_json(text, design)
