"""Numbers of the telemetry sheet: the tree of buckets (T4)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from benchmarks.numbers import published_variance

import deniable as dn
from deniable.estimates.inverses import left_inverse
from deniable.estimates.supported import customary
from deniable.types.buckets.estimate import node_variance, tree_weights
from tests.golden.runner import quantity


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
