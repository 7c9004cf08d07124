"""A kind of channel that the library does not know: three levels around a ring, and nothing but the minimum.

It stands for whatever kind comes next. Everything that it does not bring has to come from the defaults.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from deniable import chance
from deniable.channel import Channel
from deniable.channel.base import check_total, lowest_terms
from deniable.designs import Design
from deniable.errors import InvalidDesign


@dataclass(frozen=True)
class Ring(Channel):
    """The answer with weight `high`, its two neighbours on the ring with `middle`, each other one with `low`.

    The draw: `position = below(total)`. The first `high` positions are the answer's, then come the answer behind it,
    the one before it, and all others in their order around the ring.
    """

    KIND: ClassVar[str] = "ring"
    SIZES: ClassVar[tuple[str, ...]] = ("size",)
    WEIGHTS: ClassVar[tuple[str, ...]] = ("high", "middle", "low")
    size: int
    high: int
    middle: int
    low: int

    def __post_init__(self) -> None:
        if self.size < 4 or min(self.high, self.middle, self.low) < 1:
            raise InvalidDesign(
                "a ring has at least 4 places, and weights of at least 1."
            )
        lowest_terms(self, *self.WEIGHTS)
        check_total(self.total)

    @property
    def answers(self) -> int:
        return self.size

    @property
    def responses(self) -> int:
        return self.size

    @property
    def total(self) -> int:
        return self.high + 2 * self.middle + (self.size - 3) * self.low

    def probability(self, response: int, *, given: int) -> Fraction:
        steps = (response - given) % self.size
        weight = (
            self.high
            if steps == 0
            else self.middle
            if steps in (1, self.size - 1)
            else self.low
        )
        return Fraction(weight, self.total)

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        position = chance.below(self.total, source)
        if position < self.high:
            return given
        position -= self.high
        if position < 2 * self.middle:
            return (given + (1, -1)[position // self.middle]) % self.size
        return (given + 2 + (position - 2 * self.middle) // self.low) % self.size


def ring(high: int, middle: int, low: int, *, size: int = 5) -> Design:
    """Return a design around a ring."""
    places = tuple("abcdefghijkl"[:size])
    return Design("ring", places, places, Ring(size, high, middle, low))


def coarser(fine: Ring, blur: Ring) -> Ring:
    """Return the ring of five that a response of one becomes when it is sent through another: a ring again."""
    rows = [
        sum(
            (
                blur.probability(i, given=j) * fine.probability(j, given=0)
                for j in range(5)
            ),
            Fraction(0),
        )
        for i in range(3)
    ]
    total = fine.total * blur.total
    return Ring(5, *(int(row * total) for row in rows))
