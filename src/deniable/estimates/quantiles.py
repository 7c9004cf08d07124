"""Quantiles of an outcome that is observed exactly, by the protected answer.

With c = a·h·w of `by_answer` and N = Σ c: F(t) = Σ c·1{y ≤ t}/N, U(t) = Σ c·(1{y ≤ t} − τ), V(t) the variance of U(t).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from deniable import documents
from deniable.designs import Design
from deniable.errors import InvalidRequest, UnreadableFile, require_choice
from deniable.estimates.by_answer import AnswerCell, OutcomeRows
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.diagnostics import FEW
from deniable.estimates.intervals import quantile
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalMethod,
    quantile_name,
    words_of,
)
from deniable.estimates.sampling.columns import Codes, sums
from deniable.estimates.sampling.people import People, bessel
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.statistics import Model, Statistic
from deniable.rendering import formats
from deniable.tallies.responses import Responses

__all__ = ["AnswerQuantiles", "quantiles_by_answer"]

QUANTILES = (0.5,)
"""The quantiles that are estimated where no others are asked for."""

_MIN_EXPECTED = 2.5
"""n·π·(1 − τ)·(1 − r)² from which the interval of an upper quantile covers: 2.7 was enough in simulations, .66 not."""

_USUAL = 0.95  # the level of the interval from which the standard error comes
_STEP = 1e-3  # of ln z, between the ends of intervals that are stored
_LEAST_Z, _MAX_Z = 1e-6, 1e6  # between which falls of z are told apart
_ROUNDING = 1e-12  # of F


def quantiles_by_answer(
    outcome: object,
    responses: Responses[Design] | Sequence[Responses[Design]],
    quantiles: Sequence[float] = QUANTILES,
    *,
    sampling: Sampling | None = None,
    population: int | None = None,
    domain: object = None,
    by: object = None,
    device_weights: bool = False,
    interpolation: str = "hull",
) -> Statistic[AnswerQuantiles]:
    """Estimate quantiles of an exactly observed outcome among the people with each answer.

    Implements: F, which may fall. The estimate is the middle between where its running maximum from the left and its
    running minimum from the right reach τ. The interval is Woodruff's [Woo52] by inversion: from the first t at which
    U(t) is within its error of 0 to the value after the last. `docs/theory/by-answer.md` has the formulas.

    Args:
        outcome: a number for each row, as for `by_answer`.
        responses: as for `by_answer`.
        quantiles: those that are estimated, such as 0.5 for the median.
        sampling: how the people were drawn, with weights, strata and clusters; by default one by one.
        population: the number of people there are, without a sampling.
        domain: True for the rows of a part of the people.
        by: a group for each row, or columns of them.
        device_weights: weigh rows by how much their device tells, as for `by_answer`.
        interpolation: "hull", or "mdn" for the percentiles of MDN's page about `confidence`: the first row at which F
            reaches τ, on a straight line from the row before. Intervals are the same.

    Raises:
        InvalidRequest: columns that do not fit, a quantile outside (0, 1), or a sampling with calibrated weights,
            replicates or probabilities of inclusion.
        NotEstimable: nobody responded, or a device that does not tell the answers apart.

    Example:
        >>> import deniable as dn
        >>> sent = dn.read_confidence(["high", "low"] * 30, 0.1)
        >>> found = dn.quantiles_by_answer(range(60), sent, [0.5])
        >>> list(found.params), [round(end) for end in found.interval("high · median")]
        (['low · median', 'high · median'], [18, 40])
    """
    require_choice("the interpolation is", interpolation, ("hull", "mdn"))
    targets = _read_quantiles(quantiles)
    rows = OutcomeRows.read(outcome, responses, sampling, population, domain, by)
    _check_running(rows.sampling)
    people = People.of(rows.sampling)
    inside, groups, masks = people.groups(domain, by)
    ordered, curves, influence = _OrderedRows.of(rows), [], []
    for group, mask in zip(groups, masks, strict=True):
        degrees = people.degrees(np.asarray(mask & rows.joined.present, np.bool_))
        for cell in rows.cells(mask, device_weights=device_weights):
            for target in targets:
                parts = (group, cell.category, quantile_name(target))
                curve = ordered.curve(cell, target, interpolation)
                is_below = rows.outcome <= curve.value
                influence.append(cell.values * (is_below - target))
                name = " · ".join(filter(None, parts))
                curves.append(curve._replace(name=name, degrees=degrees))
    present = np.asarray(inside & rows.joined.present, np.bool_)
    variance, sample = people.describe(people.number(inside))
    weighted = ", rows weighted by device" if device_weights else ""
    model = AnswerQuantiles(
        tuple(curves),
        people.total_covariance(np.column_stack(influence)),
        rows.asked.words,
        rows.asked.epsilon,
        f"{interpolation}, {variance}{weighted}",
        sample + rows.silence,
        int(present.sum()),
        rows.missing,
    )
    return Statistic(model)


class _QuantileEnds(NamedTuple):
    """A quantile, and the ends of its interval by the quantile z of the reference distribution.

    Attributes:
        name: of the quantile.
        degrees: degrees of freedom of its variance.
        value: the estimate.
        expected: n·π·(1 − τ)·(1 − r)², by which the interval of an upper quantile is judged.
        limit: z from which the interval has no ends: |N| over its standard error.
        low: falling values of z, each with the lower end from there on; two rows.
        high: the same of the upper end.
    """

    name: str
    degrees: int
    value: float
    expected: float
    limit: float
    low: Matrix
    high: Matrix

    @classmethod
    def from_source(cls, source: Sequence[Any]) -> _QuantileEnds:
        """Read a curve from JSON, which has null for infinite numbers."""
        name, degrees, *numbers, low, high = source
        value, expected, limit = (
            math.inf if number is None else float(number) for number in numbers
        )
        return cls(name, degrees, value, expected, limit, vector(low), vector(high))

    def is_empty(self, level: float) -> bool:
        """Say whether the data do not show that anybody has the answer."""
        return quantile(level, self.degrees) >= self.limit

    def ends(self, level: float) -> tuple[float, float]:
        """Return the interval: the estimate where no value is within its error."""
        z = quantile(level, self.degrees)
        if self.is_empty(level):
            return -math.inf, math.inf
        low, high = (
            next(iter(values[levels <= z].tolist()), self.value)
            for levels, values in (self.low, self.high)
        )
        return min(low, self.value), max(high, self.value)


@dataclass(frozen=True, eq=False)
class AnswerQuantiles(Model):
    """Quantiles of an outcome by the protected answer.

    Attributes:
        curves: each quantile with its intervals.
        influence: the covariance of U at the quantiles.
        asked: what people were asked with.
        epsilon: its ε.
        method: how the quantiles were estimated.
        sample: how people were drawn, in words.
        respondents: how many responses there are.
        missing: how many rows hold none.
    """

    type: ClassVar = "answer-quantiles"

    curves: tuple[_QuantileEnds, ...]
    influence: Matrix
    asked: str
    epsilon: float
    method: str
    sample: str
    respondents: int
    missing: int

    @property
    def params(self) -> dict[str, float]:
        return {curve.name: curve.value for curve in self.curves}

    @property
    def df(self) -> float:
        return min(curve.degrees for curve in self.curves)

    def covariance_matrix(self) -> Matrix:
        """Return the covariance to first order: each error is half of the 95 % interval over its quantile."""
        low, high = self._woodruff_bounds(_USUAL)
        z = vector([quantile(_USUAL, curve.degrees) for curve in self.curves])
        errors = (high - low) / 2 / z
        with np.errstate(invalid="ignore", divide="ignore"):
            slopes = errors / np.sqrt(np.diagonal(self.influence))
            return vector(np.outer(slopes, slopes) * self.influence)

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "woodruff", which needs no density, and the usual ones."""
        return {"woodruff": self._woodruff_bounds}

    def _woodruff_bounds(self, level: float) -> Bounds:
        low, high = vector([curve.ends(level) for curve in self.curves]).T
        return low, high

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """Groups that may be empty, and upper quantiles of too few people."""
        empty = [curve.name for curve in self.curves if curve.is_empty(_USUAL)]
        few = [curve.name for curve in self.curves if curve.expected < _MIN_EXPECTED]
        texts = {
            "unbounded": (
                empty,
                "the data do not show that this group exists; no quantile can be given: its interval has no ends.",
            ),
            FEW: (
                few,
                "too few people of the group lie above this quantile; the interval may cover less often than it says.",
            ),
        }
        return tuple(
            Caution(code, f"{', '.join(names)}: {text}")
            for code, (names, text) in texts.items()
            if names
        )

    def describe(self) -> Description:
        epsilon = formats.epsilon(self.epsilon)
        return Description(
            title=f"quantiles, {words_of(self.asked)}, ε = {epsilon}, {self.sample}, {self.method}",
            quantity="value",
            method=self.method,
            respondents=self.respondents,
            epsilon=self.epsilon,
            missing=self.missing,
            notes=(
                "The outcome was observed exactly; only the answer is protected. Degrees of freedom: "
                f"{self.df:,.0f}.",
            ),
        )

    def to_source(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in _FIELDS}
        curves = [
            curve._replace(low=curve.low.tolist(), high=curve.high.tolist())
            for curve in self.curves
        ]
        return {
            **fields,
            "curves": list(map(list, curves)),
            "influence": self.influence.tolist(),
        }

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: Any) -> AnswerQuantiles:  # noqa: ARG003 - it names none
        try:
            curves = tuple(
                map(
                    _QuantileEnds.from_source,
                    documents.field(source, "curves", list),
                )
            )
            fields = {name: source[name] for name in _FIELDS}
        except (KeyError, TypeError, ValueError):
            raise UnreadableFile(
                "the quantiles are not complete; expected their curves."
            ) from None
        epsilon = fields["epsilon"]
        fields["epsilon"] = math.inf if epsilon is None else epsilon
        return cls(curves, vector(source["influence"]), **fields)


_FIELDS = (
    "asked",
    "epsilon",
    "method",
    "sample",
    "respondents",
    "missing",
)


class _OrderedRows(NamedTuple):
    """Rows in the order of their outcome.

    Attributes:
        outcome: of the rows, as they were given.
        order: the rows.
        last: of each different outcome, the last place in that order.
        values: the different outcomes.
        sampling: how the people were drawn.
    """

    outcome: Vector
    order: Codes
    last: Codes
    values: Vector
    sampling: Sampling

    @classmethod
    def of(cls, rows: OutcomeRows) -> _OrderedRows:
        """Sort the rows once, for all quantiles."""
        order = np.argsort(rows.outcome, kind="stable")
        ordered = rows.outcome[order]
        last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
        return cls(rows.outcome, order, last, vector(ordered[last]), rows.sampling)

    def curve(
        self, cell: AnswerCell, target: float, interpolation: str
    ) -> _QuantileEnds:
        """Return the quantile τ of an answer with its intervals; it has no name yet."""
        weights = self.sampling.weights * cell.values
        total = weights.sum()
        below = np.cumsum(weights[self.order])[self.last]
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.sqrt(self._variance(cell, target))
            z = np.nan_to_num(np.abs(below - target * total) / errors, posinf=np.inf)
            shares = below / total
        value = (
            self._value(shares, target)
            if interpolation == "hull"
            else self._interpolated(weights, target)
        )
        return _QuantileEnds(
            "",
            0,
            value,
            cell.worth * (1 - target),
            float(z[-1]),
            _records(z[:-1], self.values[:-1]),
            _records(z[-2::-1], self.values[:0:-1]),
        )

    def _value(self, shares: Vector, target: float) -> float:
        """Return the middle between where the running maximum and the running minimum of F reach τ."""
        rising = np.maximum.accumulate(shares)
        falling = np.minimum.accumulate(shares[::-1])[::-1]
        places = [
            np.searchsorted(side, target - _ROUNDING) for side in (rising, falling)
        ]
        return float(self.values[np.minimum(places, len(shares) - 1)].mean())

    def _interpolated(self, weights: Vector, target: float) -> float:
        """Return the percentile of MDN: F first reaches τ at a row, on a straight line from the row before."""
        rows = self.order[weights[self.order] != 0]
        shares, y = np.cumsum(weights[rows]) / weights.sum(), self.outcome[rows]
        reached = shares >= target
        place = int(reached.argmax()) if reached.any() else len(rows) - 1
        if place == 0:
            return float(y[0])
        before, after = shares[place - 1 : place + 1]
        part = (target - before) / (after - before)
        return float(y[place - 1] + part * (y[place] - y[place - 1]))

    def _variance(self, cell: AnswerCell, target: float) -> Vector:
        """Return V(t) at each different outcome, between clusters within strata, by running sums.

        Implements: Σ_h (1 − f_h)·m_h/(m_h − 1)·[Σ_c U_hc² − U_h²/m_h] + Σ_i f_i·V̂_i·(1{y_i ≤ t} − τ)².
        """
        sampling = self.sampling
        weights = sampling.weights * cell.values
        sizes = np.bincount(sampling.stratum_of)
        factors = (1 - sampling.fractions) * bessel(vector(sizes))
        running = partial(_running_squares, weights[self.order], target)
        clusters, strata = sampling.clusters[self.order], sampling.strata[self.order]
        variance = running(clusters, factors[sampling.stratum_of])
        variance -= running(strata, vector(factors / sizes))
        if sampling.fractions.any():
            finite = sampling.weights**2 * sampling.finite
            left = (finite * cell.device)[self.order]
            variance += target**2 * left.sum() + (1 - 2 * target) * np.cumsum(left)
        return np.maximum(variance[self.last], 0.0)


def _running_squares(
    weights: Vector, target: float, groups: Codes, factors: Vector
) -> Vector:
    """Return Σ_g factor_g·U_g(t)² after each row, U_g(t) = Σ c·(1{row reached} − τ) over the rows of the group g.

    Why: a row moves U of its own group by c, and so the sum by c·(2·U + c).
    """
    size, ends = len(factors), sums(weights, groups, len(factors))
    before = -target * ends[groups]
    if size < len(weights):  # else every row is a group of its own
        order = np.argsort(groups, kind="stable")
        within = np.cumsum(weights[order]) - weights[order]
        first = np.searchsorted(groups[order], np.arange(size))
        starts = np.append(within, 0.0)[first]
        before[order] += within - starts[groups[order]]
    steps = factors[groups] * weights * (2 * before + weights)
    return vector(factors @ (target * ends) ** 2 + np.cumsum(steps))


def _records(z: Vector, values: Vector) -> Matrix:
    """Return where z falls below all earlier ones, and the values there; of falls within `_STEP` the first."""
    lowest = np.minimum.accumulate(z)
    levels = np.ceil(np.log(np.clip(lowest, _LEAST_Z, _MAX_Z)) / _STEP)
    falls = np.flatnonzero(np.diff(levels))
    first, last = np.append(0, falls + 1), np.append(falls, len(z) - 1)
    return vector([lowest[last], values[first]]) if len(z) else np.empty((2, 0))


def _read_quantiles(quantiles: Sequence[float]) -> list[float]:
    """Return the quantiles that are asked for, in order."""
    try:
        targets = sorted(set(map(float, quantiles)))
    except (TypeError, ValueError):
        targets = []
    if not targets or not all(0 < target < 1 for target in targets):
        raise InvalidRequest(
            "a quantile lies outside (0, 1); expected numbers such as 0.5 for the median."
        )
    return targets


def _check_running(sampling: Sampling) -> None:
    """Refuse samples whose variance is not one of clusters: it would be computed anew for each value."""
    for feature, value in (
        ("calibrated weights", sampling.calibration),
        ("replicates", sampling.replicates),
        ("probabilities of inclusion", sampling.inclusion),
    ):
        if value is not None:
            raise InvalidRequest(
                f"the sampling has {feature}; expected weights, strata and clusters alone for quantiles.",
                'For example dn.Sampling("w", strata="region", clusters="village", data=data).',
            )
    sampling.check_lone()
