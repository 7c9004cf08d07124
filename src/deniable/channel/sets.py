"""Channels whose responses are sets of categories.

A response is a number whose bit j says whether category j is in the set, and supports the categories in it. No category
is treated unlike another, so all that an answer decides is whether it lies in the set: every set of one size has the
same probability given each answer inside it, and the same given each answer outside it. Nothing is ever written out.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from deniable import chance, documents, exact
from deniable.chance import SYSTEM, Source
from deniable.channel.base import (
    Channel,
    MergedRows,
    Witness,
    check_gamma,
    check_total,
    lowest_terms,
)
from deniable.channel.two_level import TwoLevel, same_sizes
from deniable.errors import InvalidDesign, UnreadableFile, quoted
from deniable.exact import Ratio

if TYPE_CHECKING:
    from deniable.channel.coding import PackedRows
    from deniable.channel.support import Matrix, Support, Vector

MAX_CATEGORIES = 1 << 24
"""Beyond this a single response takes megabytes; up to it each pick that fills a set takes one word."""

_MAX_ONES = 1 << 15  # of sets whose number is written out: 2^32,768 and more

MAX_COUNTED_APART = 12
"""Categories up to which a tally counts each set of them apart, and so loses nothing: 4,096 counts, 32 kB."""

MAX_BY_SIZE = 2_000
"""Categories up to which a tally counts every size of set apart, even where each can be sent: 32 MB of counts."""

MAX_CELLS = (MAX_BY_SIZE + 1) ** 2
"""Cells of a tally by size: a row for each size from 0 on, with a count for each category beside that of the sets."""

DIGITS = 8
"""Binary digits of a probability that are decided for all bits at once; one bit in 256 is open after them."""


class Sets(TwoLevel):
    """A channel from categories to sets of them.

    A tally of few categories counts each set apart, which keeps all that the responses say; a tally of many keeps sums.
    """

    @property
    @abstractmethod
    def sizes(self) -> Sequence[int]: ...

    @abstractmethod
    def weight(self, ones: int) -> Fraction:
        """Return the probability that a set of this size is sent, which is the same for every answer."""

    @abstractmethod
    def inclusion(self, ones: int) -> Fraction:
        """Return the probability that the answer is in the set, given the size of the set."""

    @property
    def n_bits(self) -> int:
        """Number of bits of a response: one for each category."""
        return self.size

    @property
    def responses(self) -> int:
        """Number of sets, including those that are never sent."""
        return 1 << self.size

    def possible(self, response: int) -> bool:
        return 0 <= response < self.responses and response.bit_count() in self.sizes

    def supports(self, response: int, answer: int) -> bool:
        return bool(response >> answer & 1)

    def supporters(self, response: int) -> int:
        return response.bit_count()

    def levels(self, response: int) -> tuple[Fraction, Fraction]:
        """Return the probability of a set given each answer inside, and outside; 0 where there is no such answer."""
        ones = response.bit_count()
        if not self.possible(response):
            return Fraction(0), Fraction(0)
        inside = self.level(ones, inside=True) if ones else Fraction(0)
        return inside, self.level(
            ones, inside=False
        ) if ones < self.size else Fraction(0)

    def probability(self, response: int, *, given: int) -> Fraction:
        if not self.possible(response):
            return Fraction(0)
        return self.level(
            response.bit_count(), inside=self.supports(response, given)
        )

    def level(self, ones: int, *, inside: bool) -> Fraction:
        """Return the probability of one single set of a size that can be sent, given an answer inside or outside.

        Raises:
            InvalidDesign: among so many sets that their number takes seconds.
        """
        if min(ones, self.size - ones) > _MAX_ONES:
            raise InvalidDesign(
                f"the sets hold {ones:,} of {self.size:,} categories; expected at most {_MAX_ONES:,}, or all but so "
                "many, to tell the probability of one of them."
            )
        p_included = self.inclusion(ones)
        if inside:
            return (
                self.weight(ones) * p_included / math.comb(self.size - 1, ones - 1)
            )
        return self.weight(ones) * (1 - p_included) / math.comb(self.size - 1, ones)

    def odds(self, ones: int) -> Ratio:
        """Return the probability of a set given an answer inside over that given one outside; 0 < ones < size."""
        p_included = self.inclusion(ones)
        return exact.ratio(p_included * (self.size - ones), (1 - p_included) * ones)

    @property
    def p_true(self) -> Fraction:
        return exact.total(
            self.weight(ones) * self.inclusion(ones) for ones in self.sizes
        )

    @property
    def p_false(self) -> Fraction:
        mean = exact.total(self.weight(ones) * ones for ones in self.sizes)
        return (mean - self.p_true) / (self.size - 1)

    @property
    def joint(self) -> tuple[Fraction, Fraction]:
        k, components = (
            self.size,
            [(ones, self.weight(ones), self.inclusion(ones)) for ones in self.sizes],
        )
        p_both = exact.total(w * p * (t - 1) for t, w, p in components) / (k - 1)
        if k == 2:  # there are no two others, and q² is what makes their term vanish
            return p_both, self.p_false**2
        pairs = exact.total(
            w * (p * (t - 1) * (t - 2) + (1 - p) * t * (t - 1))
            for t, w, p in components
        )
        return p_both, pairs / ((k - 1) * (k - 2))

    @property
    def support(self) -> Support:
        from deniable.channel.support import Each, EachSet, OverSizes

        if self.own_cells:
            return EachSet(self.size)
        return (
            OverSizes(self.size, len(self.sizes))
            if self.by_size
            else Each(self.size)
        )

    def float_levels(self) -> tuple[Vector | float, Vector | float]:
        """Return the lower level of each set as floats, and the difference of the two levels: constant for one size."""
        from deniable.channel.support import level_arrays, set_sizes

        low, step = level_arrays(
            [self.levels((1 << ones) - 1) for ones in range(self.size + 1)]
        )
        sizes = set_sizes(self.size)
        return low[sizes], step[sizes]

    def floats(self) -> Matrix:
        if not self.own_cells:
            return super().floats()
        from deniable.channel.support import two_level_floats

        return two_level_floats(*self.float_levels(), self.support)

    def size_law(self) -> Vector:
        """Return the probability of each size of set in floats; it does not depend on the answer."""
        from deniable.channel.support import round_to_floats

        return round_to_floats([self.weight(ones) for ones in self.sizes])

    def bayes_factors(self, response: int, answer: int) -> tuple[Ratio, Ratio]:
        ones = response.bit_count()
        if not self.possible(response) or not 0 < ones < self.size:
            return Fraction(1), Fraction(1)
        odds = self.odds(ones)
        levels = (
            (Fraction(1), Fraction(0))
            if odds == math.inf
            else (Fraction(odds), Fraction(1))
        )
        p_answer = levels[not self.supports(response, answer)]
        other_levels = [
            level
            for level, answers in zip(
                levels, self._support_counts(response, answer), strict=True
            )
            if answers
        ]
        return exact.ratio(p_answer, max(other_levels)), exact.ratio(
            p_answer, min(other_levels)
        )

    @property
    def witness(self) -> Witness:
        proper = [ones for ones in self.sizes if 0 < ones < self.size]
        if not proper:
            return Witness((1 << self.sizes[0]) - 1, 0, 1)
        ones = max(proper, key=lambda pair: _larger_odds(self.odds(pair)))
        likely, unlikely = (0, ones) if self.odds(ones) >= 1 else (ones, 0)
        return Witness((1 << ones) - 1, likely, unlikely)

    @property
    def parity(self) -> Ratio:
        """The largest ratio of the probabilities of one set given two answers, without writing either out."""
        ones = self.witness.response.bit_count()
        return _larger_odds(self.odds(ones)) if 0 < ones < self.size else Fraction(1)

    def merged_rows(self, max_written: int) -> MergedRows | None:  # noqa: ARG002 - of any size
        return [
            (((1 << ones) - 1,), {Fraction(1), self._odds_or_zero(ones)})
            for ones in self.sorts
        ]

    @property
    def sorts(self) -> Sequence[int]:
        """Sizes that stand for all: any other one has the odds of one of them."""
        return self.sizes

    def _odds_or_zero(self, ones: int) -> Fraction:
        odds = self.odds(ones) if 0 < ones < self.size else Fraction(1)
        return Fraction(0) if odds == math.inf else Fraction(odds)

    @cached_property
    def set_valued(self) -> Sets:
        """This channel."""
        return self

    @property
    def separations(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Those of the sets of each size that hold the one answer and not the other."""
        return tuple(self._separation(ones) for ones in self.sizes)

    def _separation(self, ones: int) -> tuple[Fraction, Fraction]:
        inside, weight = self.inclusion(ones), self.weight(ones) / (self.size - 1)
        return weight * inside * (self.size - ones), weight * (1 - inside) * ones

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ: two answers differ in the sets that hold one of them and not the other."""
        check_gamma(gamma)
        return exact.total(
            self.weight(ones) * self._excess(ones, gamma) for ones in self.sizes
        )

    def _excess(self, ones: int, gamma: Fraction) -> Fraction:
        p_included = self.inclusion(ones)
        # Given the first answer, the set holds it and not the second; and the other way round.
        first, second = p_included * (self.size - ones), (1 - p_included) * ones
        return (
            max(Fraction(0), first - gamma * second)
            + max(Fraction(0), second - gamma * first)
        ) / (self.size - 1)

    @property
    def coding(self) -> PackedRows:
        from deniable.channel.coding import PackedRows

        return PackedRows(self)

    @cached_property
    def own_cells(self) -> bool:
        """Whether a tally counts each set apart: up to twelve categories."""
        return self.size <= MAX_COUNTED_APART

    @property
    def cells(self) -> int:
        """Number of counts in a tally: one per set; for many categories one per category, or per size and category."""
        if self.own_cells:
            return self.responses
        return len(self.sizes) * (self.size + 1) if self.by_size else self.size

    def cells_of(self, response: int) -> Iterable[int]:
        """Return the cells in which a set counts: its own, or those of its categories."""
        if self.own_cells:
            return (response,)
        members = [j for j in range(self.size) if response >> j & 1]
        if not self.by_size:
            return members
        start = self.sizes.index(response.bit_count()) * (self.size + 1)
        return [start, *(start + 1 + j for j in members)]

    def _check_cells(self) -> None:
        if self.cells > MAX_CELLS:
            raise InvalidDesign(
                f"a tally by size of {self.size:,} categories has {self.cells:,} cells; "
                f"expected at most {MAX_CELLS:,}.",
                "Count categories alone (by_size=False), or use subset(), whose sets have one size.",
            )


def _larger_odds(odds: Ratio) -> Ratio:
    if odds in (0, math.inf):
        return math.inf
    return max(odds, 1 / Fraction(odds))


def fill(
    size: int,
    ones: int,
    answer: int,
    source: Source,
    *,
    inside: bool,
    steps: int,
) -> int:
    """Return a set of `ones` categories that holds the answer or not; the others in it are drawn evenly.

    The fewer are drawn: those in the set, or where that is more than half of all, those left out. The others are
    numbered from 0 to size − 2. For `at` from size − 1 − steps to size − 2 take pick = below(at + 1), and put into the
    set `pick`, or `at` where `pick` is already in it. The first picks are passed over so that as many count as others
    are wanted; they are drawn all the same, so that how many words are taken tells nothing about the answer. At last
    room is made for the answer: others from its number on move up by one.

    Why: this is Floyd's sampling of a random subset [BF87]; each subset of the wanted size is equally likely.
    """
    left_out = ones > size - ones
    with_answer = inside != left_out
    n_drawn = min(ones, size - ones) - with_answer
    members_bits = bytearray((size + 7) // 8)
    for upper in range(size - 1 - steps, size - 1):
        pick = chance.below(upper + 1, source)
        if upper < size - 1 - n_drawn:
            continue
        if members_bits[pick >> 3] >> (pick & 7) & 1:
            pick = upper
        members_bits[pick >> 3] |= 1 << (pick & 7)
    others_bits = int.from_bytes(members_bits, "little")
    lower = others_bits & ((1 << answer) - 1)
    members = (others_bits ^ lower) << 1 | with_answer << answer | lower
    return members ^ ((1 << size) - 1) if left_out else members


def check_size(size: int) -> None:
    """Refuse fewer than two categories, or more than a response can hold.

    Raises:
        InvalidDesign: otherwise.
    """
    if not 2 <= size <= MAX_CATEGORIES:
        raise InvalidDesign(
            f"there are {exact.text(size)} categories; expected 2 to {MAX_CATEGORIES:,}."
        )


@dataclass(frozen=True)
class Subset(Sets):
    """The t-subset channel: a random set of `ones` out of `size` categories.

    The answer is in with weight `inside` of `total`, the rest is even. The draw: the answer is in where
    `below(total) < inside`; then the set is filled as `fill` says, in min(ones, size − ones) steps.
    """

    KIND: ClassVar[str] = "subset"
    SIZES: ClassVar[tuple[str, ...]] = ("size", "ones")
    WEIGHTS: ClassVar[tuple[str, ...]] = ("inside", "total")
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
            raise InvalidDesign(
                f"the weight inside is {self.inside}; expected 0 to the total of {self.total}."
            )
        lowest_terms(self, *self.WEIGHTS)

    def has_supports_of(self, other: Channel) -> bool:
        return same_sizes(self, other)

    def uniform(self) -> Channel:
        return Subset(self.size, self.ones, self.ones, self.size)

    @property
    def set_size(self) -> int:
        """The size of every set."""
        return self.ones

    @property
    def sizes(self) -> Sequence[int]:
        return range(self.ones, self.ones + 1)

    @property
    def sets(self) -> int:
        """m_t, the number of sets that the t-subset design can send."""
        return math.comb(self.size, self.ones)

    @property
    def steps(self) -> int:
        """Number of draws that fill a set."""
        return min(self.ones, self.size - self.ones)

    def weight(self, ones: int) -> Fraction:
        return Fraction(ones == self.ones)

    def inclusion(self, ones: int) -> Fraction:  # noqa: ARG002 - there is one size
        return Fraction(self.inside, self.total)

    def draw(self, given: int, source: Source = SYSTEM) -> int:
        inside = chance.below(self.total, source) < self.inside
        return fill(
            self.size, self.ones, given, source, inside=inside, steps=self.steps
        )


@dataclass(frozen=True)
class Bits(Sets):
    """Independent bits: the answer's own is 1 with weight `hit` of `total`, every other one with weight `stray`.

    The draw: eight times as many words as hold a coin for each bit (`chance.bits`). A bit is decided by the first of
    the eight coins that is 1: by the i-th, it becomes the i-th binary digit of its probability. Each bit that is then
    still open, from the lowest up, is 1 where `below(total)` is less than the rest of its probability's digits.

    Why: the i-th coin is the first with probability 2^-i, so that the digits add up to exactly the probability. How
    many words are taken depends on the coins alone, never on the answer.
    """

    KIND: ClassVar[str] = "bits"
    SIZES: ClassVar[tuple[str, ...]] = ("size",)
    WEIGHTS: ClassVar[tuple[str, ...]] = ("hit", "stray", "total")
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
                raise InvalidDesign(
                    f"the weight {name} is {getattr(self, name)}; expected 0 to {self.total}."
                )
        lowest_terms(self, *self.WEIGHTS)
        if self.sized:
            self._check_cells()

    @property
    def by_size(self) -> bool:
        return self.sized and not self.own_cells

    @property
    def sizes(self) -> Sequence[int]:
        """The sizes of the sets that can be sent: all of them, unless a weight is 0 or the total."""
        fewest = (self.size - 1) * (self.stray == self.total) + (
            self.hit == self.total
        )
        max_ones = (self.size - 1) * (self.stray > 0) + (self.hit > 0)
        return range(fewest, max_ones + 1)

    @property
    def sorts(self) -> Sequence[int]:
        sizes = self.sizes
        # the odds of all sets are the same, but for none and all of the categories
        return sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})

    @property
    def bitwise(self) -> Bits:
        """This channel."""
        return self

    @property
    def separations(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Those of the bit of the one answer without that of the other."""
        hit, stray = self.p_true, self.p_false
        return ((hit * (1 - stray), stray * (1 - hit)),)

    def digits(self, weight: int) -> tuple[int, int]:
        """Return the first eight binary digits of a weight's probability as one number, and the weight of the rest.

        Example:
            >>> Bits(2, 3, 1, 4).digits(3), Bits(2, 3, 1, 4).digits(4)
            ((192, 0), (255, 4))
        """
        # 1 is 0.1111… here, not 1.0000…
        head = min((weight << DIGITS) // self.total, (1 << DIGITS) - 1)
        return head, (weight << DIGITS) - head * self.total

    def weight(self, ones: int) -> Fraction:
        inside = (
            math.comb(self.size - 1, ones - 1) * self.level(ones, inside=True)
            if ones
            else Fraction(0)
        )
        outside = (
            math.comb(self.size - 1, ones) * self.level(ones, inside=False)
            if ones < self.size
            else Fraction(0)
        )
        return inside + outside

    def inclusion(self, ones: int) -> Fraction:
        if not 0 < ones < self.size:
            return Fraction(bool(ones))
        # Of all sets of one size, ones of size hold a given category: the odds say how much more often they are sent.
        inside, outside = self._own_odds()
        n_ones = ones * inside + (self.size - ones) * outside
        return (
            Fraction(ones * inside, n_ones) if n_ones else Fraction(ones, self.size)
        )

    def level(self, ones: int, *, inside: bool) -> Fraction:
        answer_weight = self.hit if inside else self.total - self.hit
        strays = ones - inside
        other_weight = self.stray**strays * (self.total - self.stray) ** (
            self.size - 1 - strays
        )
        return Fraction(answer_weight * other_weight, self.total**self.size)

    def odds(self, ones: int) -> Ratio:  # noqa: ARG002 - the same for every size
        return exact.ratio(*self._own_odds())

    @property
    def p_true(self) -> Fraction:
        return Fraction(self.hit, self.total)

    @property
    def p_false(self) -> Fraction:
        return Fraction(self.stray, self.total)

    @property
    def joint(self) -> tuple[Fraction, Fraction]:
        """Bits are independent."""
        return self.p_true * self.p_false, self.p_false**2

    def size_law(self) -> Vector:
        """Return the probability of each size; exact ones of a thousand bits have tens of thousands of digits."""
        from deniable.channel.support import bit_count_law

        return bit_count_law(
            self.size, self.hit / self.total, self.stray / self.total, self.sizes
        )

    def _own_odds(self) -> tuple[int, int]:
        return self.hit * (self.total - self.stray), self.stray * (
            self.total - self.hit
        )

    @property
    def witness(self) -> Witness:
        """A set and a pair of answers that attain the parity: one bit alone, or all but one."""
        if self.hit > self.stray:
            return Witness(1, 0, 1)
        return Witness(
            (1 << self.size) - 2
            if self.hit < self.stray
            else (1 << self.sizes[0]) - 1,
            0,
            1,
        )

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ: of two answers only their own two bits tell, and only where these differ."""
        check_gamma(gamma)
        inside, outside = self._own_odds()
        return (
            max(Fraction(0), inside - gamma * outside, outside - gamma * inside)
            / self.total**2
        )

    def draw(self, given: int, source: Source = SYSTEM) -> int:
        words, every, answer_bit = (
            -(-self.size // 64),
            (1 << self.size) - 1,
            1 << given,
        )
        (hit, hit_rest), (stray, stray_rest) = (
            self.digits(self.hit),
            self.digits(self.stray),
        )
        bits, undecided = 0, every
        for digit in reversed(range(DIGITS)):
            now = chance.bits(words, source) & undecided
            undecided ^= now
            if stray >> digit & 1:
                bits |= now & ~answer_bit
            if hit >> digit & 1:
                bits |= now & answer_bit
        while undecided:
            lowest = undecided & -undecided
            remainder = hit_rest if lowest == answer_bit else stray_rest
            bits |= lowest * (chance.below(self.total, source) < remainder)
            undecided ^= lowest
        return bits

    def to_body(self) -> dict[str, Any]:
        tally = "by size" if self.sized else "by category"
        return {**super().to_body(), "tally": tally}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Bits:
        tally = documents.field(body, "tally", str)
        if tally not in ("by size", "by category"):
            raise UnreadableFile(
                f"the tally is {quoted(tally)}; expected 'by size' or 'by category'."
            )
        return replace(super().from_body(body), sized=tally == "by size")


class Part(NamedTuple):
    """Component of a mixture: a set size, its weight, and the weight with which such a set holds the answer."""

    ones: int
    weight: int
    inside: int


@dataclass(frozen=True)
class Mixture(Sets):
    """A mixture of t-subset channels: first the size, which does not look at the answer, then the set.

    `parts` names each size with its weight and the weight of the answer being in.

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
        sizes = [component.ones for component in self.parts]
        if (
            sizes != sorted(set(sizes))
            or not sizes
            or not 0 <= sizes[0] <= sizes[-1] <= self.size
        ):
            raise InvalidDesign(
                f"the sizes of sets are not all different, rising, and from 0 to {self.size}."
            )
        weights = [component.weight for component in self.parts]
        if min(weights) < 1 or sum(weights) != self.total:
            raise InvalidDesign(
                "the weights of the sizes do not add up; expected positive ones with sum 1."
            )
        if any(self._ill_filled(component) for component in self.parts):
            raise InvalidDesign(
                "an answer is in a set more or less often than there is room for."
            )
        insides = (component.inside for component in self.parts)
        common = math.gcd(self.total, *weights, *insides)
        lowest = tuple(
            Part(ones, weight // common, inside // common)
            for ones, weight, inside in self.parts
        )
        object.__setattr__(self, "parts", lowest)
        object.__setattr__(self, "total", self.total // common)
        self._check_cells()

    def _ill_filled(self, component: Part) -> bool:
        lowest = self.total if component.ones == self.size else 0
        highest = 0 if component.ones == 0 else self.total
        return not lowest <= component.inside <= highest

    @property
    def by_size(self) -> bool:
        """True: a category in a small set is stronger evidence than one in a large set, so sizes are counted apart."""
        return not self.own_cells

    @cached_property
    def sizes(self) -> Sequence[int]:
        return tuple(component.ones for component in self.parts)

    @cached_property
    def steps(self) -> int:
        """Number of draws that fill a set: the maximum over the components."""
        return max(
            min(component.ones, self.size - component.ones)
            for component in self.parts
        )

    @cached_property
    def sums(self) -> tuple[int, ...]:
        """Running sums of the weights: the integers that a drawn position is compared with."""
        return tuple(accumulate(component.weight for component in self.parts))

    @cached_property
    def _by_size(self) -> dict[int, Part]:
        return {component.ones: component for component in self.parts}

    def weight(self, ones: int) -> Fraction:
        return Fraction(self._by_size[ones].weight, self.total)

    def inclusion(self, ones: int) -> Fraction:
        return Fraction(self._by_size[ones].inside, self.total)

    def draw(self, given: int, source: Source = SYSTEM) -> int:
        component = self.parts[
            bisect_right(self.sums, chance.below(self.total, source))
        ]
        inside = chance.below(self.total, source) < component.inside
        return fill(
            self.size, component.ones, given, source, inside=inside, steps=self.steps
        )

    def to_body(self) -> dict[str, Any]:
        components = [
            {
                "ones": component.ones,
                "weight": str(component.weight),
                "inside": str(component.inside),
            }
            for component in self.parts
        ]
        return {
            "kind": self.KIND,
            "size": self.size,
            "total": str(self.total),
            "parts": components,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Mixture:
        parts = tuple(
            Part(*(documents.integer_field(entry, name) for name in Part._fields))
            for entry in documents.entries(body, "parts", "part", dict)
        )
        size, total = (
            documents.integer_field(body, name) for name in ("size", "total")
        )
        return cls(size, parts, total)
