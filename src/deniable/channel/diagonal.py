"""The γ-diagonal channel: one weight on the diagonal, another everywhere else, in constant memory."""

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
class Diagonal(Channel):
    """The answer itself with weight `same`, each of the size − 1 others with weight `other`.

    The draw: `position = below(total)` and `q = position // other`. For q < size − 1 the response is the q-th of
    the other categories, that is q, or q + 1 where q ≥ answer; for all higher positions it is the answer.
    """

    KIND: ClassVar[str] = "diagonal"
    size: int
    same: int
    other: int

    def __post_init__(self) -> None:
        if self.size < 2:
            raise InvalidDesign(f"there are {self.size} categories; expected at least 2.")
        if self.same < 0 or self.other < 1:
            raise InvalidDesign(
                f"the weights are {self.same} (same) and {self.other} (other); expected same ≥ 0 and other ≥ 1.",
                "Without weight on the other categories every response gives the answer away.",
            )
        common = math.gcd(self.same, self.other)
        object.__setattr__(self, "same", self.same // common)
        object.__setattr__(self, "other", self.other // common)
        check_total(self.total)

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return self.size

    @property
    def responses(self) -> int:
        """How many responses there are."""
        return self.size

    @property
    def total(self) -> int:
        """The sum of each column's weights."""
        return self.same + (self.size - 1) * self.other

    def probability(self, response: int, *, given: int) -> Fraction:
        """Return the exact probability of a response given an answer."""
        return Fraction(self.same if response == given else self.other, self.total)

    def extremes(self, response: int, *, besides: int | None = None) -> tuple[Fraction, Fraction]:
        """Return the largest and the smallest probability of a response over all answers (besides one)."""
        weights = {self.same, self.other}
        if besides == response:
            weights = {self.other}
        elif besides is not None and self.size == 2:
            weights = {self.same}
        return Fraction(max(weights), self.total), Fraction(min(weights), self.total)

    @property
    def witness(self) -> Witness:
        """A response and a pair of answers that attain the parity."""
        return Witness(0, 0, 1) if self.same >= self.other else Witness(0, 1, 0)

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ: two answers differ in two responses, of which one has the larger excess."""
        check_gamma(gamma)
        larger, smaller = max(self.same, self.other), min(self.same, self.other)
        return max(Fraction(0), larger - gamma * smaller) / self.total

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a response to an answer."""
        q = chance.below(self.total, source) // self.other
        if q >= self.size - 1:
            return given
        return q + (q >= given)

    def __matmul__(self, first: Channel) -> Channel:
        """Compose; two diagonal channels of one size give a diagonal one."""
        if not isinstance(first, Diagonal) or first.size != self.size:
            return super().__matmul__(first)
        same = self.same * first.same + (self.size - 1) * self.other * first.other
        other = self.same * first.other + self.other * first.same + (self.size - 2) * self.other * first.other
        # Two answers swapped twice: the identity, which only a table holds.
        return Diagonal(self.size, same, other) if other else super().__matmul__(first)

    def to_body(self) -> dict[str, Any]:
        """Return the channel for JSON."""
        return {"kind": self.KIND, "size": self.size, "same": str(self.same), "other": str(self.other)}

    @classmethod
    def from_body(cls, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Channel]) -> Diagonal:  # noqa: ARG003 - no channels inside
        """Read what `to_body` wrote."""
        return cls(documents.whole(body, "size"), documents.whole(body, "same"), documents.whole(body, "other"))
