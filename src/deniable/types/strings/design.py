"""Step 1: how a string becomes bits, other ones in each cohort, and how the bits are randomized."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from deniable import chance, documents, exact
from deniable import channel as channels
from deniable.channel import Bits, Channel
from deniable.designs import AnyDesign, Bitstrings
from deniable.designs.labels import Computed, Texts, size
from deniable.documents import Document, HashedDocument, Response
from deniable.errors import (
    Incompatible,
    InvalidAnswer,
    InvalidDesign,
    InvalidRequest,
    InvalidResponse,
    NotOrdered,
    UnreadableFile,
    quoted,
)
from deniable.order.bits import Bit, BitByBit, bit_garbling, draw_bits
from deniable.order.closed_forms import FORMS, bit_by_bit
from deniable.order.ladders import Ladder
from deniable.rendering import formats

if TYPE_CHECKING:
    from deniable.estimates.sampling import SampledEstimate, Sampling
    from deniable.types.strings import count as _count
    from deniable.types.strings import draw as _draw
    from deniable.types.strings import respond as _respond
    from deniable.types.strings.count import StringTally
    from deniable.types.strings.estimate import Candidates

__all__ = [
    "DESIGN",
    "GOLDEN",
    "MAX_PREFIXES",
    "MIXES",
    "Bloom",
    "CohortDesign",
    "Filter",
    "FilterStep",
    "NoisySampling",
    "Prefixes",
    "StringDesign",
    "StringResponse",
    "known_answers",
    "relax_strings",
    "schedule",
    "seed_of",
    "string_design",
    "string_ladder",
]


GOLDEN = 0x9E3779B97F4A7C15
MIXES = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""The constants of SplitMix64: a step, then twice a shift and a multiplication, then a shift by 31."""

_WORD = (1 << 64) - 1
_LIMITS = {"bits": (2, 1 << 20), "hashes": (1, 16), "cohorts": (1, 1 << 20)}
_MAX_LETTERS = 1000
_MAX_LENGTH = 200
MAX_PREFIXES = 1 << 20
"""How many prefixes are looked for at a time: each is hashed in every cohort of its level."""

_USUAL_KEPT = 500  # prefixes that are extended, when lengths are chosen; so many have a share of 1/500
_FEWEST_KEPT = 100
_NO_TEXT = ("the answer is no text that can be written; expected a string.",)


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
        for name, (lowest, highest) in _LIMITS.items():
            number = getattr(self, name)
            if type(number) is not int or not lowest <= number <= highest:
                raise InvalidDesign(
                    f"{name} is {quoted(number)}; expected {lowest} to {highest:,}."
                )

    def places(self, text: str, cohort: int) -> tuple[int, ...]:
        """Return the place that each hash sets; two of them may be equal.

        Raises:
            InvalidRequest: there is no such cohort.
            InvalidAnswer: no text. The message does not repeat it.
        """
        if not 0 <= cohort < self.cohorts:
            raise InvalidRequest(
                f"there is no cohort {cohort}; expected 0 to {self.cohorts - 1}."
            )
        seed = seed_of(self.part(text, cohort))
        words = (
            _splitmix_word(seed, int(cohort) * self.hashes + number)
            for number in range(self.hashes)
        )
        return tuple((word >> 32) * self.bits >> 32 for word in words)

    def part(self, text: str, cohort: int) -> str:  # noqa: ARG002 - `Prefixes` asks
        """Return what of a string is hashed in a cohort: all of it."""
        return text

    @property
    def levels(self) -> int:
        """Among how many parts of a string the cohorts are divided."""
        return 1

    @property
    def whole(self) -> Bloom:
        """The filter of the last cohorts, in which whole strings are hashed."""
        return Bloom(self.bits, self.hashes, self.cohorts)

    def filter(self, text: str, cohort: int) -> int:
        """Return the bits of a string as a number, bit j for place j."""
        return sum(1 << place for place in set(self.places(text, cohort)))

    def draw_cohort(self, source: chance.Source = chance.SYSTEM) -> int:
        """Draw a respondent's cohort, once and for all; it is public and says nothing about the answer."""
        return chance.below(self.cohorts, source)

    @property
    def ones(self) -> float:
        """How many bits a string sets on average: a little fewer than it has hashes."""
        return self.bits * (1 - (1 - 1 / self.bits) ** self.hashes)

    def to_body(self) -> dict[str, Any]:
        """Return the filter for JSON."""
        sizes = {name: getattr(self, name) for name in _LIMITS}
        return {"hash": "blake2b+splitmix64", **sizes}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Bloom:
        """Read what `to_body` wrote."""
        if documents.field(body, "hash", str) != "blake2b+splitmix64":
            raise InvalidDesign(
                f"the hash is {quoted(body['hash'])}; expected 'blake2b+splitmix64'."
            )
        sizes = [documents.integer_field(body, name) for name in _LIMITS]
        if "alphabet" not in body:
            return Bloom(*sizes)
        lengths = tuple(documents.field(body, "lengths", list))
        return Prefixes(
            *sizes, alphabet=documents.field(body, "alphabet", str), lengths=lengths
        )


@dataclass(frozen=True)
class Prefixes(Bloom):
    """How strings that nobody has listed become bits: the cohorts are divided among prefixes of several lengths.

    Whoever is in one of the first cohorts tells the first letters of a string, in one of the next more letters, and in
    one of the last all of it. Frequent prefixes are then extended letter by letter to strings that may be there. A
    cohort is drawn before anything is known of the string, and everybody sends one response with all of ε.

    Attributes:
        alphabet: the letters that strings are looked for with. Others may be sent, and are not found.
        lengths: how many letters the prefixes have, rising. Longer strings than the last are not found. There is one
            more level than lengths: the whole strings; every level has as many cohorts.

    Example:
        >>> bloom = Prefixes.of("abcdefghijklmnopqrstuvwxyz", 8)
        >>> bloom.lengths, bloom.levels, bloom.cohorts
        ((4, 6, 8), 4, 1024)
        >>> [bloom.part("rosenkrantz", cohort) for cohort in (0, 256, 1023)]
        ['rose', 'rosenk', 'rosenkrantz']
    """

    _: KW_ONLY
    alphabet: str
    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        letters = self.alphabet
        if not 2 <= len(letters) <= _MAX_LETTERS or len(set(letters)) < len(letters):
            raise InvalidDesign(
                f"the alphabet has {len(letters):,} letters; expected 2 to {_MAX_LETTERS:,}, all of them different."
            )
        if any(
            unicodedata.normalize("NFC", one + two) != one + two
            for one in letters
            for two in letters
        ):
            raise InvalidDesign(
                "two letters of the alphabet melt into one; expected letters that stay apart in Unicode's NFC.",
                "Write a letter and its accent as one character.",
            )
        if not self.lengths or any(
            type(each) is not int or each < 1 for each in self.steps
        ):
            raise InvalidDesign(
                "the lengths of the prefixes are not whole numbers that rise; expected some, from 1 up."
            )
        if (
            self.endings(self.lengths[0]) > MAX_PREFIXES
            or self.max_kept < _FEWEST_KEPT
        ):
            raise InvalidDesign(
                f"the lengths rise by {max(self.steps)}, which is more prefixes than can be looked for; expected fewer "
                "letters at a time.",
                "Prefixes.of(alphabet, length) chooses the lengths.",
            )
        if self.cohorts % self.levels:
            raise InvalidDesign(
                f"there are {self.cohorts:,} cohorts; expected as many for each of {self.levels} levels."
            )

    @classmethod
    def of(
        cls,
        alphabet: str,
        length: int,
        *,
        bits: int = 256,
        hashes: int = 1,
        cohorts: int = 256,
    ) -> Prefixes:
        """Choose the lengths of the prefixes: as few as can be looked for, as each costs respondents.

        Args:
            alphabet: the letters that strings are looked for with.
            length: how many letters the longest string has that is to be found.
            bits: how many places there are.
            hashes: how many bits a string sets.
            cohorts: how many groups of respondents there are for each of the levels.

        Raises:
            InvalidDesign: an alphabet or numbers that make no filter.
        """
        if type(length) is not int or not 1 <= length <= _MAX_LENGTH:
            raise InvalidDesign(
                f"the length is {quoted(length)}; expected 1 to {_MAX_LENGTH} letters."
            )
        letters = max(len(alphabet), 2)

        def longest(prefixes: int) -> int:
            """Return by how many letters so many prefixes can be extended."""
            steps = range(2, length + 1)
            fits = (
                s for s in steps if _endings(letters, s) * prefixes <= MAX_PREFIXES
            )
            return max(fits, default=1)

        lengths = (*range(longest(1), length, longest(_USUAL_KEPT)), length)
        total = cohorts * (len(lengths) + 1)
        return cls(bits, hashes, total, alphabet=alphabet, lengths=lengths)

    @property
    def levels(self) -> int:
        """One for each length, and one for whole strings."""
        return len(self.lengths) + 1

    @property
    def steps(self) -> tuple[int, ...]:
        """By how many letters each length is longer than the one before."""
        return tuple(
            longer - shorter for shorter, longer in pairwise((0, *self.lengths))
        )

    @property
    def max_kept(self) -> int:
        """How many prefixes of one length are extended at most."""
        return min(
            _USUAL_KEPT * 2, MAX_PREFIXES // self.endings(max((1, *self.steps[1:])))
        )

    def endings(self, letters: int) -> int:
        """Return how many strings there are of up to so many letters."""
        return _endings(len(self.alphabet), letters)

    def part(self, text: str, cohort: int) -> str:
        """Return what of a string is hashed in a cohort: its first letters, or all of it in the last cohorts."""
        level = cohort // (self.cohorts // self.levels)
        return (
            text
            if level == len(self.lengths)
            else _normal(text)[: self.lengths[level]]
        )

    def to_body(self) -> dict[str, Any]:
        return {
            **super().to_body(),
            "alphabet": self.alphabet,
            "lengths": list(self.lengths),
        }


def _endings(alphabet: int, letters: int) -> int:
    return int((alphabet ** (letters + 1) - 1) // (alphabet - 1))


def seed_of(text: str) -> int:
    """Return the seed of a string: the first 8 bytes of BLAKE2b, little-endian.

    Raises:
        InvalidAnswer: no text, or text that no file can hold. The message does not repeat it.

    Example:
        >>> seed_of("é") == seed_of("é")
        True
    """
    try:
        content = _normal(text).encode()
    except UnicodeEncodeError:
        raise InvalidAnswer(*_NO_TEXT) from None
    return int.from_bytes(hashlib.blake2b(content).digest()[:8], "little")


def _normal(text: str) -> str:
    try:
        return unicodedata.normalize("NFC", text)
    except TypeError:
        raise InvalidAnswer(*_NO_TEXT) from None


def _splitmix_word(seed: int, number: int) -> int:
    """Return a word of SplitMix64, counted from 0."""
    word = (seed + (number + 1) * GOLDEN) & _WORD
    for shift, factor in MIXES:
        word = (word ^ word >> shift) * factor & _WORD
    return word ^ word >> 31


@dataclass(frozen=True)
class NoisySampling:
    """A permanent bit, equal to the true one with probability α; then samples, 1 with probability p or q.

    Attributes:
        alpha: how often the permanent bit is the true one; above 1/2.
        p: how often a sample is 1 where the permanent bit is 1.
        q: how often a sample is 1 where the permanent bit is 0; below p.

    Example:
        >>> NoisySampling.of("3/4", "7/10", "4/10").parity(3)
        Fraction(25, 11)
    """

    alpha: Fraction
    p: Fraction
    q: Fraction

    def __post_init__(self) -> None:
        if not Fraction(1, 2) < self.alpha <= 1 or not 0 <= self.q < self.p <= 1:
            raise InvalidDesign(
                f"α = {self.alpha}, p = {self.p}, q = {self.q}; expected 1/2 < α ≤ 1 and 0 ≤ q < p ≤ 1.",
                "RAPPOR's own are α = 1 − f/2 with f = 1/2, p = 3/4 and q = 1/2.",
            )

    @classmethod
    def of(
        cls, alpha: exact.Rational, p: exact.Rational, q: exact.Rational
    ) -> NoisySampling:
        """Read the three probabilities exactly.

        Raises:
            InvalidDesign: they are not in order.
            InvalidNumber: not probabilities.
        """
        read = (
            exact.probability(each, name=name)
            for each, name in ((alpha, "alpha"), (p, "p"), (q, "q"))
        )
        return cls(*read)

    @classmethod
    def symmetric(
        cls, permanent: exact.Rational, sample: exact.Rational
    ) -> NoisySampling:
        """Build from the ε of the permanent bit and the ε of one sample of it, with p = 1 − q; rounded towards privacy.

        Raises:
            InvalidNumber: an ε that is not positive.

        Example:
            >>> NoisySampling.symmetric(1, 0.5).epsilon(1) < 0.2273363
            True
        """
        alpha, p = (
            _p_kept(exact.exp_below(exact.positive_epsilon(each)))
            for each in (permanent, sample)
        )
        return cls(alpha, p, 1 - p)

    @staticmethod
    def check_samples(samples: int, *, least: int = 1) -> None:
        """Refuse what is no number of samples.

        Raises:
            InvalidRequest: fewer than the least, or no whole number.
        """
        if type(samples) is not int or samples < least:
            raise InvalidRequest(
                f"there are {quoted(samples)} samples; expected {least} or more."
            )

    def ratios(self, samples: int) -> tuple[exact.Ratio, exact.Ratio]:
        """Return by how much K samples can favour a true 1 against a 0, and a true 0 against a 1.

        Implements: F13: G((p/q)^K) and G(((1 − q)/(1 − p))^K) with G(r) = (αr + 1 − α) / ((1 − α)r + α); also for p ≠
        1 − q.

        Why: K samples favour a permanent 1 by a factor that rises with the number of ones among them, so that all
        ones and all zeros are the extremes; and G carries a factor on the permanent bit over to the true one.

        Raises:
            InvalidRequest: not a whole number of samples.
        """
        self.check_samples(samples, least=0)
        ones, zeros = (
            exact.ratio(self.p, self.q),
            exact.ratio(1 - self.q, 1 - self.p),
        )
        return self._chain_ratio(ones, samples), self._chain_ratio(zeros, samples)

    def parity(self, samples: int) -> exact.Ratio:
        """Return the parity of one bit after K samples, exactly."""
        return max(self.ratios(samples))

    def epsilon(self, samples: int) -> float:
        """Return the ε of one bit after K samples, rounded up; it rises towards ln(α / (1 − α)).

        Implements: [Pan24], eq. (65), and F13 for p ≠ 1 − q.
        """
        return exact.log_above(self.parity(samples))

    def response_epsilon(self, samples: int, hashes: int = 1) -> float:
        """Return the ε of a whole response after K samples: two strings may differ in 2h bits, h each way."""
        one, two = self.ratios(samples)
        if math.inf in (one, two):
            return math.inf
        return exact.log_above((Fraction(one) * Fraction(two)) ** hashes)

    def sum_variance(self, samples: int, *, bit: int) -> Fraction:
        """Return the variance of the number of ones among K samples, given the true bit.

        Implements: [Pan24], eq. (130), corrected: K·E[π(1 − π)] + K²·(p − q)²·a(1 − a), a = P(permanent 1).
        """
        a = self.alpha if bit else 1 - self.alpha
        inner = a * self.p * (1 - self.p) + (1 - a) * self.q * (1 - self.q)
        return samples * inner + samples**2 * (self.p - self.q) ** 2 * a * (1 - a)

    def variance(self, samples: int, *, bit: int) -> Fraction:
        """Return the variance of one respondent's estimated bit, given the true one; a share's is the mean of them / n.

        Implements: F13; with p = 1 − q it is [Pan24], eq. (68), for both bits.

        Raises:
            InvalidRequest: fewer than one sample.
        """
        self.check_samples(samples)
        return (
            self.sum_variance(samples, bit=bit)
            / (samples * (self.p - self.q) * (2 * self.alpha - 1)) ** 2
        )

    def share(self, ones: exact.Rational, samples: int) -> Fraction:
        """Return the unbiased estimate of the share of true ones, from the mean number of ones among K samples.

        Raises:
            InvalidRequest: fewer than one sample.
        """
        self.check_samples(samples)
        permanent = (exact.rational(ones) / samples - self.q) / (self.p - self.q)
        return (permanent - (1 - self.alpha)) / (2 * self.alpha - 1)

    def _chain_ratio(self, base: exact.Ratio, samples: int) -> exact.Ratio:
        if base == math.inf and samples:
            return exact.ratio(self.alpha, 1 - self.alpha)
        factor = Fraction(base) ** samples if samples else Fraction(1)
        return exact.ratio(
            self.alpha * factor + 1 - self.alpha,
            (1 - self.alpha) * factor + self.alpha,
        )


def _p_kept(ratio: Fraction) -> Fraction:
    """Return ratio / (ratio + 1) in 64 bits, rounded towards 1/2."""
    return Fraction(int(chance.TOTAL * ratio / (ratio + 1)), chance.TOTAL)


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
            documents.field(body, "design", str),
            documents.integer_field(body, "cohort"),
            documents.field(body, "symbol", str),
        )


@dataclass(frozen=True, eq=False)
class StringDesign(AnyDesign):
    """A Bloom filter whose true ones are sent with probability `hit`, and whose true zeros are sent as 1 with `stray`.

    Attributes:
        bloom: how a string becomes bits.
        channel: how each bit is randomized.
    """

    SCHEMA: ClassVar[str] = "string-design"
    asks: ClassVar[str] = "strings"
    answer_form: ClassVar[str] = "text"

    # signatures of the verbs; a design must not load what takes an answer
    if TYPE_CHECKING:
        respond = _respond.respond
        respond_all = _draw.respond_all
        tally = _count.tally

        def count_sent(self) -> StringTally: ...

        def estimate_sampled(
            self,
            candidates: Sequence[str] | Candidates,
            *,
            sampling: Sampling,
            domain: object = None,
            by: object = None,
        ) -> SampledEstimate: ...

    bloom: Bloom
    channel: Bits

    def __post_init__(self) -> None:
        if self.channel.size != self.bloom.bits or self.channel.sized:
            raise InvalidDesign(
                "the channel does not have the filter's bits; expected one bit for each place."
            )
        if not 0 < self.channel.stray < self.channel.hit:
            raise InvalidDesign(
                "a true 1 is sent as 1 no more often than a true 0, or a 0 never is; expected both."
            )

    @property
    def columns(self) -> tuple[str, ...]:
        return ("cohort", "response")

    def symbols_in(self, column: str, rows: Any) -> list[object]:
        if column == "cohort":
            return list(rows.tolist())
        texts = Bitstrings(self.bloom.bits)
        return [texts[number] for number in self.channel.coding.unpack(rows)]

    @property
    def bit(self) -> Bit:
        """How one bit is randomized."""
        return Bit.from_channel(self.channel)

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
        fits = (
            (ones, min(most, bits - ones))
            for ones in range(1, min(most, bits - 1) + 1)
        )
        return max(
            Fraction(one) ** ones * Fraction(two) ** zeros for ones, zeros in fits
        )

    @cached_property
    def epsilon(self) -> float:
        """The smallest ε at which a response is locally private, whatever strings there are; rounded up."""
        return exact.log_above(self.parity)

    @property
    def told(self) -> str:
        """The guarantee in words."""
        return (
            f"ε = {formats.epsilon(self.epsilon)} for a response, because two strings differ in up to "
            f"{2 * self.bloom.hashes} of its {self.bloom.bits} bits; "
            f"ε = {formats.epsilon(self.bit_epsilon)} for each bit by itself."
        )

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> StringDesign:
        channel = channels.from_body(documents.field(body, "channel", dict))
        bits = channel.bitwise
        if bits is None:
            raise UnreadableFile(
                "the channel is not made of bits; expected one bit for each place of the filter."
            )
        return cls(Bloom.from_body(documents.field(body, "bloom", dict)), bits)

    def to_body(self) -> dict[str, Any]:
        return {"bloom": self.bloom.to_body(), "channel": self.channel.to_body()}

    def __repr__(self) -> str:
        bloom = self.bloom
        sizes = f"{bloom.bits} bits, {bloom.hashes} hashes, {bloom.cohorts} cohorts"
        whole, bit = (
            formats.epsilon(each) for each in (self.epsilon, self.bit_epsilon)
        )
        return f"strings({sizes}; ε = {whole}, {bit} a bit)"


def string_design(
    bloom: Bloom,
    epsilon: exact.Rational | None = None,
    *,
    bit_epsilon: exact.Rational | None = None,
    f: exact.Rational | None = None,
    optimized: bool = False,
) -> StringDesign:
    """Build a design for strings: from the ε of a response, from that of a bit, or from the probability of a flip.

    Implements: the permanent response of [EPK14]: each bit is flipped with probability f, as in `rappor`; RAPPOR's own
    f is twice that. From ε, either the same with
    e^(ε/2h) for each bit, or `optimized`, after [WBL17], p = 1/2 and e^(ε/h) for the zeros, which finds rare strings
    better.

    Guarantee: weights that sum to 2^64, rounded towards privacy; from f exactly these probabilities.

    Args:
        bloom: how a string becomes bits.
        epsilon: the most that a response may reveal.
        bit_epsilon: the most that each bit may reveal.
        f: how often each bit is flipped.
        optimized: with `epsilon`, send true ones with probability 1/2, and as few zeros as ones as ε allows.

    Raises:
        InvalidRequest: not exactly one of ε, the bit's ε and f.
        InvalidDesign: bits that do not tell a 1 from a 0.

    Example:
        >>> string_design(Bloom(128, hashes=2), f="1/4").told[:20]
        'ε = 4.395 for a resp'
        >>> string_design(Bloom(128, hashes=2), epsilon=4, optimized=True).epsilon
        4.0
    """
    given = [
        name
        for name, each in (
            ("epsilon", epsilon),
            ("bit_epsilon", bit_epsilon),
            ("f", f),
        )
        if each is not None
    ]
    if len(given) != 1 or (optimized and given != ["epsilon"]):
        raise InvalidRequest(
            "expected exactly one of epsilon, bit_epsilon and f; optimized goes with epsilon.",
            "For example epsilon=4.",
        )
    if f is not None:
        flipped = exact.probability(f, name="f")
        return StringDesign(bloom, _bits(bloom, 1 - flipped, flipped))
    if bit_epsilon is not None:
        ratio = exact.exp_below(exact.positive_epsilon(bit_epsilon))
        return StringDesign(bloom, _round_bits(bloom, ratio, ratio))
    assert epsilon is not None
    asked = exact.positive_epsilon(epsilon)
    hashes = min(bloom.hashes, bloom.bits - 1)
    if optimized:
        stray = math.ceil(chance.TOTAL / (exact.exp_below(asked / hashes) + 1))
        return StringDesign(
            bloom, Bits(bloom.bits, chance.TOTAL // 2, stray, chance.TOTAL)
        )
    ratio = exact.exp_below(asked / (2 * hashes))
    return StringDesign(bloom, _round_bits(bloom, ratio, ratio))


def relax_strings(old: StringDesign, new: StringDesign) -> BitByBit:
    """Return how a response is raised bit by bit, so that both together cost what the finer one does.

    Raises:
        NotOrdered: the second design does not tell all that the first does.
        Incompatible: the filters differ.
    """
    if old.bloom != new.bloom:
        raise Incompatible(
            "the designs hash strings differently; expected one Bloom filter for all stages."
        )
    if bit_garbling(old.bit, new.bit) is None:
        raise NotOrdered(
            f"a response of {old!r} cannot be raised to {new!r}, which does not tell all that the first does; expected "
            "a finer design.",
            "Take one of the same kind, symmetric or optimized, with a larger ε.",
        )
    return BitByBit(old.channel, new.channel)


def schedule(
    bloom: Bloom, noisy: NoisySampling, samples: int
) -> tuple[StringDesign, ...]:
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
            raise InvalidRequest(
                "these samples give the bit away; expected p and q between 0 and 1."
            )
        stage = StringDesign(bloom, _round_bits(bloom, Fraction(one), Fraction(two)))
        # Towards the end stages differ by less than a weight; then one stands for all that follow.
        if stages and bit_garbling(stages[-1].bit, stage.bit) is None:
            stage = stages[-1]
        stages.append(stage)
    return tuple(stages)


def _round_bits(bloom: Bloom, one: Fraction, two: Fraction) -> Bits:
    """Return bits with hit/stray ≤ one and (1 − stray)/(1 − hit) ≤ two, as near as weights of 2^64 allow."""
    total = chance.TOTAL
    stray = math.ceil(total * (two - 1) / (one * two - 1))
    hit = min(int(one * stray), int(total - (total - stray) / two))
    return Bits(bloom.bits, hit, stray, total)


def _bits(bloom: Bloom, hit: Fraction, stray: Fraction) -> Bits:
    total = math.lcm(hit.denominator, stray.denominator)
    return Bits(bloom.bits, int(hit * total), int(stray * total), total)


@dataclass(frozen=True)
class Filter(Bits):
    """Independent bits of which any may be truly 1: an answer is the number that its bits write."""

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        """Randomize the bits of a filter."""
        return draw_bits(self.size, Bit.from_channel(self), given, source)

    def probability(self, response: int, *, given: int) -> Fraction:
        """Return the probability of bits, given those of the filter."""
        hit, stray = Bit.from_channel(self)
        ones, zeros = given.bit_count(), self.size - given.bit_count()
        right, gained = (
            (response & given).bit_count(),
            (response & ~given).bit_count(),
        )
        product = (
            hit**right
            * (1 - hit) ** (ones - right)
            * stray**gained
            * (1 - stray) ** (zeros - gained)
        )
        return Fraction(product)


class CohortBits(Computed):
    """The responses about strings as labels: the cohort and the bits, "17 b0110…"."""

    KIND = "cohorts with bits"
    __slots__ = ("bits",)

    def __init__(self, cohorts: int, bits: int) -> None:
        super().__init__((cohorts, bits), cohorts << bits)
        self.bits = Bitstrings(bits)

    def label(self, number: int) -> str:
        cohort, bits = divmod(number, self.bits.size)
        return f"{cohort} {self.bits[bits]}"

    def find(self, text: str) -> int | None:
        cohort, _, written = text.partition(" ")
        bits = self.bits.find(written)
        known = cohort.isascii() and cohort.isdecimal() and len(cohort) <= 7
        if bits is None or not known or str(int(cohort)) != cohort:
            return None
        number = int(cohort) * self.bits.size + bits
        return number if number < self.size else None


@dataclass(frozen=True)
class StringChannel(Channel):
    """The response to a text, by number: the cohort, then the bits.

    The draw: `below(cohorts)`, then the bits as `draw_bits` draws them.
    """

    KIND: ClassVar[str] = "strings"
    has_long_codes: ClassVar[bool] = True
    design: StringDesign

    @property
    def answers(self) -> int:
        return size(TEXTS)

    @property
    def responses(self) -> int:
        return self.design.bloom.cohorts << self.design.bloom.bits

    @property
    def parity(self) -> exact.Ratio:
        return self.design.parity

    def probability(self, response: int, *, given: int) -> Fraction:
        bloom, bits = self.design.bloom, self.design.channel
        cohort, sent = divmod(response, 1 << bloom.bits)
        truth = bloom.filter(TEXTS[given], cohort)
        filtered = Filter(bits.size, bits.hit, bits.stray, bits.total)
        return filtered.probability(sent, given=truth) / bloom.cohorts

    def draw(self, given: int, source: chance.Source = chance.SYSTEM) -> int:
        bloom = self.design.bloom
        cohort = bloom.draw_cohort(source)
        truth = bloom.filter(TEXTS[given], cohort)
        sent = draw_bits(bloom.bits, self.design.bit, truth, source)
        return cohort << bloom.bits | sent

    @property
    def cells(self) -> int:
        return self.design.bloom.cohorts * (1 + self.design.bloom.bits)

    def cells_of(self, response: int) -> list[int]:
        """Return the cells of a response: that of its cohort, and those of its ones."""
        bits = self.design.bloom.bits
        cohort, sent = divmod(response, 1 << bits)
        first = cohort * (1 + bits)
        return [first, *(first + 1 + bit for bit in range(bits) if sent >> bit & 1)]


TEXTS = Texts(200)
"""What may be entered: texts of up to 200 bytes."""


@dataclass(frozen=True)
class FilterStep(BitByBit):
    """A relaxation bit by bit, whichever bits are truly 1."""

    def upgrade(
        self, old: int, given: int, source: chance.Source = chance.SYSTEM
    ) -> int:
        """Upgrade every bit; the answer is the number that the true bits write."""
        return self.upgrade_bits(old, given, source)


@dataclass(frozen=True, eq=False)
class CohortDesign(HashedDocument):
    """A string design within a cohort, as a stage of a ledger. The answer is a string.

    Attributes:
        design: for all cohorts.
        cohort: the respondent's.

    Example:
        >>> from deniable.types.strings.design import string_design
        >>> mine = CohortDesign(string_design(Bloom(128), epsilon=4), cohort=7)
        >>> mine.epsilon, mine.categories
        (4.0, (Bloom(bits=128, hashes=1, cohorts=64), 7))
    """

    SCHEMA: ClassVar[str] = "cohort-design"
    design: StringDesign
    cohort: int

    def __post_init__(self) -> None:
        if not 0 <= self.cohort < self.design.bloom.cohorts:
            raise InvalidRequest(
                f"there is no cohort {self.cohort}; expected 0 to {self.design.bloom.cohorts - 1}."
            )

    @property
    def channel(self) -> Filter:
        """How the bits of a filter are randomized."""
        bits = self.design.channel
        return Filter(bits.size, bits.hit, bits.stray, bits.total)

    @property
    def categories(self) -> tuple[Bloom, int]:
        """What strings become: stages of one question have it in common."""
        return self.design.bloom, self.cohort

    @property
    def symbols(self) -> Bitstrings:
        """What bits are called."""
        return Bitstrings(self.design.bloom.bits)

    @property
    def parity(self) -> exact.Ratio:
        """The parity of a whole response, exactly."""
        return self.design.parity

    @property
    def epsilon(self) -> float:
        """The ε of a whole response, rounded up."""
        return self.design.epsilon

    def category_number(self, answer: str | Mapping[str, str]) -> int:
        """Return the number that the bits of a string write.

        Raises:
            InvalidAnswer: no text. The message does not repeat it.
        """
        return self.design.bloom.filter(answer, self.cohort)  # type: ignore[arg-type]  # refused if it is no text

    def counted(self, response: Response) -> StringResponse:
        """Return a response of a ledger as one that is counted, with its cohort."""
        return StringResponse.of(
            self.design, self.cohort, self.symbols.index(response.symbol)
        )

    def to_body(self) -> dict[str, Any]:
        return {"design": self.design.to_body(), "cohort": self.cohort}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> CohortDesign:
        return cls(
            StringDesign.from_body(documents.field(body, "design", dict)),
            documents.integer_field(body, "cohort"),
        )


def string_ladder(designs: Iterable[StringDesign], cohort: int) -> Ladder:
    """Return the ladder of string designs within a cohort, for a planned question of a ledger.

    Raises:
        NotOrdered: a stage that cannot follow the one before.
        Incompatible: the filters differ.

    Example:
        >>> from deniable.types.strings.design import string_design
        >>> len(string_ladder([string_design(Bloom(128), epsilon) for epsilon in (1, 2, 4)], cohort=7))
        3
    """
    stages = tuple(CohortDesign(design, cohort) for design in designs)
    for one, two in pairwise(stages):
        relax_strings(one.design, two.design)
    steps = tuple(
        FilterStep(one.channel, two.channel) for one, two in pairwise(stages)
    )
    return Ladder(stages, steps)  # type: ignore[arg-type]  # they have all that a ladder asks of designs


FORMS[Filter, Filter] = partial(bit_by_bit, kind=FilterStep)


DESIGN = StringDesign
"""The design class of this type."""


def known_answers(design: StringDesign) -> list[str]:
    """Return a few strings that differ much."""
    letters: str = getattr(design.bloom, "alphabet", None) or "abc"
    return [letters[0], letters[1], letters[0] * 2, letters[1] * 2]
