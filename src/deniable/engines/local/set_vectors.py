"""Sets of categories over arrays of words, in NumPy. `set_kernels` holds the same functions compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from deniable.chance import WORD, ScriptedSource
from deniable.channel.bits import DIGITS
from deniable.channel.coding import Rows
from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import WordArray
from deniable.errors import OutOfRandomness

if TYPE_CHECKING:
    from deniable.engines.local.sets import Coins, Picks

WORDS = 1 << 14
"""Words that `bits` is best given at a time: a quarter of a chunk, because it makes several arrays of that length."""

_ONE, _LOW = np.uint64(1), np.uint64(63)


def bits(words: WordArray, answers: Codes, out: Rows, coins: Coins) -> tuple[int, int]:
    """Draw bits for answers until the words run out; return how many rows are done, and the words they took."""
    undecided = _undecided(words, coins)
    starts, used = _starts(words, answers.size, undecided, coins)
    if not len(starts):
        return 0, 0
    answers = answers[: len(starts)]
    drawn = _decided(words, starts, answers, coins)
    rejected = _decide_open(words, starts, answers, undecided, drawn, coins)
    if rejected == 0:
        return _one(words, int(answers[0]), out, coins)
    if rejected > 0:
        starts, drawn, used = starts[:rejected], drawn[:rejected], int(starts[rejected])
    out[: len(starts)] = drawn.astype("<u8").view(np.uint8)[:, : out.shape[1]]
    return len(starts), used


def _undecided(words: WordArray, coins: Coins) -> WordArray:
    """Return for each word, taken as the first coins of a block, which of its bits eight coins leave open."""
    seen, step = words, coins.blocks
    for _ in range(DIGITS.bit_length() - 1):  # coins 1 and 2, then 1 to 4, then 1 to 8
        if len(seen) <= step:
            return seen[:0]
        seen, step = seen[:-step] | seen[step:], 2 * step
    return ~seen


def _starts(words: WordArray, rows: int, undecided: WordArray, coins: Coins) -> tuple[NDArray[np.int64], int]:
    """Return where the rows begin, and where the next one would."""
    blocks, end = coins.blocks, len(words)
    last = np.bitwise_count(undecided & ~coins.behind)[blocks - 1 :]
    follows = np.arange(DIGITS * blocks, DIGITS * blocks + len(last)) + last
    if blocks > 1:
        sums = np.cumsum(np.bitwise_count(undecided), dtype=np.int32)
        follows += sums[blocks - 2 : blocks - 2 + len(last)]
        follows[1:] -= sums[: len(last) - 1]
    after, at = memoryview(follows), 0  # quicker to ask for single numbers than an array
    starts: list[int] = []
    for _ in range(rows):
        following = after[at] if at < len(last) else end + 1
        if following > end:
            break
        starts.append(at)
        at = following
    return np.array(starts, np.int64), at


def _decided(words: WordArray, starts: NDArray[np.int64], answers: Codes, coins: Coins) -> WordArray:
    """Return the bits that the eight coins decide; open ones are 0."""
    rows = words[starts[:, None] + np.arange(DIGITS * coins.blocks)].reshape(-1, DIGITS, coins.blocks)
    block = (answers >> 6).astype(np.intp)
    at = np.arange(len(rows))
    drawn, own = np.zeros((len(rows), coins.blocks), np.uint64), np.zeros(len(rows), np.uint64)
    for digit in reversed(range(DIGITS)):  # an earlier coin overrules a later one
        coin = rows[:, digit]
        if coins.stray[digit]:
            drawn |= coin
        else:
            drawn &= ~coin
        coin = rows[at, digit, block]
        own = own | coin if coins.hit[digit] else own & ~coin
    place = _ONE << (answers.astype(np.uint64) & _LOW)
    drawn[at, block] ^= (drawn[at, block] ^ own) & place
    drawn[:, -1] &= ~coins.behind
    return drawn


def _decide_open(
    words: WordArray,
    starts: NDArray[np.int64],
    answers: Codes,
    undecided: WordArray,
    drawn: WordArray,
    coins: Coins,
) -> int:
    """Decide the open bits, each by a word behind the coins; return the first row with one thrown away, or −1."""
    left = undecided[starts[:, None] + np.arange(coins.blocks)]
    left[:, -1] &= ~coins.behind
    row, block = np.nonzero(left)
    each, place = np.nonzero(np.unpackbits(_bytes(left[row, block]), axis=1, bitorder="little"))
    row, block = row[each], block[each]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    word = words[starts[row] + DIGITS * coins.blocks + rank]
    thrown = word > coins.last
    rest = np.where(64 * block + place == answers[row], coins.hit_rest, coins.stray_rest)
    np.bitwise_or.at(drawn, (row, block), (word < rest).astype(np.uint64) << place.astype(np.uint64))
    return int(row[thrown.argmax()]) if thrown.any() else -1


def _bytes(words: WordArray) -> NDArray[np.uint8]:
    return words.astype("<u8").view(np.uint8).reshape(-1, WORD)


def _one(words: WordArray, answer: int, out: Rows, coins: Coins) -> tuple[int, int]:
    """Draw one row as a respondent's device does; no row where the words are not enough."""
    script = ScriptedSource(words.astype("<u8").tobytes())
    try:
        number = coins.channel.draw(answer, script)
    except OutOfRandomness:
        return 0, 0
    out[0] = np.frombuffer(number.to_bytes(out.shape[1], "little"), np.uint8)
    return 1, script.used // WORD


def fill(
    words: WordArray, answers: Codes, own: NDArray[np.bool_], wanted: NDArray[np.int64], out: Rows, picks: Picks
) -> bool:
    """Write sets of `wanted` others, with the answer where it is in; return False where a word is thrown away."""
    if (words > picks.lasts).any():
        return False
    steps, others = words.shape[1], picks.size - 1
    rows = np.arange(len(words))
    # The place behind the last other is where picks go that are passed over.
    members = np.zeros((len(words), picks.size), np.bool_)
    for step in range(steps):
        at = others - steps + step
        pick = np.minimum(words[:, step] // picks.divisors[step], np.uint64(at)).astype(np.intp)
        pick[members[rows, pick]] = at
        pick[wanted < steps - step] = others
        members[rows, pick] = True
    place = np.arange(picks.size)
    answer = answers.astype(np.intp)[:, None]
    moved = np.empty_like(members)
    moved[:, 0] = False
    moved[:, 1:] = members[:, :-1]
    sets = np.where(place < answer, members, moved)
    sets[rows, answers] = own
    out[:] = np.packbits(sets, axis=1, bitorder="little")
    return True
