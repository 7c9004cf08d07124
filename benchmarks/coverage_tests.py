"""How often 95 % intervals of a prevalence hold the truth, where the test was validated on few people.

`python -m benchmarks.coverage_tests [surveys] [part …]`, parts as in `PARTS`. Each survey draws positives, and the
validation of sensitivity and specificity, anew. "known" takes the test's errors as known: what leaving out the error of
the validation does.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np

import deniable as dn

PREVALENCES = (0.0, 0.01, 0.05, 0.1, 0.3, 0.6)
METHODS = ("profile", "lang-reiczigel", "fieller", "normal")
PARTS: dict[str, tuple[int, int, int, float, float]] = {
    "usual": (500, 100, 200, 0.9, 0.98),
    "rare": (3_000, 100, 300, 0.85, 0.995),
    "few": (200, 50, 50, 0.8, 0.9),
}
"""People tested, validated cases and others, sensitivity and specificity."""


def coverage(surveys: int, part: str) -> Iterator[str]:
    """Yield for each prevalence how often the interval of each method holds it."""
    n, n_cases, n_others, sensitivity, specificity = PARTS[part]
    for share in PREVALENCES:
        rng = np.random.default_rng([n, int(1000 * share)])
        positive = share * sensitivity + (1 - share) * (1 - specificity)
        held = np.zeros(len(METHODS) + 1)
        for _ in range(surveys):
            found = dn.prevalence(
                int(rng.binomial(n, positive)),
                n,
                sensitivity=(int(rng.binomial(n_cases, sensitivity)), n_cases),
                specificity=(int(rng.binomial(n_others, specificity)), n_others),
            )
            known = 1.96 * math.sqrt(found.model.known_covariance()[0, 0])
            intervals = [
                *(found.interval("prevalence", method=method) for method in METHODS),
                (found.value - known, found.value + known),
            ]
            held += [low <= share <= high for low, high in intervals]
        shares = dict(zip((*METHODS, "known"), held / surveys, strict=True))
        figures = "  ".join(f"{name} {value:.3f}" for name, value in shares.items())
        yield f"{part:6} prevalence {share:.2f}  {figures}"


def main(arguments: list[str]) -> None:
    surveys = int(arguments[0]) if arguments else 4_000
    for part in arguments[1:] or PARTS:
        for line in coverage(surveys, part):
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
