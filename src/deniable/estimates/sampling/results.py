"""Shares, means, ratios and totals of the people that a sample stands for."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from deniable import documents
from deniable.designs import AnyDesign, Design
from deniable.errors import InvalidRequest, NotEstimable, UnreadableFile, quoted
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.diagnostics import IMPLAUSIBLE
from deniable.estimates.differences import (
    ALIKE,
    Compared,
    Groups,
    nameless,
    weigh_names,
)
from deniable.estimates.intervals import (
    Interval,
    WeightedSum,
    bonferroni_level,
    likely_means,
    response_scores,
    sum_variance,
)
from deniable.estimates.inverses import left_inverse
from deniable.estimates.results import (
    Bounds,
    Caution,
    Columns,
    Description,
    IntervalRequest,
    Result,
    Row,
    construct_result,
    join_bounds,
    number_ranges,
    unknown_method,
    value_range,
    words_of,
)
from deniable.estimates.sampling.intervals import (
    METHODS,
    SampledBasis,
    are_ratios,
    default_bounds,
    defaults,
    widen_sampled,
)
from deniable.estimates.sampling.people import effective_size
from deniable.estimates.sensitivity import (
    SHARES,
    ReadWith,
    Sensitivity,
    Share,
    breakdown_sentence,
    curves,
)
from deniable.estimates.simplex import projection
from deniable.estimates.summary import below_zero, rests_on
from deniable.estimates.testing import HypothesisTest, wald_test
from deniable.rendering import formats
from deniable.rendering.statements import SHARE, Range, state

_UNKNOWN = "a number could not be estimated in every group; expected the name of one that was."
MIN_DF = 8
"""Degrees of freedom below which a standard error is itself a rough guess, off by a quarter or more."""

NOISE = 2.0
"""Standard errors within which the number of those who have an item says nothing about their mean."""

_USUAL = 0.95
"""The level at which a result calls for care."""

# standard errors below 0 that chance reaches once in a hundred samples
_BELOW = -2.3263


@dataclass(frozen=True, slots=True)
class SampledRow(Row):
    """A number of the people that a sample stands for.

    Attributes:
        design_effect: its variance, over that of as many people drawn one by one and with even weights.
        device: the share of its variance that is the device's.
    """

    COLUMNS: ClassVar[Columns] = (*Row.COLUMNS, ("design_effect",), ("device",))
    WHOLE: ClassVar[str] = "the population"
    OF_CATEGORIES: ClassVar[bool] = True

    design_effect: float
    device: float


@dataclass(frozen=True, eq=False)
class SampledEstimate(Groups[SampledRow]):
    """Shares, means, ratios or totals of the people that a sample stands for.

    Attributes:
        design: what the responses were drawn with; the designs of several devices; None where responses were scrambled
            elsewhere.
        asked: what that is called.
        epsilon: its ε; infinite where nothing is known about it.
        quantity: "share", "mean", "ratio" or "total".
        names: what is told: categories, or groups and categories.
        value: the numbers; unbiased (but for what a ratio adds), so that a share may leave [0, 1].
        covariance: theirs.
        device: the variance of each that is the device's.
        simple: the variance that each would have with as many people drawn one by one and with even weights.
        people: how many responses each is made from.
        degrees: degrees of freedom of each.
        scale: what a share is multiplied with to be the number: the people there are, for a total; 1 else.
        curve: how what one response says varies, if the share were π: rows of constants, slopes and squares; NaN of
            numbers that are no shares.
        low: the smaller of the two values that one response can have, NaN where it can have more; of a ratio of two
            numbers the least that it can be.
        high: the larger one.
        ratio: of a ratio R = A/B of two numbers: the variance of A − R·B over B², as a polynomial in R: rows of
            constants, slopes and squares; NaN of all others.
        method: how it was estimated, such as "Hájek, linearized".
        sample: how people were drawn, in words.
        respondents: how many responses there are.
        missing: how many sent nothing.
        ungrouped: how many responses name no group.
        events: of how many intervals each is one, where all are to hold together.
        groups: what the groups are called, where there are any; each has the same numbers, one after the other.
        totals: the totals of the same, where there are any.
        others: of items, the other quantities of each by name, such as "mean"; `about` returns them.
        evidence: where weights are even and nothing else is known of the sample, the estimate from counts, one for each
            group: then intervals are its own, also those that need whole counts.
        doubts: what the type of question warns of.
    """

    type: ClassVar = "sampled"

    design: AnyDesign | tuple[Design, ...] | None
    asked: str
    epsilon: float
    quantity: str
    names: tuple[str, ...]
    value: Vector
    covariance: Matrix = field(repr=False)
    device: Vector = field(repr=False)
    simple: Vector = field(repr=False)
    people: Vector = field(repr=False)
    degrees: Vector = field(repr=False)
    scale: Vector = field(repr=False)
    curve: Matrix = field(repr=False)
    low: Vector = field(repr=False)
    high: Vector = field(repr=False)
    ratio: Matrix = field(repr=False)
    events: Vector = field(repr=False)
    method: str
    sample: str
    respondents: int
    missing: int = 0
    ungrouped: int = 0
    groups: tuple[str, ...] = ()
    totals: SampledEstimate | None = field(default=None, repr=False)
    others: Mapping[str, SampledEstimate] = field(default_factory=dict, repr=False)
    evidence: tuple[Any, ...] = field(default=(), repr=False)
    doubts: tuple[Caution, ...] = ()

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            array = np.array(getattr(self, name), np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.names, self.value.tolist(), strict=True))

    @property
    def errors(self) -> Vector:
        """The standard error of each number, in their order."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def cov_params(self) -> Matrix:
        return self.covariance.copy()

    @property
    def total(self) -> SampledEstimate:
        """The totals: how many people there are of each category, or the sum of the numbers.

        Raises:
            InvalidRequest: of a ratio, or where weights do not say how many people there are.
        """
        if self.totals is None:
            raise InvalidRequest(
                f"there is no total beside this {self.quantity}; expected shares or means of rows with weights."
            )
        return self.totals

    @property
    def design_effect(self) -> dict[str, float]:
        """The variance of each, over that of as many people drawn one by one and with even weights."""
        return self._ratios(np.diagonal(self.covariance), self.simple)

    @property
    def device_share(self) -> dict[str, float]:
        """The share of each variance that is the device's: what a direct and truthful question would not have had."""
        variances = self.errors**2
        return self._ratios(np.clip(self.device, 0.0, variances), variances)

    def _ratios(self, above: Vector, below: Vector) -> dict[str, float]:
        """Return ratios by name; NaN where what is below is not positive."""
        ratios = np.full(len(below), np.nan)
        np.divide(above, below, out=ratios, where=below > 0)
        return dict(zip(self.names, ratios.tolist(), strict=True))

    @cached_property
    def basis(self) -> SampledBasis:
        """What intervals are computed from, on the scale of shares."""
        value, errors = self.value / self.scale, self.errors / self.scale
        simple = self.simple / self.scale**2
        return SampledBasis(
            value,
            errors,
            self.degrees,
            self.people,
            simple,
            self.curve,
            self.low,
            self.high,
            self.ratio,
        )

    @property
    def _are_shares(self) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(self.curve).all(axis=0), np.bool_)

    @property
    def default_interval(self) -> str:
        """The interval method that is used when none is named; several, where some numbers are shares and some not."""
        of_counts = [estimate.summary().interval for estimate in self.evidence]
        return " and ".join(dict.fromkeys(of_counts or defaults(self.basis)))

    @property
    def _default_interval(self) -> str:
        return self.default_interval

    def _bounds(self, method: str | None, level: float) -> Bounds:
        return self._requested_bounds(IntervalRequest(level, method))

    def _requested_bounds(self, request: IntervalRequest) -> Bounds:
        """Return the bounds of the estimate from counts, where there is one; else each by the method that suits it."""
        if self.evidence and request.method not in _OF_ROWS:
            return join_bounds(self.evidence, request)
        if request.always:
            self._check_always()
        compute: Callable[[SampledBasis, float], Bounds] = default_bounds
        if request.method is not None:
            if request.method not in METHODS:
                raise unknown_method(request.method, METHODS)
            compute = METHODS[request.method]
        low, high = np.empty_like(self.value), np.empty_like(self.value)
        events = self.events if request.simultaneous else np.ones_like(self.events)
        for count in np.unique(events).tolist():
            level = bonferroni_level(int(count), request.level)
            chosen = np.asarray(events == count, np.bool_)
            basis = self.basis.picked(chosen)
            low[chosen], high[chosen] = (
                widen_sampled(basis, compute, level, request.tuning)
                if request.always
                else compute(basis, level)
            )
        return vector(low * self.scale), vector(high * self.scale)

    @property
    def df(self) -> float:
        """The degrees of freedom of the variances: the least of all numbers."""
        return float(self.degrees.min())

    def variance(self, combination: Vector) -> float:
        """Return the variance of a linear combination of the numbers, never a negative one."""
        return self._variance(combination)

    def sum_interval(
        self, weights: Vector, confidence: float, added: float = 0.0
    ) -> Interval:
        """Return the wide interval of a weighted sum of the shares of one design.

        It is that of the counts where there are some, else that of as many people drawn one by one as tell as much,
        whose responses are as expected at the estimated shares.

        Args:
            weights: of the shares.
            confidence: the level.
            added: a variance that is added to that of the shares.
        """
        if self.evidence:
            return cast(
                "Interval", self.evidence[0].sum_interval(weights, confidence, added)
            )
        channel = cast("Design", self.design).channel
        linear, n = left_inverse(channel), self.respondents
        near = projection(self.value)
        simple = sum_variance(linear, weights, near, f=1.0, n=n)
        with np.errstate(divide="ignore", invalid="ignore"):
            effect = vector([(self.variance(weights) + added) / np.float64(simple)])
        people = vector([n])
        size = effective_size(people, self.degrees[:1], effect, confidence).item()
        expected = np.maximum(linear.expected(self.value), 0.0)
        scores = response_scores(linear, weights, channel.responses)
        counts = vector(expected * (size / expected.sum()))
        return WeightedSum(
            float(weights @ self.value),
            weights,
            near,
            partial(sum_variance, linear, weights, f=1.0, n=size),
            partial(likely_means, scores, counts, weights, 1.0),
        ).wide(confidence)

    def about(self, quantity: str) -> SampledEstimate:
        """Return another quantity of each item: "frequency", "degree", "weight" or "mean", as far as they are told.

        Raises:
            InvalidRequest: a quantity that was not estimated.
        """
        if quantity == self.quantity:
            return self
        if quantity not in self.others:
            expected = ", ".join([self.quantity, *self.others])
            raise InvalidRequest(
                f"the quantity is {quoted(quantity)}; expected one of {expected}."
            )
        others = {
            name: each for name, each in self.others.items() if name != quantity
        }
        return replace(
            self.others[quantity],
            others={self.quantity: replace(self, others={}), **others},
        )

    def select(
        self, names: Sequence[str], within: Sequence[int], quantity: str
    ) -> SampledEstimate:
        """Return some of the numbers of each group, under other names.

        Args:
            names: of the numbers that are picked.
            within: which of the numbers of a group they are.
            quantity: what they are.
        """
        size = len(self.names_in_group)
        groups = self.groups or ("",)
        picked = np.concatenate(
            [number * size + np.asarray(within) for number in range(len(groups))]
        )
        joined = tuple(
            f"{group} · {name}" if group else name
            for group in groups
            for name in names
        )
        return self._take(
            picked,
            names=joined,
            quantity=quantity,
            evidence=(),
            events=np.full(len(picked), len(picked)),
        )

    def _take(self, indices: NDArray[np.intp], **changes: Any) -> SampledEstimate:
        """Return some of the numbers, with these fields changed."""
        arrays: dict[str, Any] = {
            name: getattr(self, name)[..., indices] for name in _ARRAYS
        }
        arrays["covariance"] = self.covariance[np.ix_(indices, indices)]
        return replace(self, totals=None, **{**arrays, **changes})

    def with_evidence(self, evidence: tuple[Any, ...]) -> SampledEstimate:
        """Return the same with the covariance and the intervals of estimates from counts, one for each group."""
        if not evidence:
            return self
        return replace(
            self,
            covariance=block_diag(*(each.cov_params() for each in evidence)),
            evidence=evidence,
        )

    def drawn(self, sample: str) -> SampledEstimate:
        """Return the same with other words about how people were drawn."""
        totals = None if self.totals is None else self.totals.drawn(sample)
        return replace(self, sample=sample, totals=totals)

    def of_group(self, number: int) -> SampledEstimate:
        """Return the numbers of one group alone, by their own names; of the only one, where there are no groups."""
        names = self.names_in_group
        indices = np.arange(number * len(names), (number + 1) * len(names))
        return self._take(
            indices,
            names=names,
            groups=(),
            evidence=self.evidence[number : number + 1],
            respondents=int(self.people[indices].max()),
            events=self.events[indices] / max(len(self.groups), 1),
        )

    @property
    def group_sizes(self) -> dict[str, int]:
        firsts = self.people[:: len(self.names_in_group)]
        return {group: int(n) for group, n in zip(self.groups, firsts, strict=False)}

    @property
    def names_in_group(self) -> tuple[str, ...]:
        """What is told of each group."""
        first = self.names[: len(self.names) // max(len(self.groups), 1)]
        return (
            tuple(name.removeprefix(f"{self.groups[0]} · ") for name in first)
            if self.groups
            else first
        )

    def homogeneity(self, name: str | None = None) -> HypothesisTest:
        """Test whether all groups are alike.

        Implements: Wald's test of the differences from the first group, with the covariance of the sample and an F law
        for its degrees of freedom [KG90]. Groups may share clusters.

        Args:
            name: one category, or "mean"; all shares together, or the mean, by default.

        Raises:
            InvalidRequest: fewer than two groups, or no such name.
            NotEstimable: more numbers than the clusters can tell, or one that is not known in every group.
        """
        self._check_groups()
        self._check_name(name)
        signs = np.eye(len(self.groups))[1:]
        signs[:, 0] = -1.0
        tested = self._tested_names if name is None else [name]
        weights = weigh_names(vector(signs), self.names_in_group, tested)
        differences = weights @ self.value
        covariance = weights @ self.covariance @ weights.T
        if not (np.isfinite(differences).all() and np.isfinite(covariance).all()):
            raise NotEstimable(_UNKNOWN)
        return wald_test(ALIKE, differences, covariance, int(self.df))

    @property
    def _have_all_shares(self) -> bool:
        return self.quantity == "share"

    def _comparisons(self, against: str) -> Iterator[Compared]:
        """Return the differences of pairs, with Wald's test.

        Raises:
            InvalidRequest: another comparison: all other groups together are a part of the people that was not
                estimated; it tells how to ask.
        """
        if against != "pairs":
            raise InvalidRequest(
                f"the comparison is {quoted(against)}; expected pairs of groups of a sample.",
                "For one group and the rest, ask with two groups: by=(region == 'north').",
            )
        titles = [
            f"{first} − {second} · {name}"
            for first, second in itertools.combinations(self.groups, 2)
            for name in self.compared_names
        ]
        for title, weights in zip(
            titles, self.comparison_weights(against), strict=True
        ):
            chosen = np.flatnonzero(weights)
            names = [self.names[index] for index in chosen.tolist()]
            difference = self.contrast(
                dict(zip(names, weights[chosen], strict=True))
            )
            p_value = wald_test(
                title,
                [difference.value],
                [[difference.error**2]],
                int(self.degrees[chosen].min()),
            ).p_value
            yield Compared(
                title, difference.value, difference.error, p_value, difference
            )

    def _check_groups(self) -> None:
        if len(self.groups) < 2:
            raise InvalidRequest(
                "there are no groups to be compared; expected at least two.",
                "Ask for them: dn.estimate(…, by=region).",
            )

    def sensitivity(
        self,
        kind: str | None = None,
        *,
        category: str | None = None,
        symbol: str | None = None,
        shares: Sequence[float] = SHARES,
        level: float = 0.95,
    ) -> Sensitivity:
        """Return what a share would be if some people did not follow the device, as a curve over how many.

        Implements: as `Estimate.sensitivity`, of the people that the sample stands for.

        Args:
            kind: what these people do: "always_no", "always_yes", "carriers_no" or "random"; all, if it is not given.
            category: whose share, as `params` calls it, such as "north · yes"; the last one, if it is not given.
            symbol: instead of a kind, the response that they always send.
            shares: how many of them there may be.
            level: of the intervals.

        Raises:
            InvalidRequest: numbers that are no shares, or those of a design with more responses than categories; a kind
                or category that does not exist, or shares outside of [0, 1).
        """
        if self._read is None:
            raise InvalidRequest(
                f"this {self.quantity} has no curve; expected shares of one design with a response for each category.",
                "Take the curve without weights: dn.estimate(dn.tally(responses)).sensitivity().",
            )
        name = self.names[-1] if category is None else category
        interval, index = self.interval(name, level=level), self.names.index(name)
        number = index % len(self._read.design.categories)
        share = Share(name, number, self.params[name], self.bse[name], interval)
        return curves(
            self._read, share, kind, symbol=symbol, shares=shares, level=level
        )

    @property
    def _read(self) -> ReadWith | None:
        """What shares were read with, where there is one left inverse alone: a response for each category."""
        design = self.design
        if self.quantity != "share" or not isinstance(design, Design):
            return None
        square = design.channel.own_cells and design.channel.responses == len(
            design.categories
        )
        return ReadWith(design, left_inverse(design.channel)) if square else None

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """Shares and variances far below 0, means of perhaps nobody, and too few clusters to know how they differ."""
        return (
            *self.doubts,
            *self._implausible(),
            *self._unknown_variances(),
            *nameless(self.ungrouped),
            *self._few_clusters(),
        )

    def _implausible(self) -> Iterator[Caution]:
        below = self._are_shares & (
            self.value < np.minimum(_BELOW * self.errors, 0.0)
        )
        for index in np.flatnonzero(below).tolist():
            yield Caution(
                IMPLAUSIBLE,
                f"the {self.quantity} of {quoted(self.names[index], 60)} is estimated at {self.value[index]:.3g}, more "
                "than two of its standard errors below 0: fewer responses point to it than the device alone "
                "would send. Likely causes: respondents did not follow the device, another design "
                "was used, or the responses are coded the other way round.",
            )

    def _unknown_variances(self) -> Iterator[Caution]:
        if (np.diagonal(self.covariance) < 0).any():
            text = "a variance is estimated below 0, which says nothing: go by the interval."
            yield Caution("no-variance", text)
        ratios = are_ratios(self.basis)
        is_open = ratios & np.isnan(self.low)
        yield from self._empty_groups(is_open)
        ratios &= ~is_open
        unknown = int(np.sum(~(self.ratio[2] < NOISE**-2) & ratios))
        if unknown:
            text = (
                f"the number of those who have an item is within noise of 0 for {unknown:,} of "
                f"{int(ratios.sum()):,} means: nothing is known about them."
            )
            yield Caution("within-noise", text)

    def _empty_groups(self, ratios: NDArray[np.bool_]) -> Iterator[Caution]:
        """Yield which ratios have no interval: that of their denominator reaches 0."""
        quantile = self.basis.quantile(_USUAL)
        empty = np.flatnonzero(ratios & ~(quantile**2 * self.ratio[2] < 1)).tolist()
        if empty:
            names = ", ".join(quoted(self.names[index], 60) for index in empty)
            yield Caution(
                "unbounded",
                f"{names}: the data do not show that this group exists; no {self.quantity} can be given. Its interval "
                "has no ends. Ask more people, or with a larger ε.",
            )

    def _few_clusters(self) -> Iterator[Caution]:
        df = int(self.df)
        if df < MIN_DF:
            yield Caution(
                "clusters",
                f"the variance has {df} degrees of freedom: too few clusters to know well how much they differ.",
            )

    _row_type = SampledRow

    def _row_columns(
        self,
        request: IntervalRequest,  # noqa: ARG002 - of any level
    ) -> Mapping[str, Sequence[float]]:
        return {
            "design_effect": list(self.design_effect.values()),
            "device": list(self.device_share.values()),
        }

    def _describe(self, request: IntervalRequest) -> Description:
        asked = self.asked
        if math.isfinite(self.epsilon):
            asked = f"{asked}, ε = {formats.epsilon(self.epsilon)}"
        return Description(
            title=f"{self.quantity}, {words_of(asked)}, {self.sample}, {self.method}",
            quantity=self.quantity,
            method=self.method,
            respondents=self.respondents,
            epsilon=self.epsilon,
            missing=self.missing,
            notes=self._notes(simultaneous=request.simultaneous),
            ranges=self._ranges(),
        )

    def _ranges(self) -> dict[str, Range]:
        """Return the possible values: of numbers by their design, of sums those of as many people."""
        least, most = value_range(self.design)
        if self.quantity in ("mean", "value"):
            return number_ranges((least, most))
        if not (is_share := self._are_shares.all()) and self.quantity != "weight":
            return {}
        ends = SHARE if is_share else (min(least, 0.0), max(most, 0.0))
        return {
            name: (scale * ends[0], scale * ends[1])
            for name, scale in zip(self.names, self.scale.tolist(), strict=True)
        }

    def _notes(self, *, simultaneous: bool) -> tuple[str, ...]:
        as_many = f"{self.respondents:,} people"
        if self.groups:
            as_many = "as many people of the group"
        notes = [*self._device_notes()]
        notes.append(
            f"Design effect: how many times the variance is that of {as_many} drawn one by one, with the same "
            f"device. Degrees of freedom: {self.df:.0f}."
        )
        notes += self._tested
        if self._read is not None and not self.groups:
            notes += filter(
                None, [breakdown_sentence(self._read, float(self.value[-1]))]
            )
        notes += below_zero(
            self.warnings, below=bool((self.value[self._are_shares] < 0).any())
        )
        if simultaneous:
            notes.append("The intervals hold all together with this level.")
        return (*notes, *self._vouched)

    def _device_notes(self) -> Iterator[str]:
        shares = [
            share for share in self.device_share.values() if math.isfinite(share)
        ]
        if shares:
            ends = [
                formats.fixed_percent(state(end, end, end).value, 0)
                for end in (min(shares), max(shares))
            ]
            yield (
                f"The device adds {' to '.join(dict.fromkeys(ends))} of the variance; the rest is how people, clusters "
                "and weights differ, and would be there with a direct question, too."
            )

    @property
    def comparison_notes(self) -> tuple[str, ...]:
        """What has to be known to read differences between the groups."""
        return (
            f"Degrees of freedom: {self.df:.0f}.",
            *self._tested,
            *self._vouched,
        )

    @property
    def _tested(self) -> tuple[str, ...]:
        return (
            (f"{self._alike()}.",)
            if len(self.groups) > 1 and self.quantity != "total"
            else ()
        )

    @property
    def _vouched(self) -> tuple[str, ...]:
        """Who sent nothing, and what the promise rests on."""
        silent = f"{self.missing:,} sent no response: means are of those who did, totals take the others to be alike."
        devices = self.design if isinstance(self.design, tuple) else (self.design,)
        return (*((silent,) if self.missing else ()), *rests_on(*devices))

    @property
    def _tested_names(self) -> tuple[str, ...]:
        """What groups are tested for: all shares; of numbers the mean."""
        names = self.names_in_group
        return ("mean",) if "mean" in names else names

    def _alike(self) -> str:
        try:
            return str(self.homogeneity())
        except NotEstimable as error:
            reason = "there are too few clusters"
            if error.problem == _UNKNOWN:
                reason = "a number is not known in every group"
            return f"{ALIKE}: {reason} for it"

    @property
    def _design_hash(self) -> str:
        return getattr(self.design, "hash", "")

    def _source(self) -> dict[str, Any]:
        arrays = {name: getattr(self, name).tolist() for name in _ARRAYS}
        devices = self.design if isinstance(self.design, tuple) else ()
        return {
            **{name: getattr(self, name) for name in _TOLD},
            **arrays,
            "names": list(self.names),
            "groups": list(self.groups),
            "devices": [json.loads(each.to_json()) for each in devices],
            "evidence": [
                {"type": each.type, "source": each._source()}
                for each in self.evidence
            ],
            "others": {name: each._source() for name, each in self.others.items()},
            "doubts": [asdict(doubt) for doubt in self.doubts],
            "totals": None if self.totals is None else self.totals._source(),
        }

    @classmethod
    def _remade(
        cls, source: Mapping[str, Any], design: AnyDesign | None
    ) -> SampledEstimate:
        devices = [
            Design.from_json(json.dumps(each))
            for each in documents.field(source, "devices", list)
        ]
        try:
            below = source["totals"]
            told: dict[str, Any] = {name: source[name] for name in _TOLD}
            told["epsilon"] = (
                math.inf if told["epsilon"] is None else told["epsilon"]
            )
            arrays: dict[str, Any] = {name: vector(source[name]) for name in _ARRAYS}
            made = cls(
                tuple(devices) or design,
                **told,
                **arrays,
                names=tuple(source["names"]),
                groups=tuple(source["groups"]),
                totals=None
                if below is None
                else cls._remade(documents.field(source, "totals", dict), design),
                others={
                    name: cls._remade(each, design)
                    for name, each in documents.field(source, "others", dict).items()
                },
                evidence=tuple(
                    _read_evidence(each, design)
                    for each in documents.field(source, "evidence", list)
                ),
                doubts=tuple(
                    Caution(**doubt)
                    for doubt in documents.field(source, "doubts", list)
                ),
            )
        except (KeyError, TypeError, ValueError):
            raise UnreadableFile(
                "the numbers of this estimate are not complete; expected all of them."
            ) from None
        sizes = {
            len(made.names),
            *(getattr(made, name).shape[-1] for name in _ARRAYS),
        }
        if len(sizes) != 1:
            raise UnreadableFile(
                "the numbers of this estimate do not fit each other; expected one for each name."
            )
        return made


def _read_evidence(body: Mapping[str, Any], design: object) -> Result[Any]:
    """Read the estimate from counts; `deniable.types.results` loads the classes of all types of questions."""
    name = documents.field(body, "type", str)
    return construct_result(name, documents.field(body, "source", dict), design)


_OF_ROWS = ("korn-graubard", "logit", "fieller")  # methods that counts have none of
_TOLD = (
    "asked",
    "epsilon",
    "quantity",
    "method",
    "sample",
    "respondents",
    "missing",
    "ungrouped",
)
_ARRAYS = (
    "value",
    "covariance",
    "device",
    "simple",
    "people",
    "degrees",
    "scale",
    "curve",
    "low",
    "high",
    "ratio",
    "events",
)
