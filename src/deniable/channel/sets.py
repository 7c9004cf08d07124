"""Channels whose responses are sets of categories.

A response is a number whose bit j says whether category j is in the set. No category is treated unlike another, so
all that an answer decides is whether it lies in the set: every set of one size has the same probability given each
answer inside it, and the same given each answer outside it. Nothing is ever written out.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from deniable import chance, exact
from deniable.channel.base import Channel, Witness, check_gamma
from deniable.errors import InvalidDesign

if TYPE_CHECKING:
    from deniable.channel.coding import PackedRows

MOST_CATEGORIES = 1 << 24
"""Beyond this a single response takes megabytes; up to it each pick that fills a set takes one word."""

MOST_CELLS = 4_000_000
"""Cells of a tally by size: 32 MB of counts, about 2,000 categories where every size can be sent."""


class Sets(Channel):
    """A channel from categories to sets of them.

    Attributes:
        size: how many categories there are.
    """

    several: ClassVar[bool] = True
    size: int

    @property
    @abstractmethod
    def by_size(self) -> bool:
        """Whether a tally counts each size of set apart; otherwise it counts how often each category was in."""

    @property
    @abstractmethod
    def sizes(self) -> Sequence[int]:
        """The sizes of the sets that can be sent, rising."""

    @abstractmethod
    def weight(self, ones: int) -> Fraction:
        """Return the probability that a set of this size is sent, which is the same for every answer."""

    @abstractmethod
    def inclusion(self, ones: int) -> Fraction:
        """Return the probability that the answer is in the set, given the size of the set."""

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return self.size

    @property
    def responses(self) -> int:
        """How many sets there are, also those that are never sent."""
        return 1 << self.size

    def possible(self, response: int) -> bool:
        """Whether a response can be sent at all."""
        return 0 <= response < self.responses and response.bit_count() in self.sizes

    def level(self, ones: int, *, inside: bool) -> Fraction:
        """Return the probability of one single set of a size that can be sent, given an answer inside or outside."""
        own = self.inclusion(ones)
        if inside:
            return self.weight(ones) * own / math.comb(self.size - 1, ones - 1)
        return self.weight(ones) * (1 - own) / math.comb(self.size - 1, ones)

    def odds(self, ones: int) -> exact.Ratio:
        """Return the probability of a set given an answer inside over that given one outside; 0 < ones < size."""
        own = self.inclusion(ones)
        return exact.ratio(own * (self.size - ones), (1 - own) * ones)

    def probability(self, response: int, *, given: int) -> Fraction:
        """Return the exact probability of a set given an answer."""
        if not self.possible(response):
            return Fraction(0)
        return self.level(response.bit_count(), inside=bool(response >> given & 1))

    def extremes(self, response: int, *, besides: int | None = None) -> tuple[Fraction, Fraction]:
        """Return the largest and the smallest probability of a set over all answers (besides one)."""
        if not self.possible(response):
            return Fraction(0), Fraction(0)
        ones = response.bit_count()
        levels = [self.level(ones, inside=inside) for inside in self._sides(response, besides)]
        return max(levels), min(levels)

    def bayes_factors(self, response: int, answer: int) -> tuple[exact.Ratio, exact.Ratio]:
        """Return by how much a set multiplies the odds of an answer against another: at least, at most."""
        ones = response.bit_count()
        if not self.possible(response) or not 0 < ones < self.size:
            return Fraction(1), Fraction(1)
        odds = self.odds(ones)
        inside, outside = (Fraction(1), Fraction(0)) if odds == math.inf else (Fraction(odds), Fraction(1))
        own = inside if response >> answer & 1 else outside
        others = [inside if side else outside for side in self._sides(response, answer)]
        return exact.ratio(own, max(others)), exact.ratio(own, min(others))

    def _sides(self, response: int, besides: int | None) -> Iterator[bool]:
        """Yield True where an answer (besides one) lies inside the set, and False where one lies outside."""
        inside = response.bit_count()
        outside = self.size - inside
        if besides is not None:
            own = response >> besides & 1
            inside, outside = inside - own, outside - (1 - own)
        yield from [True] * bool(inside) + [False] * bool(outside)

    @property
    def witness(self) -> Witness:
        """A set and a pair of answers that attain the parity."""
        proper = [ones for ones in self.sizes if 0 < ones < self.size]
        if not proper:
            return Witness((1 << self.sizes[0]) - 1, 0, 1)
        ones = max(proper, key=lambda each: _either_way(self.odds(each)))
        likely, unlikely = (0, ones) if self.odds(ones) >= 1 else (ones, 0)
        return Witness((1 << ones) - 1, likely, unlikely)

    @property
    def parity(self) -> exact.Ratio:
        """The largest ratio of the probabilities of one set given two answers, without writing either out."""
        ones = self.witness.response.bit_count()
        return _either_way(self.odds(ones)) if 0 < ones < self.size else Fraction(1)

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ: two answers differ in the sets that hold one of them and not the other."""
        check_gamma(gamma)
        return sum((self.weight(ones) * self._excess(ones, gamma) for ones in self.sizes), Fraction(0))

    def _excess(self, ones: int, gamma: Fraction) -> Fraction:
        own = self.inclusion(ones)
        # Given the first answer, the set holds it and not the second; and the other way round.
        first, second = own * (self.size - ones), (1 - own) * ones
        return (max(Fraction(0), first - gamma * second) + max(Fraction(0), second - gamma * first)) / (self.size - 1)

    @property
    def coding(self) -> PackedRows:
        """Sets lie in rows of packed bits."""
        from deniable.channel.coding import PackedRows

        return PackedRows(self)

    @property
    def cells(self) -> int:
        """How many counts a tally keeps: one for each category; by size, one for each size and each category of it."""
        return len(self.sizes) * (self.size + 1) if self.by_size else self.size

    def cells_of(self, response: int) -> Iterable[int]:
        """Return the cells in which a set counts: its categories; by size, behind the count of its size."""
        members = [j for j in range(self.size) if response >> j & 1]
        if not self.by_size:
            return members
        start = self.sizes.index(response.bit_count()) * (self.size + 1)
        return [start, *(start + 1 + j for j in members)]

    def _check_cells(self) -> None:
        if self.cells > MOST_CELLS:
            raise InvalidDesign(
                f"a tally by size of {self.size:,} categories has {self.cells:,} cells; "
                f"expected at most {MOST_CELLS:,}.",
                "Count categories alone (by_size=False), or use subset(), whose sets have one size.",
            )


def _either_way(odds: exact.Ratio) -> exact.Ratio:
    if odds in (0, math.inf):
        return math.inf
    return max(odds, 1 / Fraction(odds))


def fill(size: int, ones: int, given: int, source: chance.Source, *, inside: bool, steps: int) -> int:
    """Return a set of `ones` categories that holds the answer or not; the others in it are drawn evenly.

    The fewer are drawn: those in the set, or where that is more than half of all, those left out. The others are
    numbered from 0 to size − 2. For `at` from size − 1 − steps to size − 2 take pick = below(at + 1), and put into the
    set `pick`, or `at` where `pick` is already in it. The first picks are passed over so that as many count as others
    are wanted; they are drawn all the same, so that how many words are taken tells nothing about the answer. At last
    room is made for the answer: others from its number on move up by one.

    Why: this is Floyd's sampling of a random subset [BF87]; each subset of the wanted size is equally likely.
    """
    left_out = ones > size - ones
    own = inside != left_out
    wanted = min(ones, size - ones) - own
    drawn = bytearray((size + 7) // 8)
    for at in range(size - 1 - steps, size - 1):
        pick = chance.below(at + 1, source)
        if at < size - 1 - wanted:
            continue
        if drawn[pick >> 3] >> (pick & 7) & 1:
            pick = at
        drawn[pick >> 3] |= 1 << (pick & 7)
    others = int.from_bytes(drawn, "little")
    lower = others & ((1 << given) - 1)
    members = (others ^ lower) << 1 | own << given | lower
    return members ^ ((1 << size) - 1) if left_out else members


def check_size(size: int) -> None:
    """Refuse fewer than two categories, or more than a response can hold.

    Raises:
        InvalidDesign: otherwise.
    """
    if not 2 <= size <= MOST_CATEGORIES:
        raise InvalidDesign(f"there are {exact.shown(size)} categories; expected 2 to {MOST_CATEGORIES:,}.")
