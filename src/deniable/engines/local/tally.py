"""Step 3 over many rows: a column of responses → a Tally."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Sets
from deniable.designs import Design
from deniable.engines.local.choose import check_threads, compiled, workers
from deniable.tallies import Tally
from deniable.tallies import packed as sets
from deniable.tallies import tally as tally_any
from deniable.tallies.counting import count_codes

_CHUNK = 1 << 16  # codes that are checked and then counted while they are in the cache
_BLOCK = 1 << 22  # codes that a thread takes at a time
_MOST = 1 << 18  # symbols up to which four counts of each, in every thread, are no burden


def tally(design: Design, responses: Any, *, threads: int = 1, fast: bool | None = None) -> Tally:
    """Count responses, on this machine.

    An array of integers holds codes or packed rows, as `respond` returns them. Everything else (labels, columns of
    pandas, Polars or Arrow, arrays with gaps) is counted as `deniable.tally` counts it.

    Args:
        design: what the responses were drawn with.
        responses: what was sent.
        threads: how many to count on; more than one helps compiled kernels only.
        fast: True to demand compiled kernels, False to do without; by default they are used where Numba is
            installed and either loaded already or worth loading.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        MissingExtra: compiled kernels are demanded and Numba is not installed.

    Example:
        >>> from deniable.designs import warner
        >>> tally(warner(epsilon=1), np.array([1, 0, 1, 1], np.uint8)).counts
        array([1, 3])
    """
    check_threads(threads)
    if isinstance(design.channel, Sets) and _is_rows(responses):
        return _tally_sets(design, design.channel, responses, threads, fast)
    if not _is_codes(responses):
        return tally_any(design, responses)
    kernels = compiled(fast, responses.size)
    size = design.channel.responses
    if kernels is None or size > _MOST or size != design.channel.cells:
        return count_codes(design, responses)
    counts, lock = np.zeros(size, np.int64), Lock()

    def block(start: int) -> bool:
        part = _count(responses[start : start + _BLOCK], size, kernels.count)
        with lock:
            counts[:] += 0 if part is None else part
        return part is not None

    with workers(threads) as run:
        done = run(block, range(0, responses.size, _BLOCK))
    # Where a block holds a code out of range, the slower count finds the row and refuses it.
    return Tally(design, counts) if all(done) else count_codes(design, responses)


def _tally_sets(design: Design, channel: Sets, responses: Any, threads: int, fast: bool | None) -> Tally:
    """Count packed rows; where one is impossible, the slower count finds it and refuses it."""
    rows = sets.pack(channel, responses)
    if compiled(fast, rows.size) is None or sets.impossible(channel, rows) is not None:
        return tally_any(design, rows)
    from deniable.engines.local import set_kernels

    counts, lock = np.zeros(channel.cells, np.int64), Lock()
    places = np.zeros(channel.size + 1 if channel.by_size else 0, np.int64)
    if channel.by_size:
        places[list(channel.sizes)] = np.arange(len(channel.sizes))

    def block(start: int) -> None:
        part = np.zeros_like(counts)
        set_kernels.count(rows[start : start + step], places, part, channel.size)
        with lock:
            counts[:] += part

    step = max(1, _BLOCK * 8 // rows.shape[1])
    with workers(threads) as run:
        run(block, range(0, len(rows), step))
    return Tally(design, counts, respondents=len(rows))


def _is_rows(responses: Any) -> bool:
    return isinstance(responses, np.ndarray) and not isinstance(responses, np.ma.MaskedArray) and responses.ndim == 2


def _is_codes(responses: Any) -> bool:
    plain = isinstance(responses, np.ndarray) and not isinstance(responses, np.ma.MaskedArray)
    return plain and responses.ndim == 1 and responses.dtype.kind in "iu"


def _count(
    codes: NDArray[Any], size: int, count: Callable[[NDArray[Any], NDArray[np.int64]], None]
) -> NDArray[np.int64] | None:
    """Return how often each code occurs, or None where one is out of range."""
    counts = np.zeros((4, size), np.int64)
    for start in range(0, codes.size, _CHUNK):
        piece = np.ascontiguousarray(codes[start : start + _CHUNK], dtype=codes.dtype.newbyteorder("="))
        piece = piece.view(piece.dtype.str.replace("i", "u"))  # negative numbers are the largest unsigned ones
        if piece.max() >= size:
            return None
        count(piece, counts)
    return np.asarray(counts.sum(axis=0), np.int64)
