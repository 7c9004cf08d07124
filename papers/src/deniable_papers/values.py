"""What is compared and shown: a printed value with ours, a simulated point with its theory, an exhibit that holds both.

An `Exhibit` is what a command names (`deniable-papers cards --table 2`). It is made when it is asked for, in a
`Setting`, and gives its `Content`: a table, printed values, a picture with its points, and notes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure


Verdict: TypeAlias = Literal[
    "agrees", "holds with a condition", "the paper is wrong", "differs"
]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Form: TypeAlias = Literal["number", "formula"]
FORMS: tuple[Form, ...] = get_args(Form)
"""A document prints numbers, and formulas and statements, which are tried at inputs of ours: two kinds of evidence."""

Kind: TypeAlias = Literal[
    "table",
    "figure",
    "example",
    "theorem",
    "lemma",
    "corollary",
    "equation",
    "section",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_Make = TypeVar("_Make", bound=Callable[..., "Content"])

FLAGGED_BEYOND = 4.0
"""Standard errors between a simulated point and its theory from which on it is flagged."""

_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Printed:
    """A value as a paper prints it.

    Attributes:
        id: its name in the golden file, or one of ours in the same form.
        place: where in the paper it stands.
        topic: what it is the value of.
        inputs: at which values of its parameters.
        printed: the number, numbers or words; None where the paper leaves a blank.
        right: what it should be, from first principles.
        digits: how many decimals are printed; None if the value is that of a printed formula, known to all its digits.
        erratum: the number of the erratum that speaks of it; empty where nothing is to be said.
        condition: under which condition or reading it holds; empty where it holds as it stands, or not at all.
        form: whether the paper prints this number, or a formula or statement that is tried here.
    """

    id: str
    place: str
    topic: str
    inputs: Mapping[str, Any]
    printed: Any
    right: Any
    digits: int | None = None
    erratum: str = ""
    condition: str = ""
    form: Form = "number"

    def against(self, ours: Any) -> Value:
        """Put ours beside it."""
        return Value(self, ours)


@dataclass(frozen=True, slots=True)
class Value:
    """A printed value with ours.

    Attributes:
        entry: what is printed.
        ours: what the library says.
    """

    entry: Printed
    ours: Any

    @property
    def verdict(self) -> Verdict:
        """Whether ours is the printed value, or the one of an erratum (and whether print holds then), or neither.

        Example:
            >>> entry = Printed("000-eq27", "Eq.(27)", "variance", {}, printed=0.08, right=0.48, erratum="0.1")
            >>> [entry.against(ours).verdict for ours in (0.08, 0.48, 0.5)]
            ['differs', 'the paper is wrong', 'differs']
        """
        wanted: Verdict = "the paper is wrong" if self.entry.erratum else "agrees"
        wanted = "holds with a condition" if self.entry.condition else wanted
        right = close(self.entry.right, self.ours)
        return (
            wanted
            if right and self.as_printed is not bool(self.entry.erratum)
            else "differs"
        )

    @property
    def as_printed(self) -> bool:
        """Whether ours is the printed value, to half a unit of its last digit."""
        digits = self.entry.digits
        return close(
            self.entry.printed,
            self.ours,
            within=_CLOSE if digits is None else 0.5 * 10.0**-digits,
        )


@dataclass(frozen=True, slots=True)
class Point:
    """A simulated point and the theory it must lie on.

    Attributes:
        where: which line, and where on it.
        theory: what the library says.
        simulated: what was seen.
        error: the standard error of what was seen.
    """

    where: str
    theory: float
    simulated: float
    error: float

    @classmethod
    def of(
        cls, where: str, theory: float, draws: Sequence[float] | np.ndarray[Any, Any]
    ) -> Point:
        """Compare a theoretical mean with the mean of draws; for a variance, draw squared distances from the truth.

        Example:
            >>> Point.of("mean of two throws", 3.5, [3.0, 4.0])
            Point(where='mean of two throws', theory=3.5, simulated=3.5, error=0.5)
        """
        import numpy as np

        seen = np.asarray(draws, np.float64)
        return cls(
            where,
            float(theory),
            float(seen.mean()),
            float(seen.std(ddof=1) / math.sqrt(len(seen))),
        )

    @property
    def distance(self) -> float:
        """How many standard errors the simulation is from the theory."""
        gap = abs(self.simulated - self.theory)
        if gap <= _CLOSE * max(1.0, abs(self.theory)):
            return 0.0  # a draw without spread has no error but that of its floats
        return gap / self.error if self.error > 0 else math.inf

    @property
    def flagged(self) -> bool:
        """Whether that is too far."""
        return self.distance > FLAGGED_BEYOND


@dataclass(frozen=True, slots=True)
class Content:
    """What an exhibit shows.

    Attributes:
        values: printed values with ours.
        columns: the heads of a table in the paper's own layout; none, if there is only a list of values.
        rows: its rows: text, numbers, and `Value`s, which show their verdict.
        described: what the paper says of its figure, in our words.
        draw: makes the picture.
        points: its simulated points.
        notes: what a reader should know: what is corrected and why, what was assumed.
    """

    values: tuple[Value, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    described: str = ""
    draw: Callable[[], Figure] | None = None
    points: tuple[Point, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def flagged(self) -> tuple[Point, ...]:
        """The points that are too far from their theory."""
        return tuple(point for point in self.points if point.flagged)


@dataclass(frozen=True, slots=True)
class Setting:
    """How an exhibit is made.

    Attributes:
        generator: where simulations draw from; they protect nobody, so that any good generator will do.
        repetitions: of every simulation.
    """

    generator: np.random.Generator
    repetitions: int = 10_000


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A table, figure, example or statement of a paper, made again when it is asked for.

    Attributes:
        document: its name on the command line, such as "cards".
        kind: what it is.
        number: as the paper numbers it.
        title: what it shows, in our words.
        make: makes it.
        weight: about how long that takes, in seconds; for the time left.
    """

    document: str
    kind: Kind
    number: str
    title: str
    make: Callable[[Setting], Content] = field(compare=False)
    weight: float = 0.2

    @property
    def name(self) -> str:
        """The stem of its files."""
        return f"{self.document}-{self.kind}-{self.number}"

    @property
    def command(self) -> str:
        """What makes it again."""
        return f"deniable-papers {self.document} --{self.kind} {self.number}"


class Exhibits:
    """The exhibits of a paper, in the order in which the functions that make them are defined.

    `@exhibit(kind, number)` marks a function that makes one: of a `Setting` where it simulates, else of nothing. The
    first line of its docstring is the title.
    """

    def __init__(self, document: str) -> None:
        self._document = document
        self._made: list[Exhibit] = []

    def __call__(
        self, kind: Kind, number: str, *, weight: float = 0.2
    ) -> Callable[[_Make], _Make]:
        def keep(make: _Make) -> _Make:
            title = (make.__doc__ or "").splitlines()[0].removesuffix(".")
            simulates = bool(signature(make).parameters)
            self._made.append(
                Exhibit(
                    self._document,
                    kind,
                    number,
                    title,
                    make if simulates else lambda _: make(),
                    weight,
                )
            )
            return make

        return keep

    def __iter__(self) -> Iterator[Exhibit]:
        return iter(self._made)


def close(wanted: Any, ours: Any, within: float = _CLOSE) -> bool:
    """Compare numbers, words, and structures part by part; beyond `within` only what the floats themselves lose."""
    if isinstance(wanted, Mapping):
        return isinstance(ours, Mapping) and all(
            k in ours and close(v, ours[k], within) for k, v in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        parts = list(ours) if isinstance(ours, list | tuple) else []
        return len(parts) == len(wanted) and all(
            close(w, o, within) for w, o in zip(wanted, parts, strict=True)
        )
    if not isinstance(wanted, int | float) or isinstance(
        ours, str | Mapping | list | tuple
    ):
        return bool(wanted == ours)
    # Half a unit of the last digit is a border that decimal numbers lie on; the floats nearest to them need not.
    return math.isclose(wanted, ours, rel_tol=_CLOSE, abs_tol=within * (1 + 1e-6))


@cache
def everything() -> dict[str, Printed]:
    """Return every printed value by its id, in the order of the papers."""
    entries = json.loads(
        files("deniable_papers").joinpath("printed.json").read_bytes()
    )
    return {entry["id"]: _read(entry) for entry in entries}


def printed(id: str) -> Printed:
    """Return a printed value.

    Example:
        >>> printed("000-eq27").erratum
        '0.1'
    """
    return everything()[id]


def compared(id: str, ours: Callable[[Mapping[str, Any]], Any]) -> Value:
    """Return a printed value with ours, a function of the parameters that it is printed for."""
    return printed(id).against(ours(printed(id).inputs))


def starting(prefix: str) -> list[Printed]:
    """Return the printed values whose id starts like this, such as the cells of a table.

    Example:
        >>> len(starting("004-table1-"))
        32
    """
    return [entry for id, entry in everything().items() if id.startswith(prefix)]


def _read(entry: dict[str, Any]) -> Printed:
    return Printed(
        id=entry["id"],
        place=entry["place"],
        topic=entry["topic"],
        inputs=entry["inputs"],
        printed=entry["printed"],
        right=math.inf if entry["recomputed"] == "inf" else entry["recomputed"],
        digits=entry.get("digits"),
        erratum=entry.get("erratum", ""),
        condition=entry.get("condition", ""),
        form=entry["printed_kind"],
    )


def as_text(value: Any) -> str:
    """Return a value as a reader wants it: six digits, and signs for what is blank or infinite.

    Example:
        >>> [as_text(each) for each in (0.30000000000000004, [1, 2.5], None, math.inf, {"a": 1})]
        ['0.3', '1, 2.5', '(blank)', '∞', 'a 1']
    """
    if isinstance(value, Value):
        return as_text(value.ours)
    if value is None:
        return "(blank)"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {as_text(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(as_text, value))
    if isinstance(value, float):
        return "∞" if value == math.inf else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def what(value: Value) -> str:
    """Return what a printed value is, and where it stands."""
    return f"{value.entry.place}: {value.entry.topic}"


def as_printed(value: Value) -> str:
    """Return the printed value with the digits that are printed."""
    entry = value.entry
    if entry.digits and isinstance(entry.printed, float):
        return f"{entry.printed:.{entry.digits}f}"
    return as_text(entry.printed)


def judged(value: Value) -> str:
    """Return the verdict, with the condition and the number of the erratum."""
    if value.verdict in ("agrees", "differs"):
        return value.verdict
    because = f": {value.entry.condition}" if value.entry.condition else ""
    return f"{value.verdict}{because} (erratum {value.entry.erratum})"


def counted(counts: Mapping[Verdict, int]) -> str:
    """Return how many have each verdict, in words.

    Example:
        >>> counted({"agrees": 11, "holds with a condition": 0, "the paper is wrong": 2, "differs": 0})
        '11 agree, 0 hold with a condition, 2 are wrong'
    """
    words: dict[Verdict, tuple[str, str]] = {
        "agrees": ("agrees", "agree"),
        "holds with a condition": (
            "holds with a condition",
            "hold with a condition",
        ),
        "the paper is wrong": ("is wrong", "are wrong"),
    }
    told = [
        f"{counts[verdict]:,} {one if counts[verdict] == 1 else more}"
        for verdict, (one, more) in words.items()
    ]
    return ", ".join(told) + (
        f", {counts['differs']:,} without a reason" if counts["differs"] else ""
    )


def simulated(content: Content) -> str:
    """Return how a simulation fared against the theory."""
    many, off = len(content.points), content.flagged
    if not off:
        return (
            f"{many} simulated points, all within 4 standard errors of the theory."
        )
    far = "; ".join(
        f"{point.where}: {point.distance:.1f} standard errors" for point in off
    )
    return f"{many} simulated points, {len(off)} flagged: {far}."


def inputs(value: Value, *, without: Container[str] = ()) -> str:
    """Return the parameters of a printed value, without those that were told before."""
    told = {
        name: each
        for name, each in value.entry.inputs.items()
        if name not in without
    }
    return ", ".join(f"{name} = {as_text(each)}" for name, each in told.items())


def plain(value: Any) -> Any:
    """Return a value for JSON, which knows no infinity."""
    if isinstance(value, Value):
        return plain(value.ours)
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return "inf" if value == math.inf else value
