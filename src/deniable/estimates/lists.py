"""List experiments (item count technique): how many of J items apply, to which the treated arm adds the sensitive one.

Nobody says which items apply. The difference of the means of both arms is the share of the sensitive item, if its
presence changes no other answer and nobody lies about the sum. With F_a the shares of counts up to y in the arms
a = 0 (control) and 1 (treated), F₀(y) − F₁(y) is the share of members of whom y other items apply.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, overload

import numpy as np
from scipy.optimize import nnls
from scipy.special import expit
from scipy.stats import chi2, multivariate_normal

from deniable import documents
from deniable.designs import Design, matrix
from deniable.designs import direct as direct_question
from deniable.designs.proofs import proofs
from deniable.errors import InvalidRequest, NotEstimable, quoted, require_choice
from deniable.estimates.compliance.response_shares import ResponseShares, gather
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.regression.likelihoods import ListLaw, start_of_list
from deniable.estimates.regression.models import (
    RowLikelihood,
    highest,
    invert_information,
)
from deniable.estimates.results import Caution, Description
from deniable.estimates.sampling import Sampling
from deniable.estimates.sampling.columns import Mask, check_rows, named_column
from deniable.estimates.statistics import Model, Statistic
from deniable.estimates.testing import THAT, HypothesisTest, wald_test
from deniable.files.arrow import is_absent, to_items
from deniable.rendering import formats
from deniable.tallies.group_labels import group_name, number_groups
from deniable.tallies.responses import Responses

if TYPE_CHECKING:
    from deniable.estimates.regression.fitted import Regression

MAX_ITEMS = 10  # the design-effect test looks at all 2^J sides of a cone
METHODS = ("difference", "likelihood")
_DIRECT = ("denied", "admitted")
_MOST_PEOPLE = 1 << 62
_DOUBT = 0.05  # p-value of the design-effect test from which on the summary warns


class _Numbers(NamedTuple):
    """Numbers by name, with their covariance."""

    params: dict[str, float]
    covariance: Matrix


class _Likely(NamedTuple):
    """The most likely share of the sensitive item, and its derivative by each share of counts."""

    share: float
    slope: Vector


@dataclass(frozen=True, eq=False)
class ListExperiment(Model):
    """The counts of both arms of a list experiment.

    Attributes:
        n_items: the number J of items besides the sensitive one.
        said: the shares of the counts 0 … J + 1, in the control and the treated arm of each group.
        groups: the names of the groups; of one group alone it is empty.
        shows: the numbers of the result: "shares"; "joint", the shares by the other items; or "combined", with a direct
            question.
        missing: the number of people without a count.
    """

    type: ClassVar = "list-experiment"

    n_items: int
    said: ResponseShares
    groups: tuple[str, ...] = ("",)
    shows: str = "shares"
    missing: int = 0

    @property
    def collected(self) -> tuple[str, ...]:
        return (
            f"Answers were collected by a list experiment with {self.n_items} items besides the sensitive one.",
            "The treated arm has no finite ε: the largest count proves a yes, and the count 0 a no.",
        )

    @property
    def _shares(self) -> Matrix:
        """The shares of counts, by group, arm and count."""
        return self.said.value.reshape(len(self.groups), 2, -1)

    @cached_property
    def _numbers(self) -> _Numbers:
        return {
            "shares": self._estimate_shares,
            "joint": self._estimate_joint,
            "combined": self._combine,
        }[self.shows]()

    @property
    def params(self) -> dict[str, float]:
        return self._numbers.params

    def covariance_matrix(self) -> Matrix:
        return self._numbers.covariance

    @property
    def df(self) -> float:
        return float(self.said.degrees.min()) if self.said.sample else math.inf

    def _estimate_shares(self) -> _Numbers:
        """Return difference and maximum likelihood of each group; both move with the same counts (delta method)."""
        params, jacobian = {}, []
        for number, group in enumerate(self.groups):
            shares = self._shares[number]
            counts = np.arange(self.n_items + 2)
            slope = np.concatenate([-counts, counts])
            likely = self._maximize(number)
            values = float(slope @ shares.ravel()), likely.share
            for name, value, row in zip(
                METHODS, values, (slope, likely.slope), strict=True
            ):
                params[f"{group} · {name}" if group else name] = value
                jacobian.append(self._in_group(number, row))
        table = vector(jacobian)
        return _Numbers(params, vector(table @ self.said.covariance @ table.T))

    def _in_group(self, number: int, row: Vector) -> Vector:
        slopes = np.zeros((len(self.groups), len(row)))
        slopes[number] = row
        return slopes.ravel()

    def _maximize(self, number: int) -> _Likely:
        """Maximize the likelihood of binomial items; the slope is NaN where the share is 0 or 1, on the border."""
        shares, n = self._shares[number], self.n_items
        arms, counts = np.indices(shares.shape).reshape(2, -1).astype(np.float64)
        is_possible = arms + n >= counts
        sizes = np.repeat(self.said.sizes.reshape(-1, 2)[number], n + 2)
        evidence, ones = (
            np.ones((int(is_possible.sum()), 2)),
            np.ones((2 * n + 3, 1)),
        )
        law = ListLaw(
            evidence,
            counts[is_possible],
            "binomial",
            arms[is_possible],
            n,
        )
        matrices = (ones, ones[:, :0], ones)
        weights = (sizes * shares.ravel())[is_possible]
        start = start_of_list(law, weights)
        likelihood = RowLikelihood(law, matrices, weights)
        top = highest(likelihood, [start, np.zeros(2)])
        share = float(expit(top.theta[1]))
        slope, inverse = np.zeros(2 * (n + 2)), invert_information(top.information)
        if inverse is None or abs(top.theta[1]) > law.edge:
            return _Likely(share, slope * np.nan)
        scores = likelihood.reweighted(sizes[is_possible]).scores(top.theta)
        slope[is_possible] = scores @ inverse[1] * share * (1 - share)
        return _Likely(share, slope)

    def joint(self, group: str = "") -> Statistic[ListExperiment]:
        """Return the shares of members, and of others, of whom each number of the other items applies.

        Implements: π̂_y1 = F₀(y) − F₁(y) and π̂_y0 = F₁(y) − F₀(y − 1) of [BI12], with binomial errors of both arms.

        Args:
            group: one of several groups.

        Raises:
            InvalidRequest: another group.
        """
        return Statistic(replace(self._one_group(group), shows="joint"))

    def _one_group(self, group: str) -> ListExperiment:
        require_choice("the group is", group, self.groups)
        number, size, said = self.groups.index(group), self.n_items + 2, self.said
        arms, cells = (
            np.arange(2 * width) + 2 * width * number for width in (1, size)
        )
        parts = {
            name: getattr(said, name)[arms]
            for name in ("people", "degrees", "effects")
        }
        own = replace(
            said,
            cells=(size, size),
            value=said.value[cells],
            covariance=said.covariance[np.ix_(cells, cells)],
            **parts,
        )
        return replace(self, said=own, groups=("",))

    def _estimate_joint(self) -> _Numbers:
        n = self.n_items
        below = np.tril(np.ones((n + 1, n + 2)))
        before = np.vstack([np.zeros(n + 2), below[:-1]])
        table = np.block([[below, -below], [-before, below]])
        values = (table @ self.said.value).tolist()
        covariance = self.said.covariance
        if not self.said.sample:  # binomial, as the method is published
            covariance = covariance * np.repeat(
                1 - 1 / self.said.people, self.said.cells
            )
        names = product(("members", "others"), range(n + 1))
        params = {
            f"{who}, {items} items": value
            for (who, items), value in zip(names, values, strict=True)
        }
        return _Numbers(params, vector(table @ covariance @ table.T))

    def design_test(self, group: str = "") -> HypothesisTest:
        """Test that the sensitive item changes no other answer: that all shares of the joint distribution are ≥ 0.

        Implements: the test of [BI12] without moment selection: for members and for others the squared distance of
        their shares from the orthant, against the mixture of χ² that it follows at the origin; then Bonferroni.

        Args:
            group: one of several groups.

        Raises:
            InvalidRequest: another group.
        """
        joint, n = self.joint(group), self.n_items
        values, covariance = joint._values(), joint.cov_params()
        sides = (range(n), range(n + 2, 2 * n + 2))
        tests = [
            _orthant_test(values[rows], covariance[np.ix_(rows, rows)])
            for rows in map(list, sides)
        ]
        statistic, p_value = min(tests, key=lambda test: test[1])
        return HypothesisTest(
            f"{THAT}the sensitive item changes no other answer",
            "moments",
            statistic,
            n,
            min(1.0, 2 * p_value),
            border=n,
        )

    def _combine(self) -> _Numbers:
        """Return the share of those who admit, and of members among those who deny.

        Implements: p + (1 − p)·d of [ACG15], p the share who admit, d the difference among those who deny.
        """
        shares = Statistic(replace(self, shows="shares"))
        differences = [shares.params[f"{name} · difference"] for name in _DIRECT]
        variances = [shares.bse[f"{name} · difference"] ** 2 for name in _DIRECT]
        deniers, admitters = self.said.people.reshape(2, 2).sum(axis=1)
        n = deniers + admitters
        p, d = admitters / n, differences[0]
        table = np.array([[1 - d, 1 - p, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        squares = np.diag([p * (1 - p) / (n - 1), *variances])
        values = (p + (1 - p) * d, p, *differences)
        names = ("combined", "direct", *_DIRECT)
        params = dict(zip(names, map(float, values), strict=True))
        return _Numbers(params, vector(table @ squares @ table.T))

    def placebo(self) -> HypothesisTest:
        """Test that the list finds all of those who admit: that the difference among them is 1."""
        index = list(self.params).index("admitted")
        return wald_test(
            f"{THAT}the list finds all who admit (placebo)",
            [self.params["admitted"] - 1],
            [[self.covariance_matrix()[index, index]]],
            self.df,
        )

    @cached_property
    def design(self) -> Design:
        """The channel of the treated arm, from the sensitive answer to the count, at the counts of the control arm."""
        return treated_arm(self._control)

    @property
    def _control(self) -> Vector:
        """The shares of people of whom 0 … J items apply, in the control arms."""
        people = self.said.people.reshape(-1, 2)[:, 0]
        shares = people @ self._shares[:, 0] / people.sum()
        return vector(shares[: self.n_items + 1])

    @property
    def warnings(self) -> tuple[Caution, ...]:
        if self.shows == "joint":
            return ()
        cautions = []
        for group in self.groups:
            test = self.design_test(group)
            if test.p_value < _DOUBT:
                text = f"{f'{group}: ' if group else ''}{test}: the difference is not the share of the sensitive item."
                cautions.append(Caution("design-effect", text))
        outside = [
            name
            for name, value in self.params.items()
            if not 0 <= value <= 1 and name != "admitted"
        ]
        if outside:
            text = (
                f"{formats.listing(outside)} lies outside of 0 and 1: by chance, because members hide, or because the "
                "sensitive item changes other answers."
            )
            cautions.append(Caution("outside", text))
        if self.shows == "shares" and np.isnan(self.covariance_matrix()).any():
            text = (
                "the likelihood is largest at a share of 0 or 1, on the border, where it has no standard error. Read "
                "the difference."
            )
            cautions.append(Caution("border", text))
        return tuple(cautions)

    def describe(self) -> Description:
        people = self.said.people.reshape(-1, 2).sum(axis=0).astype(int).tolist()
        control, treated = (f"{size:,}" for size in people)
        sample = f", {self.said.sample}" if self.said.sample else ""
        return Description(
            title=f"list experiment with {self.n_items} items, {control} people in the control arm, {treated} in the "
            f"treated one{sample}",
            quantity="share",
            method="list experiment",
            respondents=sum(people),
            epsilon=math.inf,
            missing=self.missing,
            notes=(*self._estimate_notes(), *self._privacy_notes()),
            ranges={"admitted": (-math.inf, math.inf)},
        )

    def _estimate_notes(self) -> list[str]:
        notes = {
            "shares": "The difference needs no model of the items. The likelihood takes them as alike and independent "
            "(binomial); where the two differ, that model makes the difference.",
            "joint": "Shares of all people, by whether they are members and how many other items apply.",
            "combined": "Combined: those who admit, and the share of members among those who deny. It takes it that "
            "nobody falsely admits.",
        }
        lines = [notes[self.shows]]
        if self.shows == "combined":
            lines.append(f"{self.placebo()}.")
        if self.shows == "shares":
            lines += [
                f"{f'{group}: ' if group else ''}{self.design_test(group)}."
                for group in self.groups
            ]
        return lines

    def _privacy_notes(self) -> list[str]:
        """Tell what a count of the treated arm reveals; the control arm is asked nothing sensitive."""
        floor, *_, ceiling = self._control.tolist()
        least = formats.upper_bound(max(floor, ceiling), 3)
        return [
            f"Privacy of the treated arm, whose ε is infinite: {' '.join(proofs(self.design))} δ stays at least "
            f"{least} whatever the ε.",
            f"The count {self.n_items + 1} exposes {formats.percent(ceiling)} of the members (ceiling), the count 0 "
            f"clears {formats.percent(floor)} of the others (floor). The control arm is asked nothing sensitive.",
        ]

    def to_source(self) -> dict[str, Any]:
        return {
            "n_items": self.n_items,
            "said": self.said.to_body(),
            "groups": list(self.groups),
            "shows": self.shows,
            "missing": self.missing,
        }

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: None) -> ListExperiment:  # noqa: ARG003 - it follows
        return cls(
            documents.integer_field(source, "n_items"),
            ResponseShares.from_body(source.get("said")),
            tuple(documents.field(source, "groups", list)),
            documents.field(source, "shows", str),
            documents.integer_field(source, "missing"),
        )


def treated_arm(law: Sequence[float] | Vector) -> Design:
    """Return the channel of the treated arm of a list experiment: P[y, 0] = f(y), P[y, 1] = f(y − 1).

    Args:
        law: f, the shares of people of whom 0, 1, …, J of the other items apply, or their numbers.

    Example:
        >>> arm = treated_arm([0.125, 0.375, 0.375, 0.125])
        >>> arm.epsilon, [round(arm.delta(epsilon), 3) for epsilon in (0, 1, 2)]
        (inf, [0.375, 0.16, 0.125])
    """
    numbers = [Fraction(float(number)).limit_denominator(10**9) for number in law]
    exact = [number / sum(numbers) for number in numbers]
    zero = Fraction(0)
    rows = list(zip([*exact, zero], [zero, *exact], strict=True))
    sent = [count for count, row in enumerate(rows) if any(row)]
    design = matrix(
        [rows[count] for count in sent],
        categories=["no", "yes"],
        symbols=list(map(str, sent)),
    )
    return replace(design, name="list_experiment")


def _orthant_test(values: Vector, covariance: Matrix) -> tuple[float, float]:
    """Return the squared distance of numbers from the orthant, and its p-value were all of them 0.

    Why: the distance follows Σ_i w_i·χ²_(n − i), w_i the probability that i numbers of the projection are positive; it
    is a sum over the sides of the orthant [Kud63]. Numbers that do not vary are left out.
    """
    varies = np.diagonal(covariance) > 0
    values, covariance = values[varies], covariance[np.ix_(varies, varies)]
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    statistic = float(nnls(root, root @ values)[1] ** 2)
    size = len(values)
    weights = np.zeros(size + 1)
    for signs in product((False, True), repeat=size):
        positive = np.array(signs, np.bool_)
        weights[positive.sum()] += _side_weight(covariance, positive)
    tails = np.append(chi2.sf(statistic, np.arange(size, 0, -1)), statistic <= 0)
    return statistic, float(min(weights @ tails, 1.0))


def _side_weight(covariance: Matrix, positive: Mask) -> float:
    """Return the probability that the projection of N(0, S) has these numbers positive and all others 0."""
    rest = np.linalg.inv(covariance[np.ix_(~positive, ~positive)])
    crossed = covariance[np.ix_(positive, ~positive)]
    free = covariance[np.ix_(positive, positive)] - crossed @ rest @ crossed.T
    return _orthant_probability(vector(free)) * _orthant_probability(vector(rest))


def _orthant_probability(covariance: Matrix) -> float:
    """Return the probability that normal numbers with mean 0 are all positive; in closed form for up to three."""
    size = len(covariance)
    errors = np.sqrt(np.diagonal(covariance))
    correlations = covariance / np.outer(errors, errors)
    if size > 3:
        return float(
            multivariate_normal(cov=correlations, seed=0).cdf(np.zeros(size))
        )
    angles = np.arcsin(np.clip(correlations[np.triu_indices(size, 1)], -1, 1))
    return float(0.5**size + angles.sum() * 0.5**size * 2 / np.pi)


class _Arms(NamedTuple):
    """The people of a list experiment: their counts, whether they were treated, and the number of their group."""

    counts: Vector
    treated: Vector
    group: Vector
    names: tuple[str, ...]


@overload
def list_experiment(
    counts: object,
    treated: object = None,
    *,
    n_items: int,
    by: object = None,
    direct: object = None,
    data: object = None,
    sampling: Sampling | None = None,
) -> Statistic[ListExperiment]: ...
@overload
def list_experiment(
    counts: object,
    treated: object = None,
    *,
    n_items: int,
    predictors: str,
    constrained: bool = True,
    data: object,
    sampling: Sampling | None = None,
) -> Regression: ...
def list_experiment(
    counts: object,
    treated: object = None,
    *,
    n_items: int,
    by: object = None,
    direct: object = None,
    predictors: str | None = None,
    constrained: bool = True,
    data: object = None,
    sampling: Sampling | None = None,
) -> Statistic[ListExperiment] | Regression:
    """Estimate the share of a sensitive item from a list experiment (item count technique).

    Implements: the difference of means; the maximum likelihood of [Ima11], without covariates and with; the test of
    [BI12]; the combination with a direct question of [ACG15].

    Args:
        counts: how many items apply, for each person: a column, or its name in `data`. Or, without `treated`, a table:
            the numbers of people with 0, 1, 2 … items in the control arm, and in the treated arm.
        treated: whether each person was shown the sensitive item too: a column of 1 and 0, or its name.
        n_items: the number of items besides the sensitive one.
        by: a group for each person: a column, or its name.
        direct: whether each person admits the sensitive item when asked directly: a column of 1 and 0, or its name.
        predictors: covariates that explain the sensitive item and the others, such as "age + C(region)"; the result is
            a regression.
        constrained: with `predictors`, whether the other items apply as often to members as to other people.
        data: a table with the columns that are given by their names.
        sampling: how the people in the table were drawn, a row for each.

    Returns:
        Difference and likelihood side by side; with `predictors` the regression by maximum likelihood.

    Raises:
        InvalidRequest: columns that do not fit, or options that do not go together.
        NotEstimable: an arm, or a group's arm, with fewer than two people.

    Example:
        >>> found = list_experiment([[8, 132, 222, 227], [19, 123, 229, 219, 34]], n_items=3)
        >>> {name: round(value, 4) for name, value in found.params.items()}
        {'difference': 0.0678, 'likelihood': 0.1539}
    """
    n_items = _read_items(n_items)
    if treated is None:
        for name, value in {
            "by": by,
            "direct": direct,
            "predictors": predictors,
        }.items():
            if value is not None or sampling is not None:
                raise InvalidRequest(
                    f"{name if value is not None else 'sampling'}= needs a row for each person; expected treated=."
                )
        return Statistic(ListExperiment(n_items, _read_table(counts, n_items)))
    y, arm = (
        _read_column(named_column(column, data, name), name)
        for name, column in (("counts", counts), ("treated", treated))
    )
    _check_counts(y, arm, n_items)
    if predictors is not None:
        if by is not None or direct is not None:
            raise InvalidRequest(
                "predictors= does not go with by= and direct=; expected the group among the predictors."
            )
        from deniable.estimates.regression.fitting import regress_list

        label = counts if isinstance(counts, str) else "count"
        return regress_list(
            f"{label} ~ {predictors}",
            data,
            y,
            arm,
            n_items,
            treated_arm(_control_law(y, arm, n_items)),
            constrained=constrained,
            sampling=sampling,
        )
    people = _read_groups(y, arm, by, direct, data)
    said, missing = _count_arms(people, n_items, sampling)
    shows = "shares" if direct is None else "combined"
    if direct is not None and sampling is not None:
        raise InvalidRequest(
            "direct= does not go with sampling=; expected people drawn one by one.",
            "Estimate by=, the direct answer, with the sampling.",
        )
    return Statistic(ListExperiment(n_items, said, people.names, shows, missing))


def _read_items(n_items: object) -> int:
    if (
        not isinstance(n_items, int | np.integer)
        or isinstance(n_items, bool)
        or not 1 <= n_items <= MAX_ITEMS
    ):
        raise InvalidRequest(
            f"n_items is {quoted(n_items)}; expected the number of items besides the sensitive one, 1 to {MAX_ITEMS}."
        )
    return int(n_items)


def _read_column(column: Any, name: str) -> Vector:
    """Read numbers, of which some may be missing."""
    items = to_items(column)
    try:
        values = [
            math.nan if is_absent(item) else float(item)
            for item in (list(column) if items is None else items)
        ]
    except (TypeError, ValueError, OverflowError):
        raise InvalidRequest(
            f"{name} holds something that is no number; expected a column of numbers."
        ) from None
    return vector(values)


def _check_counts(counts: Vector, treated: Vector, n_items: int) -> None:
    """Refuse counts that nobody of an arm can have."""
    check_rows(treated, "arms", len(counts))
    _check_truths(treated, "treated")
    most = n_items + np.nan_to_num(treated)
    is_wrong = (counts < 0) | (counts > most) | (counts != np.floor(counts))
    is_wrong &= ~np.isnan(counts)
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise InvalidRequest(
            f"counts holds no possible count in row {row + 1:,}; expected 0 to {n_items} in the control arm, and to "
            f"{n_items + 1} in the treated arm.",
            "Check n_items=, which does not count the sensitive item, and which arm is 1 in treated=.",
        )


def _check_truths(column: Vector, name: str) -> None:
    if not (np.isnan(column) | np.isin(column, (0, 1))).all():
        raise InvalidRequest(
            f"{name} is not always 1 or 0; expected these, or True and False."
        )


def _control_law(counts: Vector, treated: Vector, n_items: int) -> Vector:
    control = counts[(treated == 0) & ~np.isnan(counts)].astype(np.intp)
    return vector(np.bincount(control, minlength=n_items + 1))


def _read_table(table: object, n_items: int) -> ResponseShares:
    """Read the numbers of people with each count, in the control and in the treated arm."""
    try:
        rows = [np.asarray(row, np.float64) for row in table]  # type: ignore[attr-defined]  # else it is none
    except (TypeError, ValueError):
        rows = []
    sizes = [row.size if row.ndim == 1 else 0 for row in rows]
    is_table = len(rows) == 2 and min(sizes) >= 1
    padded = (
        [np.append(row, np.zeros(max(0, n_items + 2 - row.size))) for row in rows]
        if is_table
        else []
    )
    is_counts = is_table and all(
        row.size == n_items + 2
        and (row >= 0).all()
        and (row == np.floor(row)).all()
        and row.sum() <= _MOST_PEOPLE
        for row in padded
    )
    if not is_counts or padded[0][-1] > 0:
        raise InvalidRequest(
            f"counts is no table of both arms; expected the numbers of people with 0 to {n_items} items in the control "
            f"arm, and with 0 to {n_items + 1} in the treated arm.",
            "For example dn.list_experiment([[8, 132, 222, 227], [19, 123, 229, 219, 34]], n_items=3), or treated= of "
            "each person.",
        )
    return _shares_of(padded)


def _shares_of(arms: Sequence[Vector]) -> ResponseShares:
    if any(arm.sum() < 2 for arm in arms):
        raise NotEstimable(
            "an arm has fewer than 2 people; expected at least 2 in each arm of each group."
        )
    return ResponseShares.of_counts(arms)


def _read_groups(
    counts: Vector, treated: Vector, by: object, direct: object, data: object
) -> _Arms:
    """Return the people with the number of their group, −1 where it is missing."""
    group = np.zeros(len(counts), np.intp)
    names: tuple[str, ...] = ("",)
    if direct is not None:
        if by is not None:
            raise InvalidRequest(
                "by= and direct= are both given; expected one of them.",
                "Estimate each group on its own with direct=.",
            )
        admits = _read_column(named_column(direct, data, "direct"), "direct")
        check_rows(admits, "direct answers", len(counts))
        _check_truths(admits, "direct")
        group, names = np.nan_to_num(admits, nan=-1.0).astype(np.intp), _DIRECT
    elif by is not None:
        labels, codes = number_groups(named_column(by, data, "groups"))
        check_rows(codes, "groups", len(counts))
        known = [code for code, label in enumerate(labels) if label is not None]
        places = np.full(len(labels), -1)
        places[known] = np.arange(len(known))
        group = places[np.asarray(codes)]
        names = tuple(group_name(labels[code]) for code in known)
    absent = np.isnan(counts) | np.isnan(treated)
    return _Arms(counts, treated, np.where(absent, -1, group), names)


def _count_arms(
    people: _Arms, n_items: int, sampling: Sampling | None
) -> tuple[ResponseShares, int]:
    """Return the shares of counts in each arm of each group, and the number of people who are in none."""
    cells = [
        (people.group == number) & (people.treated == arm)
        for number, arm in product(range(len(people.names)), (0, 1))
    ]
    missing = int((people.group < 0).sum())
    if sampling is None:
        tables = [
            np.bincount(people.counts[rows].astype(np.intp), minlength=n_items + 2)
            for rows in cells
        ]
        return _shares_of(list(map(vector, tables))), missing
    design = direct_question([str(count) for count in range(n_items + 2)])
    columns = [
        [
            str(int(count)) if is_in else None
            for count, is_in in zip(np.nan_to_num(people.counts), rows, strict=True)
        ]
        for rows in cells
    ]
    groups = [Responses.of(design, column) for column in columns]
    said = gather(groups, sampling)[1]
    assert said is not None
    return said, missing
