"""Blind signatures: a collector signs a token without seeing it, and later cannot say for whom it was signed.

Whoever is invited draws a token (`prepare`), hides it behind a random factor (`blind`) and has it signed once. Without
the factor (`unblind`) the signature is good for the token, and nothing ties the two to what the collector saw: every
signing fits every token, and none better than another. So one invitation gives one response, and no list of
invitations can be joined to the responses.

Implements: RSABSSA-SHA384-PSS-Randomized of RFC 9474 [DJW23], after [Cha83]; `unblind` is its Finalize. That nobody
makes more of them than were signed is shown in [Lys23].

    respondent    prepare, blind ──► blinded             unblind ─► signature   token and signature, with the response
    collector                           └─► sign ─► signed ─┘                      └─► verify, and only once

Guarantee: whatever the modulus and whatever came back, docs/theory/blind-signatures.md. It needs three checks, all made
here: the factor and the encoded token have no factor in common with the modulus, and the signature is good.

The signing half is `deniable.collector.signing`; in a browser `static/blind.js` makes the same numbers from the same
bytes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from deniable import documents
from deniable.chance import SYSTEM, WORD, Source, below, bits
from deniable.documents import HashedDocument
from deniable.errors import InvalidRequest

EXPONENT = 65537
"""The public exponent of every key: one that a signer cannot choose."""

MIN_BITS = 3072
"""The shortest modulus that is accepted."""

MAX_BITS = 8192
"""The longest modulus that is accepted: a signature then takes a respondent's device no more than moments."""

SMALL = 1 << 16
"""No prime below this may divide a modulus."""

_PREFIX = 32  # random bytes before a message
_HASH = hashlib.sha384
_HASH_SIZE = _SALT = 48


@dataclass(frozen=True, eq=False)
class Key(HashedDocument):
    """The public half of a signing key. Each survey has one of its own, the same for everybody who is invited.

    Attributes:
        modulus: the product of two secret primes.

    Raises:
        InvalidRequest: too short or too long, or it has a small factor, as no honest key has.
    """

    SCHEMA: ClassVar[str] = "signing-key"
    modulus: int

    def __post_init__(self) -> None:
        length = self.modulus.bit_length()
        if not MIN_BITS <= length <= MAX_BITS:
            raise InvalidRequest(
                f"the modulus of this key has {length:,} bits; expected {MIN_BITS:,} to {MAX_BITS:,}.",
                "Make a key with `deniable.collector.signing`.",
            )
        if math.gcd(self.modulus, _small_primes()) != 1:
            raise InvalidRequest(
                f"the modulus of this key has a factor below {SMALL:,}; expected the product of two large primes.",
                "Send nothing: keys of small factors are made to recognize who was invited.",
            )

    @property
    def size(self) -> int:
        """Bytes of a signature."""
        return (self.modulus.bit_length() + 7) // 8

    def digits(self, number: int) -> str:
        """Return a number below the modulus as it travels: in hexadecimal, all of one length."""
        return f"{number:0{2 * self.size}x}"

    def to_body(self) -> dict[str, Any]:
        return {"modulus": str(self.modulus)}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Key:
        return cls(documents.integer_field(body, "modulus"))


@cache
def _small_primes() -> int:
    """Return the product of all primes below `SMALL`."""
    prime = bytearray([1]) * SMALL
    for number in range(2, math.isqrt(SMALL) + 1):
        if prime[number]:
            prime[number * number :: number] = bytes(
                len(range(number * number, SMALL, number))
            )
    return math.prod(number for number in range(2, SMALL) if prime[number])


def prepare(message: bytes = b"", source: Source = SYSTEM) -> bytes:
    """Return a token: 32 random bytes, and the message.

    The tokens of invitations have no message; nobody tells one of them from another but by its random bytes.

    Args:
        message: what the signature is to be of, if anything.
        source: random bytes; the operating system's by default.
    """
    return _draw_coprime(_PREFIX, source) + message


def _draw_coprime(size: int, source: Source) -> bytes:
    return bits(size // WORD, source).to_bytes(size, "little")


def encode(token: bytes, key: Key, salt: bytes) -> int:
    """Return the number that stands for a token under a key: EMSA-PSS with SHA-384 [MKJR16, section 9.1.1]."""
    length = key.modulus.bit_length() - 1
    size = (length + 7) // 8
    seed = _HASH(bytes(8) + _HASH(token).digest() + salt).digest()
    block = int.from_bytes(b"\x01" + salt, "big") ^ int.from_bytes(
        _mask(seed, size - _HASH_SIZE - 1), "big"
    )
    encoded = (block << 8 * _HASH_SIZE | int.from_bytes(seed, "big")) << 8 | 0xBC
    return encoded & (1 << length) - 1


def _mask(seed: bytes, size: int) -> bytes:
    """Return so many bytes that hang on a seed: MGF1 with SHA-384 [MKJR16, appendix B.2.1]."""
    blocks = -(-size // _HASH_SIZE)
    return b"".join(
        _HASH(seed + index.to_bytes(4, "big")).digest() for index in range(blocks)
    )[:size]


def blind(token: bytes, key: Key, source: Source = SYSTEM) -> tuple[int, int]:
    """Blind a token before it is sent to the signer.

    Args:
        token: what `prepare` gave.
        key: the key of the survey.
        source: random bytes, first for the salt, then for the factor; the operating system's by default.

    Returns:
        What is to be signed, and the unblinder, a secret that is good for once.

    Why the token is compared with the modulus: a factor that both have stays in what is signed, whatever it is
    multiplied with, and the collector would know the token again by it.

    Raises:
        InvalidRequest: a token that could be guessed; or it has a factor in common with the modulus, which then is one
            that was made to be recognized.
    """
    if len(token) < _PREFIX:
        raise InvalidRequest(
            f"the token has {len(token)} bytes; expected {_PREFIX} or more, from `prepare`."
        )
    encoded = encode(token, key, _draw_coprime(_SALT, source))
    if math.gcd(encoded, key.modulus) != 1:
        raise InvalidRequest(
            "the token has a factor in common with the modulus of the key; expected none.",
            "Send nothing: the key is not a product of two large primes, and made to recognize who was invited.",
        )
    factor = 0
    while math.gcd(factor, key.modulus) != 1:
        factor = 1 + below(key.modulus - 1, source)
    return encoded * pow(factor, EXPONENT, key.modulus) % key.modulus, pow(
        factor, -1, key.modulus
    )


def unblind(token: bytes, signed: int, unblinder: int, key: Key) -> int:
    """Return the signature of the token itself, from what was signed.

    Why it must verify: a collector who signs wrongly, or with a key under which not every number has a root, would know
    the token again. A signature that is good fits every signing equally well.

    Raises:
        InvalidRequest: the signature is not good. Nothing may then be sent with this token.
    """
    signature = signed * unblinder % key.modulus
    if not verify(token, signature, key):
        raise InvalidRequest(
            "what came back is not a signature of this token under the key of this survey.",
            "Throw the token away and ask for the invitation anew; whoever signed it might recognize it.",
        )
    return signature


def verify(token: bytes, signature: int, key: Key) -> bool:
    """Return whether a signature of a token is valid under a key: RSASSA-PSS with SHA-384 and a 48-byte salt.

    Why: the signature's power names its salt, and a token has one encoding with a salt.
    """
    if not 0 < signature < key.modulus:
        return False
    encoded = pow(signature, EXPONENT, key.modulus)
    seed = (encoded >> 8).to_bytes(key.size, "big")[-_HASH_SIZE:]
    size = (key.modulus.bit_length() + 6) // 8 - _HASH_SIZE - 1
    block = (encoded >> 8 * (_HASH_SIZE + 1)) ^ int.from_bytes(
        _mask(seed, size), "big"
    )
    salt = (block & (1 << 8 * _SALT) - 1).to_bytes(_SALT, "big")
    return encoded == encode(token, key, salt)
