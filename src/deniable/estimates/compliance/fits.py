"""What all estimates of compliance have in common: most likely numbers in the simplex, and moments beside them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.compliance.response_shares import ResponseShares, Samplings, check_kinds, gather
from deniable.estimates.compliance.triangle import Triangle, WeightShare, corner_quantile
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, one_of, quantile
from deniable.estimates.results import Caution, Columns, Result, Row, Summary, around
from deniable.estimates.sampling.results import FEW_DEGREES
from deniable.estimates.stages import groups_body, groups_from_body
from deniable.estimates.testing import HypothesisTest
from deniable.rendering import formats
from deniable.tallies import Tally

_MISFIT = 0.01  # how often a model that holds is doubted all the same
METHODS = ("profile", "normal")


@dataclass(frozen=True, slots=True)
class FittedRow(Row):
    """A most likely number, with the moment estimate beside it.

    Attributes:
        moment: the estimate that equates what is seen and what is expected; it may lie outside of [0, 1].
    """

    COLUMNS: ClassVar[Columns] = (("estimate",), ("error",), ("low", "high"), ("moment",))
    SHARES: ClassVar[tuple[str, ...]] = (*Row.SHARES, "moment")

    moment: float | None = None


@dataclass(frozen=True, slots=True)
class SampledFittedRow(FittedRow):
    """A most likely number of the people that a sample stands for.

    Attributes:
        design_effect: its variance, over that of as many people drawn one by one and with even weights.
    """

    COLUMNS: ClassVar[Columns] = (*FittedRow.COLUMNS, ("design_effect",))

    design_effect: float | None = None


@dataclass(frozen=True, eq=False)
class Compliance(Result):
    """Shares of people who follow the device and of people who do not.

    Numbers are most likely ones, always probabilities; errors are those of the moment estimates, which stand beside
    them; intervals are profiles of the likelihood.

    Attributes:
        tallies: how many people sent what, one for each group of people or for each item.
        sample: what a sample with weights, strata or clusters says; None where people were drawn one by one.
    """

    tallies: tuple[Tally, ...]
    sample: ResponseShares | None = field(default=None, kw_only=True)

    @cached_property
    def response_shares(self) -> ResponseShares:
        """The shares of responses that the model is fitted to, and how they vary."""
        return ResponseShares.of_counts(self._counted) if self.sample is None else self.sample

    @property
    def _counted(self) -> Sequence[Any]:
        """How many people sent each response, by group."""
        return [each.counts for each in self.tallies]

    @property
    @abstractmethod
    def reach(self) -> Matrix:
        """By how much each number (rows) moves with the share of each response: the delta method's derivatives."""

    def cov_params(self) -> Matrix:
        """Return the covariance of the moment estimates, by the delta method."""
        return vector(self.reach @ self.response_shares.covariance @ self.reach.T)

    @property
    def design_effect(self) -> dict[str, float]:
        """The variance of each number, over that of as many people drawn one by one and with even weights."""
        return dict(zip(self.params, self.response_shares.design_effects(self.reach).tolist(), strict=True))

    def _drops(self, confidence: float) -> dict[str, float]:
        """Return how much less likely than the most likely one each number may be to lie in its interval."""
        half = self.response_shares.quantile(confidence) ** 2 / 2
        return dict(zip(self.params, (half * self.response_shares.scales(self.reach)).tolist(), strict=True))

    @property
    @abstractmethod
    def moments(self) -> dict[str, float]:
        """The moment estimate of each number by name; what lies outside of [0, 1] says that the model does not fit."""

    @property
    @abstractmethod
    def fit(self) -> HypothesisTest:
        """The test of the model, where it leaves degrees of freedom."""

    @property
    @abstractmethod
    def log_likelihood(self) -> float:
        """The log-likelihood at the most likely numbers, without the constant that counts ways."""

    @property
    @abstractmethod
    def _title(self) -> str: ...

    @property
    @abstractmethod
    def _notes(self) -> tuple[str, ...]: ...

    @property
    @abstractmethod
    def _outside(self) -> str:
        """What it may mean that a moment estimate lies outside of [0, 1]."""

    @property
    def _misfit(self) -> str:
        """What it may mean that the model does not fit."""
        return self._outside

    @abstractmethod
    def _profile(self, confidence: float) -> dict[str, Interval]: ...

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return sum(each.respondents for each in self.tallies)

    @property
    def _epsilon(self) -> float:
        """The most that a respondent has revealed."""
        return max(each.design.epsilon for each in self.tallies)

    @property
    def bse(self) -> dict[str, float]:
        errors = np.sqrt(np.maximum(np.diagonal(self.cov_params()), 0.0))
        return dict(zip(self.params, errors.tolist(), strict=True))

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        """Return an interval for each number by name, inside [0, 1].

        Args:
            level: how often such an interval holds the truth.
            method: "profile" of the likelihood (the default), or "normal": value ± z·error, cut to [0, 1];
                with few clusters z is as much larger as Student's quantile is.
            simultaneous: let all intervals together hold with this level (Bonferroni).

        Raises:
            InvalidRequest: a level outside (0, 1), or another method.
        """
        events = len(self.params) if simultaneous else 1
        confidence = one_of(events, level)
        if method not in (None, *METHODS):
            raise InvalidRequest(f"the interval method is {quoted(method)}; expected one of {', '.join(METHODS)}.")
        if method != "normal":
            return self._profile(confidence)
        more = self.response_shares.widening(confidence)
        errors = {name: more * error for name, error in self.bse.items()}
        wide = around(self.params, errors, level=level, method=method, events=events)
        return {name: Interval(max(low, 0.0), min(high, 1.0)) for name, (low, high) in wide.items()}

    @property
    def warnings(self) -> tuple[Caution, ...]:
        outside = {name: value for name, value in self.moments.items() if value < -1e-12 or value > 1 + 1e-12}
        found = []
        if outside:
            told = ", ".join(f"{name!r} {value:.4f}" for name, value in outside.items())
            text = (
                f"moment estimates lie outside of 0 and 1 ({told}); the most likely numbers lie on the border. "
                f"{self._outside}"
            )
            found.append(Caution("outside", text))
        if self.fit.df and self.fit.p_value < _MISFIT:
            found.append(Caution("misfit", f"the model does not fit: {self.fit.told}. {self._misfit}"))
        least = int(self.response_shares.degrees.min())
        if self.sample is not None and least < FEW_DEGREES:
            text = f"the variance has {least} degrees of freedom: too few clusters to know well how much they differ."
            found.append(Caution("clusters", text))
        return tuple(found)

    def summary(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> Summary[FittedRow]:
        """Return a table of most likely numbers with their intervals, and the moment estimates beside them."""
        ends = self.conf_int(level=level, method=method, simultaneous=simultaneous)
        errors, moments = self.bse, self.moments
        told = [
            (name, value, errors[name], ends[name].low, ends[name].high, moments.get(name))
            for name, value in self.params.items()
        ]
        rows: tuple[FittedRow, ...] = tuple(FittedRow(*each) for each in told)
        if self.sample is not None:
            rows = tuple(SampledFittedRow(*each, self.design_effect[each[0]]) for each in told)
        epsilon = self._epsilon
        missing = sum(each.missing for each in self.tallies)
        apart = [f"{missing:,} sent no response and take no part in the estimate."] if missing else []
        return Summary(
            title=f"{self._title}, ε = {formats.epsilon(epsilon)}, {self.respondents:,} respondents",
            quantity="share",
            rows=rows,
            notes=(*self._notes, f"{self.fit}.", *self._sample_notes, *apart),
            warnings=self.warnings,
            level=level,
            interval=method or "profile",
            simultaneous=simultaneous,
            method="likelihood" if self.sample is None else "pseudo-likelihood",
            respondents=self.respondents,
            missing=missing,
            epsilon=epsilon,
        )

    @property
    def _sample_notes(self) -> tuple[str, ...]:
        if self.sample is None:
            return ()
        sizes = " and ".join(f"{each:,.0f}" for each in self.sample.sizes)
        effects = " and ".join(f"{each:.2f}" for each in self.sample.effects)
        name = "design effect is" if len(self.sample.effects) == 1 else "design effects are"
        return (
            f"A weighted sample of {self.sample.sample}. The responses' {name} {effects}: the likelihood "
            f"is that of {sizes} people drawn one by one, and the interval of each number has its own variance.",
        )

    @property
    def _design_hash(self) -> str:
        return ""

    def _source(self) -> dict[str, Any]:
        drawn = {} if self.sample is None else {"sample": self.sample.to_body()}
        return {"groups": groups_body(self.tallies)} | drawn

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: None) -> Any:  # noqa: ARG003 - each group has its own
        return cls(tuple(groups_from_body(source)), **remade_sample(source))


@dataclass(frozen=True, eq=False)
class TriangleFit(Compliance):
    """A model whose numbers are parts of the weights of a triangle."""

    @cached_property
    @abstractmethod
    def triangle(self) -> Triangle:
        """The likelihood."""

    @cached_property
    @abstractmethod
    def parts(self) -> dict[str, WeightShare]:
        """What is estimated, by name."""

    @cached_property
    @abstractmethod
    def moment(self) -> tuple[Vector, Matrix]:
        """The moment estimate of the weights, and by how much each of them moves with the share of each response."""

    @cached_property
    def weights(self) -> Vector:
        """The most likely weights: honest members, honest others, people who do something else."""
        found = self.triangle.likely(self.moment[0])
        return vector(found)

    @property
    def params(self) -> dict[str, float]:
        return {name: part.at(self.weights) for name, part in self.parts.items()}

    @property
    def moments(self) -> dict[str, float]:
        return {name: part.unbounded(self.moment[0]) for name, part in self.parts.items()}

    @property
    def reach(self) -> Matrix:
        """By how much the moment estimates move with the share of each response, at the most likely numbers."""
        slopes = np.array([part.slopes(self.weights) for part in self.parts.values()])
        return vector(slopes @ self.moment[1])

    @property
    def fit(self) -> HypothesisTest:
        laws = self.triangle.laws
        return self.response_shares.corrected(
            self.triangle.fit(self.weights), laws[:, :2] - laws[:, 2:], vector(laws @ self.weights)
        )

    @property
    def log_likelihood(self) -> float:
        return self.triangle.height(self.weights)

    def _profile(self, confidence: float) -> dict[str, Interval]:
        more = corner_quantile(confidence) / quantile(confidence) ** 2
        return {
            name: self.triangle.interval(self.parts[name], self.weights, drop, more * drop)
            for name, drop in self._drops(confidence).items()
        }


def read_groups(groups: object, sampling: Samplings = None) -> tuple[tuple[Tally, ...], ResponseShares | None]:
    """Read different groups of people who were asked one question with two answers, and what a sample says of them.

    Raises:
        InvalidRequest: no groups, too few of them, designs of other answers or responses, or a sampling that is none.
        NotEstimable: a group of fewer than two people.
    """
    if not isinstance(groups, Sequence):
        raise InvalidRequest(
            f"there is a {type(groups).__name__}; expected a list of tallies, one for each group of people.",
            "For example [dn.tally(first, responses), dn.tally(second, others)].",
        )
    if len(groups) < 2:
        raise InvalidRequest(f"there are {len(groups)} groups; expected at least 2, asked with different devices.")
    check_kinds(groups)
    _check_designs([each.design for each in groups])
    tallies, sample = gather(groups, sampling)
    if any(each.respondents < 2 for each in tallies):
        raise NotEstimable("a group has fewer than 2 respondents; expected at least 2, to say how sure we are.")
    return tallies, sample


def _check_designs(designs: Sequence[Any]) -> None:
    for each in designs:
        if not is_binary(each) or tuple(each.symbols) != tuple(designs[0].symbols):
            raise InvalidRequest(
                "a design does not fit; expected the same two answers and two responses in each group."
            )
        if tuple(each.categories) != tuple(designs[0].categories):
            raise InvalidRequest("the groups were asked about different answers; expected the same two.")


def is_binary(design: object) -> bool:
    """Return whether a design has two answers and two responses."""
    return isinstance(design, Design) and len(design.categories) == 2 == design.channel.responses


def remade_sample(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field `sample` of a result that is read back, where there is one."""
    return {"sample": ResponseShares.from_body(source["sample"])} if "sample" in source else {}


def counted(design: Any, hits: object, respondents: object) -> Tally:
    """Return a tally of two responses from how many sent the second one.

    Raises:
        InvalidRequest: numbers that are no counts, or more hits than respondents.
    """
    for number, name in ((hits, "count"), (respondents, "number of respondents")):
        if isinstance(number, bool) or not hasattr(number, "__index__") or number.__index__() < 0:
            raise InvalidRequest(f"a {name} is {quoted(number)}; expected a whole number, 0 or more.")
    first, all_of_them = int(hits.__index__()), int(respondents.__index__())  # type: ignore[attr-defined]
    if first > all_of_them:
        raise InvalidRequest("more people sent a response than responded; expected at most as many.")
    return Tally(design, np.array([all_of_them - first, first]))


def one_each(**given: object) -> list[tuple[Any, ...]]:
    """Return what belongs to each group, from sequences by name.

    Raises:
        InvalidRequest: something is missing, or the sequences have different lengths.
    """
    names = " and ".join(given)
    if any(not isinstance(each, Sequence) or isinstance(each, str) for each in given.values()):
        raise InvalidRequest(f"expected tallies; or {names}, a number for each group.")
    lengths = {len(each) for each in given.values()}  # type: ignore[arg-type]  # they are sequences
    if len(lengths) != 1:
        raise InvalidRequest(f"{names} have different lengths; expected a number for each group.")
    return list(zip(*given.values(), strict=True))
