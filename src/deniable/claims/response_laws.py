"""The distribution of responses that a design claims: events with their probabilities, for an audit to count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Channel
from deniable.channel.coding import count_bits, set_sizes
from deniable.channel.sets import Sets

Vector: TypeAlias = NDArray[np.float64]

MAX_CELLS = 1 << 16
"""Answers × responses that are counted one by one."""


@dataclass(frozen=True, eq=False)
class ResponseLaw:
    """Events with their probabilities: all responses of a design, or of all stages of a ladder together.

    Attributes:
        events: each event in words.
        probabilities: answers × events.
        sets: the channel, where responses are too many to list and the events are categories and sizes of sets.
    """

    events: tuple[str, ...]
    probabilities: Vector
    sets: Sets | None = None

    def count_events(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Return how often each event occurred."""
        if self.sets is None:
            return np.bincount(rows, minlength=len(self.events))
        sizes = np.bincount(set_sizes(rows), minlength=self.sets.size + 1)
        return np.concatenate(
            [count_bits(rows)[: self.sets.size], sizes[list(self.sets.sizes)]]
        )


def list_probabilities(channel: Channel) -> Vector:
    """Return the probability of each response given each answer: answers × responses."""
    return np.array(
        [
            [
                float(channel.probability(y, given=x))
                for y in range(channel.responses)
            ]
            for x in range(channel.answers)
        ]
    )
