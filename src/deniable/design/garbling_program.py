"""The garbling of two tables by a linear program: solved in floats, ended in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from deniable.design.elimination import Feasible, Row, Table, feasible, solve
from deniable.design.order import dot
from deniable.errors import InvalidRequest

MOST_UNKNOWNS = 200_000
"""Unknowns of the program in floats."""
MOST_CELLS = 150_000
"""Cells of the table that is solved in exact numbers for the unknowns that floats found positive."""
MOST_PIVOTED = 20_000
"""Cells of the table of the exact simplex method; beyond this it takes minutes."""

_CLOSE = 1e-9
_SHARPER = Fraction(1, 1000)
_DENOMINATORS = (10, 1000, 10**6, 10**12)  # simple payoffs are tried first


def program(ours: Table, theirs: Table) -> Table | dict[int, Row]:
    """Return C with ours = C·theirs, or payoffs that separate them, both exact.

    The program: C ≥ 0, columns of C that sum to 1, and C·theirs = ours up to errors, whose sum is as small as it can
    be. Its multipliers are the payoffs. Floats only say where to look: what they point to is solved and checked in
    rationals, and where it does not hold the exact simplex method decides.

    Raises:
        InvalidRequest: too large.
    """
    unknowns = len(ours) * len(theirs)
    if unknowns > MOST_UNKNOWNS:
        raise _too_large(ours, theirs)
    errors, likely, payoffs = _in_floats(ours, theirs)
    if errors > _CLOSE and (game := _winning(payoffs, ours, theirs)) is not None:
        return game
    rows, right = _equations(ours, theirs)
    if errors <= _CLOSE and len(rows) * len(likely) <= MOST_CELLS:
        part = solve([[row[j] for j in likely] for row in rows], right)
        if part is not None and min(part) >= 0:
            return _garbling(dict(zip(likely, part, strict=True)), len(ours), len(theirs))
    # Too close to call in floats: the game that is won by a sharper design may be won by this one, by a hair.
    _, _, payoffs = _in_floats(_sharper(ours), theirs)
    if (game := _winning(payoffs, ours, theirs)) is not None:
        return game
    if len(rows) * (unknowns + len(rows)) > MOST_PIVOTED:
        raise _too_large(ours, theirs)
    return _exactly(ours, theirs, rows, right, likely)


def _in_floats(ours: Table, theirs: Table) -> tuple[float, list[int], list[list[float]]]:
    """Return the sum of the errors, the unknowns that are positive, and the multipliers, a row for each of ours."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    one, two = np.array(ours, dtype=float), np.array(theirs, dtype=float)
    (m, k), n = one.shape, len(two)
    meets = hstack([kron(eye_array(m), csr_array(two.T)), eye_array(m * k), -eye_array(m * k)])
    sums = hstack([kron(csr_array(np.ones((1, m))), eye_array(n)), csr_array((n, 2 * m * k))])
    stacked: Any = vstack([meets, sums])
    right: Any = np.concatenate([one.ravel(), np.ones(n)])
    costs: Any = np.concatenate([np.zeros(m * n), np.ones(2 * m * k)])
    result = linprog(costs, A_eq=stacked.tocsr(), b_eq=right, method="highs-ds")
    if result.x is None or result.fun is None:
        return 0.0, [], [[0.0] * k for _ in range(m)]
    likely = np.flatnonzero(result.x[: m * n] > _CLOSE).tolist()
    return float(result.fun), likely, result.eqlin.marginals[: m * k].reshape(m, k).tolist()


def _winning(payoffs: Sequence[Sequence[float]], ours: Table, theirs: Table) -> dict[int, Row] | None:
    """Round payoffs to rationals, coarsely first, until the game is won in exact numbers."""
    for scale in _DENOMINATORS:
        game = [tuple(Fraction(pay).limit_denominator(scale) for pay in row) for row in payoffs]
        earned = sum((dot(pay, row) for pay, row in zip(game, ours, strict=True)), Fraction(0))
        if earned > sum((max(dot(pay, row) for pay in game) for row in theirs), Fraction(0)):
            return dict(enumerate(game))
    return None


def _sharper(ours: Table) -> Table:
    """Return the rows a little further away from their means; they still sum to 1."""
    means = [sum(row, Fraction(0)) / len(row) for row in ours]
    return tuple(tuple(cell + (cell - mean) * _SHARPER for cell in row) for row, mean in zip(ours, means, strict=True))


def _equations(ours: Table, theirs: Table) -> tuple[list[Row], list[Fraction]]:
    """Write the program out: C[i][u] is unknown i·n + u; ours first, then the columns that sum to 1."""
    m, k, n = len(ours), len(ours[0]), len(theirs)
    zero = (Fraction(0),) * n
    rows: list[Row] = []
    for i in range(m):
        for j in range(k):
            own = tuple(row[j] for row in theirs)
            rows.append(zero * i + own + zero * (m - 1 - i))
    for u in range(n):
        rows.append(tuple(Fraction(v == u) for v in range(n)) * m)
    return rows, [cell for row in ours for cell in row] + [Fraction(1)] * n


def _exactly(
    ours: Table, theirs: Table, rows: list[Row], right: list[Fraction], likely: list[int]
) -> Table | dict[int, Row]:
    result = feasible(rows, right, first=likely)
    if isinstance(result, Feasible):
        return _garbling(dict(enumerate(result.point)), len(ours), len(theirs))
    k = len(ours[0])
    return {i: result.multipliers[i * k : (i + 1) * k] for i in range(len(ours))}


def _garbling(cells: dict[int, Fraction], m: int, n: int) -> Table:
    return tuple(tuple(cells.get(i * n + u, Fraction(0)) for u in range(n)) for i in range(m))


def _too_large(ours: Table, theirs: Table) -> InvalidRequest:
    return InvalidRequest(
        f"comparing {len(ours):,} with {len(theirs):,} responses over {len(ours[0]):,} answers is too large to decide "
        "in exact numbers; expected a few dozen of each.",
        "Compare designs of one family, whose order is known in closed form, or ones with fewer responses.",
    )
