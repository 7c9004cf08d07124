"""Auditing the stages of one answer: answers by number, and the joint distribution of all stages."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deniable.claims.response_laws import MAX_CELLS, ResponseLaw, list_probabilities
from deniable.order.ladders import Ladder
from deniable.types.categories import audit


def answer_codes(ladder: Ladder, answers: Sequence[str]) -> list[int]:
    """Return the number of each answer."""
    return audit.answer_codes(ladder.designs[0], answers)


def response_law(ladder: Ladder) -> ResponseLaw | None:
    """Return the probability of each history of responses; None where there are too many."""
    sizes = [design.channel.responses for design in ladder.designs]
    if math.prod(sizes) * ladder.designs[0].channel.answers > MAX_CELLS:
        return None
    events = tuple(f"the history {history}" for history in np.ndindex(*sizes))
    return ResponseLaw(events, list_probabilities(ladder.joint()))
