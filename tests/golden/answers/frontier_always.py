"""Always-valid intervals: the entries of section B of the frontier sheet."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from deniable.estimates import confidence_sequences as sequences
from deniable.estimates.backing import Backing
from tests.golden.runner import quantity
from tests.support.looks import ever_missed


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
    wealth = sequences.log_joint_wealth(
        np.array(counts), np.array(response_shares), 1 - alpha, n0
    )
    return float(wealth)


@quantity("empirical_bernstein")
def empirical_bernstein(
    values: list[float], low: float, high: float, alpha: float
) -> dict[str, float]:
    least, most = sequences.bernstein_bounds(np.array(values), low, high, 1 - alpha)
    return {"centre": (least + most) / 2, "radius": (most - least) / 2}


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
