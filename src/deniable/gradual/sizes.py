"""Sizes of sets along a ladder: which can follow which, the best sequence, and the mixture that bridges two."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from deniable import exact
from deniable.design.subset import subset_information
from deniable.design.subset_order import subset_inclusion
from deniable.errors import InvalidRequest, NotOrdered

_MOST = 10_000
"""Categories up to which all sizes are gone through: some seconds for each stage."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes of sets, one for each stage, each design being a garbling of the next.

    Attributes:
        sizes: the size at each stage.
        risk: the sum over the stages of n times the largest total variance.
    """

    sizes: tuple[int, ...]
    risk: Fraction


def smallest_gamma(k: int, t1: int, gamma1: exact.Rational, t2: int) -> exact.Ratio:
    """Return the smallest γ at which the t₂-subset design can follow the t₁-subset design at γ₁; ∞ where it never can.

    Implements: F12: 1 + t₁(γ₁ − 1)/t₂ for t₁ ≥ t₂; for t₁ < t₂ from (k − t₁)(1 − 1/γ₁) = (k − t₂)(1 − 1/γ).

    Example:
        >>> smallest_gamma(6, 2, 3, 1), smallest_gamma(5, 1, 4, 3)
        (Fraction(5, 1), inf)
    """
    subset_inclusion(k, t1, gamma1, t2, gamma1)  # reads and checks
    gamma = exact.rational(gamma1)
    if t1 >= t2:
        return 1 + t1 * (gamma - 1) / t2
    gap = 1 - (k - t1) * (1 - 1 / gamma) / (k - t2)
    return exact.ratio(1, max(gap, Fraction(0)))


def bridge_weight(k: int, t1: int, gamma1: exact.Rational, t2: int, gamma2: exact.Rational) -> Fraction:
    """Return the smallest w at which w·P_t₁(γ₂) + (1 − w)·P_t₂(γ₂) can follow P_t₁(γ₁); 0 where P_t₂(γ₂) itself can.

    Implements: the bridge mixture of F12.

    Raises:
        NotOrdered: γ₂ < γ₁, so that no mixture can.

    Example:
        >>> bridge_weight(6, 2, 3, 1, 4)
        Fraction(2, 5)
    """
    held, cap = subset_inclusion(k, t1, gamma1, t2, gamma2)
    _, most = subset_inclusion(k, t1, gamma1, t1, gamma2)
    if held > most:
        raise NotOrdered(
            f"γ falls from {exact.shown(gamma1)} to {exact.shown(gamma2)}; expected a stage that reveals more.",
            "What is out cannot be taken back: choose a larger ε.",
        )
    return (held - cap) / (most - cap) if held > cap else Fraction(0)


def best_sizes(k: int, gammas: Sequence[exact.Rational]) -> Sizes:
    """Return the sizes of sets with the smallest sum of risks, of all sequences in which each can follow the last.

    Implements: the dynamic program of F12. By itself the best size at each γ (`best_t`) need not be reachable.

    Why it is quick: t₂ can follow t₁ iff t₁(γ₁ − 1) ≤ t₂(γ₂ − 1), which gives t₂ a lowest value that rises with t₁, and
    (k − t₁)(1 − 1/γ₁) ≤ (k − t₂)(1 − 1/γ₂), which gives it a highest value that rises too. So the sizes that t₂ can
    follow form a window that moves upwards with t₂.

    Raises:
        InvalidDesign: fewer than two categories.
        InvalidRequest: no γ at all, or γs that fall, or 1; or too many categories.

    Example:
        >>> best_sizes(10, [1.5, 2, 3, 4, 6, 10]).sizes
        (4, 3, 3, 2, 2, 2)
    """
    ratios = [exact.rational(gamma, name="gamma") for gamma in gammas]
    if not ratios or ratios[0] <= 1 or any(one > two for one, two in pairwise(ratios)):
        raise InvalidRequest("the γ = e^ε of the stages do not rise from above 1; expected them to.")
    if k > _MOST:
        raise InvalidRequest(
            f"there are {k:,} categories; expected at most {_MOST:,} to go through all sizes of sets.",
            "Choose the sizes yourself: subset(categories, t=…).",
        )
    risks = [[(k - 1) / subset_information(k, t, gamma) for t in range(1, k)] for gamma in ratios]
    best, choices = risks[0], list[list[int]]()
    for number, (one, two) in enumerate(pairwise(ratios), start=1):
        before = _window_minima(k, one, two, best)
        choices.append(before)
        best = [risk + best[at] for risk, at in zip(risks[number], before, strict=True)]
    at = min(range(k - 1), key=lambda t: best[t])
    total, sizes = best[at], [at + 1]
    for before in reversed(choices):
        at = before[at]
        sizes.append(at + 1)
    return Sizes(tuple(reversed(sizes)), total)


def _window_minima(k: int, one: Fraction, two: Fraction, risks: Sequence[Fraction]) -> list[int]:
    """Return for each t₂ the t₁ with the smallest risk that it can follow, both counted from t = 1 on.

    Both ends of the window rise with t₂, so that a queue of candidates with rising risks serves all of them in turn.
    """
    found: list[int] = []
    queue: deque[int] = deque()
    entered = 0
    for t in range(1, k):
        # t₁ is at most t₂(γ₂ − 1)/(γ₁ − 1), and at least k − (k − t₂)(1 − 1/γ₂)/(1 − 1/γ₁).
        last = min(k - 1, int(t * (two - 1) / (one - 1)))
        first = k - int((k - t) * (1 - 1 / two) / (1 - 1 / one))
        while entered < last:
            while queue and risks[queue[-1]] > risks[entered]:
                queue.pop()
            queue.append(entered)
            entered += 1
        while queue[0] < first - 1:
            queue.popleft()
        found.append(queue[0])
    return found
