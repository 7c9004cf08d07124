"""What all estimates of compliance have in common: most likely numbers in the simplex, and moments beside them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable import exact
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.compliance.triangle import Triangle, WeightShare
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, one_of
from deniable.estimates.results import Caution, Columns, Result, Row, Summary, around
from deniable.estimates.stages import groups_body, groups_from_body
from deniable.estimates.testing import HypothesisTest
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


@dataclass(frozen=True, eq=False)
class Compliance(Result):
    """Shares of people who follow the device and of people who do not.

    Numbers are most likely ones, always probabilities; errors are those of the moment estimates, which stand beside
    them; intervals are profiles of the likelihood.

    Attributes:
        tallies: the counts, one for each group of people or for each item.
    """

    tallies: tuple[Tally, ...]

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
            method: "profile" of the likelihood (the default), or "normal": value ± z·error, cut to [0, 1].
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
        wide = around(self.params, self.bse, level=level, method=method, events=events)
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
        return tuple(found)

    def summary(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> Summary[FittedRow]:
        """Return a table of most likely numbers with their intervals, and the moment estimates beside them."""
        ends = self.conf_int(level=level, method=method, simultaneous=simultaneous)
        errors, moments = self.bse, self.moments
        rows = tuple(
            FittedRow(name, value, errors[name], ends[name].low, ends[name].high, moments.get(name))
            for name, value in self.params.items()
        )
        epsilon = self._epsilon
        missing = sum(each.missing for each in self.tallies)
        apart = [f"{missing:,} sent no response and take no part in the estimate."] if missing else []
        return Summary(
            title=f"{self._title}, ε = {exact.shown_above(epsilon, 4)}, {self.respondents:,} respondents",
            quantity="share",
            rows=rows,
            notes=(*self._notes, f"{self.fit}.", *apart),
            warnings=self.warnings,
            level=level,
            interval=method or "profile",
            simultaneous=simultaneous,
            method="likelihood",
            respondents=self.respondents,
            missing=missing,
            epsilon=epsilon,
        )

    @property
    def _design_hash(self) -> str:
        return ""

    def _source(self) -> dict[str, Any]:
        return {"groups": groups_body(self.tallies)}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: None) -> Any:  # noqa: ARG003 - each group has its own
        return cls(tuple(groups_from_body(source)))


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
        """The moment estimate of the weights, and its covariance."""

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

    def cov_params(self) -> Matrix:
        """Return the covariance of the moment estimates, by the delta method at the most likely numbers."""
        slopes = np.array([part.slopes(self.weights) for part in self.parts.values()])
        return vector(slopes @ self.moment[1] @ slopes.T)

    @property
    def fit(self) -> HypothesisTest:
        return self.triangle.fit(self.weights)

    @property
    def log_likelihood(self) -> float:
        return self.triangle.height(self.weights)

    def _profile(self, confidence: float) -> dict[str, Interval]:
        return {name: self.triangle.interval(part, self.weights, confidence) for name, part in self.parts.items()}


def read_tallies(tallies: object, *, least: int = 2) -> tuple[Tally, ...]:
    """Read tallies of different groups of people who were asked one question with two answers.

    Raises:
        InvalidRequest: no tallies, too few of them, or designs of other answers or responses.
        NotEstimable: a group of fewer than two people.
    """
    if not isinstance(tallies, Sequence) or not all(isinstance(each, Tally) for each in tallies):
        raise InvalidRequest(
            f"there is a {type(tallies).__name__}; expected a list of tallies, one for each group of people.",
            "For example [dn.tally(first, responses), dn.tally(second, others)].",
        )
    if len(tallies) < least:
        raise InvalidRequest(
            f"there are {len(tallies)} groups; expected at least {least}, asked with different devices."
        )
    for each in tallies:
        two = len(each.design.categories) == 2 == each.design.channel.responses
        if not two or tuple(each.design.symbols) != tuple(tallies[0].design.symbols):
            raise InvalidRequest(
                "a design does not fit; expected the same two answers and two responses in each group."
            )
        if tuple(each.design.categories) != tuple(tallies[0].design.categories):
            raise InvalidRequest("the groups were asked about different answers; expected the same two.")
        if each.respondents < 2:
            raise NotEstimable("a group has fewer than 2 respondents; expected at least 2, to say how sure we are.")
    return tuple(tallies)


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
