"""Step 3: responses → how often each weight was sent for each item. Tallies of one design add up in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from deniable.records.edges.designs import EdgeDesign
from deniable.records.key_value.tallies import ItemTally, zeros
from deniable.tallies import Tally
from deniable.tallies.base import Counts, count_codes, response_numbers


@dataclass(frozen=True, eq=False)
class EdgeTally(ItemTally[EdgeDesign]):
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

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return int(self.counts.sum())

    @classmethod
    def empty(cls, design: EdgeDesign) -> EdgeTally:
        return cls(design, zeros(design))

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
    counts, missing = zeros(design).reshape(-1), 0
    if isinstance(responses, np.ndarray):
        counts = count_codes(responses, counts.size)
    else:
        for number in response_numbers(design, responses):
            if number is None:
                missing += 1
            else:
                counts[number] += 1
    return EdgeTally(design, counts.reshape(-1, design.width), missing)
