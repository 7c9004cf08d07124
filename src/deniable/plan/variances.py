"""The variance that an estimate will have, for given shares or in the worst case.

With n respondents and f of F6 (1 for independent respondents, 0 for a census, (N − n)/(N − 1) for a sample of N), n·Var
of the share of category j is f·π_j(1 − π_j) + Σ_l m_jl·π_l − π_j, where m_jl = E[L_j² | answer l] is the second moment
of what a response adds to the estimate. All planning rests on this, through the design's own left inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal, TypeAlias

import numpy as np

from deniable import exact
from deniable.designs import Deck, Design
from deniable.designs import labels as naming
from deniable.errors import InvalidRequest, quoted, require
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.decks import parts
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Linear, Written
from deniable.estimates.shares import read_shares, sampled_fraction
from deniable.estimates.simplex import projection
from deniable.types.drawn.design import NAMED, DrawnDesign

Population: TypeAlias = int | Literal["census"] | None
"""How many people there are altogether; "census" if everybody is asked, None if respondents are independent."""

Shares: TypeAlias = Mapping[str, float] | Sequence[float]
"""True shares, by name or in the order of the categories."""

SharesOfItems: TypeAlias = Mapping[str, Shares]
"""True shares of several attributes, by attribute."""

VarianceCurve: TypeAlias = Callable[[int, float], float]
"""The variance at a number of respondents and at f."""

MOST_RESPONDENTS = 1 << 62
"""Sizes beyond are not looked for: they no longer fit into 64 bits."""

_MOST_CATEGORIES = 1 << 26  # numbers in a vector of half a gigabyte
_MOST_SEARCHED = 1_000  # categories whose second moments are computed one by one, in a second or two


@dataclass(frozen=True)
class Goal:
    """Whose variance is meant: that of one category, the largest of all categories, or their sum."""

    category: str | None = None
    largest: bool = False


def variance(
    design: Design | Deck | DrawnDesign,
    n: int,
    *,
    shares: Shares | SharesOfItems | None = None,
    category: str | None = None,
    population: Population = None,
    inverse: Matrix | None = None,
) -> float:
    """Return the variance that the unbiased estimate will have with n respondents.

    Args:
        design: the design, a deck that is dealt, or attributes of which some are drawn for each respondent.
        n: how many will respond.
        shares: the true shares, of drawn attributes by attribute; the worst possible ones, if they are not given.
        category: whose share is meant, such as "smokes: yes" of drawn attributes. If it is not given: for two
            categories the variance that both shares have, for more the sum over all categories; of drawn attributes the
            sum of that over all of them.
        population: how many people there are altogether; "census" if all are asked.
        inverse: another left inverse than the design's own, answers × responses.

    Raises:
        InvalidRequest: shares, a category or a population that do not fit.

    Example:
        >>> from deniable.designs import warner
        >>> round(variance(warner(p="3/4"), 300, population="census"), 6)
        0.0025
    """
    return variance_curve(design, shares, Goal(category), inverse)(whole(n, "n"), fraction(n, population))


def fraction(n: int, population: Population) -> float:
    """Return f of F6 for n respondents.

    Raises:
        InvalidRequest: a population smaller than n.
    """
    if population == "census":
        return 0.0
    if isinstance(population, str):
        raise InvalidRequest(f'the population is {quoted(population)}; expected a whole number, "census" or None.')
    return sampled_fraction(n, population)


def variance_curve(
    design: Design | Deck | DrawnDesign,
    shares: Shares | SharesOfItems | None,
    goal: Goal,
    inverse: Matrix | None = None,
) -> VarianceCurve:
    """Return the variance as a function of n and f."""
    require(isinstance(design, Design | Deck | DrawnDesign), design, "the design", "one, such as dn.warner(epsilon=1)")
    if isinstance(design, DrawnDesign):
        return _drawn_variance_curve(design, shares, goal, inverse)
    if isinstance(design, Deck):
        return _deck_variance_curve(design, shares)  # type: ignore[arg-type]  # of one attribute
    if design.channel.answers > _MOST_CATEGORIES:
        raise InvalidRequest(
            f"there are {design.channel.answers:,} categories; expected at most {_MOST_CATEGORIES:,} to plan with."
        )
    linear = left_inverse(design.channel, inverse=inverse)
    if shares is None:
        worst = _worst(design, linear, goal)
        return lambda n, f: worst(f) / n
    true = read_shares(design, shares)  # type: ignore[arg-type]  # of one attribute
    device = linear.covariance(linear.expected(true), true, 0.0, 1.0).variances
    spread = true * (1 - true)
    choose = _chooser(design, goal)
    return lambda n, f: choose(f * spread + device) / n


def whole(number: int, name: str, least: int = 1) -> int:
    """Read a whole number.

    Raises:
        InvalidRequest: anything else, or less than `least`.
    """
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or not least <= number <= MOST_RESPONDENTS:
        raise InvalidRequest(
            f"{name} is {exact.shown(number)}; expected a whole number of at least {least}, and at most 2^62."
        )
    return int(number)


def between(number: float, name: str) -> float:
    """Read a number between 0 and 1, both excluded.

    Raises:
        InvalidRequest: anything else.
    """
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 1:
        raise InvalidRequest(f"{name} is {quoted(number)}; expected a number between 0 and 1.")
    return float(number)


def _chooser(design: Design, goal: Goal) -> Callable[[Vector], float]:
    if goal.category is not None:
        number = design.category_number(goal.category)
        return lambda each: float(each[number])
    if goal.largest or len(design.categories) == 2:
        return lambda each: float(each.max())
    return lambda each: float(each.sum())


def _worst(design: Design, linear: Linear, goal: Goal) -> Callable[[float], float]:
    """Return the largest n·Var over all shares, as a function of f; exact, by closed forms.

    Why: with π_j = t fixed, the rest of n·Var_j is linear in the other shares and largest on the single answer with the
    largest moment, which leaves a parabola in t. The sum over all categories is f − 1 + c·π − f·|π|² with c the column
    sums of the moments, largest at the point of the simplex next to c/(2f).
    """
    own, others, columns = _moments(design, linear)
    if goal.category is None and not goal.largest and len(own) > 2:
        return cache(lambda f: _worst_sum(columns, f))
    choose = _chooser(design, goal)
    return cache(lambda f: choose(_parabola(own, others, f)))


def _parabola(own: Vector, others: Vector, f: float) -> Vector:
    """Return the largest f·t(1 − t) + own·t + others·(1 − t) − t over t in [0, 1]."""
    slope = f + own - others - 1
    top = np.clip(slope / (2 * f), 0.0, 1.0) if f > 0 else (slope > 0).astype(float)
    return others + slope * top - f * top**2


def _worst_sum(columns: Vector, f: float) -> float:
    if f == 0:
        return float(columns.max()) - 1
    # The nearest point does not change when all coordinates move together; large ones would lose their differences.
    shares = projection((columns - columns.max()) / (2 * f))
    return float(f * (1 - shares @ shares) + columns @ shares - 1)


def _moments(design: Design, linear: Linear) -> tuple[Vector, Vector, Vector]:
    """Return for each category m_jj and the largest m_jl of another answer; and the sum of m_jl over j for each l."""
    size = len(design.categories)
    if linear.ALIKE:
        own, others = linear.spread(np.full(size, 1 / size))
        return own, others, own + (size - 1) * others
    if size > _MOST_SEARCHED and not isinstance(linear, Written):
        raise InvalidRequest(
            f"the worst case over {size:,} categories is not searched; expected at most {_MOST_SEARCHED:,}.",
            "Give the shares that you expect.",
        )
    table = linear.moments(size)
    off = np.where(np.eye(size, dtype=bool), -np.inf, table)
    return np.diagonal(table).copy(), off.max(axis=1), table.sum(axis=0)


def _drawn_variance_curve(
    design: DrawnDesign, shares: Shares | SharesOfItems | None, goal: Goal, inverse: Matrix | None
) -> VarianceCurve:
    """Return the variance where `each` of so many attributes are drawn: that of n·each/attributes people for each.

    They are a sample without replacement of the population that the n are, so that f grows: 1 − f is in proportion to
    one person less than are asked.
    """
    if inverse is not None:
        raise InvalidRequest("several attributes have an inverse each; expected none given.")
    known = _read_by_attribute(design, shares)
    chosen, _, category = (goal.category or "").partition(NAMED)
    if goal.category is not None and chosen not in design.attributes:
        raise InvalidRequest(f"the category is {quoted(goal.category)}; expected a name such as '{design.symbol(0)}'.")
    curves = [
        variance_curve(part, known[attribute], Goal(category or None, goal.largest))
        for attribute, part in design.factors
        if not chosen or attribute == chosen
    ]
    share = design.each / len(design.factors)
    together: Callable[[list[float]], float] = max if goal.largest else sum

    def at(n: int, f: float) -> float:
        drawn = 1 - (1 - f) * max(n * share - 1, 0.0) / max(n - 1, 1)
        return together([curve(1, drawn) / (n * share) for curve in curves])

    return at


def _read_by_attribute(
    design: DrawnDesign, shares: Shares | SharesOfItems | None
) -> dict[str, Shares | None] | SharesOfItems:
    if shares is None:
        return dict.fromkeys(design.attributes)
    if not isinstance(shares, Mapping) or set(shares) != set(design.attributes):
        raise InvalidRequest(
            f"the shares are not those of each attribute; expected them by {naming.shown(design.attributes)}."
        )
    return shares  # type: ignore[return-value]  # each is read with its design


def _deck_variance_curve(deck: Deck, shares: Shares | None) -> VarianceCurve:
    share = 0.5 if shares is None else float(read_shares(deck.with_replacement(), shares)[1])

    def at(n: int, f: float) -> float:
        if n > deck.cards:
            raise InvalidRequest(f"n is {n:,}; expected at most the {deck.cards:,} cards of the deck.")
        constant, slope = parts(deck, n, Fraction(f))
        return float(constant + slope * Fraction(share * (1 - share))) / n

    return at
