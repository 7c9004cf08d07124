"""Rows of people who were drawn with a `Sampling` → who has each item, with which weight, and the mean of those."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.results import Caution
from deniable.estimates.sampling import (
    Asked,
    OneResponse,
    RowValues,
    SampledEstimate,
    Sampling,
    check_room,
    columns,
    estimate_values,
)
from deniable.tallies.responses import Missing, Responses
from deniable.types.key_value.count import KeyValueTally, tally
from deniable.types.key_value.design import ItemDesign, KeyValueDesign
from deniable.types.key_value.estimate import ItemEstimate, estimate
from deniable.types.key_value.items import truncation
from deniable.types.key_value.linear import CONDITIONAL, read_scaling
from deniable.types.key_value.schemes import NONE, PLUS
from deniable.types.key_value.variances import scores, second_moments

__all__ = ["ItemRows", "estimate_items", "estimate_sampled"]

WEIGHT, MEAN = "weight of {}", "mean of {}"
"""What numbers about an item are called; the share of those who have it has the item's own name."""

_HINT = "Count them, without a sampling: dn.estimate(dn.tally(responses)); or ask about fewer items."


def estimate_sampled(
    responses: Responses[KeyValueDesign],
    sampling: Sampling,
    *,
    scaling: str | None = None,
    sizes: object = None,
    domain: object = None,
    by: object = None,
) -> SampledEstimate:
    """Estimate who of the people that a sample stands for has each item, with which weight, and the mean of those.

    As without a sample, it is about the share of people who have each item; `about("degree")`, `about("weight")` and
    `about("mean")` return how many have it, the sum of its weights, and the mean weight of those who have it.

    Implements: what one response adds to the estimates of F15, M·d and M·v of its symbol, is right on average about
    its respondent. "conditional" divides by the weights of those who were asked about the item: a ratio. With padding ℓ
    somebody's items are each drawn with probability 1/max(s, ℓ) of s items: with known `sizes` M is max(s, ℓ) row by
    row, which takes nothing for granted about who has many items.

    Args:
        responses: what was sent, a row for each person of the sample.
        sampling: how these people were drawn.
        scaling: "fixed" or "conditional"; by default the one that `estimate` takes for the tally of each group's rows.
        sizes: of a design with padding: how many items the person of each row has, where that is public.
        domain: True for the rows of a part of the people.
        by: a group for each row.

    Raises:
        InvalidRequest: columns that do not fit, more rows and items than are held at once, or another scaling.
        NotEstimable: a stratum with one cluster, nobody with a weight in a group, or symbols that tell nothing.

    Example:
        >>> from deniable.types.key_value.design import lpp_ddagger
        >>> sent = Responses(lpp_ddagger(["tea", "coffee"], 1), {"response": np.array([1, 3, 2, 0, 1, 4])})
        >>> found = estimate_sampled(sent, Sampling([2, 2, 1, 1, 2, 2], clusters=[1, 1, 2, 2, 3, 3]), scaling="fixed")
        >>> list(found.params), round(found.params["tea"], 3)
        (['tea', 'coffee'], 1.931)
    """
    design = responses.design
    check_items(design, len(responses))
    rows = cache(partial(KeyValueRows.of, responses, sizes=sizes))

    def counts(part: Missing) -> KeyValueTally:
        return tally(design, responses[part].present()["response"])

    def count(part: Missing, population: int | None) -> ItemEstimate | None:
        if population is not None or sizes is not None:
            return None
        return estimate(counts(part), scaling=scaling)

    def read(part: Missing) -> KeyValueRows:
        # Each group is estimated as if it were alone: its own responses choose.
        chosen = read_scaling(counts(part), scaling)
        return rows(conditional=chosen == CONDITIONAL)

    asked = Asked(design, design.name, design.epsilon)
    doubts = (
        truncation(design, " Give how many items each person has, sizes=")
        if sizes is None
        else ()
    )
    return estimate_items(
        read, sampling, asked, count, domain=domain, by=by, doubts=doubts
    )


def _read_places(design: KeyValueDesign, sizes: object, rows: int) -> Vector:
    """Return by how much an edge of each row counts: one over the chance that it is looked at.

    Raises:
        InvalidRequest: numbers of items of a design without padding, or numbers that cannot be.
    """
    scheme = design.scheme
    if sizes is None:
        return np.full(rows, float(scheme.multiplier))
    if scheme.one_each:
        raise InvalidRequest(
            f"{design.name} looks at any item alike; expected no sizes= without padding."
        )
    given = columns.numbers(sizes, "sizes", rows)
    if ((given != np.rint(given)) | (given < 0) | (given > scheme.items)).any():
        raise InvalidRequest(
            f"sizes holds numbers that are not from 0 to {scheme.items:,}; expected how many of the items each person "
            "has."
        )
    return np.maximum(given, scheme.multiplier)


def check_items(design: ItemDesign, rows: int) -> None:
    """Refuse more rows and items than are held at once.

    Raises:
        InvalidRequest: too many.
    """
    check_room(rows, 6 * len(design.items), "numbers about items", _HINT)


@dataclass(frozen=True, eq=False)
class ItemRows:
    """What each response says about each item.

    Attributes:
        items: their names.
        present: which rows hold a response.
        has: what a row adds to the share of those who have each item; None where it does not tell.
        weight: what it adds to the weights, 0 without the item; None where it does not tell.
        asked: which rows say something about each item, where the others are not counted.
    """

    items: Sequence[str]
    present: Missing
    has: Matrix | None
    weight: Matrix | None
    asked: Matrix | None = field(default=None, kw_only=True)

    @abstractmethod
    def device(self, factors: Vector, means: Vector) -> Matrix:
        """Return the covariance of the device, as `RowValues` has it."""

    @abstractmethod
    def spread(self, weights: Vector, means: Vector) -> OneResponse:
        """Return what one response says, as `RowValues` has it."""

    def block(self) -> RowValues:
        """Return the numbers about items as one block: shares, weights, and the mean of those who have an item."""
        kinds = {"{}": self.has, WEIGHT: self.weight}
        told = {words: rows for words, rows in kinds.items() if rows is not None}
        size, summed = len(self.items), len(self.items) * len(told)
        below = [] if self.asked is None else [self.asked] * len(told)
        ratios: tuple[tuple[int, int, int], ...] = ()
        if self.has is not None and self.weight is not None:
            told[MEAN] = self.weight
            below = [*(below or [np.ones_like(self.has)] * 2), self.has]
            ratios = tuple(
                (2 * size + item, size + item, item) for item in range(size)
            )
        return RowValues(
            tuple(words.format(item) for words in told for item in self.items),
            vector(np.hstack(list(told.values()))),
            self.present,
            self.device,
            "share and mean" if ratios else "mean" if self.has is None else "share",
            self.spread,
            vector(np.hstack(below)) if below else None,
            summed=summed,
            ratios=ratios,
        )

    def split(self, numbers: SampledEstimate) -> dict[str, SampledEstimate]:
        """Return each quantity that is told by itself."""
        size, start = len(self.items), 0
        quantities: dict[str, SampledEstimate] = {}
        if self.has is not None:
            shares = numbers.select(self.items, range(size), "frequency")
            quantities["frequency"], start = shares, size
        if numbers.totals is not None:
            totals = numbers.totals
            if self.has is not None:
                degrees = totals.select(self.items, range(size), "degree")
                quantities["degree"] = degrees
                total = replace(degrees, quantity="total")
                quantities["frequency"] = replace(shares, totals=total)
            if self.weight is not None:
                weights = range(start, start + size)
                quantities["weight"] = totals.select(self.items, weights, "weight")
        if self.has is not None and self.weight is not None:
            means = range(2 * size, 3 * size)
            quantities["mean"] = numbers.select(self.items, means, "mean")
        return quantities


def estimate_items(
    read: Callable[[Missing], ItemRows],
    sampling: Sampling,
    asked: Asked,
    count: Callable[[Missing, int | None], ItemEstimate | None],
    *,
    domain: object,
    by: object,
    doubts: Sequence[Caution] = (),
) -> SampledEstimate:
    """Estimate all quantities together, and return the first one that is told, with the others beside it.

    Args:
        read: what responses say about items, for the rows of a group.
        sampling: how the people of the rows were drawn.
        asked: what they were asked with.
        count: the estimate from counts, as for `estimate_values`.
        domain: True for the rows of a part of the people.
        by: a group for each row.
        doubts: what has to be warned of.
    """
    groups: list[ItemRows] = []

    def block(part: Missing) -> list[RowValues]:
        groups.append(read(part))
        return [groups[-1].block()]

    numbers = estimate_values(
        block, sampling, asked, domain=domain, by=by, count=count
    )
    quantities = {
        name: replace(
            part.with_evidence(
                tuple(counts.about(name) for counts in numbers.evidence)
            ),
            doubts=tuple(doubts),
        )
        for name, part in groups[0].split(numbers).items()
    }
    first = next(iter(quantities))
    return replace(quantities.pop(first), others=quantities)


class _ItemTerms(NamedTuple):
    """What rows add to numbers of one kind, less what they are divided by times the mean; and what that is on average.

    Attributes:
        rows: what each row adds to the number of each item.
        has: the factor of having an item in what that is on average.
        weight: the factor of its weight.
        known: what is the same for everybody.
    """

    rows: Matrix
    has: Vector
    weight: Vector
    known: Vector


@dataclass(frozen=True, eq=False)
class KeyValueRows(ItemRows):
    """What each response to a key-value design says about each item.

    Attributes:
        design: what was asked with.
        places: by how much an edge of each row counts; of one item each that it is asked about, if only those count.
    """

    design: KeyValueDesign
    places: Vector

    @classmethod
    def of(
        cls,
        responses: Responses[KeyValueDesign],
        *,
        conditional: bool,
        sizes: object = None,
    ) -> KeyValueRows:
        """Read rows; those without a response hold zeros.

        Raises:
            InvalidRequest: numbers of items that do not fit.
            NotEstimable: symbols tell neither who has an item nor its weight.
        """
        design, told = responses.design, scores(responses.design.scheme.symbol)
        present = ~responses.gaps
        symbols = np.full((len(responses), len(design.items)), -1, np.int8)
        symbols[present] = _symbols(design, responses.present()["response"])
        places = _read_places(design, sizes, len(responses))
        factor = 1.0 if conditional else places[:, None]

        def read(score: tuple[Fraction, ...] | None) -> Matrix | None:
            if score is None:
                return None
            # The last one is for whoever was not asked about an item.
            return factor * np.array([*score, 0], np.float64)[symbols]

        middle, half = design.scale
        has, weight = read(told.degree), read(told.weight)
        if weight is not None:
            weight = half * weight
            if middle:
                weight = None if has is None else weight + middle * has
        if has is None and weight is None:
            raise NotEstimable(
                f"{design.name} does not tell who has an item; expected a design such as lpp_club() or pckv_ue()."
            )
        asked = vector(symbols >= 0) if conditional else None
        return cls(design.items, present, has, weight, design, places, asked=asked)

    def device(self, factors: Vector, means: Vector) -> Matrix:
        """Return Σ c·(e·e′ − g·g′) with e what a row adds, less what it is divided by times the mean, and g its mean.

        Why: e·e′ is there, and g·g′ of one item is right on average where it is linear: whoever has it has it once. The
        square of a weight is not told by its sign. It is at least what it would be if all weights lay in the middle of
        the scale, where rounding adds most; with that the variance is a little too large, never too small. Who has two
        items together is not told either; it is taken as if one said nothing about the other.
        """
        kinds = self._kinds(means)
        added = np.hstack([kind.rows for kind in kinds])
        second, people = (
            (added.T * factors) @ added,
            float(factors[self.present].sum()),
        )
        if not people:
            return vector(second)
        F, W, Q = self._sums(factors)
        sums = np.concatenate(
            [kind.has * F + kind.weight * W + kind.known * people for kind in kinds]
        )
        squares, items = np.outer(sums, sums) / people, np.arange(len(F))
        for one, (_, a, b, c) in enumerate(kinds):
            for two, (_, d, e, f) in enumerate(kinds):
                same_item = (
                    (a * d + a * f + c * d) * F
                    + (a * e + b * d + b * f + c * e) * W
                    + b * e * Q
                    + c * f * people
                )
                squares[one * len(F) + items, two * len(F) + items] = same_item
        return vector(second - squares)

    def _kinds(self, means: Vector) -> list[_ItemTerms]:
        """Return what rows add to each kind of number: shares, weights, and means of those who have an item."""
        none, part = np.zeros(len(self.items)), self._part
        kinds: list[_ItemTerms] = []
        for rows, has, weight in (
            (self.has, none + part, none),
            (self.weight, none, none + part),
        ):
            if rows is None:
                continue
            known = none
            if self.asked is not None:
                mean = means[len(kinds) * len(none) :][: len(none)]
                rows, known = rows - mean * self.asked, -part * mean  # noqa: PLW2901 - less what they are divided by
            kinds.append(_ItemTerms(rows, has, weight, known))
        if self.has is not None and self.weight is not None:
            mean = means[2 * len(none) :]
            rows = self.weight - mean * self.has
            kinds.append(_ItemTerms(rows, -part * mean, none + part, none))
        return kinds

    @property
    def _part(self) -> float:
        """Of what is true of a respondent, the part that a row holds on average: all of it, or what was asked about."""
        return 1.0 if self.asked is None else 1 / self.design.scheme.multiplier

    def _sums(self, factors: Vector) -> tuple[Vector, Vector, Vector]:
        """Return Σ c of those who have each item, of their weights, and the least that the squared weights sum to."""
        none = np.zeros(len(self.items))
        F = none if self.has is None else factors @ self.has / self._part
        W = none if self.weight is None else factors @ self.weight / self._part
        middle, _ = self.design.scale
        return F, W, 2 * middle * W - middle**2 * F  # w² ≥ 2mw − m² whatever w is

    def spread(self, weights: Vector, means: Vector) -> OneResponse:
        """Return how what one response says about having an item varies, and the ends of the scale of means."""
        items, size = len(self.items), len(means)
        curve, low, high = np.split(np.full((5, size), np.nan), [3, 4])
        low, high = low[0], high[0]
        if self.has is None:
            return OneResponse(curve, low, high)
        scheme, conditional = self.design.scheme, self.asked is not None
        moments = second_moments(scheme, conditional=conditional)
        others, plus, minus = map(float, moments.degree)
        uneven = len(set(self.places)) > 1
        if uneven:
            others, plus, minus = self._uneven_moments(weights)
        tilt = np.zeros(items)
        if self.weight is not None:
            middle, half = self.design.scale
            mean = np.nan_to_num(means[2 * items :], nan=middle)
            tilt = np.clip((mean - middle) / half, -1.0, 1.0)
            low[2 * items :] = float(self.design.low)
            high[2 * items :] = float(self.design.high)
        own = plus * (1 + tilt) / 2 + minus * (1 - tilt) / 2
        curve[0, :items], curve[1, :items], curve[2, :items] = (
            others,
            own - others,
            -1,
        )
        score = scores(scheme.symbol).degree
        assert score is not None
        factor = 1 if conditional else scheme.multiplier
        is_pair = conditional or not (scheme.one_each or uneven)
        if len(set(score[PLUS:])) == 1 and is_pair:
            ends = (float(factor * score[symbol]) for symbol in (NONE, PLUS))
            low[:items], high[:items] = sorted(ends)
        return OneResponse(curve, low, high)

    def _uneven_moments(self, weights: Vector) -> Vector:
        """Return the second moments of what people with different numbers of items add, as `second_moments` does.

        Those who have an item may all be people with the most items, whose responses vary most: intervals are then a
        little too wide for other items, and never too narrow.
        """
        squares = np.array(scores(self.design.scheme.symbol).squares, np.float64)
        places = self.places[self.present]
        none = np.average(places**2, weights=weights[self.present]) * squares[NONE]
        most = places.max()
        own = most * squares[PLUS:] + most * (most - 1) * squares[NONE]
        return vector([none, *own])


def _symbols(
    design: KeyValueDesign, rows: NDArray[np.integer]
) -> NDArray[np.integer]:
    """Return the symbol that each row sends about each item; −1 about those that it is not about."""
    scheme = design.scheme
    if scheme.KIND == "unary":
        return rows
    symbols = np.full(
        (len(rows), scheme.items), -1 if scheme.one_each else NONE, np.int8
    )
    codes = rows.astype(np.int64)
    if scheme.one_each:
        item, symbol = np.divmod(codes, design.width)
        symbols[np.arange(len(rows)), item] = symbol
        return symbols
    sent = np.flatnonzero(codes < scheme.responses - 1)  # the last one says nothing
    symbols[sent, codes[sent] // 2] = 1 + codes[sent] % 2
    return symbols
