"""What a fitted regression says about probabilities: average effects, predictions, and what an attacker would learn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, logit

from deniable import documents
from deniable.errors import InvalidRequest, UnreadableFile, quoted
from deniable.estimates.covariances import Matrix, Vector
from deniable.estimates.intervals import one_of, quantile
from deniable.estimates.regression.columns import held, to_pandas
from deniable.estimates.regression.fitted import (
    CoefficientRow,
    Regression,
    Sample,
    z_columns,
)
from deniable.estimates.regression.outcomes import OutcomeLaw
from deniable.estimates.results import Caution, Description, RowType
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
            self.values, np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0)), self.df
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
        return {
            "names": list(self.names),
            "values": self.values.tolist(),
            "covariance": self.covariance.tolist(),
            "formula": self.formula,
            "respondents": self.respondents,
            "epsilon": self.epsilon,
            "cautions": [[caution.code, caution.text] for caution in self.warnings],
        } | degrees

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: Any) -> Effects:
        try:
            return cls(
                tuple(map(str, documents.field(source, "names", list))),
                np.array(source["values"], np.float64),
                np.array(source["covariance"], np.float64),
                documents.field(source, "formula", str),
                documents.field(source, "respondents", int),
                "" if design is None else design.hash,
                np.inf if source["epsilon"] is None else float(source["epsilon"]),
                tuple(
                    Caution(str(code), str(text)) for code, text in source["cautions"]
                ),
                float(source.get("degrees", math.inf)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableFile(
                f"these are no effects that can be read: {error!s:.100}."
            ) from None


def average_effects(found: Regression) -> Statistic[Effects]:
    """Return the average marginal effects of a regression, with errors by the delta method.

    Raises:
        InvalidRequest: no rows, or no covariates.
    """
    sample = _explained(found)
    names, values, slopes = [], [], []
    for change in _changes(sample):
        (low, low_slope), (high, high_slope) = (
            _average(found, sample, each) for each in (change.before, change.after)
        )
        for place, label in _told_columns(found):
            names.append(f"{label}: {change.name}" if label else change.name)
            values.append((high[place] - low[place]) / change.by)
            slopes.append((high_slope[place] - low_slope[place]) / change.by)
    if not names:
        raise InvalidRequest(
            f"the formula {quoted(found.formula, 60)} has no covariates; expected one, to see what it changes."
        )
    jacobian = np.array(slopes)
    return Statistic(
        Effects(
            tuple(names),
            np.array(values),
            jacobian @ found.covariance @ jacobian.T,
            found.formula,
            found.respondents,
            found._design_hash,
            max(design.epsilon for _, design in found.designs),
            found.warnings,
            found.df,
        )
    )


def _explained(found: Regression) -> Sample:
    sample = found._rows().sample
    if isinstance(sample.rows.law, OutcomeLaw):
        raise InvalidRequest(
            "the randomized answer is a predictor here; expected a regression in which it is explained.",
            "Its coefficients are those of the outcome; fit the answer on its own to predict it.",
        )
    return sample


def _told_columns(found: Regression) -> list[tuple[int, str]]:
    """Return the columns of shares that are told, and what they are called; one without a name where one is enough."""
    if found.family in ("linear", "normal"):
        return [(0, "")]
    if len(found.categories) == 2:
        return [(1, "")]
    return list(enumerate(found.categories))


def _changes(sample: Sample) -> Iterator[_Change]:
    frame = sample.frame
    for name in sample.covariates.variables:
        column, levels = frame[name], sample.covariates.levels(frame, name)
        if levels is not None:
            before = held(frame, name, levels[0])
            for level in levels[1:]:
                yield _Change(f"{name}[{level}]", before, held(frame, name, level), 1.0)
        elif set(np.unique(column)) <= {0, 1}:
            yield _Change(
                name, frame.assign(**{name: 0.0}), frame.assign(**{name: 1.0}), 1.0
            )
        else:
            values = column.to_numpy(np.float64)
            step = _STEP * (float(values.std()) or 1.0)
            values = np.clip(
                values, values.min() + step, values.max() - step
            )  # a spline ends with the data
            yield _Change(
                name,
                frame.assign(**{name: values - step}),
                frame.assign(**{name: values + step}),
                2 * step,
            )


def _shares(found: Regression, sample: Sample, matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Return the probabilities of answers for rows of covariates, and their derivatives by all coefficients.

    Only those of the answers are needed: rows × answers, rows × answers × coefficients.
    """
    rows, theta = sample.rows, sample.theta
    own = sample.rows.matrices
    replaced = [
        matrix
        if each.shape[1] == matrix.shape[1] and each is own[0]
        else np.ones((len(matrix), 1))
        for each in own
    ]
    eta = np.column_stack(
        [x @ theta[part] for x, part in zip(replaced, rows.blocks, strict=True)]
    )
    slopes = rows.law.share_slopes(eta)
    by_theta = np.concatenate(
        [slopes[:, :, at, None] * x[:, None, :] for at, x in enumerate(replaced)],
        axis=2,
    )
    extra = np.zeros((*by_theta.shape[:2], len(found.names) - by_theta.shape[2]))
    return rows.law.shares(eta), np.concatenate([by_theta, extra], axis=2)


def _average(
    found: Regression, sample: Sample, frame: pd.DataFrame
) -> tuple[Vector, Matrix]:
    shares, slopes = _shares(found, sample, sample.covariates.matrix(frame))
    weights = sample.rows.weights
    part = (
        np.full(len(shares), 1 / len(shares))
        if weights is None
        else weights / weights.sum()
    )
    return part @ shares, np.einsum("i,ijp->jp", part, slopes)


def predictions(found: Regression, data: Any, level: float) -> pd.DataFrame:
    """Return probabilities of answers with intervals that stay between 0 and 1; see `Regression.predict`."""
    import pandas as pd

    sample = _explained(found)
    frame = sample.frame if data is None else to_pandas(data)
    absent = [name for name in sample.covariates.variables if name not in frame.columns]
    if absent:
        raise InvalidRequest(
            f"the data lack the column {quoted(absent[0])}; expected every covariate of the formula."
        )
    there = frame[list(sample.covariates.variables)].notna().all(axis=1).to_numpy()
    shares, slopes = _shares(found, sample, sample.covariates.matrix(frame[there]))
    errors = np.sqrt(
        np.maximum(
            np.einsum(
                "ijp,pq,ijq->ij", slopes, found.covariance, slopes, optimize=True
            ),
            0.0,
        )
    )
    wide = quantile(one_of(1, level), found.df)
    low, high = shares - wide * errors, shares + wide * errors
    if found.family not in ("linear", "normal"):  # on the logit's scale
        near = np.clip(shares, 1e-12, 1 - 1e-12)
        reach = wide * errors / (near * (1 - near))
        low, high = expit(logit(near) - reach), expit(logit(near) + reach)
    pieces = {}
    for place, label in _told_columns(found):
        whole = np.full((len(frame), 4), np.nan)
        whole[there] = np.column_stack(
            [each[:, place] for each in (shares, errors, low, high)]
        )
        pieces[label] = pd.DataFrame(
            whole, index=frame.index, columns=["estimate", "error", "low", "high"]
        )
    if len(pieces) == 1:
        return next(iter(pieces.values()))
    return (
        pd.concat(pieces, names=["category"])
        .swaplevel()
        .sort_index(level=0, sort_remaining=False)
    )


ATTACKER = "what an attacker would compute"


def attackers_view(found: Regression) -> pd.DataFrame:
    """Return the probability of each answer given response and covariates; see `Regression.posterior`."""
    import pandas as pd

    sample = found._rows().sample
    if np.isnan(found.log_likelihood):
        raise InvalidRequest(
            "a linear regression has no law of single answers; expected another family.",
            'Use "multinomial".',
        )
    after = sample.rows.law.posterior(sample.rows.eta(sample.theta[: sample.rows.size]))
    columns = pd.Index(list(found.categories), name=ATTACKER)
    return pd.DataFrame(after, index=sample.frame.index, columns=columns)
