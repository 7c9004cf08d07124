"""RR3†, RR3‡ and RR3♣ in closed form: estimates, covariances, the region and the optimum of Theorem 4, corrected."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from deniable import exact
from deniable.designs.three_answers_best import (
    Club,
    Triple,
    club,
    conditions,
    kink,
    slack,
    star,
)
from deniable.exact import Rational


def estimates(member: Club, observed: Sequence[Fraction]) -> Triple:
    """Return the unbiased shares from the observed shares of the three responses.

    Implements: [MW21], Corollaries 3 to 5, with the constants corrected. Both gaps must differ from 0.
    """
    zero, s1, s2 = observed
    first = (zero - (1 - member.p2)) / member.first_gap
    difference = (s1 - s2) / member.other_gap
    return first, (1 - first + difference) / 2, (1 - first - difference) / 2


def covariance(
    member: Club, shares: Sequence[Fraction]
) -> tuple[Triple, Triple, Triple]:
    """Return the covariance of the estimates for one respondent drawn from these shares; for n divide by n.

    Implements: [MW21], eqs. (29), (31), (33) for the first share, and the rest of the matrix, in which the
    covariances of the counts count too.
    """
    D, c = member.first_gap, member.other_gap
    lam = 1 - member.p2 + D * shares[0]
    tilt = shares[1] - shares[2]
    v0, vd, c0 = (
        member.first_variance(shares[0]),
        (1 - lam) / c**2 - tilt**2,
        -lam * tilt / D,
    )
    near, far = (v0 + vd - 2 * c0) / 4, (v0 + vd + 2 * c0) / 4
    return (
        (v0, (c0 - v0) / 2, -(c0 + v0) / 2),
        ((c0 - v0) / 2, near, (v0 - vd) / 4),
        (-(c0 + v0) / 2, (v0 - vd) / 4, far),
    )


def feasible(family: str, *parameters: Rational, gamma: Fraction) -> bool:
    """Tell whether a member of a family has a parity of at most γ.

    Implements: the region of [MW21], Section 4.1.2, for RR3† (with the condition that binds, 2p2 ≤ γ(1 − p2), in its
    first part), and the same for RR3‡ and RR3♣; on both sides of 1/3 and 1/2.

    Example:
        >>> feasible("rr3_dagger", 0.34, 0.7, gamma=exact.exp_below(1))
        False
    """
    point = club(family, *parameters).point
    return all(slack(plane, point) >= 0 for plane in conditions(gamma))


def region_part(p1: Rational, p2: Rational, *, gamma: Fraction) -> int:
    """Return the part of the printed region of RR3† that contains a point: 1 for p1 < p2, 2 for p2 < p1, else 0.

    Implements: Ω†(1) and Ω†(2) of [MW21], Section 4.1.2 and Figure 2, corrected: with p1 and p2 above 1/3 the condition
    that binds in Ω†(1) is 2p2 ≤ γ(1 − p2), and those in Ω†(2) are 2p1 ≤ γ(1 − p2) and 2p2 ≤ γ(1 − p1).
    """
    first, second = (
        exact.probability(p1, name="p1"),
        exact.probability(p2, name="p2"),
    )
    if (
        min(first, second) <= Fraction(1, 3)
        or max(first, second) >= 1
        or first == second
    ):
        return 0
    if first < second:
        return 1 if 2 * second <= gamma * (1 - second) else 0
    return (
        2
        if 2 * first <= gamma * (1 - second) and 2 * second <= gamma * (1 - first)
        else 0
    )


def dagger_for_first(gamma: Fraction, share: Rational) -> tuple[Fraction, Fraction]:
    """Return the RR3† parameters with the smallest variance of the first share, if that share is as guessed.

    Implements: [MW21], Theorem 4, corrected: the kink wins where γ < 2, or where the share is above
    (γ² − 2γ − 2)/(γ(γ − 1)); otherwise the star does.

    Example:
        >>> dagger_for_first(Fraction(4), "2/5"), dagger_for_first(Fraction(4), "3/5")
        ((Fraction(2, 3), Fraction(2, 3)), (Fraction(5, 6), Fraction(1, 3)))
    """
    known_share = exact.probability(share, name="share")
    if gamma < 2 or known_share > (gamma**2 - 2 * gamma - 2) / (gamma * (gamma - 1)):
        return kink(gamma)
    return star(gamma)
