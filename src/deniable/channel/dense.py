"""A channel written out as a table of integer weights."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, permutations
from typing import Any, ClassVar

from deniable import chance, documents, exact
from deniable.channel.base import Channel, Witness, check_gamma, check_total
from deniable.errors import InvalidDesign


@dataclass(frozen=True)
class Dense(Channel):
    """Integer weights, a row for each response and a column for each answer; every column adds up to `total`.

    The draw: `position = below(total)`, and the response is the row in whose stretch of its column's running sums
    the position falls.
    """

    KIND: ClassVar[str] = "dense"
    weights: tuple[tuple[int, ...], ...]
    total: int

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.weights}
        if len(self.weights) < 2 or len(widths) != 1 or min(widths) < 2:
            raise InvalidDesign(
                f"the table has {len(self.weights)} rows of {sorted(widths)} numbers; "
                "expected at least 2 responses (rows) and 2 answers (columns), each row of equal length."
            )
        check_total(self.total)
        for j, column in enumerate(zip(*self.weights, strict=True)):
            if min(column) < 0:
                raise InvalidDesign(
                    f"column {j} holds a negative probability; expected 0 or more."
                )
            if sum(column) != self.total:
                missing = 1 - Fraction(sum(column), self.total)
                raise InvalidDesign(
                    f"the probabilities in column {j} sum to {1 - missing}; expected exactly 1.",
                    f"Add {missing} to one of them. Columns are answers: P[response][answer].",
                )
        common = math.gcd(
            self.total, *(weight for row in self.weights for weight in row)
        )
        if common > 1:
            object.__setattr__(
                self,
                "weights",
                tuple(tuple(w // common for w in r) for r in self.weights),
            )
            object.__setattr__(self, "total", self.total // common)

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Fraction]]) -> Dense:
        """Build from a table of probabilities, P[response][answer]."""
        total = (
            math.lcm(*(cell.denominator for row in rows for cell in row))
            if rows
            else 1
        )
        return cls(
            tuple(tuple(int(cell * total) for cell in row) for row in rows), total
        )

    @property
    def answers(self) -> int:
        return len(self.weights[0])

    @property
    def responses(self) -> int:
        return len(self.weights)

    @property
    def rows(self) -> tuple[tuple[Fraction, ...], ...]:
        """The probabilities, a row for each response."""
        return tuple(
            tuple(Fraction(weight, self.total) for weight in row)
            for row in self.weights
        )

    @cached_property
    def sums(self) -> tuple[tuple[int, ...], ...]:
        """Running sums of each column: the integers that a drawn position is compared with."""
        return tuple(
            tuple(accumulate(column)) for column in zip(*self.weights, strict=True)
        )

    def probability(self, response: int, *, given: int) -> Fraction:
        return Fraction(self.weights[response][given], self.total)

    def extremes(
        self, response: int, *, besides: int | None = None
    ) -> tuple[Fraction, Fraction]:
        row = [
            weight for j, weight in enumerate(self.weights[response]) if j != besides
        ]
        return Fraction(max(row), self.total), Fraction(min(row), self.total)

    @cached_property
    def witness(self) -> Witness:
        # A row that never occurs attains nothing, and would hide the other factors of a product behind 0/0.
        rows = (i for i, row in enumerate(self.weights) if any(row))
        best = max(rows, key=lambda i: exact.parity(self.weights[i]))
        row = self.weights[best]
        return Witness(best, row.index(max(row)), row.index(min(row)))

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ; time grows with answers² × responses."""
        check_gamma(gamma)
        up, down = gamma.numerator, gamma.denominator
        columns = tuple(zip(*self.weights, strict=True))
        excess = max(
            sum(
                max(0, down * a - up * b) for a, b in zip(first, second, strict=True)
            )
            for first, second in permutations(columns, 2)
        )
        return Fraction(excess, down * self.total)

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        return bisect_right(self.sums[given], chance.below(self.total, source))

    def dense(self) -> Dense:
        return self

    def after(self, first: Dense) -> Dense:
        """Return the channel that sends the response of `first` through this one."""
        columns = tuple(zip(*first.weights, strict=True))
        rows = tuple(
            tuple(sum(map(int.__mul__, row, column)) for column in columns)
            for row in self.weights
        )
        return Dense(rows, self.total * first.total)

    def merged(self) -> tuple[Dense, tuple[tuple[int, ...], ...]]:
        """Add up proportional rows and drop rows that never occur; also return which rows went into which.

        Why: two responses whose rows are proportional say the same about every answer, so nothing is lost.
        """
        groups = tuple(map(tuple, self.proportional_rows().values()))
        return Dense(tuple(map(self.sum_rows, groups)), self.total), groups

    def proportional_rows(self) -> dict[tuple[int, ...], list[int]]:
        """Return the responses that say the same, by what they say: their rows up to a common factor."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for i, row in enumerate(self.weights):
            if any(row):
                shape = tuple(weight // math.gcd(*row) for weight in row)
                groups.setdefault(shape, []).append(i)
        return groups

    def sum_rows(self, responses: Iterable[int]) -> tuple[int, ...]:
        """Return the weights of several responses together, one for each answer."""
        rows = (self.weights[i] for i in responses)
        return tuple(map(sum, zip(*rows, strict=True)))

    def to_body(self) -> dict[str, Any]:
        weights = [[str(weight) for weight in row] for row in self.weights]
        return {"kind": self.KIND, "total": str(self.total), "weights": weights}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Dense:
        weights = tuple(
            tuple(
                documents.integer_field({"weight": cell}, "weight") for cell in row
            )
            for row in documents.entries(body, "weights", "row", list)
        )
        return cls(weights, documents.integer_field(body, "total"))
