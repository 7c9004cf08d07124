"""Estimates of compliance: maximum-likelihood estimates in the simplex, with the moment estimates beside them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, Self, SupportsIndex, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from deniable import documents
from deniable.designs import Design
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.compliance.mixture_likelihood import (
    Triangle,
    WeightShare,
    corner_quantile,
)
from deniable.estimates.compliance.response_shares import (
    ResponseShares,
    Samplings,
    check_kinds,
    gather,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import Interval, quantile
from deniable.estimates.results import (
    AROUND,
    Bounds,
    Caution,
    Columns,
    Description,
    IntervalMethod,
    Row,
    RowType,
    bounds_around,
)
from deniable.estimates.sampling.results import MIN_DF
from deniable.estimates.stages import groups_body, groups_from_body
from deniable.estimates.statistics import Model, Statistic, StatisticClass
from deniable.estimates.testing import HypothesisTest
from deniable.rendering import formats
from deniable.tallies import Tally

_MISFIT = 0.01  # how often a model that holds is doubted all the same


@dataclass(frozen=True, slots=True)
class FittedRow(Row):
    """A most likely number, with the moment estimate beside it.

    Attributes:
        moment: the estimate that equates what is seen and what is expected; it may lie outside of [0, 1].
    """

    COLUMNS: ClassVar[Columns] = (
        ("estimate",),
        ("error",),
        ("low", "high"),
        ("moment",),
    )
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


AnyComplianceModel_co = TypeVar(
    "AnyComplianceModel_co", bound="ComplianceModel", covariant=True
)


@dataclass(frozen=True, eq=False)
class Compliance(Statistic[AnyComplianceModel_co]):
    """Shares of people who comply with the device and of people who do not.

    Numbers are maximum-likelihood estimates, always probabilities. Errors are those of the moment estimates, which
    stand beside them. Intervals are profiles of the likelihood.

    Attributes:
        model: the model of how people respond, with what is particular to it.
    """

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """The counts of responses, one for each group of people or for each item."""
        return self.model.tallies

    @property
    def sample(self) -> ResponseShares | None:
        """The shares of responses in a sample with weights, strata or clusters; None for i.i.d. respondents."""
        return self.model.sample

    @property
    def respondents(self) -> int:
        """The number of responses counted."""
        return self.model.respondents

    @property
    def moments(self) -> dict[str, float]:
        """The moment estimate of each number by name; one outside of [0, 1] means that the model does not fit."""
        return self.model.moments

    @property
    def fit(self) -> HypothesisTest:
        """The test of the model, where it leaves degrees of freedom."""
        return self.model.fit

    @property
    def log_likelihood(self) -> float:
        """The maximum of the log-likelihood, up to a constant of the counts."""
        return self.model.log_likelihood

    @property
    def design_effect(self) -> dict[str, float]:
        """The variance of each number, relative to that of a simple random sample of the same size."""
        effects = self.model.response_shares.design_effects(self.model.jacobian)
        return dict(zip(self.params, effects.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class ComplianceModel(Model):
    """A model of people who comply with the device and of people who do not.

    Attributes:
        tallies: the counts of responses, one for each group of people or for each item.
        sample: the shares of responses in a sample with weights, strata or clusters; None for i.i.d. respondents.
    """

    result_class: ClassVar[StatisticClass] = Compliance

    SOURCE: ClassVar[Mapping[str, type]] = {}
    """The further fields of the model, with their types in JSON."""

    tallies: tuple[Tally, ...]
    sample: ResponseShares | None = field(default=None, kw_only=True)

    @cached_property
    def response_shares(self) -> ResponseShares:
        """The shares of responses that the model is fitted to, with their covariance."""
        return self.sample or ResponseShares.of_counts(self._counts)

    @property
    def _counts(self) -> Sequence[ArrayLike]:
        """The number of people with each response, by group."""
        return [tally.counts for tally in self.tallies]

    @property
    @abstractmethod
    def jacobian(self) -> Matrix:
        """The derivatives of the numbers (rows) by the shares of responses, for the delta method."""

    @property
    @abstractmethod
    def moments(self) -> dict[str, float]:
        """The moment estimate of each number by name; one outside of [0, 1] means that the model does not fit."""

    @property
    @abstractmethod
    def fit(self) -> HypothesisTest:
        """The test of the model, where it leaves degrees of freedom."""

    @property
    @abstractmethod
    def log_likelihood(self) -> float:
        """The maximum of the log-likelihood, up to a constant of the counts."""

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
    def _profile(self, level: float) -> Sequence[Interval]:
        """Return the profile-likelihood interval of each number."""

    @property
    def respondents(self) -> int:
        """The number of responses counted."""
        return sum(tally.respondents for tally in self.tallies)

    @property
    def _epsilon(self) -> float:
        """The largest privacy loss of a respondent."""
        return max(tally.design.epsilon for tally in self.tallies)

    def covariance_matrix(self) -> Matrix:
        """Return the covariance of the moment estimates, by the delta method."""
        return vector(
            self.jacobian @ self.response_shares.covariance @ self.jacobian.T
        )

    def _drops(self, level: float) -> list[float]:
        """Return how far the log-likelihood may fall below its maximum inside the interval of each number."""
        half = self.response_shares.quantile(level) ** 2 / 2
        drops: list[float] = (
            half * self.response_shares.scales(self.jacobian)
        ).tolist()
        return drops

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "profile" of the likelihood (the default), and value ± a multiple of the error, cut to [0, 1].

        With few clusters the multiple is as much larger as Student's quantile is.
        """
        return {"profile": self._profile_bounds} | {
            name: partial(self._bounds_inside, name) for name in AROUND
        }

    def _profile_bounds(self, level: float) -> Bounds:
        lows, highs = vector(self._profile(level)).T
        return lows, highs

    def _bounds_inside(self, method: str, level: float) -> Bounds:
        errors = np.sqrt(np.maximum(np.diagonal(self.covariance_matrix()), 0.0))
        widened = self.response_shares.widening(level) * errors
        values = vector(list(self.params.values()))
        lows, highs = bounds_around(values, widened, method, level)
        return np.maximum(lows, 0.0), np.minimum(highs, 1.0)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        outside = {
            name: value
            for name, value in self.moments.items()
            if value < -1e-12 or value > 1 + 1e-12
        }
        cautions = []
        if outside:
            estimates = ", ".join(
                f"{name!r} {value:.4f}" for name, value in outside.items()
            )
            text = (
                f"moment estimates lie outside of 0 and 1 ({estimates}); the most likely numbers lie on the border. "
                f"{self._outside}"
            )
            cautions.append(Caution("outside", text))
        if self.fit.df and self.fit.p_value < _MISFIT:
            text = f"the model does not fit: {self.fit.told}. {self._misfit}"
            cautions.append(Caution("misfit", text))
        min_df = int(self.response_shares.degrees.min())
        if self.sample is not None and min_df < MIN_DF:
            text = f"the variance has {min_df} degrees of freedom: too few clusters to know well how much they differ."
            cautions.append(Caution("clusters", text))
        return tuple(cautions)

    @property
    def row_type(self) -> RowType:
        return FittedRow if self.sample is None else SampledFittedRow

    def row_columns(self) -> Mapping[str, Sequence[float | None]]:
        effects = self.response_shares.design_effects(self.jacobian)
        return {
            "moment": [self.moments.get(name) for name in self.params],
            "design_effect": effects.tolist(),
        }

    def describe(self) -> Description:
        epsilon = self._epsilon
        missing = sum(tally.missing for tally in self.tallies)
        notes = [*self._notes, f"{self.fit}.", *self._sample_notes]
        if missing:
            notes.append(
                f"{missing:,} sent no response and take no part in the estimate."
            )
        return Description(
            title=f"{self._title}, ε = {formats.epsilon(epsilon)}, {self.respondents:,} respondents",
            quantity="share",
            method="likelihood" if self.sample is None else "pseudo-likelihood",
            respondents=self.respondents,
            epsilon=epsilon,
            missing=missing,
            notes=tuple(notes),
        )

    @property
    def _sample_notes(self) -> tuple[str, ...]:
        if self.sample is None:
            return ()
        sizes = " and ".join(f"{size:,.0f}" for size in self.sample.sizes)
        effects = " and ".join(f"{effect:.2f}" for effect in self.sample.effects)
        is_one = len(self.sample.effects) == 1
        name = "design effect is" if is_one else "design effects are"
        return (
            f"A weighted sample of {self.sample.sample}. The responses' {name} {effects}: the likelihood "
            f"is that of {sizes} people drawn one by one, and the interval of each number has its own variance.",
        )

    def to_source(self) -> dict[str, Any]:
        sample = {} if self.sample is None else {"sample": self.sample.to_body()}
        fields = {
            name: kind(getattr(self, name)) for name, kind in self.SOURCE.items()
        }
        return {"groups": groups_body(self.tallies)} | sample | fields

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: None) -> Self:  # noqa: ARG003 - each group has its own
        values = {
            name: documents.field(source, name, kind)
            for name, kind in cls.SOURCE.items()
        }
        if "sample" in source:
            values["sample"] = ResponseShares.from_body(source["sample"])
        return cls(tuple(groups_from_body(source)), **values)


@dataclass(frozen=True, eq=False)
class TriangleFit(ComplianceModel):
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
        return self.triangle.likely(self.moment[0])

    @property
    def params(self) -> dict[str, float]:
        return {name: share.at(self.weights) for name, share in self.parts.items()}

    @property
    def moments(self) -> dict[str, float]:
        return {
            name: share.extrapolate(self.moment[0])
            for name, share in self.parts.items()
        }

    @property
    def jacobian(self) -> Matrix:
        """The derivatives of the moment estimates by the shares of responses, at the most likely numbers."""
        return self._jacobian_at(self.weights)

    def _jacobian_at(self, weights: Vector) -> Matrix:
        slopes = [share.slopes(weights) for share in self.parts.values()]
        return vector(slopes @ self.moment[1])

    @property
    def fit(self) -> HypothesisTest:
        laws = self.triangle.laws
        return self.response_shares.corrected(
            self.triangle.fit(self.weights),
            laws[:, :2] - laws[:, 2:],
            vector(laws @ self.weights),
        )

    @property
    def log_likelihood(self) -> float:
        return self.triangle.height(self.weights)

    def _profile(self, level: float) -> Sequence[Interval]:
        more = corner_quantile(level) / quantile(level) ** 2
        return [
            self.triangle.interval(share, self.weights, drop, more * drop)
            for share, drop in zip(
                self.parts.values(), self._drops(level), strict=True
            )
        ]


def read_groups(
    groups: object, sampling: Samplings = None
) -> tuple[tuple[Tally, ...], ResponseShares | None]:
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
        raise InvalidRequest(
            f"there are {len(groups)} groups; expected at least 2, asked with different devices."
        )
    check_kinds(groups)
    _check_designs([group.design for group in groups])
    tallies, sample = gather(groups, sampling)
    for tally in tallies:
        check_people(tally.respondents, "a group has")
    return tallies, sample


def check_people(respondents: int, subject: str = "there are") -> None:
    """Refuse fewer than two respondents, whose variance is not known.

    Raises:
        NotEstimable: so few.
    """
    if respondents < 2:
        raise NotEstimable(
            f"{subject} fewer than 2 respondents; expected at least 2, to say how sure we are."
        )


def _check_designs(designs: Sequence[Design]) -> None:
    first = designs[0]
    for design in designs:
        if not is_binary(design) or tuple(design.symbols) != tuple(first.symbols):
            raise InvalidRequest(
                "a design does not fit; expected the same two answers and two responses in each group."
            )
        if tuple(design.categories) != tuple(first.categories):
            raise InvalidRequest(
                "the groups were asked about different answers; expected the same two."
            )


def is_binary(design: object) -> bool:
    """Return whether a design has two answers and two responses."""
    return (
        isinstance(design, Design)
        and len(design.categories) == 2 == design.channel.responses
    )


def count_second(design: Design, hits: object, respondents: object) -> Tally:
    """Return a tally of two responses from the number of people who sent the second one.

    Raises:
        InvalidRequest: numbers that are no counts, or more hits than respondents.
    """
    counts = []
    for number, name in ((hits, "count"), (respondents, "number of respondents")):
        if not is_count(number):
            raise InvalidRequest(
                f"a {name} is {quoted(number)}; expected a whole number, 0 or more."
            )
        counts.append(number.__index__())
    second, n = counts
    if second > n:
        raise InvalidRequest(
            "more people sent a response than responded; expected at most as many."
        )
    return Tally(design, np.array([n - second, second]))


def is_count(number: object) -> TypeGuard[SupportsIndex]:
    """Return whether a value is a whole number, 0 or more."""
    if isinstance(number, bool) or not isinstance(number, SupportsIndex):
        return False
    return number.__index__() >= 0


def zip_groups(**columns: object) -> list[tuple[Any, ...]]:
    """Return the values of each group, from sequences by name.

    Raises:
        InvalidRequest: something is missing, or the sequences have different lengths.
    """
    names = " and ".join(columns)
    sequences = [
        column
        for column in columns.values()
        if isinstance(column, Sequence) and not isinstance(column, str)
    ]
    if len(sequences) < len(columns):
        raise InvalidRequest(
            f"expected tallies; or {names}, a number for each group."
        )
    if len(set(map(len, sequences))) != 1:
        raise InvalidRequest(
            f"{names} have different lengths; expected a number for each group."
        )
    return list(zip(*sequences, strict=True))
