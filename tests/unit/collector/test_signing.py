"""The collector's half of blind signatures."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from deniable.blind import EXPONENT
from deniable.collector import signing
from deniable.collector.signing import SigningKey, sign
from deniable.errors import InvalidRequest, UnreadableFile
from tests.support.seeded import Seeded
from tests.support.signing import SIGNING

KEY = SIGNING[0]


def pem(key: rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def test_signing_is_the_private_operation() -> None:
    """By the Chinese remainder theorem as with the one long exponent, whatever the random factor."""
    modulus = KEY.public.modulus
    for blinded in (1, 2, 12345678901234567890, modulus // 3, modulus - 1):
        long_way = pow(blinded, KEY.numbers.d, modulus)
        assert sign(blinded, KEY) == sign(blinded, KEY, Seeded("factor")) == long_way


def test_what_is_raised_to_the_secret_exponent_is_unknown_to_the_sender(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever chooses what is signed may time it: neither that number nor one number twice may meet the exponent."""
    met: list[int] = []

    def watched(base: int, exponent: int, modulus: int) -> int:
        if exponent in (KEY.numbers.dmp1, KEY.numbers.dmq1):
            met.append(base)
        return pow(base, exponent, modulus)

    monkeypatch.setattr(signing, "pow", watched, raising=False)
    for blinded in (2, 12345678901234567890, KEY.public.modulus - 1):
        met.clear()
        for _ in range(5):
            sign(blinded, KEY)
        assert len(met) == len(set(met)) == 10
        assert not {blinded % KEY.numbers.p, blinded % KEY.numbers.q, blinded} & set(
            met
        )


def test_only_numbers_below_the_modulus_are_signed() -> None:
    for wrong in (0, -1, KEY.public.modulus, KEY.public.modulus + 1):
        with pytest.raises(
            InvalidRequest, match="not a number from 1 to below the modulus"
        ):
            sign(wrong, KEY)


def test_a_miscalculation_is_not_handed_out() -> None:
    """Half of a signature that is wrong gives a prime away: gcd(signature^e − blinded, modulus)."""
    parts = KEY.numbers
    broken = rsa.RSAPrivateNumbers(
        p=parts.p, q=parts.q, d=parts.d, dmp1=parts.dmp1 + 2, dmq1=parts.dmq1, iqmp=parts.iqmp,
        public_numbers=parts.public_numbers,
    )  # fmt: skip
    with pytest.raises(ArithmeticError, match="not handed out"):
        sign(2, SigningKey(broken))


def test_keys_are_kept_and_read_again() -> None:
    again = SigningKey.from_pem(KEY.to_pem())
    assert again == KEY
    assert again.public == KEY.public
    assert SIGNING[0].public != SIGNING[1].public


def test_a_key_does_not_show_itself() -> None:
    shown = f"{KEY!r} {KEY}"
    assert not any(
        str(number) in shown
        for number in (KEY.numbers.p, KEY.numbers.q, KEY.numbers.d)
    )


def test_what_is_no_key_of_ours_is_refused() -> None:
    other_exponent = rsa.generate_private_key(public_exponent=3, key_size=2048)
    for wrong in (
        b"",
        KEY.to_pem()[:200],
        pem(ed25519.Ed25519PrivateKey.generate()),
        pem(other_exponent),
    ):
        with pytest.raises(UnreadableFile, match="not a signing key") as refused:
            SigningKey.from_pem(wrong)
        assert wrong.decode()[30:60] not in str(refused.value) or not wrong


def test_short_keys_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="2048 bits is too short"):
        SigningKey.make(bits=2048)
    with pytest.raises(InvalidRequest, match="expected 3,072 to 8,192"):
        SigningKey.from_pem(
            pem(rsa.generate_private_key(public_exponent=EXPONENT, key_size=1024))
        )


def test_the_default_source_is_the_operating_system() -> None:
    assert sign.__defaults__ == (signing.SYSTEM,)
