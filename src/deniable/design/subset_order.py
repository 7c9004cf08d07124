"""The order of t-subset designs, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable import exact
from deniable.errors import InvalidDesign, InvalidNumber


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
