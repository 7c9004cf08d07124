"""Blind signatures: what is signed says nothing about the token, and only what was signed is good."""

from __future__ import annotations

import hashlib
from itertools import product

import pytest

from deniable import blind as scheme
from deniable.blind import EXPONENT, Key, blind, expand, unblind, verify
from deniable.chance import ScriptedSource
from deniable.errors import InvalidRequest, OutOfRandomness, UnreadableFile
from tests.support.seeded import Seeded
from tests.support.signing import KEYS, signed_by

ONE, OTHER = KEYS
TOKEN = b"sixteen bytes or more"


def test_the_hash_is_as_the_page_says() -> None:
    modulus = ONE.modulus
    start = b"deniable/blind/1" + hashlib.sha256(modulus.to_bytes(256, "big")).digest()
    blocks = b"".join(hashlib.sha256(start + bytes([0, 0, 0, at]) + TOKEN).digest() for at in range(9))
    assert expand(TOKEN, modulus) == int.from_bytes(blocks[: 256 + 16], "big") % modulus


def test_the_hash_is_spread_over_the_whole_modulus() -> None:
    """The mean of 400 even draws is off by 9 of its standard deviations less often than once in 10^18."""
    numbers = [expand(f"token {at}".encode(), ONE.modulus) / ONE.modulus for at in range(400)]
    assert abs(sum(numbers) / 400 - 1 / 2) < 9 * (1 / 12 / 400) ** 0.5
    assert max(numbers) > 0.9
    assert min(numbers) < 0.1


def test_a_token_is_signed_unseen_and_good() -> None:
    blinded, unblinder = blind(TOKEN, ONE, Seeded("blind"))
    assert blinded != expand(TOKEN, ONE.modulus)
    signature = unblind(TOKEN, signed_by(ONE, blinded), unblinder, ONE)
    assert verify(TOKEN, signature, ONE)
    assert pow(signature, EXPONENT, ONE.modulus) == expand(TOKEN, ONE.modulus)


def test_what_is_signed_differs_each_time_and_the_signature_does_not() -> None:
    pairs = [blind(TOKEN, ONE) for _ in range(3)]
    assert len({blinded for blinded, _ in pairs}) == 3
    assert len({unblind(TOKEN, signed_by(ONE, blinded), undo, ONE) for blinded, undo in pairs}) == 1


def test_every_signing_fits_every_token() -> None:
    """Blindness, exactly: one factor explains each pair of what was signed and which token came; none stands out."""
    tokens = [TOKEN + bytes([at]) for at in range(3)]
    seen = [blind(token, ONE, Seeded(str(at)))[0] for at, token in enumerate(tokens)]
    for blinded, token in product(seen, tokens):
        good = signed_by(ONE, expand(token, ONE.modulus))
        factor = signed_by(ONE, blinded) * pow(good, -1, ONE.modulus) % ONE.modulus
        assert expand(token, ONE.modulus) * pow(factor, EXPONENT, ONE.modulus) % ONE.modulus == blinded


def test_altered_and_forged_signatures_are_refused() -> None:
    blinded, unblinder = blind(TOKEN, ONE, Seeded("blind"))
    signature = unblind(TOKEN, signed_by(ONE, blinded), unblinder, ONE)
    for wrong in (signature + 1, signature - 1, signature + ONE.modulus, -signature, ONE.modulus - signature, 0, 1):
        assert not verify(TOKEN, wrong, ONE)
    assert not verify(TOKEN + b".", signature, ONE)
    # Products of signatures are signatures of products, which no known message has as its hash.
    other = TOKEN[::-1]
    second = signed_by(ONE, expand(other, ONE.modulus))
    assert not verify(TOKEN + other, signature * second % ONE.modulus, ONE)


def test_a_token_of_one_survey_is_refused_by_another() -> None:
    blinded, unblinder = blind(TOKEN, ONE, Seeded("blind"))
    signed = signed_by(ONE, blinded)
    signature = unblind(TOKEN, signed, unblinder, ONE)
    assert not verify(TOKEN, signature, OTHER)
    assert expand(TOKEN, ONE.modulus) % OTHER.modulus != expand(TOKEN, OTHER.modulus)
    with pytest.raises(InvalidRequest, match="not a signature of this token"):
        unblind(TOKEN, signed_by(OTHER, blinded % OTHER.modulus), unblinder, ONE)


def test_a_wrong_signing_is_found_before_the_token_is_used() -> None:
    blinded, unblinder = blind(TOKEN, ONE, Seeded("blind"))
    for signed in (0, 1, blinded, signed_by(ONE, blinded) * 2 % ONE.modulus):
        with pytest.raises(InvalidRequest, match="Throw the token away"):
            unblind(TOKEN, signed, unblinder, ONE)


def test_the_factor_is_drawn_anew_where_it_has_no_inverse(monkeypatch: pytest.MonkeyPatch) -> None:
    """No such number is ever met below a modulus of 2,048 bits; so it is led there by the hand."""
    monkeypatch.setattr(scheme, "LEAST_BITS", 4)
    small = Key(15)
    words = b"".join((at * ((1 << 64) // 14) + 5).to_bytes(8, "little") for at in (2, 4, 6))  # 3, 5, then 7
    source = ScriptedSource(words)
    blinded, unblinder = blind(TOKEN, small, source)
    assert source.used == 24
    assert unblinder == pow(7, -1, 15)
    assert blinded == expand(TOKEN, 15) * pow(7, EXPONENT, 15) % 15


def test_a_token_that_could_be_guessed_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="has 15 bytes; expected at least 16"):
        blind(b"x" * 15, ONE)
    with pytest.raises(OutOfRandomness):
        blind(TOKEN, ONE, ScriptedSource(b"too few"))


def test_keys_travel() -> None:
    assert Key.from_json(ONE.to_json()) == ONE
    with pytest.raises(UnreadableFile, match="does not match its hash"):
        Key.from_json(ONE.to_json().replace(str(ONE.modulus), str(OTHER.modulus)))
    with pytest.raises(UnreadableFile, match="no further fields"):
        Key.from_json(scheme.documents.seal("signing-key", {"modulus": str(ONE.modulus), "exponent": "3"}))


@pytest.mark.parametrize("modulus", [ONE.modulus >> 1 | 1, ONE.modulus - 1, 15], ids=["a bit too short", "even", "15"])
def test_weak_keys_are_refused(modulus: int) -> None:
    with pytest.raises(InvalidRequest, match="expected an odd one of at least 2048 bits"):
        Key(modulus)
