"""People who always send one response, whatever the device says: two groups with different devices tell their share.

The cheating detection model, its symmetric form, the stochastic lie detector, the unrelated question with cheating and
one-sayers of the crosswise model are one likelihood: λ_g = π·v_g + β·u_g + γ·s, where s is 1 for the response that they
always send, and π + β + γ = 1. They differ in what the γ are taken for. In the extended crosswise model nobody does so,
and two groups whose harmless questions mirror each other leave a test of that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np

from deniable import exact
from deniable.designs import Design, binary, crosswise, simmons
from deniable.errors import InvalidRequest
from deniable.estimates.compliance.fits import (
    Compliance,
    ComplianceModel,
    TriangleFit,
    count_second,
    read_groups,
    zip_groups,
)
from deniable.estimates.compliance.mixture_likelihood import (
    Triangle,
    WeightShare,
    fit_test,
)
from deniable.estimates.compliance.response_shares import Group, Samplings
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, crossings
from deniable.estimates.likelihood import log_likelihood
from deniable.estimates.testing import HypothesisTest
from deniable.exact import Rational
from deniable.tallies import Tally


@dataclass(frozen=True, eq=False)
class _Always(TriangleFit):
    """Honest members, honest others, and people who always send one response.

    Attributes:
        says: the response that they always send.
    """

    SOURCE = {"says": str}  # noqa: RUF012 - declared by the base

    says: str

    @cached_property
    def triangle(self) -> Triangle:
        """The likelihood: a law for honest members, honest others, and those who always send one response."""
        symbols = self.tallies[0].design.symbols
        cheaters = np.array([[float(symbol == self.says)] for symbol in symbols])
        laws = [
            np.hstack([tally.design.channel.floats()[:, ::-1], cheaters])
            for tally in self.tallies
        ]
        shares = self.response_shares
        return Triangle(np.vstack(laws), shares.counts, shares.cells)

    @cached_property
    def moment(self) -> tuple[Vector, Matrix]:
        """The weights that solve two groups' shares, or fit more of them best, and by how much they move with them.

        Implements: weighted least squares of λ̂_g on the three laws; with two groups it is the solution of two
        equations.
        """
        sizes, seen = self.response_shares.sizes, self.response_shares.value[1::2]
        rates = self.triangle.laws[1::2]
        slopes = rates[:, :2] - rates[:, 2:]
        smoothed = (seen * sizes + 0.5) / (sizes + 1)
        weighted = slopes.T * (sizes / (smoothed * (1 - smoothed)))
        solve = np.linalg.solve(weighted @ slopes, weighted)
        honest = solve @ (seen - rates[:, 2])
        weights = np.array([*honest, 1 - honest.sum()])
        jacobian = np.zeros((3, 2 * len(seen)))
        jacobian[:, 1::2] = np.vstack([solve, -solve.sum(axis=0)])
        return np.where(np.abs(weights) < 1e-12, 0.0, weights), jacobian  # no −1e-17

    @property
    def _categories(self) -> tuple[str, str]:
        no, yes = self.tallies[0].design.categories
        return no, yes

    @property
    def _ends(self) -> str:
        """The two ends of the interval in which the share of members lies."""
        honest, _, cheaters = self.weights.tolist()
        _, yes = self._categories
        return (
            f"The share of {yes!r} lies between {honest:.4f}, if nobody of those who always send {self.says!r} is one, "
            f"and {honest + cheaters:.4f}, if all of them are. The cheating detection model tells the lower end, the "
            "stochastic lie detector the upper one: both are one likelihood, and no response can tell which is true."
        )

    @property
    def _outside(self) -> str:
        return (
            "By chance, or because the groups contradict the model: other probabilities of the device than those used, "
            f"groups that differ in other ways, or people who do something else than always send {self.says!r}."
        )


@dataclass(frozen=True, eq=False)
class Cheating(_Always):
    """Shares of honest members, of honest others, and of people who always send one response.

    The share of honest members is a lower bound of the share of all members; "at most" is the upper one.
    """

    type: ClassVar = "cheating"

    @cached_property
    def parts(self) -> dict[str, WeightShare]:
        no, yes = self._categories
        return {
            f"{yes}, honest": WeightShare((1, 0, 0)),
            f"{no}, honest": WeightShare((0, 1, 0)),
            f"always {self.says}": WeightShare((0, 0, 1)),
            f"{yes} at most": WeightShare((1, 0, 1)),
            f"{yes} among honest": WeightShare((1, 0, 0), (1, 1, 0)),
        }

    @property
    def _title(self) -> str:
        return f"cheating detection, people who always send {self.says!r}"

    @property
    def _notes(self) -> tuple[str, ...]:
        _, yes = self._categories
        return (
            f"{f'{yes}, honest'!r} is a lower bound of the share of {yes!r}.",
            self._ends,
        )


@dataclass(frozen=True, eq=False)
class LieDetector(_Always):
    """The share of members if all who always send one response are members, and how many members tell the truth."""

    type: ClassVar = "lie-detector"

    @cached_property
    def parts(self) -> dict[str, WeightShare]:
        _, yes = self._categories
        return {
            yes: WeightShare((1, 0, 1)),
            "truthful": WeightShare((1, 0, 0), (1, 0, 1)),
        }

    _title = "stochastic lie detector"

    @property
    def _notes(self) -> tuple[str, ...]:
        _, yes = self._categories
        return (
            f"'truthful' is the share of {yes!r} who say so; all others are taken to follow the device.",
            self._ends,
        )


_Model = TypeVar("_Model", bound=_Always)


def cheating_detection(
    groups: Sequence[Group] | None = None,
    *,
    sampling: Samplings = None,
    says: str | None = None,
    forced_yes: Sequence[Rational] | None = None,
    forced_no: Sequence[Rational] | None = None,
    yes: Sequence[int] | None = None,
    respondents: Sequence[int] | None = None,
) -> Compliance[Cheating]:
    """Estimate how many people cheat by always sending one response, from groups with different devices.

    Implements: the cheating detection model [CD98], and its symmetric form where there is a forced no too; any designs
    with two answers and two responses will do, and more than two groups leave a test of the model.

    Guarantee: numbers and intervals inside the simplex. The share of honest members is a lower bound.

    Args:
        groups: the counts of each group, whose designs are the devices; plain or with weights, or its responses.
        sampling: of rows: how people were drawn; one for all groups, or a list with one for each.
        says: the response that cheaters always send; the first one, such as "no" or "different", if it is not given.
        forced_yes: instead of groups, the probability of a forced yes in each group …
        forced_no: … of a forced no; 0, if it is not given …
        yes: … how many said yes …
        respondents: … and how many responded.

    Raises:
        InvalidRequest: designs or numbers that do not fit.
        NotEstimable: devices that do not tell cheaters apart, or a group of fewer than two.

    Example:
        >>> found = cheating_detection(forced_yes=["1/5", "4/5"], yes=[90, 190], respondents=[300, 300])
        >>> {name: round(value, 4) for name, value in found.params.items() if "among" not in name}
        {'yes, honest': 0.1889, 'no, honest': 0.5556, 'always no': 0.2556, 'yes at most': 0.4444}
    """
    if groups is None:
        rows = zip_groups(forced_yes=forced_yes, yes=yes, respondents=respondents)
        p_no = [0] * len(rows)
        if forced_no is not None:
            p_no = [p for p, _ in zip_groups(forced_no=forced_no, yes=yes)]
        groups = [
            count_second(_forced_response_rates(p_yes, no), hits, n)
            for (p_yes, hits, n), no in zip(rows, p_no, strict=True)
        ]
    return _fit(Cheating, groups, sampling, says)


def one_sayers(
    groups: Sequence[Group] | None = None,
    *,
    sampling: Samplings = None,
    says: str = "different",
    p: Rational | None = None,
    same: Sequence[int] | None = None,
    respondents: Sequence[int] | None = None,
) -> Compliance[Cheating]:
    """Estimate how many people always say "one of them" in the extended crosswise model, and the share of the others.

    Implements: self-protective one-saying [HHM18]: λ_g becomes (1 − θ)·λ_g; with says="same" it is two-saying.

    Args:
        groups: the counts of two groups, whose harmless questions have shares of yes p and 1 − p; or their responses.
        sampling: of rows: how people were drawn; one for all groups, or a list with one for each.
        says: the response that these people always send.
        p: instead of groups, the share of yes to the harmless question of the first group …
        same: … how many said "same" in each …
        respondents: … and how many responded.

    Raises:
        InvalidRequest: designs or numbers that do not fit.
        NotEstimable: devices that do not tell one-sayers apart, or a group of fewer than two.

    Example:
        >>> found = one_sayers(p="1/4", same=[170, 75], respondents=[250, 240])
        >>> round(found.params["always different"], 4), round(found.params["yes among honest"], 4)
        (0.0075, 0.1297)
    """
    if groups is None:
        groups = mirrored_groups(p, same, respondents)
    return _fit(Cheating, groups, sampling, says)


def unrelated_cheating(
    groups: Sequence[Group] | None = None,
    *,
    sampling: Samplings = None,
    p: Sequence[Rational] | None = None,
    b: Rational | None = None,
    yes: Sequence[int] | None = None,
    respondents: Sequence[int] | None = None,
) -> Compliance[Cheating]:
    """Estimate how many people always say no to the unrelated question model, from two or more groups.

    Implements: λ_g = (1 − γ)·[p_g·θ + (1 − p_g)·b] with known b [RPU23]; more than two groups leave a test of it.

    Args:
        groups: the counts of each group, whose designs are `simmons` with different p; or its responses.
        sampling: of rows: how people were drawn; one for all groups, or a list with one for each.
        p: instead of groups, the probability of the sensitive question in each group …
        b: … the share of yes to the unrelated one, above 0 …
        yes: … how many said yes …
        respondents: … and how many responded.

    Raises:
        InvalidRequest: designs or numbers that do not fit.
        NotEstimable: devices that do not tell cheaters apart, or a group of fewer than two.

    Example:
        >>> found = unrelated_cheating(p=["3/4", "1/4"], b="3/10", yes=[52, 60], respondents=[300, 300])
        >>> round(found.params["yes, honest"], 4), round(found.params["always no"], 4)
        (0.16, 0.2889)
    """
    if groups is None:
        if b is None:
            raise InvalidRequest("expected groups; or p, b, yes and respondents.")
        rows = zip_groups(p=p, yes=yes, respondents=respondents)
        groups = [
            count_second(simmons(p=p_sensitive, b=b), hits, n)
            for p_sensitive, hits, n in rows
        ]
    return cheating_detection(groups, sampling=sampling)


def lie_detector(
    groups: Sequence[Group] | None = None,
    *,
    sampling: Samplings = None,
    truth: Sequence[Rational] | None = None,
    yes: Sequence[int] | None = None,
    respondents: Sequence[int] | None = None,
) -> Compliance[LieDetector]:
    """Estimate a share where members may deny it, and how many of them tell the truth.

    Implements: the stochastic lie detector [MME12]: others say no with a known probability that differs between
    groups, members say yes with an unknown one. It is the cheating detection model with cheaters counted as members.

    Args:
        groups: the counts of each group, or its responses; designs such as `mangat(p)`, in which every member is to
            say yes.
        sampling: of rows: how people were drawn; one for all groups, or a list with one for each.
        truth: instead of groups, the probability with which the others say no in each group …
        yes: … how many said yes …
        respondents: … and how many responded.

    Raises:
        InvalidRequest: designs or numbers that do not fit.
        NotEstimable: equal devices, or a group of fewer than two.

    Example:
        >>> found = lie_detector(truth=["1/6", "5/6"], yes=[373, 398], respondents=[564, 692])
        >>> {name: round(value, 4) for name, value in found.params.items()}
        {'yes': 0.8707, 'truthful': 0.6358}
    """
    if groups is None:
        rows = zip_groups(truth=truth, yes=yes, respondents=respondents)
        groups = [
            count_second(binary(p_truth, 1), hits, n) for p_truth, hits, n in rows
        ]
    return _fit(LieDetector, groups, sampling)


def mirrored_groups(
    p: Rational | None, same: object, respondents: object
) -> list[Tally]:
    """Return the two groups of the extended crosswise model, with p and 1 − p.

    Raises:
        InvalidRequest: numbers that do not fit.
    """
    if p is None:
        raise InvalidRequest("expected groups; or p, same and respondents.")
    share = exact.probability(p, name="p")
    rows = zip_groups(same=same, respondents=respondents)
    if len(rows) != 2:
        raise InvalidRequest(
            f"there are {len(rows)} groups; expected two, with p and 1 − p."
        )
    return [
        count_second(crosswise(p_yes), hits, n)
        for p_yes, (hits, n) in zip((share, 1 - share), rows, strict=True)
    ]


def _forced_response_rates(yes: Rational, no: Rational) -> Design:
    p_yes = exact.probability(yes, name="forced_yes")
    return binary(1 - p_yes, 1 - exact.probability(no, name="forced_no"))


def _fit(
    model_class: type[_Model],
    groups: Sequence[Group],
    sampling: Samplings,
    says: str | None = None,
) -> Compliance[_Model]:
    tallies, sample = read_groups(groups, sampling)
    design = tallies[0].design
    always = design.symbols[0 if says is None else design.symbol_number(says)]
    model = model_class(tallies, always, sample=sample)
    model.triangle  # noqa: B018 - refuses devices that do not tell people apart
    return Compliance(model)


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
        return dict(
            zip(self.tallies[0].design.categories, [1 - yes, yes], strict=True)
        )

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
    p: Rational | None = None,
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
    _check_mirrored(tallies)
    return Compliance(ExtendedCrosswise(tallies, sample=sample))


def _check_mirrored(tallies: Sequence[Tally]) -> None:
    channels = [tally.design.channel for tally in tallies]
    if len(tallies) != 2 or any(
        channels[0].probability(y, given=x)
        != channels[1].probability(1 - y, given=x)
        for x in (0, 1)
        for y in (0, 1)
    ):
        raise InvalidRequest(
            "the two groups do not mirror each other; expected crosswise designs with p and 1 − p.",
            "For groups with other devices use cheating_detection().",
        )
