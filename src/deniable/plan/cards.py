"""Three cards in ideal proportions: which of Warner's design, independent cards and the dealt deck is best where.

A real deck has whole cards; these are the formulas for proportions that need not be whole, as papers print them. For a
deck that can be printed use `integer_deck` and `plan.variance`.
"""

from __future__ import annotations

import math

from deniable import exact
from deniable.designs import integer_deck
from deniable.errors import InvalidDesign, InvalidRequest
from deniable.estimates.decks import deck_variance
from deniable.estimates.intervals import Interval
from deniable.exact import Rational
from deniable.plan.precision import (
    MAX_RESPONDENTS,
    read_whole,
    smallest,
    target_variance,
)


def ideal_deck_variance(
    people: int,
    epsilon: Rational,
    middle: Rational,
    share: float,
    *,
    replaced: bool = False,
) -> float:
    """Return the census variance of three cards in ideal proportions, dealt or (with `replaced`) put back.

    Implements: [SYZ23], Theorems 5.5 and 5.7: w/(4n) put back and π(1 − π)·w/(n − 1) dealt, with
    w = coth²(ε/2)/(1 − p₂) − 1.

    Example:
        >>> round(ideal_deck_variance(9, 0.5, 0.36, 4 / 9), 4)
        0.7731
    """
    n, w = read_whole(people, "people", 2), _factor(epsilon, middle)
    return w / (4 * n) if replaced else _share(share) * (1 - share) * w / (n - 1)


def crossing(people: int, epsilon: Rational, middle: Rational) -> Interval:
    """Return the range of shares in which Warner's design has a smaller variance than the dealt deck.

    Implements: [SYZ23], eq. (5). The ε of the deck is that against a reader of one response; against a collector who
    knows the other answers a deck without spare cards has no ε at all, and Warner's design keeps its own.

    Example:
        >>> low, high = crossing(10_000, 0.01, 0.01)
        >>> round(high - low, 3)
        0.1
    """
    n, p2 = read_whole(people, "people", 2), _middle(middle)
    # p₂·d/4 with d = e^ε + e^−ε − 2
    lift = p2 * math.sinh(_epsilon(epsilon) / 2) ** 2
    # 1 − ((n − 1)/n)·(1 − p₂)/(1 + lift), without the difference of two numbers that are nearly 1
    half = math.sqrt((n * (lift + p2) + 1 - p2) / (n * (1 + lift))) / 2
    return Interval(0.5 - half, 0.5 + half)


def crossing_independent(people: int) -> Interval:
    """Return the shares between which cards that are put back have a smaller variance than the dealt deck.

    Implements: [SYZ23], Theorem 4.2: |π − 1/2| < 1/(2√n), for any cards.

    Example:
        >>> crossing_independent(10_000)
        Interval(low=0.495, high=0.505)
    """
    half = 1 / (2 * math.sqrt(read_whole(people, "people", 2)))
    return Interval(0.5 - half, 0.5 + half)


def deck_sample_size(
    epsilon: Rational,
    middle: Rational = 0,
    *,
    variance: float | None = None,
    margin: float | None = None,
    level: float = 0.95,
    method: str = "normal",
    share: float = 0.5,
    ideal: bool = False,
) -> int:
    """Return how many people a dealt deck takes, everybody being asked (a census).

    Implements: F17, n ≥ 1 + π(1 − π)·w/V.

    Args:
        epsilon: of the deck, against a reader of one response.
        middle: the share of middle cards.
        variance: the largest variance allowed.
        margin: the largest half width of an interval allowed.
        level: of the interval.
        method: "normal" or "chebyshev".
        share: the share of members that you expect; 1/2 is the worst.
        ideal: take proportions that need not be whole cards, as papers do. Otherwise the decks of `integer_deck` for so
            many people, and for any larger number, keep the demand.

    Why: ⌈·⌉ adds less than one first card to its share, and the middle cards are rounded by at most a half. With
    m = N(1 − p₂) − 1/2 and t = tanh(ε/2) the variance is therefore at most π(1 − π)·(Nm/(mt − 2)² − 1)/(N − 1), which
    falls with N. From where that bound keeps the demand, one goes down to the last number that does not.

    Raises:
        InvalidRequest: not exactly one of variance and margin, or a demand beyond all numbers of people.

    Example:
        >>> deck_sample_size(0.5, 0.01, variance=0.1, share=0.1, ideal=True)
        16
        >>> deck_sample_size(0.5, 0.01, variance=0.1, share=0.1)
        25
    """
    target = target_variance(variance, margin, level, method)
    spread = _share(share) * (1 - share)
    least = max(
        2, math.ceil((1 + spread * _factor(epsilon, middle) / target) * (1 - 1e-12))
    )
    if ideal:
        return least
    rounded = smallest(
        lambda people: (
            spread * _rounded_factor(people, epsilon, middle)
            <= target * (people - 1)
        )
    )
    if rounded is None:
        raise InvalidRequest(
            f"no deck for up to {MAX_RESPONDENTS:,} people keeps this demand.",
            "Allow a larger ε.",
        )
    people = max(least, rounded)
    while people > least and _keeps(people - 1, epsilon, middle, share, target):
        people -= 1
    return people


def _rounded_factor(people: int, epsilon: Rational, middle: Rational) -> float:
    """Return the largest w that whole cards for so many people can have."""
    cards = people * (1 - _middle(middle)) - 0.5
    odd_cards = cards * math.tanh(_epsilon(epsilon) / 2) - 2
    return people * cards / odd_cards**2 - 1 if odd_cards > 0 else math.inf


def _keeps(
    people: int,
    epsilon: Rational,
    middle: Rational,
    share: float,
    target: float,
) -> bool:
    try:
        deck = integer_deck(people, epsilon, middle)
    except InvalidDesign:
        return False
    return deck_variance(deck, share, population=people) <= target * (1 + 1e-12)


def _factor(epsilon: Rational, middle: Rational) -> float:
    """Return w = (e^ε + 1)² / ((e^ε − 1)²·(1 − p₂)) − 1."""
    return 1 / (math.tanh(_epsilon(epsilon) / 2) ** 2 * (1 - _middle(middle))) - 1


def _epsilon(epsilon: Rational) -> float:
    return float(exact.positive_epsilon(epsilon))


def _middle(middle: Rational) -> float:
    value = float(exact.probability(middle, name="middle"))
    if value == 1:
        raise InvalidRequest(
            "every card is in the middle, so that nothing is told; expected a share below 1."
        )
    return value


def _share(share: float) -> float:
    return float(exact.probability(share, name="share"))
