"""Secure random words at memory speed: AES-256 in counter mode, keyed by the operating system."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from deniable.chance import WORD

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

_ZEROS = memoryview(bytes(1 << 19))  # the plaintext: a keystream is the encryption of zeros
_forks = 0


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 - the one thing a forked child must see changed
    _forks += 1


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_count_fork)


class Keystream(threading.local):
    """A source of random bytes for bulk draws, to be shared freely.

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
        """Return `count` bytes that nobody has seen before."""
        pieces = []
        while count > 0:
            size = min(count, len(_ZEROS), self._left())
            pieces.append(self._cipher.update(_ZEROS[:size]))
            self._unused -= size
            count -= size
        return b"".join(pieces)

    def fill(self, words: NDArray[np.uint64], count: int) -> None:
        """Write the first `count` words of an array: the same bytes as `read(8 * count)`, without a copy.

        Args:
            words: one-dimensional and contiguous. Leave SPARE words behind `count`, or the last ones are copied.
            count: how many words to write, at most `len(words)`.
        """
        room = words.data.cast("B")
        direct = min(WORD * count, max(0, len(room) - WORD * SPARE))
        at = 0
        while at < direct:
            size = min(direct - at, len(_ZEROS), self._left())
            self._cipher.update_into(_ZEROS[:size], room[at:])
            self._unused -= size
            at += size
        if at < WORD * count:
            room[at : WORD * count] = self.read(WORD * count - at)
        if sys.byteorder == "big":  # pragma: no cover - words are little-endian wherever they are drawn
            words[:count].byteswap(inplace=True)

    def _left(self) -> int:
        if self._unused == 0 or self._process != (_forks, os.getpid()):
            self._take_key()
        return self._unused

    def _take_key(self) -> None:
        self._process = (_forks, os.getpid())
        # Counting from 0 is safe because no key is ever used twice.
        self._cipher: Any = Cipher(algorithms.AES(os.urandom(KEY)), modes.CTR(bytes(16))).encryptor()
        self._unused = PER_KEY

    def __reduce__(self) -> NoReturn:
        raise TypeError("a keystream is not copied: two copies would give the same bytes; build another one")


def shuffled(count: int) -> NDArray[np.intp]:
    """Return the numbers below a count in an order drawn with secure randomness."""
    # Two equal words, which would leave two of them in their order, come about once in 2^65/count² times.
    return np.argsort(np.frombuffer(Keystream().read(WORD * count), np.uint64), kind="stable")
