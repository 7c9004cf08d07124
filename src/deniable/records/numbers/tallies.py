"""Step 3: responses about rounded numbers → how often each end was sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from deniable.documents import Response
from deniable.errors import Incompatible
from deniable.records.numbers.designs import NumberDesign
from deniable.tallies import Tally, arrow
from deniable.tallies import tally as count
from deniable.tallies.base import AdditiveTally, Counts, read_only

__all__ = ["NumberTally", "tally"]


@dataclass(frozen=True, eq=False)
class NumberTally(AdditiveTally[NumberDesign]):
    """How often each end was sent.

    Attributes:
        design: what the responses were drawn with.
        counts: a count for each symbol of the design for the ends, read-only.
        missing: how many sent nothing.
    """

    SCHEMA: ClassVar[str] = "number-tally"
    design: NumberDesign
    counts: Counts = field(repr=False)
    missing: int = 0

    def __post_init__(self) -> None:
        counts = read_only(self.counts, (self.design.ends.channel.cells,), "one for each symbol")
        object.__setattr__(self, "counts", counts)
        super().__post_init__()

    @classmethod
    def empty(cls, design: NumberDesign) -> NumberTally:
        return cls(design, np.zeros(design.ends.channel.cells, np.int64))

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return self.ends.respondents

    @property
    def ends(self) -> Tally:
        """The same counts as a tally of the design for the ends."""
        return Tally(self.design.ends, self.counts, self.missing)


def tally(design: NumberDesign, responses: Any, *, codes: bool | None = None) -> NumberTally:
    """Count responses, in any form in which responses to the ends are counted.

    Args:
        design: what the responses were drawn with.
        responses: what was sent; None for a respondent who sent nothing.
        codes: what whole numbers are; True for codes, False for labels.

    Raises:
        InvalidResponse: something the design cannot send; the message names the first such row.
        Incompatible: a `Response` that was drawn with another design.

    Example:
        >>> from deniable.records.numbers.designs import number_design
        >>> tally(number_design(0, 80, epsilon=1), ["low", "high", None, "high"]).counts.tolist()
        [1, 2]
    """
    column = isinstance(responses, np.ndarray | Mapping | str) or arrow.is_column(responses)
    plain = responses if column or not isinstance(responses, Iterable) else _symbols(design, responses)
    ends = count(design.ends, plain, codes=codes)
    return NumberTally(design, ends.counts, ends.missing)


def _symbols(design: NumberDesign, responses: Iterable[Any]) -> Iterator[Any]:
    for row, response in enumerate(responses, start=1):
        if isinstance(response, Response) and response.design != design.hash:
            raise Incompatible(f"row {row:,} belongs to the design {response.design:.19}…; expected {design!r}.")
        yield response.symbol if isinstance(response, Response) else response
