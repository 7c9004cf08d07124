"""The function of `toss_vectors`, compiled with Numba; the same words in, the same bits out.

Importing this module needs the `fast` extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from deniable.channel.bits import DIGITS
from deniable.engines.local.words import WordArray

if TYPE_CHECKING:
    from deniable.engines.local.tosses import Tosses

_ZERO, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)
_DIGITS = np.uint64(DIGITS)


def toss(words: WordArray, olds: WordArray, trues: WordArray, out: WordArray, tosses: Tosses) -> tuple[int, int, bool]:
    """Draw rows until the words run out or leave a bit open; return how many, the words they took, and which it was."""
    zero, stray, kept, hit = tosses.masks.T.copy()
    forms = zero, zero ^ stray, zero ^ kept, zero ^ stray ^ kept ^ hit
    rows, used, left_open = _toss(words, olds, trues, out, tosses.behind, *forms, tosses.bounds)
    return int(rows), int(used), bool(left_open)


@njit(nogil=True)  # type: ignore[untyped-decorator]  # Numba has no types
def _toss(
    words: Any,
    olds: Any,
    trues: Any,
    out: Any,
    behind: Any,
    base: Any,
    by_true: Any,
    by_old: Any,
    by_both: Any,
    bounds: Any,
) -> Any:
    have, blocks = np.uint64(words.size), np.uint64(out.shape[1])
    start = _ZERO
    for row in range(np.uint64(olds.shape[0])):
        follows = start + _DIGITS * blocks
        if follows > have:
            return row, start, False
        for block in range(blocks):
            was, true = olds[row, block], trues[row, block]
            both = was & true
            seen = behind if block + _ONE == blocks else _ZERO
            drawn, at = _ZERO, start + block
            for digit in range(_DIGITS):
                coins = words[at]
                value = base[digit] ^ (true & by_true[digit]) ^ (was & by_old[digit]) ^ (both & by_both[digit])
                drawn |= coins & ~seen & value
                seen |= coins
                at += blocks
            left = ~seen
            while left != _ZERO:
                if follows == have:
                    return row, start, False
                word = words[follows]
                follows += _ONE
                lowest = left & (~left + _ONE)
                bound = bounds[_TWO * np.uint64((was & lowest) != _ZERO) + np.uint64((true & lowest) != _ZERO)]
                if word == bound:
                    return row, start, True
                if word < bound:
                    drawn |= lowest
                left ^= lowest
            out[row, block] = drawn
        start = follows
    return np.uint64(olds.shape[0]), start, False
