"""F12, the order of t-subset designs in closed form: what the programs and the steps are compared with."""

from __future__ import annotations

import math
from fractions import Fraction

from deniable import exact
from deniable.channel import Subset
from deniable.exact import Rational as Gamma


def subset_inclusion(
    k: int, t1: int, gamma1: Gamma, t2: int, gamma2: Gamma
) -> tuple[Fraction, Fraction]:
    """Return the probability that a coarse set holds the answer, and its maximum for a set made from a fine one.

    Why: the best that can be done with a fine set is to hold it, or to lie in it. If the coarse design does better,
    it cannot be made from the fine one: this pair is the proof. F12 says that otherwise it can.
    """
    first, second = exact.rational(gamma1), exact.rational(gamma2)
    held = t1 * first / (t1 * first + k - t1)
    cap = (min(t1, t2) * (second - 1) + t1) / (t2 * second + k - t2)
    return held, cap


def subsets_ordered(k: int, t1: int, gamma1: Gamma, t2: int, gamma2: Gamma) -> bool:
    """Say whether the t₁-subset design at γ₁ can be made from the t₂-subset design at γ₂, both for k categories.

    Implements: F12: it can if and only if t₁(γ₁ − 1) ≤ t₂(γ₂ − 1) and (k − t₁)(1 − 1/γ₁) ≤ (k − t₂)(1 − 1/γ₂). Both
    together say that the coarse sets hold the answer no more often than `subset_inclusion` caps it.
    """
    held, cap = subset_inclusion(k, t1, gamma1, t2, gamma2)
    return held <= cap


def subset_at(k: int, t: int, gamma: Gamma) -> Subset:
    """Return the t-subset channel of parity γ, exactly."""
    weight = t * exact.rational(gamma)
    share = weight / (weight + k - t)
    return Subset(k, t, share.numerator, share.denominator)


def smallest_gamma(k: int, t1: int, gamma1: Gamma, t2: int) -> Fraction | float:
    """Return the smallest γ at which the t₂-subset design can follow the t₁-subset design at γ₁; ∞ if there is none.

    Implements: F12: 1 + t₁(γ₁ − 1)/t₂ for t₁ ≥ t₂; for t₁ < t₂ from (k − t₁)(1 − 1/γ₁) = (k − t₂)(1 − 1/γ).
    """
    gamma = exact.rational(gamma1)
    if t1 >= t2:
        return 1 + t1 * (gamma - 1) / t2
    gap = 1 - (k - t1) * (1 - 1 / gamma) / (k - t2)
    return 1 / gap if gap > 0 else math.inf


def bridge_weight(
    k: int, t1: int, gamma1: Gamma, t2: int, gamma2: Gamma
) -> Fraction:
    """Return the smallest w at which w·P_t₁(γ₂) + (1 − w)·P_t₂(γ₂) can follow P_t₁(γ₁); 0 where P_t₂(γ₂) itself can.

    Implements: the bridge mixture of F12.
    """
    held, cap = subset_inclusion(k, t1, gamma1, t2, gamma2)
    _, most = subset_inclusion(k, t1, gamma1, t1, gamma2)
    return (held - cap) / (most - cap) if held > cap else Fraction(0)
