"""Power of a test of a share, and the smallest share that is detected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import NormalDist

import numpy as np
from scipy.special import gammaln, xlogy
from scipy.stats import binom

from deniable.designs import AnyDesign, Deck, Design
from deniable.errors import InvalidRequest, quoted, require
from deniable.estimates.covariances import Vector, vector
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import floats
from deniable.plan.precision import (
    MAX_RESPONDENTS,
    Population,
    Sizes,
    first_for_good,
    fraction,
    read_probability,
    read_share,
    read_whole,
    smallest,
    variance_curve,
)
from deniable.rendering.formats import percent
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
    test = ShareTest.read(design, share, null, alpha, two_sided, category)
    return test.power(read_whole(n, "n"), method, population)


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
    test = ShareTest.read(design, share, null, alpha, two_sided, category)
    limit = _respondent_limit(population)
    size = smallest(
        lambda n: test.normal_power(n, population) >= target_power, limit
    )
    if size is not None and test.is_exact(method, population, size + AROUND):
        size = test.first_for_good(target_power, size)
    if size is None:
        raise InvalidRequest(
            f"even if all {limit:,} people respond the power stays below {target_power}.",
            "Look for a larger difference, or allow a larger ε.",
        )
    return size


def _respondent_limit(population: Population) -> int:
    limit = MAX_RESPONDENTS
    if isinstance(population, int):
        limit = read_whole(population, "the population")
    return limit


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

    def is_found(share: float) -> bool:
        test = ShareTest.read(design, share, null, alpha, two_sided, category)
        return test.power(n, method, population) >= target_power

    low, high = read_share(null, "null"), 1.0
    if low == 1 or not is_found(high):
        raise InvalidRequest(
            f"{n:,} respondents do not find any share above {null} with a power of {target_power}; expected more of "
            "them.",
            "Ask more people, or allow a larger ε.",
        )
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high


@dataclass(frozen=True)
class ShareTest:
    """A test that a share is `null`, and the share at which its power is asked for.

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
    ) -> ShareTest:
        """Read the numbers of a test.

        Raises:
            InvalidRequest: shares outside [0, 1], equal shares, an alpha outside (0, 1), or no category of the design.
        """
        true, rejected = read_share(share, "share"), read_share(null, "null")
        if true == rejected:
            raise InvalidRequest(
                f"share and null are both {share}; expected two different shares."
            )
        name = read_category(design, category)
        tail = read_probability(alpha, "alpha") / (2 if two_sided else 1)
        return cls(design, name, true, rejected, tail, two_sided)

    def power(self, n: int, method: str | None, population: Population) -> float:
        """Return the power of the exact or the normal test."""
        if self.is_exact(method, population, n):
            return float(self.exact_power([n])[0])
        return self.normal_power(n, population)

    def normal_power(self, n: int, population: Population) -> float:
        """Return the power of the normal test."""
        f = fraction(n, population)
        error, null_error = (math.sqrt(max(at(n, f), 0.0)) for at in self._curves)
        gap = abs(self.true - self.null)
        return normal_power(gap, error, null_error, self.tail, self.two_sided)

    def is_exact(self, method: str | None, population: Population, n: int) -> bool:
        """Return whether the exact test is to be taken with n respondents."""
        check_method(method)
        possible = population is None and (
            self.response is not None or has_few_tallies(self.design, n)
        )
        if method == "exact" and not possible:
            raise InvalidRequest(
                "the exact test needs independent respondents, and one response that decides on the share (two answers "
                "and two responses, or a k-ary design) or few tallies of two answers.",
                'Use method="normal".',
            )
        return possible and method != "normal"

    def exact_power(self, sizes: Sequence[int] | Sizes) -> Vector:
        """Return the power of the exact test for each number of respondents."""
        if self.response is None:
            return np.array([self._sum_over_tallies(int(n)) for n in sizes])
        return self.count_power(np.asarray(sizes), self.response.chance(self.true))

    def count_power(self, sizes: Sizes, p_response: float) -> Vector:
        """Return how often the count of the deciding response rejects the null, if it is sent this often.

        It looks to the side on which the true share lies, even where the estimate tends to the other one.
        """
        assert self.response is not None
        p_null = self.response.chance(self.null)
        above = self.response.chance(self.true) > p_null
        power = rejection_probability(
            sizes, p_response, p_null, self.tail, above=above
        )
        if self.two_sided:
            power = power + rejection_probability(
                sizes, p_response, p_null, self.tail, above=not above
            )
        return power

    def normal_count_power(self, n: int, p_response: float) -> float:
        """Return the same by the normal approximation of the count."""
        assert self.response is not None
        p_null = self.response.chance(self.null)
        is_above = self.response.chance(self.true) > p_null
        error, null_error = (
            math.sqrt(p * (1 - p) / n) for p in (p_response, p_null)
        )
        gap = (p_response - p_null) * (1 if is_above else -1)
        return normal_power(gap, error, null_error, self.tail, self.two_sided)

    def _sum_over_tallies(self, n: int) -> float:
        """Return the power of the exact test of the estimate, summed over all tallies."""
        assert isinstance(self.design, Design)
        null, true = (
            estimate_distribution(self.design, n, self.category, share)[1]
            for share in (self.null, self.true)
        )
        above = true[np.cumsum(null[::-1])[::-1] <= self.tail].sum()
        below = true[np.cumsum(null) <= self.tail].sum()
        if self.two_sided:
            return float(above + below)
        return float(above if self.true > self.null else below)

    def first_for_good(self, target: float, near: int) -> int | None:
        """Return the number from which on the exact power is at least the target, near the one of the normal test.

        Why: the two thresholds lie a few counts apart, and as many are gained by that many respondents over the
        distance of the two chances. What is looked at is ten times as wide, and wider if that does not hold.
        """
        around = AROUND
        if self.response is not None:
            gap = self.response.chance(self.true) - self.response.chance(self.null)
            around = math.ceil(10 / abs(gap)) + 50
        return first_for_good(
            lambda sizes: self.exact_power(sizes) >= target, near, around
        )

    @cached_property
    def _curves(self) -> tuple[VarianceCurve, ...]:
        """The variance of the estimate at the true share and at the null."""
        return tuple(
            variance_curve(
                self.design,
                shares_around(self.design, self.category, share),
                Goal(self.category),
            )
            for share in (self.true, self.null)
        )

    @cached_property
    def response(self) -> DecidingResponse | None:
        """The response that decides on the share; None where more than one does."""
        return deciding_response(self.design, self.category)


def check_method(method: str | None) -> None:
    """Refuse a test that does not exist.

    Raises:
        InvalidRequest: neither "exact" nor "normal".
    """
    if method not in (None, "exact", "normal"):
        raise InvalidRequest(
            f"the method is {quoted(method)}; expected exact or normal."
        )


def deciding_response(design: AnyDesign, category: str) -> DecidingResponse | None:
    """Return the response that decides on a category's share; None where more than one does."""
    find = find_operation(design, "deciding_response")
    return None if find is None else find(design, category)


def has_few_tallies(design: AnyDesign, n: int) -> bool:
    """Return whether a design for two answers has so few tallies of n responses that all of them are summed over."""
    count = find_operation(design, "has_few_tallies")
    return count is not None and bool(count(design, n))


def estimate_distribution(
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
    values, value_index = np.unique(
        (counts @ scores / n).round(9), return_inverse=True
    )
    return values, vector(np.bincount(value_index, weights=np.exp(logs)))


def _all_tallies(n: int, responses: int) -> Sizes:
    """Return every way in which n responses can fall, a row for each: where the dividing lines between them stand."""
    if responses == 3:  # as below, without a loop
        second, first = np.tril_indices(n + 1)
        lines = np.stack([first, second + 1], axis=1)
    else:
        lines = np.array(list(combinations(range(n + responses - 1), responses - 1)))
    ends = np.pad(
        lines, ((0, 0), (1, 1)), constant_values=((0, 0), (-1, n + responses - 1))
    )
    return np.diff(ends, axis=1) - 1


def shares_around(design: Design | Deck, category: str, share: float) -> list[float]:
    """Return the shares of all categories, where one has this share and the others have the rest evenly."""
    other_share = (1 - share) / (len(design.categories) - 1)
    return [
        share if label == category else other_share for label in design.categories
    ]


def has_mean(design: object) -> bool:
    """Return whether a design estimates a mean, as one for numbers does."""
    return find_operation(design, "mean_variance") is not None


def check_amount(design: object, share: float | None, category: str | None) -> None:
    """Refuse a share of a design for numbers, unless it is that of a level that was named.

    Raises:
        InvalidRequest: it is one.
    """
    if has_mean(design) and category is None:
        prefix = (
            "" if share is None else f"a share of {percent(share)} was given, but "
        )
        raise InvalidRequest(
            f"{prefix}this design asks for a number, which has a mean and no share; expected how far off that may be.",
            "For example within=200, or `deniable plan size design.json --within 200`; a share of one level needs its "
            "name as category.",
        )


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
    n: Sizes, true: float, null: float, tail: float, *, above: bool
) -> Vector:
    """Return how often a count with chance `true` is one that a count with chance `null` reaches hardly ever."""
    if not above:  # then the misses are many
        true, null = 1 - true, 1 - null
    # a true null exceeds `low` too often, `high` seldom enough
    low, high = np.full(len(n), -1), n
    while (high - low > 1).any():
        middle = (low + high) // 2
        seldom = binom.sf(middle, n, null) <= tail
        low, high = np.where(seldom, low, middle), np.where(seldom, middle, high)
    return vector(binom.sf(high, n, true))


def normal_power(
    gap: float, error: float, null_error: float, tail: float, two_sided: bool
) -> float:
    """Return the power of a z-test of an estimate that lies `gap` beyond the null, on the side that is looked at.

    Args:
        gap: the expected distance from the null.
        error: the standard error of the estimate.
        null_error: the standard error under the null.
        tail: how often a true null is rejected on one side.
        two_sided: whether both sides count.
    """
    threshold = -_NORMAL.inv_cdf(tail) * null_error
    gaps = (gap, -gap) if two_sided else (gap,)
    return sum(_normal_above(distance - threshold, error) for distance in gaps)


def _normal_above(gap: float, error: float) -> float:
    """Return the probability that a normal value with mean `gap` is positive."""
    return _NORMAL.cdf(gap / error) if error > 0 else float(gap > 0)
