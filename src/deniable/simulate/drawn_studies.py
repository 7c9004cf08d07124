"""Whole studies drawn in law: how often a test rejects and how wide intervals are, beside what the plan said."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from scipy.stats import t as student

from deniable.attacks.simulated import generator
from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.estimates.intervals import quantile
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Written
from deniable.plan import Planned, power, variance, width
from deniable.plan.detection import (
    deciding_response,
    has_few_tallies,
    law_of_estimate,
    read_category,
    read_share,
    shares_around,
)
from deniable.plan.planned import Line
from deniable.plan.variances import read_probability, read_whole
from deniable.rendering.formats import percent
from deniable.simulate.simulated_tallies import read_repetitions, tallies
from deniable.types.categories.plan import DecidingResponse
from deniable.types.categories.simulate import Counts

Numbers = NDArray[np.float64]

_PIECE = 1_000  # studies that are drawn before progress is told
_PEOPLE = 10**9  # the shares of those who are asked are whole numbers of so many


@dataclass(frozen=True, slots=True)
class _Study:
    """What is asked in every study, and how it is tested."""

    design: Design
    n: int
    category: str
    share: float
    null: float
    tail: float
    two_sided: bool
    exact: bool
    counted: DecidingResponse | None

    def drawn(self, repetitions: int, draws: np.random.Generator) -> Counts:
        shares = np.array(shares_around(self.design, self.category, self.share))
        people = np.round(shares * _PEOPLE).astype(np.int64)
        return tallies(
            self.design,
            people,
            repetitions,
            respondents=self.n,
            replaced=True,
            draws=draws,
        )

    def estimated(self, counts: Counts) -> tuple[Numbers, Numbers]:
        """Return the estimate and its estimated variance, for each study."""
        response_shares = counts / self.n
        number = self.design.category_number(self.category)
        if self.counted is not None:
            yes, gap = response_shares[:, number], self.counted.gap
            return (yes - self.counted.stray) / gap, yes * (1 - yes) / (
                gap**2 * (self.n - 1)
            )
        linear = left_inverse(self.design.channel)
        if not isinstance(linear, Written):
            raise InvalidRequest(
                "studies are drawn for designs with a table of probabilities, or of which one response decides.",
                "Draw tallies() and estimate each of them.",
            )
        scores = linear.inverse[number]
        values = response_shares @ scores
        return values, (response_shares @ scores**2 - values**2) / (self.n - 1)

    def rejected(self, counts: Counts, values: Numbers) -> NDArray[np.bool_]:
        """Say in which studies the null is rejected: by the p-value of the count, or by the normal test."""
        up = self._above(counts, values, above=self.share > self.null)
        return (
            up | self._above(counts, values, above=self.share < self.null)
            if self.two_sided
            else up
        )

    def _above(
        self, counts: Counts, values: Numbers, *, above: bool
    ) -> NDArray[np.bool_]:
        if self.exact and self.counted is not None:
            yes, chance = (
                counts[:, self.design.category_number(self.category)],
                self.counted.chance(self.null),
            )
            many = above == (self.counted.gap > 0)
            chances = (
                binom.sf(yes - 1, self.n, chance)
                if many
                else binom.cdf(yes, self.n, chance)
            )
            return np.asarray(chances <= self.tail)
        if self.exact and has_few_tallies(self.design, self.n):
            law, chances = law_of_estimate(
                self.design, self.n, self.category, self.null
            )
            first = (
                np.searchsorted(law, values - 1e-8)
                if above
                else np.searchsorted(law, values + 1e-8)
            )
            below = np.concatenate([[0.0], np.cumsum(chances)])[
                first
            ]  # how often a true null gives less, or at most so
            return np.asarray((1 - below if above else below) <= self.tail)
        shares = shares_around(self.design, self.category, self.null)
        error = math.sqrt(
            variance(self.design, self.n, shares=shares, category=self.category)
        )
        distance = values - self.null if above else self.null - values
        return np.asarray(distance > quantile(1 - 2 * self.tail) * error)


def studies(
    design: Design,
    n: int,
    repetitions: int = 10_000,
    *,
    share: float,
    null: float = 0.0,
    alpha: float = 0.05,
    two_sided: bool = False,
    level: float = 0.95,
    category: str | None = None,
    method: str | None = None,
    draws: np.random.Generator | None = None,
    progress: Callable[[int], None] | None = None,
) -> Planned:
    """Draw many studies in law and answer how often they reject the null, and how wide their intervals are.

    The arguments are those of `plan.power` and `plan.how_wide`, which say the same by calculation; both stand side by
    side. Intervals are value ± z·error, with the error that each study estimates.

    Args:
        design: what people respond with.
        n: how many, in each study.
        repetitions: how many studies.
        share: the true share of the category.
        null: the share that is to be rejected.
        alpha: how often a true null is rejected.
        two_sided: reject on both sides.
        level: of the intervals.
        category: whose share is meant; the last one, if none is named.
        method: of the test, "exact" or "normal"; by default "exact" where it can be computed.
        draws: where the counts come from; by default a generator that begins with the operating system's bytes.
        progress: is told how many studies are drawn.

    Raises:
        InvalidRequest: numbers that do not fit, or a design too large to write out.

    Example:
        >>> from deniable.designs import warner
        >>> found = studies(warner(epsilon=1), 500, 2_000, share=0.2)
        >>> [line["of"] for line in found.lines]
        ['power', 'width', 'coverage']
    """
    name, rows = read_category(design, category), read_repetitions(repetitions)
    planned = power(
        design,
        n,
        share=share,
        null=null,
        alpha=alpha,
        two_sided=two_sided,
        category=name,
        method=method,
    )
    wide = width(
        design, n, level=level, shares=shares_around(design, name, share), category=name
    )
    study = _Study(
        design, read_whole(n, "n", least=2), name, read_share(share, "share"), read_share(null, "null"),
        read_probability(alpha, "alpha") / (2 if two_sided else 1), two_sided, method != "normal",
        deciding_response(design, name),
    )  # fmt: skip
    t_quantile = float(student.ppf((1 + level) / 2, study.n - 1))
    observed = _run_studies(
        study, rows, t_quantile, generator() if draws is None else draws, progress
    )
    lines: list[Line] = [
        {"of": label, "planned": planned_value, "simulated": seen}
        for label, planned_value, seen in zip(
            ("power", "width", "coverage"),
            (planned, wide, level),
            observed,
            strict=True,
        )
    ]
    sentence = (
        f"Of {rows:,} simulated studies with {n:,} respondents {percent(observed[0])} tell a share of "
        f"{percent(share)} "
        f"from {percent(null)}; planned were {percent(planned)}."
    )
    return Planned(sentence, observed[0], tuple(lines))


def _run_studies(
    study: _Study,
    repetitions: int,
    z: float,
    draws: np.random.Generator,
    progress: Callable[[int], None] | None,
) -> tuple[float, float, float]:
    """Return how often the null was rejected, the mean width, and how often an interval held the share."""
    sums = np.zeros(3)
    for begin in range(0, repetitions, _PIECE):
        n_studies = min(_PIECE, repetitions - begin)
        counts = study.drawn(n_studies, draws)
        values, variances = study.estimated(counts)
        half = z * np.sqrt(np.maximum(variances, 0.0))
        sums += (
            study.rejected(counts, values).sum(), (2 * half).sum(), (np.abs(values - study.share) <= half).sum(),
        )  # fmt: skip
        if progress is not None:
            progress(begin + n_studies)
    rejected, wide, coverage = (sums / repetitions).tolist()
    return rejected, wide, coverage
