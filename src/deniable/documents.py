"""Documents: JSON with its schema and a hash of its content.

Integers that may pass 2^53 travel as decimal text, because a browser reads numbers as doubles.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from deniable.errors import UnreadableFile, kind_of, quoted

VERSION = 1


class Sealed(ABC):
    """Base of classes that are serialized as JSON with a schema and a content hash.

    A class says its `SCHEMA` and its `to_body()`.
    """

    __slots__ = ()
    SCHEMA: ClassVar[str]

    @abstractmethod
    def to_body(self) -> dict[str, Any]:
        """Return the content for JSON, without schema and hash."""

    def to_json(self, *, indent: int | None = None) -> str:
        """Return it as JSON with its schema version and content hash; in one line, unless an indent is given."""
        return seal(self.SCHEMA, self.to_body(), indent=indent)


class Document(Sealed):
    """Base of sealed classes that are deserialized from their text alone. A class says also its `from_body()`."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """Read what `to_body` wrote."""

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            DeniableError: well-formed, but with content that the class refuses, as its constructor would.
        """
        return cls._read(unseal(cls.SCHEMA, text))

    @classmethod
    def _read(cls, body: dict[str, Any]) -> Self:
        try:
            return cls.from_body(body)
        except RecursionError:
            raise UnreadableFile(
                f"this {cls.SCHEMA} is nested too deep; expected a few levels at most."
            ) from None


class HashedDocument(Document):
    """A document that others name by its content hash. Documents of one hash are equal.

    Guarantee: one content, one text, one hash. A text that says the same in another way is refused.
    """

    @cached_property
    def hash(self) -> str:
        """The content hash, by which others name it."""
        return digest(
            {"schema": f"deniable/{self.SCHEMA}/{VERSION}", **self.to_body()}
        )

    @classmethod
    def _read(cls, body: dict[str, Any]) -> Self:
        document = super()._read(body)
        if document.to_body() != body:
            raise UnreadableFile(
                f"this {cls.SCHEMA} is not as deniable writes it; expected numbers in lowest terms and no further "
                "fields.",
                "Build it anew, and write it with to_json().",
            )
        return document

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HashedDocument) and other.hash == self.hash

    def __hash__(self) -> int:
        return hash(self.hash)


@dataclass(frozen=True, slots=True)
class Response(Document):
    """Response of a respondent: a symbol, and the hash of the design that drew it."""

    SCHEMA: ClassVar[str] = "response"
    design: str
    symbol: str

    def to_body(self) -> dict[str, Any]:
        return {"design": self.design, "symbol": self.symbol}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Response:
        return cls(field(body, "design", str), field(body, "symbol", str))


def canonical(content: object) -> bytes:
    """Return the canonical JSON: sorted keys, no spaces, UTF-8."""
    return json.dumps(
        content,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    ).encode()


def digest(body: Mapping[str, Any]) -> str:
    """Return the content hash: SHA-256 of the canonical JSON."""
    return "sha256:" + hashlib.sha256(canonical(body)).hexdigest()


def seal(kind: str, body: Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return the JSON text of a body with its schema and its content hash."""
    sealed = {"schema": f"deniable/{kind}/{VERSION}", **body}
    return json.dumps(
        {**sealed, "hash": digest(sealed)},
        ensure_ascii=False,
        allow_nan=False,
        indent=indent,
    )


def unseal(kind: str, text: str | bytes) -> dict[str, Any]:
    """Return the body of a sealed JSON text.

    Raises:
        UnreadableFile: not JSON, of another kind or version, or not what was sealed.
    """
    document = _parse_json(kind, text)
    schema = document.get("schema")
    expected = f"deniable/{kind}/{VERSION}"
    if schema != expected:
        schema_text = quoted(schema, 80) if isinstance(schema, str) else "missing"
        raise UnreadableFile(
            f"the schema is {schema_text}; expected {expected!r}.",
            _advice(kind, schema),
        )
    claimed = document.pop("hash", None)
    if not isinstance(claimed, str) or claimed != _digest_or_none(document):
        raise UnreadableFile(
            f"the content of this {kind} does not match its hash; it was edited or damaged.",
            "Take the original file, or build it anew; do not edit it by hand.",
        )
    del document["schema"]
    return document


def field(body: Mapping[str, Any], name: str, *kinds: type) -> Any:
    """Return one field of a body, checked for its type.

    Raises:
        UnreadableFile: the field is missing or of another type.
    """
    value = body.get(name)
    if not isinstance(value, kinds) or isinstance(value, bool):
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise UnreadableFile(
            f"the field {name!r} is missing or of the wrong type; expected {expected}."
        )
    return value


def entries(body: Mapping[str, Any], name: str, entry: str, kind: type) -> list[Any]:
    """Return the entries of a list field, each checked for its type; `entry` names one of them in an error.

    Raises:
        UnreadableFile: no list, or an entry of another type.
    """
    return [field({entry: value}, entry, kind) for value in field(body, name, list)]


def integer_field(body: Mapping[str, Any], name: str) -> int:
    """Return a non-negative integer field, written as a number or as decimal text.

    Raises:
        UnreadableFile: anything else.
    """
    value = field(body, name, int, str)
    if (
        not str(value).isascii()
        or not str(value).isdecimal()
        or len(str(value)) > 4000
    ):
        raise UnreadableFile(
            f"the field {name!r} is not a whole number; expected digits only."
        )
    return int(value)


def _parse_json(kind: str, text: str | bytes) -> dict[str, Any]:
    if not isinstance(text, str | bytes):
        raise UnreadableFile(
            f"this is {kind_of(text)}; expected the text of a {kind}, as to_json() wrote it."
        )
    name = (
        text[:200].decode(errors="replace")
        if isinstance(text, bytes)
        else text[:200]
    )
    if name and not set(name) & set("{}[]\n"):
        raise UnreadableFile(
            f"this is not a {kind}, but looks like the name of a file; expected its content.",
            "Read it first: pathlib.Path(name).read_text().",
        )
    try:
        document = json.loads(text, object_pairs_hook=_without_repetition)
        return document if isinstance(document, dict) else {}
    except (ValueError, RecursionError) as error:
        raise UnreadableFile(
            f"this is not a {kind}: the JSON ends or breaks early ({error}).",
            "The file may be truncated; write or download it again.",
        ) from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that occurs twice: readers differ in which of the two they take."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key occurs twice")
    return fields


def _digest_or_none(document: Mapping[str, Any]) -> str | None:
    """Return the hash, or None where there is none: NaN, half a surrogate pair, nesting without end."""
    try:
        return digest(document)
    except (ValueError, RecursionError):
        return None


def _advice(kind: str, schema: object) -> str:
    if isinstance(schema, str) and schema.startswith(f"deniable/{kind}/"):
        return "It was written by another version of deniable; use that version, or build it anew."
    if isinstance(schema, str) and schema.startswith("deniable/"):
        return f"It is a {schema.split('/')[1]}; hand it over where a {schema.split('/')[1]} is asked for."
    return f"Hand over a {kind} that was written by deniable."
