"""The functions of `set_vectors`, compiled with Numba, and the count of packed rows.

Importing this module needs the `fast` extra. Indices are unsigned throughout: Numba then leaves out the check for
negative ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.channel.bits import DIGITS
from deniable.channel.coding import GROUP, SPREAD, Rows
from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import CHUNK, WordArray

if TYPE_CHECKING:
    from deniable.engines.local.sets import Coins, Picks

WORDS = CHUNK
"""Words that `bits` is best given at a time."""

_ZERO, _ONE, _SIX, _EIGHT, _HALF, _LOW = (np.uint64(number) for number in (0, 1, 6, 8, 32, 63))
_DIGITS, _GROUP, _BYTE = np.uint64(DIGITS), np.uint64(GROUP), np.uint64(255)
_EVEN = np.uint64(0x00FF00FF00FF00FF)


def bits(words: WordArray, answers: Codes, out: Rows, coins: Coins) -> tuple[int, int]:
    """Draw bits for answers until the words run out; return how many rows are done, and the words they took."""
    drawn = _as_words(out, coins.blocks)
    # Where the two thresholds have different digits: the answer's own bit takes the other one.
    differ = coins.stray ^ coins.hit
    thresholds = (coins.stray_rest, coins.hit_rest, coins.last)
    rows, used = _bits(words, answers, drawn, coins.behind, coins.stray, differ, *thresholds)
    _as_bytes(drawn, out, int(rows))
    return int(rows), int(used)


def fill(
    words: WordArray, answers: Codes, own: NDArray[np.bool_], wanted: NDArray[np.int64], out: Rows, picks: Picks
) -> bool:
    """Write sets of `wanted` others, with the answer where it is in; return False where a word is thrown away."""
    drawn = _as_words(out, -(-picks.size // 64))
    division = (picks.divisors, picks.reciprocals, picks.shifts, picks.lasts)
    good = _fill(words, answers, own, wanted, drawn, picks.size - 1, *division)
    _as_bytes(drawn, out, len(out))
    return bool(good)


def count(rows: Rows, places: NDArray[np.int64], counts: NDArray[np.int64], size: int) -> None:
    """Add packed rows to the counts of a tally.

    Args:
        rows: packed rows that the channel can send.
        places: for each number of ones, which size of the tally it is; empty where sizes are not told apart.
        counts: the cells of the tally.
        size: how many categories there are.
    """
    rows = np.ascontiguousarray(rows)
    if len(places):
        table = counts.reshape(-1, size + 1)
        _count_by_size(rows, SPREAD, places, table, np.zeros((len(table), rows.shape[1]), np.uint64))
    else:
        _count(rows, SPREAD, counts, np.zeros(rows.shape[1], np.uint64))


def _as_words(out: Rows, blocks: int) -> WordArray:
    """Return packed rows as words: themselves where they fill whole words, else scratch."""
    if out.shape[1] == 8 * blocks and out.flags.c_contiguous:
        return out.view(np.uint64)
    return np.empty((len(out), blocks), np.uint64)


def _as_bytes(drawn: WordArray, out: Rows, rows: int) -> None:
    if not np.may_share_memory(drawn, out):
        out[:rows] = drawn[:rows].astype("<u8", copy=False).view(np.uint8)[:, : out.shape[1]]


def _compiled(function: Any) -> Any:
    return njit(nogil=True)(function)


@_compiled
def _bits(
    words: Any, answers: Any, out: Any, behind: Any, stray: Any, differ: Any, stray_rest: Any, hit_rest: Any, last: Any
) -> Any:
    have, blocks = np.uint64(words.size), np.uint64(out.shape[1])
    start = _ZERO
    for row in range(np.uint64(answers.size)):
        follows = start + _DIGITS * blocks
        if follows > have:
            return row, start
        answer = np.uint64(answers[row])
        for block in range(blocks):
            own = np.uint64(answer >> _SIX == block) << (answer & _LOW)
            seen = behind if block + _ONE == blocks else _ZERO
            drawn, at = _ZERO, start + block
            for digit in range(_DIGITS):
                coins = words[at]
                drawn |= coins & ~seen & (stray[digit] ^ (differ[digit] & own))
                seen |= coins
                at += blocks
            left = ~seen
            while left != _ZERO:
                if follows == have:
                    return row, start
                word = words[follows]
                follows += _ONE
                if word > last:
                    continue
                lowest = left & (~left + _ONE)
                if word < (hit_rest if lowest == own else stray_rest):
                    drawn |= lowest
                left ^= lowest
            out[row, block] = drawn
        start = follows
    return np.uint64(answers.size), start


@_compiled
def _fill(
    words: Any,
    answers: Any,
    own: Any,
    wanted: Any,
    out: Any,
    others: Any,
    divisors: Any,
    reciprocals: Any,
    shifts: Any,
    lasts: Any,
) -> Any:
    steps, blocks = np.uint64(divisors.size), np.uint64(out.shape[1])
    picks = np.empty(divisors.size, np.uint64)
    thrown = _ZERO
    for row in range(np.uint64(answers.size)):
        for step in range(steps):  # a loop of its own, which runs several at a time
            word = words[row, step]
            thrown |= np.uint64(word > lasts[step])
            pick = ((word >> _HALF) * reciprocals[step]) >> shifts[step]
            picks[step] = pick + np.uint64(word - pick * divisors[step] >= divisors[step])
        for block in range(blocks):
            out[row, block] = _ZERO
        for step in range(steps - np.uint64(wanted[row]), steps):
            at = np.uint64(others) - steps + step
            pick = min(picks[step], at)
            taken = (out[row, pick >> _SIX] >> (pick & _LOW)) & _ONE
            pick ^= (pick ^ at) & (_ZERO - taken)  # without a branch, which nobody could foresee
            out[row, pick >> _SIX] |= _ONE << (pick & _LOW)
        _make_room(out[row], np.uint64(answers[row]), np.uint64(own[row]))
    return thrown == _ZERO


@_compiled
def _make_room(members: Any, answer: Any, own: Any) -> None:
    """Move others from the answer's number on up by one, and put the answer in or not."""
    block, place = answer >> _SIX, answer & _LOW
    at = np.uint64(members.size) - _ONE
    while at > block:
        members[at] = (members[at] << _ONE) | (members[at - _ONE] >> _LOW)
        at -= _ONE
    lower = members[block] & ((_ONE << place) - _ONE)
    members[block] = lower | (own << place) | ((members[block] ^ lower) << _ONE)


@_compiled
def _count(rows: Any, spread: Any, counts: Any, sums: Any) -> None:
    number, width = np.uint64(rows.shape[0]), np.uint64(rows.shape[1])
    start = _ZERO
    while start < number:
        end = min(start + _GROUP, number)
        for row in range(start, end):
            for byte in range(width):
                sums[byte] += spread[rows[row, byte]]
        _flush(sums, counts)
        start = end


@_compiled
def _count_by_size(rows: Any, spread: Any, places: Any, table: Any, sums: Any) -> None:
    number, width = np.uint64(rows.shape[0]), np.uint64(rows.shape[1])
    held, bits = np.zeros(table.shape[0], np.uint64), np.empty(rows.shape[1], np.uint64)
    for row in range(number):
        ones, start = _ZERO, _ZERO
        while start < width:
            end, eight = min(start + _GROUP, width), _ZERO
            for byte in range(start, end):
                bits[byte] = spread[rows[row, byte]]
                eight += bits[byte]
            ones += _together(eight)
            start = end
        place = np.uint64(places[ones])
        for byte in range(width):
            sums[place, byte] += bits[byte]
        held[place] += _ONE
        if held[place] == _GROUP:
            table[place, 0] += held[place]
            held[place] = _ZERO
            _flush(sums[place], table[place, 1:])
    for at in range(table.shape[0]):
        table[at, 0] += held[at]
        _flush(sums[at], table[at, 1:])


@_compiled
def _together(eight: Any) -> Any:
    """Add up the eight bytes of a word: in pairs, which fit into 16 bits, then all of these in the highest ones."""
    pairs = (eight & _EVEN) + ((eight >> _EIGHT) & _EVEN)
    return (pairs * np.uint64(0x0001000100010001)) >> np.uint64(48)


@_compiled
def _flush(sums: Any, counts: Any) -> None:
    """Add counts that are held eight to a word, and begin anew."""
    for at in range(np.uint64(counts.size)):
        counts[at] += (sums[at // _EIGHT] >> (_EIGHT * (at % _EIGHT))) & _BYTE
    for byte in range(np.uint64(sums.size)):
        sums[byte] = _ZERO
