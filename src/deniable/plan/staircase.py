"""The design with the smallest error at given shares, by a convex program over staircase patterns.

A response is a *staircase pattern* where its probability given some answers is e^ε times that given all others. The
rows that a parity of γ = e^ε allows, p_x ≤ γ·p_y for all x and y, are sums of such patterns: these are the extreme rays
of that cone [KOV14]. To send which pattern it was, in place of the sum, tells more, never less. So among all designs of
this ε one made of patterns alone is best, whatever is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable import exact
from deniable.designs import Design
from deniable.designs.rounding import realize
from deniable.estimates.covariances import Matrix, Vector
from deniable.exact import Rational

MAX_PATTERNED = 8
"""Categories up to which all patterns are weighed: 254 of them."""

_TIGHTEST = 1e-9  # the barrier's last weight, against an error that starts at 1
_NEXT = 0.05  # each weight of the barrier to the one before
_MIN_MASS = 1e-7  # patterns sent more rarely are dropped


@dataclass(frozen=True, slots=True)
class Staircase:
    """The best design at given shares.

    Attributes:
        design: the design, of integer weights.
        bound: no design of this ε has n times a total variance below this at these shares.
    """

    design: Design
    bound: float


def staircase(labels: Sequence[str], epsilon: Rational, shares: Vector) -> Staircase:
    """Find the design of an ε with the smallest total variance of the best estimate at given shares.

    Why: let pattern S have the likelihoods v_S, one or γ for each answer, and be sent with weight w_S. With
    M = Σ_S w_S·v_S·v_S′/(v_S·π) the covariance of the best linear unbiased estimate at π, and of the most likely
    shares, is (M⁻¹ − ππ′)/n. M is linear in w, so its trace is convex, and Σ_S w_S·v_S = 1 are linear conditions.

    Args:
        labels: the categories, at most eight.
        epsilon: the largest ε.
        shares: where the error is to be small.
    """
    gamma = exact.exp_below(exact.positive_epsilon(epsilon))
    size = len(labels)
    numbers = sorted(
        range(1, (1 << size) - 1), key=lambda number: (number.bit_count(), number)
    )
    membership = np.array(
        [[number >> x & 1 for number in numbers] for x in range(size)], bool
    )
    patterns = np.where(membership, float(gamma), 1.0)
    # a weight is then how often a pattern is sent, on average over the answers
    patterns /= patterns.mean(axis=0)
    weights, bound = least_trace(patterns, shares)
    often, scale = sent_patterns(patterns, weights)
    columns = [
        [Fraction(weight) for weight in column]
        for column in patterns[:, often] * scale
    ]
    channel = realize(columns, gamma)
    design = Design(
        "matrix", tuple(labels), name_patterns(labels, membership[:, often]), channel
    )
    return Staircase(design.within(epsilon), bound - float(shares @ shares))


def name_patterns(labels: Sequence[str], held: NDArray[np.bool_]) -> tuple[str, ...]:
    """Name each pattern by the answers that it speaks for; by its number where two would have one name."""
    return number_repeated(
        " or ".join(labels[answer] for answer in np.flatnonzero(members).tolist())
        for members in held.T
    )


def number_repeated(names: Iterable[str]) -> tuple[str, ...]:
    """Return names as they are, or numbers where two of them are the same."""
    symbols = tuple(names)
    return (
        symbols
        if len(set(symbols)) == len(symbols)
        else tuple(map(str, range(len(symbols))))
    )


def sent_patterns(
    patterns: Matrix, weights: Vector
) -> tuple[NDArray[np.intp], Vector]:
    """Return which patterns are sent at all, and their weights, moved so that every column still sums to 1."""
    often = np.flatnonzero(weights > _MIN_MASS)
    columns = patterns[:, often]
    missing = np.linalg.lstsq(
        columns * weights[often], 1 - columns @ weights[often], rcond=None
    )[0]
    return often, weights[often] * (1 + missing)


def least_trace(patterns: Matrix, shares: Vector) -> tuple[Vector, float]:
    """Return the weights with the smallest trace of M⁻¹, and a bound that no weights are below; by a barrier.

    Why the bound holds: f(w) = tr M(w)⁻¹ is convex with f(w) = −g·w for its gradient g, so that f(w′) ≥ 2·f(w) + g·w′.
    For any y, g·w′ = y·1 + (g − V′y)·w′, and because all columns of V have mean 1 the weights w′ sum to 1: so
    g·w′ ≥ Σ y + min(g − V′y). It holds for every y; the barrier's multipliers make it tight.
    """
    roots = patterns / np.sqrt(shares @ patterns)
    size, count = patterns.shape
    weights = np.full(count, 1.0 / count)
    scale = _trace(roots, weights)
    barrier, multipliers = 1.0, np.zeros(size)
    while barrier > _TIGHTEST:
        barrier *= _NEXT
        for _ in range(50):
            slope, bend = _derivatives(roots, weights)
            slope, bend = (
                slope / scale - barrier / weights,
                bend / scale + np.diag(barrier / weights**2),
            )
            around = np.block(
                [[bend, patterns.T], [patterns, np.zeros((size, size))]]
            )
            step = np.linalg.solve(
                around, np.concatenate([-slope, 1 - patterns @ weights])
            )
            multipliers = -step[count:]
            largest = np.max(-step[:count] / weights)
            weights = weights + step[:count] * min(
                1.0, 0.9 / largest if largest > 0 else 1.0
            )
            if -slope @ step[:count] < barrier * 1e-3:
                break
    slope, _ = _derivatives(roots, weights)
    tilted = multipliers * scale
    return weights, 2 * _trace(roots, weights) + float(
        tilted.sum() + np.min(slope - tilted @ patterns)
    )


def _trace(roots: Matrix, weights: Vector) -> float:
    return float(np.trace(np.linalg.inv(roots * weights @ roots.T)))


def _derivatives(roots: Matrix, weights: Vector) -> tuple[Vector, Matrix]:
    """Return the gradient of the trace of M⁻¹, and its second derivatives."""
    turned = np.linalg.solve(roots * weights @ roots.T, roots)
    return -np.sum(turned**2, axis=0), 2 * (turned.T @ turned) * (roots.T @ turned)
