"""Ed25519: the vectors of RFC 8032, signatures good and bad, and keys under which anybody could sign."""

from __future__ import annotations

import secrets

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from deniable import signatures
from deniable.signatures import verify
from tests.support.ed25519 import ORDER, RFC8032, SMALL_ORDER


@pytest.fixture(params=["with cryptography", "alone"], autouse=True)
def verified_by(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways to verify; each must refuse what the other refuses."""
    if request.param == "alone":
        monkeypatch.setattr(signatures, "find_spec", lambda _: None)
        monkeypatch.setattr(signatures, "_verify_with_openssl", None)


@pytest.mark.parametrize(("public", "message", "signature"), RFC8032)
def test_the_vectors_of_rfc_8032_verify_and_no_change_of_them_does(
    public: str, message: str, signature: str
) -> None:
    key, text, signed = (
        bytes.fromhex(each) for each in (public, message, signature)
    )
    assert verify(text, signed, key)
    for at in range(0, 512, 7):
        changed = bytearray(signed)
        changed[at // 8] ^= 1 << at % 8
        assert not verify(text, bytes(changed), key)
    assert not verify(text + b"x", signed, key)
    assert not verify(text, signed[:-1], key)
    assert not verify(text, signed + b"\0", key)
    assert not verify(text, signed, key[:-1])


def test_a_signature_of_another_message_or_key_is_refused() -> None:
    for _ in range(20):
        private = Ed25519PrivateKey.generate()
        public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        message, other = secrets.token_bytes(40), secrets.token_bytes(32)
        signature = private.sign(message)
        assert verify(message, signature, public)
        assert not verify(message[1:], signature, public)
        assert not verify(message, signature[:32] + other, public)
        assert not verify(message, signature, other)


def test_a_key_has_one_form() -> None:
    """One plus the prime is another way to write the neutral point's place."""
    twice = (2**255 - 18).to_bytes(32, "little")
    assert not verify(b"anything", bytes([1]) + bytes(63), twice)


def test_a_signature_has_one_form() -> None:
    public, message, signature = (bytes.fromhex(each) for each in RFC8032[1])
    number = int.from_bytes(signature[32:], "little") + ORDER
    assert not verify(
        message, signature[:32] + number.to_bytes(32, "little"), public
    )


@pytest.mark.parametrize("public", SMALL_ORDER)
def test_keys_under_which_anybody_could_sign_are_refused(public: str) -> None:
    """With the neutral point as a key, a number and its multiple of the base point sign every message."""
    one = bytes([1]) + bytes(31)
    assert not verify(b"anything", bytes([1]) + bytes(63), bytes.fromhex(public))
    assert not verify(b"anything", one + bytes(32), bytes.fromhex(public))
