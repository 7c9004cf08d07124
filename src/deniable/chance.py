"""Sources of random bytes, and the one exact draw that everything else is made of.

The contract (docs/draws.md), the same for the scalar draw here, the vectorized engines and the browser:

- A *word* is eight bytes of the source, read as an unsigned little-endian integer.
- `bits(words)` takes so many words as one integer, the first the *least* significant.
- `below(total)` takes as many words as `words_for(total)` says, the first the most significant, as one integer u
  below 2^(64·words). Where u ≥ scale·total with scale = ⌊2^(64·words) / total⌋ the words are thrown away and new
  ones are taken; otherwise the result is ⌊u / scale⌋, which is uniform on 0 … total−1 without any remainder.

- `choose(sums)` reads words as the digits of a real number in base 2^64, the first right behind the point, until it is
  clear in which stretch of [0, 1) the number lies; `happens(probability)` is the same with two stretches. One word
  decides, but once in about 2^64 draws.

A design built from an ε has a total of 2^64, or a power of two below it where all its weights are even: one word,
never thrown away; its highest bits are the result.
"""

from __future__ import annotations

import math
import secrets
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from deniable.errors import OutOfRandomness

WORD = 8
"""Bytes in a word."""

TOTAL = 1 << 64
"""The total of the integer weights of a design built from an ε: one word decides one draw."""

_RARE = 40  # a draw is thrown away with probability below 2^-40


class Source(Protocol):
    """Source of random bytes."""

    def read(self, count: int) -> bytes:
        """Return `count` fresh random bytes."""
        ...


class SystemSource:
    """The operating system's source of secure random bytes: the default of every scalar draw."""

    def read(self, count: int) -> bytes:
        """Return fresh bytes from the operating system."""
        return secrets.token_bytes(count)


class ScriptedSource:
    """Exactly the bytes it is given, for tests and vectors; never a source of privacy.

    Example:
        >>> ScriptedSource(b"abcdefgh").read(4)
        b'abcd'
    """

    def __init__(self, script: bytes) -> None:
        self._script = script
        self._used = 0

    def read(self, count: int) -> bytes:
        """Return the next bytes of the script.

        Raises:
            OutOfRandomness: when the script is shorter.
        """
        chunk = self._script[self._used : self._used + count]
        if len(chunk) < count:
            raise OutOfRandomness(
                f"the script holds {len(self._script)} bytes; expected at least {self._used + count}."
            )
        self._used += count
        return chunk

    @property
    def used(self) -> int:
        """Number of bytes that were read."""
        return self._used


SYSTEM: Source = SystemSource()


def words_for(total: int) -> int:
    """Return the number of words that `below(total)` reads: the fewest with almost no rejections.

    Example:
        >>> words_for(10), words_for(TOTAL), words_for(TOTAL + 1)
        (1, 1, 2)
    """
    words = 1
    while (1 << 64 * words) % total >= 1 << (64 * words - _RARE):
        words += 1
    return words


def below(total: int, source: Source = SYSTEM) -> int:
    """Return an integer from 0 to total − 1, each with probability exactly 1/total.

    Why: the accepted u are 0 … scale·total − 1, and each result owns `scale` of them.

    Raises:
        OutOfRandomness: the source returns fewer bytes than asked for, which would make the draw predictable.
    """
    words = words_for(total)
    scale = (1 << 64 * words) // total
    while True:
        number = 0
        for _ in range(words):
            number = number << 64 | bits(1, source)
        if number < scale * total:
            return number // scale


def pick(size: int, count: int, source: Source = SYSTEM) -> tuple[int, ...]:
    """Draw so many of 0 … size − 1, every choice equally likely; return them rising.

    One `below` numbers the choices in the order of `itertools.combinations`.

    Example:
        >>> [pick(4, 2, ScriptedSource(bytes(7) + bytes([byte]))) for byte in (0, 0x2B, 0xFF)]
        [(0, 1), (0, 2), (2, 3)]
    """
    number = below(math.comb(size, count), source)
    picks: list[int] = []
    for candidate in range(size):
        holding = (
            math.comb(size - candidate - 1, count - len(picks) - 1)
            if len(picks) < count
            else 0
        )
        if number < holding:
            picks.append(candidate)
        else:
            number -= holding
    return tuple(picks)


def happens(probability: Fraction, source: Source = SYSTEM) -> bool:
    """Draw an event that has exactly this probability, whatever its denominator.

    Why: a uniform real number is revealed word by word, as the digits behind its point in base 2^64. It lies below the
    probability as soon as a digit is smaller than the probability's own, above it as soon as one is larger. Only equal
    digits ask for another word.

    Raises:
        OutOfRandomness: the source returns fewer bytes than asked for.

    Example:
        >>> [happens(Fraction(1, 3), ScriptedSource(bytes([byte] * 8))) for byte in (0, 0x54, 0x56, 255)]
        [True, True, False, False]
    """
    remainder, denominator = probability.numerator, probability.denominator
    while True:
        digit, remainder = divmod(remainder << 64, denominator)
        word = bits(1, source)
        if word != digit or not remainder:
            return word < digit


def choose(sums: Sequence[int], source: Source = SYSTEM) -> int:
    """Return a place in a list, place i with probability exactly (sums[i] − sums[i − 1]) / sums[−1].

    Args:
        sums: running sums of whole weights, the last one positive.
        source: random bytes.

    Why: as in `happens`, a uniform real number is revealed word by word, until all numbers that begin like it lie in
    the stretch of one place. How long the weights are does not matter.

    Raises:
        OutOfRandomness: the source returns fewer bytes than asked for.

    Example:
        >>> [choose([1, 1, 3], ScriptedSource(bytes([byte] * 8))) for byte in (0, 0x54, 0x56, 255)]
        [0, 0, 2, 2]
    """
    total, number, shift = sums[-1], 0, 0
    while True:
        number, shift = number << 64 | bits(1, source), shift + 64
        index = bisect_right(sums, number * total >> shift)
        if sums[index] << shift >= (number + 1) * total:
            return index


def spare(words: int, source: Source = SYSTEM) -> None:
    """Take words and forget them, so that a draw takes as many whatever it turns out to be.

    Raises:
        OutOfRandomness: the source returns fewer bytes than asked for.
    """
    bits(words, source)


def bits(words: int, source: Source = SYSTEM) -> int:
    """Return as many words as one integer of random bits, the first word the *least* significant: a coin each.

    Raises:
        OutOfRandomness: the source returns fewer bytes than asked for.
    """
    chunk = source.read(WORD * words)
    if len(chunk) != WORD * words:
        raise OutOfRandomness(
            f"the source returned {len(chunk)} bytes; expected {WORD * words}."
        )
    return int.from_bytes(chunk, "little")
