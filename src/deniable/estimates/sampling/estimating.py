"""Rows with weights → shares, means, ratios and totals of the people that the sample stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling import columns
from deniable.estimates.sampling.columns import Mask
from deniable.estimates.sampling.results import SampledEstimate
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import RowValues, row_values
from deniable.estimates.sampling.variances import design_covariance
from deniable.tallies.responses import Responses
from deniable.tallies.weighted import WeightedTally


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
        by: a group for each row; each group is told on its own, and all together have one covariance.
        denominator: a number for each row: what is told is the ratio of both totals, such as cases for each bed.
        inverse: of shares: a left inverse of the channel, in place of the one that would be taken.

    Raises:
        NotEstimable: a stratum with one cluster, or nobody with a weight in a group.
        InvalidRequest: columns that do not fit.

    Example:
        >>> from deniable.designs import forced_response
        >>> design = forced_response("2/3", "1/6", "1/6")
        >>> sent = Responses(design, {"response": np.array([0, 1, 0, 0, 1, 0, 0, 0])})
        >>> found = estimate(sent, Sampling([20, 30, 20, 30, 20, 30, 20, 30], clusters=[1, 1, 2, 2, 3, 3, 4, 4]))
        >>> round(found.params["yes"], 3), round(found.bse["yes"], 3), round(found.total.params["yes"])
        (0.125, 0.225, 25)
    """
    rows = row_values(responses, inverse)
    given = None if inverse is None else vector(inverse)
    return estimate_values(
        rows, sampling, design=responses.design, domain=domain, by=by, denominator=denominator, inverse=given
    )


def estimate_values(
    rows: RowValues,
    sampling: Sampling,
    *,
    design: Design | None = None,
    domain: Any = None,
    by: Any = None,
    denominator: Any = None,
    inverse: Matrix | None = None,
) -> SampledEstimate:
    """Estimate from values of rows that are right on average; what `estimate` does with those of responses.

    Raises:
        NotEstimable: a stratum with one cluster, or nobody with a weight in a group.
        InvalidRequest: columns that do not fit.
    """
    if not isinstance(sampling, Sampling):
        raise InvalidRequest(f"the sampling is a {type(sampling).__name__}; expected a Sampling.")
    columns.check_rows(sampling, "columns of the sampling", len(rows))
    estimand = _estimand(rows, sampling, domain, by, denominator)
    means = estimand.result(design, inverse)
    if denominator is not None:
        return means
    return replace(means, totals=replace(estimand, of_total=True).result(design, inverse))


def estimate_tally(tally: WeightedTally, *, inverse: Any = None) -> SampledEstimate:
    """Estimate shares from how many people sent each response and the sums of their weights and squared weights.

    Implements: the Hájek share, with the error of a sample that was drawn with replacement, of people and not of
    clusters: Σ w²(r − R)²/(Σ w)²·n/(n − 1).

    Raises:
        NotEstimable: fewer than two responses, or no weight.
    """
    n, weight = tally.respondents, float(sum(tally.weights))
    if n < 2 or not weight > 0:
        raise NotEstimable(
            f"there are {n} responses with a weight of {weight:g}; expected 2 at least, and some weight."
        )
    design = tally.design
    # One row for each symbol that was sent stands for all of them: sums over rows are sums over symbols.
    sent = np.flatnonzero(tally.counts)
    one_each = Responses(design, {"response": sent.astype(design.channel.coding.space(0).dtype)})
    rows = row_values(one_each, inverse)
    weights, squares = (vector([float(sums[at]) for at in sent]) for sums in (tally.weights, tally.squares))
    value = weights @ rows.values / weight
    away = rows.values - value
    size, more = len(value), n / (n - 1)
    means = SampledEstimate(
        design,
        rows.quantity,
        rows.names,
        value,
        (away.T * squares) @ away / weight**2 * more,
        np.diagonal(rows.device(squares / weight**2)),
        weights @ away**2 / weight / (n - 1),
        np.full(size, n),
        np.full(size, n - 1),
        np.ones(size),
        tuple(range(size)),
        "Hájek, linearized",
        f"{n:,} people{', whose design was declared by whoever counted' if tally.declared else ''}",
        n,
        tally.missing,
        None if inverse is None else vector(inverse),
    )
    if tally.missing:
        return means  # how many people those stand for who sent nothing is not counted
    # Σ w·r varies with replacement as n people whose w·r vary about their mean do.
    sums = weights @ rows.values
    spread = ((rows.values.T * squares) @ rows.values - np.outer(sums, sums) / n) * more
    total = replace(
        means,
        quantity="total",
        value=sums,
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

    Attributes:
        rows: the values.
        sampling: how people were drawn.
        parts: for each group, which rows belong to it, whether they responded or not.
        names: of the groups; one empty name where there are none.
        denominator: what totals are divided by, where that is not the number of people.
        of_total: totals in place of means.
    """

    rows: RowValues
    sampling: Sampling
    parts: tuple[Mask, ...]
    names: tuple[str, ...]
    denominator: Vector | None
    of_total: bool = False

    @property
    def known(self) -> float | None:
        """How many people there are, where a mean is the total divided by that."""
        whole = len(self.parts) == 1 and bool(self.parts[0].all())
        plain = self.denominator is None and self.sampling.calibration is None
        return self.sampling.population if whole and plain else None

    def numbers(self, weights: Matrix) -> Matrix:
        """Return the numbers for each of several weightings, a column of weights each and a row of numbers each."""
        found = []
        for part in self.parts:
            here = part & self.rows.present
            values, own = self.rows.values[here], weights[here]
            sums = own.T @ values
            below = own.sum(axis=0) if self.denominator is None else own.T @ self.denominator[here]
            if (below == 0).any():
                what = "the people" if self.denominator is None else "the denominators"
                raise NotEstimable(
                    f"{what} of a group sum to 0, in some replicate or in all; expected some in several clusters.",
                    "Leave replicates away, or join groups.",
                )
            means = sums / below[:, None]
            if self.of_total or self.known is not None:
                means = means * (weights[part].sum(axis=0) / (self.known if not self.of_total else 1.0))[:, None]
            found.append(means)
        return vector(np.hstack(found))

    def linearized(self, value: Vector) -> tuple[Matrix, Matrix]:
        """Return by how much each number moves with each person, without weights; and with each value.

        Why: a mean is a ratio of two totals, whose first-order change is (r − R·x)/X. A total of those who responded
        and others who are taken to be alike is the number of people times that mean.
        """
        moves, reach = [], []
        size = self.rows.values.shape[1]
        weights = self.sampling.weights
        for at, part in enumerate(self.parts):
            here = part & self.rows.present
            x = np.ones(len(part)) if self.denominator is None else self.denominator
            mean = value[at * size : (at + 1) * size]
            below = float(weights[here] @ x[here])
            move = np.where(here[:, None], (self.rows.values - mean * x[:, None]) / below, 0.0)
            share = here / below
            if self.of_total or self.known is not None:
                everybody = float(weights[part].sum())
                over = 1.0 if self.of_total or self.known is None else self.known
                move = (part[:, None] * mean + everybody * move) / over
                share = share * everybody / over
            moves.append(move)
            reach.append(share)
        return vector(np.hstack(moves)), vector(np.stack(reach, axis=1))

    def device(self, factors: Matrix) -> Matrix:
        """Return Σ c_i·V̂_i for each group, on the diagonal: nobody is in two groups."""
        size = self.rows.values.shape[1]
        found = np.zeros((size * len(self.parts),) * 2)
        for at, column in enumerate(factors.T):
            found[at * size : (at + 1) * size, at * size : (at + 1) * size] = self.rows.device(column)
        return found

    def result(self, design: Design | None, inverse: Matrix | None) -> SampledEstimate:
        """Return the numbers with all that is known about how sure they are."""
        sampling, size = self.sampling, self.rows.values.shape[1]
        present = [part & self.rows.present for part in self.parts]
        self._check(present)
        value = self.numbers(sampling.weights[:, None])[0]
        means = replace(self, of_total=False).without_population().numbers(sampling.weights[:, None])[0]
        moves, reach = self.linearized(means)
        covariance = self._covariance(value, moves)
        finite = reach**2 * (sampling.weights**2 * sampling.finite)[:, None]
        if finite.any():
            covariance = covariance + self.device(finite)
        device = np.diagonal(self.device(reach**2 * sampling.weights[:, None] ** 2))
        counts = [int(each.sum()) for each in present]
        scale = [float(sampling.weights[part].sum()) if self.of_total else 1.0 for part in self.parts]
        told = [f"{group}: {name}" if group else name for group in self.names for name in self.rows.names]
        quantity = self.rows.quantity if self.denominator is None else "ratio"
        return SampledEstimate(
            design,
            "total" if self.of_total else quantity,
            tuple(told),
            value,
            covariance,
            device,
            self._simple(means, present, scale),
            np.repeat(counts, size),
            np.repeat([sampling.degrees_of(each) for each in present], size),
            np.repeat(scale, size),
            tuple(range(size)) * len(self.parts),
            f"{self._method}, {sampling.variance}",
            sampling.describe(),
            sum(counts),
            int(sum(int(part.sum()) for part in self.parts) - sum(counts)),
            inverse,
        )

    @property
    def _method(self) -> str:
        if self.of_total:
            return "expanded"
        if self.denominator is not None:
            return "ratio"
        return "Hájek" if self.known is None else "Horvitz–Thompson"

    def without_population(self) -> _Estimand:
        """Return the estimand of a mean whatever is known about the number of people."""
        return replace(self, sampling=self.sampling.without_population())

    def _check(self, present: list[Mask]) -> None:
        for name, here in zip(self.names, present, strict=True):
            of = f" in the group {quoted(name)}" if name else ""
            if here.sum() < 2:
                raise NotEstimable(f"there are {int(here.sum())} responses{of}; expected at least 2.")
            if self.sampling.weights[here].sum() == 0:
                raise NotEstimable(f"everybody{of} has the weight 0; expected people who stand for some.")

    def _covariance(self, value: Vector, moves: Matrix) -> Matrix:
        sampling = self.sampling
        if sampling.replicates is None:
            return design_covariance(moves, sampling)
        found = [self.numbers(weights) for weights in sampling.replicated_weights()]
        return sampling.replicates.covariance(vector(np.vstack(found)), value)

    def _simple(self, means: Vector, present: list[Mask], scale: list[float]) -> Vector:
        """Return the variances of as many people drawn one by one, whose values vary as these do."""
        size, found = self.rows.values.shape[1], []
        for at, (here, factor) in enumerate(zip(present, scale, strict=True)):
            weights, mean = self.sampling.weights[here], means[at * size : (at + 1) * size]
            x = np.ones(len(weights)) if self.denominator is None else self.denominator[here]
            away = self.rows.values[here] - mean * x[:, None]
            level = float(weights @ x) / weights.sum()
            found.append(weights @ away**2 / weights.sum() / level**2 / (len(weights) - 1) * factor**2)
        return vector(np.concatenate(found))


def _estimand(rows: RowValues, sampling: Sampling, domain: Any, by: Any, denominator: Any) -> _Estimand:
    size = len(rows)
    inside = np.ones(size, np.bool_) if domain is None else columns.mask(domain, "domain", size)
    if not inside.any():
        raise NotEstimable("nobody belongs to the domain; expected people who do.")
    parts: tuple[Mask, ...] = (inside,)
    names: tuple[str, ...] = ("",)
    if by is not None:
        codes, found = columns.labels(by, "groups", size)
        parts = tuple(part for part in ((codes == code) & inside for code in range(len(found))) if part.any())
        names = tuple(str(found[int(codes[part][0])]) for part in parts)
    below = None if denominator is None else columns.numbers(denominator, "denominator", size)
    return _Estimand(rows, sampling, parts, names, below)
