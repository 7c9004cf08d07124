"""Which parameters of the three-answer designs keep to a given ε.

In the coordinates a = P(0|0), u = P(1|1) and v = P(2|1) every condition is linear: RR3♣ fills a polytope with at most
eight faces, of which RR3† (u + 2v = 1) and RR3‡ (u + v = a) are slices. So corners and edges are exact rationals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple, TypeAlias

from deniable import exact
from deniable.design.club import Club
from deniable.errors import InvalidRequest

Point: TypeAlias = tuple[Fraction, Fraction, Fraction]
Plane: TypeAlias = tuple[Fraction, Fraction, Fraction, Fraction]
"""Coefficients of a, u and v, and the bound: the sum is at most the bound on one side."""


class Corner(NamedTuple):
    """A corner of a region: where it is, and which of the eight conditions hold there with equality."""

    point: Point
    tight: frozenset[int]


@dataclass(frozen=True)
class Slice:
    """One of the families: its parameters, and the planes in which it lies."""

    name: str
    parameters: tuple[str, ...]
    planes: tuple[Plane, ...]


def _plane(a: Fraction | int, u: Fraction | int, v: Fraction | int, bound: Fraction | int) -> Plane:
    return Fraction(a), Fraction(u), Fraction(v), Fraction(bound)


DAGGER = Slice("rr3_dagger", ("p1", "p2"), (_plane(0, 1, 2, 1),))
DDAGGER = Slice("rr3_ddagger", ("p1", "p2"), (_plane(-1, 1, 1, 0),))
CLUB = Slice("rr3_club", ("p1", "p2", "q"), ())
SLICES = {each.name: each for each in (DAGGER, DDAGGER, CLUB)}


def find(family: str) -> Slice:
    """Return a family by name.

    Raises:
        InvalidRequest: not one of the three.
    """
    if family not in SLICES:
        raise InvalidRequest(f"the family is {family!r:.40}; expected one of {', '.join(SLICES)}.")
    return SLICES[family]


def club(family: str, *parameters: exact.Rational) -> Club:
    """Return a member of a family in the parameters of RR3♣.

    Raises:
        InvalidRequest: another number of parameters than the family has.
        InvalidNumber: not probabilities.
    """
    names = find(family).parameters
    if len(parameters) != len(names):
        raise InvalidRequest(f"{family} has the parameters {', '.join(names)}; {len(parameters)} were given.")
    values = [exact.probability(value, name=name) for value, name in zip(parameters, names, strict=True)]
    if family == DAGGER.name:
        return Club.dagger(*values)
    return Club.ddagger(*values) if family == DDAGGER.name else Club(*values)


def feasible(family: str, *parameters: exact.Rational, gamma: Fraction) -> bool:
    """Tell whether a member of a family has a parity of at most γ.

    Implements: the region of [MW21], Section 4.1.2, for RR3† (with the condition that binds, 2p2 ≤ γ(1 − p2), in its
    first part), and the same for RR3‡ and RR3♣; on both sides of 1/3 and 1/2.

    Example:
        >>> feasible("rr3_dagger", 0.34, 0.7, gamma=exact.exp_below(1))
        False
    """
    point = _point(club(family, *parameters))
    return all(_holds(plane, point) for plane in conditions(gamma))


def part(p1: exact.Rational, p2: exact.Rational, *, gamma: Fraction) -> int:
    """Tell in which part of the printed region of RR3† a point lies: 1 for p1 < p2, 2 for p2 < p1, else 0.

    Implements: Ω†(1) and Ω†(2) of [MW21], Section 4.1.2 and Figure 2, corrected: with p1 and p2 above 1/3 the condition
    that binds in Ω†(1) is 2p2 ≤ γ(1 − p2), and those in Ω†(2) are 2p1 ≤ γ(1 − p2) and 2p2 ≤ γ(1 − p1).
    """
    one, two = exact.probability(p1, name="p1"), exact.probability(p2, name="p2")
    if min(one, two) <= Fraction(1, 3) or max(one, two) >= 1 or one == two:
        return 0
    if one < two:
        return 1 if 2 * two <= gamma * (1 - two) else 0
    return 2 if 2 * one <= gamma * (1 - two) and 2 * two <= gamma * (1 - one) else 0


def p1_range(family: str, *others: exact.Rational, gamma: Fraction) -> tuple[Fraction, Fraction] | None:
    """Return the smallest and the largest p1 that keep to γ with the other parameters as given; None where none does.

    Implements: in the proof of [MW21], Theorem 4, the largest p1 of RR3† at p2 = 1/3, which is min{γ/3, 1 − 2/(3γ)}.

    Example:
        >>> p1_range("rr3_dagger", "1/3", gamma=Fraction(5, 2))
        (Fraction(2, 15), Fraction(11, 15))
    """
    # The point (a, u, v) moves on a line with p1: two of its places say which.
    start, end = (_point(club(family, p1, *others)) for p1 in (0, 1))
    low, high = Fraction(0), Fraction(1)
    for plane in conditions(gamma):
        at_start, at_end = _slack(plane, start), _slack(plane, end)
        if at_start < 0 and at_end < 0:
            return None
        if at_start < 0 or at_end < 0:
            crossing = at_start / (at_start - at_end)
            low, high = (max(low, crossing), high) if at_start < 0 else (low, min(high, crossing))
    return (low, high) if low <= high else None


def conditions(gamma: Fraction) -> tuple[Plane, ...]:
    """Return the eight conditions: within {p1, 1 − p2} and {(1 − p1)/2, u, v} no entry is above γ times another."""
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


def corners(family: str, gamma: Fraction, *, q: exact.Rational | None = None) -> tuple[Corner, ...]:
    """Return the corners of a family's region; with q those of the slice of RR3♣ at this q."""
    if gamma <= 1:
        raise InvalidRequest(f"γ is {gamma}; expected more than 1.")
    given = _planes(family, q)
    bounds = conditions(gamma)
    found: dict[Point, Corner] = {}
    for chosen in combinations(bounds, 3 - len(given)):
        point = _crossing((*given, *chosen))
        if point is not None and point not in found and all(_holds(plane, point) for plane in bounds):
            tight = frozenset(i for i, plane in enumerate(bounds) if _slack(plane, point) == 0)
            found[point] = Corner(point, tight)
    return tuple(found.values())


def edges(family: str, gamma: Fraction, *, q: exact.Rational | None = None) -> Iterator[tuple[Corner, Corner]]:
    """Yield the edges of a family's region as pairs of corners.

    Why: two corners with as many common tight conditions as it takes to leave one dimension lie on one line.
    """
    common = 2 - len(_planes(family, q))
    for one, two in combinations(corners(family, gamma, q=q), 2):
        if len(one.tight & two.tight) >= common:
            yield one, two


def parameters_at(family: str, point: Point) -> tuple[Fraction, ...]:
    """Return a family's parameters at a point (a, u, v)."""
    a, u, v = point
    if family == DAGGER.name:
        return a, u
    if family == DDAGGER.name:
        return a, u / (u + v)
    return a, u + v, u / (u + v) if u + v else Fraction(1, 2)  # "always the first": q never matters


def _point(member: Club) -> Point:
    return member.p1, member.p2 * member.q, member.p2 * (1 - member.q)


def _planes(family: str, q: exact.Rational | None) -> tuple[Plane, ...]:
    planes = find(family).planes
    if q is None:
        return planes
    if family != CLUB.name:
        raise InvalidRequest(f"{family} has no parameter q.")
    share = exact.probability(q, name="q")
    return (_plane(0, 1 - share, -share, 0),)


def _slack(plane: Plane, point: Point) -> Fraction:
    return plane[3] - sum(map(Fraction.__mul__, plane[:3], point), Fraction(0))


def _holds(plane: Plane, point: Point) -> bool:
    return _slack(plane, point) >= 0


def _crossing(planes: tuple[Plane, ...]) -> Point | None:
    """Return the one point on three planes, if there is one, by Cramer's rule."""
    columns = list(zip(*planes, strict=True))
    whole = _determinant(*columns[:3])
    if whole == 0:
        return None
    right = columns[3]
    return (
        _determinant(right, columns[1], columns[2]) / whole,
        _determinant(columns[0], right, columns[2]) / whole,
        _determinant(columns[0], columns[1], right) / whole,
    )


def _determinant(x: tuple[Fraction, ...], y: tuple[Fraction, ...], z: tuple[Fraction, ...]) -> Fraction:
    return x[0] * (y[1] * z[2] - y[2] * z[1]) + x[1] * (y[2] * z[0] - y[0] * z[2]) + x[2] * (y[0] * z[1] - y[1] * z[0])
