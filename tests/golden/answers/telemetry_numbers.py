"""Numbers of the telemetry sheet: the tree of buckets (T4)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from benchmarks.numbers import (
    published_variance,
    square_wave,
    square_wave_information,
    wave_variance,
)

import deniable as dn
from deniable.estimates.inverses import left_inverse
from deniable.estimates.supported import customary
from deniable.types.buckets.estimate import node_variance, tree_weights
from tests.golden.runner import Measured, Uncovered, quantity


@quantity(
    "n variance of the CDF, tree of fan-out 4, best of k-RR and OUE per level, people split evenly, least squares with "
    "total 1, shares near 0"
)
def _tree(D: int, eps: float) -> dict[str, Any]:
    design = dn.bucket_design(0, 1, eps, count=D)
    sizes = [part.channel.answers for _, part in design.factors]
    named = [
        {
            "krr": node_variance(left_inverse(dn.k_ary(size, eps).channel), size),
            "oue": node_variance(
                customary(dn.unary(size, eps, optimized=True).channel), size
            ),
        }
        for size in sizes
    ]
    best = [min(each, key=lambda name: each[name]) for each in named]  # type: ignore[misc]
    variances = len(sizes) * np.array(
        [each[name] for each, name in zip(named, best, strict=True)]
    )
    weights = tree_weights(variances.tolist())
    spread = weights**2 @ np.repeat(variances, sizes)
    return {
        "levels": best,
        "cdf_half": spread[D // 2 - 1],
        "cdf_quarter": spread[D // 4 - 1],
        "cdf_mean": spread.mean(),
        "cdf_largest": spread.max(),
        "leaf": spread[0],
    }


@quantity(
    "n variance of a range estimate, mean over all ranges of length 1, D/8, D/2 and over all ranges, eps 1, V = "
    "4x/(x-1)^2"
)
def _ranges(D: int, eps: float) -> dict[str, Any]:
    x = math.exp(eps)
    variance = 4 * x / (x - 1) ** 2
    starts, stops = np.triu_indices(D + 1, 1)
    lengths = stops - starts

    def means(of_range: np.ndarray) -> dict[str, float]:
        wanted = {str(length): lengths == length for length in (1, D // 8, D // 2)}
        return {
            name: float(of_range[rows].mean())
            for name, rows in {**wanted, "all": lengths > 0}.items()
        }

    found: dict[str, Any] = {
        "flat": means(lengths * variance),
        "flat_total_1": means(lengths * (1 - lengths / D) * variance),
    }
    for fan_out in (2, 4, 8, 16):
        height = round(math.log(D, fan_out))
        if fan_out**height != D:
            continue
        inner = tree_weights([1.0] * height, fan_out)
        weights = np.vstack([np.zeros(inner.shape[1]), inner, 0 * inner[:1]])
        squares = weights**2 @ np.ones(weights.shape[1])
        products = weights @ weights.T
        of_range = squares[starts] + squares[stops] - 2 * products[starts, stops]
        found[f"tree{fan_out}"] = means(height * variance * of_range)
        counts = [
            _nodes(*pair, fan_out, D) for pair in zip(starts, stops, strict=True)
        ]
        found[f"tree{fan_out}_raw_all"] = height * variance * float(np.mean(counts))
    return found


def _nodes(start: int, stop: int, fan_out: int, size: int) -> int:
    """Count the fewest nodes of a tree that make up a range; all of them are its root, which is known."""
    count, width = 0, 1
    while start < stop and width < size:
        wider = width * fan_out
        up, down = -(-start // wider) * wider, stop // wider * wider
        if up >= down:
            return count + (stop - start) // width
        count += (up - start) // width + (stop - down) // width
        start, stop, width = up, down, wider
    return count


@quantity(
    "t, n variance of rounding+binary RR (F14 with h-l=2), of the piecewise mechanism"
)
def _means(eps: float) -> list[list[float]]:
    """Return the variance of `number_design` with two levels, and that of the mechanism that benchmarks compare."""
    design = dn.number_design(-1, 1, eps, levels=2)
    levels = np.array([-1.0, 1.0])
    rows = []
    for value in (0.0, 0.5, 1.0):
        shares = [(1 - value) / 2, (1 + value) / 2]
        rounded = levels @ dn.estimates.covariance(design, shares, 1) @ levels
        rows.append([value, rounded, published_variance("piecewise", value, eps)])
    return rows


@quantity("square wave half-width b, p, q")
def _square_wave(eps: float) -> dict[str, float]:
    """Return the closed form that designs for a shape take, and the half-width that has the most information."""
    b, p, q = square_wave(eps)
    widths = np.arange(1, 10_000) / 10_000
    information = [square_wave_information(width, eps) for width in widths]
    return {"b": b, "p": p, "q": q, "b_by_search": widths[np.argmax(information)]}


@quantity("parity of the bucketed square wave")
def _wave_parity(eps: float, d: int, out: int) -> dict[str, float]:  # noqa: ARG001 - a window has its own responses
    design = dn.number_design(0, 1, eps, goal="shape", levels=d)
    _, p, q = square_wave(eps)
    return {"parity_bucketed": float(design.parity), "parity_continuous": p / q}


@quantity(
    "t, n variance of the linear mean from square-wave reports (interval of length 2)"
)
def _wave_means(eps: float) -> list[list[float]]:
    """Return the variance of continuous reports, beside which `test_shapes.py` puts that of the design."""
    return [[value, wave_variance(value, eps)] for value in (0.0, 0.5, 1.0)]


@quantity(
    "Beta(2,5), n = 100000, 256 buckets: mean |CDF error|, |median error|, RMSE of the mean"
)
def _distributions(eps: float, seed: int, runs: int) -> None:  # noqa: ARG001 - those of the sheet
    raise Measured("python -m benchmarks.shapes; docs/theory/means.md")


@quantity(
    "95 % intervals of p50, p95, p99 by descent: least, median coverage over 7 laws x 4 eps x 2 n x 3 levels; CDF "
    "values: least and largest mean coverage; mean width of the median of Beta(2,5) at n = 100000, eps .5, 1, 2, 4"
)
def _coverage(D: int, z: float, runs: int) -> None:  # noqa: ARG001 - those of the sheet
    if D != 256:
        raise Uncovered(
            "python -m benchmarks.coverage_records 40 tree-1024 takes minutes; no figures yet"
        )
    raise Measured(
        "python -m benchmarks.coverage_records 300 tree; docs/theory/means.md"
    )
