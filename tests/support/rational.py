"""Matrices of Fractions: just enough linear algebra for `==`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from deniable.channel import Channel
from deniable.order.programs import integers, reduce

Table: TypeAlias = tuple[tuple[Fraction, ...], ...]


def table(channel: Channel) -> Table:
    """Write a channel out by asking it for every single probability: P[response][answer]."""
    return tuple(
        tuple(channel.probability(i, given=j) for j in range(channel.answers))
        for i in range(channel.responses)
    )


def transposed(rows: Table) -> Table:
    return tuple(zip(*rows, strict=True))


def times(left: Table, right: Table) -> Table:
    columns = transposed(right)
    return tuple(
        tuple(sum(map(Fraction.__mul__, row, column)) for column in columns)
        for row in left
    )


def applied(rows: Table, vector: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(
        sum((a * b for a, b in zip(row, vector, strict=True)), Fraction(0))
        for row in rows
    )


def kronecker(left: Table, right: Table) -> Table:
    return tuple(
        tuple(a * b for a in one for b in two) for one in left for two in right
    )


def identity(size: int) -> Table:
    return tuple(tuple(Fraction(i == j) for j in range(size)) for i in range(size))


def inverse(rows: Table) -> Table:
    """Invert by elimination; a singular matrix raises StopIteration's cousin, ValueError."""
    size = len(rows)
    work = [[*row, *unit] for row, unit in zip(rows, identity(size), strict=True)]
    for at in range(size):
        pivot = next((i for i in range(at, size) if work[i][at]), None)
        if pivot is None:
            raise ValueError("the matrix is singular")
        work[at], work[pivot] = work[pivot], work[at]
        head = work[at][at]
        work[at] = [cell / head for cell in work[at]]
        for i in range(size):
            if i != at and work[i][at]:
                factor = work[i][at]
                work[i] = [
                    a - factor * b for a, b in zip(work[i], work[at], strict=True)
                ]
    return tuple(tuple(row[size:]) for row in work)


def left_inverse(rows: Table) -> Table:
    """Return L with L·P = 1: the inverse, or (PᵀP)⁻¹Pᵀ where there are more responses than answers."""
    across = transposed(rows)
    return times(inverse(times(across, rows)), across)


def rank(rows: Sequence[Sequence[Fraction]]) -> int:
    """Return how many rows are independent."""
    whole = integers(rows)
    return len(reduce(whole, len(whole[0])).columns)
