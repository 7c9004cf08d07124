"""The backend in NumPy. `kernels` holds the same functions compiled; `backend.Backend` says what each does.

Integers are compared with integers throughout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.bulk.random_words import MOST_FILLED, WordArray
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
        Thresholds,
        Whole,
    )
    from deniable.bulk.edges import Edges

CHUNK = MOST_FILLED // 4
"""512 KiB, which stay in a core's own cache while NumPy goes over them several times."""

COIN_WORDS = CHUNK // 4
"""A quarter of a chunk, because `toss` makes several arrays of that length."""

_ONE, _TWO, _SIX, _LOW, _TOP = (
    np.uint64(number) for number in (1, 2, 6, 63, (1 << 64) - 1)
)

_TWO_WORDS = 128  # categories up to which a set is held in two words


def flip(words: WordArray, answers: Codes, out: Codes, below: int) -> None:
    """Turn the answers 0 and 1 around where the word is below a bound of at least 1."""
    # The bound may be 2^64 itself, which no word holds; one less always fits.
    np.bitwise_xor(answers, (words <= np.uint64(below - 1)).view(np.uint8), out=out)


def divide(
    words: WordArray, answers: Codes, out: Codes, divisor: int, size: int
) -> None:
    """Send the q-th of the other categories with q = ⌊word / divisor⌋, or the answer where q ≥ size − 1."""
    np.floor_divide(words, np.uint64(divisor), out=words)
    np.minimum(words, np.uint64(size - 1), out=words)
    np.copyto(
        out, words, casting="unsafe"
    )  # at most size − 1, which the type of codes holds
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


def climb(
    words: WordArray,
    columns: NDArray[np.intp],
    out: NDArray[np.intp],
    thresholds: Thresholds,
) -> None:
    """Count the thresholds of a column that lie below the word, by halving."""
    start = columns * thresholds.width
    at = start.copy()
    half = thresholds.width // 2
    while half:
        at += half * (thresholds.steps[at + (half - 1)] < words)
        half //= 2
    np.subtract(at, start, out=out)


def signs(words: WordArray, answers: Codes, out: Codes, channel: Signs) -> None:
    """Draw rows: those with +1 in the answer's column from the words below the edge, the others above it."""
    odd = words >= np.uint64(channel.edge)
    words -= odd * np.uint64(channel.edge)
    number = words // np.where(odd, np.uint64(channel.small), np.uint64(channel.large))
    number += ~odd  # the row that is +1 everywhere is left out
    column = answers.astype(np.uint64) + np.uint64(1)
    bit = column & -column
    row = (number & -bit) << np.uint64(1) | number & (bit - np.uint64(1))
    unlike = (np.bitwise_count(row & column) & np.uint8(1)).view(np.bool_) != odd
    row |= bit * unlike
    np.copyto(out, row - np.uint64(1), casting="unsafe")


def forms(words: WordArray, answers: Codes, out: Codes, channel: HashForms) -> None:
    """Draw a hash and the value of the answer under it, or another value."""
    number = words // np.uint64(channel.per_hash)
    words -= number * np.uint64(channel.per_hash)
    words //= np.uint64(channel.other)
    true = hashed(number, answers, channel)
    last = np.uint64(channel.values - 1)
    value = np.where(words >= last, true, words + (words >= true))
    np.copyto(out, number * np.uint64(channel.values) + value, casting="unsafe")


def hashed(number: WordArray, answers: Codes, channel: HashForms) -> WordArray:
    """Return the value of each answer under each hash."""
    length = np.searchsorted(channel.starts, number, side="right") - 1
    form: WordArray = number - channel.starts[length] + channel.powers[length]
    rest: WordArray = answers.astype(np.uint64)
    side, q = np.uint64(channel.side), np.uint64(channel.values)
    value = np.zeros(number.size, np.uint64)
    for _ in range(channel.blocks):
        form, a = np.divmod(form, side)
        rest, x = np.divmod(rest, side)
        more = channel.dots[a * side + x] if channel.dots.size else a * x % q
        value = (
            channel.sums[value * q + more].astype(np.uint64)
            if channel.sums.size
            else value + more
        )
    return value % q


def toss(
    words: WordArray,
    true: Codes | WordArray,
    old: WordArray | None,
    out: WordArray,
    coins: Coins,
) -> tuple[int, int, bool]:
    """Draw rows of bits until the words run out or do not decide."""
    undecided = _undecided(words, coins.blocks)
    starts, used = _starts(words, len(true), undecided, coins)
    if not len(starts):
        return 0, 0, False
    true, old = true[: len(starts)], None if old is None else old[: len(starts)]
    drawn = _decided(words, starts, true, old, coins)
    first = _decide_open(words, starts, undecided, (true, old), drawn, coins)
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
    after, at = (
        memoryview(follows),
        0,
    )  # quicker to ask for single numbers than an array
    starts: list[int] = []
    for _ in range(rows):
        following = after[at] if at < len(last) else end + 1
        if following > end:
            break
        starts.append(at)
        at = following
    return np.array(starts, np.int64), at


def _decided(
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
        at, block = np.arange(len(rows)), (true >> 6).astype(np.intp)
        drawn, own = (
            _by_digits(rows, coins.heads[0]),
            _by_digits(rows[at, :, block], coins.heads[1]),
        )
        drawn[at, block] ^= (drawn[at, block] ^ own) & (
            _ONE << (true.astype(np.uint64) & _LOW)
        )
    else:
        drawn = np.zeros_like(old)
        for kind, masks in enumerate(
            (~old & ~true, ~old & true, old & ~true, old & true)
        ):
            drawn |= _by_digits(rows, coins.heads[kind]) & masks
    drawn[:, -1] &= ~coins.behind
    return drawn


def _by_digits(coins: WordArray, head: int) -> WordArray:
    """Return for each bit the digit of the first of its eight coins that is 1, or 0."""
    drawn = np.zeros_like(coins[:, 0])
    for digit in reversed(range(DIGITS)):  # an earlier coin overrules a later one
        coin = coins[:, digit]
        if head >> (DIGITS - 1 - digit) & 1:
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
    each, place = np.nonzero(np.unpackbits(bits, axis=1, bitorder="little"))
    row, block, shift = row[each], block[each], place.astype(np.uint64)
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    word = words[starts[row] + DIGITS * coins.blocks + rank]
    true, old = kinds
    if old is None:
        kind = (64 * block + place == true[row]).astype(np.intp)
    else:
        kind = (
            (old[row, block] >> shift & _ONE) * _TWO
            + (true[row, block] >> shift & _ONE)
        ).astype(np.intp)
    bounds = coins.bounds[kind]
    np.bitwise_or.at(drawn, (row, block), (word < bounds).astype(np.uint64) << shift)
    doubtful = (word > coins.last) | (word - bounds < coins.ties[kind])
    return int(row[doubtful.argmax()]) if doubtful.any() else -1


def fill(
    words: WordArray, answers: Codes, own: Flags, wanted: Whole, out: Rows, picks: Picks
) -> bool:
    """Write sets of `wanted` others, with the answer where it is `own`; return False where a word is thrown away."""
    if (words > picks.lasts).any():
        return False
    if picks.size <= _TWO_WORDS:
        low, high = _in_two_words(words, wanted, picks)
        sets = np.stack(_make_room(low, high, answers, own), axis=1).astype(
            "<u8", copy=False
        )
        out[:] = sets.view(np.uint8)[:, : out.shape[1]]
    else:
        out[:] = np.packbits(
            _in_flags(words, answers, own, wanted, picks), axis=1, bitorder="little"
        )
    return True


def _in_two_words(
    words: WordArray, wanted: Whole, picks: Picks
) -> tuple[WordArray, WordArray]:
    """Return sets of others, by number among them, of at most 128 categories: two words for each, lower and higher."""
    steps, others, fewest = (
        words.shape[1],
        picks.size - 1,
        int(wanted.min(initial=words.shape[1])),
    )
    low, high = np.zeros(len(words), np.uint64), np.zeros(len(words), np.uint64)
    for step in range(steps):
        at = others - steps + step
        pick = np.minimum(words[:, step] // picks.divisors[step], np.uint64(at))
        bit = _ONE << (pick & _LOW)
        if fewest < steps - step:
            bit *= wanted >= steps - step
        in_high = bit * (pick >> _SIX)
        bit ^= in_high
        # One that is in already changes nothing by going in again, and `at` goes in as well.
        taken = (((low & bit) | (high & in_high)) != 0).astype(np.uint64)
        low |= bit
        high |= in_high
        held = high if at >= 64 else low
        held |= taken << np.uint64(at & 63)
    return low, high


def _make_room(
    low: WordArray, high: WordArray, answers: Codes, own: Flags
) -> tuple[WordArray, WordArray]:
    """Move others from the answer's number on up by one, and put the answer in or not."""
    place = answers.astype(np.uint64) & _LOW
    below, mine = (_ONE << place) - _ONE, own.astype(np.uint64) << place

    def opened(members: WordArray) -> WordArray:
        lower = members & below
        return lower | mine | ((members ^ lower) << _ONE)

    above = answers > _LOW
    moved = (high << _ONE) | (low >> _LOW)
    return np.where(above, low, opened(low)), np.where(above, opened(high), moved)


def _in_flags(
    words: WordArray, answers: Codes, own: Flags, wanted: Whole, picks: Picks
) -> Flags:
    """Return sets of any number of categories, a flag for each."""
    steps, others = words.shape[1], picks.size - 1
    members = np.zeros(
        (len(words), picks.size), np.bool_
    )  # by number among the others; the last place is nobody's
    for step in range(steps):
        at = others - steps + step
        pick = np.minimum(words[:, step] // picks.divisors[step], np.uint64(at)).astype(
            np.intp
        )
        taking = wanted >= steps - step
        rows = np.arange(len(words)) if taking.all() else np.flatnonzero(taking)
        _put(members, rows, pick[rows], at)
    place = np.arange(picks.size)
    answer = answers.astype(np.intp)[:, None]
    moved = np.empty_like(members)
    moved[:, 0] = False
    moved[:, 1:] = members[:, :-1]
    sets = np.where(place < answer, members, moved)
    sets[np.arange(len(words)), answers] = own
    return sets


def _put(
    members: Flags, rows: NDArray[np.intp], pick: NDArray[np.intp], at: Any
) -> None:
    """Put a pick into each set, or `at` where it is in already: one step of Floyd's sampling."""
    members[rows, np.where(members[rows, pick], at, pick)] = True


def nest(
    block: WordArray, olds: Rows, own: Whole, kinds: Whole, out: Rows, plans: Plans
) -> bool:
    """Draw a set from each row; `own` is the answer, or −1. Return False where a word does not decide."""
    heads = np.ascontiguousarray(block[:, 0])
    bounds = plans.bounds[kinds]
    if (bounds == heads[:, None]).any():
        return False
    way = (bounds < heads[:, None]).sum(axis=1)
    within, beyond = plans.within[kinds, way], plans.beyond[kinds, way]
    others = np.ones((len(olds), plans.size), np.bool_)
    rows, answered = np.arange(len(olds)), own >= 0
    others[rows[answered], own[answered]] = False
    known = (
        np.unpackbits(olds, axis=1, count=plans.size, bitorder="little").view(np.bool_)
        & others
    )
    free = plans.free[kinds, way]
    known[free] = others[free]
    one = _picked(block[:, 1:], known, within, np.zeros_like(within))
    two = _picked(block[:, 1:], others & ~known, beyond, within)
    if one is None or two is None:
        return False
    found = one | two
    put_in = plans.inside[kinds, way]
    found[rows[put_in], own[put_in]] = True
    out[:] = np.packbits(found, axis=1, bitorder="little")
    return True


def _picked(words: WordArray, pool: Flags, count: Whole, start: Whole) -> Flags | None:
    """Pick so many members of each pool, with the words from a place on; None where one of these is thrown away."""
    sizes = pool.sum(axis=1)
    drawn = np.zeros(
        (len(pool), pool.shape[1] + 1), np.bool_
    )  # by rank within the pool; the last place is nobody's
    for number in range(int(count.max(initial=0))):
        rows = np.flatnonzero(number < count)
        at = sizes[rows] - count[rows] + number
        total = (at + 1).astype(np.uint64)
        scale = _TOP // total + (
            total & (total - _ONE) == 0
        )  # ⌊2^64 / total⌋; of 1 it is 0 here, not 2^64
        scale[total == 1] = _TOP
        pick = words[rows, start[rows] + number] // scale
        # The words from scale·total on are thrown away; where that is 2^64 there are none.
        if ((pick >= total) & (total > 1)).any():
            return None
        _put(drawn, rows, np.minimum(pick, at.astype(np.uint64)).astype(np.intp), at)
    rank = np.where(pool, np.cumsum(pool, axis=1) - 1, pool.shape[1])
    return np.asarray(np.take_along_axis(drawn, rank, axis=1) & pool, np.bool_)


def decide(words: WordArray, like: Flags, keep: Flags, yes: int, no: int) -> bool:
    """Say for each row whether its word is below the bound of its kind; return False where one may be equal.

    Why all words are compared with both bounds: that is several times quicker than to choose a bound for each.
    """
    words = np.ascontiguousarray(words)
    if (words == np.uint64(yes)).any() or (words == np.uint64(no)).any():
        return False
    if yes == no:
        np.less(words, np.uint64(yes), out=keep)
        return True
    below_no = words < np.uint64(no)
    below_no &= ~like
    below_yes = words < np.uint64(yes)
    below_yes &= like
    np.bitwise_or(below_yes, below_no, out=keep)
    return True


def decide_codes(
    words: WordArray, olds: Codes, answers: Codes, keep: Flags, yes: int, no: int
) -> bool:
    """Do the same where the kind is whether two codes are equal."""
    return decide(words, olds == answers, keep, yes, no)


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
    keep = np.empty(len(olds), np.bool_)
    if not decide_codes(block[:, 0], olds, answers, keep, pair.yes, pair.no):
        return False
    if pair.size == 2:  # a comparison is several times quicker than a quotient
        flip(block[:, 1], answers, out, pair.divisor)
    else:
        divide(block[:, 1].copy(), answers, out, pair.divisor, pair.size)
    merge(olds, keep, out)
    return True


def count(coding: Coding, array: NDArray[Any]) -> Whole:
    """Return the counts of the cells of a tally."""
    if coding.ndim > 1 and coding.impossible(array) is not None:
        raise OverflowError
    return coding.count(array)


def ask(
    words: WordArray, edges: Edges, first: int, scale: int, item: Whole, answers: Rows
) -> None:
    """Draw an item for each of some people and round the weight of their edge to it."""
    np.floor_divide(words[:, 0], np.uint64(scale), out=item, casting="unsafe")
    np.minimum(
        item, edges.items - 1, out=item
    )  # of one item alone every word is its own, and 2^64 is no word
    wanted = (first + np.arange(len(item), dtype=np.int64)) * edges.items + item
    low, high = int(edges.start[first]), int(edges.start[first + len(item)])
    keys = edges.keys[low:high]
    if not len(keys):
        answers[:] = 0
        return
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    there = keys[at] == wanted
    rounded(words[:, 1], edges, np.where(there, low + at, -1), answers)


def rounded(words: WordArray, edges: Edges, edge: Whole, answers: Rows) -> None:
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
    np.add(
        words > steps[0, 0],
        words > steps[0, 1],
        out=out,
        casting="unsafe",
        dtype=np.uint8,
    )
    rows = np.flatnonzero(item >= 0)
    own, bounds = words[rows, item[rows]], steps[answers[rows]]
    out[rows, item[rows]] = (own > bounds[:, 0]).astype(np.uint8) + (own > bounds[:, 1])


def count_marks(symbols: Rows, counts: Whole) -> None:
    """Add how often each item is marked + and −."""
    counts[:, 0] += (symbols == 1).sum(axis=0)
    counts[:, 1] += (symbols == 2).sum(axis=0)
