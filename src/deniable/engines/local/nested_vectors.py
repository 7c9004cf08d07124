"""Sets drawn from other sets over arrays of words, in NumPy. `nested_kernels` holds the same function compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.channel.coding import Rows
from deniable.engines.local.words import WordArray

if TYPE_CHECKING:
    from deniable.engines.local.nested import Plans

Bits = NDArray[np.bool_]

_TOP = np.uint64((1 << 64) - 1)


def kinds(olds: Rows, own: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the kind of each known set: 2·size + (holds the answer); `own` is −1 where there is none."""
    ones = np.bitwise_count(olds).sum(axis=1, dtype=np.int64)
    there = np.maximum(own, 0)
    byte = olds[np.arange(len(olds)), there >> 3]
    held = (byte >> (there & 7).astype(np.uint8)) & np.uint8(1)
    return np.asarray(2 * ones + np.where(own < 0, 0, held), np.int64)


def nest(block: WordArray, olds: Rows, own: NDArray[np.int64], out: Rows, plans: Plans) -> bool:
    """Draw a set from each row; `own` is the answer, or −1. Return False where a word does not decide."""
    kind = kinds(olds, own)
    heads = np.ascontiguousarray(block[:, 0])
    bounds = plans.bounds[kind]
    if (bounds == heads[:, None]).any():
        return False
    way = (bounds < heads[:, None]).sum(axis=1)
    within, beyond = plans.within[kind, way], plans.beyond[kind, way]
    others = np.ones((len(olds), plans.size), np.bool_)
    rows, answered = np.arange(len(olds)), own >= 0
    others[rows[answered], own[answered]] = False
    known = np.unpackbits(olds, axis=1, count=plans.size, bitorder="little").view(np.bool_) & others
    free = plans.free[kind, way]
    known[free] = others[free]
    one = _picked(block[:, 1:], known, within, np.zeros_like(within))
    two = _picked(block[:, 1:], others & ~known, beyond, within)
    if one is None or two is None:
        return False
    found = one | two
    put_in = plans.inside[kind, way]
    found[rows[put_in], own[put_in]] = True
    out[:] = np.packbits(found, axis=1, bitorder="little")
    return True


def _picked(words: WordArray, pool: Bits, count: NDArray[np.int64], start: NDArray[np.int64]) -> Bits | None:
    """Pick so many members of each pool, with the words from a place on; None where one of these is thrown away."""
    members = pool.sum(axis=1)
    drawn = np.zeros((len(pool), pool.shape[1] + 1), np.bool_)  # by rank within the pool; the last place is nobody's
    for number in range(int(count.max(initial=0))):
        rows = np.flatnonzero(number < count)
        at = members[rows] - count[rows] + number
        total = (at + 1).astype(np.uint64)
        word = words[rows, start[rows] + number]
        scale = _TOP // total + (total & (total - np.uint64(1)) == 0)  # ⌊2^64 / total⌋; of 1 it is 0 here, not 2^64
        scale[total == 1] = _TOP
        pick = np.minimum(word // scale, at.astype(np.uint64)).astype(np.intp)
        # The words from scale·total on are thrown away; where that is 2^64 there are none.
        if ((word // scale > at.astype(np.uint64)) & (total > 1)).any():
            return None
        pick = np.where(drawn[rows, pick], at, pick)
        drawn[rows, pick] = True
    rank = np.where(pool, np.cumsum(pool, axis=1) - 1, pool.shape[1])
    return np.asarray(np.take_along_axis(drawn, rank, axis=1) & pool, np.bool_)
