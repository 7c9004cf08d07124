"""Shares from respondents who are at different stages, or were asked with different devices; what a next stage buys."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from deniable import documents, exact
from deniable.designs import Design
from deniable.designs.labels import same_labels
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    NotEstimable,
    require_choice,
)
from deniable.estimates import weighing
from deniable.estimates.covariances import Covariance, Full, Matrix, Vector
from deniable.estimates.intervals import Interval, WeightedSum
from deniable.estimates.inverses import left_inverse
from deniable.estimates.likelihood import Convergence
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalMethod,
    IntervalRequest,
    told_method,
)
from deniable.estimates.shares import (
    CountEvidence,
    Estimate,
    read_shares,
    sampled_fraction,
)
from deniable.estimates.simplex import projection
from deniable.estimates.summary import below_zero, rests_on
from deniable.estimates.weighing import Contribution, Counts
from deniable.order.ladders import Ladder
from deniable.rendering import formats
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

__all__ = [
    "Afresh",
    "DeviceEvidence",
    "PooledEvidence",
    "StageEvidence",
    "afresh",
    "combine",
    "pool",
]


METHODS = ("information", "likelihood", "linear", "strata")
MAX_CATEGORIES = 2_000
"""Categories of which weights are held as dense matrices, of categories by categories."""

DIFFER = "stages-differ"
RATE = 0.001
"""How often stages that hold alike people are said to differ."""


@dataclass(frozen=True, eq=False)
class PooledEvidence(CountEvidence):
    """Responses of groups of people, each with a design of its own.

    Attributes:
        parts: what the people of each group add, one for each group that somebody is in.
        covariance: of the shares; of the best weighting at the value, for the likelihood.
        homogeneity: how probable it is that the groups' shares differ so much, or more, by chance alone. 1 with a
            single group.
        population: how many people there are, if they are not a sample of very many.
    """

    parts: tuple[Contribution, ...]
    covariance: Covariance
    homogeneity: float
    population: int | None

    @property
    @abstractmethod
    def groups(self) -> Sequence[Tally]:
        """The tally of each group."""

    @property
    def categories(self) -> Sequence[str]:
        """The names of the shares."""
        return self.groups[0].design.categories

    @property
    def respondents(self) -> int:
        """The number of responses."""
        return sum(tally.respondents for tally in self.groups)

    @property
    def _f(self) -> float:
        return sampled_fraction(self.respondents, self.population)

    @property
    def _tallies(self) -> list[Counts]:
        return [part.tally for part in self.parts]

    def default_interval(self, method: str) -> str:
        """Return "profile" for the likelihood, else "score"; "wide" where a group sends some symbol hardly ever."""
        if self._f == 1 and weighing.rare(self._tallies):
            return "wide"
        return "profile" if method.startswith("likelihood") else "score"

    def intervals(self, estimate: Estimate[Self]) -> Mapping[str, IntervalMethod]:
        """Return the interval methods; a wide or profile one is refused where a tally keeps sums."""
        return {
            "score": partial(weighing.score, self.parts, self._f),
            "wide": partial(weighing.wide, self.parts, self._f),
            "normal": partial(estimate._bounds_around, "normal"),
            "chebyshev": partial(estimate._bounds_around, "chebyshev"),
            "profile": partial(self._profile, estimate),
        }

    def _profile(self, estimate: Estimate[Self], level: float) -> Bounds:
        best = estimate.value
        if estimate.method != "likelihood":
            best, _ = weighing.most_likely(self._tallies)
        return weighing.profile(self._tallies, best, level)

    def contrast_bounds(
        self,
        estimate: Estimate[Self],
        combination: Vector,
        level: float,
        recovered: Interval,
    ) -> Interval:
        """Return the recovered interval; where a group sends some symbol hardly ever, with the profile of the sum.

        Why: how shares vary together is taken from those that are estimated. Where a few responses of a fine stage
        decide, these say that some answers are not there at all, and so not how they vary.
        """
        if estimate.default_interval != "wide" or np.count_nonzero(combination) < 2:
            return recovered
        profile = weighing.profile_of(
            self._tallies, estimate.value, combination, level
        )
        if profile is None:
            return recovered
        return Interval(
            min(recovered.low, profile.low), max(recovered.high, profile.high)
        )

    def weighted_sum(self, weights: Vector, added: float = 0.0) -> WeightedSum:
        value = weighing.total(self.parts)
        near = weighing.inside(projection(value))
        has_counts = self._f == 1 and weighing.rare(self._tallies)

        def variance(shares: Vector) -> float:
            covariance = weighing.covariance(self.parts, shares, self._f)
            return float(weights @ covariance @ weights) + added

        def likely(level: float) -> Interval | None:
            if not has_counts:
                return None
            return weighing.profile_of(self._tallies, near, weights, level)

        return WeightedSum(float(weights @ value), weights, near, variance, likely)

    def warnings(self, estimate: Estimate[Self]) -> tuple[Caution, ...]:  # noqa: ARG002 - of every estimate
        p = formats.p_value(self.homogeneity)
        text = self._differ.format(p=p)
        return (Caution(DIFFER, text),) if self.homogeneity < RATE else ()

    _differ: ClassVar[str]
    """What is said where the groups differ by more than chance."""

    def describe(
        self,
        estimate: Estimate[Self],
        request: IntervalRequest,  # noqa: ARG002 - nothing is said about intervals
    ) -> Description:
        below = bool((estimate.value < 0).any())
        name, epsilon, notes = self._words
        return Description(
            title=f"{name}, {self.respondents:,} respondents, by {told_method(estimate.method)}",
            quantity="share",
            method=estimate.method,
            respondents=self.respondents,
            epsilon=epsilon,
            missing=sum(tally.missing for tally in self.groups),
            notes=(*notes, *below_zero(estimate.warnings, below=below)),
        )

    @property
    @abstractmethod
    def _words(self) -> tuple[str, float, Sequence[str]]:
        """The name of what the responses are to, their ε, and who responded in which group."""

    def source(self, estimate: Estimate[Self]) -> dict[str, Any]:
        return {
            **self._counts_body(),
            "method": estimate.method,
            "guess": None if estimate.guess is None else estimate.guess.tolist(),
            "population": self.population,
        }

    @abstractmethod
    def _counts_body(self) -> dict[str, Any]:
        """Return the counts for JSON."""


@dataclass(frozen=True, eq=False)
class StageEvidence(PooledEvidence):
    """Everybody's finest response along a ladder.

    That stages differ by more than chance (`homogeneity`) says that who is raised depends on the answer.

    Attributes:
        tallies: the counts.
    """

    type: ClassVar = "stages"
    _differ: ClassVar = (
        "the stages differ by more than chance (p = {p}): who goes on to a finer stage seems to depend on the answer. "
        'Combine them with method="strata".'
    )

    tallies: StageTallies

    @property
    def groups(self) -> Sequence[Tally]:
        return self.tallies.finest

    @property
    def design(self) -> Ladder:
        """The design of all responses."""
        return self.tallies.design

    @property
    def weights(self) -> tuple[float, ...]:
        """For each stage, the part of the whole that its respondents make up, on the average over the categories.

        It is 0 where nobody is at that stage.
        """
        weights = iter(part.weight for part in self.parts)
        return tuple(
            next(weights) if tally.respondents else 0.0 for tally in self.groups
        )

    @property
    def _words(self) -> tuple[str, float, Sequence[str]]:
        """The ladder, the ε of the finest stage somebody reached, and who did."""
        stages = "; ".join(
            _group_words(
                f"ε = {formats.epsilon(tally.design.epsilon)}", tally, weight
            )
            for tally, weight in zip(self.groups, self.weights, strict=True)
        )
        used = [tally.design for tally in self.groups if tally.respondents]
        notes = (
            f"Respondents by the finest stage they sent: {stages}.",
            *rests_on(*used),
        )
        finest = self.design.designs.index(used[-1])
        return repr(self.design), self.design.epsilons[finest], notes

    def _counts_body(self) -> dict[str, Any]:
        return {"tallies": json.loads(self.tallies.to_json())}

    @classmethod
    def read(
        cls, source: Mapping[str, Any], design: Ladder
    ) -> Estimate[StageEvidence]:
        body = json.dumps(documents.field(source, "tallies", dict))
        return combine(StageTallies.from_json(body, design), **_options(source))


@dataclass(frozen=True, eq=False)
class DeviceEvidence(PooledEvidence):
    """Responses of people who were asked with different devices.

    Attributes:
        tallies: the counts, one for each device.
    """

    type: ClassVar = "devices"
    _differ: ClassVar = (
        "the devices differ by more than chance (p = {p}): who was asked with which seems to depend on the answer, one "
        "of the designs is not what was used, or people followed one device less. Look at each alone, or combine them "
        'with method="strata".'
    )

    tallies: tuple[Tally, ...]

    @property
    def groups(self) -> Sequence[Tally]:
        return self.tallies

    @property
    def design(self) -> None:
        """The design of all responses."""
        return None

    @property
    def _words(self) -> tuple[str, float, Sequence[str]]:
        """The number of devices, the largest ε of them, and who was asked with which."""
        devices = "; ".join(
            _group_words(repr(part.tally.design), part.tally, part.weight)
            for part in self.parts
        )
        declared = [
            tally.declared for tally in self.tallies if tally.declared is not None
        ]
        notes = (
            f"Respondents by device: {devices}.",
            *(sum(declared[1:], start=declared[0]).notes() if declared else ()),
            *rests_on(*dict.fromkeys(tally.design for tally in self.tallies)),
        )
        epsilon = max(part.tally.design.epsilon for part in self.parts)
        return f"{len(self.parts)} devices", epsilon, notes

    def _counts_body(self) -> dict[str, Any]:
        return {"groups": groups_body(self.tallies)}

    @classmethod
    def read(
        cls,
        source: Mapping[str, Any],
        design: None,  # noqa: ARG003 - each group has its own
    ) -> Estimate[DeviceEvidence]:
        return pool(groups_from_body(source), **_options(source))


def _group_words(name: str, tally: Counts, weight: float) -> str:
    return f"{name}: {tally.respondents:,} ({formats.fixed_percent(weight, 0)} of the weight)"


def _options(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices of a pooled estimate from JSON."""
    return {
        "method": documents.field(source, "method", str),
        "guess": source.get("guess"),
        "population": source.get("population"),
    }


def groups_body(tallies: Sequence[Tally]) -> list[dict[str, Any]]:
    """Return tallies of different designs for JSON, each beside its design."""
    return [
        {
            "design": json.loads(each.design.to_json()),
            "tally": json.loads(each.to_json()),
        }
        for each in tallies
    ]


def groups_from_body(source: Mapping[str, Any]) -> list[Tally]:
    """Read what `groups_body` wrote, from the field "groups".

    Raises:
        UnreadableFile: something else.
    """
    tallies = []
    for each in documents.field(source, "groups", list):
        group = documents.field({"group": each}, "group", dict)
        known = Design.from_json(json.dumps(documents.field(group, "design", dict)))
        tallies.append(
            Tally.from_json(json.dumps(documents.field(group, "tally", dict)), known)
        )
    return tallies


def combine(
    tallies: StageTallies,
    *,
    method: str = "information",
    guess: Mapping[str, float] | Sequence[float] | None = None,
    population: int | None = None,
) -> Estimate[StageEvidence]:
    """Estimate the shares from everybody's finest response.

    Implements: "information": the stages' unbiased estimates, weighted by the inverses of their covariances at the
    shares that come out, brought into the simplex. No other is more precise in large samples. The weights depend on the
    responses, so that it is not exactly unbiased; its bias is a small part of its error. "likelihood": the shares that
    make all responses most likely. "linear": the weights that are best at `guess`, whatever was sent: exactly unbiased,
    and as precise only if the guess is right. These three take for granted that who is raised to which stage does not
    depend on the answer. "strata": every stage with the part of the respondents that are at it; nothing is taken for
    granted, it is exactly unbiased, and the variance is larger.

    Args:
        tallies: the counts.
        method: "information", "likelihood", "linear" or "strata".
        guess: for "linear", the shares at which the weights are best; even ones, if they are not given.
        population: for "strata", how many people there are altogether: the number of respondents for a census.

    Raises:
        NotEstimable: nobody responded, or a design cannot tell answers apart; for the likelihood, counts that are sums.
        InvalidRequest: a method that does not exist, or a guess or a population that does not fit.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import ladder
        >>> from deniable.tallies.stages import count_stages
        >>> stages = ladder([warner(p="2/3"), warner(p="4/5")])
        >>> columns = [["yes", "no", "no", "yes"], ["yes", "no", None, None]]
        >>> combine(count_stages(stages, columns, reached=[2, 2, 1, 1])).params["yes"]
        0.5
    """
    fit = fit_groups(tallies.finest, method, guess, population)
    return fit.estimate(method, StageEvidence(*fit.evidence, population, tallies))


def pool(
    tallies: Sequence[Tally],
    *,
    method: str = "information",
    guess: Mapping[str, float] | Sequence[float] | None = None,
    population: int | None = None,
) -> Estimate[DeviceEvidence]:
    """Estimate the shares from people who were asked with different devices, each of which has a tally.

    Implements: what `combine` does for stages, with the same methods. "strata" is the mean of what each response says
    by itself, whoever was asked with which device; the others take for granted that this does not depend on the answer.

    Args:
        tallies: the counts for each device, of designs for the same categories.
        method: "information", "likelihood", "linear" or "strata".
        guess: for "linear", the shares at which the weights are best; even ones, if they are not given.
        population: for "strata", how many people there are altogether.

    Raises:
        Incompatible: designs for different categories.
        NotEstimable: nobody responded, or a design cannot tell answers apart.
        InvalidRequest: a method that does not exist, or a guess or a population that does not fit.

    Example:
        >>> from deniable.designs import crosswise, direct
        >>> found = pool([Tally(crosswise("1/4"), [140, 260]), Tally(direct(), [85, 15])])
        >>> round(found.params["yes"], 3)
        0.169
    """
    groups = tuple(tallies)
    _check_devices(groups)
    fit = fit_groups(groups, method, guess, population)
    return fit.estimate(method, DeviceEvidence(*fit.evidence, population, groups))


def _check_devices(groups: tuple[Tally, ...]) -> None:
    if not groups:
        raise NotEstimable("there is no tally; expected one for each device.")
    if any(
        not same_labels(tally.design.categories, groups[0].design.categories)
        for tally in groups
    ):
        raise Incompatible(
            "the designs have different categories; expected the same in all of them, in the same order.",
            "Build them with the same categories=….",
        )


class PooledFit(NamedTuple):
    """Shares that were fitted to all groups together.

    Attributes:
        value: the shares. Those of "linear" and "strata" are unbiased, those of "information" nearly, so that they may
            leave [0, 1]; the most likely ones do not.
        parts: what the people of each group add.
        covariance: of the shares.
        homogeneity: how probable it is that the groups' shares differ so much by chance alone.
        guess: the shares at which the weights are best, if they were given.
        convergence: how the maximum of the likelihood was found.
    """

    value: Vector
    parts: tuple[Contribution, ...]
    covariance: Covariance
    homogeneity: float
    guess: Vector | None
    convergence: Convergence | None

    @property
    def evidence(self) -> tuple[tuple[Contribution, ...], Covariance, float]:
        """The first fields of `PooledEvidence`."""
        return self.parts, self.covariance, self.homogeneity

    def estimate(self, method: str, evidence: AnyPooled) -> Estimate[AnyPooled]:
        """Return the estimate with this evidence."""
        return Estimate(
            method,
            self.value,
            evidence,
            guess=self.guess,
            convergence=self.convergence,
        )


AnyPooled = TypeVar("AnyPooled", bound=PooledEvidence)


def fit_groups(
    tallies: Sequence[Counts],
    method: str,
    guess: Mapping[str, float] | Sequence[float] | None,
    population: int | None,
) -> PooledFit:
    """Fit the shares to all groups, and return what each group adds.

    Raises:
        NotEstimable: nobody responded, or a design cannot tell answers apart; for the likelihood, counts that are sums.
        InvalidRequest: a method that does not exist, or a guess or a population that does not fit.
    """
    _check_method(method, guess=guess is not None, population=population is not None)
    groups = [each for each in tallies if each.respondents]
    size = len(tallies[0].design.categories)
    _check_combinable(groups, size)
    f = (
        1.0
        if population is None
        else sampled_fraction(
            int(sum(each.respondents for each in groups)), population
        )
    )
    at, convergence = np.full(size, 1 / size), None
    if guess is not None:
        at = read_shares(tallies[0].design, guess, name="guess")
    if method == "likelihood":
        at, convergence = weighing.most_likely(groups)
    parts = _weigh(groups, method, at)
    value = at if method == "likelihood" else weighing.total(parts)
    shares, n = projection(value), sum(each.respondents for each in groups)
    covariance = _pooled_covariance(parts, shares, n, f, method)
    return PooledFit(
        value,
        tuple(parts),
        Full(covariance),
        weighing.homogeneity(groups, shares),
        None if guess is None else at,
        convergence,
    )


def _check_combinable(groups: Sequence[Counts], size: int) -> None:
    """Refuse no groups at all, and more categories than covariances can be inverted for."""
    if not groups:
        raise NotEstimable(
            "there are no responses in any group; expected at least one."
        )
    if size > MAX_CATEGORIES:
        raise NotEstimable(
            f"there are {size:,} categories; expected at most {MAX_CATEGORIES:,} to combine groups."
        )


def _weigh(
    groups: Sequence[Counts], method: str, at: Vector
) -> Sequence[weighing.Contribution]:
    if method == "information":
        parts = weighing.reweighed(groups)
    else:
        parts = (
            weighing.side_by_side(groups)
            if method == "strata"
            else weighing.weighed(groups, at)
        )
    return parts


def _pooled_covariance(
    parts: Sequence[weighing.Contribution],
    shares: Vector,
    n: float,
    f: float,
    method: str,
) -> Matrix:
    if method == "strata":
        covariance = weighing.unbiased_covariance(parts, f)
    else:
        more = 1.0 if method == "likelihood" else n / max(n - 1, 1)
        covariance = more * weighing.covariance(parts, shares, f)
    return covariance


def _check_method(method: str, *, guess: bool, population: bool) -> None:
    require_choice("the method is", method, METHODS)
    if population and method != "strata":
        raise InvalidRequest(
            f"the method is {method!r} with a population; expected one with strata alone.",
            "Among known people the stages hold different ones, with shares of their own: add them up as strata.",
        )
    if guess and method != "linear":
        raise InvalidRequest(
            f"the method is {method!r} with a guess; expected one with linear alone.",
            'Leave the guess away, or use method="linear", whose weights do not look at the responses.',
        )


@dataclass(frozen=True, eq=False)
class Afresh:
    """Variances, summed over the categories, after each stage.

    Attributes:
        relaxed: of the estimate from relaxed responses: that of one response which spends the whole budget at once.
        independent: of the best weighting of independent responses, each of which spends what the budget grew by.
    """

    relaxed: tuple[float, ...]
    independent: tuple[float, ...]


def afresh(
    build: Callable[[exact.Rational], Design],
    epsilons: Sequence[exact.Rational],
    shares: Mapping[str, float] | Sequence[float],
    respondents: int,
) -> Afresh:
    """Compare relaxing with spending each further part of the budget on a response of its own.

    The people are fixed, everybody responds at every stage, and only the device is random. A relaxed response is
    distributed as a fresh one: its variance is read off the ladder's design.

    Args:
        build: the design at an ε, for example `lambda e: k_ary(5, epsilon=e)`.
        epsilons: the budget after each stage, rising.
        shares: the true shares.
        respondents: how many there are.

    Raises:
        NotOrdered: stages that cannot follow each other.
        InvalidRequest: ε that do not rise, or nobody who responds.

    Example:
        >>> from deniable.designs import warner
        >>> found = afresh(lambda e: warner(epsilon=e), ["1/2", 1], [0.5, 0.5], 1000)
        >>> round(found.independent[-1] / found.relaxed[-1], 3)
        2.128
    """
    from deniable.order.relaxation import ladder

    steps = _budget_steps(epsilons, respondents)
    stages = ladder(build(each) for each in epsilons)
    alone = [_device(build(step), shares, respondents) for step in steps]
    information = np.cumsum([1 / each for each in alone])
    relaxed = tuple(_device(design, shares, respondents) for design in stages)
    return Afresh(relaxed, tuple((1 / information).tolist()))


def _budget_steps(
    epsilons: Sequence[exact.Rational], respondents: int
) -> list[Fraction]:
    """Return the part of the budget that each stage adds."""
    budgets = [exact.rational(each, name="epsilon") for each in epsilons]
    steps = [
        after - before
        for before, after in zip(
            [exact.rational(0), *budgets], budgets, strict=False
        )
    ]
    if not budgets or min(steps) <= 0 or not respondents >= 1:
        raise InvalidRequest(
            "the ε do not rise, or nobody responds; expected rising ε and at least one respondent."
        )
    return steps


def _device(
    design: Design, shares: Mapping[str, float] | Sequence[float], respondents: int
) -> float:
    """Return the sum of the variances that the device alone causes."""
    linear, true = left_inverse(design.channel), read_shares(design, shares)
    return float(
        linear.covariance(
            linear.expected(true), true, 0.0, respondents
        ).variances.sum()
    )
