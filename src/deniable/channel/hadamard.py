"""Hadamard response: rows of a Hadamard matrix as responses, in constant memory for any number of answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable import chance, documents
from deniable.channel.base import Channel, Witness, check_gamma, check_total
from deniable.errors import InvalidDesign


@dataclass(frozen=True)
class Hadamard(Channel):
    """Answer x is column x + 1 of the Hadamard matrix of order K, the smallest power of two above `size`.

    A response r is row i = r + 1; it has weight `large` where the entry is +1, that is where i and x + 1 have an even
    number of binary ones in common, and `small` where it is −1. Row 0, which is +1 everywhere and so says nothing, is
    left out: a column holds K/2 − 1 large weights and K/2 small ones.

    The draw: `position = below(total)`. The first (K/2 − 1)·large positions belong to the rows with +1, `large` to
    each in rising order, all others to the rows with −1, `small` to each.
    """

    KIND: ClassVar[str] = "hadamard"
    size: int
    large: int
    small: int

    def __post_init__(self) -> None:
        if self.size < 2:
            raise InvalidDesign(f"there are {self.size} categories; expected at least 2.")
        if not self.large > self.small >= 1:
            raise InvalidDesign(
                f"the weights are {self.large} (large) and {self.small} (small); expected large > small ≥ 1."
            )
        common = math.gcd(self.large, self.small)
        object.__setattr__(self, "large", self.large // common)
        object.__setattr__(self, "small", self.small // common)
        check_total(self.total)

    @property
    def order(self) -> int:
        """K, the order of the Hadamard matrix."""
        return 1 << self.size.bit_length()

    @property
    def half(self) -> int:
        """K/2: how many rows of a column are −1."""
        return self.order // 2

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return self.size

    @property
    def responses(self) -> int:
        """How many responses there are: all rows but the first."""
        return self.order - 1

    @property
    def total(self) -> int:
        """The sum of each column's weights."""
        return (self.half - 1) * self.large + self.half * self.small

    def probability(self, response: int, *, given: int) -> Fraction:
        """Return the exact probability of a response given an answer."""
        return Fraction(self.small if _odd(response + 1, given + 1) else self.large, self.total)

    def extremes(self, response: int, *, besides: int | None = None) -> tuple[Fraction, Fraction]:
        """Return the largest and the smallest probability of a response over all answers (besides one)."""
        row = response + 1
        even = _even_below(row, self.size + 1) - 1  # column 0 is nobody's
        odd = self.size - even
        if besides is not None:
            own = _odd(row, besides + 1)
            even, odd = even - (not own), odd - own
        largest, smallest = self.large if even else self.small, self.small if odd else self.large
        return Fraction(largest, self.total), Fraction(smallest, self.total)

    @property
    def witness(self) -> Witness:
        """A response and a pair of answers that attain the parity: row 2 is +1 in column 1 and −1 in column 2."""
        return Witness(1, 0, 1)

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ: in K/4 rows one column is +1 and the other −1, whichever two they are."""
        check_gamma(gamma)
        return self.half // 2 * max(Fraction(0), self.large - gamma * self.small) / self.total

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a response to an answer."""
        position = chance.below(self.total, source)
        edge = (self.half - 1) * self.large
        if position < edge:
            return row_of(position // self.large + 1, given + 1, odd=False) - 1
        return row_of((position - edge) // self.small, given + 1, odd=True) - 1

    def to_body(self) -> dict[str, Any]:
        """Return the channel for JSON."""
        return {"kind": self.KIND, "size": self.size, "large": str(self.large), "small": str(self.small)}

    @classmethod
    def from_body(cls, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Channel]) -> Hadamard:  # noqa: ARG003 - no channels inside
        """Read what `to_body` wrote."""
        return cls(documents.whole(body, "size"), documents.whole(body, "large"), documents.whole(body, "small"))


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
    return row | bit if _odd(row, column) != odd else row


def _odd(row: int, column: int) -> bool:
    """Whether row and column have an odd number of ones in common: the entry is −1."""
    return bool((row & column).bit_count() & 1)


def _even_below(row: int, end: int) -> int:
    """Return how many columns below `end` are +1 in a row.

    Why: 0 … end − 1 falls into stretches of 2^b columns, one for each one in `end`, in which the first bits are fixed
    and b bits run through everything. If the row has a one among these b, half of the stretch is +1, else all or none.
    """
    excess = 0
    for bit in range(end.bit_length()):
        if end >> bit & 1 and not row & ((1 << bit) - 1):
            start = end >> (bit + 1) << (bit + 1)
            excess += -(1 << bit) if _odd(row, start) else 1 << bit
    return (end + excess) // 2
