"""Groups of people who were asked with one design: what is true of each, and by how much they differ."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.stats import chi2

from deniable import documents
from deniable.errors import ImplausibleResponses, InvalidRequest, NotEstimable, UnreadableFile, quoted
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.independence import (
    MOST_CELLS,
    highest,
    holm,
    response_scores,
    score_test,
)
from deniable.estimates.intervals import Interval, one_of
from deniable.estimates.results import Caution, Columns, Result, Row, Summary, around
from deniable.estimates.shares import Estimate
from deniable.estimates.testing import HypothesisTest, against_chi_square, likelihood_ratio
from deniable.tallies.groups import Group, GroupedTally, group_name
from deniable.tallies.weighted import WeightedTally

__all__ = ["DifferenceRow", "Differences", "GroupedEstimate", "estimate_groups"]

REST = "the rest"
"""What all other groups together are called."""

ALIKE = "Test that all groups are alike"
"""The hypothesis that is tested of groups."""

_FITS = {  # by what a design asks: what estimates a tally of it, below `deniable`
    "categories": "estimates.shares.fitted",
    "ladder": "estimates.stages.combine",
    "key-value": "records.key_value.estimates.estimate",
    "edges": "records.edges.estimates.estimate",
    "numbers": "records.numbers.estimates.estimate",
    "drawn items": "records.drawn.estimates.estimate",
}
_WEIGHTED = "estimates.sampling.estimating.estimate_tally"
_MOST_PAIRS = 5_000  # comparisons in a table; more of them tell nobody anything


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
    if tally.design.asks not in _FITS:
        raise InvalidRequest(
            f"groups of a design that asks for {tally.design.asks} do not compare; expected shares, items or numbers.",
            "Estimate each group by itself: {group: dn.estimate(each) for group, each in tally.items()}.",
        )
    for name in ("population", "inverse"):
        if name in options:
            raise InvalidRequest(
                f"{name} does not go with groups; expected it for each of them.",
                f"Estimate each group by itself: dn.estimate(tally['north'], {name}=…).",
            )
    return GroupedEstimate(tally, {name: _plain(option) for name, option in options.items()})


def _plain(option: Any) -> Any:
    """Return an option as JSON can hold it."""
    if isinstance(option, Mapping):
        return {name: float(each) for name, each in option.items()}
    return option if isinstance(option, str) or not np.iterable(option) else [float(each) for each in option]


def _weight(tally: Any) -> float:
    """Return for how many people a tally stands."""
    return float(sum(tally.weights)) if isinstance(tally, WeightedTally) else tally.respondents


def _fit(tally: Any, options: Mapping[str, Any]) -> Any:
    """Estimate one tally; doubts stay in the estimate."""
    fit = _WEIGHTED if isinstance(tally, WeightedTally) else _FITS[tally.design.asks]
    module, _, name = fit.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImplausibleResponses)
        return getattr(import_module(f"deniable.{module}"), name)(tally, **options)


@dataclass(frozen=True, eq=False)
class GroupedEstimate(Result):
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
            group: _fit(each, self.options)
            for group, each in self.tally.items()
            if group is not None and each.respondents > 1 and _weight(each)
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
        return _fit(tally, self.options)

    def __getitem__(self, group: Group) -> Any:
        if group not in self.groups:
            known = ", ".join(repr(each) for each in list(self.groups)[:5])
            raise InvalidRequest(f"no group {quoted(group)} was estimated; expected one such as {known:.200}.")
        return self.groups[group]

    @property
    def names(self) -> tuple[str, ...]:
        """What is estimated in each group."""
        return tuple(next(iter(self.groups.values())).params)

    def _each(self, of: Callable[[Any], Mapping[str, Any]]) -> dict[str, Any]:
        return {
            f"{group_name(group)} · {name}": value
            for group, each in self.groups.items()
            for name, value in of(each).items()
        }

    @property
    def params(self) -> dict[str, float]:
        return self._each(lambda each: each.params)

    @property
    def bse(self) -> dict[str, float]:
        return self._each(lambda each: each.bse)

    def cov_params(self) -> Matrix:
        """Return the covariance of all numbers; groups are different people, so that nothing goes together."""
        found: Matrix = block_diag(*(each.cov_params() for each in self.groups.values()))
        return found

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        own = one_of(len(self.groups) if simultaneous else 1, level)
        return self._each(lambda each: each.conf_int(level=own, method=method, simultaneous=simultaneous))

    @property
    def warnings(self) -> tuple[Caution, ...]:
        told = [
            Caution(each.code, f"{group_name(group)}: {each.text}")
            for group, made in self.groups.items()
            for each in made.warnings
        ]
        nobody = self.tally[None].respondents if None in self.tally else 0
        if nobody:
            told.append(Caution("ungrouped", f"{nobody:,} responses name no group; they are in no comparison."))
        few = [group_name(each) for each in self.left_out if each is not None]
        if few:
            some = ", ".join(few[:5]) + (" …" if len(few) > 5 else "")
            why = "fewer than 2 responses, or no weight" if self.tally.weighted else "fewer than 2 responses"
            told.append(Caution("left-out", f"{len(few):,} groups have {why}: {some}."))
        return tuple(told)

    def summary(self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False) -> Summary[Row]:
        return self._summed(level, method, simultaneous=simultaneous, whole=False)

    def _whole(self, *, level: float, method: str | None, simultaneous: bool) -> Summary[Row]:
        return self._summed(level, method, simultaneous=simultaneous, whole=True)

    def _summed(self, level: float, method: str | None, *, simultaneous: bool, whole: bool) -> Summary[Row]:
        own = one_of(len(self.groups) if simultaneous else 1, level)
        parts = {
            group: (each._whole if whole else each.summary)(level=own, method=method, simultaneous=simultaneous)
            for group, each in self.groups.items()
        }
        first = next(iter(parts.values()))
        rows = tuple(
            replace(row, name=f"{group_name(group)} · {row.name}") for group, each in parts.items() for row in each.rows
        )
        return Summary(
            title=f"{self._counted}, {self.respondents:,} respondents, by {first.method}",
            quantity=first.quantity,
            rows=rows,
            notes=self._notes(),
            warnings=self.warnings,
            level=level,
            interval=first.interval,
            method=first.method,
            respondents=self.respondents,
            missing=self.tally.missing,
            epsilon=max(each.epsilon for each in parts.values()),
            simultaneous=simultaneous,
            left_out=sum(each.left_out for each in parts.values()),
        )

    @property
    def _counted(self) -> str:
        many = f"{len(self.groups):,} group{'s' if len(self.groups) > 1 else ''}"
        return f"{many} of {group_name(self.tally.by)}" if self.tally.by else many

    def _notes(self) -> tuple[str, ...]:
        declared = getattr(self.tally.overall, "declared", None)
        vouched = () if declared is None else declared.notes()
        asked = None if self._tell_shares else "mean"
        if len(self.groups) < 2 or (asked and asked not in self.names):
            return tuple(vouched)
        return (f"{self.homogeneity(asked)}.", *vouched)

    @property
    def _have_shares(self) -> bool:
        return all(isinstance(each, Estimate) for each in self.groups.values())

    @property
    def _tell_shares(self) -> bool:
        """Whether the numbers of a group are the shares of all categories, with weights or without."""
        weighted = self.tally.weighted and all(each.quantity == "share" for each in self.groups.values())
        return weighted or self._have_shares

    @property
    def _have_counts(self) -> bool:
        """Whether tests are of a table of groups by responses."""
        channel = getattr(self.design, "channel", None)
        return self._have_shares and channel.own_cells and channel.cells <= MOST_CELLS  # type: ignore[union-attr]

    @cached_property
    def _scores(self) -> Matrix:
        return response_scores(self.design)

    def homogeneity(self, name: str | None = None, *, method: str = "score") -> HypothesisTest:
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
        self._check_pairs()
        if method not in ("score", "likelihood") or (method == "likelihood" and name is not None):
            raise InvalidRequest(f"the method is {quoted(method)}; expected score, or likelihood without a name.")
        if name is not None and name not in self.names:
            some = ", ".join(map(repr, self.names[:5]))
            raise InvalidRequest(f"{quoted(name)} was not estimated; expected a name such as {some:.200}.")
        tallies = [self.tally[group] for group in self.groups]
        if not self._have_shares:
            return self._alike(name)
        if method == "likelihood":
            gained = sum(highest(self.design, each.counts.astype(np.float64)) for each in tallies)
            pooled = highest(self.design, sum(each.counts for each in tallies).astype(np.float64))
            return likelihood_ratio(ALIKE, gained - pooled, (len(tallies) - 1) * (len(self.names) - 1))
        if self._have_counts:
            scores = self._scores if name is None else self._scores[:, [self.names.index(name)]]
            return score_test(np.stack([each.counts for each in tallies]), np.eye(len(tallies)), scores, ALIKE)
        return self._pooled_test(
            list(self.groups), range(len(self.names)) if name is None else [self.names.index(name)]
        )

    def _alike(self, name: str | None) -> HypothesisTest:
        if name is None and self._tell_shares:
            return _apart_test(list(self.groups.values()))
        if name is None:
            raise InvalidRequest(
                "these numbers are no shares, and are not tested together; expected the name of one of them.",
                f"For example homogeneity({self.names[0]!r}).",
            )
        values = np.array([each.params[name] for each in self.groups.values()])
        errors = np.array([each.bse[name] for each in self.groups.values()])
        weights = 1 / np.maximum(errors, 1e-300) ** 2
        statistic = float((weights * (values - np.average(values, weights=weights)) ** 2).sum())
        return against_chi_square(ALIKE, "score", statistic, len(values) - 1)

    def _pooled_test(self, groups: Sequence[Group], numbers: Sequence[int]) -> HypothesisTest:
        """Test shares of a design whose tally keeps sums: their distances, with the covariance of all together."""
        tallies = [self.tally[group] for group in groups]
        return _pooled_test(self._fitted(sum(tallies)), [(each, self._fitted(each)) for each in tallies], numbers)

    def _check_pairs(self) -> None:
        if len(self.groups) < 2:
            raise InvalidRequest("one group has nobody to be compared with; expected at least two groups.")

    def pairwise(self) -> Differences:
        """Return by how much each group differs from each other one.

        Raises:
            InvalidRequest: one group, or more pairs of groups than a table holds.
        """
        return self._compared("pairs")

    def against_rest(self) -> Differences:
        """Return by how much each group differs from all others together.

        A group differs from everybody, itself included, by the share of the others times as much: the test is the same.

        Raises:
            InvalidRequest: one group, or more groups than a table holds.
        """
        return self._compared("rest")

    def _compared(self, against: str) -> Differences:
        self._check_pairs()
        groups = list(self.groups)
        pairs = len(groups) * (len(groups) - 1) // 2 if against == "pairs" else len(groups)
        if pairs * len(self.compared_names) > _MOST_PAIRS:
            raise InvalidRequest(
                f"there are {pairs * len(self.compared_names):,} comparisons; expected at most {_MOST_PAIRS:,}.",
                "Take against_rest(), or fewer groups.",
            )
        return Differences(self, against, tuple(self._rows(against)))

    @property
    def compared_names(self) -> tuple[str, ...]:
        """What is compared: each number; of two categories, whose shares move together, the second alone."""
        return self.names[-1:] if self._tell_shares and len(self.names) == 2 else self.names

    def _rows(self, against: str) -> Iterator[_Compared]:
        if against == "pairs":
            for one, two in itertools.combinations(self.groups, 2):
                sides = [(self.tally[each], self.groups[each]) for each in (one, two)]
                yield from self._between(f"{group_name(one)} − {group_name(two)}", sides)
            return
        for group, made in self.groups.items():
            rest = sum(self.tally[each] for each in self.groups if each != group)
            sides = [(self.tally[group], made), (rest, self._fitted(rest))]
            yield from self._between(f"{group_name(group)} − {REST}", sides)

    def _between(self, title: str, sides: Sequence[tuple[Any, Any]]) -> Iterator[_Compared]:
        (counted, one), (others, two) = sides
        pooled = self._fitted(counted + others) if self._have_shares and not self._have_counts else None
        for name in self.compared_names:
            value, error = one.params[name] - two.params[name], math.hypot(one.bse[name], two.bse[name])
            apart = _difference(one, two, name)
            number = self.names.index(name)
            if self._have_counts:
                table = np.stack([counted.counts, others.counts])
                p_value = score_test(table, np.eye(2), self._scores[:, [number]]).p_value
            elif pooled is not None:
                p_value = _pooled_test(pooled, sides, [number]).p_value
            else:
                p_value = float(chi2.sf((value / error) ** 2, 1)) if error else float(value == 0)
            yield _Compared(f"{title} · {name}", value, error, p_value, apart)

    @property
    def _design_hash(self) -> str:
        return str(self.design.hash)

    def _source(self) -> dict[str, Any]:
        return {"tally": self.tally.to_body(), "options": dict(self.options)}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Any) -> GroupedEstimate:
        tally = GroupedTally.from_body(documents.field(source, "tally", dict), design)
        return cls(tally, documents.field(source, "options", dict))


class _Compared(NamedTuple):
    """One comparison: its name, value, error, p-value, and its interval for a level; None for one around the value."""

    name: str
    value: float
    error: float
    p_value: float
    apart: Any


def _difference(one: Any, two: Any, name: str) -> Any:
    """Return the difference of two groups' contrasts, where their results have any."""
    if not hasattr(one, "contrast"):
        return None
    return one.contrast({name: 1.0}) - two.contrast({name: 1.0})


def _pooled_test(pooled: Any, sides: Sequence[tuple[Any, Any]], numbers: Sequence[int]) -> HypothesisTest:
    """Return Σ n_g·d_g′·Σ⁺·d_g against χ², where Σ is the covariance of one response if all groups are alike."""
    kept = np.array(numbers)
    spread = pooled.cov_params()[np.ix_(kept, kept)] * max(pooled.respondents - 1, 1)
    sizes, directions = np.linalg.eigh((spread + spread.T) / 2)
    told = sizes > 1e-9 * max(float(sizes[-1]), 1e-300)
    turn = directions[:, told] / np.sqrt(sizes[told])
    center = _unbiased(pooled)[kept]
    statistic = sum(
        counted.respondents * float((((_unbiased(made)[kept] - center) @ turn) ** 2).sum()) for counted, made in sides
    )
    return against_chi_square(ALIKE, "score", statistic, (len(sides) - 1) * int(told.sum()))


def _apart_test(groups: Sequence[Any]) -> HypothesisTest:
    """Return d′·V⁺·d against χ², where d is how far the shares of all groups are from the first one's."""
    first, *others = groups
    kept = len(first.value) - 1  # the last share is what the others leave
    apart = np.concatenate([(each.value - first.value)[:kept] for each in others])
    own = block_diag(*(each.covariance[:kept, :kept] for each in others))
    spread = own + np.kron(np.ones((len(others), len(others))), first.covariance[:kept, :kept])
    sizes, directions = np.linalg.eigh((spread + spread.T) / 2)
    told = sizes > 1e-9 * max(float(sizes[-1]), 1e-300)
    statistic = float((((apart @ directions)[told]) ** 2 / sizes[told]).sum())
    return against_chi_square(ALIKE, "score", statistic, int(told.sum()))


def _unbiased(made: Estimate) -> Vector:
    return made.basis.unbiased


@dataclass(frozen=True, slots=True)
class DifferenceRow(Row):
    """By how much two groups differ.

    Attributes:
        p_value: how often they would differ as much, or more, if they were alike.
        adjusted: the same, with all comparisons of the table taken together [Hol79].
    """

    COLUMNS: ClassVar[Columns] = (*Row.COLUMNS, ("p_value",), ("adjusted",))

    p_value: float
    adjusted: float


@dataclass(frozen=True, eq=False)
class Differences(Result):
    """By how much groups differ, in pairs or each from all others, with tests adjusted for their number.

    Attributes:
        of: the estimates of the groups.
        against: "pairs" or "rest".
        compared: what was compared, in the order of `params`.
    """

    type: ClassVar = "differences"

    of: GroupedEstimate
    against: str
    compared: tuple[_Compared, ...] = field(repr=False)

    @property
    def params(self) -> dict[str, float]:
        return {each.name: each.value for each in self.compared}

    @property
    def bse(self) -> dict[str, float]:
        return {each.name: each.error for each in self.compared}

    def cov_params(self) -> Matrix:
        """Return the covariance of all differences: those that share a group go together."""
        own = self.of.cov_params()
        names, groups = self.of.names, list(self.of.groups)
        sizes = {group: _weight(self.of.tally[group]) for group in groups}
        total = sum(sizes.values())
        lines = []
        for signs in self._signs(groups, sizes, total):
            for name in self.of.compared_names:
                line = np.zeros(len(own))
                line[[names.index(name) + len(names) * at for at in range(len(groups))]] = signs
                lines.append(line)
        weights = np.array(lines)
        found: Matrix = weights @ own @ weights.T
        np.fill_diagonal(found, [each.error**2 for each in self.compared])
        return found

    def _signs(self, groups: Sequence[Group], sizes: Mapping[Group, float], total: float) -> Iterator[Vector]:
        if self.against == "pairs":
            for one, two in itertools.combinations(range(len(groups)), 2):
                signs = np.zeros(len(groups))
                signs[one], signs[two] = 1.0, -1.0
                yield signs
            return
        for at, group in enumerate(groups):
            signs = -np.array([sizes[each] for each in groups]) / (total - sizes[group])
            signs[at] = 1.0
            yield signs

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return GroupedEstimate._compared, (self.of, self.against)

    @property
    def p_values(self) -> dict[str, float]:
        """How often groups that are alike would differ as much, one comparison at a time."""
        return {each.name: each.p_value for each in self.compared}

    @property
    def adjusted(self) -> dict[str, float]:
        """The p-values adjusted for their number, by Holm."""
        values = holm(np.array([each.p_value for each in self.compared]))
        return dict(zip(self.params, values.tolist(), strict=True))

    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        """Return an interval for each difference: "recovered" from those of both groups, "normal" or "chebyshev".

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """
        events = len(self.compared) if simultaneous else 1
        have = all(each.apart is not None for each in self.compared)
        if method not in (None, "recovered") or not have:
            if method == "recovered":
                raise InvalidRequest("these numbers have no contrasts; expected normal or chebyshev intervals.")
            return around(self.params, self.bse, level=level, method=method, events=events)
        own = one_of(events, level)
        return {each.name: each.apart.interval(level=own) for each in self.compared}

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.of.warnings

    def summary(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> Summary[DifferenceRow]:
        intervals, adjusted = self.conf_int(level=level, method=method, simultaneous=simultaneous), self.adjusted
        rows = tuple(
            DifferenceRow(each.name, each.value, each.error, *intervals[each.name], each.p_value, adjusted[each.name])
            for each in self.compared
        )
        have = all(each.apart is not None for each in self.compared)
        of = self.of.summary(level=level)
        what = "each pair of groups" if self.against == "pairs" else f"each group and {REST}"
        return Summary(
            title=f"Differences between {what}: {len(self.of.groups):,} groups, {self.of.respondents:,} respondents",
            quantity="difference",
            rows=rows,
            notes=(f"p-values are adjusted for {len(rows):,} comparisons by Holm.", *of.notes),
            warnings=self.warnings,
            level=level,
            interval=method or ("recovered" if have else "normal"),
            method=of.method,
            respondents=self.of.respondents,
            missing=of.missing,
            epsilon=of.epsilon,
            simultaneous=simultaneous,
        )

    @property
    def _design_hash(self) -> str:
        return self.of._design_hash

    def _source(self) -> dict[str, Any]:
        return {"groups": self.of._source(), "against": self.against}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Any) -> Differences:
        of = GroupedEstimate._remade(documents.field(source, "groups", dict), design)
        against = documents.field(source, "against", str)
        if against not in ("pairs", "rest"):
            raise UnreadableFile(f"the comparison is {quoted(against)}; expected pairs or rest.")
        return of._compared(against)
