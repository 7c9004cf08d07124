"""How often each number was sent by people to whom a deck was dealt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable.designs.cards import Deck
from deniable.documents import Response
from deniable.errors import Incompatible, InvalidResponse
from deniable.tallies.base import AdditiveTally, Counts, is_count, read_only

if TYPE_CHECKING:
    from deniable.types.deck import estimate as _estimate

__all__ = ["DeckTally", "tally"]


@dataclass(frozen=True, eq=False)
class DeckTally(AdditiveTally[Deck]):
    """How often each number was sent, from 1 on.

    Attributes:
        design: the deck that was dealt.
        counts: a count for each number, read-only.
        missing: how many people sent nothing.
    """

    SCHEMA: ClassVar[str] = "deck-tally"
    OWNER: ClassVar[str] = "deck"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate

    design: Deck
    counts: Counts = field(repr=False)
    missing: int = 0

    def __post_init__(self) -> None:
        counts = read_only(
            self.counts, (self.design.numbers,), "one for each number"
        )
        object.__setattr__(self, "counts", counts)
        super().__post_init__()

    @classmethod
    def empty(cls, design: Deck) -> DeckTally:
        return cls(design, np.zeros(design.numbers, np.int64))

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return int(self.counts.sum())


def tally(deck: Deck, responses: Mapping[Any, int] | Iterable[Any]) -> DeckTally:
    """Count the numbers that were sent.

    Args:
        deck: what was dealt.
        responses: the numbers, as `Response`, text or whole numbers from 1 on, or how often each was sent. None is
            somebody who sent nothing.

    Raises:
        InvalidResponse: a number that is on no card.
        Incompatible: a response that belongs to another deck.

    Example:
        >>> tally(Deck((1, 2, 3), people=6), {1: 1, 2: 2, 3: 3}).counts
        array([1, 2, 3])
    """
    if isinstance(responses, str | bytes) or not isinstance(responses, Iterable):
        raise InvalidResponse(
            f"the responses are a {type(responses).__name__}; expected a number for each respondent.",
            "For example [1, 3, 2], or how often each was sent: {1: 20, 3: 40}.",
        )
    pairs = (
        responses.items()
        if isinstance(responses, Mapping)
        else ((response, 1) for response in responses)
    )
    counts, missing = np.zeros(deck.numbers, np.int64), 0
    for response, count in pairs:
        if not is_count(count):
            raise InvalidResponse(
                "a response was sent a number of times that is no count; expected 0 or more."
            )
        if response is None:
            missing += int(count)
        else:
            counts[_number(deck, response)] += count
    return DeckTally(deck, counts, missing)


def _number(deck: Deck, response: object) -> int:
    if isinstance(response, Response):
        if response.design != deck.hash:
            raise Incompatible(
                f"a response belongs to {response.design:.19}…; expected this deck, {deck.hash:.19}….",
                "Hand over the deck that the response was drawn with.",
            )
        response = response.symbol
    return deck.response_number(response)
