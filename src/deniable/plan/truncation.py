"""The padding of items with weights: how many places lose the least, between what is cut off and what noise adds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from deniable.designs.labels import Labels
from deniable.errors import InvalidRequest, require_choice, require_one
from deniable.estimates.covariances import Vector
from deniable.exact import Rational
from deniable.plan.planned import Line, Planned
from deniable.plan.precision import (
    MAX_RESPONDENTS,
    read_whole,
    smallest,
    target_variance,
)
from deniable.rendering import formats
from deniable.types.key_value.design import (
    KeyValueDesign,
    lpp_club,
    pckv_grr,
    pckv_ue,
    read_items,
)
from deniable.types.key_value.items import Sizes, read_sizes
from deniable.types.key_value.linear import item_tie
from deniable.types.key_value.schemes import NONE, PLUS
from deniable.types.key_value.variances import second_moments

ItemShares: TypeAlias = Sizes
"""The share of people with each number of items."""

_FAMILIES: dict[str, Callable[..., KeyValueDesign]] = {
    "pckv_grr": pckv_grr,
    "pckv_ue": pckv_ue,
}
_GOALS = ("items", "average degree")
_GRID = 40  # numbers of places that are tried before their neighbours are
_HOPELESS = 4.0
"""More places are not tried once the error is so many times the least one before."""


class _ItemCounts(NamedTuple):
    """How many items people have.

    Attributes:
        sizes: numbers of items.
        shares: the share of people with each.
        items: how many items there are.
    """

    sizes: Vector
    shares: Vector
    items: int

    def counted(self, places: int) -> float:
        """Return how many items of a person are counted, on average."""
        return float(np.minimum(self.sizes, places) @ self.shares)

    @property
    def mean(self) -> float:
        """How many items a person has, on average."""
        return float(self.sizes @ self.shares)

    def beyond(self, places: int) -> float:
        """Return the share of people who have more items than places."""
        return float(self.shares[self.sizes > places].sum())

    @property
    def largest(self) -> int:
        """The most items that anybody has."""
        return int(self.sizes[self.shares > 0].max())


@dataclass(frozen=True, slots=True)
class _PaddingErrors:
    """A number of places with its errors, of a frequency.

    Attributes:
        design: the design.
        scatter: n times the variance of the estimate.
        bias: how far its mean is below the truth.
        kept: the share of edges that are counted.
    """

    design: KeyValueDesign
    scatter: float
    bias: float
    kept: float

    @property
    def places(self) -> int:
        """How many there are."""
        return self.design.scheme.multiplier

    def error(self, n: int, *, corrected: bool) -> float:
        """Return the root mean squared error with n respondents; of a corrected estimate without the bias."""
        variance = self.scatter / n
        if corrected:
            return math.sqrt(variance) / self.kept
        return math.hypot(math.sqrt(variance), self.bias)


def padding(
    items: Labels,
    epsilon: Rational,
    n: int | None = None,
    *,
    shares: ItemShares,
    within: float | None = None,
    level: float = 0.95,
    family: str | None = None,
    goal: str = "items",
    corrected: bool = False,
) -> Planned:
    """Answer how many places items with weights are padded to, with n respondents or with as few as are enough.

    Why: with ℓ places min(s, ℓ) of s items are counted, which is a bias that more respondents do not remove, and each
    counts ℓ times, which is noise. So the more people respond, the more places are best. A correction by the numbers of
    items removes the bias if having an item does not depend on how many others somebody has; fewer places are then
    best, which rely on it more.

    Args:
        items: what people may have, or how many items there are; they are taken to be equally frequent.
        epsilon: the most that may be revealed about a whole row.
        n: how many will respond.
        shares: the share of people with each number of items, expected or from a pilot; or the estimate of a question.
        within: instead of n: how far the estimated share of people with an item may be off, as 0.05.
        level: how often it is as near as that.
        family (pckv_grr|pckv_ue): by default the better one.
        goal (items|average degree): whether each item's share counts, or the average of all.
        corrected: whether the estimate will be corrected by the numbers of items.

    Raises:
        InvalidRequest: shares that do not fit, nobody with an item, or a family or goal that does not exist; not
            exactly one of n and within.

    Example:
        >>> tail = {0: 0.1, 1: 0.3, 2: 0.3, 3: 0.21, 10: 0.09}
        >>> [padding(20, 4, n, shares=tail, goal="average degree").value for n in (300, 30_000)]
        [9, 10]
    """
    require_one("For example n=1000, or within=0.05.", n=n, within=within)
    require_choice("the goal is", goal, _GOALS)
    if family is not None:
        require_choice("the family is", family, _FAMILIES)
    names = read_items(items)
    people = _read_people(shares, len(names))
    frequency = min(round(people.mean / people.items, 6) or 1e-6, 1.0)

    def errors(
        build: Callable[..., KeyValueDesign], **places: int
    ) -> _PaddingErrors:
        design = build(names, epsilon, frequency=frequency, **places)
        return _errors(design, people, goal)

    def search(
        build: Callable[..., KeyValueDesign], n: int
    ) -> dict[int, _PaddingErrors]:
        return _search(
            lambda places: errors(build, padding=places),
            people.largest,
            lambda padded: padded.error(n, corrected=corrected),
        )

    def consider(n: int) -> dict[str, dict[int, _PaddingErrors]]:
        return {
            name: search(build, n)
            for name, build in _FAMILIES.items()
            if family in (None, name)
        }

    tried = consider(MAX_RESPONDENTS if n is None else read_whole(n, "n"))
    if n is None:
        flat = [each for padded in tried.values() for each in padded.values()]
        n = _people_within(flat, within, level, corrected=corrected)
        tried = consider(n)
    best = {
        name: min(
            padded.values(), key=lambda each: each.error(n, corrected=corrected)
        )
        for name, padded in tried.items()
    }
    name = min(best, key=lambda each: best[each].error(n, corrected=corrected))
    chosen, plain = best.pop(name), errors(lpp_club)
    notes = [
        f"{formats.percent(people.beyond(chosen.places))} of the people have more items than places; "
        f"{formats.percent(chosen.kept)} of all edges are counted.",
        *(
            f"{other} is best with {_places(each)}, and an error of {each.error(n, corrected=corrected):.3g}."
            for other, each in best.items()
        ),
        f"lpp_club, which needs no padding, has an error of {plain.error(n, corrected=False):.3g}.",
    ]
    what = "the share of an item" if goal == "items" else "the average share"
    how = "after the correction" if corrected else "bias included"
    start = "" if within is None else f"Ask {n:,} people. "
    return Planned(
        f"{start}Pad to {_places(chosen)} with {name}: with {n:,} respondents the error of {what} is "
        f"{chosen.error(n, corrected=corrected):.3g}, {how}.",
        chosen.places if within is None else n,
        tuple(_line(each, people, n) for _, each in sorted(tried[name].items())),
        tuple(notes),
        design=chosen.design,
    )


def _read_people(shares: ItemShares, items: int) -> _ItemCounts:
    sizes, size_shares, _ = read_sizes(shares)
    people = _ItemCounts(sizes, size_shares, items)
    if people.mean <= 0 or people.largest > items:
        raise InvalidRequest(
            f"the numbers of items are not from 0 to {items:,}, or nobody has an item; expected others."
        )
    return people


def _people_within(
    tried: Sequence[_PaddingErrors],
    within: float | None,
    level: float,
    *,
    corrected: bool,
) -> int:
    """Return with how many respondents some of the paddings are as near as is wished."""
    target = target_variance(None, within, level, "normal") ** 0.5

    def enough(n: int) -> bool:
        return any(each.error(n, corrected=corrected) <= target for each in tried)

    n = smallest(enough)
    assert n is not None  # as many places as items have no bias
    return n


def _places(padded: _PaddingErrors) -> str:
    return "1 place" if padded.places == 1 else f"{padded.places:,} places"


def _errors(
    design: KeyValueDesign, people: _ItemCounts, goal: str
) -> _PaddingErrors:
    """Return the errors of a design, of an item's frequency or of the average frequency of all items.

    Implements: n·Var = (1 − g)·E₀ + g·E₁ − g² of one item with the counted frequency g, and its sum over all items with
    the covariances of `ItemLinear`.
    """
    scheme = design.scheme
    second = second_moments(scheme).degree
    counted = people.mean if scheme.one_each else people.counted(scheme.multiplier)
    g, m = counted / people.items, people.items
    own = (1 - g) * float(second[NONE]) + g * float(second[PLUS])
    scatter = own - g**2
    if goal != "items":
        tie = item_tie(scheme)
        products = m * own + tie * (m - 1) * (2 * counted - m * tie)
        scatter = (products - counted**2) / m**2
    bias = (people.mean - counted) / m
    return _PaddingErrors(design, scatter, bias, counted / people.mean)


def _search(
    consider: Callable[[int], _PaddingErrors],
    largest: int,
    error: Callable[[_PaddingErrors], float],
) -> dict[int, _PaddingErrors]:
    """Return numbers of places with their errors: all, or of very many a grid and the neighbours of its best ones."""
    grid = np.unique(np.geomspace(1, largest, _GRID).round().astype(int)).tolist()
    tried: dict[int, _PaddingErrors] = {}
    for places in range(1, largest + 1) if largest <= _GRID else grid:
        tried[places] = consider(places)
        if error(tried[places]) > _HOPELESS * min(map(error, tried.values())):
            break
    while largest > _GRID:
        order = sorted(tried)
        best = order.index(min(tried, key=lambda each: error(tried[each])))
        low, high = order[max(best - 1, 0)], order[min(best + 1, len(order) - 1)]
        middles = {(low + order[best]) // 2, (order[best] + high + 1) // 2} - set(
            tried
        )
        if not middles:
            break
        tried |= {places: consider(places) for places in middles}
    return tried


def _line(padded: _PaddingErrors, people: _ItemCounts, n: int) -> Line:
    return {
        "places": padded.places,
        "people cut off": formats.percent(people.beyond(padded.places)),
        "standard error": (padded.scatter / n) ** 0.5,
        "bias": -padded.bias or 0.0,
        "error": padded.error(n, corrected=False),
        "error, corrected": padded.error(n, corrected=True),
    }
