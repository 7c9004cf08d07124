"""Sets of categories for many answers at once, as packed rows.

`set_vectors` holds the work in NumPy, `set_kernels` the same compiled; the same words in, the same sets out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.channel import Bits, Mixture, Subset
from deniable.channel.bits import DIGITS
from deniable.channel.coding import Rows
from deniable.engines.local import set_vectors, vectors
from deniable.engines.local.draws import Draw, OneByOne, prepare
from deniable.engines.local.vectors import Codes, Kernels
from deniable.engines.local.words import Layout, Slot, WordArray, Words

_WORD = 1 << 64
_WIDE = 64  # categories for which NumPy holds a byte each while it fills a set, for each word of the chunk


@dataclass(frozen=True)
class Coins:
    """What `bits` needs to know about a channel of independent bits; all thresholds are compared with whole words.

    Attributes:
        channel: the channel.
        blocks: words that hold a bit for each category.
        behind: the bits of the last of these words that belong to no category.
        stray, hit: for each digit all ones where the probability's digit is 1, else 0.
        stray_rest, hit_rest: an open bit becomes 1 where its word is below this.
        last: the highest word that is not thrown away.
    """

    channel: Bits
    blocks: int
    behind: np.uint64
    stray: WordArray
    hit: WordArray
    stray_rest: np.uint64
    hit_rest: np.uint64
    last: np.uint64

    @classmethod
    def of(cls, channel: Bits) -> Coins:
        """Work out thresholds and masks; the total must take one word."""
        slot = Slot.of(channel.total)
        scale = slot.limit // channel.total
        (stray, stray_rest), (hit, hit_rest) = channel.digits(channel.stray), channel.digits(channel.hit)
        blocks = -(-channel.size // 64)
        return cls(
            channel,
            blocks,
            np.uint64(_WORD - (1 << channel.size - 64 * (blocks - 1))),
            _masks(stray),
            _masks(hit),
            np.uint64(stray_rest * scale),
            np.uint64(hit_rest * scale),
            np.uint64(slot.limit - 1),
        )


def _masks(digits: int) -> WordArray:
    return np.array([(digits >> place & 1) * (_WORD - 1) for place in reversed(range(DIGITS))], np.uint64)


@dataclass(frozen=True)
class Picks:
    """What `fill` needs to know about the picks that fill a set.

    Attributes:
        size: how many categories there are.
        divisors: for each pick, a word divided by it is the pick. A pick out of one alone would be divided by 2^64,
            which no word holds, and is to be cut to 0.
        shifts, reciprocals: how to divide by multiplying, as `kernels.divide` does; with at most 2^24 categories no
            divisor is too short for it.
        lasts: for each pick, the highest word that is not thrown away.
    """

    size: int
    divisors: WordArray
    shifts: WordArray
    reciprocals: WordArray
    lasts: WordArray

    @classmethod
    def of(cls, size: int, steps: int) -> Picks:
        """Work out the divisors; each pick takes one word because there are at most 2^24 categories."""
        totals = range(size - steps, size)
        lasts = [_WORD // total * total - 1 for total in totals]
        divisors = [min(_WORD // total, _WORD - 1) for total in totals]
        shifts = [divisor.bit_length() - 1 for divisor in divisors]
        reciprocals = [((1 << 32 + shift) - 1) // divisor for shift, divisor in zip(shifts, divisors, strict=True)]
        return cls(size, *(np.array(each, np.uint64) for each in (divisors, shifts, reciprocals, lasts)))

    @property
    def slots(self) -> Iterator[Slot]:
        """The draws of which a set is filled."""
        return (Slot(1, int(last) + 1) for last in self.lasts)


class SetKernels(Protocol):
    """What `set_vectors` and `set_kernels` both offer."""

    WORDS: int

    def bits(self, words: WordArray, answers: Codes, out: Rows, coins: Coins) -> tuple[int, int]:
        """Draw bits for answers until the words run out; return how many rows are done, and the words they took."""
        ...

    def fill(
        self,
        words: WordArray,
        answers: Codes,
        own: NDArray[np.bool_],
        wanted: NDArray[np.int64],
        out: Rows,
        picks: Picks,
    ) -> bool:
        """Write sets of `wanted` others, with the answer where it is in; return False where a word is thrown away."""
        ...


def hands(kernels: Any) -> SetKernels:
    """Return the work on sets that goes with the kernels for codes."""
    found: Any = set_vectors if kernels is vectors else import_module("deniable.engines.local.set_kernels")
    return found  # type: ignore[no-any-return]  # a module that offers these functions


class Independent(Draw):
    """Independent bits. How many words a row takes depends on the words, so that rows follow one after another."""

    def __init__(self, channel: Bits, kernels: SetKernels) -> None:
        self.coins = Coins.of(channel)
        # So that the sets, and not the words, of the rows that are worked on at a time fill the cache.
        self.width = self.coins.blocks
        self.kernels = kernels

    def into(self, answers: Codes, words: Words, out: Rows) -> None:
        """Draw for as many rows as the words at hand are enough for, and never read more than is sure to be needed."""
        need = DIGITS * self.coins.blocks
        most = max(self.kernels.WORDS, need)
        buffer = words.room(most + 8 * out.shape[1])  # a word more for each bit, which is more than will be open
        done = held = 0
        while done < len(answers):
            # One word more where all that is left is a row whose open bits want further words.
            wanted = max(held + 1, min((len(answers) - done) * need, most))
            if wanted > len(buffer):  # only where one word after another is thrown away
                buffer = np.concatenate([buffer, np.empty_like(buffer)])
            words.fill(buffer[held:], wanted - held)
            rows, used = self.kernels.bits(buffer[:wanted], answers[done:], out[done:], self.coins)
            done, held = done + rows, wanted - used
            buffer[:held] = buffer[used:wanted].copy()


class Filled(Draw):
    """Sets of a size that is drawn first, or given, filled with picks."""

    def __init__(self, channel: Subset | Mixture, kernels: SetKernels) -> None:
        self.channel = channel
        self.picks = Picks.of(channel.size, channel.steps)
        self.head = Slot.of(channel.total)
        self.heads = 2 if isinstance(channel, Mixture) else 1
        self.layout = Layout([self.head] * self.heads + list(self.picks.slots))
        self.width = max(self.layout.width, channel.size // _WIDE)
        self.kernels = kernels
        scale = self.head.limit // channel.total
        parts = channel.parts if isinstance(channel, Mixture) else ((channel.ones, channel.total, channel.inside),)
        sums = channel.sums[:-1] if isinstance(channel, Mixture) else ()
        # A threshold t is passed by a word u ≥ t, asked as u > t − 1: the largest, 2^64, then fits into a word.
        self.sums = np.array([scale * each - 1 for each in sums], np.uint64)
        self.inside = np.array([max(scale * inside - 1, 0) for _, _, inside in parts], np.uint64)
        self.ever = np.array([inside > 0 for _, _, inside in parts])
        self.ones = np.array([ones for ones, _, _ in parts], np.int64)

    def into(self, answers: Codes, words: Words, out: Rows) -> None:
        """Take the words of all rows, then fill the sets; again, where a word is to be thrown away."""
        block = words.unsettled(len(answers), self.layout)
        while not self.filled(answers, block, out):
            words.settle(block, self.layout)

    def filled(self, answers: Codes, block: WordArray, out: Rows) -> bool:
        """Write the sets that the words of each row decide; return False where a word is thrown away."""
        if self.head.limit < self.head.scale and int(block[:, : self.heads].max(initial=0)) >= self.head.limit:
            return False
        part = np.searchsorted(self.sums, block[:, 0]) if self.heads == 2 else np.zeros(len(block), np.intp)
        inside = (block[:, self.heads - 1] <= self.inside[part]) & self.ever[part]
        ones = self.ones[part]
        left_out = 2 * ones > self.channel.size
        own = inside != left_out
        wanted = np.minimum(ones, self.channel.size - ones) - own
        picked = self.kernels.fill(block[:, self.heads :], answers, own, wanted, out, self.picks)
        if picked and left_out.any():
            out[left_out] ^= np.uint8(255)
            if self.channel.size % 8:
                out[left_out, -1] &= np.uint8((1 << self.channel.size % 8) - 1)
        return picked


class SetByOne(OneByOne):
    """Any channel of sets, at the speed of the scalar draw."""

    def into(self, answers: Codes, words: Words, out: Rows) -> None:
        """Draw with the channel itself."""
        for row, answer in enumerate(answers.tolist()):
            number = self.channel.draw(answer, words.source)
            out[row] = np.frombuffer(number.to_bytes(out.shape[1], "little"), np.uint8)


@prepare.register
def _(channel: Bits, kernels: Kernels) -> Draw:
    # A weight equal to the total has a threshold of 2^64, which no word holds.
    if chance.words_for(channel.total) > 1 or channel.total in (channel.hit, channel.stray):
        return SetByOne(channel)
    return Independent(channel, hands(kernels))


@prepare.register(Subset)
@prepare.register(Mixture)
def _(channel: Subset | Mixture, kernels: Kernels) -> Draw:
    if chance.words_for(channel.total) > 1:
        return SetByOne(channel)
    return Filled(channel, hands(kernels))
