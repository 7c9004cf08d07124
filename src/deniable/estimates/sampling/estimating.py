"""Rows with weights → shares, means, ratios and totals of the people that the sample stands for."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from deniable.designs import AnyDesign, Design, NumberDesign
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling import columns
from deniable.estimates.sampling.columns import Mask
from deniable.estimates.sampling.results import SampledEstimate
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import OneResponse, RowValues, row_values
from deniable.estimates.sampling.variances import design_covariance
from deniable.estimates.shares import Estimate, fitted
from deniable.files.row_names import check_same_people
from deniable.tallies import tally
from deniable.tallies.columns import asked_part, subject
from deniable.tallies.group_labels import group_name, numbered
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

    def count(part: Mask, population: int | None) -> Estimate | None:
        if isinstance(responses.design, NumberDesign):
            return None
        return fitted(
            tally(responses.design, responses[part]),
            population=population,
            inverse=inverse,
        )

    return estimate_values(
        [rows],
        sampling,
        Asked.of(responses.design),
        domain=domain,
        by=by,
        denominator=denominator,
        count=count,
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


def estimate_values(
    blocks: Sequence[RowValues] | Callable[[Sequence[Mask]], Sequence[RowValues]],
    sampling: Sampling,
    asked: Asked,
    *,
    domain: Any = None,
    by: Any = None,
    denominator: Any = None,
    count: Callable[[Mask, int | None], Any] | None = None,
) -> SampledEstimate:
    """Estimate from values of rows that are right on average; what `estimate` does with those of responses.

    Args:
        blocks: the values, of the same rows; in different blocks different rows may be present. Where they are fitted
            in each group by itself, what returns them for the rows of the groups.
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
    if not isinstance(sampling, Sampling):
        raise InvalidRequest(
            f"the sampling is a {type(sampling).__name__}; expected a Sampling."
        )
    if not callable(blocks):
        columns.check_rows(sampling, "columns of the sampling", len(blocks[0]))
    estimand = _estimand(blocks, sampling, domain, by, denominator)
    if denominator is not None and any(
        block.below is not None for block in estimand.blocks
    ):
        raise InvalidRequest(
            "some of these numbers are ratios already; expected no denominator."
        )
    means = estimand.result(asked)
    if count is not None:
        means = replace(means, evidence=estimand.evidence(count))
    summed = tuple(block.with_totals() for block in estimand.blocks if block.totals)
    if denominator is not None or not summed:
        return means
    return replace(
        means, totals=replace(estimand, blocks=summed, of_total=True).result(asked)
    )


def estimate_tally(weighted: WeightedTally, *, inverse: Any = None) -> SampledEstimate:
    """Estimate shares from how many people sent each response and the sums of their weights and squared weights.

    Implements: the Hájek share, with the error of a sample that was drawn with replacement, of people and not of
    clusters: Σ w²(r − R)²/(Σ w)²·n/(n − 1).

    Raises:
        NotEstimable: fewer than two responses, or no weight.
    """
    n, weight = weighted.respondents, float(sum(weighted.weights))
    if n < 2 or not weight > 0:
        raise NotEstimable(
            f"there are {n} responses with a weight of {weight:g}; expected 2 at least, and some weight."
        )
    design = weighted.design
    # One row for each symbol that was sent stands for all of them: sums over rows are sums over symbols.
    sent = np.flatnonzero(weighted.counts)
    one_each = Responses(
        design, {"response": sent.astype(design.channel.coding.space(0).dtype)}
    )
    rows = row_values(one_each, inverse)
    weights, squares = (
        vector([float(sums[at]) for at in sent])
        for sums in (weighted.weights, weighted.squares)
    )
    value = weights @ rows.values / weight
    away = rows.values - value
    size, more = len(value), n / (n - 1)
    means = SampledEstimate(
        *Asked.of(design),
        rows.quantity,
        rows.names,
        value,
        (away.T * squares) @ away / weight**2 * more,
        np.diagonal(rows.device(squares / weight**2, value)),
        weights @ away**2 / weight / (n - 1),
        np.full(size, n),
        np.full(size, n - 1),
        np.ones(size),
        *_single([rows], [weights], [value]),
        np.full((3, size), np.nan),
        np.full(size, rows.events),
        "Hájek, linearized",
        f"{n:,} people{', whose design was named by the person who counted' if weighted.declared else ''}",
        n,
        weighted.missing,
    )
    if weighted.missing:
        return means  # how many people those stand for who sent nothing is not counted
    # Σ w·r varies with replacement as n people whose w·r vary about their mean do.
    sums = weights @ rows.values
    spread = ((rows.values.T * squares) @ rows.values - np.outer(sums, sums) / n) * more
    total = replace(
        means,
        quantity="total",
        value=sums,
        events=np.full(size, size),
        covariance=spread,
        device=means.device * weight**2,
        simple=means.simple * weight**2,
        scale=np.full(size, weight),
        method="expanded, linearized",
    )
    return replace(means, totals=total)


@dataclass(frozen=True, eq=False)
class _Estimand:
    """What is estimated: values of rows, parts of the people, and what is divided by.

    Numbers stand group by group, and in each group block by block.

    Attributes:
        blocks: the values.
        sampling: how people were drawn.
        parts: for each group, which rows belong to it, whether they responded or not.
        names: of the groups; one empty name where there are none.
        denominator: what totals are divided by, where that is not the number of people.
        ungrouped: how many responses name no group.
        of_total: totals in place of means.
    """

    blocks: tuple[RowValues, ...]
    sampling: Sampling
    parts: tuple[Mask, ...]
    names: tuple[str, ...]
    denominator: Vector | None
    ungrouped: int = 0
    of_total: bool = False

    @property
    def pieces(self) -> list[_GroupBlock]:
        """Each block of each group, in the order of the numbers."""
        return [
            _GroupBlock(block, part, part & block.present, self.denominator)
            for part in self.parts
            for block in self.blocks
        ]

    @property
    def known(self) -> float | None:
        """How many people there are, where a mean is the total divided by that."""
        whole = len(self.parts) == 1 and bool(self.parts[0].all())
        plain = self.denominator is None and self.sampling.calibration is None
        return self.sampling.population if whole and plain else None

    def _raised(self, piece: _GroupBlock) -> Mask:
        """Return which means of a piece are multiplied by how many people there are, and perhaps divided by it again.

        Of ratios none is: nothing but what has a total is that total divided by the people there are.
        """
        count = 0 if self.known is None and not self.of_total else piece.block.totals
        return np.arange(len(piece.block.names)) < count

    def _over(self) -> float:
        return 1.0 if self.of_total or self.known is None else self.known

    def numbers(self, weights: Matrix) -> Matrix:
        """Return the numbers for each of several weightings, a column of weights each and a row of numbers each."""
        found = []
        for piece in self.pieces:
            people = (weights[piece.part].sum(axis=0) / self._over())[:, None]
            found.append(
                piece.means(weights) * np.where(self._raised(piece), people, 1.0)
            )
        return vector(np.hstack(found))

    def linearized(self, means: Sequence[Vector]) -> tuple[Matrix, list[Vector]]:
        """Return by how much each number moves with each person, without weights; and of each piece, with each value.

        Why: a mean is a ratio of two totals, whose first-order change is (r − R·x)/X. A total of those who responded
        and others who are taken to be alike is the number of people times that mean.
        """
        moves, reach = [], []
        weights = self.sampling.weights
        for piece, mean in zip(self.pieces, means, strict=True):
            (move, share), raised = piece.moves(weights, mean), self._raised(piece)
            people = float(weights[piece.part].sum()) / self._over()
            own = piece.part[:, None] * np.nan_to_num(mean) / self._over()
            moves.append(np.where(raised, own + people * move, move))
            reach.append(vector(np.where(raised, people, 1.0) * share))
        return vector(np.hstack(moves)), reach

    def device(
        self, factors: Vector, means: Sequence[Vector], reach: Sequence[Vector]
    ) -> Matrix:
        """Return Σ c_i·V̂_i, of each row alone: nobody is in two groups, and the devices of blocks are drawn apart.

        Where chance decides who is asked at all, with probability p, both together add p·V̂ + (1 − p)·(r − R·x)(r −
        R·x)′ for each who was.
        """
        variances = []
        for piece, mean, share in zip(self.pieces, means, reach, strict=True):
            own, asked = vector(factors * piece.here), piece.block.asked
            variance = asked * piece.block.device(own, mean)
            if asked < 1:
                away = piece.block.values - np.nan_to_num(mean) * piece.denominators
                variance = variance + (1 - asked) * (away.T * own) @ away
            variances.append(np.outer(share, share) * variance)
        return vector(block_diag(*variances))

    def dealt(self, reach: Sequence[Vector]) -> tuple[Matrix, Matrix]:
        """Return what devices of different rows add to the covariance, and the part that is not in `_spread` already.

        Why: with c_ij the covariance that the device gives to rows i and j, and Q the quadratic form of the variance
        between clusters, whose diagonal is 1 − f, the variance has Σ c_ij and its estimate Σ Q_ij·c_ij. For c_ij =
        −g_i·g_j the difference over different rows is −[(Σ g)² − g′Qg − Σ f·g²].
        """
        pieces, weights = self.pieces, self.sampling.weights
        size = sum(len(share) for share in reach)
        everything, lacking = np.zeros((size, size)), np.zeros((size, size))
        tied = [piece.block.dealt for piece in pieces]
        deals = next((each.deals for each in tied if each is not None), None)
        if deals is None:
            return everything, lacking
        tables = [
            np.zeros((len(weights), len(share)))
            if each is None
            else each.values * share * piece.here[:, None]
            for piece, share, each in zip(pieces, reach, tied, strict=True)
        ]
        whole = vector(np.hstack(tables))
        for deal in np.unique(deals).tolist():
            own = vector(whole * (deals == deal)[:, None])
            weighted = own * weights[:, None]
            both = np.outer(weighted.sum(axis=0), weighted.sum(axis=0))
            everything -= both - weighted.T @ weighted
            lacking -= (
                both
                - self._spread(own)
                - (weighted.T * self.sampling.finite) @ weighted
            )
        return everything, lacking

    def _spread(self, values: Matrix) -> Matrix:
        """Return the covariance of totals over samples, as that of the numbers is found."""
        sampling = self.sampling
        if self._by_parts:
            weighted = vector(values * sampling.weights[:, None])
            sums, factor = weighted.sum(axis=0), np.sqrt(_bessel(self._people))
            centred = weighted.T @ weighted - np.outer(sums, sums) / np.sqrt(
                np.outer(self._people, self._people)
            )
            return vector(
                np.outer(factor, factor) * centred * (1 - sampling.fractions[0])
            )
        if sampling.replicates is None:
            return design_covariance(values, sampling)
        found = [weights.T @ values for weights in sampling.replicated_weights()]
        return sampling.replicates.covariance(
            vector(np.vstack(found)), vector(sampling.weights @ values)
        )

    def result(self, asked: Asked) -> SampledEstimate:
        """Return the numbers with all that is known about how sure they are."""
        sampling, pieces = self.sampling, self.pieces
        self._check()
        value = self.numbers(sampling.weights[:, None])[0]
        means = [piece.means(sampling.weights[:, None])[0] for piece in pieces]
        moves, reach = self.linearized(means)
        covariance = self._covariance(value, means, moves, reach)
        drawn = vector(sampling.weights**2)
        if sampling.finite.any() and not self._by_parts:
            covariance = covariance + self.device(
                vector(drawn * sampling.finite), means, reach
            )
        together, lacking = self.dealt(reach)
        sizes = [len(piece.block.names) for piece in pieces]
        scale = [
            float(sampling.weights[piece.part].sum()) if self.of_total else 1.0
            for piece in pieces
        ]
        covariance = covariance + self._hidden(scale)
        covariance[np.isnan(value), :] = covariance[:, np.isnan(value)] = np.nan
        groups = [group for group in self.names for _ in self.blocks]
        told = [
            f"{group} · {name}" if group else name
            for group, piece in zip(groups, pieces, strict=True)
            for name in piece.block.names
        ]
        responded = sum(
            int(np.any([part & each.present for each in self.blocks], axis=0).sum())
            for part in self.parts
        )
        taken = sum(int(part.sum()) for part in self.parts)
        own = [vector(sampling.weights * piece.here) for piece in pieces]
        return SampledEstimate(
            *asked,
            self._quantity,
            tuple(told),
            value,
            covariance + lacking,
            np.diagonal(self.device(drawn, means, reach) + together),
            self._simple(means, scale),
            np.concatenate([piece.people for piece in pieces]),
            np.repeat([sampling.degrees_of(piece.here) for piece in pieces], sizes),
            np.repeat(scale, sizes),
            *_single(
                [piece.block for piece in pieces],
                own,
                means,
                ratio=self.denominator is not None,
            ),
            self._tested(value, covariance),
            np.repeat(
                [self._events(piece.block) * len(pieces) for piece in pieces], sizes
            ),
            f"{self._method}, {sampling.variance}",
            sampling.describe(taken),
            responded,
            taken - responded,
            self.ungrouped,
            self.names if self.names != ("",) else (),
        )

    def _events(self, block: RowValues) -> int:
        """Return how many intervals can miss separately; two totals do not sum to a constant as two shares do."""
        return len(block.names) if self.of_total else block.events

    def evidence(self, count: Callable[[Mask, int | None], Any]) -> tuple[Any, ...]:
        """Return the estimate from counts of each group, where counts hold all that the rows do; else nothing."""
        fraction = float(self.sampling.fractions[0])
        if (
            not self._by_parts
            or not self.sampling.simple
            or self.denominator is not None
        ):
            return ()
        people = [
            int(np.any([part & each.present for each in self.blocks], axis=0).sum())
            for part in self.parts
        ]
        populations = [each / fraction if fraction else 0.0 for each in people]
        if any(abs(each - round(each)) > _WHOLE for each in populations):
            return ()
        counted = [
            count(part, round(each) if fraction else None)
            for part, each in zip(self.parts, populations, strict=True)
        ]
        return () if any(each is None for each in counted) else tuple(counted)

    def _hidden(self, scale: Sequence[float]) -> Matrix:
        """Return the covariance of errors that no sample shows, group by group and block by block."""
        found = []
        for piece, factor in zip(self.pieces, scale, strict=True):
            none, size = piece.block.hidden is None, len(piece.block.names)
            own = vector(self.sampling.weights * piece.here)
            found.append(
                np.zeros((size, size)) if none else factor**2 * piece.block.hidden(own)  # type: ignore[misc]
            )
        return vector(block_diag(*found))

    def _tested(self, value: Vector, covariance: Matrix) -> Matrix:
        """Return the variance of A − R·B over B̂² for each ratio A/B of two numbers, as a polynomial in R; NaN else."""
        found, start = np.full((3, len(value)), np.nan), 0
        for piece in self.pieces:
            if piece.block.ratios:
                at, above, below = start + np.array(piece.block.ratios).T
                spread = [
                    covariance[above, above],
                    -2 * covariance[above, below],
                    covariance[below, below],
                ]
                with np.errstate(divide="ignore", invalid="ignore"):
                    found[:, at] = np.array(spread) / value[below] ** 2
            start += len(piece.block.names)
        return vector(found)

    @property
    def _quantity(self) -> str:
        if self.of_total or self.denominator is not None:
            return "total" if self.of_total else "ratio"
        quantities = {block.quantity: None for block in self.blocks}
        return " and ".join(quantities)

    @property
    def _method(self) -> str:
        if self.of_total:
            return "expanded"
        if self.denominator is not None:
            return "ratio"
        return "Hájek" if self.known is None else "Horvitz–Thompson"

    def _check(self) -> None:
        groups = [group for group in self.names for _ in self.blocks]
        for name, piece in zip(groups, self.pieces, strict=True):
            of = f" in the group {quoted(name)}" if name else ""
            of += (
                f" about {quoted(piece.block.names[0])}" if len(self.blocks) > 1 else ""
            )
            if piece.here.sum() < 2:
                raise NotEstimable(
                    f"there are {int(piece.here.sum())} responses{of}; expected at least 2."
                )
            if self.sampling.weights[piece.here].sum() == 0:
                raise NotEstimable(
                    f"everybody{of} has the weight 0; expected people who stand for some."
                )

    def _covariance(
        self,
        value: Vector,
        means: Sequence[Vector],
        moves: Matrix,
        reach: Sequence[Vector],
    ) -> Matrix:
        sampling = self.sampling
        if sampling.replicates is not None:
            estimates = [
                self.numbers(weights) for weights in sampling.replicated_weights()
            ]
            return sampling.replicates.covariance(vector(np.vstack(estimates)), value)
        if not self._by_parts:
            return design_covariance(moves, sampling)
        return self._independent_covariance(means, moves, reach)

    def _independent_covariance(
        self, means: Sequence[Vector], moves: Matrix, reach: Sequence[Vector]
    ) -> Matrix:
        """Return the covariance of means of people who were drawn one by one.

        Implements: n_j/(n_j − 1)·Σ w²·E[(r − R)(r − R)′]/W², with n_j the people who are present in a block or group;
        by the device's model where the values have one. Between blocks the rows' products, times √(F_j·F_k). Of a
        finite population of which a fraction φ_j responded about the block it is (1 − φ_j) times that, and φ_j times
        what the device adds.

        Why: who is asked what says nothing about the answer, so that each part is as if it were estimated alone.
        """
        pieces, fraction = self.pieces, float(self.sampling.fractions[0])
        squares = vector(self.sampling.weights**2)
        factor = np.sqrt(_bessel(self._people))
        scaled = moves * self.sampling.weights[:, None] * factor
        covariance = scaled.T @ scaled
        ends = np.cumsum([0, *map(len, means)]).tolist()
        spans = [slice(*ends[at : at + 2]) for at in range(len(pieces))]
        for piece, mean, share, span in zip(pieces, means, reach, spans, strict=True):
            if piece.modelled:
                scale = factor[span] * share
                covariance[span, span] = np.outer(scale, scale) * piece.scatter(
                    squares, mean, 1.0
                )
            if fraction:
                part = fraction * self._part_asked(piece, piece)
                own = vector(squares * piece.here)
                device = (
                    piece.scatter(squares, mean, 0.0)
                    if piece.modelled
                    else piece.block.device(own, mean)
                )
                covariance[span, span] = (1 - part) * covariance[
                    span, span
                ] + part * np.outer(share, share) * device
        if fraction:
            for (one, rows), (two, columns) in itertools.permutations(
                zip(pieces, spans, strict=True), 2
            ):
                covariance[rows, columns] *= 1 - fraction * self._part_asked(one, two)
        return vector(covariance)

    def _part_asked(self, one: _GroupBlock, two: _GroupBlock) -> float:
        """Return n_1·n_2/(n_12·n): the part of the people of a group that were asked, where chance decides about it."""
        both = int((one.here & two.here).sum())
        if one.block.asked == 1 or not both:
            return 1.0
        everybody = int(
            (np.any([each.present for each in self.blocks], axis=0) & one.part).sum()
        )
        return float(one.here.sum() * two.here.sum() / (both * everybody))

    @property
    def _by_parts(self) -> bool:
        """Whether each part is as if it were estimated alone: means of people who were drawn one by one."""
        return self.sampling.one_by_one and not self.of_total and self.known is None

    @property
    def _people(self) -> Vector:
        return vector(np.concatenate([piece.people for piece in self.pieces]))

    def _simple(self, means: Sequence[Vector], scale: Sequence[float]) -> Vector:
        """Return the variances of as many people drawn one by one, whose values vary as these do."""
        found = [
            piece.simple(self.sampling.weights, mean) * factor**2
            for piece, mean, factor in zip(self.pieces, means, scale, strict=True)
        ]
        return vector(np.concatenate(found))


@dataclass(frozen=True, eq=False)
class _GroupBlock:
    """A block of values in one group: means of those who are present, as ratios of two sums.

    Attributes:
        block: the values.
        part: the rows of the group.
        here: those of them that hold a response.
        denominator: what values are divided by, where that is not the number of people.
    """

    block: RowValues
    part: Mask
    here: Mask
    denominator: Vector | None

    @property
    def below(self) -> Matrix:
        """What each value of those who are present is divided by; one column, where all are divided alike."""
        if self.block.below is not None:
            return self.block.below[self.here]
        alike = (
            np.ones(int(self.here.sum()))
            if self.denominator is None
            else self.denominator[self.here]
        )
        return vector(alike[:, None])

    @property
    def people(self) -> Vector:
        """How many responses each mean is made from: those that say something about what is below."""
        return vector(
            np.broadcast_to((self.below != 0).sum(axis=0), len(self.block.names))
        )

    @property
    def denominators(self) -> Matrix:
        """What each value of every row is divided by, 0 where nothing is said."""
        spread = np.zeros((len(self.here), self.below.shape[1]))
        spread[self.here] = self.below
        return spread

    def means(self, weights: Matrix) -> Matrix:
        """Return the means for each column of weights, a row each; NaN for a ratio of which nothing is known."""
        own = weights[self.here]
        below = own.T @ self.below
        if (below == 0).any() and self.block.below is None:
            what = "the people" if self.denominator is None else "the denominators"
            raise NotEstimable(
                f"{what} of a group sum to 0, in some replicate or in all; expected some in several clusters.",
                "Leave replicates away, or join groups.",
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            return vector(
                np.where(
                    below == 0, np.nan, own.T @ self.block.values[self.here] / below
                )
            )

    def moves(self, weights: Vector, mean: Vector) -> tuple[Matrix, Vector]:
        """Return (r − R·x)/X for each row, and 1/X: by how much each mean moves with each person and each value."""
        below = self.below
        sums = weights[self.here] @ below
        share = np.broadcast_to(
            np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0), mean.shape
        )
        move = np.zeros_like(self.block.values)
        move[self.here] = (
            self.block.values[self.here] - np.nan_to_num(mean) * below
        ) * share
        return vector(move), vector(share)

    @property
    def modelled(self) -> bool:
        """Whether the device's model tells how the values vary: means of people, not ratios."""
        return (
            self.block.scatter is not None
            and self.block.below is None
            and self.denominator is None
        )

    def scatter(self, factors: Vector, mean: Vector, people: float) -> Matrix:
        """Return Σ c·E[(r − R)(r − R)′] of those who are present, by the device's model; of the device for 0 people."""
        assert self.block.scatter is not None
        return self.block.scatter(vector(factors * self.here), mean, people)

    def simple(self, weights: Vector, mean: Vector) -> Vector:
        """Return the variances of the means of as many people drawn one by one, with even weights."""
        own, below = weights[self.here], self.below
        if self.modelled:
            return vector(
                np.diagonal(self.scatter(weights, mean, 1.0))
                / own.sum()
                / (len(own) - 1)
            )
        away = self.block.values[self.here] - mean * below
        level = own @ below / own.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            return vector(own @ away**2 / own.sum() / level**2 / (len(own) - 1))


def _bessel(people: Vector) -> Vector:
    """Return n/(n − 1)."""
    return vector(people / np.maximum(people - 1, 1))


def _single(
    blocks: Sequence[RowValues],
    weights: Sequence[Vector],
    means: Sequence[Vector],
    *,
    ratio: bool = False,
) -> tuple[Matrix, Vector, Vector]:
    """Return what one response says about each number; NaN of numbers that are no shares."""
    found = []
    for block, own, mean in zip(blocks, weights, means, strict=True):
        nothing = np.full(len(mean), np.nan)
        told = None if ratio or block.spread is None else block.spread(own, mean)
        found.append(told or OneResponse(vector([nothing] * 3), nothing, nothing))
    curves, lows, highs = zip(*found, strict=True)
    return (
        vector(np.hstack(curves)),
        vector(np.concatenate(lows)),
        vector(np.concatenate(highs)),
    )


def _estimand(
    given: Sequence[RowValues] | Callable[[Sequence[Mask]], Sequence[RowValues]],
    sampling: Sampling,
    domain: Any,
    by: Any,
    denominator: Any,
) -> _Estimand:
    size = len(sampling)
    inside = (
        np.ones(size, np.bool_)
        if domain is None
        else columns.mask(domain, "domain", size)
    )
    if not inside.any():
        raise NotEstimable("nobody belongs to the domain; expected people who do.")
    parts: tuple[Mask, ...] = (inside,)
    names: tuple[str, ...] = ("",)
    if by is not None:
        found, codes = numbered(by)
        columns.check_rows(codes, "groups", size)
        known = [
            (group_name(each), (codes == at) & inside)
            for at, each in enumerate(found)
            if each is not None
        ]
        told = [
            (name, part) for name, part in known if part.any()
        ]  # who names no group is in none of them
        if not told:
            raise NotEstimable("nobody belongs to a group; expected people who do.")
        names, parts = (tuple(each) for each in zip(*told, strict=True))
    below = (
        None
        if denominator is None
        else columns.numbers(denominator, "denominator", size)
    )
    blocks = tuple(given(parts) if callable(given) else given)
    nobody = (
        inside
        & ~np.any(parts, axis=0)
        & np.any([block.present for block in blocks], axis=0)
    )
    return _Estimand(blocks, sampling, parts, names, below, int(nobody.sum()))
