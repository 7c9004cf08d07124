"""Exact linear algebra: elimination without fractions, and a linear program that ends in a proof either way.

The program of Blackwell's order: at each of several places one option is taken at random; can what the options
contribute add up to a target? Places are the responses of a finer channel, options what each of them is degraded to,
and the target is the coarser channel. Floats only say where to look: what they point to is solved and checked in
rationals, and where it does not hold the exact simplex method decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from deniable import exact
from deniable.errors import InvalidRequest

Row: TypeAlias = tuple[Fraction, ...]
Table: TypeAlias = tuple[Row, ...]
Integers: TypeAlias = list[list[int]]

MAX_CELLS = 150_000
"""Cells of the table that is solved in exact numbers for the unknowns that floats found positive: seconds."""

_CLOSE = 1e-9  # what floats take for 0
# how far beyond the target a game is looked for where floats cannot tell
_BEYOND = Fraction(1, 1000)
_DENOMINATORS = (10, 1000, 10**6, 10**12)  # simple payoffs are tried first


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
    integer_rows = []
    for row in rows:
        common = math.lcm(*(cell.denominator for cell in row))
        integer_rows.append([int(cell * common) for cell in row])
    return integer_rows


def reduce(rows: Integers, width: int) -> Reduced:
    """Eliminate in the first `width` columns; whatever stands behind them takes part.

    Implements: the fraction-free elimination of [Bar68]. Every division is without remainder, so the numbers stay as
    short as the determinants they are.
    """
    work = [list(row) for row in rows]
    columns: list[int] = []
    pivot = 1
    for column in range(width):
        pivot_row = len(columns)
        candidate = next(
            (i for i in range(pivot_row, len(work)) if work[i][column]), None
        )
        if candidate is None:
            continue
        work[pivot_row], work[candidate] = work[candidate], work[pivot_row]
        pivot = exchange(work, pivot_row, column, pivot)
        columns.append(column)
    return Reduced(work, pivot, tuple(columns))


def exchange(work: Integers, pivot_row: int, column: int, pivot: int) -> int:
    """Make one entry the only one in its column and return it, the new pivot; `pivot` is the one before."""
    head = work[pivot_row]
    new = head[column]
    for i, row in enumerate(work):
        if i != pivot_row:
            factor = row[column]
            work[i] = [
                (new * a - factor * b) // pivot
                for a, b in zip(row, head, strict=True)
            ]
    return new


def solve(
    rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]
) -> Row | None:
    """Return x with rows·x = right, free unknowns being 0, or None where there is none.

    Example:
        >>> solve([(Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1))], [Fraction(3), Fraction(1)])
        (Fraction(2, 1), Fraction(1, 1))
    """
    width = len(rows[0])
    reduced = reduce(
        integers((*row, value) for row, value in zip(rows, right, strict=True)),
        width,
    )
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
    rows: Sequence[Sequence[Fraction]],
    right: Sequence[Fraction],
    *,
    first: Iterable[int] = (),
) -> Feasible | Infeasible:
    """Find x ≥ 0 with rows·x = right, or prove that there is none; `right` must not be negative.

    Implements: the first phase of the simplex method in integers, with the rule of [Bla77], which cannot cycle.

    Args:
        rows: the equations.
        right: their right-hand sides, 0 or more.
        first: unknowns that are probably positive; to try them first saves steps.
    """
    height, width = len(rows), len(rows[0])
    scales, order, work = _tableau(rows, right, first, height, width)
    basis, pivot = _run_simplex(work, width)
    if work[-1][-1] > 0:
        # y = 1 − (what the slack columns of the last row have become), each equation in its own scale.
        errors = [Fraction(work[-1][width + i], pivot) for i in range(height)]
        return Infeasible(
            tuple(
                (1 + error) * scale
                for error, scale in zip(errors, scales, strict=True)
            )
        )
    point = [Fraction(0)] * width
    for row_index, column in enumerate(basis):
        if column < width:
            point[order[column]] = Fraction(work[row_index][-1], pivot)
    return Feasible(tuple(point))


def _tableau(
    rows: Sequence[Sequence[Fraction]],
    right: Sequence[Fraction],
    first: Iterable[int],
    height: int,
    width: int,
) -> tuple[list[int], list[int], list[list[int]]]:
    """Return the scale of each row, the order of the unknowns, and the table of the simplex method in integers."""
    scales = [
        math.lcm(value.denominator, *(c.denominator for c in row))
        for row, value in zip(rows, right, strict=True)
    ]
    order = list(dict.fromkeys([*first, *range(width)]))
    work = [
        [
            *(int(row[j] * scale) for j in order),
            *(int(i == row_index) for i in range(height)),
            int(value * scale),
        ]
        for row_index, (row, value, scale) in enumerate(
            zip(rows, right, scales, strict=True)
        )
    ]
    # The last row holds how much the sum of the errors falls with each unknown; errors themselves never come back.
    work.append([sum(column) for column in zip(*work, strict=True)])
    for i in range(height):
        work[-1][width + i] = 0
    return scales, order, work


def _run_simplex(work: Integers, width: int) -> tuple[list[int], int]:
    """Pivot until no unknown lowers the errors; return which unknown each row holds, and the common pivot."""
    height = len(work) - 1
    basis, pivot = [width + i for i in range(height)], 1
    while True:
        enter = next((j for j in range(width) if work[-1][j] > 0), None)
        if enter is None:
            return basis, pivot
        rising = [i for i in range(height) if work[i][enter] > 0]
        leave = min(
            rising, key=lambda i: (Fraction(work[i][-1], work[i][enter]), basis[i])
        )
        pivot = exchange(work, leave, enter, pivot)
        basis[leave] = enter


@dataclass(frozen=True)
class Mixing:
    """Options, one of which is taken at each place, at random, and what they are to add up to.

    Attributes:
        columns: what each option contributes to each coordinate of the target, without zeros.
        places: the place at which each option can be taken, counted from 0.
        target: what the contributions are to add up to, 0 or more in each coordinate.
        middle: a sum that can be reached and lies well inside, to tell in which direction the target lies.
        places_may_err: whether floats may also miss that a place takes one option in all. It decides which of several
            solutions is found, and so the hash of a ladder.
    """

    columns: Sequence[Mapping[int, Fraction]]
    places: Sequence[int]
    target: Row
    middle: Row
    places_may_err: bool = False

    @property
    def height(self) -> int:
        """Number of equations: one per coordinate, and one per place."""
        return len(self.target) + max(self.places) + 1

    @property
    def right(self) -> list[Fraction]:
        """Right-hand side of the equations: the target, and total probability 1 for each place."""
        return [*self.target, *[Fraction(1)] * (self.height - len(self.target))]

    def equations(self, unknowns: Sequence[int]) -> list[list[Fraction]]:
        """Write the equations out for some of the unknowns."""
        rows = [[Fraction(0)] * len(unknowns) for _ in range(self.height)]
        for index, unknown in enumerate(unknowns):
            rows[len(self.target) + self.places[unknown]][index] = Fraction(1)
            for coordinate, value in self.columns[unknown].items():
                rows[coordinate][index] = value
        return rows

    def wins(self, payoffs: Row) -> bool:
        """Say whether payoffs for the coordinates prove that the target cannot be reached.

        Why: they do if the target is paid more than the best option at every place.
        """
        best: dict[int, Fraction] = {}
        for place_index, column in zip(self.places, self.columns, strict=True):
            paid = exact.total(
                payoffs[row_index] * value for row_index, value in column.items()
            )
            best[place_index] = max(best.get(place_index, paid), paid)
        return dot(payoffs, self.target) > sum(best.values())


def decide(
    mixing: Mixing, *, too_large: InvalidRequest, most_pivoted: int
) -> Feasible | Infeasible:
    """Return the probability of each option, or payoffs of the coordinates that prove infeasibility.

    Args:
        mixing: the program.
        too_large: the error for one that cannot be decided in exact numbers.
        most_pivoted: cells up to which the exact simplex method is tried.

    Raises:
        InvalidRequest: too large.
    """
    errors, likely, payoffs = _in_floats(mixing, mixing.target)
    solution = (
        _round_payoffs(mixing, payoffs)
        if errors > _CLOSE
        else _solve_exactly(mixing, likely)
    )
    if solution is None:
        # Too close to call in floats: the game that is won a little beyond the target may be won here, by a hair.
        beyond = [
            cell + (cell - middle) * _BEYOND
            for cell, middle in zip(mixing.target, mixing.middle, strict=True)
        ]
        solution = _round_payoffs(mixing, _in_floats(mixing, beyond)[2])
    if solution is not None:
        return solution
    width = len(mixing.columns)
    if mixing.height * (width + mixing.height) > most_pivoted:
        raise too_large
    proved = feasible(mixing.equations(range(width)), mixing.right, first=likely)
    return (
        proved
        if isinstance(proved, Feasible)
        else Infeasible(proved.multipliers[: len(mixing.target)])
    )


def _in_floats(
    mixing: Mixing, target: Sequence[Fraction]
) -> tuple[float, list[int], list[float]]:
    """Return the smallest sum of the errors, the unknowns that are then positive, and the coordinates' multipliers."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, eye_array, hstack

    height, width, depth = mixing.height, len(mixing.columns), len(target)
    cells = [
        (row_index, j, float(value))
        for j, column in enumerate(mixing.columns)
        for row_index, value in column.items()
    ]
    rows, columns, values = zip(
        *cells,
        *(
            (depth + place_index, j, 1.0)
            for j, place_index in enumerate(mixing.places)
        ),
        strict=True,
    )
    table: Any = coo_array((values, (rows, columns)), shape=(height, width))
    loose = height if mixing.places_may_err else depth
    errors: Any = eye_array(height, loose)
    equations: Any = hstack([table, errors, -errors])
    right: Any = np.array([*target, *mixing.right[depth:]], dtype=float)
    costs: Any = np.concatenate([np.zeros(width), np.ones(2 * loose)])
    result = linprog(costs, A_eq=equations.tocsr(), b_eq=right, method="highs-ds")
    if result.x is None or result.fun is None:
        return 0.0, [], [0.0] * depth
    likely = np.flatnonzero(result.x[:width] > _CLOSE).tolist()
    return float(result.fun), likely, result.eqlin.marginals[:depth].tolist()


def _round_payoffs(mixing: Mixing, payoffs: Sequence[float]) -> Infeasible | None:
    """Round payoffs to rationals, coarsely first, until the game is won in exact numbers."""
    for scale in _DENOMINATORS:
        game = tuple(Fraction(pay).limit_denominator(scale) for pay in payoffs)
        if mixing.wins(game):
            return Infeasible(game)
    return None


def _solve_exactly(mixing: Mixing, likely: Sequence[int]) -> Feasible | None:
    """Solve for the unknowns that floats find positive; None where that is not exactly a solution."""
    if not likely or mixing.height * len(likely) > MAX_CELLS:
        return None
    values = solve(mixing.equations(likely), mixing.right)
    if values is None or min(values) < 0:
        return None
    point = [Fraction(0)] * len(mixing.columns)
    for index, value in zip(likely, values, strict=True):
        point[index] = value
    return Feasible(tuple(point))


def dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Return the sum of the products."""
    return exact.total(a * b for a, b in zip(left, right, strict=True))
