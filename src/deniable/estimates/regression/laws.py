"""The law of what each row sent: channel × link, with derivatives by the row's linear predictors.

Every law here is ln Σ_j E_ij·μ_j(η_i), where E_ij is the probability of what row i sent given answer j (that of its own
device) and μ the law of answers. A law says how many predictors it has and returns the logarithm, its gradient and its
Hessian by them; coefficients, information and errors follow for all laws in one place (`models.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, softmax

from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.regression.links import LinkFunction

_TINY = 1e-300  # below every probability of a response that was sent


class Derivatives(NamedTuple):
    """Of each row: the logarithm of its probability, its gradient by the predictors, and its Hessian."""

    log: Vector
    first: Matrix
    second: Matrix


@dataclass(frozen=True, eq=False)
class AnswerLaw(ABC):
    """The law of what was sent.

    Attributes:
        evidence: for each row the probability of what it sent given each answer, up to a factor of the row.
    """

    evidence: Matrix

    @property
    @abstractmethod
    def predictors(self) -> int:
        """How many linear predictors a row has."""

    @abstractmethod
    def derivatives(self, eta: Matrix) -> Derivatives:
        """Return the log-probability of each row with its derivatives; a column of `eta` for each predictor."""

    @abstractmethod
    def shares(self, eta: Matrix) -> Matrix:
        """Return the probability of each answer, a row for each row."""

    @abstractmethod
    def share_slopes(self, eta: Matrix) -> Matrix:
        """Return the derivatives of the shares: rows × answers × predictors."""

    def sent(self, evidence: Matrix) -> AnswerLaw:
        """Return the same law had the rows sent something else."""
        return replace(self, evidence=evidence)

    def posterior(self, eta: Matrix) -> Matrix:
        """Return the probability of each answer given what the row sent: P[z, j]·μ_j/q."""
        joint = self.shares(eta) * self.evidence
        return np.asarray(joint / joint.sum(axis=1, keepdims=True), np.float64)


@dataclass(frozen=True, eq=False)
class TwoAnswerLaw(AnswerLaw):
    """Two answers: q = E₀ + (E₁ − E₀)·μ(η).

    Implements: [SD88], [HHG07] for any number of responses; with two, the gradient is (z − λ)/(λ(1 − λ))·D·μ′.
    """

    link: LinkFunction

    @property
    def predictors(self) -> int:
        return 1

    def derivatives(self, eta: Matrix) -> Derivatives:
        share, rest, first, second = self.link.bend(eta[:, 0])
        other, own = self.evidence[:, 0], self.evidence[:, 1]
        chance = np.maximum(other * rest + own * share, _TINY)
        change = (own - other) / chance
        slope = change * first
        return Derivatives(np.log(chance), slope[:, None], (change * second - slope * slope)[:, None, None])

    def shares(self, eta: Matrix) -> Matrix:
        share, rest, *_ = self.link.bend(eta[:, 0])
        return np.column_stack([rest, share])

    def share_slopes(self, eta: Matrix) -> Matrix:
        first = self.link.bend(eta[:, 0]).first
        return np.stack([-first, first], axis=1)[:, :, None]


@dataclass(frozen=True, eq=False)
class DeniedAnswerLaw(TwoAnswerLaw):
    """Two answers, and of those who should say the second only a share t follows the device; the others deny.

    Implements: the stochastic lie detector [MME12] as a regression, λ = μ·t·v + (1 − μ)·u, with t = 1/(1 + e^−τ) for
    a second predictor τ that is the same for everybody.

    Attributes:
        denied: whether each row sent the response of those who deny, as 0 or 1.
    """

    denied: Vector

    @property
    def predictors(self) -> int:
        return 2

    def derivatives(self, eta: Matrix) -> Derivatives:
        share, rest, first, second = self.link.bend(eta[:, 0])
        honest = expit(eta[:, 1])
        bent = honest * (1 - honest)
        other, own = self.evidence[:, 0], self._carriers(eta)
        chance = np.maximum(other * rest + own * share, _TINY)
        change, gain = own - other, self.evidence[:, 1] - self.denied
        slope = np.stack([first * change, share * bent * gain], axis=1) / chance[:, None]
        curve = np.empty((len(eta), 2, 2))
        curve[:, 0, 0] = second * change
        curve[:, 0, 1] = curve[:, 1, 0] = first * bent * gain
        curve[:, 1, 1] = share * bent * (1 - 2 * honest) * gain
        return Derivatives(np.log(chance), slope, curve / chance[:, None, None] - slope[:, :, None] * slope[:, None, :])

    def _carriers(self, eta: Matrix) -> Vector:
        honest = expit(eta[:, 1])
        return honest * self.evidence[:, 1] + (1 - honest) * self.denied

    def share_slopes(self, eta: Matrix) -> Matrix:
        slopes = super().share_slopes(eta)
        return np.concatenate([slopes, np.zeros_like(slopes)], axis=2)

    def posterior(self, eta: Matrix) -> Matrix:
        joint = self.shares(eta) * np.column_stack([self.evidence[:, 0], self._carriers(eta)])
        return np.asarray(joint / joint.sum(axis=1, keepdims=True), np.float64)


@dataclass(frozen=True, eq=False)
class ManyAnswerLaw(AnswerLaw):
    """Any number of answers by multinomial logit; the first is what the others are compared with.

    Why: with the posterior τ_j = μ_j·E_j/q the gradient by the predictor of answer j is τ_j − μ_j, and the Hessian is
    (diag τ − ττ′) − (diag μ − μμ′).
    """

    @property
    def predictors(self) -> int:
        return int(self.evidence.shape[1]) - 1

    def derivatives(self, eta: Matrix) -> Derivatives:
        shares = self.shares(eta)
        joint = shares * self.evidence
        chance = np.maximum(joint.sum(axis=1), _TINY)
        after, before = joint[:, 1:] / chance[:, None], shares[:, 1:]
        return Derivatives(np.log(chance), after - before, _spread(after) - _spread(before))

    def shares(self, eta: Matrix) -> Matrix:
        return np.asarray(softmax(np.column_stack([np.zeros(len(eta)), eta]), axis=1), np.float64)

    def share_slopes(self, eta: Matrix) -> Matrix:
        shares = self.shares(eta)
        whole = _spread(shares)
        return whole[:, :, 1:]


@dataclass(frozen=True, eq=False)
class MeanLaw(AnswerLaw):
    """The mean of a number, by least squares on an unbiased value of each row's answer.

    Why: r_i has the expectation of the answer whatever the answer is, so that x′β is estimated without bias and without
    a law of the answers; its "log-probability" is −(r − η)²/2, whose scores make robust errors.

    Attributes:
        values: what each row's response is worth.
    """

    values: Vector

    @property
    def predictors(self) -> int:
        return 1

    def derivatives(self, eta: Matrix) -> Derivatives:
        left = self.values - eta[:, 0]
        return Derivatives(-(left**2) / 2, left[:, None], -np.ones((len(eta), 1, 1)))

    def shares(self, eta: Matrix) -> Matrix:
        return eta

    def share_slopes(self, eta: Matrix) -> Matrix:
        return np.ones((len(eta), 1, 1))


def _spread(shares: Matrix) -> Matrix:
    """Return diag(s) − ss′ for each row s."""
    out = -shares[:, :, None] * shares[:, None, :]
    places = np.arange(shares.shape[1])
    out[:, places, places] += shares
    return out
