"""Shares from respondents who are at different stages, and what the next stage would buy."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.stats import chi2

from deniable import documents, exact
from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, wilson
from deniable.estimates.inverses import left_inverse
from deniable.estimates.linear import Linear
from deniable.estimates.results import Caution, Result, Summary, around
from deniable.estimates.shares import Contrast, ShareRow, read_shares
from deniable.estimates.simplex import projection
from deniable.estimates.summary import cost
from deniable.order.ladders import Ladder
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies

__all__ = ["Afresh", "Combined", "afresh", "combine"]


METHODS = ("information", "strata")

_MOST_CATEGORIES = 2_000  # matrices of weights are written out, of categories by categories

_RANK, _LEAST_SHARE = 1e-10, 1e-6


@dataclass(frozen=True, eq=False)
class Combined(Result):
    """Shares of each category, from everybody's finest response.

    Attributes:
        tallies: the counts.
        method: "information" or "strata".
        value: the shares in the order of the categories; unbiased, so they may leave [0, 1].
        covariance: its covariance.
        weights: for each stage, the part of the whole that its respondents make up in the value, on the average over
            the categories; 0 where nobody is at that stage.
        homogeneity: how probable it is that the stages' shares differ so much, or more, by chance alone: a small number
            says that who is raised depends on the answer. 1 with a single stage.
        guess: the shares at which the weights are best, if they were given.
        census: whether the respondents are all the people there are.
    """

    type: ClassVar = "stages"

    tallies: StageTallies
    method: str
    value: Vector
    covariance: Matrix = field(repr=False)
    weights: tuple[float, ...]
    homogeneity: float
    guess: tuple[float, ...] | None = None
    census: bool = False

    @property
    def categories(self) -> Sequence[str]:
        """What the shares are of."""
        return self.tallies.design.categories

    @property
    def respondents(self) -> int:
        """How many people responded."""
        return self.tallies.respondents

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

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        """Return the normal or the Chebyshev interval of each category by name.

        Raises:
            InvalidRequest: another method or a level outside (0, 1).
        """
        events = len(self.value) if simultaneous and len(self.value) > 2 else 1
        return around(self.params, self.bse, level=level, method=method, events=events)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        if self.homogeneity >= RATE:
            return ()
        text = (
            f"the stages differ by more than chance (p = {self.homogeneity:.2g}): who goes on to a finer stage seems "
            'to depend on the answer. Combine them with method="strata".'
        )
        return (Caution(DIFFER, text),)

    def summary(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> Summary[ShareRow]:
        """Return a table: share, error, interval, what a direct question would have had, and the cost of privacy."""
        return summarize(self, level, method or "normal", simultaneous=simultaneous)

    @property
    def _design_hash(self) -> str:
        return self.tallies.design.hash

    def _source(self) -> dict[str, Any]:
        return {
            "tallies": json.loads(self.tallies.to_json()),
            "method": self.method,
            "guess": self.guess,
            "census": self.census,
        }

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Ladder) -> Combined:
        tallies = StageTallies.from_json(json.dumps(documents.field(source, "tallies", dict)), design)
        method = documents.field(source, "method", str)
        return combine(tallies, method=method, guess=source.get("guess"), census=source.get("census") is True)

    def contrast(self, weights: Mapping[str, float]) -> Contrast:
        """Return a weighted sum of shares, with its standard error."""
        last = self.tallies.design.designs[-1]
        combination = np.zeros(len(self.value))
        for category, weight in weights.items():
            combination[last.category_number(category)] = weight
        variance = float(combination @ self.covariance @ combination)
        return Contrast(dict(weights), float(combination @ self.value), max(variance, 0.0) ** 0.5)


@dataclass(frozen=True, eq=False)
class _StageShares:
    """The respondents of one stage."""

    counted: Tally
    linear: Linear
    value: Vector

    @classmethod
    def of(cls, counted: Tally) -> _StageShares:
        linear = left_inverse(counted.design.channel)
        return cls(counted, linear, linear.shares(counted.counts / counted.respondents))

    def covariance(self, shares: Vector, f: float) -> Matrix:
        """Return the covariance of this group's estimate, if these are the shares."""
        expected = self.linear.expected(shares)
        return self.linear.covariance(expected, shares, f, self.counted.respondents).matrix()


def combine(
    tallies: StageTallies,
    *,
    method: str = "information",
    guess: Mapping[str, float] | Sequence[float] | None = None,
    census: bool = False,
) -> Combined:
    """Estimate the shares from everybody's finest response.

    Implements: "information": the stages' unbiased estimates, weighted by the inverses of their covariances at `guess`:
    among all unbiased combinations the one with the smallest variance if the guess is right. The weights do not depend
    on the responses, so that it is unbiased whatever the guess. It takes for granted that who is raised to which stage
    does not depend on the answer. "strata": every stage with the part of the respondents that are at it; nothing is
    taken for granted, and the variance is larger.

    Args:
        tallies: the counts.
        method: "information" or "strata".
        guess: shares at which the weights are best; even ones, if they are not given.
        census: whether the respondents are all the people there are; only for "strata".

    Raises:
        NotEstimable: nobody responded, or a design cannot tell answers apart.
        InvalidRequest: a method that does not exist, or a guess that does not fit.

    Example:
        >>> from deniable.designs import warner
        >>> from deniable.order.relaxation import ladder
        >>> from deniable.tallies.stages import count_stages
        >>> stages = ladder([warner(p="2/3"), warner(p="4/5")])
        >>> columns = [["yes", "no", "no", "yes"], ["yes", "no", None, None]]
        >>> combine(count_stages(stages, columns, reached=[1, 1, 0, 0])).params["yes"]
        0.5
    """
    if method not in METHODS or (census and method != "strata"):
        raise InvalidRequest(
            f"the method is {method!r:.40}{' with a census' if census else ''}; expected one of {', '.join(METHODS)}, "
            "and a census with strata alone.",
            "In a census the stages hold different people with shares of their own: add them up as strata.",
        )
    groups = [_StageShares.of(each) for each in tallies.finest if each.respondents]
    size = len(tallies.design.categories)
    if not groups:
        raise NotEstimable("there are no responses at any stage; expected at least one.")
    if size > _MOST_CATEGORIES:
        raise NotEstimable(f"there are {size:,} categories; expected at most {_MOST_CATEGORIES:,} to combine stages.")
    first = tallies.design.designs[0]
    at = np.full(size, 1 / size) if guess is None else read_shares(first, guess, name="guess")
    parts = _by_information(groups, at) if method == "information" else _by_strata(groups, size)
    value = vector(sum(part @ group.value for part, group in zip(parts, groups, strict=True)))
    shares, f = projection(value), 0.0 if census else 1.0
    found = [group.covariance(shares, f) for group in groups]
    covariance = vector(sum(part @ each @ part.T for part, each in zip(parts, found, strict=True)))
    # Shares sum to 1: their mean is given, and only what differs from it is weighed.
    weights = iter((np.trace(part) - part.sum() / size) / (size - 1) for part in parts)
    return Combined(
        tallies,
        method,
        value,
        covariance,
        tuple(float(next(weights)) if each.respondents else 0.0 for each in tallies.finest),
        _homogeneity(groups, shares),
        None if guess is None else tuple(at.tolist()),
        census,
    )


def _by_information(groups: Sequence[_StageShares], at: Vector) -> list[Matrix]:
    """Return A_i = (Σ V⁺)⁺ V_i⁺ on differences of shares, and 1/k of the rest each, so that all sum to I."""
    size, inner = len(at), _inside(at)
    inverses = [_pseudo(group.covariance(inner, 1.0)) for group in groups]
    whole = _pseudo(vector(sum(inverses)))
    # All estimates sum to 1 exactly: along (1, …, 1) there is nothing to weigh, and any split of it will do.
    along = np.full((size, size), 1 / size) / len(groups)
    return [vector(whole @ each + along) for each in inverses]


def _by_strata(groups: Sequence[_StageShares], size: int) -> list[Matrix]:
    n = sum(group.counted.respondents for group in groups)
    return [np.eye(size) * (group.counted.respondents / n) for group in groups]


def expected_covariance(groups: Sequence[tuple[Design, float]], shares: Vector) -> Matrix:
    """Return the covariance of the best combination of groups, each a design and how many respond with it."""
    inverses = []
    for design, respondents in groups:
        linear = left_inverse(design.channel)
        inverses.append(_pseudo(linear.covariance(linear.expected(shares), shares, 1.0, respondents).matrix()))
    return _pseudo(vector(sum(inverses)))


def _inside(shares: Vector) -> Vector:
    """Return shares of which none is 0: of a direct question that one had no variance, and weights did not sum to I."""
    raised = np.maximum(shares, _LEAST_SHARE)
    return vector(raised / raised.sum())


def _pseudo(matrix: Matrix) -> Matrix:
    """Return the pseudo-inverse on differences of shares; covariances of shares are singular along (1, …, 1)."""
    size = len(matrix)
    centre = np.eye(size) - 1 / size
    along = np.full((size, size), 1 / size)
    scale = np.trace(matrix) / size
    centred = centre @ matrix @ centre
    if np.linalg.eigvalsh(centred + scale * along)[0] <= _RANK * scale:
        return vector(np.linalg.pinv(centred, rcond=_RANK, hermitian=True))
    return vector(np.linalg.inv(centred + scale * along) - along / scale)


def _homogeneity(groups: Sequence[_StageShares], shares: Vector) -> float:
    """Return the probability that stages with equal shares differ as much as these: χ² of the distances to the best."""
    if len(groups) < 2:
        return 1.0
    inverses = [_pseudo(group.covariance(_inside(shares), 1.0)) for group in groups]
    best = _pseudo(vector(sum(inverses))) @ sum(
        each @ group.value for each, group in zip(inverses, groups, strict=True)
    )
    best = best + (1 - best.sum()) / len(shares)
    distance = sum(
        float((group.value - best) @ each @ (group.value - best)) for each, group in zip(inverses, groups, strict=True)
    )
    return float(chi2.sf(distance, (len(groups) - 1) * (len(shares) - 1)))


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
    steps = [after - before for before, after in zip([exact.rational(0), *budgets], budgets, strict=False)]
    if not budgets or min(steps) <= 0 or not respondents >= 1:
        raise InvalidRequest("the ε do not rise, or nobody responds; expected rising ε and at least one respondent.")
    stages = ladder(build(each) for each in epsilons)
    alone = [_device(build(step), shares, respondents) for step in steps]
    information = np.cumsum([1 / each for each in alone])
    relaxed = tuple(_device(design, shares, respondents) for design in stages)
    return Afresh(relaxed, tuple((1 / information).tolist()))


def _device(design: Design, shares: Mapping[str, float] | Sequence[float], respondents: int) -> float:
    """Return the sum of the variances that the device alone causes."""
    linear, true = left_inverse(design.channel), read_shares(design, shares)
    return float(linear.covariance(linear.expected(true), true, 0.0, respondents).variances.sum())


DIFFER = "stages-differ"
RATE = 0.001
"""How often stages that hold alike people are said to differ."""


def summarize(combined: Combined, level: float, method: str, *, simultaneous: bool) -> Summary[ShareRow]:
    """Return the summary of a combined estimate; its ε is that of the finest stage somebody reached."""
    n, ladder = combined.tallies.respondents, combined.tallies.design
    intervals = list(combined.conf_int(level=level, method=method, simultaneous=simultaneous).values())
    low, high = wilson(np.clip(combined.value, 0.0, 1.0), 1.0, 0.0, n, 1.0, level)
    direct = [Interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
    widths = np.array([[each.high - each.low for each in ends] for ends in (direct, intervals)])
    worth = n * np.minimum(widths[0] / np.maximum(widths[1], 1e-300), 1.0) ** 2
    overall = n * min(1.0, float((widths[0] ** 2).sum() / max(float((widths[1] ** 2).sum()), 1e-300)))
    reached = max(number for number, each in enumerate(combined.tallies.finest) if each.respondents)
    rows = zip(combined.categories, combined.value, combined.errors, intervals, direct, worth, strict=True)
    return Summary(
        title=f"{ladder!r}, {n:,} respondents, by {combined.method}",
        quantity="share",
        rows=tuple(
            ShareRow(category, float(value), float(error), ends.low, ends.high, asked.low, asked.high, float(each))
            for category, value, error, ends, asked, each in rows
        ),
        notes=_notes(combined, overall),
        warnings=combined.warnings,
        level=level,
        interval=method,
        simultaneous=simultaneous,
        method=combined.method,
        respondents=n,
        missing=sum(each.missing for each in combined.tallies.finest),
        epsilon=ladder.epsilons[reached],
    )


def _notes(combined: Combined, overall: float) -> tuple[str, ...]:
    stages = "; ".join(
        f"ε = {exact.shown_above(design.epsilon, 4)}: {each.respondents:,} ({weight:.0%} of the weight)"
        for design, each, weight in zip(combined.tallies.design, combined.tallies.finest, combined.weights, strict=True)
    )
    notes = [cost(combined.tallies.respondents, overall), f"Respondents by the finest stage they sent: {stages}."]
    if (combined.value < 0).any():
        notes.append("A share below 0 is the price of an estimate without bias.")
    return tuple(notes)
