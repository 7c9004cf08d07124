"""Groups of people who were asked with one design: what is true of each, and by how much they differ."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import block_diag
from scipy.stats import chi2

from deniable import documents
from deniable.designs import Design
from deniable.errors import ImplausibleResponses, InvalidRequest, NotEstimable, quoted
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.differences import (
    ALIKE,
    OWNERS,
    REST,
    Compared,
    Differences,
    check_number,
    comparison_weights,
    nameless,
    pair_signs,
)
from deniable.estimates.independence import (
    MOST_CELLS,
    highest,
    response_scores,
    score_test,
)
from deniable.estimates.intervals import Interval, one_of
from deniable.estimates.results import (
    Caution,
    Result,
    Row,
    Summary,
    told_method,
    words_of,
)
from deniable.estimates.sampling import estimate_tally
from deniable.estimates.shares import Estimate
from deniable.estimates.summary import rests_on
from deniable.estimates.testing import (
    HypothesisTest,
    against_chi_square,
    likelihood_ratio,
    wald,
)
from deniable.groups.tallies import GroupedTally
from deniable.order.ladders import Ladder
from deniable.rendering import formats
from deniable.tallies.columns import subject
from deniable.tallies.group_labels import Group, group_name
from deniable.tallies.weighted import WeightedTally
from deniable.types import operation
from deniable.types.surfaces import check_surface

__all__ = ["Differences", "GroupedEstimate", "estimate_groups"]


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


def _plain(option: Any) -> Any:
    """Return an option as JSON can hold it."""
    if isinstance(option, Mapping):
        return {name: float(each) for name, each in option.items()}
    return (
        option
        if isinstance(option, str) or not np.iterable(option)
        else [float(each) for each in option]
    )


def _weight(tally: Any) -> float:
    """Return for how many people a tally stands."""
    return (
        float(sum(tally.weights))
        if isinstance(tally, WeightedTally)
        else tally.respondents
    )


def _fit(tally: Any, options: Mapping[str, Any]) -> Any:
    """Estimate one tally; doubts stay in the estimate."""
    fit = (
        estimate_tally
        if isinstance(tally, WeightedTally)
        else operation(tally.design, "estimate")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImplausibleResponses)
        return fit(tally, **options)


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
            raise InvalidRequest(
                f"no group {quoted(group)} was estimated; expected one such as {known:.200}."
            )
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
        found: Matrix = block_diag(
            *(each.cov_params() for each in self.groups.values())
        )
        return found

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> dict[str, Interval]:
        own = one_of(len(self.groups) if simultaneous else 1, level)
        return self._each(
            lambda each: each.conf_int(
                level=own, method=method, simultaneous=simultaneous
            )
        )

    @property
    def warnings(self) -> tuple[Caution, ...]:
        told = [
            Caution(each.code, f"{group_name(group)}: {each.text}")
            for group, made in self.groups.items()
            for each in made.warnings
        ]
        nobody = self.tally[None].respondents if None in self.tally else 0
        told += nameless(nobody)
        few = [group_name(each) for each in self.left_out if each is not None]
        if few:
            some = ", ".join(few[:5]) + (" …" if len(few) > 5 else "")
            why = (
                "fewer than 2 responses, or no weight"
                if self.tally.weighted
                else "fewer than 2 responses"
            )
            told.append(Caution("left-out", f"{len(few):,} groups have {why}: {some}."))
        return tuple(told)

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
    ) -> Summary[Row]:
        return self._summed(level, method, simultaneous=simultaneous, whole=False)

    def _joined_names(self) -> dict[str, list[Any]]:
        pairs = [
            (group, name) for group, each in self.groups.items() for name in each.params
        ]
        return {
            "group": [group_name(group) for group, _ in pairs],
            "category": [name for _, name in pairs],
        }

    def _whole(
        self, *, level: float, method: str | None, simultaneous: bool
    ) -> Summary[Row]:
        return self._summed(level, method, simultaneous=simultaneous, whole=True)

    def _summed(
        self, level: float, method: str | None, *, simultaneous: bool, whole: bool
    ) -> Summary[Row]:
        own = one_of(len(self.groups) if simultaneous else 1, level)
        parts = {
            group: (each._whole if whole else each.summary)(
                level=own, method=method, simultaneous=simultaneous
            )
            for group, each in self.groups.items()
        }
        first, epsilon = (
            next(iter(parts.values())),
            max(each.epsilon for each in parts.values()),
        )
        rows = tuple(
            replace(row, name=f"{group_name(group)} · {row.name}")
            for group, each in parts.items()
            for row in each.rows
        )
        return Summary(
            title=f"{self._counted}, {_asked(self.design)}, ε = {formats.epsilon(epsilon)}, {self.respondents:,} "
            f"respondents, by {told_method(first.method)}",
            quantity=first.quantity,
            rows=rows,
            notes=self.comparison_notes,
            warnings=self.warnings,
            level=level,
            interval=first.interval,
            method=first.method,
            respondents=self.respondents,
            missing=self.tally.missing,
            epsilon=epsilon,
            simultaneous=simultaneous,
            left_out=sum(each.left_out for each in parts.values()),
        )

    @property
    def _counted(self) -> str:
        many = f"{len(self.groups):,} group{'s' if len(self.groups) > 1 else ''}"
        return f"{many} of {group_name(self.tally.by)}" if self.tally.by else many

    @property
    def comparison_notes(self) -> tuple[str, ...]:
        """What has to be known to read the groups, and the differences between them."""
        declared = getattr(self.tally.overall, "declared", None)
        vouched = () if declared is None else declared.notes()
        asked = None if self._tell_shares else "mean"
        alone = len(self.groups) < 2 or (asked and asked not in self.names)
        return (
            *(() if alone else (f"{self.homogeneity(asked)}.",)),
            *vouched,
            *rests_on(*_designs(self.design)),
        )

    @property
    def _have_shares(self) -> bool:
        return all(isinstance(each, Estimate) for each in self.groups.values())

    @property
    def _tell_shares(self) -> bool:
        """Whether the numbers of a group are the shares of all categories, with weights or without."""
        weighted = self.tally.weighted and all(
            each.quantity == "share" for each in self.groups.values()
        )
        return weighted or self._have_shares

    @property
    def _have_counts(self) -> bool:
        """Whether tests are of a table of groups by responses."""
        if not self._have_shares:
            return False
        channel = self._device.channel
        return channel.own_cells and channel.cells <= MOST_CELLS

    @property
    def _device(self) -> Design:
        """The design for categories whose shares are estimated in each group."""
        device: Design = next(iter(self.groups.values())).design
        return device

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
        self._check_pairs()
        if method not in ("score", "likelihood") or (
            method == "likelihood" and name is not None
        ):
            raise InvalidRequest(
                f"the method is {quoted(method)}; expected score, or likelihood without a name."
            )
        if name is not None and name not in self.names:
            some = ", ".join(map(repr, self.names[:5]))
            raise InvalidRequest(
                f"{quoted(name)} was not estimated; expected a name such as {some:.200}."
            )
        if not self._have_shares:
            return self._alike(name)
        counts = [estimate.tally.counts for estimate in self.groups.values()]
        if method == "likelihood":
            gained = sum(
                highest(self._device, each.astype(np.float64)) for each in counts
            )
            pooled = highest(self._device, sum(counts).astype(np.float64))
            return likelihood_ratio(
                ALIKE, gained - pooled, (len(counts) - 1) * (len(self.names) - 1)
            )
        if self._have_counts:
            scores = (
                self._scores
                if name is None
                else self._scores[:, [self.names.index(name)]]
            )
            return score_test(np.stack(counts), np.eye(len(counts)), scores, ALIKE)
        return self._pooled_test(
            list(self.groups),
            range(len(self.names)) if name is None else [self.names.index(name)],
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
        statistic = float(
            (weights * (values - np.average(values, weights=weights)) ** 2).sum()
        )
        return against_chi_square(ALIKE, "score", statistic, len(values) - 1)

    def _pooled_test(
        self, groups: Sequence[Group], numbers: Sequence[int]
    ) -> HypothesisTest:
        """Test shares of a design whose tally keeps sums: their distances, with the covariance of all together."""
        tallies = [self.tally[group] for group in groups]
        return _pooled_test(
            self._fitted(sum(tallies)),
            [(each, self._fitted(each)) for each in tallies],
            numbers,
        )

    def _check_pairs(self) -> None:
        if len(self.groups) < 2:
            raise InvalidRequest(
                "one group has nobody to be compared with; expected at least two groups."
            )

    def pairwise(self) -> Differences:
        """Return by how much each group differs from each other one.

        Raises:
            InvalidRequest: one group, or more pairs of groups than a table holds.
        """
        return self.compared("pairs")

    def against_rest(self) -> Differences:
        """Return by how much each group differs from all others together.

        A group differs from everybody, itself included, by the share of the others times as much: the test is the same.

        Raises:
            InvalidRequest: one group, or more groups than a table holds.
        """
        return self.compared("rest")

    def compared(self, against: str) -> Differences:
        """Return by how much groups differ, in "pairs" or each from the "rest".

        Raises:
            InvalidRequest: one group, or more comparisons than a table holds.
        """
        self._check_pairs()
        groups = list(self.groups)
        pairs = (
            len(groups) * (len(groups) - 1) // 2 if against == "pairs" else len(groups)
        )
        check_number(pairs * len(self.compared_names))
        return Differences(self, against, tuple(self._rows(against)))

    def comparison_weights(self, against: str) -> Matrix:
        """Return what each comparison adds up, a row each, in the order of `Differences.params`."""
        groups, sizes = (
            list(self.groups),
            [_weight(self.tally[group]) for group in self.groups],
        )
        signs = pair_signs(len(groups)) if against == "pairs" else _rest_signs(sizes)
        return comparison_weights(signs, self.names, self.compared_names)

    @property
    def compared_names(self) -> tuple[str, ...]:
        """What is compared: each number; of two categories, whose shares move together, the second alone."""
        return (
            self.names[-1:]
            if self._tell_shares and len(self.names) == 2
            else self.names
        )

    def _rows(self, against: str) -> Iterator[Compared]:
        if against == "pairs":
            for one, two in itertools.combinations(self.groups, 2):
                sides = [(self.tally[each], self.groups[each]) for each in (one, two)]
                yield from self._between(
                    f"{group_name(one)} − {group_name(two)}", sides
                )
            return
        for group, made in self.groups.items():
            rest = sum(self.tally[each] for each in self.groups if each != group)
            sides = [(self.tally[group], made), (rest, self._fitted(rest))]
            yield from self._between(f"{group_name(group)} − {REST}", sides)

    def _between(
        self, title: str, sides: Sequence[tuple[Any, Any]]
    ) -> Iterator[Compared]:
        (counted, one), (others, two) = sides
        pooled = (
            self._fitted(counted + others)
            if self._have_shares and not self._have_counts
            else None
        )
        for name in self.compared_names:
            value, error = (
                one.params[name] - two.params[name],
                math.hypot(one.bse[name], two.bse[name]),
            )
            apart = _difference(one, two, name)
            number = self.names.index(name)
            if self._have_counts:
                table = np.stack([one.tally.counts, two.tally.counts])
                p_value = score_test(
                    table, np.eye(2), self._scores[:, [number]]
                ).p_value
            elif pooled is not None:
                p_value = _pooled_test(pooled, sides, [number]).p_value
            else:
                p_value = (
                    float(chi2.sf((value / error) ** 2, 1))
                    if error
                    else float(value == 0)
                )
            yield Compared(f"{title} · {name}", value, error, p_value, apart)

    @property
    def _design_hash(self) -> str:
        return str(self.design.hash)

    def _source(self) -> dict[str, Any]:
        return {"tally": self.tally.to_body(), "options": dict(self.options)}

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Any) -> GroupedEstimate:
        tally = GroupedTally.from_body(documents.field(source, "tally", dict), design)
        return cls(tally, documents.field(source, "options", dict))


OWNERS[GroupedEstimate.type] = GroupedEstimate


def _asked(design: Any) -> str:
    """Return what a design is called above a table."""
    if isinstance(design, Design):
        return words_of(subject(design))
    return words_of(getattr(design, "name", "")) or str(design.asks)


def _designs(design: Any) -> tuple[Any, ...]:
    """Return the designs whose responses are counted: of a ladder that of each stage."""
    return design.designs if isinstance(design, Ladder) else (design,)


def _rest_signs(sizes: Sequence[float]) -> Matrix:
    """Return for each group how much of it, and less of all others, its difference from these is."""
    counts = np.array(sizes, np.float64)
    signs = -counts / (counts.sum() - counts)[:, None]
    np.fill_diagonal(signs, 1.0)
    return vector(signs)


def _difference(one: Any, two: Any, name: str) -> Any:
    """Return the difference of two groups' contrasts, where their results have any."""
    if not hasattr(one, "contrast"):
        return None
    return one.contrast({name: 1.0}) - two.contrast({name: 1.0})


def _pooled_test(
    pooled: Any, sides: Sequence[tuple[Any, Any]], numbers: Sequence[int]
) -> HypothesisTest:
    """Return Σ n_g·d_g′·Σ⁺·d_g against χ², where Σ is the covariance of one response if all groups are alike."""
    kept = np.array(numbers)
    spread = pooled.cov_params()[np.ix_(kept, kept)] * max(pooled.respondents - 1, 1)
    sizes, directions = np.linalg.eigh((spread + spread.T) / 2)
    told = sizes > 1e-9 * max(float(sizes[-1]), 1e-300)
    turn = directions[:, told] / np.sqrt(sizes[told])
    center = _unbiased(pooled)[kept]
    statistic = sum(
        counted.respondents
        * float((((_unbiased(made)[kept] - center) @ turn) ** 2).sum())
        for counted, made in sides
    )
    return against_chi_square(
        ALIKE, "score", statistic, (len(sides) - 1) * int(told.sum())
    )


def _apart_test(groups: Sequence[Any]) -> HypothesisTest:
    """Return the test of how far the shares of all groups are from the first one's."""
    first, *others = groups
    kept = len(first.value) - 1  # the last share is what the others leave
    apart = np.concatenate([(each.value - first.value)[:kept] for each in others])
    own = block_diag(*(each.covariance[:kept, :kept] for each in others))
    spread = own + np.kron(
        np.ones((len(others), len(others))), first.covariance[:kept, :kept]
    )
    return against_chi_square(ALIKE, "score", *wald(apart, spread))


def _unbiased(made: Estimate) -> Vector:
    return made.basis.unbiased
