"""Left inverses of product channels, factor by factor: cells by the million without a matrix of their square.

With P = P₁ ⊗ P₂ ⊗ … a left inverse is L₁ ⊗ L₂ ⊗ …, and applying it to a table of cells is applying each factor along
its own axis. So shares, their variances and the variance of any contrast take time in proportion to the cells times the
sum of the factors' sizes. Only the full covariance matrix has cells² entries; it is written out up to 4,096 cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, TypeAlias

import numpy as np

from deniable.channel import Channel, Product
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Covariance, Matrix, Vector, vector
from deniable.estimates.linear import Linear, written_inverse
from deniable.estimates.supported import Supported, supported

MOST_WRITTEN_CELLS = 4096
"""Cells up to which the covariance matrix of a product is written out: 134 MB."""


class Blend(NamedTuple):
    """The matrix same·I + all·J of a diagonal channel, never written out."""

    same: float
    all: float


Operator: TypeAlias = Matrix | Blend


@dataclass(frozen=True, eq=False)
class FactorSide:
    """What is asked of one factor.

    Attributes:
        inverse: L.
        across: Lᵀ.
        channel: P.
        squares: L with every entry squared.
        moments: squares · P: the second moments of each row of L given each answer.
        own: its diagonal.
    """

    inverse: Operator
    across: Operator
    channel: Operator
    squares: Operator
    moments: Operator
    own: Vector


@dataclass(frozen=True, eq=False)
class Factored(Linear):
    """The left inverse of a product, held in its factors."""

    sides: tuple[FactorSide, ...]
    answers: tuple[int, ...]
    responses: tuple[int, ...]

    def shares(self, observed: Vector) -> Vector:
        return apply([side.inverse for side in self.sides], observed, self.responses)

    def expected(self, shares: Vector) -> Vector:
        return apply([side.channel for side in self.sides], shares, self.answers)

    def covariance(
        self, responses: Vector, shares: Vector, f: float, divisor: float
    ) -> Covariance:
        return FactoredCovariance(
            self, vector(responses), vector(shares), f, divisor
        )

    def spread(self, shares: Vector) -> tuple[Vector, Vector]:
        moments = [side.moments for side in self.sides]
        own = reduce(_outer, (side.own for side in self.sides))
        rest = shares.sum() - shares
        others = (apply(moments, shares, self.answers) - own * shares) / np.where(
            rest > 1e-9, rest, 1.0
        )
        even = (apply(moments, np.ones_like(shares), self.answers) - own) / (
            len(own) - 1
        )
        return own, np.where(rest > 1e-9, others, even)


@dataclass(frozen=True, eq=False)
class FactoredCovariance(Covariance):
    """[f (D_π − ππ′) + L D_λ L′ − D_π] / divisor with L held in factors."""

    linear: Factored
    responses: Vector
    shares: Vector
    f: float
    divisor: float

    @property
    def variances(self) -> Vector:
        squares = [side.squares for side in self.linear.sides]
        device = apply(squares, self.responses, self.linear.responses)
        return vector(
            (device + (self.f - 1) * self.shares - self.f * self.shares**2)
            / self.divisor
        )

    def between(self, one: Vector, two: Vector) -> float:
        across = [side.across for side in self.linear.sides]
        first, second = (
            apply(across, vector(each), self.linear.answers) for each in (one, two)
        )
        device = self.responses @ (first * second) + (self.f - 1) * (
            self.shares @ (one * two)
        )
        return float(
            (device - self.f * (self.shares @ one) * (self.shares @ two))
            / self.divisor
        )

    def matrix(self) -> Matrix:
        size = len(self.shares)
        if size > MOST_WRITTEN_CELLS:
            raise InvalidRequest(
                f"the covariance matrix of {size:,} cells has {size**2:,} entries; "
                f"expected at most {MOST_WRITTEN_CELLS:,} cells.",
                "Ask for errors, contrasts, or the tally of fewer attributes: tally.marginal(tally, …).",
            )
        sides = self.linear.sides
        transposed = apply_along_axes(
            [side.across for side in sides], np.eye(size), self.linear.answers
        )
        device = apply_along_axes(
            [side.inverse for side in sides],
            self.responses[:, None] * transposed,
            self.linear.responses,
        )
        part = (
            device
            + (self.f - 1) * np.diag(self.shares)
            - self.f * np.outer(self.shares, self.shares)
        )
        return vector(part / self.divisor)


def apply(
    operators: Sequence[Operator], cells: Vector, sizes: Sequence[int]
) -> Vector:
    """Apply one operator along each axis of a table of cells, the last axis fastest."""
    return apply_along_axes(operators, cells[:, None], sizes)[:, 0]


def apply_along_axes(
    operators: Sequence[Operator], columns: Matrix, sizes: Sequence[int]
) -> Matrix:
    """Apply one operator along each axis of the tables that stand in the columns of a matrix."""
    table = columns.reshape(*sizes, -1)
    for axis, operator in enumerate(operators):
        if isinstance(operator, Blend):
            table = operator.same * table + operator.all * table.sum(
                axis=axis, keepdims=True
            )
        else:
            table = np.moveaxis(
                np.tensordot(operator, table, axes=(1, axis)), 0, axis
            )
    return vector(table.reshape(-1, columns.shape[1]))


def product_inverse(channel: Product) -> Factored:
    """Return the left inverse of a product, from those of its factors."""
    return Factored(
        tuple(_side(factor) for factor in channel.factors),
        tuple(factor.answers for factor in channel.factors),
        tuple(factor.responses for factor in channel.factors),
    )


def _side(channel: Channel) -> FactorSide:
    two_level = channel.two_level
    if two_level is not None and two_level.own_cells and two_level.support.direct:
        return _blended_side(supported(two_level))
    # The tally of a product counts responses, also where a factor on its own would count sums of them.
    written = written_inverse(channel, None)
    inverse, matrix = written.inverse, written.channel
    moments = inverse**2 @ matrix
    return FactorSide(
        inverse, inverse.T, matrix, inverse**2, moments, np.diagonal(moments)
    )


def _blended_side(linear: Supported) -> FactorSide:
    """Return the operators of a diagonal channel: L = (I − q·J)/(p − q), and what follows from it."""
    gap, q = linear.gap, linear.q
    hit, miss = ((1 - q) / gap) ** 2, (q / gap) ** 2
    inverse = Blend(1 / gap, -q / gap)
    return FactorSide(
        inverse,
        inverse,
        Blend(gap, q),
        Blend(hit - miss, miss),
        Blend(linear.own - linear.other, linear.other),
        np.full(linear.size, linear.own),
    )


def _outer(one: Vector, two: Vector) -> Vector:
    return vector(np.outer(one, two).ravel())
