"""Random words for many draws at once, taken from a source in the order in which scalar draws would take them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deniable import chance
from deniable.engines.local.keystream import SPARE
from deniable.errors import OutOfRandomness

WordArray: TypeAlias = NDArray[np.uint64]

CHUNK = 1 << 16
"""Words held at a time: 512 KiB, which stay in a core's own cache between being drawn and being used.

Why not less: between two chunks threads pass on Python's lock, and with half of this they wait for it.
"""


@runtime_checkable
class Filling(Protocol):
    """A source that can also write words in place, as `Keystream` does."""

    def fill(self, words: WordArray, count: int) -> None:
        """Write the first `count` words of an array."""
        ...


@dataclass(frozen=True, slots=True)
class Slot:
    """One `below(total)`: how many words it takes, and the position from which they are thrown away."""

    words: int
    limit: int

    @classmethod
    def of(cls, total: int) -> Slot:
        """Return the slot of a draw below a total."""
        words = chance.words_for(total)
        return cls(words, (1 << 64 * words) // total * total)

    @property
    def scale(self) -> int:
        """Return 2^(64·words), which is also the limit of a slot that is never thrown away."""
        return 1 << 64 * self.words

    def rejected(self, words: WordArray) -> NDArray[np.intp]:
        """Return the rows whose words are thrown away; `words` has a row for each draw.

        Why: almost no first word reaches that of the limit, so the few that do are compared in full, in Python.
        """
        heads = words[:, 0]
        first = self.limit >> 64 * (self.words - 1)
        if int(heads.max(initial=0)) < first:
            return np.empty(0, np.intp)
        doubtful = np.flatnonzero(heads >= np.uint64(first))
        return doubtful[[join(words[row]) >= self.limit for row in doubtful]]


class Layout:
    """The words of one answer: its slots, one after another.

    Attributes:
        slots: the `below` draws of one answer, in order.
        width: how many words they take together.
    """

    def __init__(self, slots: Sequence[Slot]) -> None:
        self.slots = tuple(slots)
        self.width = sum(slot.words for slot in slots)
        starts = accumulate((slot.words for slot in slots), initial=0)
        # Most slots never throw a word away, and need not be looked at.
        self._choosy = [(start, slot) for start, slot in zip(starts, slots, strict=False) if slot.limit < slot.scale]

    def first_rejected(self, block: WordArray) -> tuple[int, int] | None:
        """Return where the first words to be thrown away begin, counted in words, and how many they are."""
        found: list[tuple[int, int]] = []
        for start, slot in self._choosy:
            rows = slot.rejected(block[:, start : start + slot.words])
            if rows.size:
                found.append((int(rows[0]) * self.width + start, slot.words))
        return min(found, default=None)


class Words(threading.local):
    """A source, read in blocks of words; every thread that reads has a buffer of its own."""

    def __init__(self, source: chance.Source) -> None:
        self.source = source
        self._fill = source.fill if isinstance(source, Filling) else self._copy
        self._buffer: WordArray = np.empty(CHUNK + SPARE, np.uint64)

    def take(self, rows: int, layout: Layout) -> WordArray:
        """Return the accepted words of `rows` answers, a row for each.

        Guarantee: the words that as many scalar draws would have accepted, and not a byte more is read.

        The array is scratch: it may be written to, and holds until the next call.
        """
        block = self.unsettled(rows, layout)
        self.settle(block, layout)
        return block

    def unsettled(self, rows: int, layout: Layout) -> WordArray:
        """Return the next words of the source, a row for each answer, as if none of them had to be thrown away."""
        count = rows * layout.width
        buffer = self.room(count)
        self.fill(buffer, count)
        return buffer[:count].reshape(rows, layout.width)

    def settle(self, block: WordArray, layout: Layout) -> None:
        """Throw away, in what `unsettled` returned, the words that scalar draws would, and move up those behind."""
        flat = block.reshape(-1)
        while (found := layout.first_rejected(block)) is not None:
            start, words = found
            flat[start : flat.size - words] = flat[start + words :].copy()
            self.fill(flat[flat.size - words :], words)

    def room(self, count: int) -> WordArray:
        """Return scratch for so many words and some to spare, which holds until the next call."""
        if count + SPARE > self._buffer.size:
            self._buffer = np.empty(count + SPARE, np.uint64)
        return self._buffer

    def fill(self, words: WordArray, count: int) -> None:
        """Write the next words of the source to the beginning of an array."""
        self._fill(words, count)

    def _copy(self, words: WordArray, count: int) -> None:
        piece = self.source.read(chance.WORD * count)
        if len(piece) != chance.WORD * count:  # too few would be spread over all rows without a word
            raise OutOfRandomness(
                f"the source gave {len(piece):,} bytes; expected {chance.WORD * count:,}, as many as were asked for."
            )
        words[:count] = np.frombuffer(piece, "<u8")


def join(words: WordArray) -> int:
    """Return the integer that words write, the first the most significant.

    Example:
        >>> join(np.array([1, 2], np.uint64)) == 2**64 + 2
        True
    """
    number = 0
    for word in words:
        number = number << 64 | int(word)
    return number
