"""How often 95 % intervals of a randomized predictor's slope hold the truth, and how often its test is wrong.

`python -m benchmarks.coverage_predictors [surveys] [part …]`, parts as in `PARTS`. The device answers by chance at the
rate .4769846 of Chrome's confidence field; the outcome has one of six laws in the group, shifted in the others; a
covariate is part of the formula, and the share depends on it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

import deniable as dn
from deniable import exact
from deniable.estimates.covariances import Vector

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


def survey(
    rng: np.random.Generator, law: str, share: float, n: int, clusters: int = 0
) -> dn.Regression:
    """Draw one survey and fit it; of clusters, outcome and answer go together within each."""
    x, names = rng.uniform(-1, 1, n), np.arange(n) % max(clusters, 1)
    members = rng.random(n) < np.clip(share * (1 + 0.5 * x), 0, 1)
    y = LAWS[law](rng, n) + 0.5 * x + SLOPE * members
    y += 0.5 * rng.normal(size=max(clusters, 1))[names] * (clusters > 0)
    by_chance = rng.random(n) < float(RATE)
    sent = np.where(by_chance, rng.random(n) < 0.5, members).astype(int)
    frame = {"y": y, "x": x, "sent": sent, "cluster": names}
    sampling = dn.Sampling(clusters="cluster", data=frame) if clusters else None
    return dn.regress(
        "y ~ x + sent",
        frame,
        design=dn.warner(p=1 - exact.rational(RATE) / 2),
        predictor="sent",
        sampling=sampling,
    )


def coverage(surveys: int, n: int, clusters: int = 0) -> Iterator[str]:
    """Yield for each law and share how often Fieller's and Student's intervals and the test are right."""
    for number, law in enumerate(LAWS):
        for share in SHARES:
            rng = np.random.default_rng([n, clusters, int(1000 * share), number])
            held = np.zeros(4)
            for _ in range(surveys):
                found = survey(rng, law, share, n, clusters)
                low, high = found.interval("sent")
                student = found.interval("sent", method="t")
                held += (
                    low <= SLOPE <= high,
                    student.low <= SLOPE <= student.high,
                    not np.isfinite(low),
                    found.test(f"sent = {SLOPE}").p_value < 0.05,
                )
            fieller, delta, unbounded, rejected = held / surveys
            yield (
                f"{law:14} share {share:.2f}  n {n:6,}  clusters {clusters:2}  Fieller {fieller:.3f}  "
                f"t {delta:.3f}  unbounded {unbounded:.3f}  rejected {rejected:.3f}"
            )


PARTS: dict[str, tuple[int, int]] = {
    "small": (400, 0),
    "usual": (2_000, 0),
    "large": (40_000, 0),
    "clusters-8": (800, 8),
    "clusters-15": (1_500, 15),
    "clusters-30": (3_000, 30),
}


def main(arguments: list[str]) -> None:
    surveys = int(arguments[0]) if arguments else 400
    for part in arguments[1:] or PARTS:
        for line in coverage(surveys, *PARTS[part]):
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
