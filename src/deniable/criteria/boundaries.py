"""Any demand on beliefs: boundaries (h_l, h_u) that no posterior may cross."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

from deniable import exact
from deniable.criteria import polyline
from deniable.criteria.base import Bounds, Strict
from deniable.criteria.polyline import Polyline
from deniable.errors import InvalidRequest

Boundary: TypeAlias = Sequence[Sequence[exact.Rational]] | Callable[[Any], Any]
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
            raise InvalidRequest(f"the reading is {self.reading!r:.40}; expected steps or chords.")
        if self.lower is None and self.upper is None:
            raise InvalidRequest("there is no boundary; expected lower, upper or both.")
        chords = self.reading == "chords"
        if self.upper is not None:
            object.__setattr__(self, "upper", _read(self.upper, "upper", chords=chords))
        if self.lower is not None:
            object.__setattr__(self, "lower", polyline.mirrored(_read_lower(self.lower, chords=chords)))

    @cached_property
    def parity(self) -> exact.Ratio:
        """B(h), rounded down; infinite where the boundaries forbid nothing."""
        return polyline.infimum(self._tighter[0])[0]

    def bounds(self, prior: exact.Rational) -> Bounds:
        """Return the two boundaries at a prior."""
        p = exact.probability(prior, name="prior")
        upper, lower = self._lines
        return Bounds(
            1 - polyline.value(lower, 1 - p) if lower else Fraction(0),
            polyline.value(upper, p) if upper else Fraction(1),
        )

    def breaking_prior(self, gamma: exact.Ratio) -> tuple[Fraction, bool]:
        """Return a prior at which h_γ lies above the tighter boundary."""
        line, upward = self._tighter
        return polyline.breaking_prior(line, gamma), upward

    @cached_property
    def _lines(self) -> tuple[Polyline | None, Polyline | None]:
        """Both boundaries as upper ones: the second is mirrored."""
        lower: Any = self.lower
        upper: Any = self.upper
        return upper, polyline.mirrored(lower) if lower is not None else None

    @cached_property
    def _tighter(self) -> tuple[Polyline, bool]:
        upper, lower = self._lines
        if lower is None or (upper is not None and polyline.infimum(upper)[0] <= polyline.infimum(lower)[0]):
            assert upper is not None
            return upper, True
        return lower, False

    def __str__(self) -> str:
        which = "boundaries" if self.lower and self.upper else "upper boundary" if self.upper else "lower boundary"
        return f"the given {which}"


def _read(given: Boundary, name: str, *, chords: bool) -> Polyline:
    if callable(given):
        return polyline.read_function(given, name, chords=chords)
    line = polyline.read_points(given, name)
    polyline.check_above(line, name)
    return line


def _read_lower(given: Boundary, *, chords: bool) -> Polyline:
    """Read a lower boundary as the upper one of complements."""
    if callable(given):
        return polyline.read_function(lambda p: 1 - given(1 - p), "lower", chords=chords)
    line = polyline.mirrored(polyline.read_points(given, "lower"))
    polyline.check_above(line, "lower")
    return line
