"""Every deal of a deck, written out: the slow and certain way to know what a deck does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

from deniable.designs import Deck


def deals(deck: Deck, people: int | None = None) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of each deal to so many people, by going through all orders of the single cards."""
    cards = [
        number for number, count in enumerate(deck.counts, 1) for _ in range(count)
    ]
    counted = Counter(permutations(cards, deck.people if people is None else people))
    total = sum(counted.values())
    return {hand: Fraction(count, total) for hand, count in counted.items()}


def sent(deck: Deck, answers: Sequence[int], hand: Sequence[int]) -> tuple[int, ...]:
    """Return what people with these answers (1 for members) send who hold these cards."""
    return tuple(
        deck.numbers + 1 - card if x else card
        for x, card in zip(answers, hand, strict=True)
    )


def law(deck: Deck, answers: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of each combination of responses."""
    found: dict[tuple[int, ...], Fraction] = {}
    for hand, probability in deals(deck, len(answers)).items():
        responses = sent(deck, answers, hand)
        found[responses] = found.get(responses, Fraction(0)) + probability
    return found


def worlds(people: int) -> Iterator[tuple[int, ...]]:
    """Yield answers with 0, 1, 2 … members; their order does not matter to anybody who takes a mean."""
    for members in range(people + 1):
        yield (1,) * members + (0,) * (people - members)
