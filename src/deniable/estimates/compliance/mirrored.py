"""The extended crosswise model: two groups whose harmless questions mirror each other, which leaves a test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable import exact
from deniable.errors import InvalidRequest
from deniable.estimates.compliance.always import Cheating, mirrored_groups, one_sayers
from deniable.estimates.compliance.fits import Compliance, read_tallies
from deniable.estimates.compliance.triangle import fit_test
from deniable.estimates.covariances import Matrix
from deniable.estimates.intervals import Interval
from deniable.estimates.shares import Estimate, fitted
from deniable.estimates.testing import HypothesisTest
from deniable.tallies import Tally


@dataclass(frozen=True, eq=False)
class ExtendedCrosswise(Compliance):
    """Shares of both answers from two mirrored groups, with a test of whether people followed the device."""

    type: ClassVar = "extended-crosswise"

    @cached_property
    def pooled(self) -> Estimate:
        """The estimate from both groups, the responses of the second flipped."""
        first, second = self.tallies
        return fitted(Tally(first.design, first.counts + second.counts[::-1]))

    @cached_property
    def _likely(self) -> Estimate:
        return fitted(self.pooled.tally, method="likelihood")

    @property
    def params(self) -> dict[str, float]:
        return self._likely.params

    @property
    def moments(self) -> dict[str, float]:
        return self.pooled.params

    def cov_params(self) -> Matrix:
        """Return the covariance of the moment estimates."""
        return self.pooled.cov_params()

    def _profile(self, confidence: float) -> dict[str, Interval]:
        return self._likely.conf_int(level=confidence, method="profile")

    @property
    def fit(self) -> HypothesisTest:
        """G² with one degree of freedom: the shares of "same" of the two groups must sum to 1."""
        tally = self.pooled.tally
        share = tally.counts / tally.respondents
        expected = [each.respondents * part for each, part in zip(self.tallies, (share, share[::-1]), strict=True)]
        counts = np.concatenate([each.counts for each in self.tallies]).astype(np.float64)
        return fit_test(counts, np.concatenate(expected), 1)

    @property
    def z_sum(self) -> float:
        """By how many standard errors the shares of "same" of the two groups sum to more than 1."""
        shares = [each.counts[1] / each.respondents for each in self.tallies]
        spread = sum(share * (1 - share) / each.respondents for share, each in zip(shares, self.tallies, strict=True))
        return float((sum(shares) - 1) / math.sqrt(spread)) if spread else math.nan

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood at the most likely share, without the constant that counts ways."""
        expected = self.pooled.design.channel.floats() @ self._likely.value
        return float(self.pooled.tally.counts @ np.log(np.maximum(expected, 1e-300)))

    def one_sayers(self, says: str = "different") -> Cheating:
        """Return the model in which some people always send one response; see `one_sayers`."""
        return one_sayers(self.tallies, says=says)

    @property
    def _title(self) -> str:
        return "extended crosswise"

    @property
    def _notes(self) -> tuple[str, ...]:
        return (
            "The test sees people who always send one response, and groups that differ. It is blind to random "
            "answering: that leaves the sum of both groups' shares at 1. Ask a control item against it.",
        )

    @property
    def _outside(self) -> str:
        return "By chance, or because people did not follow the device, or the harmless shares are not p and 1 − p."

    @property
    def _misfit(self) -> str:
        more = "fewer" if self.z_sum < 0 else "more"
        says = "different" if self.z_sum < 0 else "same"
        return (
            f"The groups send {more} 'same' than the model allows: likely some people always say {says!r}, which "
            f"one_sayers(says={says!r}) estimates; or the groups differ, or the harmless shares are not p and 1 − p."
        )


def extended_crosswise(
    tallies: Sequence[Tally] | None = None,
    *,
    p: exact.Rational | None = None,
    same: Sequence[int] | None = None,
    respondents: Sequence[int] | None = None,
) -> ExtendedCrosswise:
    """Estimate a share from two crosswise groups with harmless shares p and 1 − p, and test whether people complied.

    Implements: the extended crosswise model [HHM18]: the most likely share is that of both groups, the responses of the
    second flipped, and the shares of "same" must sum to 1, which leaves a test with one degree of freedom.

    Args:
        tallies: the counts of two groups, asked with `crosswise(p)` and `crosswise(1 − p)`.
        p: instead of tallies, the share of yes to the harmless question of the first group …
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
    read = read_tallies(mirrored_groups(p, same, respondents) if tallies is None else tallies)
    channels = [each.design.channel for each in read]
    if len(read) != 2 or any(
        channels[0].probability(y, given=x) != channels[1].probability(1 - y, given=x) for x in (0, 1) for y in (0, 1)
    ):
        raise InvalidRequest(
            "the two groups do not mirror each other; expected crosswise designs with p and 1 − p.",
            "For groups with other devices use cheating_detection().",
        )
    return ExtendedCrosswise(read)
