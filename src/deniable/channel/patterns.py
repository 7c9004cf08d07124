"""Channels whose responses deal the categories to levels of likelihood: sets within sets.

A *pattern* says how many categories have which likelihood; it is sent in every order of the categories, each equally
often. A response of levels 0, 1 … m is m sets, one after the other: bit (l − 1)·k + j of its number says whether
category j has level l or a higher one. Subsets have two levels; more of them are never written out either.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, combinations, pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from deniable import chance, documents, exact
from deniable.chance import SYSTEM, Source
from deniable.channel.base import (
    Channel,
    MergedRows,
    Witness,
    check_gamma,
    check_total,
)
from deniable.channel.sets import check_size
from deniable.errors import InvalidDesign
from deniable.exact import Ratio

if TYPE_CHECKING:
    from deniable.channel.coding import PackedPatterns

_MAX_LEVELS = 64  # of a pattern


class LikelihoodLevel(NamedTuple):
    """Categories that have the same likelihood in a pattern: how many, and their weight."""

    categories: int
    weight: int


class LikelihoodPattern(NamedTuple):
    """Levels of a response, the lowest first; the categories in them change places. A level may be empty."""

    levels: tuple[LikelihoodLevel, ...]

    @property
    def size(self) -> int:
        """Number of categories."""
        return sum(level.categories for level in self.levels)

    @property
    def total(self) -> int:
        """The sum of the weights of all categories."""
        return sum(level.categories * level.weight for level in self.levels)

    @property
    def spread(self) -> float:
        """Return f = Σ r² of the likelihoods r that sum to 1."""
        squares = sum(level.categories * level.weight**2 for level in self.levels)
        return squares / self.total**2

    @property
    def chances(self) -> list[Fraction]:
        """Return the probability that the answer is on each level."""
        return [Fraction(n * weight, self.total) for n, weight in self.levels]

    def excess(self, ratio: Fraction) -> Fraction:
        """Return δ(ε) of the design that sends this pattern in every order, for a ratio x = e^ε."""
        return exact.total(
            max(Fraction(0), high - ratio * low) for high, low in self.separations
        )

    @property
    def separations(self) -> list[tuple[Fraction, Fraction]]:
        """For any two levels: probabilities that the first of two answers is on the higher one and the second on the
        lower one, given the first answer and given the second.
        """
        pairs = (self.size - 1) * self.total
        return [
            (Fraction(ways * high.weight, pairs), Fraction(ways * low.weight, pairs))
            for low, high in combinations(self.levels, 2)
            if (ways := low.categories * high.categories)
        ]

    @property
    def orders(self) -> int:
        """Number of ways to deal the categories to the levels."""
        left, orders = self.size, 1
        for level in self.levels:
            orders *= math.comb(left, level.categories)
            left -= level.categories
        return orders

    @property
    def odds(self) -> Ratio:
        """Return the weight of the highest level over that of the lowest."""
        weights = [level.weight for level in self.levels if level.categories]
        return exact.ratio(weights[-1], weights[0])

    @property
    def nested(self) -> tuple[int, ...]:
        """Sizes of the nested sets: how many categories have level 1 or a higher one, level 2 or a higher one …"""
        counts = [level.categories for level in self.levels]
        return tuple(accumulate(counts[:0:-1]))[::-1]


class Weighted(NamedTuple):
    """A pattern, and the weight with which it is sent."""

    weight: int
    pattern: LikelihoodPattern


@dataclass(frozen=True)
class Patterns(Channel):
    """A mixture of patterns: first the pattern, which does not look at the answer, then the order of the categories.

    The draw: `below(total)` falls into the stretch of one pattern, in their order. A position below the sum of the
    weights of all its categories falls into the stretch of one level, the lowest first: that is the answer's. Then
    `steps` others are dealt, the maximum over the patterns of how many are above the lowest level, but at most all
    others: of those numbered from 0 to size − 2 that are left, in the i-th step the one at below(size − 1 − i), whose
    place the i-th takes. The first ones go to the highest level until it is full with the answer, the next ones to the
    level below, and so on; all others to the lowest. The others from the answer's number on move up by one.

    Why: every order of the others is equally likely, and as many words are taken whatever the answer is.
    """

    KIND: ClassVar[str] = "patterns"
    size: int
    parts: tuple[Weighted, ...]
    total: int

    def __post_init__(self) -> None:
        check_size(self.size)
        shapes = [
            [level.categories for level in part.pattern.levels]
            for part in self.parts
        ]
        if (
            not shapes
            or len({len(shape) for shape in shapes}) > 1
            or not 2 <= len(shapes[0]) <= _MAX_LEVELS
            or any(sum(shape) != self.size or min(shape) < 0 for shape in shapes)
            or any(
                first <= second
                for first, second in zip(shapes[1:], shapes, strict=False)
            )
        ):
            raise InvalidDesign(
                f"the patterns do not fit; expected different ones, in rising order, that deal {self.size:,} "
                f"categories to the same 2 to {_MAX_LEVELS} levels."
            )
        for part in self.parts:
            weights = [
                level.weight for level in part.pattern.levels if level.categories
            ]
            empty = [
                level.weight for level in part.pattern.levels if not level.categories
            ]
            if (
                min(weights) < 0
                or any(empty)
                or weights != sorted(set(weights))
                or not weights[-1]
            ):
                raise InvalidDesign(
                    "the weights of a pattern do not rise from level to level; expected rising ones from 0 on, and 0 "
                    "for an empty level."
                )
        if min(part.weight for part in self.parts) < 1 or self.total != sum(
            part.weight for part in self.parts
        ):
            raise InvalidDesign(
                "the weights of the patterns do not add up; expected positive ones with the sum of the total."
            )
        common = math.gcd(*(part.weight for part in self.parts))
        parts = tuple(
            Weighted(weight // common, _lowest(pattern))
            for weight, pattern in self.parts
        )
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "total", self.total // common)
        check_total(
            self.total * math.lcm(*(part.pattern.total for part in self.parts))
        )

    @classmethod
    def of(cls, mix: Sequence[Weighted]) -> Patterns:
        """Return the channel of a mixture; of two patterns with equal numbers on their levels one moves up a level."""
        empty, moved = LikelihoodLevel(0, 0), set[tuple[int, ...]]()
        chains = []
        for weight, pattern in mix:
            levels = pattern.levels
            while (counts := tuple(level.categories for level in levels)) in moved:
                levels = (empty, *levels)
            moved.add(counts)
            chains.append((counts, weight, levels))
        n_levels = max(map(len, moved))
        parts = tuple(
            Weighted(
                weight,
                LikelihoodPattern((*levels, *[empty] * (n_levels - len(levels)))),
            )
            for _, weight, levels in sorted(chains)
        )
        return cls(parts[0].pattern.size, parts, sum(part.weight for part in parts))

    @property
    def patterned(self) -> Patterns:
        """This channel."""
        return self

    @property
    def answers(self) -> int:
        return self.size

    @property
    def n_bits(self) -> int:
        """Number of bits of a response: one for each nested set and category."""
        return (len(self.parts[0].pattern.levels) - 1) * self.size

    @property
    def responses(self) -> int:
        """Number of rows of bits, including those that are never sent."""
        return 1 << self.n_bits

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The sizes of the nested sets of each pattern."""
        return tuple(part.pattern.nested for part in self.parts)

    def _nested(self, response: int) -> list[int]:
        """Return the nested sets of a response."""
        mask = (1 << self.size) - 1
        return [
            response >> start & mask for start in range(0, self.n_bits, self.size)
        ]

    def _part(self, response: int) -> int | None:
        """Return the index of the pattern of a response; None if it is never sent."""
        if not 0 <= response < self.responses:
            return None
        sets = self._nested(response)
        shape = tuple(each.bit_count() for each in sets)
        is_nested = all(inner & ~outer == 0 for outer, inner in pairwise(sets))
        return (
            self.shapes.index(shape) if is_nested and shape in self.shapes else None
        )

    def possible(self, response: int) -> bool:
        return self._part(response) is not None

    @property
    def level_rates(self) -> list[tuple[Fraction, Fraction]]:
        """For each level, how often the answer and how often any one other category is on it."""
        rates = []
        for level in range(len(self.parts[0].pattern.levels)):
            pairs = [
                (
                    weight * pattern.chances[level],
                    weight * pattern.levels[level].categories,
                )
                for weight, pattern in self.parts
            ]
            own = exact.total(chance for chance, _ in pairs) / self.total
            all_of_them = Fraction(sum(n for _, n in pairs), self.total)
            rates.append((own, (all_of_them - own) / (self.size - 1)))
        return rates

    @cached_property
    def _units(self) -> tuple[Fraction, ...]:
        """The probability of one order of each pattern, for a likelihood weight of 1: columns sum to 1."""
        return tuple(
            Fraction(weight * self.size, self.total * pattern.total * pattern.orders)
            for weight, pattern in self.parts
        )

    def probability(self, response: int, *, given: int) -> Fraction:
        part = self._part(response)
        if part is None:
            return Fraction(0)
        level = sum(each >> given & 1 for each in self._nested(response))
        return self._units[part] * self.parts[part].pattern.levels[level].weight

    def _first_response(self, pattern: LikelihoodPattern) -> int:
        """Return the order in which the first categories have the highest levels."""
        return sum(
            ((1 << size) - 1) << start
            for size, start in zip(
                pattern.nested, range(0, self.n_bits, self.size), strict=True
            )
        )

    @property
    def witness(self) -> Witness:
        widest = max(
            (part.pattern for part in self.parts), key=lambda pattern: pattern.odds
        )
        return Witness(self._first_response(widest), 0, self.size - 1)

    def merged_rows(self, max_written: int) -> MergedRows:  # noqa: ARG002 - of any size
        return [
            (
                (self._first_response(pattern),),
                {
                    Fraction(level.weight)
                    for level in pattern.levels
                    if level.categories
                },
            )
            for _, pattern in self.parts
        ]

    @property
    def separations(self) -> tuple[tuple[Fraction, Fraction], ...]:
        return tuple(
            (high * weight / self.total, low * weight / self.total)
            for weight, pattern in self.parts
            for high, low in pattern.separations
        )

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ: that of each pattern, on average."""
        check_gamma(gamma)
        return (
            exact.total(
                weight * pattern.excess(gamma) for weight, pattern in self.parts
            )
            / self.total
        )

    @property
    def coding(self) -> PackedPatterns:
        from deniable.channel.coding import PackedPatterns

        return PackedPatterns(self)

    @property
    def cells(self) -> int:
        """Number of counts in a tally: for each pattern its count, then one for each bit."""
        return len(self.parts) * (self.n_bits + 1)

    def cells_of(self, response: int) -> Iterable[int]:
        """Return the cells in which a response counts: that of its pattern, and those of its bits beside it."""
        part = self._part(response)
        assert part is not None
        start = part * (self.n_bits + 1)
        return [
            start,
            *(start + 1 + j for j in range(self.n_bits) if response >> j & 1),
        ]

    @cached_property
    def steps(self) -> int:
        """Number of others that are dealt."""
        return min(self.size - 1, max(shape[0] for shape in self.shapes))

    def draw(self, given: int, source: Source = SYSTEM) -> int:
        sums = tuple(accumulate(part.weight for part in self.parts))
        levels = self.parts[
            bisect_right(sums, chance.below(self.total, source))
        ].pattern.levels
        stretches = tuple(
            accumulate(level.categories * level.weight for level in levels)
        )
        own = bisect_right(stretches, chance.below(stretches[-1], source))
        order = _deal(self.size - 1, self.steps, source)
        response, start = 0, 0
        members: list[int] = []
        for number in range(len(levels) - 1, 0, -1):
            end = start + levels[number].categories - (number == own)
            members += [other + (other >= given) for other in order[start:end]]
            members += [given] * (number == own)
            start = end
            response |= (
                sum(1 << member for member in members) << (number - 1) * self.size
            )
        return response

    def to_body(self) -> dict[str, Any]:
        return {
            "kind": self.KIND,
            "size": self.size,
            "total": str(self.total),
            "parts": [
                {
                    "weight": str(weight),
                    "levels": [
                        {"categories": level.categories, "weight": str(level.weight)}
                        for level in pattern.levels
                    ],
                }
                for weight, pattern in self.parts
            ],
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Patterns:
        parts = tuple(
            Weighted(documents.integer_field(entry, "weight"), _read_pattern(entry))
            for entry in documents.entries(body, "parts", "part", dict)
        )
        size, total = (
            documents.integer_field(body, name) for name in ("size", "total")
        )
        return cls(size, parts, total)


def _read_pattern(entry: Mapping[str, Any]) -> LikelihoodPattern:
    return LikelihoodPattern(
        tuple(
            LikelihoodLevel(
                *(
                    documents.integer_field(level, name)
                    for name in LikelihoodLevel._fields
                )
            )
            for level in documents.entries(entry, "levels", "level", dict)
        )
    )


def _lowest(pattern: LikelihoodPattern) -> LikelihoodPattern:
    """Divide the weights of a pattern by what they have in common."""
    common = math.gcd(*(level.weight for level in pattern.levels))
    return LikelihoodPattern(
        tuple(LikelihoodLevel(n, weight // common) for n, weight in pattern.levels)
    )


def _deal(others: int, steps: int, source: Source) -> list[int]:
    """Return the first so many of the others in a random order, each order equally likely."""
    order = list(range(others))
    for step in range(steps):
        pick = step + chance.below(others - step, source)
        order[step], order[pick] = order[pick], order[step]
    return order[:steps]
