"""How often the 95 % interval of a randomized predictor's slope holds the truth, and how often its test is wrong.

`python -m benchmarks.coverage_page predictors` writes the table. The device answers by chance at the rate .4769846 of
Chrome's confidence field; the outcome has one of six laws, shifted in the group; a covariate is part of the formula,
and the share depends on it. Of clusters, outcomes go together within each.

The interval holds b where the effective score Σ e(b) is within its error of 0, so that only its value at the truth is
worked out. The first surveys of each cell go through `dn.regress` too, and must say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.stats import t as student

import deniable as dn
from deniable import exact
from deniable.estimates.covariances import Vector, vector

SURVEYS, SURVEYS_SLOW, COMPARED = 1_000, 400, 2
RATE = "0.4769846"
SHARES = (0.05, 0.2, 0.5)
SLOPE = 1.2
Outcomes: TypeAlias = Callable[[np.random.Generator, int], Vector]
LAWS: dict[str, Outcomes] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "log-normal .3": lambda rng, n: np.exp(0.3 * rng.normal(size=n)) / 0.3,
    "log-normal .5": lambda rng, n: np.exp(0.5 * rng.normal(size=n)) / 0.5,
    "exponential": lambda rng, n: rng.exponential(size=n),
    "t, 3 df": lambda rng, n: rng.standard_t(3, size=n),
    "Likert": lambda rng, n: rng.choice(5, n, p=[0.1, 0.2, 0.4, 0.2, 0.1]) * 1.0,
}
PEOPLE: dict[str, tuple[int, int]] = {
    "400": (400, 0),
    "2,000": (2_000, 0),
    "40,000": (40_000, 0),
    "8 clusters": (800, 8),
    "15 clusters": (1_500, 15),
    "30 clusters": (3_000, 30),
}
"""Number of people and of clusters."""


class Judged(NamedTuple):
    """Whether the interval holds the truth, has no ends, and whether the test at 5 % rejects the truth."""

    held: bool
    unbounded: bool
    rejected: bool


def judge(scores: Vector, below: Vector, names: Vector | None) -> Judged:
    """Judge by the scores e(b) at the true b and e₁, where e(b) = e₀ − b·e₁: Fieller's interval, Student's quantile."""
    value, error = _sum(scores, names)
    scale, spread = _sum(below, names)
    z = student.ppf(0.975, (len(scores) if names is None else names.max() + 1) - 1)
    rejected, unbounded = abs(value) > z * error, abs(scale) <= z * spread
    return Judged(bool(unbounded or not rejected), bool(unbounded), bool(rejected))


def _sum(scores: Vector, names: Vector | None) -> tuple[float, float]:
    """Return a sum over independent people or clusters, and its error."""
    parts = scores if names is None else np.bincount(names, scores)
    return float(parts.sum()), float(parts.std(ddof=1) * len(parts) ** 0.5)


def response_weights(sent: Vector) -> Vector:
    """Return the unbiased indicator of the group, from responses 0 and 1."""
    return (sent - float(RATE) / 2) / (1 - float(RATE))


def answer_by_chance(rng: np.random.Generator, members: Vector) -> Vector:
    n = len(members)
    return np.where(rng.random(n) < float(RATE), rng.random(n) < 0.5, members) * 1


def judged(
    rng: np.random.Generator,
    law: str,
    share: float,
    n: int,
    clusters: int,
    *,
    compared: bool,
) -> Judged:
    """Draw one survey, and judge its interval and its test."""
    x = rng.uniform(-1, 1, n)
    members = rng.random(n) < np.clip(share * (1 + 0.5 * x), 0, 1)
    y, names = LAWS[law](rng, n) + 0.5 * x + SLOPE * members, None
    if clusters:
        names = np.arange(n) % clusters
        y += 0.5 * rng.normal(size=clusters)[names]
    sent = answer_by_chance(rng, members)
    w, basis = response_weights(sent), np.linalg.qr(np.column_stack([x**0, x]))[0]
    explained = basis @ (basis.T @ w)

    def score(slope: float) -> Vector:
        left = y - slope * w
        fitted = basis @ (basis.T @ left)
        return vector(w * (y - fitted - slope) - (left - fitted) * explained)

    scores = score(SLOPE)
    found = judge(scores, scores - score(SLOPE + 1), names)
    if compared:
        frame = {"y": y, "x": x, "sent": sent}
        fit = dn.regress(
            "y ~ x + sent",
            frame,
            design=dn.warner(p=1 - exact.rational(RATE) / 2),
            predictor="sent",
            sampling=dn.Sampling(clusters=names) if clusters else None,
        )
        low, high = fit.interval("sent")
        rejected = fit.test(f"sent = {SLOPE}").p_value < 0.05
        assert found == (low <= SLOPE <= high, not np.isfinite(low), rejected)
    return found


def standard_error(surveys: int) -> str:
    return f"{(0.05 * 0.95 / surveys) ** 0.5:.4f}"


def surveys_of(n: int) -> int:
    return SURVEYS if n < 40_000 else SURVEYS_SLOW


def measured(law: str, share: float, n: int, clusters: int) -> str:
    """Return a cell of the table."""
    seed = [n, clusters, int(1000 * share), list(LAWS).index(law)]
    rng = np.random.default_rng(seed)
    surveys = surveys_of(n)
    held, unbounded, rejected = np.mean(
        [
            judged(rng, law, share, n, clusters, compared=number < COMPARED)
            for number in range(surveys)
        ],
        axis=0,
    )
    return f"{held:.3f} · {rejected:.3f}" + f" ({unbounded:.2f})" * bool(unbounded)


def table(
    people: Iterable[str], cell: Callable[[str, float, int, int], str]
) -> Iterator[str]:
    """Yield a row for each law and share, with a cell for each number of people and clusters."""
    yield f"| outcome | share | {' | '.join(people)} |"
    yield "| --- | --- |" + " --- |" * len(list(people))
    for law, share in product(LAWS, SHARES):
        cells = [cell(law, share, *PEOPLE[each]) for each in people]
        yield f"| {law} | {share:.0%} | {' | '.join(cells)} |"


def lines() -> Iterator[str]:
    """Yield the part of the page."""
    yield f"""\
How often the default interval of the slope of a randomized predictor holds the truth, how often its test at 5 %
rejects the truth, and in parentheses how often the interval has no ends, because the share of the group is not clear of
0. Columns are numbers of people, each on their own, or clusters of 100 people. `y ~ x + sent`, device by chance with
probability {RATE}. {SURVEYS:,} surveys for each cell (a standard error of {standard_error(SURVEYS)}), {SURVEYS_SLOW} of
40,000 people ({standard_error(SURVEYS_SLOW)}).
"""
    yield from table(PEOPLE, measured)
