"""What the estimated mean of known people does, exactly, for designs with two answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from deniable import exact
from deniable.designs import Design, Range
from deniable.errors import InvalidRequest, NotEstimable


@dataclass(frozen=True)
class Moments:
    """What the estimated mean of known people does, exactly: all of them are asked, and only the devices are random.

    Attributes:
        mean: its expectation.
        rounding: the part of its variance that rounding adds.
        device: the part of its variance that the device adds.
    """

    mean: Fraction
    rounding: Fraction
    device: Fraction

    @property
    def variance(self) -> Fraction:
        """The whole variance."""
        return self.rounding + self.device


def moments(
    range_: Range, values: Iterable[exact.Rational], design: Design
) -> Moments:
    """Return expectation and variance of the estimated mean of these values.

    Implements: F14, for every two-answer design.

    Raises:
        InvalidRequest: no values, or one outside the range.
        NotEstimable: the design does not tell the ends apart.

    Example:
        >>> from deniable.designs import warner
        >>> moments(Range.of(0, 1), [0, "1/2", 1], warner(p="3/4"))
        Moments(mean=Fraction(1, 2), rounding=Fraction(1, 36), device=Fraction(1, 4))
    """
    shares = [range_.share(exact.rational(value)) for value in values]
    if not shares or not 0 <= min(shares) <= max(shares) <= 1:
        raise InvalidRequest(
            "there are no values, or some lie outside the range; expected values inside."
        )
    n = len(shares)
    zero, gap = _ends(design)
    at = [share * gap + zero for share in shares]
    # The device's part: the variance of a response, given the end.
    ends = (zero * (1 - zero), (zero + gap) * (1 - zero - gap))
    device = sum(
        (ends[0] * (1 - share) + ends[1] * share for share in shares), Fraction(0)
    ) / (n * n * gap * gap)
    expected = (sum(at, Fraction(0)) / n - zero) / gap
    rounding = sum((share * (1 - share) for share in shares), Fraction(0)) / (n * n)
    scale = range_.width**2
    return Moments(
        range_.low + range_.width * expected, scale * rounding, scale * device
    )


def from_share(range_: Range, design: Design, share: exact.Rational) -> Fraction:
    """Return the estimated mean if this share of the responses is "high", exactly.

    Raises:
        NotEstimable: the design does not tell the ends apart.

    Example:
        >>> from deniable.designs import warner
        >>> from_share(Range.of(0, 10), warner(p="3/4"), "1/2")
        Fraction(5, 1)
    """
    zero, gap = _ends(design)
    return (
        range_.low
        + range_.width * (exact.probability(share, name="share") - zero) / gap
    )


def _ends(design: Design) -> tuple[Fraction, Fraction]:
    """Return how often "high" is sent by the low end, and how much more often by the high end."""
    channel = design.channel
    if channel.answers != 2 or channel.responses != 2:
        raise InvalidRequest(
            "the design has more than two answers or responses; expected one about two ends."
        )
    zero = channel.probability(1, given=0)
    gap = channel.probability(1, given=1) - zero
    if not gap:
        raise NotEstimable(
            "the design sends the same for both ends; expected one that tells them apart."
        )
    return zero, gap
