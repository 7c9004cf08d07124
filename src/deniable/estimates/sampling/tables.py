"""Two questions against each other, estimated for the population of a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.designs import Design
from deniable.errors import InvalidRequest, UnreadableFile
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.cross_tables import (
    EstimatedCells,
    Table,
    TableEvidence,
    TableFacts,
)
from deniable.estimates.intervals import quantile
from deniable.estimates.likelihood import maximize_from
from deniable.estimates.linear import floats
from deniable.estimates.sampling.estimating import estimate
from deniable.estimates.sampling.results import SampledEstimate
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import linear_of
from deniable.estimates.simplex import projection
from deniable.estimates.summary import known_sentences
from deniable.estimates.testing import HypothesisTest, wald_test
from deniable.tallies.responses import Responses

__all__ = ["SampledCells", "sample_table"]


@dataclass(frozen=True, eq=False)
class SampledCells(EstimatedCells):
    """Cells of a table of sampled people.

    Attributes:
        estimate: the shares of all combinations.
        observed: the weighted share of each pair of responses.
    """

    type: ClassVar = "sampled-table"

    estimate: SampledEstimate = field(repr=False)
    observed: Vector = field(repr=False)

    @property
    def design(self) -> Design:
        assert isinstance(self.estimate.design, Design)
        return self.estimate.design

    @property
    def facts(self) -> TableFacts:
        estimate = self.estimate
        variance = estimate.method.partition(", ")[2]
        return TableFacts(
            estimate.respondents, estimate.missing, variance, estimate.sample
        )

    @cached_property
    def likely(self) -> Vector:
        """The shares whose pseudo-likelihood is largest: that of the weighted shares of pairs of responses."""
        counts = self.observed * self.estimate.respondents
        seen = counts > 0
        start = projection(self.estimate.value)
        return maximize_from(
            floats(self.design.channel)[seen], counts[seen], start=start
        )[0]

    def likely_covariance(self) -> Matrix:
        return self.estimate.cov_params()

    def evidence(self, gradient: Vector) -> TableEvidence:
        """Return the weighted shares of pairs of responses, as counts of so many people as tell as much.

        Why: the log-likelihood of n* independent people has the curvature 1/V along a number whose variance they would
        give as V. With n* = n·V₁/V, V₁ the variance of a simple random sample as large and V that of the sample, an
        interval by likelihood is as wide as the sample says, and keeps to the simplex.
        """
        n, linear = self.estimate.respondents, linear_of(self.design)
        expected = linear.expected(self.likely)
        single = linear.covariance(expected, self.likely, 1.0, 1.0).matrix()
        with np.errstate(all="ignore"):
            simple = gradient @ single @ gradient / n
            variance = gradient @ self.estimate.covariance @ gradient
        known = np.isfinite([simple, variance]).all() and min(simple, variance) > 0
        size = float(np.clip(n * simple / variance, 1.0, n)) if known else float(n)
        counts, df = vector(self.observed * size), self._df
        return TableEvidence(counts, lambda level: quantile(level, df))

    @property
    def _df(self) -> int:
        return int(self.estimate.df)

    def independence(self, method: str | None) -> HypothesisTest:
        """Return Wald's test of π_ab − π_a·π_b, with the covariance of the sample and an F law [KG90]."""
        if method is not None:
            raise InvalidRequest(
                "the test of a sample has one method, Wald's; expected no method=."
            )
        shares = self.shares
        down, across = self.margin(0).shares, self.margin(1).shares
        differences = shares - np.outer(down, across)
        # d(π_ab − π_a·π_b) = dπ_ab − π_b·dπ_a − π_a·dπ_b; the last row and column follow from the others.
        unit = np.eye(shares.size).reshape(*shares.shape, -1)
        gradients = unit - across[None, :, None] * unit.sum(axis=1, keepdims=True)
        gradients -= down[:, None, None] * unit.sum(axis=0, keepdims=True)
        lines = gradients[:-1, :-1].reshape(-1, shares.size)
        covariance = lines @ self.estimate.covariance @ lines.T
        values = differences[:-1, :-1].reshape(-1)
        return wald_test("Test of independence", values, covariance, self._df)

    def notes(self) -> tuple[str, ...]:
        return known_sentences(self.design)

    def to_source(self) -> dict[str, Any]:
        return {
            "estimate": self.estimate._source(),
            "observed": self.observed.tolist(),
        }

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: Design) -> Self:
        cells = SampledEstimate._remade(
            documents.field(source, "estimate", dict), design
        )
        observed = vector(documents.field(source, "observed", list))
        if len(observed) != design.channel.responses:
            raise UnreadableFile(
                "the shares of responses do not fit the design; expected one for each of them."
            )
        return cls(cells, observed)


def sample_table(
    both: Design, pairs: NDArray[np.int64], sampling: Sampling
) -> Table:
    """Set two columns of sampled people's responses against each other.

    Args:
        both: the product that they were drawn with.
        pairs: the code of each row's response to it, -1 where one of both is missing.
        sampling: how these people were drawn.

    Raises:
        NotEstimable: a stratum with one cluster, or fewer than two responses.
        InvalidRequest: a sampling of other rows.
    """
    missing = pairs < 0
    codes = np.where(missing, 0, pairs).astype(both.channel.coding.space(0).dtype)
    cells = estimate(Responses(both, {"response": codes}, missing), sampling)
    weights = np.where(missing, 0.0, sampling.weights)
    totals = np.bincount(codes, weights=weights, minlength=both.channel.responses)
    return Table(SampledCells(cells, vector(totals / weights.sum())))
