"""The exact chance that a count of responses ever leaves what holds of it, at some of many looks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
from scipy.stats import binom

Holds = Callable[[np.ndarray, np.ndarray], np.ndarray]


def ever_missed(rate: float, looks: Sequence[int], holds: Holds) -> float:
    """Return the exact chance that a binomial count leaves what holds at one of the looks, by forward recursion.

    What holds of the counts of one look is an interval. Between two looks the law of the counts that never left is
    convolved with that of the responses that came.
    """
    sizes = np.array(looks)
    first, last = _interval_ends(rate, sizes, holds)
    law = lru_cache(partial(_binomial_law, rate))
    n, lowest, chances, missed = 0, 0, np.ones(1), 0.0
    for size, low, high in zip(sizes.tolist(), first, last, strict=True):
        least, added = law(size - n)
        chances = np.convolve(chances, added)
        lowest, n = lowest + least, size
        counts = np.arange(lowest, lowest + len(chances))
        inside = (low <= counts) & (counts <= high)
        missed += float(chances[~inside].sum())
        lowest, chances = max(lowest, low), chances[inside]
    return missed


def _binomial_law(rate: float, n: int) -> tuple[int, np.ndarray]:
    """Return the least count whose chance is seen in a float, and the chances from it on."""
    least, most = binom.ppf([1e-18, 1 - 1e-16], n, rate).astype(int).tolist()
    return least, binom.pmf(np.arange(least, most + 1), n, rate)


def _interval_ends(
    rate: float, sizes: np.ndarray, holds: Holds
) -> tuple[list[int], list[int]]:
    """Return the first and the last count that holds at each look, by bisection from the expected one."""
    middle = np.clip(np.rint(sizes * rate), 0, sizes)
    assert holds(middle, sizes).all()
    ends = []
    for outside in (np.full(len(sizes), -1.0), sizes + 1.0):
        inside, out = middle.copy(), outside
        for _ in range(math.ceil(math.log2(sizes[-1] + 2)) + 1):
            tried = np.trunc((inside + out) / 2)
            hold = holds(np.clip(tried, 0, sizes), sizes) & (tried != outside)
            inside, out = np.where(hold, tried, inside), np.where(hold, out, tried)
        ends.append(inside.astype(int).tolist())
    return ends[0], ends[1]
