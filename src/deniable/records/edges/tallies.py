"""Step 3: responses → how often each weight was sent for each item. Tallies of one design add up in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from deniable.errors import InvalidResponse
from deniable.records.edges.designs import EdgeDesign
from deniable.tallies import Tally
from deniable.tallies.base import AdditiveTally, Counts, count_codes, read_only, response_numbers


@dataclass(frozen=True, eq=False)
class EdgeTally(AdditiveTally[EdgeDesign]):
    """How often each weight was sent for each item.

    Attributes:
        design: what the responses were drawn with.
        counts: a row for each item, and a column for each of the weights 0, 1/2 and 1; read-only.
        missing: how many sent nothing.
    """

    SCHEMA: ClassVar[str] = "one-edge-tally"
    design: EdgeDesign
    counts: Counts = field(repr=False)
    missing: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", read_only(self.counts, (len(self.design.items), 3), "items × weights"))
        if self.missing < 0:
            raise InvalidResponse("a number of people is negative; expected 0 or more.")

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return int(self.counts.sum())

    @classmethod
    def empty(cls, design: EdgeDesign) -> EdgeTally:
        return cls(design, np.zeros((len(design.items), 3), np.int64))

    def of(self, item: str) -> Tally:
        """Return the counts of one item as a tally of its three-answer design, for `deniable.estimate`."""
        return Tally(self.design.choice, self.counts[self.design.item_number(item)])


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
    if isinstance(responses, np.ndarray):
        return EdgeTally(design, count_codes(responses, size).reshape(-1, 3))
    counts, missing = np.zeros(size, np.int64), 0
    for number in response_numbers(design, responses):
        if number is None:
            missing += 1
        else:
            counts[number] += 1
    return EdgeTally(design, counts.reshape(-1, 3), missing)
