"""The randomized answer as a predictor of something else: both laws in one likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.regression.likelihoods import (
    AnswerLaw,
    Derivatives,
    normal_errors,
)

OUTCOMES = ("logit", "linear")
"""What an outcome that depends on the answer can be: 0 or 1 by a logit, or a number with normal errors."""


@dataclass(frozen=True, eq=False)
class OutcomeLaw(AnswerLaw):
    """What was sent and what was measured: Σ_j μ_j·f(o | j)·E_j.

    Predictors, in this order: that of the outcome under the first answer; what each other answer adds to it; those of
    each other answer; and for numbers the logarithm of their deviation σ.

    Implements: the joint likelihood of [BIZ15] with the answer allowed to depend on the
    covariates.

    Attributes:
        outcome: what was measured.
        family: one of `OUTCOMES`.
    """

    outcome: Vector
    family: str

    @property
    def _others(self) -> int:
        return int(self.evidence.shape[1]) - 1

    @property
    def predictors(self) -> int:
        return 1 + 2 * self._others + (self.family == "linear")

    def shares(self, eta: Matrix) -> Matrix:
        others = eta[:, 1 + self._others : 1 + 2 * self._others]
        return np.asarray(
            softmax(np.column_stack([np.zeros(len(eta)), others]), axis=1), np.float64
        )

    def share_slopes(self, eta: Matrix) -> Matrix:
        shares = self.shares(eta)
        out = np.zeros((*shares.shape, self.predictors))
        for other in range(self._others):
            out[:, :, 1 + self._others + other] = (
                -shares * shares[:, other + 1 : other + 2]
            )
            out[:, other + 1, 1 + self._others + other] += shares[:, other + 1]
        return out

    def posterior(self, eta: Matrix) -> Matrix:
        return self._joint(eta)[1]

    def _joint(self, eta: Matrix) -> tuple[Vector, Matrix]:
        """Return the log-probability of each row, and that of each answer given all that is known."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.shares(eta)) + np.log(self.evidence)
        logs = logs + np.column_stack(
            [self._outcome(eta, category)[0] for category in range(self._others + 1)]
        )
        most = logs.max(axis=1)
        parts = np.exp(logs - most[:, None])
        total = parts.sum(axis=1)
        return most + np.log(total), parts / total[:, None]

    def _outcome(self, eta: Matrix, category: int) -> Derivatives:
        """Return ln f(o | answer), its gradient by predictor and ln σ, and its Hessian by these two."""
        mean = eta[:, 0] + (eta[:, category] if category else 0.0)
        if self.family == "logit":
            share, out = expit(mean), np.zeros((len(eta), 2, 2))
            out[:, 0, 0] = -share * (1 - share)
            log = self.outcome * mean - np.logaddexp(0, mean)
            return Derivatives(
                log, np.column_stack([self.outcome - share, np.zeros(len(eta))]), out
            )
        return normal_errors(self.outcome - mean, eta[:, -1])

    def derivatives(self, eta: Matrix) -> Derivatives:
        log, after = self._joint(eta)
        size, others = self.predictors, self._others
        shares = self.shares(eta)[:, 1:]
        place = slice(1 + others, 1 + 2 * others)
        bent = shares[:, :, None] * shares[:, None, :]
        bent[:, np.arange(others), np.arange(others)] -= shares
        mean, curve = np.zeros((len(eta), size)), np.zeros((len(eta), size, size))
        for category in range(others + 1):
            _, slope, hessian = self._outcome(eta, category)
            touched = [0, category] if category else [0]
            ends = [*touched, size - 1] if self.family == "linear" else touched
            kinds = [0] * len(touched) + [1] * (len(ends) - len(touched))
            first, second = np.zeros((len(eta), size)), np.zeros((len(eta), size, size))
            first[:, ends] = slope[:, kinds]
            for down, kind in zip(ends, kinds, strict=True):
                second[:, down, ends] = hessian[:, kind, kinds]
            first[:, place] = -shares
            if category:
                first[:, others + category] += 1
            second[:, place, place] = bent
            likely = after[:, category]
            mean += likely[:, None] * first
            curve += likely[:, None, None] * (
                second + first[:, :, None] * first[:, None, :]
            )
        return Derivatives(log, mean, curve - mean[:, :, None] * mean[:, None, :])
