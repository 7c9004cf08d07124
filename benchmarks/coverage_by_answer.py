"""How often 95 % intervals of means, differences and quantiles by answer hold the truth.

`python -m benchmarks.coverage_by_answer [surveys] [part …]`, parts as in `coverage_predictors`. The device answers by
chance at the rate .4769846 of Chrome's confidence field. The outcome has one of six laws, higher in the group; of
clusters, outcome and answer go together within each.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

import deniable as dn
from benchmarks.coverage_predictors import LAWS, PARTS, RATE, SHARES

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


def covers(
    rng: np.random.Generator, law: str, share: float, n: int, clusters: int = 0
) -> list[bool]:
    """Draw one survey; return whether the intervals hold the truth, and whether that of the mean has no ends."""
    names = np.arange(n) % max(clusters, 1)
    # of clusters, the share lies between half and one and a half times what it is on average
    tilt = rng.uniform(0.5, 1.5, max(clusters, 1)) if clusters else np.ones(1)
    members = rng.random(n) < share * tilt[names]
    y = LAWS[law](rng, n) + GAP * members
    if clusters:
        y += 0.5 * (tilt[names] - 1)
    by_chance = rng.random(n) < float(RATE)
    value = np.where(
        np.where(by_chance, rng.random(n) < 0.5, members), "high", "low"
    )
    sampling = dn.Sampling(clusters=names) if clusters else None
    sent = dn.read_confidence(value, RATE)
    found = dn.by_answer(y, sent, sampling=sampling)
    # The mean of a cluster's effect among the members, who are more where it is larger.
    among = (
        (0.5 * (1 / 12), -0.5 * (1 / 12) * share / (1 - share))
        if clusters
        else (0, 0)
    )
    mean = MEANS[law] + GAP + among[0]
    held = [
        _holds(found.interval("high"), mean),
        _holds(found.interval("high", method="normal"), mean),
        _holds(
            found.about("difference").interval("high − low"),
            GAP + among[0] - among[1],
        ),
        not np.isfinite(found.interval("high").low),
    ]
    if law in MEDIANS and not clusters:
        median = dn.quantiles_by_answer(y, sent).interval("high · median")
        held.append(_holds(median, MEDIANS[law] + GAP))
    return held


def _holds(interval: dn.Interval, truth: float) -> bool:
    return bool(interval.low <= truth <= interval.high)


def coverage(surveys: int, n: int, clusters: int = 0) -> Iterator[str]:
    """Yield for each law and share how often each interval holds the truth."""
    for number, law in enumerate(LAWS):
        for share in SHARES:
            rng = np.random.default_rng([n, clusters, int(1000 * share), number])
            held = np.mean(
                [covers(rng, law, share, n, clusters) for _ in range(surveys)],
                axis=0,
            )
            median = f"  median {held[4]:.3f}" if len(held) > 4 else ""
            yield (
                f"{law:14} share {share:.2f}  n {n:6,}  clusters {clusters:2}  mean {held[0]:.3f}  "
                f"by delta {held[1]:.3f}  difference {held[2]:.3f}  unbounded {held[3]:.3f}{median}"
            )


def main(arguments: list[str]) -> None:
    surveys = int(arguments[0]) if arguments else 400
    for part in arguments[1:] or PARTS:
        for line in coverage(surveys, *PARTS[part]):
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
