"""The backend compiled with Numba: the functions of `vectors`; the same words in, the same responses out.

Importing this module needs the `fast` extra. Nothing is compiled before it is used, which then takes a fraction of a
second in each process: compiled code is not kept on disk, where it could go stale, be shared or be refused. Indices of
sets are unsigned throughout: Numba then leaves out the check for negative ones.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from deniable.bulk.backend import SHORT_DIVISOR
from deniable.bulk.random_words import MOST_FILLED, WordArray
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
        Thresholds,
        Whole,
    )
    from deniable.bulk.edges import Edges

CHUNK = COIN_WORDS = MOST_FILLED
"""Words that are drawn in one call of the cipher and used in one call of a kernel, both without Python's lock.

Why so many, which leave a core's own cache: what Python does between two such calls takes as long as a tenth of a
quarter of them, and there threads wait for each other.
"""

_ZERO, _ONE, _TWO, _SIX, _EIGHT, _CUT, _LOW_FOUR, _HALF, _LOW_SIX = (
    np.uint64(number) for number in (0, 1, 2, 6, 8, 11, 15, 32, 63)
)
_LOW_HALF = np.uint64((1 << 32) - 1)
_SIGN = np.uint64(1 << 63)
_TOP = np.uint64((1 << 64) - 1)
_DIGITS, _GROUP, _BYTE = np.uint64(DIGITS), np.uint64(GROUP), np.uint64(255)
_NIBBLES = np.uint64(
    0x6996
)  # bit i says whether the number i has an odd number of ones
_EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)
_PAIRS, _FOURS, _NIBBLE_BYTES, _LOW_BITS = (
    np.uint64(each * 0x0101010101010101) for each in (0x55, 0x33, 0x0F, 1)
)
_ABREAST = 64  # rows of sets that are filled side by side
_TWO_WORDS = 128  # categories up to which they are
_ROWS, _WORD_BITS, _NOBODY = (
    np.uint64(_ABREAST),
    np.uint64(64),
    np.uint64((1 << 64) - 1),
)
_SHORT_FORM = 1 << 28  # forms and answers up to this are cut into blocks by multiplying
_FORM_SHIFT = np.uint64(36)
_SIXTEEN = 16
_LAYER_BYTES = 512  # of a layer of planes: several vectors wide, and sixteen of them fit into the first cache
_FEWEST_LAYERS = 256  # from which on adding up the planes costs less than it saves
_CHECKED_CODES = (
    1 << 16
)  # codes that are checked and then counted while they are in the cache
_MOST_SYMBOLS = (
    1 << 18
)  # up to which four counts of each, in every thread, are no burden


def _compiled(function: Any) -> Any:
    return njit(nogil=True)(function)


def flip(words: WordArray, answers: Codes, out: Codes, below: int) -> None:
    """Turn the answers 0 and 1 around where the word is below a bound of at least 1."""
    _flip(words, answers, out, np.uint64(below - 1))


@_compiled
def _flip(words: Any, answers: Any, out: Any, most: Any) -> None:
    for i in range(words.size):
        out[i] = answers[i] ^ (words[i] <= most)


def divide(
    words: WordArray, answers: Codes, out: Codes, divisor: int, size: int
) -> None:
    """Send the q-th of the other categories with q = ⌊word / divisor⌋, or the answer where q ≥ size − 1."""
    last = np.uint64(size - 1)
    if divisor < SHORT_DIVISOR:
        _divide(words, answers, out, np.uint64(divisor), last)
    else:
        shift = divisor.bit_length() - 1
        reciprocal = ((1 << 32 + shift) - 1) // divisor
        _multiply(
            words,
            answers,
            out,
            np.uint64(divisor),
            np.uint64(reciprocal),
            np.uint64(shift),
            last,
        )


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
def _multiply(
    words: Any,
    answers: Any,
    out: Any,
    divisor: Any,
    reciprocal: Any,
    shift: Any,
    last: Any,
) -> None:
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


def climb(
    words: WordArray,
    columns: NDArray[np.intp],
    out: NDArray[np.intp],
    thresholds: Thresholds,
) -> None:
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
    _signs(
        words,
        answers,
        out,
        edge,
        large,
        small,
        _inverse(channel.large),
        _inverse(channel.small),
    )


@_compiled
def _signs(
    words: Any,
    answers: Any,
    out: Any,
    edge: Any,
    large: Any,
    small: Any,
    inverse_large: Any,
    inverse_small: Any,
) -> None:
    for i in range(words.size):
        column = np.uint64(answers[i]) + _ONE
        odd = np.uint64(words[i] >= edge)
        rest = words[i] - odd * edge
        # Both sides are chosen without a branch, which chance would mispredict every other time.
        number = _quotient(
            rest, small if odd else large, inverse_small if odd else inverse_large
        ) + (odd ^ _ONE)
        below = (column & (~column + _ONE)) - _ONE
        row = ((number & ~below) << _ONE) | (number & below)
        row |= (below + _ONE) * (_odd(row & column) ^ odd)
        out[i] = row - _ONE


def forms(words: WordArray, answers: Codes, out: Codes, channel: HashForms) -> None:
    """Draw a hash and the value of the answer under it, or another value."""
    per_hash, other, values = map(
        np.uint64, (channel.per_hash, channel.other, channel.values)
    )
    inverses = _inverse(channel.per_hash), _inverse(channel.other)
    if channel.values == 2:
        _parities(words, answers, out, per_hash, other, inverses[0])
        return
    given = (
        words,
        answers,
        out,
        per_hash,
        other,
        values,
        *inverses,
        channel.starts,
        channel.powers,
    )
    side = np.uint64(channel.side)
    if channel.dots.size and int(channel.powers[-1]) * channel.values <= _SHORT_FORM:
        _forms(*given, side, channel.dots, channel.sums, channel.blocks)
    else:
        _long_forms(*given, side, channel.dots, channel.sums)


@_compiled
def _parities(
    words: Any, answers: Any, out: Any, per_hash: Any, other: Any, inverse_hash: Any
) -> None:
    """Draw with two values: hash number n is the form n + 1, and its value the parity of the ones in common."""
    for i in range(words.size):
        number = _quotient(words[i], per_hash, inverse_hash)
        flip = np.uint64(words[i] - number * per_hash < other)
        out[i] = (number << _ONE) | (
            _odd((number + _ONE) & np.uint64(answers[i])) ^ flip
        )


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
        form, rest, value = (
            number - starts[length] + powers[length],
            np.uint64(answers[i]),
            np.uint64(0),
        )
        for _ in range(blocks):
            more, left = (form * cut) >> _FORM_SHIFT, (rest * cut) >> _FORM_SHIFT
            dot = np.uint64(dots[(form - more * side) * side + rest - left * side])
            value = (
                np.uint64(sums[value * values + dot]) if sums.size > 0 else value + dot
            )
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
        form, rest, value = (
            number - starts[length] + powers[length],
            np.uint64(answers[i]),
            np.uint64(0),
        )
        while form > 0 and rest > 0:
            a, x = form % side, rest % side
            dot = np.uint64(dots[a * side + x]) if dots.size > 0 else a * x % values
            value = (
                np.uint64(sums[value * values + dot]) if sums.size > 0 else value + dot
            )
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
    words: WordArray,
    true: Codes | WordArray,
    old: WordArray | None,
    out: WordArray,
    coins: Coins,
) -> tuple[int, int, bool]:
    """Draw rows of bits until the words run out or do not decide."""
    zero, stray, kept, hit = (coins.masks(kind) for kind in range(4))
    rules = coins.behind, coins.bounds, coins.ties, coins.last
    if old is None:
        # Where the two probabilities have different digits: the answer's own bit takes the other one.
        rows, used, left_open = _toss_answers(
            words, true, true, out, *rules, zero, zero ^ stray, zero, zero
        )
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
                    drawn |= (
                        coins
                        & ~seen
                        & digit_value(digit, true, was, base, by_true, by_old, by_both)
                    )
                    seen |= coins
                    at += blocks
                left = ~seen
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
def _value_by_true(
    digit: Any,
    true: Any,
    was: Any,  # noqa: ARG001 - nothing is out
    base: Any,
    by_true: Any,
    by_old: Any,  # noqa: ARG001 - nothing is out
    by_both: Any,  # noqa: ARG001 - nothing is out
) -> Any:
    return base[digit] ^ (true & by_true[digit])


@_compiled
def _value_by_both(
    digit: Any, true: Any, was: Any, base: Any, by_true: Any, by_old: Any, by_both: Any
) -> Any:
    return (
        base[digit]
        ^ (true & by_true[digit])
        ^ (was & by_old[digit])
        ^ (was & true & by_both[digit])
    )


_toss_answers = _coin_machine(_answer_bit, _no_bits, _value_by_true)
_toss_rows = _coin_machine(_bits_at, _bits_at, _value_by_both)


def fill(
    words: WordArray, answers: Codes, own: Flags, wanted: Whole, out: Rows, picks: Picks
) -> bool:
    """Write sets of `wanted` others, with the answer where it is `own`; return False where a word is thrown away."""
    given = words, answers, own, wanted
    others, division = (
        np.uint64(picks.size - 1),
        (picks.divisors, picks.reciprocals, picks.shifts, picks.lasts),
    )
    if picks.size <= _TWO_WORDS and len(out) >= _ABREAST:
        return bool(_fill_abreast(*given, _in_units(out), others, *division))
    drawn = _as_words(out, -(-picks.size // 64))
    good = _fill(*given, drawn, others, *division)
    if not np.may_share_memory(drawn, out):
        out[:] = drawn.astype("<u8", copy=False).view(np.uint8)[:, : out.shape[1]]
    return bool(good)


def _as_words(out: Rows, blocks: int) -> WordArray:
    """Return packed rows as words: themselves where they fill whole words, else scratch."""
    if out.shape[1] == 8 * blocks and out.flags.c_contiguous:
        return out.view(np.uint64)
    return np.empty((len(out), blocks), np.uint64)


def _in_units(out: Rows) -> Codes:
    """Return packed rows in units of the widest type that they are made up of: 1, 2, 4 or 8 bytes."""
    width = min(8, out.shape[1] & -out.shape[1])
    return out.view(np.dtype(f"u{width}")) if out.flags.c_contiguous else out


@_compiled
def _fill_abreast(
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
    """Fill many sets of at most 128 categories side by side, each in two words: a pick goes into all before the next.

    Why: the picks of one set wait for each other, those of different sets do not, and vectors hold several of them.
    """
    rows, steps = np.uint64(answers.size), np.uint64(divisors.size)
    low, high = np.empty(_ABREAST, np.uint64), np.empty(_ABREAST, np.uint64)
    drawn, passed = np.empty(_ABREAST, np.uint64), np.empty(_ABREAST, np.uint64)
    thrown = start = _ZERO
    while start < rows:
        start = min(
            start, rows - _ROWS
        )  # the last ones with some before them, which come out as they did
        for lane in range(_ROWS):
            low[lane] = high[lane] = _ZERO
            passed[lane] = steps - np.uint64(wanted[start + lane])
        for step in range(steps):
            for lane in range(_ROWS):
                drawn[lane] = words[start + lane, step]
            rule = divisors[step], reciprocals[step], shifts[step], lasts[step]
            thrown |= _put_abreast(
                drawn, passed, low, high, step, others - steps + step, rule
            )
        _make_room_abreast(
            low, high, answers[start : start + _ROWS], own[start : start + _ROWS]
        )
        _write_abreast(low, high, out[start : start + _ROWS])
        start += _ROWS
    return thrown == _ZERO


@_compiled
def _put_abreast(
    drawn: Any, passed: Any, low: Any, high: Any, step: Any, at: Any, rule: Any
) -> Any:
    """Take one step of Floyd's sampling in all sets that are past the picks they forget."""
    divisor, reciprocal, shift, last = rule
    at_low, at_high = _bit(at), _bit(at - _WORD_BITS)
    thrown = _ZERO
    for lane in range(_ROWS):
        word = drawn[lane]
        thrown |= np.uint64(word > last)
        pick = ((word >> _HALF) * (reciprocal & _LOW_HALF)) >> shift
        pick = min(pick + np.uint64(word - pick * divisor >= divisor), at)
        pick = pick if step >= passed[lane] else _NOBODY
        in_low, in_high = _bit(pick), _bit(pick - _WORD_BITS)
        # One that is in already changes nothing by going in again, and `at` goes in as well.
        taken = ((low[lane] & in_low) | (high[lane] & in_high)) != _ZERO
        low[lane] |= in_low | (at_low if taken else _ZERO)
        high[lane] |= in_high | (at_high if taken else _ZERO)
    return thrown


@_compiled
def _bit(place: Any) -> Any:
    """Return a word with one bit, or none where the place is outside."""
    return _ONE << place if place < _WORD_BITS else _ZERO


@_compiled
def _make_room_abreast(low: Any, high: Any, answers: Any, own: Any) -> None:
    """Move others from the answer's number on up by one, and put the answer in or not."""
    for lane in range(_ROWS):
        answer, one = np.uint64(answers[lane]), np.uint64(own[lane])
        here, there = _bit(answer), _bit(answer - _WORD_BITS)
        moved = (high[lane] << _ONE) | (low[lane] >> _LOW_SIX)
        high[lane] = moved if there == _ZERO else _opened(high[lane], there, one)
        low[lane] = _opened(low[lane], here, one)


@_compiled
def _opened(members: Any, bit: Any, own: Any) -> Any:
    """Move the members of a word from a bit on up by one, and write that bit; no bit leaves them as they are."""
    lower = members & (bit - _ONE)
    return lower | (bit & (_ZERO - own)) | ((members ^ lower) << _ONE)


@_compiled
def _write_abreast(low: Any, high: Any, out: Any) -> None:
    bits = np.uint64(8 * out.itemsize)
    for lane in range(_ROWS):
        for unit in range(np.uint64(out.shape[1])):
            members = low[lane] if unit * bits < _WORD_BITS else high[lane]
            out[lane, unit] = members >> ((unit * bits) & _LOW_SIX)


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
            picks[step] = pick + np.uint64(
                word - pick * divisors[step] >= divisors[step]
            )
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
        pick ^= (pick ^ at) & (
            _ZERO - taken
        )  # without a branch, which nobody could foresee
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
    members[block] = _opened(members[block], _ONE << place, own)


def nest(
    block: WordArray, olds: Rows, own: Whole, kinds: Whole, out: Rows, plans: Plans
) -> bool:
    """Draw a set from each row; `own` is the answer, or −1. Return False where a word does not decide."""
    ways = plans.bounds, plans.within, plans.beyond, plans.free, plans.inside
    return bool(
        _nest(block, np.ascontiguousarray(olds), own, kinds, out, plans.size, *ways)
    )


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
    picks, drawn = (
        np.empty(block.shape[1], np.uint64),
        np.empty((size + 63) // 64, np.uint64),
    )
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
def _pick(
    block: Any,
    row: Any,
    first: Any,
    count: Any,
    picks: Any,
    pool: Any,
    size: Any,
    drawn: Any,
    out: Any,
) -> Any:
    """Put so many of the first `size` members of a pool into a packed row; False where a word is thrown away."""
    for number in range(count):
        total = np.uint64(size - count + number + 1)
        picks[number] = (
            block[row, first + number] // _scale(total) if total > _ONE else _ZERO
        )
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


def decide_codes(
    words: WordArray, olds: Codes, answers: Codes, keep: Flags, yes: int, no: int
) -> bool:
    """Do the same where the kind is whether two codes are equal."""
    return bool(
        _decide_codes(words, olds, answers, keep, np.uint64(yes), np.uint64(no))
    )


@_compiled
def _decide_codes(
    words: Any, olds: Any, answers: Any, keep: Any, yes: Any, no: Any
) -> Any:
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


def raise_codes(
    block: WordArray, olds: Codes, answers: Codes, out: Codes, pair: DiagonalPair
) -> bool:
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
    if coding.ndim == 2:
        rows = np.ascontiguousarray(array)
        _refuse_impossible(channel, rows)
        return coding.count(rows) if channel.own_cells else _count_packed(channel, rows)
    if channel.cells > _MOST_SYMBOLS or not channel.own_cells:
        return coding.count(array)
    counts = np.zeros((4, channel.cells), np.int64)
    for start in range(0, array.size, _CHECKED_CODES):
        piece = np.ascontiguousarray(
            array[start : start + _CHECKED_CODES], dtype=array.dtype.newbyteorder("=")
        )
        piece = piece.view(
            piece.dtype.str.replace("i", "u")
        )  # negative numbers are the largest unsigned ones
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


def _refuse_impossible(channel: Any, rows: Rows) -> None:
    """Look at the bits behind the last category and, where not all are possible, at the size of every set.

    Raises:
        OverflowError: a row is one that the channel never sends.
    """
    behind = channel.size % 8 and (rows[:, -1] >> np.uint8(channel.size % 8)).any()
    allowed = np.zeros(8 * rows.shape[1] + 1, np.uint8)
    allowed[list(channel.sizes)] = 1
    if behind or (
        len(channel.sizes) <= channel.size
        and not _allowed_sizes(_in_units(rows), allowed)
    ):
        raise OverflowError


@_compiled
def _allowed_sizes(rows: Any, allowed: Any) -> Any:
    good = _ONE
    for row in range(np.uint64(rows.shape[0])):
        size = _ZERO
        for unit in range(np.uint64(rows.shape[1])):
            size += _ones(np.uint64(rows[row, unit]))
        good &= np.uint64(allowed[size])
    return good != _ZERO


@_compiled
def _ones(word: Any) -> Any:
    """Count the ones of a word: in pairs, in fours, in bytes, then in all; compilers make one instruction of it."""
    word -= (word >> _ONE) & _PAIRS
    word = (word & _FOURS) + ((word >> _TWO) & _FOURS)
    word = (word + (word >> np.uint64(4))) & _NIBBLE_BYTES
    return (word * _LOW_BITS) >> np.uint64(56)


def _count_packed(channel: Any, rows: Rows) -> Whole:
    counts = np.zeros(channel.cells, np.int64)
    if not channel.by_size:
        done = _count_planes(rows, counts)
        _count_rows(rows[done:], SPREAD, counts, np.zeros(rows.shape[1], np.uint64))
        return counts
    places = np.zeros(channel.size + 1, np.int64)
    places[list(channel.sizes)] = np.arange(len(channel.sizes))
    table = counts.reshape(-1, channel.size + 1)
    _count_by_size(
        rows, SPREAD, places, table, np.zeros((len(table), rows.shape[1]), np.uint64)
    )
    return counts


def _count_planes(rows: Rows, counts: Whole) -> int:
    """Count the bits of as many rows as fill whole layers of planes, and return how many these are.

    Rows are laid side by side until they fill whole words, and enough of them for vectors: a layer. Layer upon layer,
    the bits of one place are then counted in binary, each digit in a plane of its own.
    """
    width = rows.shape[1]
    beside: int = 8 // gcd(8, width)
    beside *= -(-_LAYER_BYTES // (beside * width))
    layers = len(rows) // (_SIXTEEN * beside) * _SIXTEEN
    if layers < _FEWEST_LAYERS:
        return 0
    words = rows[: layers * beside].reshape(layers, -1).view(np.uint64)
    found = np.zeros(64 * words.shape[1], np.int64)
    _add_layers(words, found)
    counts += found.reshape(beside, -1).sum(axis=0)[: len(counts)]
    return layers * beside


@_compiled
def _add_layers(layers: Any, counts: Any) -> None:
    """Add how often each bit is set, sixteen layers at a time."""
    number, width = layers.shape
    planes, sixteens = np.zeros((4, width), np.uint64), np.empty(width, np.uint64)
    sums, held = np.zeros((8, width), np.uint64), 0
    for start in range(0, number, _SIXTEEN):
        _add_sixteen(
            layers[start : start + _SIXTEEN],
            planes[0],
            planes[1],
            planes[2],
            planes[3],
            sixteens,
        )
        for bit in range(np.uint64(8)):
            for word in range(width):
                sums[bit, word] += (sixteens[word] >> bit) & _LOW_BITS
        held += 1
        if held == GROUP or start + _SIXTEEN == number:
            _flush_sums(sums, counts)
            held = 0
    for digit in range(4):
        for place in range(np.uint64(counts.size)):
            counts[place] += (
                (planes[digit, place >> _SIX] >> (place & _LOW_SIX)) & _ONE
            ) << np.uint64(digit)


@_compiled
def _add_sixteen(
    layers: Any, ones: Any, twos: Any, fours: Any, eights: Any, sixteens: Any
) -> None:
    """Add sixteen layers to the binary digits of the counts; what is carried out of them goes to the last plane."""
    for at in range(layers.shape[1]):
        one, two_a = _carry(ones[at], layers[0, at], layers[1, at])
        one, two_b = _carry(one, layers[2, at], layers[3, at])
        two, four_a = _carry(twos[at], two_a, two_b)
        one, two_a = _carry(one, layers[4, at], layers[5, at])
        one, two_b = _carry(one, layers[6, at], layers[7, at])
        two, four_b = _carry(two, two_a, two_b)
        four, eight_a = _carry(fours[at], four_a, four_b)
        one, two_a = _carry(one, layers[8, at], layers[9, at])
        one, two_b = _carry(one, layers[10, at], layers[11, at])
        two, four_a = _carry(two, two_a, two_b)
        one, two_a = _carry(one, layers[12, at], layers[13, at])
        one, two_b = _carry(one, layers[14, at], layers[15, at])
        two, four_b = _carry(two, two_a, two_b)
        four, eight_b = _carry(four, four_a, four_b)
        eight, sixteen = _carry(eights[at], eight_a, eight_b)
        ones[at], twos[at], fours[at], eights[at], sixteens[at] = (
            one,
            two,
            four,
            eight,
            sixteen,
        )


@_compiled
def _carry(one: Any, two: Any, three: Any) -> Any:
    """Add three bits in every place of a word: return the sum's lower and its upper digit."""
    unlike = one ^ two
    return unlike ^ three, (one & two) | (unlike & three)


@_compiled
def _flush_sums(sums: Any, counts: Any) -> None:
    """Add counts of sixteens, held eight to a word, and begin anew."""
    for place in range(np.uint64(counts.size)):
        held = sums[place & np.uint64(7), place >> _SIX]
        counts[place] += ((held >> (place & np.uint64(56))) & _BYTE) << np.uint64(4)
    sums[:] = _ZERO


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


def ask(
    words: WordArray, edges: Edges, first: int, scale: int, item: Whole, answers: Rows
) -> None:
    """Draw an item for each of some people and round the weight of their edge to it."""
    _ask(
        words,
        edges.start,
        edges.item,
        edges.weight,
        first,
        np.uint64(scale),
        edges.items - 1,
        item,
        answers,
    )


@_compiled
def _ask(
    words: Any,
    start: Any,
    owned: Any,
    weights: Any,
    first: Any,
    scale: Any,
    last: Any,
    item: Any,
    answers: Any,
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
            whole = (
                np.int64(np.rint(weight * 9223372036854775808.0))
                if weight < 1.0
                else np.int64(0)
            )
            plus = weight == 1.0 or words[row, 1] < (np.uint64(whole) ^ _SIGN)
            answers[row] = 1 if plus else 2


def mark(
    words: WordArray, item: Whole, answers: Rows, steps: WordArray, out: Rows
) -> None:
    """Draw a symbol for every item of each person, with a word for each."""
    _mark(words, item, answers, steps, out)


@_compiled
def _mark(
    words: Any, item: Any, answers: Any, steps: Any, out: Any
) -> None:  # pragma: no cover - compiled
    none, plus = steps[0, 0], steps[0, 1]
    for row in range(item.size):
        for place in range(words.shape[1]):
            word = words[row, place]
            out[row, place] = np.uint8(word > none) + np.uint8(word > plus)
        own = item[row]
        if own >= 0:
            word = words[row, own]
            out[row, own] = np.uint8(word > steps[answers[row], 0]) + np.uint8(
                word > steps[answers[row], 1]
            )


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
