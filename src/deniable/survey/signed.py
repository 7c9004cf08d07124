"""What is signed about a survey: its definition, by whoever wrote it; and receipts, by the collector that fields it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from deniable import documents, signatures
from deniable.documents import Document, HashedDocument
from deniable.errors import Incompatible, UnreadableFile
from deniable.survey.survey import Survey

_SIGNATURE = re.compile("[0-9a-f]{128}")


@dataclass(frozen=True)
class AuthorSignature(Document):
    """The signature of a definition, made by its author, away from the collector. One that does not verify is none.

    Attributes:
        survey: the hash of the definition.
        author: the author's public key (Ed25519), 64 hexadecimal digits.
        signature: 128 hexadecimal digits.

    Raises:
        UnreadableFile: it does not verify.
    """

    SCHEMA: ClassVar[str] = "signature"
    survey: str
    author: str
    signature: str

    def __post_init__(self) -> None:
        if not _is_verified(
            signed_definition(self.survey), self.signature, self.author
        ):
            raise UnreadableFile(
                "this is not a signature of that definition by that key; expected one that is."
            )

    def to_body(self) -> dict[str, Any]:
        return {
            "survey": self.survey,
            "author": self.author,
            "signature": self.signature,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> AuthorSignature:
        return cls(
            *(
                documents.field(body, name, str)
                for name in ("survey", "author", "signature")
            )
        )


@dataclass(frozen=True, eq=False)
class StoredReceipt(HashedDocument):
    """What a collector says that it has stored of one respondent; `check` verifies its signature.

    Attributes:
        survey: the hash of the definition.
        key: the hash of the respondent's key: whoever is shown a receipt cannot withdraw.
        responses: question, design and symbol of each.
        reveals: what they reveal at most, in words, by language.
        signature: by the key of receipts in the definition.
    """

    SCHEMA: ClassVar[str] = "stored"
    survey: str
    key: str
    responses: tuple[Mapping[str, str], ...]
    reveals: Mapping[str, Any]
    signature: str

    def check(
        self, survey: Survey, *, key: bytes | None = None
    ) -> tuple[Mapping[str, str], ...]:
        """Return the responses, if the collector of a survey has signed them.

        Args:
            survey: the definition, with its keys.
            key: the respondent's key, if it is at hand; the receipt must then be of it.

        Raises:
            Incompatible: a receipt of another definition.
            UnreadableFile: edited, signed by somebody else, or of another respondent.
        """
        if self.survey != survey.hash or survey.keys is None:
            raise Incompatible(
                f"this receipt is of the definition {self.survey:.19}…; expected {survey.hash:.19}…, with its keys.",
                "Take the definition that the link named.",
            )
        if not _is_verified(
            signed_receipt(self.unsigned), self.signature, survey.keys.receipts
        ):
            raise UnreadableFile(
                "this receipt is not signed with the key of the definition; expected one that is."
            )
        if key is not None and self.key != key_hash(key):
            raise UnreadableFile(
                "this receipt is of another key; expected one of the key at hand."
            )
        return self.responses

    @property
    def unsigned(self) -> dict[str, Any]:
        """What is signed."""
        listed = [dict(response) for response in self.responses]
        return {
            "survey": self.survey,
            "key": self.key,
            "responses": listed,
            "reveals": dict(self.reveals),
        }

    def to_body(self) -> dict[str, Any]:
        return {**self.unsigned, "signature": self.signature}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> StoredReceipt:
        responses = tuple(
            {
                str(name): documents.field(entry, name, str)
                for name in documents.field({"it": entry}, "it", dict)
            }
            for entry in documents.field(body, "responses", list)
        )
        survey, key, signature = (
            documents.field(body, name, str)
            for name in ("survey", "key", "signature")
        )
        return cls(
            survey, key, responses, documents.field(body, "reveals", dict), signature
        )


def signed_definition(survey: str) -> bytes:
    """Return the bytes that the author of a definition signs."""
    return b"deniable definition\n" + survey.encode()


def signed_receipt(body: Mapping[str, Any]) -> bytes:
    """Return the bytes of a receipt that a collector signs."""
    return b"deniable receipt\n" + documents.digest(body).encode()


def key_hash(key: bytes) -> str:
    """Return what a receipt calls a respondent's key."""
    return "sha256:" + hashlib.sha256(b"deniable key\n" + key).hexdigest()


def _is_verified(message: bytes, signature: str, public: str) -> bool:
    if not _SIGNATURE.fullmatch(signature) or not re.fullmatch(
        "[0-9a-f]{64}", public
    ):
        return False
    return signatures.verify(
        message, bytes.fromhex(signature), bytes.fromhex(public)
    )
