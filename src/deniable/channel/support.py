"""Support counts: how often the responses of a tally support each answer, for all answers at once.

A `Support` stands for a table B of zeros and ones, a row for each answer and a column for each cell of the tally, that
is hardly ever written out: `gather` is B·v, `scatter` is Bᵀ·v. `channel.support` returns that of a two-level channel;
NumPy is loaded with this module, and so only where something is estimated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deniable.channel.fields import Field, digits_of, field
from deniable.errors import InvalidRequest

if TYPE_CHECKING:
    from deniable.channel.dense import Dense
    from deniable.channel.two_level import TwoLevel

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]

MAX_CELLS = 1 << 25
"""Cells of a table of answers and responses that is written out: 256 MiB."""


class Support(ABC):
    """Support relation between the cells of a tally and the answers.

    Attributes:
        size: how many answers there are.
        direct: whether the cells are the answers, in their order.
    """

    size: int
    direct: ClassVar[bool] = False

    @property
    @abstractmethod
    def cells(self) -> int:
        """Number of cells."""

    def gather(self, cells: Vector) -> Vector:
        """Return for each answer the sum over the cells that speak for it."""
        return self.table() @ cells

    def scatter(self, answers: Vector) -> Vector:
        """Return for each cell the sum over the answers that it speaks for."""
        return answers @ self.table()

    def table(self) -> Matrix:
        """Write B out, answers × cells.

        Raises:
            InvalidRequest: too large.
        """
        if self.size * self.cells > MAX_CELLS:
            raise InvalidRequest(
                f"a table of {self.size:,} categories and {self.cells:,} responses is too large to write out; "
                f"expected at most {MAX_CELLS:,} cells.",
                "Variances, intervals and contrasts do not need it.",
            )
        return np.array([np.rint(self.scatter(unit)) for unit in np.eye(self.size)])


@dataclass(frozen=True)
class Each(Support):
    """A cell for each answer: a response that is a category, and sets whose tally counts each category."""

    size: int
    direct: ClassVar[bool] = True

    @property
    def cells(self) -> int:
        return self.size

    def gather(self, cells: Vector) -> Vector:
        return cells

    def scatter(self, answers: Vector) -> Vector:
        return answers


@dataclass(frozen=True)
class OverSizes(Support):
    """Sets of several sizes, counted apart: a stretch for each size, its count and then a cell for each category."""

    size: int
    stretches: int

    @property
    def cells(self) -> int:
        return self.stretches * (self.size + 1)

    def gather(self, cells: Vector) -> Vector:
        return np.asarray(
            cells.reshape(-1, self.size + 1)[:, 1:].sum(axis=0), np.float64
        )

    def scatter(self, answers: Vector) -> Vector:
        return np.tile(np.concatenate([[0.0], answers]), self.stretches)


@dataclass(frozen=True)
class EachSet(Support):
    """A cell for each set of categories, numbered as the set is."""

    size: int

    @property
    def cells(self) -> int:
        return 1 << self.size

    def table(self) -> Matrix:
        return np.array(
            [np.arange(self.cells) >> j & 1 for j in range(self.size)], np.float64
        )

    def by_size(self, cells: NDArray[Any], sizes: Sequence[int]) -> NDArray[Any]:
        """Return for each size the number of sets, and the number with each category: sizes × (1 + categories)."""
        of = set_sizes(self.size) == np.array(sizes)[:, None]
        cells_by_size = np.vstack(
            [np.ones(self.cells, np.int64), self.table().astype(np.int64)]
        )
        return np.where(of, cells, 0) @ cells_by_size.T


@dataclass(frozen=True, eq=False)
class SupportTable(Support):
    """Any two-level channel, its support written out."""

    entries: Matrix

    @classmethod
    def from_channel(cls, channel: TwoLevel) -> SupportTable:
        """Ask a channel for every answer and response.

        Raises:
            InvalidRequest: too large.
        """
        if channel.answers * channel.responses > MAX_CELLS:
            raise InvalidRequest(
                f"a table of {channel.answers:,} categories and {channel.responses:,} responses is too large to write "
                f"out; expected at most {MAX_CELLS:,} cells."
            )
        responses = range(channel.responses)
        rows = [
            [channel.supports(response, answer) for response in responses]
            for answer in range(channel.answers)
        ]
        return cls(np.array(rows, np.float64))

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of answers."""
        return len(self.entries)

    @property
    def cells(self) -> int:
        return int(self.entries.shape[1])

    def table(self) -> Matrix:
        return self.entries


@dataclass(frozen=True)
class HadamardRows(Support):
    """Hadamard response: r supports x where row r + 1 of the matrix is +1 in column x + 1."""

    size: int
    order: int

    @property
    def cells(self) -> int:
        return self.order - 1

    def gather(self, cells: Vector) -> Vector:
        spectrum = walsh(np.concatenate([[0.0], cells]))
        return np.asarray(
            (cells.sum() + spectrum[1 : self.size + 1]) / 2, np.float64
        )

    def scatter(self, answers: Vector) -> Vector:
        padded = np.zeros(self.order)
        padded[1 : self.size + 1] = answers
        return np.asarray((answers.sum() + walsh(padded)[1:]) / 2, np.float64)


@dataclass(frozen=True)
class Forms(Support):
    """Local hashing: a response (hash, value) speaks for the answers that have this value under this hash.

    Why one transform does it: let q = p^r, ω a p-th root of 1 and χ(z) = ω^(last digit of z in base p). Then
    1{h(x) = v} = Σ_t χ(t·(h(x) − v)) / q, and t·h runs through all linear forms but 0 just once as t and h run. A digit
    of u·z is linear in the digits of z, so that χ(u·z) = ω^⟨û, z⟩ with û as in `_dual`. So B·c is the Fourier
    transform, over vectors of digits modulo p, of the transforms of the counts of each hash.
    """

    size: int
    values: int
    digits: int

    @property
    def hashes(self) -> int:
        """Number of hashes."""
        power: int = self.values**self.digits
        return (power - 1) // (self.values - 1)

    @property
    def cells(self) -> int:
        return self.hashes * self.values

    def gather(self, cells: Vector) -> Vector:
        if self.digits == 1:
            return np.asarray(cells[: self.size], np.float64)
        transform = _fourier(
            cells.reshape(self.hashes, self.values), self._field.prime
        )
        forms = np.empty(self.values**self.digits, transform.dtype)
        forms[0] = cells.sum()
        for t, rows, duals in self._multiples():
            forms[duals] = transform[rows, t]
        return np.asarray(
            _fourier(forms, self._field.prime, back=True)[: self.size] / self.values,
            np.float64,
        )

    def scatter(self, answers: Vector) -> Vector:
        padded = np.zeros(self.values**self.digits)
        padded[: self.size] = answers
        if self.digits == 1:
            return padded
        forms = _fourier(padded, self._field.prime)
        transform = np.empty((self.hashes, self.values), forms.dtype)
        transform[:, 0] = forms[0]
        for t, rows, duals in self._multiples():
            transform[rows, t] = forms[duals]
        return np.asarray(
            _fourier(transform, self._field.prime, back=True).reshape(-1)
            / self.values,
            np.float64,
        )

    @property
    def _field(self) -> Field:
        return field(self.values)

    def _multiples(self) -> Iterator[tuple[int, slice, NDArray[Any]]]:
        """Yield t̂, a stretch of hashes whose highest digit is the same, and where the duals of their t-folds are."""
        q, over, dual = self.values, self._field, self._dual
        for t in range(1, q):
            scaled = dual[
                np.arange(q) * t % q
                if over.prime == q
                else [over.times(t, element) for element in range(q)]
            ]
            # the duals of the t-folds of all vectors of the lower digits
            lower = np.zeros(1, np.int64)
            start, power = 0, 1
            for digit in range(self.digits):
                yield (
                    int(dual[t]),
                    slice(start, start + power),
                    dual[t] * power + lower,
                )
                if digit + 1 < self.digits:
                    lower = np.add.outer(scaled * power, lower).reshape(-1)
                    start, power = start + power, power * q

    @property
    def _dual(self) -> NDArray[np.int64]:
        """Dual index û of each u: its base-p digits are the last digits of u times 1, X, X², …."""
        q, over = self.values, self._field
        p = over.prime
        if p == q:
            return np.arange(q)
        powers = [p**digit for digit in range(over.degree)]
        return np.array(
            [
                sum(over.times(u, power) % p * power for power in powers)
                for u in range(q)
            ]
        )


def _fourier(
    values: NDArray[Any], prime: int, *, back: bool = False
) -> NDArray[Any]:
    """Return the transform of each row Σ_j ω^(∓⟨i, j⟩)·v_j, with numbers as vectors of digits modulo a prime.

    Back, with a plus, gives real numbers, those that the transforms here have; for a prime of 2 all are real.
    """
    rows, size = values.reshape(-1, values.shape[-1]).shape
    if prime == 2:
        return walsh(values.reshape(-1), size).reshape(values.shape)
    from scipy import fft

    digits = digits_of(size - 1, prime)
    shaped, axes = values.reshape(rows, *(prime,) * digits), range(1, digits + 1)
    if back:
        return np.asarray(
            fft.ifftn(shaped, axes=axes, norm="forward").real.reshape(values.shape)
        )
    return np.asarray(fft.fftn(shaped, axes=axes).reshape(values.shape))


def walsh(values: Vector, order: int | None = None) -> Vector:
    """Return the Walsh–Hadamard transform Σ_j (−1)^(ones in i & j)·v_j of each stretch of `order`, a power of two.

    By default the values are one stretch.

    Example:
        >>> walsh(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
        [10.0, -2.0, -4.0, 0.0]
    """
    work, half = np.array(values, np.float64), 1
    while half < (order or work.size):
        pairs = work.reshape(-1, 2, half)
        pairs[:, 0] += pairs[:, 1]
        pairs[:, 1] *= -2
        pairs[:, 1] += pairs[:, 0]
        half *= 2
    return work


def dense_floats(table: Dense) -> Matrix:
    """Return the probabilities of a table as floats, each rounded once."""
    return np.array(
        [[weight / table.total for weight in row] for row in table.weights]
    )


def kronecker(factors: Sequence[Matrix]) -> Matrix:
    """Return the Kronecker product of matrices."""
    product = factors[0]
    for factor in factors[1:]:
        product = np.asarray(np.kron(product, factor), np.float64)
    return product


def round_to_floats(numbers: Iterable[Fraction]) -> Vector:
    """Return exact numbers as floats, each rounded once."""
    return np.array([float(number) for number in numbers])


def level_arrays(
    levels: Sequence[tuple[Fraction, Fraction]],
) -> tuple[Vector, Vector]:
    """Return the second level of each response, and the difference to the first."""
    return round_to_floats(low for _, low in levels), round_to_floats(
        high - low for high, low in levels
    )


def set_sizes(size: int) -> NDArray[np.int64]:
    """Return the number of categories in each set, in the order of the set indices.

    Example:
        >>> set_sizes(2).tolist()
        [0, 1, 1, 2]
    """
    return np.bitwise_count(np.arange(1 << size)).astype(np.int64)


def two_level_floats(
    low: Vector | float, step: Vector | float, support: Support
) -> Matrix:
    """Write a two-level channel out: responses × answers."""
    return np.asarray((low + step * support.table()).T, np.float64)


def bit_count_law(
    size: int, hit: float, stray: float, counts: Sequence[int]
) -> Vector:
    """Return the distribution of the number of ones among bits of which one has a different probability."""
    from scipy.stats import binom

    ones = np.array(counts)
    law = hit * binom.pmf(ones - 1, size - 1, stray) + (1 - hit) * binom.pmf(
        ones, size - 1, stray
    )
    return np.asarray(law, np.float64)
