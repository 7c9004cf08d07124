"""Responses that were scrambled elsewhere → the mean of the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deniable import documents
from deniable.errors import (
    InvalidRequest,
    InvalidResponse,
    NotEstimable,
    UnreadableFile,
    quoted,
)
from deniable.estimates.covariances import Matrix, Vector, vector
from deniable.estimates.results import Caution, Description
from deniable.estimates.sampling import (
    Asked,
    RowValues,
    SampledEstimate,
    Sampling,
    estimate_values,
)
from deniable.estimates.scrambled.designs import Scrambling, scrambled
from deniable.estimates.statistics import Model, Statistic
from deniable.files.row_names import check_same_people

__all__ = ["ScrambledMean", "estimate", "estimate_sampled"]


@dataclass(frozen=True, eq=False)
class ScrambledMean(Model):
    """The mean of numbers that were scrambled elsewhere, from a simple random sample.

    Attributes:
        scrambling: the design.
        respondents: how many responses there are.
        value: the mean; unbiased.
        spread: the variance of what single responses say, n − 1 below.
        missing: how many sent nothing.
        population: how many people there are, where they were drawn without replacement.
    """

    type: ClassVar = "scrambled mean"

    scrambling: Scrambling
    respondents: int
    value: float
    spread: float
    missing: int = 0
    population: int | None = None

    @property
    def device_variance(self) -> float:
        """The device's variance of one response, on average over the respondents; estimated without bias."""
        design, n = self.scrambling, self.respondents
        squares = self.spread * (n - 1) / n + self.value**2
        above = (
            float(design.square) * squares
            + float(design.linear) * self.value
            + float(design.constant)
        )
        return above / float(design.slope**2 + design.square)

    @property
    def number_variance(self) -> float:
        """The variance of the numbers themselves: that of what responses say without the device's."""
        return self.spread - self.device_variance

    @property
    def variance(self) -> float:
        """The variance of the mean. Of a sample of N people the device's part is not made smaller by n/N."""
        if self.population is None:
            return self.spread / self.respondents
        left = 1 - self.respondents / self.population
        return (
            left * self.spread / self.respondents
            + self.device_variance / self.population
        )

    @property
    def params(self) -> dict[str, float]:
        return {"mean": self.value}

    def covariance_matrix(self) -> Matrix:
        return vector([[self.variance]])

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """That the design promises nothing in general."""
        return (Caution("privacy", self.scrambling.guarantee),)

    def describe(self) -> Description:
        device = math.sqrt(max(self.device_variance, 0.0) / self.respondents)
        notes: tuple[str, ...] = (f"Of the error the device adds {device:.4g}.",)
        if self.missing:
            notes += (
                f"{self.missing:,} sent no response and take no part in the estimate.",
            )
        return Description(
            title=f"mean, {self.scrambling.model}, {self.respondents:,} respondents",
            quantity="mean",
            method="inversion",
            respondents=self.respondents,
            epsilon=math.inf,
            missing=self.missing,
            notes=notes,
        )

    def to_source(self) -> dict[str, Any]:
        names = ("respondents", "value", "spread", "missing", "population")
        parameters = dict(self.scrambling.given)
        return {
            "model": self.scrambling.model,
            "given": parameters,
            **{name: getattr(self, name) for name in names},
        }

    @classmethod
    def from_source(cls, source: Mapping[str, Any], design: object) -> ScrambledMean:
        if design is not None:
            raise UnreadableFile(
                "this mean holds its own design; expected none beside it."
            )
        parameters = {
            name: _law(value)
            for name, value in documents.field(source, "given", dict).items()
        }
        scrambling = scrambled(documents.field(source, "model", str), **parameters)
        names = ("respondents", "value", "spread", "missing", "population")
        return cls(scrambling, **{name: source[name] for name in names})


def _law(given: Any) -> Any:
    """Return a law, or a probability, as `scrambled` reads it."""
    pairs = not isinstance(given, str) and all(
        not isinstance(entry, str) for entry in given
    )
    return dict(given) if pairs else given


def estimate_sampled(
    scrambling: Scrambling,
    responses: Iterable[float | None],
    sampling: Sampling,
    **options: Any,
) -> SampledEstimate:
    """Estimate the mean of the numbers of the people that a sample stands for.

    Args:
        scrambling: the design.
        responses: what was sent, a row for each person of the sample; None or NaN where somebody sent nothing.
        sampling: how these people were drawn.
        options: `domain`, `by` and `denominator`, as for shares.

    Raises:
        InvalidResponse: something that is no finite number.
        NotEstimable: a stratum with one cluster, or fewer than 2 responses.
        InvalidRequest: columns that do not fit.
    """
    check_same_people(responses=responses, sampling=sampling, **options)
    column = _column(responses)
    present = ~np.isnan(column)
    values = np.where(
        present,
        (column - float(scrambling.intercept)) / float(scrambling.slope),
        0.0,
    )
    variances = map(scrambling.estimated_device_variance, values.tolist())
    single = np.array(list(variances)) * present

    def device(factors: Vector, _: Vector) -> Matrix:
        return vector([[factors @ single]])

    rows = RowValues(("mean",), vector(values)[:, None], present, device, "mean")
    return estimate_values(
        [rows], sampling, Asked(None, "scrambled", math.inf), **options
    )


def estimate(
    scrambling: Scrambling,
    responses: Iterable[float | None],
    *,
    population: int | None = None,
) -> Statistic[ScrambledMean]:
    """Estimate the mean of the numbers from the responses of a simple random sample.

    Args:
        scrambling: the design.
        responses: what was sent; None or NaN where somebody sent nothing.
        population: how many people there are, if they were drawn from not very many without replacement.

    Raises:
        InvalidResponse: something that is no finite number.
        NotEstimable: fewer than 2 responses.
        InvalidRequest: a population smaller than the responses.

    Example:
        >>> found = estimate(scrambled("eichhorn_hayre", factor={0.5: 0.2, 1: 0.5, 2: 0.3}), [1.5, 4, 0, None, 2.5])
        >>> round(found.value, 6), round(found.bse["mean"], 6), found.model.missing
        (1.666667, 0.701355, 1)
    """
    column = _column(responses)
    present = column[~np.isnan(column)]
    _check_sizes(present, population)
    values = (present - float(scrambling.intercept)) / float(scrambling.slope)
    missing = len(column) - len(present)
    model = ScrambledMean(
        scrambling,
        len(present),
        float(values.mean()),
        float(values.var(ddof=1)),
        missing,
        population,
    )
    return Statistic(model)


def _check_sizes(present: Vector, population: int | None) -> None:
    """Refuse fewer than 2 responses, and a population that is smaller than their number."""
    if len(present) < 2:
        raise NotEstimable(
            f"there are {len(present)} responses; expected at least 2, to say how sure an estimate is."
        )
    is_integer = isinstance(population, int) and not isinstance(population, bool)
    if population is not None and not (is_integer and population >= len(present)):
        raise InvalidRequest(
            f"the population is {quoted(population)}; expected at least the {len(present)} respondents."
        )


def _column(responses: Iterable[float | None]) -> Vector:
    try:
        column = np.array(
            [math.nan if response is None else response for response in responses],
            np.float64,
        )
    except (TypeError, ValueError):
        raise InvalidResponse(
            "a response is no number; expected numbers, and None where one is missing."
        ) from None
    if np.isinf(column).any():
        raise InvalidResponse("a response is infinite; expected finite numbers.")
    return column
