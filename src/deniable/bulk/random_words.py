"""Secure random words in bulk, taken in the order in which scalar draws would take them.

Keystream   AES-256 in counter mode, keyed by the operating system, at memory speed
Slot, Slots the words of one `below(total)`, and of one answer
Words       a source, read in blocks of words
Replay      words that were read already, then those of the source
"""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NoReturn, Protocol, TypeAlias, runtime_checkable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from deniable import chance
from deniable.chance import WORD
from deniable.errors import OutOfRandomness

WordArray: TypeAlias = NDArray[np.uint64]

KEY = 32
"""Bytes in a key. AES-128 was not measurably faster where it matters, so the larger margin costs nothing."""

PER_KEY = 1 << 26
"""Bytes drawn from one key: 64 MiB.

Why: telling 2^22 blocks of AES from random bytes succeeds with probability at most 2^44 / 2^129 above guessing; and
whoever reads the memory later learns at most the last 64 MiB of draws. A new key takes a few microseconds, the bytes
of one key about ten milliseconds.
"""

SPARE = 2
"""Words to leave at the end of a buffer so that it is filled in place: the cipher asks for 15 bytes of room."""

MAX_FILLED = 1 << 18
"""Words that a keystream fills in one call of the cipher, during which other threads may run: 2 MiB."""

# The plaintext: a keystream is the encryption of zeros.
_ZEROS = memoryview(bytes(WORD * MAX_FILLED))
_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - the one thing a forked child must see changed
    _forks += 1


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_count_fork)


class Keystream(threading.local):
    """A source of random bytes for bulk draws, to be shared freely: AES-256 in counter mode.

    Guarantee: every thread that reads from it has a stream of its own under a key of its own, fresh from the
    operating system; a forked child takes a new key before its first byte, so it never repeats its parent.

    Why: `threading.local` runs `__init__` once in each thread. A fork is seen twice over, by a counter that Python
    raises in the child and by the process number, which also changes when a C library forks.

    Example:
        >>> stream = Keystream()
        >>> len(stream.read(20)), stream.read(16) == stream.read(16)
        (20, False)
    """

    def __init__(self) -> None:
        self._take_key()

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        blocks = []
        while count > 0:
            size = self._spend(count)
            blocks.append(self._cipher.update(_ZEROS[:size]))
            count -= size
        return b"".join(blocks)

    def fill(self, words: WordArray, count: int) -> None:
        """Write the first `count` words of an array: the same bytes as `read(8 * count)`, without a copy.

        Args:
            words: one-dimensional and contiguous. Leave SPARE words behind `count`, or the last ones are copied.
            count: how many words to write, at most `len(words)`.
        """
        room = words.data.cast("B")
        direct = min(WORD * count, max(0, len(room) - WORD * SPARE))
        start = 0
        while start < direct:
            size = self._spend(direct - start)
            self._cipher.update_into(_ZEROS[:size], room[start:])
            start += size
        if start < WORD * count:
            room[start : WORD * count] = self.read(WORD * count - start)
        if (
            sys.byteorder == "big"
        ):  # pragma: no cover - words are little-endian wherever they are drawn
            words[:count].byteswap(inplace=True)

    def _spend(self, count: int) -> int:
        """Return how many of so many bytes are drawn next, with this key or with another one where it gives none."""
        if self._unused == 0 or self._process != (_forks, os.getpid()):
            self._take_key()
        size = min(count, len(_ZEROS), self._unused)
        self._unused -= size
        return size

    def _take_key(self) -> None:
        self._process = (_forks, os.getpid())
        self._begin(os.urandom(KEY))

    def _begin(self, key: bytes) -> None:
        # Counting from 0 is safe because no key is ever used twice.
        self._cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        self._unused = PER_KEY

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a keystream is not copied: two copies would give the same bytes; build another one"
        )


CHUNK = 1 << 16
"""Words held at a time: 512 KiB, which stay in a core's own cache between being drawn and being used."""


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
        if (1 << 64) % total == 0:  # as designs have it that are built from an ε
            return cls(1, 1 << 64)
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


class Slots:
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
        self._choosy = [
            (start, slot)
            for start, slot in zip(starts, slots, strict=False)
            if slot.limit < slot.scale
        ]

    def first_rejected(self, block: WordArray) -> tuple[int, int] | None:
        """Return where the first words to be thrown away begin, counted in words, and how many they are."""
        rejected: list[tuple[int, int]] = []
        for start, slot in self._choosy:
            rows = slot.rejected(block[:, start : start + slot.words])
            if rows.size:
                rejected.append((int(rows[0]) * self.width + start, slot.words))
        return min(rejected, default=None)


class Words(threading.local):
    """A source, read in blocks of words; every thread that reads has a buffer of its own.

    Why the default is here: everything that is drawn in bulk takes its words from this class, so that there is one
    place which could key it with anything but the operating system's randomness.
    """

    def __init__(self, given: chance.Source | None = None) -> None:
        source: chance.Source = Keystream() if given is None else given
        self.source = source
        self._fill = source.fill if isinstance(source, Filling) else self._copy
        self._buffer: WordArray = np.empty(CHUNK + SPARE, np.uint64)

    def take(self, rows: int, slots: Slots) -> WordArray:
        """Return the accepted words of `rows` answers, a row for each.

        Guarantee: the words that as many scalar draws would have accepted, and not a byte more is read.

        The array is scratch: it may be written to, and holds until the next call.
        """
        block = self.peek_words(rows, slots)
        self.settle(block, slots)
        return block

    def peek_words(self, rows: int, slots: Slots) -> WordArray:
        """Return the next words of the source, a row for each answer, as if none of them had to be thrown away."""
        count = rows * slots.width
        buffer = self.room(count)
        self.fill(buffer, count)
        return buffer[:count].reshape(rows, slots.width)

    def settle(self, block: WordArray, slots: Slots) -> None:
        """Throw away, in what `peek_words` returned, the words that scalar draws would, and move up those behind."""
        flat = block.reshape(-1)
        while (rejected := slots.first_rejected(block)) is not None:
            start, words = rejected
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
        content = self.source.read(WORD * count)
        # Too few would be spread over all rows without a word.
        if len(content) != WORD * count:
            raise OutOfRandomness(
                f"the source gave {len(content):,} bytes; expected {WORD * count:,}, as many as were asked for."
            )
        words[:count] = np.frombuffer(content, "<u8")


class Replay:
    """Words that were read already, then those of the source."""

    def __init__(self, block: WordArray, source: chance.Source) -> None:
        self._read = io.BytesIO(block.astype("<u8").tobytes())
        self._source = source

    @property
    def left(self) -> int:
        """How many of the bytes that were read already are left."""
        return len(self._read.getbuffer()) - self._read.tell()

    def read(self, count: int) -> bytes:
        """Return the next bytes."""
        content = self._read.read(count)
        if len(content) < count:
            content += self._source.read(count - len(content))
        return content


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


def below_all(
    total: int, rows: int, source: chance.Source | None = None
) -> NDArray[np.int64]:
    """Draw a whole number below a total for each of so many rows, as `chance.below` does with totals of one word.

    Example:
        >>> bool((below_all(3, 1000) < 3).all())
        True
    """
    slot = Slot.of(total)
    words = Words(source).take(rows, Slots([slot]))[:, 0]
    return (words // np.uint64(slot.limit // total)).astype(np.int64)


def permutation(count: int, source: chance.Source | None = None) -> NDArray[np.intp]:
    """Return a uniformly random permutation of 0 … count − 1, drawn with secure randomness.

    Why: words are sorted, and as long as all of them differ every order of them is equally likely; where two are equal,
    all are drawn again. Where so few are shuffled that their numbers find room in the low bits, these are sorted along,
    which is faster than sorting numbers by words.

    Example:
        >>> sorted(permutation(5).tolist())
        [0, 1, 2, 3, 4]
    """
    words = Words(source)
    while True:
        keys = words.room(count)
        words.fill(keys, count)
        sort = _sort_along if count <= _SORTED_ALONG else _sort_by
        order, differ = sort(keys[:count])
        if differ:
            return order


# Of as many, two have equal bits above their numbers once in 32 times.
_SORTED_ALONG = 1 << 20


def _sort_along(keys: WordArray) -> tuple[NDArray[np.intp], bool]:
    """Return the order of words by their high bits, and whether these differ; the words are scratch."""
    low = np.uint64(max(len(keys) - 1, 0).bit_length())
    keys >>= low
    keys <<= low
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    order = (keys & ((np.uint64(1) << low) - np.uint64(1))).view(np.intp)
    keys >>= low
    return order, not (keys[1:] == keys[:-1]).any()


def _sort_by(words: WordArray) -> tuple[NDArray[np.intp], bool]:
    order = np.argsort(words)
    return order, not (np.diff(words[order]) == 0).any()
