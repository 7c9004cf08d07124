"""Local hashing: many categories hashed to a few values, and one of these sent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from deniable import chance, exact
from deniable.channel.hashing import MOST_VALUES, Hashing, digits_of, is_prime, next_prime
from deniable.design import labels
from deniable.design.design import Design
from deniable.design.labels import Labels, Numbered
from deniable.design.registry import register
from deniable.errors import InvalidDesign

MOST_CELLS = 1 << 24
"""Cells of a tally that a default choice may make: 128 MiB of counts."""


@register(
    {"categories": 5, "epsilon": 1},
    {"categories": ["red", "green", "blue", "white"], "epsilon": 1, "values": 2},
    {"categories": 7, "epsilon": 2, "values": 3},
)
def local_hashing(categories: Labels, epsilon: exact.Rational, *, values: int | None = None) -> Design:
    """Draw a public hash of the categories, and send it with the hashed answer, randomized.

    Its shares vary as little as those of any design can for very many categories, at every ε. A response is one number
    for the pair of hash and value; the hash is drawn without looking at the answer. All shares are estimated together
    by one fast transform: the tally counts pairs, about k·q/(q − 1) of them where k is near a power of q.

    Implements: optimal local hashing (OLH) of [WBL17], with a hash family of our own: the linear forms modulo a prime
    q (a simplex code) in place of random hash functions. Any two categories meet under exactly the same number of
    hashes, so that estimates are unbiased for every answer exactly, not only on average over random hashes.
    `values=2` is binary local hashing, as in [BS15].

    Guarantee: given the hash, exactly the ε of the q-ary diagonal channel on hashed values; integer weights whose ratio
    is at most e^ε and whose sum is at most 2^64, short of it by less than the number of hashes.

    Args:
        categories: labels, or how many there are.
        epsilon: the largest ε.
        values: how many values a hash has, a prime; by default the one near e^ε + 1 with the smallest variance, among
            those whose tally has at most 2^24 cells if there are any.

    Raises:
        InvalidDesign: fewer than two categories, values that are not prime, or an ε that 64-bit weights cannot honour.

    Example:
        >>> design = local_hashing(1_000_000, epsilon=1)
        >>> design.channel.values, design.epsilon, len(design.symbols)
        (3, 0.9999999999996979, 2391483)
    """
    known = labels.read(categories)
    ratio = exact.exp_below(exact.positive_epsilon(epsilon))
    size = len(known)
    q = best_values(size, ratio) if values is None else _checked(values)
    hashes = (q ** digits_of(size - 1, q) - 1) // (q - 1)
    each = chance.TOTAL // hashes
    other = -int(-each / (ratio + q - 1) // 1)
    same = each - (q - 1) * other
    if other < 1 or same <= other:
        raise InvalidDesign(
            f"with {size:,} categories this ε is too fine for weights that sum to 2^64; expected fewer or a larger ε."
        )
    return Design("local_hashing", known, Numbered(hashes * q), Hashing(size, q, same, other))


def best_values(size: int, ratio: Fraction) -> int:
    """Return the prime number of hash values with the smallest variance, among those with a tally that fits.

    Why: n times the variance of the share of a category that nobody has is s(1 − s)/(p − s)², where s is the chance
    that a response supports it. For many categories it is smallest at q = e^ε + 1, and flat there.
    """
    fitting = [q for q in _candidates(size, float(ratio)) if _cells(size, q) <= MOST_CELLS]
    if not fitting:
        return min(_candidates(size, float(ratio)), key=lambda q: _cells(size, q))
    return min(fitting, key=lambda q: (_variance(size, q, float(ratio)), q))


def _candidates(size: int, ratio: float) -> list[int]:
    """Return primes about e^ε + 1, a few in each octave, and the smallest one for each number of digits."""
    largest = next_prime(min(size, MOST_VALUES // 2))
    about: Iterable[float] = ((ratio + 1) * 2 ** (step / 8) for step in range(-24, 25))
    roots: Iterable[float] = (size ** (1 / digits) for digits in range(1, size.bit_length() + 1))
    wanted = {min(max(2, math.floor(each)), largest) for each in (*about, *roots)}
    return sorted({next_prime(each) for each in wanted})


def _cells(size: int, q: int) -> int:
    power: int = q ** digits_of(size - 1, q)
    return (power - 1) // (q - 1) * q


def _variance(size: int, q: int, ratio: float) -> float:
    power: int = q ** digits_of(size - 1, q)
    meet = (power // q - 1) / (power - 1)
    p, r = ratio / (ratio + q - 1), 1 / (ratio + q - 1)
    s = meet * p + (1 - meet) * r
    gap = p - s
    return s * (1 - s) / (gap * gap) if gap * gap > 0 else math.inf  # an ε that no float tells from 0


def _checked(values: int) -> int:
    if isinstance(values, bool) or not isinstance(values, int) or not 2 <= values < MOST_VALUES or not is_prime(values):
        raise InvalidDesign(
            f"values is {values!r:.40}; expected a prime below 2^31, such as 2, 3, 5 or 7.",
            "Leave it out for the one with the smallest variance.",
        )
    return values
