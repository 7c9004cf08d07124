"""Files of edges → files of responses, on the machine that holds them. `engines.files.tally_file` counts them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from deniable.bulk.edges import COLUMNS, Edges, read_edges
from deniable.bulk.random_words import permutation
from deniable.engines import Engine
from deniable.engines.answer_blocks import empty_table
from deniable.engines.asked_columns import AskedColumns
from deniable.engines.local.engine import Local
from deniable.errors import InvalidRequest
from deniable.files.atomic import atomic_write
from deniable.files.columns import (
    COMPRESSED,
    DESIGN,
    FORMATS,
    RESPONSE,
    TYPED,
    File,
    guess,
    open_columns,
)
from deniable.files.writers import write_batches
from deniable.tallies.files import metadata_key
from deniable.tallies.responses import Responses
from deniable.types.key_value.draw import GraphDesign

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 16  # responses that are written at a time


def read_edge_file(
    design: GraphDesign,
    file: File,
    *,
    people: int | None = None,
    columns: tuple[str, str, str] = COLUMNS,
) -> Edges:
    """Read a Parquet, CSV or NDJSON file with a row for each edge.

    Raises:
        InvalidAnswer: a row that does not fit; only its number is told.
        InvalidRequest: a column that is not there.
        UnreadableFile: the file cannot be read.
        OSError: the file is not there, or may not be read.
    """
    import pyarrow as pa

    with open_columns(file) as opened:
        for name in columns:
            if opened.names is not None and opened.names.count(name) != 1:
                raise InvalidRequest(
                    f"{opened.name} has no single column called {name!r}; expected one."
                )
        batches = list(opened.batches(columns[:2], columns[2:]))
    table = pa.Table.from_batches(batches) if batches else empty_table(columns)
    return read_edges(design, table, people=people, columns=columns)


def respond_edges(
    design: GraphDesign,
    edges: Edges,
    responses: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    overwrite: bool = False,
) -> int:
    """Draw the response of each person and write them to a file of any format; return how many there are.

    Nothing of the edges goes into the file. The responses are shuffled: people stand in the order of their first edge,
    and whoever has none comes last, which would tell what no ε covers. Every run draws anew, and reveals as much again:
    publish the responses of one run only.

    Args:
        design: what to draw with.
        edges: who has what.
        responses: the file to write.
        engine: where the responses are drawn; this machine by default.
        overwrite: replace a file that exists.

    Raises:
        InvalidRequest: the name of the file does not tell a format, or it exists.
        OSError: the file may not be written.
    """
    target = Path(responses)
    format = guess(target.name)
    if format is None or target.suffix.lower() in COMPRESSED:
        raise InvalidRequest(
            f"cannot tell how to write {target.name}; expected a name in {', '.join(FORMATS)}."
        )
    drawn = (engine or Local()).respond_all(design, edges).columns[RESPONSE]
    drawn = drawn[permutation(len(drawn))]
    batches = (
        _build_batch(design, drawn[start : start + _BATCH], stored=format in TYPED)
        for start in range(0, max(len(drawn), 1), _BATCH)
    )
    with atomic_write(target, overwrite=overwrite) as file:
        write_batches(batches, file, format, {metadata_key(): design.hash})
    return len(drawn)


def _build_batch(
    design: GraphDesign, drawn: NDArray[Any], *, stored: bool
) -> pa.RecordBatch:
    import pyarrow as pa

    question = AskedColumns(design, ())
    columns: dict[str, Any] = dict(
        question.columns_of(Responses(design, {RESPONSE: drawn}), stored=stored)
    )
    return pa.record_batch({**columns, DESIGN: question.hashes(len(drawn))})
