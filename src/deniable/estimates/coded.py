"""Which responses speak for which answers, summed up for all answers at once by fast transforms.

Both classes stand for a table B of zeros and ones, a row for each answer and a column for each response, that is never
written out: `gather` is B·v, `scatter` is Bᵀ·v.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from deniable.channel import Channel, Hadamard, Hashing
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariance import Covariance, Matrix, Vector, vector
from deniable.estimates.linear import Linear, floats, own_inverse, written_inverse


class Supports(Protocol):
    """What is asked of the table B."""

    @property
    def size(self) -> int:
        """How many answers there are."""
        ...

    @property
    def cells(self) -> int:
        """How many responses there are."""
        ...

    def gather(self, responses: Vector) -> Vector:
        """Return for each answer the sum over the responses that speak for it."""
        ...

    def scatter(self, answers: Vector) -> Vector:
        """Return for each response the sum over the answers that it speaks for."""
        ...


def walsh(values: Vector) -> Vector:
    """Return the Walsh–Hadamard transform Σ_j (−1)^(ones in i & j)·v_j, for a length that is a power of two.

    Example:
        >>> walsh(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
        [10.0, -2.0, -4.0, 0.0]
    """
    work, half = np.array(values, np.float64), 1
    while half < work.size:
        pairs = work.reshape(-1, 2, half)
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] *= -2
        pairs[:, 1] += pairs[:, 0]
        half *= 2
    return work


@dataclass(frozen=True)
class Columns:
    """Hadamard response: response r speaks for answer x where row r + 1 of the matrix is +1 in column x + 1."""

    size: int
    order: int

    @property
    def cells(self) -> int:
        """How many responses there are."""
        return self.order - 1

    def gather(self, responses: Vector) -> Vector:
        """Return for each answer the sum over the responses that speak for it."""
        spectrum = walsh(np.concatenate([[0.0], responses]))
        return vector((responses.sum() + spectrum[1 : self.size + 1]) / 2)

    def scatter(self, answers: Vector) -> Vector:
        """Return for each response the sum over the answers that it speaks for."""
        padded = np.zeros(self.order)
        padded[1 : self.size + 1] = answers
        return vector((answers.sum() + walsh(padded)[1:]) / 2)


@dataclass(frozen=True)
class Forms:
    """Local hashing: a response (hash, value) speaks for the answers that have this value under this hash.

    Why one transform does it: 1{h(x) = v} = Σ_t ω^(t(h(x) − v)) / q, and t·h runs through all linear forms but 0 just
    once as t and h run. So B·c is the Fourier transform, over vectors of digits modulo q, of the transforms of the
    counts of each hash.
    """

    size: int
    values: int
    digits: int

    @property
    def hashes(self) -> int:
        """How many hashes there are."""
        power: int = self.values**self.digits
        return (power - 1) // (self.values - 1)

    @property
    def cells(self) -> int:
        """How many responses there are."""
        return self.hashes * self.values

    def gather(self, responses: Vector) -> Vector:
        """Return for each answer the sum over the responses that speak for it."""
        if self.digits == 1:
            return vector(responses[: self.size])
        table = responses.reshape(self.hashes, self.values)
        if self.values == 2:
            spectrum = walsh(np.concatenate([[0.0], table[:, 0] - table[:, 1]]))
            return vector((responses.sum() + spectrum[: self.size]) / 2)
        own = fft.fft(table, axis=1)
        forms = np.empty(self.values**self.digits, np.complex128)
        forms[0] = responses.sum()
        for t, rows, places in self._multiples():
            forms[places] = own[rows, t]
        sums = fft.ifftn(forms.reshape(self._shape), overwrite_x=True).real.reshape(-1)
        return vector(sums[: self.size] * self.values ** (self.digits - 1))

    def scatter(self, answers: Vector) -> Vector:
        """Return for each response the sum over the answers that it speaks for."""
        padded = np.zeros(self.values**self.digits)
        padded[: self.size] = answers
        if self.digits == 1:
            return padded
        if self.values == 2:
            spectrum = walsh(padded)[1:]
            return vector(np.column_stack([padded.sum() + spectrum, padded.sum() - spectrum]).reshape(-1) / 2)
        forms = fft.fftn(padded.reshape(self._shape)).reshape(-1)
        own = np.empty((self.hashes, self.values), np.complex128)
        own[:, 0] = forms[0]
        for t, rows, places in self._multiples():
            own[rows, t] = forms[places]
        return vector(fft.ifft(own, axis=1, overwrite_x=True).real.reshape(-1))

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.values,) * self.digits

    def _multiples(self) -> Iterator[tuple[int, slice, NDArray[Any]]]:
        """Yield t, a stretch of hashes whose highest digit is the same, and where their t-folds are numbered."""
        q = self.values
        for t in range(1, q):
            scaled = np.arange(q) * t % q
            lower = np.zeros(1, np.int64)  # the t-fold of all vectors of the lower digits
            start, power = 0, 1
            for digit in range(self.digits):
                yield t, slice(start, start + power), t * power + lower
                if digit + 1 < self.digits:
                    lower = np.add.outer(scaled * power, lower).reshape(-1)
                    start, power = start + power, power * q


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
