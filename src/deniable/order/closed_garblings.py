"""The order of t-subset designs, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from deniable import exact
from deniable.channel import Channel, Dense, Diagonal, Hadamard, Hashing, Subset
from deniable.errors import InvalidDesign, InvalidNumber
from deniable.order.elimination import Row
from deniable.order.garblings import Garbling, Separation


@dataclass(frozen=True, slots=True)
class SubsetGarbling:
    """How a t₁-subset response is made from a t₂-subset response.

    With probability `beta` it is drawn from the fine response, evenly among the t₁-subsets that hold it (t₁ ≥ t₂) or
    that lie in it (t₁ ≤ t₂); otherwise evenly among all t₁-subsets.
    """

    beta: Fraction
    superset: bool


def subsets_ordered(k: int, t1: int, gamma1: exact.Rational, t2: int, gamma2: exact.Rational) -> bool:
    """Say whether the t₁-subset design at γ₁ can be made from the t₂-subset design at γ₂, both for k categories.

    Implements: F12: it can if and only if t₁(γ₁ − 1) ≤ t₂(γ₂ − 1) and (k − t₁)(1 − 1/γ₁) ≤ (k − t₂)(1 − 1/γ₂). Both
    together say that `subset_inclusion` is no larger than its cap.

    Raises:
        InvalidDesign: t outside 1 … k − 1.
        InvalidNumber: γ not above 1.

    Example:
        >>> subsets_ordered(6, 2, 3, 1, 4), subsets_ordered(6, 2, 3, 1, 5)
        (False, True)
    """
    one, two = _read(k, t1, gamma1), _read(k, t2, gamma2)
    held = t1 * (one - 1) <= t2 * (two - 1)
    return held and (k - t1) * (1 - 1 / one) <= (k - t2) * (1 - 1 / two)


def subset_inclusion(
    k: int, t1: int, gamma1: exact.Rational, t2: int, gamma2: exact.Rational
) -> tuple[Fraction, Fraction]:
    """Return how often a coarse set holds the answer, and how often a set of t₁ made from a fine set can at most.

    Why: the best that can be done with a fine set is to hold it, or to lie in it. If the coarse design does better,
    it cannot be made from the fine one: this pair is the proof. F12 says that otherwise it can.

    Example:
        >>> subset_inclusion(6, 2, 3, 1, 4)
        (Fraction(3, 5), Fraction(5, 9))
    """
    one, two = _read(k, t1, gamma1), _read(k, t2, gamma2)
    return t1 * one / (t1 * one + k - t1), (min(t1, t2) * (two - 1) + t1) / (t2 * two + k - t2)


def subset_garbling(k: int, t1: int, gamma1: exact.Rational, t2: int, gamma2: exact.Rational) -> SubsetGarbling | None:
    """Return how the t₁-subset design at γ₁ is made from the t₂-subset design at γ₂; None where it cannot be.

    Implements: F12, with β = v(k + u)/(u(k + v)), u = t₂(γ₂ − 1) and v = t₁(γ₁ − 1) for supersets, and
    β = (k − t₁)(γ₁ − 1)D₂ / ((k − t₂)(γ₂ − 1)D₁), Dᵢ = tᵢγᵢ + k − tᵢ, for subsets.

    Example:
        >>> subset_garbling(6, 2, 3, 1, 5)
        SubsetGarbling(beta=Fraction(1, 1), superset=True)
    """
    if not subsets_ordered(k, t1, gamma1, t2, gamma2):
        return None
    one, two = _read(k, t1, gamma1), _read(k, t2, gamma2)
    if t1 >= t2:
        u, v = t2 * (two - 1), t1 * (one - 1)
        return SubsetGarbling(v * (k + u) / (u * (k + v)), superset=True)
    d1, d2 = t1 * one + k - t1, t2 * two + k - t2
    return SubsetGarbling((k - t1) * (one - 1) * d2 / ((k - t2) * (two - 1) * d1), superset=False)


def _read(k: int, t: int, gamma: exact.Rational) -> Fraction:
    if not 1 <= t <= k - 1:
        raise InvalidDesign(f"the subsets have {t} of {k} categories; expected 1 to {k - 1}.")
    value = exact.rational(gamma, name="gamma")
    if value <= 1:
        raise InvalidNumber(f"γ = e^ε is {exact.shown(value)}; expected more than 1.")
    return value


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
