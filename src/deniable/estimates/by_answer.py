"""An outcome that is observed exactly, by the protected answer: means, differences and totals.

    w_ij    L_i[j, z_i], the unbiased indicator of answer j from the response of row i through its own device
    a, h    the weight of a row, and that of its device (1 where devices are not weighted)
    N, T    Σ a·w and Σ a·w·y: the people with an answer, and the total of their outcomes; μ = T/N

E[w_ij | answer, y] is 1 for the answer j and 0 for others, if the response does not depend on the outcome once the
answer is known. So sums of a·w·f(y) are unbiased for every function f, whatever distribution the outcome has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable, require
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.sampling.columns import Mask, check_rows, numbers
from deniable.estimates.sampling.devices import check_devices, joined_values
from deniable.estimates.sampling.estimating import Asked, estimate_values
from deniable.estimates.sampling.results import SampledEstimate
from deniable.estimates.sampling.samples import Sampling
from deniable.estimates.sampling.values import (
    OneResponse,
    RowValues,
    check_room,
    linear_of,
    unknown_response,
)
from deniable.files.row_names import check_same_people
from deniable.tallies.columns import subject
from deniable.tallies.responses import Responses

__all__ = ["AnswerCell", "OutcomeRows", "by_answer"]


def by_answer(
    outcome: object,
    responses: Responses[Design] | Sequence[Responses[Design]],
    *,
    sampling: Sampling | None = None,
    population: int | None = None,
    domain: object = None,
    by: object = None,
    device_weights: bool = False,
) -> SampledEstimate:
    """Estimate the mean of an exactly observed outcome among the people with each answer.

    `total` holds the totals of the outcome, `about("share")` the shares of the answers and `about("share").total` their
    counts. `about("difference")` compares each answer with the first. Totals take rows without a response, or with a
    device that says nothing, to be like the others.

    Implements: μ_j = Σ a·w_j·y / Σ a·w_j with the variance between clusters or people. Intervals of means and
    differences are Fieller's [Fie54]: all μ at which Σ a·w_j·(y − μ) is within its error of 0. They have no ends where
    the data do not show that anybody has the answer. `docs/theory/by-answer.md` has the formulas.

    Args:
        outcome: a number for each row: a list, or a column of NumPy, pandas, Polars or Arrow.
        responses: to one design, or for each of several devices: `dn.read_confidence(…)`, or
            `dn.Responses.of(designs, column, devices=…)`.
        sampling: how the people were drawn, with weights, strata and clusters; by default one by one.
        population: the number of people there are, without a sampling. If all of them are in the rows, only the device
            makes the estimate vary.
        domain: True for the rows of a part of the people. All rows stay in the variance.
        by: a group for each row, or columns of them; each group is estimated on its own.
        device_weights: weigh rows by how much their device tells. Right only where the device depends neither on the
            answer nor on the outcome.

    Raises:
        InvalidRequest: columns that do not fit, or an outcome that is not a finite number.
        Incompatible: designs for different answers, or columns of pandas that are of other people.
        NotEstimable: nobody responded, or a device that does not tell the answers apart.

    Example:
        >>> import deniable as dn
        >>> seconds = [1.2, 0.8, 3.1, 1.0, 2.8, 1.1, 0.9, 3.4]
        >>> sent = dn.read_confidence(["high", "high", "low", "high", "low", "high", "high", "low"], [0.1] * 8)
        >>> found = dn.by_answer(seconds, sent)
        >>> {answer: round(mean, 2) for answer, mean in found.params.items()}
        {'low': 3.3, 'high': 0.93}
        >>> round(found.about("difference").params["high − low"], 2)
        -2.37
    """
    rows = OutcomeRows.read(outcome, responses, sampling, population, domain, by)
    joint = estimate_values(
        partial(rows.blocks, device_weights=device_weights),
        rows.sampling,
        rows.asked,
        domain=domain,
        by=by,
    )
    joint = joint.drawn(joint.sample + rows.silence)
    return _split(joint, rows, device_weights=device_weights)


class AnswerCell(NamedTuple):
    """The rows of a group, as they count for one answer.

    Attributes:
        category: the answer, by its label.
        values: h·w of each row; 0 outside of the group.
        device: the variance that the device gives to that, estimated without bias.
        worth: n·π·(1 − r)², the number of direct answers that the responses are worth.
    """

    category: str
    values: Vector
    device: Vector
    worth: float


class _Number(NamedTuple):
    """Σ_j a·w_j·above_j over Σ_j a·w_j·below_j, both by answer; over the number of people, where below is empty."""

    above: Mapping[int, Vector]
    below: Mapping[int, Vector]


@dataclass(frozen=True, eq=False)
class OutcomeRows:
    """Rows with an outcome and a response.

    Attributes:
        outcome: y.
        devices: the responses to each device that tells answers apart.
        joined: w, of all devices.
        sampling: how the people were drawn.
        missing: the number of rows without a response.
        n_silent: the number of rows whose device says nothing.
    """

    outcome: Vector
    devices: tuple[Responses[Design], ...]
    joined: RowValues
    sampling: Sampling
    missing: int
    n_silent: int

    @classmethod
    def read(
        cls,
        outcome: Any,
        responses: Any,
        sampling: Sampling | None,
        population: int | None,
        domain: object,
        by: object,
    ) -> OutcomeRows:
        """Read the columns, and leave out devices that say nothing."""
        given = [responses] if isinstance(responses, Responses) else list(responses)
        require(
            bool(given) and all(isinstance(part, Responses) for part in given),
            responses,
            "the responses",
            "what was sent: dn.Responses.of(design, column)",
        )
        check_devices(given)
        named = {f"responses {n}": part for n, part in enumerate(given)}
        check_same_people(
            outcome=outcome, sampling=sampling, domain=domain, groups=by, **named
        )
        y = numbers(outcome, "outcomes", len(given[0]))
        silent = [part for part in given if _is_silent(part.design)]
        devices = tuple(part for part in given if not _is_silent(part.design))
        if not devices:
            raise NotEstimable(
                "every answer sends the same responses with the same probabilities; expected a device whose responses "
                "depend on the answer."
            )
        joined = joined_values(devices)
        n_silent = sum(int((~part.gaps).sum()) for part in silent)
        missing = len(y) - int(joined.present.sum()) - n_silent
        people = _sampling(sampling, population, len(y))
        return cls(y, devices, joined, people, missing, n_silent)

    @property
    def categories(self) -> tuple[str, ...]:
        """The answers, in the order of the design."""
        return self.joined.names

    @property
    def asked(self) -> Asked:
        """What people were asked with."""
        designs = tuple(part.design for part in self.devices)
        epsilon = max(design.epsilon for design in designs)
        if len(designs) == 1:
            return Asked(designs[0], subject(designs[0]), epsilon)
        return Asked(designs, f"{len(designs)} devices", epsilon)

    @property
    def silence(self) -> str:
        """The rows of weight 0, in words."""
        if not self.n_silent:
            return ""
        return f", {self.n_silent:,} with a device that says nothing (weight 0)"

    def blocks(self, group: Mask, *, device_weights: bool) -> list[RowValues]:
        """Return the numbers of a group: shares, mean products, and ratios with their two parts."""
        k, y, ones = len(self.categories), self.outcome, np.ones(len(self.outcome))
        added = [_Number({j: ones}, {}) for j in range(k)]
        added += [_Number({j: y}, {}) for j in range(k)]
        ratios = []
        for index, ratio in enumerate(
            self.ratios(group, device_weights=device_weights)
        ):
            above, below = k + index, index
            if device_weights or index >= k:
                above, below = len(added), len(added) + 1
                added += [_Number(ratio.above, {}), _Number(ratio.below, {})]
            ratios.append((len(added), above, below))
            added.append(ratio)
        check_room(len(y), len(added), "numbers by answer", "Ask for fewer answers.")

        def spread(weights: Vector, means: Vector) -> OneResponse:
            shares = self.joined.one_response(weights, means[:k])
            others = unknown_response(len(means) - k)
            pairs = zip(shares, others, strict=True)
            return OneResponse(*(np.concatenate(pair, axis=-1) for pair in pairs))

        return [
            RowValues(
                tuple(map(str, range(len(added)))),
                np.column_stack([self._sum(number.above) for number in added]),
                self.joined.present,
                partial(self._device, added),
                "mean",
                spread,
                np.column_stack([self._sum(number.below) for number in added]),
                summed=2 * k,
                ratios=tuple(ratios),
            )
        ]

    def _sum(self, factors: Mapping[int, Vector]) -> Vector:
        """Return Σ_j w_j·factor_j of each row; 1 without factors."""
        if not factors:
            return np.ones(len(self.outcome))
        terms = (self.joined.values[:, j] * factor for j, factor in factors.items())
        return vector(sum(terms))

    def ratios(self, group: Mask, *, device_weights: bool) -> list[_Number]:
        """Return the mean of each answer, and how far each lies above that of the first.

        Why: with κ = N_j/(N_0 + N_j) and m the mean of both together, e_0 − b·e_1 is the score of the difference b when
        the mean of the first answer solves its equation at b. So Σ e_0/Σ e_1 is μ_j − μ_0, with the same error.
        """
        weights = self.sampling.weights * (group & self.joined.present)
        people = weights @ self.joined.values
        totals = (weights * self.outcome) @ self.joined.values
        unit, ratios = np.eye(len(people)), []
        weigh = partial(self.device_weights, weights, is_on=device_weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            for j, mean in enumerate(totals / people):
                h = weigh(unit[j], mean)
                ratios.append(_Number({j: h * self.outcome}, {j: h}))
            for j in range(1, len(people)):
                kappa = people[j] / (people[0] + people[j])
                mean = (totals[0] + totals[j]) / (people[0] + people[j])
                h = weigh((1 - kappa) * unit[j] - kappa * unit[0], mean)
                away = h * (self.outcome - mean)
                above = {j: (1 - kappa) * away, 0: -kappa * away}
                ratios.append(
                    _Number(above, {j: (1 - kappa) ** 2 * h, 0: kappa**2 * h})
                )
        return ratios

    def cells(self, group: Mask, *, device_weights: bool) -> Iterator[AnswerCell]:
        """Yield the indicators of each answer in a group, weighted by device."""
        present = np.asarray(group & self.joined.present, np.bool_)
        ratios = self.ratios(group, device_weights=device_weights)
        for j, answer in enumerate(self.categories):
            w, h = self.joined.values[:, j], ratios[j].below[j] * present
            worth = 0.0
            for part in self.devices:
                own = w[present & ~part.gaps]
                if len(own) and np.ptp(own):
                    worth += max(float(own.sum()), 0.0) / float(np.ptp(own)) ** 2
            yield AnswerCell(answer, h * w, h * w * (h * w - h), worth)

    def device_weights(
        self, weights: Vector, combination: Vector, mean: float, *, is_on: bool
    ) -> Vector:
        """Return h of each row: 1 over the second moment that its device gives to Σ_j q_j·w_j·(y − mean).

        Implements: h_i = 1/Σ_g B_g·m_g(P_i), scaled to mean 1, with m_g = Σ_z P_i[z, g]·(Σ_j q_j·L_i[j, z])² and B_g =
        Σ a·w_g·(y − mean)², at least 0.
        """
        ones = np.ones(len(self.outcome))
        if not is_on:
            return ones
        squares = (weights * (self.outcome - mean) ** 2) @ self.joined.values
        h = np.zeros(len(self.outcome))
        for part in self.devices:
            spread = _second_moments(part.design, combination)
            h[~part.gaps] = 1 / (np.maximum(squares, 0.0) @ spread)
        return vector(h / h[self.joined.present].mean())

    def _device(
        self, added: Sequence[_Number], factors: Vector, means: Vector
    ) -> Matrix:
        """Return Σ c·V̂ with V̂ = g·g′ − Σ_j w_j·φ_j·φ_j′; a row adds g = Σ_j w_j·φ_j to the residuals of the numbers.

        Why: E[w_j·w_l] is 0 for two answers but for the device, and E w_j is 1 for the row's own answer.
        """
        by_answer = []
        for j in range(len(self.categories)):
            columns = np.zeros((len(self.outcome), len(added)))
            for index, number in enumerate(added):
                if j in number.above:
                    columns[:, index] = number.above[j]
                if j in number.below:
                    columns[:, index] -= (
                        np.nan_to_num(means[index]) * number.below[j]
                    )
            by_answer.append(columns)
        w = self.joined.values
        terms = (w[:, [j]] * columns for j, columns in enumerate(by_answer))
        rows = vector(sum(terms))
        total = (rows.T * factors) @ rows
        for j, columns in enumerate(by_answer):
            total -= (columns.T * (factors * w[:, j])) @ columns
        return vector(total)


def _second_moments(design: Design, combination: Vector) -> Vector:
    """Return E[(Σ_j q_j·w_j)²] given each answer, by the device's probabilities."""
    linear, size = linear_of(design), len(combination)
    moments = []
    for answer in np.eye(size):
        covariance = linear.covariance(linear.expected(answer), answer, 0.0, 1.0)
        device = combination @ covariance.matrix() @ combination
        moments.append(device + float(combination @ answer) ** 2)
    return vector(moments)


def _is_silent(design: Design) -> bool:
    """Whether every answer sends the same responses with the same probabilities."""
    channel = design.channel
    answers, responses = range(channel.answers), range(min(channel.responses, 2))
    return channel.responses <= 2 and all(
        channel.probability(response, given=answer)
        == channel.probability(response, given=0)
        for answer in answers
        for response in responses
    )


def _sampling(sampling: object, population: int | None, n: int) -> Sampling:
    """Return how the people of the rows were drawn."""
    if sampling is None:
        return Sampling(strata=np.zeros(n, np.int8), population=population)
    if population is not None:
        raise InvalidRequest(
            "there are population= and sampling=; expected one of both.",
            "Name the population in the sampling: dn.Sampling(…, population=…).",
        )
    if not isinstance(sampling, Sampling):
        raise InvalidRequest(
            f"the sampling is a {type(sampling).__name__}; expected a Sampling.",
            'For example sampling=dn.Sampling("w", clusters="village", data=data).',
        )
    check_rows(sampling, "columns of the sampling", n)
    return sampling


def _split(
    joint: SampledEstimate, rows: OutcomeRows, *, device_weights: bool
) -> SampledEstimate:
    """Return the means, with the shares and the differences beside them and the totals of each."""
    answers, totals = rows.categories, joint.totals
    assert totals is not None
    k, method = len(answers), joint.method
    method += ", rows weighted by device" * device_weights
    totals = replace(totals, missing=rows.missing)
    joint = replace(joint, missing=rows.missing, method=method)
    shares = replace(
        joint.select(answers, range(k), "share"),
        totals=totals.select(answers, range(k), "total"),
    )
    pairs = [f"{answer} − {answers[0]}" for answer in answers[1:]]
    start, step = (2 * k + 2, 3) if device_weights else (2 * k, 1)
    means = range(start, start + step * k, step)
    return replace(
        joint.select(answers, means, "mean"),
        totals=totals.select(answers, range(k, 2 * k), "total"),
        others={
            "share": shares,
            "difference": joint.select(
                pairs,
                range(step * k + 2 * k + 2, len(joint.names_in_group), 3),
                "difference",
            ),
        },
    )
