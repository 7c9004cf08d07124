"""Sizes of sets along a ladder: which can follow which, the best sequence, and the mixture that bridges two."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from deniable import chance, exact
from deniable.channel import Channel, Mixture, Sets, Subset
from deniable.channel.mixture import Part
from deniable.designs import Bitstrings, Design
from deniable.designs.sets_of_answers import inside, subset_information
from deniable.errors import InvalidRequest, NotOrdered
from deniable.order.closed_garblings import subset_inclusion
from deniable.order.closed_steps import as_sets
from deniable.order.sets import least, most

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


def bridge(old: Design, new: Design) -> Design:
    """Return the mixture nearest to the second design that can follow the first.

    Both send sets of one size, or single categories. The mixture sends sets of the first one's size, at the second
    one's ε, as seldom as it can, and else sets of the second one's size.

    Implements: the bridge mixture of F12 (`bridge_weight`), in weights of 2^64 rounded towards privacy.

    Raises:
        InvalidRequest: a design that does not send sets of one size, or holds the answer less often than chance.
        NotOrdered: the second has a smaller ε than the first, so that nothing at its ε can follow.

    Example:
        >>> from deniable.designs import subset
        >>> between = bridge(subset(6, epsilon=1, t=2), subset(6, epsilon="1.3", t=1))
        >>> [round(float(between.channel.weight(t)), 4) for t in (1, 2)]
        [0.6546, 0.3454]
    """
    one, two = _read(old), _read(new)
    mixture = bridged(one, two)
    if mixture is None:
        raise NotOrdered(
            f"ε falls from {old.epsilon:.6g} to {new.epsilon:.6g}; expected a second design that reveals more.",
            "What is out cannot be taken back: choose a larger ε.",
        )
    return Design("mixture", new.categories, Bitstrings(mixture.size), mixture)


def bridged(old: Subset, new: Subset) -> Mixture | None:
    """Return the bridge mixture of two channels; None where the parity falls."""
    k, s, t = old.size, old.ones, new.ones
    odds = new.odds(t)
    if s == t or not isinstance(odds, Fraction):
        return None
    own, other = inside(k, s, odds), new.inside * chance.TOTAL // new.total
    wanted, most_held = old.inclusion(s), Fraction(own, chance.TOTAL)
    held = near_inclusion(Subset(k, t, other, chance.TOTAL), s)
    if wanted > most_held:
        return None
    weight = math.ceil((wanted - held) / (most_held - held) * chance.TOTAL) if held < wanted else 0
    parts = (Part(s, weight, own), Part(t, chance.TOTAL - weight, other))
    return Mixture(k, tuple(sorted(part for part in parts if part.weight)), chance.TOTAL)


def near_inclusion(new: Subset, s: int) -> Fraction:
    """Return how often a set of s that is as near to the finer set as it can be holds the answer."""
    k, t, own = new.size, new.ones, new.inclusion(new.ones)
    shared = most(s, t)
    return own * Fraction(shared, t) + (1 - own) * Fraction(s - shared, k - t)


def raised(old: Subset, new: Subset) -> Subset | None:
    """Return the sets of the second's size with the smallest ε that can follow the first; None where none can.

    Why: how often a coarser set near to the finer one holds the answer grows evenly with how often the finer one does.
    """
    k, s, t = old.size, old.ones, new.ones
    shared = most(s, t) if old.inclusion(s) * k >= s else least(s, t, k)
    within, outside = Fraction(shared, t), Fraction(s - shared, k - t)
    wanted = (old.inclusion(s) - outside) / (within - outside) if within != outside else Fraction(1)
    weight = math.ceil(wanted * chance.TOTAL)
    return Subset(k, t, weight, chance.TOTAL) if 0 < weight < chance.TOTAL else None


def _read(design: Design) -> Subset:
    channel: Channel = as_sets(design.channel)
    if not isinstance(channel, Subset) or channel.inclusion(channel.ones) * channel.size <= channel.ones:
        kind = "sets of several sizes" if isinstance(channel, Sets) else "no sets of categories"
        raise InvalidRequest(
            f"{design!r} sends {kind}, or holds the answer less often than chance; expected sets of one size.",
            "Bridges lead from one subset() to another.",
        )
    return channel
