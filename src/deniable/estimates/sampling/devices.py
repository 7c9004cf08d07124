"""Rows of people who were asked with different devices, or are at different stages of a ladder, in one sample."""

from __future__ import annotations

from collections.abc import Sequence
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
from deniable.estimates.sampling.estimating import Asked, Blocks, estimate_values
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
from deniable.tallies import tally
from deniable.tallies.responses import Responses
from deniable.tallies.stages import count_stages, finest_rows


def estimate_devices(
    rows: Sequence[Responses[Any]],
    sampling: Sampling,
    *,
    method: str | None = None,
    guess: Any = None,
    domain: Any = None,
    by: Any = None,
    denominator: Any = None,
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
    designs = [each.design for each in rows]
    wrong = [each for each in designs if not isinstance(each, Design)]
    if wrong:
        raise InvalidRequest(
            f"one of several devices asks for {wrong[0].asks}; expected designs for categories or numbers alone."
        )
    for each in rows:
        check_rows(each, "responses to a device", len(rows[0]))
    used = _used(rows)
    asked = Asked(
        tuple(designs),
        f"{len(used)} devices",
        max(each.design.epsilon for each in used),
    )
    chosen = _method(method, designs, denominator)

    def count(part: Mask, population: int | None) -> Estimate[Any] | None:
        if chosen != "strata" and population is not None:
            return None
        tallies = [tally(each.design, each[part]) for each in rows]
        return pool(tallies, method=chosen, guess=guess, population=population)

    return estimate_values(
        _pooled_blocks(used, sampling, chosen, guess),
        sampling,
        asked,
        domain=domain,
        by=by,
        denominator=denominator,
        count=None if _are_numbers(designs) else count,
    )


def estimate_stages(
    responses: Responses[Ladder],
    sampling: Sampling,
    *,
    reached: Any = None,
    method: str | None = None,
    guess: Any = None,
    domain: Any = None,
    by: Any = None,
    denominator: Any = None,
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
    ladder, stages = responses.design, finest_rows(responses, reached)
    used = _used(stages)
    asked = Asked(ladder, f"{ladder!r}", max(each.design.epsilon for each in used))
    chosen = _method(method, ladder.designs, denominator)

    def count(part: Mask, population: int | None) -> Estimate[Any] | None:
        if chosen != "strata" and population is not None:
            return None
        sent = part if responses.missing is None else part & ~responses.missing
        last = None if reached is None else np.asarray(reached)[sent]
        counts = count_stages(ladder, list(responses[sent].columns.values()), last)
        return combine(counts, method=chosen, guess=guess, population=population)

    return estimate_values(
        _pooled_blocks(used, sampling, chosen, guess),
        sampling,
        asked,
        domain=domain,
        by=by,
        denominator=denominator,
        count=None if _are_numbers(ladder.designs) else count,
    )


def _method(method: str | None, designs: Sequence[Any], denominator: Any) -> str:
    """Return how devices are taken together: as for counts, or side by side where there is no other way."""
    if denominator is None and not _are_numbers(designs):
        return method or "information"
    if method not in (None, "strata"):
        raise InvalidRequest(
            f"the method is {quoted(method)}; expected strata for numbers, and with a denominator."
        )
    return "strata"


def _are_numbers(designs: Sequence[Any]) -> bool:
    return any(design.answer_form == "numbers" for design in designs)


def _used(rows: Sequence[Responses[Any]]) -> list[Responses[Any]]:
    """Return the devices that somebody responded with; the last one where nobody did."""
    return [
        responses
        for responses in rows
        if responses.missing is None or not responses.missing.all()
    ] or [rows[-1]]


def _pooled_blocks(
    rows: Sequence[Responses[Any]], sampling: Sampling, method: str, guess: Any
) -> Blocks:
    """Return what each response says side by side with others, or together with those of its group."""
    joined = _joined(rows)
    if method == "strata":
        return [joined]
    return partial(_pooled_values, joined, rows, sampling, method, guess)


def _pooled_values(
    joined: RowValues,
    rows: Sequence[Responses[Any]],
    sampling: Sampling,
    method: str,
    guess: Any,
    group: Mask,
) -> list[RowValues]:
    """Return what each response of a group adds to the shares that its device and the others tell together."""
    check_rows(sampling, "columns of the sampling", len(joined))
    fit = _GroupFit.of(rows, vector(sampling.weights), group, method, guess)

    def device(factors: Vector, _: Vector) -> Matrix:
        return fit.spread(factors, 0.0)

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
            device=device,
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


def _joined(rows: Sequence[Responses[Any]]) -> RowValues:
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
        return vector(
            sum(each.device(vector(factors * each.present), means) for each in parts)
        )

    def spread(weights: Vector, shares: Vector) -> OneResponse:
        own = [vector(weights * each.present) for each in parts]
        known = [
            (each, held) for each, held in zip(parts, own, strict=True) if held.any()
        ]
        told = [
            each.spread(held, shares)
            for each, held in known
            if each.spread is not None
        ]
        if len(told) == 1:
            return told[0]
        # A response is one of a device that is drawn with its share of the weights: variances are averaged.
        nothing = np.full(len(shares), np.nan)
        weight = [float(held.sum()) for _, held in known]
        return OneResponse(
            vector(
                np.average([each.curve for each in told], axis=0, weights=weight)
            ),
            nothing,
            nothing,
        )

    def scatter(factors: Vector, means: Vector, people: float) -> Matrix:
        models = [(each.scatter, vector(factors * each.present)) for each in parts]
        return vector(
            sum(
                model(own, means, people)
                for model, own in models
                if model is not None
            )
        )

    values = vector(sum(each.values for each in parts))
    return RowValues(
        first.names,
        values,
        times > 0,
        device,
        first.quantity,
        spread if first.spread else None,
        scatter=scatter if all(each.scatter is not None for each in parts) else None,
        exclusive=first.exclusive,
    )
