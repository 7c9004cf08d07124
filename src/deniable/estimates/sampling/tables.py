"""Two questions against each other, of the people that a sample stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable import documents
from deniable.designs import Design
from deniable.errors import UnreadableFile
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.cross_tables import AnswerTable, TableEvidence, TableFacts
from deniable.estimates.intervals import quantile
from deniable.estimates.likelihood import climbed
from deniable.estimates.linear import floats
from deniable.estimates.sampling.estimating import estimate
from deniable.estimates.sampling.results import SampledEstimate
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import linear_of
from deniable.estimates.simplex import projection
from deniable.estimates.summary import known_sentences
from deniable.estimates.testing import HypothesisTest, wald_test
from deniable.tallies.responses import Responses

__all__ = ["SampledTable", "sampled_table"]


@dataclass(frozen=True, eq=False)
class SampledTable(AnswerTable):
    """Shares of all combinations of two attributes among the people that a sample stands for.

    Attributes:
        estimate: what the table shows; `estimate.cov_params()` is the covariance of all cells.
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
    def told(self) -> TableFacts:
        of = self.estimate
        return TableFacts(
            of.respondents, of.missing, of.method.partition(", ")[2], of.sample
        )

    @property
    def _degrees(self) -> int:
        return int(self.estimate.degrees.min())

    @cached_property
    def likely(self) -> Vector:
        """The shares whose pseudo-likelihood is largest: that of the weighted shares of pairs of responses."""
        counts = self.observed * self.told.respondents
        seen = counts > 0
        return climbed(
            floats(self.design.channel)[seen],
            counts[seen],
            start=projection(self.estimate.value),
        )[0]

    def likely_covariance(self) -> Matrix:
        return self.cov_params()

    def evidence(self, slopes: Vector) -> TableEvidence:
        """Return the weighted shares of pairs of responses, as counts of so many people as tell as much.

        Why: the log-likelihood of n* independent people has the curvature 1/V along a number whose variance they would
        give as V. With n* = n·V₁/V, V₁ the variance that as many people drawn one by one would give and V that of the
        sample, an interval by likelihood is as wide as the sample says, and keeps to the simplex.
        """
        n, linear = self.told.respondents, linear_of(self.design)
        single = linear.covariance(
            linear.expected(self.likely), self.likely, 1.0, 1.0
        ).matrix()
        with np.errstate(all="ignore"):
            alone, real = (
                slopes @ single @ slopes / n,
                slopes @ self.cov_params() @ slopes,
            )
        told = np.isfinite(alone) and np.isfinite(real) and min(alone, real) > 0
        size = float(np.clip(n * alone / real, 1.0, n)) if told else float(n)
        return TableEvidence(
            vector(self.observed * size),
            lambda confidence: quantile(confidence, self._degrees),
        )

    def independence(self) -> HypothesisTest:
        """Test whether the two attributes are independent.

        Implements: Wald's test of π_ab − π_a·π_b, with the covariance of the sample and an F law for its degrees of
        freedom [KG90].

        Raises:
            NotEstimable: more cells than the clusters can tell.
        """
        rows, columns = self.shares.shape
        down, across = self.row_totals, self.column_totals
        away = self.shares - np.outer(down, across)
        # d(π_ab − π_a·π_b) = dπ_ab − π_b·dπ_a − π_a·dπ_b; the last row and column follow from the others.
        slopes = np.eye(rows * columns).reshape(rows, columns, -1)
        slopes = slopes - across[None, :, None] * slopes.sum(axis=1, keepdims=True)
        slopes = slopes - down[:, None, None] * np.eye(rows * columns).reshape(
            rows, columns, -1
        ).sum(axis=0, keepdims=True)
        lines = slopes[:-1, :-1].reshape(-1, rows * columns)
        spread = lines @ self.cov_params() @ lines.T
        return wald_test(
            "Test of independence", away[:-1, :-1].reshape(-1), spread, self._degrees
        )

    def _further_notes(self) -> tuple[str, ...]:
        return known_sentences(self.design)

    @property
    def _design_hash(self) -> str:
        return self.estimate._design_hash

    def _source(self) -> dict[str, Any]:
        return {"estimate": self.estimate._source(), "observed": self.observed.tolist()}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Design) -> SampledTable:
        found = SampledEstimate._remade(
            documents.field(source, "estimate", dict), design
        )
        observed = vector(documents.field(source, "observed", list))
        if len(observed) != design.channel.responses:
            raise UnreadableFile(
                "the shares of responses do not fit the design; expected one for each of them."
            )
        return _table(found, observed)


def sampled_table(
    both: Design, pairs: NDArray[np.int64], sampling: Sampling
) -> SampledTable:
    """Set two columns of responses against each other.

    Args:
        both: the product that they were drawn with.
        pairs: the number of each row's response to it, -1 where one of both is missing.
        sampling: how these people were drawn.

    Raises:
        NotEstimable: a stratum with one cluster, or fewer than two responses.
        InvalidRequest: a sampling of other rows.
    """
    missing = pairs < 0
    codes = np.where(missing, 0, pairs).astype(both.channel.coding.space(0).dtype)
    found = estimate(Responses(both, {"response": codes}, missing), sampling)
    weights = np.where(missing, 0.0, sampling.weights)
    observed = (
        np.bincount(codes, weights=weights, minlength=both.channel.responses)
        / weights.sum()
    )
    return _table(found, vector(observed))


def _table(found: SampledEstimate, observed: Vector) -> SampledTable:
    assert isinstance(found.design, Design)
    (rows, down), (columns, across) = found.design.factors
    shape = (len(down.categories), len(across.categories))
    shares = found.value.reshape(shape)
    totals = [
        np.kron(np.eye(shape[0]), np.ones(shape[1])),
        np.kron(np.ones(shape[0]), np.eye(shape[1])),
    ]
    errors = [
        np.sqrt(np.maximum(np.diagonal(each @ found.covariance @ each.T), 0.0))
        for each in totals
    ]
    return SampledTable(
        estimate=found,
        observed=observed,
        rows=rows,
        columns=columns,
        row_labels=tuple(down.categories),
        column_labels=tuple(across.categories),
        shares=shares,
        errors=found.errors.reshape(shape),
        row_totals=shares.sum(axis=1),
        row_errors=vector(errors[0]),
        column_totals=shares.sum(axis=0),
        column_errors=vector(errors[1]),
    )
