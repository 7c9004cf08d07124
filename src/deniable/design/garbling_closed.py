"""Pairs of channels whose order is known in closed form, for any number of categories."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

from deniable import exact
from deniable.channel import Channel, Dense, Diagonal, Hadamard, Hashing, Subset
from deniable.design.elimination import Row
from deniable.design.order import Garbling, Separation
from deniable.design.subset_order import SubsetGarbling, subset_garbling, subset_inclusion

_MOST_SUBSETS = 8  # categories up to which a garbling of subsets, 2^k × 2^k, is written out
_MOST_CELLS = 10_000_000


def by_parity(one: Channel, two: Channel) -> Separation | None:
    """Separate a channel of larger parity: garbling never raises it.

    The game: name the response that attains the larger parity γ₁; it pays 1 at the likely answer and −γ₂ at the
    unlikely one. No response of the fine channel makes that worth while.
    """
    limit = two.parity
    if not isinstance(limit, Fraction) or one.parity <= limit:
        return None
    response, likely, unlikely = one.witness
    earned = one.probability(response, given=likely) - limit * one.probability(response, given=unlikely)
    pays = [Fraction(0)] * one.answers
    pays[likely], pays[unlikely] = Fraction(1), -limit
    return Separation({response: tuple(pays)}, earned, Fraction(0), "bet on the answer that a response points to most")


def diagonals(one: Channel, two: Channel) -> Garbling | Separation | None:
    """Compare two diagonal channels: C = β·I + (1 − β)/k·J with β the quotient of their gaps (F12)."""
    assert isinstance(one, Diagonal)
    assert isinstance(two, Diagonal)
    size = one.size
    if two.same == two.other:
        return None
    gap, r = Fraction(two.same - two.other, two.total), Fraction(two.other, two.total)
    beta = Fraction(one.same - one.other, one.total) / gap
    other = (1 - beta) / size
    same = beta + other
    if other >= 0 and same >= 0:
        return _even(size, beta)
    # The entry of C that is negative, and the payoffs w with fine·w = −1 at that response and 0 at all others.
    at = 0 if same < 0 else 1
    pays = [r / gap] * size
    pays[at] -= 1 / gap
    return Separation({0: tuple(pays)}, -min(same, other), Fraction(0))


def hadamards(one: Channel, two: Channel) -> Garbling | Separation | None:
    """Compare two Hadamard channels: the one of smaller parity is the other, kept or drawn evenly."""
    assert isinstance(one, Hadamard)
    assert isinstance(two, Hadamard)
    return _even(one.responses, _steps(one.large - one.small, one.total, two.large - two.small, two.total))


def hashings(one: Channel, two: Channel) -> Garbling | Separation | None:
    """Compare two hashing channels of as many values: the one of smaller parity is the other, kept or drawn evenly."""
    assert isinstance(one, Hashing)
    assert isinstance(two, Hashing)
    if one.values != two.values:
        return None
    return _even(one.responses, _steps(one.same - one.other, one.total, two.same - two.other, two.total))


def subsets(one: Channel, two: Channel) -> Garbling | Separation | None:
    """Compare two t-subset channels of any t (F12)."""
    assert isinstance(one, Subset)
    assert isinstance(two, Subset)
    odds = [channel.odds(channel.ones) for channel in (one, two)]
    if not all(isinstance(each, Fraction) and each > 1 for each in odds):
        return None
    k, first, second = one.size, Fraction(odds[0]), Fraction(odds[1])
    step = subset_garbling(k, one.ones, first, two.ones, second)
    if step is None:
        return _outbet(k, one.ones, subset_inclusion(k, one.ones, first, two.ones, second))
    kind = "superset" if step.superset else "subset"
    recipe = f"with probability {exact.shown(step.beta)} draw a {kind} of the response, else any set of {one.ones}"
    return Garbling(_written(k, one.ones, two.ones, step) if k <= _MOST_SUBSETS else None, recipe)


def _outbet(k: int, t: int, chances: tuple[Fraction, Fraction]) -> Separation:
    """Separate by the game: name a set that holds the answer."""
    held, cap = chances
    pays: dict[int, Row] = {}
    if k <= _MOST_SUBSETS:
        pays = {_number(members): tuple(Fraction(j in members) for j in range(k)) for members in _sets(k, t)}
    return Separation(pays, k * held, k * cap, f"name a set of {t} categories that holds the answer")


def _written(k: int, t1: int, t2: int, step: SubsetGarbling) -> Dense:
    """Write C out: β on the sets that hold (or lie in) the fine set, evenly, and 1 − β on all; nothing elsewhere."""
    coarse = {_number(members): members for members in _sets(k, t1)}
    fine = {_number(members): members for members in _sets(k, t2)}
    near = math.comb(k - t2, t1 - t2) if step.superset else math.comb(t2, t1)
    even = Fraction(1, len(coarse))

    def cell(d: int, u: int) -> Fraction:
        if d not in coarse:
            return Fraction(0)
        if u not in fine:
            return even  # never sent
        fits = fine[u] <= coarse[d] if step.superset else coarse[d] <= fine[u]
        return step.beta * Fraction(fits, near) + (1 - step.beta) * even

    return Dense.of([[cell(d, u) for u in range(1 << k)] for d in range(1 << k)])


def _even(size: int, keep: Fraction) -> Garbling | None:
    """Return C = keep·I + (1 − keep)/size·J."""
    other = (1 - keep) / size
    if other < 0:
        return None
    if other == 0:
        identity = [[Fraction(i == j) for j in range(size)] for i in range(size)] if size**2 <= _MOST_CELLS else None
        return Garbling(Dense.of(identity) if identity else None, "send the response on as it is")
    same = keep + other
    scale = math.lcm(same.denominator, other.denominator)
    recipe = f"keep the response with probability {exact.shown(keep)}, else draw any response evenly"
    return Garbling(Diagonal(size, int(same * scale), int(other * scale)), recipe)


def _steps(rise: int, total: int, other_rise: int, other_total: int) -> Fraction:
    return Fraction(rise, total) / Fraction(other_rise, other_total)


def _sets(k: int, t: int) -> list[frozenset[int]]:
    return [frozenset(members) for members in combinations(range(k), t)]


def _number(members: frozenset[int]) -> int:
    return sum(1 << j for j in members)
