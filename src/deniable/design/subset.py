"""The t-subset design, which is minimax at the right t, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from deniable import chance, exact
from deniable.channel import Subset
from deniable.design import labels
from deniable.design.bitstrings import Bitstrings
from deniable.design.design import Design
from deniable.design.labels import Labels
from deniable.design.registry import register
from deniable.errors import InvalidDesign, InvalidNumber, InvalidRequest


@register(
    {"categories": ["red", "green", "blue", "grey"], "epsilon": "1/2"},
    {"categories": 3, "epsilon": 1, "t": 2},
    {"categories": 4, "t": 2, "p": "3/4"},
    {"categories": 3, "t": 1, "p": "1/4"},
)
def subset(
    categories: Labels,
    epsilon: exact.Rational | None = None,
    *,
    t: int | None = None,
    p: exact.Rational | None = None,
) -> Design:
    """Send a set of t categories that holds the answer as often as ε allows, and is otherwise random.

    Give either ε, or t and the probability p that the answer is in the set. By default t is the one with the smallest
    error in the worst case.

    Implements: the t-subset design of [Cha19], Definition 6.1, also [WHW16] and [YB18]; minimax at t = q
    ([Cha19], Theorem 6.4). t = 1 is `k_ary`, t = k − 1 its low side.

    Guarantee: from ε, the answer is in the set with a weight of 2^64, rounded towards privacy; from p, exactly p. The
    rest of the set is drawn evenly, exactly, and a set has no order that could tell which member came first.

    Why: with inside = ⌊2^64·tγ / (tγ + k − t)⌋ and γ ≤ e^ε, a set has inside·(k − t) / ((2^64 − inside)·t) ≤ γ times
    the probability given an answer inside as given one outside.

    Args:
        categories: what a respondent may be.
        epsilon: the most that a response may reveal.
        t: how many categories are sent.
        p: how often the answer is among them.

    Raises:
        InvalidDesign: fewer than two categories, a t that is not between 0 and their number, a p that hides nothing
            or tells nothing.
        InvalidRequest: neither or both of ε and p, or p without t.

    Example:
        >>> design = subset(["red", "green", "blue", "grey"], epsilon="1/2")
        >>> design.channel.ones, design.epsilon <= 0.5
        (2, True)
        >>> subset(4, t=2, p="3/4").parity
        Fraction(3, 1)
    """
    known = labels.read(categories)
    k = len(known)
    if (epsilon is None) == (p is None) or (p is not None and t is None):
        raise InvalidRequest("expected either epsilon, or t and p.", "For example epsilon=1, or t=2 and p=0.75.")
    if epsilon is not None:
        gamma = exact.exp_below(exact.positive_epsilon(epsilon))
        ones = best_t(k, gamma) if t is None else _check_t(k, t)
        channel = Subset(k, ones, inside(k, ones, gamma), chance.TOTAL)
        if channel.parity <= 1:
            raise InvalidDesign(f"with {k:,} categories this ε is too fine for weights of 2^64; expected a larger one.")
    else:
        assert p is not None
        assert t is not None
        share = exact.probability(p, name="p")
        channel = Subset(k, _check_t(k, t), share.numerator, share.denominator)
        _check_share(k, t, share)
    return Design("subset", known, Bitstrings(k), channel)


def inside(k: int, t: int, gamma: Fraction) -> int:
    """Return the largest weight, of 2^64, with which an answer may be in a set of t at parity γ."""
    if t in (0, k):
        return chance.TOTAL if t else 0
    return int(chance.TOTAL * t * gamma / (t * gamma + k - t))


def best_t(k: int, gamma: exact.Rational) -> int:
    """Return the size of set with the smallest error in the worst case; of two that tie, the smaller.

    Implements: q of [Cha19], (6.9).

    Why: a_t rises with t as long as γ²·t(t + 1) < (k − t)(k − t − 1), and falls from there on (F5).

    Raises:
        InvalidDesign: fewer than two categories.
        InvalidNumber: γ below 1, or not a number.

    Example:
        >>> best_t(10, 2), best_t(10, 10), best_t(100_000, "2.718281828")
        (3, 1, 26894)
    """
    ratio = _check(k, gamma)
    up, down = ratio.numerator**2, ratio.denominator**2
    low, high = 1, k - 1
    while low < high:
        t = (low + high) // 2
        if up * t * (t + 1) >= down * (k - t) * (k - t - 1):
            high = t
        else:
            low = t + 1
    return low


def subset_information(k: int, t: int, gamma: exact.Rational) -> Fraction:
    """Return a_t = k·t(k − t)(γ − 1)² / ((k − 1)(tγ + k − t)²), the eigenvalue on which the error of t-subsets rests.

    Implements: [Cha19], (6.19): with m rows, m·PᵀP = a_t·I + (1 − a_t / k)·J.

    Raises:
        InvalidDesign: fewer than two categories, or a t that is not from 0 to k.
        InvalidNumber: γ below 1, or not a number.

    Example:
        >>> subset_information(4, 2, 3)
        Fraction(1, 3)
    """
    ratio = _check(k, gamma)
    if not 0 <= t <= k:
        raise InvalidDesign(f"t is {t}; expected 0 to {k}.")
    return k * t * (k - t) * (ratio - 1) ** 2 / ((k - 1) * (t * ratio + k - t) ** 2)


def subset_trace(k: int, t: int, gamma: exact.Rational) -> Fraction:
    """Return f(t) = k + (k − 1)·a_t, the trace of PᵀD⁻¹P at even shares, which the best t makes largest.

    Implements: [Cha19], (6.8), by its (6.19).

    Raises:
        InvalidDesign: fewer than two categories, or a t that is not from 0 to k.
        InvalidNumber: γ below 1, or not a number.

    Example:
        >>> subset_trace(10, 1, 6) == subset_trace(10, 2, 6) == 20
        True
    """
    return k + (k - 1) * subset_information(k, t, gamma)


def subset_risk(
    k: int, t: int, gamma: exact.Rational, *, shares: Sequence[exact.Rational] | None = None
) -> exact.Ratio:
    """Return n times the total variance of the minimax estimate, at given shares or in the worst case, which is even.

    Implements: [Cha19], (6.25): (k − 1)/a_t + 1/k − Σπ².

    Raises:
        InvalidDesign: fewer than two categories, or a t that is not from 0 to k.
        InvalidNumber: γ below 1, or not a number.

    Example:
        >>> subset_risk(4, 2, 3), subset_risk(4, 1, 3)
        (Fraction(9, 1), Fraction(27, 4))
    """
    return risk(k, subset_information(k, t, gamma), shares)


def risk(k: int, information: Fraction, shares: Sequence[exact.Rational] | None = None) -> exact.Ratio:
    """Return (k − 1)/a + 1/k − Σπ², or (k − 1)/a without shares."""
    beyond = Fraction(0)
    if shares is not None:
        beyond = Fraction(1, k) - sum(exact.probability(share, name="a share") ** 2 for share in shares)
    return beyond + exact.ratio(k - 1, information)


def _check(k: int, gamma: exact.Rational) -> Fraction:
    if k < 2:
        raise InvalidDesign(f"there are {k} categories; expected at least 2.")
    ratio = exact.rational(gamma, name="gamma")
    if ratio < 1:
        raise InvalidNumber(f"gamma is {exact.shown(gamma)}; expected e^ε, which is at least 1.")
    return ratio


def _check_t(k: int, t: int) -> int:
    if isinstance(t, bool) or not isinstance(t, int) or not 1 <= t < k:
        raise InvalidDesign(f"t is {t!r:.40}; expected a whole number from 1 to {k - 1}.")
    return t


def _check_share(k: int, t: int, share: Fraction) -> None:
    if share == Fraction(t, k):
        raise InvalidDesign(
            f"p = {t}/{k} holds every category equally often whatever the answer; expected another p.",
            f"Above {t}/{k} the answer is in the set more often than the others, below less often.",
        )
    if (share == 1 and t == 1) or (share == 0 and t == k - 1):
        raise InvalidDesign(f"p = {share} gives every answer away; expected a p between 0 and 1.")
