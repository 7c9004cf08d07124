"""Estimates from coded responses, Hadamard and hashing: for any number of categories, by a fast transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deniable.channel import Channel, Hadamard, Hashing
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimate.covariance import Covariance, Matrix, Vector, vector
from deniable.estimate.linear import Linear, floats, own_inverse, written_inverse
from deniable.estimate.transforms import Columns, Forms, Supports

MOST_CELLS = 1 << 25
"""Cells of a table of answers and responses that is written out: 256 MiB."""


@dataclass(frozen=True, eq=False)
class Coded(Linear):
    """The left inverse (B − s·J) / (p − s) of a channel P = base + step·Bᵀ, for a table B of zeros and ones.

    Why: a response speaks for the answer with probability p, and for any other category with one and the same
    probability s, so that B·P = (p − s)·I + s·J. At even shares it is the locally best one where all responses speak
    for equally many categories; and its risk does not depend on the answer.

    Attributes:
        supports: the table B.
        p: how often a response speaks for the answer.
        s: how often it speaks for another category.
        gap: p − s, taken from the exact weights.
        base: the probability of a response that does not speak for the answer.
        step: by how much it is larger where it does.
    """

    ALIKE: ClassVar[bool] = True
    supports: Supports
    p: float
    s: float
    gap: float
    base: float
    step: float

    def shares(self, observed: Vector) -> Vector:
        """Return L·λ̂."""
        return vector((self.supports.gather(observed) - self.s * observed.sum()) / self.gap)

    def expected(self, shares: Vector) -> Vector:
        """Return P·π."""
        return vector(self.base * shares.sum() + self.step * self.supports.scatter(shares))

    def covariance(self, responses: Vector, shares: Vector, f: float, divisor: float) -> Covariance:
        """Return the covariance of F6, from which variances and contrasts are computed when they are asked for."""
        return CodedCovariance(self, responses, shares, f, divisor)

    def spread(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return the second moments of each row of L; they do not depend on which other answer it is."""
        hit, miss = ((1 - self.s) / self.gap) ** 2, (self.s / self.gap) ** 2
        own, other = (hit * chance + miss * (1 - chance) for chance in (self.p, self.s))
        return np.full_like(shares, own), np.full_like(shares, other)

    def table(self) -> Matrix:
        """Write B out, answers × responses.

        Raises:
            InvalidRequest: too large.
        """
        size, cells = self.supports.size, self.supports.cells
        if size * cells > MOST_CELLS:
            raise InvalidRequest(
                f"a table of {size:,} categories and {cells:,} responses is too large to write out; "
                f"expected at most {MOST_CELLS:,} cells.",
                "Variances, intervals and contrasts do not need it.",
            )
        return np.array([np.rint(self.supports.scatter(unit)) for unit in np.eye(size)])


@dataclass(frozen=True, eq=False)
class CodedCovariance:
    """[f (D_π − ππ′) + L D_λ L′ − D_π] / divisor with π = L·λ, never written out unless asked for."""

    linear: Coded
    responses: Vector
    shares: Vector
    f: float
    divisor: float

    @property
    def variances(self) -> Vector:
        """The diagonal: a response speaks for a category or it does not."""
        linear, total = self.linear, self.responses.sum()
        hits = linear.s * total + linear.gap * self.shares  # B·λ, because the shares are L·λ
        device = (hits * (1 - linear.s) ** 2 + (total - hits) * linear.s**2) / linear.gap**2
        return vector((self.f * (self.shares - self.shares**2) + device - self.shares) / self.divisor)

    def between(self, one: Vector, two: Vector) -> float:
        """Return the covariance of two linear combinations."""
        shares = self.shares
        device = float(self.responses @ (self._pulled(one) * self._pulled(two)))
        among = float(shares @ (one * two))
        return (self.f * (among - float(shares @ one) * float(shares @ two)) + device - among) / self.divisor

    def matrix(self) -> Matrix:
        """Write the matrix out.

        Raises:
            InvalidRequest: too large.
        """
        inverse = (self.linear.table() - self.linear.s) / self.linear.gap
        device = (inverse * self.responses) @ inverse.T - np.diag(self.shares)
        spread = np.diag(self.shares) - np.outer(self.shares, self.shares)
        return vector((self.f * spread + device) / self.divisor)

    def _pulled(self, weights: Vector) -> Vector:
        """Return Lᵀ·w: what each response adds to a linear combination."""
        linear = self.linear
        return vector((linear.supports.scatter(weights) - linear.s * weights.sum()) / linear.gap)


def coded(channel: Hadamard | Hashing) -> Coded:
    """Return the closed-form left inverse of a coded channel, every number from exact weights and rounded once."""
    total = channel.total
    if isinstance(channel, Hadamard):
        own, met = (channel.half - 1) * channel.large, channel.half // 2
        stray = (met - 1) * channel.large + met * channel.small
        columns = Columns(channel.size, channel.order)
        small, step = channel.small / total, (channel.large - channel.small) / total
        return Coded(columns, own / total, stray / total, (own - stray) / total, small, step)
    own = channel.hashes * channel.same
    stray = channel.collisions * channel.same + (channel.hashes - channel.collisions) * channel.other
    forms = Forms(channel.size, channel.values, channel.digits)
    small, step = channel.other / total, (channel.same - channel.other) / total
    return Coded(forms, own / total, stray / total, (own - stray) / total, small, step)


def _inverse(channel: Hadamard | Hashing, guess: Vector | None) -> Linear:
    closed = coded(channel)
    if guess is None or channel.answers == channel.responses:
        return closed
    return written_inverse(channel, guess)


def _written(channel: Hadamard | Hashing) -> Matrix:
    closed = coded(channel)
    try:
        return vector(closed.base + closed.step * closed.table().T)
    except InvalidRequest as error:
        raise NotEstimable(error.problem, 'Use method="inversion", which does not need it.') from None


def _register(kind: type[Channel]) -> None:
    own_inverse.register(kind)(_inverse)
    floats.register(kind)(_written)


_register(Hadamard)
_register(Hashing)
