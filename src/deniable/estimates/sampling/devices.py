"""Rows of people who were asked with different devices, or are at different stages of a ladder, in one sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.designs import Design
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
    quoted,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling.columns import Mask, check_rows
from deniable.estimates.sampling.estimating import (
    Asked,
    Blocks,
    Count,
    estimate_values,
)
from deniable.estimates.sampling.results import SampledEstimate
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import (
    Cells,
    OneResponse,
    RowValues,
    row_values,
)
from deniable.estimates.shares import Estimate
from deniable.estimates.simplex import projection
from deniable.estimates.stages import combine, fit_groups, pool
from deniable.estimates.weighing import Contribution, WeightedCounts, inside
from deniable.order.ladders import Ladder
from deniable.tallies import Tally, tally
from deniable.tallies.responses import Responses
from deniable.tallies.stages import count_stages, finest_rows


def estimate_devices(
    rows: Sequence[Responses[Any]],
    sampling: Sampling,
    *,
    method: str | None = None,
    guess: object = None,
    domain: object = None,
    by: object = None,
    denominator: object = None,
) -> SampledEstimate:
    """Estimate from people who were asked with different devices what is true of those that the sample stands for.

    Implements: what `pool` does for counts, with the weighted shares of responses to each device at the effective
    sample size of the weights. By "strata" it is D10, r_i = L_d·e_z with the left inverse of the row's own device:
    right on average whoever was asked with which.

    Args:
        rows: what was sent, for each device all rows, missing where another one was used: `Responses.of(designs, …)`.
        sampling: how these people were drawn.
        method: "information" (the default), "likelihood", "linear" or "strata", as for `pool`; of numbers and with a
            denominator "strata" alone.
        guess: for "linear", the shares at which the weights are best.
        domain: True for the rows of a part of the people.
        by: a group for each row; each group is told on its own.
        denominator: a number for each row: what is told is the ratio of both totals.

    Raises:
        Incompatible: designs for different categories.
        InvalidResponse: a row that holds responses to two devices.
        NotEstimable: a stratum with one cluster, or a design that cannot tell answers apart.
        InvalidRequest: columns that do not fit, or designs for something else than categories or a number.

    Example:
        >>> from deniable.designs import crosswise, direct
        >>> devices = {"RR": crosswise("1/4"), "DQ": direct()}
        >>> sent = Responses.of(devices, ["same", "no", "same", "yes"], devices=["RR", "DQ", "RR", "DQ"])
        >>> found = estimate_devices(sent, Sampling([10, 30, 10, 30]))
        >>> round(found.params["yes"], 3), found.asked
        (0.424, '2 devices')
    """
    check_devices(rows)
    designs, used = [each.design for each in rows], _used(rows)
    epsilon = max(each.design.epsilon for each in used)
    pooling = _Pooling.of(method, guess, designs, denominator)

    def tallies(part: Mask) -> list[Tally]:
        return [tally(each.design, each[part]) for each in rows]

    return estimate_values(
        pooling.blocks(used, sampling),
        sampling,
        Asked(tuple(designs), f"{len(used)} devices", epsilon),
        domain=domain,
        by=by,
        denominator=denominator,
        count=pooling.count_with(tallies, pool),
    )


def check_devices(rows: Sequence[Responses[Any]]) -> None:
    """Refuse devices that ask for something else than categories or numbers, and columns of different lengths.

    Raises:
        InvalidRequest: such devices or columns.
    """
    for each in rows:
        if not isinstance(each.design, Design):
            raise InvalidRequest(
                f"one of several devices asks for {each.design.asks}; expected designs for categories or numbers alone."
            )
        check_rows(each, "responses to a device", len(rows[0]))


def estimate_stages(
    responses: Responses[Ladder],
    sampling: Sampling,
    *,
    reached: object = None,
    method: str | None = None,
    guess: object = None,
    domain: object = None,
    by: object = None,
    denominator: object = None,
) -> SampledEstimate:
    """Estimate from everybody's finest response along a ladder what is true of the people that a sample stands for.

    Implements: `estimate_devices` with the stage that each reached as the device. Everybody counts once.

    Args:
        responses: a column for each stage, a row for each person of the sample.
        sampling: how these people were drawn.
        reached: for each person how many stages were released, as for `tally`.
        method: "information" (the default), "likelihood", "linear" or "strata", as for `combine`; of numbers and with a
            denominator "strata" alone.
        guess: for "linear", the shares at which the weights are best.
        domain: True for the rows of a part of the people.
        by: a group for each row; each group is told on its own.
        denominator: a number for each row: what is told is the ratio of both totals.

    Raises:
        InvalidResponse: not a stage for each person.
        NotEstimable: a stratum with one cluster, or a stage that cannot tell answers apart.
        InvalidRequest: columns that do not fit.
    """
    ladder, used = responses.design, _used(finest_rows(responses, reached))
    epsilon = max(each.design.epsilon for each in used)
    pooling = _Pooling.of(method, guess, ladder.designs, denominator)

    def stages(part: Mask) -> Any:
        sent = part & ~responses.gaps
        last = None if reached is None else np.asarray(reached)[sent]
        return count_stages(ladder, list(responses[sent].columns.values()), last)

    return estimate_values(
        pooling.blocks(used, sampling),
        sampling,
        Asked(ladder, f"{ladder!r}", epsilon),
        domain=domain,
        by=by,
        denominator=denominator,
        count=pooling.count_with(stages, combine),
    )


class _Pooling(NamedTuple):
    """How responses to several devices are taken together.

    Attributes:
        method: as for `pool`; side by side ("strata") where there is no other way.
        guess: of "linear", the shares at which the weights are best.
        of_numbers: whether the devices ask for numbers.
    """

    method: str
    guess: Any
    of_numbers: bool

    @classmethod
    def of(
        cls, method: str | None, guess: object, designs: Sequence[Any], below: object
    ) -> _Pooling:
        """Choose the method.

        Raises:
            InvalidRequest: another method than "strata" for numbers, or with a denominator.
        """
        of_numbers = any(design.answer_form == "numbers" for design in designs)
        if below is None and not of_numbers:
            return cls(method or "information", guess, of_numbers)
        if method not in (None, "strata"):
            raise InvalidRequest(
                f"the method is {quoted(method)}; expected strata for numbers, and with a denominator."
            )
        return cls("strata", guess, of_numbers)

    def count_with(
        self, counts: Callable[[Mask], Any], fit: Callable[..., Estimate[Any]]
    ) -> Count | None:
        """Return the estimate from counts of some rows; None of numbers, whose counts hold less."""

        def estimate(part: Mask, population: int | None) -> Estimate[Any] | None:
            if self.method != "strata" and population is not None:
                return None
            return fit(
                counts(part),
                method=self.method,
                guess=self.guess,
                population=population,
            )

        return None if self.of_numbers else estimate

    def blocks(self, rows: Sequence[Responses[Any]], sampling: Sampling) -> Blocks:
        """Return what each response says side by side with others, or together with those of its group."""
        joined = joined_values(rows)
        if self.method == "strata":
            return [joined]
        return partial(_pooled_values, joined, rows, sampling, self)


def _used(rows: Sequence[Responses[Any]]) -> list[Responses[Any]]:
    """Return the devices that somebody responded with; the last one where nobody did."""
    return [
        responses
        for responses in rows
        if responses.missing is None or not responses.missing.all()
    ] or [rows[-1]]


def _pooled_values(
    joined: RowValues,
    rows: Sequence[Responses[Any]],
    sampling: Sampling,
    pooling: _Pooling,
    group: Mask,
) -> list[RowValues]:
    """Return what each response of a group adds to the shares that its device and the others tell together."""
    check_rows(sampling, "columns of the sampling", len(joined))
    method, guess, _ = pooling
    fit = _GroupFit.of(rows, vector(sampling.weights), group, method, guess)

    def scatter(factors: Vector, mean: Vector, people: float) -> Matrix:
        n, away = len(fit.here), fit.value - mean
        weight = people * float(factors[fit.here].sum())
        total = fit.spread(factors, people) + weight * np.outer(away, away)
        # The covariance of the likelihood is that of many people.
        return vector(total * ((n - 1) / n if method == "likelihood" else 1))

    def spread(weights: Vector, _: Vector) -> OneResponse:
        if len(fit.stages) == 1 and joined.spread is not None:
            return joined.spread(weights, fit.value)
        nothing = np.full(len(fit.value), np.nan)
        return OneResponse(fit.curve(), nothing, nothing)

    return [
        replace(
            joined,
            values=fit.linearized(),
            device=partial(scatter, people=0.0),
            scatter=scatter,
            spread=spread,
        )
    ]


class _DeviceRows(NamedTuple):
    """The responses of a group to one device.

    Attributes:
        cells: the cells of a tally in which each is counted.
        rows: which rows they are.
        weights: of these rows.
        part: what they add to the shares.
    """

    cells: Cells
    rows: NDArray[np.intp]
    weights: Vector
    part: Contribution


@dataclass(frozen=True, eq=False)
class _GroupFit:
    """The shares of a group from responses to several devices.

    Attributes:
        size: how many rows there are.
        value: the shares.
        shares: the same, brought into the simplex, at which the devices' models are taken.
        stages: the devices that somebody of the group responded with.
    """

    size: int
    value: Vector
    shares: Vector
    stages: tuple[_DeviceRows, ...]

    @classmethod
    def of(
        cls,
        rows: Sequence[Responses[Any]],
        weights: Vector,
        group: Mask,
        method: str,
        guess: Any,
    ) -> _GroupFit:
        """Fit the shares of a group.

        Raises:
            NotEstimable: nobody of the group responded, or a design cannot tell answers apart.
            InvalidRequest: a method that does not exist, or a guess that does not fit.
        """
        counts, stages = [], []
        present = [
            np.flatnonzero(group if each.missing is None else group & ~each.missing)
            for each in rows
        ]
        everybody = vector(weights[np.concatenate(present)])
        for each, here in zip(rows, present, strict=True):
            if not weights[here].any():
                continue
            cells, own = (
                Cells.of(each.design.channel, each.columns["response"][here]),
                vector(weights[here]),
            )
            counts.append(WeightedCounts.of(each.design, cells.sums, own, everybody))
            stages.append((cells, here, own))
        if not counts:
            raise NotEstimable(
                "there are 0 responses in a group; expected at least 2."
            )
        fit = fit_groups(counts, method, guess, None)
        held = tuple(
            _DeviceRows(*each, part)
            for each, part in zip(stages, fit.parts, strict=True)
        )
        return cls(len(weights), fit.value, projection(fit.value), held)

    @property
    def here(self) -> NDArray[np.intp]:
        """The rows of the group that hold a response."""
        return np.concatenate([stage.rows for stage in self.stages])

    @property
    def weight(self) -> float:
        """The sum of the weights of the group."""
        return float(sum(stage.weights.sum() for stage in self.stages))

    def linearized(self) -> Matrix:
        """Return π̂ + A·(r − R)·W/W_d for each row of the group, whose mean is π̂ and whose spread is that of π̂.

        Why: π̂ = Σ A_d·R_d with R_d the mean of r over those who have the device d, whose influence function is that.
        """
        values = np.zeros((self.size, len(self.value)))
        for stage in self.stages:
            scores = stage.cells.scores(stage.part.linear, len(self.value))
            away = (scores - stage.part.alone) @ stage.part.mixing.T
            values[stage.rows] = self.value + away * (
                self.weight / stage.weights.sum()
            )
        return vector(values)

    def spread(self, factors: Vector, f: float) -> Matrix:
        """Return Σ c·Var of what each row adds by the devices' models, of the device alone for f = 0."""
        spread = np.zeros((len(self.value), len(self.value)))
        for stage in self.stages:
            linear, mixing = stage.part.linear, stage.part.mixing
            one = linear.covariance(
                linear.expected(self.shares), self.shares, f, 1.0
            ).matrix()
            scale = (self.weight / float(stage.weights.sum())) ** 2 * float(
                factors[stage.rows].sum()
            )
            spread += scale * mixing @ one @ mixing.T
        return vector(spread)

    def curve(self) -> Matrix:
        """Return the variance of what one response says about each share, if it were π and weights were even."""
        near, n = (
            inside(projection(self.value)),
            sum(len(stage.rows) for stage in self.stages),
        )
        return vector(
            sum(
                stage.part.curve(near, 1.0)
                * (stage.part.tally.respondents * n / len(stage.rows))
                for stage in self.stages
            )
        )


def joined_values(rows: Sequence[Responses[Any]]) -> RowValues:
    """Return the values of all rows, each by its own device."""
    parts = [row_values(each) for each in rows]
    first = parts[0]
    if any(each.names != first.names for each in parts):
        raise Incompatible(
            "the designs have different categories; expected the same in all of them, in the same order.",
            "Build them with the same categories=….",
        )
    times = np.sum([each.present for each in parts], axis=0)
    if (times > 1).any():
        raise InvalidResponse(
            f"row {int((times > 1).argmax()):,} has responses to two devices; expected one."
        )
    if len(parts) == 1:
        return first

    def device(factors: Vector, means: Vector) -> Matrix:
        terms = [each.device(factors * each.present, means) for each in parts]
        return vector(sum(terms))

    def scatter(factors: Vector, means: Vector, people: float) -> Matrix:
        models = [(each.scatter, vector(factors * each.present)) for each in parts]
        return vector(
            sum(model(own, means, people) for model, own in models if model)
        )

    values = vector(sum(each.values for each in parts))
    return RowValues(
        first.names,
        values,
        times > 0,
        device,
        first.quantity,
        partial(_averaged_response, parts) if first.spread else None,
        scatter=scatter,
        exclusive=first.exclusive,
    )


def _averaged_response(
    parts: Sequence[RowValues], weights: Vector, shares: Vector
) -> OneResponse:
    """Return what a response says by a device that is drawn with its share of the weights: variances are averaged."""
    weighted = [(part, vector(weights * part.present)) for part in parts]
    used = [(part, own) for part, own in weighted if own.any()]
    responses = [part.one_response(own, shares) for part, own in used]
    if len(responses) == 1:
        return responses[0]
    unknown = np.full(len(shares), np.nan)
    totals = [float(own.sum()) for _, own in used]
    curves = [response.curve for response in responses]
    return OneResponse(
        vector(np.average(curves, axis=0, weights=totals)), unknown, unknown
    )
