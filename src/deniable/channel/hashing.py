"""Local hashing: a public hash drawn at random, and the hashed answer through a small diagonal channel."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from deniable import chance, documents
from deniable.channel.base import Channel, Witness, check_gamma, check_total
from deniable.errors import InvalidDesign

MOST_VALUES = 1 << 31
"""Hash values; the products of two of them fit into a word."""


@dataclass(frozen=True)
class Hashing(Channel):
    """Each hash is a linear form over the integers modulo a prime: h_a(x) = Σ aᵢxᵢ mod q, with digits in base q.

    An answer x has m digits, the fewest that do. The forms are those whose highest coefficient other than 0 is 1, in
    rising order of Σ aᵢqⁱ: N = (q^m − 1)/(q − 1) of them, no two of which are multiples of each other. Two different
    answers have the same value under exactly (q^(m−1) − 1)/(q − 1) of them, whichever answers they are.

    A response is hash·q + value. The value is h(x) with weight `same`, each of the q − 1 others with weight `other`.

    The draw: `position = below(total)`, `hash, rest = divmod(position, total / N)`, and the value from `rest` as in a
    diagonal channel: with d = rest // other it is the d-th of the other values, or h(x) where d ≥ q − 1.
    """

    KIND: ClassVar[str] = "hashing"
    size: int
    values: int
    same: int
    other: int

    def __post_init__(self) -> None:
        if self.size < 2:
            raise InvalidDesign(f"there are {self.size} categories; expected at least 2.")
        if not 2 <= self.values < MOST_VALUES or not is_prime(self.values):
            raise InvalidDesign(
                f"there are {self.values:,} hash values; expected a prime below 2^31.",
                f"For example {next_prime(max(2, min(self.values, MOST_VALUES // 2))):,}.",
            )
        if not self.same > self.other >= 1:
            raise InvalidDesign(
                f"the weights are {self.same} (same) and {self.other} (other); expected same > other ≥ 1."
            )
        common = math.gcd(self.same, self.other)
        object.__setattr__(self, "same", self.same // common)
        object.__setattr__(self, "other", self.other // common)
        check_total(self.total)

    @property
    def digits(self) -> int:
        """m: how many digits an answer has in base q."""
        return digits_of(self.size - 1, self.values)

    @property
    def hashes(self) -> int:
        """N: how many hashes there are."""
        power: int = self.values**self.digits
        return (power - 1) // (self.values - 1)

    @property
    def collisions(self) -> int:
        """Under how many of the hashes two different answers have the same value."""
        return self.hashes // self.values  # q·N' + 1 = N, where N' counts the hashes of one digit less

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return self.size

    @property
    def responses(self) -> int:
        """How many pairs of a hash and a value there are."""
        return self.hashes * self.values

    @property
    def per_hash(self) -> int:
        """The sum of the weights of one hash."""
        return self.same + (self.values - 1) * self.other

    @property
    def total(self) -> int:
        """The sum of each column's weights."""
        return self.hashes * self.per_hash

    def form(self, number: int) -> int:
        """Return the coefficients of a hash, as the digits of one integer in base q."""
        start, power = 0, 1
        while number >= start + power:
            start, power = start + power, power * self.values
        return number - start + power

    def hashed(self, number: int, answer: int) -> int:
        """Return the value of an answer under a hash.

        Example:
            >>> channel = Hashing(9, 3, 2, 1)
            >>> [[channel.hashed(number, x) for x in range(9)] for number in range(2)]
            [[0, 1, 2, 0, 1, 2, 0, 1, 2], [0, 0, 0, 1, 1, 1, 2, 2, 2]]
        """
        form, value = self.form(number), 0
        while form and answer:
            form, a = divmod(form, self.values)
            answer, x = divmod(answer, self.values)
            value += a * x
        return value % self.values

    def probability(self, response: int, *, given: int) -> Fraction:
        """Return the exact probability of a response given an answer."""
        number, value = divmod(response, self.values)
        return Fraction(self.same if self.hashed(number, given) == value else self.other, self.total)

    def extremes(self, response: int, *, besides: int | None = None) -> tuple[Fraction, Fraction]:
        """Return the largest and the smallest probability of a response over all answers (besides one)."""
        number, value = divmod(response, self.values)
        hits = self.supporters(number, value)
        misses = self.size - hits
        if besides is not None:
            own = self.hashed(number, besides) == value
            hits, misses = hits - own, misses - (not own)
        largest, smallest = self.same if hits else self.other, self.other if misses else self.same
        return Fraction(largest, self.total), Fraction(smallest, self.total)

    def supporters(self, number: int, value: int) -> int:
        """Return how many answers have a value under a hash.

        Why: 0 … size − 1 falls into stretches in which the first digits are fixed and the last b run through
        everything. If the form has a coefficient among these b, every value is equally frequent, else there is one.
        """
        form, q, found, prefix = self.form(number), self.values, 0, 0
        for b in reversed(range(self.digits)):
            power = q**b
            digit = self.size // power % q
            if form % power:
                found += digit * (power // q)
            else:
                found += power * sum(self.hashed(number, prefix + d * power) == value for d in range(digit))
            prefix += digit * power
        # A size of q^m exactly has all its digits above the m that were looked at.
        return found if prefix == self.size else self.size // q

    @property
    def witness(self) -> Witness:
        """A response and a pair of answers that attain the parity: the first hash is the last digit."""
        return Witness(0, 0, 1)

    def delta(self, gamma: Fraction) -> Fraction:
        """Return the exact δ: two answers differ under q^(m−1) hashes, whichever two they are."""
        check_gamma(gamma)
        apart = self.hashes - self.collisions  # q^(m−1)
        return apart * max(Fraction(0), self.same - gamma * self.other) / self.total

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a hash and a value."""
        number, rest = divmod(chance.below(self.total, source), self.per_hash)
        true, d = self.hashed(number, given), rest // self.other
        value = true if d >= self.values - 1 else d + (d >= true)
        return number * self.values + value

    def to_body(self) -> dict[str, Any]:
        """Return the channel for JSON."""
        weights = {"same": str(self.same), "other": str(self.other)}
        return {"kind": self.KIND, "size": self.size, "values": self.values, **weights}

    @classmethod
    def from_body(cls, body: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Channel]) -> Hashing:  # noqa: ARG003 - no channels inside
        """Read what `to_body` wrote."""
        return cls(*(documents.whole(body, name) for name in ("size", "values", "same", "other")))


def digits_of(number: int, base: int) -> int:
    """Return how many digits a number has in a base, at least one.

    Example:
        >>> digits_of(8, 3), digits_of(9, 3), digits_of(0, 2)
        (2, 3, 1)
    """
    digits = 1
    while number >= base:
        number, digits = number // base, digits + 1
    return digits


def is_prime(number: int) -> bool:
    """Whether a number is prime, by trial division: numbers here are below 2^31."""
    return number >= 2 and all(number % d for d in range(2, math.isqrt(number) + 1))


def next_prime(number: int) -> int:
    """Return the smallest prime that is not below a number.

    Example:
        >>> next_prime(14), next_prime(2)
        (17, 2)
    """
    while not is_prime(number):
        number += 1
    return number
