"""A regression that was fitted: coefficients with their errors, tests, effects, predictions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import expit
from scipy.stats import chi2, norm, t

from deniable.designs import Design
from deniable.designs.labels import format_labels
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    NotEstimable,
    UnreadableFile,
    count_noun,
    quoted,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import quantile
from deniable.estimates.regression.columns import Covariates
from deniable.estimates.regression.evidence import Evidence, Mask
from deniable.estimates.regression.likelihoods import EquationLaw
from deniable.estimates.regression.models import (
    RowLikelihood,
    SampledLikelihood,
    highest,
    invert_information,
    profile_end,
)
from deniable.estimates.results import (
    AROUND,
    Bounds,
    Caution,
    Columns,
    Description,
    IntervalMethod,
    IntervalRequest,
    Result,
    Row,
    RowType,
    bounds_around,
    words_of,
)
from deniable.estimates.sampling import People, Sampling
from deniable.estimates.sampling.intervals import ratio_bounds
from deniable.estimates.summary import rests_on
from deniable.estimates.testing import (
    HypothesisTest,
    constraints,
    likelihood_ratio,
    wald_test,
)
from deniable.rendering import formats
from deniable.rendering.statements import ANY

if TYPE_CHECKING:
    import pandas as pd

    from deniable.estimates.regression.effects import Effects, OddsRatios
    from deniable.estimates.statistics import Statistic

ERRORS = {
    "observed": "observed information",
    "expected": "expected information",
    "outer": "outer product of scores",
    "robust": "robust (HC0)",
    "sampling": "how the sample was drawn",
}
"""The standard errors that can be asked for, and how a table calls them."""

HONESTY, ERROR_DEVIATION, GROUP_DEVIATION = (
    "honesty t",
    "sd of errors",
    "sd of intercepts",
)
"""What coefficients beside those of covariates are called; no formula makes such names. Of more than two answers the
deviation of intercepts has the answer in front, as their coefficients have."""


def is_group_deviation(name: str) -> bool:
    """Return whether a coefficient is the deviation of intercepts, of one answer or of all.

    Example:
        >>> [is_group_deviation(name) for name in ("sd of intercepts", "often: sd of intercepts", "often: age")]
        [True, True, False]
    """
    return name.rpartition(": ")[2] == GROUP_DEVIATION


def shown_value(name: str, theta: float) -> float:
    """Return a coefficient as it is shown: honesty is climbed as its logit, sigma as its logarithm."""
    if name == HONESTY:
        return float(expit(theta))
    if name == ERROR_DEVIATION:
        return math.exp(theta)
    # σ and −σ are one model
    return abs(theta) if is_group_deviation(name) else theta


def _scale(name: str, shown: float) -> float:
    """Return d(climbed)/d(shown) of a coefficient."""
    if name == HONESTY:
        return 1 / (shown * (1 - shown))
    return 1 / shown if name == ERROR_DEVIATION else 1.0


@dataclass(frozen=True, slots=True)
class CoefficientRow(Row):
    """A coefficient.

    Attributes:
        z: how many standard errors it is away from 0.
        p_value: how often it would be as far away by chance, were it 0.
    """

    COLUMNS: ClassVar[Columns] = (
        ("estimate",),
        ("error",),
        ("z",),
        ("p_value",),
        ("low", "high"),
    )
    HEADS: ClassVar[Mapping[str, str]] = {"error": "std err", "p_value": "P>|z|"}

    z: float
    p_value: float


def z_columns(values: Vector, errors: Vector, df: float) -> dict[str, list[float]]:
    """Return the columns of `CoefficientRow`: value over standard error, and its two-sided p-value by Student's t."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = values / errors
    tails = t.sf(np.abs(z), df) if math.isfinite(df) else norm.sf(np.abs(z))
    return {"z": z.tolist(), "p_value": (2 * tails).tolist()}


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that a regression was fitted to, kept for effects, predictions and other errors; never written out.

    Attributes:
        names: of the coefficients.
        likelihood: of all coefficients, as they are climbed.
        rows: the likelihood of rows, without random intercepts, with the weights of the sample.
        theta: the coefficients as they are climbed.
        covariates: how columns are made from data.
        frame: the columns of the data that the formula reads.
        evidence: what the rows sent.
        expected: the expected information; None where it is not known.
        sampling: how the people were drawn, of all rows of the table; None where nothing was said about it.
        is_used: which rows of the table these are.
    """

    names: tuple[str, ...]
    likelihood: SampledLikelihood
    rows: RowLikelihood
    theta: Vector
    covariates: Covariates
    frame: pd.DataFrame
    evidence: Evidence
    expected: Matrix | None
    sampling: Sampling | None
    is_used: Mask

    def shown_values(self, theta: Vector) -> Vector:
        """Return coefficients as they are shown, from those that are climbed."""
        return vector(list(map(shown_value, self.names, theta.tolist())))

    @cached_property
    def scales(self) -> Vector:
        """The derivative of each climbed coefficient by the shown one: 1 for most."""
        values = self.shown_values(self.theta).tolist()
        return vector(list(map(_scale, self.names, values)))

    @property
    def eta(self) -> Matrix:
        """The predictors of each row; with random intercepts, in the middle of its group."""
        return self.rows.eta(self.theta[: self.rows.size])

    def scores(self) -> Matrix:
        """Return the weighted gradient of each row, or group of rows, by the shown coefficients."""
        return self.likelihood.scores(self.theta) * self.scales

    def covariance(self, errors: str, information: Matrix) -> Matrix:
        """Return the covariance of the shown coefficients.

        Raises:
            InvalidRequest: errors that do not exist, or that these rows do not have.
            NotEstimable: an information that is not positive definite.
        """
        available = [
            name
            for name in ERRORS
            if name != "sampling" or self.sampling is not None
        ]
        if errors not in available:
            raise InvalidRequest(
                f"the errors are {quoted(errors)}; expected one of {', '.join(available)}.",
                "Say how people were drawn: sampling=dn.Sampling(weights, strata=…, clusters=…).",
            )
        if errors == "expected":
            if self.expected is None:
                raise InvalidRequest(
                    "the expected information is not known for this regression; expected other errors.",
                    'Use "observed" or "robust".',
                )
            information = self.expected
        law = self.rows.law
        if not law.has_likelihood and errors in ("observed", "outer"):
            raise InvalidRequest(
                f'this regression has no likelihood, and no {errors!r} errors; expected "robust" or "sampling".'
            )
        if errors in ("observed", "expected"):
            return _invert(information)
        scores = self.scores()
        products = scores.T @ scores
        if errors == "outer":
            return _invert(products)
        bread = _invert(information, is_definite=not law.is_equation)
        if errors == "sampling" and self.sampling is not None:
            return self._sampling_covariance(bread, scores, self.sampling)
        return vector(bread @ products @ bread)

    def _sampling_covariance(
        self, bread: Matrix, scores: Matrix, sampling: Sampling
    ) -> Matrix:
        """Return the covariance over samples, and over the answers and the responses of those who are in them.

        Implements: pseudo-likelihood [Bin83]; with replicates, the spread of the regressions fitted to each.

        Why: rows that could not be used stay in the variance, with scores of 0: how many there are is chance, too. A
        sampled fraction f takes f of the variance away, and coefficients are about the law by which people answer,
        which is seen no better where all of them were asked: f·Σ w²·s·s′ is added again. The score of a group with an
        intercept of its own stands in its first row: it lies in one cluster, and only sums over clusters are looked at.
        """
        return self._people_covariance(
            scores @ bread, sampling, self._refitted_values
        )

    def _people_covariance(
        self,
        scores: Matrix,
        sampling: Sampling,
        numbers: Callable[[Matrix], Matrix],
    ) -> Matrix:
        """Return the covariance of sums of weighted scores over samples, answers and responses."""
        indices = np.flatnonzero(self.is_used)[self.likelihood.first_rows]
        influence = np.zeros((len(sampling), scores.shape[1]))
        influence[indices] = scores / sampling.weights[indices][:, None]
        covariance = People.of(sampling).covariance(influence, numbers)
        finite = (scores.T * sampling.finite[indices]) @ scores
        return vector(covariance + finite)

    def ratio_variances(self, information: Matrix) -> Matrix:
        """Return for each slope of a randomized predictor V(e₀ − b·e₁)/N² as a polynomial in b; NaN for others.

        Implements: the effective score e_i(b) = e₀_i − b·e₁_i, N = Σ e₁: the score of the slope at b, less what the
        scores of all other coefficients explain of it. The others solve their equations at b, which are linear in b.
        """
        polynomials = np.full((3, len(self.names)), np.nan)
        law, sampling = self.rows.law, self.sampling
        is_linear = isinstance(law, EquationLaw) and law.family == "linear"
        if not is_linear or sampling is None:
            return polynomials
        for block in self.rows.blocks[1:]:
            slope, size = block.start, len(self.names)
            free = np.arange(size) != slope
            explained = np.linalg.solve(
                information[np.ix_(free, free)], information[free, slope]
            )
            scores = []
            for value in (0.0, 1.0):
                theta = self.theta.copy()
                theta[free] += explained * (theta[slope] - value)
                theta[slope] = value
                row_scores = self.rows.scores(theta)
                scores.append(row_scores[:, slope] - row_scores[:, free] @ explained)
            effective = np.column_stack([scores[0], scores[0] - scores[1]])
            covariance = self._effective_covariance(effective, sampling)
            curve = float(effective[:, 1].sum()) ** 2
            polynomials[:, slope] = (
                vector([covariance[0, 0], -2 * covariance[0, 1], covariance[1, 1]])
                / curve
            )
        return polynomials

    def _effective_covariance(self, effective: Matrix, sampling: Sampling) -> Matrix:
        weighted = sampling.weights[self.is_used][:, None]

        def totals(weights: Matrix) -> Matrix:
            return vector(weights[self.is_used].T @ (effective / weighted))

        return self._people_covariance(effective, sampling, totals)

    def _refitted_values(self, weights: Matrix) -> Matrix:
        """Return the coefficients of the regression fitted with each column of weights, a row each."""
        values = []
        for column in weights[self.is_used].T:
            top = highest(self.likelihood.reweighted(column), [self.theta])
            if not top.converged:
                raise NotEstimable(
                    "the regression of a replicate has no maximum; expected one in each.",
                    "Leave replicates away: the linearized variance needs no other fit. Or take fewer terms.",
                )
            values.append(self.shown_values(top.theta))
        return np.stack(values)


def _invert(information: Matrix, *, is_definite: bool = True) -> Matrix:
    inverse = invert_information(information, is_definite=is_definite)
    if inverse is None:
        raise NotEstimable(
            "the information is not positive definite; expected a maximum that is not flat."
        )
    return inverse


@dataclass(frozen=True, eq=False)
class Regression(Result[CoefficientRow]):
    """A regression on randomized responses.

    Attributes:
        formula: what was asked.
        family: "logit", "probit", "cloglog", "multinomial", "linear" or "normal"; with a predictor, "linear", "logit"
            or "log" for the mean of the outcome, "normal" or "bernoulli" for its law.
        names: of the coefficients.
        values: the coefficients.
        covariance: theirs, of the kind that `errors` names.
        information: minus the Hessian of the log-likelihood.
        log_likelihood: at the maximum, up to a constant of the design for sets; not a number for linear regressions.
        errors: what the standard errors are: "observed", "expected", "outer", "robust" or "sampling".
        designs: what rows were asked with, by device; one, without a name, where all were asked with the same.
        respondents: how many rows were used.
        dropped: how many were not, by reason.
        worth: how many direct answers the responses are worth for these coefficients; not a number where unknown.
        steps: how many steps to the maximum were taken.
        cautions: what calls for care.
        sampled: how variances of the sample are found and how many people, clusters and strata it has, in words;
            nothing without `sampling=`.
        degrees: degrees of freedom of a sample; 0 without.
        groups: how many groups have an intercept of their own; 0 without.
        ratios: of slopes of a randomized predictor, the variance that Fieller's interval needs, as a polynomial in the
            slope (constant, slope, square); not a number for other coefficients.
        sample: the rows; None for a regression that was read from a file.
    """

    type: ClassVar = "regression"

    formula: str
    family: str
    names: tuple[str, ...]
    values: Vector = field(repr=False)
    covariance: Matrix = field(repr=False)
    information: Matrix = field(repr=False)
    log_likelihood: float
    errors: str
    designs: tuple[tuple[str, Design], ...] = field(repr=False)
    respondents: int
    dropped: Mapping[str, int] = field(repr=False)
    worth: float = field(repr=False)
    steps: int = field(repr=False)
    cautions: tuple[Caution, ...] = field(repr=False)
    sampled: str = field(repr=False)
    degrees: int = field(repr=False)
    groups: int = field(repr=False)
    ratios: Matrix = field(repr=False)
    sample: Sample | None = field(default=None, repr=False)

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.names, self.values.tolist(), strict=True))

    @property
    def bse(self) -> dict[str, float]:
        """The standard errors; not a number for a deviation of intercepts that is 0, on the border."""
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.diagonal(self.covariance)).tolist()
        return {
            name: math.nan if value == 0 and is_group_deviation(name) else error
            for (name, value), error in zip(self.params.items(), errors, strict=True)
        }

    def cov_params(self) -> Matrix:
        return self.covariance.copy()

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.cautions

    @property
    def categories(self) -> Sequence[str]:
        """The answers; coefficients of a regression with more than two compare the others with the first."""
        return self.designs[0][1].categories

    @property
    def df(self) -> float:
        return self.degrees if self.errors == "sampling" else math.inf

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return "normal" ("t" with `sampling=`, where it is the default), "chebyshev" and "profile".

        The slope of a randomized predictor has Fieller's interval by default; it is unbounded where the data do not
        show that anybody has the answer.

        A profile interval holds all values whose likelihood is not much below the best. It needs the rows, and covers
        also where a coefficient runs off. A standard deviation of intercepts that is 0 has no standard error and an
        interval by "profile" alone; an interval of a standard deviation never begins below 0.
        """
        methods: dict[str, IntervalMethod] = {
            name: partial(self._positive_bounds, name) for name in AROUND
        }
        methods["profile"] = self._profile_bounds
        if self.degrees < 1:
            return methods
        if np.isfinite(self.ratios).any():
            methods = {"fieller": self._fieller_bounds, **methods}
        student = partial(self._positive_bounds, "normal", df=self.degrees)
        return (
            {"t": student, **methods}
            if self.errors == "sampling" and "fieller" not in methods
            else {**methods, "t": student}
        )

    def _fieller_bounds(self, level: float) -> Bounds:
        """Return Fieller's interval for each slope of a randomized predictor, and Student's for other coefficients."""
        lows, highs = self._positive_bounds("normal", level, self.degrees)
        is_slope = np.isfinite(self.ratios).all(axis=0)
        lows[is_slope], highs[is_slope] = ratio_bounds(
            self.values[is_slope],
            self.ratios[:, is_slope],
            quantile(level, self.degrees),
            ANY,
        )
        return lows, highs

    def _positive_bounds(
        self, method: str, level: float, df: float = math.inf
    ) -> Bounds:
        """Return value ± a multiple of the standard error; deviations of intercepts are never negative."""
        errors = vector(list(self.bse.values()))
        lows, highs = bounds_around(self.values, errors, method, level, df)
        is_deviation = np.array(list(map(is_group_deviation, self.names)))
        return np.where(is_deviation, np.maximum(lows, 0.0), lows), highs

    def _profile_bounds(self, level: float) -> Bounds:
        """Return for each coefficient the range with 2(l − l_profile) within the quantile of χ²; it may be infinite."""
        if self.sampled or math.isnan(self.log_likelihood):
            raise InvalidRequest(
                'the interval method is "profile", which needs a likelihood without weights; expected "normal".'
            )
        sample = self._require_sample()
        floor = self.log_likelihood - float(chi2.ppf(level, 1)) / 2
        bounds = []
        for index, name in enumerate(self.names):
            # σ and −σ are one model: the profile ends at 0
            low_reach = sample.theta[index] if is_group_deviation(name) else math.inf
            ends = [
                profile_end(
                    sample.likelihood, sample.theta, floor, index, sign, reach
                )
                for sign, reach in ((-1, low_reach), (1, math.inf))
            ]
            bounds.append([shown_value(name, end) for end in ends])
        lows, highs = vector(bounds).T
        return lows, highs

    @property
    def _row_type(self) -> RowType:
        return CoefficientRow

    def _row_columns(self, request: IntervalRequest) -> Mapping[str, Sequence[Any]]:  # noqa: ARG002 - z has no level
        errors = vector(list(self.bse.values()))
        null_errors = np.sqrt(self.ratios[0])
        is_slope = np.isfinite(null_errors)
        return z_columns(
            self.values, np.where(is_slope, null_errors, errors), self.df
        )

    def test(self, hypothesis: str | Sequence[str]) -> HypothesisTest:
        """Test linear hypotheses by Wald's test; of one slope of a randomized predictor, by its effective score.

        Why: under "slope = b" the effective score has mean 0 whatever the share of the answer, so that the test keeps
        its level where the answer is rare. Fieller's interval holds the values that this test does not reject.

        Raises:
            InvalidRequest: something that is not a hypothesis about these numbers.
            NotEstimable: hypotheses that say the same twice, or more of them than there are degrees of freedom.
        """
        wald = super().test(hypothesis)
        matrix, right = constraints(hypothesis, self.names)
        used = np.flatnonzero(matrix.any(axis=0))
        if len(matrix) > 1 or len(used) > 1 or np.isnan(self.ratios[0, used]).any():
            return wald
        value = right / matrix[0, used]
        constant, slope, square = self.ratios[:, used]
        variance = constant + value * (slope + value * square)
        return wald_test(
            wald.hypothesis, self.values[used] - value, [variance], self.df
        )

    def _describe(self, request: IntervalRequest) -> Description:  # noqa: ARG002 - the text has no level
        devices = ", ".join(
            f"{f'{name}: ' if name else ''}{words_of(design.name)}, ε = {formats.epsilon(design.epsilon)}"
            for name, design in self.designs
        )
        return Description(
            title=f"{self.formula} by {self.family}; {devices}; {self.respondents:,} respondents",
            quantity="coefficient",
            method=self.family,
            respondents=self.respondents,
            epsilon=max(design.epsilon for _, design in self.designs),
            missing=sum(self.dropped.values()),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        notes = []
        if math.isfinite(self.worth):
            notes.append(
                f"The cost of privacy: for these coefficients {self.respondents:,} responses are worth about "
                f"{self.worth:,.0f} direct and truthful answers."
            )
        drawn = f" ({self.sampled})" if self.errors == "sampling" else ""
        is_weighted = self.sampled and math.isfinite(self.log_likelihood)
        weighted = ", by pseudo-likelihood" if is_weighted else ""
        notes.append(f"Standard errors: {ERRORS[self.errors]}{drawn}{weighted}.")
        if math.isfinite(self.log_likelihood):
            notes.append(
                f"Log-likelihood {self.log_likelihood:,.4f} after {self.steps} steps, {len(self.names)} parameters."
            )
        if len(self.categories) > 2 and self.family == "multinomial":
            notes.append(
                f"Each answer is compared with {quoted(self.categories[0], 60)}."
            )
        if self.groups:
            is_one = GROUP_DEVIATION in self.names
            scope = "" if is_one else " for each answer but the first"
            notes.append(
                f"Each of {self.groups:,} groups has its own intercept{scope}; {GROUP_DEVIATION!r} is their deviation."
            )
            if self.sampled:
                notes.append(
                    "Weights are scaled to sum to a group's rows, and a group counts with their mean."
                )
        slopes = list(compress(self.names, np.isfinite(self.ratios[0])))
        if slopes:
            notes.append(
                f"The interval and the test of {format_labels(slopes)} are Fieller's, also right for rare answers; "
                "no law of the outcome is assumed."
            )
        for reason, count in self.dropped.items():
            notes.append(f"Left out: {count_noun(count, 'row')}, because {reason}.")
        return (
            *notes,
            *rests_on(*dict.fromkeys(design for _, design in self.designs)),
        )

    def with_errors(self, errors: str) -> Regression:
        """Return the same coefficients with other standard errors.

        Args:
            errors: "observed", "expected", "outer", "robust" or "sampling".

        Raises:
            InvalidRequest: other errors, or some that these rows do not have.
        """
        covariance = self._require_sample().covariance(errors, self.information)
        return replace(self, errors=errors, covariance=covariance)

    def scores(self) -> Matrix:
        """Return the weighted gradient of each row's log-likelihood (of each group's, with random intercepts).

        With `information` they make the errors of a sample.
        """
        return self._require_sample().scores()

    def compare(self, other: Regression) -> HypothesisTest:
        """Test this regression against one with fewer terms, or with more, by the ratio of their likelihoods.

        Why: 2(l₁ − l₀) follows χ² with as many degrees of freedom as coefficients were left out. A deviation of random
        intercepts that is 0 lies on the border, where the p value is half of that [SL87]; with a deviation for each of
        several answers the p value is the largest that any dependence between them allows [Per69].

        Raises:
            InvalidRequest: a sample with weights or clusters, or no likelihood: use `test`.
            Incompatible: other rows, another response, or equally many coefficients.
        """
        if not isinstance(other, type(self)):
            raise InvalidRequest(
                f"this is a {type(other).__name__}; expected a regression to compare with."
            )
        small, large = sorted((self, other), key=lambda fit: len(fit.names))
        df = _check_nested(small, large)
        return likelihood_ratio(
            f"Test of {small._name} against {large._name}",
            large.log_likelihood - small.log_likelihood,
            df,
            at_border=0
            if small.groups
            else sum(map(is_group_deviation, large.names)),
        )

    @property
    def _data(self) -> tuple[object, ...]:
        """What two regressions that are compared must share."""
        left = self.formula.split("~")[0].strip()
        return self.respondents, self.designs, left

    @property
    def _name(self) -> str:
        """What the regression is called beside another: its formula, and its groups."""
        groups = f" with intercepts of {self.groups:,} groups" if self.groups else ""
        return f"{self.formula}{groups}"

    def effects(self) -> Statistic[Effects]:
        """Return what each covariate changes on average: the average marginal effects.

        For a number, the slope of the probability, on average over the rows; for 0 and 1, what 1 instead of 0 changes;
        for levels, each against the one that the formula compares with (where its contrasts have none, the first). With
        random intercepts, for a group in the middle.

        Raises:
            InvalidRequest: a regression that was read from a file, which has no rows.
        """
        from deniable.estimates.regression.effects import average_effects

        return average_effects(self)

    def odds_ratios(self) -> Statistic[OddsRatios]:
        """Return the factor by which each covariate multiplies the odds: e to the power of its coefficient.

        Intervals are those of the coefficients, on the scale of odds. With more than two answers, odds are against the
        first one.

        Raises:
            InvalidRequest: a family other than "logit" and "multinomial", or no covariates.
        """
        from deniable.estimates.regression.effects import odds_ratios

        return odds_ratios(self)

    def predict(self, data: object = None, *, level: float = 0.95) -> pd.DataFrame:
        """Return the probability of each answer for rows of covariates, with intervals; for numbers their mean.

        Args:
            data: covariates; by default the rows that the regression was fitted to. Rows in which one is missing are
                missing in the result.
            level: of the intervals, which stay between 0 and 1.

        Returns:
            A frame: estimate, error, low, high for each row; with more than two answers for each row and answer. With
            random intercepts, for a group in the middle.

        Raises:
            InvalidRequest: a regression that was read from a file, or data that do not fit the formula.
        """
        from deniable.estimates.regression.effects import predictions

        return predictions(self, data, level)

    def posterior(self) -> pd.DataFrame:
        """Return how likely each answer of each row is, given what it sent and its covariates.

        This is what an attacker would compute who knows the covariates and sees the response: publish it for nobody. It
        is here to see how much the responses still tell once the regression is known; no estimate needs it.
        """
        from deniable.estimates.regression.effects import attackers_view

        return attackers_view(self)

    def _require_sample(self) -> Sample:
        if self.sample is None:
            raise InvalidRequest(
                "this regression was read from a file, which holds no rows; expected one that was fitted here.",
                "Fit it again with dn.regress().",
            )
        return self.sample

    @property
    def _design_hash(self) -> str:
        (name, design), *further = self.designs
        return "" if name or further else design.hash

    def _source(self) -> dict[str, Any]:
        source = to_source(self, _FIELDS)
        source["dropped"] = dict(self.dropped)
        source["designs"] = (
            []
            if self._design_hash
            else [
                [name, json.loads(design.to_json())] for name, design in self.designs
            ]
        )
        return source

    @classmethod
    def _remade(cls, source: Mapping[str, Any], design: Design | None) -> Regression:
        values = read_source(source, _FIELDS, "this is no regression")
        values["designs"] = (
            (("", design),)
            if design is not None
            else tuple(
                (str(name), Design.from_json(json.dumps(body)))
                for name, body in values["designs"]
            )
        )
        return cls(**values)


def _check_nested(small: Regression, large: Regression) -> int:
    """Return by how many terms two regressions of the same rows differ."""
    if not (
        math.isfinite(small.log_likelihood) and math.isfinite(large.log_likelihood)
    ):
        raise InvalidRequest(
            "a regression has no likelihood; expected two that have.",
            "Use test().",
        )
    if small.sampled or large.sampled:
        raise InvalidRequest(
            "the rows are a sample with weights or clusters, of which 2(l₁ − l₀) does not follow χ²; expected "
            "regressions without sampling=.",
            'Use Wald\'s test: test("x1 = 0, x2 = 0").',
        )
    df = len(large.names) - len(small.names)
    if df == 0 or small._data != large._data:
        raise Incompatible(
            f"the regressions have {small.respondents:,} and {large.respondents:,} rows, {len(small.names)} and "
            f"{len(large.names)} coefficients; expected the same rows and responses, and one with fewer terms.",
            "Fit both to the rows in which no covariate of either is missing.",
        )
    return df


def _read_number(value: float | None) -> float:
    return math.nan if value is None else float(value)


_FIELDS: Mapping[str, Callable[[Any], object]] = {
    "formula": str,
    "family": str,
    "names": tuple,
    "values": vector,  # which reads null as not a number
    "covariance": vector,
    "information": vector,
    "log_likelihood": _read_number,
    "errors": str,
    "designs": list,
    "respondents": int,
    "dropped": dict,
    "worth": _read_number,
    "steps": int,
    "cautions": list,
    "sampled": str,
    "degrees": int,
    "groups": int,
    "ratios": vector,
}
"""The fields of a regression in JSON, and how each is read."""


def to_source(result: Regression | Effects, names: Iterable[str]) -> dict[str, Any]:
    """Return fields of a result for JSON."""
    source = {name: getattr(result, name) for name in names}
    for name, value in source.items():
        if isinstance(value, np.ndarray):
            source[name] = value.tolist()
    cautions = [[caution.code, caution.text] for caution in result.cautions]
    return source | {"cautions": cautions}


def read_source(
    source: Mapping[str, Any],
    readers: Mapping[str, Callable[[Any], object]],
    refusal: str,
) -> dict[str, Any]:
    """Read what `to_source` wrote.

    Raises:
        UnreadableFile: a field is missing or of another type.
    """
    try:
        values: dict[str, Any] = {
            name: read(source[name]) for name, read in readers.items()
        }
        values["cautions"] = tuple(Caution(*texts) for texts in values["cautions"])
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableFile(
            f"{refusal} that can be read: {error!s:.100}."
        ) from None
    return values
