"""Groups of people who were asked with one design: what is true of each, and by how much they differ."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from scipy.linalg import block_diag
from scipy.stats import chi2

from deniable import documents
from deniable.designs import Design
from deniable.errors import (
    ImplausibleResponses,
    InvalidRequest,
    NotEstimable,
    quoted,
)
from deniable.estimates.covariances import (
    Covariance,
    Full,
    Matrix,
    Vector,
    vector,
)
from deniable.estimates.differences import (
    ALIKE,
    REST,
    Compared,
    Differences,
    Groups,
    nameless,
)
from deniable.estimates.independence import (
    MAX_CELLS,
    highest,
    response_scores,
    score_test,
)
from deniable.estimates.intervals import bonferroni_level
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalRequest,
    Result,
    Row,
    Summary,
    join_bounds,
    told_method,
    words_of,
)
from deniable.estimates.sampling import estimate_tally
from deniable.estimates.shares import Estimate, TallyEvidence
from deniable.estimates.summary import rests_on
from deniable.estimates.testing import (
    HypothesisTest,
    against_chi_square,
    likelihood_ratio,
    wald_statistic,
)
from deniable.groups.tallies import GroupedTally
from deniable.rendering import formats
from deniable.tallies.columns import subject
from deniable.tallies.group_labels import Group, group_name
from deniable.types import operation
from deniable.types.surfaces import check_surface

__all__ = ["Differences", "GroupedEstimate", "estimate_groups"]

_NO_ERROR = 1e-7  # of the largest number, below which an error is rounding
_LEAST_P = 1e-12  # at whose level an interval is still computed
_P_PRECISION = 0.01  # of the logarithm of a p-value


def estimate_groups(tally: GroupedTally, **options: Any) -> GroupedEstimate:
    """Estimate each group by itself.

    Args:
        tally: the counts of each group.
        options: of the estimate of one group, such as `method`.

    Raises:
        NotEstimable: no group has enough responses.
        InvalidRequest: a type of design whose estimates do not name the same things in every group; or a population,
            which is another one in each group.
    """
    hint = "Estimate each group by itself: {group: dn.estimate(each) for group, each in tally.items()}."
    check_surface(tally.design, "groups", hint)
    for name in ("population", "inverse"):
        if name in options:
            raise InvalidRequest(
                f"{name} does not go with groups; expected it for each of them.",
                f"Estimate each group by itself: dn.estimate(tally['north'], {name}=…).",
            )
    return GroupedEstimate(
        tally, {name: _plain(option) for name, option in options.items()}
    )


def _plain(option: object) -> Any:
    """Return an option as JSON can hold it."""
    if isinstance(option, Mapping):
        return {name: float(value) for name, value in option.items()}
    if isinstance(option, str) or not np.iterable(option):
        return option
    return [float(value) for value in option]


@dataclass(frozen=True, eq=False)
class GroupedEstimate(Groups[Row]):
    """What is true of each group, whether groups differ, and by how much.

    A number is called by its group and its name, such as "north · yes".

    Attributes:
        tally: the counts it was made from.
        options: of the estimate of each group.

    Example:
        >>> import deniable as dn
        >>> design = dn.warner(p="3/4")
        >>> sent = ["yes"] * 60 + ["no"] * 40 + ["yes"] * 35 + ["no"] * 65
        >>> found = dn.estimate(dn.tally(design, sent, by=["north"] * 100 + ["south"] * 100))
        >>> {name: round(share, 2) for name, share in found.params.items()}
        {'north · no': 0.3, 'north · yes': 0.7, 'south · no': 0.8, 'south · yes': 0.2}
        >>> print(found.homogeneity())
        Test that all groups are alike: χ² = 12.47 with 1 degree of freedom, p = 0.000404
    """

    type: ClassVar = "groups"

    tally: GroupedTally
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.groups:
            raise NotEstimable(
                f"none of {len(self.tally):,} groups has the responses that an estimate takes; expected 2 in one."
            )

    @cached_property
    def groups(self) -> dict[Group, Any]:
        """The estimate of each group."""
        return {
            group: self._fitted(tally)
            for group, tally in self.tally.items()
            if group is not None and tally.respondents > 1 and self._weight(tally)
        }

    @property
    def left_out(self) -> tuple[Group, ...]:
        """Groups without an estimate: with fewer than 2 responses or no weight, and people of whom nobody said."""
        return tuple(group for group in self.tally if group not in self.groups)

    @property
    def design(self) -> Any:
        """What everybody was asked with."""
        return self.tally.design

    @property
    def respondents(self) -> int:
        """How many responses were counted, in groups that are estimated."""
        return sum(self.tally[group].respondents for group in self.groups)

    @cached_property
    def overall(self) -> Any:
        """The estimate of everybody, in whatever group."""
        return self._fitted(self.tally.overall)

    def _fitted(self, tally: Any) -> Any:
        """Estimate one tally; warnings about its responses stay in the estimate."""
        weighted = self.tally.weighted
        fit = estimate_tally if weighted else operation(self.design, "estimate")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImplausibleResponses)
            return fit(tally, **self.options)

    def _weight(self, tally: Any) -> float:
        """Return for how many people a tally stands."""
        return (
            float(sum(tally.weights)) if self.tally.weighted else tally.respondents
        )

    def __getitem__(self, group: Group) -> Any:
        if group not in self.groups:
            known = ", ".join(repr(each) for each in list(self.groups)[:5])
            raise InvalidRequest(
                f"no group {quoted(group)} was estimated; expected one such as {known:.200}."
            )
        return self.groups[group]

    @property
    def group_sizes(self) -> dict[str, int]:
        return {
            group_name(group): self.tally[group].respondents for group in self.groups
        }

    @property
    def names_in_group(self) -> tuple[str, ...]:
        """What is estimated in each group."""
        return tuple(self._first.params)

    @property
    def _first(self) -> Result[Any]:
        return next(iter(self.groups.values()))

    @property
    def params(self) -> dict[str, float]:
        return {
            f"{group_name(group)} · {name}": value
            for group, estimate in self.groups.items()
            for name, value in estimate.params.items()
        }

    @property
    def bse(self) -> dict[str, float]:
        errors = (estimate.bse.values() for estimate in self.groups.values())
        return dict(zip(self.params, itertools.chain(*errors), strict=True))

    def cov_params(self) -> Matrix:
        """Return the covariance of all numbers; groups are different people, so that nothing goes together."""
        blocks = (estimate.cov_params() for estimate in self.groups.values())
        return vector(block_diag(*blocks))

    def _contrast_covariance(self) -> Covariance:
        blocks = (
            estimate._contrast_covariance().matrix()
            for estimate in self.groups.values()
        )
        return Full(vector(block_diag(*blocks)))

    def _variance(self, combination: Vector) -> float:
        return max(float(combination @ self.cov_params() @ combination), 0.0)

    @property
    def df(self) -> float:
        return min(float(estimate.df) for estimate in self.groups.values())

    def _requested_bounds(self, request: IntervalRequest) -> Bounds:
        return join_bounds(self.groups.values(), request)

    @property
    def _independent_parts(self) -> Collection[Result[Any]]:
        return self.groups.values()

    def _bounds(self, method: str | None, level: float) -> Bounds:
        return self._requested_bounds(IntervalRequest(level, method))

    @property
    def warnings(self) -> tuple[Caution, ...]:
        cautions = [
            Caution(caution.code, f"{group_name(group)}: {caution.text}")
            for group, estimate in self.groups.items()
            for caution in estimate.warnings
        ]
        cautions += nameless(
            self.tally[None].respondents if None in self.tally else 0
        )
        few = [group_name(group) for group in self.left_out if group is not None]
        if few:
            some = ", ".join(few[:5]) + (" …" if len(few) > 5 else "")
            why = (
                "fewer than 2 responses, or no weight"
                if self.tally.weighted
                else "fewer than 2 responses"
            )
            text = f"{len(few):,} groups have {why}: {some}."
            cautions.append(Caution("left-out", text))
        return tuple(cautions)

    def _joined_names(self) -> dict[str, list[Any]]:
        pairs = [
            (group_name(group), name)
            for group, estimate in self.groups.items()
            for name in estimate.params
        ]
        groups, names = zip(*pairs, strict=True)
        return {"group": list(groups), "category": list(names)}

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
        always: bool = False,
        planned: int | None = None,
    ) -> Summary[Row]:
        request = IntervalRequest(level, method, simultaneous, always, planned)
        return self._join_summaries(
            request,
            lambda estimate, of_group: estimate.summary(**of_group._asdict()),
        )

    def _whole(self, request: IntervalRequest) -> Summary[Row]:
        return self._join_summaries(
            request, lambda estimate, of_group: estimate._whole(of_group)
        )

    def _join_summaries(
        self,
        request: IntervalRequest,
        summarize: Callable[[Any, IntervalRequest], Summary[Row]],
    ) -> Summary[Row]:
        """Join the groups' summaries: those shown, or with all rows."""
        n_groups = len(self.groups) if request.simultaneous else 1
        of_group = request._replace(level=bonferroni_level(n_groups, request.level))
        summaries = {
            group_name(group): summarize(estimate, of_group)
            for group, estimate in self.groups.items()
        }
        rows = [
            replace(row, name=f"{group} · {row.name}")
            for group, summary in summaries.items()
            for row in summary.rows
        ]
        intervals = dict.fromkeys(each.interval for each in summaries.values())
        description = vars(self._describe(request))
        return Summary(
            **{
                **description,
                "interval": " and ".join(intervals),
                "notes": (*description["notes"], *request.notes),
            },
            rows=tuple(rows),
            warnings=self.warnings,
            level=request.level,
            simultaneous=request.simultaneous,
            left_out=sum(summary.left_out for summary in summaries.values()),
        )

    def _describe(self, request: IntervalRequest) -> Description:
        groups = [each._describe(request) for each in self.groups.values()]
        epsilon = max(group.epsilon for group in groups)
        methods = dict.fromkeys(group.method for group in groups)
        told = " and ".join(map(told_method, methods))
        return Description(
            title=f"{self._counted}, {_asked(self.design)}, ε = {formats.epsilon(epsilon)}, {self.respondents:,} "
            f"respondents, by {told}",
            quantity=groups[0].quantity,
            method=" and ".join(methods),
            respondents=self.respondents,
            epsilon=epsilon,
            missing=self.tally.missing,
            notes=self.comparison_notes,
            ranges=groups[0].ranges,
        )

    @property
    def _counted(self) -> str:
        many = f"{len(self.groups):,} group{'s' if len(self.groups) > 1 else ''}"
        return f"{many} of {group_name(self.tally.by)}" if self.tally.by else many

    @property
    def comparison_notes(self) -> tuple[str, ...]:
        """What has to be known to read the groups, and the differences between them."""
        declared = getattr(self.tally.overall, "declared", None)
        notes = () if declared is None else declared.notes()
        name = None if self._have_all_shares else "mean"
        if len(self.groups) > 1 and (name is None or name in self.names_in_group):
            notes = (f"{self.homogeneity(name)}.", *notes)
        return (*notes, *rests_on(self.design))

    @property
    def _have_shares(self) -> bool:
        """Whether groups have tallies of responses to a design for categories."""
        return self._first.type == TallyEvidence.type

    @property
    def _have_all_shares(self) -> bool:
        is_share = getattr(self._first, "quantity", "") == "share"
        return self._have_shares or (self.tally.weighted and is_share)

    @property
    def _have_counts(self) -> bool:
        """Whether tests are of a table of groups by responses."""
        if not self._have_shares:
            return False
        channel = self._device.channel
        return channel.own_cells and channel.cells <= MAX_CELLS

    @property
    def _device(self) -> Design:
        """The design for categories whose shares are estimated in each group."""
        return cast("Estimate", self._first).design

    @cached_property
    def _scores(self) -> Matrix:
        return response_scores(self._device)

    def homogeneity(
        self, name: str | None = None, *, method: str = "score"
    ) -> HypothesisTest:
        """Test whether all groups are alike.

        Implements: of shares the score test of a table of groups by responses ("score"), or G² ("likelihood"): twice
        what the log-likelihood gains where each group has shares of its own [Wil38]. Of other numbers
        Σ (x_g − x̄)²/s_g² against χ², and of all shares of weighted groups the same with their covariances.

        Args:
            name: one share, or one number; all shares together by default.
            method: "score", or "likelihood" for all shares together.

        Raises:
            InvalidRequest: fewer than two groups, no such name or method, or no name where numbers are no shares.
            NotEstimable: the likelihood of a design whose tally keeps sums.
        """
        self._check_groups()
        if method not in ("score", "likelihood") or (
            method == "likelihood" and name is not None
        ):
            raise InvalidRequest(
                f"the method is {quoted(method)}; expected score, or likelihood without a name."
            )
        self._check_name(name)
        if not self._have_shares:
            return self._test_numbers(name)
        counts = np.array(
            [self.tally[group].counts for group in self.groups], np.float64
        )
        names = self.names_in_group
        if method == "likelihood":
            gained = sum(highest(self._device, row) for row in counts)
            pooled = highest(self._device, counts.sum(axis=0))
            df = (len(counts) - 1) * (len(names) - 1)
            return likelihood_ratio(ALIKE, gained - pooled, df)
        tested = list(range(len(names))) if name is None else [names.index(name)]
        if self._have_counts:
            return score_test(
                counts, np.eye(len(counts)), self._scores[:, tested], ALIKE
            )
        tallies = [self.tally[group] for group in self.groups]
        return _pooled_test(
            self._fitted(sum(tallies)),
            [(tally, self._fitted(tally)) for tally in tallies],
            tested,
        )

    def _test_numbers(self, name: str | None) -> HypothesisTest:
        if name is None and self._have_all_shares:
            return _apart_test(list(self.groups.values()))
        if name is None:
            raise InvalidRequest(
                "these numbers are no shares, and are not tested together; expected the name of one of them.",
                f"For example homogeneity({self.names_in_group[0]!r}).",
            )
        values = np.array([group.params[name] for group in self.groups.values()])
        errors = np.array([group.bse[name] for group in self.groups.values()])
        if min(errors) <= _NO_ERROR * max(*errors, *abs(values)):
            # people who sent one response all leave no error to compare with
            return against_chi_square(ALIKE, "score", 0.0, 0)
        weights = 1 / errors**2
        statistic = float(
            (weights * (values - np.average(values, weights=weights)) ** 2).sum()
        )
        test = against_chi_square(ALIKE, "score", statistic, len(values) - 1)
        if len(values) > 2:
            return test
        first, second = self.groups.values()
        difference = first.contrast({name: 1.0}) - second.contrast({name: 1.0})
        return test._replace(p_value=_agreeing_p_value(test.p_value, difference))

    def _check_groups(self) -> None:
        if len(self.groups) < 2:
            raise InvalidRequest(
                "one group has nobody to be compared with; expected at least two groups."
            )

    def _group_signs(self, against: str) -> Matrix:
        if against == "pairs":
            return super()._group_signs(against)
        return _rest_signs(
            [self._weight(self.tally[group]) for group in self.groups]
        )

    def _comparisons(self, against: str) -> Iterator[Compared]:
        if against == "pairs":
            for pair in itertools.combinations(self.groups, 2):
                sides = [(self.tally[group], self.groups[group]) for group in pair]
                yield from self._between(" − ".join(map(group_name, pair)), sides)
            return
        for group, estimate in self.groups.items():
            remaining = sum(
                self.tally[other] for other in self.groups if other != group
            )
            sides = [
                (self.tally[group], estimate),
                (remaining, self._fitted(remaining)),
            ]
            yield from self._between(f"{group_name(group)} − {REST}", sides)

    def _between(
        self, title: str, sides: Sequence[tuple[Any, Any]]
    ) -> Iterator[Compared]:
        (first_tally, first), (second_tally, second) = sides
        pooled = None
        if self._have_shares and not self._have_counts:
            pooled = self._fitted(first_tally + second_tally)
        for name in self.compared_names:
            difference = first.contrast({name: 1.0}) - second.contrast({name: 1.0})
            value = first.params[name] - second.params[name]
            error = math.hypot(first.bse[name], second.bse[name])
            number = self.names_in_group.index(name)
            if self._have_counts:
                table = np.stack([first_tally.counts, second_tally.counts])
                scores = self._scores[:, [number]]
                p_value = score_test(table, np.eye(2), scores).p_value
            elif pooled is not None:
                p_value = _pooled_test(pooled, sides, [number]).p_value
            else:
                distance = value / error if error else math.inf * abs(value)
                p_value = 1.0 if value == 0 else float(chi2.sf(distance**2, 1))
                p_value = _agreeing_p_value(p_value, difference)
            yield Compared(f"{title} · {name}", value, error, p_value, difference)

    @property
    def _design_hash(self) -> str:
        return str(self.design.hash)

    def _source(self) -> dict[str, Any]:
        return {"tally": self.tally.to_body(), "options": dict(self.options)}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Any) -> GroupedEstimate:
        tally = GroupedTally.from_body(
            documents.field(source, "tally", dict), design
        )
        return cls(tally, documents.field(source, "options", dict))


def _asked(design: Any) -> str:
    """Return what a design is called above a table."""
    if isinstance(design, Design):
        return words_of(subject(design))
    return words_of(getattr(design, "name", "")) or str(design.asks)


def _agreeing_p_value(p_value: float, difference: Any) -> float:
    """Return Wald's p-value, or a larger one below ½ at whose level the interval of a difference leaves 0 out.

    Few people can send responses whose error is next to nothing; the interval counts what they cannot tell.
    """

    def holds_zero(log_p: float) -> bool:
        low, high = difference.interval(level=1 - math.exp(log_p))
        return bool(low <= 0 <= high)

    low, high = math.log(max(p_value, _LEAST_P)), math.log(0.5)
    if low >= high or not holds_zero(low):
        return p_value
    while high - low > _P_PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if holds_zero(middle) else (low, middle)
    return math.exp(high)


def _rest_signs(sizes: Sequence[float]) -> Matrix:
    """Return for each group how much of it, and less of all others, its difference from these is."""
    counts = np.array(sizes, np.float64)
    signs = -counts / (counts.sum() - counts)[:, None]
    np.fill_diagonal(signs, 1.0)
    return vector(signs)


def _pooled_test(
    pooled: Any, sides: Sequence[tuple[Any, Any]], numbers: Sequence[int]
) -> HypothesisTest:
    """Return Σ n_g·d_g′·Σ⁺·d_g against χ², where Σ is the covariance of one response if all groups are alike."""
    tested = np.ix_(numbers, numbers)
    covariance = pooled.cov_params()[tested] * max(pooled.respondents - 1, 1)
    statistic, rank = 0.0, 0
    for tally, estimate in sides:
        distance = estimate.basis.unbiased - pooled.basis.unbiased
        of_group, rank = wald_statistic(distance[list(numbers)], covariance)
        statistic += tally.respondents * of_group
    return against_chi_square(ALIKE, "score", statistic, (len(sides) - 1) * rank)


def _apart_test(groups: Sequence[Any]) -> HypothesisTest:
    """Return the test of how far the shares of all groups are from the first one's."""
    first, *compared = groups
    free = len(first.value) - 1  # the last share is what the others leave
    differences = np.concatenate(
        [(group.value - first.value)[:free] for group in compared]
    )
    blocks = block_diag(*(group.covariance[:free, :free] for group in compared))
    shared = np.ones((len(compared), len(compared)))
    covariance = blocks + np.kron(shared, first.covariance[:free, :free])
    return against_chi_square(
        ALIKE, "score", *wald_statistic(differences, covariance)
    )
