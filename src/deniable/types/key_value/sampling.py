"""Rows of people who were drawn with a `Sampling` → who has each item, with which weight, and the mean of those."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from deniable.errors import NotEstimable
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling import (
    Asked,
    OneResponse,
    RowValues,
    SampledEstimate,
    Sampling,
    check_room,
    estimate_values,
)
from deniable.tallies.responses import Responses
from deniable.types.key_value.count import tally
from deniable.types.key_value.design import KeyValueDesign
from deniable.types.key_value.estimate import ItemEstimate, estimate
from deniable.types.key_value.linear import CONDITIONAL, read_scaling
from deniable.types.key_value.schemes import NONE, PLUS
from deniable.types.key_value.variances import scores, second_moments

__all__ = ["by_quantity", "estimate_numbers", "estimate_sampled", "item_block"]

WEIGHT, MEAN = "weight of {}", "mean of {}"
"""What numbers about an item are called; the share of those who have it has the item's own name."""

_HINT = "Count them, without a sampling: dn.estimate(dn.tally(responses)); or ask about fewer items."


def estimate_sampled(
    responses: Responses[KeyValueDesign],
    sampling: Sampling,
    *,
    scaling: str | None = None,
    domain: Any = None,
    by: Any = None,
) -> SampledEstimate:
    """Estimate who of the people that a sample stands for has each item, with which weight, and the mean of those.

    As without a sample, it is about the share of people who have each item; `about("degree")`, `about("weight")` and
    `about("mean")` return how many have it, the sum of its weights, and the mean weight of those who have it.

    Implements: what one response adds to the estimates of F15, M·d and M·v of its symbol, is right on average about
    its respondent. "conditional" divides by the weights of those who were asked about the item: a ratio.

    Args:
        responses: what was sent, a row for each person of the sample.
        sampling: how these people were drawn.
        scaling: "fixed" or "conditional"; by default the one that `estimate` takes for the tally of the rows.
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
    return by_quantity(
        estimate_numbers(responses, sampling, scaling=scaling, domain=domain, by=by)
    )


def estimate_numbers(
    responses: Responses[KeyValueDesign],
    sampling: Sampling,
    *,
    scaling: str | None = None,
    domain: Any = None,
    by: Any = None,
) -> SampledEstimate:
    """Estimate all quantities of items together: shares, weights and means, with one covariance.

    Raises:
        InvalidRequest: columns that do not fit, more rows and items than are held at once, or another scaling.
        NotEstimable: a stratum with one cluster, nobody with a weight in a group, or symbols that tell nothing.
    """
    design = responses.design
    check_room(len(responses), 6 * len(design.items), "numbers about items", _HINT)
    counted = tally(design, responses.present()["response"])
    if not counted.respondents:
        raise NotEstimable("there are no responses; expected at least one.")
    chosen = read_scaling(counted, scaling)
    rows = _ItemRows.of(responses, conditional=chosen == CONDITIONAL)

    def count(part: Any, population: int | None) -> ItemEstimate | None:
        counts = tally(design, responses[part].present()["response"])
        return estimate(counts, scaling=chosen) if population is None else None

    asked = Asked(design, design.name, design.epsilon)
    return estimate_values(
        [rows.block()], sampling, asked, domain=domain, by=by, count=count
    )


def by_quantity(numbers: SampledEstimate) -> SampledEstimate:
    """Return the first quantity of items that a block of `item_block` tells, with the others beside it.

    Args:
        numbers: what was estimated: shares, weights and means, as far as they are told.
    """
    assert numbers.design is not None
    items: Sequence[str] = numbers.design.items  # type: ignore[union-attr]  # a design for items
    size = len(items)
    names = numbers.names_in_group
    has, weight = names[0] == items[0], WEIGHT.format(items[0]) in names
    starts = {"frequency": 0} if has else {}
    starts |= {"weight": size if has else 0} if weight else {}
    quantities: dict[str, SampledEstimate] = {}
    for name, start in starts.items():
        within = range(start, start + size)
        totals = (
            None
            if numbers.totals is None
            else numbers.totals.select(items, within, "total")
        )
        if name == "frequency":
            quantities[name] = replace(
                numbers.select(items, within, name), totals=totals
            )
        if totals is not None:
            quantities["degree" if name == "frequency" else name] = replace(
                totals, quantity="degree" if name == "frequency" else name
            )
    if has and weight:
        quantities["mean"] = numbers.select(items, range(2 * size, 3 * size), "mean")
    told = {
        name: each.with_evidence(
            tuple(counts.about(name) for counts in numbers.evidence)
        )
        for name, each in quantities.items()
    }
    first = next(iter(told))
    return replace(told.pop(first), others=told)


def item_block(
    items: Sequence[str],
    has: Matrix | None,
    weight: Matrix | None,
    present: Any,
    device: Callable[[Vector, Vector], Matrix],
    spread: Callable[[Vector, Vector], OneResponse],
    *,
    asked: Matrix | None = None,
) -> RowValues:
    """Return the numbers about items as one block: shares, weights, and the mean of those who have an item.

    Args:
        items: their names.
        has: what each row says about having each item; None where it does not tell.
        weight: what it says about its weight, 0 without it; None where it does not tell.
        present: which rows hold a response.
        device: the covariance of the device, as `RowValues` has it.
        spread: what one response says, as `RowValues` has it.
        asked: which rows say something about each item, where the others are not counted.
    """
    kinds = {"{}": has, WEIGHT: weight}
    told = {words: rows for words, rows in kinds.items() if rows is not None}
    size, summed = len(items), len(items) * len(told)
    below = [asked] * len(told) if asked is not None else None
    ratios: tuple[tuple[int, int, int], ...] = ()
    if has is not None and weight is not None:
        told[MEAN] = weight
        below = [*(below or [np.ones_like(has)] * 2), has]
        ratios = tuple((2 * size + item, size + item, item) for item in range(size))
    return RowValues(
        tuple(words.format(item) for words in told for item in items),
        vector(np.hstack(list(told.values()))),
        present,
        device,
        "share" if weight is None else "mean" if has is None else "share and mean",
        spread,
        None if below is None else vector(np.hstack(below)),
        summed=summed,
        ratios=ratios,
    )


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
class _ItemRows:
    """What each response says about each item.

    Attributes:
        design: what was asked with.
        present: which rows hold a response.
        has: what a row adds to the share of those who have each item; None where symbols do not tell.
        weight: what it adds to the weights, on the scale of the design; None where symbols do not tell.
        asked: with "conditional" scaling, which rows are about each item.
    """

    design: KeyValueDesign
    present: Any
    has: Matrix | None
    weight: Matrix | None
    asked: Matrix | None

    @classmethod
    def of(
        cls, responses: Responses[KeyValueDesign], *, conditional: bool
    ) -> _ItemRows:
        """Read rows; those without a response hold zeros.

        Raises:
            NotEstimable: symbols tell neither who has an item nor its weight.
        """
        design, told = responses.design, scores(responses.design.scheme.symbol)
        present = (
            np.ones(len(responses), np.bool_)
            if responses.missing is None
            else ~responses.missing
        )
        symbols = np.full((len(responses), len(design.items)), -1, np.int8)
        symbols[present] = _symbols(design, responses.present()["response"])
        factor = 1 if conditional else design.scheme.multiplier

        def read(score: tuple[Any, ...] | None) -> Matrix | None:
            # The last one is for whoever was not asked about an item.
            return (
                None
                if score is None
                else factor * vector([*map(float, score), 0.0])[symbols]
            )

        middle, half = design.scale
        has, centred = read(told.degree), read(told.weight)
        weight = None if centred is None else half * centred
        if weight is not None and middle:
            weight = None if has is None else weight + middle * has
        if has is None and weight is None:
            raise NotEstimable(
                f"{design.name} does not tell who has an item; expected a design such as lpp_club() or pckv_ue()."
            )
        return cls(
            design, present, has, weight, vector(symbols >= 0) if conditional else None
        )

    def block(self) -> RowValues:
        """Return the numbers that are told of each item."""
        return item_block(
            tuple(self.design.items),
            self.has,
            self.weight,
            self.present,
            self.device,
            self.spread,
            asked=self.asked,
        )

    def device(self, factors: Vector, means: Vector) -> Matrix:
        """Return Σ c·(e·e′ − g·g′) with e what a row adds, less what it is divided by times the mean, and g its mean.

        Why: e·e′ is there, and g·g′ of one item is right on average where it is linear: whoever has it has it once. The
        square of a weight is not told by its sign. It is at least what it would be if all weights lay in the middle of
        the scale, where rounding adds most; with that the variance is a little too large, never too small. Who has two
        items together is not told either; it is taken as if one said nothing about the other.
        """
        kinds = self._kinds(means)
        added = np.hstack([each.rows for each in kinds])
        second, people = (added.T * factors) @ added, float(factors[self.present].sum())
        if not people:
            return vector(second)
        F, W, Q = self._sums(factors)
        sums = np.concatenate(
            [each.has * F + each.weight * W + each.known * people for each in kinds]
        )
        squares, items = np.outer(sums, sums) / people, np.arange(len(F))
        for one, (_, a, b, c) in enumerate(kinds):
            for two, (_, d, e, f) in enumerate(kinds):
                own = (
                    (a * d + a * f + c * d) * F
                    + (a * e + b * d + b * f + c * e) * W
                    + b * e * Q
                    + c * f * people
                )
                squares[one * len(F) + items, two * len(F) + items] = own
        return vector(second - squares)

    def _kinds(self, means: Vector) -> list[_ItemTerms]:
        """Return what rows add to each kind of number: shares, weights, and means of those who have an item."""
        none, part = np.zeros(len(self.design.items)), self._part
        told = [(self.has, none + part, none), (self.weight, none, none + part)]
        kinds: list[_ItemTerms] = []
        for rows, has, weight in told:
            mean = means[len(kinds) * len(none) :][: len(none)]
            if rows is not None and self.asked is None:
                kinds.append(_ItemTerms(rows, has, weight, none))
            elif rows is not None and self.asked is not None:
                kinds.append(
                    _ItemTerms(rows - mean * self.asked, has, weight, -part * mean)
                )
        if self.has is not None and self.weight is not None:
            mean = means[2 * len(none) :]
            kinds.append(
                _ItemTerms(
                    self.weight - mean * self.has, -part * mean, none + part, none
                )
            )
        return kinds

    @property
    def _part(self) -> float:
        """Of what is true of a respondent, the part that a row holds on average: all of it, or what was asked about."""
        return 1.0 if self.asked is None else 1 / self.design.scheme.multiplier

    def _sums(self, factors: Vector) -> tuple[Vector, Vector, Vector]:
        """Return Σ c of those who have each item, of their weights, and the least that the squared weights sum to."""
        none = np.zeros(len(self.design.items))
        F = none if self.has is None else factors @ self.has / self._part
        W = none if self.weight is None else factors @ self.weight / self._part
        middle, _ = self.design.scale
        return F, W, 2 * middle * W - middle**2 * F  # w² ≥ 2mw − m² whatever w is

    def spread(self, _: Vector, means: Vector) -> OneResponse:
        """Return how what one response says about having an item varies, and the ends of the scale of means."""
        items, size = len(self.design.items), len(means)
        curve, low, high = (
            np.full((3, size), np.nan),
            np.full(size, np.nan),
            np.full(size, np.nan),
        )
        if self.has is None:
            return OneResponse(curve, low, high)
        scheme, conditional = self.design.scheme, self.asked is not None
        others, plus, minus = map(
            float, second_moments(scheme, conditional=conditional).degree
        )
        tilt = np.zeros(items)
        if self.weight is not None:
            middle, half = self.design.scale
            tilt = np.clip(
                (np.nan_to_num(means[2 * items :], nan=middle) - middle) / half,
                -1.0,
                1.0,
            )
            low[2 * items :], high[2 * items :] = (
                float(self.design.low),
                float(self.design.high),
            )
        own = plus * (1 + tilt) / 2 + minus * (1 - tilt) / 2
        curve[:, :items] = (
            np.broadcast_to(others, items),
            own - others,
            np.full(items, -1.0),
        )
        score = scores(scheme.symbol).degree
        assert score is not None
        factor = 1 if conditional else scheme.multiplier
        if len(set(score[PLUS:])) == 1 and (conditional or not scheme.one_each):
            low[:items], high[:items] = sorted(
                float(factor * score[at]) for at in (NONE, PLUS)
            )
        return OneResponse(vector(curve), low, high)


def _symbols(design: KeyValueDesign, rows: Any) -> Any:
    """Return the symbol that each row sends about each item; −1 about those that it is not about."""
    scheme = design.scheme
    if scheme.KIND == "unary":
        return rows
    found = np.full((len(rows), scheme.items), -1 if scheme.one_each else NONE, np.int8)
    codes = rows.astype(np.int64)
    if scheme.one_each:
        item, symbol = np.divmod(codes, design.width)
        found[np.arange(len(rows)), item] = symbol
        return found
    sent = np.flatnonzero(codes < scheme.responses - 1)  # the last one says nothing
    found[sent, codes[sent] // 2] = 1 + codes[sent] % 2
    return found
