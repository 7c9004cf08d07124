"""Auditing a deck: the response to the first card of a deck that is shuffled anew."""

from __future__ import annotations

from deniable.chance import Source
from deniable.designs import Deck
from deniable.documents import Response
from deniable.types.deck.respond import respond


def respond_alone(deck: Deck, answer: str, source: Source) -> Response:
    """Draw the response of a respondent whose deck is shuffled for this answer alone."""
    return respond(deck, answer, card=deck.shuffle(source)[0])


def claimed_epsilon(deck: Deck) -> float:
    """Return the ε of one response that is seen alone."""
    return deck.epsilon_alone
