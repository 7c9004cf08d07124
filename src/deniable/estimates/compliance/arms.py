"""A randomized arm against one that was asked directly: what the device brought to light, or spoiled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar

from deniable.errors import InvalidRequest
from deniable.estimates.covariances import Matrix, vector
from deniable.estimates.likelihood import log_likelihood
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalMethod,
    words_of,
)
from deniable.estimates.sampling import Sampling
from deniable.estimates.shares import Estimate, fitted
from deniable.estimates.stages import groups_body, groups_from_body, pool
from deniable.estimates.statistics import Model, Statistic
from deniable.estimates.testing import HypothesisTest, likelihood_ratio
from deniable.rendering import formats
from deniable.rendering.statements import state
from deniable.tallies import Tally


@dataclass(frozen=True, eq=False)
class ArmComparison(Model):
    """By how much the shares of a randomized arm exceed those of a direct one.

    Attributes:
        randomized: the counts of the arm with the device.
        direct: the counts of the arm without.
    """

    type: ClassVar = "arms"

    randomized: Tally
    direct: Tally

    @cached_property
    def arms(self) -> tuple[Estimate, Estimate]:
        """The unbiased estimate of each arm."""
        return fitted(self.randomized), fitted(self.direct)

    @property
    def params(self) -> dict[str, float]:
        device, direct = self.arms
        return {
            name: value - direct.params[name]
            for name, value in device.params.items()
        }

    @property
    def errors(self) -> dict[str, float]:
        """The standard error of each difference."""
        device, direct = self.arms
        return {
            name: math.hypot(error, direct.bse[name])
            for name, error in device.bse.items()
        }

    def covariance_matrix(self) -> Matrix:
        """Return the covariance of the differences: the arms are different people."""
        device, direct = self.arms
        return device.cov_params() + direct.cov_params()

    @property
    def z(self) -> dict[str, float]:
        """Each difference in standard errors."""
        errors = self.errors
        return {
            name: value / errors[name] if errors[name] else math.nan
            for name, value in self.params.items()
        }

    @property
    def p_values(self) -> dict[str, float]:
        """How often chance alone gives a difference at least as far from 0, under the normal law."""
        return {name: 2 * NormalDist().cdf(-abs(z)) for name, z in self.z.items()}

    @cached_property
    def pooled(self) -> dict[str, float]:
        """The most likely shares if both arms have the same."""
        return pool([self.randomized, self.direct], method="likelihood").params

    @cached_property
    def likelihood_ratio(self) -> HypothesisTest:
        """G² of one share for both arms against one for each, all of them probabilities."""
        gain = sum(
            _height(tally, fitted(tally, method="likelihood").params)
            - _height(tally, self.pooled)
            for tally in (self.randomized, self.direct)
        )
        return likelihood_ratio(
            "Test that both arms have the same shares, all between 0 and 1",
            gain,
            len(self.pooled) - 1,
        )

    def n_intervals(self) -> int:
        return len(self.params) if len(self.params) > 2 else 1

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "recovered", from the intervals of both arms."""
        return {"recovered": self._recovered_bounds}

    def _recovered_bounds(self, level: float) -> Bounds:
        device, direct = self.arms
        intervals = [
            (device.contrast({name: 1}) - direct.contrast({name: 1})).interval(
                level=level
            )
            for name in self.params
        ]
        lows, highs = vector(intervals).T
        return lows, highs

    @property
    def warnings(self) -> tuple[Caution, ...]:
        cautions = [caution for arm in self.arms for caution in arm.warnings]
        return tuple(dict.fromkeys(cautions))

    @property
    def _device(self) -> str:
        return words_of(self.randomized.design.name)

    @property
    def sentence(self) -> str:
        """The result in words, with the assumption that it rests on."""
        name = list(self.params)[-1]
        low, high = self._recovered_bounds(0.95)
        stated = state(self.params[name], low[-1], high[-1], (-1, 1))
        if stated.is_undecided:
            return (
                f"The data cannot decide by how much the share of {name!r} differs between {self._device} and asking "
                "directly: any difference would fit them."
            )
        difference = self.params[name]
        more = "more" if difference >= 0 else "less"
        shares = [state(arm.params[name], 0, 1) for arm in self.arms]
        remarks = (share.remark("0", "1") for share in shares)
        beyond = "".join(f" {remark}" for remark in dict.fromkeys(remarks) if remark)
        return (
            f"With {self._device} the share of {name!r} is estimated {100 * min(abs(difference), 1):.1f} points "
            f"{more} than when asked directly ({shares[0].value:.4f} against {shares[1].value:.4f}; "
            f"z = {self.z[name]:.2f}, p = {formats.p_value(self.p_values[name])}).{beyond} That more is nearer to the "
            "truth is an assumption: people who answer the device at random, or misunderstand it, raise a small share "
            "too."
        )

    def describe(self) -> Description:
        notes = [self.sentence]
        # else sums, without a likelihood
        if self.randomized.design.channel.own_cells:
            notes.append(f"{self.likelihood_ratio}.")
        sizes = [arm.respondents for arm in (self.randomized, self.direct)]
        return Description(
            title=f"{self._device} minus asked directly, {sizes[0]:,} and {sizes[1]:,} respondents",
            quantity="difference in share",
            method="inversion",
            respondents=sum(sizes),
            epsilon=max(self.randomized.design.epsilon, self.direct.design.epsilon),
            missing=self.randomized.missing + self.direct.missing,
            notes=tuple(notes),
        )

    def to_source(self) -> dict[str, Any]:
        return {"groups": groups_body([self.randomized, self.direct])}

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: None) -> ArmComparison:  # noqa: ARG003 - each arm has its own
        return compare_arms(*groups_from_body(source)).model


_OF_A_SAMPLE = (
    "Rows of a sample are compared by the device: rows = dn.Responses.of({'RR': design, 'DQ': dn.direct()}, column, "
    "devices=asked), then dn.estimate(rows, sampling=…, by=asked).pairwise()."
)


def compare_arms(
    randomized: Tally | Estimate,
    direct: Tally | Estimate,
    *,
    sampling: Sampling | None = None,
) -> Statistic[ArmComparison]:
    """Compare people who were asked with a device with others who were asked directly.

    Implements: d = π̂ − π̂₀ with V = V̂ + V̂₀, and the likelihood ratio of one share for both.

    Args:
        randomized: the counts of the arm with the device, or their estimate.
        direct: the counts of the arm without, such as a tally of `direct()`.
        sampling: none. Arms of a sample may share clusters; they are groups of `estimate`, as the error tells.

    Raises:
        InvalidRequest: a sampling, no tallies, or other categories in the second arm.
        NotEstimable: an arm of fewer than two people.

    Example:
        >>> from deniable.designs import crosswise, direct
        >>> found = compare_arms(Tally(crosswise("1/4"), [140, 260]), Tally(direct(), [320, 30]))
        >>> round(found.params["yes"], 4), round(found.model.z["yes"], 3)
        (0.1143, 2.283)
        >>> round(found.model.likelihood_ratio.statistic, 3)
        5.44
    """
    first, second = _read_arms(randomized, direct, sampling)
    model = ArmComparison(first, second)
    model.arms  # noqa: B018 - refuses what cannot be estimated
    return Statistic(model)


def _read_arms(
    randomized: Tally | Estimate, direct: Tally | Estimate, sampling: Sampling | None
) -> tuple[Tally, Tally]:
    """Return the counts of both arms, which were asked about the same answers."""
    if sampling is not None:
        raise InvalidRequest(
            "there is a sampling; expected two tallies of people who were drawn alike.",
            _OF_A_SAMPLE,
        )
    first, second = (
        arm.tally if isinstance(arm, Estimate) else arm
        for arm in (randomized, direct)
    )
    if not (isinstance(first, Tally) and isinstance(second, Tally)):
        raise InvalidRequest(
            "expected two tallies or estimates: of the arm with the device, and of the direct one.",
            _OF_A_SAMPLE,
        )
    if list(first.design.categories) != list(second.design.categories):
        raise InvalidRequest(
            "the arms were asked about different answers; expected the same categories in the same order.",
            "Build the direct arm with dn.direct(categories=…).",
        )
    return first, second


def _height(tally: Tally, shares: Mapping[str, float]) -> float:
    expected = tally.design.channel.floats() @ list(shares.values())
    return log_likelihood(vector(tally.counts), expected)
