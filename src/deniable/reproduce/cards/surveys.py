"""The four devices of the document in one setting: what theory says, and what simulated surveys show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.design import Deck, Design, christofides, integer_deck, simmons, warner
from deniable.engines import law
from deniable.errors import InvalidDesign
from deniable.plan import ideal_deck_variance, variance
from deniable.reproduce.values import Point, Setting

DEALT = "cards dealt"
DEVICES = ("Warner", "Simmons", "cards put back", DEALT)
"""The modified Warner, Simmons and Christofides mechanisms, and the improved Christofides mechanism."""


@dataclass(frozen=True)
class Survey:
    """Everybody of a group is asked.

    Attributes:
        people: how many they are.
        members: how many of them have the attribute.
        middle: the share of middle cards.
    """

    people: int
    members: int
    middle: float

    @property
    def share(self) -> float:
        """The true share of members."""
        return self.members / self.people

    def design(self, name: str, epsilon: float) -> Design:
        """Build a device other than dealt cards, which `decks` builds."""
        if name == "Simmons":
            return simmons(epsilon, b="1/2")
        return warner(epsilon) if name == "Warner" else christofides(epsilon, middle=self.middle)

    def curve(self, name: str, epsilons: Sequence[float]) -> list[float]:
        """Return the variance as the document reckons it: a deck in proportions that need not be whole cards."""
        if name == DEALT:
            return [ideal_deck_variance(self.people, each, self.middle, self.share) for each in epsilons]
        return [self.theory(self.design(name, each)) for each in epsilons]

    def theory(self, device: Design | Deck) -> float:
        """Return the variance of the estimate if everybody is asked."""
        return variance(device, self.people, shares=[1 - self.share, self.share], population="census")

    def decks(self, epsilons: Sequence[float]) -> list[Deck]:
        """Return the different decks of whole cards for these ε, without those that tell nothing."""
        found = {}
        for each in epsilons:
            try:
                deck = integer_deck(self.people, each, self.middle)
            except InvalidDesign:
                continue
            found[deck.counts] = deck
        return list(found.values())

    def seen(self, device: Design | Deck, where: str, setting: Setting) -> Point:
        """Repeat the survey; compare the spread of its estimates about the true share with the variance."""
        there = [self.people - self.members, self.members]
        drawn = law.tallies(device, there, setting.repetitions, draws=setting.generator)
        estimates = law.shares(device, drawn, self.people)[:, 1]
        return Point.of(where, self.theory(device), (estimates - self.share) ** 2)
