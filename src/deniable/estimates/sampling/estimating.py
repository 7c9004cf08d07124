"""Rows with weights → shares, means, ratios and totals of the people that the sample stands for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import block_diag

from deniable.designs import AnyDesign, Design
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling import columns
from deniable.estimates.sampling.columns import Mask
from deniable.estimates.sampling.people import People, bessel
from deniable.estimates.sampling.results import SampledEstimate
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import (
    OneResponse,
    RowValues,
    row_values,
    unknown_response,
)
from deniable.estimates.shares import Estimate, fitted
from deniable.files.row_names import check_same_people
from deniable.tallies import tally
from deniable.tallies.columns import asked_part, subject
from deniable.tallies.responses import Responses
from deniable.tallies.weighted import WeightedTally

_WHOLE = 1e-6  # by which the number of people there are may miss a whole one, as a fraction is rounded


def estimate(
    responses: Responses[Any],
    sampling: Sampling,
    *,
    domain: Any = None,
    by: Any = None,
    denominator: Any = None,
    inverse: Any = None,
) -> SampledEstimate:
    """Estimate from the responses of a sample what is true of the people that it stands for.

    Args:
        responses: what was sent, a row for each person of the sample, to a design for categories or for numbers.
        sampling: how these people were drawn.
        domain: True for the rows of a part of the people, such as those over 65. All rows stay in the variance.
        by: a group for each row, or columns of them; each group is told on its own, and all together have one
            covariance. Rows that name none stay in the variance.
        denominator: a number for each row: what is told is the ratio of both totals, such as cases for each bed.
        inverse: of shares: a left inverse of the channel, in place of the one that would be taken.

    Raises:
        NotEstimable: a stratum with one cluster, or nobody with a weight in a group.
        InvalidRequest: columns that do not fit.
        Incompatible: columns of pandas that are of other people.

    Example:
        >>> from deniable.designs import forced_response
        >>> design = forced_response("2/3", "1/6", "1/6")
        >>> sent = Responses(design, {"response": np.array([0, 1, 0, 0, 1, 0, 0, 0])})
        >>> found = estimate(sent, Sampling([20, 30, 20, 30, 20, 30, 20, 30], clusters=[1, 1, 2, 2, 3, 3, 4, 4]))
        >>> round(found.params["yes"], 3), round(found.bse["yes"], 3), round(found.total.params["yes"])
        (0.125, 0.225, 25)
    """
    check_same_people(
        responses=responses,
        sampling=sampling,
        domain=domain,
        groups=by,
        denominator=denominator,
    )
    rows = row_values(responses, inverse)

    def count(group: Mask, population: int | None) -> Estimate:
        counts = tally(responses.design, responses[group])
        return fitted(counts, population=population, inverse=inverse)

    return estimate_values(
        [rows],
        sampling,
        Asked.of(responses.design),
        domain=domain,
        by=by,
        denominator=denominator,
        count=None if responses.design.answer_form == "numbers" else count,
    )


class Asked(NamedTuple):
    """What people were asked with.

    Attributes:
        design: what the responses were drawn with; the designs of several devices; None where responses were scrambled
            elsewhere.
        words: what that is called.
        epsilon: its ε; infinite where nothing is known about it.
    """

    design: AnyDesign | tuple[Design, ...] | None
    words: str
    epsilon: float

    @classmethod
    def of(cls, design: Design) -> Asked:
        """Return what is told of a design for one question."""
        return cls(design, subject(design), asked_part(design).epsilon)


Blocks: TypeAlias = Sequence[RowValues] | Callable[[Mask], Sequence[RowValues]]
"""Values of rows; or a function that returns them for the rows of a group, where each group is fitted by itself."""

Count: TypeAlias = Callable[[Mask, int | None], Any]
"""The estimate from counts of some rows, of so many people there are; None where counts hold less."""


def estimate_values(
    blocks: Blocks,
    sampling: Sampling,
    asked: Asked,
    *,
    domain: object = None,
    by: object = None,
    denominator: object = None,
    count: Count | None = None,
) -> SampledEstimate:
    """Estimate from values of rows that are right on average; what `estimate` does with those of responses.

    Args:
        blocks: the values, of the same rows; in different blocks different rows may be present. Where each group is
            fitted by itself, what returns them for the rows of a group.
        sampling: how the people of the rows were drawn.
        asked: what the people were asked with.
        domain: True for the rows of a part of the people.
        by: a group for each row.
        denominator: a number for each row, to which the ratio is told.
        count: the estimate from counts of some of the rows, of so many people there are; None where counts hold less.

    Raises:
        NotEstimable: a stratum with one cluster, or nobody with a weight in a group.
        InvalidRequest: columns that do not fit.
    """
    people = People.of(sampling)
    if not callable(blocks):
        columns.check_rows(sampling, "columns of the sampling", len(blocks[0]))
    estimand = _Estimand.of(blocks, people, domain, by, denominator)
    if denominator is not None and any(
        cell.block.below is not None for cell in estimand.cells
    ):
        raise InvalidRequest(
            "some of these numbers are ratios already; expected no denominator."
        )
    means = estimand.result(asked)
    if count is not None:
        means = replace(means, evidence=estimand.evidence(count))
    return means if denominator is not None else estimand.with_totals(means, asked)


def estimate_tally(
    weighted: WeightedTally, *, inverse: object = None
) -> SampledEstimate:
    """Estimate shares from how many people sent each response and the sums of their weights and squared weights.

    Implements: the Hájek share, with the covariance of people who were drawn one by one and with replacement, as that
    of rows with these weights: n/(n − 1)·Σ w²·E[(r − R)(r − R)′]/(Σ w)² by the device's model.

    Raises:
        NotEstimable: fewer than two responses, or no weight.
    """
    design = weighted.design
    # One row for each symbol that was sent stands for all of them: sums over rows are sums over symbols.
    sent = np.flatnonzero(weighted.counts)
    if not len(sent):
        raise NotEstimable("there are 0 responses; expected at least 2.")
    codes = design.channel.coding.pack(sent.tolist())
    rows = row_values(Responses(design, {"response": codes}), inverse)
    weights, squares = (
        vector([float(sums[symbol]) for symbol in sent])
        for sums in (weighted.weights, weighted.squares)
    )
    people = People(weights, squares, vector(weighted.counts[sent]))
    estimand, asked = _Estimand.of([rows], people), Asked.of(design)
    means = replace(estimand.result(asked), missing=weighted.missing)
    if not weighted.missing:
        means = estimand.with_totals(means, asked)
    if not weighted.declared:
        return means
    return means.drawn(
        f"{means.sample}, whose design was named by the person who counted"
    )


@dataclass(frozen=True, eq=False)
class _Estimand:
    """What is estimated: values of rows, groups of people, and what is divided by.

    Numbers stand group by group, and in each group block by block.

    Attributes:
        blocks: the values, of each group.
        people: who stands for whom.
        groups: for each group, which rows belong to it, whether they responded or not.
        names: of the groups; one empty name where there are none.
        denominator: what totals are divided by, where that is not the number of people.
        ungrouped: how many responses name no group.
        of_total: totals in place of means.
    """

    blocks: tuple[tuple[RowValues, ...], ...]
    people: People
    groups: tuple[Mask, ...]
    names: tuple[str, ...]
    denominator: Vector | None
    ungrouped: int = 0
    of_total: bool = False

    @classmethod
    def of(
        cls,
        blocks: Blocks,
        people: People,
        domain: object = None,
        by: object = None,
        denominator: object = None,
    ) -> _Estimand:
        """Read who belongs to a domain and to groups, and what values are divided by.

        Raises:
            NotEstimable: nobody belongs to the domain, or to a group.
            InvalidRequest: columns that do not fit.
        """
        inside, names, groups = people.groups(domain, by)
        below = None
        if denominator is not None:
            below = columns.numbers(denominator, "denominator", len(people))
        values = tuple(
            tuple(blocks(group) if callable(blocks) else blocks) for group in groups
        )
        others = inside & ~np.any(groups, axis=0)
        ungrouped = int((others & _present(values[0])).sum())
        return cls(values, people, groups, names, below, ungrouped)

    def with_totals(self, means: SampledEstimate, asked: Asked) -> SampledEstimate:
        """Return means with the totals of the numbers that have one."""
        summed = tuple(
            tuple(block.with_totals() for block in blocks if block.totals)
            for blocks in self.blocks
        )
        if not summed[0]:
            return means
        totals = replace(self, blocks=summed, of_total=True)
        return replace(means, totals=totals.result(asked))

    @cached_property
    def cells(self) -> list[_GroupBlock]:
        """Each block of each group, in the order of the numbers."""
        divisor = 1.0 if self.of_total else self.known
        return [
            _GroupBlock(block, group, self.people, self.denominator, divisor)
            for group, blocks in zip(self.groups, self.blocks, strict=True)
            for block in blocks
        ]

    @property
    def known(self) -> float | None:
        """How many people there are, where a mean is the total divided by that."""
        sampling = self.people.sampling
        if sampling is None or sampling.calibration is not None:
            return None
        everybody = len(self.groups) == 1 and bool(self.groups[0].all())
        is_mean = self.denominator is None
        return sampling.population if everybody and is_mean else None

    def numbers(self, weights: Matrix) -> Matrix:
        """Return the numbers for each of several weightings, a column of weights each and a row of numbers each."""
        return vector(np.hstack([cell.numbers(weights) for cell in self.cells]))

    def _join(self, name: str) -> Vector:
        """Return an attribute of all cells, one after the other."""
        return vector(np.concatenate([getattr(cell, name) for cell in self.cells]))

    def device(self, factors: Vector) -> Matrix:
        """Return Σ c_i·V̂_i, of each row alone: nobody is in two groups, and the devices of blocks are drawn apart."""
        return vector(block_diag(*(cell.device(factors) for cell in self.cells)))

    def dealt(self) -> tuple[Matrix, Matrix]:
        """Return what devices of different rows add to the covariance, and the part not in `_total_covariance` already.

        Why: with c_ij the covariance that the device gives to rows i and j, and Q the quadratic form of the variance
        between clusters, whose diagonal is 1 − f, the variance has Σ c_ij and its estimate Σ Q_ij·c_ij. For c_ij =
        −g_i·g_j the difference over different rows is −[(Σ g)² − g′Qg − Σ f·g²].
        """
        weights, finite = self.people.weights, self.people.finite
        size = len(self._people)
        everything, lacking = np.zeros((size, size)), np.zeros((size, size))
        dealt = [block.dealt for block in self.blocks[0] if block.dealt is not None]
        if not dealt:
            return everything, lacking
        values = np.hstack([cell.dealt_values for cell in self.cells])
        for deal in np.unique(dealt[0].deals).tolist():
            of_deal = vector(values * (dealt[0].deals == deal)[:, None])
            weighted = of_deal * weights[:, None]
            total = weighted.sum(axis=0)
            products = np.outer(total, total)
            everything -= products - weighted.T @ weighted
            device = (weighted.T * finite) @ weighted
            lacking -= products - self._total_covariance(of_deal) - device
        return everything, lacking

    def _total_covariance(self, values: Matrix) -> Matrix:
        """Return the covariance of totals over samples, as that of the numbers is found."""
        if not self._by_parts:
            return self.people.covariance(
                values, lambda weights: vector(weights.T @ values)
            )
        mean = self.people.weights @ values / np.sqrt(self._people)
        factors = np.sqrt(bessel(self._people))
        covariance = self.people.independent_covariance(values, self._people)
        covariance -= np.outer(mean * factors, mean * factors)
        return vector(covariance * (1 - self.people.fraction))

    def result(self, asked: Asked) -> SampledEstimate:
        """Return the numbers with all that is known about how sure they are."""
        people, cells = self.people, self.cells
        self._check()
        value = self.numbers(people.weights[:, None])[0]
        covariance = self._covariance()
        if people.finite.any() and not self._by_parts:
            finite = vector(people.squares * people.finite)
            covariance = covariance + self.device(finite)
        together, lacking = self.dealt()
        sizes = [len(cell.block.names) for cell in cells]
        scales = [cell.weight if self.of_total else 1.0 for cell in cells]
        scale = np.repeat(scales, sizes)
        covariance = covariance + self._hidden(scales)
        covariance[np.isnan(value), :] = covariance[:, np.isnan(value)] = np.nan
        responded = sum(self._responded)
        taken = sum(map(people.number, self.groups))
        variance, sample = people.describe(taken)
        return SampledEstimate(
            *asked,
            self._quantity,
            self._names,
            value,
            covariance + lacking,
            np.diagonal(self.device(people.squares) + together),
            self._join("simple") * scale**2,
            self._people,
            np.repeat([people.degrees(cell.present) for cell in cells], sizes),
            scale,
            *_join_responses([cell.one_response for cell in cells]),
            self._ratio_variances(value, covariance),
            np.repeat(
                [self._events(cell.block) * len(cells) for cell in cells], sizes
            ),
            f"{self._method}, {variance}",
            sample,
            responded,
            taken - responded,
            self.ungrouped,
            self.names if self.names != ("",) else (),
        )

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(
            f"{group} · {name}" if group else name
            for group, blocks in zip(self.names, self.blocks, strict=True)
            for block in blocks
            for name in block.names
        )

    @cached_property
    def _responded(self) -> list[int]:
        """How many people of each group sent a response to any block."""
        return [
            self.people.number(group & _present(blocks))
            for group, blocks in zip(self.groups, self.blocks, strict=True)
        ]

    def _events(self, block: RowValues) -> int:
        """Return how many intervals can miss separately; two totals do not sum to a constant as two shares do."""
        return len(block.names) if self.of_total else block.events

    def evidence(self, count: Count) -> tuple[Any, ...]:
        """Return the estimate from counts of each group, where counts hold all that the rows do; else nothing."""
        sampling, fraction = self.people.sampling, self.people.fraction
        is_simple = self._by_parts and sampling is not None and sampling.simple
        if not is_simple or self.denominator is not None:
            return ()
        populations = [n / fraction if fraction else 0.0 for n in self._responded]
        if any(abs(size - round(size)) > _WHOLE for size in populations):
            return ()
        estimates = [
            count(group, round(size) if fraction else None)
            for group, size in zip(self.groups, populations, strict=True)
        ]
        return () if any(made is None for made in estimates) else tuple(estimates)

    def _hidden(self, scales: Sequence[float]) -> Matrix:
        """Return the covariance of errors that no sample shows, group by group and block by block."""
        blocks = [
            scale**2 * cell.hidden
            for cell, scale in zip(self.cells, scales, strict=True)
        ]
        return vector(block_diag(*blocks))

    def _ratio_variances(self, value: Vector, covariance: Matrix) -> Matrix:
        """Return the variance of A − R·B over B̂² for each ratio A/B of two numbers, as a polynomial in R; NaN else."""
        polynomials, start = np.full((3, len(value)), np.nan), 0
        for cell in self.cells:
            if cell.block.ratios:
                ratio, above, below = start + np.array(cell.block.ratios).T
                coefficients = [
                    covariance[above, above],
                    -2 * covariance[above, below],
                    covariance[below, below],
                ]
                with np.errstate(divide="ignore", invalid="ignore"):
                    polynomials[:, ratio] = (
                        np.array(coefficients) / value[below] ** 2
                    )
            start += len(cell.block.names)
        return vector(polynomials)

    @property
    def _quantity(self) -> str:
        if self.of_total or self.denominator is not None:
            return "total" if self.of_total else "ratio"
        return " and ".join(
            dict.fromkeys(block.quantity for block in self.blocks[0])
        )

    @property
    def _method(self) -> str:
        if self.of_total:
            return "expanded"
        if self.denominator is not None:
            return "ratio"
        return "Hájek" if self.known is None else "Horvitz–Thompson"

    def _check(self) -> None:
        groups = [group for group in self.names for _ in self.blocks[0]]
        for group, cell in zip(groups, self.cells, strict=True):
            of = f" in the group {quoted(group)}" if group else ""
            of += (
                f" about {quoted(cell.block.names[0])}"
                if len(self.blocks[0]) > 1
                else ""
            )
            if cell.n < 2:
                raise NotEstimable(
                    f"there are {cell.n} responses{of}; expected at least 2."
                )
            if cell.present_weights.sum() == 0:
                raise NotEstimable(
                    f"everybody{of} has the weight 0; expected people who stand for some."
                )

    def _covariance(self) -> Matrix:
        influence = vector(np.hstack([cell.influence for cell in self.cells]))
        if self._by_parts:
            return self._independent_covariance(influence)
        return self.people.covariance(influence, self.numbers)

    def _independent_covariance(self, influence: Matrix) -> Matrix:
        """Return the covariance of means of people who were drawn one by one.

        Implements: n_j/(n_j − 1)·Σ w²·E[(r − R)(r − R)′]/W², with n_j the people who are present in a block or group;
        by the device's model where the values have one. Between blocks the rows' products, times √(F_j·F_k). Of a
        finite population of which a fraction φ_j responded about the block it is (1 − φ_j) times that, and φ_j times
        what the device adds.

        Why: who is asked what says nothing about the answer, so that each part is as if it were estimated alone.
        """
        fraction, squares = self.people.fraction, self.people.squares
        factor = np.sqrt(bessel(self._people))
        covariance = self.people.independent_covariance(influence, self._people)
        ends = np.cumsum([0, *(len(cell.mean) for cell in self.cells)]).tolist()
        spans = list(map(slice, ends, ends[1:]))
        for cell, span in zip(self.cells, spans, strict=True):
            within = covariance[span, span]
            scale = np.outer(cell.jacobian, cell.jacobian)
            if cell.modelled:
                within = np.outer(factor[span], factor[span]) * scale
                within = within * cell.scatter(squares)
            if fraction:
                asked = fraction * self._asked_fraction(cell, cell)
                device = scale * cell.pure_device(squares)
                within = (1 - asked) * within + asked * device
            covariance[span, span] = within
        pairs = itertools.permutations(zip(self.cells, spans, strict=True), 2)
        for (first, rows), (second, columns_) in pairs if fraction else ():
            left = 1 - fraction * self._asked_fraction(first, second)
            covariance[rows, columns_] *= left
        return vector(covariance)

    def _asked_fraction(self, first: _GroupBlock, second: _GroupBlock) -> float:
        """Return n_1·n_2/(n_12·n): the part of the people of a group that were asked, where chance decides about it."""
        n_both = int((first.present & second.present).sum())
        if first.block.asked == 1 or not n_both:
            return 1.0
        group = self.cells.index(first) // len(self.blocks[0])
        n = self._responded[group]
        return float(first.present.sum() * second.present.sum() / (n_both * n))

    @property
    def _by_parts(self) -> bool:
        """Whether each part is as if it were estimated alone: means of people who were drawn one by one."""
        return self.people.one_by_one and not self.of_total and self.known is None

    @cached_property
    def _people(self) -> Vector:
        return self._join("told")


@dataclass(frozen=True, eq=False)
class _GroupBlock:
    """A block of values in one group: means of those who are present, as ratios of two sums.

    Attributes:
        block: the values.
        group: the rows of the group.
        people: of all rows.
        denominator: what values are divided by, where that is not the number of people.
        divisor: what totals are divided by, 1 for totals themselves; None for means of those who are present.
    """

    block: RowValues
    group: Mask
    people: People
    denominator: Vector | None
    divisor: float | None

    @cached_property
    def present(self) -> Mask:
        """The rows of the group that hold a response."""
        return np.asarray(self.group & self.block.present, np.bool_)

    @property
    def weights(self) -> Vector:
        """The weights of all rows."""
        return self.people.weights

    @cached_property
    def n(self) -> int:
        """The number of people of the group who responded."""
        return self.people.number(self.present)

    @property
    def present_weights(self) -> Vector:
        """The weights of those who are present."""
        return vector(self.weights[self.present])

    @property
    def weight(self) -> float:
        """The sum of the weights of the group."""
        return float(self.weights[self.group].sum())

    @cached_property
    def below(self) -> Matrix:
        """What each value of those who are present is divided by; one column, where all are divided alike."""
        if self.block.below is not None:
            return self.block.below[self.present]
        if self.denominator is None:
            return np.ones((int(self.present.sum()), 1))
        return vector(self.denominator[self.present][:, None])

    @property
    def told(self) -> Vector:
        """The number of responses that each mean is made from: those that say something about what is below."""
        counts = self.people.counts[self.present] @ (self.below != 0)
        return vector(np.broadcast_to(counts, len(self.block.names)))

    def means(self, weights: Matrix) -> Matrix:
        """Return the means for each column of weights, a row each; NaN for a ratio of which nothing is known."""
        present = weights[self.present]
        below = present.T @ self.below
        if (below == 0).any() and self.block.below is None:
            what = "the people" if self.denominator is None else "the denominators"
            raise NotEstimable(
                f"{what} of a group sum to 0, in some replicate or in all; expected some in several clusters.",
                "Leave replicates away, or join groups.",
            )
        above = present.T @ self.block.values[self.present]
        means = np.full(above.shape, np.nan)
        return vector(np.divide(above, below, out=means, where=below != 0))

    @cached_property
    def mean(self) -> Vector:
        """The means for the weights of the sample."""
        return vector(self.means(self.weights[:, None])[0])

    @property
    def _totalled(self) -> Mask:
        """Which means are multiplied by how many people there are, and perhaps divided by it again.

        Of ratios none is: nothing but what has a total is that total divided by the people there are.
        """
        count = 0 if self.divisor is None else self.block.totals
        return np.arange(len(self.block.names)) < count

    def numbers(self, weights: Matrix) -> Matrix:
        """Return the means or totals for each column of weights, a row each."""
        people = weights[self.group].sum(axis=0) / (self.divisor or 1.0)
        factors = np.where(self._totalled, people[:, None], 1.0)
        return vector(self.means(weights) * factors)

    @cached_property
    def _inverse_sums(self) -> Vector:
        """1/X: the derivative of each mean by each value."""
        sums = self.present_weights @ self.below
        inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)
        return vector(np.broadcast_to(inverse, self.mean.shape))

    @cached_property
    def jacobian(self) -> Vector:
        """The derivative of each number by each value."""
        people = self.weight / (self.divisor or 1.0)
        return vector(np.where(self._totalled, people, 1.0) * self._inverse_sums)

    @cached_property
    def residuals(self) -> Matrix:
        """r − R·x for each row, 0 where nothing is said."""
        residuals = np.zeros_like(self.block.values)
        means = np.nan_to_num(self.mean) * self.below
        residuals[self.present] = self.block.values[self.present] - means
        return vector(residuals)

    @cached_property
    def influence(self) -> Matrix:
        """The influence function of each number (linearized values), a row for each person, without weights.

        Why: a mean is a ratio of two totals, whose first-order change is (r − R·x)/X. A total of those who responded
        and others who are taken to be alike is the number of people times that mean.
        """
        divisor = self.divisor or 1.0
        influence = self.residuals * self._inverse_sums
        of_people = self.group[:, None] * np.nan_to_num(self.mean) / divisor
        of_total = of_people + self.weight / divisor * influence
        return vector(np.where(self._totalled, of_total, influence))

    @property
    def modelled(self) -> bool:
        """Whether the device's model tells how the values vary: means of people, not ratios."""
        return (
            self.block.scatter is not None
            and not self.people.by_rows
            and self.block.below is None
            and self.denominator is None
        )

    def scatter(self, factors: Vector, people: float = 1.0) -> Matrix:
        """Return Σ c·E[(r − R)(r − R)′] of those who are present, by the device's model; of the device for 0 people."""
        assert self.block.scatter is not None
        return self.block.scatter(vector(factors * self.present), self.mean, people)

    def pure_device(self, factors: Vector) -> Matrix:
        """Return Σ c·V̂ of those who are present, by the device's model where the values have one."""
        if self.modelled:
            return self.scatter(factors, 0.0)
        return self.block.device(vector(factors * self.present), self.mean)

    def device(self, factors: Vector) -> Matrix:
        """Return Σ c·V̂ of what each row adds to the numbers.

        Where chance decides who is asked at all, with probability p, both together add p·V̂ + (1 − p)·(r − R·x)(r −
        R·x)′ for each who was.
        """
        asked, of_present = self.block.asked, vector(factors * self.present)
        variance = asked * self.block.device(of_present, self.mean)
        if asked < 1:
            scatter = (self.residuals.T * of_present) @ self.residuals
            variance = variance + (1 - asked) * scatter
        return vector(np.outer(self.jacobian, self.jacobian) * variance)

    @property
    def dealt_values(self) -> Matrix:
        """What ties the devices of rows of one deal together, carried to the numbers; 0 where nothing does."""
        if self.block.dealt is None:
            return np.zeros((len(self.weights), len(self.mean)))
        return self.block.dealt.values * self.jacobian * self.present[:, None]

    @property
    def hidden(self) -> Matrix:
        """The covariance of errors of the means that no sample shows."""
        if self.block.hidden is None:
            return np.zeros((len(self.block.names),) * 2)
        return self.block.hidden(vector(self.weights * self.present))

    @property
    def simple(self) -> Vector:
        """The variances of the means of as many people drawn one by one, with even weights."""
        weights = self.present_weights
        n, total = self.n, weights.sum()
        if self.modelled:
            scatter = self.scatter(self.weights)
            return vector(np.diagonal(scatter) / total / (n - 1))
        away = self.block.values[self.present] - self.mean * self.below
        level = weights @ self.below / total
        with np.errstate(divide="ignore", invalid="ignore"):
            return vector(weights @ away**2 / total / level**2 / (n - 1))

    @property
    def one_response(self) -> OneResponse:
        """What one response says about each number; NaN of numbers that are no shares."""
        if self.denominator is not None:
            return unknown_response(len(self.mean))
        weights = vector(self.weights * self.present)
        return self.block.one_response(weights, self.mean)


def _join_responses(
    responses: Sequence[OneResponse],
) -> tuple[Matrix, Vector, Vector]:
    curves, lows, highs = zip(*responses, strict=True)
    return (
        vector(np.hstack(curves)),
        vector(np.concatenate(lows)),
        vector(np.concatenate(highs)),
    )


def _present(blocks: Sequence[RowValues]) -> Mask:
    """Return the rows that hold a response to any block."""
    return np.asarray(np.any([block.present for block in blocks], axis=0), np.bool_)
