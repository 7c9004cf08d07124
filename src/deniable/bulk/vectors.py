"""The backend in NumPy. `kernels` holds the same functions compiled; `backend.Backend` says what each does.

Integers are compared with integers throughout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.bulk.random_words import MAX_FILLED, WordArray
from deniable.chance import WORD
from deniable.channel.coding import Coding, Rows
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
    from deniable.bulk.edges import Edges

CHUNK = MAX_FILLED // 4
"""512 KiB, which stay in a core's own cache while NumPy goes over them several times."""

COIN_WORDS = CHUNK // 4
"""A quarter of a chunk, because `toss` makes several arrays of that length."""

_ONE, _TWO, _SIX, _LOW, _TOP = (
    np.uint64(number) for number in (1, 2, 6, 63, (1 << 64) - 1)
)

TWO_WORDS = 128
"""Categories up to which a set is held in two words."""


def flip(words: WordArray, answers: Codes, out: Codes, last: np.uint64) -> None:
    """Turn the answers 0 and 1 around up to the last word that does so."""
    np.bitwise_xor(answers, (words <= last).view(np.uint8), out=out)


def divide(
    words: WordArray, answers: Codes, out: Codes, divisor: int, size: int
) -> None:
    """Send the q-th of the other categories with q = ⌊word / divisor⌋, or the answer where q ≥ size − 1."""
    np.floor_divide(words, np.uint64(divisor), out=words)
    np.minimum(words, np.uint64(size - 1), out=words)
    # At most size − 1, which the type of codes holds.
    np.copyto(out, words, casting="unsafe")
    send(out, answers, size)


def send(out: Codes, answers: Codes, size: int) -> None:
    """Turn q in `out`, at most size − 1, into the q-th of the other categories, or the answer where q = size − 1.

    Why the exclusive or: a masked copy stumbles over every second row where the answer is kept at random.
    """
    keep = out == out.dtype.type(size - 1)
    out += (out >= answers).view(np.uint8)
    change = out ^ answers
    change *= keep.view(np.uint8)
    out ^= change


def count_below(
    words: WordArray,
    columns: NDArray[np.intp],
    out: NDArray[np.intp],
    steps: WordArray,
    width: int,
) -> None:
    """Count the thresholds of a column that lie below the word, by halving."""
    start = columns * width
    at = start.copy()
    half = width // 2
    while half:
        at += half * (steps[at + (half - 1)] < words)
        half //= 2
    np.subtract(at, start, out=out)


def signs(words: WordArray, answers: Codes, out: Codes, channel: Signs) -> None:
    """Draw rows: those with +1 in the answer's column from the words below the edge, the others above it."""
    odd = words >= channel.edge
    words -= odd * channel.edge
    number = words // np.where(odd, channel.small, channel.large)
    number += ~odd  # the row that is +1 everywhere is left out
    column = answers.astype(np.uint64) + _ONE
    bit = column & -column
    row = (number & -bit) << _ONE | number & (bit - _ONE)
    unlike = (np.bitwise_count(row & column) & np.uint8(1)).view(np.bool_) != odd
    row |= bit * unlike
    np.copyto(out, row - _ONE, casting="unsafe")


def forms(words: WordArray, answers: Codes, out: Codes, channel: HashForms) -> None:
    """Draw a hash and the value of the answer under it, or another value."""
    number = words // channel.per_hash
    words -= number * channel.per_hash
    words //= channel.other
    true = hasheds(number, answers, channel)
    value = np.where(words >= channel.values - _ONE, true, words + (words >= true))
    np.copyto(out, number * channel.values + value, casting="unsafe")


def hasheds(number: WordArray, answers: Codes, channel: HashForms) -> WordArray:
    """Return the value of each answer under each hash."""
    length = np.searchsorted(channel.starts, number, side="right") - 1
    form: WordArray = number - channel.starts[length] + channel.powers[length]
    digits: WordArray = answers.astype(np.uint64)
    side, q, sums = channel.side, channel.values, channel.sums
    value = np.zeros(number.size, np.uint64)
    for _ in range(channel.blocks):
        form, a = np.divmod(form, side)
        digits, x = np.divmod(digits, side)
        dot = channel.dots[a * side + x] if channel.dots.size else a * x % q
        value = sums[value * q + dot].astype(np.uint64) if sums.size else value + dot
    return value % q


def as_words(rows: Rows, blocks: int) -> WordArray:
    """Return room for packed rows as words: the rows themselves where they fill whole words, else other room."""
    if rows.shape[1] == 8 * blocks and rows.flags.c_contiguous:
        return rows.view("<u8").astype(np.uint64, copy=False)
    return np.empty((len(rows), blocks), np.uint64)


def write_words(words: WordArray, rows: Rows) -> None:
    """Write what `as_words` gave room for to the rows, where it is not there already."""
    if not np.may_share_memory(words, rows):
        rows[:] = words.astype("<u8", copy=False).view(np.uint8)[:, : rows.shape[1]]


def toss(
    words: WordArray,
    true: Codes | WordArray,
    old: WordArray | None,
    out: WordArray,
    coins: Coins,
) -> tuple[int, int, bool]:
    """Draw rows of bits until the words run out or do not decide."""
    undecided = _open_bits(words, coins.blocks)
    starts, used = _starts(words, len(true), undecided, coins)
    rows = len(starts)
    if not rows:
        return 0, 0, False
    true, old = true[:rows], None if old is None else old[:rows]
    drawn = _settled_bits(words, starts, true, old, coins)
    first = _decide_open(words, starts, undecided, (true, old), drawn, coins)
    if first >= 0:
        rows, used = first, int(starts[first])
    out[:rows] = drawn[:rows]
    return rows, used, first >= 0


def _open_bits(words: WordArray, blocks: int) -> WordArray:
    """Return for each word, as the first coins of a block, the bits that eight coins leave open."""
    ones, step = words, blocks
    # coins 1 and 2, then 1 to 4, then 1 to 8
    for _ in range(DIGITS.bit_length() - 1):
        if len(ones) <= step:
            return ones[:0]
        ones, step = ones[:-step] | ones[step:], 2 * step
    return ~ones


def _starts(
    words: WordArray, rows: int, undecided: WordArray, coins: Coins
) -> tuple[Whole, int]:
    """Return where the rows begin, and where the next one would: each takes its coins and a word for each open bit."""
    blocks, end = coins.blocks, len(words)
    last = np.bitwise_count(undecided & ~coins.behind)[blocks - 1 :]
    follows = np.arange(DIGITS * blocks, DIGITS * blocks + len(last)) + last
    if blocks > 1:
        sums = np.cumsum(np.bitwise_count(undecided), dtype=np.int32)
        follows += sums[blocks - 2 : blocks - 2 + len(last)]
        follows[1:] -= sums[: len(last) - 1]
    after, at = memoryview(follows), 0  # quicker to ask for single numbers
    starts: list[int] = []
    for _ in range(rows):
        following = after[at] if at < len(last) else end + 1
        if following > end:
            break
        starts.append(at)
        at = following
    return np.array(starts, np.int64), at


def _settled_bits(
    words: WordArray,
    starts: Whole,
    true: Codes | WordArray,
    old: WordArray | None,
    coins: Coins,
) -> WordArray:
    """Return the bits that the eight coins decide; open ones are 0."""
    rows = words[starts[:, None] + np.arange(DIGITS * coins.blocks)].reshape(
        -1, DIGITS, coins.blocks
    )
    if old is None:  # one bit is of another class than all others
        row, block = np.arange(len(rows)), (true >> 6).astype(np.intp)
        drawn = _by_digits(rows, coins.digits[0])
        answer_bits = _by_digits(rows[row, :, block], coins.digits[1])
        mask = _ONE << (true.astype(np.uint64) & _LOW)
        drawn[row, block] ^= (drawn[row, block] ^ answer_bits) & mask
    else:
        masks = ~old & ~true, ~old & true, old & ~true, old & true
        drawn = np.zeros_like(old)
        for digits, mask in zip(coins.digits, masks, strict=True):
            drawn |= _by_digits(rows, digits) & mask
    drawn[:, -1] &= ~coins.behind
    return drawn


def _by_digits(coins: WordArray, digits: WordArray) -> WordArray:
    """Return for each bit the digit of the first of its eight coins that is 1, or 0."""
    drawn = np.zeros_like(coins[:, 0])
    for digit in reversed(range(DIGITS)):  # an earlier coin overrules a later one
        coin = coins[:, digit]
        if digits[digit]:
            drawn |= coin
        else:
            drawn &= ~coin
    return drawn


def _decide_open(
    words: WordArray,
    starts: Whole,
    undecided: WordArray,
    kinds: tuple[Codes | WordArray, WordArray | None],
    drawn: WordArray,
    coins: Coins,
) -> int:
    """Decide the open bits, each by a word behind the coins; return the first row whose word does not, or −1."""
    left = undecided[starts[:, None] + np.arange(coins.blocks)]
    left[:, -1] &= ~coins.behind
    row, block = np.nonzero(left)
    bits = left[row, block].astype("<u8").view(np.uint8).reshape(-1, WORD)
    entry, position = np.nonzero(np.unpackbits(bits, axis=1, bitorder="little"))
    row, block, shift = row[entry], block[entry], position.astype(np.uint64)
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    word = words[starts[row] + DIGITS * coins.blocks + rank]
    true, old = kinds
    if old is None:
        kind = (64 * block + position == true[row]).astype(np.intp)
    else:
        was, is_true = (bits[row, block] >> shift & _ONE for bits in (old, true))
        kind = (was * _TWO + is_true).astype(np.intp)
    bounds = coins.bounds[kind]
    np.bitwise_or.at(drawn, (row, block), (word < bounds).astype(np.uint64) << shift)
    doubtful = (word > coins.last) | (word - bounds < coins.ties[kind])
    return int(row[doubtful.argmax()]) if doubtful.any() else -1


def fill(
    words: WordArray,
    answers: Codes,
    inside: Flags,
    others: Whole,
    out: Rows,
    picks: Picks,
) -> bool:
    """Write sets of `others`, so many, with the answer where it is `inside`; False where a word is thrown away."""
    if (words > picks.lasts).any():
        return False
    if picks.size <= TWO_WORDS:
        low, high = _in_two_words(words, others, picks)
        sets = np.stack(_make_room(low, high, answers, inside), axis=1)
        write_words(sets, out)
    else:
        flags = _in_flags(words, answers, inside, others, picks)
        out[:] = np.packbits(flags, axis=1, bitorder="little")
    return True


def _in_two_words(
    words: WordArray, others: Whole, picks: Picks
) -> tuple[WordArray, WordArray]:
    """Return sets of others, by number among them, of at most 128 categories: two words for each, lower and higher."""
    steps = words.shape[1]
    fewest = int(others.min(initial=steps))
    low, high = np.zeros((2, len(words)), np.uint64)
    for step in range(steps):
        highest = picks.size - 1 - steps + step
        pick = np.minimum(words[:, step] // picks.divisors[step], np.uint64(highest))
        bit = _ONE << (pick & _LOW)
        if fewest < steps - step:
            bit *= others >= steps - step
        in_high = bit * (pick >> _SIX)
        bit ^= in_high
        # One that is in already changes nothing by going in again, and the highest goes in as well.
        taken = (((low & bit) | (high & in_high)) != 0).astype(np.uint64)
        low |= bit
        high |= in_high
        members = high if highest >= 64 else low
        members |= taken << np.uint64(highest & 63)
    return low, high


def _make_room(
    low: WordArray, high: WordArray, answers: Codes, inside: Flags
) -> tuple[WordArray, WordArray]:
    """Move others from the answer's number on up by one, and put the answer in or not."""
    position = answers.astype(np.uint64) & _LOW
    below, answer_bit = (
        (_ONE << position) - _ONE,
        inside.astype(np.uint64) << position,
    )

    def opened(members: WordArray) -> WordArray:
        lower = members & below
        return lower | answer_bit | ((members ^ lower) << _ONE)

    above = answers > _LOW
    moved = (high << _ONE) | (low >> _LOW)
    return np.where(above, low, opened(low)), np.where(above, opened(high), moved)


def _in_flags(
    words: WordArray, answers: Codes, inside: Flags, others: Whole, picks: Picks
) -> Flags:
    """Return sets of any number of categories, a flag for each."""
    steps, rows = words.shape[1], np.arange(len(words))
    # By number among the others; the last column is nobody's.
    members = np.zeros((len(words), picks.size), np.bool_)
    for step in range(steps):
        highest = picks.size - 1 - steps + step
        pick = np.minimum(words[:, step] // picks.divisors[step], np.uint64(highest))
        taking = others >= steps - step
        chosen = rows if taking.all() else np.flatnonzero(taking)
        _insert_pick(members, chosen, pick[chosen].astype(np.intp), highest)
    moved = np.zeros_like(members)
    moved[:, 1:] = members[:, :-1]
    is_below = np.arange(picks.size) < answers.astype(np.intp)[:, None]
    sets = np.where(is_below, members, moved)
    sets[rows, answers] = inside
    return sets


def _insert_pick(
    members: Flags,
    rows: NDArray[np.intp],
    pick: NDArray[np.intp],
    highest: int | Whole,
) -> None:
    """Insert a pick into each set, or the highest index where it is a member already: one step of Floyd's sampling."""
    members[rows, np.where(members[rows, pick], highest, pick)] = True


def nest(
    block: WordArray,
    olds: Rows,
    answers: Whole,
    kinds: Whole,
    out: Rows,
    plans: Plans,
) -> bool:
    """Draw a set from each row; the answer is −1 where there is none. Return False where a word does not decide."""
    heads = np.ascontiguousarray(block[:, 0])
    bounds = plans.bounds[kinds]
    if (bounds == heads[:, None]).any():
        return False
    plan = kinds, (bounds < heads[:, None]).sum(axis=1)
    within, beyond = plans.within[plan], plans.beyond[plan]
    others = np.ones((len(olds), plans.size), np.bool_)
    rows = np.flatnonzero(answers >= 0)
    others[rows, answers[rows]] = False
    members = others & np.unpackbits(
        olds, axis=1, count=plans.size, bitorder="little"
    ).view(np.bool_)
    free = plans.free[plan]
    members[free] = others[free]
    inner = _pick(block[:, 1:], members, within, np.zeros_like(within))
    outer = _pick(block[:, 1:], others & ~members, beyond, within)
    if inner is None or outer is None:
        return False
    sets = inner | outer
    rows = np.flatnonzero(plans.inside[plan])
    sets[rows, answers[rows]] = True
    out[:] = np.packbits(sets, axis=1, bitorder="little")
    return True


def _pick(words: WordArray, pool: Flags, count: Whole, start: Whole) -> Flags | None:
    """Pick so many members of each pool, with the words from a start on; None where one of these is thrown away."""
    sizes = pool.sum(axis=1)
    # By rank within the pool; the last column is nobody's.
    drawn = np.zeros((len(pool), pool.shape[1] + 1), np.bool_)
    for number in range(int(count.max(initial=0))):
        rows = np.flatnonzero(number < count)
        highest = sizes[rows] - count[rows] + number
        total = (highest + 1).astype(np.uint64)
        # ⌊2^64 / total⌋; of 1 it is 0 here, not 2^64
        scale = _TOP // total + (total & (total - _ONE) == 0)
        scale[total == 1] = _TOP
        pick = words[rows, start[rows] + number] // scale
        # The words from scale·total on are thrown away; where that is 2^64 there are none.
        if ((pick >= total) & (total > 1)).any():
            return None
        pick = np.minimum(pick, highest.astype(np.uint64))
        _insert_pick(drawn, rows, pick.astype(np.intp), highest)
    rank = np.where(pool, np.cumsum(pool, axis=1) - 1, pool.shape[1])
    return np.asarray(np.take_along_axis(drawn, rank, axis=1) & pool, np.bool_)


def decide(
    words: WordArray, like: Flags, keep: Flags, yes: np.uint64, no: np.uint64
) -> bool:
    """Say for each row whether its word is below the bound of its kind; return False where one may be equal.

    Why all words are compared with both bounds: that is several times quicker than to choose a bound for each.
    """
    words = np.ascontiguousarray(words)
    if (words == yes).any() or (words == no).any():
        return False
    if yes == no:
        np.less(words, yes, out=keep)
        return True
    below_no = words < no
    below_no &= ~like
    below_yes = words < yes
    below_yes &= like
    np.bitwise_or(below_yes, below_no, out=keep)
    return True


def merge(olds: Codes, keep: Flags, out: Codes) -> None:
    """Put back the old codes where they are kept.

    Why the exclusive or: a masked copy stumbles over every second row where it is kept at random.
    """
    change = out ^ olds
    change *= keep.view(np.uint8)
    out ^= change


def raise_codes(
    block: WordArray, olds: Codes, answers: Codes, out: Codes, pair: DiagonalPair
) -> bool:
    """Keep the old code or draw a fresh one; return False where a word decides nothing."""
    keep, divisor = np.empty(len(olds), np.bool_), pair.division.divisor
    if not decide(block[:, 0], olds == answers, keep, pair.yes, pair.no):
        return False
    if pair.last == 1:  # a comparison is several times quicker than a quotient
        flip(block[:, 1], answers, out, divisor - _ONE)
    else:
        divide(block[:, 1].copy(), answers, out, int(divisor), int(pair.last) + 1)
    merge(olds, keep, out)
    return True


def count(coding: Coding, array: NDArray[Any]) -> Whole:
    """Return the counts of the cells of a tally."""
    if coding.ndim > 1 and coding.impossible(array) is not None:
        raise OverflowError
    return coding.count(array)


def ask(
    words: WordArray,
    edges: Edges,
    first: int,
    scale: int,
    item: Whole,
    answers: Rows,
) -> None:
    """Draw an item for each of some people and round the weight of their edge to it."""
    np.floor_divide(words[:, 0], np.uint64(scale), out=item, casting="unsafe")
    # Of one item alone every word is its own, and 2^64 is no word.
    np.minimum(item, edges.items - 1, out=item)
    people = first + np.arange(len(item), dtype=np.int64)
    targets = people * edges.items + item
    low, high = int(edges.start[first]), int(edges.start[first + len(item)])
    keys = edges.keys[low:high]
    if not len(keys):
        answers[:] = 0
        return
    at = np.minimum(np.searchsorted(keys, targets), len(keys) - 1)
    round_weights(
        words[:, 1], edges, np.where(keys[at] == targets, low + at, -1), answers
    )


def round_weights(
    words: WordArray, edges: Edges, edge: Whole, answers: Rows
) -> None:
    """Round the weights of some edges, −1 for none, with a word for each."""
    if not len(edges.weight):
        answers[:] = 0
        return
    plus = (words < edges.thresholds[edge]) | (edges.weight[edge] == 1)
    answers[:] = np.where(edge < 0, 0, 2 - plus)


def mark(
    words: WordArray, item: Whole, answers: Rows, steps: WordArray, out: Rows
) -> None:
    """Draw a symbol for every item of each person, with a word for each."""
    none, plus = words > steps[0, 0], words > steps[0, 1]
    np.add(none, plus, out=out, casting="unsafe", dtype=np.uint8)
    rows = np.flatnonzero(item >= 0)
    own_words, bounds = words[rows, item[rows], None], steps[answers[rows]]
    out[rows, item[rows]] = (own_words > bounds).sum(axis=1)


def count_marks(symbols: Rows, counts: Whole) -> None:
    """Add how often each item is marked + and −."""
    counts[:, 0] += (symbols == 1).sum(axis=0)
    counts[:, 1] += (symbols == 2).sum(axis=0)
