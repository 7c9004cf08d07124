"""The fields that hashes are made of: the laws of a field, and one polynomial for each that needs one."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from deniable.channel.fields import POWERS, Field, field, is_prime

SMALL = [q for q in range(2, 28) if q in POWERS or is_prime(q)]


@pytest.mark.parametrize("q", SMALL)
def test_the_laws_of_a_field(q: int) -> None:
    over, every = field(q), range(q)
    for a, b in product(every, repeat=2):
        assert over.plus(a, b) == over.plus(b, a)
        assert over.times(a, b) == over.times(b, a)
    for a in every:
        assert (over.plus(a, 0), over.times(a, 1), over.times(a, 0)) == (a, a, 0)
        assert sorted(over.plus(a, b) for b in every) == [*every]
        if a:
            assert sorted(over.times(a, b) for b in every) == [*every]
    for a, b, c in product(every[-9:], every, every[:9]):
        assert over.plus(a, over.plus(b, c)) == over.plus(over.plus(a, b), c)
        assert over.times(a, over.times(b, c)) == over.times(over.times(a, b), c)
        assert over.times(a, over.plus(b, c)) == over.plus(
            over.times(a, b), over.times(a, c)
        )


@pytest.mark.parametrize("q", POWERS)
def test_nothing_but_zero_divides_zero(q: int) -> None:
    over = field(q)
    for a in {1, over.prime, over.prime + 1, q // 2, q - 1}:
        assert sorted(over.times(a, b) for b in range(q)) == [*range(q)]


def test_there_is_a_field_for_each_power_of_a_prime_up_to_256() -> None:
    def is_power(q: int) -> bool:
        prime = next(d for d in range(2, q + 1) if q % d == 0)
        return prime ** field(q).degree == q if q in POWERS else q == prime

    assert [q for q in range(2, 257) if is_power(q)] == [
        q for q in range(2, 257) if q in POWERS or is_prime(q)
    ]
    assert len(POWERS) == 16
    assert [field(q).prime for q in (4, 9, 25, 49, 121, 169, 7)] == [
        2,
        3,
        5,
        7,
        11,
        13,
        7,
    ]


@pytest.mark.parametrize("q", POWERS)
def test_the_polynomial_is_the_smallest_that_is_no_product(q: int) -> None:
    prime, polynomial = POWERS[q]
    r = field(q).degree
    products = {
        multiplied(a, b, prime)
        for low in range(1, r // 2 + 1)
        for a in range(prime**low, 2 * prime**low)
        for b in range(prime ** (r - low), 2 * prime ** (r - low))
    }
    assert polynomial == next(
        each for each in range(q, 2 * q) if each not in products
    )


def multiplied(one: int, two: int, prime: int) -> int:
    """Return the product of two polynomials, as numbers in base p."""
    a, b = digits(one, prime), digits(two, prime)
    found = [
        sum(a[i] * b[k - i] for i in range(len(a)) if 0 <= k - i < len(b))
        for k in range(len(a) + len(b) - 1)
    ]
    return sum(each % prime * prime**k for k, each in enumerate(found))


def digits(number: int, base: int) -> list[int]:
    """Return the digits of a number, the lowest first."""
    return [number % base, *digits(number // base, base)] if number else []


def test_products_by_hand() -> None:
    """X·(X + 1) = X² + X = 1 modulo X² + X + 1 over two; X·X = −1 = 2 modulo X² + 1 over three."""
    assert Field(4, 2, 7).times(2, 3) == 1
    assert Field(9, 3, 10).times(3, 3) == 2


def test_the_contract_and_the_browser_name_the_same_polynomials() -> None:
    root = Path(__file__).parents[2]
    told = re.findall(
        r"(\d+): (\d+)(?= [·|])",
        (root / "docs" / "draws.md").read_text(encoding="utf-8"),
    )
    assert {int(q): int(polynomial) for q, polynomial in told} == {
        q: POWERS[q][1] for q in POWERS
    }
    script = (root / "src/deniable/collector/static/draw/channels.js").read_text(
        encoding="utf-8"
    )
    there = re.findall(r"(\d+): \[(\d+)n, (\d+)n\]", script)
    assert {
        int(q): (int(prime), int(polynomial)) for q, prime, polynomial in there
    } == POWERS
