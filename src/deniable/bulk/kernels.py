"""The backend compiled with Numba: the functions of `vectors`; the same words in, the same responses out.

Importing this module needs the `fast` extra. Nothing is compiled before it is used, which then takes a fraction of a
second in each process: compiled code is not kept on disk, where it could go stale, be shared or be refused. Indices of
sets are unsigned throughout: Numba then leaves out the check for negative ones.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.bulk import vectors
from deniable.bulk.backend import SHORT_DIVISOR, Division
from deniable.bulk.random_words import MAX_FILLED, WordArray
from deniable.bulk.vectors import TWO_WORDS, as_words, write_words
from deniable.channel.coding import GROUP, SPREAD, Coding, Rows
from deniable.channel.sets import DIGITS

if TYPE_CHECKING:
    from deniable.bulk.backend import (
        Codes,
        Coins,
        DiagonalPair,
        Flags,
        HashForms,
        Picks,
        Plans,
        Signs,
        Whole,
    )
    from deniable.bulk.edges import Edges, Real

Word: TypeAlias = np.uint64
Function = TypeVar("Function", bound=Callable[..., Any])

CHUNK = COIN_WORDS = MAX_FILLED
"""Words that are drawn in one call of the cipher and used in one call of a kernel, both without Python's lock.

Why so many, which leave a core's own cache: what Python does between two such calls takes as long as a tenth of a
quarter of them, and there threads wait for each other.
"""

_ZERO, _ONE, _TWO, _SIX, _EIGHT, _CUT, _LOW_FOUR, _HALF, _LOW_SIX = (
    np.uint64(number) for number in (0, 1, 2, 6, 8, 11, 15, 32, 63)
)
_LOW_HALF = np.uint64((1 << 32) - 1)
_SIGN = np.uint64(1 << 63)
_TOP = _NOBODY = np.uint64((1 << 64) - 1)
_DIGITS, _GROUP, _BYTE = np.uint64(DIGITS), np.uint64(GROUP), np.uint64(255)
_NIBBLES = np.uint64(0x6996)  # bit i is the parity of the ones of the number i
_EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)
_PAIRS, _FOURS, _NIBBLE_BYTES, _LOW_BITS = (
    np.uint64(byte * 0x0101010101010101) for byte in (0x55, 0x33, 0x0F, 1)
)
_ABREAST = 64  # rows of sets that are filled side by side
_ROWS = _WORD_BITS = np.uint64(_ABREAST)
# forms and answers up to this are cut into blocks by multiplying
_SHORT_FORM = 1 << 28
_FORM_SHIFT = np.uint64(36)
_SIXTEEN = 16
# Bytes of a layer of planes: several vectors wide, and sixteen of them fit into the first cache.
_LAYER_BYTES = 512
_MIN_LAYERS = 256  # from which on adding up the planes costs less than it saves
# that are checked and then counted while they are in the cache
_CHECKED_CODES = 1 << 16
# up to which four counts of each, in every thread, are no burden
_MAX_SYMBOLS = 1 << 18


def _compiled(function: Function) -> Function:
    compiled: Function = njit(nogil=True)(function)
    return compiled


@_compiled
def flip(words: WordArray, answers: Codes, out: Codes, last: Word) -> None:
    """Turn the answers 0 and 1 around up to the last word that does so."""
    for i in range(words.size):
        out[i] = answers[i] ^ (words[i] <= last)


def divide(
    words: WordArray, answers: Codes, out: Codes, divisor: int, size: int
) -> None:
    """Send the q-th of the other categories with q = ⌊word / divisor⌋, or the answer where q ≥ size − 1."""
    if divisor < SHORT_DIVISOR:
        vectors.divide(words, answers, out, divisor, size)
    else:
        _divide(words, answers, out, Division.by(divisor), np.uint64(size - 1))


@_compiled
def _divide(
    words: WordArray, answers: Codes, out: Codes, division: Division, last: Word
) -> None:
    divisor, reciprocal, shift = division
    for i in range(words.size):
        out[i] = min(
            _divide_by_reciprocal(words[i], divisor, reciprocal, shift), last
        )
    # A loop of its own in the width of the codes: more of them fit into a vector than words do.
    keep = out.dtype.type(last)
    for i in range(words.size):
        code = out[i]
        changed = out.dtype.type(code + out.dtype.type(code >= answers[i]))
        out[i] = answers[i] if code >= keep else changed


@_compiled
def _divide_by_reciprocal(
    word: Word, divisor: Word, reciprocal: Word, shift: Word
) -> Word:
    """Divide by multiplying with R = ⌊(2^(32+s) − 1) / b⌋, where b has s + 1 bits, so that 2^31 ≤ R < 2^32.

    Why it is exact: e = ⌊⌊u / 2^32⌋ · R / 2^s⌋ is never above q = ⌊u / b⌋. With b ≥ 2^34 and so s ≥ 34, cutting u
    takes off at most R / 2^s ≤ 2^32 / b ≤ 1/4 and cutting R at most 2^32 · (1 + 1/b) / 2^s, hardly more than 1/4:
    so e is q or q − 1, and the remainder u − e·b tells which. No product passes 2^64.
    """
    q = (((word >> _HALF) * (reciprocal & _LOW_HALF)) >> shift) & _LOW_HALF
    return q + np.uint64(word - q * divisor >= divisor)


@_compiled
def count_below(
    words: WordArray,
    columns: NDArray[np.intp],
    out: NDArray[np.intp],
    steps: WordArray,
    width: int,
) -> None:
    """Count the thresholds of a column that lie below the word, by halving."""
    for i in range(words.size):
        start = columns[i] * width
        at = start
        half = width // 2
        while half > 0:
            at += half * (steps[at + half - 1] < words[i])
            half //= 2
        out[i] = at - start


@_compiled
def signs(words: WordArray, answers: Codes, out: Codes, channel: Signs) -> None:
    """Draw rows: those with +1 in the answer's column from the words below the edge, the others above it."""
    edge, large, small, inverse_large, inverse_small = channel
    for i in range(words.size):
        column = np.uint64(answers[i]) + _ONE
        odd = np.uint64(words[i] >= edge)
        word = words[i] - odd * edge
        # Both sides are chosen without a branch, which chance would mispredict every other time.
        number = _quotient(
            word, small if odd else large, inverse_small if odd else inverse_large
        ) + (odd ^ _ONE)
        below = (column & (~column + _ONE)) - _ONE
        row = ((number & ~below) << _ONE) | (number & below)
        row |= (below + _ONE) * (_odd(row & column) ^ odd)
        out[i] = row - _ONE


def forms(words: WordArray, answers: Codes, out: Codes, channel: HashForms) -> None:
    """Draw a hash and the value of the answer under it, or another value."""
    if channel.values == 2:
        _parities(words, answers, out, channel)
    elif channel.dots.size and channel.powers[-1] * channel.values <= _SHORT_FORM:
        _short_forms(words, answers, out, channel)
    else:
        _long_forms(words, answers, out, channel)


@_compiled
def _parities(
    words: WordArray, answers: Codes, out: Codes, channel: HashForms
) -> None:
    """Draw with two values: hash number n is the form n + 1, and its value the parity of the ones in common."""
    per_hash, other, inverse = channel.per_hash, channel.other, channel.inverse_hash
    for i in range(words.size):
        number = _quotient(words[i], per_hash, inverse)
        flip = np.uint64(words[i] - number * per_hash < other)
        out[i] = (number << _ONE) | (
            _odd((number + _ONE) & np.uint64(answers[i])) ^ flip
        )


@_compiled
def _short_forms(
    words: WordArray, answers: Codes, out: Codes, channel: HashForms
) -> None:
    """Draw with forms and answers up to 2^28, which are cut into blocks by multiplying with ⌈2^36 / side⌉.

    Why it is exact: that is at most 1 − 2^-36·side above 2^36 / side, and 2^28 · 255 < 2^36.
    """
    values, side, dots, sums = (
        channel.values,
        channel.side,
        channel.dots,
        channel.sums,
    )
    cut, fold, blocks = (
        _scaled_reciprocal(side),
        _scaled_reciprocal(values),
        channel.blocks,
    )
    for i in range(words.size):
        number, form, shift = _choose_hash(words[i], channel)
        answer, value = np.uint64(answers[i]), _ZERO
        for _ in range(blocks):
            more, left = (form * cut) >> _FORM_SHIFT, (answer * cut) >> _FORM_SHIFT
            dot = np.uint64(dots[(form - more * side) * side + answer - left * side])
            value = (
                np.uint64(sums[value * values + dot])
                if sums.size > 0
                else value + dot
            )
            form, answer = more, left
        value -= ((value * fold) >> _FORM_SHIFT) * values
        out[i] = _join_value(number, value, shift, values)


@_compiled
def _scaled_reciprocal(divisor: Word) -> Word:
    """Return ⌈2^36 / divisor⌉."""
    return ((_ONE << _FORM_SHIFT) + divisor - _ONE) // divisor


@_compiled
def _long_forms(
    words: WordArray, answers: Codes, out: Codes, channel: HashForms
) -> None:
    """Draw with forms of any length, dividing."""
    values, side, dots, sums = (
        channel.values,
        channel.side,
        channel.dots,
        channel.sums,
    )
    for i in range(words.size):
        number, form, shift = _choose_hash(words[i], channel)
        answer, value = np.uint64(answers[i]), _ZERO
        while form > 0 and answer > 0:
            a, x = form % side, answer % side
            dot = np.uint64(dots[a * side + x]) if dots.size > 0 else a * x % values
            value = (
                np.uint64(sums[value * values + dot])
                if sums.size > 0
                else value + dot
            )
            form, answer = form // side, answer // side
        out[i] = _join_value(number, value % values, shift, values)


@_compiled
def _choose_hash(word: Word, channel: HashForms) -> tuple[Word, Word, Word]:
    """Return the number of a hash, its linear form, and which of the other values is sent, if any."""
    per_hash, starts = channel.per_hash, channel.starts
    number = _quotient(word, per_hash, channel.inverse_hash)
    shift = _quotient(word - number * per_hash, channel.other, channel.inverse_other)
    length = starts.size - 1
    while starts[length] > number:
        length -= 1
    return number, number - starts[length] + channel.powers[length], shift


@_compiled
def _join_value(number: Word, value: Word, shift: Word, values: Word) -> Word:
    """Return the response: the hash and its value, or the value that takes its place."""
    moved = shift + np.uint64(shift >= value)
    return number * values + (moved if shift < values - _ONE else value)


@_compiled
def _odd(number: Word) -> Word:
    """Return the parity of the ones of a number."""
    number ^= number >> np.uint64(32)
    number ^= number >> np.uint64(16)
    number ^= number >> np.uint64(8)
    number ^= number >> np.uint64(4)
    return (_NIBBLES >> (number & _LOW_FOUR)) & _ONE


@_compiled
def _quotient(word: Word, divisor: Word, inverse: float) -> Word:
    """Divide by multiplying.

    Why it is exact up to 2^40: the estimate is never above the quotient and less than one below it, 2^-10 from rounding
    and 2^11 / divisor from the bits that are cut off; so one look at the remainder tells. Above, it is large too.
    """
    estimate = np.uint64(np.int64(word >> _CUT) * inverse)
    return estimate + np.uint64(word - estimate * divisor >= divisor)


def toss(
    words: WordArray,
    true: Codes | WordArray,
    old: WordArray | None,
    out: WordArray,
    coins: Coins,
) -> tuple[int, int, bool]:
    """Draw rows of bits until the words run out or do not decide."""
    zero, stray, kept, hit = coins.digits
    # Where two probabilities have different digits: a true bit, a bit that is out and one that is both take the other.
    terms = np.array([zero, zero ^ stray, zero ^ kept, zero ^ stray ^ kept ^ hit])
    if old is None:
        rows, used, left_open = _toss_answers(words, true, true, out, coins, terms)
    else:
        rows, used, left_open = _toss_rows(words, true, old, out, coins, terms)
    return int(rows), int(used), bool(left_open)


def _coin_machine(true_bits: Any, old_bits: Any, digit_value: Any) -> Any:
    """Compile the machine that tosses coins, for one way of saying which bits are true and which are out."""

    @_compiled
    def machine(
        words: WordArray,
        trues: Codes | WordArray,
        olds: Codes | WordArray,
        out: WordArray,
        coins: Coins,
        terms: WordArray,
    ) -> tuple[Any, Any, bool]:
        behind, bounds, ties, last = (
            coins.behind,
            coins.bounds,
            coins.ties,
            coins.last,
        )
        have, blocks = np.uint64(words.size), np.uint64(out.shape[1])
        start = _ZERO
        for row in range(np.uint64(trues.shape[0])):
            follows = start + _DIGITS * blocks
            if follows > have:
                return row, start, False
            for block in range(blocks):
                true, was = true_bits(trues, row, block), old_bits(olds, row, block)
                decided = behind if block + _ONE == blocks else _ZERO
                drawn, at = _ZERO, start + block
                for digit in range(_DIGITS):
                    tossed = words[at]
                    drawn |= tossed & ~decided & digit_value(digit, true, was, terms)
                    decided |= tossed
                    at += blocks
                left = ~decided
                while left != _ZERO:
                    if follows == have:
                        return row, start, False
                    word = words[follows]
                    follows += _ONE
                    lowest = left & (~left + _ONE)
                    kind = _TWO * np.uint64((was & lowest) != _ZERO) + np.uint64(
                        (true & lowest) != _ZERO
                    )
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
def _bits_at(rows: WordArray, row: Word, block: Word) -> Any:
    return rows[row, block]


@_compiled
def _answer_bit(answers: Codes, row: Word, block: Word) -> Word:
    answer = np.uint64(answers[row])
    return np.uint64(answer >> _SIX == block) << (answer & _LOW_SIX)


@_compiled
def _no_bits(olds: Codes, row: Word, block: Word) -> Word:  # noqa: ARG001 - nothing is out
    return _ZERO


@_compiled
def _value_by_true(digit: int, true: Word, was: Word, terms: WordArray) -> Any:  # noqa: ARG001 - nothing is out
    return terms[0, digit] ^ (true & terms[1, digit])


@_compiled
def _value_by_both(digit: int, true: Word, was: Word, terms: WordArray) -> Any:
    return (
        terms[0, digit]
        ^ (true & terms[1, digit])
        ^ (was & terms[2, digit])
        ^ (was & true & terms[3, digit])
    )


_toss_answers = _coin_machine(_answer_bit, _no_bits, _value_by_true)
_toss_rows = _coin_machine(_bits_at, _bits_at, _value_by_both)


def fill(
    words: WordArray,
    answers: Codes,
    inside: Flags,
    others: Whole,
    out: Rows,
    picks: Picks,
) -> bool:
    """Write sets of `others`, so many, with the answer where it is `inside`; False where a word is thrown away."""
    if picks.size <= TWO_WORDS and len(out) >= _ABREAST:
        return _fill_abreast(words, answers, inside, others, _in_units(out), picks)
    sets = as_words(out, -(-picks.size // 64))
    is_complete = _fill(words, answers, inside, others, sets, picks)
    write_words(sets, out)
    return is_complete


def _in_units(out: Rows) -> Codes:
    """Return packed rows in units of the widest type that they are made up of: 1, 2, 4 or 8 bytes."""
    width = min(8, out.shape[1] & -out.shape[1])
    return out.view(np.dtype(f"u{width}")) if out.flags.c_contiguous else out


@_compiled
def _fill_abreast(
    words: WordArray,
    answers: Codes,
    inside: Flags,
    others: Whole,
    out: Codes,
    picks: Picks,
) -> bool:
    """Fill many sets of at most 128 categories side by side, each in two words: a pick goes into all before the next.

    Why: the picks of one set wait for each other, those of different sets do not, and vectors hold several of them.
    """
    size, divisors, reciprocals, shifts, lasts = picks
    rows, steps = np.uint64(answers.size), np.uint64(divisors.size)
    low, high = np.empty(_ABREAST, np.uint64), np.empty(_ABREAST, np.uint64)
    drawn, passed = np.empty(_ABREAST, np.uint64), np.empty(_ABREAST, np.uint64)
    thrown = start = _ZERO
    while start < rows:
        # The last ones with some before them, which come out as they did.
        start = min(start, rows - _ROWS)
        for lane in range(_ROWS):
            low[lane] = high[lane] = _ZERO
            passed[lane] = steps - np.uint64(others[start + lane])
        for step in range(steps):
            for lane in range(_ROWS):
                drawn[lane] = words[start + lane, step]
            rule = divisors[step], reciprocals[step], shifts[step], lasts[step]
            highest = np.uint64(size) - _ONE - steps + step
            thrown |= _put_abreast(drawn, passed, low, high, step, highest, rule)
        end = start + _ROWS
        _make_room_abreast(low, high, answers[start:end], inside[start:end])
        _write_abreast(low, high, out[start:end])
        start = end
    return bool(thrown == _ZERO)


@_compiled
def _put_abreast(
    drawn: WordArray,
    passed: WordArray,
    low: WordArray,
    high: WordArray,
    step: int,
    highest: Word,
    rule: tuple[Word, Word, Word, Word],
) -> Word:
    """Take one step of Floyd's sampling in all sets that are past the picks they forget."""
    divisor, reciprocal, shift, last = rule
    highest_low, highest_high = _bit(highest), _bit(highest - _WORD_BITS)
    thrown = _ZERO
    for lane in range(_ROWS):
        word = drawn[lane]
        thrown |= np.uint64(word > last)
        pick = min(_divide_by_reciprocal(word, divisor, reciprocal, shift), highest)
        pick = pick if step >= passed[lane] else _NOBODY
        in_low, in_high = _bit(pick), _bit(pick - _WORD_BITS)
        # One that is in already changes nothing by going in again, and the highest goes in as well.
        taken = ((low[lane] & in_low) | (high[lane] & in_high)) != _ZERO
        low[lane] |= in_low | (highest_low if taken else _ZERO)
        high[lane] |= in_high | (highest_high if taken else _ZERO)
    return thrown


@_compiled
def _bit(position: Word) -> Word:
    """Return a word with one bit, or none where the position is outside."""
    return _ONE << position if position < _WORD_BITS else _ZERO


@_compiled
def _make_room_abreast(
    low: WordArray, high: WordArray, answers: Codes, inside: Flags
) -> None:
    """Move others from the answer's number on up by one, and put the answer in or not."""
    for lane in range(_ROWS):
        answer, is_inside = np.uint64(answers[lane]), np.uint64(inside[lane])
        in_low, in_high = _bit(answer), _bit(answer - _WORD_BITS)
        moved = (high[lane] << _ONE) | (low[lane] >> _LOW_SIX)
        high[lane] = (
            moved
            if in_high == _ZERO
            else _insert_bit(high[lane], in_high, is_inside)
        )
        low[lane] = _insert_bit(low[lane], in_low, is_inside)


@_compiled
def _insert_bit(members: Word, bit: Word, is_inside: Word) -> Word:
    """Insert one bit into a word of members, moving the higher ones up; no bit leaves the word as it is."""
    lower = members & (bit - _ONE)
    return lower | (bit & (_ZERO - is_inside)) | ((members ^ lower) << _ONE)


@_compiled
def _write_abreast(low: WordArray, high: WordArray, out: Codes) -> None:
    bits = np.uint64(8 * out.itemsize)
    for lane in range(_ROWS):
        for unit in range(np.uint64(out.shape[1])):
            members = low[lane] if unit * bits < _WORD_BITS else high[lane]
            out[lane, unit] = members >> ((unit * bits) & _LOW_SIX)


@_compiled
def _fill(
    words: WordArray,
    answers: Codes,
    inside: Flags,
    others: Whole,
    out: WordArray,
    picks: Picks,
) -> bool:
    size, divisors, reciprocals, shifts, lasts = picks
    steps, drawn = np.uint64(divisors.size), np.empty(divisors.size, np.uint64)
    thrown = _ZERO
    for row in range(np.uint64(answers.size)):
        for step in range(steps):  # a loop of its own, which runs several at a time
            word = words[row, step]
            thrown |= np.uint64(word > lasts[step])
            drawn[step] = _divide_by_reciprocal(
                word, divisors[step], reciprocals[step], shifts[step]
            )
        _sample(
            drawn, steps, np.uint64(others[row]), np.uint64(size) - _ONE, out[row]
        )
        _make_room(out[row], np.uint64(answers[row]), np.uint64(inside[row]))
    return bool(thrown == _ZERO)


@_compiled
def _sample(
    picks: WordArray, end: Word, count: Word, pool: Word, members: WordArray
) -> None:
    """Write a set of `count` out of `pool` as packed words, by Floyd's sampling with the last picks before an end.

    Each of these picks becomes the member that was taken.
    """
    for block in range(np.uint64(members.size)):
        members[block] = _ZERO
    for step in range(end - count, end):
        highest = pool - end + step
        pick = min(picks[step], highest)
        taken = (members[pick >> _SIX] >> (pick & _LOW_SIX)) & _ONE
        # Without a branch, which nobody could foresee.
        pick ^= (pick ^ highest) & (_ZERO - taken)
        members[pick >> _SIX] |= _ONE << (pick & _LOW_SIX)
        picks[step] = pick


@_compiled
def _make_room(members: WordArray, answer: Word, is_inside: Word) -> None:
    """Move others from the answer's number on up by one, and put the answer in or not."""
    block = answer >> _SIX
    at = np.uint64(members.size) - _ONE
    while at > block:
        members[at] = (members[at] << _ONE) | (members[at - _ONE] >> _LOW_SIX)
        at -= _ONE
    members[block] = _insert_bit(
        members[block], _ONE << (answer & _LOW_SIX), is_inside
    )


@_compiled
def nest(
    block: WordArray,
    olds: Rows,
    answers: Whole,
    kinds: Whole,
    out: Rows,
    plans: Plans,
) -> bool:
    """Draw a set from each row; the answer is −1 where there is none. Return False where a word does not decide."""
    size, _, bounds, within, beyond, free, inside = plans
    members, others = np.empty(size, np.int64), np.empty(size, np.int64)
    picks = np.empty(block.shape[1], np.uint64)
    drawn = np.empty((size + 63) // 64, np.uint64)
    for row in range(out.shape[0]):
        head, kind, answer = block[row, 0], kinds[row], answers[row]
        plan = 0
        for step in range(bounds.shape[1]):
            if head == bounds[kind, step]:
                return False
            plan += head > bounds[kind, step]
        inner = outer = 0
        for j in range(size):
            if j == answer:
                continue
            if free[kind, plan] or (olds[row, j >> 3] >> (j & 7)) & 1:
                members[inner] = j
                inner += 1
            else:
                others[outer] = j
                outer += 1
        out[row, :] = 0
        count = within[kind, plan]
        if not _pick(block[row, 1:], count, picks, members[:inner], drawn, out[row]):
            return False
        if not _pick(
            block[row, 1 + count :],
            beyond[kind, plan],
            picks,
            others[:outer],
            drawn,
            out[row],
        ):
            return False
        if inside[kind, plan]:
            out[row, answer >> 3] |= np.uint8(1 << (answer & 7))
    return True


@_compiled
def _pick(
    words: WordArray,
    count: int,
    picks: WordArray,
    pool: Whole,
    drawn: WordArray,
    out: Rows,
) -> bool:
    """Put so many members of a pool into a packed row; False where a word is thrown away."""
    for number in range(count):
        total = np.uint64(pool.size - count + number + 1)
        picks[number] = words[number] // _scale(total) if total > _ONE else _ZERO
        if picks[number] >= total:
            return False
    _sample(picks, np.uint64(count), np.uint64(count), np.uint64(pool.size), drawn)
    for number in range(count):
        member = pool[picks[number]]
        out[member >> 3] |= np.uint8(1 << (member & 7))
    return True


@_compiled
def _scale(total: Word) -> Word:
    """Return ⌊2^64 / total⌋ for a total of at least 2."""
    return _TOP // total + np.uint64(total & (total - _ONE) == _ZERO)


@_compiled
def decide(words: WordArray, like: Flags, keep: Flags, yes: Word, no: Word) -> bool:
    """Say for each row whether its word is below the bound of its kind; return False where one is equal."""
    ties = 0
    for i in range(words.size):
        bound = yes if like[i] else no
        ties += words[i] == bound
        keep[i] = words[i] < bound
    return bool(ties == 0)


@_compiled
def merge(olds: Codes, keep: Flags, out: Codes) -> None:
    """Put back the old codes where they are kept."""
    for i in range(out.size):
        out[i] = olds[i] if keep[i] else out[i]


@_compiled
def raise_codes(
    block: WordArray, olds: Codes, answers: Codes, out: Codes, pair: DiagonalPair
) -> bool:
    """Keep the old code or draw a fresh one, in one pass over the words; return False where one decides nothing.

    It divides as `divide` does, and writes one more than the last category where the old code is kept. Why three loops:
    those over codes are in the width of the codes, of which more fit into a vector than of words.
    """
    last, yes, no, (divisor, reciprocal, shift) = pair
    ties, unlike = _ZERO, yes ^ no
    for i in range(out.size):
        out[i] = olds[i] == answers[i]
    for i in range(out.size):
        first, word = block[i, 0], block[i, 1]
        bound = no ^ (unlike & (_ZERO - np.uint64(out[i])))
        ties |= np.uint64(first == bound)
        q = min(_divide_by_reciprocal(word, divisor, reciprocal, shift), last)
        out[i] = last + _ONE if first < bound else q
    keep = out.dtype.type(last)
    for i in range(out.size):
        code = out[i]
        changed = out.dtype.type(code + out.dtype.type(code >= answers[i]))
        fresh = answers[i] if code == keep else changed
        out[i] = olds[i] if code > keep else fresh
    return bool(ties == _ZERO)


def count(coding: Coding, array: NDArray[Any]) -> Whole:
    """Return the counts of the cells of a tally."""
    channel = coding.channel
    if coding.ndim == 2 and channel.patterned is None:
        rows = np.ascontiguousarray(array)
        _refuse_impossible(coding, rows)
        return (
            coding.count(rows) if channel.own_cells else _count_packed(coding, rows)
        )
    if channel.cells > _MAX_SYMBOLS or not channel.own_cells:
        return coding.count(array)
    counts = np.zeros((4, channel.cells), np.int64)
    for start in range(0, array.size, _CHECKED_CODES):
        codes = np.ascontiguousarray(
            array[start : start + _CHECKED_CODES],
            dtype=array.dtype.newbyteorder("="),
        )
        # Negative numbers are the largest unsigned ones.
        codes = codes.view(codes.dtype.str.replace("i", "u"))
        if codes.max() >= channel.cells:
            raise OverflowError
        _count_codes(codes, counts)
    return np.asarray(counts.sum(axis=0), np.int64)


@_compiled
def _count_codes(codes: Codes, counts: Whole) -> None:
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


def _refuse_impossible(coding: Coding, rows: Rows) -> None:
    """Look at the bits behind the last category and, where not all are possible, at the size of every set.

    Raises:
        OverflowError: a row is one that the channel never sends.
    """
    size, sizes = coding.channel.answers, coding.channel.sizes
    behind = size % 8 and (rows[:, -1] >> np.uint8(size % 8)).any()
    allowed = np.zeros(8 * rows.shape[1] + 1, np.uint8)
    allowed[list(sizes)] = 1
    if behind or (len(sizes) <= size and not _has_sizes(_in_units(rows), allowed)):
        raise OverflowError


@_compiled
def _has_sizes(rows: Codes, allowed: Rows) -> bool:
    """Tell whether the number of ones of every row is allowed."""
    good = _ONE
    for row in range(np.uint64(rows.shape[0])):
        size = _ZERO
        for unit in range(np.uint64(rows.shape[1])):
            size += _ones(np.uint64(rows[row, unit]))
        good &= np.uint64(allowed[size])
    return bool(good != _ZERO)


@_compiled
def _ones(word: Word) -> Word:
    """Count the ones of a word: in pairs, in fours, in bytes, then in all; compilers make one instruction of it."""
    word -= (word >> _ONE) & _PAIRS
    word = (word & _FOURS) + ((word >> _TWO) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _NIBBLE_BYTES
    return (word * _LOW_BITS) >> np.uint64(56)


def _count_packed(coding: Coding, rows: Rows) -> Whole:
    channel = coding.channel
    if not channel.by_size:
        counts, counted = _count_planes(rows)
        return counts[: channel.cells] + coding.count(rows[counted:])
    lines = np.zeros(channel.answers + 1, np.int64)
    lines[list(channel.sizes)] = np.arange(len(channel.sizes))
    table = np.zeros((len(channel.sizes), channel.answers + 1), np.int64)
    sums = np.zeros((len(table), rows.shape[1]), np.uint64)
    _count_by_size(rows, SPREAD, lines, table, sums)
    return table.ravel()


def _count_planes(rows: Rows) -> tuple[Whole, int]:
    """Count the bits of as many rows as fill whole layers of planes, and return how many these are.

    Rows are laid side by side until they fill whole words, and enough of them for vectors: a layer. Layer upon layer,
    the bits of one place are then counted in binary, each digit in a plane of its own.
    """
    width = rows.shape[1]
    beside: int = 8 // gcd(8, width)
    beside *= -(-_LAYER_BYTES // (beside * width))
    layers = len(rows) // (_SIXTEEN * beside) * _SIXTEEN
    if layers < _MIN_LAYERS:
        return np.zeros(8 * width, np.int64), 0
    words = rows[: layers * beside].reshape(layers, -1).view(np.uint64)
    counts = np.zeros(64 * words.shape[1], np.int64)
    _add_layers(words, counts)
    return counts.reshape(beside, -1).sum(axis=0), layers * beside


@_compiled
def _add_layers(layers: WordArray, counts: Whole) -> None:
    """Add how often each bit is set, sixteen layers at a time."""
    number, width = layers.shape
    planes, sixteens = np.zeros((4, width), np.uint64), np.empty(width, np.uint64)
    sums, pending = np.zeros((8, width), np.uint64), 0
    for start in range(0, number, _SIXTEEN):
        _add_sixteen(layers[start : start + _SIXTEEN], planes, sixteens)
        for bit in range(np.uint64(8)):
            for word in range(width):
                sums[bit, word] += (sixteens[word] >> bit) & _LOW_BITS
        pending += 1
        if pending == GROUP or start + _SIXTEEN == number:
            _flush_sums(sums, counts)
            pending = 0
    for digit in range(4):
        for position in range(np.uint64(counts.size)):
            counts[position] += (
                (planes[digit, position >> _SIX] >> (position & _LOW_SIX)) & _ONE
            ) << np.uint64(digit)


@_compiled
def _add_sixteen(layers: WordArray, planes: WordArray, sixteens: WordArray) -> None:
    """Add sixteen layers to the binary digits of the counts; what is carried out of them goes to the last plane."""
    for at in range(layers.shape[1]):
        one, two, four, eight = (
            planes[0, at],
            planes[1, at],
            planes[2, at],
            planes[3, at],
        )
        four_a = four_b = eight_a = eight_b = _ZERO
        for half in range(2):
            for first in range(8 * half, 8 * half + 8, 4):
                one, two_a = _carry(one, layers[first, at], layers[first + 1, at])
                one, two_b = _carry(
                    one, layers[first + 2, at], layers[first + 3, at]
                )
                four_a = four_b
                two, four_b = _carry(two, two_a, two_b)
            eight_a = eight_b
            four, eight_b = _carry(four, four_a, four_b)
        eight, sixteens[at] = _carry(eight, eight_a, eight_b)
        planes[0, at], planes[1, at], planes[2, at], planes[3, at] = (
            one,
            two,
            four,
            eight,
        )


@_compiled
def _carry(a: Word, b: Word, c: Word) -> tuple[Word, Word]:
    """Add three bits in every place of a word: return the sum's lower and its upper digit."""
    unlike = a ^ b
    return unlike ^ c, (a & b) | (unlike & c)


@_compiled
def _flush_sums(sums: WordArray, counts: Whole) -> None:
    """Add counts of sixteens, held eight to a word, and begin anew."""
    for position in range(np.uint64(counts.size)):
        eight = sums[position & np.uint64(7), position >> _SIX]
        counts[position] += (
            (eight >> (position & np.uint64(56))) & _BYTE
        ) << np.uint64(4)
    sums[:] = _ZERO


@_compiled
def _count_by_size(
    rows: Rows, spread: WordArray, lines: Whole, table: Whole, sums: WordArray
) -> None:
    width = np.uint64(rows.shape[1])
    pending = np.zeros(table.shape[0], np.uint64)
    bits = np.empty(rows.shape[1], np.uint64)
    for row in range(np.uint64(rows.shape[0])):
        ones, start = _ZERO, _ZERO
        while start < width:
            end, eight = min(start + _GROUP, width), _ZERO
            for byte in range(start, end):
                bits[byte] = spread[rows[row, byte]]
                eight += bits[byte]
            ones += _add_bytes(eight)
            start = end
        line = np.uint64(lines[ones])
        for byte in range(width):
            sums[line, byte] += bits[byte]
        pending[line] += _ONE
        if pending[line] == _GROUP:
            _flush(pending, sums, table, line)
    for at in range(np.uint64(table.shape[0])):
        _flush(pending, sums, table, np.uint64(at))


@_compiled
def _add_bytes(eight: Word) -> Word:
    """Add up the eight bytes of a word: in pairs, which fit into 16 bits, then all of these in the highest ones."""
    pairs = (eight & _EVEN_BYTES) + ((eight >> _EIGHT) & _EVEN_BYTES)
    return (pairs * np.uint64(0x0001000100010001)) >> np.uint64(48)


@_compiled
def _flush(pending: WordArray, sums: WordArray, table: Whole, line: Word) -> None:
    """Add a line's rows, and its counts, which are held eight to a word, to its table, and begin anew."""
    table[line, 0] += pending[line]
    pending[line] = _ZERO
    for at in range(np.uint64(table.shape[1]) - _ONE):
        count = (sums[line, at // _EIGHT] >> (_EIGHT * (at % _EIGHT))) & _BYTE
        table[line, at + _ONE] += count
    sums[line, :] = _ZERO


def ask(
    words: WordArray,
    edges: Edges,
    first: int,
    scale: int,
    item: Whole,
    answers: Rows,
) -> None:
    """Draw an item for each of some people and round the weight of their edge to it."""
    starts = edges.start[first : first + len(item) + 1]
    last = edges.items - 1
    _ask(
        words,
        starts,
        edges.item,
        edges.weight,
        np.uint64(scale),
        last,
        item,
        answers,
    )


@_compiled
def _ask(
    words: WordArray,
    starts: Whole,
    items: Whole,
    weights: Real,
    scale: Word,
    last: int,
    drawn: Whole,
    answers: Rows,
) -> None:  # pragma: no cover - compiled
    for row in range(drawn.size):
        item = min(np.int64(words[row, 0] // scale), np.int64(last))
        drawn[row] = item
        low, high = starts[row], starts[row + 1]
        while low < high:
            middle = (low + high) // 2
            if items[middle] < item:
                low = middle + 1
            else:
                high = middle
        answers[row] = 0
        if low < starts[row + 1] and items[low] == item:
            weight = weights[low]
            threshold = (
                np.int64(np.rint(weight * 9223372036854775808.0))
                if weight < 1.0
                else np.int64(0)
            )
            plus = weight == 1.0 or words[row, 1] < (np.uint64(threshold) ^ _SIGN)
            answers[row] = 1 if plus else 2


@_compiled
def mark(
    words: WordArray, item: Whole, answers: Rows, steps: WordArray, out: Rows
) -> None:  # pragma: no cover - compiled
    """Draw a symbol for every item of each person, with a word for each."""
    for row in range(item.size):
        for column in range(words.shape[1]):
            out[row, column] = _is_marked(words[row, column], steps, 0)
        if item[row] >= 0:
            out[row, item[row]] = _is_marked(
                words[row, item[row]], steps, answers[row]
            )


@_compiled
def _is_marked(word: Word, steps: WordArray, answer: int) -> np.uint8:
    return np.uint8(word > steps[answer, 0]) + np.uint8(word > steps[answer, 1])


@_compiled
def count_marks(symbols: Rows, counts: Whole) -> None:  # pragma: no cover - compiled
    """Add how often each item is marked + and −."""
    for row in range(symbols.shape[0]):
        for column in range(symbols.shape[1]):
            symbol = symbols[row, column]
            counts[column, 0] += symbol == 1
            counts[column, 1] += symbol == 2
