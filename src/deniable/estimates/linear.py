"""Linear unbiased estimates: a left inverse L of the channel, applied to the observed shares.

With λ̂ the observed shares of responses, L·P = I makes L·λ̂ unbiased for the shares π of answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable import exact
from deniable.channel import Channel
from deniable.channel.support import MAX_CELLS
from deniable.errors import NotEstimable
from deniable.estimates.covariances import Covariance, Full, Matrix, Vector, vector

_NOISE = 1e-9  # relative size below which a singular value is rounding


class Linear(ABC):
    """A left inverse of a channel.

    Attributes:
        ALIKE: whether it treats every category alike, so that E[L_j² | answer] takes two values, one for the answer j
            and one for any other.
    """

    ALIKE: ClassVar[bool] = False

    @abstractmethod
    def shares(self, observed: Vector) -> Vector:
        """Return L·λ̂: estimated shares of answers from observed shares of responses."""

    @abstractmethod
    def expected(self, shares: Vector) -> Vector:
        """Return P·π: expected shares of responses from shares of answers."""

    @abstractmethod
    def covariance(
        self, responses: Vector, shares: Vector, f: float, divisor: float
    ) -> Covariance:
        """Return [f (D_π − ππ′) + L D_λ L′ − D_π] / divisor.

        Implements: F6 for the three populations: f = 1 for independent respondents, f = 0 for a census, and
        f = (N − n)/(N − 1) for n out of N without replacement. With λ = Pπ and divisor n it is the covariance; with
        observed shares, their estimate and divisor n − f it is its unbiased estimate.
        """

    def moments(self, size: int) -> Matrix:
        """Return E[(L_j)² | answer l] for each category j, by row, and each answer l."""
        table = np.empty((size, size))
        for answer, only in enumerate(np.eye(size)):
            table[:, answer] = (
                self.covariance(self.expected(only), only, 0.0, 1.0).variances + only
            )
        return table

    @abstractmethod
    def spread(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return E[(L_j)² | answer j] and its mean over the other answers, weighted by their shares, for each j."""


@dataclass(frozen=True, eq=False)
class Written(Linear):
    """A left inverse written out, beside its channel."""

    inverse: Matrix
    channel: Matrix

    def shares(self, observed: Vector) -> Vector:
        return self.inverse @ observed

    def expected(self, shares: Vector) -> Vector:
        return self.channel @ shares

    def covariance(
        self, responses: Vector, shares: Vector, f: float, divisor: float
    ) -> Covariance:
        device = (self.inverse * responses) @ self.inverse.T - np.diag(shares)
        return Full(
            (f * (np.diag(shares) - np.outer(shares, shares)) + device) / divisor
        )

    @cached_property
    def _moments(self) -> Matrix:
        return vector(self.inverse**2 @ self.channel)

    def moments(self, size: int) -> Matrix:  # noqa: ARG002 - the table has it
        return self._moments

    def spread(self, shares: Vector) -> tuple[Vector, Vector]:
        moments = self._moments
        own = np.diagonal(moments)
        rest = shares.sum() - shares
        others = (moments @ shares - own * shares) / np.where(
            rest > _NOISE, rest, 1.0
        )
        even = (moments.sum(axis=1) - own) / (len(own) - 1)
        return own, np.where(rest > _NOISE, others, even)


def floats(channel: Channel) -> Matrix:
    """Return a channel's probabilities as floats, each rounded once: responses × answers.

    Raises:
        NotEstimable: too large to write out.
    """
    if channel.answers * channel.responses > MAX_CELLS:
        raise NotEstimable(
            f"this estimate needs a matrix of {exact.text(channel.responses)} × {channel.answers:,} cells, "
            f"too large to write out; expected at most {MAX_CELLS:,}.",
            'Use method="inversion" without a guess, or the tally of fewer attributes: tally.marginal(tally, …).',
        )
    return channel.floats()


def written_inverse(channel: Channel, guess: Vector | None) -> Written:
    """Return a left inverse written out: P⁻¹, or the locally best one at a guess or at even shares."""
    matrix = floats(channel)
    _check_rank(matrix)
    if channel.answers == channel.responses:
        return Written(vector(np.linalg.inv(matrix)), matrix)
    even = np.full(channel.answers, 1 / channel.answers)
    return Written(_locally_best(matrix, even if guess is None else guess), matrix)


def _locally_best(matrix: Matrix, guess: Vector) -> Matrix:
    expected = matrix @ guess
    # A response that the guess rules out gets next to no variance there; the floor keeps the division defined.
    weighted = matrix.T / np.maximum(expected, np.finfo(np.float64).tiny ** 0.5)
    return vector(np.linalg.solve(weighted @ matrix, weighted))


def _check_rank(matrix: Matrix) -> None:
    values = np.linalg.svd(matrix, compute_uv=False)
    if len(values) < matrix.shape[1] or values[-1] <= _NOISE * values[0]:
        raise blind()


def blind() -> NotEstimable:
    """Return the error for a channel that cannot tell answers apart."""
    return NotEstimable(
        "this channel sends different mixtures of answers to the same responses, so shares cannot be told apart.",
        "Choose a design whose matrix has full column rank.",
    )
