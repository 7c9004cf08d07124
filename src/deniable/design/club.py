"""The three-answer designs in closed form: matrix, parity, estimates and their covariance, in exact numbers.

The estimates and covariances that users see come from the general inverse of the channel; what stands here is used to
choose designs, and to check that inverse with `==`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from deniable import exact

Triple: TypeAlias = tuple[Fraction, Fraction, Fraction]


@dataclass(frozen=True)
class Club:
    """RR3♣: the first answer is kept with p1; the other two say "not the first" with p2, and then which with q.

    RR3‡ and RR3† are members of it: `Club.ddagger(p1, p2)` and `Club.dagger(p1, p2)`.

    Implements: the matrix P♣ of [MW21], Section 3.3, with its rows as our columns.
    """

    p1: Fraction
    p2: Fraction
    q: Fraction

    @classmethod
    def dagger(cls, p1: Fraction, p2: Fraction) -> Club:
        """Return RR3†: the first answer kept with p1, each other one with p2, all else evenly."""
        return cls(p1, (1 + p2) / 2, 2 * p2 / (1 + p2))

    @classmethod
    def ddagger(cls, p1: Fraction, p2: Fraction) -> Club:
        """Return RR3‡: first or not is told rightly with p1, and which of the others with p2."""
        return cls(p1, p1, p2)

    @property
    def columns(self) -> tuple[Triple, Triple, Triple]:
        """For each answer the probabilities of the three responses."""
        spread, kept, swapped = (1 - self.p1) / 2, self.p2 * self.q, self.p2 * (1 - self.q)
        return (self.p1, spread, spread), (1 - self.p2, kept, swapped), (1 - self.p2, swapped, kept)

    @property
    def first_gap(self) -> Fraction:
        """How much more often the first response comes from the first answer than from another: p1 + p2 − 1."""
        return self.p1 + self.p2 - 1

    @property
    def other_gap(self) -> Fraction:
        """How much more often the two other answers send their own response than each other's: p2·(2q − 1)."""
        return self.p2 * (2 * self.q - 1)

    @property
    def parity(self) -> exact.Ratio:
        """The parity: the larger of max/min of {p1, 1 − p2} and max/min of {(1 − p1)/2, p2·q, p2·(1 − q)}."""
        (p1, spread, _), (other, kept, swapped), _ = self.columns
        groups = ((p1, other), (spread, kept, swapped))
        return max(exact.ratio(max(group), min(group)) for group in groups)

    def estimates(self, observed: Sequence[Fraction]) -> Triple:
        """Return the unbiased shares from the observed shares of the three responses.

        Implements: [MW21], Corollaries 3 to 5, with the constants corrected. Both gaps must differ from 0.
        """
        zero, one, two = observed
        first = (zero - (1 - self.p2)) / self.first_gap
        difference = (one - two) / self.other_gap
        return first, (1 - first + difference) / 2, (1 - first - difference) / 2

    def first_variance(self, share: Fraction) -> Fraction:
        """Return the variance of the first share for one respondent, also where the other two cannot be told apart."""
        lam = 1 - self.p2 + self.first_gap * share
        return lam * (1 - lam) / self.first_gap**2

    def covariance(self, shares: Sequence[Fraction]) -> tuple[Triple, Triple, Triple]:
        """Return the covariance of the estimates for one respondent drawn from these shares; for n divide by n.

        Implements: [MW21], eqs. (29), (31), (33) for the first share, and the rest of the matrix, in which the
        covariances of the counts count too.
        """
        D, c = self.first_gap, self.other_gap
        lam = 1 - self.p2 + D * shares[0]
        tilt = shares[1] - shares[2]
        v0, vd, c0 = self.first_variance(shares[0]), (1 - lam) / c**2 - tilt**2, -lam * tilt / D
        near, far = (v0 + vd - 2 * c0) / 4, (v0 + vd + 2 * c0) / 4
        return (
            (v0, (c0 - v0) / 2, -(c0 + v0) / 2),
            ((c0 - v0) / 2, near, (v0 - vd) / 4),
            (-(c0 + v0) / 2, (v0 - vd) / 4, far),
        )
