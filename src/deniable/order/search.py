"""Relaxations that are not known in closed form: sets of several sizes, and tables, by linear programs made exact."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from deniable.channel import Channel, Product, Sets
from deniable.errors import InvalidRequest
from deniable.order import closed_garblings as garbling_closed
from deniable.order import sets
from deniable.order.blackwell import garbling
from deniable.order.closed_steps import as_sets, closed
from deniable.order.elimination import Feasible, feasible, solve
from deniable.order.garblings import Separation
from deniable.order.sets import Nested, Share
from deniable.order.steps import Factors, Recoded, Step, Written

_MOST_WORK = 300_000_000
"""Equations cubed times the bits of a weight, in the program for sets: some ten seconds."""

_CLOSE = 1e-9


def search(old: Channel, new: Channel) -> Step | Separation:
    """Return the relaxation from one channel to another, or a proof that there is none.

    Raises:
        InvalidRequest, InvalidDesign: no closed form, and too large for a linear program in exact numbers.
    """
    known: Step | Separation | None = closed(old, new)
    if known is None:
        known = garbling_closed.by_parity(old, new)
    if known is None and isinstance(old, Product) and isinstance(new, Product):
        known = _factors(old, new)
    return _sets_or_tables(old, new) if known is None else known


def _sets_or_tables(old: Channel, new: Channel) -> Step | Separation:
    one, two = as_sets(old), as_sets(new)
    if isinstance(one, Sets) and isinstance(two, Sets):
        shares = set_program(one, two)
        if isinstance(shares, Separation):
            return shares
        nested = Nested(one, two, shares)
        return nested if (one, two) == (old, new) else Recoded(old, new, nested)
    order = garbling(old, new)
    if isinstance(order, Separation):
        return order
    if order.channel is None:
        raise InvalidRequest("the designs are ordered, but too large for their step to be written out.")
    return Written(old, new, order.channel.dense())


def _factors(old: Product, new: Product) -> Step | Separation | None:
    if [each.answers for each in old.factors] != [each.answers for each in new.factors]:
        return None
    steps: list[Step] = []
    for one, two in zip(old.factors, new.factors, strict=True):
        step = search(one, two)
        if isinstance(step, Separation):
            return step
        steps.append(step)
    return Factors(old, new, tuple(steps))


def set_program(old: Sets, new: Sets) -> tuple[Share, ...] | Separation:
    """Return how a channel of sets is made from another, or a game that proves that it cannot be.

    Implements: the linear program of F12 for mixtures. Its unknowns are, for each pair of sizes, how often a finer set
    is degraded to a coarser one as near to it, and as far apart from it, as it can be.

    Raises:
        InvalidRequest: too many sizes.

    Example:
        >>> from deniable.channel import Subset
        >>> set_program(Subset(4, 2, 3, 5), Subset(4, 1, 3, 5))
        (Share(coarse=2, fine=1, near=Fraction(5, 7), apart=Fraction(2, 7), free=Fraction(0, 1)),)
    """
    coarse = [size for size in old.sizes if old.weight(size)]
    fine = [size for size in new.sizes if new.weight(size)]
    bits = max(each.weight(t).denominator.bit_length() for each, sizes in ((old, coarse), (new, fine)) for t in sizes)
    if (2 * len(coarse) + len(fine)) ** 3 * bits > _MOST_WORK:
        raise InvalidRequest(
            f"comparing sets of {len(coarse)} with sets of {len(fine)} sizes is too large to decide in exact numbers; "
            "expected about 30 of each, fewer where weights are long.",
            "Raise a design to one of its own family, whose order is known in closed form.",
        )
    rows, right = _equations(old, new, coarse, fine)
    point = _quickly(rows, right)
    if point is None:
        found = feasible(rows, right, first=_likely(rows, right))
        if not isinstance(found, Feasible):
            return _game(old, new, coarse, fine, found.multipliers)
        point = list(found.point)
    zero = Fraction(0)
    pairs = [(s, t) for s in coarse for t in fine]
    shares = [Share(s, t, point[2 * at], point[2 * at + 1], zero) for at, (s, t) in enumerate(pairs)]
    return tuple(share for share in shares if share.near or share.apart)


def _equations(
    old: Sets, new: Sets, coarse: Sequence[int], fine: Sequence[int]
) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Write the program: each finer size goes somewhere; each coarser one comes out often enough, and holds x."""
    pairs = [(s, t) for s in coarse for t in fine]
    rows = [[Fraction(t == own) for _, t in pairs for _ in (0, 1)] for own in fine]
    right = [Fraction(1)] * len(fine)
    for own in coarse:
        rows.append([new.weight(t) * (s == own) for s, t in pairs for _ in (0, 1)])
        right.append(old.weight(own))
    for own in coarse:
        rows.append(
            [new.weight(t) * held * (s == own) for s, t in pairs for held in _held(new, s, t)],
        )
        right.append(old.weight(own) * old.inclusion(own))
    return rows, right


def _held(new: Sets, s: int, t: int) -> tuple[Fraction, Fraction]:
    """Return how often a coarser set of s, near to or apart from a finer one of t, holds the answer."""
    own, k = new.inclusion(t), new.size
    near, apart = (
        sum(
            (chance * sets.chance_held(k, s, t, shared, inside=inside) for chance, inside in _sides(own)),
            Fraction(0),
        )
        for shared in (sets.most(s, t), sets.least(s, t, k))
    )
    return near, apart


def _sides(own: Fraction) -> list[tuple[Fraction, bool]]:
    return [(chance, inside) for chance, inside in ((own, True), (1 - own, False)) if chance]


def _likely(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[int]:
    """Return the unknowns that floats find positive; they only say where to look."""
    import numpy as np
    from scipy.optimize import linprog

    table: Any = np.array(rows, dtype=float)
    values: Any = np.array(right, dtype=float)
    height, width = table.shape
    slack: Any = np.hstack([table, np.eye(height), -np.eye(height)])
    costs: Any = np.concatenate([np.zeros(width), np.ones(2 * height)])
    result = linprog(costs, A_eq=slack, b_eq=values, method="highs-ds")
    return [] if result.x is None else np.flatnonzero(result.x[:width] > _CLOSE).tolist()


def _quickly(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """Solve for the unknowns that floats find positive; None where that is not exactly a solution."""
    likely = _likely(rows, right)
    part = solve([[row[j] for j in likely] for row in rows], right) if likely else None
    if part is None or min(part) < 0:
        return None
    point = [Fraction(0)] * len(rows[0])
    for at, value in zip(likely, part, strict=True):
        point[at] = value
    return point


def _game(
    old: Sets, new: Sets, coarse: Sequence[int], fine: Sequence[int], multipliers: Sequence[Fraction]
) -> Separation:
    """Turn the multipliers into payoffs: for naming a set of each size, and more where it holds the answer."""
    count = len(coarse)
    largest = max(abs(each) for each in multipliers[len(fine) :])  # pays at most 1: easier to read
    flat, extra = (
        [each / largest for each in part]
        for part in (multipliers[len(fine) : len(fine) + count], multipliers[len(fine) + count :])
    )
    pays = dict(zip(coarse, zip(flat, extra, strict=True), strict=True))
    earned = sum((old.weight(s) * (a + b * old.inclusion(s)) for s, (a, b) in pays.items()), Fraction(0))
    best = sum(
        (new.weight(t) * max(a + b * held for s, (a, b) in pays.items() for held in _held(new, s, t)) for t in fine),
        Fraction(0),
    )
    assert earned > best, "the multipliers prove that there is no relaxation"
    told = "; ".join(
        f"a set of {s} pays {float(a):.4g} and {float(b):+.4g} if it holds the answer" for s, (a, b) in pays.items()
    )
    return Separation({}, old.size * earned, old.size * best, f"name a set: {told}")
