"""Step 3: responses → how often each weight was sent for each item. Tallies of one design add up in any order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from deniable.tallies import Tally
from deniable.tallies.base import Counts, count_responses
from deniable.types.edges.design import EdgeDesign
from deniable.types.key_value.count import ItemTally, zeros

if TYPE_CHECKING:
    from deniable.types.edges import estimate as _estimate


@dataclass(frozen=True, eq=False)
class EdgeTally(ItemTally[EdgeDesign]):
    """How often each weight was sent for each item.

    Attributes:
        design: what the responses were drawn with.
        counts: a row for each item, and a column for each of the weights 0, 1/2 and 1; read-only.
        missing: how many sent nothing.
    """

    SCHEMA: ClassVar[str] = "one-edge-tally"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate

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


TALLY = EdgeTally


def tally(design: EdgeDesign, responses: Any) -> EdgeTally:
    """Count responses, as `deniable.tallies.base.count_responses` takes them.

    Example:
        >>> from deniable.types.edges.design import one_edge
        >>> tally(one_edge(["tax", "transport"], 1), ["0 tax", "1/2 transport", "1 tax"]).counts.tolist()
        [[1, 0, 1], [0, 1, 0]]
    """
    counts, missing = count_responses(design, responses, zeros(design).size)
    return EdgeTally(design, counts.reshape(-1, design.width), missing)


def count_labels(design: EdgeDesign, columns: Mapping[str, Any]) -> EdgeTally:
    """Count a column of responses, written as text, in a file."""
    return tally(design, columns["response"].to_pylist())
