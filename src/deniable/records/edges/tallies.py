"""Step 3: responses → how often each weight was sent for each item. Tallies of one design add up in any order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.documents import Response
from deniable.errors import Incompatible, IncompatibleTallies, InvalidResponse, UnreadableFile
from deniable.records.edges.designs import EdgeDesign
from deniable.tallies import Tally

SCHEMA = "one-edge-tally"


@dataclass(frozen=True, eq=False)
class EdgeTally:
    """How often each weight was sent for each item. The empty tally is a true zero.

    Attributes:
        design: what the responses were drawn with.
        counts: a row for each item, and a column for each of the weights 0, 1/2 and 1; read-only.
        missing: how many sent nothing.
    """

    design: EdgeDesign
    counts: NDArray[np.int64] = field(repr=False)
    missing: int = 0

    def __post_init__(self) -> None:
        counts = np.asarray(self.counts)
        if counts.shape != (len(self.design.items), 3) or (counts.size and counts.dtype.kind not in "iu"):
            raise InvalidResponse(
                f"there are counts of shape {counts.shape} and type {counts.dtype}; expected whole numbers, "
                f"{len(self.design.items):,} items × 3 weights."
            )
        counts = counts.astype(np.int64)
        if (counts < 0).any() or self.missing < 0:
            raise InvalidResponse("a count is negative; expected 0 or more.")
        counts.flags.writeable = False
        object.__setattr__(self, "counts", counts)

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return int(self.counts.sum())

    @classmethod
    def empty(cls, design: EdgeDesign) -> EdgeTally:
        """Return the tally of no responses, which changes nothing when added."""
        return cls(design, np.zeros((len(design.items), 3), np.int64))

    def of(self, item: str) -> Tally:
        """Return the counts of one item as a tally of its three-answer design, for `deniable.estimate`."""
        return Tally(self.design.choice, self.counts[self.design.item_number(item)])

    def __add__(self, other: EdgeTally) -> EdgeTally:
        if not isinstance(other, EdgeTally):
            return NotImplemented
        if self.design != other.design:
            raise IncompatibleTallies(
                f"cannot add a tally of {self.design!r} to one of {other.design!r}; expected one design.",
                "Estimate each on its own, then compare or combine the estimates.",
            )
        return EdgeTally(self.design, self.counts + other.counts, self.missing + other.missing)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, EdgeTally)
            and self.design == other.design
            and self.missing == other.missing
            and bool(np.array_equal(self.counts, other.counts))
        )

    def __hash__(self) -> int:
        return hash((self.design, self.counts.tobytes(), self.missing))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the tally as JSON that names its design's hash."""
        body = {"design": self.design.hash, "counts": self.counts.tolist(), "missing": self.missing}
        return documents.seal(SCHEMA, body, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes, design: EdgeDesign) -> EdgeTally:
        """Read a tally of a design.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            IncompatibleTallies: it was counted under another design.
        """
        body = documents.unseal(SCHEMA, text)
        if documents.field(body, "design", str) != design.hash:
            raise IncompatibleTallies(
                f"this tally belongs to another design; expected {design.hash:.19}… ({design!r}).",
                "Hand over the design file that its responses were drawn with.",
            )
        rows: list[Any] = documents.field(body, "counts", list)
        if not all(isinstance(row, list) and len(row) == 3 and all(map(_is_count, row)) for row in rows):
            raise UnreadableFile("the counts are not whole numbers for each weight; expected a list for each item.")
        return cls(design, np.array(rows, np.int64), documents.whole(body, "missing"))


def tally(design: EdgeDesign, responses: Any) -> EdgeTally:
    """Count responses.

    Args:
        design: what the responses were drawn with.
        responses: an array of codes as the engine gives it, or any iterable of `Response` objects and of what they
            carry as text; None for a respondent who sent nothing.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        Incompatible: a `Response` that was drawn with another design.

    Example:
        >>> from deniable.records.edges.designs import one_edge
        >>> tally(one_edge(["tax", "transport"], 1), ["0 tax", "1/2 transport", "1 tax"]).counts.tolist()
        [[1, 0, 1], [0, 1, 0]]
    """
    size = 3 * len(design.items)
    if isinstance(responses, np.ndarray) and responses.dtype.kind in "iu" and responses.ndim == 1:
        wrong = (responses < 0) | (responses >= size)
        if wrong.any():
            raise InvalidResponse(f"row {int(wrong.argmax()) + 1:,} is not below {size:,}; expected a response.")
        return EdgeTally(design, np.bincount(responses.astype(np.intp), minlength=size).reshape(-1, 3))
    if isinstance(responses, str | bytes | np.ndarray) or not isinstance(responses, Iterable):
        raise InvalidResponse(
            f"the responses are a {type(responses).__name__}; expected a sequence with a response for each respondent."
        )
    counts, missing = np.zeros(size, np.int64), 0
    for row, response in enumerate(responses):
        if response is None:
            missing += 1
        else:
            counts[_number(design, response, row)] += 1
    return EdgeTally(design, counts.reshape(-1, 3), missing)


def _number(design: EdgeDesign, response: Any, row: int) -> int:
    if isinstance(response, Response):
        if response.design != design.hash:
            raise Incompatible(
                f"row {row + 1:,} belongs to another design; expected {design.hash:.19}… ({design!r}).",
                "Tally each design's responses on their own.",
            )
        response = response.symbol
    try:
        return design.response_number(response)
    except InvalidResponse as error:
        raise InvalidResponse(f"row {row + 1:,}: {error.problem}", error.hint) from None


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 1 << 63
