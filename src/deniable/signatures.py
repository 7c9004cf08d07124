"""Ed25519 signatures, verified: who wrote a definition, and what a collector has said in a receipt.

The work is that of `cryptography`, where it is installed, and else of some lines here: a device verifies a receipt now
and then, and needs no package for it. In a browser `static/signatures.js` does the same.

Symbols: q the prime of the field, d the constant of the curve −x² + y² = 1 + dx²y², L the order of the base point B.
A point is kept as (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec

KEY_BYTES = 32
"""Bytes of a public key."""

_SMALL_ORDER = frozenset(
    bytes.fromhex(point)
    for point in (
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    )
)
"""The points of order 8 or less, without the bit of their sign: under such a key anybody could sign."""

_PRIME = 2**255 - 19
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME
_ORDER = 2**252 + 27742317777372353535851937790883648493
_Point = tuple[int, int, int, int]
_NEUTRAL: _Point = (0, 1, 1, 0)


def verify(message: bytes, signature: bytes, public: bytes) -> bool:
    """Say whether a signature is that of a message under a public key (RFC 8032, section 5.1.7).

    Keys of small order are refused, and keys that are not written in the one form that they have.

    Example:
        >>> verify(b"", bytes(64), bytes(32))
        False
    """
    y_coordinate = (
        public[:-1] + bytes([public[-1] & 0x7F]) if len(public) == KEY_BYTES else b""
    )
    if (
        not y_coordinate
        or y_coordinate in _SMALL_ORDER
        or int.from_bytes(y_coordinate, "little") >= _PRIME
    ):
        return False
    is_valid = (
        _verify_alone if find_spec("cryptography") is None else _verify_with_openssl
    )
    return is_valid(message, signature, public)


def _verify_with_openssl(message: bytes, signature: bytes, public: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def _verify_alone(message: bytes, signature: bytes, public: bytes) -> bool:
    """Verify with the standard library: R = SB − kA, with k the hash of R, A and the message. Nothing is secret."""
    key = _decode(public)
    commitment, scalar = (
        signature[:KEY_BYTES],
        int.from_bytes(signature[KEY_BYTES:], "little"),
    )
    if key is None or len(signature) != 2 * KEY_BYTES or scalar >= _ORDER:
        return False
    x, y, z, t = key
    challenge = (
        int.from_bytes(
            hashlib.sha512(commitment + public + message).digest(), "little"
        )
        % _ORDER
    )
    difference = _add(
        _multiply(scalar, _base_point()), _multiply(challenge, (-x, y, z, -t))
    )
    return _encode(difference) == commitment


def _base_point() -> _Point:
    y = (4 * pow(5, -1, _PRIME) % _PRIME).to_bytes(KEY_BYTES, "little")
    point = _decode(y)
    assert point is not None
    return point


def _decode(encoded: bytes) -> _Point | None:
    """Return the point with this encoding, y and the lowest bit of x; None where there is none."""
    number = int.from_bytes(encoded, "little")
    y, is_odd = number & (1 << 255) - 1, number >> 255
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _PRIME) % _PRIME
    x = pow(square, (_PRIME + 3) // 8, _PRIME)
    if (x * x - square) % _PRIME:
        x = x * pow(2, (_PRIME - 1) // 4, _PRIME) % _PRIME
    if (x * x - square) % _PRIME or (x == 0 and is_odd):
        return None
    if x & 1 != is_odd:
        x = _PRIME - x
    return x, y, 1, x * y % _PRIME


def _encode(point: _Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, -1, _PRIME)
    parity = x * inverse % _PRIME & 1
    return (y * inverse % _PRIME | parity << 255).to_bytes(KEY_BYTES, "little")


def _add(left: _Point, right: _Point) -> _Point:
    """Add two points, which may be the same (RFC 8032, section 5.1.4)."""
    x1, y1, z1, t1 = left
    x2, y2, z2, t2 = right
    a = (y1 - x1) * (y2 - x2) % _PRIME
    b = (y1 + x1) * (y2 + x2) % _PRIME
    c = 2 * t1 * t2 * _D % _PRIME
    d = 2 * z1 * z2 % _PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME


def _multiply(scalar: int, point: _Point) -> _Point:
    total = _NEUTRAL
    while scalar:
        if scalar & 1:
            total = _add(total, point)
        point = _add(point, point)
        scalar >>= 1
    return total
