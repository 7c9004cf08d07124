"""People behind the responses: counted one by one, or with weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from deniable.designs import Design
from deniable.estimates.covariances import Vector, vector
from deniable.tallies import Tally


@dataclass(frozen=True, eq=False)
class WeightedCounts:
    """Responses to one design, counted with weights that are brought to an effective sample size.

    Attributes:
        design: what they were drawn with.
        counts: the cells of the tally.
        respondents: the sum of the weights, brought to the effective sample size.
        weight: the sum of the weights.
    """

    design: Design
    counts: Vector
    respondents: float
    weight: float

    @classmethod
    def of(
        cls,
        design: Design,
        sums: Callable[[Vector], Vector],
        weights: Vector,
        everybody: Vector,
    ) -> WeightedCounts:
        """Count responses.

        Args:
            design: what they were drawn with.
            sums: the cells of a tally in which each response counts with its weight.
            weights: of the responses.
            everybody: the weights w of all people, whose effective sample size is (Σ w)²/Σ w² (Kish).
        """
        weight, scale = (
            float(weights.sum()),
            float(everybody.sum() / (everybody @ everybody)),
        )
        return cls(design, vector(sums(weights) * scale), weight * scale, weight)


Counts: TypeAlias = Tally | WeightedCounts
"""The responses of some people to one design."""


def weight_of(counts: Counts) -> float:
    """Return how many people counts stand for: the sum of the weights, or how many were counted."""
    return counts.weight if isinstance(counts, WeightedCounts) else counts.respondents
