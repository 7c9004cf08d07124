"""Ed25519 signatures, verified: who wrote a definition, and what a collector has said in a receipt.

The work is that of `cryptography`, which is loaded when there is something to verify. In a browser
`static/signatures.js` does the same.
"""

from __future__ import annotations

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


def verify(message: bytes, signature: bytes, public: bytes) -> bool:
    """Say whether a signature is that of a message under a public key (RFC 8032, section 5.1.7).

    Keys of small order are refused, and keys that are not written in the one form that they have.

    Example:
        >>> verify(b"", bytes(64), bytes(32))
        False
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    y_coordinate = public[:-1] + bytes([public[-1] & 0x7F]) if len(public) == KEY_BYTES else b""
    if not y_coordinate or y_coordinate in _SMALL_ORDER or int.from_bytes(y_coordinate, "little") >= _PRIME:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True
