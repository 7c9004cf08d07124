"""Section A of the survey sheet: channels, what they reveal, estimates and intervals of named designs."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

import deniable as dn
from deniable.errors import ImplausibleResponses
from deniable.estimates import Estimate, covariance, mean_inverse
from tests.golden.named import named
from tests.golden.runner import Uncovered, fractions, quantity

INTERVALS = {"wilson": "score", "exact": "exact", "profile": "profile"}


@quantity("channel")
def channel(design: str, **parameters: Any) -> Any:
    return named(design, **parameters).channel.floats().tolist()


@quantity("privacy")
def privacy(
    design: str, prior: float | None = None, **parameters: Any
) -> dict[str, Any]:
    """The Bayes factors and posteriors are those of the second of two answers."""
    built = named(design, **parameters)
    found: dict[str, Any] = {"epsilon": built.epsilon}
    if prior is not None and len(built.categories) == 2:
        factors = [
            built.bayes_factors(symbol, built.categories[1])[0]
            for symbol in built.symbols
        ]
        found["bayes_factor"] = factors
        found["posterior"] = [
            posterior(factor, fractions(prior)) for factor in factors
        ]
    return found


def posterior(factor: Any, prior: Fraction) -> float:
    return (
        1.0
        if factor == math.inf
        else float(factor * prior / (factor * prior + 1 - prior))
    )


def estimated(design: dn.Design, counts: list[int], **options: Any) -> Estimate:
    """Some counts lie outside of what the design sends on purpose; the warning is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImplausibleResponses)
        return dn.estimate(dn.Tally(design, counts), **options)


def moments(design: dn.Design) -> Any:
    """The left inverse of the customary estimate, where there are more responses than answers."""
    return (
        mean_inverse(design)
        if len(design.symbols) > len(design.categories)
        else None
    )


@quantity("moment")
def moment(design: str, counts: list[int], **parameters: Any) -> dict[str, Any]:
    built, n = named(design, **parameters), sum(counts)
    found = estimated(built, counts, inverse=moments(built))
    errors = {"se": found.errors, "se_n": found.errors * math.sqrt((n - 1) / n)}
    if len(built.categories) > 2:
        return {"pi": found.value} | errors
    alone = {"pi": found.value[1]} | {name: each[1] for name, each in errors.items()}
    return alone | (
        {"se_model": rrreg_error(built, found.value[1], n)}
        if design == "kuk"
        else {}
    )


def rrreg_error(built: dn.Design, pi: float, n: int) -> float:
    """RRreg's error of Kuk's estimate: that of the model, with n − 1 for people and r·n − 1 for cards.

    Ours is the empirical one, which also holds where the model fails; theirs is its expectation but for the ones.
    """
    draws = len(built.symbols) - 1
    people = (1 - 1 / draws) * pi * (1 - pi) / n
    cards = (
        float(covariance(built, [1 - pi, pi], n, inverse=moments(built))[1, 1])
        - people
    )
    return math.sqrt(cards * draws * n / (draws * n - 1) + people * n / (n - 1))


@quantity("maximum_likelihood")
def maximum_likelihood(
    design: str, counts: list[int], **parameters: Any
) -> dict[str, Any]:
    built, n = named(design, **parameters), sum(counts)
    found = estimated(built, counts, method="likelihood")
    expected = built.channel.floats() @ found.value
    inside = bool((found.value > 1e-9).all())
    errors = (
        np.sqrt(np.diagonal(covariance(built, found.value, n, guess=found.value)))
        if inside
        else None
    )
    alone = len(built.categories) == 2
    return {
        "pi": found.value[1] if alone else found.value,
        "se": None if errors is None else errors[1] if alone else errors,
        "loglik": float(np.array(counts) @ np.log(expected)),
    }


@quantity("interval")
def interval(
    design: str,
    yes: int,
    n: int,
    method: str,
    params: dict[str, Any],
    level: float = 0.95,
) -> dict[str, float]:
    """All but Wald's interval are cut to [0, 1] in the sheet; that one has a normal quantile, ours Student's."""
    found = estimated(named(design, **params), [n - yes, yes])
    if method == "wald":
        reach = NormalDist().inv_cdf((1 + level) / 2) * found.bse["yes"]
        return {
            "lower": found.params["yes"] - reach,
            "upper": found.params["yes"] + reach,
        }
    if method not in INTERVALS:
        raise Uncovered(f"no interval is called {method!r}")
    low, high = np.clip(
        found.conf_int(level=level, method=INTERVALS[method])["yes"], 0, 1
    )
    return {"lower": float(low), "upper": float(high)}


@quantity("sampling_variance")
def sampling_variance(design: str, pi: float, n: int, **parameters: Any) -> float:
    built = named(design, **parameters)
    return float(covariance(built, [1 - pi, pi], n, inverse=moments(built))[1, 1])
