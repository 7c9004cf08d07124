"""Shares of each category, with all that is needed to say how sure we are."""

from __future__ import annotations

import json
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self

import numpy as np

from deniable import documents
from deniable.designs import AnyDesign, Design
from deniable.errors import (
    ImplausibleResponses,
    InvalidRequest,
    NotEstimable,
    UnreadableFile,
    quoted,
    require_choice,
)
from deniable.estimates import simplex
from deniable.estimates.backing import support_rates
from deniable.estimates.confidence_sequences import (
    fixed_level,
    mean_bounds,
    share_bounds,
)
from deniable.estimates.covariances import Covariance, Matrix, Vector, vector
from deniable.estimates.diagnostics import few, implausible
from deniable.estimates.intervals import METHODS as INTERVALS
from deniable.estimates.intervals import (
    Basis,
    Interval,
    WeightedSum,
    default,
    finite_population_factor,
    wilson,
)
from deniable.estimates.inverses import left_inverse
from deniable.estimates.likelihood import Convergence
from deniable.estimates.linear import Linear
from deniable.estimates.results import (
    Bounds,
    Caution,
    Columns,
    Description,
    IntervalMethod,
    IntervalRequest,
    Result,
    Row,
    read_type,
    refuse_always,
)
from deniable.estimates.rows import SentSets
from deniable.estimates.sensitivity import (
    SHARES,
    Sensitivity,
    sensitivity,
)
from deniable.estimates.summary import PrivacyCost, describe_tally, privacy_cost
from deniable.estimates.supported import customary
from deniable.tallies import Tally
from deniable.tallies.responses import Responses

MAX_SCORES = 1 << 14
"""Scores of responses from which exact always-valid intervals of sums are searched: a second's work."""

_LEAST_VARIANCE = 1e-30  # of scores that are all alike, as of the sum of all shares


@dataclass(frozen=True, slots=True)
class ShareRow(Row):
    """The share of one category.

    Attributes:
        direct_low: the lower end that a direct question would have had at the same number of respondents.
        direct_high: its upper end.
        effective: how many direct answers would give an interval as narrow.
    """

    COLUMNS: ClassVar[Columns] = (
        *Row.COLUMNS,
        ("direct_low", "direct_high"),
        ("effective",),
    )
    SHARES: ClassVar[tuple[str, ...]] = (*Row.SHARES, "direct_low", "direct_high")
    OF_CATEGORIES: ClassVar[bool] = True
    BESIDE: ClassVar[tuple[str, ...]] = (
        "direct_low",
        "direct_high",
        "had everybody been asked directly",
    )

    direct_low: float
    direct_high: float
    effective: float


class CountEvidence(ABC):
    """The responses behind shares: what they say about covariance, intervals and the words of a summary."""

    type: ClassVar[str]
    """The name in JSON of an estimate from such responses."""

    dependent: ClassVar[str] = ""
    """What depends on other respondents' responses; empty where these are independent."""

    if TYPE_CHECKING:  # fields of some classes, properties of others

        @property
        def covariance(self) -> Covariance:
            """The covariance of the shares."""

        @property
        def population(self) -> int | None:
            """The number of people, if the respondents are not a sample of very many."""

        @property
        def design(self) -> AnyDesign | None:
            """The design of all responses, if there is one."""

        @property
        def categories(self) -> Sequence[str]:
            """The names of the shares."""

        @property
        def respondents(self) -> int:
            """The number of responses."""

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "type" in vars(cls):
            read_type(cls.type, Estimate)(cls._read_with_steps)

    @classmethod
    @abstractmethod
    def read(cls, source: Mapping[str, Any], design: Any) -> Estimate[Self]:
        """Construct the estimate from its source in JSON."""

    @classmethod
    def _read_with_steps(
        cls, source: Mapping[str, Any], design: object
    ) -> Estimate[Self]:
        """Construct the estimate, then bring it into the simplex as its method says."""
        method, *steps = str(source.get("method", "")).split(", ")
        estimate = cls.read({**source, "method": method}, design)
        for step in steps:
            if step not in ("projection", "normalization"):
                raise UnreadableFile(
                    f"the method has a step {quoted(step)}; expected projection or normalization."
                )
            is_projection = step == "projection"
            estimate = (
                estimate.projected() if is_projection else estimate.normalized()
            )
        return estimate

    @abstractmethod
    def source(self, estimate: Estimate[Self]) -> dict[str, Any]:
        """Return the contents of the estimate for JSON."""

    @property
    def df(self) -> float:
        """The degrees of freedom of the variance: of a simple random sample."""
        return max(self.respondents - 1, 1)

    @property
    def variances(self) -> Vector:
        """The variance of each share, never negative."""
        return np.maximum(self.covariance.variances, 0.0)

    def variance(self, combination: Vector) -> float:
        """Return the variance of a linear combination of the shares, never negative."""
        return max(self.covariance.between(combination, combination), 0.0)

    def possible(self) -> Covariance:
        """Return the covariance from which intervals of contrasts are recovered."""
        return self.covariance

    @abstractmethod
    def intervals(self, estimate: Estimate[Self]) -> Mapping[str, IntervalMethod]:
        """Return the interval methods by name."""

    @abstractmethod
    def default_interval(self, method: str) -> str:
        """Return the name of the default interval method, for the method of estimation."""

    def always_bounds(self, request: IntervalRequest) -> Bounds | None:  # noqa: ARG002 - some evidence has them
        """Return exact always-valid bounds of the shares; None where only approximate ones are known."""
        return None

    def always_sums(
        self,
        weights: Matrix,  # noqa: ARG002 - some evidence has them
        request: IntervalRequest,  # noqa: ARG002
    ) -> Bounds | None:
        """Return exact always-valid bounds of weighted sums of the shares, a row of weights each; None likewise."""
        return None

    def contrast_bounds(
        self,
        estimate: Estimate[Self],  # noqa: ARG002 - some evidence widens the interval by it
        combination: Vector,  # noqa: ARG002
        level: float,  # noqa: ARG002
        recovered: Interval,
    ) -> Interval:
        """Return the interval of a contrast, given the one recovered from the shares' intervals."""
        return recovered

    def weighted_sum(self, weights: Vector, added: float = 0.0) -> WeightedSum:  # noqa: ARG002 - of designs for numbers
        """Return a weighted sum of the shares, with what its interval is computed from.

        Args:
            weights: of the shares.
            added: a variance that is added to that of the shares.

        Raises:
            InvalidRequest: responses that levels of numbers do not have.
        """
        raise InvalidRequest(
            f"these shares are those of {self.type}; expected shares of the levels of a range."
        )

    @property
    def direct_fraction(self) -> float:
        """The factor f of the sampling variance, with which a direct question is compared."""
        return 1.0

    def single_variances(self, value: Vector, shares: Vector) -> Vector:  # noqa: ARG002 - by default those estimated
        """Return the variance of one response about each share, if these were true, the estimate in this value."""
        return self.respondents * self.variances

    @abstractmethod
    def warnings(self, estimate: Estimate[Self]) -> tuple[Caution, ...]:
        """Return what calls for care about the responses."""

    @abstractmethod
    def describe(
        self, estimate: Estimate[Self], request: IntervalRequest
    ) -> Description:
        """Return the title, the counts and the notes of the summary; the cost of privacy is added to the notes."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Evidence_co = TypeVar(
        "Evidence_co", bound=CountEvidence, covariant=True, default="TallyEvidence"
    )
else:
    from typing import TypeVar

    Evidence_co = TypeVar("Evidence_co", bound=CountEvidence, covariant=True)


@dataclass(frozen=True, eq=False)
class Estimate(Result[ShareRow], Generic[Evidence_co]):
    """Shares of each category, with all that is needed to say how sure we are.

    Attributes:
        method: "inversion", "likelihood", and what was done after it; of several stages or devices also "information",
            "linear" and "strata".
        value: the shares in the order of the categories; unbiased for "inversion", so it may leave [0, 1].
        evidence: the responses it was made from.
        guess: the shares at which the design was inverted, or weights are best, if they were given.
        inverse: the left inverse, if it was given.
        convergence: how the maximum of the likelihood was found.
        doubts: what looks wrong about the responses.
        bounded: whether the value was brought into the simplex; then intervals are cut to [0, 1] too.
        unprojected: the value before it was projected or normalized; None where it was not.
    """

    method: str
    value: Vector
    evidence: Evidence_co = field(repr=False)
    guess: Vector | None = None
    inverse: Matrix | None = None
    convergence: Convergence | None = None
    doubts: tuple[Caution, ...] = ()
    bounded: bool = False
    unprojected: Vector | None = None

    def __post_init__(self) -> None:
        value = np.array(self.value, np.float64)
        value.flags.writeable = False
        object.__setattr__(self, "value", value)

    @property
    def type(self) -> str:  # type: ignore[override]  # one class has several types
        """The type's name in JSON."""
        return self.evidence.type

    @cached_property
    def warnings(self) -> tuple[Caution, ...]:
        """What looks wrong about the responses, and what they cannot tell."""
        unfinished = self.convergence is not None and not self.convergence.converged
        more = (Caution("unfinished", str(self.convergence)),) if unfinished else ()
        return (*self.doubts, *self.evidence.warnings(self), *more)

    @property
    def tally(self: Estimate) -> Tally:
        """The counts it was made from.

        Raises:
            InvalidRequest: it was made from several tallies, or from cards.
        """
        if self.type != TallyEvidence.type:
            raise InvalidRequest(
                "this estimate was not made from one tally; expected the estimate of one design for categories."
            )
        return self.evidence.tally

    @property
    def basis(self: Estimate) -> Basis:
        """What intervals are computed from."""
        return self.evidence.basis

    @property
    def design(self: Estimate) -> Design:
        """The design the responses were drawn with."""
        return self.evidence.design

    @property
    def population(self) -> int | None:
        """The number of people, if the respondents are not a sample of very many."""
        return self.evidence.population

    @property
    def respondents(self) -> int:
        """How many responses were counted."""
        return self.evidence.respondents

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.evidence.categories, self.value.tolist(), strict=True))

    @cached_property
    def errors(self) -> Vector:
        """The standard error of each share, in the order of the categories."""
        return np.sqrt(self.evidence.variances)

    @property
    def bse(self) -> dict[str, float]:
        return dict(zip(self.evidence.categories, self.errors.tolist(), strict=True))

    def cov_params(self) -> Matrix:
        """Return the covariance matrix of the estimate; of the unbiased one, where a step followed.

        It is estimated without bias, so that with few respondents or in a census a variance in it may be negative.
        Errors and contrasts then take the variance that belongs to the nearest shares in the simplex.
        """
        return self.evidence.covariance.matrix()

    @property
    def df(self) -> float:
        """The degrees of freedom of the variances."""
        return self.evidence.df

    def variance(self, combination: Vector) -> float:
        """Return the variance of a linear combination of the shares, never a negative one."""
        return self.evidence.variance(combination)

    def sum_interval(
        self, weights: Vector, confidence: float, added: float = 0.0
    ) -> Interval:
        """Return the wide interval of a weighted sum of the shares, to whose variance something is added."""
        return self.evidence.weighted_sum(weights, added).wide(confidence)

    @cached_property
    def default_interval(self) -> str:
        """The interval method that is used when none is named."""
        return self.evidence.default_interval(self.method)

    @property
    def _default_interval(self) -> str:
        return self.default_interval

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        methods = self.evidence.intervals(self)
        if not self.bounded:
            return methods
        return {
            name: partial(self._bounded_bounds, method)
            for name, method in methods.items()
        }

    def _bounded_bounds(self, method: IntervalMethod, level: float) -> Bounds:
        """Return intervals cut to [0, 1], around the value."""
        low, high = method(level)
        return np.clip(low, 0.0, self.value), np.clip(high, self.value, 1.0)

    def _n_intervals(self) -> int:
        # The shares of two categories move together: one interval holds exactly when the other does.
        return len(self.value) if len(self.value) > 2 else 1

    def _variance(self, combination: Vector) -> float:
        return self.evidence.variance(combination)

    def _contrast_covariance(self) -> Covariance:
        return self.evidence.possible()

    def _contrast_bounds(
        self, combination: Vector, request: IntervalRequest
    ) -> Interval:
        if request.always and np.count_nonzero(combination) > 1:
            self._check_always()
            exact = self.evidence.always_sums(combination[None, :], request)
            if exact is not None:
                value, (low, high) = float(combination @ self.value), exact
                return Interval(
                    min(float(low[0]), value), max(float(high[0]), value)
                )
        interval, level = (
            super()._contrast_bounds(combination, request),
            request.level,
        )
        if request.always:
            level = fixed_level(self.respondents, level, request.tuning).level
        return self.evidence.contrast_bounds(self, combination, level, interval)

    def _contrast_ends(self, request: IntervalRequest) -> Bounds:
        if request.always:
            return self._open_bounds(request)
        return super()._contrast_ends(request)

    def _open_bounds(self, request: IntervalRequest) -> Bounds:
        """Return always-valid bounds that may leave [0, 1]: exact ones where these are known and no method is named."""
        self._check_always()
        exact = self.evidence.always_bounds(request) if not request.method else None
        return exact or self._widen(partial(self._bounds, request.method), request)

    def _check_always(self) -> None:
        super()._check_always()
        if self.evidence.dependent:
            raise refuse_always(self.evidence.dependent)

    def _always_bounds(self, request: IntervalRequest) -> Bounds:
        """Return always-valid bounds within [0, 1]."""
        low, high = (np.clip(ends, 0.0, 1.0) for ends in self._open_bounds(request))
        if not self.bounded:
            return low, high
        return np.minimum(low, self.value), np.maximum(high, self.value)

    def projected(self) -> Self:
        """Return the nearest shares in the simplex. They are biased; the covariance stays that of the unbiased ones."""
        return self._with_bounded_shares(
            simplex.projection(self.value), "projection"
        )

    @property
    def total_squared_error(self) -> float:
        """The expected sum of the squared errors of all shares, as the responses tell it.

        Of unbiased shares it is the sum of their variances. Of projected ones it is that of `plan.total_error` at
        shares about as unequal as the true ones: for twenty categories or more mostly 8% too small to 25% too large.

        Raises:
            NotEstimable: the shares were normalized.
        """
        variances = self.evidence.variances
        if self.unprojected is None:
            return float(variances.sum())
        if "normalization" in self.method:
            raise NotEstimable(
                "the method is normalization; expected projection or none: nothing is known of the error of others.",
                "Use projected().",
            )
        shares = simplex.plausible_shares(self.unprojected, variances)
        return simplex.projected_error(shares, variances)

    def normalized(self) -> Self:
        """Return the shares with what is negative set to 0 and the rest scaled. Biased, as `projected`."""
        return self._with_bounded_shares(
            simplex.normalization(self.value), "normalization"
        )

    def _with_bounded_shares(self, value: Vector, step: str) -> Self:
        before = self.value if self.unprojected is None else self.unprojected
        return replace(
            self,
            value=value,
            method=f"{self.method}, {step}",
            bounded=True,
            unprojected=before,
        )

    def sensitivity(
        self: Estimate,
        kind: str | None = None,
        *,
        category: str | None = None,
        symbol: str | None = None,
        shares: Sequence[float] = SHARES,
        level: float = 0.95,
    ) -> Sensitivity:
        """Return what a share would be if some people did not follow the device, as a curve over how many.

        Implements: with a share c of people whose responses count for r in the unbiased share, the others have
        (π̂ − c·r)/(1 − c); if a share c of members alone send the response that speaks against it, everybody has
        π̂/(1 − c + c·r). The share of people with whom it reaches 0 or 1 is where the estimate breaks down.

        Args:
            kind: what these people do: "always_no", "always_yes", "carriers_no" or "random"; all, if it is not given.
            category: whose share; that of the last category, if it is not given.
            symbol: instead of a kind, the response that they always send.
            shares: how many of them there may be.
            level: of the intervals.

        Raises:
            InvalidRequest: a kind that does not exist, or shares outside of [0, 1).

        Example:
            >>> from deniable.designs import forced_response
            >>> found = estimate(Tally(forced_response("2/3", "1/6", "1/6"), [230, 70])).sensitivity(shares=[0.1])
            >>> [(each.kind, round(each.points[0].estimate, 4)) for each in found.curves]
            [('always_no', 0.1389), ('always_yes', -0.0278), ('carriers_no', 0.1143), ('random', 0.0556)]
        """
        return sensitivity(
            self, kind, category=category, symbol=symbol, shares=shares, level=level
        )

    @cached_property
    def _privacy_cost(self) -> PrivacyCost:
        variances = partial(self.evidence.single_variances, self.value)
        return privacy_cost(self.respondents, self.value, self.errors, variances)

    _row_type = ShareRow

    def _row_columns(
        self, request: IntervalRequest
    ) -> Mapping[str, Sequence[float]]:
        # Around the estimated share itself: one that was projected can lie far from the unprojected one.
        shares, n = np.clip(self.value, 0.0, 1.0), self.respondents
        if request.always:
            low, high = share_bounds(shares * n, n, request.level, request.tuning)
        else:
            f = self.evidence.direct_fraction
            low, high = wilson(shares, 1.0, 0.0, n, f, request.level)
        return {
            "direct_low": low.tolist(),
            "direct_high": high.tolist(),
            "effective": self._privacy_cost.sizes.tolist(),
        }

    def _describe(self, request: IntervalRequest) -> Description:
        description = self.evidence.describe(self, request)
        notes = (str(self._privacy_cost), *description.notes, *self._projection_note)
        return replace(description, notes=notes)

    @property
    def _projection_note(self) -> tuple[str, ...]:
        """How large the error of projected shares is; nothing of others."""
        if self.unprojected is None or "normalization" in self.method:
            return ()
        return (
            "Projected shares are biased, but all together nearer to the truth: their total squared error is about "
            f"{self.total_squared_error:.3g}, that of the unbiased shares {self.evidence.variances.sum():.3g}. The "
            "errors and intervals of single shares are those of the unbiased estimate.",
        )

    @property
    def _design_hash(self) -> str:
        return "" if self.evidence.design is None else self.evidence.design.hash

    def _source(self) -> dict[str, Any]:
        return self.evidence.source(self)


@dataclass(frozen=True, eq=False)
class TallyEvidence(CountEvidence):
    """A tally of the responses to one design for categories.

    Attributes:
        tally: the counts.
        basis: what intervals are computed from.
    """

    type: ClassVar = "shares"

    tally: Tally
    basis: Basis

    @property
    def covariance(self) -> Covariance:
        """The covariance of the shares."""
        return self.basis.covariance

    @property
    def population(self) -> int | None:
        """The number of people, if the respondents are not a sample of very many."""
        return self.basis.population

    @property
    def design(self) -> Design:
        """The design of all responses."""
        return self.tally.design

    @property
    def categories(self) -> Sequence[str]:
        """The names of the shares."""
        return self.tally.design.categories

    @property
    def respondents(self) -> int:
        """The number of responses."""
        return self.tally.respondents

    @property
    def variances(self) -> Vector:
        return self.basis.variances

    def variance(self, combination: Vector) -> float:
        return self.basis.variance(combination)

    def possible(self) -> Covariance:
        return self.basis.possible()

    def weighted_sum(self, weights: Vector, added: float = 0.0) -> WeightedSum:
        return self.basis.weighted_sum(weights, added)

    def intervals(self, estimate: Estimate) -> Mapping[str, IntervalMethod]:  # noqa: ARG002 - they are those of counts
        return {
            name: partial(method, self.basis) for name, method in INTERVALS.items()
        }

    def always_bounds(self, request: IntervalRequest) -> Bounds | None:
        """Return exact bounds: from how many responses support each category, else from all cells of the tally."""
        counted = support_rates(self.basis.channel)
        if counted is None or not counted.is_binomial:
            return self.always_sums(np.eye(len(self.categories)), request)
        hits = np.rint(counted.gather(self.basis.counts))
        return counted.shares(
            *share_bounds(hits, self.respondents, request.level, request.tuning)
        )

    def always_sums(
        self, weights: Matrix, request: IntervalRequest
    ) -> Bounds | None:
        """Return exact bounds of weighted sums; None where cells are no responses, or there are too many."""
        cells = len(self.basis.counts)
        if not self.basis.channel.own_cells or len(weights) * cells > MAX_SCORES:
            return None
        scores, spread = self.response_scores(weights)
        counts, level, planned = self.basis.counts, request.level, request.tuning
        return mean_bounds(scores, counts, spread, level, planned)

    def response_scores(self, weights: Matrix) -> tuple[Matrix, Vector]:
        """Return what each response counts for in weighted sums, and its standard deviation at even shares."""
        linear, cells = self.basis.linear, len(self.basis.counts)
        inverse = np.column_stack(list(map(linear.shares, np.eye(cells))))
        scores, categories = weights @ inverse, weights.shape[1]
        even = linear.expected(np.full(categories, 1 / categories))
        variances = scores**2 @ even - (scores @ even) ** 2
        return scores, np.sqrt(np.maximum(variances, _LEAST_VARIANCE))

    def default_interval(self, method: str) -> str:
        return default(
            self.basis, "profile" if method.startswith("likelihood") else "score"
        )

    @property
    def direct_fraction(self) -> float:
        return self.basis.f

    def single_variances(self, value: Vector, shares: Vector) -> Vector:
        """Return the variances of independent respondents, others in the proportions in which they are estimated.

        Why: a census, where a direct question would leave no doubt at all, so has the same cost for each response.
        """
        spread = self.basis.spread
        if not np.array_equal(value, self.basis.unbiased):
            spread = self.basis.linear.spread(simplex.projection(value))
        own, others = spread
        return shares * (1 - shares) + own * shares + others * (1 - shares) - shares

    def warnings(self, estimate: Estimate) -> tuple[Caution, ...]:
        is_exact = estimate.default_interval == "exact"
        return few(self.design, self.basis, is_exact=is_exact)

    def describe(self, estimate: Estimate, request: IntervalRequest) -> Description:
        return describe_tally(self, estimate, estimate.warnings, request)

    def source(self, estimate: Estimate) -> dict[str, Any]:
        return {
            "tally": json.loads(self.tally.to_json()),
            "method": estimate.method,
            "population": self.population,
            "guess": None if estimate.guess is None else estimate.guess.tolist(),
            "inverse": None
            if estimate.inverse is None
            else estimate.inverse.tolist(),
            "sent": None if self.basis.sent is None else self.basis.sent.to_body(),
        }

    @classmethod
    def read(cls, source: Mapping[str, Any], design: Design) -> Estimate:
        """Estimate again from the tally and the choices in JSON."""
        counts = Tally.from_json(
            json.dumps(documents.field(source, "tally", dict)), design
        )
        return fitted(  # warnings were issued when it was made
            counts,
            method=documents.field(source, "method", str),
            population=source.get("population"),
            guess=source.get("guess"),
            inverse=source.get("inverse"),
            sent=_read_sets(design, source),
        )


METHODS = ("inversion", "likelihood", "customary")


def estimate(
    tally: Tally,
    *,
    method: str = "inversion",
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
    sent: Responses[Design] | None = None,
) -> Estimate:
    """Estimate the share of each category from a tally.

    Args:
        tally: the counts.
        method: "inversion" for the linear unbiased estimate, "likelihood" for the most likely shares in the simplex,
            "customary" for the unbiased estimate that is usual with RAPPOR, whose variance is larger.
        population: how many people there are altogether: the number of respondents for a census, more for a sample
            without replacement, nothing for independent respondents.
        guess: shares at which a design with more responses than answers is inverted with the smallest variance.
        inverse: a left inverse of your own, answers × responses.
        sent: the responses that were counted, for the likelihood of sets that a tally keeps sums of.

    Raises:
        NotEstimable: too few responses, or a channel that cannot tell answers apart.
        InvalidRequest: a method, population or guess that does not fit.

    Example:
        >>> from deniable.designs import warner
        >>> design = warner(p="3/4")
        >>> round(estimate(Tally(design, [40, 60])).params["yes"], 3)
        0.7
    """
    sets = None if sent is None else _sent_sets(tally, method, sent)
    made = fitted(
        tally,
        method=method,
        population=population,
        guess=guess,
        inverse=inverse,
        sent=sets,
    )
    for doubt in made.doubts:
        warnings.warn(doubt.text, ImplausibleResponses, stacklevel=2)
    return made


def fitted(
    tally: Tally,
    *,
    method: str = "inversion",
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
    sent: SentSets | None = None,
) -> Estimate:
    """Estimate as `estimate` does, and keep warnings about the responses in the estimate's `warnings`."""
    require_choice("the method is", method, METHODS)
    n = tally.respondents
    f = sampled_fraction(n, population)
    if n - f <= 0:
        raise NotEstimable(
            f"there are {n} responses; expected at least 2, to say how sure an estimate is."
        )
    at = None if guess is None else read_shares(tally.design, guess, name="guess")
    linear = _linear(tally.design, method, at, inverse)
    _check_possible(tally, linear)
    basis = _inversion_basis(tally, linear, f, n, population, sent)
    doubts = implausible(tally.design, basis)
    basis, convergence = (
        _likelihood(basis) if method == "likelihood" else (basis, None)
    )
    return Estimate(
        method,
        basis.center,
        TallyEvidence(tally, basis),
        guess=at,
        inverse=None if inverse is None else vector(inverse),
        convergence=convergence,
        doubts=doubts,
        bounded=method == "likelihood",
    )


def _inversion_basis(
    tally: Tally,
    linear: Linear,
    f: float,
    n: int,
    population: int | None,
    sent: SentSets | None,
) -> Basis:
    """Invert the counts, and gather what intervals and diagnostics are made from."""
    observed = tally.counts / n
    unbiased = linear.shares(observed)
    covariance = linear.covariance(observed, unbiased, f, n - f)
    return Basis(
        unbiased,
        covariance,
        unbiased,
        np.asarray(tally.counts, np.float64),
        tally.design.channel,
        linear,
        n,
        population,
        sent,
    )


def covariance(
    design: Design,
    shares: Mapping[str, float] | Sequence[float],
    respondents: int,
    *,
    population: int | None = None,
    guess: Mapping[str, float] | Sequence[float] | None = None,
    inverse: Sequence[Sequence[float]] | Matrix | None = None,
    method: str = "inversion",
) -> Matrix:
    """Return the covariance that the unbiased estimate will have if these are the true shares.

    Implements: F6 under its three models, told apart by `population` as in `estimate`; `method` is "inversion" or
    "customary".
    """
    at = None if guess is None else read_shares(design, guess, name="guess")
    linear = _linear(design, method, at, inverse)
    true = read_shares(design, shares)
    f = sampled_fraction(respondents, population)
    return linear.covariance(linear.expected(true), true, f, respondents).matrix()


def _linear(
    design: Design,
    method: str,
    guess: Vector | None,
    inverse: Sequence[Sequence[float]] | Matrix | None,
) -> Linear:
    given = None if inverse is None else _floats(inverse, "left inverse")
    if method != "customary":
        return left_inverse(design.channel, guess=guess, inverse=given)
    if guess is not None or given is not None:
        raise InvalidRequest(
            "the customary estimate is what it is; expected no guess and no inverse with it."
        )
    return customary(design.channel)


def sampled_fraction(respondents: int, population: int | None) -> float:
    """Return f of F6: 1 for independent respondents, (N − n)/(N − 1) for n of N people.

    Raises:
        InvalidRequest: a population smaller than the respondents, or none at all.
    """
    if isinstance(respondents, bool) or not isinstance(
        respondents, int | np.integer
    ):
        raise InvalidRequest(
            f"the number of respondents is {quoted(respondents)}; expected a whole number."
        )
    if respondents < 1:
        raise NotEstimable("there are no responses; expected at least 2.")
    whole = isinstance(population, int) and not isinstance(population, bool)
    if population is not None and not (whole and population >= respondents):
        raise InvalidRequest(
            f"the population is {quoted(population)}; expected a whole number of at least the {respondents} "
            "respondents."
        )
    return (
        1.0
        if population is None
        else finite_population_factor(respondents, population)
    )


def read_shares(
    design: Design,
    given: Mapping[str, float] | Sequence[float],
    *,
    name: str = "shares",
) -> Vector:
    """Read shares by name or in order; they must be 0 or more and sum to 1.

    Raises:
        InvalidRequest: anything else.
    """
    if isinstance(given, Mapping):
        values = np.zeros(len(design.categories))
        values[[design.category_number(category) for category in given]] = _floats(
            list(given.values()), name
        )
    else:
        values = _floats(given, name)
    size = len(design.categories)
    fits = values.shape == (size,) and bool(((values >= 0) & (values < 2)).all())
    if not fits or not math.isclose(values.sum(), 1, abs_tol=1e-6):
        raise InvalidRequest(
            f"the numbers of {name} do not fit; expected {size} shares of 0 or more that sum to 1."
        )
    return vector(values / values.sum())


def _floats(given: object, name: str) -> Vector:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InvalidRequest(
            f"not everything in the {name} is a number; expected numbers alone."
        ) from None


def _sent_sets(
    tally: Tally, method: str, sent: Responses[Design]
) -> SentSets | None:
    """Return the sets that were sent, where the likelihood needs them; the tally has what all else needs."""
    sent.check(tally.design)
    channel = tally.design.channel.set_valued
    if channel is None or method != "likelihood" or channel.own_cells:
        return None
    rows = sent.present()["response"]
    if not np.array_equal(channel.coding.count(rows), tally.counts):
        raise InvalidRequest(
            "the responses are not those that were counted; expected the same."
        )
    return SentSets.of(channel, rows)


def _read_sets(design: Design, body: Mapping[str, Any]) -> SentSets | None:
    given = body.get("sent")
    if given is None:
        return None
    channel = design.channel.set_valued
    if not isinstance(given, Mapping) or channel is None:
        raise UnreadableFile(
            "the sets that were sent are not those of this design; expected none."
        )
    return SentSets.from_body(given, channel)


def _likelihood(basis: Basis) -> tuple[Basis, Convergence]:
    """Return a basis about the most likely shares.

    The covariance is that of the locally best unbiased estimate there: near the border of the simplex the likelihood's
    own curvature would claim too much.
    """
    shares, convergence = basis.likely()
    if basis.sent is not None:
        return replace(
            basis, center=shares, covariance=basis.sent.covariance(shares)
        ), convergence
    best = left_inverse(basis.channel, guess=shares)
    covariance = best.covariance(
        best.expected(shares), shares, basis.f, basis.respondents
    )
    return replace(basis, center=shares, covariance=covariance), convergence


def _check_possible(tally: Tally, linear: Linear) -> None:
    size = len(tally.design.categories)
    never = linear.expected(np.full(size, 1 / size)) <= 0
    if (tally.counts[never] > 0).any():
        number = int(np.flatnonzero(never & (tally.counts > 0))[0])
        raise NotEstimable(
            f"{quoted(tally.design.symbols[number])} was counted, but this design never sends it.",
            "The responses belong to another design, or were coded in another order.",
        )
