"""Independent bits: one for each category, 1 more often for the answer's own than for the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable import chance, documents, exact
from deniable.channel.base import Channel, Witness, check_gamma, check_total
from deniable.channel.sets import Sets, check_size
from deniable.errors import InvalidDesign, UnreadableFile

DIGITS = 8
"""Binary digits of a probability that are decided for all bits at once; one bit in 256 is open after them."""


@dataclass(frozen=True)
class Bits(Sets):
    """The answer's own bit is 1 with weight `hit` of `total`, every other bit with weight `stray`, independently.

    The draw: eight times as many words as hold a coin for each bit (`chance.bits`). A bit is decided by the first of
    the eight coins that is 1: by the i-th, it becomes the i-th binary digit of its probability. Each bit that is then
    still open, from the lowest up, is 1 where `below(total)` is less than the rest of its probability's digits.

    Why: the i-th coin is the first with probability 2^-i, so that the digits add up to exactly the probability. How
    many words are taken depends on the coins alone, never on the answer.
    """

    KIND: ClassVar[str] = "bits"
    size: int
    hit: int
    stray: int
    total: int
    sized: bool = False

    def __post_init__(self) -> None:
        check_size(self.size)
        check_total(self.total)
        for name in ("hit", "stray"):
            if not 0 <= getattr(self, name) <= self.total:
                raise InvalidDesign(f"the weight {name} is {getattr(self, name)}; expected 0 to {self.total}.")
        common = math.gcd(self.hit, self.stray, self.total)
        for name in ("hit", "stray", "total"):
            object.__setattr__(self, name, getattr(self, name) // common)
        if self.sized:
            self._check_cells()

    @property
    def by_size(self) -> bool:
        """Whether a tally counts each number of ones apart."""
        return self.sized

    @property
    def sizes(self) -> Sequence[int]:
        """The sizes of the sets that can be sent: all of them, unless a weight is 0 or the total."""
        fewest = (self.size - 1) * (self.stray == self.total) + (self.hit == self.total)
        most = (self.size - 1) * (self.stray > 0) + (self.hit > 0)
        return range(fewest, most + 1)

    def digits(self, weight: int) -> tuple[int, int]:
        """Return the first eight binary digits of a weight's probability as one number, and the weight of the rest.

        Example:
            >>> Bits(2, 3, 1, 4).digits(3), Bits(2, 3, 1, 4).digits(4)
            ((192, 0), (255, 4))
        """
        head = min((weight << DIGITS) // self.total, (1 << DIGITS) - 1)  # 1 is 0.1111… here, not 1.0000…
        return head, (weight << DIGITS) - head * self.total

    def weight(self, ones: int) -> Fraction:
        """Return the probability that so many bits are 1."""
        inside = math.comb(self.size - 1, ones - 1) * self.level(ones, inside=True) if ones else Fraction(0)
        outside = math.comb(self.size - 1, ones) * self.level(ones, inside=False) if ones < self.size else Fraction(0)
        return inside + outside

    def inclusion(self, ones: int) -> Fraction:
        """Return the probability that the answer's own bit is 1, given how many are."""
        if not 0 < ones < self.size:
            return Fraction(bool(ones))
        # Of all sets of one size, ones of size hold a given category: the odds say how much more often they are sent.
        inside, outside = self._own_odds()
        sent = ones * inside + (self.size - ones) * outside
        return Fraction(ones * inside, sent) if sent else Fraction(ones, self.size)

    def level(self, ones: int, *, inside: bool) -> Fraction:
        """Return the probability of one single set, given an answer inside or outside of it."""
        own = self.hit if inside else self.total - self.hit
        strays = ones - inside
        others = self.stray**strays * (self.total - self.stray) ** (self.size - 1 - strays)
        return Fraction(own * others, self.total**self.size)

    def odds(self, ones: int) -> exact.Ratio:  # noqa: ARG002 - the same for every size
        """Return the probability of a set given an answer inside over that given one outside."""
        return exact.ratio(*self._own_odds())

    def _own_odds(self) -> tuple[int, int]:
        return self.hit * (self.total - self.stray), self.stray * (self.total - self.hit)

    @property
    def witness(self) -> Witness:
        """A set and a pair of answers that attain the parity: one bit alone, or all but one."""
        if self.hit > self.stray:
            return Witness(1, 0, 1)
        return Witness((1 << self.size) - 2 if self.hit < self.stray else (1 << self.sizes[0]) - 1, 0, 1)

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ: of two answers only their own two bits tell, and only where these differ."""
        check_gamma(gamma)
        inside, outside = self._own_odds()
        return max(Fraction(0), inside - gamma * outside, outside - gamma * inside) / self.total**2

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a set of bits for an answer."""
        words, every, own = -(-self.size // 64), (1 << self.size) - 1, 1 << given
        (hit, hit_rest), (stray, stray_rest) = self.digits(self.hit), self.digits(self.stray)
        drawn, undecided = 0, every
        for place in reversed(range(DIGITS)):
            now = chance.bits(words, source) & undecided
            undecided ^= now
            if stray >> place & 1:
                drawn |= now & ~own
            if hit >> place & 1:
                drawn |= now & own
        while undecided:
            lowest = undecided & -undecided
            rest = hit_rest if lowest == own else stray_rest
            drawn |= lowest * (chance.below(self.total, source) < rest)
            undecided ^= lowest
        return drawn

    def to_body(self) -> dict[str, Any]:
        """Return the channel for JSON."""
        return {
            "kind": self.KIND,
            "size": self.size,
            "hit": str(self.hit),
            "stray": str(self.stray),
            "total": str(self.total),
            "tally": "by size" if self.sized else "by category",
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Channel]) -> Bits:  # noqa: ARG003 - no channels inside
        """Read what `to_body` wrote."""
        tally = documents.field(body, "tally", str)
        if tally not in ("by size", "by category"):
            raise UnreadableFile(f"the tally is {tally!r:.40}; expected 'by size' or 'by category'.")
        size, hit, stray, total = (documents.whole(body, name) for name in ("size", "hit", "stray", "total"))
        return cls(size, hit, stray, total, tally == "by size")
