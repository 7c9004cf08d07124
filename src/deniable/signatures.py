"""Ed25519 signatures, verified: who wrote a definition, and what a collector has said in a receipt.

Implements: verification as in RFC 8032, section 5.1.7, without the cofactor; encodings of points and numbers that are
not the shortest are refused, and so are keys of small order, under which anybody could sign.

Nothing here is secret, so nothing has to take the same time whatever it is given. Keys are made and used elsewhere,
with `cryptography`. The standard library alone; in a browser `static/signatures.js` does the same.
"""

from __future__ import annotations

import hashlib

_FIELD = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _FIELD) % _FIELD
_ROOT = pow(2, (_FIELD - 1) // 4, _FIELD)  # of −1

_Point = tuple[int, int, int, int]
"""X, Y, Z and T = XY/Z: extended coordinates of a point of −x² + y² = 1 + d·x²·y²."""

_ZERO: _Point = (0, 1, 1, 0)


def verify(message: bytes, signature: bytes, public: bytes) -> bool:
    """Say whether a signature is that of a message under a public key.

    Example:
        >>> verify(b"", bytes(64), bytes(32))
        False
    """
    key = _decoded(public)
    number = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or key is None or number >= _ORDER or _same(_times(8, key), _ZERO):
        return False
    digest = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % _ORDER
    x, y, z, t = key
    return _encoded(_sum(_times(number, _BASE), _times(digest, (-x, y, z, -t)))) == signature[:32]


def _decoded(text: bytes) -> _Point | None:
    """Return the point that 32 bytes stand for; None where they stand for none."""
    y = int.from_bytes(text, "little")
    odd, y = y >> 255, y & ((1 << 255) - 1)
    if len(text) != 32 or y >= _FIELD:
        return None
    above, below = (y * y - 1) % _FIELD, (_D * y * y + 1) % _FIELD
    x = above * pow(below, 3, _FIELD) * pow(above * pow(below, 7, _FIELD), (_FIELD - 5) // 8, _FIELD) % _FIELD
    if below * x * x % _FIELD != above:
        x = x * _ROOT % _FIELD
    if below * x * x % _FIELD != above or (x == 0 and odd):
        return None
    x = x if x & 1 == odd else _FIELD - x
    return x, y, 1, x * y % _FIELD


def _encoded(point: _Point) -> bytes:
    x, y, z, _ = point
    scale = pow(z, -1, _FIELD)
    return (y * scale % _FIELD | (x * scale % _FIELD & 1) << 255).to_bytes(32, "little")


def _sum(one: _Point, two: _Point) -> _Point:
    a, b = (one[1] - one[0]) * (two[1] - two[0]), (one[1] + one[0]) * (two[1] + two[0])
    c, d = 2 * one[3] * two[3] * _D, 2 * one[2] * two[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _FIELD, g * h % _FIELD, f * g % _FIELD, e * h % _FIELD


def _times(number: int, point: _Point) -> _Point:
    found = _ZERO
    while number:
        if number & 1:
            found = _sum(found, point)
        point, number = _sum(point, point), number >> 1
    return found


def _same(one: _Point, two: _Point) -> bool:
    return (one[0] * two[2] - two[0] * one[2]) % _FIELD == 0 == (one[1] * two[2] - two[1] * one[2]) % _FIELD


_BASE = _decoded((4 * pow(5, -1, _FIELD) % _FIELD).to_bytes(32, "little")) or _ZERO
