"""A source that repeats itself: the same name gives the same bytes, on every machine.

For tests alone. `scripts/test --fresh` sets DENIABLE_TEST_SALT, and every seeded source gives other bytes; a salt
under which a test failed is kept as a case of that test.
"""

from __future__ import annotations

import hashlib
import os

from deniable.chance import Source

SALT = "DENIABLE_TEST_SALT"
_BLOCK = 1 << 16


class Seeded:
    """The bytes of SHAKE-256 over name, salt and a block number, block after block."""

    def __init__(self, name: str, salt: str = "") -> None:
        self._start = hashlib.shake_256(f"{salt}\0{name}\0".encode())
        self._block = 0
        self._bytes = b""
        self._used = 0

    def read(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        end = self._used + count
        # the quick way out: a scalar draw takes eight bytes
        if end <= len(self._bytes):
            piece = self._bytes[self._used : end]
            self._used = end
            return piece
        pieces, wanted = (
            [self._bytes[self._used :]],
            count - (len(self._bytes) - self._used),
        )
        while wanted > 0:
            self._bytes = self._next()
            pieces.append(self._bytes[:wanted])
            self._used = min(wanted, _BLOCK)
            wanted -= _BLOCK
        return b"".join(pieces)

    def _next(self) -> bytes:
        state = self._start.copy()
        state.update(self._block.to_bytes(8, "little"))
        self._block += 1
        return state.digest(_BLOCK)


def seeded(name: str) -> Source:
    """Return the source that belongs to a name, under the salt of this run.

    Example:
        >>> seeded("a").read(8) == seeded("a").read(8) != seeded("b").read(8)
        True
    """
    return Seeded(name, os.environ.get(SALT, ""))
