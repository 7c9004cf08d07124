"""A card and a true answer → a response. The cards are dealt by `Deck.shuffle`, which knows no answers."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.chance import SYSTEM, Source
from deniable.designs.cards import Deck
from deniable.documents import Response
from deniable.errors import InvalidAnswer, InvalidRequest

__all__ = ["deal", "respond"]


def respond(deck: Deck, answer: str, card: int) -> Response:
    """Return what somebody sends who holds this card: the card, or L + 1 − card for a member.

    Nothing is random here: the card was. What `Deck.guarantee` promises holds only while nobody else sees the card.

    Raises:
        InvalidAnswer: the answer is not a category of the deck. The message does not repeat it.
        InvalidRequest: there is no such card.

    Example:
        >>> respond(Deck((1, 1, 2), people=4), "yes", card=3).symbol
        '1'
    """
    if isinstance(card, bool) or card not in range(1, deck.numbers + 1):
        raise InvalidRequest(
            f"there is no such card in this deck; expected a number from 1 to {deck.numbers}."
        )
    if not isinstance(answer, str) or answer not in deck.categories:
        raise InvalidAnswer(
            f"this answer is not one of the deck's; expected one of {', '.join(map(repr, deck.categories))}."
        )
    member = answer == deck.categories[1]
    return Response(deck.hash, str(deck.numbers + 1 - card if member else card))


def deal(
    deck: Deck, answers: Sequence[str], *, source: Source = SYSTEM
) -> tuple[Response, ...]:
    """Shuffle, give everybody a card, and return what they send, in the order of the answers.

    Raises:
        InvalidAnswer: an answer that is not a category of the deck. The message does not repeat it.
        InvalidRequest: not one answer for each of the deck's people.

    Example:
        >>> len(deal(Deck((1, 1, 2), people=4), ["no", "no", "yes", "no"]))
        4
    """
    if len(answers) != deck.people:
        raise InvalidRequest(
            f"there are {len(answers):,} answers; expected one for each of {deck.people:,} people."
        )
    cards = deck.shuffle(source)
    return tuple(
        respond(deck, answer, card)
        for answer, card in zip(answers, cards, strict=True)
    )
