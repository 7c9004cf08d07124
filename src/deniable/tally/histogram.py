"""How often each code occurs, at the speed of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 16  # codes that are widened at a time: half a megabyte, which stays in the cache


def count_into(counts: NDArray[np.int64], codes: NDArray[Any]) -> None:
    """Add how often each code occurs.

    Why chunks: `np.bincount` widens its whole argument to 64 bits first; a chunk stays in the cache while it does.

    Raises:
        OverflowError: a code is out of range.
    """
    size = len(counts)
    step = max(_CHUNK, 4 * size)  # so that adding up the parts costs less than counting them
    small = codes.dtype.kind == "u" and codes.dtype.itemsize <= 2
    for start in range(0, len(codes), step):
        piece = codes[start : start + step].astype(np.intp, copy=False)
        # Negative numbers are the largest unsigned ones. Small codes need no look ahead: bincount grows with them.
        if not small and piece.view(np.uintp).max() >= size:
            raise OverflowError
        part = np.bincount(piece)
        if len(part) > size:
            raise OverflowError
        counts[: len(part)] += part


def count_bytes(codes: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """Count bytes two at a time: a pair is one of 65,536, and each pair adds to both of its bytes.

    Raises:
        OverflowError: a code is out of range.
    """
    pairs = np.zeros(1 << 16, np.int64)
    even = len(codes) - len(codes) % 2
    count_into(pairs, codes[:even].view(np.uint16))
    table = pairs.reshape(256, 256)
    single = table.sum(axis=0) + table.sum(axis=1)
    if even < len(codes):
        single[codes[-1]] += 1
    if single[size:].any():
        raise OverflowError
    counts = np.zeros(size, np.int64)
    counts[: min(size, 256)] = single[:size]
    return counts
