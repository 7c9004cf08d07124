"""Two levels: a response *supports* some answers, and has one probability given these and another given all others.

All mechanisms in use for many categories are of this form: the category itself (diagonal), a row of a Hadamard matrix,
a hash and a value, and a set of categories (`channel.sets`). They differ in which answers a response supports. How
often a response supports the answer, p, and how often it supports any one other category, q, say all that an estimate
of the shares needs: it is (share of responses that support j − q) / (p − q).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable import chance
from deniable.chance import SYSTEM, Source
from deniable.channel.base import (
    Channel,
    MergedRows,
    Witness,
    check_gamma,
    check_total,
    lowest_terms,
)
from deniable.channel.fields import digits_of, field
from deniable.errors import InvalidDesign

if TYPE_CHECKING:
    from deniable.channel.support import Matrix, Support, Vector


def same_sizes(channel: Channel, other: Channel) -> bool:
    """Return whether two channels are of one kind, and of the same sizes."""
    return type(channel) is type(other) and all(
        getattr(channel, name) == getattr(other, name) for name in channel.SIZES
    )


class TwoLevel(Channel):
    """A channel whose responses support some answers each.

    A kind brings which answers a response supports, its two levels, how often support hits the answer or strays,
    and the draw; and where it knows one a faster way to count support.

    Attributes:
        size: how many categories there are.
    """

    size: int

    @property
    def two_level(self) -> TwoLevel:
        """This channel."""
        return self

    @property
    def answers(self) -> int:
        return self.size

    @abstractmethod
    def supports(self, response: int, answer: int) -> bool:
        """Whether a response supports an answer."""

    def supporters(self, response: int) -> int:
        """Return the number of answers that a response supports."""
        return sum(self.supports(response, answer) for answer in range(self.answers))

    @abstractmethod
    def levels(self, response: int) -> tuple[Fraction, Fraction]:
        """Return the probability of a response given each answer that it supports, and given each other one."""

    @property
    @abstractmethod
    def p_true(self) -> Fraction:
        """p: how often a response supports the answer."""

    @property
    @abstractmethod
    def p_false(self) -> Fraction:
        """q: how often a response supports any one category that is not the answer."""

    @property
    def joint(self) -> tuple[Fraction, Fraction] | None:
        """Probabilities that a response supports the answer and another category, and two others; None if they vary."""
        return None

    @property
    def support(self) -> Support:
        """Support counts of the answers from the cells of a tally; here by a table."""
        from deniable.channel.support import SupportTable

        return SupportTable.from_channel(self)

    def float_levels(self) -> tuple[Vector | float, Vector | float]:
        """Return the lower level of each response as floats, and the difference of the levels; one entry if all are
        equal.
        """
        from deniable.channel.support import level_arrays

        return level_arrays(
            [self.levels(response) for response in range(self.responses)]
        )

    def probability(self, response: int, *, given: int) -> Fraction:
        return self.levels(response)[not self.supports(response, given)]

    def extremes(
        self, response: int, *, besides: int | None = None
    ) -> tuple[Fraction, Fraction]:
        levels_and_counts = zip(
            self.levels(response),
            self._support_counts(response, besides),
            strict=True,
        )
        levels = [level for level, answers in levels_and_counts if answers]
        return max(levels), min(levels)

    def _support_counts(self, response: int, besides: int | None) -> tuple[int, int]:
        """Return the number of answers (besides one) that a response supports, and the number that it does not."""
        hits = self.supporters(response)
        misses = self.answers - hits
        if besides is None:
            return hits, misses
        is_supported = self.supports(response, besides)
        return hits - is_supported, misses - (not is_supported)


class TwoWeights(TwoLevel):
    """A two-level channel whose responses all have the same two weights, and whose answers are all alike.

    Each answer is supported by equally many responses, and any two answers are told apart by equally many.
    """

    @property
    def weights(self) -> tuple[int, int]:
        """The weight of a response given an answer that it supports, and given another."""
        large, small = (getattr(self, name) for name in self.WEIGHTS)
        return large, small

    @property
    @abstractmethod
    def backing(self) -> int:
        """Number of responses that support an answer."""

    @property
    @abstractmethod
    def apart(self) -> int:
        """Number of responses that support one answer and not another, for any pair."""

    @cached_property
    def total(self) -> int:
        """The sum of each column's weights."""
        large, small = self.weights
        return self.backing * large + (self.responses - self.backing) * small

    def levels(self, response: int) -> tuple[Fraction, Fraction]:  # noqa: ARG002 - the same for all
        large, small = self.weights
        return Fraction(large, self.total), Fraction(small, self.total)

    @property
    def p_true(self) -> Fraction:
        """The probability that a response supports the true answer."""
        return Fraction(self.backing * self.weights[0], self.total)

    @property
    def p_false(self) -> Fraction:
        large, small = self.weights
        return Fraction(
            (self.backing - self.apart) * large + self.apart * small, self.total
        )

    def has_supports_of(self, other: Channel) -> bool:
        return same_sizes(self, other)

    @property
    def separations(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Those of the responses that support the one answer and not the other."""
        large, small = (
            Fraction(self.apart * weight, self.total) for weight in self.weights
        )
        return ((large, small),)

    def merged_rows(self, max_written: int) -> MergedRows | None:  # noqa: ARG002 - of any size
        values = set(self.extremes(0))
        return [((0,) if len(values) > 1 else tuple(range(self.responses)), values)]

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ: two answers differ in as many responses as tell them apart, one way or the other."""
        check_gamma(gamma)
        larger, smaller = max(self.weights), min(self.weights)
        return self.apart * max(Fraction(0), larger - gamma * smaller) / self.total

    def float_levels(self) -> tuple[float, float]:
        large, small = self.weights
        return small / self.total, (large - small) / self.total

    def floats(self) -> Matrix:
        from deniable.channel.support import two_level_floats

        return two_level_floats(*self.float_levels(), self.support)

    def _check_weights(self, *, inverted: bool = False) -> None:
        """Refuse fewer than two categories and weights that do not fit, then take the weights in lowest terms."""
        if self.size < 2:
            raise InvalidDesign(
                f"there are {self.size} categories; expected at least 2."
            )
        (large, small), (more, less) = self.weights, self.WEIGHTS
        if inverted and (large < 0 or small < 1):
            raise InvalidDesign(
                f"the weights are {large} ({more}) and {small} ({less}); expected {more} ≥ 0 and {less} ≥ 1.",
                "Without weight on the other categories every response gives the answer away.",
            )
        if not inverted and not large > small >= 1:
            raise InvalidDesign(
                f"the weights are {large} ({more}) and {small} ({less}); expected {more} > {less} ≥ 1."
            )
        lowest_terms(self, *self.WEIGHTS)
        check_total(self.total)


@dataclass(frozen=True)
class Diagonal(TwoWeights):
    """The γ-diagonal channel: the answer itself with weight `same`, each of the size − 1 others with weight `other`.

    The draw: `position = below(total)` and `q = position // other`. For q < size − 1 the response is the q-th of
    the other categories, that is q, or q + 1 where q ≥ answer; for all higher positions it is the answer.
    """

    KIND: ClassVar[str] = "diagonal"
    SIZES: ClassVar[tuple[str, ...]] = ("size",)
    WEIGHTS: ClassVar[tuple[str, ...]] = ("same", "other")
    exchangeable: ClassVar[bool] = True
    backing: ClassVar[int] = 1
    apart: ClassVar[int] = 1
    size: int
    same: int
    other: int

    def __post_init__(self) -> None:
        self._check_weights(inverted=True)

    @property
    def responses(self) -> int:
        return self.size

    def as_sets(self) -> Channel:
        from deniable.channel.sets import Subset

        return Subset(self.size, 1, self.same, self.total)

    @property
    def set_size(self) -> int:
        """One: each response is a category."""
        return 1

    def supports(self, response: int, answer: int) -> bool:
        return response == answer

    def supporters(self, response: int) -> int:  # noqa: ARG002 - itself alone
        return 1

    @property
    def joint(self) -> tuple[Fraction, Fraction]:
        """A response supports one category alone."""
        return Fraction(0), Fraction(0)

    @property
    def support(self) -> Support:
        from deniable.channel.support import Each

        return Each(self.size)

    @property
    def witness(self) -> Witness:
        return Witness(0, 0, 1) if self.same >= self.other else Witness(0, 1, 0)

    def draw(self, given: int, source: Source = SYSTEM) -> int:
        q = chance.below(self.total, source) // self.other
        if q >= self.size - 1:
            return given
        return q + (q >= given)

    def __matmul__(self, first: Channel) -> Channel:
        """Compose; two diagonal channels of one size give a diagonal one."""
        if not isinstance(first, Diagonal) or first.size != self.size:
            return super().__matmul__(first)
        same = self.same * first.same + (self.size - 1) * self.other * first.other
        off_diagonal = (
            self.same * first.other
            + self.other * first.same
            + (self.size - 2) * self.other * first.other
        )
        # Two answers swapped twice: the identity, which only a table holds.
        return (
            Diagonal(self.size, same, off_diagonal)
            if off_diagonal
            else super().__matmul__(first)
        )


@dataclass(frozen=True)
class Hadamard(TwoWeights):
    """Hadamard response: answer x is column x + 1 of the Hadamard matrix of order K, response r is row r + 1.

    K is the smallest power of two above `size`. A response supports x where the entry is +1, that is where i and x + 1
    have an even number of binary ones in common: then it has weight `large`, and `small` where the entry is −1. Row 0,
    which is +1 everywhere and so says nothing, is left out: a column holds K/2 − 1 large weights and K/2 small ones.

    The draw: `position = below(total)`. The first (K/2 − 1)·large positions belong to the rows with +1, `large` to
    each in rising order, all others to the rows with −1, `small` to each.
    """

    KIND: ClassVar[str] = "hadamard"
    SIZES: ClassVar[tuple[str, ...]] = ("size",)
    WEIGHTS: ClassVar[tuple[str, ...]] = ("large", "small")
    size: int
    large: int
    small: int

    def __post_init__(self) -> None:
        self._check_weights()

    @property
    def order(self) -> int:
        """K, the order of the Hadamard matrix."""
        return 1 << self.size.bit_length()

    @property
    def half(self) -> int:
        """K/2, the number of rows in which a column is −1."""
        return self.order // 2

    @property
    def responses(self) -> int:
        """Number of responses: all rows but the first."""
        return self.order - 1

    @property
    def backing(self) -> int:
        return self.half - 1

    @property
    def apart(self) -> int:
        """Number of rows that are +1 in one column and −1 in another: K/4 for any pair."""
        return self.half // 2

    def supports(self, response: int, answer: int) -> bool:
        return not _has_odd_overlap(response + 1, answer + 1)

    def supporters(self, response: int) -> int:
        return (
            _count_positive_columns(response + 1, self.size + 1) - 1
        )  # column 0 is nobody's

    @property
    def support(self) -> Support:
        from deniable.channel.support import HadamardRows

        return HadamardRows(self.size, self.order)

    def merged_rows(self, max_written: int) -> MergedRows | None:
        if self.size == 2 < self.responses:
            return None
        # A row is constant for no three answers, and no two rows are alike: columns 1, 2 and 4 … tell them apart, and
        # no row is −1 in columns 1, 2 and 3 at once.
        return super().merged_rows(max_written)

    @property
    def witness(self) -> Witness:
        """Response and pair of answers that attain the parity: row 2 is +1 in column 1, −1 in column 2."""
        return Witness(1, 0, 1)

    def draw(self, given: int, source: Source = SYSTEM) -> int:
        position = chance.below(self.total, source)
        edge = (self.half - 1) * self.large
        if position < edge:
            return row_of(position // self.large + 1, given + 1, odd=False) - 1
        return row_of((position - edge) // self.small, given + 1, odd=True) - 1


def row_of(number: int, column: int, *, odd: bool) -> int:
    """Return the number-th row, counted from 0, that has an even (odd) number of ones in common with a column.

    Why: below the column's lowest one all bits are free; that bit is decided by those above it; and those are free.
    So the rows in rising order are the numbers with that one bit put in.

    Example:
        >>> [row_of(j, 0b110, odd=False) for j in range(4)], [row_of(j, 0b110, odd=True) for j in range(4)]
        ([0, 1, 6, 7], [2, 3, 4, 5])
    """
    bit = column & -column
    row = (number & -bit) << 1 | number & (bit - 1)
    return row | bit if _has_odd_overlap(row, column) != odd else row


def _has_odd_overlap(row: int, column: int) -> bool:
    """Whether row and column have an odd number of ones in common: the entry is −1."""
    return bool((row & column).bit_count() & 1)


def _count_positive_columns(row: int, end: int) -> int:
    """Return the number of columns below `end` in which a row is +1.

    Why: 0 … end − 1 falls into stretches of 2^b columns, one for each one in `end`, in which the first bits are fixed
    and b bits run through everything. If the row has a one among these b, half of the stretch is +1, else all or none.
    """
    excess = 0
    for bit in range(end.bit_length()):
        if end >> bit & 1 and not row & ((1 << bit) - 1):
            start = end >> (bit + 1) << (bit + 1)
            excess += -(1 << bit) if _has_odd_overlap(row, start) else 1 << bit
    return (end + excess) // 2


@dataclass(frozen=True)
class Hashing(TwoWeights):
    """Local hashing: a public hash drawn at random, and the hashed answer through a small diagonal channel.

    Each hash is a linear form over the field of q values (`fields`): h_a(x) = Σ aᵢxᵢ, with digits in base q. An answer
    has m digits, the fewest that do. The forms are those whose highest coefficient other than 0 is 1, in rising order
    of Σ aᵢqⁱ: N = (q^m − 1)/(q − 1) of them, no two of which are multiples of each other. Two different answers have
    the same value under exactly (q^(m−1) − 1)/(q − 1) of them, whichever answers they are.

    A response is hash·q + value, and supports the answers with this value under this hash. The value is h(x) with
    weight `same`, each of the q − 1 others with weight `other`.

    The draw: `position = below(total)`, `hash, rest = divmod(position, total / N)`, and the value from `rest` as in a
    diagonal channel: with d = rest // other it is the d-th of the other values, or h(x) where d ≥ q − 1.
    """

    KIND: ClassVar[str] = "hashing"
    SIZES: ClassVar[tuple[str, ...]] = ("size", "values")
    WEIGHTS: ClassVar[tuple[str, ...]] = ("same", "other")
    size: int
    values: int
    same: int
    other: int

    def __post_init__(self) -> None:
        field(self.values)
        self._check_weights()

    @property
    def digits(self) -> int:
        """m, the number of digits of an answer in base q."""
        return digits_of(self.size - 1, self.values)

    @property
    def hashes(self) -> int:
        """N, the number of hashes."""
        power: int = self.values**self.digits
        return (power - 1) // (self.values - 1)

    @property
    def collisions(self) -> int:
        """Number of hashes under which two different answers collide."""
        # q·N' + 1 = N, where N' counts the hashes of one digit less
        return self.hashes // self.values

    @property
    def responses(self) -> int:
        """Number of pairs of a hash and a value."""
        return self.hashes * self.values

    @property
    def backing(self) -> int:
        return self.hashes

    @property
    def apart(self) -> int:
        """Number of hashes under which two different answers have different values: q^(m−1)."""
        return self.hashes - self.collisions

    @property
    def per_hash(self) -> int:
        """The sum of the weights of one hash."""
        return self.same + (self.values - 1) * self.other

    def form(self, number: int) -> int:
        """Return the coefficients of a hash, as the digits of one integer in base q."""
        start, power = 0, 1
        while number >= start + power:
            start, power = start + power, power * self.values
        return number - start + power

    def hashed(self, number: int, answer: int) -> int:
        """Return the hash value of an answer.

        Example:
            >>> channel = Hashing(9, 3, 2, 1)
            >>> [[channel.hashed(number, x) for x in range(9)] for number in range(2)]
            [[0, 1, 2, 0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1, 2, 2, 2]]
        """
        form, value, over = self.form(number), 0, field(self.values)
        while form and answer:
            form, a = divmod(form, self.values)
            answer, x = divmod(answer, self.values)
            value = over.plus(value, over.times(a, x))
        return value

    def supports(self, response: int, answer: int) -> bool:
        number, value = divmod(response, self.values)
        return self.hashed(number, answer) == value

    def supporters(self, response: int) -> int:
        """Return the number of answers with a given value under a hash.

        Why: 0 … size − 1 falls into stretches in which the first digits are fixed and the last b run through
        everything. If the form has a coefficient among these b, every value is equally frequent, else there is one.
        """
        number, value = divmod(response, self.values)
        form, q, n_supporters, prefix = self.form(number), self.values, 0, 0
        for b in reversed(range(self.digits)):
            power = q**b
            digit = self.size // power % q
            if form % power:
                n_supporters += digit * (power // q)
            else:
                n_supporters += power * sum(
                    self.hashed(number, prefix + d * power) == value
                    for d in range(digit)
                )
            prefix += digit * power
        # A size of q^m exactly has all its digits above the m that were looked at.
        return n_supporters if prefix == self.size else self.size // q

    @property
    def support(self) -> Support:
        from deniable.channel.support import Forms

        return Forms(self.size, self.values, self.digits)

    def merged_rows(self, max_written: int) -> MergedRows | None:
        if self.answers * self.responses <= max_written:
            return None
        # Every hash but the first digit has every value; the first digit has those that answers begin with.
        rows = [((0,), set(map(Fraction, self.weights)))]
        first = self.hashes - self.apart
        if self.size <= (self.values - 1) * self.apart:
            rows.append((((first + 1) * self.values - 1,), {Fraction(1)}))
        return rows

    @property
    def witness(self) -> Witness:
        """A response and a pair of answers that attain the parity: the first hash is the last digit."""
        return Witness(0, 0, 1)

    def draw(self, given: int, source: Source = SYSTEM) -> int:
        number, remainder = divmod(chance.below(self.total, source), self.per_hash)
        true, d = self.hashed(number, given), remainder // self.other
        value = true if d >= self.values - 1 else d + (d >= true)
        return number * self.values + value
