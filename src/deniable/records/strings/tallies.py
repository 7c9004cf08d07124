"""How often each bit was 1 in each cohort: all that an estimate needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.errors import IncompatibleTallies, InvalidResponse, UnreadableFile
from deniable.records.strings.bloom import Bloom
from deniable.records.strings.designs import StringDesign, StringResponse
from deniable.records.strings.noisy import NoisySampling

__all__ = ["NoisyTally", "StringTally", "tally_strings"]

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StringTally:
    """How often each bit was sent as 1, cohort by cohort. Tallies of one design add up; the empty one is a true zero.

    Attributes:
        design: what the responses were drawn with.
        ones: a row for each cohort, a count for each bit.
        sizes: how many responses each cohort sent.
    """

    design: StringDesign
    ones: Counts = field(repr=False)
    sizes: Counts = field(repr=False)

    def __post_init__(self) -> None:
        _freeze(self, self.design.bloom, most=1)

    @classmethod
    def empty(cls, design: StringDesign) -> StringTally:
        """Return the tally of no responses."""
        return cls(design, *_zeros(design.bloom))

    @property
    def bloom(self) -> Bloom:
        """How strings become bits."""
        return self.design.bloom

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return int(self.sizes.sum())

    def rates(self) -> tuple[float, float]:
        """Return how often a bit is 1 on average, where its truth is 1 and where it is 0."""
        hit, stray = self.design.bit
        return float(hit), float(stray)

    def spread(self, ones: Floats) -> Floats:
        """Return the variance of one respondent's bit, of which such a share is truly 1; who is asked varies, too."""
        hit, stray = self.rates()
        rate = stray + (hit - stray) * ones
        return rate * (1 - rate)

    def __add__(self, other: StringTally) -> StringTally:
        if not isinstance(other, StringTally):
            return NotImplemented
        if self.design != other.design:
            raise IncompatibleTallies(
                f"cannot add a tally of {self.design!r} to one of {other.design!r}; expected one design.",
                "Estimate from each on its own.",
            )
        return StringTally(self.design, self.ones + other.ones, self.sizes + other.sizes)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, StringTally)
            and self.design == other.design
            and bool(np.array_equal(self.ones, other.ones))
            and bool(np.array_equal(self.sizes, other.sizes))
        )

    def __hash__(self) -> int:
        return hash((self.design, self.ones.tobytes(), self.sizes.tobytes()))

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the tally as JSON that names its design's hash."""
        body = {"design": self.design.hash, "ones": self.ones.tolist(), "sizes": self.sizes.tolist()}
        return documents.seal("string-tally", body, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes, design: StringDesign) -> StringTally:
        """Read a tally of a design.

        Raises:
            UnreadableFile: truncated, edited, or of another version.
            IncompatibleTallies: it was counted under another design.
        """
        body = documents.unseal("string-tally", text)
        named = documents.field(body, "design", str)
        if named != design.hash:
            raise IncompatibleTallies(f"this tally belongs to the design {named:.19}…; expected {design.hash:.19}….")
        try:
            ones, sizes = (np.array(documents.field(body, name, list)) for name in ("ones", "sizes"))
            return cls(design, ones, sizes)
        except (ValueError, OverflowError, TypeError):
            raise UnreadableFile("the counts are not whole numbers for each cohort and bit.") from None


@dataclass(frozen=True, eq=False)
class NoisyTally:
    """The same for RAPPOR's repeated samples: how many ones all samples of a cohort had at each bit.

    Attributes:
        bloom: how strings become bits.
        noisy: how bits are sampled.
        samples: how many each respondent sent.
        ones: a row for each cohort, a count for each bit, summed over the samples.
        sizes: how many respondents each cohort has.
    """

    bloom: Bloom
    noisy: NoisySampling
    samples: int
    ones: Counts = field(repr=False)
    sizes: Counts = field(repr=False)

    def __post_init__(self) -> None:
        self.noisy.check_samples(self.samples)
        _freeze(self, self.bloom, most=self.samples)

    @property
    def respondents(self) -> int:
        """How many respondents were counted."""
        return int(self.sizes.sum())

    def rates(self) -> tuple[float, float]:
        """Return how many ones the samples of a bit have on average, where its truth is 1 and where it is 0."""
        p, q, alpha = self.noisy.p, self.noisy.q, self.noisy.alpha
        hit = alpha * p + (1 - alpha) * q
        return self.samples * float(hit), self.samples * float((1 - alpha) * p + alpha * q)

    def spread(self, ones: Floats) -> Floats:
        """Return the variance of one respondent's ones at a bit, of which such a share is truly 1."""
        one, zero = (float(self.noisy.sum_variance(self.samples, bit=bit)) for bit in (1, 0))
        gap = self.rates()[0] - self.rates()[1]
        return ones * one + (1 - ones) * zero + ones * (1 - ones) * gap**2


def tally_strings(design: StringDesign, responses: Iterable[StringResponse]) -> StringTally:
    """Count responses.

    Raises:
        Incompatible: a response of another design.
        InvalidResponse: no response of this design.

    Example:
        >>> from deniable.records.strings.designs import string_design
        >>> design = string_design(Bloom(4, cohorts=2), epsilon=1)
        >>> tally_strings(design, [StringResponse(design.hash, 1, "b0110")]).ones.tolist()
        [[0, 0, 0, 0], [0, 1, 1, 0]]
    """
    ones, counts = _zeros(design.bloom)
    for response in responses:
        bits = response.bits(design)
        counts[response.cohort] += 1
        ones[response.cohort] += [bits >> place & 1 for place in range(design.bloom.bits)]
    return StringTally(design, ones, counts)


def _zeros(bloom: Bloom) -> tuple[Counts, Counts]:
    return np.zeros((bloom.cohorts, bloom.bits), np.int64), np.zeros(bloom.cohorts, np.int64)


def _freeze(tally: Any, bloom: Bloom, *, most: int) -> None:
    """Check counts and make them read-only."""
    ones, sizes = (np.array(each) for each in (tally.ones, tally.sizes))
    shapes = ones.shape == (bloom.cohorts, bloom.bits) and sizes.shape == (bloom.cohorts,)
    if not shapes or ones.dtype.kind not in "iu" or sizes.dtype.kind not in "iu":
        raise InvalidResponse(
            f"the counts have the shapes {ones.shape} and {sizes.shape}; expected whole numbers for {bloom.cohorts} "
            f"cohorts and {bloom.bits} bits."
        )
    ones, sizes = ones.astype(np.int64), sizes.astype(np.int64)  # what does not fit turns negative
    if (ones < 0).any() or (sizes < 0).any() or (ones / most > sizes[:, None]).any():
        raise InvalidResponse("a count is negative, or larger than the number of responses; expected neither.")
    for name, each in (("ones", ones), ("sizes", sizes)):
        each.flags.writeable = False
        object.__setattr__(tally, name, each)
