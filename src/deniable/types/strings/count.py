"""How often each bit was 1 in each cohort: all that an estimate needs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.errors import InvalidResponse, kind_of
from deniable.rendering import Rendered
from deniable.tallies.base import AdditiveTally, Counts, read_only
from deniable.types.strings.design import (
    Bloom,
    NoisySampling,
    StringDesign,
    StringResponse,
)

if TYPE_CHECKING:
    from deniable.types.strings import estimate as _estimate

__all__ = ["CohortCounts", "NoisyTally", "StringTally", "count_ones", "tally"]

Floats: TypeAlias = NDArray[np.float64]


class CohortCounts:
    """Counts of ones, cohort by cohort.

    Attributes:
        bloom: how strings become bits.
        ones: a row for each cohort, a count for each bit.
        sizes: how many respondents each cohort has.
    """

    ones: Counts
    sizes: Counts

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate

        @property
        def bloom(self) -> Bloom: ...

    def _freeze(self, max_ones: int) -> None:
        """Check counts and make them read-only; a respondent may have so many ones at a bit."""
        cohorts, bits = self.bloom.cohorts, self.bloom.bits
        ones = read_only(self.ones, (cohorts, bits), "cohorts × bits")
        sizes = read_only(self.sizes, (cohorts,), "one for each cohort")
        if (ones / max_ones > sizes[:, None]).any():
            raise InvalidResponse(
                "a count is larger than the number of responses; expected at most that."
            )
        object.__setattr__(self, "ones", ones)
        object.__setattr__(self, "sizes", sizes)

    @property
    def respondents(self) -> int:
        """How many respondents were counted."""
        return int(self.sizes.sum())

    @abstractmethod
    def rates(self) -> tuple[float, float]:
        """Return the mean number of ones of a respondent at a bit, where its truth is 1 and where it is 0."""

    @abstractmethod
    def spread(self, ones: Floats) -> Floats:
        """Return the variance of the number of ones of a respondent at a bit, of which such a share is truly 1."""

    @abstractmethod
    def _with_bloom(self, bloom: Bloom, ones: Counts, sizes: Counts) -> Self:
        """Return other counts of another filter, with the same device."""

    def bit_variance(self, ones: Floats) -> Floats:
        """Return the variance of what a respondent says about a bit, without bias, of which such a share is truly 1."""
        p_true, p_false = self.rates()
        return self.spread(ones) / (p_true - p_false) ** 2

    def true_shares(self) -> Floats:
        """Return the unbiased share of true ones at each bit, a row for each cohort in use."""
        used, (p_true, p_false) = self.sizes > 0, self.rates()
        ones = self.ones[used] / self.sizes[used, None]
        return np.asarray((ones - p_false) / (p_true - p_false), np.float64)

    def at_level(self, level: int) -> Self:
        """Return the counts of one level, as of a filter of which only these cohorts are in use."""
        bloom = self.bloom
        used = np.arange(bloom.cohorts) // (bloom.cohorts // bloom.levels) == level
        ones = np.where(used[:, None], self.ones, 0)
        return self._with_bloom(bloom.whole, ones, np.where(used, self.sizes, 0))


@dataclass(frozen=True, eq=False)
class StringTally(CohortCounts, AdditiveTally[StringDesign]):
    """How often each bit was sent as 1, cohort by cohort.

    Attributes:
        design: what the responses were drawn with.
        ones: a row for each cohort, a count for each bit.
        sizes: how many responses each cohort sent.
        missing: how many respondents sent nothing.
    """

    SCHEMA: ClassVar[str] = "string-tally"

    design: StringDesign
    ones: Counts = field(repr=False)
    sizes: Counts = field(repr=False)
    missing: int = 0

    def __post_init__(self) -> None:
        self._freeze(1)
        super().__post_init__()

    @classmethod
    def empty(cls, design: StringDesign) -> StringTally:
        return cls(design, *_zeros(design.bloom))

    @property
    def bloom(self) -> Bloom:
        """How strings become bits."""
        return self.design.bloom

    def rates(self) -> tuple[float, float]:
        p_true, p_false = self.design.bit
        return float(p_true), float(p_false)

    def spread(self, ones: Floats) -> Floats:
        p_true, p_false = self.rates()
        rate = p_false + (p_true - p_false) * ones
        return rate * (1 - rate)

    def _with_bloom(self, bloom: Bloom, ones: Counts, sizes: Counts) -> StringTally:
        return StringTally(StringDesign(bloom, self.design.channel), ones, sizes)

    def to_body(self) -> dict[str, Any]:
        body = super().to_body()
        if not self.missing:
            del body["missing"]
        return body

    @classmethod
    def _read_parts(
        cls, body: Mapping[str, Any], design: StringDesign
    ) -> dict[str, Any]:
        return super()._read_parts({"missing": 0, **body}, design)


@dataclass(frozen=True, eq=False)
class NoisyTally(CohortCounts, Rendered):
    """The same for RAPPOR's repeated samples: how many ones all samples of a cohort had at each bit.

    Attributes:
        bloom: how strings become bits.
        noisy: how bits are sampled.
        samples: how many each respondent sent.
        ones: a row for each cohort, a count for each bit, summed over the samples.
        sizes: how many respondents each cohort has.
    """

    asks: ClassVar[str] = "strings"
    design: ClassVar[None] = None  # and so no ε: who samples may go on sampling
    missing: ClassVar[int] = 0

    bloom: Bloom
    noisy: NoisySampling
    samples: int
    ones: Counts = field(repr=False)
    sizes: Counts = field(repr=False)

    def __post_init__(self) -> None:
        self.noisy.check_samples(self.samples)
        self._freeze(self.samples)

    def rates(self) -> tuple[float, float]:
        p, q, alpha = self.noisy.p, self.noisy.q, self.noisy.alpha
        p_true, p_false = alpha * p + (1 - alpha) * q, (1 - alpha) * p + alpha * q
        return self.samples * float(p_true), self.samples * float(p_false)

    def spread(self, ones: Floats) -> Floats:
        one, zero = (
            float(self.noisy.sum_variance(self.samples, bit=bit)) for bit in (1, 0)
        )
        p_true, p_false = self.rates()
        between = ones * (1 - ones) * (p_true - p_false) ** 2
        return ones * one + (1 - ones) * zero + between

    def _with_bloom(self, bloom: Bloom, ones: Counts, sizes: Counts) -> NoisyTally:
        return replace(self, bloom=bloom, ones=ones, sizes=sizes)

    def to_body(self) -> dict[str, Any]:
        """Return the counts for JSON, with what they were sampled with."""
        return {
            "bloom": self.bloom.to_body(),
            "noisy": [str(self.noisy.alpha), str(self.noisy.p), str(self.noisy.q)],
            "samples": self.samples,
            "ones": self.ones.tolist(),
            "sizes": self.sizes.tolist(),
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> NoisyTally:
        """Read what `to_body` wrote."""
        return cls(
            Bloom.from_body(documents.field(body, "bloom", dict)),
            NoisySampling.of(*documents.field(body, "noisy", list)),
            documents.integer_field(body, "samples"),
            np.array(documents.field(body, "ones", list)),
            np.array(documents.field(body, "sizes", list)),
        )


TALLY = StringTally


def tally(
    design: StringDesign, responses: Iterable[StringResponse | None]
) -> StringTally:
    """Count responses.

    Args:
        design: what the responses were drawn with.
        responses: one for each respondent; None for a respondent who sent nothing.

    Raises:
        Incompatible: a response of another design.
        InvalidResponse: no response of this design.

    Example:
        >>> from deniable.types.strings.design import string_design
        >>> design = string_design(Bloom(4, cohorts=2), epsilon=1)
        >>> tally(design, [StringResponse(design.hash, 1, "b0110")]).ones.tolist()
        [[0, 0, 0, 0], [0, 1, 1, 0]]
    """
    _check_iterable(responses)
    ones, sizes = _zeros(design.bloom)
    missing = 0
    for row, response in enumerate(responses, start=1):
        if response is None:
            missing += 1
            continue
        if not isinstance(response, StringResponse):
            raise InvalidResponse(
                f"row {row + 1:,} is {kind_of(response)}; expected a StringResponse."
            )
        bits = response.bits(design)
        sizes[response.cohort] += 1
        ones[response.cohort] += [
            bits >> place & 1 for place in range(design.bloom.bits)
        ]
    return StringTally(design, ones, sizes, missing)


def _check_iterable(responses: object) -> None:
    if isinstance(responses, str | bytes | Mapping) or not isinstance(
        responses, Iterable
    ):
        raise InvalidResponse(
            f"the responses are a {type(responses).__name__}; expected one for each respondent."
        )


def _zeros(bloom: Bloom) -> tuple[Counts, Counts]:
    ones = np.zeros((bloom.cohorts, bloom.bits), np.int64)
    return ones, np.zeros(bloom.cohorts, np.int64)


def count_ones(
    bloom: Bloom, cohorts: NDArray[Any], rows: NDArray[np.uint8]
) -> tuple[Counts, Counts]:
    """Return how many ones each cohort sent at each place, and how many rows it sent.

    Raises:
        InvalidResponse: rows of another shape, or no cohorts.
    """
    given = np.asarray(cohorts)
    if rows.dtype != np.uint8 or rows.shape != (len(given), -(-bloom.bits // 8)):
        raise InvalidResponse(
            f"the rows do not have the bytes of {bloom.bits} bits, one for each cohort; expected both."
        )
    if len(given) and not 0 <= given.min() <= given.max() < bloom.cohorts:
        raise InvalidResponse(
            f"a cohort is out of range; expected 0 to {bloom.cohorts - 1}."
        )
    sizes = np.bincount(given, minlength=bloom.cohorts).astype(np.int64)
    order = np.argsort(given, kind="stable")
    ones, _ = _zeros(bloom)
    for cohort, group in enumerate(np.split(rows[order], np.cumsum(sizes)[:-1])):
        bits = np.unpackbits(group, axis=1, count=bloom.bits, bitorder="little")
        ones[cohort] = bits.sum(axis=0)
    return ones, sizes


def count_labels(design: StringDesign, columns: Mapping[str, Any]) -> StringTally:
    """Count columns of cohorts and of bits, written as text, in a file."""
    rows = zip(
        columns["cohort"].to_pylist(), columns["response"].to_pylist(), strict=True
    )
    sent = (
        None
        if bits is None
        else StringResponse(design.hash, _read_cohort(cohort), str(bits))
        for cohort, bits in rows
    )
    return tally(design, sent)


def _read_cohort(text: object) -> int:
    try:
        return int(str(text))
    except ValueError:
        raise InvalidResponse(
            "a cohort is no whole number; expected one beside each response."
        ) from None
