"""Estimates of two-level channels: from how often the responses support each category.

A response supports the answer with probability p and any other category with probability q, so that the share of
responses that support j, less q, divided by p − q, is unbiased for the share of j, whichever two-level channel it is.
All categories are treated alike: with L the left inverse, E[L_j² | answer] takes two values, for the answer j and for
any other. Where responses support any two categories equally often, E[L_i L_j | answer] takes two more: then the
covariance is a diagonal and two columns, which fits for a hundred thousand categories.

That the shares sum to one is known before anybody responds. Where the estimate from support does not know it, because
some responses support more categories than others, there is a better one that is linear and unbiased too: `by_sizes`
where sizes are told apart, `summing_to_one` where they are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel import Channel, Sets, TwoLevel
from deniable.channel.support import EachSet, Support
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import (
    Covariance,
    LowRank,
    Matrix,
    Vector,
    vector,
)
from deniable.estimates.linear import Linear, blind

Cells: TypeAlias = tuple[Vector, Vector, Vector]
"""For each size of set its weight, how often a category that is not the answer is in, and how much more often it is."""


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

    def covariance(
        self,
        responses: Vector,  # noqa: ARG002 - the shares say all that the sums do
        shares: Vector,
        f: float,
        divisor: float,
    ) -> Covariance:
        """Return the covariance of F6; L D_λ L′ is linear in the shares, so that it is unbiased at unbiased ones."""
        squares = self.other + (self.own - self.other) * shares
        diagonal = squares - self.apart - 2 * self.along * shares + (f - 1) * shares
        core = np.array([[self.apart, self.along], [self.along, -f]])
        return LowRank(
            diagonal / divisor,
            np.column_stack([np.ones(self.size), shares]),
            core / divisor,
        )

    def spread(self, shares: Vector) -> tuple[Vector, Vector]:
        """Return the second moments of each row of L; they do not depend on which other answer it is."""
        return np.full_like(shares, self.own), np.full_like(shares, self.other)


@dataclass(frozen=True, eq=False)
class Supported(Alike):
    """From how often each category was supported: L_j = (z_j − q) / (p − q), with z_j whether a response supports j.

    Implements: the inverse of k-ary response; the minimax estimate of a t-subset design, which is the moment estimate
    ([Cha19], Theorem 6.3, F9); the customary estimate of RAPPOR and of unary encodings (F10); the closed forms for
    Hadamard response and local hashing. At even shares it is the locally best one where all responses support equally
    many categories.

    Attributes:
        support: which cells of a tally speak for which category.
        p: how often a response supports the answer.
        q: how often it supports any other category.
        gap: p − q, from exact numbers: the difference of two floats would lose digits.
        pairwise: whether `apart` and `along` are the same for any two categories; otherwise they are not used.
        base: how often a response is sent, or a cell rises, given an answer that it does not support.
        step: how much more often given one that it does.
        cells: what is expected of each size of set, where a tally counts them apart.
    """

    support: Support
    p: float
    q: float
    gap: float
    pairwise: bool
    base: Vector | float
    step: Vector | float
    cells: Cells | None = None

    def shares(self, observed: Vector) -> Vector:
        return (self.support.gather(observed) - self.q) / self.gap

    def expected(self, shares: Vector) -> Vector:
        if self.cells is not None:
            return _by_size(self.cells, shares)
        return np.asarray(
            self.base * shares.sum() + self.step * self.support.scatter(shares),
            np.float64,
        )

    def covariance(
        self, responses: Vector, shares: Vector, f: float, divisor: float
    ) -> Covariance:
        if self.pairwise:
            return super().covariance(responses, shares, f, divisor)
        return SupportCovariance(self, responses, shares, f, divisor)


@dataclass(frozen=True, eq=False)
class SupportCovariance(Covariance):
    """[f (D_π − ππ′) + L D_λ L′ − D_π] / divisor with π = L·λ, never written out unless asked for."""

    linear: Supported
    responses: Vector
    shares: Vector
    f: float
    divisor: float

    @property
    def variances(self) -> Vector:
        """The diagonal: a response supports a category or it does not."""
        linear, total = self.linear, self.responses.sum()
        # B·λ, because the shares are L·λ
        hits = linear.q * total + linear.gap * self.shares
        device = (
            hits * (1 - linear.q) ** 2 + (total - hits) * linear.q**2
        ) / linear.gap**2
        return vector(
            (self.f * (self.shares - self.shares**2) + device - self.shares)
            / self.divisor
        )

    def between(self, one: Vector, two: Vector) -> float:
        shares = self.shares
        device = float(self.responses @ (self._pulled(one) * self._pulled(two)))
        among = float(shares @ (one * two))
        return (
            self.f * (among - float(shares @ one) * float(shares @ two))
            + device
            - among
        ) / self.divisor

    def matrix(self) -> Matrix:
        inverse = (self.linear.support.table() - self.linear.q) / self.linear.gap
        device = (inverse * self.responses) @ inverse.T - np.diag(self.shares)
        spread = np.diag(self.shares) - np.outer(self.shares, self.shares)
        return vector((self.f * spread + device) / self.divisor)

    def _pulled(self, weights: Vector) -> Vector:
        """Return Lᵀ·w: what each response adds to a linear combination."""
        linear = self.linear
        return vector(
            (linear.support.scatter(weights) - linear.q * weights.sum()) / linear.gap
        )


@dataclass(frozen=True, eq=False)
class SetsApart:
    """A tally that counts each set apart.

    Attributes:
        support: which sets hold which category.
        sizes: the sizes that can be sent.
        base: how often each set is sent given an answer outside of it.
        step: how much more often given one inside.
    """

    support: EachSet
    sizes: Sequence[int]
    base: Vector | float
    step: Vector | float

    def expected(self, shares: Vector) -> Vector:
        """Return the expected share of each set."""
        return np.asarray(
            self.base * shares.sum() + self.step * self.support.scatter(shares),
            np.float64,
        )


@dataclass(frozen=True, eq=False)
class BySize(Alike):
    """From how often each category was in the sets of each size: L_j = base + step·z_j, both depending on the size.

    Implements: the minimax estimate of a mixture, and of RAPPOR ([Cha19], Theorem 7.1, F10): the locally best one at
    even shares, whose risk at even shares is its largest.

    Attributes:
        base: what a set of each size adds to every share.
        step: what it adds to those in it.
        cells: what is expected of each size.
        counted: how sets are counted, where a tally counts each apart.
    """

    base: Vector
    step: Vector
    cells: Cells
    counted: SetsApart | None = None

    def table(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Return for each size how many sets there are, and how many hold each category."""
        if self.counted is not None:
            return self.counted.support.by_size(cells, self.counted.sizes)
        return cells.reshape(len(self.base), self.size + 1)

    def shares(self, observed: Vector) -> Vector:
        table = self.table(observed)
        return vector(self.base @ table[:, 0] + self.step @ table[:, 1:])

    def expected(self, shares: Vector) -> Vector:
        return (
            _by_size(self.cells, shares)
            if self.counted is None
            else self.counted.expected(shares)
        )


@dataclass(frozen=True, eq=False)
class Summing(Alike):
    """The estimate from support, moved by the same amount for every category until the shares sum to one.

    Why: π̂ + w·(1 − Σπ̂) is linear and unbiased for every w with sum 1, because Σπ̂ is 1 on average. Its variances are
    smallest where w is Cov(π̂, Σπ̂) / Var(Σπ̂); at even shares all categories are alike, and so w = 1/k.

    Attributes:
        raw: the estimate from support.
    """

    raw: Supported

    def shares(self, observed: Vector) -> Vector:
        found = self.raw.shares(observed)
        return vector(found + (1 - found.sum()) / self.size)

    def expected(self, shares: Vector) -> Vector:
        return self.raw.expected(shares)


def supported(channel: TwoLevel) -> Supported:
    """Return the left inverse of a two-level channel, every number from exact ones and rounded once.

    Raises:
        NotEstimable: support says nothing about the answer.
    """
    counts_responses = channel.own_cells
    p, q = channel.p_true, channel.p_false
    gap = p - q
    if gap == 0:
        raise blind()
    own, other = (p * (1 - 2 * q) + q * q) / gap**2, q * (1 - q) / gap**2
    both, neither = channel.joint or (Fraction(0), Fraction(0))
    apart = (neither - q * q) / gap**2
    along = (both - q * p) / gap**2 - apart
    base, step = (
        channel.float_levels() if counts_responses else (float(q), float(gap))
    )
    sets = channel.set_valued
    cells = _size_cells(sets) if sets is not None and sets.by_size else None
    return Supported(
        size=channel.size,
        own=float(own),
        other=float(other),
        apart=float(apart),
        along=float(along),
        support=channel.support,
        p=float(p),
        q=float(q),
        gap=float(gap),
        pairwise=channel.joint is not None,
        base=base,
        step=step,
        cells=cells,
    )


def direct(linear: Linear) -> Supported | None:
    """Return a left inverse of which each cell of the tally tells one share; None for others."""
    return (
        linear if isinstance(linear, Supported) and linear.support.direct else None
    )


def customary(channel: Channel) -> Linear:
    """Return the left inverse that is customary for sets of categories, also where it is not the best one.

    Raises:
        InvalidRequest: responses are no sets.
    """
    if channel.set_valued is None:
        raise InvalidRequest(
            f"a channel of kind {channel.KIND!r} has no customary estimate besides the unbiased one.",
            'Use method="inversion". The customary estimate is for sets of categories, such as RAPPOR sends.',
        )
    return supported(channel.set_valued)


def by_sizes(channel: Sets) -> BySize:
    """Return the locally best left inverse at even shares, for a tally that counts the sizes of sets apart.

    With g = P_z,j / λ_z at even shares, a set of t holds k·own/t in it and k·(1 − own)/(k − t) outside of it; and
    L_j = 1/k + (g_j − 1)/a, where a is the mean of t(k − t)(g_in − g_out)² / (k(k − 1)).

    Raises:
        NotEstimable: no size says anything about the answer.
    """
    k, t = channel.size, np.array(channel.sizes, np.float64)
    weight, rest, gap = _size_cells(channel)
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
    counted = (
        SetsApart(EachSet(k), channel.sizes, *channel.float_levels())
        if channel.own_cells
        else None
    )
    return BySize(
        k,
        *_second_moments(k, t, (weight, rest, gap), base, step),
        base,
        step,
        (weight, rest, gap),
        counted,
    )


def summing_to_one(channel: Sets) -> Alike:
    """Return the estimate from how often each category was in, brought to the sum of one where it has another.

    With M the second moments E[L_i L_j | answer x], R their row sums, S their sum and C = I − J/k, those of the result
    are C·M·C + (C·e_x·1′ + 1·e_x′·C)/k + J/k².
    """
    raw = supported(channel)
    if len(channel.sizes) == 1:
        return raw
    k = raw.size
    row_own = raw.own + (k - 1) * (raw.apart + raw.along)
    row_other = raw.other + raw.along + (k - 1) * raw.apart
    common = (row_own + (k - 1) * row_other - 1) / k**2
    return Summing(
        k,
        own=raw.own - 2 * row_own / k + common + 2 / k,
        other=raw.other - 2 * row_other / k + common,
        apart=raw.apart - 2 * row_other / k + common,
        along=raw.along - (row_own - row_other - 1) / k,
        raw=raw,
    )


def _second_moments(
    k: int, t: Vector, cells: Cells, base: Vector, step: Vector
) -> tuple[float, float, float, float]:
    weight, rest, gap = cells
    own = rest + gap
    high, low = (base + step) ** 2, base**2
    both = own * (t - 1) / (k - 1)
    pairs = (own * (t - 1) * (t - 2) + (1 - own) * t * (t - 1)) / (
        (k - 1) * max(k - 2, 1)
    )
    neither = low + 2 * base * step * rest + step**2 * pairs
    either = low + base * step * (own + rest) + step**2 * both
    # of two categories none is neither
    apart = float(weight @ neither) if k > 2 else 0.0
    return (
        float(weight @ (own * high + (1 - own) * low)),
        float(weight @ (rest * high + (1 - rest) * low)),
        apart,
        float(weight @ either) - apart,
    )


def _size_cells(channel: Sets) -> Cells:
    k = channel.size
    owns = [channel.inclusion(ones) for ones in channel.sizes]
    rest = [
        (ones - own) / (k - 1) for ones, own in zip(channel.sizes, owns, strict=True)
    ]
    gap = [own - other for own, other in zip(owns, rest, strict=True)]
    return channel.size_law(), np.array(rest, np.float64), np.array(gap, np.float64)


def _by_size(cells: Cells, shares: Vector) -> Vector:
    """Return the expected share of each size, and of the sets of each size that hold each category."""
    weight, rest, gap = cells
    each = weight[:, None] * (rest[:, None] + gap[:, None] * shares)
    return vector(np.column_stack([weight, each]).reshape(-1))
