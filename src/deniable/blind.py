"""Blind signatures: a collector signs a token without seeing it, and later cannot say for whom it was signed.

Whoever is invited draws a secret token, hides it behind a random factor (`blind`) and has it signed once. Without the
factor (`unblind`) the signature is good for the token, and nothing ties the two to what the collector saw: for every
signing and every token there is exactly one factor that fits, and all are equally likely. So one invitation gives one
response, and no list of invitations can be joined to the responses.

Implements: RSA signatures on a hash as wide as the modulus [BR93], blinded as in [Cha83]. That nobody makes more of
them than were signed is the assumption of [BNPS03].

    respondent    blind ──────► blinded              unblind ─► signature      token and signature, with the response
    collector                      └─► sign ─► signed ─┘                          └─► verify, and only once

The standard library alone. The signing half is `deniable.collector.signing`; in a browser `static/blind.js` makes
the same numbers from the same bytes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from deniable import documents
from deniable.chance import SYSTEM, Source, below
from deniable.documents import HashedDocument
from deniable.errors import InvalidRequest

EXPONENT = 65537
"""The public exponent of every key: one that a signer cannot choose."""

LEAST_BITS = 2048
"""The shortest modulus that is accepted."""

_NAME = b"deniable/blind/1"  # a signature under our keys is one of this scheme and of no other
_SLACK = 16  # bytes beyond the modulus, which make what is left of the hash even to within 2^-128


@dataclass(frozen=True, eq=False)
class Key(HashedDocument):
    """The public half of a signing key. Each survey has one of its own, the same for everybody who is invited.

    Attributes:
        modulus: the product of two secret primes.

    Raises:
        InvalidRequest: too short, or even.
    """

    SCHEMA: ClassVar[str] = "signing-key"
    modulus: int

    def __post_init__(self) -> None:
        if self.modulus.bit_length() < LEAST_BITS or self.modulus % 2 == 0:
            raise InvalidRequest(
                f"the modulus of this key has {self.modulus.bit_length()} bits, or is even; "
                f"expected an odd one of at least {LEAST_BITS} bits.",
                "Make a key with `deniable.collector.signing`.",
            )

    def to_body(self) -> dict[str, Any]:
        return {"modulus": str(self.modulus)}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Key:
        return cls(documents.whole(body, "modulus"))


def expand(message: bytes, modulus: int) -> int:
    """Return the hash of a message as a number below the modulus, spread over all of them.

    SHA-256 over the name of this scheme, the hash of the modulus, a counter of four bytes from 0 on, the highest first,
    and the message; block after block, until there are 16 bytes more than the modulus has; cut there, read with the
    highest byte first, and reduced.

    Why: the modulus goes in, so that what is signed under one key says nothing under another.

    Example:
        >>> expand(b"a token", 2**64 - 59) == expand(b"a token", 2**64 - 59) < 2**64 - 59
        True
    """
    size = (modulus.bit_length() + 7) // 8
    start = _NAME + hashlib.sha256(modulus.to_bytes(size, "big")).digest()
    blocks = (size + _SLACK + 31) // 32
    wide = b"".join(hashlib.sha256(start + at.to_bytes(4, "big") + message).digest() for at in range(blocks))
    return int.from_bytes(wide[: size + _SLACK], "big") % modulus


def blind(message: bytes, key: Key, source: Source = SYSTEM) -> tuple[int, int]:
    """Hide a message from whoever signs it.

    Args:
        message: a token of at least 16 random bytes that nobody else knows.
        key: the key of the survey.
        source: random bytes; the operating system's by default.

    Returns:
        What is to be signed, and the unblinder, a secret that is good for once.

    Raises:
        InvalidRequest: a message that could be guessed.
    """
    if len(message) < 16:
        raise InvalidRequest(f"the token has {len(message)} bytes; expected at least 16, drawn at random.")
    while True:
        factor = 1 + below(key.modulus - 1, source)
        if math.gcd(factor, key.modulus) == 1:
            break
    hidden = expand(message, key.modulus) * pow(factor, EXPONENT, key.modulus) % key.modulus
    return hidden, pow(factor, -1, key.modulus)


def unblind(message: bytes, signed: int, unblinder: int, key: Key) -> int:
    """Return the signature of the message itself, from what was signed.

    Why it must verify: a collector who signs wrongly, or with a key under which not every number has a root, would know
    the token again. A signature that is good fits every signing equally well.

    Raises:
        InvalidRequest: the signature is not good. Nothing may then be sent with this token.
    """
    signature = signed * unblinder % key.modulus
    if not verify(message, signature, key):
        raise InvalidRequest(
            "what came back is not a signature of this token under the key of this survey.",
            "Throw the token away and ask for the invitation anew; whoever signed it might recognize it.",
        )
    return signature


def verify(message: bytes, signature: int, key: Key) -> bool:
    """Say whether a signature is that of a message under a key."""
    return 0 < signature < key.modulus and pow(signature, EXPONENT, key.modulus) == expand(message, key.modulus)
