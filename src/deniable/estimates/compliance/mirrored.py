"""The extended crosswise model: two groups whose harmless questions mirror each other, which leaves a test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable import exact
from deniable.errors import InvalidRequest
from deniable.estimates.compliance.cheating import Cheating, mirrored_groups, one_sayers
from deniable.estimates.compliance.fits import Compliance, ComplianceModel, read_groups
from deniable.estimates.compliance.mixture_likelihood import fit_test
from deniable.estimates.compliance.response_shares import Group, Samplings
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, crossings
from deniable.estimates.likelihood import log_likelihood
from deniable.estimates.testing import HypothesisTest


@dataclass(frozen=True, eq=False)
class ExtendedCrosswise(ComplianceModel):
    """Shares of both answers from two mirrored groups, with a test of whether people followed the device."""

    type: ClassVar = "extended-crosswise"

    @cached_property
    def pooled(self) -> Vector:
        """The counts of both groups together, the responses of the second flipped."""
        first, second = self.response_shares.counts.reshape(2, 2)
        return vector(first + second[::-1])

    @property
    def _rates(self) -> tuple[float, float]:
        """The probability of the second response of the first group, of others and of members."""
        u, v = self.tallies[0].design.channel.floats()[1].tolist()
        return u, v

    def _numbers(self, yes: float) -> dict[str, float]:
        return dict(zip(self.tallies[0].design.categories, [1 - yes, yes], strict=True))

    @property
    def params(self) -> dict[str, float]:
        return self._numbers(min(max(self._moment, 0.0), 1.0))

    @property
    def moments(self) -> dict[str, float]:
        return self._numbers(self._moment)

    @property
    def _moment(self) -> float:
        u, v = self._rates
        return float((self.pooled[1] / self.pooled.sum() - u) / (v - u))

    @property
    def jacobian(self) -> Matrix:
        """By how much both shares move with those of each response, in groups of this size."""
        u, v = self._rates
        first, second = (
            self.response_shares.sizes / self.response_shares.sizes.sum() / (v - u)
        )
        return np.outer([-1.0, 1.0], [0.0, first, second, 0.0])

    def covariance_matrix(self) -> Matrix:
        """Return the covariance of the moment estimates: of people drawn one by one that of both groups as one."""
        if self.sample is not None:
            return super().covariance_matrix()
        (u, v), n = self._rates, self.pooled.sum()
        share = self.pooled[1] / n
        return float(share * (1 - share) / (n - 1) / (v - u) ** 2) * np.array(
            [[1.0, -1.0], [-1.0, 1.0]]
        )

    def _profile(self, level: float) -> Sequence[Interval]:
        floor = self.log_likelihood - self._drops(level)[1]
        low, high = crossings(
            lambda yes: max(self._height(yes), -1e300) - floor,
            list(self.params.values())[1],
        )
        return [Interval(1 - high, 1 - low), Interval(low, high)]

    def _height(self, yes: float) -> float:
        expected = self.tallies[0].design.channel.floats() @ [1 - yes, yes]
        return log_likelihood(self.pooled, expected)

    @property
    def fit(self) -> HypothesisTest:
        """G² with one degree of freedom: the shares of "same" of the two groups must sum to 1."""
        share = self.pooled / self.pooled.sum()
        expected = np.concatenate([share, share[::-1]])
        shares = self.response_shares
        test = fit_test(shares.counts, np.repeat(shares.sizes, 2) * expected, 1)
        return shares.corrected(test, vector([[-1], [1], [1], [-1]]), expected)

    @property
    def z_sum(self) -> float:
        """By how many standard errors the shares of "same" of the two groups sum to more than 1."""
        shares, same = self.response_shares, np.array([0.0, 1.0, 0.0, 1.0])
        variance = float(
            (shares.value[1::2] * shares.value[::2] / shares.people).sum()
            if self.sample is None
            else same @ shares.covariance @ same
        )
        excess = float(same @ shares.value) - 1
        return excess / math.sqrt(variance) if variance > 0 else math.nan

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood at the most likely share, without the constant that counts ways."""
        return self._height(list(self.params.values())[1])

    def one_sayers(self, says: str = "different") -> Compliance[Cheating]:
        """Return the model in which some people always send one response; see `one_sayers`."""
        result = one_sayers(self.tallies, says=says)
        return Compliance(replace(result.model, sample=self.sample))

    _title = "extended crosswise"
    _notes = (
        "The test sees people who always send one response, and groups that differ. It is blind to random "
        "answering: that leaves the sum of both groups' shares at 1. Ask a control item against it.",
    )
    _outside = "By chance, or because people did not follow the device, or the harmless shares are not p and 1 − p."

    @property
    def _misfit(self) -> str:
        more = "fewer" if self.z_sum < 0 else "more"
        says = "different" if self.z_sum < 0 else "same"
        return (
            f"The groups send {more} 'same' than the model allows: likely some people always say {says!r}, which "
            f"one_sayers(says={says!r}) estimates; or the groups differ, or the harmless shares are not p and 1 − p."
        )


def extended_crosswise(
    groups: Sequence[Group] | None = None,
    *,
    sampling: Samplings = None,
    p: exact.Rational | None = None,
    same: Sequence[int] | None = None,
    respondents: Sequence[int] | None = None,
) -> Compliance[ExtendedCrosswise]:
    """Estimate a share from two crosswise groups with harmless shares p and 1 − p, and test whether people complied.

    Implements: the extended crosswise model [HHM18]: the most likely share is that of both groups, the responses of the
    second flipped, and the shares of "same" must sum to 1, which leaves a test with one degree of freedom.

    Args:
        groups: the counts of two groups, asked with `crosswise(p)` and `crosswise(1 − p)`; or their responses.
        sampling: of rows: how people were drawn; one for both groups, or a list with one for each.
        p: instead of groups, the share of yes to the harmless question of the first group …
        same: … how many said "same" in each …
        respondents: … and how many responded.

    Raises:
        InvalidRequest: designs that do not mirror each other, or numbers that do not fit.
        NotEstimable: a group of fewer than two.

    Example:
        >>> found = extended_crosswise(p="1/4", same=[170, 75], respondents=[250, 240])
        >>> round(found.params["yes"], 4), round(found.fit.statistic, 4)
        (0.1327, 0.0319)
    """
    if groups is None:
        groups = mirrored_groups(p, same, respondents)
    tallies, sample = read_groups(groups, sampling)
    channels = [tally.design.channel for tally in tallies]
    if len(tallies) != 2 or any(
        channels[0].probability(y, given=x) != channels[1].probability(1 - y, given=x)
        for x in (0, 1)
        for y in (0, 1)
    ):
        raise InvalidRequest(
            "the two groups do not mirror each other; expected crosswise designs with p and 1 − p.",
            "For groups with other devices use cheating_detection().",
        )
    return Compliance(ExtendedCrosswise(tallies, sample=sample))
