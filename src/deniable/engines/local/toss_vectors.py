"""Bits with four probabilities over arrays of words, in NumPy. `toss_kernels` holds the same function compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.channel.bits import DIGITS
from deniable.engines.local.words import WordArray

if TYPE_CHECKING:
    from deniable.engines.local.tosses import Tosses

_ONE = np.uint64(1)


def toss(words: WordArray, olds: WordArray, trues: WordArray, out: WordArray, tosses: Tosses) -> tuple[int, int, bool]:
    """Draw rows until the words run out or leave a bit open; return how many, the words they took, and which it was."""
    undecided = _undecided(words, tosses.blocks)
    starts, used = _starts(words, len(olds), undecided, tosses)
    if not len(starts):
        return 0, 0, False
    was, true = olds[: len(starts)], trues[: len(starts)]
    drawn = _decided(words, starts, was, true, tosses)
    first = _decide_open(words, starts, undecided, (was, true, drawn), tosses)
    if first >= 0:
        starts, used = starts[:first], int(starts[first])
    out[: len(starts)] = drawn[: len(starts)]
    return len(starts), used, first >= 0


def _undecided(words: WordArray, blocks: int) -> WordArray:
    """Return for each word, taken as the first coins of a block, which of its bits eight coins leave open."""
    seen, step = words, blocks
    for _ in range(DIGITS.bit_length() - 1):  # coins 1 and 2, then 1 to 4, then 1 to 8
        if len(seen) <= step:
            return seen[:0]
        seen, step = seen[:-step] | seen[step:], 2 * step
    return ~seen


def _starts(words: WordArray, rows: int, undecided: WordArray, tosses: Tosses) -> tuple[NDArray[np.int64], int]:
    """Return where the rows begin, and where the next one would: each takes its coins and a word for each open bit."""
    blocks = tosses.blocks
    last = np.bitwise_count(undecided & ~tosses.behind).astype(np.int64)[blocks - 1 :]
    sums = np.concatenate([[0], np.cumsum(np.bitwise_count(undecided), dtype=np.int64)])
    before = sums[blocks - 1 : blocks - 1 + len(last)] - sums[: len(last)]
    following, at = memoryview(np.arange(len(last)) + DIGITS * blocks + last + before), 0
    starts: list[int] = []
    while len(starts) < rows and at < len(last) and following[at] <= len(words):
        starts.append(at)
        at = following[at]
    return np.array(starts, np.int64), at


def _decided(words: WordArray, starts: NDArray[np.int64], was: WordArray, true: WordArray, tosses: Tosses) -> WordArray:
    """Return the bits that the eight coins decide; open ones are 0."""
    rows = words[starts[:, None] + np.arange(DIGITS * tosses.blocks)].reshape(-1, DIGITS, tosses.blocks)
    drawn = np.zeros_like(was)
    for digit in reversed(range(DIGITS)):  # an earlier coin overrules a later one
        coin = rows[:, digit]
        zero, stray, kept, hit = tosses.masks[digit]
        value = zero ^ (true & (zero ^ stray)) ^ (was & (zero ^ kept)) ^ (was & true & (zero ^ stray ^ kept ^ hit))
        drawn = drawn & ~coin | coin & value
    drawn[:, -1] &= ~tosses.behind
    return drawn


def _decide_open(
    words: WordArray,
    starts: NDArray[np.int64],
    undecided: WordArray,
    rows: tuple[WordArray, WordArray, WordArray],
    tosses: Tosses,
) -> int:
    """Decide the open bits, each by a word behind the coins; return the first row whose word does not, or −1."""
    was, true, drawn = rows
    left = undecided[starts[:, None] + np.arange(tosses.blocks)]
    left[:, -1] &= ~tosses.behind
    row, block = np.nonzero(left)
    each, place = np.nonzero(
        np.unpackbits(left[row, block].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    )
    row, block, shift = row[each], block[each], place.astype(np.uint64)
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    word = words[starts[row] + DIGITS * tosses.blocks + rank]
    kind = (was[row, block] >> shift & _ONE) * np.uint64(2) + (true[row, block] >> shift & _ONE)
    bounds = tosses.bounds[kind.astype(np.intp)]
    np.bitwise_or.at(drawn, (row, block), (word < bounds).astype(np.uint64) << shift)
    ties = word == bounds
    return int(row[ties.argmax()]) if ties.any() else -1
