"""Step 3: responses → counts for each item and symbol. Tallies of one design add up in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.documents import Response
from deniable.errors import Incompatible, IncompatibleTallies, InvalidRequest, InvalidResponse, UnreadableFile
from deniable.records.key_value.mechanism import KeyValueDesign
from deniable.records.key_value.weights import NONE

Counts: TypeAlias = NDArray[np.int64]
SCHEMA = "keyvalue-tally"
MOST_ITEMS = 1 << 24
"""Items up to which counts are held, and up to which one word draws one of them."""

_ROWS = 1 << 16  # responses of a vector design that are counted at a time


@dataclass(frozen=True, eq=False)
class KeyValueTally:
    """How often each symbol was sent about each item: all that any estimate needs. The empty tally is a true zero.

    Attributes:
        design: what the responses were drawn with.
        counts: a row for each item and a column for each symbol, read-only. Where a response is about one item, each
            counts once; where it says something about every item, each counts once in every row.
        respondents: how many responses were counted.
        missing: how many respondents sent nothing. They take no part in an estimate.
    """

    design: KeyValueDesign
    counts: Counts = field(repr=False)
    respondents: int
    missing: int = 0

    def __post_init__(self) -> None:
        scheme = self.design.scheme
        counts = np.asarray(self.counts)
        shape = (scheme.items, scheme.symbol.responses)
        if counts.shape != shape or (counts.size and counts.dtype.kind not in "iu"):
            raise InvalidResponse(
                f"there are counts of shape {counts.shape} and type {counts.dtype}; expected whole numbers, "
                f"{shape[0]:,} items × {shape[1]} symbols."
            )
        counts = counts.astype(np.int64)
        if (counts < 0).any() or self.missing < 0 or self.respondents < 0:
            raise InvalidResponse("a count is negative; expected 0 or more.")
        sums = counts.sum() if scheme.one_each else counts.sum(axis=1)
        if (sums != self.respondents).any():
            raise InvalidResponse(
                f"the counts do not belong to {self.respondents:,} respondents; expected a number that they add up to."
            )
        counts.flags.writeable = False
        object.__setattr__(self, "counts", counts)

    @classmethod
    def empty(cls, design: KeyValueDesign) -> KeyValueTally:
        """Return the tally of no responses, which changes nothing when added.

        Raises:
            InvalidRequest: more items than can be counted.
        """
        return cls(design, _zeros(design), 0)

    @classmethod
    def of_marks(cls, design: KeyValueDesign, marked: Counts, respondents: int, missing: int = 0) -> KeyValueTally:
        """Build from how often each item was marked + and −, where a response says something about every item."""
        counts = np.empty((design.scheme.items, 3), np.int64)
        counts[:, 1:] = marked
        counts[:, NONE] = respondents - counts[:, 1:].sum(axis=1)
        return cls(design, counts, respondents, missing)

    @property
    def asked(self) -> Counts:
        """How many responses say something about each item."""
        return np.asarray(self.counts.sum(axis=1), np.int64)

    def __add__(self, other: KeyValueTally) -> KeyValueTally:
        if not isinstance(other, KeyValueTally):
            return NotImplemented
        if self.design != other.design:
            raise IncompatibleTallies(
                f"cannot add a tally of {self.design!r} to one of {other.design!r}; expected one design.",
                "Estimate each on its own, then compare or combine the estimates.",
            )
        return KeyValueTally(
            self.design,
            self.counts + other.counts,
            self.respondents + other.respondents,
            self.missing + other.missing,
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, KeyValueTally)
            and self.design == other.design
            and (self.respondents, self.missing) == (other.respondents, other.missing)
            and bool(np.array_equal(self.counts, other.counts))
        )

    def __hash__(self) -> int:
        return hash((self.design, self.counts.tobytes(), self.respondents, self.missing))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the tally as JSON that names its design's hash."""
        body = {
            "design": self.design.hash,
            "counts": self.counts.tolist(),
            "respondents": self.respondents,
            "missing": self.missing,
        }
        return documents.seal(SCHEMA, body, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes, design: KeyValueDesign) -> KeyValueTally:
        """Read a tally of a design.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            IncompatibleTallies: it was counted under another design.
        """
        body = documents.unseal(SCHEMA, text)
        named = documents.field(body, "design", str)
        if named != design.hash:
            raise IncompatibleTallies(
                f"this tally belongs to the design {named:.19}…; expected {design.hash:.19}… ({design!r}).",
                "Hand over the design file that its responses were drawn with.",
            )
        rows: list[Any] = documents.field(body, "counts", list)
        width = design.scheme.symbol.responses
        if not all(isinstance(row, list) and len(row) == width and all(map(_is_count, row)) for row in rows):
            raise UnreadableFile("the counts are not whole numbers for each symbol; expected a list for each item.")
        return cls(
            design, np.array(rows, np.int64), documents.whole(body, "respondents"), documents.whole(body, "missing")
        )


def tally(design: KeyValueDesign, responses: Any) -> KeyValueTally:
    """Count responses.

    Args:
        design: what the responses were drawn with.
        responses: an array as the engine gives it, or any iterable of `Response` objects and of what they carry as
            text; None for a respondent who sent nothing. An iterable is read once, in constant memory.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        Incompatible: a `Response` that was drawn with another design.

    Example:
        >>> from deniable.records.key_value.designs import lpp_ddagger
        >>> counted = tally(lpp_ddagger(["tea", "coffee"], 1), ["+ tea", "0 coffee", "- tea", None])
        >>> counted.counts.tolist(), counted.missing
        ([[0, 1, 1], [1, 0, 0]], 1)
    """
    if isinstance(responses, np.ndarray):
        return _vectors(design, responses) if responses.ndim == 2 else _codes(design, responses)
    if isinstance(responses, str | bytes | Mapping) or not isinstance(responses, Iterable):
        raise InvalidResponse(
            f"the responses are a {type(responses).__name__}; expected a sequence with a response for each respondent."
        )
    scheme = design.scheme
    counts = _zeros(design)
    respondents = missing = 0
    for row, response in enumerate(responses):
        if response is None:
            missing += 1
            continue
        for item, symbol in scheme.cells(_number(design, response, row)):
            counts[item, symbol] += 1
        respondents += 1
    if scheme.one_each:
        return KeyValueTally(design, counts, respondents, missing)
    return KeyValueTally.of_marks(design, counts[:, 1:], respondents, missing)


def _zeros(design: KeyValueDesign) -> Counts:
    if len(design.items) > MOST_ITEMS:
        raise InvalidRequest(f"there are {len(design.items):,} items; expected at most {MOST_ITEMS:,} to count them.")
    return np.zeros((design.scheme.items, design.scheme.symbol.responses), np.int64)


def _number(design: KeyValueDesign, response: Any, row: int) -> int:
    if isinstance(response, Response):
        if response.design != design.hash:
            raise Incompatible(
                f"row {row + 1:,} belongs to the design {response.design:.19}…; expected {design.hash:.19}… "
                f"({design!r}).",
                "Tally each design's responses on their own.",
            )
        response = response.symbol
    try:
        return design.response_number(response)
    except InvalidResponse as error:
        raise InvalidResponse(f"row {row + 1:,}: {error.problem}", error.hint) from None


def _codes(design: KeyValueDesign, codes: NDArray[Any]) -> KeyValueTally:
    scheme = design.scheme
    kind = scheme.KIND
    if kind == "unary" or codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InvalidResponse(
            f"the responses are an array of shape {codes.shape} and type {codes.dtype}; expected "
            + ("a row of symbols for each respondent." if kind == "unary" else "a whole number for each respondent.")
        )
    wrong = (codes < 0) | (codes >= scheme.responses)
    if wrong.any():
        raise InvalidResponse(
            f"row {int(wrong.argmax()) + 1:,} is not below {scheme.responses:,}; expected a response."
        )
    counted = np.bincount(codes.astype(np.intp, copy=False), minlength=scheme.responses)
    if kind == "index":
        return KeyValueTally(design, counted.reshape(scheme.items, -1), len(codes))
    return KeyValueTally.of_marks(design, counted[:-1].reshape(scheme.items, 2), len(codes))


def _vectors(design: KeyValueDesign, symbols: NDArray[Any]) -> KeyValueTally:
    scheme = design.scheme
    if scheme.KIND != "unary" or symbols.shape[1] != scheme.items or symbols.dtype.kind not in "iu":
        raise InvalidResponse(
            f"the responses are an array of shape {symbols.shape} and type {symbols.dtype}; expected "
            + (
                f"{scheme.items:,} symbols for each."
                if scheme.KIND == "unary"
                else "a whole number for each respondent."
            )
        )
    marked = np.zeros((scheme.items, 2), np.int64)
    for start in range(0, len(symbols), _ROWS):
        piece = symbols[start : start + _ROWS]
        wrong = ((piece < 0) | (piece > 2)).any(axis=1)
        if wrong.any():
            raise InvalidResponse(f"row {start + int(wrong.argmax()) + 1:,} holds no symbols; expected 0, 1 and 2.")
        marked[:, 0] += (piece == 1).sum(axis=0)
        marked[:, 1] += (piece == 2).sum(axis=0)
    return KeyValueTally.of_marks(design, marked, len(symbols))


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 63
