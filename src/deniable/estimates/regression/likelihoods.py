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
from scipy.special import expit, ndtr, softmax

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

    @property
    def raised(self) -> tuple[int, ...]:
        """The predictors that differ from group to group with random intercepts, each by a deviation of its own."""
        return (0,)

    def log(self, eta: Matrix) -> Vector:
        """Return the log-probability of each row alone."""
        return self.derivatives(eta).log

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
        return Derivatives(
            np.log(chance),
            slope[:, None],
            (change * second - slope * slope)[:, None, None],
        )

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
        slope = (
            np.stack([first * change, share * bent * gain], axis=1) / chance[:, None]
        )
        curve = np.empty((len(eta), 2, 2))
        curve[:, 0, 0] = second * change
        curve[:, 0, 1] = curve[:, 1, 0] = first * bent * gain
        curve[:, 1, 1] = share * bent * (1 - 2 * honest) * gain
        return Derivatives(
            np.log(chance),
            slope,
            curve / chance[:, None, None] - slope[:, :, None] * slope[:, None, :],
        )

    def _carriers(self, eta: Matrix) -> Vector:
        honest = expit(eta[:, 1])
        return honest * self.evidence[:, 1] + (1 - honest) * self.denied

    def share_slopes(self, eta: Matrix) -> Matrix:
        slopes = super().share_slopes(eta)
        return np.concatenate([slopes, np.zeros_like(slopes)], axis=2)

    def posterior(self, eta: Matrix) -> Matrix:
        joint = self.shares(eta) * np.column_stack(
            [self.evidence[:, 0], self._carriers(eta)]
        )
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

    @property
    def raised(self) -> tuple[int, ...]:
        return tuple(range(self.predictors))

    def log(self, eta: Matrix) -> Vector:
        return np.asarray(
            np.log(np.maximum((self.shares(eta) * self.evidence).sum(axis=1), _TINY)),
            np.float64,
        )

    def derivatives(self, eta: Matrix) -> Derivatives:
        shares = self.shares(eta)
        joint = shares * self.evidence
        chance = np.maximum(joint.sum(axis=1), _TINY)
        after, before = joint[:, 1:] / chance[:, None], shares[:, 1:]
        return Derivatives(
            np.log(chance), after - before, _spread(after) - _spread(before)
        )

    def shares(self, eta: Matrix) -> Matrix:
        return np.asarray(
            softmax(np.column_stack([np.zeros(len(eta)), eta]), axis=1), np.float64
        )

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


@dataclass(frozen=True, eq=False)
class MeanErrorLaw(MeanLaw):
    """The same with normal errors around the mean, which hold what the device adds; for groups with intercepts.

    Predictors: the mean η and the logarithm of the errors' deviation.

    Why: how far groups lie apart is told against how far people of one group do, which least squares leave open. The
    values are not normal, and their law is only a working one: means of r and of its products within a group are right
    for it, and errors come from how groups' scores differ.
    """

    @property
    def predictors(self) -> int:
        return 2

    def derivatives(self, eta: Matrix) -> Derivatives:
        return normal_errors(self.values - eta[:, 0], eta[:, 1])

    def shares(self, eta: Matrix) -> Matrix:
        return eta[:, :1]

    def share_slopes(self, eta: Matrix) -> Matrix:
        return _first_of_two(len(eta))


@dataclass(frozen=True, eq=False)
class NormalLaw(AnswerLaw):
    """Numbers with normal errors, rounded at random to levels and sent through the channel of these.

    Predictors: the mean η and ln σ. What lies outside of the range counts as its end.

    Why: with H(t) = E(Y − t)₊ = σ(φ(a) + aΦ(a)), a = (η − t)/σ, the probability of being rounded to a level is a second
    difference of H over the levels, divided by their distance; and the derivatives of H are Φ(a), φ(a) and φ(a)/σ times
    1, −a and a².

    Attributes:
        levels: the values of the levels, evenly apart.
    """

    levels: Vector

    @property
    def predictors(self) -> int:
        return 2

    def _rounded(self, eta: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """Return the probability of each level, its gradient and its Hessian by η and ln σ."""
        sigma = np.exp(eta[:, 1:2])
        a = (eta[:, :1] - self.levels) / sigma
        density, below = np.exp(-(a**2) / 2) / np.sqrt(2 * np.pi), ndtr(a)
        first = np.stack([below, sigma * density], axis=2)
        second = np.empty((*a.shape, 2, 2))
        second[..., 0, 0] = density / sigma
        second[..., 0, 1] = second[..., 1, 0] = -a * density
        second[..., 1, 1] = sigma * (a**2 + 1) * density
        table = _hats(len(self.levels)) / (self.levels[1] - self.levels[0])
        shares = sigma * (density + a * below) @ table.T
        shares[:, 0] += 1
        return (
            shares,
            np.einsum("lt,itp->ilp", table, first),
            np.einsum("lt,itpq->ilpq", table, second),
        )

    def derivatives(self, eta: Matrix) -> Derivatives:
        shares, slopes, curves = self._rounded(eta)
        chance = np.maximum((shares * self.evidence).sum(axis=1), _TINY)
        first = np.einsum("il,ilp->ip", self.evidence, slopes) / chance[:, None]
        second = (
            np.einsum("il,ilpq->ipq", self.evidence, curves) / chance[:, None, None]
        )
        return Derivatives(
            np.log(chance), first, second - first[:, :, None] * first[:, None, :]
        )

    def shares(self, eta: Matrix) -> Matrix:
        return eta[:, :1]

    def share_slopes(self, eta: Matrix) -> Matrix:
        return _first_of_two(len(eta))

    def posterior(self, eta: Matrix) -> Matrix:
        joint = self._rounded(eta)[0] * self.evidence
        return np.asarray(joint / joint.sum(axis=1, keepdims=True), np.float64)


def normal_errors(left: Vector, log_sigma: Vector) -> Derivatives:
    """Return the log-density of normal errors, with its derivatives by the mean and by ln σ."""
    precise = np.exp(-2 * log_sigma)
    square = left**2 * precise
    second = np.empty((len(left), 2, 2))
    second[:, 0, 0] = -precise
    second[:, 0, 1] = second[:, 1, 0] = -2 * left * precise
    second[:, 1, 1] = -2 * square
    log = -0.5 * np.log(2 * np.pi) - log_sigma - square / 2
    return Derivatives(log, np.column_stack([left * precise, square - 1]), second)


def _first_of_two(rows: int) -> Matrix:
    """Return the slopes of a mean that is the first of two predictors."""
    return np.broadcast_to(np.array([[[1.0, 0.0]]]), (rows, 1, 2))


def _hats(levels: int) -> Matrix:
    """Return the second differences that make rounding probabilities of H; the ends take what lies beyond them."""
    table = np.eye(levels, k=-1) - 2 * np.eye(levels) + np.eye(levels, k=1)
    table[0], table[-1] = 0.0, 0.0
    table[0, :2], table[-1, -2:] = (-1.0, 1.0), (1.0, -1.0)
    return table


def _spread(shares: Matrix) -> Matrix:
    """Return diag(s) − ss′ for each row s."""
    out = -shares[:, :, None] * shares[:, None, :]
    places = np.arange(shares.shape[1])
    out[:, places, places] += shares
    return out
