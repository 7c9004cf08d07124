"""Designs under (ε, δ) and a pure ceiling, and a bound for all of them: a linear program over patterns of likelihoods.

A pattern is a response with its likelihoods r, scaled to a sum of 1, in every order of the categories. Any design can
be made symmetric in the categories without a larger error in the worst case, and is then a law over patterns. With
f = Σ r² and d = k·mean of max(0, r_j − x·r_l) over ordered pairs, n·variance = (k − 1)² / (k²·E f − k) and δ(ε) = E d.

f is convex and d linear between the planes r_j = x·r_l and r_j = Y·r_l, with x = e^ε and Y = e^ceiling. So the largest
E f at E d ≤ δ is attained at the corners where these planes meet: on levels 1, x, x² … Y, Y/x, Y/x² ….
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TypeAlias

import numpy as np

from deniable import exact
from deniable.channel.sets import MAX_CELLS
from deniable.criteria import Relaxed
from deniable.designs import Design, exposing_subset, relaxed_subset, subset
from deniable.designs.sets_of_answers import subset_risk
from deniable.designs.sets_of_answers_relaxed import (
    best_single_subset,
    default_ceiling,
)
from deniable.estimates.covariances import Matrix, Vector
from deniable.rendering import formats

Builder: TypeAlias = Callable[[exact.Rational], Design]
"""A family with all of its arguments but ε."""

_MAX_PATTERNS = 600_000  # of three levels: those of a thousand categories
_MAX_LEVELS = 16
_PROVED_LEVELS = 3  # of a pattern, where there are too many to look at all
_STEPS = 100  # of a golden section, each of which leaves .618
_NO_EXCESS = 1e-14  # a δ that is only rounding
_GOLDEN = (math.sqrt(5) - 1) / 2
_NO_GAIN = 1e-3  # by less a higher ceiling is not worth a sentence
_HALVINGS = 40  # of the range in which the ε of a design is looked for


@dataclass(frozen=True)
class RelaxedDemand:
    """(ε, δ) with a ceiling, and whether people may be exposed.

    Attributes:
        demand: (ε, δ).
        ceiling: the ε that holds without any δ; None for twice ε, or what suffices for every design if that is more.
        expose: whether the answer of a share δ may be sent as it is.
    """

    demand: Relaxed
    ceiling: exact.Rational | None
    _: KW_ONLY
    expose: bool

    @cached_property
    def ratio(self) -> Fraction:
        """x = e^ε, rounded down."""
        return exact.exp_below(self.demand.epsilon)

    @cached_property
    def delta(self) -> Fraction:
        """δ, exactly."""
        return Fraction(self.demand.delta)

    @cached_property
    def cap(self) -> Fraction:
        """Y = e^ceiling, rounded down."""
        if self.ceiling is None:
            return default_ceiling(self.ratio, self.delta)
        return exact.gamma_below(self.ceiling)

    def designs(
        self,
        labels: Sequence[str],
        builders: Mapping[str, Builder],
        *,
        with_sets: bool,
    ) -> dict[str, Design]:
        """Build each family at the largest ε that keeps the demand, the best size of sets, and the best mixtures."""
        designs = {name: self._widened(build) for name, build in builders.items()}
        size, arguments = len(labels), (self.demand.epsilon, self.delta)
        if with_sets and 2 * (size + 1) <= MAX_CELLS:
            if size > 2:
                t, gamma = best_single_subset(size, *self._bounds)
                p = t * gamma / (t * gamma + size - t)
                designs[f"subset, t = {t:,}, within δ"] = subset(labels, t=t, p=p)
            designs["relaxed_subset"] = relaxed_subset(
                labels, *arguments, ceiling=self.ceiling
            )
            if self.expose and self.delta:
                designs["exposing_subset"] = exposing_subset(labels, *arguments)
        return designs

    @property
    def _bounds(self) -> tuple[Fraction, Fraction, Fraction]:
        return self.ratio, self.delta, self.cap

    def _widened(self, build: Builder) -> Design:
        """Return the design of a family with the largest ε that keeps the demand and the ceiling, by bisection."""
        highest = math.nextafter(exact.log_above(self.cap), 0)
        low = min(self.demand.as_epsilon(), highest)
        design, high = build(low), highest
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            wider = build(middle)
            if wider.channel.delta(self.ratio) <= self.delta:
                design, low = wider, middle
            else:
                high = middle
        return design

    def reasons(self, design: Design, risk: float) -> tuple[str, ...]:
        """Say what is proved of a design with this risk, for which class, and who is exposed."""
        size = len(design.categories)
        total = risk * (2 if size == 2 else 1)  # of both shares
        if design.parity == math.inf:
            return (*self._exposure(), self._proof(size, total, math.inf))
        return (
            f"No response of it exposes anybody: without any δ it keeps ε = {formats.epsilon(design.epsilon)}.",
            self._proof(size, total, float(self.cap)),
            *self._beyond(size, total),
        )

    def _exposure(self) -> tuple[str, ...]:
        share = formats.upper_bound(float(100 * self.delta), 3)
        return (
            f"It exposes people, as you asked for: {share}% of the respondents, drawn at random, send their answer as "
            "it is. For them nothing is hidden, and ε is infinite. Tell respondents so.",
        )

    def _proof(self, size: int, total: float, cap: float) -> str:
        ceiling = (
            ""
            if cap == math.inf
            else f" and a ceiling of ε = {formats.epsilon(math.log(cap))}"
        )
        kept = f"{self.demand}{ceiling}"
        bounds = (size, float(self.ratio), float(self.delta), cap)
        bound, likelihoods = least_risk(*bounds), ""
        if bound is None:
            bound = least_risk(*bounds, most_levels=_PROVED_LEVELS)
            likelihoods = f" of at most {_PROVED_LEVELS} different likelihoods"
        if bound is None:
            return (
                f"It is the best that was looked at. That no other design that keeps {kept} does better is not proved "
                f"for {size:,} categories: too many patterns of likelihoods would have to be looked at."
            )
        percent = formats.upper_bound(100 * max(total / bound - 1, 1e-6), 2)
        which = f"whose responses are patterns{likelihoods} " if likelihoods else ""
        return (
            f"No design {which}that keeps {kept} has a linear unbiased estimate with a worst case that is smaller by "
            f"more than {percent}%: a linear program over all patterns of likelihoods{likelihoods} proves it."
        )

    def _beyond(self, size: int, total: float) -> tuple[str, ...]:
        """Tell of a ceiling at which sets of one size do better, if there is one."""
        t, gamma = best_single_subset(size, self.ratio, self.delta, math.inf)
        risk = float(subset_risk(size, t, gamma))
        if risk >= total * (1 - _NO_GAIN):
            return ()
        epsilon = formats.epsilon(exact.log_above(gamma))
        return (
            f"With a ceiling of ε = {epsilon} sets of one size would have {risk:.4g}/n.",
        )


def least_risk(
    size: int,
    ratio: float,
    delta: float,
    cap: float = math.inf,
    *,
    most_levels: int | None = None,
) -> float | None:
    """Return a bound below which no design has n times the total variance at even shares, and so in the worst case.

    It is for linear unbiased estimates of designs with δ(ε) ≤ δ and, unless the cap is infinite, a parity of at most
    the cap. None where there are more than 600,000 patterns, or 18 million of so many different likelihoods.

    Why: for every λ ≥ 0 and every design E f ≤ max(f − λ·d) + λ·δ, the maximum taken over all patterns.

    Args:
        size: the number of categories.
        ratio: x = e^ε.
        delta: δ.
        cap: Y = e^ceiling.
        most_levels: among the designs whose responses have at most so many different likelihoods; all by default.

    Example:
        >>> round(least_risk(10, math.e, 0.1, math.e**2), 6), round(least_risk(10, math.e, 0.1), 6)
        (12.363355, 7.086818)
    """
    chains = _chains(_levels(size, ratio, cap), most_levels, gaps=cap < math.inf)
    n_patterns = sum(math.comb(size + len(chain) - 1, size) for chain in chains)
    if n_patterns > (_MAX_PATTERNS if most_levels is None else 30 * _MAX_PATTERNS):
        return None
    counts = _compositions(size, len(chains[0]))
    fronts = [_front(*_points(counts, chain, ratio)) for chain in chains]
    spread, excess = _front(*map(np.concatenate, zip(*fronts, strict=True)))
    if not delta:
        largest = float(spread[excess < _NO_EXCESS].max())
    else:
        largest = _least_dual(spread, excess, delta)
    return (size - 1) ** 2 / (size**2 * largest - size)


def _levels(size: int, ratio: float, cap: float) -> Vector:
    """Return the levels between which all categories can lie; without a cap zeros, and a chain for all categories."""
    if cap == math.inf:
        return np.array([0.0, *ratio ** np.arange(min(size, _MAX_LEVELS))])
    steps = ratio ** np.arange(_MAX_LEVELS)
    levels = np.unique(np.concatenate([steps, cap / steps, [cap]]))
    levels = levels[(levels > 1 - 1e-12) & (levels < cap * (1 + 1e-12))]
    is_new = np.append(True, np.diff(levels) > 1e-12 * levels[:-1])
    return np.asarray(levels[is_new], np.float64)


def _chains(levels: Vector, most: int | None, *, gaps: bool) -> list[Vector]:
    """Return the choices of so many of the levels, but for a common factor; without gaps, of neighbours alone."""
    most = len(levels) if most is None else min(most, len(levels))
    if not gaps:
        return [
            levels[start : start + most] for start in range(1 + (most < len(levels)))
        ]
    chains = (np.array(chain) / chain[0] for chain in combinations(levels, most))
    return list({tuple(chain.round(9)): chain for chain in chains}.values())


def _compositions(size: int, parts: int) -> Matrix:
    """Return all ways to write a number as a sum of so many, a row for each."""
    rows = np.arange(size + 1)[:, None]
    for _ in range(parts - 2):
        left = size - rows.sum(axis=1)
        repeated = np.repeat(rows, left + 1, axis=0)
        starts = np.repeat(np.cumsum(left + 1) - left - 1, left + 1)
        rows = np.column_stack([repeated, np.arange(len(repeated)) - starts])
    return np.column_stack([rows, size - rows.sum(axis=1)]).astype(np.float64)


def _points(counts: Matrix, levels: Vector, ratio: float) -> tuple[Vector, Vector]:
    """Return the spread f and the excess d of each pattern; one of zeros alone is none."""
    totals = counts @ levels
    counts, totals = counts[totals > 0], totals[totals > 0]
    size = counts[0].sum()
    gaps = np.maximum(levels[:, None] - ratio * levels, 0.0)
    gaps[gaps < 1e-12 * levels[:, None]] = 0.0
    excess = np.einsum("ni,ij,nj->n", counts, gaps, counts)
    return counts @ levels**2 / totals**2, excess / ((size - 1) * totals)


def _front(spread: Vector, excess: Vector) -> tuple[Vector, Vector]:
    """Leave out the patterns with no more spread than another of no more excess: they decide nothing."""
    order = np.lexsort((-spread, excess))
    spread, excess = spread[order], excess[order]
    first = np.append(True, spread[1:] > np.maximum.accumulate(spread)[:-1])
    return spread[first], excess[first]


def _least_dual(spread: Vector, excess: Vector, delta: float) -> float:
    """Return the least of max(f − λ·d) + λ·δ over λ, by a golden section: it is convex, and at least 1 from 1/δ on."""

    def dual(multiplier: float) -> float:
        return float((spread - multiplier * excess).max()) + multiplier * delta

    low, high = 0.0, 1 / delta
    for _ in range(_STEPS):
        width = _GOLDEN * (high - low)
        if dual(high - width) <= dual(low + width):
            high = low + width
        else:
            low = high - width
    return min(dual(low), dual(high))
