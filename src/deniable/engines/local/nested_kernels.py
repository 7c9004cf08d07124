"""The function of `nested_vectors`, compiled with Numba; the same words in, the same sets out.

Importing this module needs the `fast` extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.channel.coding import Rows
from deniable.engines.local.nested_vectors import kinds
from deniable.engines.local.words import WordArray

if TYPE_CHECKING:
    from deniable.engines.local.nested import Plans

_ZERO, _ONE, _TOP = np.uint64(0), np.uint64(1), np.uint64((1 << 64) - 1)


def nest(block: WordArray, olds: Rows, own: NDArray[np.int64], out: Rows, plans: Plans) -> bool:
    """Draw a set from each row; `own` is the answer, or −1. Return False where a word does not decide."""
    kind = kinds(olds, own)
    ways = plans.bounds, plans.within, plans.beyond, plans.free, plans.inside
    return bool(_nest(block, np.ascontiguousarray(olds), own, kind, out, plans.size, *ways))


def _compiled(function: Any) -> Any:
    return njit(nogil=True)(function)


@_compiled
def _scale(total: Any) -> Any:
    """Return ⌊2^64 / total⌋ for a total of at least 2."""
    return _TOP // total + np.uint64(total & (total - _ONE) == _ZERO)


@_compiled
def _pick(words: Any, first: Any, members: Any, size: Any, count: Any, row: Any) -> Any:
    """Put so many of the first `size` members into a packed row, by Floyd's sampling; False where one is thrown away.

    Two pools share no member, so that what the row holds already tells which of this pool are in.
    """
    for number in range(count):
        at = size - count + number
        total = np.uint64(at + 1)
        pick = _ZERO
        if total > _ONE:
            pick = words[first + number] // _scale(total)
            if pick >= total:
                return False
        place = members[np.int64(pick)]
        byte, bit = place >> 3, np.uint8(1 << (place & 7))
        if row[byte] & bit:
            place = members[at]
            byte, bit = place >> 3, np.uint8(1 << (place & 7))
        row[byte] |= bit
    return True


@_compiled
def _nest(
    block: Any,
    olds: Any,
    own: Any,
    kind: Any,
    out: Any,
    size: Any,
    bounds: Any,
    within: Any,
    beyond: Any,
    free: Any,
    inside: Any,
) -> Any:
    known, others = np.empty(size, np.int64), np.empty(size, np.int64)
    for row in range(out.shape[0]):
        head, at = block[row, 0], kind[row]
        way = 0
        for each in range(bounds.shape[1]):
            if head == bounds[at, each]:
                return False
            way += head > bounds[at, each]
        inner = outer = 0
        for j in range(size):
            if j == own[row]:
                continue
            if free[at, way] or (olds[row, j >> 3] >> (j & 7)) & 1:
                known[inner] = j
                inner += 1
            else:
                others[outer] = j
                outer += 1
        out[row, :] = 0
        words = block[row]
        if not _pick(words, 1, known, inner, within[at, way], out[row]):
            return False
        if not _pick(words, 1 + within[at, way], others, outer, beyond[at, way], out[row]):
            return False
        if inside[at, way]:
            out[row, own[row] >> 3] |= np.uint8(1 << (own[row] & 7))
    return True
