"""Strings as a few bits out of many, other ones in each cohort."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deniable import chance, documents
from deniable.errors import InvalidAnswer, InvalidDesign, InvalidRequest

__all__ = ["GOLDEN", "MIXES", "Bloom", "seed_of"]

GOLDEN = 0x9E3779B97F4A7C15
MIXES = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""The constants of SplitMix64: a step, then twice a shift and a multiplication, then a shift by 31."""

_WORD = (1 << 64) - 1
_MOST_BITS = 1 << 20
_MOST_HASHES = 16
_MOST_COHORTS = 1 << 20


@dataclass(frozen=True)
class Bloom:
    """How a string becomes bits: each hash sets one of them.

    The hash, for whoever writes it again: a seed is the first 8 bytes, little-endian, of BLAKE2b over the string in
    Unicode's NFC and UTF-8. From that seed SplitMix64 draws one word after another. Hash i (from 0) in cohort c takes
    the word number c·hashes + i; the upper 32 bits of it, times `bits`, divided by 2^32, is the place of the bit. Two
    hashes may meet in one place. Nothing about privacy rests on the hash.

    Attributes:
        bits: how many places there are.
        hashes: how many bits a string sets.
        cohorts: how many groups of respondents there are, each with hashes of its own. More of them tell strings apart
            that share their bits in one cohort.

    Example:
        >>> Bloom(128, hashes=2, cohorts=64).places("Smith", 3)
        (84, 77)
    """

    bits: int
    hashes: int = 1
    cohorts: int = 64

    def __post_init__(self) -> None:
        limits = (("bits", 2, _MOST_BITS), ("hashes", 1, _MOST_HASHES), ("cohorts", 1, _MOST_COHORTS))
        for name, least, most in limits:
            if type(getattr(self, name)) is not int or not least <= getattr(self, name) <= most:
                raise InvalidDesign(f"{name} is {getattr(self, name)!r:.40}; expected {least} to {most:,}.")

    def places(self, text: str, cohort: int) -> tuple[int, ...]:
        """Return the place that each hash sets; two of them may be equal.

        Raises:
            InvalidRequest: there is no such cohort.
            InvalidAnswer: no text. The message does not repeat it.
        """
        if not 0 <= cohort < self.cohorts:
            raise InvalidRequest(f"there is no cohort {cohort}; expected 0 to {self.cohorts - 1}.")
        seed = seed_of(text)
        words = (_mixed(seed, cohort * self.hashes + number) for number in range(self.hashes))
        return tuple((word >> 32) * self.bits >> 32 for word in words)

    def filter(self, text: str, cohort: int) -> int:
        """Return the bits of a string as a number, bit j for place j."""
        found = 0
        for place in self.places(text, cohort):
            found |= 1 << place
        return found

    def draw_cohort(self, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a respondent's cohort, once and for all; it is public and says nothing about the answer."""
        return chance.below(self.cohorts, source)

    @property
    def ones(self) -> float:
        """How many bits a string sets on average: a little fewer than it has hashes."""
        return self.bits * (1 - (1 - 1 / self.bits) ** self.hashes)

    def to_body(self) -> dict[str, Any]:
        """Return the filter for JSON."""
        return {"hash": "blake2b+splitmix64", "bits": self.bits, "hashes": self.hashes, "cohorts": self.cohorts}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Bloom:
        """Read what `to_body` wrote."""
        if documents.field(body, "hash", str) != "blake2b+splitmix64":
            raise InvalidDesign(f"the hash is {body['hash']!r:.40}; expected 'blake2b+splitmix64'.")
        return cls(*(documents.whole(body, name) for name in ("bits", "hashes", "cohorts")))


def seed_of(text: str) -> int:
    """Return the seed of a string: the first 8 bytes of BLAKE2b, little-endian.

    Raises:
        InvalidAnswer: no text, or text that no file can hold. The message does not repeat it.

    Example:
        >>> seed_of("é") == seed_of("é")
        True
    """
    try:
        content = unicodedata.normalize("NFC", text).encode()
    except (TypeError, UnicodeEncodeError):
        raise InvalidAnswer("the answer is no text that can be written; expected a string.") from None
    return int.from_bytes(hashlib.blake2b(content).digest()[:8], "little")


def _mixed(seed: int, number: int) -> int:
    """Return a word of SplitMix64, counted from 0."""
    word = (seed + (number + 1) * GOLDEN) & _WORD
    for shift, factor in MIXES:
        word = (word ^ word >> shift) * factor & _WORD
    return word ^ word >> 31
