"""A mixture of t-subset channels: first the size of the set, which does not look at the answer, then the set."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

from deniable import chance, documents
from deniable.channel.base import Channel, check_total
from deniable.channel.sets import Sets, check_size, fill
from deniable.errors import InvalidDesign


class Part(NamedTuple):
    """One size of set: how often it is sent, and how often it then holds the answer, out of the mixture's total."""

    ones: int
    weight: int
    inside: int


@dataclass(frozen=True)
class Mixture(Sets):
    """Sets of several sizes; `parts` names each size with its weight and the weight of the answer being in.

    The draw: `below(total)` falls into the stretch of one part, in their order; the answer is in where a second
    `below(total)` is below the part's `inside`; then the set is filled as `channel.sets.fill` says, always in as many
    steps as the part that needs most of them.
    """

    KIND: ClassVar[str] = "mixture"
    size: int
    parts: tuple[Part, ...]
    total: int

    def __post_init__(self) -> None:
        check_size(self.size)
        check_total(self.total)
        sizes = [part.ones for part in self.parts]
        if sizes != sorted(set(sizes)) or not sizes or not 0 <= sizes[0] <= sizes[-1] <= self.size:
            raise InvalidDesign(f"the sizes of sets are not all different, rising, and from 0 to {self.size}.")
        if min(part.weight for part in self.parts) < 1 or sum(part.weight for part in self.parts) != self.total:
            raise InvalidDesign("the weights of the sizes do not add up; expected positive ones with sum 1.")
        if any(self._ill_filled(part) for part in self.parts):
            raise InvalidDesign("an answer is in a set more or less often than there is room for.")
        common = math.gcd(self.total, *(each for part in self.parts for each in (part.weight, part.inside)))
        lowest = tuple(Part(part.ones, part.weight // common, part.inside // common) for part in self.parts)
        object.__setattr__(self, "parts", lowest)
        object.__setattr__(self, "total", self.total // common)
        self._check_cells()

    def _ill_filled(self, part: Part) -> bool:
        lowest = self.total if part.ones == self.size else 0
        highest = 0 if part.ones == 0 else self.total
        return not lowest <= part.inside <= highest

    @property
    def by_size(self) -> bool:
        """A tally counts each size apart, because a category in a small set says more than one in a large set."""
        return True

    @cached_property
    def sizes(self) -> Sequence[int]:
        """The sizes of the sets that can be sent, rising."""
        return tuple(part.ones for part in self.parts)

    @cached_property
    def steps(self) -> int:
        """How many picks fill a set: those of the part that needs most of them."""
        return max(min(part.ones, self.size - part.ones) for part in self.parts)

    @cached_property
    def sums(self) -> tuple[int, ...]:
        """Running sums of the weights: the integers that a drawn position is compared with."""
        return tuple(accumulate(part.weight for part in self.parts))

    @cached_property
    def _by_size(self) -> dict[int, Part]:
        return {part.ones: part for part in self.parts}

    def weight(self, ones: int) -> Fraction:
        """Return the probability of a size."""
        return Fraction(self._by_size[ones].weight, self.total)

    def inclusion(self, ones: int) -> Fraction:
        """Return the probability that the answer is in a set of this size."""
        return Fraction(self._by_size[ones].inside, self.total)

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a size, then a set for an answer."""
        part = self.parts[bisect_right(self.sums, chance.below(self.total, source))]
        inside = chance.below(self.total, source) < part.inside
        return fill(self.size, part.ones, given, source, inside=inside, steps=self.steps)

    def to_body(self) -> dict[str, Any]:
        """Return the channel for JSON."""
        parts = [{"ones": part.ones, "weight": str(part.weight), "inside": str(part.inside)} for part in self.parts]
        return {"kind": self.KIND, "size": self.size, "total": str(self.total), "parts": parts}

    @classmethod
    def from_body(cls, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Channel]) -> Mixture:  # noqa: ARG003 - no channels inside
        """Read what `to_body` wrote."""
        parts = [documents.field({"part": each}, "part", dict) for each in documents.field(body, "parts", list)]
        read_parts = tuple(Part(*(documents.whole(each, name) for name in Part._fields)) for each in parts)
        return cls(documents.whole(body, "size"), read_parts, documents.whole(body, "total"))
