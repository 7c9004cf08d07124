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
from deniable.estimates.covariances import Vector, vector
from deniable.estimates.intervals import quantile
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Written
from deniable.plan import Planned, variance, width
from deniable.plan.detection import (
    ShareTest,
    estimate_distribution,
    has_few_tallies,
    shares_around,
)
from deniable.plan.planned import Line
from deniable.plan.precision import read_whole
from deniable.rendering.formats import percent
from deniable.simulate.simulated_tallies import read_repetitions, tallies
from deniable.types.categories.simulate import Counts

_PIECE = 1_000  # studies that are drawn before progress is told
_PEOPLE = 10**9  # the shares of those who are asked are whole numbers of so many


@dataclass(frozen=True, slots=True)
class _Study:
    """A survey with n respondents and the test that its analyst makes.

    Attributes:
        test: what is tested, and the true share.
        design: what people respond with.
        n: the number of respondents.
        exact: whether the test is the exact one.
    """

    test: ShareTest
    design: Design
    n: int
    exact: bool

    def simulate(self, repetitions: int, draws: np.random.Generator) -> Counts:
        """Return the counts of many surveys."""
        shares = shares_around(self.design, self.test.category, self.test.true)
        return tallies(
            self.design,
            np.round(vector(shares) * _PEOPLE).astype(np.int64),
            repetitions,
            respondents=self.n,
            replaced=True,
            draws=draws,
        )

    @property
    def _index(self) -> int:
        return self.design.category_number(self.test.category)

    def estimate(self, counts: Counts) -> tuple[Vector, Vector]:
        """Return the estimate and its estimated variance, for each survey."""
        response_shares = counts / self.n
        response = self.test.response
        if response is not None:
            yes = response_shares[:, self._index]
            values, variances = (
                (yes - response.stray) / response.gap,
                yes * (1 - yes),
            )
            return values, variances / (response.gap**2 * (self.n - 1))
        linear = left_inverse(self.design.channel)
        if not isinstance(linear, Written):
            raise InvalidRequest(
                "studies are drawn for designs with a table of probabilities, or of which one response decides.",
                "Draw tallies() and estimate each of them.",
            )
        scores = linear.inverse[self._index]
        values = response_shares @ scores
        return values, (response_shares @ scores**2 - values**2) / (self.n - 1)

    def is_rejected(self, counts: Counts, values: Vector) -> NDArray[np.bool_]:
        """Return in which surveys the null is rejected: by the p-value of the count, or by the normal test."""
        sides = [self.test.true > self.test.null]
        if self.test.two_sided:
            sides.append(not sides[0])
        beyond = [self._is_beyond(counts, values, above=above) for above in sides]
        return np.asarray(np.any(beyond, axis=0))

    def _is_beyond(
        self, counts: Counts, values: Vector, *, above: bool
    ) -> NDArray[np.bool_]:
        test = self.test
        if self.exact and test.response is not None:
            yes, p_null = counts[:, self._index], test.response.chance(test.null)
            tails = (
                binom.sf(yes - 1, self.n, p_null)
                if above == (test.response.gap > 0)
                else binom.cdf(yes, self.n, p_null)
            )
        elif self.exact and has_few_tallies(self.design, self.n):
            possible, chances = estimate_distribution(
                self.design, self.n, test.category, test.null
            )
            first = np.searchsorted(possible, values + (-1e-8 if above else 1e-8))
            below = np.concatenate([[0.0], np.cumsum(chances)])[first]
            tails = 1 - below if above else below
        else:
            shares = shares_around(self.design, test.category, test.null)
            error = math.sqrt(
                variance(self.design, self.n, shares=shares, category=test.category)
            )
            distance = values - test.null if above else test.null - values
            return distance > quantile(1 - 2 * test.tail) * error
        return np.asarray(tails <= test.tail)


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
    rows = read_repetitions(repetitions)
    test = ShareTest.read(design, share, null, alpha, two_sided, category)
    planned = test.power(read_whole(n, "n", least=2), method, None)
    shares = shares_around(design, test.category, share)
    planned_width = width(
        design, n, level=level, shares=shares, category=test.category
    )
    study = _Study(test, design, n, method != "normal")
    t_quantile = float(student.ppf((1 + level) / 2, n - 1))
    observed = _run_studies(
        study, rows, t_quantile, generator() if draws is None else draws, progress
    )
    lines: tuple[Line, ...] = tuple(
        {"of": label, "planned": value, "simulated": simulated}
        for label, value, simulated in zip(
            ("power", "width", "coverage"),
            (planned, planned_width, level),
            observed,
            strict=True,
        )
    )
    sentence = (
        f"Of {rows:,} simulated studies with {n:,} respondents {percent(observed[0])} tell a share of "
        f"{percent(share)} "
        f"from {percent(null)}; planned were {percent(planned)}."
    )
    return Planned(sentence, observed[0], lines)


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
        counts = study.simulate(n_studies, draws)
        values, variances = study.estimate(counts)
        half = z * np.sqrt(np.maximum(variances, 0.0))
        is_covered = np.abs(values - study.test.true) <= half
        is_rejected = study.is_rejected(counts, values)
        sums += (is_rejected.sum(), (2 * half).sum(), is_covered.sum())
        if progress is not None:
            progress(begin + n_studies)
    rejected, wide, coverage = (sums / repetitions).tolist()
    return rejected, wide, coverage
