"""Simulate tallies of a deck from the distribution of the cards that are dealt, without single responses."""

from __future__ import annotations

import numpy as np

from deniable.designs import Deck
from deniable.errors import InvalidRequest
from deniable.estimates.inverses import left_inverse, mean_inverse
from deniable.estimates.linear import Linear
from deniable.types.categories.simulate import Counts, draw_without_replacement


def simulate_tallies(
    deck: Deck, people: Counts, draws: np.random.Generator
) -> Counts:
    """Deal a card to everybody, to the members first; they send the number from the other end.

    Raises:
        InvalidRequest: more respondents than the deck has people.
    """
    if (n := int(people[0].sum())) > deck.people:
        raise InvalidRequest(
            f"there are {n:,} respondents; expected at most the {deck.people:,} people of the deck."
        )
    cards = np.broadcast_to(
        np.array(deck.counts, np.int64), (len(people), deck.numbers)
    )
    members = draw_without_replacement(cards, people[:, 1], draws)
    others = draw_without_replacement(cards - members, people[:, 0], draws)
    return others + members[:, ::-1]


def tally_inverse(deck: Deck, method: str) -> Linear:  # noqa: ARG001 - there is one
    """Return the left inverse that estimates by the mean response."""
    replaced = deck.with_replacement()
    return left_inverse(replaced.channel, inverse=mean_inverse(replaced))
