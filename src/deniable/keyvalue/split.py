"""How to divide an ε between the key and the value: the members of a family with the smallest variance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from deniable import exact
from deniable.design.three_region import edges as region_edges
from deniable.errors import InvalidRequest

_SCAN = 48  # places that are looked at before a search narrows
_GOLDEN = (math.sqrt(5) - 1) / 2
GOALS = ("frequency", "weight", "mean")
DEFAULT = {"frequency": 1.0, "weight": 1.0}


@dataclass(frozen=True)
class Goal:
    """What is to be small: Σ importance · variance, at the values that are guessed.

    Attributes:
        importance: how much the variance of the frequency, of the weight per respondent and of the mean value matter.
        frequency: the share of people who are thought to have an item.
        mean: the mean value that is thought of, from −1 to 1.
    """

    importance: Mapping[str, float]
    frequency: float
    mean: float

    def risk(self, of: Club, *, places: int | None = None) -> float:
        """Return Σ importance · variance for one respondent who is looked at; with padding for one who responds."""
        D, c = of.none + of.some - 1, of.some * (2 * of.sign - 1)
        named = self.importance
        if D <= 0 or (c <= 0 and (named["weight"] or named["mean"])):
            return math.inf
        f, w = self.frequency, self.frequency * self.mean
        stray, own = of.none * (1 - of.none) / D**2, ((1 - of.some) * (1 - of.none) ** 2 + of.some * of.none**2) / D**2
        noise, told, tie = ((1 - of.none) / c**2, of.some / c**2, of.none / D) if c > 0 else (0.0, 0.0, 0.0)
        if places is not None:
            extra = places * (places - 1)
            stray, own = places**2 * stray, places * own + extra * stray
            noise, told, tie = places**2 * noise, places * told + extra * noise, places * tie
        degree = (1 - f) * stray + f * own - f**2
        weight = (1 - f) * noise + f * told - w**2
        both = w * tie - f * w
        mean = (weight - 2 * self.mean * both + self.mean**2 * degree) / f**2
        return named["frequency"] * degree + named["weight"] * weight + named["mean"] * mean

    def told(self, best: Club) -> Club:
        """Return the best member; where only the frequency matters, with signs that say nothing at all."""
        blind = not self.importance["weight"] and not self.importance["mean"]
        return Club(best.none, best.some, 0.5) if blind else best


@dataclass(frozen=True)
class Club:
    """The three numbers of an even channel of one item.

    Attributes:
        none: how often no edge sends none.
        some: how often an edge sends a sign.
        sign: how often that sign is the right one.
    """

    none: float
    some: float
    sign: float

    @property
    def columns(self) -> tuple[tuple[float, float, float], ...]:
        """For the answers none, + and − the probabilities of these symbols."""
        stray, kept, turned = (1 - self.none) / 2, self.some * self.sign, self.some * (1 - self.sign)
        return (self.none, stray, stray), (1 - self.some, kept, turned), (1 - self.some, turned, kept)


def read_goal(
    importance: str | Mapping[str, exact.Rational] | None, frequency: exact.Rational, mean: exact.Rational
) -> Goal:
    """Read what is to be small.

    Args:
        importance: "frequency", "weight" or "mean" for one variance alone, or a number for each; by default frequency
            and weight alike.
        frequency: the share of people who are thought to have an item.
        mean: the mean value that is thought of, from −1 to 1.

    Raises:
        InvalidRequest: something else.
    """
    given: Mapping[str, exact.Rational] = {importance: 1} if isinstance(importance, str) else importance or DEFAULT
    if not isinstance(given, Mapping):
        raise InvalidRequest(f"the importance is a {type(given).__name__}; expected a name, or a number for each name.")
    weights = {name: float(exact.rational(value, name="importance")) for name, value in given.items()}
    if set(weights) - set(GOALS) or min(weights.values(), default=0) < 0 or not any(weights.values()):
        raise InvalidRequest(
            f"the importance does not fit; expected numbers of 0 or more for some of {', '.join(GOALS)}, not all 0."
        )
    share, value = exact.rational(frequency, name="frequency"), exact.rational(mean, name="mean")
    if not 0 < share <= 1 or not -1 <= value <= 1:
        raise InvalidRequest("the guess does not fit; expected a frequency above 0 up to 1 and a mean from −1 to 1.")
    return Goal({name: weights.get(name, 0.0) for name in GOALS}, float(share), float(value))


def best_index(family: str, gamma: Fraction, goal: Goal) -> Club:
    """Return the member of RR3‡ or RR3♣ with a parity of at most γ and the smallest risk.

    Why the edges of the region are enough: see `deniable.design.three_optimum`; the argument is Blackwell's and holds
    for every risk that a garbling cannot lower, as these variances are.
    """
    found = [_along(one.point, two.point, goal) for one, two in region_edges(family, gamma)]
    return goal.told(min(found, key=goal.risk))


Point: TypeAlias = tuple[Fraction, Fraction, Fraction]


def _along(one: Point, two: Point, goal: Goal) -> Club:
    start, end = [float(each) for each in one], [float(each) for each in two]

    def at(place: float) -> Club:
        a, u, v = (p + place * (q - p) for p, q in zip(start, end, strict=True))
        return Club(a, u + v, max(u, v) / (u + v) if u + v > 0 else 0.5)

    return at(lowest(lambda place: goal.risk(at(place)), 0.0, 1.0))


def lowest(height: Callable[[float], float], low: float, high: float, *, rough: bool = False) -> float:
    """Return where a function is lowest between two places: a scan, then golden sections around its best place.

    Variances are flat around their smallest value, so that `rough` is good enough where a search is inside another.
    """
    scan = _SCAN // 4 if rough else _SCAN
    step = (high - low) / scan
    best = min(range(scan + 1), key=lambda i: height(low + i * step))
    left, right = low + max(best - 1, 0) * step, low + min(best + 1, scan) * step
    near = _golden(height, left, right, 1e-5 if rough else 1e-11)
    return min((low + best * step, near), key=height)


def _golden(height: Callable[[float], float], low: float, high: float, within: float) -> float:
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
