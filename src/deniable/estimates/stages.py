"""Shares from respondents who are at different stages, or were asked with different devices; what a next stage buys."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from deniable import documents, exact
from deniable.designs import Design
from deniable.designs.labels import same_labels
from deniable.errors import Incompatible, InvalidRequest, NotEstimable, quoted
from deniable.estimates import weighing
from deniable.estimates.covariances import Full, Matrix, Vector, vector
from deniable.estimates.intervals import Interval, one_of, recovered, wilson
from deniable.estimates.inverses import left_inverse
from deniable.estimates.likelihood import Convergence
from deniable.estimates.people import Counts
from deniable.estimates.results import (
    Caution,
    Contrast,
    Result,
    Summary,
    around,
    told_method,
)
from deniable.estimates.shares import ShareRow, combined, read_shares, sampled_fraction
from deniable.estimates.simplex import projection
from deniable.estimates.summary import below_zero, cost, reference, rests_on, worth
from deniable.estimates.weighing import Contribution
from deniable.order.ladders import Ladder
from deniable.rendering import formats
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

__all__ = ["Afresh", "Combined", "Mixed", "Pooled", "afresh", "combine", "pool"]


METHODS = ("information", "likelihood", "linear", "strata")
INTERVALS = ("score", "wide", "normal", "chebyshev", "profile")

_MOST_CATEGORIES = (
    2_000  # matrices of weights are written out, of categories by categories
)


@dataclass(frozen=True, eq=False)
class Pooled(Result):
    """Shares of each category, from groups of people who responded with different designs.

    Attributes:
        method: "information", "likelihood", "linear" or "strata".
        value: the shares in the order of the categories. Those of "linear" and "strata" are unbiased, those of
            "information" nearly, so that they may leave [0, 1]; the most likely ones do not.
        covariance: its covariance; of the best weighting at the value, for the likelihood.
        parts: what the people of each group add, one for each group that somebody is in.
        homogeneity: how probable it is that the groups' shares differ so much, or more, by chance alone. 1 with a
            single group.
        guess: the shares at which the weights are best, if they were given.
        population: how many people there are, if they are not a sample of very many.
        convergence: how the maximum of the likelihood was found.
    """

    method: str
    value: Vector
    covariance: Matrix = field(repr=False)
    parts: tuple[Contribution, ...] = field(repr=False)
    homogeneity: float
    guess: tuple[float, ...] | None
    population: int | None
    convergence: Convergence | None

    @property
    @abstractmethod
    def categories(self) -> Sequence[str]:
        """What the shares are of."""

    @property
    @abstractmethod
    def respondents(self) -> int:
        """How many people responded."""

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.categories, self.value.tolist(), strict=True))

    @property
    def errors(self) -> Vector:
        """The standard error of each share, in the order of the categories."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    @property
    def bse(self) -> dict[str, float]:
        return dict(zip(self.categories, self.errors.tolist(), strict=True))

    def cov_params(self) -> Matrix:
        return self.covariance.copy()

    @property
    def df(self) -> float:
        """The degrees of freedom of the variance: of people who were drawn one by one."""
        return max(self.respondents - 1, 1)

    def variance(self, combination: Vector) -> float:
        """Return the variance of a linear combination of the shares, never a negative one."""
        return max(float(combination @ self.covariance @ combination), 0.0)

    @property
    def default_interval(self) -> str:
        """The interval method that is used when none is named."""
        if self._f == 1 and weighing.rare([part.tally for part in self.parts]):
            return "wide"
        return "profile" if self.method == "likelihood" else "score"

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Interval]:
        """Return an interval for each category by name.

        Args:
            level: how often such an interval holds the true share.
            method: "score", "wide", "normal", "chebyshev" or "profile"; by default "profile" for the likelihood, else
                "score", or "wide" (score and likelihood together) where a stage sends some symbol hardly ever.
            simultaneous: let all intervals together hold with this level (Bonferroni).

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist.
            NotEstimable: a wide or profile interval where a tally keeps sums.
        """
        chosen = method or self.default_interval
        if chosen not in INTERVALS:
            raise InvalidRequest(
                f"the interval method is {quoted(chosen)}; expected one of {', '.join(INTERVALS)}."
            )
        events = len(self.value) if simultaneous and len(self.value) > 2 else 1
        if chosen in ("normal", "chebyshev"):
            return around(
                self.params,
                self.bse,
                level=level,
                method=chosen,
                events=events,
                degrees=self.df,
            )
        confidence = one_of(events, level)
        if chosen in ("score", "wide"):
            ends = weighing.score if chosen == "score" else weighing.wide
            low, high = ends(self.parts, self._f, confidence)
        else:
            tallies = [part.tally for part in self.parts]
            best = (
                self.value
                if self.method == "likelihood"
                else weighing.most_likely(tallies)[0]
            )
            low, high = weighing.profile(tallies, best, confidence)
        return dict(
            zip(
                self.categories, map(Interval, low.tolist(), high.tolist()), strict=True
            )
        )

    @property
    def _f(self) -> float:
        return sampled_fraction(self.respondents, self.population)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        found = [Caution(DIFFER, self._differ)] if self.homogeneity < RATE else []
        if self.convergence is not None and not self.convergence.converged:
            found.append(Caution("unfinished", str(self.convergence)))
        return tuple(found)

    @property
    @abstractmethod
    def _differ(self) -> str:
        """What is said where the groups differ by more than chance."""

    def contrast(self, weights: Mapping[str, float]) -> Contrast:
        """Return a weighted sum of shares, with its standard error.

        Its interval is recovered from those of the shares. Where a stage sends some symbol hardly ever, the profile of
        the sum is added to it.

        Why: how shares vary together is taken from those that are estimated. Where a few responses of a fine stage
        decide, these say that some answers are not there at all, and so not how they vary.

        Raises:
            InvalidRequest: a weight that is no finite number.
        """
        combination = combined(
            weights, len(self.value), self.parts[-1].tally.design.category_number
        )
        variance = float(combination @ self.covariance @ combination)

        ends = partial(self._contrast_ends, combination)
        return Contrast(
            dict(weights),
            float(combination @ self.value),
            max(variance, 0.0) ** 0.5,
            ends,
        )

    def _contrast_ends(self, combination: Vector, confidence: float) -> Interval:
        own = vector(list(self.conf_int(level=confidence).values())).T
        found = recovered(
            self.value, Full(self.covariance), combination, (own[0], own[1])
        )
        if self.default_interval != "wide" or np.count_nonzero(combination) < 2:
            return found
        tallies = [part.tally for part in self.parts]
        likely = (
            weighing.profile_of(tallies, self.value, combination, confidence) or found
        )
        return Interval(min(found.low, likely.low), max(found.high, likely.high))


@dataclass(frozen=True, eq=False)
class Combined(Pooled):
    """Shares of each category, from everybody's finest response along a ladder.

    That stages differ by more than chance (`homogeneity`) says that who is raised depends on the answer.

    Attributes:
        tallies: the counts.
    """

    type: ClassVar = "stages"

    tallies: StageTallies

    @property
    def weights(self) -> tuple[float, ...]:
        """For each stage, the part of the whole that its respondents make up, on the average over the categories.

        It is 0 where nobody is at that stage.
        """
        weights = iter(part.weight for part in self.parts)
        return tuple(
            next(weights) if each.respondents else 0.0 for each in self.tallies.finest
        )

    @property
    def categories(self) -> Sequence[str]:
        """What the shares are of."""
        return self.tallies.design.categories

    @property
    def respondents(self) -> int:
        """How many people responded."""
        return self.tallies.respondents

    @property
    def _differ(self) -> str:
        return (
            f"the stages differ by more than chance (p = {formats.p_value(self.homogeneity)}): who goes on to "
            "a finer stage "
            'seems to depend on the answer. Combine them with method="strata".'
        )

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[ShareRow]:
        """Return a table: share, error, interval, what a direct question would have had, and the cost of privacy."""
        return summarize(
            self, level, method or self.default_interval, simultaneous=simultaneous
        )

    @property
    def _design_hash(self) -> str:
        return self.tallies.design.hash

    def _source(self) -> dict[str, Any]:
        return {
            "tallies": json.loads(self.tallies.to_json()),
            "method": self.method,
            "guess": self.guess,
            "population": self.population,
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Ladder) -> Combined:
        tallies = StageTallies.from_json(
            json.dumps(documents.field(source, "tallies", dict)), design
        )
        method = documents.field(source, "method", str)
        return combine(
            tallies,
            method=method,
            guess=source.get("guess"),
            population=source.get("population"),
        )


@dataclass(frozen=True, eq=False)
class Mixed(Pooled):
    """Shares of each category, from people who were asked with different devices.

    Attributes:
        tallies: the counts, one for each device.
    """

    type: ClassVar = "devices"

    tallies: tuple[Tally, ...]

    @property
    def categories(self) -> Sequence[str]:
        return self.tallies[0].design.categories

    @property
    def respondents(self) -> int:
        return sum(each.respondents for each in self.tallies)

    @property
    def _differ(self) -> str:
        return (
            f"the devices differ by more than chance (p = {formats.p_value(self.homogeneity)}): who was asked "
            "with which seems to "
            "depend on the answer, one of the designs is not what was used, or people followed one device less. Look "
            'at each alone, or combine them with method="strata".'
        )

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[ShareRow]:
        """Return a table: share, error, interval, what a direct question would have had, and the cost of privacy."""
        return told(
            self, level, method or self.default_interval, simultaneous=simultaneous
        )

    @property
    def _design_hash(self) -> str:
        return ""

    def _source(self) -> dict[str, Any]:
        return {
            "groups": groups_body(self.tallies),
            "method": self.method,
            "guess": self.guess,
            "population": self.population,
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: None) -> Mixed:  # noqa: ARG003 - each group has its own
        method = documents.field(source, "method", str)
        return pool(
            groups_from_body(source),
            method=method,
            guess=source.get("guess"),
            population=source.get("population"),
        )


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
) -> Combined:
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
    return Combined(*fit_groups(tallies.finest, method, guess, population), tallies)


def pool(
    tallies: Sequence[Tally],
    *,
    method: str = "information",
    guess: Mapping[str, float] | Sequence[float] | None = None,
    population: int | None = None,
) -> Mixed:
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
    given = tuple(tallies)
    if not given:
        raise NotEstimable("there is no tally; expected one for each device.")
    if any(
        not same_labels(each.design.categories, given[0].design.categories)
        for each in given
    ):
        raise Incompatible(
            "the designs have different categories; expected the same in all of them, in the same order.",
            "Build them with the same categories=….",
        )
    return Mixed(*fit_groups(given, method, guess, population), given)


_Fields: TypeAlias = tuple[
    str,
    Vector,
    Matrix,
    tuple[Contribution, ...],
    float,
    tuple[float, ...] | None,
    int | None,
    Convergence | None,
]


def fit_groups(
    tallies: Sequence[Counts],
    method: str,
    guess: Mapping[str, float] | Sequence[float] | None,
    population: int | None,
) -> _Fields:
    """Return the fields of `Pooled`: the shares from all groups, and what each group adds.

    Raises:
        NotEstimable: nobody responded, or a design cannot tell answers apart; for the likelihood, counts that are sums.
        InvalidRequest: a method that does not exist, or a guess or a population that does not fit.
    """
    _check_method(method, guess=guess is not None, population=population is not None)
    groups = [each for each in tallies if each.respondents]
    size = len(tallies[0].design.categories)
    if not groups:
        raise NotEstimable(
            "there are no responses in any group; expected at least one."
        )
    if size > _MOST_CATEGORIES:
        raise NotEstimable(
            f"there are {size:,} categories; expected at most {_MOST_CATEGORIES:,} to combine groups."
        )
    f = (
        1.0
        if population is None
        else sampled_fraction(int(sum(each.respondents for each in groups)), population)
    )
    at, convergence = np.full(size, 1 / size), None
    if guess is not None:
        at = read_shares(tallies[0].design, guess, name="guess")
    if method == "likelihood":
        at, convergence = weighing.most_likely(groups)
    if method == "information":
        parts = weighing.reweighed(groups)
    else:
        parts = (
            weighing.side_by_side(groups)
            if method == "strata"
            else weighing.weighed(groups, at)
        )
    value = at if method == "likelihood" else weighing.total(parts)
    shares, n = projection(value), sum(each.respondents for each in groups)
    if method == "strata":
        covariance = weighing.unbiased_covariance(parts, f)
    else:
        more = 1.0 if method == "likelihood" else n / max(n - 1, 1)
        covariance = more * weighing.covariance(parts, shares, f)
    return (
        method,
        value,
        covariance,
        tuple(parts),
        weighing.homogeneity(groups, shares),
        None if guess is None else tuple(at.tolist()),
        population,
        convergence,
    )


def _check_method(method: str, *, guess: bool, population: bool) -> None:
    if method not in METHODS:
        raise InvalidRequest(
            f"the method is {quoted(method)}; expected one of {', '.join(METHODS)}."
        )
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

    budgets = [exact.rational(each, name="epsilon") for each in epsilons]
    steps = [
        after - before
        for before, after in zip([exact.rational(0), *budgets], budgets, strict=False)
    ]
    if not budgets or min(steps) <= 0 or not respondents >= 1:
        raise InvalidRequest(
            "the ε do not rise, or nobody responds; expected rising ε and at least one respondent."
        )
    stages = ladder(build(each) for each in epsilons)
    alone = [_device(build(step), shares, respondents) for step in steps]
    information = np.cumsum([1 / each for each in alone])
    relaxed = tuple(_device(design, shares, respondents) for design in stages)
    return Afresh(relaxed, tuple((1 / information).tolist()))


def _device(
    design: Design, shares: Mapping[str, float] | Sequence[float], respondents: int
) -> float:
    """Return the sum of the variances that the device alone causes."""
    linear, true = left_inverse(design.channel), read_shares(design, shares)
    return float(
        linear.covariance(linear.expected(true), true, 0.0, respondents).variances.sum()
    )


DIFFER = "stages-differ"
RATE = 0.001
"""How often stages that hold alike people are said to differ."""


def summarize(
    combined: Combined, level: float, method: str, *, simultaneous: bool
) -> Summary[ShareRow]:
    """Return the summary of a combined estimate; its ε is that of the finest stage somebody reached."""
    finest, ladder = combined.tallies.finest, combined.tallies.design
    reached = max(number for number, each in enumerate(finest) if each.respondents)
    groups = "; ".join(
        _group(f"ε = {formats.epsilon(design.epsilon)}", each, weight)
        for design, each, weight in zip(ladder, finest, combined.weights, strict=True)
    )
    note = f"Respondents by the finest stage they sent: {groups}."
    used = [
        design for design, each in zip(ladder, finest, strict=True) if each.respondents
    ]
    facts = Facts(
        f"{ladder!r}",
        (note, *rests_on(*used)),
        combined.tallies.missing,
        ladder.epsilons[reached],
    )
    return _summary(combined, facts, level, method, simultaneous=simultaneous)


def told(
    mixed: Mixed, level: float, method: str, *, simultaneous: bool
) -> Summary[ShareRow]:
    """Return the summary of an estimate from several devices; its ε is the largest of theirs."""
    names = [f"{part.tally.design!r}" for part in mixed.parts]
    groups = "; ".join(
        _group(name, part.tally, part.weight)
        for name, part in zip(names, mixed.parts, strict=True)
    )
    notes: tuple[str, ...] = (f"Respondents by device: {groups}.",)
    vouched = [each.declared for each in mixed.tallies if each.declared is not None]
    notes += sum(vouched[1:], start=vouched[0]).notes() if vouched else ()
    missing = sum(each.missing for each in mixed.tallies)
    designs = dict.fromkeys(each.design for each in mixed.tallies)
    epsilon = max(part.tally.design.epsilon for part in mixed.parts)
    facts = Facts(
        f"{len(mixed.parts)} devices", (*notes, *rests_on(*designs)), missing, epsilon
    )
    return _summary(mixed, facts, level, method, simultaneous=simultaneous)


class Facts(NamedTuple):
    """What a summary of groups says besides its numbers: of whom, in which notes, how many sent nothing, at which ε."""

    subject: str
    notes: tuple[str, ...]
    missing: int
    epsilon: float


def _group(name: str, tally: Counts, weight: float) -> str:
    return f"{name}: {tally.respondents:,} ({formats.fixed_percent(weight, 0)} of the weight)"


def _summary(
    found: Pooled, facts: Facts, level: float, method: str, *, simultaneous: bool
) -> Summary[ShareRow]:
    n = found.respondents
    intervals = list(
        found.conf_int(level=level, method=method, simultaneous=simultaneous).values()
    )
    low, high = wilson(np.clip(found.value, 0.0, 1.0), 1.0, 0.0, n, 1.0, level)
    direct = [Interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
    at = reference(found.value, found.errors)
    effective, overall = worth(n, at, n * found.errors**2)
    price = cost(n, overall, moved=bool((at != found.value).any()))
    negative = below_zero(found.warnings, below=bool((found.value < 0).any()))
    rows = zip(
        found.categories,
        found.value,
        found.errors,
        intervals,
        direct,
        effective,
        strict=True,
    )
    return Summary(
        title=f"{facts.subject}, {n:,} respondents, by {told_method(found.method)}",
        quantity="share",
        rows=tuple(
            ShareRow(
                category,
                float(value),
                float(error),
                ends.low,
                ends.high,
                asked.low,
                asked.high,
                float(each),
            )
            for category, value, error, ends, asked, each in rows
        ),
        notes=(price, *facts.notes, *negative),
        warnings=found.warnings,
        level=level,
        interval=method,
        simultaneous=simultaneous,
        method=found.method,
        respondents=n,
        missing=facts.missing,
        epsilon=facts.epsilon,
    )
