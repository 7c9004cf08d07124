"""Results of one or a few numbers: a correlation, an odds ratio, average effects, the mean of scrambled numbers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar

from deniable.estimates.covariances import Matrix
from deniable.estimates.results import (
    Bounds,
    Caution,
    Description,
    IntervalMethod,
    IntervalRequest,
    Result,
    Row,
    RowType,
    read_type,
)

__all__ = ["Model", "Statistic"]

_MODULES = (
    "compliance",
    "lists",
    "measures",
    "prevalence",
    "quantiles",
    "regression.effects",
    "scrambled.estimates",
    "two_samples",
)
"""The modules with models, loaded before a statistic is read from JSON."""


StatisticClass: TypeAlias = "type[Statistic[Any]]"


class Model(ABC):
    """What a statistic is computed from: its numbers, and what is particular to them."""

    type: ClassVar[str]
    """The type's name in JSON."""

    result_class: ClassVar[StatisticClass]
    """The class of the results with such a model."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "type" in vars(cls):
            read_type(cls.type, cls.result_class)(partial(_construct, cls))

    @property
    def row_type(self) -> RowType:
        """The rows of the summary."""
        return Row

    @property
    @abstractmethod
    def params(self) -> dict[str, float]:
        """Each number by name."""

    @abstractmethod
    def covariance_matrix(self) -> Matrix:
        """Return the covariance matrix of the numbers."""

    @property
    def df(self) -> float:
        """The degrees of freedom of the covariance."""
        return math.inf

    @property
    def collected(self) -> tuple[str, ...]:
        """How the data were collected, for a paper; empty for randomized responses."""
        return ()

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """What calls for care."""
        return ()

    def interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return interval methods besides or in place of "normal" and "chebyshev"; the first is the default."""
        return {}

    @property
    def default_interval(self) -> str:
        """The name of the default interval method; empty for the first one."""
        return ""

    def bounds(self, request: IntervalRequest) -> Bounds | None:  # noqa: ARG002 - by default a method has them
        """Return the bounds of the intervals where no method by name does; None where one does."""
        return None

    def open_bounds(self, request: IntervalRequest) -> Bounds | None:  # noqa: ARG002 - by default there are none
        """Return exact always-valid bounds that are not cut to possible values; None where these are not known."""
        return None

    def n_intervals(self) -> int:
        """Return how many intervals can miss separately."""
        return len(self.params)

    @abstractmethod
    def describe(self) -> Description:
        """Return the title, the notes and the counts of the summary."""

    def row_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return further columns of the summary by field of the row."""
        return {}

    @property
    def design_hash(self) -> str:
        """The hash of the design; empty where the source contains it."""
        return ""

    @abstractmethod
    def to_source(self) -> dict[str, Any]:
        """Return what `from_source` needs besides the design, for JSON."""

    @classmethod
    @abstractmethod
    def from_source(cls, source: Mapping[str, Any], design: Any) -> Self:
        """Construct the model from its source."""


AnyModel_co = TypeVar("AnyModel_co", bound=Model, covariant=True)


@dataclass(frozen=True, eq=False)
class Statistic(Result[Row], Generic[AnyModel_co]):
    """One or a few numbers that are computed from a model of the data.

    Attributes:
        model: what they are computed from.
    """

    model: AnyModel_co

    @property
    def type(self) -> str:  # type: ignore[override]  # which the model has
        """The type's name in JSON."""
        return self.model.type

    @property
    def value(self) -> float:
        """The number; of several, the first."""
        return next(iter(self.params.values()))

    @property
    def error(self) -> float:
        """The standard error of `value`."""
        return next(iter(self.bse.values()))

    @property
    def params(self) -> dict[str, float]:
        return self.model.params

    def cov_params(self) -> Matrix:
        return self.model.covariance_matrix().copy()

    @property
    def df(self) -> float:
        return self.model.df

    @property
    def warnings(self) -> tuple[Caution, ...]:
        return self.model.warnings

    def _subject(self) -> object:
        return self.model

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        methods = dict(self.model.interval_methods())
        for name, method in super()._interval_methods().items():
            methods.setdefault(name, method)
        return methods

    @property
    def _default_interval(self) -> str:
        return self.model.default_interval or super()._default_interval

    def _requested_bounds(self, request: IntervalRequest) -> Bounds:
        bounds = self.model.bounds(request)
        return super()._requested_bounds(request) if bounds is None else bounds

    def _contrast_ends(self, request: IntervalRequest) -> Bounds:
        bounds = self.model.open_bounds(request) if request.always else None
        return super()._contrast_ends(request) if bounds is None else bounds

    def _bounds(self, method: str | None, level: float) -> Bounds:
        bounds = self.model.bounds(IntervalRequest(level, method))
        return super()._bounds(method, level) if bounds is None else bounds

    def _n_intervals(self) -> int:
        return self.model.n_intervals()

    def _describe(self, request: IntervalRequest) -> Description:  # noqa: ARG002 - the text has no level
        return self.model.describe()

    @property
    def _row_type(self) -> RowType:
        return self.model.row_type

    def _row_columns(self, request: IntervalRequest) -> Mapping[str, Sequence[Any]]:  # noqa: ARG002 - likewise
        return self.model.row_columns()

    @property
    def _design_hash(self) -> str:
        return self.model.design_hash

    def _source(self) -> dict[str, Any]:
        return self.model.to_source()

    @classmethod
    def from_json(cls, text: str | bytes, design: object) -> Self:
        for module in _MODULES:
            import_module(f"deniable.estimates.{module}")
        return super().from_json(text, design)


Model.result_class = Statistic


def _construct(
    model: type[Model], source: Mapping[str, Any], design: object
) -> Statistic[Model]:
    return model.result_class(model.from_source(source, design))
