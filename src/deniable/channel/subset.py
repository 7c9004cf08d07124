"""The t-subset channel: a random set of t categories, which holds the answer more often than chance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable import chance, documents
from deniable.channel.base import Channel, check_total
from deniable.channel.sets import Sets, check_size, fill
from deniable.errors import InvalidDesign


@dataclass(frozen=True)
class Subset(Sets):
    """Sets of `ones` out of `size` categories; the answer is in with weight `inside` of `total`, the rest is even.

    The draw: the answer is in where `below(total) < inside`; then the set is filled as `channel.sets.fill` says, in
    min(ones, size − ones) steps.
    """

    KIND: ClassVar[str] = "subset"
    size: int
    ones: int
    inside: int
    total: int

    def __post_init__(self) -> None:
        check_size(self.size)
        if not 1 <= self.ones < self.size:
            raise InvalidDesign(
                f"the sets hold {self.ones} of {self.size} categories; expected at least 1 and not all of them."
            )
        check_total(self.total)
        if not 0 <= self.inside <= self.total:
            raise InvalidDesign(f"the weight inside is {self.inside}; expected 0 to the total of {self.total}.")
        common = math.gcd(self.inside, self.total)
        object.__setattr__(self, "inside", self.inside // common)
        object.__setattr__(self, "total", self.total // common)

    @property
    def by_size(self) -> bool:
        """There is one size: a tally counts categories."""
        return False

    @property
    def sizes(self) -> Sequence[int]:
        """The one size of all sets."""
        return range(self.ones, self.ones + 1)

    @property
    def sets(self) -> int:
        """How many sets can be sent: m_t of the t-subset design, the rows that are never written out."""
        return math.comb(self.size, self.ones)

    @property
    def steps(self) -> int:
        """How many picks fill a set."""
        return min(self.ones, self.size - self.ones)

    def weight(self, ones: int) -> Fraction:
        """Return 1 for the one size of all sets."""
        return Fraction(ones == self.ones)

    def inclusion(self, ones: int) -> Fraction:  # noqa: ARG002 - there is one size
        """Return the probability that the answer is in the set."""
        return Fraction(self.inside, self.total)

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a set for an answer."""
        inside = chance.below(self.total, source) < self.inside
        return fill(self.size, self.ones, given, source, inside=inside, steps=self.steps)

    def to_body(self) -> dict[str, Any]:
        """Return the channel for JSON."""
        return {
            "kind": self.KIND,
            "size": self.size,
            "ones": self.ones,
            "inside": str(self.inside),
            "total": str(self.total),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Channel]) -> Subset:  # noqa: ARG003 - no channels inside
        """Read what `to_body` wrote."""
        return cls(*(documents.whole(body, name) for name in ("size", "ones", "inside", "total")))
