"""Relaxation bit by bit: RAPPOR, unary encodings, and any vector of bits that are randomized independently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from deniable import chance, exact
from deniable.chance import SYSTEM, Source
from deniable.channel import Bits
from deniable.channel.sets import DIGITS
from deniable.order.steps import Step


class Bit(NamedTuple):
    """Channel of one bit: P(1 | true bit 1) is `hit`, P(1 | true bit 0) is `stray`.

    A garbling of bits is one too; then the true bit is the finer one.
    """

    hit: Fraction
    stray: Fraction

    @classmethod
    def from_channel(cls, channel: Bits) -> Bit:
        """Return the bit that a channel is made of."""
        return cls(
            Fraction(channel.hit, channel.total),
            Fraction(channel.stray, channel.total),
        )

    def sends(self, bit: int, true: int) -> Fraction:
        """Return the probability of a bit, given the true bit."""
        p_one = self.hit if true else self.stray
        return p_one if bit else 1 - p_one

    def after(self, fine: Bit) -> Bit:
        """Return the bit that comes out when a finer one is sent through this one."""
        return Bit(*(self.hit * p + self.stray * (1 - p) for p in fine))

    def raised(
        self, fine: Bit
    ) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        """Return the probability that a finer bit is 1, by the coarser bit and then by the true bit."""
        zero, p_one = (
            (
                self._upgrade_probability(fine, old, 0),
                self._upgrade_probability(fine, old, 1),
            )
            for old in (0, 1)
        )
        return zero, p_one

    def _upgrade_probability(self, fine: Bit, old: int, true: int) -> Fraction:
        zero, p_one = (
            self.sends(old, new) * fine.sends(new, true) for new in (0, 1)
        )
        # a pair that never occurs: any value will do
        return p_one / (zero + p_one) if zero + p_one else Fraction(0)


def bit_garbling(coarse: Bit, fine: Bit) -> Bit | None:
    """Return C for one bit, or None where the coarser bit cannot be made from the finer one.

    Why: two unknowns, hit₁ = c₁·hit₂ + c₀·(1 − hit₂) and stray₁ = c₁·stray₂ + c₀·(1 − stray₂), both from 0 to 1.

    Example:
        >>> half = Fraction(1, 2)
        >>> bit_garbling(Bit(half, Fraction(2, 5)), Bit(half, Fraction(1, 4)))
        Bit(hit=Fraction(7, 10), stray=Fraction(3, 10))
    """
    gap = fine.hit - fine.stray
    if not gap:
        return Bit(coarse.hit, coarse.hit) if coarse.hit == coarse.stray else None
    p_one = (coarse.hit * (1 - fine.stray) - coarse.stray * (1 - fine.hit)) / gap
    zero = (coarse.stray * fine.hit - coarse.hit * fine.stray) / gap
    return Bit(p_one, zero) if 0 <= p_one <= 1 and 0 <= zero <= 1 else None


@dataclass(frozen=True)
class BitByBit(Step):
    """Every bit of a vector by itself.

    The draw: as of the channel `bits`, eight coins for every bit, the first of which that is 1 decides the bit, the
    i-th by the i-th binary digit of the bit's probability, given the coarser bit and the true one. Each bit that is
    then open, from the lowest up, is decided by `happens` with what is left of its probability.
    """

    old: Bits
    new: Bits

    @cached_property
    def each(self) -> Bit:
        """C for one bit."""
        probabilities = bit_garbling(
            Bit.from_channel(self.old), Bit.from_channel(self.new)
        )
        assert probabilities is not None, "the bits are ordered"
        return probabilities

    @cached_property
    def raised(self) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
        """The probability of a finer 1, by the coarser bit and then by the true bit."""
        return self.each.raised(Bit.from_channel(self.new))

    def garbling(self, old: int, new: int) -> Fraction:
        p_one, zero = self.each
        size, ones = self.new.size, new.bit_count()
        n_kept, gained = (old & new).bit_count(), (old & ~new).bit_count()
        return exact.product(
            (
                p_one**n_kept,
                (1 - p_one) ** (ones - n_kept),
                zero**gained,
                (1 - zero) ** (size - ones - gained),
            )
        )

    def degrade(self, new: int, source: Source = SYSTEM) -> int:
        return draw_bits(self.new.size, self.each, new, source)

    def upgrade(self, old: int, given: int, source: Source = SYSTEM) -> int:
        self.chance_of(old, given)
        return self.upgrade_bits(old, 1 << given, source)

    def upgrade_bits(self, old: int, true: int, source: Source = SYSTEM) -> int:
        """Upgrade every bit, whichever of them are truly 1, such as those of a Bloom filter."""
        return toss_by_pairs(self.new.size, old, true, self.raised, source)

    def verify(self) -> bool:
        return self.old.size == self.new.size and self.each.after(
            Bit.from_channel(self.new)
        ) == Bit.from_channel(self.old)

    @property
    def recipe(self) -> str:
        p_one, zero = (exact.text(p) for p in self.each)
        return (
            f"make every bit by itself: 1 with probability {p_one} where the "
            f"response has a 1, {zero} where it has a 0"
        )

    def composes(self, high: Step, direct: Step) -> bool:
        if not (isinstance(high, BitByBit) and isinstance(direct, BitByBit)):
            return super().composes(high, direct)
        return self.each.after(high.each) == direct.each

    def between(
        self, high: Step, coarse: int, fine: int, source: Source = SYSTEM
    ) -> int:
        """Every bit by itself."""
        if not isinstance(high, BitByBit):
            return super().between(high, coarse, fine, source)
        return toss_by_pairs(
            self.new.size, coarse, fine, self.each.raised(high.each), source
        )


def toss_by_pairs(
    size: int,
    first_mask: int,
    second_mask: int,
    chances: Sequence[Sequence[Fraction]],
    source: Source = SYSTEM,
) -> int:
    """Draw independent bits, each with a probability that depends on its bit in `first_mask` and in `second_mask`."""
    every = (1 << size) - 1
    classes = [
        (a & b, chances[i][j])
        for i, a in ((1, first_mask), (0, every & ~first_mask))
        for j, b in ((1, second_mask), (0, every & ~second_mask))
    ]
    return toss(size, classes, source)


def toss(
    size: int,
    classes: Sequence[tuple[int, Fraction]],
    source: Source = SYSTEM,
) -> int:
    """Draw independent bits; each class is a mask of bits and their common probability of a 1.

    Why: the i-th coin is a bit's first 1 with probability 2^-i, so that the digits add up to exactly the probability.
    """
    words, bits, undecided = -(-size // 64), 0, (1 << size) - 1
    heads = [(mask, *split_digits(probability)) for mask, probability in classes]
    for digit in reversed(range(DIGITS)):
        now = chance.bits(words, source) & undecided
        undecided ^= now
        for mask, head, _ in heads:
            if head >> digit & 1:
                bits |= now & mask
    while undecided:
        lowest = undecided & -undecided
        remainder = next(remainder for mask, _, remainder in heads if mask & lowest)
        bits |= lowest * chance.happens(remainder, source)
        undecided ^= lowest
    return bits


def draw_bits(size: int, bit: Bit, true: int, source: Source = SYSTEM) -> int:
    """Randomize independent bits, whichever of them are truly 1."""
    every = (1 << size) - 1
    return toss(size, [(true, bit.hit), (every & ~true, bit.stray)], source)


def split_digits(probability: Fraction) -> tuple[int, Fraction]:
    """Return the first eight binary digits of a probability as one number, and what is left, from 0 to 1.

    Example:
        >>> split_digits(Fraction(3, 4)), split_digits(Fraction(1)), split_digits(Fraction(1, 3))
        ((192, Fraction(0, 1)), (255, Fraction(1, 1)), (85, Fraction(1, 3)))
    """
    scaled = probability * (1 << DIGITS)
    head = min(int(scaled), (1 << DIGITS) - 1)  # 1 is 0.1111… here, not 1.0000…
    return head, scaled - head
