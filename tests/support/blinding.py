"""What tests of blind signatures share: the vectors of RFC 9474, and keys that were made to recognize respondents."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa

from deniable import documents
from deniable.blind import EXPONENT, MIN_BITS, Key
from deniable.chance import words_for
from deniable.collector.signing import SigningKey

_RFC: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "rfc9474.json").read_text()
)

VECTORS: list[dict[str, str]] = _RFC["vectors"]
"""Test vectors of RFC 9474, in hexadecimal digits."""


def rfc_key() -> SigningKey:
    """Return the key of all vectors."""
    p, q, n, e, d = (int(_RFC["key"][name], 16) for name in "pqned")
    return SigningKey(
        rsa.RSAPrivateNumbers(
            p,
            q,
            d,
            d % (p - 1),
            d % (q - 1),
            pow(q, -1, p),
            rsa.RSAPublicNumbers(e, n),
        )
    )


def factor_bytes(factor: int, modulus: int) -> bytes:
    """Return the random bytes from which `blind` draws a factor."""
    words = words_for(modulus - 1)
    number = (factor - 1) * ((1 << 64 * words) // (modulus - 1))
    return b"".join(
        (number >> 64 * at & 2**64 - 1).to_bytes(8, "little")
        for at in reversed(range(words))
    )


def vector_bytes(vector: dict[str, str], modulus: int) -> bytes:
    """Return the random bytes from which `blind` makes a vector: its salt, and its factor."""
    factor = pow(int(vector["inv"], 16), -1, modulus)
    return bytes.fromhex(vector["salt"]) + factor_bytes(factor, modulus)


def smooth_modulus(first: int = 3) -> int:
    """Return a product of primes that follow each other, as long as a key has to be.

    Raising to the exponent is a permutation below it, and whoever knows the primes can sign: every signature verifies.
    """
    modulus, number = 1, first
    while modulus.bit_length() < MIN_BITS:
        if (
            all(number % each for each in range(2, math.isqrt(number) + 1))
            and (number - 1) % EXPONENT
        ):
            modulus *= number
        number += 1
    return modulus


def sealed(modulus: int) -> str:
    """Return a key as it travels, whether it would be accepted or not."""
    return documents.seal("signing-key", {"modulus": str(modulus)})


def unchecked(modulus: int) -> Key:
    """Return a key that nobody checked."""
    key = object.__new__(Key)
    object.__setattr__(key, "modulus", modulus)
    return key


def joined(seen: Sequence[int], tokens: Iterable[int], modulus: int) -> int:
    """Return how many of those who exchanged an invitation are joined to their token for certain.

    Args:
        seen: what each of them had signed.
        tokens: what their tokens are encoded as, in the same order; it is the signature, raised to the exponent.
        modulus: that of the key.
    """
    marks = [math.gcd(blinded, modulus) for blinded in seen]
    often = Counter(marks)
    return sum(
        math.gcd(token, modulus) == mark and often[mark] == 1
        for mark, token in zip(marks, tokens, strict=True)
    )
