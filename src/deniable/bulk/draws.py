"""Channels prepared for many draws at once, a class for each way of drawing.

`FAST_DRAWS` names the kinds of channel that have one; any other is drawn from answer by answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from deniable import chance
from deniable.bulk.backend import (
    Backend,
    Codes,
    Coins,
    Flags,
    HashForms,
    Picks,
    Signs,
    Thresholds,
)
from deniable.bulk.random_words import Replay, Slot, Slots, WordArray, Words
from deniable.bulk.vectors import as_words, hasheds, send, write_words
from deniable.channel import (
    Bits,
    Channel,
    Dense,
    Diagonal,
    Hadamard,
    Hashing,
    Mixture,
    Product,
    Subset,
)
from deniable.channel.coding import Rows, code_type
from deniable.channel.sets import DIGITS, Part

MAX_THRESHOLDS = 1 << 22
"""Beyond this they would take more memory than the rows that are compared with them."""

CATEGORIES_A_WORD = 64
"""For which NumPy holds a byte each while it draws sets, for each word of the chunk."""

# Responses up to which quotients are short enough for kernels to divide by multiplying.
_MAX_CODED_RESPONSES = 1 << 40


class Draw:
    """A channel made ready: `into` gives what `channel.draw` would give answer by answer, and takes no byte more.

    By itself it draws from any channel at all, at the speed of the scalar draw.

    Attributes:
        channel: what is drawn from.
        answers: how many answers there are.
        width: words that one answer takes, for choosing how many are worked on at a time.
    """

    width = 1

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.answers = channel.answers

    def into(self, answers: Codes, words: Words, out: Codes) -> None:
        """Draw a response to each answer, with the next words of the source."""
        drawn = [
            self.channel.draw(answer, words.source) for answer in answers.tolist()
        ]
        out[:] = self.channel.coding.pack(drawn)


class EvenDraw(Draw, ABC):
    """A channel of which every draw takes the same words, thrown-away ones aside: all rows side by side.

    Attributes:
        slots: the words of one answer.
    """

    def __init__(self, channel: Channel, slots: Sequence[Slot]) -> None:
        super().__init__(channel)
        self.slots = Slots(slots)
        self.width = self.slots.width

    def into(self, answers: Codes, words: Words, out: Codes) -> None:
        """Take the words of all rows, then place the responses; again, where a word is to be thrown away."""
        block = words.take(answers.size, self.slots)
        self.place(answers, block, out)

    @abstractmethod
    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        """Write the responses that the words of each row decide; return False where a word is thrown away."""

    def supported(self, responses: Codes, answers: Codes) -> Flags:
        """Say where a response supports its answer, for channels with two levels of probability."""
        return np.asarray(responses == answers, np.bool_)


Coded: TypeAlias = Dense | Diagonal | Hadamard | Hashing


class _SingleDraw(EvenDraw):
    """A channel of which every draw takes one position below its total.

    Attributes:
        scale: words, or positions of several words, that belong to each position.
    """

    def __init__(self, channel: Coded, backend: Backend) -> None:
        slot = Slot.of(channel.total)
        super().__init__(channel, [slot])
        self.scale = slot.limit // channel.total
        self.backend = backend


class Quotient(_SingleDraw):
    """A diagonal channel whose total takes one word: one division decides."""

    def __init__(self, channel: Diagonal, backend: Backend) -> None:
        super().__init__(channel, backend)
        self.size = channel.size
        # ⌊⌊u / scale⌋ / other⌋ = ⌊u / (scale · other)⌋
        self.divisor = self.scale * channel.other

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        heads = np.ascontiguousarray(words[:, 0])
        if self.size == 2:
            # The divisor may be 2^64 itself, which no word holds; one less always fits.
            self.backend.flip(heads, answers, out, np.uint64(self.divisor - 1))
        else:
            self.backend.divide(heads, answers, out, self.divisor, self.size)
        return True


class ThresholdDraw(_SingleDraw):
    """A channel whose word is compared with rising thresholds, in a column for each answer or in one for all.

    Args:
        channel: what is drawn from.
        backend: what draws.
        columns: the positions from which on the next response is drawn. One column for all holds those of a diagonal
            channel: they count the other categories, and the answer comes last.
    """

    def __init__(
        self, channel: Coded, backend: Backend, columns: Sequence[Sequence[int]]
    ) -> None:
        super().__init__(channel, backend)
        scaled = [
            [self.scale * position for position in column] for column in columns
        ]
        self.thresholds = Thresholds(scaled, self.width)
        self.is_shared = len(columns) < channel.answers

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        """Write the responses: from the first words, and where these do not decide, by the channel itself."""
        heads = np.ascontiguousarray(words[:, 0])
        columns = answers.astype(np.intp)
        if self.is_shared:
            columns[:] = 0
        passed, ties = self.thresholds.count(heads, columns, self.backend)
        np.copyto(out, passed, casting="unsafe")
        if self.is_shared:
            send(out, answers, self.answers)
        for row in ties.tolist():
            script = chance.ScriptedSource(words[row].astype("<u8").tobytes())
            out[row] = self.channel.draw(int(answers[row]), script)
        return True


class HadamardDraw(_SingleDraw):
    """A Hadamard channel whose total takes one word."""

    def __init__(self, channel: Hadamard, backend: Backend) -> None:
        super().__init__(channel, backend)
        self.signs = Signs.of(channel, self.scale)

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        self.backend.signs(
            np.ascontiguousarray(words[:, 0]), answers, out, self.signs
        )
        return True

    def supported(self, responses: Codes, answers: Codes) -> Flags:
        row, column = (
            codes.astype(np.uint64) + np.uint64(1) for codes in (responses, answers)
        )
        return np.asarray(np.bitwise_count(row & column) & np.uint8(1) == 0)


class HashingDraw(_SingleDraw):
    """A hashing channel of several hashes whose total takes one word."""

    def __init__(self, channel: Hashing, backend: Backend) -> None:
        super().__init__(channel, backend)
        self.forms = HashForms.of(channel, self.scale)

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        self.backend.forms(
            np.ascontiguousarray(words[:, 0]), answers, out, self.forms
        )
        return True

    def supported(self, responses: Codes, answers: Codes) -> Flags:
        chosen, value = np.divmod(responses.astype(np.uint64), self.forms.values)
        return np.asarray(hasheds(chosen, answers, self.forms) == value, np.bool_)


class FilledDraw(EvenDraw):
    """Sets of a size that is drawn first, or fixed, filled with picks.

    Args:
        channel: of sets that are filled.
        backend: what draws.
        parts: the channel of each size of set.
        sums: the running sums of the weights of the sizes, where there are several.
    """

    def __init__(
        self,
        channel: Subset | Mixture,
        backend: Backend,
        parts: Sequence[Subset | Part],
        sums: Sequence[int] = (),
    ) -> None:
        self.picks = Picks.of(channel.size, channel.steps)
        self.head = Slot.of(channel.total)
        self.heads = 2 if sums else 1
        super().__init__(channel, [self.head] * self.heads + list(self.picks.slots))
        self.width = max(self.slots.width, channel.size // CATEGORIES_A_WORD)
        self.size = channel.size
        self.backend = backend
        scale = self.head.limit // channel.total
        # A threshold t is passed by a word u ≥ t, asked as u > t − 1: the largest, 2^64, then fits into a word.
        self.sums = np.array([scale * total - 1 for total in sums[:-1]], np.uint64)
        bounds = [max(scale * part.inside - 1, 0) for part in parts]
        self.inside = np.array(bounds, np.uint64)
        self.ever = np.array([part.inside > 0 for part in parts])
        self.ones = np.array([part.ones for part in parts], np.int64)

    def into(self, answers: Codes, words: Words, out: Rows) -> None:
        block = words.peek_words(len(answers), self.slots)
        while not self.place(answers, block, out):
            words.settle(block, self.slots)

    def place(self, answers: Codes, words: WordArray, out: Rows) -> bool:
        heads = words[:, : self.heads]
        if (
            self.head.limit < self.head.scale
            and int(heads.max(initial=0)) >= self.head.limit
        ):
            return False
        sizes = (
            np.searchsorted(self.sums, words[:, 0])
            if self.heads == 2
            else np.zeros(len(words), np.intp)
        )
        holds = (heads[:, -1] <= self.inside[sizes]) & self.ever[sizes]
        ones = self.ones[sizes]
        left_out = 2 * ones > self.size
        inside = holds != left_out
        n_others = np.minimum(ones, self.size - ones) - inside
        picked = self.backend.fill(
            words[:, self.heads :], answers, inside, n_others, out, self.picks
        )
        if picked and left_out.any():
            out[left_out] ^= np.uint8(255)
            if self.size % 8:
                out[left_out, -1] &= np.uint8((1 << self.size % 8) - 1)
        return picked

    def supported(self, responses: Codes, answers: Codes) -> Flags:
        shift = (answers & answers.dtype.type(7)).astype(np.uint8)
        byte = (answers >> answers.dtype.type(3)).astype(np.intp)
        bits = responses[np.arange(len(responses)), byte] >> shift
        return (bits & np.uint8(1)).view(np.bool_)


class JoinedDraw(EvenDraw):
    """Several channels side by side: each row holds the words of the first factor, then those of the second, …"""

    def __init__(self, channel: Product, factors: list[EvenDraw]) -> None:
        slots = [slot for factor in factors for slot in factor.slots.slots]
        super().__init__(channel, slots)
        self.factors = factors

    def place(self, answers: Codes, words: WordArray, out: Codes) -> bool:
        """Write the combinations of the factors' responses, in mixed radix."""
        digits = split_codes(answers, [factor.answers for factor in self.factors])
        out[:] = 0
        start = 0
        for factor, digit in zip(self.factors, digits, strict=True):
            drawn = factor.channel.coding.space(answers.size)
            factor.place(digit, words[:, start : start + factor.width], drawn)
            append_digit(out, drawn, factor.channel)
            start += factor.width
        return True


def split_codes(codes: Codes, sizes: Sequence[int]) -> list[Codes]:
    """Return the digits of codes in a mixed radix, the first the most significant."""
    digits: list[Codes] = []
    for size in reversed(sizes):
        codes, digit = (
            np.divmod(codes, codes.dtype.type(size))
            if size <= np.iinfo(codes.dtype).max
            else (codes * 0, codes)
        )
        digits.append(digit.astype(code_type(size)))
    return digits[::-1]


def append_digit(out: Codes, responses: Codes, channel: Channel) -> None:
    """Append the responses of a channel to codes in a mixed radix, as their last digit."""
    out *= out.dtype.type(channel.responses)
    out += responses


Toss: TypeAlias = Callable[[int, int, chance.Source], int]
"""Draws one row, given the bits that are out and the true bits as numbers, as a respondent's device does."""


class CoinTosser:
    """Independent bits, prepared. How many words a row takes depends on the words: rows follow one after another."""

    def __init__(self, coins: Coins, scalar: Toss, backend: Backend) -> None:
        self.coins = coins
        self.scalar = scalar
        self.backend = backend

    def into(
        self, true: Codes | WordArray, old: WordArray | None, words: Words, out: Rows
    ) -> None:
        """Draw for as many rows as the words at hand are enough for, and never read more than is sure to be needed.

        Args:
            true: the true bits of each row in words, or the number of the only one.
            old: the bits that are out, in words; None where there are none, and `true` holds numbers.
            words: where words come from.
            out: where the packed rows go.
        """
        blocks, need = self.coins.blocks, DIGITS * self.coins.blocks
        drawn = as_words(out, blocks)
        limit = max(self.backend.COIN_WORDS, need)
        # A word more for each bit that may be open.
        buffer = words.room(limit + 64 * blocks)
        finished = unused = 0
        while finished < len(out):
            # One word more where all that is left is a row whose open bits want further words.
            total = max(unused + 1, min((len(out) - finished) * need, limit))
            words.fill(buffer[unused:], total - unused)
            olds = None if old is None else old[finished:]
            rows, used, is_open = self.backend.toss(
                buffer[:total], true[finished:], olds, drawn[finished:], self.coins
            )
            finished, unused = finished + rows, total - used
            buffer[:unused] = buffer[used:total].copy()
            if is_open:
                was = None if old is None else old[finished]
                drawn[finished], unused = self._by_hand(
                    true[finished], was, buffer[:unused], words
                )
                finished += 1
        write_words(drawn, out)

    def _by_hand(
        self, true: Any, old: WordArray | None, block: WordArray, words: Words
    ) -> tuple[WordArray, int]:
        """Draw one row from the words at hand, and from the source behind them; return it, and how many are left."""
        replay = Replay(block, words.source)
        if old is None:
            number = self.scalar(0, 1 << int(true), replay)
        else:
            number = self.scalar(_to_number(old), _to_number(true), replay)
        left = replay.left // chance.WORD
        block[:left] = block[block.size - left :].copy()
        row = number.to_bytes(8 * self.coins.blocks, "little")
        return np.frombuffer(row, "<u8").astype(np.uint64), left


def _to_number(bits: WordArray) -> int:
    return int.from_bytes(bits.astype("<u8").tobytes(), "little")


class CoinDraw(Draw):
    """A channel of independent bits, of which the answer's own is the true one."""

    def __init__(self, channel: Bits, backend: Backend) -> None:
        super().__init__(channel)

        def scalar(_: int, true: int, source: chance.Source) -> int:
            return channel.draw(true.bit_length() - 1, source)

        self.tosser = CoinTosser(Coins.of_channel(channel), scalar, backend)
        # So that the sets, and not the words, of the rows that are worked on at a time fill the cache.
        self.width = self.tosser.coins.blocks

    def into(self, answers: Codes, words: Words, out: Rows) -> None:
        self.tosser.into(answers, None, words, out)


def prepare(channel: Channel, backend: Backend) -> Draw:
    """Make a channel ready for many draws."""
    fast = FAST_DRAWS.get(type(channel))
    return (fast(channel, backend) if fast else None) or Draw(channel)


Prepare: TypeAlias = Callable[[Any, Backend], Draw | None]


def _dense(channel: Dense, backend: Backend) -> Draw:
    return ThresholdDraw(channel, backend, [column[:-1] for column in channel.sums])


def _diagonal(channel: Diagonal, backend: Backend) -> Draw | None:
    if Slot.of(channel.total).words == 1:
        return Quotient(channel, backend)
    if channel.size > MAX_THRESHOLDS:
        return None
    multiples = [channel.other * number for number in range(1, channel.size)]
    return ThresholdDraw(channel, backend, [multiples])


def _hashing_drawer(channel: Hashing, backend: Backend) -> Draw | None:
    if channel.hashes > 1:
        return _if_short(HashingDraw, channel, backend)
    # The one hash is the answer itself.
    draw = prepare(Diagonal(channel.values, channel.same, channel.other), backend)
    draw.answers = channel.answers
    return draw


def _if_short(
    make: Prepare, channel: Coded | Bits | Subset | Mixture, backend: Backend
) -> Draw | None:
    """Prepare a channel whose total takes one word, and whose codes are not too long."""
    is_short = channel.coding.ndim > 1 or channel.responses <= _MAX_CODED_RESPONSES
    fits = is_short and chance.words_for(channel.total) == 1
    return make(channel, backend) if fits else None


def _subset(channel: Subset, backend: Backend) -> Draw:
    return FilledDraw(channel, backend, [channel])


def _mixture(channel: Mixture, backend: Backend) -> Draw:
    return FilledDraw(channel, backend, channel.parts, channel.sums)


def _product(channel: Product, backend: Backend) -> Draw | None:
    factors = [prepare(factor, backend) for factor in channel.factors]
    even = [
        factor
        for factor in factors
        if isinstance(factor, EvenDraw) and not isinstance(factor, FilledDraw)
    ]
    return JoinedDraw(channel, even) if len(even) == len(factors) else None


FAST_DRAWS: Mapping[type[Channel], Prepare] = {
    Bits: partial(_if_short, CoinDraw),
    Dense: _dense,
    Diagonal: _diagonal,
    Hadamard: partial(_if_short, HadamardDraw),
    Hashing: _hashing_drawer,
    Mixture: partial(_if_short, _mixture),
    Product: _product,
    Subset: partial(_if_short, _subset),
}
"""How each kind is drawn in bulk; None where one of its channels has numbers too large for it."""
