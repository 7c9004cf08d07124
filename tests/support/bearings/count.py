"""Step 3: responses → how often each bearing was sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from deniable.tallies.base import AdditiveTally, Counts, count_responses, read_only
from tests.support.bearings.design import BearingDesign


@dataclass(frozen=True, eq=False)
class BearingTally(AdditiveTally[BearingDesign]):
    """How often each bearing was sent."""

    SCHEMA: ClassVar[str] = "bearing-tally"
    design: BearingDesign
    counts: Counts = field(repr=False)
    missing: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "counts",
            read_only(self.counts, (self.design.responses,), "one for each bearing"),
        )
        super().__post_init__()

    @classmethod
    def empty(cls, design: BearingDesign) -> BearingTally:
        return cls(design, np.zeros(design.responses, np.int64))

    @property
    def respondents(self) -> int:
        return int(self.counts.sum())


TALLY = BearingTally


def tally(design: BearingDesign, responses: Any) -> BearingTally:
    return BearingTally(
        design, *count_responses(design, responses, design.responses)
    )


def count_labels(design: BearingDesign, columns: Mapping[str, Any]) -> BearingTally:
    return tally(design, columns["response"].to_pylist())
