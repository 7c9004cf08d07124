"""RAPPOR's repeated noisy sampling of a permanent bit: what it reveals after K samples, and how well it estimates.

Relaxation at the same ε is never worse, and better from the second sample on (docs/theory/noisy-sampling.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from deniable import chance, exact
from deniable.errors import InvalidDesign, InvalidRequest

__all__ = ["NoisySampling"]


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
    def of(cls, alpha: exact.Rational, p: exact.Rational, q: exact.Rational) -> NoisySampling:
        """Read the three probabilities exactly.

        Raises:
            InvalidDesign: they are not in order.
            InvalidNumber: not probabilities.
        """
        read = (exact.probability(each, name=name) for each, name in ((alpha, "alpha"), (p, "p"), (q, "q")))
        return cls(*read)

    @classmethod
    def symmetric(cls, permanent: exact.Rational, sample: exact.Rational) -> NoisySampling:
        """Build from the ε of the permanent bit and the ε of one sample of it, with p = 1 − q; rounded towards privacy.

        Raises:
            InvalidNumber: an ε that is not positive.

        Example:
            >>> NoisySampling.symmetric(1, 0.5).epsilon(1) < 0.2273363
            True
        """
        alpha, p = (_kept(exact.exp_below(exact.positive_epsilon(each))) for each in (permanent, sample))
        return cls(alpha, p, 1 - p)

    @staticmethod
    def check_samples(samples: int, *, least: int = 1) -> None:
        """Refuse what is no number of samples.

        Raises:
            InvalidRequest: fewer than the least, or no whole number.
        """
        if type(samples) is not int or samples < least:
            raise InvalidRequest(f"there are {samples!r:.40} samples; expected {least} or more.")

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
        ones, zeros = exact.ratio(self.p, self.q), exact.ratio(1 - self.q, 1 - self.p)
        return self._carried(ones, samples), self._carried(zeros, samples)

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
        return self.sum_variance(samples, bit=bit) / (samples * (self.p - self.q) * (2 * self.alpha - 1)) ** 2

    def share(self, ones: exact.Rational, samples: int) -> Fraction:
        """Return the unbiased estimate of the share of true ones, from the mean number of ones among K samples.

        Raises:
            InvalidRequest: fewer than one sample.
        """
        self.check_samples(samples)
        permanent = (exact.rational(ones) / samples - self.q) / (self.p - self.q)
        return (permanent - (1 - self.alpha)) / (2 * self.alpha - 1)

    def _carried(self, base: exact.Ratio, samples: int) -> exact.Ratio:
        if base == math.inf and samples:
            return exact.ratio(self.alpha, 1 - self.alpha)
        factor = Fraction(base) ** samples if samples else Fraction(1)
        return exact.ratio(self.alpha * factor + 1 - self.alpha, (1 - self.alpha) * factor + self.alpha)


def _kept(ratio: Fraction) -> Fraction:
    """Return ratio / (ratio + 1) in 64 bits, rounded towards 1/2."""
    return Fraction(int(chance.TOTAL * ratio / (ratio + 1)), chance.TOTAL)
