"""Blackwell's order: one design is coarser than another if its responses can be made from the other's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.channel import Channel, Dense, Diagonal, Hadamard, Hashing, Product, Subset
from deniable.channel.product import join, split
from deniable.designs.design import Design
from deniable.errors import Incompatible, InvalidRequest
from deniable.order import closed_garblings as closed
from deniable.order.admissibility import channel_of
from deniable.order.elimination import Feasible, Row, Table, feasible, integers, reduce, solve
from deniable.order.garblings import Garbling, Order, Separation, dot, separation

__all__ = ["CLOSED", "Garbling", "Order", "Separation", "compare", "garbling", "separation"]


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


@dataclass(frozen=True, slots=True)
class _Merged:
    """Rows without zero or proportional ones, and which response went where."""

    rows: Table
    groups: tuple[int | None, ...]  # for each response its merged row; None for one that never occurs
    shares: tuple[Fraction, ...]  # for each response its part of the merged row

    @classmethod
    def of(cls, channel: Dense) -> _Merged:
        numbers: dict[tuple[int, ...], int] = {}
        groups = [
            numbers.setdefault(tuple(w // math.gcd(*row) for w in row), len(numbers)) if any(row) else None
            for row in channel.weights
        ]
        sums = [0] * len(numbers)
        for row, group in zip(channel.weights, groups, strict=True):
            if group is not None:
                sums[group] += sum(row)
        rows = tuple(
            tuple(Fraction(w * total, sum(shape) * channel.total) for w in shape)
            for shape, total in zip(numbers, sums, strict=True)
        )
        shares = tuple(
            Fraction(sum(row), sums[group]) if group is not None else Fraction(0)
            for row, group in zip(channel.weights, groups, strict=True)
        )
        return cls(rows, tuple(groups), shares)


def tables(one: Dense, two: Dense) -> Garbling | Separation:
    """Compare two channels that are written out."""
    ours, theirs = _Merged.of(one), _Merged.of(two)
    found = _eliminated(ours.rows, theirs.rows)
    if found is None:
        found = program(ours.rows, theirs.rows)
    if isinstance(found, dict):
        # A response that never occurs must not pay more than the others where all of them pay something.
        spare = 0 if len(found) == len(ours.rows) else None
        named = [spare if group is None else group for group in ours.groups]
        lifted = {i: found[group] for i, group in enumerate(named) if group in found}
        proof = separation(lifted, one, two)
        assert proof is not None, "a separation of merged rows separates the rows themselves"
        return proof
    cells = [
        [Fraction(0) if i is None else found[i][u or 0] * share for u in theirs.groups]
        for i, share in zip(ours.groups, ours.shares, strict=True)
    ]
    channel = Dense.of(cells)
    assert channel.after(two) == one, "the garbling gives back the coarse channel exactly"
    return Garbling(channel)


def _eliminated(ours: Table, theirs: Table) -> Table | dict[int, Row] | None:
    """Solve C·theirs = ours where the rows of `theirs` are independent, so that C is the only one; else None.

    With T·theirsᵀ reduced, a row of T that meets `theirs` nowhere and some row of `ours` is a game that only ours can
    play; and the row of T that picks one response u pays where C would have to send u with negative probability.
    """
    answers, width = len(ours[0]), len(theirs)
    if width > answers:
        return None
    columns = [
        (*(row[j] for row in theirs), *(row[j] for row in ours), *(Fraction(j == at) for at in range(answers)))
        for j in range(answers)
    ]
    reduced = reduce(integers(columns), width)
    if len(reduced.columns) < width:
        return None
    ends = slice(width, width + len(ours))
    for row in reduced.rows[width:]:
        for i, value in enumerate(row[ends]):
            if value:
                return {i: tuple(Fraction(cell) * (1 if value > 0 else -1) for cell in row[width + len(ours) :])}
    for u, row in enumerate(reduced.rows[:width]):
        for i, value in enumerate(row[ends]):
            if Fraction(value, reduced.pivot) < 0:
                return {i: tuple(Fraction(-cell, reduced.pivot) for cell in row[width + len(ours) :])}
        assert row[u] == reduced.pivot
    return tuple(
        tuple(Fraction(reduced.rows[u][width + i], reduced.pivot) for u in range(width)) for i in range(len(ours))
    )


ClosedForm = Callable[[Channel, Channel], "Garbling | Separation | None"]
"""From a coarse and a fine channel to the answer, or None where it does not apply."""


def garbling(coarse: Design | Channel, fine: Design | Channel) -> Garbling | Separation:
    """Return C with coarse = C·fine, or a proof that there is none.

    Implements: the comparison of experiments [Bla51]: in closed form for pairs of one family, by exact elimination
    where the rows of the fine channel are independent, else by a linear program whose result, either way, is turned
    into rationals and checked.

    Raises:
        Incompatible: the two are about different answers.
        InvalidDesign, InvalidRequest: no closed form, and tables too large for a linear program in exact numbers.

    Example:
        >>> from deniable.designs import k_ary
        >>> step = garbling(k_ary(4, p="1/2"), k_ary(4, p="3/4"))
        >>> step.channel
        Diagonal(size=4, same=5, other=1)
        >>> bool(garbling(k_ary(4, p="3/4"), k_ary(4, p="1/2")))
        False
    """
    one, two = channel_of(coarse), channel_of(fine)
    known = [each.categories for each in (coarse, fine) if isinstance(each, Design)]
    if one.answers != two.answers or (len(known) == 2 and not _alike(known[0], known[1])):
        raise Incompatible(
            f"the designs are about {one.answers:,} and {two.answers:,} answers, or call them differently; "
            "expected the same answers in the same order."
        )
    found = closed.by_parity(one, two)
    if found is not None:
        return found
    form = CLOSED.get((type(one), type(two)))
    known_order = form(one, two) if form else None
    return known_order if known_order is not None else tables(one.dense(), two.dense())


def compare(one: Design | Channel, two: Design | Channel) -> Order:
    """Say which of two designs tells more, with the garblings, or the proofs that there are none.

    Raises:
        Incompatible: the two are about different answers.
        InvalidDesign, InvalidRequest: no closed form, and tables too large for a linear program in exact numbers.

    Example:
        >>> from deniable.designs import k_ary
        >>> compare(k_ary(4, epsilon=2), k_ary(4, epsilon=1)).relation
        'finer'
    """
    down, up = garbling(two, one), garbling(one, two)
    names = {(True, True): "equal", (True, False): "finer", (False, True): "coarser", (False, False): "incomparable"}
    return Order(names[bool(down), bool(up)], down, up)


def _products(one: Channel, two: Channel) -> Garbling | Separation | None:
    """Compare factor by factor.

    Why: factors that are garbled one by one garble the product. Conversely, a garbling of the product garbles a
    factor, when the other factors are drawn for some fixed answers and what comes out of them is forgotten.
    """
    assert isinstance(one, Product)
    assert isinstance(two, Product)
    if [factor.answers for factor in one.factors] != [factor.answers for factor in two.factors]:
        return None
    steps: list[Channel | None] = []
    for f, (ours, theirs) in enumerate(zip(one.factors, two.factors, strict=True)):
        step = garbling(ours, theirs)
        if isinstance(step, Separation):
            return _lift(step, one, f) if step.payoffs else step
        steps.append(step.channel)
    if all(steps):
        return Garbling(Product(tuple(step for step in steps if step is not None)))
    return Garbling(None, "make each factor's response from the other's")


def _lift(step: Separation, one: Product, factor: int) -> Separation:
    """Play a factor's game in the product: it pays where all other answers are 0, whatever else is named."""
    answers = [each.answers for each in one.factors]
    responses = [each.responses for each in one.factors]
    lifted: dict[int, Row] = {}
    for i, pay in step.payoffs.items():
        row = [Fraction(0)] * math.prod(answers)
        for j, value in enumerate(pay):
            row[join([j if f == factor else 0 for f in range(len(answers))], answers)] = value
        shared = tuple(row)
        lifted.update({r: shared for r in range(one.responses) if split(r, responses)[factor] == i})
    return Separation(lifted, step.coarse, step.fine, step.game)


CLOSED: dict[tuple[type[Channel], type[Channel]], ClosedForm] = {
    (Diagonal, Diagonal): closed.diagonals,
    (Hadamard, Hadamard): closed.hadamards,
    (Hashing, Hashing): closed.hashings,
    (Subset, Subset): closed.subsets,
    (Product, Product): _products,
}
"""Pairs of kinds whose order is known in closed form; a new kind enters its own."""


def _alike(one: Sequence[str], two: Sequence[str]) -> bool:
    return one == two or (len(one) == len(two) and all(a == b for a, b in zip(one, two, strict=True)))
