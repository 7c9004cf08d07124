"""The unrelated question whose share of yes nobody knows: two samples that are asked it with different probabilities.

With p₁ ≠ p₂ the shares of yes λ_g = p_g·π + (1 − p_g)·b are two equations for two unknowns. Where p₂ = 0 the second
sample is asked the innocuous question alone, which is Moors' design and the best second probability.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from deniable import documents, exact
from deniable.designs import direct
from deniable.designs.two_answers import UNRELATED_CAVEAT
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.compliance.response_shares import (
    Group,
    ResponseShares,
    Samplings,
    gather,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.results import Caution, Description
from deniable.estimates.statistics import Model, Statistic
from deniable.rendering import formats

NAMES = ("sensitive", "innocuous")


class Split(NamedTuple):
    """How to divide people between the two samples.

    Attributes:
        first: the share of all people that the first sample should have.
        variance: the variance of the sensitive share, times the number of people.
    """

    first: float
    variance: float


@dataclass(frozen=True, eq=False)
class TwoSamples(Model):
    """The share of the sensitive answer and of the innocuous one, from two samples.

    Attributes:
        p: the probability of the sensitive question in each sample.
        yes: how many said yes in each.
        sizes: how many responded in each.
        sampled: what samples with weights, strata and clusters say of both, in place of the counts.
    """

    type: ClassVar = "two-samples"

    p: tuple[Fraction, Fraction]
    yes: tuple[int, int]
    sizes: tuple[int, int]
    sampled: ResponseShares | None = None

    @cached_property
    def _said(self) -> ResponseShares:
        if self.sampled is not None:
            return self.sampled
        return ResponseShares.of_counts(
            [(n - yes, yes) for n, yes in zip(self.sizes, self.yes, strict=True)]
        )

    @property
    def _shares(self) -> Vector:
        return self._said.value[1::2]

    @cached_property
    def weights(self) -> Matrix:
        """What each sample's share of yes counts in the sensitive share and in the innocuous one, a row for each."""
        p1, p2 = map(float, self.p)
        return vector([[1 - p2, p1 - 1], [-p2, p1]]) / (p1 - p2)

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(NAMES, (self.weights @ self._shares).tolist(), strict=True))

    def covariance_matrix(self) -> Matrix:
        """Return the covariance of both shares; that of the counts of two samples is estimated without bias."""
        return vector(
            self.weights @ self._said.covariance[1::2, 1::2] @ self.weights.T
        )

    def likely(self) -> dict[str, float]:
        """Return the most likely shares, which are probabilities: those estimated, or the best on the border.

        Why: the likelihood is concave in both shares, and both samples together leave nothing to test.
        """
        shares = list(self.params.values())
        if not all(0 <= share <= 1 for share in shares):
            shares = max(
                (
                    self._best_on_border(at, end)
                    for at in (0, 1)
                    for end in (0.0, 1.0)
                ),
                key=self._height,
            )
        return dict(zip(NAMES, shares, strict=True))

    def _height(self, shares: Sequence[float]) -> float:
        p = vector([float(probability) for probability in self.p])
        p_yes, n = p * shares[0] + (1 - p) * shares[1], self._said.sizes
        yes = self._said.counts[1::2]
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(yes > 0, yes * np.log(p_yes), 0) + np.where(
                n > yes, (n - yes) * np.log(1 - p_yes), 0
            )
        return float(terms.sum())

    def _best_on_border(self, at: int, end: float) -> list[float]:
        def shares(free: float) -> list[float]:
            return [end, free] if at == 0 else [free, end]

        best = minimize_scalar(
            lambda free: -self._height(shares(free)),
            bounds=(0, 1),
            options={"xatol": 1e-12},
        )
        return max(
            (shares(free) for free in (0.0, 1.0, float(best.x))), key=self._height
        )

    @property
    def parities(self) -> tuple[exact.Ratio, ...]:
        """By how much a response of each sample changes the odds at most, at the innocuous share that is likely."""
        b = exact.rational(round(self.likely()["innocuous"], 12))
        rare = min(b, 1 - b)
        return tuple(
            exact.ratio(p + (1 - p) * rare, (1 - p) * rare) if p else Fraction(1)
            for p in self.p
        )

    @property
    def df(self) -> float:
        return (
            math.inf if self.sampled is None else float(self.sampled.degrees.min())
        )

    @property
    def warnings(self) -> tuple[Caution, ...]:
        outside = [
            name for name, value in self.params.items() if not 0 <= value <= 1
        ]
        if not outside:
            return ()
        likely = ", ".join(
            f"{name} {value:.4f}" for name, value in self.likely().items()
        )
        text = (
            f"the {' and the '.join(outside)} share lies outside of 0 and 1: by chance, because the samples differ in "
            f"other ways too, or because p or the codes are wrong. The most likely shares are {likely}."
        )
        return (Caution("outside", text),)

    def describe(self) -> Description:
        losses = [exact.log_above(parity) for parity in self.parities]
        listed = " and ".join(
            f"{formats.epsilon(loss)} in sample {number}"
            for number, loss in enumerate(losses, 1)
        )
        return Description(
            title=f"unrelated question in two samples, {self.sizes[0]:,} and {self.sizes[1]:,} respondents"
            + (f", {self.sampled.sample}" if self.sampled else ""),
            quantity="share",
            method="inversion",
            respondents=sum(self.sizes),
            epsilon=max(losses),
            notes=(
                f"At the likely innocuous share ε is {listed}; it is not known before.",
                UNRELATED_CAVEAT,
            ),
        )

    def to_source(self) -> dict[str, Any]:
        sampled = None if self.sampled is None else self.sampled.to_body()
        counts = {
            "yes": list(self.yes),
            "sizes": list(self.sizes),
            "sampled": sampled,
        }
        return {"p": [str(probability) for probability in self.p], **counts}

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: None) -> TwoSamples:  # noqa: ARG003 - there is none
        p, yes, sizes = (
            documents.field(source, name, list) for name in ("p", "yes", "sizes")
        )
        model = unrelated_two_samples(p=p, yes=yes, respondents=sizes).model
        sampled = source.get("sampled")
        return (
            model
            if sampled is None
            else replace(model, sampled=ResponseShares.from_body(sampled))
        )


def unrelated_two_samples(
    groups: Sequence[Group] | None = None,
    *,
    p: Sequence[exact.Rational],
    yes: Sequence[int] | None = None,
    respondents: Sequence[int] | None = None,
    sampling: Samplings = None,
) -> Statistic[TwoSamples]:
    """Estimate a sensitive share, and the innocuous one that nobody knows, from two samples.

    Implements: the two-sample design of [GAS69], and with p₂ = 0 that of [Moo71]: of the shares of yes λ₁ and λ₂,
    [(1 − p₂)λ₁ − (1 − p₁)λ₂]/(p₁ − p₂) is unbiased for the sensitive share and [p₁λ₂ − p₂λ₁]/(p₁ − p₂) for the
    innocuous one.

    Args:
        groups: what both samples said, in place of counts: tallies of `direct()`, with weights or without, or responses
            to it with a sampling. What a device makes of answers is not known before, so that there is no design.
        p: the probability of the sensitive question in each sample; 0 in the second for Moors' design.
        yes: how many said yes in each.
        respondents: how many responded in each.
        sampling: of responses: how these people were drawn, all together or each group.

    Raises:
        InvalidRequest: not two of each, equal probabilities, or counts that are no counts.
        NotEstimable: a sample of fewer than two people.

    Example:
        >>> found = unrelated_two_samples(p=["7/10", 0], yes=[95, 60], respondents=[250, 150])
        >>> {name: round(value, 4) for name, value in found.params.items()}
        {'sensitive': 0.3714, 'innocuous': 0.4}
    """
    sampled = None
    if groups is not None:
        if yes is not None or respondents is not None:
            raise InvalidRequest(
                "there are groups and counts; expected groups alone, or yes and respondents."
            )
        yes, respondents, sampled = _count_groups(groups, sampling)
    return _read_two_samples(p, yes, respondents, sampled)


def _read_two_samples(
    p: Sequence[exact.Rational],
    yes: Sequence[int] | None,
    respondents: Sequence[int] | None,
    sampled: ResponseShares | None,
) -> Statistic[TwoSamples]:
    """Read the counts of two samples with different probabilities of the sensitive question."""
    for numbers in (p, yes, respondents):
        is_text = isinstance(numbers, str)
        if is_text or not isinstance(numbers, Sequence) or len(numbers) != 2:
            raise InvalidRequest(
                "p, yes and respondents are not two numbers each; expected one for each sample."
            )
    counts = [
        (_count(one, "yes"), _count(n, "respondents"))
        for one, n in zip(yes or (), respondents or (), strict=True)
    ]
    first, second = (exact.probability(numbers, name="p") for numbers in p)
    if first == second:
        raise InvalidRequest(
            f"both samples have p = {first}; expected different ones: otherwise they tell one number."
        )
    if any(one > n for one, n in counts):
        raise InvalidRequest(
            "more people said yes than responded; expected at most as many."
        )
    if any(n < 2 for _, n in counts):
        raise NotEstimable(
            "a sample has fewer than 2 respondents; expected at least 2, to say how sure an estimate is."
        )
    return Statistic(
        TwoSamples(
            (first, second),
            (counts[0][0], counts[1][0]),
            (counts[0][1], counts[1][1]),
            sampled,
        )
    )


def _count_groups(
    groups: Sequence[Group], sampling: Samplings
) -> tuple[Sequence[int], Sequence[int], ResponseShares | None]:
    tallies, sampled = gather(groups, sampling)
    if any(tally.design.channel != direct().channel for tally in tallies):
        raise InvalidRequest(
            "a group was not counted as what people said; expected responses to dn.direct(), yes the second of two.",
            'For example dn.Responses.of(dn.direct(), ["no", "yes", "no"]).',
        )
    return (
        [int(tally.counts[1]) for tally in tallies],
        [tally.respondents for tally in tallies],
        sampled,
    )


def best_split(
    p: Sequence[exact.Rational],
    *,
    sensitive: float,
    innocuous: float,
    costs: Sequence[float] = (1, 1),
    first: float | None = None,
) -> Split:
    """Return how to divide people between two samples so that the sensitive share has the smallest variance.

    Implements: n₁ : n₂ = (1 − p₂)√(λ₁(1 − λ₁)/c₁) : (1 − p₁)√(λ₂(1 − λ₂)/c₂) at these shares.

    Args:
        p: the probability of the sensitive question in each sample.
        sensitive: the share of the sensitive answer.
        innocuous: the share of the innocuous one.
        costs: what a respondent of each sample costs; the variance is then the smallest for what all of them cost.
        first: the share of the first sample, where it is given and only its variance is wanted.

    Raises:
        InvalidRequest: shares that are none, or equal probabilities.

    Example:
        >>> part, variance = best_split(["7/10", 0], sensitive=0.2, innocuous=0.5)
        >>> round(part, 4), round(variance, 4)
        (0.7516, 0.7439)
    """
    first_p, second_p = (float(exact.probability(p_yes, name="p")) for p_yes in p)
    if first_p == second_p or not (0 <= sensitive <= 1 and 0 <= innocuous <= 1):
        raise InvalidRequest(
            "expected two different probabilities, and shares from 0 to 1."
        )
    shares_of_yes = [
        p_yes * sensitive + (1 - p_yes) * innocuous for p_yes in (first_p, second_p)
    ]
    deviations = [
        (1 - p_rest) * math.sqrt(yes * (1 - yes))
        for p_rest, yes in zip((second_p, first_p), shares_of_yes, strict=True)
    ]
    allocations = [
        deviation / math.sqrt(cost)
        for deviation, cost in zip(deviations, costs, strict=True)
    ]
    first_share = (
        (allocations[0] / sum(allocations) if sum(allocations) else 0.5)
        if first is None
        else first
    )
    squares = [
        deviation**2 / share if deviation else 0.0
        for deviation, share in zip(
            deviations, (first_share, 1 - first_share), strict=True
        )
    ]
    return Split(first_share, sum(squares) / (first_p - second_p) ** 2)


def _count(number: object, name: str) -> int:
    if (
        isinstance(number, bool)
        or not hasattr(number, "__index__")
        or number.__index__() < 0
    ):
        raise InvalidRequest(
            f"{name} is {quoted(number)}; expected a whole number, 0 or more."
        )
    return int(number.__index__())
