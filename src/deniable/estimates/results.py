"""The one shape of every result: what was estimated, how sure it is, and how it is told to people and programs.

Shares, combined stages, decks, items, edges, strings and means answer the same questions under the same names, those
that statsmodels' users know: `params`, `bse`, `cov_params()`, `conf_int()`, `summary()`, `to_frame()`, `plot()`.
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar, cast

from deniable import documents
from deniable.errors import Incompatible, InvalidRequest, UnreadableFile, quoted, require, require_options
from deniable.estimates.covariances import Matrix
from deniable.estimates.intervals import Interval, one_of, quantile
from deniable.rendering import MOST_ROWS, Rendered, Sheet, data_frame, to_csv, to_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Columns: TypeAlias = tuple[tuple[str, ...], ...]
SCHEMA = "result"
PERCENTAGES = ("share", "frequency", "difference in share", "change in share")
"""Quantities that people read as percentages."""


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

    WHOLE: ClassVar[str] = "respondents"
    """Whose share it is, where it is a share."""

    name: str
    estimate: float
    error: float
    low: float
    high: float


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

    @property
    def percent(self) -> str:
        """The level as people write it."""
        return f"{100 * self.level:g}%"

    @property
    def caption(self) -> str:
        """What the table shows, for a paper."""
        credible = "credible " if self.interval.startswith("credible") else ""
        what, _, of = self.quantity.partition(" in ")
        many = f"{_PLURALS.get(what, f'{what}s')}{f' in {of}' if of else ''}"
        return f"Estimated {many} with {self.percent} {credible}intervals: {self.title}"

    def table(self, *, percent: bool = False) -> tuple[list[str], list[list[str]]]:
        """Return the heads and the cells of a table for people; what is not known is a dash.

        Args:
            percent: write shares, their differences and changes as percentages.
        """
        inside = percent and self.quantity in PERCENTAGES
        columns = self.rows[0].COLUMNS if self.rows else Row.COLUMNS
        known = [each for each in columns if any(getattr(row, each[0]) is not None for row in self.rows)]
        heads = [_head(self, column[0]) for column in known]
        shown = [
            _column(
                [[getattr(row, name) for name in column] for row in self.rows],
                percent=inside and column[0] in self.rows[0].SHARES,
            )
            for column in known
        ]
        return ["", *heads], [[row.name, *cells] for row, *cells in zip(self.rows, *shown, strict=True)]

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
        return to_text(self._sheet().shortened(MOST_ROWS))


Method = TypeVar("Method", bound=Callable[..., Any])


def _checked(function: Method) -> Method:
    """Let a method say in one sentence what statsmodels' `alpha` is here, and refuse options of another type."""

    @wraps(function)
    def checked(self: Any, *given: Any, **options: Any) -> Any:
        if given or "alpha" in options:
            raise InvalidRequest(
                f"{function.__name__}() was given {'alpha' if 'alpha' in options else 'a number without a name'}; "
                "expected level=, how often an interval holds the truth.",
                "For example level=0.9, which is alpha=0.1.",
            )
        require_options(
            truths={name: options.get(name) for name in ("simultaneous", "dark")},
            texts={name: options.get(name) for name in ("title", "method")},
        )
        return function(self, **options)

    return cast("Method", checked)


_ASKED_BY_LEVEL = ("conf_int", "summary", "to_frame", "to_json", "plot")
_FEW = 3  # numbers that are told in a line


class Result(Rendered, ABC):
    """What every estimate answers. A result is a frozen value: equal where all that it tells is equal."""

    type: ClassVar[str]
    """The type's name in JSON."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in _ASKED_BY_LEVEL:
            if name in vars(cls) and not hasattr(vars(cls)[name], "__wrapped__"):
                setattr(cls, name, _checked(vars(cls)[name]))
        if "__repr__" not in vars(cls):
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]  # before a dataclass writes out all that it holds

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        told = [repr(self.design)] if hasattr(self, "design") and self.design is not None else []
        n = getattr(self, "respondents", None)
        told += [f"{n:,} respondent{'' if n == 1 else 's'}"] if isinstance(n, int) else []
        params = self.params
        few = ", ".join(f"{name} = {value:.4g}" for name, value in list(params.items())[:_FEW])
        told += [few + (f", … ({len(params):,} in all)" if len(params) > _FEW else "")] if params else []
        return f"{type(self).__name__}({'; '.join(told)})"

    @property
    @abstractmethod
    def params(self) -> dict[str, float]:
        """Each estimated number by name."""

    @property
    @abstractmethod
    def bse(self) -> dict[str, float]:
        """The standard error of each number by name."""

    @abstractmethod
    def cov_params(self) -> Matrix:
        """Return the covariance matrix of the numbers, in the order of `params`."""

    @abstractmethod
    def conf_int(
        self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False
    ) -> dict[str, Interval]:
        """Return an interval for each number by name.

        Args:
            level: how often such an interval holds the truth.
            method: of the interval; by default the one that suits the result.
            simultaneous: let all intervals together hold with this level (Bonferroni).

        Raises:
            InvalidRequest: a level outside (0, 1), or a method that does not exist or does not fit.
        """

    @abstractmethod
    def summary(self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False) -> Summary[Row]:
        """Return a table with intervals, with what has to be known to read it, and with what calls for care."""

    @property
    @abstractmethod
    def warnings(self) -> tuple[Caution, ...]:
        """What calls for care, as data."""

    def interval(self, name: str, *, level: float = 0.95, method: str | None = None) -> Interval:
        """Return the interval of one number.

        Raises:
            InvalidRequest: there is no number of this name.
        """
        require_options(texts={"name": name})
        intervals = self.conf_int(level=level, method=method)
        if name not in intervals:
            some = ", ".join(map(repr, list(intervals)[:5]))
            raise InvalidRequest(f"{quoted(name)} was not estimated; expected a name such as {some:.200}.")
        return intervals[name]

    @_checked
    def to_frame(self, *, level: float = 0.95, method: str | None = None, simultaneous: bool = False) -> pd.DataFrame:
        """Return a pandas table: a row for each name; estimate, error, low, high, and what this type adds.

        Where a name joins several, as a group and a category, each also has a column of its own at the end.

        Raises:
            MissingExtra: pandas is not installed.
        """
        rows = self._whole(level=level, method=method, simultaneous=simultaneous).rows
        made = data_frame([dataclasses.asdict(row) for row in rows]).set_index("name")
        for name, values in self._joined_names().items():
            if name not in made.columns and len(values) == len(made):
                made[name] = values
        return made

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
        indent: int | None = None,
    ) -> str:
        """Return the result as JSON: names beside numbers, the design's hash, and all that it was made from."""
        summary = self._whole(level=level, method=method, simultaneous=simultaneous)
        body: dict[str, Any] = {
            "type": self.type,
            "design": self._design_hash,
            **dataclasses.asdict(summary),
            "source": self._source(),
        }
        return documents.seal(SCHEMA, _finite(body), indent=indent)

    def _whole(self, *, level: float, method: str | None, simultaneous: bool) -> Summary[Row]:
        """Return the summary with every number in it, in the order of `params`."""
        return self.summary(level=level, method=method, simultaneous=simultaneous)

    @classmethod
    def from_json(cls, text: str | bytes, design: Any) -> Self:
        """Read a result: it is made again from the counts and choices in the file.

        Args:
            text: what `to_json` wrote.
            design: what the responses were drawn with; None for a result that names none.

        Raises:
            UnreadableFile: truncated, edited, of another version, or another type of result.
            Incompatible: it belongs to another design.
        """
        body = documents.unseal(SCHEMA, text)
        if body.get("type") != cls.type:
            raise UnreadableFile(f"this is a result of the type {quoted(body.get('type'))}; expected {cls.type!r}.")
        require(design is None or hasattr(design, "hash"), design, "the design", "what the responses were drawn with")
        known = "" if design is None else design.hash
        if body.get("design") != known:
            raise Incompatible(
                f"the result belongs to the design {body.get('design')!s:.19}…; expected "
                f"{f'{known:.19}…' if known else 'none'}.",
                "Hand over the design that the responses were drawn with.",
            )
        made: Self = cls._remade(documents.field(body, "source", dict), design)
        return made

    @property
    @abstractmethod
    def _design_hash(self) -> str: ...

    @abstractmethod
    def _source(self) -> dict[str, Any]:
        """Return what `_remade` needs besides the design."""

    @classmethod
    @abstractmethod
    def _remade(cls, source: Mapping[str, Any], design: Any) -> Any:
        """Make the result again."""

    @_checked
    def plot(self, *, level: float = 0.95, method: str | None = None, title: str = "", dark: bool = False) -> Figure:
        """Draw each number with its interval; of very many, the largest.

        Args:
            level: of the intervals.
            method: of the intervals; by default the one that suits the result.
            title: of the picture; by default what was asked and of how many.
            dark: light on dark, for slides and dark pages.
        """
        return self.summary(level=level, method=method).plot(title=title, dark=dark)

    def _sheet(self) -> Sheet:
        return self.summary()._sheet()

    def to_csv(self) -> str:
        return to_csv(self._whole(level=0.95, method=None, simultaneous=False)._sheet())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result) or other.type != self.type:
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> str:
        return documents.digest(_finite({"type": self.type, "design": self._design_hash, "source": self._source()}))


def around(
    params: Mapping[str, float],
    bse: Mapping[str, float],
    *,
    level: float,
    method: str | None = None,
    events: int = 1,
    degrees: float = math.inf,
) -> dict[str, Interval]:
    """Return value ± a multiple of the error: "normal" (the default), or "chebyshev" for any distribution.

    With few degrees of freedom of the errors the normal quantile is Student's.

    Raises:
        InvalidRequest: another method, or a level outside (0, 1).
    """
    confidence = one_of(events, level)
    factors = {"normal": quantile(confidence, degrees), "chebyshev": (1 - confidence) ** -0.5}
    chosen = method or "normal"
    if chosen not in factors:
        raise InvalidRequest(f"the interval method is {quoted(chosen)}; expected one of {', '.join(factors)}.")
    widths = {name: factors[chosen] * error for name, error in bse.items()}
    return {name: Interval(value - widths[name], value + widths[name]) for name, value in params.items()}


def _finite(value: Any) -> Any:
    """Return JSON in which what is not finite is null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


_PLURALS = {"frequency": "frequencies"}


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


def _head(summary: Summary[Row], field: str) -> str:
    if field.endswith("low"):
        kind = "credible interval" if summary.interval.startswith("credible") else "interval"
        return {"direct_low": "asked directly", "prior_low": "prior interval"}.get(field, f"{summary.percent} {kind}")
    names = {"estimate": summary.quantity, "effective": "worth", "frequency_error": "error", "weight_error": "error"}
    names.update(summary.rows[0].HEADS if summary.rows else {})
    return names.get(field, field.replace("_", " "))


def _column(cells: Sequence[Sequence[float | None]], *, percent: bool = False) -> list[str]:
    """Return the cells of a column, all with as many digits as its largest number suffers."""
    if percent:
        told = [_cell([None if each is None else 100 * each for each in cell], 1) for cell in cells]
        return [each if each == "—" else f"{each}%" for each in told]
    finite = [abs(each) for cell in cells for each in cell if each is not None and math.isfinite(each)]
    largest = max(finite, default=0.0)
    digits = 0 if largest >= 1000 else 1 if largest >= 100 else 2 if largest >= 10 else 4
    return [_cell(cell, digits) for cell in cells]


def _cell(cell: Sequence[float | None], digits: int) -> str:
    told = [_number(each, digits) for each in cell if each is not None and not math.isnan(each)]
    return " … ".join(told) if len(told) == len(cell) else "—"


def _number(value: float, digits: int) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    tiny = 0 < abs(value) < 0.5 * 10**-digits
    return f"{value:.1e}" if tiny and digits == 4 else f"{value:,.{digits}f}"
