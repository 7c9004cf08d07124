"""Auditing a design for categories: answers by number, and the distribution of its responses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.channel import Sets
from deniable.claims.response_laws import MAX_CELLS, ResponseLaw, list_probabilities
from deniable.designs import Design


def answer_codes(design: Design, answers: Sequence[str]) -> list[int]:
    """Return the number of each answer."""
    return [design.category_number(answer) for answer in answers]


def response_law(design: Design) -> ResponseLaw | None:
    """Return the probability of each response, or of categories and sizes of sets; None where both are too many."""
    channel = design.channel
    if channel.answers * channel.responses <= MAX_CELLS:
        return ResponseLaw(
            tuple(f"the response {symbol!r}" for symbol in design.symbols),
            list_probabilities(channel),
        )
    return (
        None
        if channel.set_valued is None
        else _law_of_sets(design, channel.set_valued)
    )


def _law_of_sets(design: Design, channel: Sets) -> ResponseLaw:
    """Return how often each category is in a set, and how often sets of each size are sent."""
    rates = np.full((channel.size, channel.size), float(channel.p_false))
    np.fill_diagonal(rates, float(channel.p_true))
    sizes = np.tile(channel.size_law(), (channel.size, 1))
    categories = (f"a set with {category!r}" for category in design.categories)
    return ResponseLaw(
        (*categories, *(f"a set of {size}" for size in channel.sizes)),
        np.hstack([rates, sizes]),
        channel,
    )
