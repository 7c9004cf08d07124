"""Which responses speak for which answers, summed up for all answers at once by fast transforms.

Both classes stand for a table B of zeros and ones, a row for each answer and a column for each response, that is never
written out: `gather` is B·v, `scatter` is Bᵀ·v.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from deniable.estimate.covariance import Vector, vector


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
