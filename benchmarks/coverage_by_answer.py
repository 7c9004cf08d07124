"""How often 95 % intervals of means, differences and medians by answer hold the truth.

`python -m benchmarks.coverage_page by-answer` writes the tables. Outcomes, shares, device, numbers of people and the
way of judging are those of `benchmarks.coverage_predictors`; of clusters, outcome and answer go together within each.
The first surveys of each cell go through `dn.by_answer` and `dn.quantiles_by_answer` too, and must say the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import t as student

import deniable as dn
from benchmarks.coverage_predictors import (
    COMPARED,
    LAWS,
    PEOPLE,
    RATE,
    answer_by_chance,
    judge,
    response_weights,
    surveys_of,
    table,
)
from deniable.estimates.covariances import Vector

GAP = 2.0
MEANS = {
    "normal": 0.0,
    "log-normal .3": np.exp(0.3**2 / 2) / 0.3,
    "log-normal .5": np.exp(0.5**2 / 2) / 0.5,
    "exponential": 1.0,
    "t, 3 df": 0.0,
    "Likert": 2.0,
}
MEDIANS = {
    "normal": 0.0,
    "log-normal .3": 1 / 0.3,
    "log-normal .5": 1 / 0.5,
    "exponential": np.log(2),
    "t, 3 df": 0.0,
}


def judged(
    rng: np.random.Generator,
    law: str,
    share: float,
    n: int,
    clusters: int,
    *,
    compared: bool,
) -> list[bool]:
    """Draw one survey; tell whether the intervals of mean and difference hold, have no ends, and the median's holds."""
    names, tilt, apart = None, np.ones(1), (0.0, 0.0)
    if clusters:
        # the share lies between half and one and a half times what it is on average
        names, tilt = np.arange(n) % clusters, rng.uniform(0.5, 1.5, clusters)
        # the mean of a cluster's effect among the members, who are more where it is larger, and among others
        apart = (0.5 / 12, -0.5 / 12 * share / (1 - share))
    effect = tilt[names] if clusters else 1.0
    members = rng.random(n) < share * effect
    y = LAWS[law](rng, n) + GAP * members + 0.5 * (effect - 1)
    sent = answer_by_chance(rng, members)
    mean, difference = MEANS[law] + GAP + apart[0], GAP + apart[0] - apart[1]
    w = response_weights(sent)
    kappa, middle = w.mean(), y.mean()
    below = (1 - kappa) ** 2 * w + kappa**2 * (1 - w)
    found = (
        judge(w * (y - mean), w, names),
        judge((w - kappa) * (y - middle) - difference * below, below, names),
    )
    held = [found[0].held, found[1].held, found[0].unbounded, found[1].unbounded]
    if law in MEDIANS and not clusters:
        low, high = median_interval(y, w)
        held.append(low <= MEDIANS[law] + GAP <= high)
    if compared:
        value = np.where(sent, "high", "low")
        responses = dn.read_confidence(value, RATE)
        sampling = dn.Sampling(clusters=names) if clusters else None
        means = dn.by_answer(y, responses, sampling=sampling)
        intervals = [
            means.interval("high"),
            means.about("difference").interval("high − low"),
        ]
        truths = [mean, difference]
        ends = [bool(np.isinf(low)) for low, _ in intervals]
        if len(held) > 4:
            medians = dn.quantiles_by_answer(y, responses, quantiles=[0.5])
            intervals.append(medians.interval("high · median"))
            truths.append(MEDIANS[law] + GAP)
        inside = [
            bool(low <= truth <= high)
            for (low, high), truth in zip(intervals, truths, strict=True)
        ]
        assert held == [*inside[:2], *ends, *inside[2:]]
    return held


def median_interval(y: Vector, w: Vector) -> tuple[float, float]:
    """Return Woodruff's interval of the median, all values between the first and the last that is not rejected."""
    order = np.argsort(y)
    y, w, n, z = y[order], w[order], len(y), student.ppf(0.975, len(y) - 1)
    if abs(w.sum()) <= z * w.std(ddof=1) * n**0.5:
        return -np.inf, np.inf
    away = np.cumsum(w) - w.sum() / 2
    # where the weight is 1{y ≤ t} − 1/2 its square is 1/4 for all
    variance = ((w @ w) / 4 - away**2 / n) * n / (n - 1)
    inside = np.flatnonzero(away**2 <= z**2 * variance)
    return y[inside[0]], y[inside[-1] + 1]


def measured(law: str, share: float, n: int, clusters: int) -> str:
    """Return a cell of the table."""
    seed = [n, clusters, int(1000 * share), list(LAWS).index(law)]
    rng = np.random.default_rng(seed)
    mean, difference, *unbounded = np.mean(
        [
            judged(rng, law, share, n, clusters, compared=number < COMPARED)
            for number in range(surveys_of(n))
        ],
        axis=0,
    )
    median = f" · {unbounded[2]:.3f}" if len(unbounded) > 2 else " · —"
    ends = f" ({unbounded[0]:.2f})" * bool(unbounded[0])
    return f"{mean:.3f} · {difference:.3f}{median}{ends}"


def lines() -> Iterator[str]:
    """Yield the part of the page."""
    yield """\
How often the default intervals of the mean of an outcome among the people with an answer, of its difference from the
others, and of the median hold the truth; in parentheses how often that of the mean has no ends, because the data do not
show that the group exists. People, outcomes, shares, device and surveys as above. There is no median of five values,
and none was measured of clusters.
"""
    yield from table(PEOPLE, measured)
