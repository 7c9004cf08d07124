"""What a fitted regression says about probabilities: average effects, predictions, and what an attacker would learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, logit

from deniable.designs import Design
from deniable.errors import InvalidRequest, quoted, require_choice
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.intervals import bonferroni_level, quantile
from deniable.estimates.regression.columns import fix_column, to_pandas
from deniable.estimates.regression.fitted import (
    GROUP_DEVIATION,
    HONESTY,
    CoefficientRow,
    Regression,
    Sample,
    read_source,
    to_source,
    z_columns,
)
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalMethod,
    IntervalRequest,
    RowType,
)
from deniable.estimates.statistics import Model, Statistic

if TYPE_CHECKING:
    import pandas as pd

_STEP = 1e-4  # of a covariate's deviation, to both sides: the slope's error is of the order of its square


class _Change(NamedTuple):
    """Two worlds that differ in one covariate, and by how much."""

    name: str
    before: pd.DataFrame
    after: pd.DataFrame
    by: float


@dataclass(frozen=True, eq=False)
class Effects(Model):
    """Average marginal effects of covariates on the probability of answers.

    Attributes:
        names: the covariates, with more than two answers also the answer.
        values: the average change of a probability.
        covariance: of these changes, by the delta method.
        formula: that of the regression.
        respondents: how many rows it has.
        design: the hash of its design; empty where rows have several.
        epsilon: the most that a respondent has revealed.
        cautions: what calls for care in the regression.
        degrees: the degrees of freedom of the regression's covariance.
    """

    type: ClassVar = "effects"

    names: tuple[str, ...]
    values: Vector = field(repr=False)
    covariance: Matrix = field(repr=False)
    formula: str
    respondents: int
    design: str = field(repr=False)
    epsilon: float = field(repr=False)
    cautions: tuple[Caution, ...] = field(repr=False)
    degrees: float = math.inf

    @property
    def df(self) -> float:
        return self.degrees

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.cautions

    @property
    def design_hash(self) -> str:
        return self.design

    @property
    def params(self) -> dict[str, float]:
        return dict(zip(self.names, self.values.tolist(), strict=True))

    def covariance_matrix(self) -> Matrix:
        return self.covariance

    @property
    def row_type(self) -> RowType:
        return CoefficientRow

    def row_columns(self) -> Mapping[str, Sequence[float]]:
        return z_columns(
            self.values,
            np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0)),
            self.df,
        )

    def describe(self) -> Description:
        return Description(
            title=f"average effects in {self.formula}; {self.respondents:,} respondents",
            quantity="change in share",
            method="delta",
            respondents=self.respondents,
            epsilon=self.epsilon,
            notes=(
                "The change in the share when a numeric column is one unit larger, or when a level replaces the one "
                "that the formula compares with; averaged over the rows.",
            ),
        )

    def to_source(self) -> dict[str, Any]:
        degrees = {"degrees": int(self.df)} if math.isfinite(self.df) else {}
        return to_source(self, _FIELDS) | degrees

    @classmethod
    def from_source(
        cls, source: Mapping[str, Any], design: Design | None
    ) -> Effects:
        values = read_source(source, _FIELDS, "these are no effects")
        return cls(
            **values,
            design="" if design is None else design.hash,
            degrees=float(source.get("degrees", math.inf)),
        )


_FIELDS: Mapping[str, Callable[[Any], object]] = {
    "names": tuple,
    "values": vector,
    "covariance": vector,
    "formula": str,
    "respondents": int,
    "epsilon": lambda epsilon: math.inf if epsilon is None else float(epsilon),
    "cautions": list,
}
"""The fields of average effects in JSON, and how each is read."""


@dataclass(frozen=True, eq=False)
class OddsRatios(Model):
    """The factors by which covariates multiply the odds of an answer: e to the power of coefficients.

    Attributes:
        fit: the regression, by "logit" or "multinomial".
    """

    type: ClassVar = "odds-ratios"

    fit: Regression

    @property
    def _indices(self) -> list[int]:
        """The coefficients of covariates, without intercepts, their deviations and honesty."""
        return [
            index
            for index, name in enumerate(self.fit.names)
            if name.rpartition(": ")[2]
            not in ("Intercept", GROUP_DEVIATION, HONESTY)
        ]

    @property
    def params(self) -> dict[str, float]:
        names = [self.fit.names[index] for index in self._indices]
        ratios = np.exp(self.fit.values[self._indices])
        return dict(zip(names, ratios.tolist(), strict=True))

    def covariance_matrix(self) -> Matrix:
        ratios = np.exp(self.fit.values[self._indices])
        covariance = self.fit.covariance[np.ix_(self._indices, self._indices)]
        return vector(covariance * np.outer(ratios, ratios))

    @property
    def df(self) -> float:
        return self.fit.df

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.fit.warnings

    @property
    def design_hash(self) -> str:
        return self.fit._design_hash

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return the regression's methods: e to the power of its bounds."""
        return {
            name: partial(self._exponentiate, method)
            for name, method in self.fit._interval_methods().items()
        }

    def _exponentiate(self, method: IntervalMethod, level: float) -> Bounds:
        lows, highs = method(level)
        with np.errstate(over="ignore"):  # an end that runs off is infinite
            return np.exp(lows[self._indices]), np.exp(highs[self._indices])

    @property
    def default_interval(self) -> str:
        return self.fit._default_interval

    @property
    def row_type(self) -> RowType:
        return CoefficientRow

    def row_columns(self) -> Mapping[str, Sequence[Any]]:
        columns = self.fit._row_columns(IntervalRequest())
        return {
            name: [column[index] for index in self._indices]
            for name, column in columns.items()
        }

    def describe(self) -> Description:
        baseline = self.fit.categories[0]
        return replace(
            self.fit._describe(IntervalRequest()),
            quantity="odds ratio",
            notes=(
                f"The factor by which the odds against {quoted(baseline)} change when a covariate is one unit larger.",
                "The columns z and P>|z| are those of the coefficients.",
                *self.fit._notes(),
            ),
        )

    def to_source(self) -> dict[str, Any]:
        return self.fit._source()

    @classmethod
    def from_source(
        cls, source: Mapping[str, Any], design: Design | None
    ) -> OddsRatios:
        return cls(Regression._remade(source, design))


def odds_ratios(fit: Regression) -> Statistic[OddsRatios]:
    """Return e to the power of each covariate's coefficient.

    Raises:
        InvalidRequest: a family without odds, or no covariates.
    """
    require_choice(
        "the family of odds ratios is", fit.family, ("logit", "multinomial")
    )
    ratios = OddsRatios(fit)
    if not ratios.params:
        raise _without_covariates(fit)
    return Statistic(ratios)


def _without_covariates(fit: Regression) -> InvalidRequest:
    return InvalidRequest(
        f"the formula {quoted(fit.formula, 60)} has no covariates; expected one, to see what it changes."
    )


def average_effects(fit: Regression) -> Statistic[Effects]:
    """Return the average marginal effects of a regression, with errors by the delta method.

    Raises:
        InvalidRequest: no rows, or no covariates.
    """
    sample = _require_explained(fit)
    names, values, slopes = [], [], []
    for change in _changes(sample):
        (low, low_slope), (high, high_slope) = (
            _average(fit, sample, frame) for frame in (change.before, change.after)
        )
        for index, label in _share_columns(fit):
            names.append(f"{label}: {change.name}" if label else change.name)
            values.append((high[index] - low[index]) / change.by)
            slopes.append((high_slope[index] - low_slope[index]) / change.by)
    if not names:
        raise _without_covariates(fit)
    jacobian = np.array(slopes)
    return Statistic(
        Effects(
            tuple(names),
            np.array(values),
            jacobian @ fit.covariance @ jacobian.T,
            fit.formula,
            fit.respondents,
            fit._design_hash,
            max(design.epsilon for _, design in fit.designs),
            fit.warnings,
            fit.df,
        )
    )


def _require_explained(fit: Regression) -> Sample:
    sample = fit._require_sample()
    if sample.rows.law.has_outcome:
        raise InvalidRequest(
            "the randomized answer is a predictor here; expected a regression in which it is explained.",
            "Its coefficients are those of the outcome; fit the answer on its own to predict it.",
        )
    return sample


def _share_columns(fit: Regression) -> list[tuple[int, str]]:
    """Return the columns of shares that are shown, and their names; one without a name where one is enough."""
    if fit.family in ("linear", "normal"):
        return [(0, "")]
    if len(fit.categories) == 2:
        return [(1, "")]
    return list(enumerate(fit.categories))


def _changes(sample: Sample) -> Iterator[_Change]:
    frame = sample.frame
    for name in sample.covariates.variables:
        column, levels = frame[name], sample.covariates.levels(frame, name)
        if levels is not None:
            before = fix_column(frame, name, levels[0])
            for level in levels[1:]:
                yield _Change(
                    f"{name}[{level}]", before, fix_column(frame, name, level), 1.0
                )
        else:
            low, high, by = 0.0, 1.0, 1.0
            if not set(np.unique(column)) <= {0, 1}:
                values = column.to_numpy(np.float64)
                step = _STEP * (float(values.std()) or 1.0)
                # a spline ends with the data
                values = np.clip(values, values.min() + step, values.max() - step)
                low, high, by = values - step, values + step, 2 * step
            yield _Change(
                name, frame.assign(**{name: low}), frame.assign(**{name: high}), by
            )


def _shares(
    fit: Regression, sample: Sample, matrix: Matrix
) -> tuple[Matrix, Matrix]:
    """Return the probabilities of answers for rows of covariates, and their derivatives by all coefficients.

    Only those of the answers are needed: rows × answers, rows × answers × coefficients.
    """
    fitted = sample.rows.matrices
    matrices = tuple(
        matrix if x is fitted[0] else np.ones((len(matrix), x.shape[1]))
        for x in fitted
    )
    rows = replace(sample.rows, matrices=matrices, weights=None)
    eta = rows.eta(sample.theta[: rows.size])
    slopes = rows.law.share_slopes(eta)
    by_theta = [
        slopes[:, :, i, None] * x[:, None, :] for i, x in enumerate(matrices)
    ]
    shares = rows.law.shares(eta)
    deviations = np.zeros((*shares.shape, len(fit.names) - rows.size))
    return shares, np.concatenate([*by_theta, deviations], axis=2)


def _average(
    fit: Regression, sample: Sample, frame: pd.DataFrame
) -> tuple[Vector, Matrix]:
    shares, slopes = _shares(fit, sample, sample.covariates.matrix(frame))
    weights = sample.rows.weights
    return (
        np.average(shares, axis=0, weights=weights),
        np.average(slopes, axis=0, weights=weights),
    )


def predictions(fit: Regression, data: object, level: float) -> pd.DataFrame:
    """Return probabilities of answers with intervals that stay between 0 and 1; see `Regression.predict`."""
    import pandas as pd

    sample = _require_explained(fit)
    frame = sample.frame if data is None else to_pandas(data)
    absent = [
        name for name in sample.covariates.variables if name not in frame.columns
    ]
    if absent:
        raise InvalidRequest(
            f"the data lack the column {quoted(absent[0])}; expected every covariate of the formula."
        )
    complete = (
        frame[list(sample.covariates.variables)].notna().all(axis=1).to_numpy()
    )
    shares, slopes = _shares(fit, sample, sample.covariates.matrix(frame[complete]))
    variances = np.einsum(
        "ijp,pq,ijq->ij", slopes, fit.covariance, slopes, optimize=True
    )
    errors = np.sqrt(np.maximum(variances, 0.0))
    half = quantile(bonferroni_level(1, level), fit.df) * errors
    low, high = shares - half, shares + half
    if fit.family not in ("linear", "normal"):  # on the logit's scale
        near = np.clip(shares, 1e-12, 1 - 1e-12)
        half = half / (near * (1 - near))
        low, high = expit(logit(near) - half), expit(logit(near) + half)
    columns = {"estimate": shares, "error": errors, "low": low, "high": high}
    frames = {}
    for index, label in _share_columns(fit):
        values = {name: column[:, index] for name, column in columns.items()}
        answer = pd.DataFrame(values, index=np.flatnonzero(complete))
        frames[label] = answer.reindex(range(len(frame))).set_axis(frame.index)
    if len(frames) == 1:
        return next(iter(frames.values()))
    return (
        pd.concat(frames, names=["category"])
        .swaplevel()
        .sort_index(level=0, sort_remaining=False)
    )


ATTACKER = "what an attacker would compute"


def attackers_view(fit: Regression) -> pd.DataFrame:
    """Return the probability of each answer given response and covariates; see `Regression.posterior`."""
    import pandas as pd

    sample = fit._require_sample()
    if not sample.rows.law.has_likelihood:
        raise InvalidRequest(
            "this regression has no law of single answers; expected a family with a likelihood.",
            'Use "multinomial", or with a predictor "normal" or "bernoulli".',
        )
    columns = pd.Index(list(fit.categories), name=ATTACKER)
    posterior = sample.rows.law.posterior(sample.eta)
    return pd.DataFrame(posterior, index=sample.frame.index, columns=columns)
