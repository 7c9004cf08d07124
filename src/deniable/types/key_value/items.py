"""What is told of all items together: what padding cuts off, shrinkage, the largest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deniable.errors import InvalidRequest, quoted
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import quantile
from deniable.estimates.results import Bounds, Caution, Result
from deniable.types.key_value.linear import NOISE

if TYPE_CHECKING:
    from deniable.types.key_value.design import KeyValueDesign
    from deniable.types.key_value.estimate import ItemEstimate, KeyValueNumbers

TRUNCATED = "truncated"
"""The code of the warning that padding may have cut off items."""

Sizes: TypeAlias = "Mapping[int, float] | Result[Any]"
"""The share of people with each number of items; or the estimate of a question with these numbers as its categories."""

_ROUNDING = 1e-6  # of shares that sum to 1
CONTRADICTION = 4.0
"""Standard errors: a true claim is contradicted in fewer than 1 in 10,000 estimates."""


@dataclass(frozen=True)
class KeptShare:
    """The share of edges that padding counts, of people whose numbers of items are known or estimated.

    Why: of somebody's s items each is drawn with probability 1/max(s, ℓ) where the estimate counts with 1/ℓ, so that
    min(s, ℓ) of s edges are counted on average. For a single item this is exact where having it does not depend on how
    many others somebody has; means need no correction there.

    Attributes:
        counted: E[min(s, ℓ)], the counted items of a person on average.
        items: E[s], the items of a person on average.
        counted_variance: the variance of the estimate of `counted`; 0 for known numbers of items.
        relative_variance: the variance of the estimate of `counted`/`items` over its square.
    """

    counted: float
    items: float
    counted_variance: float = 0.0
    relative_variance: float = 0.0

    @property
    def value(self) -> float:
        """The share; 1 where nobody has an item."""
        return self.counted / self.items if self.items else 1.0

    def widen(self, bounds: Bounds, values: Vector, level: float) -> Bounds:
        """Return the bounds of values that are divided by the share, from those of the values before.

        Implements: the recovery of variances [ZD08]: the squared distances of the bounds and z²·(variance of the
        share) add up on either side.
        """
        z, corrected = quantile(level), vector(values / self.value)
        noise = self.relative_variance * (z * corrected) ** 2
        low, high = (vector(end) / self.value for end in bounds)
        below = np.sqrt((corrected - low) ** 2 + noise)
        above = np.sqrt((high - corrected) ** 2 + noise)
        return (
            np.where(low <= corrected, corrected - below, low),
            np.where(high >= corrected, corrected + above, high),
        )


def kept_share(design: KeyValueDesign, sizes: Sizes) -> KeptShare:
    """Return the share of edges that padding counts, given the share of people with each number of items.

    An estimate of these shares may be about the same people or about others: the larger variance is taken.

    Raises:
        InvalidRequest: the design does not pad, or the shares do not sum to 1.
    """
    scheme = design.scheme
    if scheme.one_each:
        raise InvalidRequest(
            f"{design.name} looks at any item alike; expected a design with padding."
        )
    size, shares, covariance = read_sizes(sizes)
    counts = np.minimum(size, scheme.multiplier)
    counted, items = float(counts @ shares), float(size @ shares)
    if covariance is None:
        return KeptShare(counted, items)
    if min(counted, items) <= 0:
        raise InvalidRequest(
            f"the estimated number of items of a person is {items:.3g}; expected one above 0."
        )
    slope = counts / counted - size / items
    variance = float(slope @ covariance @ slope)
    # of the same people, whose numbers of items move the responses, too
    products = (counts * size, items), (counts * counts, counted)
    joint, own = (
        float(square @ shares) / (counted * mean) - 1 for square, mean in products
    )
    shared = max(2 * (joint - own), 0.0) / getattr(sizes, "respondents")  # noqa: B009 - of an estimate
    return KeptShare(
        counted, items, float(counts @ covariance @ counts), variance + shared
    )


def read_sizes(sizes: Sizes) -> tuple[Vector, Vector, Matrix | None]:
    """Return numbers of items, the share of people with each, and the covariance of these shares if they are estimated.

    Raises:
        InvalidRequest: neither shares by whole numbers that sum to 1, nor an estimate of such shares.
    """
    if isinstance(sizes, Result):
        shares, covariance = sizes.params, sizes.cov_params()
        if all(name.isdecimal() for name in shares):
            return (
                vector(list(map(float, shares))),
                vector(list(shares.values())),
                vector(covariance),
            )
    elif (
        isinstance(sizes, Mapping)
        and all(map(_fits, sizes, sizes.values()))
        and abs(sum(sizes.values()) - 1) <= _ROUNDING
    ):
        return vector(list(sizes)), vector(list(sizes.values())), None
    raise InvalidRequest(
        "the shares of people by number of items do not fit; expected whole numbers of items, with shares of 0 or "
        "more that sum to 1, or the estimate of a question with such numbers as its categories.",
        "For example {0: 0.2, 1: 0.5, 2: 0.3}. Ask for them with a design of their own, such as k_ary().",
    )


def _fits(size: object, share: object) -> bool:
    whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
    return whole and size >= 0 and isinstance(share, Real) and 0 <= share <= 1  # type: ignore[operator]


def truncation(design: KeyValueDesign, remedy: str) -> list[Caution]:
    """Return the warning that people may have more items than places, where there are fewer places than items."""
    scheme = design.scheme
    if scheme.one_each or scheme.multiplier >= scheme.items:
        return []
    count = "one item" if scheme.multiplier == 1 else f"{scheme.multiplier} items"
    text = (
        f"people with more than {count} are counted with {scheme.multiplier} of them, and responses "
        f"do not show whether there are such people.{remedy}, or a larger padding."
    )
    return [Caution(TRUNCATED, text)]


def padding_cautions(numbers: KeyValueNumbers) -> list[Caution]:
    """Return a warning unless the numbers of items are given; or, where the responses contradict these, about that.

    Why always: the responses of people with more items than places have the same distribution as those of other people
    with fewer. No test of responses tells truncation from none; see `average_degree_bounds`.
    """
    scheme, kept = numbers.design.scheme, numbers.kept
    if scheme.one_each:
        return []
    tells = numbers.linear.frequency is not None
    if kept is None:
        extent = ""
        if tells:
            low, high = numbers.degree_bounds(None, 0.95)
            extent = f" The average degree of an item may be anything from {low:.4g} to {high:.4g}."
        return truncation(
            numbers.design,
            f"{extent} Use corrected() with the numbers of items that people have",
        )
    if not tells:
        return []
    total, _w, variance, *_ = numbers.linear.totals()
    error = (variance + kept.counted_variance) ** 0.5
    if abs(total - kept.counted) <= CONTRADICTION * error:
        return []
    text = (
        f"the numbers of items that were given mean {kept.counted:.3g} counted items for each respondent, and the "
        f"responses tell {total:.3g} ± {error:.2g}: one of them is about other people, or wrong."
    )
    return [Caution("sizes-differ", text)]


def check_number(name: str, number: object, *, least: int = 1) -> None:
    """Refuse what is no number of so many.

    Raises:
        InvalidRequest: not a whole number, or too small.
    """
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole or number < least:  # type: ignore[operator]  # a whole number
        raise InvalidRequest(
            f"{name} is {quoted(number)}; expected a whole number of at least {least}."
        )


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Frequencies and means with less error on the whole; biased towards their averages, item by item.

    Attributes:
        frequency: the share of respondents who have each item, between 0 and 1.
        mean: the mean weight of those who have it, on the scale of the design.
    """

    frequency: Vector
    mean: Vector


def shrunk(numbers: KeyValueNumbers) -> Shrunk:
    """Return the best linear predictions of all items' frequencies and means, their spread told from the data.

    Implements: empirical Bayes with normal priors [EM73]. With average f̄ and spread τ² (what the variance of the
    estimates leaves over their noise), a frequency becomes f̄ + τ²/(τ² + noise)·(estimate − f̄). For the mean, w − μ̄f is
    an unbiased estimate of f times how far the item's mean is from μ̄, and is shrunk in the same way. What is itself
    told by noisy numbers, μ̄ and the spread of the means, counts by as much as it stands clear of `NOISE`.

    Raises:
        NotEstimable: the design does not tell edges from none, or not the weights.
    """
    f, w = numbers.frequency, numbers.centred
    var_f, var_w, cov = numbers.variances
    frequency = np.clip(numbers.linear.plausible[0] / numbers.kept_value, 0.0, 1.0)
    common = _common(numbers)
    excess = w - common * f
    noise = np.maximum(var_w - 2 * common * cov + common**2 * var_f, 0.0)
    between = _excess_variance(excess, noise) / max(
        float((frequency**2).sum()), 1e-300
    )
    between = min(between, 1.0)
    weight = frequency**2 * between + noise
    shift = np.divide(
        frequency * between * excess, weight, out=np.zeros_like(f), where=weight > 0
    )
    middle, half = numbers.design.scale
    return Shrunk(
        frequency,
        np.asarray(middle + half * np.clip(common + shift, -1.0, 1.0), np.float64),
    )


def _excess_variance(excess: Vector, noise: Vector) -> float:
    """Return by how much squares exceed their noise, drawn towards 0 by as much as noise explains that.

    Why: the sum of so many squares of pure noise has the variance 2·Σ noise². Half of all such sums are positive, and
    would make differences between means out of nothing.
    """
    between = float((excess**2 - noise).sum())
    if between <= 0:
        return 0.0
    by_noise = NOISE**2 * 2 * float((noise**2).sum()) / between**2
    return max(1 - by_noise, 0.0) * between


def _common(numbers: KeyValueNumbers) -> float:
    """Return the mean weight of all edges, drawn towards the middle of the scale by as much as noise explains it.

    Two things can be unsure. Whether there are edges at all: a total within `NOISE` standard errors of 0 says nothing
    about a mean, as for a single item, and one farther away counts by as much as it is. And the ratio itself: 3 is one
    over the variance of a mean of which nothing is known but that it is between −1 and 1.
    """
    f, w, var_f, var_w, cov = numbers.linear.totals()
    if f <= 0:
        return 0.0
    sure = max(1 - NOISE**2 * var_f / f**2, 0.0)
    ratio = float(np.clip(w / f, -1.0, 1.0))
    noise = max(var_w - 2 * ratio * cov + ratio**2 * var_f, 0.0)
    return float(np.clip(sure * f * w / (f**2 + 3 * noise), -1.0, 1.0))


@dataclass(frozen=True)
class Ranked:
    """One of the items with the largest values.

    Attributes:
        item: its name.
        value: its estimate.
        low: the lower end of its interval; the intervals of all items hold together.
        high: the upper end.
        sure: whether it is among the largest whatever the truth within the intervals is.
    """

    item: str
    value: float
    low: float
    high: float
    sure: bool


def top(
    estimate: ItemEstimate, count: int, by: str, level: float
) -> tuple[Ranked, ...]:
    """Return the items with the largest values.

    Why the intervals hold for what was picked: they hold for all items at once, whichever are looked at. An item surely
    belongs to the first `count` if fewer than that many of the others reach up to its lower end.

    Args:
        estimate: what is known.
        count: how many.
        by: one of the quantities; by the mean only items whose degree stands clear of noise.
        level: how often all intervals together hold.

    Raises:
        InvalidRequest: fewer than one.
    """
    check_number("count", count)
    values = estimate.value(by)
    intervals = np.array(
        list(estimate.about(by).conf_int(level=level, simultaneous=True).values())
    )
    order = _rank_numbers(estimate, by, values)
    items, highs = estimate.tally.design.items, np.sort(intervals[:, 1])
    picked = []
    for number in order[:count]:
        low, high = intervals[number]
        rivals = len(highs) - int(np.searchsorted(highs, low)) - (high >= low)
        picked.append(
            Ranked(
                items[number],
                float(values[number]),
                float(low),
                float(high),
                bool(rivals < count),
            )
        )
    return tuple(picked)


def _rank_numbers(estimate: ItemEstimate, by: str, values: Vector) -> list[int]:
    """Return the numbers of the items that can be ranked, the largest value first."""
    eligible = np.isfinite(values)
    if by == "mean":
        eligible &= ~estimate.within_noise
    return [
        number
        for number in np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")
        if eligible[number]
    ]
