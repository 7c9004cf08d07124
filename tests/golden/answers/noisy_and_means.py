"""Answers of document 004, sections 5.1 and 5.2: noisy sampling and means."""

from __future__ import annotations

from typing import Any

from deniable.designs import Range, warner
from deniable.types.strings.design import NoisySampling
from deniable_papers.means import from_share, moments
from tests.golden.runner import document, quantity


@quantity("noisy_sampling")
def noisy_sampling(alpha: float, p: float, q: float, K: int) -> dict[str, float]:
    noisy = NoisySampling.of(alpha, p, q)
    return {
        "eps": noisy.epsilon(K),
        "var_if_bit_0": float(noisy.variance(K, bit=0)),
        "var_if_bit_1": float(noisy.variance(K, bit=1)),
    }


@quantity("mean_estimation")
def mean_estimation(
    values: list[float],
    l: float,  # noqa: E741 - as printed
    h: float,
    eps: float,
    share_h: float,
) -> dict[str, float]:
    range_, design = Range.of(l, h), warner(eps)
    found = moments(range_, values, design)
    return {
        "mean": float(found.mean),
        "var": float(found.variance),
        "estimate": float(from_share(range_, design, share_h)),
    }


@document("004", "eps_ns(K)")
def epsilon_after(entry: dict[str, Any]) -> float:
    given = entry["inputs"]
    return NoisySampling.symmetric(given["eps_alpha"], given["eps_beta"]).epsilon(
        given["K"]
    )


@document("004", "variance of repeated noisy sampling, N=1000")
def variance_after(entry: dict[str, Any]) -> float:
    given = entry["inputs"]
    noisy = NoisySampling.symmetric(given["eps_alpha"], given["eps_beta"])
    return float(noisy.variance(given["K"], bit=1)) / int(given["N"])


@document("004", "mean of the mean estimator")
def mean_of_means(entry: dict[str, Any]) -> float:
    given = entry["inputs"]
    return float(
        moments(
            Range.of(given["l"], given["h"]), given["values"], warner(given["eps"])
        ).mean
    )


@document("004", "Var(S) of K noisy samples")
def variance_of_sum(entry: dict[str, Any]) -> float:
    given = entry["inputs"]
    noisy = NoisySampling.of(given["alpha"], given["beta"], 1 - given["beta"])
    return float(noisy.sum_variance(given["K"], bit=1))
