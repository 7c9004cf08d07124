"""How surely a share is told apart from another one, and the smallest share that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from deniable.channel import Diagonal
from deniable.designs import Deck, Design
from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Vector
from deniable.plan.sizes import smallest
from deniable.plan.variances import (
    MOST_RESPONDENTS,
    Goal,
    Population,
    VarianceCurve,
    between,
    fraction,
    variance_curve,
    whole,
)

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
      or less.
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
    n = whole(n, "n")
    return float(question.exactly([n])[0]) if question.exact(method, population) else question.about(n, population)


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
    wanted = between(target, "the target")
    question = _ToTellApart.read(design, share, null, alpha, two_sided, category)
    most = whole(population, "the population") if isinstance(population, int) else MOST_RESPONDENTS
    size = smallest(lambda n: question.about(n, population) >= wanted, most)
    if size is not None and question.exact(method, population):
        size = question.first_for_good(wanted, size)
    if size is None:
        raise InvalidRequest(
            f"even if all {most:,} people respond the power stays below {wanted}.",
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
    wanted, n = between(target, "the target"), whole(n, "n")

    def reached(share: float) -> float:
        return power(
            design, n, share=share, null=null, alpha=alpha, two_sided=two_sided, category=category,
            population=population, method=method,
        )  # fmt: skip

    low, high = _read_share(null, "null"), 1.0
    if low == 1 or reached(high) < wanted:
        raise InvalidRequest(
            f"{n:,} respondents do not find any share above {null} with a power of {wanted}; expected more of them.",
            "Ask more people, or allow a larger ε.",
        )
    return _bisect(lambda share: reached(share) >= wanted, low, high)


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
        cls, design: Design | Deck, share: float, null: float, alpha: float, two_sided: bool, category: str | None
    ) -> _ToTellApart:
        true, rejected = _read_share(share, "share"), _read_share(null, "null")
        if true == rejected:
            raise InvalidRequest(f"share and null are both {share}; expected two different shares.")
        name = design.categories[-1] if category is None else category
        if name not in design.categories:
            raise InvalidRequest(f"{name!r:.40} is not a category; expected one of the design's.")
        tail = between(alpha, "alpha") / (2 if two_sided else 1)
        return cls(design, name, true, rejected, tail, two_sided)

    def about(self, n: int, population: Population) -> float:
        """Return the power of the normal test."""
        at_true, at_null = self._curves
        f = fraction(n, population)
        error = math.sqrt(max(at_true(n, f), 0.0))
        threshold = -_NORMAL.inv_cdf(self.tail) * math.sqrt(max(at_null(n, f), 0.0))
        distance = abs(self.true - self.null)
        return _above(distance - threshold, error) + (_above(-distance - threshold, error) if self.two_sided else 0.0)

    def exact(self, method: str | None, population: Population) -> bool:
        """Say whether the exact test is to be taken."""
        if method not in (None, "exact", "normal"):
            raise InvalidRequest(f"the method is {method!r:.40}; expected exact or normal.")
        can = population is None and self._chances is not None
        if method == "exact" and not can:
            raise InvalidRequest(
                "the exact test needs independent respondents, and one response that decides on the share: two answers "
                "and two responses, or a k-ary design.",
                'Use method="normal".',
            )
        return can and method != "normal"

    def exactly(self, sizes: Sequence[int] | NDArray[np.int64]) -> Vector:
        """Return the power of the exact test for each number of respondents."""
        assert self._chances is not None
        n, (true, null) = np.asarray(sizes, np.int64), self._chances
        tails = [_reached(n, true, null, self.tail, above=true > null)]
        if self.two_sided:
            tails.append(_reached(n, true, null, self.tail, above=true < null))
        return np.asarray(sum(tails), np.float64)

    def first_for_good(self, wanted: float, near: int) -> int | None:
        """Return the number from which on the exact power is as large as wanted, near the one of the normal test.

        Why: the two thresholds lie a few counts apart, and as many are gained by that many respondents over the
        distance of the two chances. What is looked at is ten times as wide, and wider if that does not hold.
        """
        assert self._chances is not None
        around = math.ceil(10 / abs(self._chances[0] - self._chances[1])) + 50
        while near + around <= MOST_RESPONDENTS:
            sizes = np.arange(max(1, near - around), near + around + 1)
            short = sizes[self.exactly(sizes) < wanted]
            if len(short) and short[-1] < near + around // 2:
                return int(short[-1]) + 1
            if not len(short) and sizes[0] == 1:
                return 1
            around *= 2
        return None

    @cached_property
    def _curves(self) -> tuple[VarianceCurve, VarianceCurve]:
        return self._curve(self.true), self._curve(self.null)

    def _curve(self, share: float) -> VarianceCurve:
        rest = (1 - share) / (len(self.design.categories) - 1)
        shares = [share if each == self.category else rest for each in self.design.categories]
        return variance_curve(self.design, shares, Goal(self.category))

    @cached_property
    def _chances(self) -> tuple[float, float] | None:
        """How often the category's own response is sent, at the true share and at the null; None if none decides."""
        if isinstance(self.design, Deck):
            return None
        channel = self.design.channel
        if not isinstance(channel, Diagonal) and (channel.answers, channel.responses) != (2, 2):
            return None
        own = self.design.category_number(self.category)
        hit, stray = (float(channel.probability(own, given=each)) for each in (own, int(own == 0)))
        return stray + (hit - stray) * self.true, stray + (hit - stray) * self.null


def _reached(n: NDArray[np.int64], true: float, null: float, tail: float, *, above: bool) -> Vector:
    """Return how often a count with chance `true` is one that a count with chance `null` reaches hardly ever."""
    if not above:  # then the misses are many
        true, null = 1 - true, 1 - null
    low, high = np.full(len(n), -1), n  # a true null exceeds `low` too often, `high` seldom enough
    while (high - low > 1).any():
        middle = (low + high) // 2
        seldom = binom.sf(middle, n, null) <= tail
        low, high = np.where(seldom, low, middle), np.where(seldom, middle, high)
    return np.asarray(binom.sf(high, n, true), np.float64)


def _above(gap: float, error: float) -> float:
    """Return the probability that a normal value with mean `gap` is positive."""
    return _NORMAL.cdf(gap / error) if error > 0 else float(gap > 0)


def _read_share(number: float, name: str) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
        raise InvalidRequest(f"{name} is {number!r:.40}; expected a share from 0 to 1.")
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
