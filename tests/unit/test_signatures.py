"""Ed25519: the vectors of RFC 8032, and the same verdicts as `cryptography` on signatures good and bad."""

from __future__ import annotations

import secrets

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from deniable.signatures import verify
from tests.support.ed25519 import ORDER, RFC8032, SMALL_ORDER


@pytest.mark.parametrize(("public", "message", "signature"), RFC8032)
def test_the_vectors_of_rfc_8032_verify_and_no_change_of_them_does(public: str, message: str, signature: str) -> None:
    key, text, signed = (bytes.fromhex(each) for each in (public, message, signature))
    assert verify(text, signed, key)
    for at in range(0, 512, 7):
        changed = bytearray(signed)
        changed[at // 8] ^= 1 << at % 8
        assert not verify(text, bytes(changed), key)
    assert not verify(text + b"x", signed, key)
    assert not verify(text, signed[:-1], key)
    assert not verify(text, signed + b"\0", key)
    assert not verify(text, signed, key[:-1])


def test_the_same_verdicts_as_cryptography() -> None:
    for _ in range(20):
        private = Ed25519PrivateKey.generate()
        public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        message, other = secrets.token_bytes(40), secrets.token_bytes(32)
        signature = private.sign(message)
        assert verify(message, signature, public)
        for text, signed, key in (
            (message[1:], signature, public), (message, signature[:32] + other, public), (message, signature, other),
        ):  # fmt: skip
            try:
                Ed25519PublicKey.from_public_bytes(key).verify(signed, text)
                expected = True
            except InvalidSignature:
                expected = False
            assert verify(text, signed, key) is expected


def test_a_signature_has_one_form() -> None:
    public, message, signature = (bytes.fromhex(each) for each in RFC8032[1])
    number = int.from_bytes(signature[32:], "little") + ORDER
    assert not verify(message, signature[:32] + number.to_bytes(32, "little"), public)


@pytest.mark.parametrize("public", SMALL_ORDER)
def test_keys_under_which_anybody_could_sign_are_refused(public: str) -> None:
    """With the neutral point as a key, a number and its multiple of the base point sign every message."""
    one = bytes([1]) + bytes(31)
    assert not verify(b"anything", bytes([1]) + bytes(63), bytes.fromhex(public))
    assert not verify(b"anything", one + bytes(32), bytes.fromhex(public))
