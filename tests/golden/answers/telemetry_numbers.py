"""Numbers of the telemetry sheet: the tree of buckets (T4)."""

from __future__ import annotations

from typing import Any

import numpy as np

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
