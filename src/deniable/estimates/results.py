"""The base class of every result: estimates with their covariance, intervals, tests, tables and JSON.

Shares, combined stages, decks, items, edges, strings and means have the same members under the names that users of
statsmodels know: `params`, `bse`, `cov_params()`, `conf_int()`, `summary()`, `to_frame()`, `plot()`.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, wraps
from numbers import Real
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Self,
    TypeAlias,
    TypeVar,
    cast,
)

import numpy as np

from deniable import documents
from deniable.errors import (
    Incompatible,
    InvalidRequest,
    UnreadableFile,
    quoted,
    require,
    require_options,
)
from deniable.estimates import confidence_sequences
from deniable.estimates.covariances import Covariance, Full, Matrix, Vector, vector
from deniable.estimates.intervals import (
    Interval,
    bonferroni_level,
    mover_interval,
    quantile,
)
from deniable.rendering import Rendered, Sheet, data_frame, formats, to_csv
from deniable.rendering.statements import ANY, POSITIVE, SHARE, Range

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from deniable.estimates.testing import HypothesisTest

Columns: TypeAlias = tuple[tuple[str, ...], ...]
SCHEMA = "result"
PERCENTAGES = (
    "share",
    "prevalence",
    "frequency",
    "difference in share",
    "change in share",
)
"""Quantities that people read as percentages."""

_RANGES: Mapping[str, Range] = {
    **dict.fromkeys(("share", "prevalence", "frequency"), SHARE),
    **dict.fromkeys(
        ("difference in share", "change in share", "correlation"), (-1, 1)
    ),
    **dict.fromkeys(("odds ratio", "variance", "degree"), POSITIVE),
}
"""The possible values of quantities, where these do not depend on the design."""


def value_range(design: object) -> Range:
    """Return the least and the largest number that one respondent can have; infinite where the design does not say."""
    number = getattr(getattr(design, "designs", (design,))[-1], "range", design)
    return float(getattr(number, "low", ANY[0])), float(
        getattr(number, "high", ANY[1])
    )


def number_ranges(possible: Range) -> dict[str, Range]:
    """Return the possible values of means, quantiles and of a deviation, by those of a number."""
    least, most = possible
    return {"": possible, "sd": (0.0, (most - least) / 2)}


def quantile_name(share: float) -> str:
    """Return what a quantile is called.

    Example:
        >>> quantile_name(0.5), quantile_name(0.1)
        ('median', 'quantile 0.1')
    """
    return "median" if share == 0.5 else f"quantile {share:g}"


@dataclass(frozen=True, slots=True)
class Caution:
    """Something about a result that calls for care.

    Attributes:
        code: a word for programs, such as "implausible" or "few".
        text: a sentence for people.
    """

    code: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Row:
    """One estimated number.

    Attributes:
        name: what it is of: a category, an item, a string.
        estimate: its value.
        error: the standard error.
        low: the lower end of the interval.
        high: the upper end.
    """

    COLUMNS: ClassVar[Columns] = (("estimate",), ("error",), ("low", "high"))
    """The columns of a table for people: each a field, or the two ends of an interval."""

    HEADS: ClassVar[Mapping[str, str]] = {}
    """What columns are called, where that is not the name of the field."""

    SHARES: ClassVar[tuple[str, ...]] = ("estimate", "error", "low", "high")
    """Fields in the unit of the estimate: percentages, where that is a share."""

    BESIDE: ClassVar[tuple[str, ...]] = ()
    """An interval that a picture shows pale beside the own one: its two ends, and what it is."""

    OF_CATEGORIES: ClassVar[bool] = False
    """Whether the rows of a summary are about categories, of which a sentence tells the largest."""

    WHOLE: ClassVar[str] = "respondents"
    """Whose share it is, where it is a share."""

    name: str
    estimate: float
    error: float
    low: float
    high: float


RowType: TypeAlias = type[Row]

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    AnyRow_co = TypeVarWithDefault(
        "AnyRow_co", bound=Row, covariant=True, default=Row
    )
else:
    AnyRow_co = TypeVar("AnyRow_co", bound=Row, covariant=True)


@dataclass(frozen=True, slots=True)
class Summary(Rendered, Generic[AnyRow_co]):
    """A result as a table. Print it, read its rows, or take it as HTML, LaTeX, Markdown or CSV.

    Attributes:
        title: what was estimated, from how many, and how.
        quantity: what the numbers are: "share", "degree", "mean" and so on.
        rows: the numbers.
        notes: what has to be known to read them; the cost of privacy first.
        warnings: what calls for care.
        level: how often an interval holds the truth.
        interval: the method of the intervals.
        method: how the numbers were estimated.
        respondents: how many responses were counted.
        missing: how many people sent nothing.
        epsilon: the most that a respondent has revealed; infinite where nothing is promised.
        simultaneous: whether all intervals hold together with this level.
        left_out: how many numbers have no row.
        ranges: the possible values by name, where the quantity does not say; of all others under an empty name.
    """

    title: str
    quantity: str
    rows: tuple[AnyRow_co, ...]
    notes: tuple[str, ...]
    warnings: tuple[Caution, ...]
    level: float
    interval: str
    method: str
    respondents: int
    missing: int
    epsilon: float
    simultaneous: bool = False
    left_out: int = 0
    ranges: Mapping[str, Range] = field(default_factory=dict)

    def possible(self, name: str) -> Range:
        """Return the least and the largest possible value of a number; infinite where nothing is known of them."""
        ranges = {"": _RANGES.get(self.quantity, ANY), **self.ranges}
        own = name.rpartition(" · ")[2]  # without its group
        return ranges.get(name, ranges.get(own, ranges[""]))

    @property
    def level_text(self) -> str:
        """The level as people write it."""
        return formats.level(self.level)

    @property
    def caption(self) -> str:
        """What the table shows, for a paper."""
        from deniable.estimates.formats import caption

        return caption(self)

    def table(self, *, percent: bool = False) -> tuple[list[str], list[list[str]]]:
        """Return the heads and the cells of a table for people; what is not known is a dash.

        Args:
            percent: write shares, their differences and changes as percentages.
        """
        from deniable.estimates.formats import sheet

        table = sheet(self, percent=percent)
        return list(table.heads), [list(row) for row in table.cells]

    def _sheet(self) -> Sheet:
        from deniable.estimates.formats import sheet

        return sheet(self)

    def plot(self, *, title: str = "", dark: bool = False) -> Figure:
        """Draw each number with its interval; of very many, the largest.

        Args:
            title: of the picture; by default that of the table.
            dark: light on dark, for slides and dark pages.
        """
        from deniable.estimates.charts import chart

        return chart(self, title=title, dark=dark)

    def __str__(self) -> str:
        from deniable.estimates.formats import to_summary_text

        return to_summary_text(self)


Method = TypeVar("Method", bound=Callable[..., Any])


def _checked(function: Method) -> Method:
    """Let a method say in one sentence what statsmodels' `alpha` is here, and refuse options of another type."""

    @wraps(function)
    def checked(self: object, *given: Any, **options: Any) -> Any:
        if given or "alpha" in options:
            raise InvalidRequest(
                f"{function.__name__}() was given {'alpha' if 'alpha' in options else 'a number without a name'}; "
                "expected level=, how often an interval holds the truth.",
                "For example level=0.9, which is alpha=0.1.",
            )
        require_options(
            truths={
                name: options.get(name)
                for name in ("simultaneous", "always", "dark")
            },
            texts={name: options.get(name) for name in ("title", "method")},
        )
        check_planned(options.get("planned"), always=options.get("always", False))
        return function(self, **options)

    return cast("Method", checked)


def check_planned(planned: int | None, *, always: bool) -> None:
    """Refuse a planned number of responses that is none, or that fixed-sample intervals do not have."""
    if planned is None:
        return
    confidence_sequences.read_planned(planned)
    if not always:
        raise InvalidRequest(
            f"planned is {planned} without always=True; expected it with always-valid intervals.",
            "Write conf_int(always=True, planned=…), or omit planned=.",
        )


_ASKED_BY_LEVEL = ("conf_int", "summary", "to_frame", "to_json", "plot")
_MAX_LISTED = 3  # numbers that are printed in a line

Bounds: TypeAlias = tuple[Vector, Vector]
"""The lower and the upper end of each interval, in the order of `params`."""

IntervalMethod: TypeAlias = Callable[[float], Bounds]
"""The bounds of all intervals at a confidence level; adjustments for several intervals were made before."""


class IntervalRequest(NamedTuple):
    """Which intervals a summary shows.

    Attributes:
        level: the confidence level.
        method: the interval method; None for the default.
        simultaneous: whether all intervals together have this level.
        always: whether the intervals of all looks together have this level.
        planned: the number of responses for which always-valid intervals are tuned; None for `PLANNED`.
    """

    level: float = 0.95
    method: str | None = None
    simultaneous: bool = False
    always: bool = False
    planned: int | None = None

    @property
    def tuning(self) -> int:
        """The number of responses at which always-valid intervals are tightest."""
        return confidence_sequences.read_planned(self.planned)

    @property
    def notes(self) -> tuple[str, ...]:
        """What has to be known to read always-valid intervals."""
        if not self.always:
            return ()
        return (
            "The intervals are always-valid: however often one looks at growing data, and whenever one stops, one of "
            f"them misses what it is about with a chance of at most {formats.level(1 - self.level)}. So they are wider "
            f"than intervals for one look. They are tightest at {self.tuning:,} responses.",
        )


@dataclass(frozen=True)
class Description:
    """The text and the counts of a summary, without its rows.

    Attributes:
        title: what was estimated, from how many people, and how.
        quantity: what the numbers are: "share", "degree", "mean" and so on.
        method: how the numbers were estimated.
        respondents: the number of responses counted.
        epsilon: the largest privacy loss of a respondent; infinite where nothing is promised.
        missing: the number of people who sent nothing.
        notes: what is needed to read the numbers; the cost of privacy first.
        interval: the name of the intervals, where it is not that of their method.
        ranges: the possible values by name, where the quantity does not say; of all others under an empty name.
    """

    title: str
    quantity: str
    method: str
    respondents: int
    epsilon: float
    missing: int = 0
    notes: tuple[str, ...] = ()
    interval: str = ""
    ranges: Mapping[str, Range] = field(default_factory=dict)


class Constructor(NamedTuple):
    """How a result of one type is read from JSON.

    Attributes:
        result: its class.
        construct: a function of the source and of the design.
    """

    result: type[Result]
    construct: Callable[[Mapping[str, Any], Any], Result]


_CONSTRUCTORS: dict[str, Constructor] = {}
"""The constructors by the type's name in JSON."""


def read_type(name: str, result: type[Result]) -> Callable[[Construct], Construct]:
    """Return a decorator that lets a function read the results of one type from JSON.

    Args:
        name: the type's name in JSON.
        result: the class of what the function returns.
    """

    def register(construct: Construct) -> Construct:
        _CONSTRUCTORS[name] = Constructor(result, construct)
        return construct

    return register


def construct_result(name: str, source: Mapping[str, Any], design: object) -> Result:
    """Construct a result of one type from its source in JSON."""
    return _CONSTRUCTORS[name].construct(source, design)


def result_types(result: type | None = None) -> list[str]:
    """Return the names in JSON of the types of results that are loaded; of one class and its subclasses."""
    return [
        name
        for name, constructor in _CONSTRUCTORS.items()
        if issubclass(constructor.result, result or Result)
    ]


Construct = TypeVar("Construct", bound=Callable[[Mapping[str, Any], Any], Any])


class Result(Rendered, ABC, Generic[AnyRow_co]):
    """Estimated numbers with their covariance. A result is a frozen value: equal if all its contents are equal.

    A type of result gives its numbers (`params`, `cov_params`), its interval methods and its description. Everything
    else is defined here, once: standard errors, intervals, contrasts, tests, tables, JSON and pictures. The confidence
    level, its adjustment for simultaneous intervals and the degrees of freedom are applied here alone.
    """

    type: ClassVar[str]
    """The type's name in JSON; a field, where one class has several.

    A class with one type is read from JSON by its class method `_remade(source, design)`; for others `read_type`
    registers a function for each type.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in _ASKED_BY_LEVEL:
            if name in vars(cls) and not hasattr(vars(cls)[name], "__wrapped__"):
                setattr(cls, name, _checked(vars(cls)[name]))
        if "__repr__" not in vars(cls):
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]  # before a dataclass writes out all that it holds
        construct = getattr(cls, "_remade", None)
        if construct is not None and isinstance(vars(cls).get("type"), str):
            _CONSTRUCTORS[cls.type] = Constructor(cls, construct)

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        subject = self._subject()
        design, n = (
            getattr(subject, name, None) for name in ("design", "respondents")
        )
        parts = [] if design is None else [repr(design)]
        parts += (
            [f"{n:,} respondent{'' if n == 1 else 's'}"]
            if isinstance(n, int)
            else []
        )
        params = self.params
        numbers = ", ".join(
            f"{name} = {value:.4g}"
            for name, value in list(params.items())[:_MAX_LISTED]
        )
        parts += (
            [
                numbers
                + (
                    f", … ({len(params):,} in all)"
                    if len(params) > _MAX_LISTED
                    else ""
                )
            ]
            if params
            else []
        )
        return f"{type(subject).__name__}({'; '.join(parts)})"

    def _subject(self) -> object:
        """Return what the result is named after when it is printed in a line."""
        return self

    # What a type of result defines

    @property
    @abstractmethod
    def params(self) -> dict[str, float]:
        """Each estimated number by name."""

    @abstractmethod
    def cov_params(self) -> Matrix:
        """Return the covariance matrix of the numbers, in the order of `params`."""

    @property
    def df(self) -> float:
        """The degrees of freedom of the covariance; infinite where it is known from very many people."""
        return math.inf

    @property
    @abstractmethod
    def warnings(self) -> tuple[Caution, ...]:
        """What calls for care, as data."""

    def _interval_methods(self) -> Mapping[str, IntervalMethod]:
        """Return the interval methods by name; the first is the default."""
        return {name: partial(self._bounds_around, name) for name in AROUND}

    def _n_intervals(self) -> int:
        """Return how many intervals can miss separately: two shares that sum to 1 are one."""
        return max(len(self.params), 1)

    @abstractmethod
    def _describe(self, request: IntervalRequest) -> Description:
        """Return the title, the notes and the counts of the summary."""

    @property
    def _row_type(self) -> RowType:
        """The rows of the summary."""
        return Row

    def _row_columns(self, request: IntervalRequest) -> Mapping[str, Sequence[Any]]:  # noqa: ARG002 - there are none
        """Return the further columns of the summary by field of the row, in the order of `params`."""
        return {}

    def _shown_rows(self) -> Sequence[int] | None:
        """Return the indices of the numbers that the summary shows, in their order; None for all."""
        return None

    @property
    @abstractmethod
    def _design_hash(self) -> str: ...

    @abstractmethod
    def _source(self) -> dict[str, Any]:
        """Return what the constructor needs besides the design."""

    # What is defined for all types

    @property
    def bse(self) -> dict[str, float]:
        """The standard error of each number by name."""
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.maximum(np.diagonal(self.cov_params()), 0.0))
        return dict(zip(self.params, errors.tolist(), strict=True))

    def conf_int(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
        always: bool = False,
        planned: int | None = None,
    ) -> dict[str, Interval]:
        """Return an interval for each number by name.

        Args:
            level: the confidence level: how often such an interval covers the truth.
            method: the interval method; by default the first one of the result's type.
            simultaneous: let all intervals together have this level (Bonferroni).
            always: let the intervals of all looks at growing data together have this level, wherever one stops.
            planned: the number of responses at which always-valid intervals are tightest, chosen before the data; by
                default 10,000.

        Raises:
            InvalidRequest: a level outside (0, 1), a method that this result does not have, or always-valid intervals
                of responses that are not independent.
        """
        request = IntervalRequest(level, method, simultaneous, always, planned)
        lows, highs = self._requested_bounds(request)
        return dict(
            zip(
                self.params,
                map(Interval, lows.tolist(), highs.tolist()),
                strict=True,
            )
        )

    def _requested_bounds(self, request: IntervalRequest) -> Bounds:
        """Return the bounds of all intervals; simultaneous ones are adjusted for their number."""
        n_intervals = self._n_intervals() if request.simultaneous else 1
        level = bonferroni_level(n_intervals, request.level)
        chosen = request._replace(level=level, simultaneous=False)
        if chosen not in self._computed_bounds:
            self._computed_bounds[chosen] = (
                self._always_bounds(chosen)
                if request.always
                else self._bounds(request.method, level)
            )
        return self._computed_bounds[chosen]

    @cached_property
    def _computed_bounds(self) -> dict[IntervalRequest, Bounds]:
        """The bounds by what was asked, kept because a search of a likelihood may take a second."""
        return {}

    def _always_bounds(self, request: IntervalRequest) -> Bounds:
        """Return always-valid bounds, each with the level that is asked."""
        self._check_always()
        return self._widen(partial(self._bounds, request.method), request)

    def _check_always(self) -> None:
        """Refuse always-valid intervals where responses do not come one after the other, independently.

        Raises:
            InvalidRequest: such responses.
        """
        population = getattr(self._subject(), "population", None)
        if population is not None:
            raise refuse_always(f"people drawn from a population of {population}")

    def _widen(
        self, compute: Callable[[float], Bounds], request: IntervalRequest
    ) -> Bounds:
        """Return always-valid bounds from the fixed-sample ones of all numbers."""
        n = self._describe(IntervalRequest()).respondents
        values = self._values()
        return confidence_sequences.widen(
            compute, values, n, request.level, request.tuning
        )

    def _bounds(self, method: str | None, confidence: float) -> Bounds:
        """Return the bounds of all intervals, each with this confidence level."""
        methods = self._interval_methods()
        chosen = self._default_interval if method is None else method
        if chosen not in methods:
            raise unknown_method(chosen, methods)
        return methods[chosen](confidence)

    def _bounds_around(self, method: str, confidence: float) -> Bounds:
        """Return value ± a multiple of the standard error."""
        return bounds_around(
            self._values(),
            vector(list(self.bse.values())),
            method,
            confidence,
            self.df,
        )

    @property
    def _default_interval(self) -> str:
        """The interval method that is used by default."""
        return next(iter(self._interval_methods()))

    def _values(self) -> Vector:
        """Return the numbers in the order of `params`."""
        return vector(list(self.params.values()))

    def interval(
        self,
        name: str,
        *,
        level: float = 0.95,
        method: str | None = None,
        always: bool = False,
        planned: int | None = None,
    ) -> Interval:
        """Return the interval of one number, as `conf_int` does.

        Raises:
            InvalidRequest: there is no number of this name.
        """
        require_options(texts={"name": name})
        intervals = self.conf_int(
            level=level, method=method, always=always, planned=planned
        )
        if name not in intervals:
            raise self._unknown(name)
        return intervals[name]

    def _unknown(self, name: object) -> InvalidRequest:
        """Return the error about a name that has no number."""
        some = ", ".join(map(repr, list(self.params)[:5]))
        return InvalidRequest(
            f"{quoted(name)} was not estimated; expected a name such as {some:.200}."
        )

    def contrast(self, weights: Mapping[str, float]) -> Contrast:
        """Return a weighted sum of the numbers, such as {"often": 1, "never": -1}, with its standard error.

        Raises:
            InvalidRequest: a name that was not estimated, or a weight that is not a finite number.
        """
        combination = self._combination(weights)
        error = math.sqrt(self._variance(combination))
        bounds = partial(self._contrast_bounds, combination)
        return Contrast(
            dict(weights),
            float(combination @ self._values()),
            error,
            bounds,
            self.df,
        )

    def _combination(self, weights: Mapping[str, float]) -> Vector:
        """Return the weights of a contrast in the order of `params`."""
        require(
            isinstance(weights, Mapping),
            weights,
            "the contrast",
            'weights by name, such as {"yes": 1, "no": -1}',
        )
        names = {name: index for index, name in enumerate(self.params)}
        combination = np.zeros(len(names))
        for name, weight in weights.items():
            if not isinstance(weight, Real) or not (
                abs(weight) <= sys.float_info.max
            ):
                raise InvalidRequest(
                    f"a weight is {quoted(weight)}; expected a finite number."
                )
            if name not in names:
                raise self._unknown(name)
            combination[names[name]] = weight
        return combination

    def _variance(self, combination: Vector) -> float:
        """Return the variance of a linear combination of the numbers."""
        return max(
            self._contrast_covariance().between(combination, combination), 0.0
        )

    def _contrast_covariance(self) -> Covariance:
        """Return the covariance in the form in which contrasts read it."""
        return Full(self.cov_params())

    def _contrast_bounds(
        self, combination: Vector, request: IntervalRequest
    ) -> Interval:
        """Return the interval of a contrast from those of the single numbers."""
        bounds = self._contrast_ends(request)
        covariance = self._contrast_covariance()
        return mover_interval(self._values(), covariance, combination, bounds)

    def _contrast_ends(self, request: IntervalRequest) -> Bounds:
        """Return the bounds that contrasts are recovered from; exact always-valid ones are not cut to possible values.

        Why: a reach that is cut is no multiple of an error. Two shares of 0 would be told apart too often.
        """
        parts = self._independent_parts
        if not request.always or not parts:
            return self._requested_bounds(request)
        ends = [part._contrast_ends(request) for part in parts]
        lows, highs = np.concatenate(ends, axis=1)
        return lows, highs

    @property
    def _independent_parts(self) -> Collection[Result[Any]]:
        """The results whose numbers these are, one after the other, each with its own number of responses."""
        return ()

    def test(self, hypothesis: str | Sequence[str]) -> HypothesisTest:
        """Test linear hypotheses about the numbers with Wald's test.

        Implements: W = (R·x − r)′(R·V·R′)⁻¹(R·x − r), against F with the degrees of freedom of V, or against χ² where
        these are infinite. With one hypothesis it is the test of the summary.

        Args:
            hypothesis: such as "x1 = x2", "age = 0, female = 0", or names of numbers that are 0 together. Names with
                brackets stand in backticks: "`C(region)[T.north]` = 0".

        Raises:
            InvalidRequest: something that is not a hypothesis about these numbers.
            NotEstimable: hypotheses that say the same twice, or more of them than there are degrees of freedom.
        """
        from deniable.estimates.testing import wald_hypotheses

        return wald_hypotheses(hypothesis, self.params, self.cov_params(), self.df)

    def summary(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
        always: bool = False,
        planned: int | None = None,
    ) -> Summary[AnyRow_co]:
        """Return a table with intervals, with what is needed to read it, and with what calls for care.

        The intervals are those of `conf_int`.
        """
        request = IntervalRequest(level, method, simultaneous, always, planned)
        full = self._summarize(request)
        shown = self._shown_rows()
        if shown is None:
            return full
        rows = tuple(full.rows[index] for index in shown)
        return dataclasses.replace(
            full, rows=rows, left_out=len(full.rows) - len(rows)
        )

    def _whole(self, request: IntervalRequest) -> Summary[AnyRow_co]:
        """Return the summary with every number in it, in the order of `params`."""
        if self._shown_rows() is None:
            return self.summary(**request._asdict())
        return self._summarize(request)

    def _summarize(self, request: IntervalRequest) -> Summary[AnyRow_co]:
        """Return the summary of all numbers, in the order of `params`."""
        intervals = self.conf_int(**request._asdict())
        description = self._describe(request)
        interval = description.interval or request.method or self._default_interval
        columns = self._row_columns(request)
        changes = {
            "interval": ALWAYS_VALID if request.always else interval,
            "notes": (*description.notes, *request.notes),
        }
        return Summary(
            **{**vars(description), **changes},
            rows=self._summary_rows(intervals, columns),
            warnings=self.warnings,
            level=request.level,
            simultaneous=request.simultaneous,
        )

    def _summary_rows(
        self, intervals: Mapping[str, Interval], further: Mapping[str, Sequence[Any]]
    ) -> tuple[AnyRow_co, ...]:
        """Return the rows of a summary: name, estimate, error, the two ends, and further columns by field."""
        row_type = self._row_type
        names = [
            field.name
            for field in dataclasses.fields(row_type)[len(dataclasses.fields(Row)) :]
        ]
        lows, highs = (
            [bounds.low for bounds in intervals.values()],
            [bounds.high for bounds in intervals.values()],
        )
        columns = [self.params, self.params.values(), self.bse.values(), lows, highs]
        columns += [further[name] for name in names if name in further]
        return cast("tuple[AnyRow_co, ...]", tuple(map(row_type, *columns)))

    @_checked
    def to_frame(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
        always: bool = False,
        planned: int | None = None,
    ) -> pd.DataFrame:
        """Return a pandas table: a row for each name; estimate, error, low, high, and what this type adds.

        Where a name joins several, as a group and a category, each also has a column of its own at the end.

        Raises:
            MissingExtra: pandas is not installed.
        """
        request = IntervalRequest(level, method, simultaneous, always, planned)
        rows = self._whole(request).rows
        # Where nothing was estimated (no string was found, say), the table has its columns and no rows.
        columns = [
            field.name for field in dataclasses.fields(rows[0] if rows else Row)
        ]
        frame = data_frame(
            {name: [getattr(row, name) for row in rows] for name in columns}
        ).set_index("name")
        for name, values in self._joined_names().items():
            if name not in frame.columns and len(values) == len(frame):
                frame[name] = values
        return frame

    def _joined_names(self) -> dict[str, list[Any]]:
        """Return what the names of rows are joined from, column by column; empty where they are not."""
        return {}

    @_checked
    def to_json(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        simultaneous: bool = False,
        always: bool = False,
        planned: int | None = None,
        indent: int | None = None,
    ) -> str:
        """Return the result as JSON: names beside numbers, the design's hash, and all that it was made from."""
        request = IntervalRequest(level, method, simultaneous, always, planned)
        summary = self._whole(request)
        body: dict[str, Any] = {
            "type": self.type,
            "design": self._design_hash,
            **dataclasses.asdict(summary),
            "source": self._source(),
        }
        return documents.seal(SCHEMA, _finite(body), indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes, design: Any) -> Self:
        """Read a result: it is constructed from the counts and choices in the file.

        Args:
            text: what `to_json` returned.
            design: what the responses were drawn with; None for a result that names none.

        Raises:
            UnreadableFile: truncated, edited, of another version, or another type of result.
            Incompatible: it belongs to another design.
        """
        body = documents.unseal(SCHEMA, text)
        names = result_types(cls)
        name = body.get("type")
        if name not in names:
            expected = ", ".join(map(repr, names))
            raise UnreadableFile(
                f"this is a result of the type {quoted(name)}; expected {expected}."
            )
        require(
            design is None or hasattr(design, "hash"),
            design,
            "the design",
            "what the responses were drawn with",
        )
        expected = "" if design is None else design.hash
        if body.get("design") != expected:
            raise Incompatible(
                f"the result belongs to the design {body.get('design')!s:.19}…; expected "
                f"{f'{expected:.19}…' if expected else 'none'}.",
                "Hand over the design that the responses were drawn with.",
            )
        return cast(
            "Self",
            construct_result(name, documents.field(body, "source", dict), design),
        )

    @_checked
    def plot(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        always: bool = False,
        planned: int | None = None,
        title: str = "",
        dark: bool = False,
    ) -> Figure:
        """Draw each number with its interval; of very many, the largest.

        Args:
            level: of the intervals.
            method: of the intervals; by default the one that suits the result.
            always: draw always-valid intervals.
            planned: the number of responses at which these are tightest.
            title: of the picture; by default what was asked and of how many.
            dark: light on dark, for slides and dark pages.
        """
        summary = self.summary(
            level=level, method=method, always=always, planned=planned
        )
        return summary.plot(title=title, dark=dark)

    def _sheet(self) -> Sheet:
        return self.summary()._sheet()

    def to_csv(self) -> str:
        return to_csv(self._whole(IntervalRequest())._sheet())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result) or other.type != self.type:
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> str:
        return documents.digest(
            _finite(
                {
                    "type": self.type,
                    "design": self._design_hash,
                    "source": self._source(),
                }
            )
        )


for _name in _ASKED_BY_LEVEL:  # which `__init_subclass__` does for subclasses
    if not hasattr(vars(Result)[_name], "__wrapped__"):
        setattr(Result, _name, _checked(vars(Result)[_name]))


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of numbers, or the difference of two such sums of different people.

    Attributes:
        weights: the weight of each number named.
        value: the weighted sum.
        error: its standard error.
        recovered: its interval from those of the single numbers, as requested.
        df: the degrees of freedom of the standard error.
    """

    weights: Mapping[str, float]
    value: float
    error: float
    recovered: Callable[[IntervalRequest], Interval] = field(
        repr=False, compare=False
    )
    df: float = math.inf

    def interval(
        self,
        *,
        level: float = 0.95,
        method: str | None = None,
        always: bool = False,
        planned: int | None = None,
    ) -> Interval:
        """Return an interval: "recovered" from those of the numbers (the default), "normal" or "chebyshev".

        Args:
            level: the confidence level.
            method: the interval method.
            always: let the intervals of all looks together have this level; they are recovered.
            planned: the number of responses at which always-valid intervals are tightest.

        Raises:
            InvalidRequest: another method, or a level outside (0, 1).
        """
        confidence = bonferroni_level(1, level)
        check_planned(planned, always=always)
        if method in (None, "recovered"):
            request = IntervalRequest(confidence, always=always, planned=planned)
            return self.recovered(request)
        if always:
            raise unknown_method(method, ("recovered",))
        low, high = bounds_around(
            vector([self.value]), vector([self.error]), method, confidence, self.df
        )
        return Interval(float(low[0]), float(high[0]))

    def __sub__(self, other: Contrast) -> Contrast:
        """Return the difference from the same contrast among other people, who responded independently.

        Implements: [New98]'s interval for two shares, for any two contrasts.

        Raises:
            InvalidRequest: a contrast with other weights.

        Example:
            >>> import deniable as dn
            >>> tallies = (dn.Tally(dn.warner(epsilon=3), counts) for counts in ([75, 25], [90, 10]))
            >>> men, women = map(dn.estimate, tallies)
            >>> more = men.contrast({"yes": 1}) - women.contrast({"yes": 1})
            >>> round(more.value, 3), [round(end, 3) for end in more.interval()]
            (0.166, [0.049, 0.28])
        """
        if dict(self.weights) != dict(other.weights):
            raise InvalidRequest(
                "the contrasts have different weights; expected the same, of two groups of people."
            )
        error = math.hypot(self.error, other.error)
        bounds = partial(_difference_bounds, self, other)
        return Contrast(
            self.weights,
            self.value - other.value,
            error,
            bounds,
            min(self.df, other.df),
        )


def _difference_bounds(
    first: Contrast, second: Contrast, request: IntervalRequest
) -> Interval:
    lows, highs = np.array([first.recovered(request), second.recovered(request)]).T
    independent = Full(np.eye(2))  # different people: nothing is correlated
    return mover_interval(
        vector([first.value, second.value]),
        independent,
        vector([1.0, -1.0]),
        (lows, highs),
    )


def refuse_always(subject: str) -> InvalidRequest:
    """Return the error about always-valid intervals of responses that do not come one by one, independently."""
    return InvalidRequest(
        f"always is True for {subject}; expected independent responses that come one after the other.",
        "Omit always=: the fixed-sample interval is valid for one look, planned beforehand.",
    )


ALWAYS_VALID = "always-valid"
"""What a summary calls intervals that cover at all looks together."""

AROUND = ("normal", "chebyshev")
"""The interval methods that every number with a standard error has."""


def unknown_method(method: str, methods: Iterable[str]) -> InvalidRequest:
    """Return the error about an interval method that a result does not have."""
    return InvalidRequest(
        f"the interval method is {quoted(method)}; expected one of {', '.join(methods)}."
    )


def join_bounds(
    results: Collection[Result[Any]], request: IntervalRequest
) -> Bounds:
    """Return the intervals of several results, one after the other; simultaneous ones adjusted for all results."""
    level = bonferroni_level(
        len(results) if request.simultaneous else 1, request.level
    )
    options = request._replace(level=level)._asdict()
    intervals = [
        interval
        for result in results
        for interval in result.conf_int(**options).values()
    ]
    lows, highs = vector(intervals).T
    return lows, highs


def bounds_around(
    values: Vector,
    errors: Vector,
    method: str,
    confidence: float,
    df: float = math.inf,
) -> Bounds:
    """Return value ± a multiple of the standard error.

    Args:
        values: the numbers.
        errors: their standard errors.
        method: "normal", with Student's quantile for few degrees of freedom, or "chebyshev" for any distribution.
        confidence: the level of each interval.
        df: the degrees of freedom of the errors.

    Raises:
        InvalidRequest: another method.
    """
    if method not in AROUND:
        raise unknown_method(method, AROUND)
    factor = (
        quantile(confidence, df) if method == "normal" else (1 - confidence) ** -0.5
    )
    return values - factor * errors, values + factor * errors


def _finite(value: object) -> Any:
    """Return JSON in which what is not finite is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def words_of(name: str) -> str:
    """Return the name of a family of designs in words: "forced response" of forced_response."""
    return "k-ary" if name == "k_ary" else name.replace("_", " ")


def told_method(method: str) -> str:
    """Return how numbers were estimated, to be read after "by".

    Example:
        >>> told_method("likelihood"), told_method("inversion, projection")
        ('maximum likelihood', "inverting the device's probabilities, then projection")
    """
    return ", then ".join(_METHODS.get(step, step) for step in method.split(", "))


_METHODS = {
    "inversion": "inverting the device's probabilities",
    "likelihood": "maximum likelihood",
    "information": "weighing responses by how much each tells",
    "linear": "weighing responses linearly",
    "strata": "estimating each group of respondents on its own",
}
