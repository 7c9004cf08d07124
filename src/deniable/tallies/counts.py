"""How often each symbol was sent: all that any estimate needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.channel import Sets
from deniable.designs import Design
from deniable.errors import IncompatibleTallies, InvalidRequest, InvalidResponse, UnreadableFile
from deniable.tallies import packed as sets

Counts: TypeAlias = NDArray[np.int64]

MOST_CELLS = 1 << 28
"""Counts that a tally keeps at most: 2 GiB."""


@dataclass(frozen=True, eq=False)
class Tally:
    """How often each symbol was sent. Tallies of one design add up in any order, and the empty one is a true zero.

    Attributes:
        design: what the responses were drawn with.
        counts: a count for each cell of the design's channel, read-only; a cell is a symbol, in the order of
            `design.symbols`, unless the channel says otherwise.
        missing: how many respondents sent nothing. They are reported and take no part in an estimate.
        respondents: how many responses were counted; needed only where one response counts in several cells.
    """

    design: Design
    counts: Counts = field(repr=False)
    missing: int = 0
    respondents: int = -1

    def __post_init__(self) -> None:
        counts, channel = _whole(self.counts), self.design.channel
        if counts.shape != (channel.cells,):
            raise InvalidResponse(
                f"there are counts of shape {counts.shape}; expected {channel.cells}, one for each cell of the tally."
            )
        for number in (self.missing, self.respondents):
            if isinstance(number, bool) or not isinstance(number, int | np.integer):
                raise InvalidResponse(f"a number of people is {number!r:.40}; expected a whole number.")
        if (counts < 0).any() or self.missing < 0:
            raise InvalidResponse("a count is negative; expected 0 or more.")
        object.__setattr__(self, "missing", int(self.missing))
        object.__setattr__(self, "counts", counts)
        one_each = not channel.several and channel.cells == channel.responses
        respondents = int(counts.sum()) if one_each and self.respondents < 0 else self.respondents
        fits = respondents >= int(counts.max(initial=0)) and (not one_each or respondents == int(counts.sum()))
        if isinstance(channel, Sets):
            fits = fits and sets.add_up(channel, counts, respondents)
        if not fits:
            raise InvalidResponse(
                f"the counts do not belong to {respondents:,} respondents; expected a number that they add up to.",
                "Say how many responded: Tally(design, counts, respondents=…)." if channel.several else "",
            )
        object.__setattr__(self, "respondents", int(respondents))

    @classmethod
    def empty(cls, design: Design) -> Tally:
        """Return the tally of no responses, which changes nothing when added."""
        return cls(design, zeros(design), respondents=0)

    def __add__(self, other: Tally) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        if self.design != other.design:
            raise IncompatibleTallies(
                f"cannot add a tally of {self.design!r} to one of {other.design!r}; expected one design.",
                "Estimate each on its own, then compare or combine the estimates.",
            )
        return Tally(
            self.design,
            self.counts + other.counts,
            self.missing + other.missing,
            self.respondents + other.respondents,
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tally)
            and self.design == other.design
            and (self.missing, self.respondents) == (other.missing, other.respondents)
            and bool(np.array_equal(self.counts, other.counts))
        )

    def __hash__(self) -> int:
        return hash((self.design, self.counts.tobytes(), self.missing, self.respondents))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the tally as JSON that names its design's hash."""
        return documents.seal("tally", self.to_body(), indent=indent)

    def to_body(self) -> dict[str, Any]:
        """Return the tally for JSON."""
        return {
            "design": self.design.hash,
            "counts": self.counts.tolist(),
            "missing": self.missing,
            "respondents": self.respondents,
        }

    @classmethod
    def from_json(cls, text: str | bytes, design: Design) -> Tally:
        """Read a tally of a design.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            IncompatibleTallies: it was counted under another design.
        """
        return cls.from_body(documents.unseal("tally", text), design)

    @classmethod
    def from_body(cls, body: Mapping[str, Any], design: Design) -> Tally:
        """Read what `to_body` wrote."""
        named = documents.field(body, "design", str)
        if named != design.hash:
            raise IncompatibleTallies(
                f"this tally belongs to the design {named:.19}…; expected {design.hash:.19}… ({design!r}).",
                "Hand over the design file that its responses were drawn with.",
            )
        counts: list[Any] = documents.field(body, "counts", list)
        if not all(type(count) is int and 0 <= count < 1 << 63 for count in counts):
            raise UnreadableFile("a count is not a whole number; expected 0 or more.")
        return cls(
            design, np.array(counts, np.int64), documents.whole(body, "missing"), documents.whole(body, "respondents")
        )


def zeros(design: Design) -> Counts:
    """Return a count of 0 for each cell of a design's tally.

    Raises:
        InvalidRequest: more cells than a tally keeps.
    """
    if design.channel.cells > MOST_CELLS:
        raise InvalidRequest(
            f"a tally of this design keeps {design.channel.cells:,} counts; expected at most {MOST_CELLS:,}.",
            "Use fewer categories: these can be responded to, but not counted.",
        )
    return np.zeros(design.channel.cells, np.int64)


def _whole(counts: Sequence[int] | Counts) -> Counts:
    given = np.asarray(counts)
    if given.size and given.dtype.kind not in "iu":
        raise InvalidResponse(f"the counts are of type {given.dtype}; expected whole numbers.")
    whole = given.astype(np.int64)  # a copy: nobody else can change it
    whole.flags.writeable = False
    return whole
