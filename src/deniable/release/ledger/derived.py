"""Random bytes that belong to one question and one moment of its history."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

SECRET = 32
"""Bytes of a secret. A question has one for draws from what is out and, as long as the answer is kept, one from it."""

_BLOCK = 4096


class Derived:
    """The bytes of SHAKE-256 over a secret and a context, block after block.

    Guarantee: to whoever does not know the secret, which never leaves the ledger, they are as good as random.

    Why: a copy of the ledger that is asked for the same stages in the same order draws the same responses. Restoring a
    backup, or opening the file on two devices, does not spend a stage twice.

    Example:
        >>> Derived(bytes(32), ["a"]).read(8) == Derived(bytes(32), ["a"]).read(8) != Derived(bytes(32), ["b"]).read(8)
        True
    """

    def __init__(self, secret: bytes, context: Sequence[object]) -> None:
        self._start = hashlib.shake_256(b"deniable/ledger/1\0" + secret + json.dumps(list(context)).encode())
        self._blocks = 0
        self._bytes = b""

    def read(self, count: int) -> bytes:
        """Return the next bytes."""
        while len(self._bytes) < count:
            block = self._start.copy()
            block.update(self._blocks.to_bytes(8, "little"))
            self._blocks += 1
            self._bytes += block.digest(_BLOCK)
        piece, self._bytes = self._bytes[:count], self._bytes[count:]
        return piece
