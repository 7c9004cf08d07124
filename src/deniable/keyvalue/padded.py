"""The best PCKV designs at a given ε, and their integer weights, rounded towards privacy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeVar

from deniable import chance
from deniable.channel import Dense
from deniable.errors import InvalidDesign
from deniable.keyvalue.direct import Direct
from deniable.keyvalue.scheme import Scheme
from deniable.keyvalue.split import Club, Goal, lowest
from deniable.keyvalue.unary import Levels, Unary, extremes, marks

_Kind = TypeVar("_Kind", bound=Scheme)
_HALVINGS = 60
_FEW = 24  # while searching


def best_unary(items: int, padding: int, gamma: Fraction, goal: Goal) -> Unary:
    """Return the PCKV-UE design with a parity of at most γ and the smallest risk.

    Why two numbers are searched: for every share of edges kept and every share of signs kept, more of what is none
    stays none the larger γ is, up to where the parity meets γ.
    """
    x = float(gamma)

    def club(some: float, sign: float, halvings: int = _FEW) -> Club:
        return Club(_none(some, sign, items, padding, x, halvings), some, sign)

    def risk(some: float, sign: float) -> float:
        return goal.risk(club(some, sign), places=padding)

    def kept(sign: float) -> float:
        return lowest(lambda some: risk(some, sign), 0.02, 0.995, rough=True)

    sign = goal.told(Club(0, 0, lowest(lambda sign: risk(kept(sign), sign), 0.5, x / (1 + x), rough=True))).sign
    best = club(kept(sign), sign, _HALVINGS)
    return _private(lambda share: Unary(items, padding, _channel(best, share)), gamma)


def _none(some: float, sign: float, items: int, padding: int, x: float, halvings: int) -> float:
    """Return how often none may stay none."""
    if items >= 2 * padding:
        odds = x * (1 - some) / (2 * some * sign)
        return odds / (1 + odds)
    low, high = 0.0, 1.0
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (middle, high) if _parity(Club(middle, some, sign), items, padding) <= x else (low, middle)
    return low


def _parity(club: Club, items: int, padding: int) -> float:
    none, stray = club.none, (1 - club.none) / 2
    lost, kept, turned = 1 - club.some, club.some * club.sign, club.some * (1 - club.sign)
    levels = Levels(none * stray, lost * stray, kept * none, turned * none)
    pairs = (extremes(levels, items, padding, marked) for marked in marks(items, padding))
    return max(most.total / max(least.total, 1e-300) for most, least in pairs)


def best_direct(items: int, padding: int, gamma: Fraction, goal: Goal) -> Direct:
    """Return the PCKV-GRR design with a parity of at most γ and the smallest risk.

    Why: with y = ℓ(γ − 1) + 1, κ the ratio of being kept to being sent in place of another item, and p the share of
    signs kept, the rows of an item allow κ = y/(2p) and p ≤ y/(y + 1). The row of nothing allows an empty place to send
    nothing γ times as often as an item does, which leaves b = (1 − 1/γ)/(κ + m − 1 − m/γ) for every other item; all of
    these are used up. The paper lets ℓ dummies stand for nothing instead, which wastes part of that row.
    """
    y = padding * float(gamma - 1) + 1
    part = float((gamma - 1) / gamma)  # 1 − 1/γ, which would lose its digits in floats where γ is near 1

    def parts(sign: float) -> tuple[float, float]:
        kappa = y / (2 * sign)
        return kappa, part / (kappa - 1 + items * part)

    def club(sign: float) -> Club:
        kappa, other = parts(sign)
        return Club(1 - other, kappa * other, sign)

    best = goal.told(club(lowest(lambda sign: goal.risk(club(sign), places=padding), 0.5, y / (1 + y))))
    kappa, other = parts(best.sign)
    return _private(lambda share: _direct(items, padding, kappa * other, best.sign, other, share), gamma)


def _direct(items: int, padding: int, kept: float, sign: float, other: float, share: Fraction) -> Direct:
    each = share / (2 * items + 1)
    same = (1 - share) * Fraction(kept) * Fraction(sign) + each
    turned = (1 - share) * Fraction(kept) * (1 - Fraction(sign)) + each
    stray = (1 - share) * Fraction(other) / 2 + each
    kept_same, kept_turned, each_other = (int(chance.TOTAL * value) for value in (same, turned, stray))
    if each_other < 1 or kept_same + kept_turned + 2 * (items - 1) * each_other > chance.TOTAL:
        raise InvalidDesign(f"{items:,} items are too many for weights that sum to 2^64 at this ε; expected fewer.")
    return Direct(items, padding, kept_same, kept_turned, each_other, chance.TOTAL)


def _channel(club: Club, share: Fraction) -> Dense:
    """Return the channel of one item in integers, with a share of it sending every symbol equally often."""
    third = share / 3
    stray, kept, turned = (
        int(chance.TOTAL * ((1 - share) * Fraction(value) + third))
        for value in ((1 - club.none) / 2, club.some * club.sign, club.some * (1 - club.sign))
    )
    none, lost = chance.TOTAL - 2 * stray, chance.TOTAL - kept - turned
    return Dense(((none, lost, lost), (stray, kept, turned), (stray, turned, kept)), chance.TOTAL)


def _private(build: Callable[[Fraction], _Kind], gamma: Fraction) -> _Kind:
    """Return the design nearest to its target whose parity, computed exactly, is at most γ.

    Why it ends: a share of a constant channel lowers every ratio above 1, and rounding is finer than the first share.
    """
    for share in _shares():
        scheme = build(share)
        if 1 < scheme.parity <= gamma:  # at 1 nothing would be told at all
            return scheme
    raise InvalidDesign(
        "this ε is too fine for weights that sum to 2^64; expected a larger one.", "Or use fewer items."
    )


def _shares() -> Iterator[Fraction]:
    yield Fraction(0)
    for power in range(60, 12, -1):
        yield Fraction(1, 1 << power)
