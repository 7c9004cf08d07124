"""The public keys of a fielded survey. They are part of its definition, and so under its hash."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable import documents
from deniable.blind import Key
from deniable.errors import InvalidRequest

_PUBLIC = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Keys:
    """What is verified with the public halves of a collector's keys. Whoever compares hashes has compared these too.

    Attributes:
        receipts: the Ed25519 key of receipts, 64 hexadecimal digits.
        tokens: the key of tokens of invited respondents; None where everybody may respond.

    Raises:
        InvalidRequest: the key of receipts is none.
    """

    receipts: str
    tokens: Key | None = None

    def __post_init__(self) -> None:
        check_public(self.receipts, "the key of receipts")

    def to_body(self) -> dict[str, Any]:
        """Return the keys for JSON."""
        tokens = (
            {}
            if self.tokens is None
            else {"tokens": json.loads(self.tokens.to_json())}
        )
        return {"receipts": self.receipts, **tokens}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Keys:
        """Read what `to_body` wrote.

        Raises:
            UnreadableFile: not the keys of a survey.
            InvalidRequest: well-formed, but no keys that anything could be verified with.
        """
        tokens = (
            Key.from_json(json.dumps(documents.field(body, "tokens", dict)))
            if "tokens" in body
            else None
        )
        return cls(documents.field(body, "receipts", str), tokens)


def check_public(text: object, subject: str) -> None:
    """Refuse what is no Ed25519 public key in hexadecimal.

    Raises:
        InvalidRequest: it is none.
    """
    if not isinstance(text, str) or not _PUBLIC.fullmatch(text):
        raise InvalidRequest(
            f"{subject} is not as it should be; expected 64 digits 0 to 9 and a to f."
        )
