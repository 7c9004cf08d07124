"""Linear unbiased estimates: a left inverse L of the channel, applied to the observed shares.

With λ̂ the observed shares of responses, L·P = I makes L·λ̂ unbiased for the shares π of answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce, singledispatch
from typing import ClassVar

import numpy as np

from deniable.channel import Channel, Dense, Diagonal, Product
from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariance import Covariance, Full, LowRank, Matrix, Vector, vector

_NOISE = 1e-9  # relative size below which a singular value is rounding
_MOST = 1 << 24  # cells of a product's matrix that are written out: 134 MB


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
    def covariance(self, responses: Vector, shares: Vector, f: float, divisor: float) -> Covariance:
        """Return [f (D_π − ππ′) + L D_λ L′ − D_π] / divisor.

        Implements: F6 for the three populations: f = 1 for independent respondents, f = 0 for a census, and
        f = (N − n)/(N − 1) for n out of N without replacement. With λ = Pπ and divisor n it is the covariance; with
        observed shares, their estimate and divisor n − f it is its unbiased estimate.
        """

    @abstractmethod
    def spread(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return E[(L_j)² | answer j] and its mean over the other answers, weighted by their shares, for each j."""


@dataclass(frozen=True, eq=False)
class Written(Linear):
    """A left inverse written out, beside its channel."""

    inverse: Matrix
    channel: Matrix

    def shares(self, observed: Vector) -> Vector:
        """Return L·λ̂."""
        return self.inverse @ observed

    def expected(self, shares: Vector) -> Vector:
        """Return P·π."""
        return self.channel @ shares

    def covariance(self, responses: Vector, shares: Vector, f: float, divisor: float) -> Covariance:
        """Return the covariance of F6."""
        device = (self.inverse * responses) @ self.inverse.T - np.diag(shares)
        return Full((f * (np.diag(shares) - np.outer(shares, shares)) + device) / divisor)

    def spread(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return the second moments of each row of L, given its own answer and given the others."""
        moments = self.inverse**2 @ self.channel
        own = np.diagonal(moments)
        rest = shares.sum() - shares
        others = (moments @ shares - own * shares) / np.where(rest > _NOISE, rest, 1.0)
        even = (moments.sum(axis=1) - own) / (len(own) - 1)
        return own, np.where(rest > _NOISE, others, even)


@dataclass(frozen=True, eq=False)
class Even(Linear):
    """The inverse of a diagonal channel with p on the diagonal and r elsewhere: (I − r·J) / (p − r)."""

    ALIKE: ClassVar[bool] = True
    size: int
    p: float
    r: float
    gap: float  # p − r, taken from the exact weights: the difference of two floats would lose digits

    def shares(self, observed: Vector) -> Vector:
        """Return L·λ̂."""
        return (observed - self.r) / self.gap

    def expected(self, shares: Vector) -> Vector:
        """Return P·π."""
        return self.r + self.gap * shares

    def covariance(self, responses: Vector, shares: Vector, f: float, divisor: float) -> Covariance:
        """Return the covariance of F6; with L = a·I + b·J it is a diagonal and three columns."""
        a, b = 1 / self.gap, -self.r / self.gap
        columns = np.column_stack([np.ones(self.size), responses, shares])
        core = np.array([[b * b, a * b, 0.0], [a * b, 0.0, 0.0], [0.0, 0.0, -f]])
        return LowRank((a * a * responses + (f - 1) * shares) / divisor, columns, core / divisor)

    def spread(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return the second moments of each row of L; they do not depend on which other answer it is."""
        hit, miss = ((1 - self.r) / self.gap) ** 2, (self.r / self.gap) ** 2
        own = hit * self.p + miss * (1 - self.p)
        other = hit * self.r + miss * (1 - self.r)
        return np.full_like(shares, own), np.full_like(shares, other)


@singledispatch
def floats(channel: Channel) -> Matrix:
    """Return a channel's probabilities as floats, each rounded once."""
    raise NotEstimable(f"a channel of kind {channel.KIND!r} cannot be written out for this estimate.")


@floats.register
def _(channel: Dense) -> Matrix:
    return np.array([[weight / channel.total for weight in row] for row in channel.weights])


@floats.register
def _(channel: Diagonal) -> Matrix:
    matrix = np.full((channel.size, channel.size), channel.other / channel.total)
    np.fill_diagonal(matrix, channel.same / channel.total)
    return matrix


@floats.register
def _(channel: Product) -> Matrix:
    if channel.answers * channel.responses > _MOST:
        raise NotEstimable(
            f"this estimate needs a matrix of {channel.responses:,} × {channel.answers:,} cells; "
            f"expected at most {_MOST:,}.",
            'Use method="inversion" without a guess, or the tally of fewer attributes: tally.marginal(tally, …).',
        )
    return reduce(_kron, map(floats, channel.factors))


def _kron(one: Matrix, two: Matrix) -> Matrix:
    return vector(np.kron(one, two))


def left_inverse(channel: Channel, *, guess: Vector | None = None, inverse: Matrix | None = None) -> Linear:
    """Return a left inverse: the channel's own, the best one at a guess of the shares, or one that is given.

    Implements: L = (P′D⁻¹P)⁻¹P′D⁻¹ with D = diag(P·guess), the locally best linear unbiased estimator of F6; where P is
    square every choice is P⁻¹. Without a guess it is taken at even shares.

    Raises:
        NotEstimable: the channel has not full rank.
        InvalidRequest: what is given is no left inverse of the channel.
    """
    if inverse is not None:
        return _given(channel, np.asarray(inverse, np.float64))
    return own_inverse(channel, guess)


@singledispatch
def own_inverse(channel: Channel, guess: Vector | None) -> Linear:
    """Return the left inverse of a kind of channel; kinds that know a closed form register it here."""
    return written_inverse(channel, guess)


def written_inverse(channel: Channel, guess: Vector | None) -> Written:
    """Return a left inverse written out: P⁻¹, or the locally best one at a guess or at even shares."""
    matrix = floats(channel)
    _check_rank(matrix)
    if channel.answers == channel.responses:
        return Written(vector(np.linalg.inv(matrix)), matrix)
    even = np.full(channel.answers, 1 / channel.answers)
    return Written(_locally_best(matrix, even if guess is None else guess), matrix)


@own_inverse.register
def _(channel: Diagonal, guess: Vector | None) -> Linear:  # noqa: ARG001 - a square channel has one inverse
    if channel.same == channel.other:
        raise blind()
    total = channel.total
    gap = (channel.same - channel.other) / total
    return Even(channel.size, channel.same / total, channel.other / total, gap)


def _locally_best(matrix: Matrix, guess: Vector) -> Matrix:
    expected = matrix @ guess
    # A response that the guess rules out gets next to no variance there; the floor keeps the division defined.
    weighted = matrix.T / np.maximum(expected, np.finfo(np.float64).tiny ** 0.5)
    return vector(np.linalg.solve(weighted @ matrix, weighted))


def _given(channel: Channel, inverse: Matrix) -> Linear:
    matrix = floats(channel)
    if inverse.shape != matrix.T.shape:
        raise InvalidRequest(f"the left inverse has shape {inverse.shape}; expected {matrix.T.shape}.")
    if not np.allclose(inverse @ matrix, np.eye(channel.answers), rtol=0, atol=1e-8):
        raise InvalidRequest(
            "L·P is not the identity, so the estimate would be biased; expected a left inverse of the channel."
        )
    return Written(inverse, matrix)


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


def christofides_inverse(design: Design) -> Matrix:
    """Return the left inverse that estimates by the mean response: (mean − EY) / (L + 1 − 2·EY), EY the mean card.

    Hand it to `estimate(tally, inverse=…)` or `covariance(…, inverse=…)`. For two and three cards it is the inverse
    that `estimate` takes by itself; for more cards `estimate` takes the one with the smallest variance at even shares.

    Implements: the estimator of [Chr03].

    Raises:
        InvalidRequest: not a design of cards, where members send L + 1 − card.
        NotEstimable: the mean card is in the middle.

    Example:
        >>> from deniable.designs import christofides
        >>> design = christofides(cards=["1/10", "3/10", "6/10"])
        >>> christofides_inverse(design)[1].round(6).tolist()
        [1.5, 0.5, -0.5]
    """
    channel = design.channel
    size = channel.responses
    if channel.answers != 2 or any(
        channel.probability(r, given=0) != channel.probability(size - 1 - r, given=1) for r in range(size)
    ):
        raise InvalidRequest(
            f"{design!r} is not a design of cards; expected one in which members send L + 1 − card.",
            "Build it with christofides().",
        )
    mean = sum(((r + 1) * channel.probability(r, given=0) for r in range(size)), Fraction(0))
    gap = size + 1 - 2 * mean
    if gap == 0:
        raise NotEstimable(
            f"the mean card is {mean}, in the middle, so that the mean response tells nothing about the members.",
            "Leave the inverse away: other differences between the responses still tell the shares.",
        )
    members = [(r - mean) / gap for r in range(1, size + 1)]
    return np.array([[float(1 - weight) for weight in members], [float(weight) for weight in members]])
