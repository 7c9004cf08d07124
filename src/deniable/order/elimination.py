"""Exact linear algebra: elimination without fractions, and linear programs that end in a proof either way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Row: TypeAlias = tuple[Fraction, ...]
Table: TypeAlias = tuple[Row, ...]
Integers: TypeAlias = list[list[int]]


@dataclass(frozen=True, slots=True)
class Reduced:
    """A table brought to the form in which each pivot column holds one entry, and a record of how.

    Attributes:
        rows: the reduced rows, every pivot of them equal to `pivot`.
        pivot: the common value of the pivots.
        columns: the pivot columns, one for each of the first rows.
    """

    rows: Integers
    pivot: int
    columns: tuple[int, ...]


def integers(rows: Iterable[Sequence[Fraction]]) -> Integers:
    """Bring each row to a common denominator and return the numerators.

    Example:
        >>> integers([(Fraction(1, 2), Fraction(1, 3))])
        [[3, 2]]
    """
    whole = []
    for row in rows:
        common = math.lcm(*(cell.denominator for cell in row))
        whole.append([int(cell * common) for cell in row])
    return whole


def reduce(rows: Integers, width: int) -> Reduced:
    """Eliminate in the first `width` columns; whatever stands behind them takes part.

    Implements: the fraction-free elimination of [Bar68]. Every division is without remainder, so the numbers stay as
    short as the determinants they are.
    """
    work = [list(row) for row in rows]
    columns: list[int] = []
    pivot = 1
    for column in range(width):
        at = len(columns)
        found = next((i for i in range(at, len(work)) if work[i][column]), None)
        if found is None:
            continue
        work[at], work[found] = work[found], work[at]
        pivot = exchange(work, at, column, pivot)
        columns.append(column)
    return Reduced(work, pivot, tuple(columns))


def exchange(work: Integers, at: int, column: int, pivot: int) -> int:
    """Make one entry the only one in its column and return it, the new pivot; `pivot` is the one before."""
    head = work[at]
    new = head[column]
    for i, row in enumerate(work):
        if i != at:
            factor = row[column]
            work[i] = [(new * a - factor * b) // pivot for a, b in zip(row, head, strict=True)]
    return new


def rank(rows: Iterable[Sequence[Fraction]]) -> int:
    """Return how many rows are independent.

    Example:
        >>> rank([(Fraction(1), Fraction(2)), (Fraction(2), Fraction(4))])
        1
    """
    whole = integers(rows)
    return len(reduce(whole, len(whole[0])).columns)


def solve(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Row | None:
    """Return x with rows·x = right, free unknowns being 0, or None where there is none.

    Example:
        >>> solve([(Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1))], [Fraction(3), Fraction(1)])
        (Fraction(2, 1), Fraction(1, 1))
    """
    width = len(rows[0])
    reduced = reduce(integers((*row, value) for row, value in zip(rows, right, strict=True)), width)
    if any(row[-1] for row in reduced.rows[len(reduced.columns) :]):
        return None
    solution = [Fraction(0)] * width
    for row, column in zip(reduced.rows, reduced.columns, strict=False):
        solution[column] = Fraction(row[-1], reduced.pivot)
    return tuple(solution)


@dataclass(frozen=True, slots=True)
class Feasible:
    """A point x ≥ 0 with rows·x = right."""

    point: Row


@dataclass(frozen=True, slots=True)
class Infeasible:
    """A proof that there is none: multipliers y with y·rows ≤ 0 in every column and y·right > 0 (Farkas)."""

    multipliers: Row


def feasible(
    rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction], *, first: Iterable[int] = ()
) -> Feasible | Infeasible:
    """Find x ≥ 0 with rows·x = right, or prove that there is none; `right` must not be negative.

    Implements: the first phase of the simplex method in integers, with the rule of [Bla77], which cannot cycle.

    Args:
        rows: the equations.
        right: their right-hand sides, 0 or more.
        first: unknowns that are probably positive; to try them first saves steps.
    """
    height, width = len(rows), len(rows[0])
    scales = [
        math.lcm(value.denominator, *(c.denominator for c in row)) for row, value in zip(rows, right, strict=True)
    ]
    order = list(dict.fromkeys([*first, *range(width)]))
    work = [
        [*(int(row[j] * scale) for j in order), *(int(i == at) for i in range(height)), int(value * scale)]
        for at, (row, value, scale) in enumerate(zip(rows, right, scales, strict=True))
    ]
    # The last row holds how much the sum of the errors falls with each unknown; errors themselves never come back.
    work.append([sum(column) for column in zip(*work, strict=True)])
    for i in range(height):
        work[-1][width + i] = 0
    basis, pivot = _climb(work, width)
    if work[-1][-1] > 0:
        # y = 1 − (what the slack columns of the last row have become), each equation in its own scale.
        errors = [Fraction(work[-1][width + i], pivot) for i in range(height)]
        return Infeasible(tuple((1 + error) * scale for error, scale in zip(errors, scales, strict=True)))
    point = [Fraction(0)] * width
    for at, column in enumerate(basis):
        if column < width:
            point[order[column]] = Fraction(work[at][-1], pivot)
    return Feasible(tuple(point))


def _climb(work: Integers, width: int) -> tuple[list[int], int]:
    """Pivot until no unknown lowers the errors; return which unknown each row holds, and the common pivot."""
    height = len(work) - 1
    basis, pivot = [width + i for i in range(height)], 1
    while True:
        enter = next((j for j in range(width) if work[-1][j] > 0), None)
        if enter is None:
            return basis, pivot
        rising = [i for i in range(height) if work[i][enter] > 0]
        leave = min(rising, key=lambda i: (Fraction(work[i][-1], work[i][enter]), basis[i]))
        pivot = exchange(work, leave, enter, pivot)
        basis[leave] = enter
