"""Padding and sampling: somebody's items fill up to ℓ places, one place is drawn, and what that does to likelihoods.

Whoever has s items owns max(s, ℓ) places, of which ℓ − s are empty if s < ℓ. One place is drawn evenly. So the
probability of a response is the average, over these places, of its probability given what stands in each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from deniable import chance
from deniable.errors import InvalidDesign
from deniable.keyvalue.scheme import Row

Number = TypeVar("Number", int, float)


class Choice(NamedTuple, Generic[Number]):
    """Places filled: the sum of their values, and how many items of each kind stand in them."""

    total: Number
    taken: tuple[int, ...]


def extreme(kinds: Sequence[tuple[Number, int]], empty: Number, places: int, *, largest: bool) -> Choice[Number]:
    """Return ℓ times the largest (or smallest) average that any choice of items can reach, and the choice.

    Args:
        kinds: for kinds of items the probability that one of the kind gives the response, and how many there are.
        empty: the probability that an empty place gives it; there are as many as one likes.
        places: ℓ.
        largest: whether the largest is wanted.

    Why: with at most ℓ items the average of ℓ places is largest for the ℓ largest values; a further item would only
    add a smaller value to an average.

    Example:
        >>> extreme([(2, 5), (9, 1)], 3, 2, largest=True), extreme([(2, 5), (9, 1)], 3, 2, largest=False)
        (Choice(total=12, taken=(0, 1)), Choice(total=4, taken=(2, 0)))
    """
    total, left, taken = empty * 0, places, [0] * len(kinds)
    for kind in sorted(range(len(kinds)), key=lambda kind: kinds[kind][0], reverse=largest):
        value, count = kinds[kind]
        if value <= empty if largest else value >= empty:
            break
        taken[kind] = min(left, count)
        total += taken[kind] * value
        left -= taken[kind]
    return Choice(total + left * empty, tuple(taken))


def drawn_item(given: Row, padding: int, source: chance.Source) -> int | None:
    """Draw a place and return the item that stands there, in the order of their numbers; None for an empty place."""
    own = sorted(given)
    place = chance.below(max(len(own), padding), source)
    return own[place] if place < len(own) else None


def check(items: int, padding: int) -> None:
    """Refuse a number of places that does not fit the number of items.

    Raises:
        InvalidDesign: fewer than one, or more than there are items.
    """
    if isinstance(padding, bool) or not isinstance(padding, int) or not 1 <= padding <= items:
        raise InvalidDesign(
            f"padding is {padding!r:.40}; expected a whole number from 1 to {items:,}, the number of items.",
            "Take about as many as most people have: fewer cuts off those who have more, more adds noise for all.",
        )
