"""Step 3: responses → how often each was sent, and the counts of one attribute or of a few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable.designs import Design
from deniable.tallies import Tally
from deniable.tallies.base import AdditiveTally, Counts, count_responses, read_only
from deniable.tallies.counts import as_cells, marginal
from deniable.types.drawn.design import DrawnDesign, Hand

if TYPE_CHECKING:
    from deniable.types.drawn import estimate as _estimate

__all__ = ["TALLY", "DrawnTally", "count_labels", "tally"]


@dataclass(frozen=True, eq=False)
class DrawnTally(AdditiveTally[DrawnDesign]):
    """How often each response was sent.

    Attributes:
        design: what the responses were drawn with.
        counts: a count for each response, hand by hand, read-only.
        missing: how many sent nothing.
    """

    SCHEMA: ClassVar[str] = "drawn-tally"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate

    design: DrawnDesign
    counts: Counts = field(repr=False)
    missing: int = 0

    def __post_init__(self) -> None:
        counts = read_only(
            self.counts, (self.design.responses,), "one for each response"
        )
        object.__setattr__(self, "counts", counts)
        super().__post_init__()

    @classmethod
    def empty(cls, design: DrawnDesign) -> DrawnTally:
        return cls(design, np.zeros(design.responses, np.int64))

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return int(self.counts.sum())

    def of(self, *attributes: str) -> Tally:
        """Return the tally of one attribute, or of several that were drawn together, in the order named.

        It counts those who were asked about all of them. They are a random part of the respondents, because the draw
        does not look at answers: `deniable.estimate` of it is about everybody.

        Raises:
            InvalidRequest: an attribute that the design does not have, or more than are drawn together.

        Example:
            >>> from deniable.designs import warner
            >>> from deniable.types.drawn.design import drawn_items
            >>> counted = DrawnTally(drawn_items({"smokes": warner(1), "drinks": warner(1)}), [30, 20, 40, 10])
            >>> counted.of("drinks").counts
            array([40, 10])
        """
        part = self.design.part(*attributes)
        hands = [
            hand
            for hand in self.design.hands
            if set(attributes) <= set(hand.attributes)
        ]
        return sum(
            (self._seen(hand, part, attributes) for hand in hands),
            start=Tally.empty(part),
        )

    def _seen(self, hand: Hand, part: Design, attributes: tuple[str, ...]) -> Tally:
        counts = self.counts[hand.start : hand.start + hand.responses]
        if len(hand.factors) == 1:
            return Tally(
                part, as_cells(part.channel, counts), respondents=int(counts.sum())
            )
        together = Design.of_factors("product", hand.factors)
        return marginal(Tally(together, counts), *attributes)


TALLY = DrawnTally


def tally(design: DrawnDesign, responses: Any) -> DrawnTally:
    """Count responses, as `deniable.tallies.base.count_responses` takes them.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.types.drawn.design import drawn_items
        >>> asked = drawn_items({"smokes": warner(1), "drinks": warner(1)})
        >>> tally(asked, ["smokes: no", "drinks: yes", None, "drinks: yes"]).counts.tolist()
        [1, 0, 0, 2]
    """
    return DrawnTally(design, *count_responses(design, responses, design.responses))


def count_labels(design: DrawnDesign, columns: Mapping[str, Any]) -> DrawnTally:
    """Count a column of responses, written as text, in a file."""
    return tally(design, columns["response"].to_pylist())
