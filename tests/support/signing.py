"""Two signing keys, made once for each run of the tests."""

from __future__ import annotations

from deniable.blind import Key
from deniable.collector.signing import SigningKey, sign

SIGNING = tuple(SigningKey.make() for _ in range(2))
KEYS: tuple[Key, ...] = tuple(each.public for each in SIGNING)


def signed_by(key: Key, blinded: int) -> int:
    """Return what the collector gives back for this key."""
    return sign(blinded, SIGNING[KEYS.index(key)])
