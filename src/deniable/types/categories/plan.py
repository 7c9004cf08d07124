"""Planning with a design for categories: the variance of its estimate, for given shares or in the worst case.

With n respondents and f of F6 (1 for independent respondents, 0 for a census, (N − n)/(N − 1) for a sample of N), n·Var
of the share of category j is f·π_j(1 − π_j) + Σ_l m_jl·π_l − π_j, where m_jl = E[L_j² | answer l] is the second moment
of a response's contribution to the estimate. All planning rests on this, through the design's own left inverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Linear, Written
from deniable.estimates.shares import read_shares
from deniable.estimates.simplex import projected_error, projection

Shares: TypeAlias = Mapping[str, float] | Sequence[float]
"""True shares, by name or in the order of the categories."""

SharesByAttribute: TypeAlias = Mapping[str, Shares]
"""True shares of several attributes, by attribute."""

VarianceCurve: TypeAlias = Callable[[int, float], float]
"""The variance at a number of respondents and at f."""

MAX_TALLIES = 50_000
"""Tallies that are summed over, in a hundredth of a second."""

_MAX_CATEGORIES = 1 << 26  # numbers in a vector of half a gigabyte
_MAX_SEARCHED = 1_000  # categories whose second moments are computed one by one, in a second or two


@dataclass(frozen=True)
class Goal:
    """The variance that is meant: that of one category, the largest of all categories, or their sum.

    Attributes:
        category: the one that counts.
        largest: whether the largest counts.
        projected: whether it is the total squared error of all shares after they are projected onto the simplex.
    """

    category: str | None = None
    largest: bool = False
    projected: bool = False


class ComparedPrivacy(NamedTuple):
    """A design's line in a comparison, but for its variance.

    Attributes:
        name: of the design.
        epsilon: its ε against an attacker who sees one response.
        epsilon_collector: its ε against a collector who sees all responses and knows all other answers.
        note: what the guarantee rests on; mostly empty.
    """

    name: str
    epsilon: float
    epsilon_collector: float
    note: str


class DecidingResponse(NamedTuple):
    """The one response whose count decides on a category's share.

    Attributes:
        stray: how often those send it who are not of the category.
        hit: how often those do who are.
    """

    stray: float
    hit: float

    @property
    def gap(self) -> float:
        """By how much more often the category's own people send it; negative where the others do."""
        return self.hit - self.stray

    def chance(self, share: float) -> float:
        """How often it is sent altogether, at a share of the category."""
        return self.stray + self.gap * share


def variance_curve(
    design: Design, shares: Shares | None, goal: Goal, inverse: Matrix | None = None
) -> VarianceCurve:
    """Return the variance of the estimate as a function of n and f.

    Args:
        design: what people will respond with.
        shares: the true shares; if they are not given the worst possible ones, or even ones for projected shares.
        goal: whose variance is meant.
        inverse: another left inverse than the design's own, answers × responses.

    Raises:
        InvalidRequest: too many categories, or shares that do not fit.
    """
    if design.channel.answers > _MAX_CATEGORIES:
        raise InvalidRequest(
            f"there are {design.channel.answers:,} categories; expected at most {_MAX_CATEGORIES:,} to plan with."
        )
    linear = left_inverse(design.channel, inverse=inverse)
    if shares is None and goal.projected:
        shares = [1 / len(design.categories)] * len(design.categories)
    if shares is None:
        worst = _worst(design, linear, goal)
        return lambda n, f: worst(f) / n
    true_shares = read_shares(design, shares)
    device = linear.covariance(
        linear.expected(true_shares), true_shares, 0.0, 1.0
    ).variances
    sampling = true_shares * (1 - true_shares)
    if goal.projected:
        return lambda n, f: projected_error(true_shares, (f * sampling + device) / n)
    choose = _chooser(design, goal)
    return lambda n, f: choose(f * sampling + device) / n


def compared_privacy(design: Design) -> ComparedPrivacy:
    """Return name, ε and caveat of a design; its ε is the same against a collector."""
    return ComparedPrivacy(
        design.name, design.epsilon, design.epsilon, design.caveat
    )


def deciding_response(design: Design, category: str) -> DecidingResponse | None:
    """Return the response that decides on a category's share; None where more than one does."""
    channel = design.channel
    if not channel.exchangeable and (channel.answers, channel.responses) != (2, 2):
        return None
    number = design.category_number(category)
    hit, stray = (
        float(channel.probability(number, given=answer))
        for answer in (number, int(number == 0))
    )
    return DecidingResponse(stray, hit)


def has_few_tallies(design: Design, n: int) -> bool:
    """Return whether a design for two answers has so few tallies of n responses that all of them are summed over."""
    if design.channel.answers != 2 or not design.channel.own_cells:
        return False
    return math.comb(n + design.channel.responses - 1, n) <= MAX_TALLIES


def _chooser(design: Design, goal: Goal) -> Callable[[Vector], float]:
    """Return the function that picks the variance that is meant from those of all categories."""
    if goal.category is not None:
        number = design.category_number(goal.category)
        return lambda variances: float(variances[number])
    if goal.largest or len(design.categories) == 2:
        return lambda variances: float(variances.max())
    return lambda variances: float(variances.sum())


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
    if size > _MAX_SEARCHED and not isinstance(linear, Written):
        raise InvalidRequest(
            f"the worst case over {size:,} categories is not searched; expected at most {_MAX_SEARCHED:,}.",
            "Give the shares that you expect.",
        )
    table = linear.moments(size)
    off = np.where(np.eye(size, dtype=bool), -np.inf, table)
    return np.diagonal(table).copy(), off.max(axis=1), table.sum(axis=0)
