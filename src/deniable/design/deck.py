"""A deck of numbered cards that is dealt to a group without replacement.

A deck is not a `Design`: its responses depend on each other, and what it promises depends on who looks. So it carries
two guarantees, against a reader of one response and against a collector who sees all and knows the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable import chance, exact, wire
from deniable.design.christofides import christofides
from deniable.design.dealing import excess
from deniable.design.design import Design
from deniable.design.labels import read
from deniable.errors import InvalidDesign, UnreadableFile


@dataclass(frozen=True)
class Deck:
    """Cards with the numbers 1 … L, of which each of `people` takes one and keeps it.

    Members, the people of the second category, send L + 1 − card; the others send the card.

    Attributes:
        counts: how many cards there are with each number, from 1 on.
        people: how many people draw, one card each.
        categories: what non-members and members are called.

    Example:
        >>> Deck((1, 1, 2), people=4).epsilon_collector
        inf
    """

    counts: tuple[int, ...]
    people: int
    categories: Sequence[str] = ("no", "yes")

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", tuple(_whole(count, "a number of cards") for count in self.counts))
        object.__setattr__(self, "people", _whole(self.people, "the number of people"))
        object.__setattr__(self, "categories", read(self.categories))
        if len(self.counts) < 2 or len(self.categories) != 2:
            raise InvalidDesign(
                f"there are {len(self.counts)} numbers on the cards and {len(self.categories)} categories; "
                "expected at least 2 numbers and exactly 2 categories."
            )
        if not 2 <= self.people <= self.cards:
            raise InvalidDesign(
                f"there are {self.cards:,} cards for {self.people:,} people; expected a card for each of at least 2.",
                "Add cards in the same proportions, or make groups.",
            )
        if 2 * self.mean == self.numbers + 1:
            raise InvalidDesign(
                f"the mean of the cards is {self.mean}, in the middle, so that members and others send the same on "
                "average; expected another mean.",
                "Take more high cards than low ones.",
            )

    @property
    def cards(self) -> int:
        """How many cards there are."""
        return sum(self.counts)

    @property
    def numbers(self) -> int:
        """The largest number on a card."""
        return len(self.counts)

    @cached_property
    def mean(self) -> Fraction:
        """The mean of the cards."""
        return Fraction(sum(k * count for k, count in enumerate(self.counts, 1)), self.cards)

    @cached_property
    def spread(self) -> Fraction:
        """The variance of one card."""
        return Fraction(sum(k * k * count for k, count in enumerate(self.counts, 1)), self.cards) - self.mean**2

    @cached_property
    def parity_alone(self) -> exact.Ratio:
        """The largest factor by which one response, seen alone, changes the odds of an answer."""
        return max(exact.ratio(a, b) for a, b in zip(self.counts, reversed(self.counts), strict=True))

    @property
    def epsilon_alone(self) -> float:
        """The ε against somebody who sees one response and no other, rounded up."""
        return exact.log_above(self.parity_alone)

    @cached_property
    def parity_collector(self) -> exact.Ratio:
        """The largest factor for a collector who sees all responses and knows the answers of all others.

        Implements: F11. The others' answers and responses give away their cards. At worst all n − 1 of them hold the
        same number k: then the target sends k with weight c_k − (n − 1) or c_{L+1−k}, depending on the answer.
        """
        known = self.people - 1
        pairs = zip(self.counts, reversed(self.counts), strict=True)
        apart = [(a, b) for k, (a, b) in enumerate(pairs) if 2 * k + 1 != self.numbers and a + b > 0]
        return max(exact.ratio(a, max(b - known, 0)) if a else Fraction(0) for a, b in apart)

    @property
    def epsilon_collector(self) -> float:
        """The ε against a collector who sees all responses and knows the answers of all others, rounded up."""
        return exact.log_above(self.parity_collector)

    def delta_collector(self, epsilon: exact.Rational) -> float:
        """Return the smallest δ at this ε against a collector who knows the answers of all others, rounded up.

        Where every card is dealt it is the share of cards that are not in the middle, whatever the ε.

        Raises:
            InvalidRequest: a deck with too many spare cards for the exact sum.

        Example:
            >>> Deck((1, 1, 2), people=4).delta_collector(1)
            0.75
        """
        gamma = exact.exp_below(exact.non_negative_epsilon(epsilon))
        return exact.float_above(excess(self.counts, self.cards - self.people + 1, gamma))

    @property
    def guarantee(self) -> str:
        """What is promised and against whom, in words."""
        factor = _factor(self.parity_alone)
        alone = f"Whoever sees one response and no other can change the odds of an answer by at most {factor}."
        if self.parity_collector != math.inf:
            return (
                f"{alone} A collector who sees all responses and knows the answers of all the others can change them "
                f"by at most {_factor(self.parity_collector)}."
            )
        if self.cards > self.people:
            return (
                f"{alone} This deck is not ε-locally private against the collector: it has too few spare cards, and a "
                "collector who sees all responses and knows the answers of all the others may be certain of an answer."
            )
        lost = Fraction(self.cards - self._middle, self.cards)
        return (
            f"{alone} This deck is not ε-locally private against the collector: every card is dealt, so a collector "
            "who sees all responses and knows the answers of all the others knows the last card too, and is certain of "
            f"the answer with probability {lost} (δ = {float(lost):.3g} at every ε)."
        )

    @property
    def _middle(self) -> int:
        return self.counts[self.numbers // 2] if self.numbers % 2 else 0

    def shuffle(self, source: chance.Source = chance.SYSTEM) -> tuple[int, ...]:
        """Return a card for each person, drawn without replacement: every deal has the same probability, exactly."""
        cards = [number for number, count in enumerate(self.counts, 1) for _ in range(count)]
        for place in range(self.people):
            other = place + chance.below(self.cards - place, source)
            cards[place], cards[other] = cards[other], cards[place]
        return tuple(cards[: self.people])

    def with_replacement(self) -> Design:
        """Return the design in which everybody draws from the full deck and puts the card back."""
        shares = [Fraction(count, self.cards) for count in self.counts]
        return christofides(cards=shares, categories=self.categories)

    @cached_property
    def hash(self) -> str:
        """The content hash, by which responses name their deck."""
        return wire.digest({"schema": f"deniable/deck/{wire.VERSION}", **self._body()})

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the deck as JSON, with its schema version and content hash."""
        return wire.seal("deck", self._body(), indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Deck:
        """Read a deck.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            InvalidDesign: well-formed, but not a deck.
        """
        body = wire.unseal("deck", text)
        counts = tuple(wire.whole({"count": count}, "count") for count in wire.field(body, "counts", list))
        deck = cls(counts, wire.whole(body, "people"), _categories(body))
        if deck._body() != body:
            raise UnreadableFile(
                "this deck is not as deniable writes it.", "Build it anew, and write it with to_json()."
            )
        return deck

    def _body(self) -> dict[str, Any]:
        return {"counts": list(self.counts), "people": self.people, "categories": list(self.categories)}


def integer_deck(
    people: int,
    epsilon: exact.Rational,
    middle: exact.Rational = 0,
    *,
    cards: int | None = None,
    collector: bool = False,
    categories: Sequence[str] = ("no", "yes"),
) -> Deck:
    """Build a deck with the numbers 1, 2 and 3 for a group, in whole cards and with at most this ε.

    Implements: the integer rule of F11: c₂ = round(M·middle), c₁ = ⌈(M − c₂)/(e^ε + 1)⌉, c₃ the rest. For the ε against
    a collector with n people, c₁ = ⌈(M − c₂ + (n − 1)·e^ε)/(e^ε + 1)⌉, from c₃ ≤ e^ε·(c₁ − (n − 1)).

    Guarantee: `epsilon_alone` ≤ ε, or with `collector=True` `epsilon_collector` ≤ ε. With a card for each person and
    none to spare there is no ε against the collector, and `Deck.guarantee` says so.

    Args:
        people: how many draw.
        epsilon: the ε that must hold.
        middle: the share of cards with a 2, which tell nothing.
        cards: how many cards there are; as many as people, if it is not given.
        collector: let ε hold against a collector who knows the answers of all others.
        categories: what non-members and members are called.

    Raises:
        InvalidDesign: so many cards, in whole numbers and at this ε, cannot tell members from others.

    Example:
        >>> integer_deck(100, epsilon="1/2", middle="1/10").counts
        (34, 10, 56)
    """
    group = _whole(people, "the number of people")
    total = group if cards is None else _whole(cards, "the number of cards")
    ratio = exact.exp_below(exact.positive_epsilon(epsilon))
    between = math.floor(total * exact.probability(middle, name="middle") + Fraction(1, 2))
    rest, known = total - between, group - 1 if collector else 0
    first = math.ceil((rest + known * ratio) / (ratio + 1))
    if rest - first <= first:
        raise _cannot_estimate((first, between, rest - first), ratio, known)
    return Deck((first, between, rest - first), group, categories)


def _cannot_estimate(counts: tuple[int, ...], ratio: Fraction, known: int) -> InvalidDesign:
    first, between, last = counts
    problem = (
        f"this takes {first:,} cards with a 1, {between:,} with a 2 and {max(last, 0):,} with a 3, so that members and "
        "others send the same on average; expected more threes than ones."
    )
    if known:
        # c₃ ≤ r·(c₁ − known) and c₃ > c₁ ask for c₁ > r·known/(r − 1).
        ones = math.floor(ratio * known / (ratio - 1)) + 1
        hint = f"Against a collector this ε takes at least about {2 * ones + 1 + between:,} cards, or a larger ε."
        return InvalidDesign(problem, hint)
    ones = (first + last - 1) // 2
    if ones < 1:
        return InvalidDesign(problem, "Take more people, or fewer middle cards.")
    least = exact.log_above(Fraction(first + last - ones, ones))
    return InvalidDesign(problem, f"Take an ε of at least {least:.4g}, more people, or fewer middle cards.")


def _whole(number: object, name: str) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or number.__index__() < 0:
        raise InvalidDesign(f"{name} is {exact.shown(number)}; expected a whole number, 0 or more.")
    return int(number.__index__())


def _factor(parity: exact.Ratio) -> str:
    if parity == math.inf:
        return "any factor: some response proves the answer"
    return f"a factor of {float(parity):.4g} (ε = {exact.log_above(parity):.4g})"


def _categories(body: Mapping[str, Any]) -> Sequence[str]:
    given = wire.field(body, "categories", list)
    try:
        return read(given)
    except InvalidDesign as error:
        raise UnreadableFile(error.problem, error.hint) from None
