"""Coded channels, Hadamard and hashing, prepared for many draws at once.

The functions here work on arrays in NumPy; `coded_kernels` holds the same ones compiled.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.channel import Diagonal, Hadamard, Hashing
from deniable.engines.local import vectors
from deniable.engines.local.draws import Draw, Even, OneByOne, prepare
from deniable.engines.local.vectors import Codes, Kernels
from deniable.engines.local.words import Layout, Slot, WordArray

_MOST = 1 << 40  # responses
_BLOCK = 256  # digits are worked on in blocks of as many as a table of this side holds


@dataclass(frozen=True, eq=False)
class Signs:
    """A Hadamard channel in units of words: where the rows with +1 end, and how many words belong to each row."""

    edge: int
    large: int
    small: int


@dataclass(frozen=True, eq=False)
class Family:
    """A hashing channel in units of words, and its linear forms in blocks of digits.

    Attributes:
        per_hash: words that belong to one hash.
        other: words that belong to one value that is not the hashed answer.
        values: how many values there are.
        starts: the first hash of each length of form, rising.
        powers: the form of that hash.
        side: values of one block of digits, a power of `values`.
        blocks: how many blocks a form has.
        dots: the value of each block of a form at each block of an answer; empty where a block is one large digit.
    """

    per_hash: int
    other: int
    values: int
    starts: NDArray[np.uint64]
    powers: NDArray[np.uint64]
    side: int
    blocks: int
    dots: NDArray[np.uint8]

    @classmethod
    def of(cls, channel: Hashing, scale: int) -> Family:
        """Prepare a channel whose positions take `scale` words each."""
        q, m = channel.values, channel.digits
        width = 1
        while q ** (width + 1) <= _BLOCK and width < m:
            width += 1
        side = q**width
        powers = [q**digit for digit in range(m)]
        starts = [(power - 1) // (q - 1) for power in powers]
        return cls(
            channel.per_hash * scale,
            channel.other * scale,
            q,
            np.array(starts, np.uint64),
            np.array(powers, np.uint64),
            side,
            -(-m // width),
            _dots(q, width) if side <= _BLOCK else np.empty(0, np.uint8),
        )


def _dots(q: int, width: int) -> NDArray[np.uint8]:
    """Return the products of all pairs of vectors of digits modulo q, row by row."""
    table = np.zeros((1, 1), np.int64)
    digits = np.arange(q)
    for _ in range(width):
        size = len(table) * q
        table = (np.multiply.outer(digits, digits)[:, None, :, None] + table[None, :, None, :]).reshape(size, size)
    return (table % q).astype(np.uint8).reshape(-1)


class CodedKernels(Protocol):
    """What this module and `coded_kernels` both offer."""

    def signs(self, words: WordArray, answers: Codes, out: Codes, channel: Signs) -> None:
        """Draw rows of a Hadamard matrix."""
        ...

    def forms(self, words: WordArray, answers: Codes, out: Codes, channel: Family) -> None:
        """Draw hashes with values."""
        ...


class Vectors:
    """The draws over arrays, in NumPy."""

    @staticmethod
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

    @staticmethod
    def forms(words: WordArray, answers: Codes, out: Codes, channel: Family) -> None:
        """Draw a hash and the value of the answer under it, or another value."""
        number = words // np.uint64(channel.per_hash)
        words -= number * np.uint64(channel.per_hash)
        words //= np.uint64(channel.other)
        true = hashed(number, answers, channel)
        last = np.uint64(channel.values - 1)
        value = np.where(words >= last, true, words + (words >= true))
        np.copyto(out, number * np.uint64(channel.values) + value, casting="unsafe")


def hashed(number: WordArray, answers: Codes, channel: Family) -> WordArray:
    """Return the value of each answer under each hash."""
    length = np.searchsorted(channel.starts, number, side="right") - 1
    form: WordArray = number - channel.starts[length] + channel.powers[length]
    rest: WordArray = answers.astype(np.uint64)
    side, q = np.uint64(channel.side), np.uint64(channel.values)
    value = np.zeros(number.size, np.uint64)
    for _ in range(channel.blocks):
        form, a = np.divmod(form, side)
        rest, x = np.divmod(rest, side)
        value += channel.dots[a * side + x] if channel.dots.size else a * x % q
    return value % q


class Rows(Even):
    """A Hadamard channel whose total takes one word."""

    def __init__(self, channel: Hadamard, kernels: CodedKernels) -> None:
        slot = Slot.of(channel.total)
        super().__init__(Layout([slot]))
        scale = slot.limit // channel.total
        edge = (channel.half - 1) * channel.large
        self.signs = Signs(edge * scale, channel.large * scale, channel.small * scale)
        self.kernels = kernels

    def place(self, answers: Codes, words: WordArray, out: Codes) -> None:
        """Write the responses that one word each decides."""
        self.kernels.signs(np.ascontiguousarray(words[:, 0]), answers, out, self.signs)


class Pairs(Even):
    """A hashing channel whose total takes one word."""

    def __init__(self, channel: Hashing, kernels: CodedKernels) -> None:
        slot = Slot.of(channel.total)
        super().__init__(Layout([slot]))
        self.family = Family.of(channel, slot.limit // channel.total)
        self.kernels = kernels

    def place(self, answers: Codes, words: WordArray, out: Codes) -> None:
        """Write the responses that one word each decides."""
        self.kernels.forms(np.ascontiguousarray(words[:, 0]), answers, out, self.family)


@prepare.register
def _(channel: Hadamard, kernels: Kernels) -> Draw:
    return Rows(channel, _own(kernels)) if _short(channel) else OneByOne(channel)


@prepare.register
def _(channel: Hashing, kernels: Kernels) -> Draw:
    if channel.hashes == 1:  # the one hash is the answer itself
        return prepare(Diagonal(channel.values, channel.same, channel.other), kernels)
    return Pairs(channel, _own(kernels)) if _short(channel) else OneByOne(channel)


def _short(channel: Hadamard | Hashing) -> bool:
    """Whether a draw takes one word, and quotients are short enough for kernels to divide by multiplying."""
    return chance.words_for(channel.total) == 1 and channel.responses <= _MOST


def _own(kernels: Any) -> CodedKernels:
    """Return the functions of this file that go with the kernels that were chosen."""
    if kernels is vectors:
        return Vectors
    compiled: CodedKernels = import_module("deniable.engines.local.coded_kernels")
    return compiled
