"""Estimates from sets of categories, by how often each category was in; where sets have several sizes, size by size.

All of them treat every category alike, so that with L the left inverse E[L_j² | answer] takes two values, for the
answer j and for any other, and E[L_i L_j | answer] two more: the covariance is a diagonal and two columns, which fits
for a hundred thousand categories.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import ClassVar

import numpy as np
from scipy.stats import binom

from deniable.channel import Bits, Channel, Sets
from deniable.errors import InvalidRequest
from deniable.estimates.covariance import Covariance, LowRank, Vector, vector
from deniable.estimates.linear import Linear, blind, own_inverse


@dataclass(frozen=True, eq=False)
class Alike(Linear):
    """A left inverse that treats every category alike.

    Attributes:
        size: how many categories there are.
        own: E[L_j² | answer j].
        other: E[L_j² | another answer].
        apart: E[L_i L_j | an answer that is neither].
        along: by how much more that is given the answer i or j.
    """

    ALIKE: ClassVar[bool] = True
    size: int
    own: float
    other: float
    apart: float
    along: float

    def covariance(self, responses: Vector, shares: Vector, f: float, divisor: float) -> Covariance:  # noqa: ARG002 - the shares say all that the sums do
        """Return the covariance of F6; L D_λ L′ is linear in the shares, so that it is unbiased at unbiased ones."""
        squares = self.other + (self.own - self.other) * shares
        diagonal = squares - self.apart - 2 * self.along * shares + (f - 1) * shares
        core = np.array([[self.apart, self.along], [self.along, -f]])
        return LowRank(diagonal / divisor, np.column_stack([np.ones(self.size), shares]), core / divisor)

    def spread(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return the second moments of each row of L; they do not depend on which other answer it is."""
        return np.full_like(shares, self.own), np.full_like(shares, self.other)


@dataclass(frozen=True, eq=False)
class Columns(Alike):
    """From how often each category was in a set: L_j = (z_j − r) / (p − r).

    Implements: the minimax estimate of a t-subset design, which is the moment estimate ([Cha19], Theorem 6.3, F9), the
    customary estimate of RAPPOR and of unary encodings (F10).

    Attributes:
        p: how often the answer is in.
        r: how often any other category is in.
        gap: p − r, from exact numbers.
    """

    p: float
    r: float
    gap: float

    def shares(self, observed: Vector) -> Vector:
        """Return L·λ̂ from the shares of sets that hold each category."""
        return (observed - self.r) / self.gap

    def expected(self, shares: Vector) -> Vector:
        """Return how often each category will be in."""
        return self.r + self.gap * shares


@dataclass(frozen=True, eq=False)
class BySize(Alike):
    """From how often each category was in the sets of each size: L_j = base + step·z_j, both depending on the size.

    Implements: the minimax estimate of a mixture, and of RAPPOR ([Cha19], Theorem 7.1, F10): the locally best one at
    even shares, whose risk at even shares is its largest.

    Attributes:
        base: what a set of each size adds to every share.
        step: what it adds to those in it.
        cells: of one size each, its weight, how often a category that is not the answer is in, and by how much more
            often the answer is.
    """

    base: Vector
    step: Vector
    cells: tuple[Vector, Vector, Vector]

    def shares(self, observed: Vector) -> Vector:
        """Return L·λ̂ from the shares of responses by size and category."""
        table = observed.reshape(len(self.base), self.size + 1)
        return vector(self.base @ table[:, 0] + self.step @ table[:, 1:])

    def expected(self, shares: Vector) -> Vector:
        """Return the expected share of each size, and of the sets of each size that hold each category."""
        return _by_size(self.cells, shares)


@dataclass(frozen=True, eq=False)
class Pooled(Alike):
    """The estimate from how often each category was in, made from a tally that counts the sizes apart."""

    columns: Columns
    cells: tuple[Vector, Vector, Vector]

    def shares(self, observed: Vector) -> Vector:
        """Return L·λ̂ from the shares of responses by size and category, added up over the sizes."""
        return self.columns.shares(observed.reshape(-1, self.size + 1)[:, 1:].sum(axis=0))

    def expected(self, shares: Vector) -> Vector:
        """Return the expected share of each size, and of the sets of each size that hold each category."""
        return _by_size(self.cells, shares)


def _by_size(cells: tuple[Vector, Vector, Vector], shares: Vector) -> Vector:
    weight, rest, gap = cells
    each = weight[:, None] * (rest[:, None] + gap[:, None] * shares)
    return vector(np.column_stack([weight, each]).reshape(-1))


@own_inverse.register
def _(channel: Sets, guess: Vector | None) -> Linear:
    if guess is not None:
        raise InvalidRequest(
            "a guess needs a count for every response; the tally of this design keeps sums.",
            "Leave the guess away: the estimate is the best one at even shares.",
        )
    return _by_sizes(channel) if channel.by_size else _columns(channel)


@singledispatch
def customary(channel: Channel) -> Linear:
    """Return the left inverse that is customary for a kind of channel, where it is not the best one.

    Raises:
        InvalidRequest: the kind has none.
    """
    raise InvalidRequest(
        f"a channel of kind {channel.KIND!r} has no customary estimate besides the unbiased one.",
        'Use method="inversion". The customary estimate is for sets of categories, such as RAPPOR sends.',
    )


@customary.register
def _(channel: Sets) -> Linear:
    columns = _columns(channel)
    if not channel.by_size:
        return columns
    moments = (columns.own, columns.other, columns.apart, columns.along)
    return Pooled(channel.size, *moments, columns, _cells(channel))


def _columns(channel: Sets) -> Columns:
    """Take all sizes together, in exact numbers."""
    p, r, both, neither = _moments(channel)
    gap = p - r
    if gap == 0:
        raise blind()
    own, other = (p * (1 - 2 * r) + r * r) / gap**2, r * (1 - r) / gap**2
    apart = (neither - r * r) / gap**2
    along = (both - r * p) / gap**2 - apart
    return Columns(channel.size, *map(float, (own, other, apart, along, p, r, gap)))


def _moments(channel: Sets) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return how often a set holds the answer; another category; both of these; and two others."""
    if isinstance(channel, Bits):
        p, q = Fraction(channel.hit, channel.total), Fraction(channel.stray, channel.total)
        return p, q, p * q, q * q
    k = channel.size
    parts = [(ones, channel.weight(ones), channel.inclusion(ones)) for ones in channel.sizes]
    p = _sum(w * own for _, w, own in parts)
    r = _sum(w * (t - own) for t, w, own in parts) / (k - 1)
    both = _sum(w * own * (t - 1) for t, w, own in parts) / (k - 1)
    if k == 2:  # there are no two others, and r² is what makes their term vanish
        return p, r, both, r * r
    pairs = _sum(w * (own * (t - 1) * (t - 2) + (1 - own) * t * (t - 1)) for t, w, own in parts)
    return p, r, both, pairs / ((k - 1) * (k - 2))


def _sum(terms: Iterable[Fraction]) -> Fraction:
    return sum(terms, Fraction(0))


def _by_sizes(channel: Sets) -> BySize:
    """Write the locally best left inverse at even shares.

    With g = P_z,j / λ_z at even shares, a set of t holds k·own/t in it and k·(1 − own)/(k − t) outside of it; and
    L_j = 1/k + (g_j − 1)/a, where a is the mean of t(k − t)(g_in − g_out)² / (k(k − 1)).
    """
    k, t = channel.size, np.array(channel.sizes, np.float64)
    weight, rest, gap = _cells(channel)
    proper = (t > 0) & (t < k)
    room = np.where(proper, t * (k - t), 1.0)
    # own·k − t, the distance of the answer from the others, keeps its digits where ε is small.
    lift = np.where(proper, gap * (k - 1), 0.0)
    jump = k * lift / room
    information = float(weight @ (room * jump**2 * proper)) / (k * (k - 1))
    if information <= 0:
        raise blind()
    outside = np.where(proper, -lift * t / room, 0.0)  # g_out − 1
    base, step = 1 / k + outside / information, jump / information
    return BySize(k, *_second_moments(k, t, (weight, rest, gap), base, step), base, step, (weight, rest, gap))


def _second_moments(
    k: int, t: Vector, cells: tuple[Vector, Vector, Vector], base: Vector, step: Vector
) -> tuple[float, float, float, float]:
    weight, rest, gap = cells
    own = rest + gap
    high, low = (base + step) ** 2, base**2
    both = own * (t - 1) / (k - 1)
    pairs = (own * (t - 1) * (t - 2) + (1 - own) * t * (t - 1)) / ((k - 1) * max(k - 2, 1))
    neither = low + 2 * base * step * rest + step**2 * pairs
    either = low + base * step * (own + rest) + step**2 * both
    apart = float(weight @ neither) if k > 2 else 0.0  # of two categories none is neither
    return (
        float(weight @ (own * high + (1 - own) * low)),
        float(weight @ (rest * high + (1 - rest) * low)),
        apart,
        float(weight @ either) - apart,
    )


def _cells(channel: Sets) -> tuple[Vector, Vector, Vector]:
    """Return for each size its weight, how often a category that is not the answer is in, and how much more it is."""
    k = channel.size
    owns = [channel.inclusion(ones) for ones in channel.sizes]
    rest = [(ones - own) / (k - 1) for ones, own in zip(channel.sizes, owns, strict=True)]
    gap = [own - other for own, other in zip(owns, rest, strict=True)]
    return size_law(channel), np.array(rest, np.float64), np.array(gap, np.float64)


def size_law(channel: Sets) -> Vector:
    """Return the probability of each size of set; it does not depend on the answer."""
    if not isinstance(channel, Bits):
        return np.array([channel.weight(ones) for ones in channel.sizes], np.float64)
    # The exact weights of a thousand bits have tens of thousands of digits each.
    p, q, others = channel.hit / channel.total, channel.stray / channel.total, channel.size - 1
    ones = np.array(channel.sizes)
    return vector(p * binom.pmf(ones - 1, others, q) + (1 - p) * binom.pmf(ones, others, q))
