"""The backend compiled with Numba: the functions of `vectors`; the same words in, the same responses out.

Importing this module needs the `fast` extra. Nothing is compiled before it is used, which then takes a fraction of a
second in each process: compiled code is not kept on disk, where it could go stale, be shared or be refused. Indices of
sets are unsigned throughout: Numba then leaves out the check for negative ones.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.channel.coding import GROUP, SPREAD, Coding, Rows
from deniable.channel.sets import DIGITS
from deniable.engines.local.backend import SHORT_DIVISOR
from deniable.engines.local.words import CHUNK, WordArray

if TYPE_CHECKING:
    from deniable.engines.local.backend import (
        Codes,
        Coins,
        DiagonalPair,
        Flags,
        HashForms,
        Picks,
        Plans,
        Signs,
        Thresholds,
        Whole,
    )
    from deniable.engines.local.edges import Edges

COIN_WORDS = CHUNK

_ZERO, _ONE, _TWO, _SIX, _EIGHT, _CUT, _LOW_FOUR, _HALF, _LOW_SIX = (
    np.uint64(number) for number in (0, 1, 2, 6, 8, 11, 15, 32, 63)
)
_LOW_HALF = np.uint64((1 << 32) - 1)
_SIGN = np.uint64(1 << 63)
_TOP = np.uint64((1 << 64) - 1)
_DIGITS, _GROUP, _BYTE = np.uint64(DIGITS), np.uint64(GROUP), np.uint64(255)
_NIBBLES = np.uint64(0x6996)  # bit i says whether the number i has an odd number of ones
_EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)
_SHORT_FORM = 1 << 28  # forms and answers up to this are cut into blocks by multiplying
_FORM_SHIFT = np.uint64(36)
_CHECKED_CODES = 1 << 16  # codes that are checked and then counted while they are in the cache
_MOST_SYMBOLS = 1 << 18  # up to which four counts of each, in every thread, are no burden


def _compiled(function: Any) -> Any:
    return njit(nogil=True)(function)


def flip(words: WordArray, answers: Codes, out: Codes, below: int) -> None:
    """Turn the answers 0 and 1 around where the word is below a bound of at least 1."""
    _flip(words, answers, out, np.uint64(below - 1))


@_compiled
def _flip(words: Any, answers: Any, out: Any, most: Any) -> None:
    for i in range(words.size):
        out[i] = answers[i] ^ (words[i] <= most)


def divide(words: WordArray, answers: Codes, out: Codes, divisor: int, size: int) -> None:
    """Send the q-th of the other categories with q = ⌊word / divisor⌋, or the answer where q ≥ size − 1."""
    last = np.uint64(size - 1)
    if divisor < SHORT_DIVISOR:
        _divide(words, answers, out, np.uint64(divisor), last)
    else:
        shift = divisor.bit_length() - 1
        reciprocal = ((1 << 32 + shift) - 1) // divisor
        _multiply(words, answers, out, np.uint64(divisor), np.uint64(reciprocal), np.uint64(shift), last)


@_compiled
def _divide(words: Any, answers: Any, out: Any, divisor: Any, last: Any) -> None:
    for i in range(words.size):
        q = words[i] // divisor
        answer = answers[i]
        if q >= last:
            out[i] = answer
        else:
            out[i] = q + np.uint64(q >= answer)


@_compiled
def _multiply(words: Any, answers: Any, out: Any, divisor: Any, reciprocal: Any, shift: Any, last: Any) -> None:
    """Divide by multiplying with R = ⌊(2^(32+s) − 1) / b⌋, where b has s + 1 bits, so that 2^31 ≤ R < 2^32.

    Why it is exact: e = ⌊⌊u / 2^32⌋ · R / 2^s⌋ is never above q = ⌊u / b⌋. With b ≥ 2^34 and so s ≥ 34, cutting u
    takes off at most R / 2^s ≤ 2^32 / b ≤ 1/4 and cutting R at most 2^32 · (1 + 1/b) / 2^s, hardly more than 1/4:
    so e is q or q − 1, and the remainder u − e·b tells which. No product passes 2^64.
    """
    for i in range(words.size):
        word = words[i]
        q = (((word >> _HALF) * (reciprocal & _LOW_HALF)) >> shift) & _LOW_HALF
        q += np.uint64(word - q * divisor >= divisor)
        out[i] = min(q, last)
    # A loop of its own in the width of the codes: more of them fit into a vector than words do.
    kept = out.dtype.type(last)
    for i in range(words.size):
        code = out[i]
        other = out.dtype.type(code + out.dtype.type(code >= answers[i]))
        out[i] = answers[i] if code >= kept else other


def climb(words: WordArray, columns: NDArray[np.intp], out: NDArray[np.intp], thresholds: Thresholds) -> None:
    """Count the thresholds of a column that lie below the word, by halving."""
    _climb(words, columns, out, thresholds.steps, thresholds.width)


@_compiled
def _climb(words: Any, columns: Any, out: Any, steps: Any, width: Any) -> None:
    for i in range(words.size):
        start = columns[i] * width
        at = start
        half = width // 2
        while half > 0:
            at += half * (steps[at + half - 1] < words[i])
            half //= 2
        out[i] = at - start


def signs(words: WordArray, answers: Codes, out: Codes, channel: Signs) -> None:
    """Draw rows: those with +1 in the answer's column from the words below the edge, the others above it."""
    edge, large, small = map(np.uint64, (channel.edge, channel.large, channel.small))
    _signs(words, answers, out, edge, large, small, _inverse(channel.large), _inverse(channel.small))


@_compiled
def _signs(
    words: Any, answers: Any, out: Any, edge: Any, large: Any, small: Any, inverse_large: Any, inverse_small: Any
) -> None:
    for i in range(words.size):
        column = np.uint64(answers[i]) + _ONE
        odd = np.uint64(words[i] >= edge)
        rest = words[i] - odd * edge
        # Both sides are chosen without a branch, which chance would mispredict every other time.
        number = _quotient(rest, small if odd else large, inverse_small if odd else inverse_large) + (odd ^ _ONE)
        below = (column & (~column + _ONE)) - _ONE
        row = ((number & ~below) << _ONE) | (number & below)
        row |= (below + _ONE) * (_odd(row & column) ^ odd)
        out[i] = row - _ONE


def forms(words: WordArray, answers: Codes, out: Codes, channel: HashForms) -> None:
    """Draw a hash and the value of the answer under it, or another value."""
    per_hash, other, values = map(np.uint64, (channel.per_hash, channel.other, channel.values))
    inverses = _inverse(channel.per_hash), _inverse(channel.other)
    if channel.values == 2:
        _parities(words, answers, out, per_hash, other, inverses[0])
        return
    given = words, answers, out, per_hash, other, values, *inverses, channel.starts, channel.powers
    side = np.uint64(channel.side)
    if channel.dots.size and int(channel.powers[-1]) * channel.values <= _SHORT_FORM:
        _forms(*given, side, channel.dots, channel.sums, channel.blocks)
    else:
        _long_forms(*given, side, channel.dots, channel.sums)


@_compiled
def _parities(words: Any, answers: Any, out: Any, per_hash: Any, other: Any, inverse_hash: Any) -> None:
    """Draw with two values: hash number n is the form n + 1, and its value the parity of the ones in common."""
    for i in range(words.size):
        number = _quotient(words[i], per_hash, inverse_hash)
        flip = np.uint64(words[i] - number * per_hash < other)
        out[i] = (number << _ONE) | (_odd((number + _ONE) & np.uint64(answers[i])) ^ flip)


@_compiled
def _forms(
    words: Any,
    answers: Any,
    out: Any,
    per_hash: Any,
    other: Any,
    values: Any,
    inverse_hash: Any,
    inverse_other: Any,
    starts: Any,
    powers: Any,
    side: Any,
    dots: Any,
    sums: Any,
    blocks: int,
) -> None:
    """Draw with forms and answers up to 2^28, which are cut into blocks by multiplying with ⌈2^36 / side⌉.

    Why it is exact: that is at most 1 − 2^-36·side above 2^36 / side, and 2^28 · 255 < 2^36.
    """
    last, cut = values - _ONE, _above(side)
    fold = _above(values)
    for i in range(words.size):
        number = _quotient(words[i], per_hash, inverse_hash)
        d = _quotient(words[i] - number * per_hash, other, inverse_other)
        length = starts.size - 1
        while starts[length] > number:
            length -= 1
        form, rest, value = number - starts[length] + powers[length], np.uint64(answers[i]), np.uint64(0)
        for _ in range(blocks):
            more, left = (form * cut) >> _FORM_SHIFT, (rest * cut) >> _FORM_SHIFT
            dot = np.uint64(dots[(form - more * side) * side + rest - left * side])
            value = np.uint64(sums[value * values + dot]) if sums.size > 0 else value + dot
            form, rest = more, left
        value -= ((value * fold) >> _FORM_SHIFT) * values
        moved = d + np.uint64(d >= value)
        out[i] = number * values + (moved if d < last else value)


@_compiled
def _above(divisor: Any) -> Any:
    """Return ⌈2^36 / divisor⌉."""
    return ((_ONE << _FORM_SHIFT) + divisor - _ONE) // divisor


@_compiled
def _long_forms(
    words: Any,
    answers: Any,
    out: Any,
    per_hash: Any,
    other: Any,
    values: Any,
    inverse_hash: Any,
    inverse_other: Any,
    starts: Any,
    powers: Any,
    side: Any,
    dots: Any,
    sums: Any,
) -> None:
    """Draw with forms of any length, dividing."""
    last = values - _ONE
    for i in range(words.size):
        number = _quotient(words[i], per_hash, inverse_hash)
        d = _quotient(words[i] - number * per_hash, other, inverse_other)
        length = starts.size - 1
        while starts[length] > number:
            length -= 1
        form, rest, value = number - starts[length] + powers[length], np.uint64(answers[i]), np.uint64(0)
        while form > 0 and rest > 0:
            a, x = form % side, rest % side
            dot = np.uint64(dots[a * side + x]) if dots.size > 0 else a * x % values
            value = np.uint64(sums[value * values + dot]) if sums.size > 0 else value + dot
            form, rest = form // side, rest // side
        value %= values
        if d < last:
            value = d + np.uint64(d >= value)
        out[i] = number * values + value


@_compiled
def _odd(number: Any) -> Any:
    number ^= number >> np.uint64(32)
    number ^= number >> np.uint64(16)
    number ^= number >> np.uint64(8)
    number ^= number >> np.uint64(4)
    return (_NIBBLES >> (number & _LOW_FOUR)) & _ONE


@_compiled
def _quotient(word: Any, divisor: Any, inverse: Any) -> Any:
    """Divide by multiplying.

    Why it is exact up to 2^40: the estimate is never above the quotient and less than one below it, 2^-10 from rounding
    and 2^11 / divisor from the bits that are cut off; so one look at the remainder tells. Above, it is large too.
    """
    estimate = np.uint64(np.int64(word >> _CUT) * inverse)
    return estimate + np.uint64(word - estimate * divisor >= divisor)


def _inverse(divisor: int) -> float:
    """Return a float a little below 2^11 / divisor, for `_quotient`."""
    return float(Fraction(1 << 11, divisor) * (1 - Fraction(1, 1 << 50)))


def toss(
    words: WordArray, true: Codes | WordArray, old: WordArray | None, out: WordArray, coins: Coins
) -> tuple[int, int, bool]:
    """Draw rows of bits until the words run out or do not decide."""
    zero, stray, kept, hit = (coins.masks(kind) for kind in range(4))
    rules = coins.behind, coins.bounds, coins.ties, coins.last
    if old is None:
        # Where the two probabilities have different digits: the answer's own bit takes the other one.
        rows, used, left_open = _toss_answers(words, true, true, out, *rules, zero, zero ^ stray, zero, zero)
    else:
        forms = zero, zero ^ stray, zero ^ kept, zero ^ stray ^ kept ^ hit
        rows, used, left_open = _toss_rows(words, true, old, out, *rules, *forms)
    return int(rows), int(used), bool(left_open)


def _coin_machine(true_bits: Any, old_bits: Any, digit_value: Any) -> Any:
    """Compile the machine that tosses coins, for one way of saying which bits are true and which are out."""

    @_compiled
    def machine(
        words: Any,
        trues: Any,
        olds: Any,
        out: Any,
        behind: Any,
        bounds: Any,
        ties: Any,
        last: Any,
        base: Any,
        by_true: Any,
        by_old: Any,
        by_both: Any,
    ) -> Any:
        have, blocks = np.uint64(words.size), np.uint64(out.shape[1])
        start = _ZERO
        for row in range(np.uint64(trues.shape[0])):
            follows = start + _DIGITS * blocks
            if follows > have:
                return row, start, False
            for block in range(blocks):
                true, was = true_bits(trues, row, block), old_bits(olds, row, block)
                seen = behind if block + _ONE == blocks else _ZERO
                drawn, at = _ZERO, start + block
                for digit in range(_DIGITS):
                    coins = words[at]
                    drawn |= coins & ~seen & digit_value(digit, true, was, base, by_true, by_old, by_both)
                    seen |= coins
                    at += blocks
                left = ~seen
                while left != _ZERO:
                    if follows == have:
                        return row, start, False
                    word = words[follows]
                    follows += _ONE
                    lowest = left & (~left + _ONE)
                    kind = _TWO * np.uint64((was & lowest) != _ZERO) + np.uint64((true & lowest) != _ZERO)
                    if word > last or word - bounds[kind] < ties[kind]:
                        return row, start, True
                    if word < bounds[kind]:
                        drawn |= lowest
                    left ^= lowest
                out[row, block] = drawn
            start = follows
        return np.uint64(trues.shape[0]), start, False

    return machine


@_compiled
def _bits_at(rows: Any, row: Any, block: Any) -> Any:
    return rows[row, block]


@_compiled
def _answer_bit(answers: Any, row: Any, block: Any) -> Any:
    answer = np.uint64(answers[row])
    return np.uint64(answer >> _SIX == block) << (answer & _LOW_SIX)


@_compiled
def _no_bits(olds: Any, row: Any, block: Any) -> Any:  # noqa: ARG001 - nothing is out
    return _ZERO


@_compiled
def _value_by_true(digit: Any, true: Any, was: Any, base: Any, by_true: Any, by_old: Any, by_both: Any) -> Any:  # noqa: ARG001 - nothing is out
    return base[digit] ^ (true & by_true[digit])


@_compiled
def _value_by_both(digit: Any, true: Any, was: Any, base: Any, by_true: Any, by_old: Any, by_both: Any) -> Any:
    return base[digit] ^ (true & by_true[digit]) ^ (was & by_old[digit]) ^ (was & true & by_both[digit])


_toss_answers = _coin_machine(_answer_bit, _no_bits, _value_by_true)
_toss_rows = _coin_machine(_bits_at, _bits_at, _value_by_both)


def fill(words: WordArray, answers: Codes, own: Flags, wanted: Whole, out: Rows, picks: Picks) -> bool:
    """Write sets of `wanted` others, with the answer where it is `own`; return False where a word is thrown away."""
    drawn = _as_words(out, -(-picks.size // 64))
    division = (picks.divisors, picks.reciprocals, picks.shifts, picks.lasts)
    good = _fill(words, answers, own, wanted, drawn, np.uint64(picks.size - 1), *division)
    if not np.may_share_memory(drawn, out):
        out[:] = drawn.astype("<u8", copy=False).view(np.uint8)[:, : out.shape[1]]
    return bool(good)


def _as_words(out: Rows, blocks: int) -> WordArray:
    """Return packed rows as words: themselves where they fill whole words, else scratch."""
    if out.shape[1] == 8 * blocks and out.flags.c_contiguous:
        return out.view(np.uint64)
    return np.empty((len(out), blocks), np.uint64)


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
    steps = np.uint64(divisors.size)
    picks = np.empty(divisors.size, np.uint64)
    thrown = _ZERO
    for row in range(np.uint64(answers.size)):
        for step in range(steps):  # a loop of its own, which runs several at a time
            word = words[row, step]
            thrown |= np.uint64(word > lasts[step])
            pick = ((word >> _HALF) * reciprocals[step]) >> shifts[step]
            picks[step] = pick + np.uint64(word - pick * divisors[step] >= divisors[step])
        _sample(picks, steps, np.uint64(wanted[row]), others, out[row])
        _make_room(out[row], np.uint64(answers[row]), np.uint64(own[row]))
    return thrown == _ZERO


@_compiled
def _sample(picks: Any, end: Any, count: Any, pool: Any, members: Any) -> None:
    """Write a set of `count` out of `pool` as packed words, by Floyd's sampling with the last picks before an end.

    Each of these picks becomes the member that was taken.
    """
    for block in range(np.uint64(members.size)):
        members[block] = _ZERO
    for step in range(end - count, end):
        at = pool - end + step
        pick = min(picks[step], at)
        taken = (members[pick >> _SIX] >> (pick & _LOW_SIX)) & _ONE
        pick ^= (pick ^ at) & (_ZERO - taken)  # without a branch, which nobody could foresee
        members[pick >> _SIX] |= _ONE << (pick & _LOW_SIX)
        picks[step] = pick


@_compiled
def _make_room(members: Any, answer: Any, own: Any) -> None:
    """Move others from the answer's number on up by one, and put the answer in or not."""
    block, place = answer >> _SIX, answer & _LOW_SIX
    at = np.uint64(members.size) - _ONE
    while at > block:
        members[at] = (members[at] << _ONE) | (members[at - _ONE] >> _LOW_SIX)
        at -= _ONE
    lower = members[block] & ((_ONE << place) - _ONE)
    members[block] = lower | (own << place) | ((members[block] ^ lower) << _ONE)


def nest(block: WordArray, olds: Rows, own: Whole, kinds: Whole, out: Rows, plans: Plans) -> bool:
    """Draw a set from each row; `own` is the answer, or −1. Return False where a word does not decide."""
    ways = plans.bounds, plans.within, plans.beyond, plans.free, plans.inside
    return bool(_nest(block, np.ascontiguousarray(olds), own, kinds, out, plans.size, *ways))


@_compiled
def _nest(
    block: Any,
    olds: Any,
    own: Any,
    kinds: Any,
    out: Any,
    size: Any,
    bounds: Any,
    within: Any,
    beyond: Any,
    free: Any,
    inside: Any,
) -> Any:
    known, others = np.empty(size, np.int64), np.empty(size, np.int64)
    picks, drawn = np.empty(block.shape[1], np.uint64), np.empty((size + 63) // 64, np.uint64)
    for row in range(out.shape[0]):
        head, at = block[row, 0], kinds[row]
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
        some, more = within[at, way], beyond[at, way]
        if not _pick(block, row, 1, some, picks, known, inner, drawn, out):
            return False
        if not _pick(block, row, 1 + some, more, picks, others, outer, drawn, out):
            return False
        if inside[at, way]:
            out[row, own[row] >> 3] |= np.uint8(1 << (own[row] & 7))
    return True


@_compiled
def _pick(block: Any, row: Any, first: Any, count: Any, picks: Any, pool: Any, size: Any, drawn: Any, out: Any) -> Any:
    """Put so many of the first `size` members of a pool into a packed row; False where a word is thrown away."""
    for number in range(count):
        total = np.uint64(size - count + number + 1)
        picks[number] = block[row, first + number] // _scale(total) if total > _ONE else _ZERO
        if picks[number] >= total:
            return False
    _sample(picks, np.uint64(count), np.uint64(count), np.uint64(size), drawn)
    for number in range(count):
        place = pool[picks[number]]
        out[row, place >> 3] |= np.uint8(1 << (place & 7))
    return True


@_compiled
def _scale(total: Any) -> Any:
    """Return ⌊2^64 / total⌋ for a total of at least 2."""
    return _TOP // total + np.uint64(total & (total - _ONE) == _ZERO)


def decide(words: WordArray, like: Flags, keep: Flags, yes: int, no: int) -> bool:
    """Say for each row whether its word is below the bound of its kind; return False where one is equal."""
    return bool(_decide(words, like, keep, np.uint64(yes), np.uint64(no)))


@_compiled
def _decide(words: Any, like: Any, keep: Any, yes: Any, no: Any) -> Any:
    ties = 0
    for i in range(words.size):
        bound = yes if like[i] else no
        ties += words[i] == bound
        keep[i] = words[i] < bound
    return ties == 0


def decide_codes(words: WordArray, olds: Codes, answers: Codes, keep: Flags, yes: int, no: int) -> bool:
    """Do the same where the kind is whether two codes are equal."""
    return bool(_decide_codes(words, olds, answers, keep, np.uint64(yes), np.uint64(no)))


@_compiled
def _decide_codes(words: Any, olds: Any, answers: Any, keep: Any, yes: Any, no: Any) -> Any:
    ties = 0
    for i in range(words.size):
        bound = yes if olds[i] == answers[i] else no
        ties += words[i] == bound
        keep[i] = words[i] < bound
    return ties == 0


def merge(olds: Codes, keep: Flags, out: Codes) -> None:
    """Put back the old codes where they are kept."""
    _merge(olds, keep, out)


@_compiled
def _merge(olds: Any, keep: Any, out: Any) -> None:
    for i in range(out.size):
        out[i] = olds[i] if keep[i] else out[i]


def raise_codes(block: WordArray, olds: Codes, answers: Codes, out: Codes, pair: DiagonalPair) -> bool:
    """Keep the old code or draw a fresh one, in one pass over the words; return False where one decides nothing."""
    shift = pair.divisor.bit_length() - 1
    reciprocal = ((1 << 32 + shift) - 1) // pair.divisor
    numbers = (pair.yes, pair.no, pair.divisor, reciprocal, shift, pair.size - 1)
    return bool(_raise(block, olds, answers, out, *map(np.uint64, numbers)))


@_compiled
def _raise(
    block: Any,
    olds: Any,
    answers: Any,
    out: Any,
    yes: Any,
    no: Any,
    divisor: Any,
    reciprocal: Any,
    shift: Any,
    last: Any,
) -> Any:
    """Divide as `kernels.divide` does, and write one more than the last category where the old code is kept.

    Why three loops: those over codes are in the width of the codes, of which more fit into a vector than of words.
    """
    ties, unlike = _ZERO, yes ^ no
    for i in range(out.size):
        out[i] = olds[i] == answers[i]
    for i in range(out.size):
        first, word = block[i, 0], block[i, 1]
        bound = no ^ (unlike & (_ZERO - np.uint64(out[i])))
        ties |= np.uint64(first == bound)
        q = (((word >> _HALF) * (reciprocal & _LOW_HALF)) >> shift) & _LOW_HALF
        q = min(q + np.uint64(word - q * divisor >= divisor), last)
        out[i] = last + _ONE if first < bound else q
    kept = out.dtype.type(last)
    for i in range(out.size):
        code = out[i]
        other = out.dtype.type(code + out.dtype.type(code >= answers[i]))
        fresh = answers[i] if code == kept else other
        out[i] = olds[i] if code > kept else fresh
    return ties == _ZERO


def count(coding: Coding, array: NDArray[Any]) -> Whole:
    """Return the counts of the cells of a tally."""
    channel: Any = coding.channel
    if coding.ndim == 2 and not channel.own_cells:
        return _count_packed(channel, np.ascontiguousarray(array))
    if coding.ndim == 2 or channel.cells > _MOST_SYMBOLS or not channel.own_cells:
        return coding.count(array)
    counts = np.zeros((4, channel.cells), np.int64)
    for start in range(0, array.size, _CHECKED_CODES):
        piece = np.ascontiguousarray(array[start : start + _CHECKED_CODES], dtype=array.dtype.newbyteorder("="))
        piece = piece.view(piece.dtype.str.replace("i", "u"))  # negative numbers are the largest unsigned ones
        if piece.max() >= channel.cells:
            raise OverflowError
        _count_codes(piece, counts)
    return np.asarray(counts.sum(axis=0), np.int64)


@_compiled
def _count_codes(codes: Any, counts: Any) -> None:
    """Add how often each code occurs to a table of four rows, whose sum is the count.

    Why four rows: equal codes in a row would each wait for the last one's count to be written.
    """
    even = codes.size - codes.size % 4
    for i in range(0, even, 4):
        counts[0, codes[i]] += 1
        counts[1, codes[i + 1]] += 1
        counts[2, codes[i + 2]] += 1
        counts[3, codes[i + 3]] += 1
    for i in range(even, codes.size):
        counts[0, codes[i]] += 1


def _count_packed(channel: Any, rows: Rows) -> Whole:
    counts = np.zeros(channel.cells, np.int64)
    if not channel.by_size:
        _count_rows(rows, SPREAD, counts, np.zeros(rows.shape[1], np.uint64))
        return counts
    places = np.zeros(channel.size + 1, np.int64)
    places[list(channel.sizes)] = np.arange(len(channel.sizes))
    table = counts.reshape(-1, channel.size + 1)
    _count_by_size(rows, SPREAD, places, table, np.zeros((len(table), rows.shape[1]), np.uint64))
    return counts


@_compiled
def _count_rows(rows: Any, spread: Any, counts: Any, sums: Any) -> None:
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
            ones += _add_bytes(eight)
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
def _add_bytes(eight: Any) -> Any:
    """Add up the eight bytes of a word: in pairs, which fit into 16 bits, then all of these in the highest ones."""
    pairs = (eight & _EVEN_BYTES) + ((eight >> _EIGHT) & _EVEN_BYTES)
    return (pairs * np.uint64(0x0001000100010001)) >> np.uint64(48)


@_compiled
def _flush(sums: Any, counts: Any) -> None:
    """Add counts that are held eight to a word, and begin anew."""
    for at in range(np.uint64(counts.size)):
        counts[at] += (sums[at // _EIGHT] >> (_EIGHT * (at % _EIGHT))) & _BYTE
    for byte in range(np.uint64(sums.size)):
        sums[byte] = _ZERO


def ask(words: WordArray, edges: Edges, first: int, scale: int, item: Whole, answers: Rows) -> None:
    """Draw an item for each of some people and round the weight of their edge to it."""
    _ask(words, edges.start, edges.item, edges.weight, first, np.uint64(scale), edges.items - 1, item, answers)


@_compiled
def _ask(
    words: Any, start: Any, owned: Any, weights: Any, first: Any, scale: Any, last: Any, item: Any, answers: Any
) -> None:  # pragma: no cover - compiled
    for row in range(item.size):
        wanted = min(np.int64(words[row, 0] // scale), last)
        item[row] = wanted
        low, high = start[first + row], start[first + row + 1]
        while low < high:
            middle = (low + high) // 2
            if owned[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        answers[row] = 0
        if low < start[first + row + 1] and owned[low] == wanted:
            weight = weights[low]
            whole = np.int64(np.rint(weight * 9223372036854775808.0)) if weight < 1.0 else np.int64(0)
            plus = weight == 1.0 or words[row, 1] < (np.uint64(whole) ^ _SIGN)
            answers[row] = 1 if plus else 2


def mark(words: WordArray, item: Whole, answers: Rows, steps: WordArray, out: Rows) -> None:
    """Draw a symbol for every item of each person, with a word for each."""
    _mark(words, item, answers, steps, out)


@_compiled
def _mark(words: Any, item: Any, answers: Any, steps: Any, out: Any) -> None:  # pragma: no cover - compiled
    none, plus = steps[0, 0], steps[0, 1]
    for row in range(item.size):
        for place in range(words.shape[1]):
            word = words[row, place]
            out[row, place] = np.uint8(word > none) + np.uint8(word > plus)
        own = item[row]
        if own >= 0:
            word = words[row, own]
            out[row, own] = np.uint8(word > steps[answers[row], 0]) + np.uint8(word > steps[answers[row], 1])


def count_marks(symbols: Rows, counts: Whole) -> None:
    """Add how often each item is marked + and −."""
    _count_marks(symbols, counts)


@_compiled
def _count_marks(symbols: Any, counts: Any) -> None:  # pragma: no cover - compiled
    for row in range(symbols.shape[0]):
        for place in range(symbols.shape[1]):
            symbol = symbols[row, place]
            counts[place, 0] += symbol == 1
            counts[place, 1] += symbol == 2
