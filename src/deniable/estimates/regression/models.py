"""A law of what was sent with its columns: the log-likelihood of coefficients, its gradient and its information."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.regression.likelihoods import AnswerLaw, Derivatives


class Slope(NamedTuple):
    """A log-likelihood, its gradient, and minus its Hessian: the observed information."""

    value: float
    gradient: Vector
    information: Matrix


class Likelihood(ABC):
    """What is climbed."""

    @abstractmethod
    def slope(self, theta: Vector) -> Slope:
        """Return the log-likelihood of coefficients with its derivatives."""

    @abstractmethod
    def value(self, theta: Vector) -> float:
        """Return the log-likelihood alone."""

    @abstractmethod
    def scores(self, theta: Vector) -> Matrix:
        """Return the weighted gradient of each row, or of each group of rows that is drawn together."""


class SampledLikelihood(Likelihood):
    """A likelihood of people who may be a sample: each of its scores is about rows that are drawn together."""

    @abstractmethod
    def reweighted(self, weights: Vector) -> SampledLikelihood:
        """Return the same likelihood with other weights of rows."""

    @abstractmethod
    def adapted(self, theta: Vector, /) -> SampledLikelihood:
        """Return the same likelihood, computed to be right near such coefficients."""

    @property
    @abstractmethod
    def first_rows(self) -> NDArray[np.int64]:
        """The first row that each score is about."""


@dataclass(frozen=True, eq=False)
class RowLikelihood(SampledLikelihood):
    """The likelihood of independent rows, each counted with its weight.

    Attributes:
        law: of what a row sent, given its predictors.
        matrices: the columns of each predictor.
        weights: how much each row counts; None where all count once.
    """

    law: AnswerLaw
    matrices: tuple[Matrix, ...]
    weights: Vector | None = None

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """Where the coefficients of each predictor stand."""
        ends = np.cumsum([0, *(each.shape[1] for each in self.matrices)]).tolist()
        return tuple(map(slice, ends[:-1], ends[1:]))

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return int(self.blocks[-1].stop)

    def eta(self, theta: Vector) -> Matrix:
        """Return the predictors of each row."""
        return np.column_stack(
            [
                x @ theta[part]
                for x, part in zip(self.matrices, self.blocks, strict=True)
            ]
        )

    def reweighted(self, weights: Vector) -> RowLikelihood:
        return replace(self, weights=weights)

    def adapted(self, _theta: Vector, /) -> RowLikelihood:
        return self

    @property
    def first_rows(self) -> NDArray[np.int64]:
        return np.arange(len(self.matrices[0]))

    def logs(self, eta: Matrix) -> Vector:
        """Return the weighted log-probability of each row at such predictors."""
        log = self.law.log(eta)
        return log if self.weights is None else log * self.weights

    def derivatives(self, eta: Matrix) -> Derivatives:
        """Return the same with its derivatives, weighted as well."""
        log, first, second = self.law.derivatives(eta)
        if self.weights is None:
            return Derivatives(log, first, second)
        return Derivatives(
            log * self.weights,
            first * self.weights[:, None],
            second * self.weights[:, None, None],
        )

    def value(self, theta: Vector) -> float:
        return float(self.logs(self.eta(theta)).sum())

    def slope(self, theta: Vector) -> Slope:
        log, first, second = self.derivatives(self.eta(theta))
        return Slope(float(log.sum()), self.spread(first), -self.crossed(second))

    def spread(self, first: Matrix) -> Vector:
        """Return the gradient by coefficients, from that by predictors."""
        return np.concatenate(
            [x.T @ first[:, at] for at, x in enumerate(self.matrices)]
        )

    def crossed(self, second: Matrix) -> Matrix:
        """Return Σ_i x_ia·h_iab·x_ib′, from the Hessians h by predictors."""
        out = np.empty((self.size, self.size))
        for a, (one, down) in enumerate(zip(self.matrices, self.blocks, strict=True)):
            for b, (two, across) in enumerate(
                zip(self.matrices, self.blocks, strict=True)
            ):
                if b >= a:
                    out[down, across] = (one * second[:, a, b][:, None]).T @ two
                    out[across, down] = out[down, across].T
        return out

    def by_row(self, first: Matrix) -> Matrix:
        """Return the gradient of each row by coefficients, from that by predictors."""
        return np.concatenate(
            [x * first[:, at : at + 1] for at, x in enumerate(self.matrices)], axis=1
        )

    def scores(self, theta: Vector) -> Matrix:
        return self.by_row(self.derivatives(self.eta(theta)).first)

    def expected(
        self, theta: Vector, channels: Matrix, devices: NDArray[np.int64]
    ) -> tuple[Matrix, Matrix]:
        """Return the expected information, and that of each row by its predictors: Σ_z q_z·s_z·s_z′ over all responses.

        Args:
            theta: the coefficients.
            channels: of each device the probability of each response given each answer.
            devices: the number of each row's device.
        """
        eta = self.eta(theta)
        total = np.zeros((len(eta), self.law.predictors, self.law.predictors))
        for sent in range(channels.shape[1]):
            log, first, _ = self.law.sent(channels[devices, sent]).derivatives(eta)
            total += np.exp(log)[:, None, None] * (
                first[:, :, None] * first[:, None, :]
            )
        weighted = (
            total if self.weights is None else total * self.weights[:, None, None]
        )
        return self.crossed(weighted), total
