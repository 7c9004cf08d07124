"""Optimal designs under (ε, δ) and under one prior (frontier, section C), answered with the public API."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import deniable as dn
from deniable import exact
from deniable.criteria import KnownPrior, Relaxed
from deniable.designs import best_t, subset_risk
from deniable.designs.sets_of_answers_relaxed import (
    best_patterns,
    best_single_subset,
    level_weights,
)
from deniable.estimates import covariance
from deniable.plan import variance
from deniable.plan.cones import best_subset_for_prior
from tests.golden.runner import fractions, quantity


def total_variance(design: dn.Design) -> float:
    """n times the sum over all categories; for two categories the plan has that of one share."""
    return variance(design, 1) * (2 if len(design.categories) == 2 else 1)


@quantity("optimal_relaxed")
def optimal_relaxed(answers: int, epsilon: float, delta: float) -> dict[str, Any]:
    design = dn.optimal(answers, Relaxed(epsilon, delta), expose=True).design
    ratio, slack = exact.exp_below(epsilon), exact.rational(delta)
    t, gamma = best_single_subset(answers, ratio, slack, math.inf)
    risk = float(subset_risk(answers, t, gamma))
    return {
        "n_variance": total_variance(design),
        "reveal": design.delta(30),
        "t": best_t(answers, ratio),
        "best_single_subset": {"n_variance": risk, "t": t, "gamma": float(gamma)},
    }


@quantity("optimal_relaxed_capped")
def optimal_relaxed_capped(
    answers: int, epsilon: float, delta: float, epsilon_max: float
) -> dict[str, Any]:
    choice = dn.optimal(answers, Relaxed(epsilon, delta), ceiling=epsilon_max)
    ratio, cap = exact.exp_below(epsilon), exact.exp_below(epsilon_max)
    mix = best_patterns(answers, ratio, exact.rational(delta), cap)
    weights = level_weights(ratio, cap)
    counts = [
        [
            sum(
                level.categories
                for level in part.pattern.levels
                if level.weight == w
            )
            for w in weights
        ]
        for part in mix
    ]
    return {
        "n_variance": total_variance(choice.design),
        "weight_of_second": mix[1].weight / 2**64,
        "levels": counts,
    }


@quantity("reveal_estimate")
def reveal_estimate(
    answers: int,
    epsilon: float,
    delta: float,
    t: int,
    revealed: list[int],
    subset_counts: list[int],
) -> dict[str, Any]:
    """For t = 1 a set that is no revealed answer is sent as all the other categories."""
    design = dn.exposing_subset(answers, epsilon, exact.rational(delta))
    assert t == 1
    counts = [0] * 2**answers
    for j, (open_count, set_count) in enumerate(
        zip(revealed, subset_counts, strict=True)
    ):
        counts[1 << j] = open_count
        counts[2**answers - 1 - (1 << j)] = set_count
    estimate = dn.estimate(dn.Tally(design, counts)).value
    return {
        "estimate": estimate.tolist(),
        "a": (answers - 1) / total_variance(design),
    }


@quantity("four_responses")
def four_responses(epsilon: float, delta: float, share: float) -> dict[str, Any]:
    design = dn.exposing_subset(["no", "yes"], epsilon, exact.rational(delta))
    shares = [1 - share, share]
    best = covariance(design, shares, 1, guess=np.array(shares))
    return {
        "n_variance_best": best[1, 1],
        "n_variance_linear_even": variance(design, 1, shares=shares),
    }


@quantity("optimal_known_prior")
def optimal_known_prior(
    prior: list[float], most: float, epsilon_max: float | None, shares: list[float]
) -> dict[str, Any]:
    """The sheet has the total of all shares, of the best estimate at these shares."""
    demand = KnownPrior(prior, most)
    ceiling = math.inf if epsilon_max is None else epsilon_max
    at = fractions(shares)
    design = dn.optimal(len(prior), demand, ceiling=ceiling, shares=at).design
    assert demand.check(design)
    return {"n_variance": float(np.trace(covariance(design, at, 1, guess=at)))}


@quantity("best_subset_known_prior")
def best_subset_known_prior(prior: list[float], most: float) -> dict[str, Any]:
    t, gamma = best_subset_for_prior(prior, most)
    risk = float(subset_risk(len(prior), t, gamma))
    return {"n_variance": risk, "t": t, "gamma": float(gamma)}
