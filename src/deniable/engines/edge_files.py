"""Files of edges → files of responses, on the machine that holds the edges; and files of responses → tallies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.engines import Engine
from deniable.engines.local.edges import COLUMNS, Edges, read_edges
from deniable.engines.local.engine import Local
from deniable.engines.local.key_value import GraphDesign, GraphTally
from deniable.engines.local.words import shuffled
from deniable.errors import InvalidRequest, InvalidResponse, UnreadableFile
from deniable.files.atomic import atomic_write, check_free
from deniable.files.columns import DESIGN, FORMATS, RESPONSE, File, guess, open_columns
from deniable.files.writers import writing
from deniable.records.edges.designs import EdgeDesign
from deniable.records.edges.tallies import EdgeTally
from deniable.records.edges.tallies import tally as tally_edges
from deniable.records.key_value.designs import KeyValueDesign
from deniable.records.key_value.tallies import KeyValueTally
from deniable.records.key_value.tallies import tally as tally_keyvalue
from deniable.tallies.files import foreign

_BATCH = 1 << 16  # responses that are written at a time


def read_edge_file(
    design: GraphDesign, file: File, *, people: int | None = None, columns: tuple[str, str, str] = COLUMNS
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
                raise InvalidRequest(f"{opened.name} has no single column called {name!r}; expected one.")
        batches = list(opened.batches(columns[:2], columns[2:]))
    if not batches:
        empty: Any = {name: pa.array([], pa.string()) for name in columns}
        return read_edges(design, pa.table(empty), people=people, columns=columns)
    return read_edges(design, pa.Table.from_batches(batches), people=people, columns=columns)


def respond_edges(
    design: GraphDesign,
    edges: Edges,
    responses: str | os.PathLike[str],
    *,
    engine: Engine | None = None,
    overwrite: bool = False,
) -> int:
    """Draw the response of each person and write them to a Parquet, CSV or NDJSON file; return how many there are.

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
    import pyarrow as pa

    target = Path(responses)
    format = guess(target.name)
    if format not in FORMATS:
        raise InvalidRequest(f"cannot tell how to write {target.name}; expected a name in .parquet, .csv or .ndjson.")
    check_free(target, overwrite=overwrite)
    drawn = (engine or Local()).respond_all(design, edges).columns["response"]
    drawn = drawn[shuffled(len(drawn))]
    schema = pa.schema([(RESPONSE, _text()), (DESIGN, _text())])
    with atomic_write(target, overwrite=overwrite) as file, writing(file, format, schema, design.hash) as writer:
        for batch in _batches(design, drawn):
            writer.write(batch)
    return len(drawn)


def tally_edge_file(design: GraphDesign, file: File) -> GraphTally:
    """Count the responses of a file, in constant memory.

    Raises:
        Incompatible: the responses were drawn with another design.
        InvalidResponse: something the design cannot send; the message names the row.
        UnreadableFile: truncated, or not a file of responses.
        OSError: the file is not there, or may not be read.
    """
    total: Any = KeyValueTally.empty(design) if isinstance(design, KeyValueDesign) else EdgeTally.empty(design)
    with open_columns(file) as opened:
        named: Any = design
        if opened.design is not None and opened.design != design.hash:
            raise foreign(opened.name, opened.design, named)
        if opened.names is not None and not {RESPONSE, DESIGN} <= set(opened.names):
            raise UnreadableFile(f"{opened.name} has no columns {RESPONSE!r} and {DESIGN!r}; expected both.")
        rows = 0
        for batch in opened.batches([RESPONSE, DESIGN]):
            for offset, each in enumerate(batch.column(DESIGN).to_pylist()):
                if each != design.hash:
                    raise foreign(opened.row(rows + offset), str(each), named)
            try:
                total = total + _count(design, batch.column(RESPONSE).to_pylist())
            except InvalidResponse as error:
                raise InvalidResponse(f"{opened.name}, after row {rows:,}: {error.problem}", error.hint) from None
            rows += len(batch)
    counted: GraphTally = total
    return counted


def _count(design: GraphDesign, responses: list[Any]) -> GraphTally:
    if isinstance(design, EdgeDesign):
        return tally_edges(design, responses)
    items = len(design.items)
    if design.scheme.KIND == "unary" and all(isinstance(each, str) and len(each) == items for each in responses):
        letters = np.frombuffer("".join(responses).encode("latin-1", errors="replace"), np.uint8)
        symbols = _SYMBOLS[letters].reshape(len(responses), items)
        if symbols.max(initial=0) <= 2:
            return tally_keyvalue(design, symbols)
    return tally_keyvalue(design, responses)


_SYMBOLS: NDArray[np.uint8] = np.full(256, 9, np.uint8)
for _number, _mark in enumerate(b"0+-"):
    _SYMBOLS[_mark] = _number


def _text() -> Any:
    import pyarrow as pa

    return pa.dictionary(pa.int32(), pa.string())


def _batches(design: GraphDesign, drawn: NDArray[Any]) -> Iterator[Any]:
    import pyarrow as pa

    names = pa.array([design.hash])
    for start in range(0, max(len(drawn), 1), _BATCH):
        piece = drawn[start : start + _BATCH]
        used, indices = _labels(design, piece)
        sent = pa.DictionaryArray.from_arrays(indices.astype(np.int32), pa.array(used, pa.string()))
        named = pa.DictionaryArray.from_arrays(np.zeros(len(piece), np.int32), names)
        yield pa.record_batch([sent, named], names=[RESPONSE, DESIGN])


def _labels(design: GraphDesign, piece: NDArray[Any]) -> tuple[list[str], NDArray[Any]]:
    if piece.ndim == 2:
        text = np.frombuffer(b"0+-", np.uint8)[piece].tobytes().decode()
        width = piece.shape[1]
        return [text[at : at + width] for at in range(0, len(text), width)], np.arange(len(piece))
    used, indices = np.unique(piece, return_inverse=True)
    return [design.symbol(number) for number in used.tolist()], indices
