"""The log-likelihood of coefficients with its gradient and information, its maximum and its profiles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.regression.evidence import Integers
from deniable.estimates.regression.likelihoods import AnswerLaw, Derivatives

_CLOSE = 1e-10  # the log-likelihood, in nats, that one more step could gain; that step is still taken
_MAX_STEPS = 200
_HALVINGS = 40
_FLAT = 1e-10  # curvature, against the largest, below which a direction is climbed by its gradient
_IN_FLAT = 1e-6  # of a flat direction, beyond which a coefficient lies in it
_PROFILE_HALVINGS = 60
_PROFILE_CLOSE = 1e-6  # of a standard error, to which the end of a profile is found
_FARTHEST = (
    60.0  # on the scale of a predictor: beyond it every probability is 0 or 1
)


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

    @property
    def is_equation(self) -> bool:
        """Whether the gradient is an equation to be solved, and the log-likelihood only an objective."""
        return False

    @property
    @abstractmethod
    def unit(self) -> float:
        """The mean weight of the rows: the scale of the log-likelihood."""


class SampledLikelihood(Likelihood):
    """A likelihood of people who may be a sample: each of its scores is about rows that are drawn together."""

    @abstractmethod
    def scores(self, theta: Vector) -> Matrix:
        """Return the weighted gradient of each row, or of each group of rows that is drawn together."""

    @abstractmethod
    def reweighted(self, weights: Vector) -> SampledLikelihood:
        """Return the same likelihood with other weights of rows."""

    @abstractmethod
    def adapted(self, theta: Vector, /) -> SampledLikelihood:
        """Return the same likelihood, computed to be right near such coefficients."""

    @property
    @abstractmethod
    def first_rows(self) -> Integers:
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
        ends = np.cumsum([0, *(x.shape[1] for x in self.matrices)]).tolist()
        return tuple(map(slice, ends[:-1], ends[1:]))

    @property
    def is_equation(self) -> bool:
        return self.law.is_equation

    @property
    def unit(self) -> float:
        return 1.0 if self.weights is None else float(self.weights.mean())

    @property
    def size(self) -> int:
        """How many coefficients there are."""
        return int(self.blocks[-1].stop)

    def eta(self, theta: Vector) -> Matrix:
        """Return the predictors of each row."""
        return np.column_stack(
            [
                x @ theta[block]
                for x, block in zip(self.matrices, self.blocks, strict=True)
            ]
        )

    def reweighted(self, weights: Vector) -> RowLikelihood:
        return replace(self, weights=weights)

    def adapted(self, _theta: Vector, /) -> RowLikelihood:
        return self

    @property
    def first_rows(self) -> Integers:
        return np.arange(len(self.matrices[0]))

    def logs(self, eta: Matrix) -> Vector:
        """Return the weighted log-probability of each row at such predictors."""
        log = self.law.log(eta)
        return log if self.weights is None else log * self.weights

    def derivatives(self, eta: Matrix) -> Derivatives:
        """Return the same with its derivatives, weighted as well."""
        log, first, second = derivatives = self.law.derivatives(eta)
        if self.weights is None:
            return derivatives
        w = self.weights
        return Derivatives(log * w, first * w[:, None], second * w[:, None, None])

    def value(self, theta: Vector) -> float:
        return float(self.logs(self.eta(theta)).sum())

    def slope(self, theta: Vector) -> Slope:
        log, first, second = self.derivatives(self.eta(theta))
        return Slope(
            float(log.sum()), self.spread(first), -self.cross_products(second)
        )

    def spread(self, first: Matrix) -> Vector:
        """Return the gradient by coefficients, from that by predictors."""
        return np.concatenate(
            [x.T @ slope for x, slope in zip(self.matrices, first.T, strict=True)]
        )

    def cross_products(self, second: Matrix) -> Matrix:
        """Return Σ_i x_ia·h_iab·x_ib′, from the Hessians h by predictors."""
        matrix = np.empty((self.size, self.size))
        predictors = range(len(self.matrices))
        for a, b in combinations_with_replacement(predictors, 2):
            down, across = self.blocks[a], self.blocks[b]
            weighted = self.matrices[a] * second[:, a, b][:, None]
            matrix[down, across] = weighted.T @ self.matrices[b]
            matrix[across, down] = matrix[down, across].T
        return matrix

    def by_row(self, first: Matrix) -> Matrix:
        """Return the gradient of each row by coefficients, from that by predictors."""
        return np.concatenate(
            [
                x * slope[:, None]
                for x, slope in zip(self.matrices, first.T, strict=True)
            ],
            axis=1,
        )

    def scores(self, theta: Vector) -> Matrix:
        return self.by_row(self.derivatives(self.eta(theta)).first)

    def expected(
        self, theta: Vector, channels: Matrix, devices: Integers
    ) -> tuple[Matrix, Matrix]:
        """Return the expected information, and that of each row by its predictors: Σ_z q_z·s_z·s_z′ over all responses.

        Args:
            theta: the coefficients.
            channels: of each device the probability of each response given each answer.
            devices: the number of each row's device.
        """
        eta = self.eta(theta)
        total = np.zeros((len(eta), self.law.predictors, self.law.predictors))
        for response in range(channels.shape[1]):
            law = self.law.with_responses(channels[devices, response])
            log, first, _ = law.derivatives(eta)
            total += np.exp(log)[:, None, None] * (
                first[:, :, None] * first[:, None, :]
            )
        weights = 1.0 if self.weights is None else self.weights[:, None, None]
        return self.cross_products(total * weights), total


class Maximum(NamedTuple):
    """Where a log-likelihood is largest.

    Attributes:
        theta: the coefficients.
        value: the log-likelihood there.
        information: minus its Hessian.
        steps: how many steps were taken.
        gap: what one more step would gain, in nats of a row of mean weight.
        converged: whether that is next to nothing.
    """

    theta: Vector
    value: float
    information: Matrix
    steps: int
    gap: float
    converged: bool


def highest(likelihood: Likelihood, starts: Sequence[Vector]) -> Maximum:
    """Return the best of the maxima that are reached from several starts, or the root of an equation.

    Why: the likelihood of randomized responses is not concave in the coefficients.
    """
    # steps that go too far are taken back
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if likelihood.is_equation:
            return _find_root(likelihood, starts[0])
        maxima = [_climb(likelihood, start) for start in starts]
    return max(maxima, key=lambda top: top.value)


def _find_root(likelihood: Likelihood, start: Vector) -> Maximum:
    """Return where the gradient is 0, by Newton's method; a step is halved until the gradient is smaller.

    Why: indicators of answers are negative for some rows, so that the objective may bend upwards at its root.
    """
    theta, at = start, likelihood.slope(start)
    units = _standardize(at.information)[0]

    def size(slope: Slope) -> float:
        return 0.5 * float(((slope.gradient * units) ** 2).sum()) / likelihood.unit

    gap = size(at)
    for steps in range(_MAX_STEPS + 1):
        if not np.isfinite(gap) or steps == _MAX_STEPS:
            break
        inverse = invert_information(at.information, is_definite=False)
        if inverse is None:
            break
        direction = inverse @ at.gradient
        for halving in range(_HALVINGS):
            candidate = theta + direction * 0.5**halving
            slope = likelihood.slope(candidate)
            if size(slope) <= gap:
                break
        else:
            break
        was_close, theta, at, gap = gap < _CLOSE, candidate, slope, size(slope)
        if was_close or gap == 0:
            break
    return Maximum(theta, at.value, at.information, steps, gap, gap < _CLOSE)


def _climb(likelihood: Likelihood, start: Vector) -> Maximum:
    """Climb from a start until the gradient, measured by the information, is next to nothing.

    Why: where the log-likelihood bends upwards, Newton's step would go down; there the step is taken with the absolute
    values of the curvatures, so that it rises, and it is halved until it does. To stop by the gradient and not by how
    little the deviance changes is what brings the last digits.
    """
    theta, at, gap = start, likelihood.slope(start), np.inf
    for steps in range(_MAX_STEPS + 1):
        direction = _direction(at.gradient, at.information)
        gap = 0.5 * float(at.gradient @ direction) / likelihood.unit
        if not np.isfinite(gap) or steps == _MAX_STEPS:
            break
        higher = _search_line(likelihood, theta, direction, at.value)
        if higher is None:
            break
        theta, at = higher, likelihood.slope(higher)
        if gap < _CLOSE:
            break
    gap = abs(gap)
    return Maximum(theta, at.value, at.information, steps, gap, gap < 1e-6)


def _search_line(
    likelihood: Likelihood, theta: Vector, direction: Vector, value: float
) -> Vector | None:
    """Return the first of ever shorter steps that does not go down; None if all do."""
    slack = 1e-12 * max(
        likelihood.unit, abs(value)
    )  # rounding of a sum of very many rows
    for halving in range(_HALVINGS):
        candidate = theta + direction * 0.5**halving
        if likelihood.value(candidate) >= value - slack:
            return candidate
    return None


def _direction(gradient: Vector, information: Matrix) -> Vector:
    """Return Newton's step, in units in which each coefficient has a curvature of 1."""
    units, scaled = _standardize(information)
    if not np.isfinite(scaled).all():
        return np.full_like(gradient, np.nan)
    try:
        factor = np.linalg.cholesky(scaled)
        step = np.linalg.solve(factor.T, np.linalg.solve(factor, gradient * units))
    except np.linalg.LinAlgError:
        curves, axes = np.linalg.eigh(scaled)
        steep = np.maximum(np.abs(curves), _FLAT * np.abs(curves).max())
        step = axes @ ((axes.T @ (gradient * units)) / steep)
    return vector(step * units)


def _standardize(information: Matrix) -> tuple[Vector, Matrix]:
    """Return the units in which each coefficient has a curvature of 1, and the information in these."""
    units = 1 / np.sqrt(np.maximum(np.abs(np.diagonal(information)), 1e-300))
    return units, information * np.outer(units, units)


def invert_information(
    information: Matrix, *, is_definite: bool = True
) -> Matrix | None:
    """Return the inverse of an information matrix; None where it is not positive definite, or has none."""
    units, scaled = _standardize(information)
    try:
        if is_definite:
            np.linalg.cholesky(scaled)
        inverse = np.linalg.inv(scaled) * np.outer(units, units)
    except np.linalg.LinAlgError:
        return None
    return vector((inverse + inverse.T) / 2)


def invert_identified(information: Matrix) -> Matrix:
    """Return the covariance of the coefficients that an information matrix identifies; NaN for all others."""
    if not np.isfinite(information).all():
        return np.full_like(information, np.nan)
    units, scaled = _standardize(information)
    curves, axes = np.linalg.eigh(scaled)
    is_flat = curves <= _FLAT
    curved = axes[:, ~is_flat]
    covariance = (curved / curves[~is_flat]) @ curved.T * np.outer(units, units)
    is_unidentified = (np.abs(axes[:, is_flat]) > _IN_FLAT).any(axis=1)
    covariance[is_unidentified] = covariance[:, is_unidentified] = np.nan
    return vector(covariance)


@dataclass(frozen=True, eq=False)
class _OneFixed(Likelihood):
    """A likelihood in which one coefficient is fixed."""

    likelihood: Likelihood
    index: int
    fixed: float

    @property
    def unit(self) -> float:
        return self.likelihood.unit

    def value(self, theta: Vector) -> float:
        return self.likelihood.value(np.insert(theta, self.index, self.fixed))

    def slope(self, theta: Vector) -> Slope:
        all_coefficients = np.insert(theta, self.index, self.fixed)
        value, gradient, information = self.likelihood.slope(all_coefficients)
        free = np.delete(np.arange(len(gradient)), self.index)
        return Slope(value, gradient[free], information[np.ix_(free, free)])


def profile_end(
    likelihood: SampledLikelihood,
    theta: Vector,
    floor: float,
    index: int,
    sign: int,
    farthest: float,
) -> float:
    """Return where the profile of a coefficient falls to a floor on one side; infinite where it never does.

    The distance is doubled, then the bracket is halved. Where the profile has not fallen `farthest` away, that is the
    end.
    """
    curve = likelihood.slope(theta).information[index, index]
    step = 1 / np.sqrt(curve) if curve > 0 else 1.0
    start = np.delete(theta, index)

    def is_inside(distance: float) -> bool:
        fixed = theta[index] + sign * distance
        adapted = likelihood.adapted(np.insert(start, index, fixed))
        profile = _OneFixed(adapted, index, fixed)
        top = highest(profile, [start]).value if len(start) else profile.value(start)
        return top > floor

    inside, outside = 0.0, min(step, _FARTHEST, farthest)
    while is_inside(outside):
        if outside == farthest:
            return float(theta[index] + sign * farthest)
        inside, outside = outside, min(2 * outside, farthest)
        if outside > max(_FARTHEST, 2**10 * step):
            return sign * np.inf
    for _ in range(_PROFILE_HALVINGS):
        if outside - inside < _PROFILE_CLOSE * min(step, 1.0):
            break
        middle = (inside + outside) / 2
        inside, outside = (
            (middle, outside) if is_inside(middle) else (inside, middle)
        )
    return float(theta[index] + sign * (inside + outside) / 2)
