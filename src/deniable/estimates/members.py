"""How many members of a category a count allows, among people who can be counted.

Given how many of the respondents are members, the law of the count is known: of responses that back the category, or of
cards that were dealt. How many of the respondents are members is hypergeometric where they are some of N people, and
binomial where they are independent. A number of members is allowed when neither so many counts nor so few are rarer
under it than half of what is left: the test of Clopper and Pearson, on this law.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln, xlogy
from scipy.stats import binom, hypergeom

from deniable.estimates.covariances import Vector, vector


@dataclass(frozen=True, eq=False)
class Tails:
    """How likely counts as large, and as small, as the one seen are, given each number of members who responded.

    The first is raised to rise with the members, the second to fall.

    Why: whatever is allowed stays allowed, and what is allowed has no gaps, because more members among the people put
    more of them among the respondents. Cards need it: where all are dealt, odd and even numbers of members send odd and
    even counts.

    Attributes:
        as_many: the probability of the count seen or a larger one, for 0, 1, … members.
        as_few: of the count seen or a smaller one.
    """

    as_many: Vector
    as_few: Vector

    def __post_init__(self) -> None:
        object.__setattr__(self, "as_many", np.maximum.accumulate(self.as_many))
        object.__setattr__(
            self, "as_few", np.maximum.accumulate(self.as_few[::-1])[::-1]
        )

    def shares(
        self, population: int | None, confidence: float
    ) -> tuple[float, float]:
        """Return the smallest and the largest share of members that is allowed; the nearest one, if none is."""
        tail = (1 - confidence) / 2
        return (
            _turn(
                lambda share: _mean(self.as_many, share, population) - tail,
                population,
                after=True,
            ),
            _turn(
                lambda share: tail - _mean(self.as_few, share, population),
                population,
                after=False,
            ),
        )


def _mean(given: Vector, share: float, population: int | None) -> float:
    least, weights = member_distribution(len(given) - 1, share, population)
    return float(weights @ given[least : least + len(weights)])


def _turn(
    rising: Callable[[float], float], population: int | None, *, after: bool
) -> float:
    """Return where a rising function turns positive: of N people, the share just after it or just before it."""
    if rising(0.0) > 0:
        return 0.0
    if rising(1.0) <= 0:
        return 1.0
    if population is None:
        return float(brentq(rising, 0.0, 1.0, xtol=1e-12))
    below, above = 0, population
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (
            (below, middle) if rising(middle / population) > 0 else (middle, above)
        )
    return (above if after else below) / population


def member_distribution(
    respondents: int, share: float, population: int | None
) -> tuple[int, Vector]:
    """Return the distribution of members among the respondents: the first likely count, and the weights.

    Example:
        >>> least, law = member_distribution(2, 0.5, 4)
        >>> least, law.round(4).tolist()
        (0, [0.1667, 0.6667, 0.1667])
    """
    n = respondents
    if share in (0, 1):
        return int(n * share), np.ones(1)
    least, most, f, odds = 0, n, 1.0, math.log(share) - math.log1p(-share)
    if population is not None:
        members = round(population * share)
        others, f, odds = (
            population - members,
            (population - n) / max(population - 1, 1),
            0.0,
        )
        least, most = max(0, n - others), min(n, members)
    reach = _reach(n * share * (1 - share) * f)
    least, most = (
        max(least, int(n * share - reach)),
        min(most, int(n * share + reach)),
    )
    m = np.arange(least, most, dtype=np.float64)
    steps = np.log((n - m) / (m + 1)) + odds
    if population is not None:
        steps += np.log((members - m) / (others - n + m + 1))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    return least, weights / weights.sum()


MOST_TERMS = 1 << 21
"""Terms that the tails of one count are summed over: about a second."""


def support_tails(
    hits: int, respondents: int, p: float, least: float, most: float
) -> Tails:
    """Return the tails of the count of supporting responses: p of the members, between least and most of the others.

    Why: the more often others back it, the likelier are many, and the less likely few.
    """
    # those that do not back it are then the ones that members send more often
    if p < least:
        return support_tails(
            respondents - hits, respondents, 1 - p, 1 - most, 1 - least
        )
    return Tails(
        _upper_tails(hits, respondents, p, most),
        1 - _upper_tails(hits + 1, respondents, p, least),
    )


def sent_terms(n: int, p: float, q: float) -> float:
    """Return how many terms the tails of `support_tails` sum over."""
    reach = _each_way(n, p, q)
    return 2 * reach * min(n, 2 * reach / abs(p - q))


def _each_way(n: int, p: float, q: float) -> float:
    return _reach(n * max(p * (1 - p), q * (1 - q)))


def _upper_tails(hits: int, n: int, p: float, q: float) -> Vector:
    """Return P(B(m, p) + B(n − m, q) ≥ hits) for m = 0 … n; values next to 0 or 1 are set to these.

    Why: one more member adds (p − q)·P(hits − 1 of the n − 1 others).
    """
    reach = _each_way(n, p, q)
    first, last = (
        int(np.clip((hits - n * q + side) / (p - q), 0, n))
        for side in (-reach, reach)
    )
    m = np.arange(first, last)[:, None]
    own = np.floor(m * p).astype(np.int64) + np.arange(-int(reach), int(reach) + 1)
    other, log = hits - 1 - own, _log_factorials(n)
    chances = _ways(log, m, own) + _ways(log, n - 1 - m, other)
    for number, rate in (
        (own, p),
        (m - own, 1 - p),
        (other, q),
        (n - 1 - m - other, 1 - q),
    ):
        chances += xlogy(np.maximum(number, 0), rate)
    nobody = binom.sf(hits - 1, n, q) if first == 0 else 0.0
    rises = np.minimum(
        nobody + (p - q) * np.cumsum(np.exp(chances).sum(axis=1)), 1.0
    )
    return np.concatenate([np.zeros(first), [nobody], rises, np.ones(n - last)])


def dealt(hits: int, respondents: int, cards: int, plain: int) -> Tails:
    """Return the tails of how many responses point to members, where cards of two sorts were dealt.

    Members with a plain card send such a response, and others with a card of the other sort.
    """
    as_many, more = (
        _as_many_dealt(least, respondents, cards, plain)
        for least in (hits, hits + 1)
    )
    return Tails(as_many, 1 - more)


def _as_many_dealt(hits: int, n: int, cards: int, plain: int) -> Vector:
    """Return the probability of so many hits or more, for m = 0 … n members among the respondents.

    Why: when one of the others becomes a member, it rises by P(hits − 1 without that person, who holds a plain card)
    and falls by P(the same, but the other sort). Plain cards lie on any places with equal probability: a of them with
    the m members, b = n − m − hits + a with the others, the rest with that person or not dealt.
    """
    m, width = np.arange(n)[:, None], (cards - n) // 2 + 2
    # what is left must fit among the cards not dealt
    a = (plain + m + hits - n) // 2 - np.arange(width)
    if width > 2 * _hand(n, cards, plain):
        a = m * plain // cards + np.arange(
            -_hand(n, cards, plain), _hand(n, cards, plain) + 1
        )
    b = n - m - hits + a
    log = _log_factorials(cards)
    among = (
        _ways(log, m, a)
        + _ways(log, n - 1 - m, b)
        - _ways(log, np.array(cards), np.array(plain))
    )
    with_plain, with_other = (
        np.exp(among + _ways(log, np.array(cards - n), plain - held - a - b)).sum(
            axis=1
        )
        for held in (1, 0)
    )
    nobody = hypergeom.sf(hits - 1, cards, cards - plain, n)
    return vector(
        np.clip(
            np.concatenate([[nobody], nobody + np.cumsum(with_plain - with_other)]),
            0.0,
            1.0,
        )
    )


def dealt_terms(respondents: int, cards: int, plain: int) -> int:
    """Return how many terms the tails of `dealt` sum over."""
    return respondents * min(
        (cards - respondents) // 2 + 2, 2 * _hand(respondents, cards, plain) + 1
    )


def _hand(n: int, cards: int, plain: int) -> int:
    return int(_reach(n * (plain / cards) * (1 - plain / cards)))


def _log_factorials(most: int) -> Vector:
    return vector(gammaln(np.arange(1, most + 2)))


def _ways(
    log: Vector, places: NDArray[np.int64], chosen: NDArray[np.int64]
) -> Vector:
    """Return the logarithm of the number of ways to choose places; −∞ where there is none."""
    fits = (chosen >= 0) & (chosen <= places)
    some = np.where(fits, chosen, 0)
    return np.where(fits, log[places] - log[some] - log[places - some], -np.inf)


def _reach(variance: float) -> float:
    """Return how far a sum of independent or of dealt ones is from its mean at most, but for less than 1e-9."""
    return 9 * math.sqrt(variance) + 15
