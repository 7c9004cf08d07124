"""How often each symbol was sent: all that any estimate needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidRequest, InvalidResponse
from deniable.tallies.base import AdditiveTally, Counts, read_only

MOST_CELLS = 1 << 28
"""Counts that a tally keeps at most: 2 GiB."""


@dataclass(frozen=True, eq=False)
class Tally(AdditiveTally[Design]):
    """How often each symbol was sent.

    Attributes:
        design: what the responses were drawn with.
        counts: a count for each cell of the design's channel, read-only; a cell is a symbol, in the order of
            `design.symbols`, unless the channel says otherwise.
        missing: how many respondents sent nothing. They are reported and take no part in an estimate.
        respondents: how many responses were counted; needed only where one response counts in several cells.
    """

    SCHEMA: ClassVar[str] = "tally"
    design: Design
    counts: Counts = field(repr=False)
    missing: int = 0
    respondents: int = -1

    def __post_init__(self) -> None:
        channel = self.design.channel
        counts = read_only(self.counts, (channel.cells,), "one for each cell of the tally")
        for number in (self.missing, self.respondents):
            if isinstance(number, bool) or not isinstance(number, int | np.integer):
                raise InvalidResponse(f"a number of people is {number!r:.40}; expected a whole number.")
        if self.missing < 0:
            raise InvalidResponse("a count is negative; expected 0 or more.")
        object.__setattr__(self, "missing", int(self.missing))
        object.__setattr__(self, "counts", counts)
        respondents = int(counts.sum()) if channel.own_cells and self.respondents < 0 else self.respondents
        if not channel.coding.add_up(counts, respondents):
            raise InvalidResponse(
                f"the counts do not belong to {respondents:,} respondents; expected a number that they add up to.",
                "Say how many responded: Tally(design, counts, respondents=…)."
                if channel.sizes and not channel.own_cells
                else "",
            )
        object.__setattr__(self, "respondents", int(respondents))

    @classmethod
    def empty(cls, design: Design) -> Tally:
        return cls(design, zeros(design), respondents=0)


def zeros(design: Design) -> Counts:
    """Return a count of 0 for each cell of a design's tally.

    Raises:
        InvalidRequest: more cells than a tally keeps.
    """
    check_cells(design)
    return np.zeros(design.channel.cells, np.int64)


def check_cells(design: Design) -> None:
    """Refuse a design whose tally would have too many cells.

    Raises:
        InvalidRequest: more cells than a tally keeps.
    """
    if design.channel.cells > MOST_CELLS:
        raise InvalidRequest(
            f"a tally of this design keeps {design.channel.cells:,} counts; expected at most {MOST_CELLS:,}.",
            "Use fewer categories: these can be responded to, but not counted.",
        )
