"""How often each bit was 1 in each cohort: all that an estimate needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

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

__all__ = ["NoisyTally", "StringTally", "tally"]

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StringTally(AdditiveTally[StringDesign]):
    """How often each bit was sent as 1, cohort by cohort.

    Attributes:
        design: what the responses were drawn with.
        ones: a row for each cohort, a count for each bit.
        sizes: how many responses each cohort sent.
        missing: how many respondents sent nothing.
    """

    SCHEMA: ClassVar[str] = "string-tally"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate

    design: StringDesign
    ones: Counts = field(repr=False)
    sizes: Counts = field(repr=False)
    missing: int = 0

    def __post_init__(self) -> None:
        _freeze(self, self.design.bloom, most=1)
        super().__post_init__()

    @classmethod
    def empty(cls, design: StringDesign) -> StringTally:
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

    def to_body(self) -> dict[str, Any]:
        body = super().to_body()
        return (
            body
            if self.missing
            else {name: part for name, part in body.items() if name != "missing"}
        )

    @classmethod
    def _read_parts(
        cls, body: Mapping[str, Any], design: StringDesign
    ) -> dict[str, Any]:
        return super()._read_parts({"missing": 0, **body}, design)


@dataclass(frozen=True, eq=False)
class NoisyTally(Rendered):
    """The same for RAPPOR's repeated samples: how many ones all samples of a cohort had at each bit.

    Attributes:
        bloom: how strings become bits.
        noisy: how bits are sampled.
        samples: how many each respondent sent.
        ones: a row for each cohort, a count for each bit, summed over the samples.
        sizes: how many respondents each cohort has.
    """

    asks: ClassVar[str] = "strings"

    if TYPE_CHECKING:  # the signature of the verb; estimates import tallies
        estimate = _estimate.estimate

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
        return self.samples * float(hit), self.samples * float(
            (1 - alpha) * p + alpha * q
        )

    def spread(self, ones: Floats) -> Floats:
        """Return the variance of one respondent's ones at a bit, of which such a share is truly 1."""
        one, zero = (
            float(self.noisy.sum_variance(self.samples, bit=bit)) for bit in (1, 0)
        )
        gap = self.rates()[0] - self.rates()[1]
        return ones * one + (1 - ones) * zero + ones * (1 - ones) * gap**2


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
    ones, sizes = _zeros(design.bloom)
    missing = 0
    if isinstance(responses, str | bytes | Mapping) or not isinstance(
        responses, Iterable
    ):
        raise InvalidResponse(
            f"the responses are a {type(responses).__name__}; expected one for each respondent."
        )
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


def _zeros(bloom: Bloom) -> tuple[Counts, Counts]:
    return np.zeros((bloom.cohorts, bloom.bits), np.int64), np.zeros(
        bloom.cohorts, np.int64
    )


def _freeze(tally: Any, bloom: Bloom, *, most: int) -> None:
    """Check counts and make them read-only."""
    ones = read_only(tally.ones, (bloom.cohorts, bloom.bits), "cohorts × bits")
    sizes = read_only(tally.sizes, (bloom.cohorts,), "one for each cohort")
    if (ones / most > sizes[:, None]).any():
        raise InvalidResponse(
            "a count is larger than the number of responses; expected at most that."
        )
    object.__setattr__(tally, "ones", ones)
    object.__setattr__(tally, "sizes", sizes)


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
