"""Several channels side by side: one answer to each, one response from each, drawn independently."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

from deniable import chance, documents, exact
from deniable.channel.base import Channel, Witness
from deniable.errors import InvalidDesign

if TYPE_CHECKING:
    from deniable.channel.support import Matrix


@dataclass(frozen=True)
class Product(Channel):
    """The Kronecker product of its factors; numbers count in mixed radix, the last factor fastest.

    The draw: each factor draws in turn, the first one first.
    """

    KIND: ClassVar[str] = "product"
    factors: tuple[Channel, ...]

    def __post_init__(self) -> None:
        if len(self.factors) < 2:
            raise InvalidDesign(
                f"a product of {len(self.factors)} channels; expected at least 2."
            )

    @property
    def answers(self) -> int:
        return math.prod(factor.answers for factor in self.factors)

    @property
    def responses(self) -> int:
        return math.prod(factor.responses for factor in self.factors)

    @cached_property
    def product(self) -> Product:
        """This channel."""
        return self

    def split_answer(self, answer: int) -> tuple[int, ...]:
        """Return the answer to each factor."""
        return mixed_radix_digits(
            answer, [factor.answers for factor in self.factors]
        )

    def split_response(self, response: int) -> tuple[int, ...]:
        """Return the response of each factor."""
        return mixed_radix_digits(
            response, [factor.responses for factor in self.factors]
        )

    def probability(self, response: int, *, given: int) -> Fraction:
        factors = zip(
            self.factors,
            self.split_response(response),
            self.split_answer(given),
            strict=True,
        )
        return exact.product(
            factor.probability(i, given=j) for factor, i, j in factors
        )

    def extremes(
        self, response: int, *, besides: int | None = None
    ) -> tuple[Fraction, Fraction]:
        """Return the largest and the smallest probability of a response over all answers (besides one).

        Why: an answer other than the excluded one differs from it in at least one factor; the rest is free.
        """
        factor_responses = list(
            zip(self.factors, self.split_response(response), strict=True)
        )
        free = [factor.extremes(i) for factor, i in factor_responses]
        if besides is None:
            candidates = [free]
        else:
            excluded = self.split_answer(besides)
            candidates = [
                [*free[:f], factor.extremes(i, besides=excluded[f]), *free[f + 1 :]]
                for f, (factor, i) in enumerate(factor_responses)
            ]
        largest = max(
            exact.product(high for high, _ in candidate) for candidate in candidates
        )
        smallest = min(
            exact.product(low for _, low in candidate) for candidate in candidates
        )
        return largest, smallest

    @property
    def witness(self) -> Witness:
        witnesses = [factor.witness for factor in self.factors]
        return Witness(
            join(
                [w.response for w in witnesses],
                [factor.responses for factor in self.factors],
            ),
            join(
                [w.likely for w in witnesses],
                [factor.answers for factor in self.factors],
            ),
            join(
                [w.unlikely for w in witnesses],
                [factor.answers for factor in self.factors],
            ),
        )

    def floats(self) -> Matrix:
        from deniable.channel.support import kronecker

        return kronecker([factor.floats() for factor in self.factors])

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        factor_responses = [
            factor.draw(answer, source)
            for factor, answer in zip(
                self.factors, self.split_answer(given), strict=True
            )
        ]
        return join(factor_responses, [factor.responses for factor in self.factors])

    def to_body(self) -> dict[str, Any]:
        return {
            "kind": self.KIND,
            "factors": [factor.to_body() for factor in self.factors],
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Product:
        from deniable.channel import from_body

        entries = documents.entries(body, "factors", "factor", dict)
        return cls(tuple(map(from_body, entries)))


def mixed_radix_digits(number: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the digits of an integer in mixed radix, the last one fastest.

    Example:
        >>> mixed_radix_digits(5, [2, 3]), join([1, 2], [2, 3])
        ((1, 2), 5)
    """
    digits = []
    for size in reversed(sizes):
        number, digit = divmod(number, size)
        digits.append(digit)
    return tuple(reversed(digits))


def join(digits: Sequence[int], sizes: Sequence[int]) -> int:
    """Return the number with these digits in mixed radix: the inverse of `mixed_radix_digits`."""
    number = 0
    for digit, size in zip(digits, sizes, strict=True):
        number = number * size + digit
    return number


def combinations(labels: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return a label for each combination, in the order of the numbers.

    Example:
        >>> combinations([["a", "b"], ["x", "y"]])
        ('a · x', 'a · y', 'b · x', 'b · y')
    """
    return tuple(" · ".join(combination) for combination in product(*labels))
