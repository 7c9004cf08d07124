"""The three-answer designs in closed form: which parameters keep to an ε, and the best of them for a weighting.

In the coordinates a = P(0|0), u = P(1|1) and v = P(2|1) every condition is linear: RR3♣ fills a polytope with at most
eight faces, of which RR3† (u + 2v = 1) and RR3‡ (u + v = a) are slices. So corners and edges are exact rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple, TypeAlias

from deniable import exact
from deniable.errors import InvalidRequest, require_choice
from deniable.exact import Rational

Triple: TypeAlias = tuple[Fraction, Fraction, Fraction]


@dataclass(frozen=True)
class Club:
    """RR3♣: the first answer is kept with p1; the others say "not the first" with p2, then which with q.

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
        p_each_other, p_kept, swapped = (
            (1 - self.p1) / 2,
            self.p2 * self.q,
            self.p2 * (1 - self.q),
        )
        return (
            (self.p1, p_each_other, p_each_other),
            (1 - self.p2, p_kept, swapped),
            (1 - self.p2, swapped, p_kept),
        )

    @property
    def point(self) -> Triple:
        """(a, u, v) = (p1, p2·q, p2·(1 − q)), in which the conditions on the parity are linear."""
        return self.p1, self.p2 * self.q, self.p2 * (1 - self.q)

    @property
    def first_gap(self) -> Fraction:
        """p1 + p2 − 1: P(first response | first answer) − P(first response | another answer)."""
        return self.p1 + self.p2 - 1

    @property
    def other_gap(self) -> Fraction:
        """p2·(2q − 1): P(own response) − P(the other's response) for the second and third answer."""
        return self.p2 * (2 * self.q - 1)

    @property
    def parity(self) -> exact.Ratio:
        """Parity: the larger of max/min of {p1, 1 − p2} and max/min of {(1 − p1)/2, p2·q, p2·(1 − q)}."""
        (p1, p_each_other, _), (p_other, p_kept, swapped), _ = self.columns
        groups = ((p1, p_other), (p_each_other, p_kept, swapped))
        return max(exact.parity(group) for group in groups)

    def first_variance(self, share: Fraction) -> Fraction:
        """Return the variance of the first share per respondent, also where the other two are not identifiable."""
        lam = 1 - self.p2 + self.first_gap * share
        return lam * (1 - lam) / self.first_gap**2


Plane: TypeAlias = tuple[Fraction, Fraction, Fraction, Fraction]
"""Coefficients of a, u and v, and the bound: the sum is at most the bound on one side."""


class Corner(NamedTuple):
    """A corner of a region: where it is, and which of the eight conditions hold there with equality."""

    point: Triple
    tight: frozenset[int]


@dataclass(frozen=True)
class Slice:
    """One of the families: its parameters, and the planes in which it lies."""

    name: str
    parameters: tuple[str, ...]
    planes: tuple[Plane, ...]


def _plane(
    a: Fraction | int, u: Fraction | int, v: Fraction | int, bound: Fraction | int
) -> Plane:
    return Fraction(a), Fraction(u), Fraction(v), Fraction(bound)


DAGGER = Slice("rr3_dagger", ("p1", "p2"), (_plane(0, 1, 2, 1),))
DDAGGER = Slice("rr3_ddagger", ("p1", "p2"), (_plane(-1, 1, 1, 0),))
CLUB = Slice("rr3_club", ("p1", "p2", "q"), ())
SLICES = {family.name: family for family in (DAGGER, DDAGGER, CLUB)}


def find(family: str) -> Slice:
    """Return a family by name.

    Raises:
        InvalidRequest: not one of the three.
    """
    require_choice("the family is", family, SLICES)
    return SLICES[family]


def club(family: str, *parameters: Rational) -> Club:
    """Return a member of a family in the parameters of RR3♣.

    Raises:
        InvalidRequest: another number of parameters than the family has.
        InvalidNumber: not probabilities.
    """
    names = find(family).parameters
    if len(parameters) != len(names):
        raise InvalidRequest(
            f"{family} has the parameters {', '.join(names)}; {len(parameters)} were given."
        )
    values = [
        exact.probability(value, name=name)
        for value, name in zip(parameters, names, strict=True)
    ]
    if family == DAGGER.name:
        return Club.dagger(*values)
    return Club.ddagger(*values) if family == DDAGGER.name else Club(*values)


def conditions(gamma: Fraction) -> tuple[Plane, ...]:
    """Return the eight parity conditions on {p1, 1 − p2} and {(1 − p1)/2, u, v}: no ratio exceeds γ."""
    x = gamma
    return (
        _plane(1, x, x, x),  # p1 ≤ γ(1 − p2)
        _plane(-x, -1, -1, -1),  # 1 − p2 ≤ γ·p1
        _plane(-1, -2 * x, 0, -1),  # (1 − p1)/2 ≤ γu
        _plane(x, 2, 0, x),  # u ≤ γ(1 − p1)/2
        _plane(-1, 0, -2 * x, -1),  # (1 − p1)/2 ≤ γv
        _plane(x, 0, 2, x),  # v ≤ γ(1 − p1)/2
        _plane(0, 1, -x, 0),  # u ≤ γv
        _plane(0, -x, 1, 0),  # v ≤ γu
    )


def corners(
    family: str, gamma: Fraction, *, q: Rational | None = None
) -> tuple[Corner, ...]:
    """Return the corners of a family's region; with q those of the slice of RR3♣ at this q."""
    if gamma <= 1:
        raise InvalidRequest(f"γ is {gamma}; expected more than 1.")
    planes = _planes(family, q)
    bounds = conditions(gamma)
    corners_by_point: dict[Triple, Corner] = {}
    for chosen in combinations(bounds, 3 - len(planes)):
        point = _plane_intersection((*planes, *chosen))
        if point is None:
            continue
        slacks = [slack(plane, point) for plane in bounds]
        if min(slacks) >= 0:
            tight = frozenset(i for i, room in enumerate(slacks) if room == 0)
            corners_by_point.setdefault(point, Corner(point, tight))
    return tuple(corners_by_point.values())


def edges(
    family: str, gamma: Fraction, *, q: Rational | None = None
) -> Iterator[tuple[Corner, Corner]]:
    """Yield the edges of a family's region as pairs of corners.

    Why: two corners with as many common tight conditions as it takes to leave one dimension lie on one line.
    """
    common = 2 - len(_planes(family, q))
    for corner_a, corner_b in combinations(corners(family, gamma, q=q), 2):
        if len(corner_a.tight & corner_b.tight) >= common:
            yield corner_a, corner_b


def parameters_at(family: str, point: Triple) -> tuple[Fraction, ...]:
    """Return a family's parameters at a point (a, u, v)."""
    a, u, v = point
    if family == DAGGER.name:
        return a, u
    if family == DDAGGER.name:
        return a, u / (u + v)
    # "always the first": q never matters
    return a, u + v, u / (u + v) if u + v else Fraction(1, 2)


def _planes(family: str, q: Rational | None) -> tuple[Plane, ...]:
    planes = find(family).planes
    if q is None:
        return planes
    if family != CLUB.name:
        raise InvalidRequest(f"{family} has no parameter q.")
    share = exact.probability(q, name="q")
    return (_plane(0, 1 - share, -share, 0),)


def slack(plane: Plane, point: Triple) -> Fraction:
    """Return how far a point lies inside a condition; negative outside."""
    return plane[3] - exact.total(map(Fraction.__mul__, plane[:3], point))


def _plane_intersection(planes: tuple[Plane, ...]) -> Triple | None:
    """Return the intersection of three planes by Cramer's rule; None where it is not a point."""
    columns = list(zip(*planes, strict=True))
    determinant = _determinant(*columns[:3])
    if determinant == 0:
        return None
    right = columns[3]
    return (
        _determinant(right, columns[1], columns[2]) / determinant,
        _determinant(columns[0], right, columns[2]) / determinant,
        _determinant(columns[0], columns[1], right) / determinant,
    )


def _determinant(
    x: tuple[Fraction, ...], y: tuple[Fraction, ...], z: tuple[Fraction, ...]
) -> Fraction:
    return (
        x[0] * (y[1] * z[2] - y[2] * z[1])
        + x[1] * (y[2] * z[0] - y[0] * z[2])
        + x[2] * (y[0] * z[1] - y[1] * z[0])
    )


Floats: TypeAlias = tuple[float, float, float]
Three: TypeAlias = Sequence[Rational]

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
        """Whether all three shares are identifiable; if not, the optimum is only approached by designs that are."""
        return bool(self.club.first_gap and self.club.other_gap)


def optimum(
    family: str,
    gamma: Fraction,
    *,
    importance: Three = (1, 1, 1),
    guess: Three = ("1/3", "1/3", "1/3"),
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
        >>> optimum("rr3_dagger", Fraction(4)).parameters
        (Fraction(2, 3), Fraction(2, 3))
    """
    find(family)
    risk = risk_of(read_importance(importance), read_guess(guess))
    lowest, (a, u, v), corner = _best_on_edges(risk, edges(family, gamma))
    # the responses 1 and 2 swapped: the same design under other names
    if family != DAGGER.name and v > u:
        u, v = v, u
    return Optimum(family, parameters_at(family, (a, u, v)), lowest, corner)


def risk_of(importance: Floats, shares: Floats) -> Callable[[Floats], float]:
    """Return Σ importance · Var of one respondent as a function of (a, u, v): F8 in the region's coordinates."""
    w0, w1, w2 = importance
    tilt = shares[1] - shares[2]

    def risk(point: Floats) -> float:
        a, u, v = point
        first, difference = a + u + v - 1, u - v
        if first == 0 or (difference == 0 and w1 + w2 > 0):
            return math.inf
        lam = 1 - u - v + first * shares[0]
        total = (w0 + (w1 + w2) / 4) * lam * (1 - lam) / first**2 + (
            w1 - w2
        ) / 2 * lam * tilt / first
        if w1 + w2 > 0:
            total += (w1 + w2) / 4 * ((1 - lam) / difference**2 - tilt**2)
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


def read_importance(weights: Three) -> Floats:
    """Read three weights of 0 or more.

    Raises:
        InvalidRequest: anything else.
    """
    values = [exact.rational(weight, name="importance") for weight in weights]
    if len(values) != 3 or min(values) < 0 or not any(values):
        raise InvalidRequest(
            "the importance does not fit; expected three numbers of 0 or more, not all 0."
        )
    return float(values[0]), float(values[1]), float(values[2])


def read_guess(shares: Three) -> Floats:
    """Read three shares that sum to 1.

    Raises:
        InvalidRequest: anything else.
    """
    values = [exact.rational(share, name="guess") for share in shares]
    if len(values) != 3 or min(values) < 0 or abs(float(sum(values)) - 1) > 1e-6:
        raise InvalidRequest(
            "the guess does not fit; expected three shares of 0 or more that sum to 1."
        )
    return (
        float(values[0] / sum(values)),
        float(values[1] / sum(values)),
        float(values[2] / sum(values)),
    )


def _best_on_edges(
    risk: Callable[[Floats], float], borders: Iterable[tuple[Corner, Corner]]
) -> tuple[float, Triple, bool]:
    """Return the lowest risk on some edges, its point, and whether that is a corner, which rounding must not beat."""
    best: tuple[float, Triple, bool] | None = None
    for border in borders:
        for candidate in _edge_minima(risk, *border):
            gain = 0 if best is None or candidate[2] else 1e-12 * best[0]
            if best is None or candidate[0] < best[0] - gain:
                best = candidate
    assert best is not None, "a region without an edge"
    return best


def _edge_minima(
    risk: Callable[[Floats], float], corner_a: Corner, corner_b: Corner
) -> list[tuple[float, Triple, bool]]:
    """Return the two ends of an edge and the lowest points between them, each with its risk."""
    start, end = _floats(corner_a.point), _floats(corner_b.point)

    def height(fraction: float) -> float:
        a, u, v = (p + fraction * (q - p) for p, q in zip(start, end, strict=True))
        return risk((a, u, v))

    def at(fraction: float) -> Triple:
        a, u, v = (
            p + Fraction(fraction) * (q - p)
            for p, q in zip(corner_a.point, corner_b.point, strict=True)
        )
        return a, u, v

    scanned = [height(i / _SCAN) for i in range(_SCAN + 1)]
    candidates = [
        (scanned[0], corner_a.point, True),
        (scanned[-1], corner_b.point, True),
    ]
    for i in range(1, _SCAN):
        if scanned[i] < math.inf and scanned[i] <= min(
            scanned[i - 1], scanned[i + 1]
        ):
            minimum = lowest_between(height, (i - 1) / _SCAN, (i + 1) / _SCAN)
            candidates.append((height(minimum), at(minimum), False))
    return candidates


def lowest_between(
    height: Callable[[float], float], low: float, high: float, within: float = 1e-10
) -> float:
    """Return the minimizer of a function on an interval, by golden-section search."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = height(left), height(right)
    while high - low > within:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = height(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = height(right)
    return (low + high) / 2


def _floats(point: Triple) -> Floats:
    return float(point[0]), float(point[1]), float(point[2])
