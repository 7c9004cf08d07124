"""How often 95 % intervals of a prevalence hold the truth, where the test was validated on few people.

`python -m benchmarks.coverage_page tests` writes the tables. Each survey draws the people tested, and the validation of
sensitivity and specificity, anew. Whether the default interval holds the truth is told by the likelihood there, of all
surveys at once; the first surveys of each cell go through `dn.prevalence` too, and must say the same. "known" takes the
test's errors as known: what leaving out the error of the validation does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from scipy.special import xlogy
from scipy.stats import norm
from scipy.stats import t as student

import deniable as dn
from benchmarks.coverage_predictors import (
    COMPARED,
    PEOPLE,
    SURVEYS_SLOW,
    standard_error,
)
from deniable.estimates.covariances import Matrix, Vector, vector

SURVEYS = 10_000
PREVALENCES = (0.0, 0.01, 0.05, 0.2, 0.5)
METHODS = ("lang-reiczigel", "fieller", "normal")
Test = tuple[int, int, float, float]
TESTS: tuple[Test, ...] = (
    (100, 200, 0.9, 0.98),
    (100, 300, 0.85, 0.995),
    (50, 50, 0.8, 0.9),
)
"""Validated cases and others, sensitivity and specificity."""


def validations(rng: np.random.Generator, test: Test) -> Matrix:
    """Draw the positives among validated cases and others, of each survey."""
    n_cases, n_others, sensitivity, specificity = test
    hits = (
        rng.binomial(n_cases, sensitivity, SURVEYS),
        rng.binomial(n_others, 1 - specificity, SURVEYS),
    )
    return np.stack(hits)


def estimated(validated: Matrix, test: Test, **tested: Any) -> Any:
    cases, negatives = int(validated[0]), int(test[1] - validated[1])
    return dn.prevalence(
        **tested, sensitivity=(cases, test[0]), specificity=(negatives, test[1])
    )


def default_held(test: Test, share: float, people: str) -> float:
    """Return how often the default interval holds a prevalence."""
    n, clusters = PEOPLE[people]
    rng = np.random.default_rng([n, clusters, test[1], int(1000 * share)])
    validated = validations(rng, test)
    # of clusters, the prevalence of each lies between half and one and a half times that of all
    tilt = (
        rng.uniform(0.5, 1.5, (SURVEYS, clusters))
        if clusters
        else np.ones((SURVEYS, 1))
    )
    rates = test[2] * share * tilt + (1 - test[3]) * (1 - share * tilt)
    hits = rng.binomial(n // max(clusters, 1), rates)
    positive, z, effect = hits.sum(axis=1) / n, norm.ppf(0.975), np.ones(SURVEYS)
    if clusters:
        z = student.ppf(0.975, clusters - 1)
        variances = hits.var(axis=1, ddof=1) * clusters / n**2
        spread = positive * (1 - positive)
        effect = np.maximum(variances * (n - 1) / np.maximum(spread, 1e-9), 1)
    counts = np.stack([*validated, positive * n / effect])
    sizes = np.stack(
        [np.full(SURVEYS, test[0]), np.full(SURVEYS, test[1]), n / effect]
    )
    v, u, t = counts / sizes
    best = np.clip((t - u) / (v - u), 0, 1)
    drop = likelihood(counts, sizes, best) - likelihood(counts, sizes, share)
    held = 2 * drop <= z**2
    for survey in range(COMPARED):
        tested: dict[str, Any] = {"positive": int(hits[survey].sum()), "n": n}
        if clusters:
            words = np.where(
                np.arange(n // clusters) < hits[survey][:, None], "yes", "no"
            )
            names = np.repeat(np.arange(clusters), n // clusters)
            tested = {
                "positive": dn.Responses.of(dn.direct(), words.ravel()),
                "sampling": dn.Sampling(clusters=names),
            }
        low, high = estimated(validated[:, survey], test, **tested).interval(
            "prevalence"
        )
        assert held[survey] == (low <= share <= high)
    return float(held.mean())


def likelihood(hits: Matrix, sizes: Matrix, share: Vector | float) -> Vector:
    """Return the largest log-likelihood at a prevalence π, of each survey.

    Why: with the multiplier m of t = π·v + (1 − π)·u each of the three rates s solves hits/s − (n − hits)/(1 − s) = m·
    its weight, a quadratic equation, and what the equation leaves over grows with m.
    """
    ones = np.ones(hits.shape[1])
    weights = np.stack([share * ones, (1 - share) * ones, -ones])

    def rates(multiplier: Vector) -> Matrix:
        total = sizes + multiplier * weights
        root = np.sqrt(np.maximum(total**2 - 4 * multiplier * weights * hits, 0))
        other = (total - root) / np.where(
            weights * multiplier, 2 * weights * multiplier, 1
        )
        return np.where(
            total > 0, 2 * hits / np.where(total > 0, total + root, 1), other
        )

    low = -2 * sizes.sum(axis=0) / np.maximum(np.minimum(share, 1 - share), 1e-3)
    high = -low
    for _ in range(70):
        middle = (low + high) / 2
        below = -(weights * rates(middle)).sum(axis=0) < 0
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    best = np.clip(rates((low + high) / 2), 0, 1)
    return vector((xlogy(hits, best) + xlogy(sizes - hits, 1 - best)).sum(axis=0))


def methods_held(test: Test, share: float, n: int) -> list[float]:
    """Return how often each method holds a prevalence, and the normal interval of a test that is known."""
    rng = np.random.default_rng([n, test[1], int(1000 * share)])
    positive = share * test[2] + (1 - share) * (1 - test[3])
    held = np.zeros(len(METHODS) + 1)
    for validated in validations(rng, test).T[:SURVEYS_SLOW]:
        found = estimated(
            validated, test, positive=int(rng.binomial(n, positive)), n=n
        )
        error = norm.ppf(0.975) * found.model.known_covariance()[0, 0] ** 0.5
        intervals = [
            *(found.interval("prevalence", method=method) for method in METHODS),
            (found.value - error, found.value + error),
        ]
        held += [low <= share <= high for low, high in intervals]
    return (held / SURVEYS_SLOW).tolist()


def lines() -> Iterator[str]:
    """Yield the part of the page."""
    yield f"""\
How often the default interval of a prevalence (profile) holds the truth. People are drawn as above; of clusters, the
prevalence of each lies between half and one and a half times that of all. The validation is drawn anew in each survey.
{SURVEYS:,} surveys for each cell (a standard error of {standard_error(SURVEYS)}).
"""
    settings = {
        f"{n_v} and {n_u} validated, sensitivity {v:.0%}, specificity {s:.1%} | {share:.0%}": (
            (n_v, n_u, v, s),
            share,
        )
        for (n_v, n_u, v, s), share in product(TESTS, PREVALENCES)
    }
    yield f"| test | prevalence | {' | '.join(PEOPLE)} |"
    yield "| --- | --- |" + " --- |" * len(PEOPLE)
    for name, setting in settings.items():
        cells = (f"{default_held(*setting, each):.3f}" for each in PEOPLE)
        yield f"| {name} | {' | '.join(cells)} |"
    yield f"""
The other methods at n = 2,000, and the normal interval that takes the errors of the test as known; {SURVEYS_SLOW}
surveys (a standard error of {standard_error(SURVEYS_SLOW)}):
"""
    yield f"| test | prevalence | {' | '.join(METHODS)} | known |"
    yield "| --- | --- |" + " --- |" * (len(METHODS) + 1)
    for name, setting in settings.items():
        cells = (f"{rate:.3f}" for rate in methods_held(*setting, 2_000))
        yield f"| {name} | {' | '.join(cells)} |"
