"""Relaxation bit by bit, over many rows of packed bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.chance import Source
from deniable.channel.bits import DIGITS
from deniable.channel.coding import Rows
from deniable.engines.local import toss_vectors, vectors
from deniable.engines.local.choose import compiled
from deniable.engines.local.keystream import Keystream
from deniable.engines.local.moves import Move, Ready, Replay, bound, ready
from deniable.engines.local.vectors import Codes
from deniable.engines.local.words import CHUNK, WordArray, Words
from deniable.order.bits import BitByBit, digits, toss

_WORD = 1 << 64

Chances = tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]
"""The probability of a 1, by the bit that is out and then by the true bit."""


@dataclass(frozen=True)
class Tosses:
    """What `toss` needs to know; the four classes of bits are 2·(bit that is out) + (true bit).

    Attributes:
        size: how many bits there are.
        blocks: words that hold them.
        behind: the bits of the last of these words that are none.
        masks: for each digit and class all ones where the probability's digit is 1, else 0.
        bounds: for each class, an open bit becomes 1 where its word is below this; equal leaves it open.
        chances: the probabilities themselves.
    """

    size: int
    blocks: int
    behind: np.uint64
    masks: NDArray[np.uint64]
    bounds: NDArray[np.uint64]
    chances: Chances

    @classmethod
    def of(cls, size: int, chances: Chances) -> Tosses:
        """Work out masks and bounds."""
        found = [digits(probability) for pair in chances for probability in pair]
        blocks = -(-size // 64)
        masks = [[(head >> place & 1) * (_WORD - 1) for head, _ in found] for place in reversed(range(DIGITS))]
        bounds = [bound(rest) for _, rest in found]
        behind = np.uint64(_WORD - (1 << size - 64 * (blocks - 1)))
        return cls(size, blocks, behind, np.array(masks, np.uint64), np.array(bounds, np.uint64), chances)

    def one(self, old: Rows, true: Rows, source: Any) -> int:
        """Draw one row as a respondent's device does."""
        was, is_true = (int.from_bytes(row.tobytes(), "little") for row in (old, true))
        every = (1 << self.size) - 1
        masks = every & ~was & ~is_true, is_true & ~was, was & ~is_true, was & is_true
        flat = [probability for pair in self.chances for probability in pair]
        return toss(self.size, list(zip(masks, flat, strict=True)), source)


class TossKernels(Protocol):
    """What `toss_vectors` and `toss_kernels` both offer."""

    def toss(
        self, words: WordArray, olds: WordArray, trues: WordArray, out: WordArray, tosses: Tosses
    ) -> tuple[int, int, bool]:
        """Draw rows until the words run out or leave a bit open; return how many, the words taken, and which it was."""
        ...


class BitMove(Move):
    """A step bit by bit. How many words a row takes depends on the words, so that rows follow one after another."""

    def __init__(self, step: BitByBit, hand: Ready) -> None:
        chances = ((step.each.zero,) * 2, (step.each.one,) * 2) if hand.down else step.raised
        self.tosser = Tosser(Tosses.of(step.new.size, chances), hand.kernels)
        self.width = self.tosser.tosses.blocks
        self.down = hand.down

    def into(self, olds: Codes, answers: Codes, words: Words, out: Codes) -> None:
        """Draw, with the answer's own bit as the one that is truly 1."""
        trues = np.zeros((len(olds), self.tosser.tosses.blocks), np.uint64)
        if not self.down:
            place = answers.astype(np.uint64) & np.uint64(63)
            trues[np.arange(len(olds)), (answers.astype(np.intp) >> 6)] = np.uint64(1) << place
        self.tosser.into(olds, trues, words, out)


class Tosser:
    """Bits made ready, for rows of which any bits may be truly 1."""

    def __init__(self, tosses: Tosses, kernels: Any) -> None:
        self.tosses = tosses
        home: Any = toss_vectors if kernels is vectors else import_module("deniable.engines.local.toss_kernels")
        self.kernels: TossKernels = home

    def into(self, olds: Rows, trues: WordArray, words: Words, out: Rows) -> None:
        """Draw for as many rows as the words at hand are enough for, and never read more than is sure to be needed."""
        blocks = self.tosses.blocks
        was, drawn = as_words(olds, blocks), np.empty((len(olds), blocks), np.uint64)
        need = DIGITS * blocks
        buffer = words.room(max(CHUNK, need) + 64 * blocks)
        done = held = 0
        while done < len(olds):
            # One word more where all that is left is a row whose open bits want further words.
            wanted = max(held + 1, min((len(olds) - done) * need, CHUNK))
            words.fill(buffer[held:], wanted - held)
            rows, used, left_open = self.kernels.toss(
                buffer[:wanted], was[done:], trues[done:], drawn[done:], self.tosses
            )
            done, held = done + rows, wanted - used
            buffer[:held] = buffer[used:wanted].copy()
            if left_open:
                held = self._by_hand(done, buffer[:held], words, (was, trues, drawn))
                done += 1
        out[:] = drawn.astype("<u8", copy=False).view(np.uint8)[:, : out.shape[1]]

    def _by_hand(self, row: int, block: WordArray, words: Words, rows: tuple[WordArray, WordArray, WordArray]) -> int:
        """Draw one row from the words at hand, and from the source behind them; return how many words are left."""
        replay = Replay(block, words.source)
        was, trues, drawn = rows
        old, true = (each[row].astype("<u8").view(np.uint8) for each in (was, trues))
        number = self.tosses.one(old, true, replay)
        drawn[row] = np.frombuffer(number.to_bytes(8 * self.tosses.blocks, "little"), "<u8")
        left = replay.left // 8
        block[:left] = block[block.size - left :].copy()
        return left


def toss_rows(
    size: int, chances: Chances, olds: Rows, trues: Rows, *, source: Source | None = None, fast: bool | None = None
) -> Rows:
    """Draw packed rows of bits, the probability of each 1 by the bit that is out and by the true bit."""
    tosser = Tosser(Tosses.of(size, chances), compiled(fast, olds.size) or vectors)
    words, out = Words(Keystream() if source is None else source), np.empty_like(olds)
    piece = max(1, CHUNK // tosser.tosses.blocks)
    for start in range(0, len(olds), piece):
        part = slice(start, start + piece)
        tosser.into(olds[part], as_words(trues[part], tosser.tosses.blocks), words, out[part])
    return out


def as_words(rows: Rows, blocks: int) -> WordArray:
    """Return packed rows as whole words, filled up with zeros."""
    padded = np.zeros((len(rows), 8 * blocks), np.uint8)
    padded[:, : rows.shape[1]] = rows
    return padded.view("<u8").astype(np.uint64, copy=False)


@ready.register
def _(step: BitByBit, hand: Ready) -> Move:
    return BitMove(step, hand)
