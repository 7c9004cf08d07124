"""Files of responses → a tally, for every type of design, on any engine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from deniable.designs import AnyDesign, Design
from deniable.errors import InvalidResponse
from deniable.files.columns import File, open_columns
from deniable.files.inputs import Input, Paths, find_inputs
from deniable.groups.collected import check_columns
from deniable.groups.tallies import GroupedTally, check_groups, tallies_by_values
from deniable.tallies.counting import tally as tally_categories
from deniable.tallies.files import (
    Progress,
    count_weighted,
    counted_batches,
    metadata_key,
)
from deniable.tallies.responses import Responses
from deniable.tallies.weighted import WeightedTally
from deniable.types import operation

if TYPE_CHECKING:
    from deniable.engines import Engine

_BATCH = 1 << 20  # rows that are counted at a time
_SHARES = 4  # stretches of a file for each thread, so that none waits long for another


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
    chosen = _chosen(engine)
    count = partial(_count, chosen)
    options: dict[str, Any] = {"question": question, "codes": codes, "size": _BATCH}
    if weights is not None:
        count = partial(count_weighted, weights)
        options["beside"] = [weights]
    if by:
        names = (by,) if isinstance(by, str) else tuple(by)
        return _tally_groups(design, responses, names, format, count, options, progress)
    if not isinstance(responses, str | os.PathLike | Sequence):
        with open_columns(responses, format) as opened:
            parts = (
                part for _, part in counted_batches(opened, design, count, **options)
            )
            return sum(parts, start=_empty(design, weights))
    tasks = list(_tasks(find_inputs(responses), format, getattr(chosen, "threads", 1)))
    counter = _StretchCounter(design, count, format, options, len(tasks), progress)
    nobody = _empty(design, weights)
    with ThreadPoolExecutor(
        max(1, min(getattr(chosen, "threads", 1), len(tasks)))
    ) as pool:
        return sum(pool.map(counter.count, tasks), start=nobody)


def _tally_groups(
    design: AnyDesign,
    responses: Paths | File,
    by: tuple[str, ...],
    format: str | None,
    count: Any,
    options: dict[str, Any],
    progress: Progress | None,
) -> GroupedTally:
    check_groups(design)
    given = (
        find_inputs(responses)
        if isinstance(responses, str | os.PathLike | Sequence)
        else [responses]
    )
    total: dict[tuple[str | None, ...], Any] = {}
    for each in given:
        folders = each.named if isinstance(each, Input) else {}
        own = [name for name in by if name not in folders]
        with open_columns(
            each.path if isinstance(each, Input) else each, format
        ) as opened:
            check_columns(opened, own, own)
            for rows, part in counted_batches(opened, design, count, by=own, **options):
                for values, tally in (part if own else {(): part}).items():
                    found = dict(zip(own, values, strict=True)) | folders
                    group = tuple(found[name] for name in by)
                    total[group] = total[group] + tally if group in total else tally
                if progress:
                    progress(rows, opened.share)
    return tallies_by_values(design, total, by)


def _chosen(engine: Engine | None) -> Engine:
    if engine is not None:
        return engine
    from deniable.engines.local.engine import Local

    return Local(threads=os.cpu_count() or 1)


def _tasks(
    inputs: Sequence[Input], format: str | None, threads: int
) -> Iterator[tuple[Input, range | None]]:
    """Divide files into stretches that threads take one after another."""
    for each in inputs:
        if threads == 1:
            yield each, None
            continue
        with open_columns(each.path, format) as opened:
            pieces = len(opened.pieces)
        step = max(1, -(-pieces // (_SHARES * threads)))
        yield from (
            (each, range(start, min(start + step, pieces)))
            for start in range(0, pieces, step)
        )
        if not pieces:
            yield each, None


class _StretchCounter:
    """Counts stretches of files, and tells how far all of them are."""

    def __init__(
        self,
        design: AnyDesign,
        count: Any,
        format: str | None,
        options: dict[str, Any],
        tasks: int,
        progress: Any,
    ) -> None:
        self._design = design
        self._count = count
        self._format = format
        self._options = options
        self._tasks = tasks
        self._progress = progress
        self._rows = 0
        self._done = 0.0
        self._lock = Lock()

    def count(self, task: tuple[Input, range | None]) -> Any:
        given, pieces = task
        total, seen = 0, 0.0
        with open_columns(given.path, self._format) as opened:
            first = sum(opened.pieces[: pieces.start]) if pieces is not None else 0
            rows = sum(opened.pieces[at] for at in pieces or range(len(opened.pieces)))
            before = first
            for read, part in counted_batches(
                opened, self._design, self._count, pieces=pieces, **self._options
            ):
                total = total + part
                share = (read - first) / rows if rows else opened.share
                self._tell(
                    read - before, (share or 0.0) - seen, known=share is not None
                )
                before, seen = read, share or 0.0
        self._tell(0, 1.0 - seen, known=True)
        return total

    def _tell(self, rows: int, done: float, *, known: bool) -> None:
        if self._progress:
            with self._lock:
                self._rows += rows
                self._done += done
                self._progress(
                    self._rows, min(1.0, self._done / self._tasks) if known else None
                )


def _count(engine: Engine, design: AnyDesign, batch: Any, codes: bool | None) -> Any:
    """Count a batch, in its stored form or as labels."""
    columns: dict[str, Any] = {
        name: _settled(batch.column(name)) for name in design.columns
    }
    if codes is False or not all(
        _is_stored(column.type) for column in columns.values()
    ):
        return operation(design, "count_labels")(design, columns)
    first = columns[design.columns[0]]
    if isinstance(design, Design) and design.channel.coding.ndim == 1:
        if codes is None:
            tally_categories(
                design, first.drop_null()[:1]
            )  # refuses what may be labels as well
        if first.null_count == 0:
            return engine.tally(design, first.to_numpy())
    return engine.tally(design, _responses(design, columns))


def _responses(design: AnyDesign, columns: Mapping[str, Any]) -> Responses[Any]:
    import pyarrow as pa

    named: Any = pa.table(dict(columns), metadata={metadata_key(): design.hash})
    return Responses.from_arrow(named, design)


def _settled(column: Any) -> Any:
    """Return a column as we write it, where another program has changed its type: pandas writes whole numbers with gaps

    as floats, Spark binary values without their size.
    """
    import pyarrow as pa

    try:
        if pa.types.is_floating(column.type):
            return _whole(column)
        if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
            sizes = {len(each) for each in column.drop_null()[:1].to_pylist()}
            return (
                column.cast(pa.binary(sizes.pop())) if sizes else column.cast(pa.null())
            )
    except pa.ArrowException:
        raise InvalidResponse(
            f"a column of type {column.type} holds neither codes nor rows of one size; expected either."
        ) from None
    return column


def _whole(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column).cast(
        pa.int64()
    )


def _is_stored(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_fixed_size_binary(kind))


def read_tally(text: bytes | str, design: AnyDesign) -> Any:
    """Read a tally of a design, with weights or without.

    Raises:
        UnreadableFile: truncated, edited, or of another version.
        IncompatibleTallies: it was counted under another design.
    """
    content = text.encode() if isinstance(text, str) else text
    if (
        isinstance(design, Design)
        and f'"deniable/{WeightedTally.SCHEMA}/'.encode() in content
    ):
        return WeightedTally.from_json(text, design)
    return operation(design, "TALLY").from_json(text, design)


def _empty(design: AnyDesign, weights: str | None) -> Any:
    if weights is not None and isinstance(design, Design):
        return WeightedTally.empty(design)
    return operation(design, "TALLY").empty(design)
