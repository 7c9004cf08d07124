"""The test vectors of RFC 9474, from the random bytes that they name. `test_browser_blind.py` has the browser's."""

from __future__ import annotations

import pytest

from deniable.blind import EXPONENT, blind, encode, prepare, unblind, verify
from deniable.chance import ScriptedSource
from deniable.collector.signing import sign
from tests.support.blinding import VECTORS, rfc_key, vector_bytes

SIGNING = rfc_key()
KEY = SIGNING.public


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_vector(vector: dict[str, str]) -> None:
    token = bytes.fromhex(vector["input_msg"])
    blinded, unblinder = blind(
        token, KEY, ScriptedSource(vector_bytes(vector, KEY.modulus))
    )
    signed = sign(blinded, SIGNING)
    signature = unblind(token, signed, unblinder, KEY)
    assert KEY.digits(blinded) == vector["blinded_msg"]
    assert KEY.digits(unblinder) == vector["inv"]
    assert KEY.digits(signed) == vector["blind_sig"]
    assert KEY.digits(signature) == vector["sig"]
    assert verify(token, signature, KEY)
    assert encode(token, KEY, bytes.fromhex(vector["salt"])) == pow(
        signature, EXPONENT, KEY.modulus
    )


def test_the_message_is_prepared_as_in_the_vector() -> None:
    vector = VECTORS[0]
    source = ScriptedSource(bytes.fromhex(vector["msg_prefix"]))
    assert prepare(bytes.fromhex(vector["msg"]), source).hex() == vector["input_msg"]


def test_there_is_a_vector_of_the_scheme() -> None:
    assert VECTORS[0]["name"] == "RSABSSA-SHA384-PSS-Randomized"
    assert KEY.modulus.bit_length() == 4096
