"""The variance of one response about a number, against mechanisms in common use. `python -m benchmarks.numbers [ROWS]`

Values lie from −1 to 1. For each ε: the variance by theory and as measured, at the worst value and on average over
values that lie evenly, of `number_design` and of the mechanisms of Duchi et al., piecewise and hybrid [Wan19], all
drawn in the same run. The command fails if ours misses its theory by 5 % or more, or is larger than another one's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import deniable as dn
from deniable.designs.numbers import best_scores, half_width

EPSILONS = (0.5, 1.0, 2.0, 4.0)
ROWS = 400_000
GRID = np.linspace(-1, 1, 41)
"""Values at which variances are measured: at all levels, and between them."""

_SWITCH = 0.609352  # ε below which the hybrid mechanism is that of Duchi et al.
_TOLERANCE = 0.05

Vector: TypeAlias = NDArray[np.float64]
Mechanism: TypeAlias = Callable[[Vector, np.random.Generator], Vector]


def duchi(values: Vector, rng: np.random.Generator, *, epsilon: float) -> Vector:
    """Send ±c, right on average."""
    x = np.exp(epsilon)
    up = rng.random(len(values)) < 0.5 + values * (x - 1) / (2 * (x + 1))
    return np.where(up, 1.0, -1.0) * (x + 1) / (x - 1)


def piecewise(values: Vector, rng: np.random.Generator, *, epsilon: float) -> Vector:
    """Send a number near the value with probability h/(h + 1), else one of the rest of the range."""
    h = np.exp(epsilon / 2)
    c = (h + 1) / (h - 1)
    left = (c + 1) * values / 2 - (c - 1) / 2
    inside = rng.random(len(values)) < h / (h + 1)
    near = left + (c - 1) * rng.random(len(values))
    # what is left of [−c, c], put together
    far = rng.random(len(values)) * (c + 1) - c
    return np.where(inside, near, np.where(far < left, far, far + c - 1))


def hybrid(values: Vector, rng: np.random.Generator, *, epsilon: float) -> Vector:
    """Send by one of the two, at random."""
    share = 1 - np.exp(-epsilon / 2) if epsilon > _SWITCH else 0.0
    chosen = rng.random(len(values)) < share
    return np.where(
        chosen,
        piecewise(values, rng, epsilon=epsilon),
        duchi(values, rng, epsilon=epsilon),
    )


def ours(values: Vector, rng: np.random.Generator, *, epsilon: float) -> Vector:  # noqa: ARG001 - a source of its own
    """Draw with the package, from its secure source, and return the scores of the responses."""
    design = dn.number_design(-1, 1, epsilon)
    sent = dn.respond_all(design, values).columns["response"]
    return scores(design)[sent]


def square_wave(epsilon: float) -> tuple[float, float, float]:
    """Return the half-width b of the square wave [LWL20], and its densities p within b of the value and q elsewhere."""
    x = float(np.exp(epsilon))
    b = half_width(x)
    return b, x / (2 * b * x + 1), 1 / (2 * b * x + 1)


def square_wave_information(b: float, epsilon: float) -> float:
    """Return the bound on the information in a square wave of half-width b, as if its range had no ends."""
    x = np.exp(epsilon)
    return float(
        np.log((2 * b + 1) / (2 * b * x + 1)) + epsilon * 2 * b * x / (2 * b * x + 1)
    )


def wave_variance(y: float, epsilon: float) -> float:
    """Return the variance of the linear mean of square waves of a value from −1 to 1."""
    b, p, q = square_wave(epsilon)
    place = (y + 1) / 2
    ends = np.array([-b, place - b, place + b, 1 + b])
    first, second = (
        np.diff(ends**power) @ [q, p, q] / power for power in (2.0, 3.0)
    )
    return float((second - first**2) / (b * (p - q)) ** 2)


def published_variance(mechanism: str, y: float, epsilon: float) -> float:
    """Return the variance that a mechanism has at a value, by its authors' formula."""
    x, h = np.exp(epsilon), np.exp(epsilon / 2)
    by_duchi = ((x + 1) / (x - 1)) ** 2 - y**2
    by_pieces = y**2 / (h - 1) + (h + 3) / (3 * (h - 1) ** 2)
    share = 1 - 1 / h if epsilon > _SWITCH else 0.0
    mixed = share * by_pieces + (1 - share) * by_duchi
    return float(
        {"duchi": by_duchi, "piecewise": by_pieces, "hybrid": mixed}[mechanism]
    )


def scores(design: dn.NumberDesign) -> Vector:
    """Return the score of each response."""
    return np.array(best_scores(design.channel.floats().T.tolist()))


def theory(design: dn.NumberDesign) -> Vector:
    """Return the variance of one response at each value of the grid."""
    levels = np.linspace(-1, 1, design.scale.levels)
    return (
        np.interp(GRID, levels, scores(design) ** 2 @ design.channel.floats())
        - GRID**2
    )


def measured(mechanism: Mechanism, rows: int) -> Vector:
    """Return the variance at each value of the grid, about the value itself."""
    rng = np.random.default_rng(7)
    return np.array(
        [np.mean((mechanism(np.full(rows, y), rng) - y) ** 2) for y in GRID.round(2)]
    )


def main(rows: int = ROWS) -> None:
    """Print a table, and fail where ours is not what it should be."""
    failed = []
    for epsilon in EPSILONS:
        design = dn.number_design(-1, 1, epsilon)
        told = theory(design)
        found = {
            each.__name__: measured(partial(each, epsilon=epsilon), rows)
            for each in (duchi, piecewise, hybrid, ours)
        }
        off = np.abs(found["ours"] / told - 1).max()
        width = len(design.symbols) - design.scale.levels + 1
        print(
            f"ε = {epsilon:g}: {design.scale.levels} levels, a window of {width}; {rows:,} responses at each of "
            f"{len(GRID)} values"
        )
        for name, variances in found.items():
            print(
                f"  {name:10} worst {variances.max():8.4f}   average {_average(variances):8.4f}"
            )
        print(
            f"  theory     worst {told.max():8.4f}   average {_average(told):8.4f}   "
            f"measured is off by {off:.2%} at most"
        )
        others = [variances for name, variances in found.items() if name != "ours"]
        least = min(each.max() for each in others), min(map(_average, others))
        better = (
            found["ours"].max() <= least[0] and _average(found["ours"]) <= least[1]
        )
        if off >= _TOLERANCE or not better:
            failed.append(f"{epsilon:g}")
    if failed:
        sys.exit(f"missed at ε = {', '.join(failed)}")
    print(
        "within 5 % of theory, and at most the smallest of the others in the worst case and on average, at every ε"
    )


def _average(variances: Vector) -> float:
    return float(np.trapezoid(variances, GRID) / 2)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
