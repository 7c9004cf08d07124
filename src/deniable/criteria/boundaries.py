"""Any demand on beliefs: boundaries in straight pieces that no posterior may cross, and the exact infimum B(h).

With R(p) = (1 − p)h(p) / (p(1 − h(p))) and h = a + bp on a piece, R′ has the sign of bp(1 − p) − h(1 − h). So R is
monotone on the piece, or falls and then rises; the second only where a > 0 and a + b > 1, with the smallest value

    1 + (√(ab) + √(a + b − 1))² / (1 − a)²    at    p = a(1 − a) / (ab + √(ab(a + b − 1))).

It is the γ for which the line touches h_γ: the quadratic (a + bp)(1 + (γ − 1)p) = γp then has one root. At p → 0 with
h(0) = 0 the limit of R is b, at p → 1 with h(1) = 1 it is 1/b.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

from deniable import exact
from deniable.criteria.base import Bounds, Strict
from deniable.errors import InvalidNumber, InvalidRequest, quoted
from deniable.exact import Ratio, Rational

Point: TypeAlias = tuple[Fraction, Fraction]
Polyline: TypeAlias = tuple[Point, ...]

_BITS = 256  # of a square root behind the point
_STEPS = 2_000  # halvings towards the place of an infimum; a channel's parity is never that near to it
_PIECES_LOOKED_AT = 64  # pieces that are all looked at exactly
_KNOTS = 4_096  # priors at which a function is read
# the smallest of them; below it, and above one minus it, a chord leads to the corner
_TAIL = Fraction(1, 1 << 20)
# by which a float that a function returns is taken lower
_SLACK = Fraction(1, 1 << 48)


class Segment(NamedTuple):
    """A straight piece of a boundary, from (left, low) to (right, high)."""

    left: Fraction
    low: Fraction
    right: Fraction
    high: Fraction

    @property
    def slope(self) -> Fraction:
        """Slope of the boundary on this segment."""
        return (self.high - self.low) / (self.right - self.left)

    def at(self, p: Fraction) -> Fraction:
        """Return h(p)."""
        return self.low + self.slope * (p - self.left)

    def ratio(self, p: Fraction) -> Ratio:
        """Return R(p), with its limits at 0 and 1."""
        h = self.at(p)
        if p == 0:
            return math.inf if h else self.slope
        if p == 1:
            return 1 / self.slope if self.slope else math.inf
        return exact.ratio((1 - p) * h, p * (1 - h))

    def infimum(self) -> tuple[Ratio, Fraction]:
        """Return a rational lower bound of inf R over the segment, exact where it is rational, and its prior."""
        if self._trend(self.left) < 0 < self._trend(self.right):
            a, b = self._line()
            product, excess = a * b, a + b - 1
            root = _root_below(product * excess)
            return 1 + (product + excess + 2 * root) / (1 - a) ** 2, a * (1 - a) / (
                product + root
            )
        return min(
            (self.ratio(self.left), self.left), (self.ratio(self.right), self.right)
        )

    def approach(self, goal: Fraction) -> Iterator[Fraction]:
        """Yield priors inside the piece that come ever nearer to one of its ends or to a place inside."""
        if self.left < goal < self.right:
            yield goal
        middle = (self.left + self.right) / 2
        start = middle if goal != middle else (self.left + middle) / 2
        for step in range(_STEPS):
            yield goal + (start - goal) / (1 << step)

    def _trend(self, p: Fraction) -> Fraction:
        h = self.at(p)
        return self.slope * p * (1 - p) - h * (1 - h)

    def _line(self) -> tuple[Fraction, Fraction]:
        return self.low - self.slope * self.left, self.slope


def to_segments(line: Polyline) -> list[Segment]:
    """Return the straight pieces; two points above each other are a jump between them."""
    return [
        Segment(*left, *right)
        for left, right in pairwise(line)
        if left[0] < right[0]
    ]


@lru_cache(maxsize=16)
def infimum(line: Polyline) -> tuple[Ratio, Segment, Fraction]:
    """Return B(h), rounded down, with the piece and the prior where it is attained or approached."""
    infima = [
        (*segment.infimum(), segment)
        for segment in _drop_dominated(to_segments(line))
    ]
    value, prior, segment = min(infima, key=lambda infimum: infimum[0])
    return value, segment, prior


def _drop_dominated(every: list[Segment]) -> list[Segment]:
    """Leave out pieces whose lower bound is above another one's value, which floats can tell of thousands quickly."""
    if len(every) <= _PIECES_LOOKED_AT:
        return every
    odds_at_ends = [
        [
            _odds_ratio(p, h)
            for p, h in ((segment.right, segment.high), (segment.left, segment.low))
        ]
        for segment in every
    ]
    best = min(
        (
            max(value, 1.0)
            for pair in odds_at_ends
            for value in pair
            if not math.isnan(value)
        ),
        default=math.inf,
    )
    floors = [
        _odds_ratio(segment.right, min(segment.low, segment.high))
        for segment in every
    ]
    return [
        segment
        for segment, floor in zip(every, floors, strict=True)
        if not floor > best * (1 + 1e-6)
    ]


def _odds_ratio(prior: Fraction, posterior: Fraction) -> float:
    """Return R for a float's sake; NaN where it is a limit or does not fit."""
    p, h = float(prior), float(posterior)
    if not 1e-12 < p < 1 - 1e-12:
        return math.nan
    return (1 - p) * h / (p * (1 - h)) if h < 1 else math.inf


def breaking_prior(line: Polyline, gamma: Ratio) -> Fraction:
    """Return a prior p with h_γ(p) > h(p), for a γ above B(h)."""
    _, segment, goal = infimum(line)
    p = goal
    for p in segment.approach(goal):
        if segment.ratio(p) < gamma:
            break
    return p


def evaluate_line(line: Polyline, p: Fraction) -> Fraction:
    """Return h(p); at a jump the lower of the two."""
    priors = [prior for prior, _ in line]
    near = line[max(0, bisect_left(priors, p) - 1) : bisect_right(priors, p) + 1]
    return min(
        segment.at(p)
        for segment in to_segments(near)
        if segment.left <= p <= segment.right
    )


def mirror_line(line: Polyline) -> Polyline:
    """Return 1 − h(1 − p): a lower boundary as an upper one, and back."""
    return tuple((1 - p, 1 - h) for p, h in reversed(line))


def read_points(points: Sequence[Sequence[Rational]], name: str) -> Polyline:
    """Read an upper boundary from points (prior, posterior), at rising priors from 0 to 1.

    Raises:
        InvalidRequest: fewer than two points, other ends, priors that fall, or a boundary below the prior itself.
    """
    try:
        line = tuple(
            (exact.probability(p, name="prior"), exact.probability(h, name=name))
            for p, h in points
        )
    except InvalidNumber:
        raise
    except (TypeError, ValueError):
        raise InvalidRequest(
            f"{name} is not a list of points; expected pairs (prior, posterior)."
        ) from None
    priors = [p for p, _ in line]
    if (
        len(line) < 2
        or priors[0] != 0
        or priors[-1] != 1
        or sorted(priors) != priors
    ):
        raise InvalidRequest(
            f"the priors of {name} do not rise from 0 to 1; expected the first at 0, the last at 1."
        )
    if any(
        first == second == three
        for first, second, three in zip(priors, priors[1:], priors[2:], strict=False)
    ):
        raise InvalidRequest(
            f"{name} has more than two points at one prior; expected at most two, which are a jump."
        )
    return line


def check_above(line: Polyline, name: str) -> None:
    """Refuse an upper boundary that lies below the prior itself.

    Raises:
        InvalidRequest: somewhere h(p) < p.
    """
    if any(h < p for p, h in line):
        raise InvalidRequest(
            f"{name} crosses the diagonal, where a response changes nothing; "
            "expected lower ≤ prior ≤ upper everywhere.",
            "Beliefs after all responses average to the prior, so such a demand cannot be kept.",
        )


def read_function(h: Callable[[Any], Any], name: str, *, chords: bool) -> Polyline:
    """Read an upper boundary from a function; the polyline is nowhere above it, if it has the shape promised.

    Why: where h does not fall it is at least its value at the last knot (steps); where it is concave it is at least the
    chord between two knots. Knots are even in log-odds, so a step loses at most a factor of 1.007 of γ.

    Raises:
        InvalidRequest: the function returns no probability, lies below the prior, or does not have the shape.
    """
    knots = _knots()
    values = [_read_value(h, p, name) for p in knots]
    _check_shape(knots, values, name, chords=chords)
    start, line = _read_start(h, name), list(zip(knots, values, strict=True))
    if chords:
        return ((Fraction(0), start), *line, (Fraction(1), Fraction(1)))
    steps = [(right[0], max(left[1], right[0])) for left, right in pairwise(line)]
    woven = [
        point
        for pair in zip(line[1:], steps, strict=True)
        for point in reversed(pair)
    ]
    first = (
        [(Fraction(0), start), (knots[0], start)]
        if start
        else [(Fraction(0), start)]
    )
    return (*first, line[0], *woven, (Fraction(1), Fraction(1)))


def _knots() -> list[Fraction]:
    half, scale = _KNOTS // 2, 1 << 40
    max_log = math.log(1 / _TAIL)
    upper = [
        round(scale / (1 + math.exp(-max_log * i / half)))
        for i in range(1, half + 1)
    ]
    return [Fraction(scale - u, scale) for u in reversed(upper)] + [
        Fraction(u, scale) for u in [scale // 2, *upper]
    ]


def _read_value(h: Callable[[Any], Any], p: Fraction, name: str) -> Fraction:
    try:
        posterior = h(p)  # a Fraction keeps its digits in plain arithmetic
    except (TypeError, AttributeError):
        posterior = h(float(p))
    exactly = isinstance(posterior, int | Fraction)
    value = (
        exact.rational(posterior, name=name)
        if exactly
        else Fraction(exact.rational(float(posterior), name=name))
    )
    if not p - 4 * _SLACK <= value <= 1:
        raise InvalidRequest(
            f"{name} is {exact.text(posterior)} at a prior of {float(p):.6g}; "
            "expected a probability, lower ≤ prior ≤ upper.",
        )
    return value if exactly else max(p, value - _SLACK)


def _read_start(h: Callable[[Any], Any], name: str) -> Fraction:
    try:
        return _read_value(h, Fraction(0), name)
    except (ArithmeticError, ValueError):  # such as the logarithm of 0
        return Fraction(0)


def _check_shape(
    knots: list[Fraction], values: list[Fraction], name: str, *, chords: bool
) -> None:
    rises = [float(right - left) for left, right in pairwise(values)]
    if chords:
        widths = [float(right - left) for left, right in pairwise(knots)]
        derivatives = [
            rise / width for rise, width in zip(rises, widths, strict=True)
        ]
        slack = [4 * float(_SLACK) / width for width in widths[1:]]
        if any(
            right > left + more
            for (left, right), more in zip(pairwise(derivatives), slack, strict=True)
        ):
            raise InvalidRequest(
                f"{name} is not of one curvature; expected an upper boundary that is concave, a lower that is convex.",
                'Use reading="steps", or give the boundary as points.',
            )
    elif min(rises) < -4 * float(_SLACK):
        raise InvalidRequest(
            f"{name} falls somewhere; expected a boundary that does not fall as the prior rises.",
            "Give it as points, for which every shape is read exactly.",
        )


def _root_below(square: Fraction) -> Fraction:
    """Return the square root of a rational, or a rational just below it."""
    product = square.numerator * square.denominator
    root = math.isqrt(product)
    if root * root == product:
        return Fraction(root, square.denominator)
    return Fraction(math.isqrt(product << 2 * _BITS), square.denominator << _BITS)


Boundary: TypeAlias = Sequence[Sequence[Rational]] | Callable[[Any], Any]
"""Points (prior, posterior) joined by straight lines, two at one prior for a jump; or a function of the prior."""


@dataclass(frozen=True)
class Boundaries(Strict):
    """An event of prior probability p stays between lower(p) and upper(p) after every response.

    Points are taken exactly. A function is read at 4,096 priors and becomes the polyline that is checked and drawn.
    With `reading="steps"` it must not fall, and each stretch takes its lowest value, which costs less than 0.7 % of γ;
    with "chords" the upper one must be concave and the lower one convex, which costs about γ millionths of γ. Priors
    below 2⁻²⁰ or above 1 − 2⁻²⁰ are read along the chord to the corner in both cases.

    Implements: (h_l, h_u)-SIP, [Cha19] Definition 3.6; with one boundary h-CSIP, its Definition 4.3.

    Guarantee: for points, `parity` is B(h) of [Cha19], eq. 4.4: exact where it is rational, else rounded down. For a
    function of the promised shape it is at most B(h).

    Why: an upper boundary for an event is a lower one for its complement, so h = min{h_u(a), 1 − h_l(1 − a)} decides,
    and the infimum of a minimum is the smaller infimum. Over straight pieces it has a closed form.

    Raises:
        InvalidRequest: no boundary at all, or not lower ≤ prior ≤ upper.

    Example:
        >>> Boundaries(upper=[(0, 0.2), (0.25, 0.6), (0.5, 0.8), (1, 1)]).parity
        Fraction(5, 2)
        >>> Boundaries(upper=lambda p: 3 * p / (1 + 2 * p), reading="chords").parity > 2.999
        True
    """

    lower: Boundary | None = None
    upper: Boundary | None = None
    reading: Literal["steps", "chords"] = "steps"

    def __post_init__(self) -> None:
        if self.reading not in ("steps", "chords"):
            raise InvalidRequest(
                f"the reading is {quoted(self.reading)}; expected steps or chords."
            )
        if self.lower is None and self.upper is None:
            raise InvalidRequest(
                "there is no boundary; expected lower, upper or both."
            )
        chords = self.reading == "chords"
        if self.upper is not None:
            object.__setattr__(
                self, "upper", _read_upper(self.upper, "upper", chords=chords)
            )
        if self.lower is not None:
            object.__setattr__(
                self, "lower", mirror_line(_read_lower(self.lower, chords=chords))
            )

    @cached_property
    def parity(self) -> Ratio:
        """B(h), rounded down; infinite where the boundaries forbid nothing."""
        return infimum(self._tighter[0])[0]

    def bounds(self, prior: Rational) -> Bounds:
        """Return the two boundaries at a prior."""
        p = exact.probability(prior, name="prior")
        upper, lower = self._lines
        return Bounds(
            1 - evaluate_line(lower, 1 - p) if lower else Fraction(0),
            evaluate_line(upper, p) if upper else Fraction(1),
        )

    def breaking_prior(self, gamma: Ratio) -> tuple[Fraction, bool]:
        """Return a prior at which h_γ lies above the tighter boundary."""
        line, upward = self._tighter
        return breaking_prior(line, gamma), upward

    @cached_property
    def _lines(self) -> tuple[Polyline | None, Polyline | None]:
        """Both boundaries as upper ones: the second is mirrored."""
        lower: Any = self.lower
        upper: Any = self.upper
        return upper, mirror_line(lower) if lower is not None else None

    @cached_property
    def _tighter(self) -> tuple[Polyline, bool]:
        upper, lower = self._lines
        if lower is None or (
            upper is not None and infimum(upper)[0] <= infimum(lower)[0]
        ):
            assert upper is not None
            return upper, True
        return lower, False

    def __str__(self) -> str:
        name = (
            "boundaries"
            if self.lower and self.upper
            else "upper boundary"
            if self.upper
            else "lower boundary"
        )
        return f"the given {name}"


def _read_upper(boundary: Boundary, name: str, *, chords: bool) -> Polyline:
    if callable(boundary):
        return read_function(boundary, name, chords=chords)
    line = read_points(boundary, name)
    check_above(line, name)
    return line


def _read_lower(boundary: Boundary, *, chords: bool) -> Polyline:
    """Read a lower boundary as the upper one of complements."""
    if callable(boundary):
        return read_function(lambda p: 1 - boundary(1 - p), "lower", chords=chords)
    line = mirror_line(read_points(boundary, "lower"))
    check_above(line, "lower")
    return line
