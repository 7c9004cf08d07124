"""Prevalence by an imperfect test: a channel that was itself estimated, from results about known cases.

Of k results and k true states, with P the shares of results among the validated cases of each state and λ the shares of
results among the people tested, π = P⁻¹λ. Its error is that of λ and that of P, which were measured on other people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import xlogy

from deniable import documents
from deniable.designs import direct
from deniable.designs.labels import Labels
from deniable.designs.labels import read as read_labels
from deniable.errors import InvalidRequest, NotEstimable, quoted
from deniable.estimates.compliance.response_shares import (
    Group,
    ResponseShares,
    Samplings,
    gather,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import quantile
from deniable.estimates.results import Bounds, Caution, Description, IntervalMethod
from deniable.estimates.sampling.intervals import ratio_bounds
from deniable.estimates.statistics import Model, Statistic
from deniable.rendering import formats
from deniable.rendering.statements import SHARE

_SINGULAR = 1e-9  # relative size below which a singular value is rounding


@dataclass(frozen=True, eq=False)
class ImperfectTest(Model):
    """The shares of true states among people with results of a test, and among validated cases.

    Attributes:
        categories: the states; of two, the second is positive.
        results: the number of people tested with each result.
        validation: the numbers of validated cases: a row for each result, a column for each true state.
        sampled: of a sample with weights or clusters: the shares of results, in place of the counts.
    """

    type: ClassVar = "prevalence"
    categories: tuple[str, ...]
    results: Vector
    validation: Matrix
    sampled: ResponseShares | None = None

    @property
    def _is_binary(self) -> bool:
        return len(self.categories) == 2

    @cached_property
    def _shares(self) -> Vector:
        """The shares λ of the results."""
        if self.sampled is not None:
            return self.sampled.value
        return vector(self.results / self.results.sum())

    @cached_property
    def channel(self) -> Matrix:
        """The shares P of results (rows) among the validated cases of each state (columns)."""
        return vector(self.validation / self.validation.sum(axis=0))

    @cached_property
    def _inverse(self) -> Matrix:
        inverse = vector(np.linalg.inv(self.channel))
        return inverse[1:] if self._is_binary else inverse

    @cached_property
    def _states(self) -> Vector:
        return vector(np.linalg.solve(self.channel, self._shares))

    @property
    def params(self) -> dict[str, float]:
        if self._is_binary:
            return {"prevalence": float(self._states[1])}
        return dict(zip(self.categories, self._states.tolist(), strict=True))

    def covariance_matrix(self) -> Matrix:
        """Return P⁻¹·[Cov λ + Σ_j π_j²·Cov P_j]·P⁻ᵀ."""
        validated = zip(
            self._states, self.channel.T, self.validation.sum(axis=0), strict=True
        )
        channel_errors = sum(
            share**2 * _multinomial(column, n) for share, column, n in validated
        )
        return self._carry(self._result_covariance + channel_errors)

    def known_covariance(self) -> Matrix:
        """Return the covariance that a test with exactly these errors would leave."""
        return self._carry(self._result_covariance)

    def _carry(self, covariance: Matrix) -> Matrix:
        return vector(self._inverse @ covariance @ self._inverse.T)

    @property
    def _result_covariance(self) -> Matrix:
        if self.sampled is not None:
            return self.sampled.covariance
        return _multinomial(self._shares, self.results.sum())

    @property
    def collected(self) -> tuple[str, ...]:
        return (
            "The results are those of a test, whose errors were estimated from validated cases.",
        )

    @property
    def df(self) -> float:
        return (
            math.inf if self.sampled is None else float(self.sampled.degrees.min())
        )

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "profile", "fieller" and "lang-reiczigel" for two states; "normal" is Rogan and Gladen's."""
        if not self._is_binary:
            return {}
        methods = {
            "profile": self._profile,
            "fieller": self._fieller,
            "lang-reiczigel": self._lang_reiczigel,
        }
        return {
            name: partial(self._bounds, method) for name, method in methods.items()
        }

    def _bounds(self, method: Any, level: float) -> Bounds:
        lows, highs = method(quantile(level, self.df))
        return vector([lows]).ravel(), vector([highs]).ravel()

    @cached_property
    def _table(self) -> Matrix:
        """The positives and the size of each sample: cases, non-cases, and people tested (as many as they tell)."""
        effective = self.results if self.sampled is None else self.sampled.counts
        columns = np.column_stack([self.validation[:, ::-1], effective])
        return np.stack([columns[1], columns.sum(axis=0)])

    def _profile(self, z: float) -> tuple[float, float]:
        """Return all π with 2(l_max − l(π)) ≤ z², l the likelihood at its best sensitivity and specificity."""
        best = min(max(float(self._states[1]), 0.0), 1.0)
        top = _profile_likelihood(self._table, best)

        def excess(share: float) -> float:
            return 2 * (top - _profile_likelihood(self._table, share)) - z**2

        low, high = (
            end if excess(end) <= 0 else brentq(excess, best, end, xtol=1e-12)
            for end in SHARE
        )
        return low, high

    def _fieller(self, z: float) -> Bounds:
        """Return all π with (t − u − π(v − u))² ≤ z²·[V(t) + π²·V(v) + (1 − π)²·V(u)]."""
        cases, others, tested = self._variances
        polynomial = vector([[tested + others], [-2 * others], [cases + others]])
        return ratio_bounds(
            self._states[1:], polynomial / self._distance**2, z, SHARE
        )

    @property
    def _distance(self) -> float:
        """Sensitivity + specificity − 1."""
        return float(self.channel[1, 1] - self.channel[1, 0])

    @property
    def _variances(self) -> Vector:
        """The variances of sensitivity, of 1 − specificity, and of the share of positives."""
        shares = self.channel[1, ::-1]
        variances = shares * (1 - shares) / self.validation.sum(axis=0)[::-1]
        return np.append(variances, self._result_covariance[1, 1])

    def _lang_reiczigel(self, z: float) -> Bounds:
        """Return the interval around a shifted value, with one more success and failure in each validation [LR14]."""
        added = np.array([[1, 1, z**2 / 2], [2, 2, z**2]])
        hits, sizes = self._table + added
        v, u, t = shares = hits / sizes
        variances = shares * (1 - shares) / sizes
        value = (t - u) / (v - u)
        weights = np.array([value, 1 - value, 1.0])
        shift = 2 * z**2 * (value * variances[0] - (1 - value) * variances[1])
        half = z * math.sqrt(weights**2 @ variances) / abs(v - u)
        center = value + shift
        return np.clip(center - half, *SHARE), np.clip(center + half, *SHARE)

    @property
    def warnings(self) -> tuple[Caution, ...]:
        texts = {}
        if not ((self._states >= 0) & (self._states <= 1)).all():
            texts["outside"] = (
                "a share lies outside of 0 and 1: the results are fewer or more than the errors of the test make "
                "without any case. By chance, or because the test errs otherwise here than in its validation."
            )
        spread = quantile(0.95) * math.sqrt(self._variances[:2].sum())
        if self._is_binary and self._distance <= spread:
            texts["weak"] = (
                "the validation does not show that positives are more frequent among cases (at 95%): the interval may "
                "hold every share. Validate more cases."
            )
        return tuple(Caution(code, text) for code, text in texts.items())

    def describe(self) -> Description:
        n = int(self.results.sum())
        sample = f", {self.sampled.sample}" if self.sampled else ""
        return Description(
            title=f"prevalence by a test of {n:,} people{sample}",
            quantity="prevalence",
            method="rogan-gladen",
            respondents=n,
            epsilon=math.inf,
            notes=(self._validation_note(), self._error_note()),
        )

    def _validation_note(self) -> str:
        sizes = self.validation.sum(axis=0)
        correct = np.diagonal(self.validation)
        names = (
            ("specificity", "sensitivity") if self._is_binary else self.categories
        )
        rates = [
            f"{name} {formats.percent(hits / size)} ({hits:,.0f} of {size:,.0f})"
            for name, hits, size in zip(names, correct, sizes, strict=True)
        ]
        lead = "Validation: " if self._is_binary else "Correct in the validation: "
        return f"{lead}{formats.listing(rates[:: -1 if self._is_binary else 1])}."

    def _error_note(self) -> str:
        known, both = (
            np.sqrt(np.diagonal(covariance)).max()
            for covariance in (self.known_covariance(), self.covariance_matrix())
        )
        which = "error" if self._is_binary else "largest error"
        return (
            f"The {which} {both:.3g} holds that of the validation; were the test's errors known exactly, it would be "
            f"{known:.3g}."
        )

    def to_source(self) -> dict[str, Any]:
        return {
            "categories": list(self.categories),
            "results": self.results.tolist(),
            "validation": self.validation.tolist(),
            "sampled": None if self.sampled is None else self.sampled.to_body(),
        }

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: None) -> ImperfectTest:  # noqa: ARG003 - there is none
        categories, results, validation = (
            documents.field(source, name, list)
            for name in ("categories", "results", "validation")
        )
        sampled = source.get("sampled")
        return _read_test(
            results,
            validation,
            categories,
            None if sampled is None else ResponseShares.from_body(sampled),
        )


def _multinomial(shares: Vector, n: float) -> Matrix:
    return vector((np.diag(shares) - np.outer(shares, shares)) / n)


def _tilted(hits: float, n: float, slope: float) -> float:
    """Return the share s that maximizes hits·ln s + (n − hits)·ln(1 − s) − slope·s."""
    total = n + slope
    root = math.sqrt(max(total**2 - 4 * slope * hits, 0.0))
    return 2 * hits / (total + root) if total > 0 else (total - root) / (2 * slope)


def _profile_likelihood(table: Matrix, share: float) -> float:
    """Return the largest log-likelihood at a prevalence.

    Why: the likelihood is concave in sensitivity v, 1 − specificity u and the share t of positives, which one equation
    t = π·v + (1 − π)·u joins. With its multiplier m each of the three is the root of a quadratic equation, and what the
    equation leaves over grows with m.
    """
    samples = list(zip(*table.tolist(), (share, 1 - share, -1.0), strict=True))

    def shares(multiplier: float) -> list[float]:
        return [_tilted(hits, n, multiplier * weight) for hits, n, weight in samples]

    def excess(multiplier: float) -> float:
        v, u, t = shares(multiplier)
        return t - share * v - (1 - share) * u

    reach = float(table[1].sum())
    while excess(-reach) > 0 or excess(reach) < 0:
        reach *= 2
    best = np.array(shares(brentq(excess, -reach, reach, xtol=1e-13, rtol=1e-14)))
    hits, n = table
    return float((xlogy(hits, best) + xlogy(n - hits, 1 - best)).sum())


def prevalence(
    positive: int | Sequence[int] | Group,
    n: int | None = None,
    *,
    sensitivity: Sequence[int] | None = None,
    specificity: Sequence[int] | None = None,
    validation: ArrayLike | None = None,
    categories: Labels | None = None,
    sampling: Samplings = None,
) -> Statistic[ImperfectTest]:
    """Estimate the prevalence of a condition from an imperfect test, whose errors were estimated, too.

    Implements: the estimate of [RG78]; intervals by profile likelihood (the default), Fieller's and [LR14], which hold
    the errors of sensitivity and specificity. With more than two results P⁻¹λ with its covariance by the delta method.

    Args:
        positive: how many of the people tested were positive; or how many had each result; or a tally of `direct()`,
            with weights or without, or responses to it with a sampling.
        n: how many people were tested.
        sensitivity: of validated cases, how many were positive, and how many there were.
        specificity: of validated people who are no cases, how many were negative, and how many there were.
        validation: in place of both, validated people: a row for each result, a column for each true state, negative
            first.
        categories: the states, of more than two; numbered, if they are not given.
        sampling: of responses: how these people were drawn.

    Raises:
        InvalidRequest: counts that are none, or that do not fit each other.
        NotEstimable: a test that does not tell the states apart.

    Example:
        >>> found = prevalence(80, 1000, sensitivity=(90, 100), specificity=(196, 200))
        >>> print(f"{found.value:.4f}", f"{found.interval('prevalence'):.4f}")
        0.0682 0.0351 … 0.0950
    """
    table = _read_validation(sensitivity, specificity, validation)
    sampled = None
    if isinstance(positive, int | np.integer):
        counts: Any = [-1 if n is None else int(n) - int(positive), int(positive)]
    elif n is not None:
        raise InvalidRequest(
            "positive holds the number of each result, and n is given, too; expected one of them.",
            "Omit n=.",
        )
    elif isinstance(positive, Sequence | np.ndarray):
        counts = positive
    else:
        (tally,), sampled = gather([positive], sampling)
        if tally.design.channel != direct(len(table)).channel:
            raise InvalidRequest(
                f"the results were not counted as they are; expected responses to dn.direct() with {len(table)} "
                "categories."
            )
        counts = tally.counts
    return Statistic(_read_test(counts, table, categories, sampled))


def _read_validation(
    sensitivity: object, specificity: object, validation: object
) -> Any:
    """Return the table of validated people."""
    if validation is not None:
        if sensitivity is not None or specificity is not None:
            raise InvalidRequest(
                "there are a validation table and sensitivity or specificity; expected the table alone, or both "
                "of these."
            )
        return validation
    columns = []
    for name, pair in {
        "specificity": specificity,
        "sensitivity": sensitivity,
    }.items():
        numbers = _read_counts(() if pair is None else pair, name)
        if numbers.shape != (2,) or not numbers[0] <= numbers[1]:
            raise InvalidRequest(
                f"{name} is {quoted(pair)}; expected how many results were right and of how many.",
                f"For example {name}=(90, 100).",
            )
        columns.append([numbers[0], numbers[1] - numbers[0]])
    return np.column_stack([columns[0], columns[1][::-1]])


def _read_counts(given: object, name: str) -> Vector:
    """Read whole numbers."""
    try:
        counts = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        counts = np.array(-1.0)
    if not ((counts >= 0) & (counts == np.floor(counts)) & (counts < 2**53)).all():
        raise InvalidRequest(
            f"{name} holds something that is no count; expected whole numbers, 0 or more."
        )
    return counts


def _read_test(
    results: object,
    validation: object,
    categories: Labels | None,
    sampled: ResponseShares | None,
) -> ImperfectTest:
    counts, table = (
        _read_counts(results, "positive"),
        _read_counts(validation, "validation"),
    )
    size = len(counts) if counts.ndim == 1 else 0
    if size < 2 or table.shape != (size, size) or not counts.sum() > 0:
        raise InvalidRequest(
            f"there are counts of {size} results and a validation table of {' × '.join(map(str, table.shape))}; "
            "expected at least 2 results, people tested, and as many rows and columns as results.",
            "For example dn.prevalence(80, 1000, sensitivity=(90, 100), specificity=(196, 200)).",
        )
    if not (table.sum(axis=0) > 0).all():
        raise NotEstimable(
            "a state has no validated case; expected some of each, to know how the test errs."
        )
    names = read_labels(size if categories is None else categories)
    if len(names) != size:
        raise InvalidRequest(
            f"there are {len(names)} categories; expected {size}, one for each result."
        )
    test = ImperfectTest(tuple(names), vector(counts), vector(table), sampled)
    _check_rank(test)
    return test


def _check_rank(test: ImperfectTest) -> None:
    """Refuse a test that does not tell the states apart.

    Raises:
        NotEstimable: such a test.
    """
    values = np.linalg.svd(test.channel, compute_uv=False)
    if values[-1] <= _SINGULAR * values[0] or (
        test._is_binary and test._distance <= 0
    ):
        raise NotEstimable(
            "the validated states have the same results, or positives are rarer among cases than among others; "
            "expected a test that tells them apart.",
            "Check which column of the validation holds the cases, and which result is positive.",
        )
