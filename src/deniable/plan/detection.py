"""How surely a share is told apart from another one, and the smallest share that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy
from scipy.stats import binom

from deniable.designs import AnyDesign, Deck, Design
from deniable.errors import InvalidRequest, quoted, require
from deniable.estimates.covariances import Vector
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import floats
from deniable.plan.amounts import check_amount
from deniable.plan.sizes import first_for_good, smallest
from deniable.plan.variances import (
    MOST_RESPONDENTS,
    Population,
    fraction,
    read_probability,
    read_whole,
    variance_curve,
)
from deniable.types import find_operation
from deniable.types.categories.plan import DecidingResponse, Goal, VarianceCurve

AROUND = 40
"""Numbers of respondents on both sides of the normal test's that are looked at for the exact test of an estimate."""

_NORMAL = NormalDist()


def power(
    design: Design | Deck,
    n: int,
    *,
    share: float,
    null: float = 0.0,
    alpha: float = 0.05,
    two_sided: bool = False,
    category: str | None = None,
    population: Population = None,
    method: str | None = None,
) -> float:
    """Return how surely n respondents reject that a share is `null`, if it is `share`.

    A one-sided test looks to the side on which `share` lies. There are two tests:

    - exact: where one response decides on a share (two answers and two responses, or k-ary), it is counted, and the
      count is binomial: the null is rejected from the first count on that a true null reaches with probability `alpha`
      or less. For two answers with more responses it is the estimate in place of a count, as long as there are at most
      50,000 tallies to sum over: 314 respondents with three responses.
    - normal: the unbiased estimate is compared with null ± z·√Var(null), and its distance from the true share is taken
      as normal with Var(share). With few respondents a true null is then rejected more often than `alpha`: with 50 and
      Warner's design at ε = 3 8.7 % of the time at 5 %.

    Implements: "normal" is the power of [BIZ15] for forced response and Warner's design, for every design.

    Args:
        design: the design, or a deck.
        n: how many will respond.
        share: the true share of the category.
        null: the share that is to be rejected.
        alpha: how often a true null is rejected.
        two_sided: reject on both sides.
        category: whose share is meant; the last one, if none is named. The other categories share the rest evenly.
        population: how many people there are altogether; "census" if all of them are asked.
        method: "exact" or "normal"; by default "exact" where it can be computed.

    Raises:
        InvalidRequest: shares outside [0, 1], equal shares, an alpha outside (0, 1), or an exact test where no single
            response decides, or of a finite population.

    Example:
        >>> from deniable.designs import forced_response
        >>> design = forced_response("2/3", "1/6", "1/6")
        >>> [round(power(design, 200, share=0.2, alpha=0.01, method=each), 6) for each in ("normal", "exact")]
        [0.986887, 0.983131]
    """
    question = _ToTellApart.read(design, share, null, alpha, two_sided, category)
    n = read_whole(n, "n")
    return (
        float(question.exactly([n])[0])
        if question.exact(method, population, n)
        else question.about(n, population)
    )


def sample_size_for_power(
    design: Design,
    *,
    share: float,
    null: float = 0.0,
    alpha: float = 0.05,
    target: float = 0.8,
    two_sided: bool = False,
    category: str | None = None,
    population: Population = None,
    method: str | None = None,
) -> int:
    """Return the number of respondents from which on the power is `target` or more; other arguments: see `power`.

    The power of an exact test falls a little now and then, where one respondent more makes it ask for one hit more: it
    is the target or more for all larger numbers too.

    Raises:
        InvalidRequest: also where a population is too small for it.

    Example:
        >>> from deniable.designs import forced_response
        >>> design = forced_response("2/3", "1/6", "1/6")
        >>> [sample_size_for_power(design, share=0.1, method=each) for each in ("normal", "exact")]
        [212, 241]
    """
    target_power = read_probability(target, "the target")
    question = _ToTellApart.read(design, share, null, alpha, two_sided, category)
    most = (
        read_whole(population, "the population")
        if isinstance(population, int)
        else MOST_RESPONDENTS
    )
    size = smallest(lambda n: question.about(n, population) >= target_power, most)
    if size is not None and question.exact(method, population, size + AROUND):
        size = question.first_for_good(target_power, size)
    if size is None:
        raise InvalidRequest(
            f"even if all {most:,} people respond the power stays below {target_power}.",
            "Look for a larger difference, or allow a larger ε.",
        )
    return size


def detection_limit(
    design: Design | Deck,
    n: int,
    *,
    null: float = 0.0,
    alpha: float = 0.05,
    target: float = 0.8,
    two_sided: bool = False,
    category: str | None = None,
    population: Population = None,
    method: str | None = None,
) -> float:
    """Return the smallest share above `null` that n respondents find with the power `target`.

    Raises:
        InvalidRequest: also where not even a share of 1 would be found.

    Example:
        >>> from deniable.designs import warner
        >>> round(detection_limit(warner(epsilon=1), 1000), 3)
        0.078
    """
    target_power, n = read_probability(target, "the target"), read_whole(n, "n")

    def found(share: float) -> float:
        return power(
            design, n, share=share, null=null, alpha=alpha, two_sided=two_sided, category=category,
            population=population, method=method,
        )  # fmt: skip

    low, high = read_share(null, "null"), 1.0
    if low == 1 or found(high) < target_power:
        raise InvalidRequest(
            f"{n:,} respondents do not find any share above {null} with a power of {target_power}; expected more of "
            "them.",
            "Ask more people, or allow a larger ε.",
        )
    return _bisect(lambda share: found(share) >= target_power, low, high)


@dataclass(frozen=True)
class _ToTellApart:
    """What is to be told apart: a true share and the null, at a level.

    Attributes:
        design: the design, or a deck.
        category: whose share.
        true: the share.
        null: the one that is to be rejected.
        tail: how often a true null is rejected on one side.
        two_sided: whether both sides count.
    """

    design: Design | Deck
    category: str
    true: float
    null: float
    tail: float
    two_sided: bool

    @classmethod
    def read(
        cls,
        design: Design | Deck,
        share: float,
        null: float,
        alpha: float,
        two_sided: bool,
        category: str | None,
    ) -> _ToTellApart:
        true, rejected = read_share(share, "share"), read_share(null, "null")
        if true == rejected:
            raise InvalidRequest(
                f"share and null are both {share}; expected two different shares."
            )
        name = read_category(design, category)
        tail = read_probability(alpha, "alpha") / (2 if two_sided else 1)
        return cls(design, name, true, rejected, tail, two_sided)

    def about(self, n: int, population: Population) -> float:
        """Return the power of the normal test."""
        at_true, at_null = self._curves
        f = fraction(n, population)
        error = math.sqrt(max(at_true(n, f), 0.0))
        threshold = -_NORMAL.inv_cdf(self.tail) * math.sqrt(max(at_null(n, f), 0.0))
        distance = abs(self.true - self.null)
        return normal_above(distance - threshold, error) + (
            normal_above(-distance - threshold, error) if self.two_sided else 0.0
        )

    def exact(self, method: str | None, population: Population, n: int) -> bool:
        """Say whether the exact test is to be taken with n respondents."""
        if method not in (None, "exact", "normal"):
            raise InvalidRequest(
                f"the method is {quoted(method)}; expected exact or normal."
            )
        can = population is None and (
            self._chances is not None or has_few_tallies(self.design, n)
        )
        if method == "exact" and not can:
            raise InvalidRequest(
                "the exact test needs independent respondents, and one response that decides on the share (two answers "
                "and two responses, or a k-ary design) or few tallies of two answers.",
                'Use method="normal".',
            )
        return can and method != "normal"

    def exactly(self, sizes: Sequence[int] | NDArray[np.int64]) -> Vector:
        """Return the power of the exact test for each number of respondents."""
        if self._chances is None:
            return np.array([self._sum_over_tallies(int(n)) for n in sizes])
        n, (true, null) = np.asarray(sizes, np.int64), self._chances
        tails = [rejection_probability(n, true, null, self.tail, above=true > null)]
        if self.two_sided:
            tails.append(
                rejection_probability(n, true, null, self.tail, above=true < null)
            )
        return np.asarray(sum(tails), np.float64)

    def _sum_over_tallies(self, n: int) -> float:
        """Return the power of the exact test of the estimate, summed over all tallies."""
        assert isinstance(self.design, Design)
        _, null = law_of_estimate(self.design, n, self.category, self.null)
        _, true = law_of_estimate(self.design, n, self.category, self.true)
        above, below = (
            true[np.cumsum(null[::-1])[::-1] <= self.tail],
            true[np.cumsum(null) <= self.tail],
        )
        if self.two_sided:
            return float(above.sum() + below.sum())
        return float((above if self.true > self.null else below).sum())

    def first_for_good(self, wanted: float, near: int) -> int | None:
        """Return the number from which on the exact power is as large as wanted, near the one of the normal test.

        Why: the two thresholds lie a few counts apart, and as many are gained by that many respondents over the
        distance of the two chances. What is looked at is ten times as wide, and wider if that does not hold.
        """
        around = (
            AROUND
            if self._chances is None
            else math.ceil(10 / abs(self._chances[0] - self._chances[1])) + 50
        )
        return first_for_good(lambda sizes: self.exactly(sizes) >= wanted, near, around)

    @cached_property
    def _curves(self) -> tuple[VarianceCurve, VarianceCurve]:
        return self._curve(self.true), self._curve(self.null)

    def _curve(self, share: float) -> VarianceCurve:
        return variance_curve(
            self.design,
            shares_around(self.design, self.category, share),
            Goal(self.category),
        )

    @cached_property
    def _chances(self) -> tuple[float, float] | None:
        """How often the category's own response is sent, at the true share and at the null; None if none decides."""
        counted = deciding_response(self.design, self.category)
        return (
            None
            if counted is None
            else (counted.chance(self.true), counted.chance(self.null))
        )


def deciding_response(design: AnyDesign, category: str) -> DecidingResponse | None:
    """Return the response that decides on a category's share; None where more than one does."""
    find = find_operation(design, "deciding_response")
    return None if find is None else find(design, category)


def has_few_tallies(design: AnyDesign, n: int) -> bool:
    """Return whether a design for two answers has so few tallies of n responses that all of them are summed over."""
    count = find_operation(design, "has_few_tallies")
    return count is not None and bool(count(design, n))


def law_of_estimate(
    design: Design, n: int, category: str, share: float
) -> tuple[Vector, Vector]:
    """Return all values of a category's estimate in growing order, and how probable each is, from n respondents.

    The values are those of all tallies, and the same for every share.
    """
    linear, number = left_inverse(design.channel), design.category_number(category)
    scores = np.array(
        [linear.shares(alone)[number] for alone in np.eye(design.channel.responses)]
    )
    counts = _all_tallies(n, design.channel.responses)
    p_responses = floats(design.channel) @ shares_around(design, category, share)
    logs = (
        gammaln(n + 1)
        - gammaln(counts + 1).sum(axis=1)
        + xlogy(counts, p_responses).sum(axis=1)
    )
    values, value_index = np.unique((counts @ scores / n).round(9), return_inverse=True)
    return values, np.asarray(
        np.bincount(value_index, weights=np.exp(logs)), np.float64
    )


def _all_tallies(n: int, responses: int) -> NDArray[np.int64]:
    """Return every way in which n responses can fall, a row for each: where the dividing lines between them stand."""
    if responses == 3:  # as below, without a loop
        second, first = np.tril_indices(n + 1)
        lines = np.stack([first, second + 1], axis=1)
    else:
        lines = np.array(list(combinations(range(n + responses - 1), responses - 1)))
    ends = np.pad(
        lines, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + responses - 1))
    )
    return np.asarray(np.diff(ends, axis=1) - 1, np.int64)


def shares_around(design: Design | Deck, category: str, share: float) -> list[float]:
    """Return the shares of all categories, where one has this share and the others have the rest evenly."""
    other_share = (1 - share) / (len(design.categories) - 1)
    return [share if label == category else other_share for label in design.categories]


def read_category(design: Design | Deck, category: str | None) -> str:
    """Read whose share is meant; the last category, if none is named.

    Raises:
        InvalidRequest: no category of the design; or none was named, and the categories are levels of a number.
    """
    require(
        hasattr(design, "categories"),
        design,
        "the design",
        "one, such as dn.warner(epsilon=1)",
    )
    check_amount(design, None, category)
    name = design.categories[-1] if category is None else category
    if name not in design.categories:
        raise InvalidRequest(
            f"{quoted(name)} is not a category; expected one of the design's."
        )
    return name


def rejection_probability(
    n: NDArray[np.int64], true: float, null: float, tail: float, *, above: bool
) -> Vector:
    """Return how often a count with chance `true` is one that a count with chance `null` reaches hardly ever."""
    if not above:  # then the misses are many
        true, null = 1 - true, 1 - null
    low, high = (
        np.full(len(n), -1),
        n,
    )  # a true null exceeds `low` too often, `high` seldom enough
    while (high - low > 1).any():
        middle = (low + high) // 2
        seldom = binom.sf(middle, n, null) <= tail
        low, high = np.where(seldom, low, middle), np.where(seldom, middle, high)
    return np.asarray(binom.sf(high, n, true), np.float64)


def normal_above(gap: float, error: float) -> float:
    """Return the probability that a normal value with mean `gap` is positive."""
    return _NORMAL.cdf(gap / error) if error > 0 else float(gap > 0)


def read_share(number: float, name: str) -> float:
    """Read a share.

    Raises:
        InvalidRequest: not a number from 0 to 1.
    """
    if (
        isinstance(number, bool)
        or not isinstance(number, int | float)
        or not 0 <= number <= 1
    ):
        raise InvalidRequest(
            f"{name} is {quoted(number)}; expected a share from 0 to 1."
        )
    return float(number)


def _bisect(enough: Callable[[float], bool], low: float, high: float) -> float:
    """Return where `enough` becomes true; it is at `high`."""
    while high - low > 1e-12:
        middle = (low + high) / 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
