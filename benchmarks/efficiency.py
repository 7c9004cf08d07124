"""How near estimates come to the Fisher bound of what is sent: `python -m benchmarks.efficiency` writes the page.

For every registered design the last category has a share of 0.5 %, 3 %, 20 %, or all are even. The variance of the
unbiased estimate is exact. The mean squared error of the likelihood is simulated beside that of the best linear
estimate at the true shares, whose error is the bound itself: their difference alone is left to chance, and is small.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.support.ladders import families, small

import deniable as dn
from deniable.designs import FAMILIES, Design
from deniable.errors import NotEstimable
from deniable.estimates import covariance, weighing
from deniable.estimates.inverses import left_inverse
from deniable.estimates.likelihood import most_likely
from deniable.estimates.linear import floats
from deniable.estimates.stages import combine
from deniable.order.ladders import Ladder
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

Vector = NDArray[np.float64]

PAGE = Path(__file__).parents[1] / "docs" / "efficiency.md"
SHARES: tuple[float | None, ...] = (0.005, 0.03, 0.2, None)
SURVEYS, SURVEYS_OF_STAGES = 100, 40
APART = 10.0  # standard errors from every share to 0

LARGER: tuple[tuple[str, Design], ...] = tuple(
    (f"`{name}({k}, {epsilon}{more})`", design)
    for k, epsilon in ((4, 4), (6, 4), (8, 2))
    for name, more, design in (
        ("subset", "", dn.subset(k, epsilon)),
        ("subset", ", t=3", dn.subset(k, epsilon, t=3)),
        ("unary", "", dn.unary(k, epsilon)),
        ("unary", ", optimized=True", dn.unary(k, epsilon, optimized=True)),
        ("rappor", "", dn.rappor(k, epsilon)),
        ("hadamard", "", dn.hadamard(k, epsilon)),
        ("local_hashing", "", dn.local_hashing(k, epsilon)),
    )
)


class Efficiency(NamedTuple):
    """The bound over the mean squared error, of the share itself or of all shares together, whichever is smaller."""

    inversion: float
    likelihood: float
    error: float
    respondents: int


def registered() -> Iterator[tuple[str, Design]]:
    """Yield every registered design by a name for the table."""
    for family in FAMILIES.values():
        for example, design in zip(family.examples, family.designs(), strict=True):
            told = ", ".join(
                f"{name}={shown(value)}" for name, value in example.items()
            )
            yield (
                f"`{family.name}({told:.70}{'…' if len(told) > 70 else ''})`",
                design,
            )


def shown(value: object) -> str:
    """Return an argument for the table; labels by their number, and nothing that a table would break at."""
    if isinstance(value, Mapping) and any(
        isinstance(each, Design) for each in value.values()
    ):
        value = list(value.values())
    if isinstance(value, list | tuple) and any(
        isinstance(each, Design) for each in value
    ):
        return " and ".join(each.name for each in value)
    if isinstance(value, list | tuple) and all(
        isinstance(each, str) for each in value
    ):
        return str(len(value))
    return str(value).replace("|", "/")


def true_shares(size: int, share: float | None) -> Vector:
    """Return shares of which the last is given and the others are even; or all are."""
    if share is None:
        return np.full(size, 1 / size)
    shares = np.full(size, (1 - share) / (size - 1))
    shares[-1] = share
    return shares


def bound(design: Design, shares: Vector) -> NDArray[np.float64]:
    """Return the smallest covariance that one response allows: the inverse information of shares that sum to one.

    Why: with D = diag(Pπ) the information of a response about π is P′D⁻¹P, and P′D⁻¹Pπ = 1, so that (P′D⁻¹P)⁻¹ − ππ′ is
    its inverse along the simplex.
    """
    matrix = floats(design.channel)
    sent = matrix @ shares
    seen = sent > 0
    information = (matrix[seen].T / sent[seen]) @ matrix[seen]
    return np.asarray(np.linalg.inv(information) - np.outer(shares, shares))


def efficiency(
    design: Design, share: float | None, *, surveys: int = SURVEYS, seed: int = 13
) -> Efficiency:
    """Return the efficiencies of the two estimates at a share."""
    shares = true_shares(len(design.categories), share)
    least = bound(design, shares)
    variances = np.diag(covariance(design, shares, 1))
    inversion = min(least[-1, -1] / variances[-1], np.trace(least) / variances.sum())
    n = max(100_000, math.ceil(APART**2 * (np.diag(least) / shares**2).max()))
    # surveys × categories, next to the bound of one response
    wrong = excess(design, shares, n, surveys, seed) * n
    both = np.column_stack(
        [wrong[:, -1] / least[-1, -1], wrong.sum(axis=1) / np.trace(least)]
    )
    mean, error = both.mean(axis=0), both.std(axis=0, ddof=1) / math.sqrt(surveys)
    worst = int(np.argmax(mean))
    return Efficiency(
        float(inversion), float(1 / (1 + mean[worst])), float(error[worst]), n
    )


def excess(
    design: Design, shares: Vector, n: int, surveys: int, seed: int
) -> NDArray[np.float64]:
    """Return by how much the likelihood's squared errors are larger than those of the best linear estimate there."""
    channel = design.channel
    best, own = left_inverse(channel, guess=shares), left_inverse(channel)
    sent = floats(channel) @ shares
    drawn = np.random.default_rng(seed).multinomial(
        n, sent / sent.sum(), size=surveys
    )
    found = np.array(
        [most_likely(channel, own, counts.astype(np.float64))[0] for counts in drawn]
    )
    linear = np.array([best.shares(counts / n) for counts in drawn])
    return np.asarray((found - shares) ** 2 - (linear - shares) ** 2)


def row(name: str, design: Design) -> str:
    """Return a line of the table."""
    cells = []
    for share in SHARES:
        try:
            made = efficiency(design, share)
        except NotEstimable:
            return f"| {name} | not estimable |||||"
        assert made.error < 0.01, (name, share, made)
        cells.append(f"{made.inversion:.2f} · {made.likelihood:.2f}")
    return f"| {name} | {' | '.join(cells)} |"


def stage_efficiency(
    stages: Ladder,
    share: float | None,
    *,
    surveys: int = SURVEYS_OF_STAGES,
    seed: int = 13,
) -> Efficiency:
    """Return the efficiencies of two estimates of stages: weights for even shares, and the default.

    Each stage holds half as many people as the one before it.
    """
    shares = true_shares(len(stages.categories), share)
    parts = 0.5 ** np.arange(len(stages))
    parts /= parts.sum()
    centre = np.eye(len(shares)) - 1 / len(shares)
    least = np.linalg.pinv(
        sum(
            part * np.linalg.pinv(centre @ bound(each, shares) @ centre)
            for part, each in zip(parts, stages, strict=True)
        )
    )
    n = max(
        1_000_000, math.ceil((5 * APART) ** 2 * (np.diag(least) / shares**2).max())
    )
    people = np.rint(parts * n).astype(np.int64)
    rng, wrong = np.random.default_rng(seed), []
    for _ in range(surveys):
        finest = tuple(
            _drawn(each, shares, int(held), rng)
            for each, held in zip(stages, people, strict=True)
        )
        counted = StageTallies(stages, finest, finest)
        # whose error is the bound itself
        best = combine(counted, method="linear", guess=shares.tolist()).value
        wrong.append((combine(counted).value - shares) ** 2 - (best - shares) ** 2)
    # they do not look at the responses
    evenly = weighing.weighed(finest, np.full(len(shares), 1 / len(shares)))
    even = np.diag(weighing.covariance(evenly, shares, 1.0)) * n
    excesses = np.array(wrong) * n
    both = np.column_stack(
        [excesses[:, -1] / least[-1, -1], excesses.sum(axis=1) / np.trace(least)]
    )
    mean, error = both.mean(axis=0), both.std(axis=0, ddof=1) / math.sqrt(surveys)
    worst = int(np.argmax(mean))
    linear = min(least[-1, -1] / even[-1], np.trace(least) / even.sum())
    return Efficiency(
        float(linear), float(1 / (1 + mean[worst])), float(error[worst]), n
    )


def _drawn(
    design: Design, shares: Vector, n: int, rng: np.random.Generator
) -> Tally:
    sent = floats(design.channel) @ shares
    return Tally(design, rng.multinomial(n, sent / sent.sum()))


def stage_row(name: str, stages: Ladder) -> str:
    """Return a line of the table of ladders."""
    cells = []
    for share in SHARES:
        made = stage_efficiency(stages, share)
        assert made.error < 0.01, (name, share, made)
        cells.append(f"{made.inversion:.2f} · {made.likelihood:.2f}")
    return f"| stages of {name} | {' | '.join(cells)} |"


HEAD = """| design | 0.5 % | 3 % | 20 % | even |
| --- | --- | --- | --- | --- |"""

TEXT = f"""# Efficiency

How much of what the responses tell is used: the Fisher bound of the responses that are sent, divided by the mean
squared error of the estimate; 1.00 is all of it. In each cell stand `method="inversion"`, which is linear and unbiased
and the best at even shares, and `method="likelihood"`. The last category has the share at the head of the column, the
others share the rest evenly. Of the efficiency for that share and that for all shares together the smaller is shown.

The first number is exact. The second is simulated in {SURVEYS} surveys of so many respondents that every share is
{APART:.0f} standard errors or more above 0. Its standard error is below 0.01 in every cell, because the likelihood is
compared with the best linear estimate at the true shares on the same responses. With fewer respondents the likelihood,
which keeps to shares that are possible, is better than a bound that is for unbiased estimates. Where a design has as
many responses as answers, both are the same estimate but for the border of the simplex.

So with shares that are rare, and responses that are sets, the likelihood is worth half of the respondents; with shares
that are about even it gains nothing. The bound and the estimates are explained in `theory/sum-to-one.md` and
`theory/likelihood.md`.

Written by `python -m benchmarks.efficiency`; `tests/statistical/test_efficiency.py` computes some rows again and holds
the likelihood to 0.95 or more for every registered design.
"""

STAGES = f"""
## Stages of a ladder

Four stages of every registered family (a last one that is direct among them), each with half as many people as the one
before it. In each cell stand `method="linear"`, with the weights that are best at even shares, which is unbiased and
exact here, and the default, which weighs the stages at the shares that come out, simulated in {SURVEYS_OF_STAGES}
surveys in which every share is {5 * APART:.0f} standard errors or more above 0.
"""


def main() -> None:
    lines = [TEXT, "## Every registered design\n", HEAD]
    lines += [row(*each) for each in registered()]
    lines += ["\n## More categories\n", HEAD]
    lines += [row(*each) for each in LARGER]
    lines += [STAGES, HEAD.replace("design", "stages")]
    lines += [stage_row(name, small()[name]) for name in families()]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(PAGE.read_text(encoding="utf-8"), file=sys.stderr)


if __name__ == "__main__":
    main()
