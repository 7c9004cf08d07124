"""Blind signatures: what is signed says nothing about the token, and only what was signed is good."""

from __future__ import annotations

import math
from itertools import product

import pytest

from deniable import blind as scheme
from deniable.blind import EXPONENT, Key, blind, encode, prepare, unblind, verify
from deniable.chance import ScriptedSource
from deniable.errors import InvalidRequest, OutOfRandomness, UnreadableFile
from tests.support.blinding import (
    factor_bytes,
    joined,
    sealed,
    smooth_modulus,
    unchecked,
)
from tests.support.seeded import Seeded
from tests.support.signing import KEYS, signed_by

ONE, OTHER = KEYS
TOKEN = prepare(source=Seeded("token"))
SMOOTH = smooth_modulus()


def good_signature(token: bytes) -> int:
    blinded, unblinder = blind(token, ONE, Seeded("blind"))
    return unblind(token, signed_by(ONE, blinded), unblinder, ONE)


def test_a_token_is_random_bytes_and_the_message() -> None:
    assert len(prepare()) == 32
    assert prepare() != prepare()
    assert (
        prepare(b"for a", ScriptedSource(bytes(range(32))))
        == bytes(range(32)) + b"for a"
    )
    with pytest.raises(OutOfRandomness):
        prepare(source=ScriptedSource(b"too few"))


def test_a_token_is_signed_unseen_and_good() -> None:
    blinded, unblinder = blind(TOKEN, ONE, Seeded("blind"))
    signature = unblind(TOKEN, signed_by(ONE, blinded), unblinder, ONE)
    assert verify(TOKEN, signature, ONE)
    assert (
        pow(signature, EXPONENT, ONE.modulus)
        == encode(TOKEN, ONE, Seeded("blind").read(48))
        != blinded
    )


def test_what_is_signed_and_the_signature_differ_each_time() -> None:
    pairs = [blind(TOKEN, ONE) for _ in range(3)]
    assert len({blinded for blinded, _ in pairs}) == 3
    assert (
        len(
            {
                unblind(TOKEN, signed_by(ONE, blinded), undo, ONE)
                for blinded, undo in pairs
            }
        )
        == 3
    )


def test_what_stands_for_a_token_is_below_the_modulus_whatever_its_length() -> None:
    for length in (3072, 3073, 3079, 3080):
        key = unchecked((1 << length) - 1)
        numbers = [encode(TOKEN, key, bytes([at]) * 48) for at in range(64)]
        assert length - 10 < max(numbers).bit_length() <= length - 1
        assert all(number % 256 == 0xBC for number in numbers)


def test_every_signing_fits_every_token() -> None:
    """Blindness, exactly: one factor explains each pair of what was signed and which token came; none stands out."""
    tokens = [prepare(source=Seeded(f"token {at}")) for at in range(3)]
    seen, spent = [], []
    for at, token in enumerate(tokens):
        blinded, unblinder = blind(token, ONE, Seeded(str(at)))
        signed = signed_by(ONE, blinded)
        seen.append((blinded, signed))
        spent.append(unblind(token, signed, unblinder, ONE))
    for (blinded, signed), signature in product(seen, spent):
        factor = signed * pow(signature, -1, ONE.modulus) % ONE.modulus
        assert math.gcd(factor, ONE.modulus) == 1
        assert pow(signature * factor, EXPONENT, ONE.modulus) == blinded


def test_altered_and_forged_signatures_are_refused() -> None:
    signature = good_signature(TOKEN)
    for wrong in (
        signature + 1,
        signature - 1,
        signature + ONE.modulus,
        -signature,
        ONE.modulus - signature,
        0,
        1,
    ):
        assert not verify(TOKEN, wrong, ONE)
    assert not verify(TOKEN + b".", signature, ONE)
    other = TOKEN[::-1]
    assert not verify(
        TOKEN + other, signature * good_signature(other) % ONE.modulus, ONE
    )


def test_a_token_of_one_survey_is_refused_by_another() -> None:
    blinded, unblinder = blind(TOKEN, ONE, Seeded("blind"))
    assert not verify(TOKEN, good_signature(TOKEN), OTHER)
    with pytest.raises(InvalidRequest, match="not a signature of this token"):
        unblind(TOKEN, signed_by(OTHER, blinded % OTHER.modulus), unblinder, ONE)


def test_a_wrong_signing_is_found_before_the_token_is_used() -> None:
    blinded, unblinder = blind(TOKEN, ONE, Seeded("blind"))
    for signed in (0, 1, blinded, signed_by(ONE, blinded) * 2 % ONE.modulus):
        with pytest.raises(InvalidRequest, match="Throw the token away"):
            unblind(TOKEN, signed, unblinder, ONE)


def test_the_factor_is_drawn_anew_where_it_has_no_inverse() -> None:
    """No such number is ever met below an honest modulus; so it is led there by the hand."""
    key = unchecked(SMOOTH)
    salt = next(
        salt
        for salt in map(salt_of, range(10**6))
        if math.gcd(encode(TOKEN, key, salt), SMOOTH) == 1
    )
    source = ScriptedSource(
        salt + b"".join(factor_bytes(factor, SMOOTH) for factor in (3, 5, 4))
    )
    blinded, unblinder = blind(TOKEN, key, source)
    assert source.used == 48 + 3 * len(factor_bytes(4, SMOOTH))
    assert unblinder == pow(4, -1, SMOOTH)
    assert blinded == encode(TOKEN, key, salt) * pow(4, EXPONENT, SMOOTH) % SMOOTH


def salt_of(number: int) -> bytes:
    return number.to_bytes(48, "big")


def test_a_token_that_could_be_guessed_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="has 31 bytes; expected 32 or more"):
        blind(b"x" * 31, ONE)
    with pytest.raises(OutOfRandomness):
        blind(TOKEN, ONE, ScriptedSource(b"too few"))


def test_keys_travel() -> None:
    assert Key.from_json(ONE.to_json()) == ONE
    with pytest.raises(UnreadableFile, match="does not match its hash"):
        Key.from_json(ONE.to_json().replace(str(ONE.modulus), str(OTHER.modulus)))
    with pytest.raises(UnreadableFile, match="no further fields"):
        Key.from_json(
            scheme.documents.seal(
                "signing-key", {"modulus": str(ONE.modulus), "exponent": "3"}
            )
        )


def test_numbers_travel_in_as_many_digits_as_the_modulus_has() -> None:
    assert ONE.digits(1) == "0" * 767 + "1"
    assert len(ONE.digits(ONE.modulus - 1)) == 768


@pytest.mark.parametrize(
    "modulus",
    [ONE.modulus >> 1 | 1, ONE.modulus << 5121, 15],
    ids=["a bit too short", "a bit too long", "15"],
)
def test_keys_of_another_length_are_refused(modulus: int) -> None:
    with pytest.raises(InvalidRequest, match="bits; expected 3,072 to 8,192"):
        Key(modulus)


@pytest.mark.parametrize("factor", [2, 3, 64661, 65521])
def test_keys_with_a_small_factor_are_refused(factor: int) -> None:
    with pytest.raises(InvalidRequest, match="has a factor below 65,536"):
        Key(ONE.modulus * factor)
    assert Key(ONE.modulus * 65537).size == 386, (
        "the rest is for the comparison with each token"
    )


# The attack: a key of small factors, which stay in what is signed


def test_invited_people_under_a_smooth_modulus_send_nothing() -> None:
    """Each reads the key that comes with the survey; nobody gets as far as blinding a token."""
    text, seen = sealed(SMOOTH), []
    for _ in range(100):
        try:
            seen.append(blind(prepare(), Key.from_json(text))[0])
        except InvalidRequest:
            continue
    assert joined(seen, [], SMOOTH) == len(seen) == 0


def test_a_token_with_a_factor_of_the_modulus_is_not_sent() -> None:
    """Also under a key that nobody checked: what is sent has nothing in common with the modulus to be known by."""
    key, source, seen, kept = unchecked(SMOOTH), Seeded("smooth"), [], 0
    for _ in range(300):
        try:
            seen.append(
                math.gcd(blind(prepare(source=source), key, source)[0], SMOOTH)
            )
        except InvalidRequest:
            kept += 1
    assert kept > 200
    assert set(seen) == {1}


def test_without_the_checks_the_attack_joins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tests above can fail: with the comparison taken out, most of those invited are known again by their token."""
    key, source, seen, tokens = unchecked(SMOOTH), Seeded("attack"), [], []
    secret = pow(
        EXPONENT,
        -1,
        math.prod(p - 1 for p in range(3, 3000) if SMOOTH % p == 0 and is_prime(p)),
    )
    for at in range(200):
        token = prepare(source=source)
        blinded, unblinder = blind_unchecked(token, key, source, monkeypatch)
        seen.append(blinded)
        if at < 5:
            signed = pow(blinded, secret, SMOOTH)
            assert verify(token, signed * unblinder % SMOOTH, key), (
                "all signatures are good"
            )
        tokens.append(blinded * pow(unblinder, EXPONENT, SMOOTH) % SMOOTH)
    assert joined(seen, tokens, SMOOTH) > 100


def is_prime(number: int) -> bool:
    return all(number % each for each in range(2, math.isqrt(number) + 1))


def blind_unchecked(
    token: bytes, key: Key, source: Seeded, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, int]:
    """Blind as if the token had been compared with the modulus, and found to be well."""
    answers = iter([1])
    with monkeypatch.context() as patch:
        patch.setattr(
            scheme.math, "gcd", lambda *numbers: next(answers, None) or GCD(*numbers)
        )
        return blind(token, key, source)


GCD = math.gcd
