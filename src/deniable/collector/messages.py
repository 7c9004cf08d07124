"""What travels as JSON, and what it must look like; OpenAPI describes these very types."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

MAX_SYMBOL_LENGTH = 1 << 20
"""Characters of a response: a bit for each of a million categories."""

Hash = Annotated[
    str, Meta(pattern="^sha256:[0-9a-f]{64}$", description="A content hash.")
]
Key = Annotated[
    str,
    Meta(
        pattern="^[0-9a-f]{32}$",
        description="128 random bits that the respondent draws and keeps: whoever knows them can raise or withdraw.",
    ),
]
Slug = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,39}$")]
Text = Annotated[str, Meta(min_length=1, max_length=200)]
Hex = Annotated[str, Meta(pattern="^([0-9a-f]{2}){1,1024}$")]


class ResponseBody(Struct, frozen=True, forbid_unknown_fields=True):
    """One response: which question, drawn with which design, and the symbol."""

    question: Slug
    design: Hash
    symbol: Annotated[str, Meta(max_length=MAX_SYMBOL_LENGTH)]


class TokenBody(Struct, frozen=True, forbid_unknown_fields=True):
    """What an invitation was exchanged for: a random message with the collector's signature, unblinded."""

    message: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    signature: Hex


class SubmissionBody(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The responses of one respondent to one survey; a finer stage of a question raises the response before it."""

    survey: Hash
    key: Key
    responses: Annotated[list[ResponseBody], Meta(min_length=1, max_length=200)]
    group: Text | None = None
    token: TokenBody | None = None


class BatchResult(Struct, frozen=True):
    """How many responses of a batch were stored, and how many had been stored before."""

    stored: int
    repeated: int


class KeyBody(Struct, frozen=True, forbid_unknown_fields=True):
    """The key that responses were sent with. It stands in a body: addresses are remembered on the way."""

    key: Key


class Withdrawn(Struct, frozen=True):
    """How many responses were erased, and whether nothing of them is left in the database; else that comes later."""

    withdrawn: int
    overwritten: bool


class ExchangeBody(Struct, frozen=True, forbid_unknown_fields=True):
    """An invitation's code, and a blinded message to be signed for it."""

    code: Text
    blinded: Hex


class Signed(Struct, frozen=True):
    """The signature of a blinded message."""

    signature: Hex


class State(Struct, frozen=True):
    """A survey and its state; a pilot is called `<survey>-pilot`, and is "ended" when its responses were erased.

    The warnings tell what it reveals above the limits, as its file acknowledges.
    """

    name: Slug
    survey: Hash
    state: Literal["draft", "open", "closed", "ended"]
    warnings: list[str]


class TokenWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """A token to be issued: for whom, for what, and for one survey or all."""

    name: Text
    scope: Literal["device", "analyst", "admin"]
    survey: Slug | None = None


class TokenIssued(Struct, frozen=True):
    """A token's secret, which is shown this once."""

    name: Text
    secret: str


class CodesWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """How many invitations to make."""

    count: Annotated[int, Meta(ge=1, le=100_000)]


class CodesIssued(Struct, frozen=True):
    """The codes of invitations, which are shown this once."""

    codes: list[str]


class Health(Struct, frozen=True):
    """Whether the collector takes responses."""

    status: Literal["well"]
