"""What a respondent sends about a string: randomized bits, the cohort, and the hash of the design."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from deniable import chance, documents, exact
from deniable import channel as channels
from deniable.channel import Bits
from deniable.designs import Bitstrings
from deniable.documents import Document, HashedDocument
from deniable.errors import Incompatible, InvalidDesign, InvalidRequest, InvalidResponse, NotOrdered, UnreadableFile
from deniable.order.bits import Bit, BitByBit, bit_garbling
from deniable.records.strings.bloom import Bloom
from deniable.records.strings.noisy import NoisySampling

__all__ = ["StringDesign", "StringResponse", "relax_strings", "schedule", "string_design"]


@dataclass(frozen=True)
class StringResponse(Document):
    """A response about a string.

    Attributes:
        design: the hash of its design.
        cohort: the respondent's, which decides how strings become bits.
        symbol: the bits, "b0110…", the first place first.
    """

    SCHEMA: ClassVar[str] = "string-response"
    design: str
    cohort: int
    symbol: str

    @classmethod
    def of(cls, design: StringDesign, cohort: int, bits: int) -> StringResponse:
        """Write bits as a response."""
        return cls(design.hash, cohort, Bitstrings(design.bloom.bits)[bits])

    def bits(self, design: StringDesign) -> int:
        """Return the bits as a number, bit j for place j.

        Raises:
            Incompatible: the response belongs to another design.
            InvalidResponse: no bits of this design, or no cohort of it.
        """
        if self.design != design.hash:
            raise Incompatible(
                f"this response belongs to the design {self.design:.19}…; expected {design.hash:.19}… ({design!r})."
            )
        labels = Bitstrings(design.bloom.bits)
        if self.symbol not in labels or not 0 <= self.cohort < design.bloom.cohorts:
            raise InvalidResponse(
                f"this is no response of this design; expected {design.bloom.bits} bits, and a cohort below "
                f"{design.bloom.cohorts}."
            )
        return labels.index(self.symbol)

    def to_body(self) -> dict[str, Any]:
        return {"design": self.design, "cohort": self.cohort, "symbol": self.symbol}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> StringResponse:
        return cls(
            documents.field(body, "design", str), documents.whole(body, "cohort"), documents.field(body, "symbol", str)
        )


@dataclass(frozen=True, eq=False)
class StringDesign(HashedDocument):
    """A Bloom filter whose true ones are sent with probability `hit`, and whose true zeros are sent as 1 with `stray`.

    Attributes:
        bloom: how a string becomes bits.
        channel: how each bit is randomized.
    """

    SCHEMA: ClassVar[str] = "string-design"
    asks: ClassVar[str] = "strings"
    bloom: Bloom
    channel: Bits

    def __post_init__(self) -> None:
        if self.channel.size != self.bloom.bits or self.channel.sized:
            raise InvalidDesign("the channel does not have the filter's bits; expected one bit for each place.")
        if not 0 < self.channel.stray < self.channel.hit:
            raise InvalidDesign("a true 1 is sent as 1 no more often than a true 0, or a 0 never is; expected both.")

    @property
    def bit(self) -> Bit:
        """How one bit is randomized."""
        return Bit.of(self.channel)

    @property
    def ratios(self) -> tuple[exact.Ratio, exact.Ratio]:
        """By how much a single bit can favour a true 1 against a 0, and a true 0 against a 1."""
        hit, stray = self.bit
        return exact.ratio(hit, stray), exact.ratio(1 - stray, 1 - hit)

    @property
    def bit_parity(self) -> exact.Ratio:
        """The parity of one bit, exactly."""
        return max(self.ratios)

    @property
    def bit_epsilon(self) -> float:
        """The ε of one bit, rounded up. It is not the ε of a response, which is larger: see `epsilon`."""
        return exact.log_above(self.bit_parity)

    @cached_property
    def parity(self) -> exact.Ratio:
        """The parity of a whole response, exactly.

        Why: two strings set at most h bits each, so that their filters differ in at most h bits one way and h the
        other.
        """
        one, two = self.ratios
        if math.inf in (one, two):
            return math.inf
        most, bits = self.bloom.hashes, self.bloom.bits
        fits = ((ones, min(most, bits - ones)) for ones in range(1, min(most, bits - 1) + 1))
        return max(Fraction(one) ** ones * Fraction(two) ** zeros for ones, zeros in fits)

    @cached_property
    def epsilon(self) -> float:
        """The smallest ε at which a response is locally private, whatever strings there are; rounded up."""
        return exact.log_above(self.parity)

    @property
    def told(self) -> str:
        """The guarantee in words."""
        return (
            f"ε = {self.epsilon:.6g} for a response, because two strings differ in up to {2 * self.bloom.hashes} of "
            f"its {self.bloom.bits} bits; ε = {self.bit_epsilon:.6g} for each bit by itself."
        )

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> StringDesign:
        channel = channels.from_body(documents.field(body, "channel", dict))
        if not isinstance(channel, Bits):
            raise UnreadableFile("the channel is not made of bits; expected one bit for each place of the filter.")
        return cls(Bloom.from_body(documents.field(body, "bloom", dict)), channel)

    def to_body(self) -> dict[str, Any]:
        return {"bloom": self.bloom.to_body(), "channel": self.channel.to_body()}

    def __repr__(self) -> str:
        bloom = self.bloom
        sizes = f"{bloom.bits} bits, {bloom.hashes} hashes, {bloom.cohorts} cohorts"
        return f"strings({sizes}; ε = {self.epsilon:.6g}, {self.bit_epsilon:.6g} a bit)"


def string_design(
    bloom: Bloom,
    epsilon: exact.Rational | None = None,
    *,
    bit_epsilon: exact.Rational | None = None,
    f: exact.Rational | None = None,
    optimized: bool = False,
) -> StringDesign:
    """Build a design for strings: from the ε of a response, from that of a bit, or from RAPPOR's f.

    Implements: the permanent response of [EPK14]: each bit kept with probability 1 − f/2. From ε, either the same with
    e^(ε/2h) for each bit, or `optimized`, after [WBL17], p = 1/2 and e^(ε/h) for the zeros, which finds rare strings
    better.

    Guarantee: weights that sum to 2^64, rounded towards privacy; from f exactly these probabilities.

    Args:
        bloom: how a string becomes bits.
        epsilon: the most that a response may reveal.
        bit_epsilon: the most that each bit may reveal.
        f: how often RAPPOR replaces a bit by a fair coin.
        optimized: with `epsilon`, send true ones with probability 1/2, and as few zeros as ones as ε allows.

    Raises:
        InvalidRequest: not exactly one of ε, the bit's ε and f.
        InvalidDesign: bits that do not tell a 1 from a 0.

    Example:
        >>> string_design(Bloom(128, hashes=2), f="1/2").told[:20]
        'ε = 4.39445 for a re'
        >>> string_design(Bloom(128, hashes=2), epsilon=4, optimized=True).epsilon
        4.0
    """
    given = [name for name, each in (("epsilon", epsilon), ("bit_epsilon", bit_epsilon), ("f", f)) if each is not None]
    if len(given) != 1 or (optimized and given != ["epsilon"]):
        raise InvalidRequest(
            "expected exactly one of epsilon, bit_epsilon and f; optimized goes with epsilon.", "For example epsilon=4."
        )
    if f is not None:
        half = exact.probability(f, name="f") / 2
        return StringDesign(bloom, _bits(bloom, 1 - half, half))
    if bit_epsilon is not None:
        ratio = exact.exp_below(exact.positive_epsilon(bit_epsilon))
        return StringDesign(bloom, _rounded(bloom, ratio, ratio))
    assert epsilon is not None
    asked = exact.positive_epsilon(epsilon)
    hashes = min(bloom.hashes, bloom.bits - 1)
    if optimized:
        stray = math.ceil(chance.TOTAL / (exact.exp_below(asked / hashes) + 1))
        return StringDesign(bloom, Bits(bloom.bits, chance.TOTAL // 2, stray, chance.TOTAL))
    ratio = exact.exp_below(asked / (2 * hashes))
    return StringDesign(bloom, _rounded(bloom, ratio, ratio))


def relax_strings(old: StringDesign, new: StringDesign) -> BitByBit:
    """Return how a response is raised bit by bit, so that both together cost what the finer one does.

    Raises:
        NotOrdered: the second design does not tell all that the first does.
        Incompatible: the filters differ.
    """
    if old.bloom != new.bloom:
        raise Incompatible("the designs hash strings differently; expected one Bloom filter for all stages.")
    if bit_garbling(old.bit, new.bit) is None:
        raise NotOrdered(
            f"a response of {old!r} cannot be raised to {new!r}, which does not tell all that the first does; expected "
            "a finer design.",
            "Take one of the same kind, symmetric or optimized, with a larger ε.",
        )
    return BitByBit(old.channel, new.channel)


def schedule(bloom: Bloom, noisy: NoisySampling, samples: int) -> tuple[StringDesign, ...]:
    """Return the stages that reveal what RAPPOR's noisy sampling does after 1, 2, … K samples, and estimate no worse.

    Guarantee: after each stage, each bit favours a true 1 and a true 0 by no more than so many samples can.

    Why: a bit whose two responses have exactly these factors can be garbled into the K samples [Bla51], whose factors
    all lie between the two.

    Raises:
        InvalidRequest: fewer than one sample.

    Example:
        >>> stages = schedule(Bloom(128), NoisySampling.symmetric(1, 0.5), 3)
        >>> [round(stage.bit_epsilon, 4) for stage in stages]
        [0.2273, 0.4338, 0.6048]
    """
    noisy.check_samples(samples)
    stages: list[StringDesign] = []
    for number in range(1, samples + 1):
        one, two = noisy.ratios(number)
        if math.inf in (one, two):
            raise InvalidRequest("these samples give the bit away; expected p and q between 0 and 1.")
        stage = StringDesign(bloom, _rounded(bloom, Fraction(one), Fraction(two)))
        # Towards the end stages differ by less than a weight; then one stands for all that follow.
        if stages and bit_garbling(stages[-1].bit, stage.bit) is None:
            stage = stages[-1]
        stages.append(stage)
    return tuple(stages)


def _rounded(bloom: Bloom, one: Fraction, two: Fraction) -> Bits:
    """Return bits with hit/stray ≤ one and (1 − stray)/(1 − hit) ≤ two, as near as weights of 2^64 allow."""
    total = chance.TOTAL
    stray = math.ceil(total * (two - 1) / (one * two - 1))
    hit = min(int(one * stray), int(total - (total - stray) / two))
    return Bits(bloom.bits, hit, stray, total)


def _bits(bloom: Bloom, hit: Fraction, stray: Fraction) -> Bits:
    total = math.lcm(hit.denominator, stray.denominator)
    return Bits(bloom.bits, int(hit * total), int(stray * total), total)
