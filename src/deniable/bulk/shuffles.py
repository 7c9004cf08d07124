"""Rows in an order that tells nothing: every order equally likely, drawn with secure randomness."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bulk import vectors
from deniable.bulk.backend import choose_backend
from deniable.bulk.random_words import Words, permutation
from deniable.chance import Source

_SPARE = 64  # halves of words beyond those that are needed where none is thrown away


class Shuffler:
    """Draws orders one after another, compiled where that is worth it.

    Why every order is equally likely: row by row from the last, each changes places with one of those up to itself.
    Half a word h picks ⌊h·rows / 2³²⌋, and is thrown away where h·rows mod 2³² is below 2³² mod rows: every pick is
    left with equally many halves.

    Args:
        source: random bytes, for tests; by default a secure keystream.
        fast: True to demand compiled kernels, False to do without. The order, unlike responses, depends on it.
    """

    def __init__(
        self, source: Source | None = None, fast: bool | None = None
    ) -> None:
        self._source = source
        self._words = Words(source)
        self._fast = fast
        self._rows = 0

    def order(self, count: int) -> NDArray[Any]:
        """Return the numbers below a count in an order drawn at random.

        Example:
            >>> sorted(Shuffler().order(5).tolist())
            [0, 1, 2, 3, 4]
        """
        self._rows += count
        if choose_backend(self._fast, self._rows) is vectors or count >= 1 << 32:
            return permutation(count, self._source)
        order = np.arange(count, dtype=np.uint32)
        left = count
        while left > 1:
            words = (left + _SPARE) // 2
            buffer = self._words.room(words)
            self._words.fill(buffer, words)
            left = int(_compiled()(order, buffer[:words].view(np.uint32), left))
        return order


@cache
def _compiled() -> Any:
    from numba import njit

    return njit(nogil=True)(_swap)


def _swap(order: Any, halves: Any, left: int) -> int:
    """Shuffle until the halves of words run out; return how many rows, from the first, are still where they were."""
    for half in halves:
        if left < 2:
            break
        product = np.uint64(half) * np.uint64(left)
        low = product & np.uint64(0xFFFFFFFF)
        if low < np.uint64(left) and low < np.uint64(1 << 32) % np.uint64(left):
            continue
        pick = np.int64(product >> np.uint64(32))
        order[left - 1], order[pick] = order[pick], order[left - 1]
        left -= 1
    return left
