"""Always-valid intervals: the entries of section B of the frontier sheet."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom, norm

from deniable.estimates import confidence_sequences as sequences
from deniable.estimates.backing import Backing
from tests.golden.runner import quantity


@quantity("mixture_tuning")
def mixture_tuning(alpha: float) -> dict[str, float]:
    width = sequences.multiplier(10_000, 1 - alpha, 10_000)
    return {
        "divisor": sequences.mixture_divisor(1 - alpha),
        "width_at_n0_over_fixed": width / -float(norm.ppf(alpha / 2)),
    }


@quantity("always_valid_multiplier")
def always_valid_multiplier(n: int, n0: int, alpha: float) -> float:
    return sequences.multiplier(n, 1 - alpha, n0)


def bounds(rates: Any) -> dict[str, float]:
    (low,), (high,) = rates
    return {"lower": low, "upper": high}


@quantity("always_valid_response_share")
def always_valid_response_share(count: int, n: int, n0: int, alpha: float) -> Any:
    return bounds(sequences.share_bounds(np.array([count]), n, 1 - alpha, n0))


@quantity("always_valid_share")
def always_valid_share(
    u: float, v: float, count: int, n: int, n0: int, alpha: float
) -> Any:
    rates = sequences.share_bounds(np.array([count]), n, 1 - alpha, n0)
    shares = Backing(v, u, u, lambda counts: counts).shares(*rates)
    return bounds(np.clip(shares, 0, 1))


@quantity("joint_log_martingale")
def joint_log_martingale(
    counts: list[int], response_shares: list[float], n0: int, alpha: float
) -> float:
    return sequences.log_joint_wealth(
        np.array(counts), np.array(response_shares), 1 - alpha, n0
    )


@quantity("empirical_bernstein")
def empirical_bernstein(
    values: list[float], low: float, high: float, alpha: float
) -> dict[str, float]:
    least, most = sequences.bernstein_bounds(np.array(values), low, high, 1 - alpha)
    return {"centre": (least + most) / 2, "radius": (most - least) / 2}


Holds = Callable[[np.ndarray, np.ndarray], np.ndarray]


def ever_missed(rate: float, looks: range, holds: Holds) -> float:
    """Return the exact chance that a binomial count leaves what holds at one of the looks, by forward recursion.

    What holds of the counts of one look is an interval, so that its two ends are found by bisection.
    """
    sizes = np.array(looks)
    middle = np.clip(np.rint(sizes * rate), 0, sizes)
    assert holds(middle, sizes).all()
    ends = []
    for outside in (np.full(len(sizes), -1.0), sizes + 1.0):
        inside, out = middle.copy(), outside
        for _ in range(math.ceil(math.log2(sizes[-1] + 2)) + 1):
            tried = np.trunc((inside + out) / 2)
            hold = holds(np.clip(tried, 0, sizes), sizes) & (tried != outside)
            inside, out = np.where(hold, tried, inside), np.where(hold, out, tried)
        ends.append(inside.astype(int))
    low, high = ends
    chances = binom.pmf(np.arange(looks[0] + 1), looks[0], rate)
    missed = 0.0
    for index, n in enumerate(sizes.tolist()):
        if index:
            grown = np.zeros(n + 1)
            grown[:-1] = chances * (1 - rate)
            grown[1:] += chances * rate
            chances = grown
        out_of = np.arange(n + 1)
        is_out = (out_of < low[index]) | (out_of > high[index])
        missed += float(chances[is_out].sum())
        chances = np.where(is_out, 0.0, chances)
    return missed


def read_looks(looks: str) -> range:
    words = looks.split()  # "every n from 1 to 1000"
    return range(int(words[3]), int(words[5]) + 1)


@quantity("always_valid_miss")
def always_valid_miss(
    u: float, v: float, share: float, n0: int, alpha: float, looks: str
) -> float:
    rate = u + (v - u) * share

    def holds(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        low, high = sequences.share_bounds(counts, sizes, 1 - alpha, n0)
        return (low < rate) & (rate < high)

    return ever_missed(rate, read_looks(looks), holds)


@quantity("peeking_miss")
def peeking_miss(
    u: float, v: float, share: float, looks: str, interval: str
) -> float:
    assert interval == "wald 95 %"
    rate, z = u + (v - u) * share, float(norm.ppf(0.975))

    def holds(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        seen = counts / sizes
        return np.abs(seen - rate) <= z * np.sqrt(seen * (1 - seen) / sizes)

    return ever_missed(rate, read_looks(looks), holds)
