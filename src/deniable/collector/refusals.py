"""How errors leave over HTTP: a status, and the same three parts as everywhere: what, expected, how to go on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

from deniable import errors
from deniable.collector.store import NoSuchSurvey, StoreFailed
from deniable.errors import DeniableError


class Refused(DeniableError, ValueError):
    """A request that is not answered.

    Attributes:
        status: the HTTP status that says so.
        headers: what the status asks to be told besides.
    """

    def __init__(
        self,
        status: int,
        problem: str,
        hint: str = "",
        *,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(problem, hint)
        self.status = status
        self.headers = headers or {}


class Told(msgspec.Struct, frozen=True):
    """What was wrong, what was expected, and how to go on."""

    what: str
    expected: str
    next: str


class Refusal(msgspec.Struct, frozen=True):
    """The body of every answer with a status of 400 or more."""

    error: Told


_STATUS: dict[type[DeniableError], int] = {
    errors.Incompatible: 409,
    errors.NotAllowed: 403,
    errors.OverBudget: 403,
    errors.MissingExtra: 501,
    NoSuchSurvey: 404,
    StoreFailed: 503,
}


_LATER = "Try again in a moment."
# in JSON without a backslash, every string; and whether it is a name
_STRING = re.compile(rb'"([^"\\]*)"(\s*:)?')


def status_of(error: DeniableError) -> int:
    """Return the status of an error: its own, that of its kind, or 400."""
    if isinstance(error, Refused):
        return error.status
    return next(
        (status for kind, status in _STATUS.items() if isinstance(error, kind)), 400
    )


def refusal_of(error: DeniableError) -> Refusal:
    """Return an error for JSON; messages are written as `what; expected this.`

    What a database says is for those who run it, and names places on their machine: others are told less.
    """
    if isinstance(error, StoreFailed):
        return Refusal(
            Told(
                "the collector cannot read or store anything now; nothing was changed.",
                "",
                _LATER,
            )
        )
    problem, _, expected = error.problem.partition("; expected ")
    return Refusal(Told(_sentence(problem), _sentence(expected), error.hint))


def decode_json(decode: Callable[[bytes], Any], raw: bytes) -> Any:
    """Decode JSON.

    Raises:
        Refused: not JSON, not of the expected shape, or with a name twice in one object.
    """
    try:
        document = decode(raw)
        _check_names(raw)
        return document
    except msgspec.ValidationError as error:
        raise Refused(
            422,
            f"the body does not fit: {error}.",
            "/openapi.json describes what does.",
        ) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Refused(
            400, "the body is not JSON; expected one document in UTF-8."
        ) from None


def _check_names(raw: bytes) -> None:
    """Refuse an object with a name twice: readers differ in which of the two they take."""
    if b"\\" not in raw:
        names = [name for name, colon in _STRING.findall(raw) if colon]
        if len(set(names)) == len(names):
            return
    try:
        json.loads(raw, object_pairs_hook=_once)
    except ValueError as error:
        if isinstance(error, Refused):
            raise
        raise Refused(
            400, "the body is not JSON; expected one document in UTF-8."
        ) from None


def _once(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise Refused(
            400, "a name is there twice in one object; expected each of them once."
        )


def _sentence(text: str) -> str:
    return text if not text or text.endswith((".", "…", "!", "?")) else f"{text}."
