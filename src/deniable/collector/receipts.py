"""Receipts: what is stored under a key, signed, so that a respondent can show later what the collector had said.

A receipt names responses, never an answer. It names the key by its hash: whoever is shown a receipt cannot withdraw.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from deniable import documents
from deniable.collector.store import Entry, Store
from deniable.errors import UnreadableFile

_SECRET = "receipts"  # the name that the store keeps it under
_KIND = "stored"


def receipt(store: Store, entry: Entry, key: bytes) -> str:
    """Return the receipt of a key as JSON; it lists no response where none is stored."""
    survey = entry.survey
    found = []
    for question, stage, code in store.stored(entry.id, key):
        asked = survey.questions[question]
        design = asked.designs[stage]
        found.append({"question": asked.name, "design": design.hash, "symbol": design.symbols[code]})
    body = {"survey": survey.hash, "key": _named(key), "responses": found}
    signature = _private(store).sign(_signed(body)).hex()
    return documents.seal(_KIND, {**body, "signature": signature})


def verify(text: str | bytes, public: str, *, key: bytes | None = None) -> list[dict[str, str]]:
    """Return the responses of a receipt that a collector signed.

    Args:
        text: the receipt.
        public: the collector's public key, in hexadecimal.
        key: the respondent's key, if it is at hand; the receipt must then be of it.

    Raises:
        UnreadableFile: edited, signed by somebody else, or of another key.
    """
    body = documents.unseal(_KIND, text)
    signature = documents.field(body, "signature", str)
    del body["signature"]
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(bytes.fromhex(signature), _signed(body))
    except (InvalidSignature, ValueError):
        raise UnreadableFile("this receipt is not signed with that key; expected one that is.") from None
    if key is not None and body.get("key") != _named(key):
        raise UnreadableFile("this receipt is of another key; expected one of the key at hand.")
    responses: list[dict[str, str]] = documents.field(body, "responses", list)
    return responses


def public_key(store: Store) -> str:
    """Return the public key that receipts are verified with, in hexadecimal."""
    return _private(store).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex()


def _private(store: Store) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(store.secret(_SECRET))


def _signed(body: Mapping[str, Any]) -> bytes:
    return b"deniable receipt\n" + documents.digest(body).encode()


def _named(key: bytes) -> str:
    return "sha256:" + hashlib.sha256(b"deniable key\n" + key).hexdigest()
