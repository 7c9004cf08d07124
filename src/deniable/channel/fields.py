"""Finite fields for hashes that are linear forms: integers modulo a prime, and p^r ≤ 256 values with r ≥ 2.

An element of the field of q = p^r values is a number below q: its r digits in base p are the coefficients of a
polynomial, the lowest first. Sums are taken digit by digit, products modulo the polynomial of `POWERS`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from deniable import exact
from deniable.errors import InvalidDesign, quoted

MAX_VALUES = 1 << 31
"""Values of a field; the products of two of them fit into a word."""

POWERS = {
    4: (2, 7), 8: (2, 11), 16: (2, 19), 32: (2, 37), 64: (2, 67), 128: (2, 131), 256: (2, 283),
    9: (3, 10), 27: (3, 34), 81: (3, 86), 243: (3, 250), 25: (5, 27), 125: (5, 131),
    49: (7, 50), 121: (11, 122), 169: (13, 171),
}  # fmt: skip
"""For each q = p^r with r ≥ 2 the prime p and the polynomial of degree r, as a number in base p.

It is the smallest one that is no product of others. Beyond 256 primes lie close enough to every number.
"""


@dataclass(frozen=True, slots=True)
class Field:
    """A finite field.

    Attributes:
        values: q, how many elements there are.
        prime: p, of which q is a power.
        polynomial: modulo which products are taken; 0 where q is prime.
    """

    EXPECTED: ClassVar[str] = (
        "a prime below 2^31, or a power of a prime up to 256, such as 2, 3, 4, 5, 7, 8 or 9"
    )
    values: int
    prime: int
    polynomial: int

    @property
    def degree(self) -> int:
        """r, the number of digits of an element in base p."""
        return digits_of(self.values - 1, self.prime)

    def plus(self, a: int, b: int) -> int:
        """Return the sum of two elements.

        Example:
            >>> field(9).plus(5, 7), field(5).plus(3, 4)
            (0, 2)
        """
        p, total, power = self.prime, 0, 1
        while a or b:
            total += (a + b) % p * power
            a, b, power = a // p, b // p, power * p
        return total

    def times(self, a: int, b: int) -> int:
        """Return the product of two elements.

        Why: where the first is a + b·X, the product is a·two + b·(X·two), and X·two has degree r at most: it is taken
        modulo the polynomial by its highest digit.

        Example:
            >>> field(4).times(2, 3), field(9).times(3, 3), field(5).times(3, 4)
            (1, 2, 2)
        """
        p, product = self.prime, 0
        if not self.polynomial:
            return a * b % p
        while a:
            product = self.plus(product, self._scale_digits(b, a % p))
            a, b = a // p, b * p
            b = self.plus(
                b, self._scale_digits(self.polynomial, p - b // self.values)
            )
        return product

    def _scale_digits(self, element: int, digit: int) -> int:
        """Multiply each digit of an element by a digit."""
        p, product, power = self.prime, 0, 1
        while element:
            product += element * digit % p * power
            element, power = element // p, power * p
        return product


def field(values: int) -> Field:
    """Return the field of so many values.

    Raises:
        InvalidDesign: no prime, and no power of one up to 256.
    """
    if not is_field(values):
        raise InvalidDesign(
            f"values is {quoted(values)}; expected {Field.EXPECTED}."
        )
    return Field(values, *POWERS.get(values, (values, 0)))


def is_field(values: object) -> bool:
    """Whether there is a field of so many values here."""
    return exact.is_whole(values, 2, MAX_VALUES - 1) and (
        values in POWERS or is_prime(values)
    )


@lru_cache
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


def digits_of(number: int, base: int) -> int:
    """Return the number of digits of a number in a base, at least one.

    Example:
        >>> digits_of(8, 3), digits_of(9, 3), digits_of(0, 2)
        (2, 3, 1)
    """
    digits = 1
    while number >= base:
        number, digits = number // base, digits + 1
    return digits
