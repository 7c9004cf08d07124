"""Step 3: responses → counts for each item and symbol. Tallies of one design add up in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidRequest, InvalidResponse
from deniable.tallies.base import (
    AdditiveTally,
    Counts,
    count_codes,
    read_only,
    response_numbers,
)
from deniable.types.key_value.design import ItemDesign, KeyValueDesign
from deniable.types.key_value.schemes import NONE

if TYPE_CHECKING:
    from deniable.types.key_value import estimate as _estimate

D = TypeVar("D", bound=ItemDesign)
MAX_ITEMS = 1 << 24
"""Items up to which counts are held, and up to which one word draws one of them."""

_ROWS = 1 << 16  # responses of a vector design that are counted at a time


class ItemTally(AdditiveTally[D]):
    """Counts with a row for each item and a column for each symbol.

    Attributes:
        counts: the counts, read-only.
    """

    counts: Counts

    def __post_init__(self) -> None:
        shape = (len(self.design.items), self.design.width)
        object.__setattr__(
            self, "counts", read_only(self.counts, shape, "items × symbols")
        )
        super().__post_init__()

    @property
    def asked(self) -> Counts:
        """How many responses say something about each item."""
        return np.asarray(self.counts.sum(axis=1), np.int64)


def zeros(design: ItemDesign) -> Counts:
    """Return a count of 0 for each item and symbol.

    Raises:
        InvalidRequest: more items than can be counted.
    """
    if len(design.items) > MAX_ITEMS:
        raise InvalidRequest(
            f"there are {len(design.items):,} items; expected at most {MAX_ITEMS:,} to count them."
        )
    return np.zeros((len(design.items), design.width), np.int64)


@dataclass(frozen=True, eq=False)
class KeyValueTally(ItemTally[KeyValueDesign]):
    """How often each symbol was sent about each item: all that any estimate needs.

    Attributes:
        design: what the responses were drawn with.
        counts: a row for each item and a column for each symbol, read-only. Where a response is about one item, each
            counts once; where it says something about every item, each counts once in every row.
        respondents: how many responses were counted.
        missing: how many respondents sent nothing. They take no part in an estimate.
    """

    SCHEMA: ClassVar[str] = "keyvalue-tally"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate

    design: KeyValueDesign
    counts: Counts = field(repr=False)
    respondents: int
    missing: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        sums = self.counts.sum() if self.design.scheme.one_each else self.asked
        if (sums != self.respondents).any():
            raise InvalidResponse(
                f"the counts do not belong to {self.respondents:,} respondents; expected a number that they add up to."
            )

    @classmethod
    def empty(cls, design: KeyValueDesign) -> KeyValueTally:
        return cls(design, zeros(design), 0)

    @classmethod
    def of_marks(
        cls,
        design: KeyValueDesign,
        marked: Counts,
        respondents: int,
        missing: int = 0,
    ) -> KeyValueTally:
        """Build from how often each item was marked + and −, where a response says something about every item."""
        counts = np.empty((design.scheme.items, 3), np.int64)
        counts[:, 1:] = marked
        counts[:, NONE] = respondents - counts[:, 1:].sum(axis=1)
        return cls(design, counts, respondents, missing)


TALLY = KeyValueTally


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
        >>> from deniable.types.key_value.design import lpp_ddagger
        >>> counted = tally(lpp_ddagger(["tea", "coffee"], 1), ["+ tea", "0 coffee", "- tea", None])
        >>> counted.counts.tolist(), counted.missing
        ([[0, 1, 1], [1, 0, 0]], 1)
    """
    if isinstance(responses, np.ndarray):
        return (
            _vectors(design, responses)
            if responses.ndim == 2
            else _codes(design, responses)
        )
    scheme = design.scheme
    counts = zeros(design)
    respondents = missing = 0
    for number in response_numbers(design, responses):
        if number is None:
            missing += 1
            continue
        for item, symbol in scheme.cells(number):
            counts[item, symbol] += 1
        respondents += 1
    if scheme.one_each:
        return KeyValueTally(design, counts, respondents, missing)
    return KeyValueTally.of_marks(design, counts[:, 1:], respondents, missing)


def _codes(design: KeyValueDesign, codes: NDArray[Any]) -> KeyValueTally:
    scheme = design.scheme
    if scheme.KIND == "unary":
        raise _not_rows(codes, "a row of symbols for each respondent.")
    counted = count_codes(codes, scheme.responses)
    if scheme.KIND == "index":
        return KeyValueTally(design, counted.reshape(scheme.items, -1), len(codes))
    return KeyValueTally.of_marks(
        design, counted[:-1].reshape(scheme.items, 2), len(codes)
    )


def _vectors(design: KeyValueDesign, symbols: NDArray[Any]) -> KeyValueTally:
    scheme = design.scheme
    if scheme.KIND != "unary":
        raise _not_rows(symbols, "a whole number for each respondent.")
    if symbols.shape[1] != scheme.items or symbols.dtype.kind not in "iu":
        raise _not_rows(symbols, f"{scheme.items:,} symbols for each.")
    marked = np.zeros((scheme.items, 2), np.int64)
    for start in range(0, len(symbols), _ROWS):
        piece = symbols[start : start + _ROWS]
        wrong = ((piece < 0) | (piece > 2)).any(axis=1)
        if wrong.any():
            raise InvalidResponse(
                f"row {start + int(wrong.argmax()) + 1:,} holds no symbols; expected 0, 1 and 2."
            )
        marked[:, 0] += (piece == 1).sum(axis=0)
        marked[:, 1] += (piece == 2).sum(axis=0)
    return KeyValueTally.of_marks(design, marked, len(symbols))


def _not_rows(given: NDArray[Any], expected: str) -> InvalidResponse:
    return InvalidResponse(
        f"the responses are an array of shape {given.shape} and type {given.dtype}; expected {expected}"
    )


_LETTERS: NDArray[np.uint8] = np.full(256, 9, np.uint8)
_LETTERS[list(b"0+-")] = range(3)


def count_labels(
    design: KeyValueDesign, columns: Mapping[str, Any]
) -> KeyValueTally:
    """Count a column of responses, written as text, in a file."""
    texts = columns["response"].to_pylist()
    items = len(design.items)
    if design.scheme.KIND == "unary" and all(
        isinstance(text, str) and len(text) == items for text in texts
    ):
        letters = np.frombuffer(
            "".join(texts).encode("latin-1", errors="replace"), np.uint8
        )
        symbols = _LETTERS[letters].reshape(len(texts), items)
        if symbols.max(initial=0) <= 2:
            return tally(design, symbols)
    return tally(design, texts)
