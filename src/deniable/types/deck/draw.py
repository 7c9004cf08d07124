"""Everybody's answer → what each of them sends, with one card for each; and what was sent → counts."""

from __future__ import annotations

import numpy as np

from deniable.bulk.columns import build_responses, read_objects
from deniable.chance import SYSTEM, Source
from deniable.designs.cards import Deck
from deniable.errors import InvalidAnswer, InvalidRequest
from deniable.tallies.decks import DeckTally
from deniable.tallies.responses import Responses, add_missing

__all__ = ["count_sent", "respond_all"]


def respond_all(
    deck: Deck, answers: object, *, source: Source | None = None
) -> Responses[Deck]:
    """Shuffle, deal a card to each person, and return what they send. A person without an answer keeps the card.

    Raises:
        InvalidAnswer: an answer that is not a category of the deck. The message does not repeat it.
        InvalidRequest: not one answer for each of the deck's people.
    """
    values = read_objects(answers)
    if len(values) != deck.people:
        raise InvalidRequest(
            f"there are {len(values):,} answers; expected one for each of {deck.people:,} people."
        )
    present = np.array([answer is not None for answer in values], np.bool_)
    if any(answer not in deck.categories for answer in values if answer is not None):
        labels = ", ".join(map(repr, deck.categories))
        raise InvalidAnswer(
            f"an answer is not one of the deck's; expected one of {labels}."
        )
    is_member = np.array(
        [answer == deck.categories[1] for answer in values], np.bool_
    )
    cards = np.array(deck.shuffle(SYSTEM if source is None else source), np.int64)
    codes = np.where(is_member, deck.numbers - cards, cards - 1)
    return build_responses(deck, present, codes[present].astype(np.uint32))


def count_sent(responses: Responses[Deck]) -> DeckTally:
    """Count how often each number was sent."""
    counts = np.bincount(
        responses.present()["response"], minlength=responses.design.numbers
    )
    return add_missing(DeckTally(responses.design, counts), responses)
