"""The best member of a three-answer family at a given ε, for any weighting of the three shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from deniable import exact
from deniable.design.club import Club
from deniable.design.three_region import DAGGER, Corner, Point, club, edges, find, parameters_at
from deniable.errors import InvalidRequest

Floats: TypeAlias = tuple[float, float, float]
Three: TypeAlias = Sequence[exact.Rational]

_SCAN = 64  # points of an edge that are looked at before the search narrows
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Optimum:
    """The best member of a family.

    Attributes:
        family: whose member it is.
        parameters: in the order of the family's builder; exact where the optimum is a corner of the region.
        risk: Σ importance · variance for one respondent; for n respondents divide by n.
        corner: whether it is a corner of the region.
    """

    family: str
    parameters: tuple[Fraction, ...]
    risk: float
    corner: bool

    @property
    def club(self) -> Club:
        """The same design in the parameters of RR3♣."""
        return club(self.family, *self.parameters)

    @property
    def estimable(self) -> bool:
        """Whether all three shares can be told apart; if not, the optimum is only approached by designs that can."""
        return bool(self.club.first_gap and self.club.other_gap)


def optimum(
    family: str, gamma: Fraction, *, importance: Three = (1, 1, 1), guess: Three = ("1/3", "1/3", "1/3")
) -> Optimum:
    """Return the member of a family with a parity of at most γ and the smallest Σ importance · Var.

    Implements: for RR3† the optimum that [MW21], Theorem 4, looks for, corrected; for RR3‡ and RR3♣ its counterpart.

    Why the edges are enough: (1) A channel tP + (1 − t)K with a constant channel K is a garbling of P, so within RR3†
    and RR3‡, which each hold one constant channel, nothing is lost by moving away from it to the border of the region.
    (2) In RR3♣, let row₀ have a parity below γ. With ξ > 1 put row₀ − (ξ − 1)(row₁ + row₂) for row₀, and ξ·row₁ and
    ξ·row₂ for the others: a member again, of which the old one is a garbling (1 and 2 become 0 with probability
    1 − 1/ξ); so its parity may be raised to γ. Likewise rows 1 and 2, with κ > 0: row₁ − κ·row₀, row₂ − κ·row₀,
    (1 + 2κ)·row₀. Where both parities are γ two conditions hold with equality: an edge. Each edge is searched by a scan
    and golden sections; its ends are exact.

    Args:
        family: "rr3_dagger", "rr3_ddagger" or "rr3_club".
        gamma: the largest parity allowed, such as `exact.exp_below(epsilon)`.
        importance: how much the variance of each share matters.
        guess: the shares at which variances are compared.

    Raises:
        InvalidRequest: an unknown family, or an importance or a guess that does not fit.

    Example:
        >>> best = optimum("rr3_dagger", Fraction(4))
        >>> best.parameters
        (Fraction(2, 3), Fraction(2, 3))
    """
    find(family)
    weights, shares = read_importance(importance), read_guess(guess)
    risk = risk_of(weights, shares)
    best: tuple[float, Point, bool] | None = None
    for one, two in edges(family, gamma):
        for found in _along(risk, one, two):
            if best is None or found[0] < best[0] - (0 if found[2] else 1e-12 * best[0]):
                best = found
    assert best is not None, "a region without an edge"
    lowest, (a, u, v), corner = best
    if family != DAGGER.name and v > u:  # the responses 1 and 2 swapped: the same design under other names
        u, v = v, u
    return Optimum(family, parameters_at(family, (a, u, v)), lowest, corner)


def risk_of(importance: Floats, shares: Floats) -> Callable[[Floats], float]:
    """Return Σ importance · Var of one respondent as a function of (a, u, v): F8 in the region's coordinates."""
    w0, w1, w2 = importance
    tilt = shares[1] - shares[2]

    def risk(at: Floats) -> float:
        a, u, v = at
        first, other = a + u + v - 1, u - v
        if first == 0 or (other == 0 and w1 + w2 > 0):
            return math.inf
        lam = 1 - u - v + first * shares[0]
        total = (w0 + (w1 + w2) / 4) * lam * (1 - lam) / first**2 + (w1 - w2) / 2 * lam * tilt / first
        if w1 + w2 > 0:
            total += (w1 + w2) / 4 * ((1 - lam) / other**2 - tilt**2)
        return total

    return risk


def star(gamma: Fraction) -> tuple[Fraction, Fraction]:
    """Return p1 = p2 = γ/(γ + 2): the RR3† of the smallest total variance, which is k-ary randomized response."""
    return gamma / (gamma + 2), gamma / (gamma + 2)


def kink(gamma: Fraction) -> tuple[Fraction, Fraction]:
    """Return the other candidate for the smallest variance of the first share under RR3†.

    From γ = 2 on its p2 is 1/3, where the two other answers cannot be told apart.
    """
    if gamma < 2:
        return gamma**2 / (gamma**2 + 2), (gamma**2 - 2 * gamma + 2) / (gamma**2 + 2)
    return 1 - Fraction(2) / (3 * gamma), Fraction(1, 3)


def dagger_for_first(gamma: Fraction, share: exact.Rational) -> tuple[Fraction, Fraction]:
    """Return the RR3† parameters with the smallest variance of the first share, if that share is as guessed.

    Implements: [MW21], Theorem 4, corrected: the kink wins where γ < 2, or where the share is above
    (γ² − 2γ − 2)/(γ(γ − 1)); otherwise the star does.

    Example:
        >>> dagger_for_first(Fraction(4), "2/5"), dagger_for_first(Fraction(4), "3/5")
        ((Fraction(2, 3), Fraction(2, 3)), (Fraction(5, 6), Fraction(1, 3)))
    """
    known = exact.probability(share, name="share")
    if gamma < 2 or known > (gamma**2 - 2 * gamma - 2) / (gamma * (gamma - 1)):
        return kink(gamma)
    return star(gamma)


def read_importance(given: Three) -> Floats:
    """Read three weights of 0 or more.

    Raises:
        InvalidRequest: anything else.
    """
    values = [exact.rational(each, name="importance") for each in given]
    if len(values) != 3 or min(values) < 0 or not any(values):
        raise InvalidRequest("the importance does not fit; expected three numbers of 0 or more, not all 0.")
    return float(values[0]), float(values[1]), float(values[2])


def read_guess(given: Three) -> Floats:
    """Read three shares that sum to 1.

    Raises:
        InvalidRequest: anything else.
    """
    values = [exact.rational(each, name="guess") for each in given]
    if len(values) != 3 or min(values) < 0 or abs(float(sum(values)) - 1) > 1e-6:
        raise InvalidRequest("the guess does not fit; expected three shares of 0 or more that sum to 1.")
    return float(values[0] / sum(values)), float(values[1] / sum(values)), float(values[2] / sum(values))


def _along(risk: Callable[[Floats], float], one: Corner, two: Corner) -> list[tuple[float, Point, bool]]:
    """Return the two ends of an edge and the lowest points between them, each with its risk."""
    start, end = _floats(one.point), _floats(two.point)

    def height(place: float) -> float:
        a, u, v = (p + place * (q - p) for p, q in zip(start, end, strict=True))
        return risk((a, u, v))

    def at(place: float) -> Point:
        a, u, v = (p + Fraction(place) * (q - p) for p, q in zip(one.point, two.point, strict=True))
        return a, u, v

    scanned = [height(i / _SCAN) for i in range(_SCAN + 1)]
    found = [(scanned[0], one.point, True), (scanned[-1], two.point, True)]
    for i in range(1, _SCAN):
        if scanned[i] < math.inf and scanned[i] <= min(scanned[i - 1], scanned[i + 1]):
            place = _lowest(height, (i - 1) / _SCAN, (i + 1) / _SCAN)
            found.append((height(place), at(place), False))
    return found


def _lowest(height: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function is lowest between two places, by golden sections."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = height(left), height(right)
    while high - low > 1e-10:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = height(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = height(right)
    return (low + high) / 2


def _floats(point: Point) -> Floats:
    return float(point[0]), float(point[1]), float(point[2])
